"""Choices made on held-out rows: the fidelity of every budget, the budget to use, and the penalty."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.compact.examples import Balance, Examples
from clausewise.compact.frontier_curve import TOLERANCE, Frontier, Measure, Size
from clausewise.compact.search import Budget, StageReport
from clausewise.compact.seeded_search import SeededSearch
from clausewise.compact.settings import (
    DEFAULT_PRICE,
    MIN_CONDITIONS,
    CompactionSettings,
    default_penalty,
)
from clausewise.data.rows import Split, fold_splits, random_splits
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.stored import StoredRules

Rules = TypeVar("Rules", bound=StoredRules[Any])
Rules_co = TypeVar("Rules_co", bound=StoredRules[Any], covariant=True)

# The penalties that "cv" tries, as multiples of the default.
PENALTY_FACTORS = (0.25, 1.0, 4.0)
N_SPLITS, HELD_OUT, MIN_ROWS = 3, 0.2, 10
# What fits on half a page, for two classes; in proportion for more.
READABLE_RULES, READABLE_COST = 20, 60
# The least price, in units of the default one, that is tried on the way to what fits on half a page.
READABLE_PRICE = 0.8
# With fewer rows, a rule set learnt from half of them would be too small.
_MANY_ROWS = 2_000
_STEPS_PER_DOUBLING = 3
# How much larger the loss of the recommended rule set may be, as a fraction of that of the smallest one.
# Counts of errors are noisy on few rows; the loss shows sooner that more rules help. Chosen on seven tables
# with 300 to 2,000 rows, where it is worth 0.3 points for 2 more to read (docs/compact.md).
_LOSS_TOLERANCE = 0.03
_LEAST_PROBABILITY = 1e-6


class SizedSearch(Protocol[Rules_co]):
    """A search that returns rule sets of growing size."""

    @property
    def n_searched(self) -> int:
        """Number of rows that are searched, real and generated."""
        ...

    def rules_up_to(self, budget: Budget) -> Iterator[tuple[Rules_co, float]]:
        """Yield rule sets of growing size and their prices."""
        ...

    def rules_down_from(self, n_rules: int) -> Mapping[int, Rules_co]:
        """Return rule sets of every size up to this one."""
        ...


@dataclass(frozen=True, eq=False)
class Sized(Generic[Rules_co]):
    """A rule set found on the way to larger ones, and the price at which it was found."""

    rules: Rules_co
    price: float = math.nan


def measured_frontier(
    rules: RuleSet,
    examples: Examples,
    settings: CompactionSettings,
    *,
    by: Size,
    limits: Budget,
    splits: Sequence[Split],
    progress: Progress,
) -> tuple[Frontier, NDArray[np.float64]]:
    """Measure fidelity on held-out rows for every budget up to a limit; see `RuleSet.frontier`.

    Also return the mean price per row at which each rule set was found (NaN by rules), and its mean loss.
    """

    def search_on(learnt: NDArray[np.intp], report: StageReport) -> SeededSearch:
        return SeededSearch(rules, examples.take(learnt), settings, report)

    def measure_on(held_out: NDArray[np.intp]) -> Callable[[RuleSet], tuple[float, float]]:
        unseen = examples.take(held_out)
        return lambda small: (
            _fidelity(small, unseen, settings.balance),
            _loss(small, unseen, settings.balance),
        )

    return frontier_of(
        search_on, measure_on, "fidelity", by=by, limits=limits, splits=splits, progress=progress
    )


def frontier_of(
    search_on: Callable[[NDArray[np.intp], StageReport], SizedSearch[Rules]],
    measure_on: Callable[[NDArray[np.intp]], Callable[[Rules], tuple[float, ...]]],
    measure: Measure,
    *,
    by: Size,
    limits: Budget,
    splits: Sequence[Split],
    progress: Progress,
) -> tuple[Frontier, NDArray[np.float64]]:
    """Measure rule sets of every budget up to a limit on held-out rows.

    `search_on` returns the search on some rows, and `measure_on` how a rule set is measured on others: what
    the frontier shows, and further values. Also return the mean price per row at which each rule set was
    found (NaN by rules), and the means of these further values.
    """
    budgets = np.arange(1, limits.n_rules + 1) if by == "rules" else _steps_up_to(limits.reading_cost)
    progress.started("Frontier", len(splits))
    measured = []
    for number, (learnt, held_out) in enumerate(splits):
        with SearchProgress(progress, f"split {number + 1}") as report:
            search = search_on(learnt, report)
            if by == "rules":
                found = [Sized(small) for _, small in sorted(search.rules_down_from(limits.n_rules).items())]
            else:
                found = _largest_within(budgets, (Sized(*sized) for sized in search.rules_up_to(limits)))
        value_of = measure_on(held_out)
        known: dict[int, tuple[float, ...]] = {}  # neighbouring budgets often have the same rule set
        for sized in found:
            if id(sized) not in known:
                small, price = sized.rules, sized.price / search.n_searched
                value, *further = value_of(small)
                known[id(sized)] = (value, len(small), small.reading_cost, price, *further)
        measured.append([known[id(sized)] for sized in found])
    values, n_rules, cost, *others = np.array(measured, dtype=np.float64).transpose(2, 0, 1)
    return Frontier(budgets, values, by, n_rules, cost, measure), np.array(others).mean(axis=1)


def _steps_up_to(reading_cost: float) -> NDArray[np.int64]:
    """Return reading costs, each about a quarter above the one before, that end with the given one."""
    powers = np.arange(math.ceil(_STEPS_PER_DOUBLING * math.log2(reading_cost / MIN_CONDITIONS)) + 1)
    steps = np.round(reading_cost * 2.0 ** (-powers / _STEPS_PER_DOUBLING)).astype(np.int64)
    return np.unique(np.maximum(steps, MIN_CONDITIONS))


def _largest_within(budgets: NDArray[np.int64], found: Iterable[Sized[Rules]]) -> list[Sized[Rules]]:
    """Return, for each budget, the last rule set that does not cost more to read, or else the first."""
    chosen: list[Sized[Rules]] = []
    for sized in found:
        first = int(np.searchsorted(budgets, sized.rules.reading_cost)) if chosen else 0
        chosen[first:] = [sized] * (len(budgets) - first)
    return chosen


def held_out_splits(examples: Examples, n_splits: int, seed: int) -> list[Split]:
    """Hold out a fifth of the rows several times."""
    if len(examples.codes) < MIN_ROWS:
        raise ValueError(
            f"{len(examples.codes)} rows are too few to hold out some; pass at least {MIN_ROWS}."
        )
    return list(random_splits(examples.codes, n_splits, HELD_OUT, seed))


def _fidelity(rules: RuleSet, examples: Examples, balance: Balance) -> float:
    decided = rules.evaluator.decide(examples.table, "weights", rules.default_index)
    weights = examples.row_weights(balance)
    return float(weights @ (decided == examples.codes) / weights.sum())


def _loss(rules: RuleSet, examples: Examples, balance: Balance) -> float:
    """Return the mean logistic loss."""
    weights = examples.row_weights(balance)
    return float(weights @ row_losses(rules, examples) / weights.sum())


def row_losses(rules: RuleSet, examples: Examples) -> NDArray[np.float64]:
    """Return the logistic loss on each row."""
    probabilities = rules.probabilities(rules.evaluator.scores(examples.table, "weights"), "weights")
    at_label = np.take_along_axis(probabilities, examples.codes[:, None].astype(np.int64), axis=1)[:, 0]
    return np.asarray(-np.log(np.maximum(at_label, _LEAST_PROBABILITY)))


def chosen_penalty(
    rules: RuleSet,
    examples: Examples,
    settings: CompactionSettings,
    budget: Budget,
    seed: int,
    progress: Progress,
) -> float:
    """Return the penalty with the best fidelity on held-out rows if it clearly beats the default one.

    Clearly means by more than the standard error of the differences over the splits.
    """
    default = default_penalty(settings.n_searched(examples), len(np.unique(examples.codes)))
    fidelity: dict[float, list[float]] = {factor: [] for factor in PENALTY_FACTORS}
    progress.started("Penalty", N_SPLITS * len(fidelity))
    for learnt, held_out in held_out_splits(examples, N_SPLITS, seed):
        for factor, measured in fidelity.items():
            tried = replace(settings, penalty=factor * default)
            with SearchProgress(progress, f"penalty {factor * default:g}") as report:
                found = SeededSearch(rules, examples.take(learnt), tried, report).rules_for(budget)
            measured.append(_fidelity(found, examples.take(held_out), settings.balance))
    gains = {factor: np.subtract(measured, fidelity[1.0]) for factor, measured in fidelity.items()}
    best = max(gains, key=lambda factor: float(gains[factor].mean()))
    error = gains[best].std(ddof=1) / np.sqrt(N_SPLITS)
    return default * (best if gains[best].mean() > error else 1.0)


def readable_size(
    rules: RuleSet, examples: Examples, settings: CompactionSettings, seed: int, progress: Progress
) -> tuple[Budget, CompactionSettings, Frontier | None]:
    """Return the budget and the price for the rule set to recommend, and the sizes that it was chosen from.

    It is the least to read among those whose fidelity on held-out rows is within a quarter of a point of the
    best, or half of its standard error or one row if that is more, and whose loss there is nearly the least,
    if it fits on half a page; otherwise the most faithful that does. A few rows are all learnt from.
    """
    n_rows, n_classes = len(examples.codes), len(np.unique(examples.codes))
    readers = n_classes / 2 * (n_classes if settings.shared_premises and n_classes > 2 else 1)
    most = Budget(round(READABLE_RULES * n_classes / 2), READABLE_COST * readers)
    if n_rows < MIN_ROWS:
        return most, settings, None
    # Learning from half of the rows and measuring on the other half, in turn, measures on all rows.
    n_folds = 2 if n_rows >= _MANY_ROWS else 3
    splits = list(fold_splits(examples.codes, np.arange(n_rows), n_folds, np.random.RandomState(seed)))
    per_row = settings.price_per_row(examples)
    price = READABLE_PRICE * DEFAULT_PRICE if settings.price is None else settings.price
    found, (prices, losses) = measured_frontier(
        rules,
        examples,
        # The same price per row: fewer rows have less to gain.
        replace(settings, price=price * per_row / settings.price_per_row(examples.take(splits[0][0]))),
        by="conditions",
        limits=Budget(2 * most.n_rules, 2 * most.reading_cost),  # to see what more would bring
        splits=splits,
        progress=progress,
    )
    assert found.n_rules is not None
    is_readable = (found.budgets <= most.reading_cost) & (found.n_rules <= most.n_rules)
    best = float(found.fidelity.max())
    tolerance = max(TOLERANCE, math.sqrt(best * (1 - best) / n_rows) / 2, 1 / n_rows)
    is_close = is_readable & (found.fidelity >= best - tolerance - 1e-9)  # sums of fractions are rounded
    if is_close.any():
        is_close &= losses <= losses[is_close].min() + _LOSS_TOLERANCE * losses[0]
    if not is_close.any():
        return most, replace(settings, price=price), found
    chosen = int(np.flatnonzero(is_close)[0])
    return most, replace(settings, price=float(prices[chosen]) / per_row), found


def faithful_budget(
    rules: RuleSet,
    examples: Examples,
    settings: CompactionSettings,
    limits: Budget,
    min_fidelity: float,
    seed: int,
    progress: Progress,
) -> tuple[Budget, Frontier, list[str]]:
    """Return the least to read that is faithful enough on held-out rows, what was tried, and warnings."""
    found, _ = measured_frontier(
        rules,
        examples,
        settings,
        by="conditions",
        limits=limits,
        splits=held_out_splits(examples, N_SPLITS, seed),
        progress=progress,
    )
    smallest = found.smallest(min_fidelity)
    if smallest is not None:
        return replace(limits, reading_cost=smallest), found, []
    best = int(found.fidelity.argmax())
    caveat = (
        f"No rule set of at most {limits.n_rules} rules and {limits.reading_cost:g} conditions reaches a "
        f"fidelity of {min_fidelity:g} on held-out rows; the best, with {found.budgets[best]} conditions, "
        f"has {found.fidelity[best]:.4f}. A larger max_rules, max_conditions or max_terms may help."
    )
    return replace(limits, reading_cost=int(found.budgets[best])), found, [caveat]


class SearchProgress:
    """Shows the stages of a search on a progress line."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress, self._name, self._stage = progress, name, ""

    def __enter__(self) -> StageReport:
        return self._report

    def __exit__(self, *_: object) -> None:
        self._progress.part_done()

    def _report(self, stage: str, n_done: int, n_total: int) -> None:
        if stage != self._stage:
            self._stage = stage
            self._progress.part_started(f"{self._name}: {stage}", n_total, "rules")
        self._progress.steps_done(0, n_done)
