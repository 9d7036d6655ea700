"""Weighted rules as a penalised logistic model, whose inputs are which rules fire, fitted block by block.

Two classes are one logistic regression. More classes are a softmax with one block of rules and an intercept
per class. If the scores of the other classes are fixed, a block is again a logistic regression with an
offset, so fitting one block after the other lowers the total loss.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clausewise import _core
from clausewise.compact.bins import Box
from clausewise.rules.rule import Origin

Floats = NDArray[np.float64]
Bits = NDArray[np.uint64]

# Scores beyond this are clipped: the class is practically certain, and exponentials stay finite.
_LARGEST_SCORE = 300.0
_MAX_STEPS = 50
# A fit ends when another step is expected to lower the objective by less than this.
_TOLERANCE = 1e-3
# Sums over all classes are made of the sums over groups of so many, of which a changed class changes one.
_GROUP = 32
_LEFT_OF_PENALTY = 0.01


@dataclass(frozen=True, eq=False)
class Member:
    """A rule of the model: premise, training rows on which it fires, origin and reading cost."""

    box: Box
    rows: Bits
    origin: Origin | None
    cost: int


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted weights of a block.

    Attributes
    ----------
    weights : ndarray of shape (n_rules + 1,)
        One per rule, then the intercept.
    score : ndarray of shape (n_rows,)
        Intercept plus the weights of the rules that fire.
    second : ndarray of shape (n_rules + 1, n_rules + 1)
        Second derivatives of the objective.
    objective : float
        Loss and penalty; comparable only between fits with the same other blocks.
    """

    weights: Floats
    score: Floats
    second: Floats
    objective: float


@dataclass(frozen=True, eq=False)
class Block:
    """The rules of one output and their weights."""

    members: tuple[Member, ...]
    fit: Fit

    @cached_property
    def rows(self) -> Bits:
        """Which rules fire on which training rows, as bits."""
        return stacked(self.members, len(self.fit.score))

    @cached_property
    def importance(self) -> Floats:
        """By how much the objective would rise without each rule, after refitting the others."""
        inverse = np.linalg.inv(self.fit.second)
        return np.asarray(self.fit.weights[:-1] ** 2 / (2 * np.diag(inverse)[:-1]))

    def without(self, member: int) -> tuple[tuple[Member, ...], Floats]:
        """Return the other rules, and weights to start fitting them from."""
        members = self.members[:member] + self.members[member + 1 :]
        return members, np.delete(self.fit.weights, member)


@dataclass(frozen=True, eq=False)
class Votes:
    """The rules of one output of a fitted model, what they add to it and how much they matter."""

    members: tuple[Member, ...]
    weights: Floats
    intercept: float
    importance: Floats


