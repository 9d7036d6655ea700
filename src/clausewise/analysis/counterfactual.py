"""The smallest change of one or two features of a row that flips the rules' decision.

The search itself is in `counterfactual_search`; its results are checked with `predict`'s own arithmetic.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from clausewise.analysis.counterfactual_search import CounterfactualSearch, Floats
from clausewise.base.frames import Backend, frame_of
from clausewise.base.parameters import check_parameters, one_of
from clausewise.data.features import Features
from clausewise.data.labels import Label, known_label
from clausewise.networks.answers import model_labels
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import Value, format_category


@dataclass(frozen=True)
class Change:
    """Another value for one feature of a row."""

    feature: str
    before: Value
    after: Value

    def __str__(self) -> str:
        before = self.before
        if isinstance(before, float) and float(f"{before:.6g}") != self.after:
            before = float(f"{before:.6g}")  # further digits of the row's value are noise
        shown = ("unknown" if value is None else format_category(value) for value in (before, self.after))
        return f"{self.feature} {' → '.join(shown)}"


@dataclass(frozen=True)
class Counterfactual:
    """The smallest change of a row that flips the rules' decision.

    Attributes
    ----------
    row : int
        Position of the row.
    prediction, becomes : class label
        The decision on the row, and on the changed row; `becomes` is None if no change was found.
    changes : tuple of Change
        The changes, at most `max_features`; empty if no change was found or none is needed.
    distance : float
        Sum of the changes, each in units of its feature's spread; infinite if no change was found.
    network_before, network_after : class label or None
        The network's labels without and with the changes, if a network was given.
    max_features : int
        How many features were allowed to change.
    to : class label or None
        The wanted decision, if one was given.
    """

    row: int
    prediction: Label
    becomes: Label | None
    changes: tuple[Change, ...]
    distance: float
    network_before: Label | None = None
    network_after: Label | None = None
    max_features: int = 2
    to: Label | None = None

    @property
    def is_found(self) -> bool:
        """Whether a change was found, or none is needed."""
        return self.becomes is not None

    @property
    def network_flips(self) -> bool | None:
        """Whether the network's decision flips too; None if no network was given or nothing changed."""
        if self.network_after is None or not self.changes:
            return None
        return self.network_after != self.network_before

    def __str__(self) -> str:
        head = f"row {self.row}: {format_category(self.prediction)}"
        if self.becomes is None:
            n_features = "one feature" if self.max_features == 1 else f"up to {self.max_features} features"
            wanted = "" if self.to is None else f" to {format_category(self.to)}"
            return f"{head}; no change of {n_features} flips it{wanted}"
        if not self.changes:
            return f"{head} already"
        changes = " and ".join(map(str, self.changes))
        network = ""
        if self.network_flips is not None and self.network_after is not None:
            network = f" (the network: {format_category(self.network_after)}"
            network += ")" if self.network_flips else ", as before)"
        return f"{head} becomes {format_category(self.becomes)} if {changes}{network}"


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactuals(Sequence[Counterfactual]):
    """One Counterfactual per row.

    Attributes
    ----------
    found : tuple of Counterfactual
        One per row.
    rows : array or DataFrame
        The given rows, with the changes applied.
    units : ndarray of shape (n_features,)
        The change of each feature that counts as a distance of 1; 1 for categorical and binary features.
    """

    found: tuple[Counterfactual, ...]
    rows: Any
    units: Floats

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, row: int) -> Counterfactual: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[Counterfactual, ...]: ...
    def __getitem__(self, row: int | slice) -> Counterfactual | tuple[Counterfactual, ...]:
        return self.found[row]

    def __iter__(self) -> Iterator[Counterfactual]:
        return iter(self.found)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per row: both decisions, the changes as text, the distance, the network's label."""
        return frame_of(
            {
                "row": [one.row for one in self.found],
                "prediction": [one.prediction for one in self.found],
                "becomes": [one.becomes for one in self.found],
                "n_changes": [len(one.changes) for one in self.found],
                "changes": [" and ".join(map(str, one.changes)) for one in self.found],
                "distance": [one.distance for one in self.found],
                "network": [one.network_after for one in self.found],
                "network_flips": [one.network_flips for one in self.found],
            },
            backend,
        )

    def __str__(self) -> str:
        return "\n".join(map(str, self.found))

    def __repr__(self) -> str:
        n_found = sum(one.is_found for one in self.found)
        return f"<Counterfactuals for {n_found:,} of {len(self):,} rows>"


