"""Votes fitted to a complete rule set: all rules stay, and their weights imitate the target best.

The weights are those of a softmax over the votes of the classes, with a ridge penalty that is chosen on
held-out rows. Rules that are learnt independently of each other repeat each other; counting confidences
then counts the same evidence again and again, and fitted weights do not.
"""

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from clausewise.base.parameters import (
    FLAG,
    JOBS,
    NOTHING,
    RANDOM_STATE,
    check_parameters,
    number,
)
from clausewise.compact.compaction import CompactionWarning
from clausewise.compact.examples import Balance, Examples, examples_of
from clausewise.compact.minimisation import dot, minimised
from clausewise.compact.points import calibrated, exact
from clausewise.compact.settings import seed_of
from clausewise.data.rows import split_once
from clausewise.data.table import Matrix
from clausewise.rules.columns import frozen
from clausewise.rules.ruleset import RuleSet

Floats = NDArray[np.float64]

# Tried one after the other, from the weights of the one before, while the loss on held-out rows falls.
_PENALTIES: Final = (10.0, 3.0, 1.0, 0.3, 0.1)
_HELD_OUT: Final = 0.2
_MIN_ROWS: Final = 10
_DEFAULT_PENALTY: Final = 3.0
_MAX_STEPS, _MAX_STEPS_TO_CHOOSE = 60, 20
# A fit ends when a step lowers the loss by less than this fraction.
_TOLERANCE: Final = 1e-5
# Rows by rules that are unpacked at a time.
_CELLS_AT_A_TIME: Final = 2**23


