"""The last stage of a search: premises and weights that lower the number of errors, not the logistic loss.

The logistic loss also rewards being surer of what is decided rightly. This stage lowers a smooth count of
errors, (2 / a) · (1 − p), where p is the softmax of a times the votes, at the class of the row. The premise
of one rule after the other is searched again, starting from what it is, with the weights of all rules as they
are: a row counts by how much the rule lowers the errors if it fires there.
"""

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clausewise.compact.minimisation import dot, minimised
from clausewise.compact.model import Block, Floats, Model, fires, stacked
from clausewise.compact.search import Budget, Search, StageReport

# How sharply errors are counted; with more than two classes less so, since votes are then often close.
_SHARPNESS, _SHARPNESS_SEVERAL = 4.0, 1.0
# The penalty on squared weights, as a fraction of that of the logistic fit.
_PENALTY_SHARE: Final = 0.2
_MAX_SWEEPS: Final = 3
# A premise must lower the objective by more than this to be replaced.
_MIN_GAIN: Final = 0.25
_MAX_STEPS, _STEPS_BETWEEN = 30, 10
_TOLERANCE: Final = 1e-5
# With more than two classes a fit takes longer, so that weights are fitted after every few replacements.
_REPLACED_PER_FIT: Final = 8
_MAX_GROUPED_RULES: Final = 64  # which rules fire is then one word


def lower_errors(search: Search, budget: Budget, report: StageReport) -> None:
    """Replace premises and weights of the search's model by those with fewer errors, at the present price."""
    stage = _ErrorStage(search, budget)
    if stage.members:
        stage.run(report)


class ErrorWeights:
    """Weights of a model that lower the smooth count of errors, for given premises."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._n_rows = len(model.row_weight)
        self._is_binary = model.n_outputs == 1
        # Two classes are a softmax, too: the first has no votes.
        self._n_classes = 2 if self._is_binary else model.n_outputs
        targets = [1 - model.targets[0], model.targets[0]] if self._is_binary else model.targets
        self._label = np.argmax(targets, axis=0)
        self._sharpness = _SHARPNESS if self._is_binary else _SHARPNESS_SEVERAL
        self.members = [member for block in model.blocks for member in block.members]
        self._outputs = np.repeat(np.arange(model.n_outputs), [len(block.members) for block in model.blocks])
        self._column = self._outputs + 1 if self._is_binary else self._outputs  # of the class it votes for
        self._fires = np.array([fires(member, self._n_rows) for member in self.members], dtype=bool)
        self._weights = np.concatenate([block.fit.weights[:-1] for block in model.blocks])
        self._base = np.array([block.fit.weights[-1] for block in model.blocks])

    def fit_and_store(self) -> None:
        """Fit the weights of the model's rules, from the present ones."""
        self._fit(_MAX_STEPS)
        self._store()

    def _vote(self) -> None:
        """Compute the exponentials of all votes, by class and row."""
        votes = np.zeros((self._n_classes, self._n_rows))
        for rule, weight in enumerate(self._weights):
            votes[self._column[rule]] += weight * self._fires[rule]
        votes[self._n_classes - len(self._base) :] += self._base[:, None]
        self._powers = np.exp(self._sharpness * (votes - votes.max(axis=0)))

    def _fit(self, max_steps: int) -> None:
        """Fit all weights to the smooth count of errors, from the present ones."""
        model, n_rules = self._model, len(self.members)
        first, group = _groups(self._fires)
        count = np.zeros((self._n_classes, len(first)))
        np.add.at(count, (self._label, group), model.row_weight)
        total = count.sum(axis=0)
        fired = self._fires[:, first]
        of_class = [np.flatnonzero(self._column == column) for column in range(self._n_classes)]
        by_class = [(rules, csr_array(fired[rules].astype(np.float64))) for rules in of_class]
        n_without_base = self._n_classes - len(self._base)
        sharpness, penalty = self._sharpness, _PENALTY_SHARE * model.penalty

        def objective(parameters: Floats) -> tuple[float, Floats]:
            weights, base = parameters[:n_rules], parameters[n_rules:]
            votes = np.array([weights[rules] @ matrix for rules, matrix in by_class])
            votes[n_without_base:] += base[:, None]
            powers = np.exp(sharpness * (votes - votes.max(axis=0)))
            share = powers / powers.sum(axis=0)
            right = (count * share).sum(axis=0)
            value = 2 / sharpness * (total - right).sum() + penalty / 2 * dot(weights, weights)
            slope = 2 * share * (right - count)
            gradient = penalty * weights
            for column, (rules, matrix) in enumerate(by_class):
                gradient[rules] += matrix @ slope[column]
            return float(value), np.concatenate([gradient, slope[n_without_base:].sum(axis=1)])

        start = np.concatenate([self._weights, self._base])
        found = minimised(objective, start, max_steps, _TOLERANCE)
        self._weights, self._base = found[:n_rules], found[n_rules:]
        self._vote()

    def _store(self) -> None:
        """Put the rules into the model, with these weights."""
        model = self._model
        for output, block in enumerate(model.blocks):
            rules = np.flatnonzero(self._outputs == output).tolist()
            members = tuple(self.members[rule] for rule in rules)
            weights = np.append(self._weights[rules], self._base[output])
            score = weights[:-1] @ self._fires[rules] + weights[-1]
            second = model.second_derivatives(output, stacked(members, self._n_rows), weights)
            model.replace(
                output, Block(members, replace(block.fit, weights=weights, score=score, second=second))
            )


