"""The contract with the browser: what a report holds, as JSON. Its twin is explorer/src/payload.ts."""

import json
import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from clausewise.compact import Frontier
from clausewise.data.features import Features
from clausewise.data.labels import Labels, read_labels
from clausewise.data.rows import as_rows, row_limit, stratified_rows, take_rows
from clausewise.data.table import Matrix
from clausewise.io.json import dumps
from clausewise.networks.answers import NetworkAnswers, ask_network
from clausewise.report.histograms import histogram_of
from clausewise.report.packing import pack_codes, pack_column, pack_numbers, packed_size
from clausewise.rules.ruleset import RuleSet

FORMAT: Final = "clausewise-report"
VERSION: Final = 1
MAX_ROWS: Final = 2_000
DEFAULT_TITLE: Final = "Rules"
# Columns that no rule tests are only worth so many bytes; those that rules test are always there.
MAX_UNTESTED_BYTES: Final = 4 * 2**20
# Whole numbers beyond this are not exact in JavaScript.
_MAX_EXACT: Final = 2**53


@dataclass(frozen=True, eq=False)
class ReportData:
    """The rows that a report is made of: encoded, with their labels.

    Parameters
    ----------
    rules : RuleSet
        What the report is about.
    X : array or DataFrame of shape (n_rows, n_features)
        Rows as `Features.encode` takes them.
    y : array-like of shape (n_rows,), optional
        True classes.
    network : optional
        Anything that `clausewise.wrap` takes, or an array with the network's labels of these rows.
    """

    rules: RuleSet
    X: Any
    y: Any = None
    network: Any = None
    matrix: Matrix = field(init=False)
    truth: Labels | None = field(init=False)
    answers: NetworkAnswers | None = field(init=False)

    def __post_init__(self) -> None:
        rules, rows = self.rules, as_rows(self.X)
        fill = object.__setattr__
        fill(self, "X", rows)
        fill(self, "matrix", rules.features.encode(rows))
        n_rows = len(self.matrix)
        if n_rows == 0:
            raise ValueError("X has no rows; pass at least one, or leave X out for a report without data.")
        fill(
            self,
            "truth",
            None if self.y is None else read_labels(self.y, rules.labels, n_rows, "y", allow_unknown=True),
        )
        asked = None if self.network is None else ask_network(self.network, rows, rules.labels, n_rows)
        fill(self, "answers", asked)

    @property
    def n_rows(self) -> int:
        """Number of rows given."""
        return len(self.matrix)

    @cached_property
    def decisions(self) -> NDArray[np.int32]:
        """What the rules decide, as places in their classes."""
        return self.rules.evaluator.decide(self.matrix, self.rules.voting, self.rules.default_index)

    def sample(self, max_rows: int | float | None, seed: int) -> NDArray[np.intp]:
        """Rows drawn in proportion to the true classes (else the network's, else the rules'), ascending."""
        known = self.truth or (None if self.answers is None else self.answers.labels)
        codes = self.decisions if known is None else known.codes
        return stratified_rows(
            codes.astype(np.int32), row_limit(max_rows, self.n_rows), check_random_state(seed)
        )


def report_data(rules: RuleSet, X: Any, y: Any, network: Any) -> ReportData | None:
    """The data of a report, or None for one about the rules alone."""
    if X is not None:
        return ReportData(rules, X, y, network)
    if y is not None or network is not None:
        raise ValueError("y and network speak about rows; pass these as X, or leave both out.")
    return None


