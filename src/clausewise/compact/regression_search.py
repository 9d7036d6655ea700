"""The search for few rules that add numbers, on given rows."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.base import threads
from clausewise.compact.bins import Bins
from clausewise.compact.linear_part import LinearColumn, choose_columns, linear_columns, promising_columns
from clausewise.compact.losses import loss_named, weighted_median
from clausewise.compact.minimisation import dot
from clausewise.compact.model import Member
from clausewise.compact.regression_examples import RegressionExamples
from clausewise.compact.regression_model import RegressionModel
from clausewise.compact.regression_settings import RegressionSettings
from clausewise.compact.search import Budget, Search, SearchOptions, StageReport
from clausewise.compact.seeds import seed_members
from clausewise.compact.settings import price_unit
from clausewise.data.features import Features
from clausewise.rules.regression import RegressionRules
from clausewise.rules.stored import StoredRules

Floats = NDArray[np.float64]

# Boxes that a search extends and refines; fits are cheaper than for classes, so there is time for more.
_BEAM_WIDTH, _N_REFINED = 12, 6
# On smaller tables, the parts of a search are too short to be worth threads.
_MANY_CELLS = 2**19
# Median absolute deviations in a standard deviation of normally distributed numbers.
_NORMAL = 1.4826


class _TimeIsUp(Exception):  # noqa: N818 - it says what happened
    """The search has reached its limit of time; the model is complete, only not the best."""


@dataclass(frozen=True)
class Scale:
    """Turns targets into numbers of a common size, and fitted numbers back.

    Attributes
    ----------
    is_log : bool
        Whether scores are logarithms.
    centre, spread : float
        A target t is searched as (t − centre) / spread.
    """

    is_log: bool
    centre: float
    spread: float

    @classmethod
    def of(cls, target: Floats, weights: Floats, loss: str) -> "Scale":
        """Return the scale of some targets; the spread is 0 if all are the same."""
        largest = float(np.abs(target).max())
        if target.min() == target.max() or largest == 0:
            return cls(loss == "poisson", float(target[0]), 0.0)
        part = target / largest  # first, since squares and sums might overflow
        if loss == "poisson":
            return cls(True, 0.0, largest * float(np.average(part, weights=weights)))
        centre = float(np.average(part, weights=weights))
        spread = math.sqrt(float(np.average((part - centre) ** 2, weights=weights)))
        if loss != "squared":
            centre = weighted_median(part, weights)
            # Of heavy tails, most rows would have no spread left.
            spread = _NORMAL * weighted_median(np.abs(part - centre), weights) or spread
        return cls(False, centre * largest, spread * largest)

    def standardised(self, target: Floats) -> Floats:
        """Return targets as the search reads them."""
        return np.asarray((target - self.centre) / self.spread)

    def score(self, sums: Floats) -> Floats:
        """Return the sums of rules as the scores of a search."""
        moved = sums - math.log(self.spread) if self.is_log else (sums - self.centre) / self.spread
        return np.asarray(moved)

    @property
    def unit(self) -> float:
        """What a fitted number of 1 adds to the sum."""
        return 1.0 if self.is_log else self.spread

    def base(self, fitted: float) -> float:
        """Return the base of the sum for a fitted one."""
        return fitted + math.log(self.spread) if self.is_log else self.centre + self.spread * fitted


class RegressionSearch:
    """The search on given rows, perhaps seeded with the premises of other rules.

    Parameters
    ----------
    features : Features
        The columns that rules may test.
    examples : RegressionExamples
        Rows to learn from.
    settings : RegressionSettings
        Options.
    report : callable
        Called with a stage, the number of steps done and their total.
    seeds : StoredRules, optional
        Rules over the same features, from whose premises searches start as well.
    """

    def __init__(
        self,
        features: Features,
        examples: RegressionExamples,
        settings: RegressionSettings,
        report: StageReport,
        seeds: StoredRules[Any] | None = None,
    ) -> None:
        self._features, self._examples, self._settings = features, examples, settings
        self._report = report
        self._ends = None if settings.max_seconds is None else time.monotonic() + settings.max_seconds
        self.is_cut_short = False
        n_threads = threads.resolve(settings.n_jobs)
        n_real = examples.n_rows
        self._all = examples.with_generated(settings.n_generated(examples), n_threads)
        weights = self._all.row_weights
        self._scale = Scale.of(self._all.target, weights, settings.loss)
        self.is_constant = self._scale.spread == 0
        if self.is_constant:
            return
        further = self._all.table[n_real:]
        self._bins = Bins.learn(examples.table, features, further=further if len(further) else None)
        target = self._scale.standardised(self._all.target)
        penalty = settings.penalty_for(self._all.n_rows)
        # A unit is a robust standard deviation for losses that have a width.
        model = RegressionModel(target, weights, penalty, loss_named(settings.loss))
        options = SearchOptions(
            max_terms=min(settings.max_terms, len(features)),
            min_rows=max(5, n_real // 1000),
            beam_width=_BEAM_WIDTH,
            n_refined=_N_REFINED,
            n_threads=n_threads if self._all.table.size >= _MANY_CELLS else 1,
        )
        self._seeds = seeds
        members = [] if seeds is None else seed_members(seeds, self._bins)
        # The model has the interface of that for classes.
        self._search = Search(self._bins, model, members, options, self._reported, n_real)  # type: ignore[arg-type]
        self._model = model
        self._candidates: list[LinearColumn] = []
        if settings.n_linear:
            columns = linear_columns(examples.table, features, examples.row_weights)
            self._candidates = promising_columns(columns, model, self._all.table)
        self._linear: list[LinearColumn] = []

    @property
    def n_searched(self) -> int:
        """Number of rows that are searched, real and generated."""
        return self._all.n_rows

    def rules_for(self, budget: Budget) -> RegressionRules:
        """Search for the best rules within a budget."""
        if self.is_constant:
            return self._constant()
        price = self._price(budget)
        left = self._with_linear_part(budget, price)
        self._in_time(lambda: self._search.compact(left, price))
        if self._candidates:
            self._in_time(lambda: self._settle_linear_part(left, price))
        rules = readable(self._summing(), self._examples, self._settings)
        return self._built(rules[np.flatnonzero(rules.columns.weight != 0)])

    def improved(self, budget: Budget) -> RegressionRules:
        """Return the seeds with premises and additions improved on these rows, within a budget.

        Rules found on fewer rows need not be searched for again; their premises are varied.
        """
        if self.is_constant:
            return self._constant()
        price, left = self._start_from_seeds(budget)
        self._search.price = price
        self._in_time(lambda: self._search.improve(left))
        return self._summing()

    def refitted(self, budget: Budget) -> RegressionRules:
        """Return the seeds with additions and coefficients fitted to these rows, and the same premises."""
        if self.is_constant:
            return self._constant()
        self._start_from_seeds(budget)
        return self._summing()

    def _start_from_seeds(self, budget: Budget) -> tuple[float, Budget]:
        """Make a model of the seeds; return the price, and what the linear part leaves of the budget."""
        assert self._seeds is not None
        boxes, price = self._bins.boxes_of(self._seeds), self._price(budget)
        rows, costs = self._bins.covered(boxes), self._bins.reading_costs(boxes).tolist()
        members = {
            box: Member(box, rows[i], self._seeds.columns.origins[i], costs[i])
            for i, box in enumerate(boxes)
            if box
        }
        start = np.zeros(len(members) + 1)
        start[-1] = self._model.fit.weights[-1]
        self._model.replace(0, self._model.fitted(0, [*members.values()], start))
        of_rules = self._search.cost
        left = self._with_linear_part(replace(budget, reading_cost=budget.reading_cost - of_rules), price)
        return price, replace(left, reading_cost=left.reading_cost + of_rules)

    def rules_up_to(self, budget: Budget) -> Iterator[tuple[RegressionRules, float]]:
        """Yield rules of growing size and their prices, from one search, without statistics.

        The first have no rules, at any price.
        """
        if self.is_constant:
            yield self._constant(), math.inf
            return
        left = self._with_linear_part(budget, self._price(budget))
        yield self._summing(), math.inf
        try:
            for price in self._search.stages(left, self._price(budget)):
                yield self._summing(), price
        except _TimeIsUp:
            self.is_cut_short = True
            yield self._summing(), self._search.price

    def rules_down_from(self, n_rules: int) -> dict[int, RegressionRules]:
        """Return rules of every number up to this one, from one search, without statistics."""
        if self.is_constant:
            return dict.fromkeys(range(1, n_rules + 1), self._constant())
        self._with_linear_part(Budget(n_rules), self._price(Budget(n_rules)))
        return self._search.sizes_down_from(
            n_rules, lambda n: self._price(Budget(n)), self._summing, self._in_time
        )

    def _reported(self, stage: str, n_done: int, n_total: int) -> None:
        self._report(stage, n_done, n_total)
        if self._ends is not None and time.monotonic() > self._ends:
            raise _TimeIsUp

    def _in_time(self, work: Callable[[], None]) -> None:
        """Do some work unless the time is up; stop it when it is."""
        if self.is_cut_short:
            return
        try:
            work()
        except _TimeIsUp:
            self.is_cut_short = True

    def _price(self, budget: Budget) -> float:
        """Return by how much a unit of reading cost must lower the objective."""
        n_real = self._examples.n_rows
        return self._settings.price_for(budget.n_rules) * price_unit(n_real, self.n_searched - n_real)

    # --- The linear part ---

    def _with_linear_part(self, budget: Budget, price: float) -> Budget:
        """Choose the columns of the linear part, if there is to be one; return what is left of the budget."""
        if not self._candidates:
            return budget
        standardised = [column.standardised(self._all.table) for column in self._candidates]
        most = min(self._settings.n_linear, max(budget.reading_cost, 0))
        chosen = choose_columns(self._model, standardised, int(most), price)
        self._linear = [self._candidates[i] for i in chosen]
        return replace(budget, reading_cost=budget.reading_cost - len(chosen))

    def _settle_linear_part(self, left: Budget, price: float) -> None:
        """Choose the columns again, beside the rules, and let the rules follow."""
        before = [column.feature for column in self._linear]
        budget = replace(left, reading_cost=left.reading_cost + len(before))
        left = self._with_linear_part(
            replace(budget, reading_cost=budget.reading_cost - self._search.cost), price
        )
        if sorted(before) != sorted(column.feature for column in self._linear):
            self._search.exchange(1, replace(budget, reading_cost=left.reading_cost + self._search.cost))

    # --- Results ---

    def _constant(self) -> RegressionRules:
        value = float(self._examples.target[0])
        is_log = self._settings.loss == "poisson"
        if is_log and value <= 0:
            is_log = False  # no logarithm is as small as that of 0
        base = math.log(value) if is_log else value
        empty = RegressionRules.from_rules(
            [], self._features, base=base, link="log" if is_log else "identity"
        )
        return self._built(empty)

    def _summing(self) -> RegressionRules:
        """Return the model as rules, the most important first."""
        block, fit, unit = self._model.blocks[0], self._model.fit, self._scale.unit
        order = np.argsort(-block.importance, kind="stable")
        order = order[fit.weights[:-1][order] != 0]
        members = [block.members[i] for i in order.tolist()]
        base = self._scale.base(float(fit.weights[-1]))
        linear = []
        for column, coefficient in zip(self._linear, fit.coefficients.tolist(), strict=True):
            slope = coefficient * unit / column.spread
            if slope != 0:
                linear.append(column.term(slope))
                base -= slope * column.mean
        return RegressionRules.from_arrays(
            self._features,
            base,
            **self._bins.terms_of([member.box for member in members]),
            addition=unit * fit.weights[:-1][order],
            origins=[member.origin for member in members],
            linear=linear,
            link="log" if self._scale.is_log else "identity",
        )

    def _built(self, rules: RegressionRules) -> RegressionRules:
        """Return rules with their statistics on the real rows."""
        examples = self._examples
        return rules.with_encoded_statistics(
            examples.table, examples.target, examples.weights, self._settings.n_jobs
        )


# Significant digits to try, and the fraction of what the rules explain that rounding may cost.
_DIGITS, _MAX_LOSS = (2, 3, 4, 6), 0.001


def readable(
    rules: RegressionRules, examples: RegressionExamples, settings: RegressionSettings
) -> RegressionRules:
    """Return the rules with as few digits as cost less than a thousandth of what they explain.

    The additions of some may become 0.
    """
    loss = explained_loss(rules, examples, settings)
    for digits in _DIGITS:
        rounded = rules.rounded(digits)
        base = rounded.base + _level(rules, rounded, examples, settings.n_jobs)
        shifted = rounded.with_additions(rounded.columns.weight, base=base).rounded(digits)
        if explained_loss(shifted, examples, settings) >= loss - _MAX_LOSS * abs(loss):
            return shifted
    return rules


def _level(
    rules: RegressionRules, rounded: RegressionRules, examples: RegressionExamples, n_jobs: int | None
) -> float:
    """Return the mean of what rounding has taken from the sums, which the base can give back."""
    weights = examples.row_weights
    taken = rules.sums_of(examples.table, n_jobs) - rounded.sums_of(examples.table, n_jobs)
    return dot(weights, taken) / float(weights.sum())


def explained_loss(
    rules: RegressionRules, examples: RegressionExamples, settings: RegressionSettings
) -> float:
    """Return the fraction of the loss of the best constant that rules explain: R² for the squared loss."""
    weights = examples.row_weights
    scale = Scale.of(examples.target, weights, settings.loss)
    if scale.spread == 0:
        return 1.0
    loss = loss_named(settings.loss)
    target = scale.standardised(examples.target)
    score = scale.score(rules.sums_of(examples.table, settings.n_jobs))
    best = np.log(np.maximum(target, 1e-12)) if scale.is_log else target
    perfect = dot(weights, loss.value(target, best))
    of_constant = dot(weights, loss.value(target, np.full(len(target), loss.start(target, weights))))
    if of_constant <= perfect:
        return 1.0
    return 1.0 - (dot(weights, loss.value(target, score)) - perfect) / (of_constant - perfect)


def row_losses_of_numbers(
    rules: RegressionRules, examples: RegressionExamples, settings: RegressionSettings
) -> Floats:
    """Return the loss of rules on each row, in the units of a search; 0 if all targets are the same."""
    scale = Scale.of(examples.target, examples.row_weights, settings.loss)
    if scale.spread == 0:
        return np.zeros(examples.n_rows)
    score = scale.score(rules.sums_of(examples.table, settings.n_jobs))
    return loss_named(settings.loss).value(scale.standardised(examples.target), score)