def fit_votes(
    rules: RuleSet,
    X: Any,
    target: Any,
    *,
    per_class: bool = False,
    allow_negative: bool = False,
    penalty: float | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> RuleSet:
    """Fit the weight of every rule to a target; see `RuleSet.fit_votes`.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> from clausewise.compact import fit_votes
    >>> text = "IF income > 5 THEN good IF debt > 5 THEN bad"
    >>> rules = RuleSet.from_text(text, ["income", "debt"], default="bad")
    >>> X = np.random.default_rng(0).uniform(0, 10, (300, 2))
    >>> network = np.where(X[:, 0] > X[:, 1], "good", "bad")
    >>> fitted = fit_votes(rules, X, network)  # as rules.fit_votes(X, network)
    >>> fitted.voting, [round(rule.weight, 1) for rule in fitted]
    ('weights', [4.9, 5.3])
    """
    check_parameters(
        {
            "per_class": FLAG,
            "allow_negative": FLAG,
            "penalty": number(above=0) | NOTHING,
            "random_state": RANDOM_STATE,
            "n_jobs": JOBS,
        },
        {
            "per_class": per_class,
            "allow_negative": allow_negative,
            "penalty": penalty,
            "random_state": random_state,
            "n_jobs": n_jobs,
        },
    )
    examples = examples_of(rules, X, target, sample_weight)
    settings = VoteSettings(per_class, allow_negative, penalty, n_jobs)
    found = fit_votes_to(rules, examples, settings, seed_of(random_state))
    if found.caveat is not None:
        warnings.warn(found.caveat, CompactionWarning, stacklevel=3)  # the caller of `RuleSet.fit_votes`
    return found.rules.having_learnt_from(examples.table)


@dataclass(frozen=True)
class VoteSettings:
    """Options of `RuleSet.fit_votes`."""

    per_class: bool = False
    allow_negative: bool = False
    penalty: float | None = None
    n_jobs: int | None = None
    balance: Balance = None


@dataclass(frozen=True)
class FittedVotes:
    """Rules with fitted votes, or with the votes they had if these are better, and a warning then."""

    rules: RuleSet
    caveat: str | None = None


def fit_votes_to(rules: RuleSet, examples: Examples, settings: VoteSettings, seed: int) -> FittedVotes:
    """Fit the weight of every rule to examples.

    If the fitted votes decide fewer held-out rows rightly than confidences do, the rules vote by confidence.
    """
    if len(rules) == 0 or (examples.codes == examples.codes[0]).all():
        return FittedVotes(rules)
    weights = examples.row_weights(settings.balance)
    penalty, start = settings.penalty, None
    if len(examples.codes) >= _MIN_ROWS:
        learnt, held_out = split_once(examples.codes, _HELD_OUT, seed)
        problem, unseen = (
            _VoteProblem.of(rules, examples.table[rows], examples.codes[rows], weights[rows], settings)
            for rows in (learnt, held_out)
        )
        penalty, start = _chosen(problem, unseen, settings.penalty)
        by_confidence = rules.evaluator.decide(
            examples.table[held_out], "confidence", rules.default_index, settings.n_jobs
        )
        is_right = by_confidence == examples.codes[held_out]
        before = float(np.average(is_right, weights=weights[held_out]))
        after = float(np.average(unseen.is_right(start), weights=weights[held_out]))
        if after < before:
            caveat = (
                f"Fitted votes agree with the target on {after:.1%} of the held-out rows, confidences on "
                f"{before:.1%}; the rules vote by confidence."
            )
            return FittedVotes(rules.with_voting("confidence"), caveat)
        del problem, unseen  # which take as much memory as that of all rows
    problem = _VoteProblem.of(rules, examples.table, examples.codes, weights, settings)
    found = problem.fitted(penalty or _DEFAULT_PENALTY, start, _MAX_STEPS)
    fitted = problem.rules_with(rules, found, examples.weights)
    if examples.probabilities is not None:
        fitted = calibrated(fitted, examples.table, examples.probabilities, weights)
    return FittedVotes(fitted)


def _chosen(problem: "_VoteProblem", unseen: "_VoteProblem", penalty: float | None) -> tuple[float, Floats]:
    """Return the penalty with the smallest loss on unseen rows, and its weights."""
    if penalty is not None:
        return penalty, problem.fitted(penalty, None, _MAX_STEPS)
    best, least = _PENALTIES[0], np.inf
    start: Floats | None = None
    weights: Floats | None = None
    for tried in _PENALTIES:
        weights = problem.fitted(tried, weights, _MAX_STEPS_TO_CHOOSE)
        loss = unseen.loss(weights)
        if loss >= least:
            break
        best, least, start = tried, loss, weights
    assert start is not None
    return best, start


def _fires(rules: RuleSet, table: Matrix, n_jobs: int | None) -> csr_array:
    """Return which rules (columns) fire on which rows."""
    n_at_a_time = max(1, _CELLS_AT_A_TIME // len(rules))
    per_row, columns = [], []
    for first in range(0, len(table), n_at_a_time):
        fires = rules.evaluator.fires(table[first : first + n_at_a_time], n_jobs).dense().T
        per_row.append(np.count_nonzero(fires, axis=1))
        columns.append((np.flatnonzero(fires) % len(rules)).astype(np.int32))
    starts = np.concatenate([[0], np.cumsum(np.concatenate(per_row))])
    indices = np.concatenate(columns)
    columns.clear()
    return csr_array((np.ones(len(indices)), indices, starts), (len(table), len(rules)))


@dataclass(frozen=True, eq=False)
class _VoteProblem:
    """The loss of votes on some rows, as a function of weights: first those of rules, then base votes.

    With two classes there is one output, the votes of the second class less those of the first; with more,
    one per class.

    Attributes
    ----------
    fires : csr_array of shape (n_rows, n_rules)
        Which rules fire.
    codes : ndarray of int
        The class of each row.
    row_weight : ndarray of float
        The weight of each row.
    class_of_rule : ndarray of int
        The class that each rule votes for.
    """

    fires: csr_array
    codes: NDArray[np.int32]
    row_weight: Floats
    class_of_rule: NDArray[np.int32]
    n_classes: int
    settings: VoteSettings

    @classmethod
    def of(
        cls,
        rules: RuleSet,
        table: Matrix,
        codes: NDArray[np.int32],
        row_weight: Floats,
        settings: VoteSettings,
    ) -> "_VoteProblem":
        """Return the problem of a rule set on these rows."""
        n_classes = len(rules.classes)
        fires = _fires(rules, table, settings.n_jobs)
        return cls(fires, codes, row_weight, rules.columns.class_index, n_classes, settings)

    @property
    def n_rules(self) -> int:
        return int(self.fires.shape[1])

    @property
    def n_outputs(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def n_weights(self) -> int:
        return self.n_rules * (self.n_outputs if self.settings.per_class else 1)

    @cached_property
    def _sign(self) -> Floats:
        """The direction in which each rule moves its output."""
        return np.where((self.n_outputs == 1) & (self.class_of_rule == 0), -1.0, 1.0)

    @cached_property
    def _parts(self) -> list[tuple[NDArray[np.intp], csr_array]]:
        """The rules of each output: the positions of their weights, and where they fire."""
        every = np.arange(self.n_rules)
        if self.n_outputs == 1:
            return [(every, self.fires)]
        by_column = self.fires.tocsc()
        of_class = [np.flatnonzero(self.class_of_rule == c) for c in range(self.n_outputs)]
        return [(rules, csr_array(by_column[:, rules])) for rules in of_class]

    def votes(self, weights: Floats) -> Floats:
        """Return the votes of each output (rows × outputs)."""
        if self.settings.per_class and self.n_outputs > 1:
            own = weights[: self.n_weights].reshape(self.n_rules, self.n_outputs)
            return np.asarray(self.fires @ own + weights[self.n_weights :])
        columns = [fires @ (self._sign[rules] * weights[rules]) for rules, fires in self._parts]
        return np.column_stack(columns) + weights[self.n_weights :]

    def is_right(self, weights: Floats) -> NDArray[np.bool_]:
        """Return whether the votes decide each row as wanted."""
        votes = self.votes(weights)
        decided = votes[:, 0] > 0 if self.n_outputs == 1 else votes.argmax(axis=1)
        return np.asarray(decided == self.codes)

    def loss(self, weights: Floats) -> float:
        """Return the sum of log-losses."""
        return self._loss_and_slope(weights)[0]

    def _loss_and_slope(self, weights: Floats) -> tuple[float, Floats]:
        votes = self.votes(weights)
        if self.n_outputs == 1:
            margin = votes[:, 0]
            power = np.exp(-np.abs(margin))
            loss = np.log1p(power) + np.where(self.codes == 1, np.maximum(-margin, 0), np.maximum(margin, 0))
            probability = np.where(margin >= 0, 1.0, power) / (1 + power)
            slope = self.row_weight * (probability - self.codes)
            return dot(self.row_weight, loss), slope[:, None]
        votes -= votes.max(axis=1, keepdims=True)
        rows = np.arange(len(self.codes))
        expected = votes[rows, self.codes]
        np.exp(votes, out=votes)
        total = votes.sum(axis=1)
        votes /= total[:, None]
        votes[rows, self.codes] -= 1.0
        votes *= self.row_weight[:, None]
        return dot(self.row_weight, np.log(total) - expected), votes

    def fitted(self, penalty: float, start: Floats | None, max_steps: int) -> Floats:
        """Return the weights with the smallest loss and penalty."""
        n_weights = self.n_weights
        is_by_class = self.settings.per_class and self.n_outputs > 1

        def objective(weights: Floats) -> tuple[float, Floats]:
            loss, slope = self._loss_and_slope(weights)
            own = weights[:n_weights]
            gradient = penalty * own
            if is_by_class:
                gradient += np.asarray(self.fires.T @ slope).reshape(-1)
            else:
                for output, (rules, fires) in enumerate(self._parts):
                    gradient[rules] += self._sign[rules] * (fires.T @ slope[:, output])
            value = loss + penalty / 2 * dot(own, own)
            return value, np.concatenate([gradient, slope.sum(axis=0)])

        is_bounded = np.zeros(n_weights + self.n_outputs, dtype=bool)
        is_bounded[:n_weights] = not (self.settings.per_class or self.settings.allow_negative)
        first = np.zeros(n_weights + self.n_outputs) if start is None else start
        return minimised(objective, first, max_steps, _TOLERANCE, is_bounded)

    def rules_with(self, rules: RuleSet, weights: Floats, row_weight: Floats | None) -> RuleSet:
        """Return the rules with these weights, whose sums are exact; rows are counted by `row_weight`."""
        own, base = exact(weights[: self.n_weights]), exact(weights[self.n_weights :])
        base = np.array([0.0, *base]) if self.n_outputs == 1 else base
        base -= base.min()
        rules = rules.with_default(rules.labels[int(base.argmax())])
        if not self.settings.per_class:
            return rules.with_weights(own, base)
        of_class = np.eye(self.n_classes)[self.codes]
        n_correct = np.asarray(
            self.fires.T @ (of_class if row_weight is None else of_class * row_weight[:, None])
        )
        if self.n_outputs == 1:
            signed = np.where(self.class_of_rule == 1, own, -own)
            return _with_class_weights(
                rules, np.maximum(np.column_stack([-signed, signed]), 0.0), base, n_correct
            )
        by_class = own.reshape(self.n_rules, self.n_outputs)
        # The same for all classes changes nothing, so that no rule need speak against a class.
        by_class = by_class - by_class.min(axis=1, keepdims=True)
        return _with_class_weights(rules, by_class, base, n_correct)


def _with_class_weights(rules: RuleSet, by_class: Floats, base: Floats, n_correct: Floats) -> RuleSet:
    """Return one rule for each premise and each class that it has a weight for; at least its own.

    `n_correct` is the weight of the rows of each class on which each rule fires.
    """
    is_kept = by_class > 0
    without = np.flatnonzero(~is_kept.any(axis=1))
    is_kept[without, rules.columns.class_index[without]] = True
    rule, code = np.nonzero(is_kept)
    columns = replace(rules.columns.take(rule), class_index=code.astype(np.int32))
    found = replace(rules, columns=frozen(columns)).with_weights(by_class[rule, code], base)
    return found.with_counts(n_correct.sum(axis=1)[rule], n_correct[rule, code])
