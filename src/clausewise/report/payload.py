"""The payload of a report: the JSON that the page shows. explorer/src/payload.ts declares the same types."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from clausewise.base.parameters import (
    ARRAY_LIKE,
    NOTHING,
    ROWS,
    TEXT,
    check_parameters,
    instance_of,
    list_of,
    whole,
)
from clausewise.compact import Frontier
from clausewise.data.features import Features
from clausewise.data.labels import Label, Labels, read_labels
from clausewise.data.rows import as_rows, raw_rows, row_limit, stratified_rows
from clausewise.data.table import Matrix
from clausewise.io.json import dumps
from clausewise.networks.answers import NetworkAnswers, ask_network
from clausewise.networks.network import Network
from clausewise.report.appearance import class_colours, fixed_features, shown_names
from clausewise.report.differences import differences_entry
from clausewise.report.histograms import histogram_of
from clausewise.report.packing import max_packed_bytes, pack_codes, pack_column, pack_numbers
from clausewise.rules.abstention import ABSTAINS
from clausewise.rules.guarantee import Guarantee
from clausewise.rules.regression import RegressionRules
from clausewise.rules.ruleset import RuleSet

FORMAT: Final = "clausewise-report"
VERSION: Final = 1
MAX_ROWS: Final = 2_000
DEFAULT_TITLE: Final = "Rules"
# Limit on the packed size of all columns that no rule tests; tested columns are always included.
MAX_UNTESTED_BYTES: Final = 4 * 2**20
_COUNTED_HERE: Final = (
    "Counted on the rows of this report, taken for independent ones; the rules were learnt from none of them."
)
# Larger integers are not exact in JavaScript.
_MAX_EXACT: Final = 2**53

REPORT_PARAMETERS: Final = {
    "title": TEXT | NOTHING,
    "max_rows": ROWS | NOTHING,
    # The report shows its seed, so it must be a number.
    "random_state": whole(0, 2**32 - 1),
    "frontier": instance_of(Frontier, "a Frontier") | NOTHING,
    "compare": instance_of(Mapping, "a mapping from titles to rule sets") | NOTHING,
    "labels": instance_of(Mapping, "a mapping from columns, categories and classes to names") | NOTHING,
    "colors": instance_of(Mapping, "a mapping from classes to colours") | ARRAY_LIKE | NOTHING,
    "fixed": list_of(TEXT | whole(0), "a list of columns") | NOTHING,
}


@dataclass(frozen=True, eq=False)
class ReportData:
    """The rows of a report, encoded, with true classes and the network's labels if given.

    Parameters
    ----------
    rules : RuleSet
        The rules of the report.
    X : array or DataFrame of shape (n_rows, n_features)
        Rows that `Features.encode` accepts.
    y : array-like of shape (n_rows,), optional
        True classes.
    network : model or array-like of shape (n_rows,), optional
        Anything that `clausewise.wrap` takes, or the network's labels of these rows.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.report import ReportData, payload_of
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> data = ReportData(rules, [[30], [60], [70]], network=["low", "high", "low"])
    >>> data.n_rows, data.sample(max_rows=2, seed=0).tolist()
    (3, [1, 2])
    >>> payload = payload_of(rules, data)
    """

    rules: RuleSet
    X: Any
    y: Any = None
    network: Any = None
    matrix: Matrix = field(init=False)
    truth: Labels | None = field(init=False)
    answers: NetworkAnswers | None = field(init=False)

    def __post_init__(self) -> None:
        rules = self.rules
        is_raw = rules.features.reads_raw(self.X)
        rows = raw_rows(self.X) if is_raw else as_rows(rules.features.table(self.X))
        set_field = object.__setattr__
        set_field(self, "X", rows)
        set_field(self, "matrix", rules.features.encode(rows))
        n_rows = len(self.matrix)
        if n_rows == 0:
            raise ValueError("X has no rows; pass at least one, or leave X out for a report without data.")
        set_field(
            self,
            "truth",
            None if self.y is None else read_labels(self.y, rules.labels, n_rows, "y", allow_unknown=True),
        )
        asked = None
        if self.network is not None:
            asked = ask_network(self.network, rows, rules.features, rules.labels, n_rows, probabilities=True)
        set_field(self, "answers", asked)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.matrix)

    @property
    def model(self) -> Network | None:
        """The network itself; None if only its labels of these rows are known, or none."""
        return None if self.answers is None else self.answers.network

    @cached_property
    def decisions(self) -> NDArray[np.int32]:
        """The decisions of the rules, as class indices."""
        return self.rules.evaluator.decide(self.matrix, self.rules.voting, self.rules.default_index)

    def sample(self, max_rows: int | float | None, seed: int) -> NDArray[np.intp]:
        """Draw rows in proportion to the true classes (or the network's or rules'); return them ascending."""
        known = self.truth or (None if self.answers is None else self.answers.labels)
        codes = self.decisions if known is None else known.codes
        return stratified_rows(
            codes.astype(np.int32), row_limit(max_rows, self.n_rows), check_random_state(seed)
        )


def report_data(rules: RuleSet, X: Any, y: Any, network: Any) -> ReportData | None:
    """Return the data of a report, or None for a report without rows.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.report import report_data
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> report_data(rules, [[30], [60], [70]], y=["low", "high", "high"], network=None).n_rows
    3
    >>> report_data(rules, None, None, None) is None
    True
    """
    if X is not None:
        return ReportData(rules, X, y, network)
    if y is not None or network is not None:
        raise ValueError("y and network refer to rows; pass the rows as X, or leave out both.")
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
    labels: Mapping[Any, Any] | None = None,
    colors: Mapping[Any, str] | Sequence[str] | None = None,
    fixed: Iterable[str | int] | None = None,
    served: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the payload of a page, ready for JSON.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    data : ReportData, optional
        Rows with labels.
    title : str, optional
        Heading of the page.
    max_rows : int, float or None
        Number (or fraction) of the rows to embed in the page; None for all.
    random_state : int
        Seed for drawing these rows.
    frontier : Frontier, optional
        Fidelity by size, shown as a curve.
    compare : mapping of str to RuleSet, optional
        Other rule sets, by title, to compare with.
    labels, colors, fixed
        Names to show, colours of classes and locked features; see `RuleSet.report`.
    served : dict, optional
        What the page may ask its server; see ServedEntry in explorer/src/payload.ts.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.report import payload_of
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> payload = payload_of(rules, title="Credit risk")
    >>> sorted(payload)  # with rows, also these and measures
    ['created_with', 'format', 'rules', 'title', 'version']
    """
    given = {
        "title": title,
        "max_rows": max_rows,
        "random_state": random_state,
        "frontier": frontier,
        "compare": compare,
        "labels": labels,
        "colors": colors,
        "fixed": fixed,
    }
    check_parameters(REPORT_PARAMETERS, given)
    require_exact_numbers(rules.labels, rules.features)
    payload: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "title": DEFAULT_TITLE if title is None else title,
        "created_with": f"clausewise {version('clausewise')}",
        "rules": rules_entry(rules),
    }
    promised = _guarantee_of(rules, data)
    if promised is not None:
        payload["guarantee"] = promised
    if data is not None:
        seed = int(random_state)
        payload["rows"] = _rows(data, data.sample(max_rows, seed), seed)
        payload["histograms"] = histograms_of(data.matrix, rules.features)
        payload["measures"] = _measures(data)
        payload["confusion"] = _confusion(data)
        found = _differences(data, seed)
        if found is not None:
            payload["differences"] = found
    if frontier is not None:
        payload["frontier"] = _frontier(frontier)
    if compare:
        payload["compare"] = [other_rules_entry(name, other, RuleSet) for name, other in compare.items()]
    if labels:
        payload["names"] = shown_names(labels, rules.features, rules.labels)
    if colors is not None:
        payload["colors"] = class_colours(colors, rules)
    if fixed is not None:
        payload["fixed"] = fixed_features(fixed, rules)
    if served is not None:
        payload["served"] = served
    return payload


