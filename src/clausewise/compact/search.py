"""The search for a small weighted rule set: grow, prune, exchange."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from clausewise import _core
from clausewise.compact.bins import Bins, packed, unpacked
from clausewise.compact.model import Block, Floats, Member, Model, stacked
from clausewise.rules.rule import RESIDUAL, Origin

StageReport = Callable[[str, int, int], None]
"""Called with a stage, the number of steps done and their total."""

# A rule set grows a quarter beyond its budget before the least important rules are pruned.
_OVERGROWTH = 1.25
# By which factor a rule found from scratch must be better than one that was started from a given rule.
_PREFERENCE = 1.02
_FREE = Origin(RESIDUAL)
# Two rules of a block are too similar if both cover more than this fraction of the rows that either covers.
# Splitting a weight between two copies lowers the penalty, but a second copy is useless to a reader.
_MAX_OVERLAP = 0.8
# An exchange must lower the objective by more than the precision of a fit.
_MIN_GAIN = 1e-2
# Above this many rules, only one sweep of exchanges is worth its time.
_MANY_RULES = 32


@dataclass(frozen=True)
class SearchOptions:
    """Options of the box search; the defaults were chosen by cross-validation on several tables.

    Attributes
    ----------
    max_terms : int
        Largest number of terms in a rule.
    min_rows : int
        Smallest number of rows that a rule covers.
    beam_width, n_refined, n_seeds : int
        Number of boxes that a search extends, and refines, for each sign of the weight; and number of given
        rules that it refines.
    n_columns : int
        Number of columns of a wide table that a search considers: those with the largest gain on their own.
    max_moves : int
        Largest number of changes of terms while one box is refined.
    min_growth, min_increase : float
        A further term must increase the gain of the box by this factor, and by this amount.
    n_threads : int
        Number of threads.
    """

    max_terms: int
    min_rows: int
    beam_width: int = 6
    n_refined: int = 3
    n_seeds: int = 2
    n_columns: int = 64
    max_moves: int = 12
    min_growth: float = 1.02
    min_increase: float = 2.0
    n_threads: int = 1


@dataclass(frozen=True, eq=False)
class Offer:
    """A block with one more rule, and by how much that lowers the objective; 0 if no rule helps."""

    block: Block
    gain: float
    n_rules: int  # of the whole model when the offer was made


class Search:
    """Grows and improves a model on binned training rows.

    Parameters
    ----------
    bins : Bins
        The rows.
    model : Model
        The targets, and the rules found so far.
    seeds : sequence of Member
        Premises to start searches from, with their origins.
    options : Options
        Options of the box search.
    report : callable
        Called with a stage, the number of steps done and their total.
    """

    def __init__(
        self, bins: Bins, model: Model, seeds: Sequence[Member], options: SearchOptions, report: StageReport
    ) -> None:
        self._bins = bins
        self.model = model
        self._seeds = list(seeds)
        self._seed_rows = stacked(seeds, len(model.row_weight))
        self._seed_cover = _core.weighted_cover(self._seed_rows, model.row_weight)
        self._options = options
        self._report = report

    def compact(self, n_rules: int) -> None:
        """Search for the best model with this many rules."""
        self.grow(self.overgrown(n_rules))
        self.prune(n_rules)
        self.exchange(1 if self.n_rules > _MANY_RULES else 2)
        self.model.settle(3)

    @staticmethod
    def overgrown(n_rules: int) -> int:
        """Return the number of rules to grow to before pruning to `n_rules`."""
        return math.ceil(_OVERGROWTH * n_rules)

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return self.model.n_rules

    def grow(self, n_rules: int) -> None:
        """Add the rule that lowers the objective most until there are this many, or none helps."""
        model = self.model
        offers: dict[int, Offer] = {}
        while model.n_rules < n_rules:
            self._report("grow", model.n_rules, n_rules)
            for output in range(model.n_outputs):
                # Other blocks change what a block can gain, but not by much; offers are renewed now and then.
                if output not in offers or offers[output].n_rules + model.n_outputs <= model.n_rules:
                    offers[output] = self._offer(output)
            output = max(offers, key=lambda output: offers[output].gain)
            if offers[output].gain <= 0:
                return
            self._accept(output, offers.pop(output))
            if model.n_outputs > 1 and model.n_rules % model.n_outputs == 0:
                model.settle()

    def prune(self, n_rules: int) -> None:
        """Remove the least important rule until there are this many."""
        model = self.model
        while model.n_rules > n_rules:
            _, output, member = min(
                (float(block.importance.min()), output, int(block.importance.argmin()))
                for output, block in enumerate(model.blocks)
                if block.members
            )
            members, start = model.blocks[output].without(member)
            model.replace(output, model.fitted(output, members, start))

    def exchange(self, n_sweeps: int) -> None:
        """Replace rules by better ones, trying one after the other, the least important first."""
        model = self.model
        for sweep in range(n_sweeps):
            ranked = sorted(
                (importance, output, position)
                for output, block in enumerate(model.blocks)
                for position, importance in enumerate(block.importance.tolist())
            )
            listed = [(output, model.blocks[output].members[position]) for _, output, position in ranked]
            n_changed = 0
            for done, (output, member) in enumerate(listed):
                self._report("exchange", sweep * len(listed) + done, n_sweeps * len(listed))
                n_changed += self._exchange_one(output, member)
            if n_changed == 0:
                return

    def _exchange_one(self, output: int, member: Member) -> bool:
        """Replace a rule if a better one is found; return whether it was replaced."""
        model = self.model
        before = model.blocks[output]
        if model.n_outputs > 1:
            before = model.fitted(output, before.members, before.fit.weights)
        position = next(i for i, known in enumerate(before.members) if known is member)
        model.replace(output, model.fitted(output, *before.without(position)))
        offer = self._offer(output, [member])
        if offer.block.fit.objective < before.fit.objective - _MIN_GAIN:
            model.replace(output, offer.block)
            return True
        model.replace(output, before)
        return False

    def _accept(self, output: int, offer: Offer) -> None:
        block = offer.block
        if offer.n_rules < self.model.n_rules:  # other blocks have changed since
            block = self.model.fitted(output, block.members, block.fit.weights)
        self.model.replace(output, block)

    # --- Pricing ---

    def _offer(self, output: int, starts: Sequence[Member] = ()) -> Offer:
        """Search for one more rule for a block; the most promising ones are fitted to pick the best."""
        model, block = self.model, self.model.blocks[output]
        gradient, curvature = model.derivatives(output)
        starts = [*starts, *self._best_seeds(gradient, curvature)]
        found = self._candidates(gradient, curvature, starts)
        found = different(found, block)
        if not found:
            return Offer(block, 0.0, model.n_rules)
        promised, starts_of = _promised(block, found, gradient, curvature, model.penalty)
        # A rule that was started from a given one has an origin to show, so it may be slightly worse.
        credit = np.array([1.0 if member.origin == _FREE else _PREFERENCE for member in found])
        tried = [
            (credit[i], model.fitted(output, (*block.members, found[i]), starts_of[i]))
            for i in np.argsort(-promised * credit, kind="stable")[:2].tolist()
        ]
        _, best = max(tried, key=lambda pair: pair[0] * (block.fit.objective - pair[1].fit.objective))
        return Offer(best, block.fit.objective - best.fit.objective, model.n_rules)

    def _candidates(
        self, gradient: Floats, curvature: Floats, starts: Sequence[Member], beam_width: int | None = None
    ) -> list[Member]:
        options = self._options
        starts_, columns, accepted, _, origins, _ = self._bins.core.search(
            gradient,
            curvature,
            *packed([start.box for start in starts]),
            [1, -1],
            self.model.penalty,
            options.max_terms,
            options.min_rows,
            options.beam_width if beam_width is None else beam_width,
            options.n_refined,
            options.n_columns,
            options.max_moves,
            options.min_growth,
            options.min_increase,
            options.n_threads,
        )
        boxes = unpacked(starts_, columns, accepted)
        if not boxes:
            return []
        rows = self._bins.covered(boxes)
        came_from = [_FREE if start < 0 else starts[start].origin for start in origins.tolist()]
        return [Member(*parts) for parts in zip(boxes, rows, came_from, strict=True)]

    def _best_seeds(self, gradient: Floats, curvature: Floats) -> list[Member]:
        """Return the seeds that would help most unchanged."""
        first = _core.weighted_cover(self._seed_rows, gradient)
        # A row's curvature is at most a quarter of its weight. Ranking with this bound is cheap, and the
        # exact gain is only computed for the first few.
        promising = np.argsort(-(first**2) / (self._seed_cover / 4 + self.model.penalty), kind="stable")
        promising = promising[: 8 * self._options.n_seeds]
        second = _core.weighted_cover(self._seed_rows[promising], curvature)
        gain = first[promising] ** 2 / (second + self.model.penalty)
        best = promising[np.argsort(-gain, kind="stable")[: self._options.n_seeds]]
        return [self._seeds[i] for i in best.tolist()]


def different(found: Sequence[Member], block: Block) -> list[Member]:
    """Return the rules that do not nearly repeat a rule of the block."""
    if not found or not block.members:
        return list(found)
    ones = np.ones(len(block.fit.score))
    rows = np.stack([member.rows for member in found])
    both = _core.weighted_overlap(rows, block.rows, ones).reshape(len(found), -1)
    own, others = _core.weighted_cover(rows, ones), _core.weighted_cover(block.rows, ones)
    either = own[:, None] + others - both
    repeated = np.flatnonzero((both > _MAX_OVERLAP * either).any(axis=1)).tolist()
    return [member for number, member in enumerate(found) if number not in repeated]


def _promised(
    block: Block, found: Sequence[Member], gradient: Floats, curvature: Floats, penalty: float
) -> tuple[Floats, list[Floats]]:
    """Estimate, to second order, how far each rule lowers the objective if all weights are refitted.

    Also return the weights of that fit. With the second derivatives M of the block, c of the new rule with
    itself (penalty included) and b of both, the new weight is w = g / (c − b'M⁻¹b), and the other weights
    change by −w·M⁻¹b.
    """
    rows = np.stack([member.rows for member in found])
    own = _core.weighted_cover(rows, curvature)
    first = _core.weighted_cover(rows, gradient)
    cross = _core.weighted_overlap(rows, block.rows, curvature).reshape(len(found), -1)
    cross = np.column_stack([cross, own])  # with the intercept, which covers every row
    moved = np.linalg.solve(block.fit.second, cross.T).T
    left = np.maximum(own + penalty - (cross * moved).sum(axis=1), 1e-9)
    weight = first / left
    others = block.fit.weights - weight[:, None] * moved
    starts = [np.concatenate([o[:-1], [w], o[-1:]]) for o, w in zip(others, weight, strict=True)]
    return first**2 / left, starts