class _ErrorStage(ErrorWeights):
    """Premises, too, that lower the smooth count of errors."""

    def __init__(self, search: Search, budget: Budget) -> None:
        super().__init__(search.model)
        self._search, self._budget = search, budget
        self._n_replaced = 0

    def run(self, report: StageReport) -> None:
        n_rules = len(self.members)
        self._fit(_MAX_STEPS)
        for sweep in range(_MAX_SWEEPS):
            before = self._n_replaced
            worth = [float(self._lowered(rule)[self._fires[rule]].sum()) for rule in range(n_rules)]
            weakest_first = [self.members[rule] for rule in np.argsort(worth, kind="stable")]
            for done, member in enumerate(weakest_first):
                report("errors", sweep * n_rules + done, _MAX_SWEEPS * n_rules)
                self._replace(self.members.index(member))
            if self._n_replaced == before:
                break
            self._fit(_MAX_STEPS)
        self._store()

    def _lowered(self, rule: int) -> Floats:
        """Return by how much the rule lowers the errors on each row, if it fires there."""
        column, factor = self._column[rule], np.exp(self._sharpness * self._weights[rule])
        own = self._powers[column]
        others = self._powers.sum(axis=0) - own
        without = np.where(self._fires[rule], own / factor, own)
        is_own = self._label == column
        at_label = np.take_along_axis(self._powers, self._label[None], axis=0)[0]
        right_without = np.where(is_own, without, at_label) / (without + others)
        right_with = np.where(is_own, without * factor, at_label) / (without * factor + others)
        return np.asarray(2 / self._sharpness * self._model.row_weight * (right_with - right_without))

    def _replace(self, rule: int) -> None:
        """Replace the premise of a rule if another lowers errors and price."""
        member, search = self.members[rule], self._search
        lowered = self._lowered(rule)
        present = float(lowered[self._fires[rule]].sum())
        found = search.moved(member, lowered, present) if present > 0 else None
        if found is None:
            return
        others = self.members[:rule] + self.members[rule + 1 :]
        if found.cost + sum(other.cost for other in others) > self._budget.reading_cost:
            return
        covered = fires(found, self._n_rows).astype(bool)
        gain = float(lowered[covered].sum()) - present - search.price * (found.cost - member.cost)
        is_beside = np.delete(self._outputs, rule) == self._outputs[rule]
        beside = [other for other, is_one in zip(others, is_beside, strict=True) if is_one]
        if gain <= _MIN_GAIN or not search.is_different(found, beside):
            return
        self.members[rule], self._fires[rule] = found, covered
        self._n_replaced += 1
        if self._is_binary or self._n_replaced % _REPLACED_PER_FIT == 0:
            self._fit(_STEPS_BETWEEN)
        else:
            self._vote()


def _groups(fires: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first row of each group of rows on which the same rules fire, and the group of each row.

    Of many rules hardly two rows have the same, so that each row is then a group of its own.
    """
    n_rules, n_rows = fires.shape
    if n_rules > _MAX_GROUPED_RULES:
        return np.arange(n_rows), np.arange(n_rows)
    keys = np.zeros((n_rows, 8), dtype=np.uint8)
    keys[:, : -(-n_rules // 8)] = np.packbits(fires, axis=0).T
    _, first, group = np.unique(keys.view(np.uint64)[:, 0], return_index=True, return_inverse=True)
    return first, group
