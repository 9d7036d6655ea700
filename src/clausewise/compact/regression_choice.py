"""Choices made on held-out rows for rules that add numbers: what every budget explains, and which to use."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.compact.choice import (
    HELD_OUT,
    MIN_ROWS,
    READABLE_COST,
    READABLE_RULES,
    frontier_of,
)
from clausewise.compact.frontier_curve import TOLERANCE_OF_NUMBERS, Frontier, Measure, Size
from clausewise.compact.regression_examples import RegressionExamples
from clausewise.compact.regression_search import RegressionSearch, explained_loss
from clausewise.compact.regression_settings import RegressionSettings
from clausewise.compact.search import Budget, StageReport
from clausewise.compact.settings import price_unit
from clausewise.data.features import Features
from clausewise.data.rows import Split, fold_splits, random_splits
from clausewise.rules.regression import RegressionRules
from clausewise.rules.stored import StoredRules

# With fewer rows, rules learnt from half of them would be too few.
_MANY_ROWS = 2_000


def measured_frontier(
    features: Features,
    examples: RegressionExamples,
    settings: RegressionSettings,
    *,
    seeds: StoredRules[Any] | None,
    by: Size,
    limits: Budget,
    splits: Sequence[Split],
    progress: Progress,
) -> tuple[Frontier, NDArray[np.float64]]:
    """Measure what rules explain on held-out rows, for every budget up to a limit.

    Also return the mean price per row at which each were found; NaN by rules.
    """

    def search_on(learnt: NDArray[np.intp], report: StageReport) -> RegressionSearch:
        return RegressionSearch(features, examples.take(learnt), settings, report, seeds)

    def measure_on(held_out: NDArray[np.intp]) -> Callable[[RegressionRules], tuple[float]]:
        unseen = examples.take(held_out)
        return lambda rules: (explained_loss(rules, unseen, settings),)

    measure: Measure = "R²" if settings.loss == "squared" else "D²"
    return frontier_of(search_on, measure_on, measure, by=by, limits=limits, splits=splits, progress=progress)


def held_out_splits(examples: RegressionExamples, n_splits: int, seed: int) -> list[Split]:
    """Hold out a fifth of the rows several times."""
    if examples.n_rows < MIN_ROWS:
        raise ValueError(f"{examples.n_rows} rows are too few to hold out some; pass at least {MIN_ROWS}.")
    return list(random_splits(examples.ranges, n_splits, HELD_OUT, seed))


def readable_size(
    features: Features,
    examples: RegressionExamples,
    settings: RegressionSettings,
    seeds: StoredRules[Any] | None,
    seed: int,
    progress: Progress,
) -> tuple[Budget, RegressionSettings, Frontier | None]:
    """Return the budget and the price for the rules to recommend, and the sizes that they were chosen from.

    They are the least to read among those that explain, on held-out rows, within 0.01 of what the best do, if
    they fit on half a page; otherwise the best that do. A few rows are all learnt from.
    """
    most = Budget(READABLE_RULES, READABLE_COST)
    n_rows = examples.n_rows
    if n_rows < MIN_ROWS or (examples.target == examples.target[0]).all():
        return most, settings, None
    # Learning from half of the rows and measuring on the other half, in turn, measures on all rows.
    n_folds = 2 if n_rows >= _MANY_ROWS else 3
    random = np.random.RandomState(seed)
    splits = list(fold_splits(examples.ranges, np.arange(n_rows), n_folds, random))
    per_row = _price_per_row(examples, settings)
    part = examples.take(splits[0][0])
    price = settings.price_for(most.n_rules) * per_row / _price_per_row(part, settings)
    found, (prices,) = measured_frontier(
        features,
        examples,
        # The same price per row: fewer rows have less to gain. Half of the time is left for the final search.
        replace(settings, price=price, max_seconds=_share(settings.max_seconds, 2 * n_folds)),
        seeds=seeds,
        by="conditions",
        limits=Budget(2 * most.n_rules, 2 * most.reading_cost),  # to see what more would bring
        splits=splits,
        progress=progress,
    )
    assert found.n_rules is not None
    is_readable = (found.budgets <= most.reading_cost) & (found.n_rules <= most.n_rules)
    best = float(found.fidelity.max())
    is_close = is_readable & (found.fidelity >= best - TOLERANCE_OF_NUMBERS)
    if not is_close.any():
        return most, settings, found
    chosen = int(np.flatnonzero(is_close)[0])
    if not np.isfinite(prices[chosen]):  # no rules at all are as good
        return most, settings, found
    return most, replace(settings, price=float(prices[chosen]) / per_row), found


def _share(seconds: float | None, n_parts: int) -> float | None:
    return None if seconds is None else seconds / n_parts


def _price_per_row(examples: RegressionExamples, settings: RegressionSettings) -> float:
    """Return the unit of prices, per row that is searched."""
    n_rows, n_generated = examples.n_rows, settings.n_generated(examples)
    return price_unit(n_rows, n_generated) / (n_rows + n_generated)
