"""The search for a small weighted rule set: grow, prune, exchange."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from clausewise import _core
from clausewise.compact.bins import Bins, packed, unpacked
from clausewise.compact.model import Block, Floats, Member, Model, stacked
from clausewise.rules.rule import RESIDUAL, Origin

Sized = TypeVar("Sized")
StageReport = Callable[[str, int, int], None]
"""Called with a stage, the number of steps done and their total."""

# A rule set grows a quarter beyond its budget before the least important rules are pruned.
_OVERGROWTH = 1.25
# The price falls from this fraction of the loss without rules, by this factor per step.
_FIRST_PRICE, _PRICE_STEP = 0.25, 0.5
# With many classes, so many of them are asked for a rule, for each rule of the budget, and at least so many.
_ASKED_PER_RULE, _MIN_ASKED = 2, 32
# Less than this is no price.
_LAST_PRICE = 0.01
# What the shortest rule costs to read: itself and one bound.
MIN_COST = 2
# A budget is nearly full from this fraction on; after so many steps without a change, the search ends.
_NEARLY_FULL, _MAX_IDLE = 0.9, 2
# By which factor a rule found from scratch must be better than one that was started from a given rule.
_PREFERENCE = 1.02
# With more than two classes, a rule that speaks against one must be better by this factor than all that speak
# for one, since it is harder to read.
_FACTOR_AGAINST = 1.5
_FREE = Origin(RESIDUAL)
# Two rules of a block are too similar if both cover more than this fraction of the rows that either covers.
# Splitting a weight between two copies lowers the penalty, but a second copy is useless to a reader.
_MAX_OVERLAP = 0.8
# The same for a rule and the opposite of another one, with two classes. It may be closer, since it speaks for
# the other class; with more classes it would speak against its own.
_MAX_OPPOSITE_OVERLAP = 0.9
# An exchange must lower the objective by more than the precision of a fit.
_MIN_GAIN = 1e-2
# On the way down to fewer rules, they are exchanged each time their number has fallen by this factor.
_EXCHANGE_AT = 0.7
# Above this many rules, only one sweep of exchanges is worth its time.
_MANY_RULES = 32


@dataclass(frozen=True)
class Budget:
    """Largest number of rules, and what all of them may cost to read."""

    n_rules: int
    reading_cost: float = math.inf


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
    min_growth : float
        Whatever makes a box longer must increase its gain by this factor.
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
    n_threads: int = 1


@dataclass(frozen=True, eq=False)
class Offer:
    """A block with one more rule, and by how much that lowers objective and price; 0 if no rule helps."""

    block: Block
    gain: float
    n_rules: int  # of the whole model when the offer was made

    def gain_within(self, reading_cost: float) -> float:
        """Return the gain, or 0 if the new rule costs more to read than this."""
        return self.gain if self.gain > 0 and self.block.members[-1].cost <= reading_cost else 0.0


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
    n_real : int, optional
        The first so many rows are real, and a rule must cover some of them; all are unless given.
    """

    def __init__(
        self,
        bins: Bins,
        model: Model,
        seeds: Sequence[Member],
        options: SearchOptions,
        report: StageReport,
        n_real: int | None = None,
    ) -> None:
        self._bins = bins
        self.model = model
        n_rows = len(model.row_weight)
        is_real = np.arange(n_rows) < (n_rows if n_real is None else n_real)
        self._is_real = None if is_real.all() else is_real.astype(np.float64)
        self._seeds = list(seeds)
        self._seed_rows = stacked(seeds, len(model.row_weight))
        self._seed_cover = _core.weighted_cover(self._seed_rows, model.row_weight)
        self._options = options
        self._report = report
        # By how much a rule must lower the objective for each unit of its reading cost.
        self.price = 0.0

    def compact(self, budget: Budget, price: float) -> None:
        """Search for the best model within a budget, at this price."""
        for _ in self.stages(budget, price):
            pass
        self.exchange(1 if self.n_rules > _MANY_RULES else 2, budget)
        self.model.settle(3)
        self._drop_worthless()

    def improve(self, budget: Budget) -> None:
        """Vary the premises of the model's rules, at the present price, and drop what is not worth it."""
        self.exchange(2, budget, is_local=True)
        self.model.settle(3)
        self._drop_worthless()

    def stages(self, budget: Budget, price: float) -> Iterator[float]:
        """Let the price fall to the given one in steps; yield it after each, with a model of that price.

        Rules found at a high price are short, and become longer only as far as that pays later.
        """
        self.price = _FIRST_PRICE * self.model.objective
        n_idle, last = 0, max(price, _LAST_PRICE)
        while n_idle < _MAX_IDLE and self.price > last:
            self.price = max(_PRICE_STEP * self.price, last)
            before = self.cost
            self.grow(budget)
            self.exchange(1, budget, is_local=True)
            self._drop_worthless()
            if self.model.n_outputs > 1:
                self.model.settle()
            yield self.price
            is_nearly_full = self.cost >= _NEARLY_FULL * budget.reading_cost
            n_idle = n_idle + 1 if is_nearly_full and self.cost == before else 0

    def sizes_down_from(
        self,
        n_rules: int,
        price_of: Callable[[int], float],
        present: Callable[[], Sized],
        run: Callable[[Callable[[], None]], None] = lambda work: work(),
    ) -> dict[int, Sized]:
        """Return what `present` returns for every number of rules up to this one, from one search.

        `price_of` returns the price for a number of rules; `run` does the parts that take long, or only some
        of their work if time is limited.
        """
        self.price = price_of(n_rules)
        run(lambda: self.grow(Budget(self.overgrown(n_rules))))
        found: dict[int, Sized] = {}
        next_exchange: float = n_rules
        for n_left in range(n_rules, 0, -1):
            if found and self.n_rules <= n_left:
                found[n_left] = found[n_left + 1]  # further rules did not help
                continue
            self.price = price_of(n_left)
            self.prune(n_left)
            if n_left <= next_exchange:
                run(partial(self.exchange, 1, Budget(n_left)))
                next_exchange = _EXCHANGE_AT * n_left
            found[n_left] = present()
        return found

    @staticmethod
    def overgrown(n_rules: int) -> int:
        """Return the number of rules to grow to before pruning to `n_rules`."""
        return math.ceil(_OVERGROWTH * n_rules)

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return self.model.n_rules

    @property
    def cost(self) -> int:
        """Reading cost of all rules."""
        return sum(member.cost for block in self.model.blocks for member in block.members)

    def grow(self, budget: Budget) -> None:
        """Add the rule that lowers objective and price most until the budget is used up, or none helps."""
        model = self.model
        offers: dict[int, Offer] = {}
        asked = self._outputs_to_ask(budget)
        while model.n_rules < budget.n_rules:
            self._report("grow", model.n_rules, budget.n_rules)
            left = budget.reading_cost - self.cost
            if left < MIN_COST:
                return
            for output in asked:
                # Other blocks change what a block can gain, but not by much; offers are renewed now and then.
                if output not in offers or offers[output].n_rules + model.n_outputs <= model.n_rules:
                    offers[output] = self._offer(output)
            for output, offer in offers.items():
                if offer.gain > 0 and offer.gain_within(left) == 0:
                    offers[output] = self._shorter_offer(output, left)
            output = max(offers, key=lambda output: offers[output].gain_within(left))
            if offers[output].gain_within(left) <= 0:
                return
            self._accept(output, offers.pop(output))
            if model.n_outputs > 1 and model.n_rules % model.n_outputs == 0:
                model.settle()

    def _outputs_to_ask(self, budget: Budget) -> Sequence[int]:
        """Return the outputs that may get another rule: all, or those with most to gain if rules are few.

        Rules for fewer classes than there are should speak for those with many rows that no rule explains.
        """
        n_asked = max(_MIN_ASKED, _ASKED_PER_RULE * budget.n_rules)
        if self.model.n_outputs <= n_asked:
            return range(self.model.n_outputs)
        return sorted(np.argsort(-self.model.unexpected(), kind="stable")[:n_asked].tolist())

    def prune(self, n_rules: int) -> None:
        """Remove the least valuable rule until there are this many."""
        while self.n_rules > n_rules:
            _, output, position = min(self._worths())
            self._remove(output, position)

    def exchange(self, n_sweeps: int, budget: Budget, is_local: bool = False) -> None:
        """Replace rules by better ones, trying one after the other, the least valuable first.

        A local exchange only tries variants of the rule itself and of given rules.
        """
        model = self.model
        for sweep in range(n_sweeps):
            listed = [
                (output, model.blocks[output].members[position])
                for _, output, position in sorted(self._worths())
            ]
            n_changed = 0
            for done, (output, member) in enumerate(listed):
                self._report("exchange", sweep * len(listed) + done, n_sweeps * len(listed))
                n_changed += self._exchange_one(output, member, budget, is_local)
            if n_changed == 0:
                return

    def _exchange_one(self, output: int, member: Member, budget: Budget, is_local: bool) -> bool:
        """Replace a rule if a better one is found; return whether it was replaced."""
        model = self.model
        before = model.blocks[output]
        position = next(i for i, known in enumerate(before.members) if known is member)
        # Most rules stay as they are; that is seen without fitting the others again.
        gradient, curvature = model.derivatives(output, without=position)
        limits = {"beam_width": 0} if is_local else {}
        found = self._found(gradient, curvature, [member], **limits)
        if found and found[0].box == member.box:
            return False
        if model.n_outputs > 1:
            before = model.fitted(output, before.members, before.fit.weights)
        model.replace(output, model.fitted(output, *before.without(position)))
        offer = self._best_of(output, found) if is_local else self._offer(output, [member])
        lost = model.blocks[output].fit.objective - before.fit.objective - self.price * member.cost
        gain = offer.gain_within(budget.reading_cost - self.cost)
        if gain <= lost + _MIN_GAIN:
            model.replace(output, before)
            return False
        if gain > 0:  # otherwise the model is better without the rule
            model.replace(output, offer.block)
        return True

    def moved(self, member: Member, worth: Floats, present: float) -> Member | None:
        """Return the rule with a premise that covers more of what rows are worth; None if none is found.

        `present` is what the rows of its present premise are worth together.
        """
        # With this penalty and without curvature, the gain of a box rises as the sum over its rows does.
        found = self._boxes(worth, np.zeros(len(worth)), [member], [1], 2 * present, self.price, beam_width=0)
        return found[0] if found and found[0].box != member.box else None

    def is_different(self, member: Member, others: Sequence[Member]) -> bool:
        """Return whether a rule nearly repeats none of the others of its output, nor the opposite of one."""
        limit = _MAX_OPPOSITE_OVERLAP if self.model.n_outputs == 1 else _MAX_OVERLAP
        return bool(_different([member], others, len(self.model.row_weight), limit))

    def _drop_worthless(self) -> None:
        """Remove rules that are not worth their price, the worst first."""
        while self.n_rules:
            worth, output, position = min(self._worths())
            if worth >= 0:
                return
            self._remove(output, position)

    def _remove(self, output: int, position: int) -> None:
        model = self.model
        model.replace(output, model.fitted(output, *model.blocks[output].without(position)))

    def _worths(self) -> Iterator[tuple[float, int, int]]:
        """Yield how much each rule lowers objective and price, with its output and its position."""
        for output, block in enumerate(self.model.blocks):
            costs = np.array([member.cost for member in block.members])
            for position, worth in enumerate((block.importance - self.price * costs).tolist()):
                yield worth, output, position

    def _accept(self, output: int, offer: Offer) -> None:
        block = offer.block
        if offer.n_rules < self.model.n_rules:  # other blocks have changed since
            block = self.model.fitted(output, block.members, block.fit.weights)
        self.model.replace(output, block)

    # --- Pricing ---

    def _offer(self, output: int, starts: Sequence[Member] = (), **limits: int) -> Offer:
        """Search for one more rule for a block."""
        block = self.model.blocks[output]
        gradient, curvature = self.model.derivatives(output)
        offer = self._best_of(output, self._found(gradient, curvature, starts, **limits))
        if self.model.n_outputs == 1 and offer.block is block and block.members:
            # All that was found repeats rules of the block, to make up for the penalty on their weights. With
            # more than two classes, what is found then mostly speaks against a class, and helps little.
            gradient, curvature = self.model.unexplained(output)
            offer = self._best_of(output, self._found(gradient, curvature, starts, **limits))
        return offer

    def _found(
        self, gradient: Floats, curvature: Floats, starts: Sequence[Member], **limits: int
    ) -> list[Member]:
        """Search for boxes from these starts, from given rules and from scratch."""
        starts = [*starts, *self._best_seeds(gradient, curvature)]
        return self.candidates(gradient, curvature, starts, **limits)

    def candidates(
        self, gradient: Floats, curvature: Floats, starts: Sequence[Member], **limits: int
    ) -> list[Member]:
        """Search for boxes in which one more rule would lower the objective; `limits` override options."""
        # The core's gain is twice the decrease of the objective.
        price = 2 * self.price
        return self._boxes(gradient, curvature, starts, [1, -1], self.model.penalty, price, **limits)

    def _best_of(self, output: int, found: Sequence[Member]) -> Offer:
        """Return the best of some rules for a block; the most promising ones are fitted."""
        model, block = self.model, self.model.blocks[output]
        found = different(found, block, _MAX_OPPOSITE_OVERLAP if model.n_outputs == 1 else _MAX_OVERLAP)
        if not found:
            return Offer(block, 0.0, model.n_rules)
        promised, starts_of = model.promised(output, found, *model.derivatives(output))
        # A rule that was started from a given one has an origin to show, so it may be slightly worse.
        credit = np.array([1.0 if member.origin == _FREE else _PREFERENCE for member in found])
        prices = self.price * np.array([member.cost for member in found])
        is_against = np.array([model.n_outputs > 1 and start[-2] < 0 for start in starts_of])
        value = np.where(is_against, promised / _FACTOR_AGAINST, promised)
        tried = []
        for i in np.argsort(prices - credit * value, kind="stable")[:2].tolist():
            tried_block = model.fitted(output, (*block.members, found[i]), starts_of[i])
            decrease = block.fit.objective - tried_block.fit.objective
            if is_against[i]:
                decrease /= _FACTOR_AGAINST
            tried.append((credit[i] * decrease - prices[i], decrease - prices[i], tried_block))
        _, gain, best = max(tried, key=lambda found: found[0])
        return Offer(best, gain, model.n_rules)

    def _shorter_offer(self, output: int, reading_cost: float) -> Offer:
        """Search for one more rule with fewer terms, until it does not cost more to read than this."""
        # A rule costs one more than its terms, and these at least one each.
        longest = min(self._options.max_terms, int(reading_cost) - 1)
        for max_terms in range(longest, 0, -1):
            offer = self._offer(output, max_terms=max_terms)
            if offer.gain_within(reading_cost) > 0:
                return offer
        return Offer(self.model.blocks[output], 0.0, self.model.n_rules)

    def _boxes(
        self,
        gradient: Floats,
        curvature: Floats,
        starts: Sequence[Member],
        signs: list[int],
        penalty: float,
        price: float,
        **limits: int,
    ) -> list[Member]:
        """Search for boxes, the best first; `limits` override options of the same name."""
        options = replace(self._options, **limits)
        starts_, columns, accepted, _, origins, _ = self._bins.core.search(
            gradient,
            curvature,
            *packed([start.box for start in starts]),
            signs,
            penalty,
            options.max_terms,
            options.min_rows,
            options.beam_width,
            options.n_refined,
            options.n_columns,
            options.max_moves,
            options.min_growth,
            price,
            options.n_threads,
        )
        boxes = unpacked(starts_, columns, accepted)
        if not boxes:
            return []
        rows, costs = self._bins.covered(boxes), self._bins.reading_costs(boxes).tolist()
        came_from = [_FREE if start < 0 else starts[start].origin for start in origins.tolist()]
        found = [Member(*parts) for parts in zip(boxes, rows, came_from, costs, strict=True)]
        if self._is_real is None:
            return found
        n_covered = _core.weighted_cover(rows, self._is_real)
        return [member for member, n in zip(found, n_covered, strict=True) if n >= options.min_rows]

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


def different(
    found: Sequence[Member], block: Block, max_opposite_overlap: float = _MAX_OVERLAP
) -> list[Member]:
    """Return the rules that nearly repeat neither a rule of the block nor the opposite of one.

    With the intercept, a rule for all rows but some says what one for these rows says.
    """
    return _different(found, block.members, len(block.fit.score), max_opposite_overlap)


def _different(
    found: Sequence[Member], members: Sequence[Member], n_rows: int, max_opposite_overlap: float
) -> list[Member]:
    if not found or not members:
        return list(found)
    ones = np.ones(n_rows)
    rows, known = stacked(found, n_rows), stacked(members, n_rows)
    both = _core.weighted_overlap(rows, known, ones).reshape(len(found), -1)
    own, others = _core.weighted_cover(rows, ones)[:, None], _core.weighted_cover(known, ones)
    is_same = both > _MAX_OVERLAP * (own + others - both)
    is_opposite = others - both > max_opposite_overlap * (n_rows - own + both)
    repeated = np.flatnonzero((is_same | is_opposite).any(axis=1)).tolist()
    return [member for number, member in enumerate(found) if number not in repeated]
