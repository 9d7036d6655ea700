"""Labels of rows in partitions, which are in one of their columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.data.labels import Label, read_labels
from clausewise.data.table import as_table, is_missing
from clausewise.partitions.columns import ColumnFacts, from_array, to_array
from clausewise.partitions.protocol import Part, PartitionedRows


@dataclass(frozen=True)
class LabelColumn:
    """Returns the class of each row of a batch, which a column of it holds."""

    name: str
    classes: tuple[Label, ...]

    def __call__(self, batch: Any, number: int | None = None) -> NDArray[np.int32]:
        """Return the class of each row of a batch, as a code."""
        values = labels_in(batch, self.name)
        known = read_labels(values, self.classes, len(values), f"Column '{self.name}'")
        return known.codes.astype(np.int32)


def labels_in(batch: Any, name: str) -> Sequence[Any]:
    """Return the values of a column of a batch."""
    column = batch[name] if hasattr(batch, "iloc") else batch.column(name)
    values: Sequence[Any] = column.tolist() if hasattr(column, "tolist") else column.to_pylist()
    if any(map(is_missing, values)):
        raise ValueError(f"Column '{name}' has missing labels; leave such rows out.")
    return values


def classes_in(rows: PartitionedRows, name: str, progress: Progress | None = None) -> tuple[Label, ...]:
    """Return the different labels in a column, in order."""
    if rows.names is None or name not in rows.names:
        raise ValueError(f"{rows.title}: there is no column '{name}', which should hold the labels.")
    found = rows.select([name]).reduce(_DistinctLabels(name), _add_facts, progress, "classes")
    (facts,) = from_array(found["facts"])
    if facts.kind == "empty":
        raise ValueError(f"Column '{name}' has no labels; all its values are missing.")
    return (False, True) if facts.categories is None else facts.categories


def column_labels(
    name: Any,
    rows: PartitionedRows,
    classes: Sequence[Label],
    parameter: str = "labels",
    progress: Progress | None = None,
) -> LabelColumn:
    """Return a column of labels of which some classes are known; other labels follow them.

    `parameter` is what is called `name` by users, for messages.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"{parameter} holds labels, and these rows are read in parts; pass the name of the column that "
            "holds them."
        )
    found = classes_in(rows, name, progress)
    return LabelColumn(name, read_labels(found, classes, len(found), parameter, allow_unknown=True).labels)


@dataclass(frozen=True)
class _DistinctLabels:
    name: str

    def __call__(self, batch: Any, number: int | None) -> Part:
        # A categorical type may declare labels that no row has.
        column = replace(as_table(batch).column(0), declared=None)
        return {"facts": to_array([ColumnFacts.of(column, self.name, is_coded=True)])}


def _add_facts(one: Part, other: Part) -> Part:
    (first,), (second,) = from_array(one["facts"]), from_array(other["facts"])
    return {"facts": to_array([first | second])}
