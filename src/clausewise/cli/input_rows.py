"""Rows as the library takes them, with their labels if there are any."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from clausewise.cli.tables import (
    DataError,
    Source,
    columns_of,
    inferred,
    listed,
    read_raw,
    read_table,
    target_column,
)
from clausewise.data.labels import Label
from clausewise.networks import Network
from clausewise.rules import RuleSet
from clausewise.rules.term import format_category


@dataclass(frozen=True, eq=False)
class Rows:
    """A table of raw rows and, if known, the class of each."""

    table: pa.Table
    y: NDArray[Any] | None

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def X(self) -> Any:  # noqa: N802 - the scikit-learn name
        """The rows as a DataFrame: of pandas, which scikit-learn's transformers ask for, if it is there."""
        return self.table if find_spec("pandas") is None else self.table.to_pandas()

    def take(self, numbers: NDArray[np.int64]) -> "Rows":
        """These rows."""
        return Rows(self.table.take(pa.array(numbers)), None if self.y is None else self.y[numbers])


@dataclass(frozen=True, eq=False)
class RuleRows(Rows):
    """Rows with the columns that rules know, and all columns of the file for a network that reads others."""

    others: pa.Table
    source: Source

    def for_network(self, network: Network) -> Any:
        """The rows as the network reads them."""
        names = self._names_for(network)
        if names == self.table.column_names:
            return self.X
        known = {name: self.table.column(name) for name in self.table.column_names}
        further = [name for name in names if name not in known]
        known |= dict(zip(further, inferred(self.others.select(further), self.source).columns, strict=True))
        return Rows(pa.table([known[name] for name in names], names=names), None).X

    def _names_for(self, network: Network) -> list[str]:
        own: list[str] = self.table.column_names
        every: list[str] = self.others.column_names
        if network.feature_names is not None and set(network.feature_names) <= {*own, *every}:
            return list(network.feature_names)
        return every if network.n_inputs == len(every) != len(own) else own


def rows_for_network(
    source: Source, network: Network, target: str | None, drop: Sequence[str], text: Sequence[str] = ()
) -> Rows:
    """The columns that a network reads, or all but the target and those to drop, and the target."""
    table = read_table(source, text=text)
    labels = None if target is None else target_column(table, target, source)
    for name in (*drop, *text):
        if name not in table.column_names:
            raise DataError(f"{source.shown} has no column {name!r}; it has {listed(table.column_names)}.")
    inputs = [name for name in table.column_names if name != target and name not in drop]
    known = network.feature_names
    if known is not None and set(known) <= set(inputs):
        inputs = list(known)
    if not inputs:
        raise DataError(f"{source.shown} has no columns besides the target.")
    rows = Rows(_checked(table.select(inputs), source), None)
    if labels is None:
        return rows
    network.labels(rows.take(np.array([0])).X)  # some networks tell their classes when they are asked
    return Rows(
        rows.table, labels_like(labels, network.classes.tolist(), f"Column {target!r} of {source.shown}")
    )


def rows_for_rules(source: Source, rules: RuleSet, target: str | None = None) -> RuleRows:
    """The columns that rules know, and the target."""
    table = read_raw(source)
    y = None
    if target is not None:
        labels = target_column(table, target, source)
        y = labels_like(labels, rules.labels, f"Column {target!r} of {source.shown}")
        if target not in rules.features.names:
            table = table.drop_columns([target])
    return RuleRows(_checked(columns_of(table, rules.features, source), source), y, table, source)


def rows_for_both(source: Source, old: RuleSet, new: RuleSet) -> Rows:
    """The columns that one or the other of two rule sets knows."""
    table = read_raw(source)
    first, second = (columns_of(table, rules.features, source) for rules in (old, new))
    for name in second.column_names:
        if name not in first.column_names:
            first = first.append_column(name, second.column(name))
    return Rows(_checked(first, source), None)


def labels_like(values: Sequence[Any], classes: Sequence[Label], what: str) -> NDArray[Any]:
    """Labels of a file as the classes they mean: 1, "1" and 1.0 mean the class 1, true the class True.

    A label that means none of them stays as it is, unless none does.
    """
    meant: dict[Any, Label] = {}
    for value in dict.fromkeys(values):
        same = [label for label in classes if _means(value, label)]
        if same:
            meant[value] = same[0]
    unknown = [value for value in dict.fromkeys(values) if value not in meant]
    shown = ", ".join(map(format_category, classes[:8]))
    if unknown and not meant:
        raise DataError(f"{what} holds {listed(unknown)}, none of which is one of the classes {shown}.")
    if unknown:
        warnings.warn(
            f"{what} holds {listed(unknown)}, which is none of the classes {shown}; it counts as wrong.",
            stacklevel=2,
        )
    return np.array([meant.get(value, value) for value in values], dtype=None if not unknown else object)


def _means(value: Any, label: Label) -> bool:
    if all(isinstance(value, kind) == isinstance(label, kind) for kind in (bool, str)):
        return bool(value == label)
    if isinstance(value, str):
        if isinstance(label, bool):
            return value.lower() == str(label).lower()
        try:
            return float(value) == label
        except ValueError:
            return False
    return isinstance(label, str) and label in (str(value), format_category(value), str(value).lower())


def held_back(rows: Rows, network: Network, part: float, seed: int) -> tuple[Rows, Rows]:
    """Rows to learn from and rows to measure on, drawn so that the network's classes keep their shares."""
    if part == 0.0 or len(rows) < 2:
        return rows, rows.take(np.array([], dtype=np.int64))
    labels = network.labels(rows.X)
    _, counts = np.unique(labels, return_counts=True)
    n_held_back = max(1, round(part * len(rows)))
    can_stratify = counts.min() >= 2 and min(n_held_back, len(rows) - n_held_back) >= len(counts)
    train, test = train_test_split(
        np.arange(len(rows)),
        test_size=n_held_back,
        random_state=seed,
        stratify=labels if can_stratify else None,
    )
    return rows.take(np.sort(train)), rows.take(np.sort(test))


def _checked(table: pa.Table, source: Source) -> pa.Table:
    if table.num_rows == 0:
        raise DataError(f"{source.shown} has no rows.")
    return table