def _guarantee_of(rules: RuleSet, data: ReportData | None) -> dict[str, Any] | None:
    """Return what the page shows of a guarantee: on its rows if they are fresh, else what rules carry."""
    carried = rules.guaranteed
    if data is None or data.answers is None:
        return None if carried is None else guarantee_entry(carried)
    is_decided = data.decisions != ABSTAINS
    if are_fresh(rules, data.matrix) and is_decided.any():
        own: dict[str, Any] = {} if carried is None else {"confidence": carried.confidence}
        return counted_entry(rules.guarantee(data.X, data.answers.labels.values, **own))
    if carried is None:
        return None
    agrees = (data.decisions == data.answers.labels.codes)[is_decided]
    return carried_entry(carried, agrees)


def are_fresh(rules: RuleSet | RegressionRules, matrix: Matrix) -> bool:
    """Return whether it is known that the rules were learnt from none of these rows."""
    learnt = rules.learnt_rows
    if learnt is None or not learnt.is_complete:
        return False
    is_learnt, _ = learnt.look_up(rules.features.names, matrix)
    return not is_learnt.any()


def _frontier(frontier: Frontier) -> dict[str, Any]:
    n_rules, reading_cost = frontier.n_rules, frontier.reading_cost
    return {
        "by": frontier.by,
        "budgets": frontier.budgets.tolist(),
        "fidelity": frontier.fidelity.tolist(),
        "spread": frontier.spread.tolist(),
        "n_rules": None if n_rules is None else n_rules.tolist(),
        "reading_cost": None if reading_cost is None else reading_cost.tolist(),
        "knee": frontier.knee,
    }