def counterfactuals(
    rules: RuleSet,
    X: Any,
    max_features: int,
    network: Any,
    to: Label | None,
    reference: Any,
) -> Counterfactuals:
    """Find the smallest changes that flip the rules' decisions, row by row; see `RuleSet.counterfactuals`."""
    check_parameters({"max_features": one_of(1, 2)}, {"max_features": max_features})
    wanted = None if to is None else rules.labels.index(known_label(to, rules.classes))
    matrix = np.array(rules.features.encode(X), dtype=np.float64)
    known = None if reference is None else np.asarray(rules.features.encode(reference), dtype=np.float64)
    search = CounterfactualSearch(rules, known, max_features, wanted)
    decided = rules.evaluator.decide(matrix, rules.voting, rules.default_index)
    changed = matrix.copy()
    found: list[dict[int, float] | None] = []
    for row, mine in enumerate(decided.tolist()):
        changes = search.smallest(matrix[row], mine)
        found.append(changes)
        for feature, value in (changes or {}).items():
            changed[row, feature] = value
    becomes = rules.evaluator.decide(changed, rules.voting, rules.default_index)
    rows = _changed_table(X, rules.features, found)
    before, after = (None, None) if network is None else (_labels_of(network, X), _labels_of(network, rows))
    described = tuple(
        Counterfactual(
            row=row,
            prediction=rules.labels[decided[row]],
            becomes=None if changes is None else rules.labels[becomes[row]],
            changes=tuple(
                Change(
                    rules.features.names[feature],
                    rules.features.decode(feature, float(matrix[row, feature])),
                    rules.features.decode(feature, value),
                )
                for feature, value in (changes or {}).items()
            ),
            distance=math.inf if changes is None else search.distance(matrix[row], changes),
            network_before=None if before is None else before[row],
            network_after=None if after is None else after[row],
            max_features=max_features,
            to=None if wanted is None else rules.labels[wanted],
        )
        for row, changes in enumerate(found)
    )
    return Counterfactuals(described, rows, search.units)


# --- Tables with changes applied ---


def _changed_table(X: Any, features: Features, found: Sequence[dict[int, float] | None]) -> Any:
    """Return the caller's table with the changes applied, as the same kind of table."""
    changed: dict[int, dict[int, Value]] = {}
    for row, changes in enumerate(found):
        for feature, value in (changes or {}).items():
            changed.setdefault(feature, {})[row] = features.decode(feature, value)
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        return _changed_array(X, changed)
    for feature, cells in changed.items():
        name = features.names[feature] if features.named else frame.columns[feature]
        column = frame[name]
        needs_fractions = any(isinstance(cell, float) and not cell.is_integer() for cell in cells.values())
        if column.dtype.is_integer() and needs_fractions:
            column = column.cast(nw.Float64())
        # `scatter` keeps missing values and the type, which a new column would not.
        frame = frame.with_columns(column.scatter(list(cells), list(cells.values())))
    return frame.to_native()


def _changed_array(X: Any, changed: dict[int, dict[int, Value]]) -> NDArray[Any]:
    array = np.asarray(X)
    # Thresholds are doubles, which single precision and integers cannot hold; NumPy's text has a fixed width.
    table = array.astype(np.float64 if array.dtype.kind in "fiub" else object)
    for feature, cells in changed.items():
        for row, value in cells.items():
            table[row, feature] = value
    return table


def _labels_of(network: Any, rows: Any) -> list[Label]:
    labels: list[Label] = model_labels(network, rows).tolist()
    return labels
