"""The payload of a report on rules for numbers; number_payload.schema.json declares it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from clausewise.analysis import Errors
from clausewise.base.parameters import NOTHING, check_parameters, instance_of
from clausewise.compact import Frontier
from clausewise.compact.regression_examples import range_codes
from clausewise.data.responses import read_responses
from clausewise.data.rows import as_rows, raw_rows, row_limit, stratified_rows
from clausewise.data.table import Matrix
from clausewise.networks.answers import are_labels, ask_numbers, number_model
from clausewise.networks.network import Network
from clausewise.report.appearance import shown_names
from clausewise.report.packing import pack_codes, pack_numbers
from clausewise.report.payload import (
    DEFAULT_TITLE,
    FORMAT,
    MAX_ROWS,
    REPORT_PARAMETERS,
    VERSION,
    are_fresh,
    carried_entry,
    counted_entry,
    guarantee_entry,
    histograms_of,
    other_rules_entry,
    packed_columns,
    require_exact_numbers,
    rules_entry,
)
from clausewise.rules import Guarantee, RegressionRules

# Rows are drawn in proportion from so many ranges of the numbers.
_N_RANGES: Final = 10

NUMBER_REPORT_PARAMETERS: Final = {
    name: REPORT_PARAMETERS[name] for name in ("title", "max_rows", "random_state", "frontier", "compare")
} | {"labels": instance_of(Mapping, "a mapping from columns and categories to names") | NOTHING}


@dataclass(frozen=True, eq=False)
class NumberReportData:
    """The rows of a report on rules for numbers, encoded, with true numbers and the network's if given.

    Parameters
    ----------
    rules : RegressionRules
        The rules of the report.
    X : array or DataFrame of shape (n_rows, n_features)
        Rows that `Features.encode` accepts.
    target : array-like of shape (n_rows,), optional
        True numbers.
    network : model or array-like of shape (n_rows,), optional
        Anything that `clausewise.wrap` takes, or the network's numbers for these rows.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.report import NumberReportData
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> data = NumberReportData(rules, [[3], [5]], target=[1.4, 2.3])
    >>> data.n_rows, data.predictions.tolist()
    (2, [1.5, 2.2])
    """

    rules: RegressionRules
    X: Any
    target: Any = None
    network: Any = None
    matrix: Matrix = field(init=False)
    truth: NDArray[np.float64] | None = field(init=False)
    answers: NDArray[np.float64] | None = field(init=False)
    model: Network | None = field(init=False)

    def __post_init__(self) -> None:
        features = self.rules.features
        rows = raw_rows(self.X) if features.reads_raw(self.X) else as_rows(features.table(self.X))
        set_field = object.__setattr__
        set_field(self, "X", rows)
        set_field(self, "matrix", features.encode(rows))
        n_rows = self.n_rows
        if n_rows == 0:
            raise ValueError("X has no rows; pass at least one, or leave X out for a report without data.")
        truth = None if self.target is None else read_responses(self.target, n_rows, "target")
        set_field(self, "truth", truth)
        is_model = self.network is not None and not are_labels(self.network)
        set_field(self, "model", number_model(self.network) if is_model else None)
        given = self.network if self.model is None else self.model
        set_field(self, "answers", None if given is None else ask_numbers(given, rows, features, n_rows))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.matrix)

    @cached_property
    def predictions(self) -> NDArray[np.float64]:
        """The numbers that the rules predict."""
        return self.rules.response_of(self.rules.sums_of(self.matrix))

    def sample(self, max_rows: int | float | None, seed: int) -> NDArray[np.intp]:
        """Draw rows in proportion to ranges of the network's numbers (or the true or predicted ones)."""
        numbers = next(found for found in (self.answers, self.truth, self.predictions) if found is not None)
        finite = np.nan_to_num(numbers)
        return stratified_rows(
            range_codes(finite, _N_RANGES), row_limit(max_rows, self.n_rows), check_random_state(seed)
        )


def number_report_data(rules: RegressionRules, X: Any, target: Any, network: Any) -> NumberReportData | None:
    """Return the data of a report, or None for a report without rows."""
    if X is not None:
        return NumberReportData(rules, X, target, network)
    if target is not None or network is not None:
        raise ValueError("target and network refer to rows; pass the rows as X, or leave out both.")
    return None