def other_rules_entry(title: str, rules: RuleSet | RegressionRules, kind: type) -> dict[str, Any]:
    """Return rules of the same kind as those of the report, to compare these with."""
    if not isinstance(rules, kind):
        raise TypeError(
            f"compare[{title!r}] is a {type(rules).__name__}; pass a {kind.__name__} for each title."
        )
    require_exact_numbers(rules.labels if isinstance(rules, RuleSet) else (), rules.features)
    return {"title": str(title), "rules": rules_entry(rules)}


def rules_entry(rules: RuleSet | RegressionRules) -> dict[str, Any]:
    """Return the rules as their file has them, without the record of learnt rows, which the page never needs.

    A guarantee has its own entry, with the intervals that follow from its counts.
    """
    entry: dict[str, Any] = json.loads(dumps(rules.forget_rows().with_guarantee(None)))
    return entry


def guarantee_entry(guarantee: Guarantee) -> dict[str, Any]:
    """Return what the page shows of a guarantee."""
    return {
        "summary": guarantee.summary,
        "explanation": guarantee.explanation,
        "notes": list(guarantee.notes),
        "promises": [
            {"subject": one.subject, "n_rows": one.n_rows, "interval": [one.low, one.high]}
            for one in guarantee.promises
        ],
    }


def counted_entry(guarantee: Guarantee) -> dict[str, Any]:
    """Return what the page shows of a guarantee that was counted on its rows."""
    return guarantee_entry(replace(guarantee, notes=(*guarantee.notes, _COUNTED_HERE)))


def carried_entry(guarantee: Guarantee, agrees: NDArray[np.bool_]) -> dict[str, Any]:
    """Return what a page with a network shows of a guarantee that its rules carry.

    It may have been counted for another network; `agrees` says where rules and network agree on the rows of
    the page.
    """
    entry, promise = guarantee_entry(guarantee), guarantee.fidelity
    entry["summary"] += ", counted earlier"
    entry["notes"].append("Counted earlier, for the network of then; these rows are not known to be fresh.")
    if len(agrees) and not promise.low <= agrees.mean() <= promise.high:
        found = f"{agrees.mean():.1%}".replace("%", " %")
        entry["summary"] += f"; on the rows of this report, rules and network agree on {found}"
        entry["notes"].append(
            "That is outside of the interval: the network or the rows are not those of the guarantee."
        )
    return entry