class Model:
    """The blocks of all outputs.

    Parameters
    ----------
    codes : ndarray of int
        The class of each training row.
    n_classes : int
        Number of classes; two classes share one output, the score of the second.
    row_weight : ndarray of float
        The weight of each row.
    penalty : float
        Half of it times the sum of squared weights is added to the loss.
    """

    def __init__(self, codes: NDArray[np.int32], n_classes: int, row_weight: Floats, penalty: float) -> None:
        outputs = [1] if n_classes == 2 else list(range(n_classes))
        self.n_classes = n_classes
        self.penalty = penalty
        self.row_weight = row_weight
        self.targets = [(codes == output).astype(np.float64) for output in outputs]
        n_rows = len(codes)
        empty = Block((), Fit(np.zeros(1), np.zeros(n_rows), np.eye(1), np.inf))
        self.blocks = [empty] * len(outputs)
        self._codes = codes
        self._powers = np.ones((len(outputs), n_rows))
        groups = range(0, len(outputs), _GROUP)
        self._group_totals = np.stack([self._powers[start : start + _GROUP].sum(axis=0) for start in groups])
        self._total = self._group_totals.sum(axis=0)
        self.settle()

    @property
    def n_outputs(self) -> int:
        """One for two classes, otherwise one per class."""
        return len(self.targets)

    @property
    def n_rules(self) -> int:
        """Number of rules in all blocks."""
        return sum(len(block.members) for block in self.blocks)

    @property
    def objective(self) -> float:
        """The largest objective of a block."""
        return max(block.fit.objective for block in self.blocks)

    def votes(self) -> list[Votes]:
        """Return the rules and weights of each output."""
        return [
            Votes(block.members, block.fit.weights[:-1], float(block.fit.weights[-1]), block.importance)
            for block in self.blocks
        ]

    def unexpected(self) -> Floats:
        """Return, per class, the weight of its rows times the probability that they have another class."""
        own = self._powers[self._codes, np.arange(len(self._codes))] / self._total
        weights = self.row_weight * (1.0 - own)
        return np.bincount(self._codes, weights=weights, minlength=self.n_classes).astype(np.float64)

    def offset(self, output: int) -> Floats:
        """Return the offset to add to a block's score to get its log-odds; empty if there is none."""
        if self.n_outputs == 1:
            return np.empty(0)
        total = self._total
        # If the other classes are nearly impossible, the difference is only rounding error.
        return np.asarray(-np.log(np.maximum(total - self._powers[output], 1e-12 * total)))

    def derivatives(self, output: int, without: int | None = None) -> tuple[Floats, Floats]:
        """Return the negative first and the second derivative of the loss by a block's score, per row.

        If a position is given, that rule of the block is left out; the weights of the others stay.
        """
        block = self.blocks[output]
        score = block.fit.score
        if without is not None:
            score = score - block.fit.weights[without] * fires(block.members[without], len(score))
        margin = score if self.n_outputs == 1 else score + self.offset(output)
        probability = 1.0 / (1.0 + np.exp(-np.clip(margin, -_LARGEST_SCORE, _LARGEST_SCORE)))
        gradient = self.row_weight * (self.targets[output] - probability)
        return gradient, self.row_weight * probability * (1.0 - probability)

    def unexplained(self, output: int) -> tuple[Floats, Floats]:
        """Return the derivatives as if the penalty did not hold back the weights of the block's rules.

        The penalty keeps weights small, so that a gradient is left on the rows of every rule, and copies of
        it seem to help. A Newton step without the penalty removes that gradient, to first order.
        """
        block = self.blocks[output]
        gradient, curvature = self.derivatives(output)
        held_back = np.append(np.full(len(block.members), self.penalty), 0.0)
        # A little of the penalty stays, for rules that say the same together.
        second = block.fit.second - np.diag((1 - _LEFT_OF_PENALTY) * held_back)
        step = np.linalg.solve(second, held_back * block.fit.weights)
        change = np.full(len(gradient), step[-1])
        for member, weight in zip(block.members, step, strict=False):
            change += weight * fires(member, len(change))
        return gradient - curvature * change, curvature

    def promised(
        self, output: int, found: Sequence[Member], gradient: Floats, curvature: Floats
    ) -> tuple[Floats, list[Floats]]:
        """Estimate, to second order, how far each rule lowers the objective if all weights are refitted.

        Also return the weights of that fit. With the second derivatives M of the block, c of the new rule
        with itself (penalty included) and b of both, the new weight is w = g / (c − b'M⁻¹b), and the other
        weights change by −w·M⁻¹b.
        """
        block = self.blocks[output]
        rows = np.stack([member.rows for member in found])
        own = _core.weighted_cover(rows, curvature)
        first = _core.weighted_cover(rows, gradient)
        cross = _core.weighted_overlap(rows, block.rows, curvature).reshape(len(found), -1)
        cross = np.column_stack([cross, own])  # with the intercept, which covers every row
        moved = np.linalg.solve(block.fit.second, cross.T).T
        left = np.maximum(own + self.penalty - (cross * moved).sum(axis=1), 1e-9)
        weight = first / left
        others = block.fit.weights - weight[:, None] * moved
        starts = [np.concatenate([o[:-1], [w], o[-1:]]) for o, w in zip(others, weight, strict=True)]
        return first**2 / (2 * left), starts

    def fitted(
        self, output: int, members: Sequence[Member], start: Floats, max_steps: int = _MAX_STEPS
    ) -> Block:
        """Return a block of these rules for an output, with weights fitted to the present other blocks."""
        offset = self.offset(output)
        weights, margin, second, objective = _core.fit_weights(
            stacked(members, len(self.row_weight)),
            self.targets[output],
            self.row_weight,
            offset,
            self.penalty,
            start,
            max_steps,
            _TOLERANCE,
        )
        score = margin if len(offset) == 0 else margin - offset
        return Block(tuple(members), Fit(weights, score, second.reshape(len(weights), -1), objective))

    def second_derivatives(self, output: int, rows: Bits, weights: Floats) -> Floats:
        """Return the second derivatives of the objective at weights that need not be fitted to it."""
        found = _core.fit_weights(
            rows,
            self.targets[output],
            self.row_weight,
            self.offset(output),
            self.penalty,
            weights,
            0,
            _TOLERANCE,
        )
        return np.asarray(found[2].reshape(len(weights), -1))

    def replace(self, output: int, block: Block) -> None:
        """Replace the block of an output."""
        self.blocks[output] = block
        if self.n_outputs > 1:
            self._powers[output] = np.exp(np.clip(block.fit.score, -_LARGEST_SCORE, _LARGEST_SCORE))
            start = output // _GROUP * _GROUP
            self._group_totals[output // _GROUP] = self._powers[start : start + _GROUP].sum(axis=0)
            self._total = self._group_totals.sum(axis=0)

    def refit(self, output: int) -> None:
        """Refit the weights of one block."""
        block = self.blocks[output]
        self.replace(output, self.fitted(output, block.members, block.fit.weights))

    def settle(self, n_sweeps: int = 1) -> None:
        """Refit all blocks, one after the other."""
        for _ in range(1 if self.n_outputs == 1 else n_sweeps):
            for output in range(self.n_outputs):
                self.refit(output)

    def snapshot(self) -> tuple[Block, ...]:
        """Return the present blocks, for `restore`."""
        return tuple(self.blocks)

    def restore(self, blocks: Sequence[Block]) -> None:
        """Restore the blocks of a snapshot."""
        for output, block in enumerate(blocks):
            self.replace(output, block)


def fires(member: Member, n_rows: int) -> NDArray[np.uint8]:
    """Return 1 for the rows on which a rule fires, and 0 for the others."""
    return np.unpackbits(member.rows.view(np.uint8), count=n_rows, bitorder="little")


def bits_of(fires: NDArray[np.bool_]) -> Bits:
    """Return on which rows a rule fires, as bits of words."""
    packed = np.zeros(-(-len(fires) // 64) * 8, dtype=np.uint8)
    packed[: -(-len(fires) // 8)] = np.packbits(fires, bitorder="little")
    return packed.view(np.uint64)


def stacked(members: Sequence[Member], n_rows: int) -> Bits:
    """Return which rules fire on which rows, as bits in one array."""
    if not members:
        return np.empty((0, -(-n_rows // 64)), dtype=np.uint64)
    return np.stack([member.rows for member in members])
