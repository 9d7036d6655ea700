"""All measures of rules for numbers on given rows, in one object."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.analysis.error_sums import ErrorCounter, GroupSums, Pair, add_errors, level_of
from clausewise.base import html
from clausewise.base.counts import count_of
from clausewise.base.parameters import NOTHING, VERBOSE, check_parameters, number
from clausewise.base.progress import Progress
from clausewise.data.responses import read_responses
from clausewise.networks.answers import are_labels, ask_numbers
from clausewise.networks.batch_answers import batch_numbers, columns_used
from clausewise.partitions import PartitionedRows, is_partitioned, partitioned
from clausewise.partitions.number_column import number_column
from clausewise.rules.metrics import (
    fraction_of,
    fraction_within,
    largest_error,
    mean_absolute_error,
    mean_rule_length,
    n_distinct_terms,
    r_squared,
    root_mean_squared_error,
)
from clausewise.rules.regression import RegressionRules
from clausewise.rules.regression_rule import describe_amount

Interval = tuple[float, float]
"""The bounds of a 95 % interval, by a bootstrap over the rows."""

_N_RESAMPLED: Final = 1_000
# Many rows are put into random groups, which are drawn instead: the intervals are the same, at less cost.
_MAX_GROUPS: Final = 2_000
_CONFIDENCE: Final = 0.95
# Up to so many rows in partitions are read into memory, and measured as a table.
_FEW_ROWS: Final = 2**17
# The tolerance, unless given, as a fraction of the width of the middle 90 % of the responses.
_SHARE_OF_SPREAD: Final = 0.1


@dataclass(frozen=True)
class Errors:
    """How far predictions are from the numbers that they should be.

    Attributes
    ----------
    r_squared : float
        The fraction of the variance that is explained; NaN if all numbers are the same.
    mean_absolute : float
        Mean absolute error.
    root_mean_squared : float
        Root of the mean squared error.
    largest : float
        Largest absolute error.
    largest_row : int or None
        The row on which it occurs; None if the rows were read in parts.
    within : float
        The fraction of rows with an absolute error of at most `tolerance`.
    tolerance : float
        That tolerance.
    r_squared_interval, mean_absolute_interval, root_mean_squared_interval, within_interval : tuple of float
        The bounds of 95 % intervals, by a bootstrap over the rows.
    baseline_mean_absolute, baseline_root_mean_squared, baseline_within : float
        The same measures of always predicting the mean of these rows, whose R² is 0.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> rules = RegressionRules.from_text("BASE 1.5 RESPONSE price IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> X, network = [[2], [3], [5], [6]], [1.3, 1.6, 2.1, 2.4]
    >>> errors = rules.evaluate(X, network=network, tolerance=0.15).to_network
    >>> round(errors.r_squared, 3), round(errors.largest, 3), errors.largest_row, errors.within
    (0.863, 0.2, 0, 0.5)
    """

    r_squared: float
    mean_absolute: float
    root_mean_squared: float
    largest: float
    largest_row: int | None
    within: float
    tolerance: float
    r_squared_interval: Interval
    mean_absolute_interval: Interval
    root_mean_squared_interval: Interval
    within_interval: Interval
    baseline_mean_absolute: float
    baseline_root_mean_squared: float
    baseline_within: float

    def figures(self, whom: str) -> Iterator[tuple[str, str, str]]:
        """Yield name, value and note of each measure; `whom` says what was measured against."""
        yield f"R² to the {whom}", _number(self.r_squared), _interval(self.r_squared_interval)
        for name, value, interval, baseline in (
            (
                "mean absolute error",
                self.mean_absolute,
                self.mean_absolute_interval,
                self.baseline_mean_absolute,
            ),
            (
                "root mean squared error",
                self.root_mean_squared,
                self.root_mean_squared_interval,
                self.baseline_root_mean_squared,
            ),
        ):
            yield f"  {name}", _number(value), f"{_interval(interval)}, mean alone: {_number(baseline)}"
        where = "" if self.largest_row is None else f"(row {self.largest_row})"
        yield "  largest error", _number(self.largest), where
        low, high = (f"{100 * bound:.2f}" for bound in self.within_interval)
        yield (
            f"  within {describe_amount(self.tolerance)}",
            f"{100 * self.within:.2f} %",
            f"(95 % interval {low} to {high} %), mean alone: {100 * self.baseline_within:.2f} %",
        )


@dataclass(frozen=True)
class RegressionEvaluation:
    """All measures of rules for numbers on given rows; `print` it.

    Attributes
    ----------
    n_rows, n_rules : int
        Number of rows and of rules.
    to_network : Errors or None
        Fidelity: the errors of the rules against the network's numbers, if a network was given.
    to_truth : Errors or None
        Accuracy: the errors of the rules against the true numbers, if these were given.
    network_to_truth : Errors or None
        The errors of the network against the true numbers, if both were given.
    coverage : float
        The fraction of rows on which a rule fires.
    mean_rule_length : float
        Mean number of terms per rule.
    n_distinct_terms, reading_cost : int
        Number of different terms, and what a person has to read (`clausewise.metrics.reading_cost`).
    warnings : tuple of str
        What to know before relying on these figures.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RegressionRules
    >>> rules = RegressionRules.from_text("BASE 1.5 RESPONSE price IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> rooms = np.arange(1, 9).repeat(5)
    >>> prices = 1.1 + 0.2 * rooms
    >>> measured = rules.evaluate(rooms[:, None], prices, tolerance=0.3)
    >>> print(measured)
    1 rule on 40 rows
      R² to the truth               0.6429  (95 % interval 0.4787 to 0.7368)
        mean absolute error          0.225  (95 % interval 0.18 to 0.2725), mean alone: 0.4
        root mean squared error     0.2739  (95 % interval 0.2275 to 0.3174), mean alone: 0.4583
        largest error                  0.5  (row 35)
        within 0.3                 75.00 %  (95 % interval 62.50 to 87.50 %), mean alone: 37.50 %
      covered by a rule            50.00 %
      terms per rule                  1.00
      distinct terms                     1
      reading cost                       2
    >>> round(measured.to_truth.mean_absolute, 3)
    0.225
    """

    n_rows: int
    n_rules: int
    to_network: Errors | None
    to_truth: Errors | None
    network_to_truth: Errors | None
    coverage: float
    mean_rule_length: float
    n_distinct_terms: int
    reading_cost: int
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        figures = list(self._figures())
        width = max(len(name) for name, _, _ in figures)
        lines = [self.headline]
        lines += [f"  {name:<{width}} {value:>10}  {note}".rstrip() for name, value, note in figures]
        return "\n".join(lines + [f"Warning: {warning}" for warning in self.warnings])

    def __repr__(self) -> str:
        known = [("R² to the network", self.to_network), ("R² to the truth", self.to_truth)]
        figures = ", ".join(f"{name} {_number(part.r_squared)}" for name, part in known if part is not None)
        return f"<RegressionEvaluation: {self.headline}; {figures}>"

    def _repr_html_(self) -> str:
        return html.block(
            self.headline,
            html.table(("", "", ""), list(self._figures()), numbers=[1]),
            html.warnings(self.warnings),
        )

    @property
    def headline(self) -> str:
        """One line: number of rules and rows."""
        rules = count_of(self.n_rules, "rule")
        return f"{rules} on {self.n_rows:,} rows"

    def _figures(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, value and note of the measures that are known."""
        if self.to_network is not None:
            yield from self.to_network.figures("network")
        if self.to_truth is not None:
            yield from self.to_truth.figures("truth")
        if self.network_to_truth is not None:
            yield "R² of the network to the truth", _number(self.network_to_truth.r_squared), ""
        yield "covered by a rule", f"{100 * self.coverage:.2f} %", ""
        yield "terms per rule", f"{self.mean_rule_length:.2f}", ""
        yield "distinct terms", f"{self.n_distinct_terms:,}", ""
        yield "reading cost", f"{self.reading_cost:,}", ""


def evaluate_numbers(
    rules: RegressionRules,
    X: Any,
    target: ArrayLike | None = None,
    network: Any = None,
    tolerance: float | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> RegressionEvaluation:
    """Measure the rules on the rows of `X`; see `RegressionRules.evaluate`.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.analysis import evaluate_numbers
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> measured = evaluate_numbers(rules, [[2], [3], [5], [6]], [1.3, 1.6, 2.1, 2.4])
    >>> round(measured.to_truth.mean_absolute, 3)
    0.15
    """
    check_parameters(
        {"tolerance": number(least=0) | NOTHING, "verbose": VERBOSE},
        {"tolerance": tolerance, "verbose": verbose},
    )
    if target is None and network is None:
        raise ValueError(
            "There is nothing to measure the rules against; pass target (true numbers), network (a model or "
            "its numbers), or both."
        )
    if is_partitioned(X):
        rows = columns_used(partitioned(X), rules.features, target, network)
        if rows.n_rows > _FEW_ROWS:
            with Progress(verbose) as progress:
                return _evaluated_in_parts(rules, rows, target, network, tolerance, random_state, progress)
        X, target, network = _gathered(rows, target, network)
    matrix = rules.features.encode(X)
    if len(matrix) == 0:
        raise ValueError("There are no rows to measure on; pass at least one.")
    truth = None if target is None else read_responses(target, len(matrix), "target")
    asked = None if network is None else ask_numbers(network, X, rules.features, len(matrix))
    predicted = rules.response_of(rules.sums_of(matrix, n_jobs))

    def errors(numbers: NDArray[np.float64] | None, truth: NDArray[np.float64] | None) -> Errors | None:
        if numbers is None or truth is None:
            return None
        return errors_of(numbers, truth, tolerance, random_state)

    to_network, to_truth = errors(predicted, asked), errors(predicted, truth)
    return RegressionEvaluation(
        n_rows=len(matrix),
        n_rules=len(rules),
        to_network=to_network,
        to_truth=to_truth,
        network_to_truth=errors(asked, truth),
        coverage=1.0 - fraction_of(rules.evaluator.uncovered(matrix, n_jobs)),
        mean_rule_length=mean_rule_length(rules),
        n_distinct_terms=n_distinct_terms(rules),
        reading_cost=rules.reading_cost,
        warnings=tuple(
            _warnings(
                rules,
                to_network,
                to_truth,
                n_rows=len(matrix),
                n_outside=_n_outside(rules, predicted),
                is_finite=bool(np.isfinite(predicted).all()),
            )
        ),
    )


def _n_outside(rules: RegressionRules, predicted: NDArray[np.float64]) -> int:
    """Return the number of predictions outside of the responses in training."""
    if rules.response_range is None:
        return 0
    low, high = rules.response_range
    return int(((predicted < low) | (predicted > high)).sum())


def _gathered(rows: PartitionedRows, target: Any, network: Any) -> tuple[Any, Any, Any]:
    """Return few rows as a table, with the numbers in the columns that target and network name."""
    if rows.n_rows == 0:
        raise ValueError("There are no rows to measure on; pass at least one.")
    X, found = rows.gathered(), []
    for source, name in ((target, "target"), (network, "network")):
        is_column = isinstance(source, str) or are_labels(source)
        found.append(number_column(source, rows, name)(X) if is_column else source)
    return X, found[0], found[1]


def _evaluated_in_parts(
    rules: RegressionRules,
    rows: PartitionedRows,
    target: Any,
    network: Any,
    tolerance: float | None,
    random_state: int,
    progress: Progress,
) -> RegressionEvaluation:
    """Measure rules on rows in partitions, by sums over them."""
    series = {
        name: batch_numbers(source, rows, rules.features, parameter)
        for name, source, parameter in (("truth", target, "target"), ("network", network, "network"))
        if source is not None
    }
    progress.started("Evaluation", 1 + 2 * len(series))
    levels = {name: level_of(rows, answer, progress) for name, answer in series.items()}
    pairs = [
        Pair(
            predicted,
            truth,
            levels[truth].mean,
            _tolerance(levels[truth].low, levels[truth].high) if tolerance is None else tolerance,
        )
        for predicted, truth in (("rules", "network"), ("rules", "truth"), ("network", "truth"))
        if truth in series and predicted in ("rules", *series)
    ]
    part = rows.reduce(ErrorCounter(rules, series, pairs), add_errors, progress, "errors")
    n_rows = int(part["n_rows"].sum())
    errors = {pair.name: _summed_errors(GroupSums(part, pair), n_rows, random_state) for pair in pairs}
    to_network, to_truth = errors.get("rules to network"), errors.get("rules to truth")
    return RegressionEvaluation(
        n_rows=n_rows,
        n_rules=len(rules),
        to_network=to_network,
        to_truth=to_truth,
        network_to_truth=errors.get("network to truth"),
        coverage=1.0 - int(part["n_uncovered"]) / n_rows,
        mean_rule_length=mean_rule_length(rules),
        n_distinct_terms=n_distinct_terms(rules),
        reading_cost=rules.reading_cost,
        warnings=tuple(
            _warnings(rules, to_network, to_truth, n_rows=n_rows, n_outside=int(part["n_outside"]))
        ),
    )


def _summed_errors(sums: GroupSums, n_rows: int, random_state: int) -> Errors:
    """Return the errors of which sums over groups of rows are known."""
    variation, squared = sums.totals("centred_squared"), sums.totals("squared")
    intervals = _resampled(sums.moments(), np.random.default_rng(random_state))
    return Errors(
        r_squared=1.0 - squared / variation if variation > 0 else math.nan,
        mean_absolute=sums.totals("error") / n_rows,
        root_mean_squared=math.sqrt(squared / n_rows),
        largest=sums.largest,
        largest_row=None,
        within=sums.count("within") / n_rows,
        tolerance=sums.pair.tolerance,
        r_squared_interval=intervals[0],
        mean_absolute_interval=intervals[1],
        root_mean_squared_interval=intervals[2],
        within_interval=intervals[3],
        baseline_mean_absolute=sums.totals("baseline") / n_rows,
        baseline_root_mean_squared=math.sqrt(variation / n_rows),
        baseline_within=sums.count("baseline within") / n_rows,
    )


def _tolerance(low: float, high: float) -> float:
    """Return the tolerance for numbers of which the middle 90 % lie between two."""
    return float(f"{_SHARE_OF_SPREAD * (high - low):.1e}")


def errors_of(
    predicted: NDArray[np.float64],
    truth: NDArray[np.float64],
    tolerance: float | None = None,
    random_state: int = 0,
) -> Errors:
    """Return the errors of predictions against the numbers that they should be."""
    if tolerance is None:
        tolerance = _tolerance(*np.quantile(truth, [0.05, 0.95]).tolist())
    mean = np.full(len(truth), truth.mean())
    intervals = _bootstrapped(predicted, truth, tolerance, random_state)
    return Errors(
        r_squared=r_squared(predicted, truth),
        mean_absolute=mean_absolute_error(predicted, truth),
        root_mean_squared=root_mean_squared_error(predicted, truth),
        largest=largest_error(predicted, truth),
        largest_row=int(np.abs(predicted - truth).argmax()),
        within=fraction_within(predicted, truth, tolerance),
        tolerance=tolerance,
        r_squared_interval=intervals[0],
        mean_absolute_interval=intervals[1],
        root_mean_squared_interval=intervals[2],
        within_interval=intervals[3],
        baseline_mean_absolute=mean_absolute_error(mean, truth),
        baseline_root_mean_squared=root_mean_squared_error(mean, truth),
        baseline_within=fraction_within(mean, truth, tolerance),
    )


def _bootstrapped(
    predicted: NDArray[np.float64], truth: NDArray[np.float64], tolerance: float, seed: int
) -> list[Interval]:
    """Return the intervals of R², mean absolute error, root mean squared error and fraction within."""
    rng = np.random.default_rng(seed)
    error, centred = np.abs(predicted - truth), truth - truth.mean()
    # All four measures follow from these sums, so a resample is a weighted sum of rows or groups.
    moments = np.stack(
        [np.ones(len(error)), error, error**2, error <= tolerance, centred, centred**2], axis=1
    )
    n_groups = min(len(error), _MAX_GROUPS)
    if n_groups < len(error):
        starts = np.linspace(0, len(error), n_groups, endpoint=False).astype(np.intp)
        moments = np.add.reduceat(moments[rng.permutation(len(error))], starts)
    return _resampled(moments, rng)


def _resampled(moments: NDArray[np.float64], rng: np.random.Generator) -> list[Interval]:
    """Return the intervals of the same measures, from the moments of rows, or of groups of rows."""
    n_groups = len(moments)
    drawn = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), size=_N_RESAMPLED)
    n_rows, absolute, squared, within, total, total_squared = (drawn @ moments).T
    variation = total_squared - total**2 / n_rows
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = np.where(variation > 0, 1 - squared / variation, np.nan)
    measures = (explained, absolute / n_rows, np.sqrt(squared / n_rows), within / n_rows)
    return [_quantiles(measure) for measure in measures]


def _quantiles(values: NDArray[np.float64]) -> Interval:
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return math.nan, math.nan
    low, high = np.quantile(known, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])
    return float(low), float(high)


def _warnings(
    rules: RegressionRules,
    to_network: Errors | None,
    to_truth: Errors | None,
    *,
    n_rows: int,
    n_outside: int,
    is_finite: bool = True,
) -> Iterator[str]:
    for whom, errors in (("network", to_network), ("truth", to_truth)):
        if errors is not None and errors.r_squared_interval[0] <= 0:
            yield (
                f"on these rows, the rules are not clearly closer to the {whom} than always predicting the "
                "mean; allow more rules, or a linear part."
            )
    if not is_finite:
        yield "some predictions are not finite; limit the linear terms to a range (LinearTerm low and high)."
    elif rules.response_range is not None and n_outside > 0.05 * n_rows:
        low, high = rules.response_range
        yield (
            f"{n_outside:,} predictions lie outside of the responses in training, {describe_amount(low)} "
            f"to {describe_amount(high)}."
        )


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4g}"


def _interval(bounds: Interval) -> str:
    return f"(95 % interval {_number(bounds[0])} to {_number(bounds[1])})"
