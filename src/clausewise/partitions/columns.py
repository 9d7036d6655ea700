"""What is known about the columns of rows in partitions: kinds, and all values of categorical columns."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import Features
from clausewise.data.table import Category, Column, Kind, as_table, plain_category

MAX_CATEGORIES: Final = 100_000
"""The largest number of categories in a column; more are names of rows, not categories."""
_KINDS: Final[Mapping[str, Kind]] = {"text": "categorical", "flag": "binary"}
_HELD: Final = {"text": "text", "number": "numbers", "flag": "booleans", "coded": "coded categories"}


@dataclass(frozen=True)
class ColumnFacts:
    """What some rows show about a column.

    Attributes
    ----------
    name : str
        The name of the column.
    kind : str
        "text", "number", "flag" (booleans), "coded" (numbers that are categories), or "empty" if all values
        are missing.
    values : frozenset
        The values of a categorical column.
    declared : tuple, optional
        The values that an ordered categorical type declares, in their order. The order of other categorical
        types means nothing, and may differ from partition to partition.
    """

    name: str
    kind: Literal["text", "number", "flag", "coded", "empty"]
    values: frozenset[Category] = frozenset()
    declared: tuple[Category, ...] | None = None

    @classmethod
    def of(cls, column: Column, name: str, is_coded: bool, is_ordered: bool = False) -> "ColumnFacts":
        """Return what a column shows."""
        if column.declared and is_ordered:
            return cls(name, "text", declared=column.declared)
        if column.declared is not None:
            return cls(name, "text" if column.declared else "empty", frozenset(column.declared))
        if column.is_text:
            values = frozenset(value for value in column.values if value is not None)
            return cls(name, "text" if values else "empty", values)
        if column.is_boolean:
            return cls(name, "flag")
        if not is_coded:
            return cls(name, "empty" if _has_no_numbers(column.values) else "number")
        numbers = np.unique(column.values)
        known = frozenset(plain_category(value) for value in numbers[numbers == numbers].tolist())
        return cls(name, "coded" if known else "empty", known)

    def __or__(self, other: "ColumnFacts") -> "ColumnFacts":
        """Return what the rows of both show."""
        if self.name != other.name:
            raise ValueError(f"A partition has column '{other.name}' in the place of column '{self.name}'.")
        kinds = {self.kind, other.kind} - {"empty"}
        if len(kinds) > 1:
            if kinds == {"flag", "number"}:
                return replace(self, kind="number")
            first, second = sorted(kinds)
            raise ValueError(
                f"Column '{self.name}' holds {_HELD[first]} in some partitions and {_HELD[second]} in "
                "others; make it one or the other."
            )
        if self.declared and other.declared and self.declared != other.declared:
            raise ValueError(
                f"Column '{self.name}' has the ordered categories {_listed(self.declared)} in some "
                f"partitions and {_listed(other.declared)} in others; give it the same type in all."
            )
        kind = kinds.pop() if kinds else "empty"
        declared = self.declared or other.declared
        of_both = self.values | other.values
        if len(of_both) > MAX_CATEGORIES:
            raise ValueError(
                f"Column '{self.name}' has more than {MAX_CATEGORIES:,} different values; rules cannot list "
                "so many categories. Drop the column, or group its values."
            )
        return ColumnFacts(self.name, kind, of_both, declared)

    @property
    def categories(self) -> tuple[Category, ...] | None:
        """All categories in order; None for a column of numbers."""
        if self.kind not in ("text", "coded"):
            return None
        declared = self.declared or ()
        return (*declared, *sorted(self.values.difference(declared)))


def column_facts(batch: Any, names: Sequence[str], coded: Collection[str]) -> list[ColumnFacts]:
    """Return what a batch shows about its columns; those in `coded` hold numbers that are categories."""
    table = as_table(batch)
    alike = table.kind_of_all()
    if alike is not None and not coded:
        return [ColumnFacts(name, "flag" if alike == "binary" else "number") for name in names]
    return [
        ColumnFacts.of(table.column(i), name, name in coded, table.is_ordered(i))
        for i, name in enumerate(names)
    ]


def _has_no_numbers(values: NDArray[Any]) -> bool:
    """Return whether all values are missing; nearly always, the first one shows that they are not."""
    return len(values) > 0 and bool(values[0] != values[0]) and bool((values != values).all())


def _listed(categories: Sequence[Category]) -> str:
    shown = ", ".join(map(str, categories[:8]))
    return shown if len(categories) <= 8 else f"{shown}, …"


def features_of(facts: Sequence[ColumnFacts], *, named: bool) -> Features:
    """Return the columns that rules test."""
    kinds = tuple("categorical" if f.categories is not None else _KINDS.get(f.kind, "numeric") for f in facts)
    return Features(
        tuple(f.name for f in facts),
        kinds,
        tuple(f.categories for f in facts),
        named=named,
    )


def to_array(facts: Sequence[ColumnFacts]) -> NDArray[np.uint8]:
    """Return facts as an array of bytes."""
    listed = [
        (f.name, f.kind, sorted(f.values, key=str), None if f.declared is None else list(f.declared))
        for f in facts
    ]
    return np.frombuffer(json.dumps(listed).encode(), dtype=np.uint8)


def from_array(raw: NDArray[np.uint8]) -> list[ColumnFacts]:
    """Return the facts that `to_array` wrote."""
    return [
        ColumnFacts(name, kind, frozenset(values), None if declared is None else tuple(declared))
        for name, kind, values, declared in json.loads(raw.tobytes())
    ]
