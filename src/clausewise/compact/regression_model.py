"""Rules that add numbers as a penalised model, whose inputs are which rules fire and, perhaps, a few columns.

It has the interface of `Model`, with one output, so that `Search` can grow and improve it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clausewise import _core
from clausewise.compact.losses import Loss
from clausewise.compact.minimisation import dot
from clausewise.compact.model import Bits, Block, Fit, Floats, Member, fires, stacked

_MAX_STEPS, _MAX_HALVINGS = 20, 20
# A fit ends when another step is expected to lower the objective by less than this.
_TOLERANCE = 1e-3
# The penalty on squared coefficients of standardised columns, as a fraction of that on additions.
_PENALTY_OF_COLUMNS = 0.01
_LEFT_OF_PENALTY = 0.01


@dataclass(frozen=True, eq=False)
class RegressionFit(Fit):
    """Fitted numbers.

    Attributes
    ----------
    coefficients : ndarray of shape (n_columns,)
        One per column of the linear part.
    overlap : ndarray of shape (n_rules + n_columns + 1,) * 2
        Sums of products of inputs over the rows, weighted by their curvature: rules, columns, and 1.

    `second` are the second derivatives by additions and base if the coefficients are always refitted.
    """

    coefficients: Floats
    overlap: Floats


class RegressionModel:
    """One block of rules that add numbers.

    Parameters
    ----------
    target : ndarray of float
        What to predict, best with a standard deviation of about 1.
    row_weight : ndarray of float
        The weight of each row.
    penalty : float
        Half of it times the sum of squared additions is added to the loss.
    loss : Loss
        What to minimise.
    columns : ndarray of shape (n_columns, n_rows), optional
        Columns of the linear part, standardised.
    """

    n_outputs = 1

    def __init__(
        self, target: Floats, row_weight: Floats, penalty: float, loss: Loss, columns: Floats | None = None
    ) -> None:
        self.target, self.row_weight, self.penalty, self.loss = target, row_weight, penalty, loss
        self.columns = np.empty((0, len(target))) if columns is None else columns
        start = loss.start(target, row_weight)
        nothing = np.empty((0, 0))
        fit = RegressionFit(
            np.array([start]),
            np.full(len(target), start),
            np.eye(1),
            np.inf,
            np.zeros(len(self.columns)),
            nothing,
        )
        self.blocks: list[Block] = [Block((), fit)]
        self.settle()

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return len(self.blocks[0].members)

    @property
    def objective(self) -> float:
        """Loss and penalty."""
        return self.blocks[0].fit.objective

    @property
    def fit(self) -> RegressionFit:
        """The fitted numbers."""
        fit = self.blocks[0].fit
        assert isinstance(fit, RegressionFit)
        return fit

    def derivatives(self, output: int, without: int | None = None) -> tuple[Floats, Floats]:
        """Return the negative first derivative of the loss by the score, and its curvature, per row.

        If a position is given, that rule is left out; the numbers of the others stay.
        """
        block = self.blocks[output]
        score = block.fit.score
        if without is not None:
            score = score - block.fit.weights[without] * fires(block.members[without], len(score))
        gradient, curvature = self.loss.derivatives(self.target, score)
        return self.row_weight * gradient, self.row_weight * curvature

    def unexplained(self, output: int) -> tuple[Floats, Floats]:
        """Return the derivatives as if the penalty did not hold back the additions; see `Model`."""
        block = self.blocks[output]
        gradient, curvature = self.derivatives(output)
        second = self._second(self.fit.overlap, _LEFT_OF_PENALTY)
        held_back = self.penalty * np.concatenate([block.fit.weights[:-1], np.zeros(len(self.columns) + 1)])
        step = np.asarray(np.linalg.solve(second, held_back), dtype=np.float64)
        return gradient - curvature * self._score(block.members, step), curvature

    def promised(
        self, output: int, found: Sequence[Member], gradient: Floats, curvature: Floats
    ) -> tuple[Floats, list[Floats]]:
        """Estimate how far each rule lowers the objective if all numbers are refitted; see `Model`."""
        block = self.blocks[output]
        rows = np.stack([member.rows for member in found])
        own = _core.weighted_cover(rows, curvature)
        first = _core.weighted_cover(rows, gradient)
        cross = self._cross(rows, block.rows, curvature)
        moved = np.linalg.solve(self._second(self.fit.overlap), cross.T).T
        left = np.maximum(own + self.penalty - (cross * moved).sum(axis=1), 1e-9)
        weight = first / left
        n_rules = len(block.members)
        others = np.column_stack([block.fit.weights[:-1] - weight[:, None] * moved[:, :n_rules], weight])
        base = block.fit.weights[-1] - weight * moved[:, -1]
        return first**2 / (2 * left), list(np.column_stack([others, base]))

    def fitted(self, output: int, members: Sequence[Member], start: Floats) -> Block:
        """Return a block of these rules, with numbers that minimise loss and penalty."""
        known = self.fit
        inputs = np.concatenate([start[:-1], known.coefficients, start[-1:]])
        if self.loss.is_quadratic:
            return self._fitted_at_once(tuple(members))
        score = self._score(members, inputs)
        objective = self._objective(score, inputs, len(members))
        for _ in range(_MAX_STEPS):
            gradient, curvature = self.loss.derivatives(self.target, score)
            gradient, curvature = self.row_weight * gradient, self.row_weight * curvature
            overlap = self._overlap(stacked(members, len(score)), curvature)
            slope = self._inputs_times(members, gradient) - self._penalties(len(members)) * inputs
            step = np.linalg.solve(self._second(overlap), slope)
            if dot(slope, step) <= 2 * _TOLERANCE:
                break
            change = self._score(members, step)
            for halving in range(_MAX_HALVINGS):
                moved = inputs + step / 2**halving
                tried_score = score + change / 2**halving
                tried = self._objective(tried_score, moved, len(members))
                if tried <= objective:
                    break
            else:
                break
            inputs, score, objective = moved, tried_score, tried
        return self._block(tuple(members), inputs, score, objective, overlap)

    def _fitted_at_once(self, members: tuple[Member, ...]) -> Block:
        overlap = self._updated_overlap(members)
        right = self._inputs_times(members, self.row_weight * self.target)
        inputs = np.asarray(np.linalg.solve(self._second(overlap), right), dtype=np.float64)
        score = self._score(members, inputs)
        return self._block(members, inputs, score, self._objective(score, inputs, len(members)), overlap)

    def _block(
        self, members: tuple[Member, ...], inputs: Floats, score: Floats, objective: float, overlap: Floats
    ) -> Block:
        n_rules = len(members)
        weights = np.append(inputs[:n_rules], inputs[-1])
        second = self._second(overlap)
        if len(self.columns):
            is_column = np.zeros(len(inputs), dtype=bool)
            is_column[n_rules:-1] = True
            across = second[np.ix_(~is_column, is_column)]
            within = second[np.ix_(is_column, is_column)]
            second = second[np.ix_(~is_column, ~is_column)] - across @ np.linalg.solve(within, across.T)
        fit = RegressionFit(weights, score, second, objective, inputs[n_rules:-1], overlap)
        return Block(members, fit)

    def replace(self, output: int, block: Block) -> None:
        """Replace the block."""
        self.blocks[output] = block

    def refit(self, output: int) -> None:
        """Refit all numbers."""
        block = self.blocks[output]
        self.replace(output, self.fitted(output, block.members, block.fit.weights))

    def settle(self, n_sweeps: int = 1) -> None:
        """Refit all numbers."""
        self.refit(0)

    def use_columns(self, columns: Floats) -> None:
        """Replace the columns of the linear part, and refit."""
        self.columns = columns.reshape(len(columns), len(self.target))
        block = self.blocks[0]
        fit = RegressionFit(
            block.fit.weights,
            block.fit.score,
            block.fit.second,
            block.fit.objective,
            np.zeros(len(columns)),
            np.empty((0, 0)),
        )
        self.blocks[0] = Block(block.members, fit)
        self.settle()

    # --- Sums over rows, in an order that does not depend on threads ---

    def _score(self, members: Sequence[Member], inputs: Floats) -> Floats:
        n_rules = len(members)
        score = _core.weighted_sums(stacked(members, len(self.target)), inputs[:n_rules], len(self.target))
        score += inputs[-1]
        for column, coefficient in zip(self.columns, inputs[n_rules:-1], strict=True):
            score += coefficient * column
        return np.asarray(score)

    def _objective(self, score: Floats, inputs: Floats, n_rules: int) -> float:
        loss = dot(self.row_weight, self.loss.value(self.target, score))
        return loss + dot(self._penalties(n_rules), inputs**2) / 2

    def _penalties(self, n_rules: int, share: float = 1.0) -> Floats:
        # The base is not penalised; a little keeps the matrix regular.
        of_columns = np.full(len(self.columns), _PENALTY_OF_COLUMNS * self.penalty)
        return np.concatenate([np.full(n_rules, share * self.penalty), of_columns, [1e-9]])

    def _second(self, overlap: Floats, share: float = 1.0) -> Floats:
        n_rules = len(overlap) - len(self.columns) - 1
        return overlap + np.diag(self._penalties(n_rules, share))

    def _inputs_times(self, members: Sequence[Member], values: Floats) -> Floats:
        """Return the sum over rows of each input times the values."""
        of_rules = _core.weighted_cover(stacked(members, len(values)), values)
        return np.concatenate([of_rules, [dot(column, values) for column in self.columns], [values.sum()]])

    def _cross(self, rows: Bits, known: Bits, curvature: Floats) -> Floats:
        """Return the weighted products of some rules with rules, columns and 1."""
        with_rules = _core.weighted_overlap(rows, known, curvature).reshape(len(rows), len(known))
        with_columns = [_core.weighted_cover(rows, curvature * column) for column in self.columns]
        return np.column_stack([with_rules, *with_columns, _core.weighted_cover(rows, curvature)])

    def _overlap(self, rows: Bits, curvature: Floats) -> Floats:
        """Return the weighted products of all inputs."""
        n_rules, n_columns = len(rows), len(self.columns)
        overlap = np.zeros((n_rules + n_columns + 1,) * 2)
        if n_rules:
            overlap[:n_rules] = self._cross(rows, rows, curvature)
            overlap[n_rules:, :n_rules] = overlap[:n_rules, n_rules:].T
        overlap[n_rules:, n_rules:] = self._overlap_of_columns(curvature)
        return overlap

    def _overlap_of_columns(self, curvature: Floats) -> Floats:
        with_one = [*self.columns, np.ones(len(curvature))]
        return np.array([[dot(curvature * a, b) for b in with_one] for a in with_one])

    def _updated_overlap(self, members: Sequence[Member]) -> Floats:
        """Return the products of all inputs, computed for those rules that the block does not have."""
        known, block = self.fit.overlap, self.blocks[0]
        place = {id(member): i for i, member in enumerate(block.members)}
        if len(known) == 0 or len(members) == 0:
            return self._overlap(stacked(members, len(self.target)), self.row_weight)
        places = np.array([place.get(id(member), -1) for member in members])
        n_rules, n_known = len(members), len(block.members)
        if (places < 0).sum() > max(n_rules // 2, 1):
            return self._overlap(stacked(members, len(self.target)), self.row_weight)
        overlap = np.empty((n_rules + len(self.columns) + 1,) * 2)
        old = np.concatenate([places, np.arange(n_known, len(known))])
        is_old = old >= 0
        overlap[np.ix_(is_old, is_old)] = known[np.ix_(old[is_old], old[is_old])]
        new = np.flatnonzero(places < 0)
        if len(new):
            rows = stacked([members[i] for i in new.tolist()], len(self.target))
            cross = self._cross(rows, stacked(members, len(self.target)), self.row_weight)
            overlap[new], overlap[:, new] = cross, cross.T
        return overlap