def payload_of(
    rules: RuleSet,
    data: ReportData | None = None,
    *,
    title: str | None = None,
    max_rows: int | float | None = MAX_ROWS,
    random_state: int = 0,
    frontier: Frontier | None = None,
    compare: Mapping[str, RuleSet] | None = None,
    served: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What the page shows, ready for JSON.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    data : ReportData, optional
        Rows with labels.
    title : str, optional
        Shown above everything.
    max_rows : int, float or None
        How many rows, or which part of them, go into the page; all for None.
    random_state : int
        Draws them.
    frontier : Frontier, optional
        The curve of fidelity against the number of rules.
    compare : mapping of str to RuleSet, optional
        Other rules, by title, to compare these with.
    served : dict, optional
        What the page may ask of a server; see ServedEntry in explorer/src/payload.ts.
    """
    _check_exact(rules)
    payload: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "title": DEFAULT_TITLE if title is None else str(title),
        "created_with": f"clausewise {version('clausewise')}",
        "rules": json.loads(dumps(rules)),
    }
    if data is not None:
        seed = _seed(random_state)
        payload["rows"] = _rows(data, data.sample(max_rows, seed), seed)
        payload["histograms"] = _histograms(data.matrix, rules.features)
        payload["measures"] = _measures(data)
        payload["confusion"] = _confusion(data)
    if frontier is not None:
        payload["frontier"] = {
            "budgets": frontier.budgets.tolist(),
            "fidelity": frontier.fidelity.tolist(),
            "spread": frontier.spread.tolist(),
            "knee": frontier.knee,
        }
    if compare:
        payload["compare"] = [_other_rules(title, other) for title, other in compare.items()]
    if served is not None:
        payload["served"] = served
    return payload


def _other_rules(title: str, rules: RuleSet) -> dict[str, Any]:
    if not isinstance(rules, RuleSet):
        raise TypeError(f"compare[{title!r}] is a {type(rules).__name__}; pass rule sets by title.")
    _check_exact(rules)
    return {"title": str(title), "rules": json.loads(dumps(rules))}


def _seed(random_state: Any) -> int:
    if isinstance(random_state, bool) or not isinstance(random_state, numbers.Integral):
        raise ValueError(
            f"random_state is {random_state!r}; a report names its seed, so pass a whole number."
        )
    return int(random_state)


def _check_exact(rules: RuleSet) -> None:
    """Refuse labels that a browser would round, and so confuse."""
    values = [*rules.labels, *(value for listed in rules.features.categories for value in listed or ())]
    for value in values:
        if isinstance(value, int) and abs(value) > _MAX_EXACT:
            raise ValueError(
                f"The label or category {value} is too large a number for a browser to hold exactly; "
                "turn it into text."
            )


# --- Rows ---


def _rows(data: ReportData, chosen: NDArray[np.intp], seed: int) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "n_shown": len(chosen),
        "n_total": data.n_rows,
        "seed": seed,
        "numbers": pack_codes(chosen),
        "columns": _columns(data, chosen),
    }
    if data.truth is not None:
        entry["truth"] = _labels(data.truth, chosen)
    if data.answers is not None:
        entry["network"] = _labels(data.answers.labels, chosen)
        proba = data.answers.probabilities(take_rows(data.X, chosen), data.rules.labels)
        if proba is not None:
            entry["network_proba"] = pack_numbers(proba.astype(np.float32).ravel())
    return entry


def _columns(data: ReportData, chosen: NDArray[np.intp]) -> list[dict[str, Any] | None]:
    """All columns that rules test, and of the others as many as there is room for."""
    uses = np.bincount(data.rules.columns.feature, minlength=len(data.rules.features))
    untested = np.flatnonzero(uses == 0)
    left_out = set(untested[MAX_UNTESTED_BYTES // packed_size(len(chosen)) :].tolist())
    return [
        None if feature in left_out else pack_column(data.matrix[chosen, feature])
        for feature in range(len(data.rules.features))
    ]


def _labels(labels: Labels, chosen: NDArray[np.intp]) -> dict[str, Any]:
    return {"codes": pack_codes(labels.codes[chosen]), "extra": list(labels.unknown)}


def _histograms(matrix: Matrix, features: Features) -> list[dict[str, Any]]:
    return [
        histogram_of(matrix[:, place], features.kinds[place], features.categories[place])
        for place in range(len(features))
    ]


# --- Measures on all rows given ---


def _measures(data: ReportData) -> dict[str, Any]:
    rules, truth, answers = data.rules, data.truth, data.answers
    network = None if answers is None else answers.labels.values
    # Coverage and overlap need no target; what does is left out below.
    target = truth.values if truth is not None else rules.classes[data.decisions]
    found = rules.evaluate(data.X, target, network=network)
    entry: dict[str, Any] = {
        "n_rows": data.n_rows,
        "fidelity": found.fidelity,
        "coverage": found.coverage,
        "overlap": found.overlap,
        "conflict": found.conflict,
        "n_uncovered": int(rules.evaluator.uncovered(data.matrix).sum()),
        **dict.fromkeys(("accuracy", "balanced_accuracy", "auc", "network_accuracy")),
    }
    if truth is not None:
        entry["accuracy"] = found.accuracy
        entry["balanced_accuracy"] = found.balanced_accuracy
        entry["auc"] = None if math.isnan(found.auc) else found.auc
        if network is not None:
            entry["network_accuracy"] = float(np.mean(network == truth.values))
    return entry


def _confusion(data: ReportData) -> list[dict[str, Any]]:
    rules = Labels(data.decisions.astype(np.int64), data.rules.labels, ())
    network = None if data.answers is None else data.answers.labels
    pairs = (("network", network, "rules", rules), ("truth", data.truth, "rules", rules))
    pairs += (("truth", data.truth, "network", network),)  # type: ignore[assignment]
    return [
        _counts(row_name, rows, column_name, columns)
        for row_name, rows, column_name, columns in pairs
        if rows is not None and columns is not None
    ]


def _counts(row_name: str, rows: Labels, column_name: str, columns: Labels) -> dict[str, Any]:
    n_rows, n_columns = (len(labels.classes) + len(labels.unknown) for labels in (rows, columns))
    cells = np.bincount(rows.codes * n_columns + columns.codes, minlength=n_rows * n_columns)
    return {
        "rows": row_name,
        "columns": column_name,
        "row_extra": list(rows.unknown),
        "column_extra": list(columns.unknown),
        "counts": cells.reshape(n_rows, n_columns).tolist(),
    }