def require_exact_numbers(labels: Sequence[Label], features: Features) -> None:
    """Refuse labels and categories that JavaScript would round."""
    for value in (*labels, *(value for listed in features.categories for value in listed or ())):
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
        "columns": packed_columns(data.matrix, chosen, set(data.rules.columns.feature.tolist())),
    }
    if data.truth is not None:
        entry["truth"] = _labels(data.truth, chosen)
    if data.answers is not None:
        entry["network"] = _labels(data.answers.labels, chosen)
        proba = data.answers.probabilities
        if proba is not None:
            entry["network_proba"] = pack_numbers(proba[chosen].astype(np.float32).ravel())
    return entry


def packed_columns(
    matrix: Matrix, chosen: NDArray[np.intp], used: AbstractSet[int]
) -> list[dict[str, Any] | None]:
    """Return all columns that the rules use, and as many others as fit; None for those left out."""
    unused = [feature for feature in range(matrix.shape[1]) if feature not in used]
    left_out = set(unused[MAX_UNTESTED_BYTES // max_packed_bytes(len(chosen)) :])
    return [
        None if feature in left_out else pack_column(matrix[chosen, feature])
        for feature in range(matrix.shape[1])
    ]


def _labels(labels: Labels, chosen: NDArray[np.intp]) -> dict[str, Any]:
    return {"codes": pack_codes(labels.codes[chosen]), "extra": list(labels.unknown)}


def histograms_of(matrix: Matrix, features: Features) -> list[dict[str, Any]]:
    """Return the histogram of each feature."""
    return [
        histogram_of(matrix[:, position], features.kinds[position], features.categories[position])
        for position in range(len(features))
    ]


# --- Measures on all rows ---


def _measures(data: ReportData) -> dict[str, Any]:
    rules = data.rules
    truth = None if data.truth is None else data.truth.values
    network = None if data.answers is None else data.answers.labels.values
    # Without both, rules are measured against themselves, and only figures that need no labels are shown.
    is_alone = truth is None and network is None
    found = rules.evaluate(data.X, rules.outcomes[data.decisions] if is_alone else truth, network=network)
    return {
        "n_rows": data.n_rows,
        "n_uncovered": int(rules.evaluator.uncovered(data.matrix).sum()),
        "coverage": found.coverage,
        "overlap": found.overlap,
        "conflict": found.conflict,
        "reading_cost": found.reading_cost,
        "fidelity": found.fidelity,
        "fidelity_interval": None if found.fidelity_interval is None else list(found.fidelity_interval),
        "fidelity_baseline": found.fidelity_baseline,
        "kappa": _finite(found.kappa),
        "class_fidelity": [asdict(one) | {"interval": list(one.interval)} for one in found.class_fidelity],
        "network_accuracy": found.accuracy_of_network,
        **{
            name: None if is_alone else _finite(getattr(found, name))
            for name in ("accuracy", "accuracy_baseline", "balanced_accuracy", "auc")
        },
    }


def _differences(data: ReportData, seed: int) -> dict[str, Any] | None:
    judge = data.truth if data.answers is None else data.answers.labels
    if judge is None:
        return None
    against = "truth" if data.answers is None else "network"
    # A label that the rules do not know has a code beyond those of the classes, and differs from all.
    differs = np.asarray((judge.codes != data.decisions) & (data.decisions != ABSTAINS), dtype=np.bool_)
    return differences_entry(data.matrix, differs, data.rules.features, against, seed)


def _finite(value: float | None) -> float | None:
    """Return a number, or None instead of NaN, which JSON lacks."""
    return None if value is None or math.isnan(value) else value


def _confusion(data: ReportData) -> list[dict[str, Any]]:
    n_classes, outcomes = len(data.rules.labels), data.rules.outcomes.tolist()
    codes = np.where(data.decisions == ABSTAINS, n_classes, data.decisions).astype(np.int64)
    rules = Labels(codes, data.rules.labels, tuple(outcomes[n_classes:]))
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