def number_payload_of(
    rules: RegressionRules,
    data: NumberReportData | None = None,
    *,
    title: str | None = None,
    max_rows: int | float | None = MAX_ROWS,
    random_state: int = 0,
    frontier: Frontier | None = None,
    compare: Mapping[str, RegressionRules] | None = None,
    labels: Mapping[Any, Any] | None = None,
    served: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the payload of a page on rules for numbers, ready for JSON.

    Parameters
    ----------
    rules : RegressionRules
        The rules.
    data : NumberReportData, optional
        Rows with numbers.
    title, max_rows, random_state, frontier, compare, labels
        See `RegressionRules.report`.
    served : dict, optional
        What the page may ask its server; see ServedEntry in explorer/src/payload.ts.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.report import number_payload_of
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> payload = number_payload_of(rules, title="House prices")
    >>> sorted(payload)  # with rows, also these and measures
    ['created_with', 'format', 'kind', 'rules', 'title', 'version']
    """
    given = {
        "title": title,
        "max_rows": max_rows,
        "random_state": random_state,
        "frontier": frontier,
        "compare": compare,
        "labels": labels,
    }
    check_parameters(NUMBER_REPORT_PARAMETERS, given)
    require_exact_numbers((), rules.features)
    payload: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kind": "numbers",
        "title": DEFAULT_TITLE if title is None else title,
        "created_with": f"clausewise {version('clausewise')}",
        "rules": rules_entry(rules),
    }
    if rules.guaranteed is not None:
        payload["guarantee"] = _guarantee_of(rules, rules.guaranteed, data)
    if data is not None:
        seed = int(random_state)
        payload["rows"] = _rows(data, data.sample(max_rows, seed), seed)
        payload["histograms"] = histograms_of(data.matrix, rules.features)
        if data.answers is not None or data.truth is not None:
            payload["measures"] = measures_entry(rules, data.X, data.truth, data.answers)
    if frontier is not None:
        payload["frontier"] = _frontier(frontier)
    if compare:
        payload["compare"] = [
            other_rules_entry(name, other, RegressionRules) for name, other in compare.items()
        ]
    if labels:
        payload["names"] = shown_names(labels, rules.features)
    if served is not None:
        payload["served"] = served
    return payload


def _guarantee_of(
    rules: RegressionRules, carried: Guarantee, data: NumberReportData | None
) -> dict[str, Any]:
    """Return what the page shows of the guarantee that rules carry, counted anew if its rows are fresh."""
    if data is None or data.answers is None:
        return guarantee_entry(carried)
    assert carried.tolerance is not None
    if are_fresh(rules, data.matrix):
        return counted_entry(rules.guarantee(data.X, data.answers, carried.tolerance, carried.confidence))
    return carried_entry(carried, np.abs(data.predictions - data.answers) <= carried.tolerance)


def _rows(data: NumberReportData, chosen: NDArray[np.intp], seed: int) -> dict[str, Any]:
    used = {*data.rules.columns.feature.tolist(), *(term.feature for term in data.rules.linear)}
    entry: dict[str, Any] = {
        "n_shown": len(chosen),
        "n_total": data.n_rows,
        "seed": seed,
        "numbers": pack_codes(chosen),
        "columns": packed_columns(data.matrix, chosen, used),
    }
    for name, numbers in (("truth", data.truth), ("network", data.answers)):
        if numbers is not None:
            entry[name] = pack_numbers(numbers[chosen])
    return entry


def measures_entry(
    rules: RegressionRules, X: Any, truth: NDArray[np.float64] | None, answers: NDArray[np.float64] | None
) -> dict[str, Any]:
    """Return the measures of rules on rows; at least one of the true numbers and the network's is needed."""
    # Edited rules may predict numbers too large to square; what overflows is left out of the entry.
    with np.errstate(over="ignore", invalid="ignore"):
        found = rules.evaluate(X, truth, network=answers)
    return {
        "n_rows": found.n_rows,
        "coverage": found.coverage,
        "reading_cost": found.reading_cost,
        "to_network": _errors(found.to_network),
        "to_truth": _errors(found.to_truth),
        "network_to_truth": _errors(found.network_to_truth),
    }


def _errors(errors: Errors | None) -> dict[str, Any] | None:
    if errors is None:
        return None
    return {
        "r_squared": _finite(errors.r_squared),
        "r_squared_interval": _interval(errors.r_squared_interval),
        "mean_absolute": _finite(errors.mean_absolute),
        "mean_absolute_interval": _interval(errors.mean_absolute_interval),
        "root_mean_squared": _finite(errors.root_mean_squared),
        "largest": _finite(errors.largest),
        "largest_row": errors.largest_row,
        "within": errors.within,
        "within_interval": _interval(errors.within_interval),
        "tolerance": errors.tolerance,
        "baseline_mean_absolute": _finite(errors.baseline_mean_absolute),
    }


def _finite(value: float) -> float | None:
    """Return a number, or None instead of NaN and infinities, which JSON lacks."""
    return value if math.isfinite(value) else None


def _interval(bounds: tuple[float, float]) -> list[float] | None:
    return list(bounds) if all(map(math.isfinite, bounds)) else None


def _frontier(frontier: Frontier) -> dict[str, Any]:
    return {
        "by": frontier.by,
        "measure": frontier.measure,
        "budgets": frontier.budgets.tolist(),
        "fidelity": frontier.fidelity.tolist(),
        "spread": frontier.spread.tolist(),
        "knee": frontier.knee,
    }
