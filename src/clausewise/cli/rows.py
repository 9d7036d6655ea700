"""Rows as the library takes them, with their labels if there are any."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from clausewise.cli.tables import DataError, Source, column, columns_of, read_table
from clausewise.features import Features
from clausewise.networks import Network
from clausewise.rules import RuleSet


@dataclass(frozen=True, eq=False)
class Rows:
    """A table of raw rows and, if known, the class of each."""

    table: pa.Table
    y: NDArray[Any] | None

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def X(self) -> Any:  # noqa: N802 - the scikit-learn name
        """The rows as a DataFrame: of pandas, which scikit-learn's transformers ask for, if it is there."""
        return self.table if find_spec("pandas") is None else self.table.to_pandas()

    def take(self, numbers: NDArray[np.int64]) -> "Rows":
        """These rows."""
        return Rows(self.table.take(pa.array(numbers)), None if self.y is None else self.y[numbers])


def rows_for_network(source: Source, network: Network, target: str | None, drop: Sequence[str]) -> Rows:
    """The columns that a network reads, or all but the target and those to drop, and the target."""
    table = read_table(source)
    y = None if target is None else column(table, target, source)
    for name in drop:
        if name not in table.column_names:
            raise DataError(f"{source.shown} has no column {name!r} to drop.")
    inputs = [name for name in table.column_names if name != target and name not in drop]
    known = network.feature_names
    if known is not None and set(known) <= set(inputs):
        inputs = list(known)
    if not inputs:
        raise DataError(f"{source.shown} has no columns besides the target.")
    return Rows(_checked(table.select(inputs), source), y)


def rows_for_rules(
    source: Source, rules: RuleSet, target: str | None = None, *, also: Features | None = None
) -> Rows:
    """The columns that rules know (and those of other features), and the target."""
    table = read_table(source, rules.features)
    y = None if target is None else column(table, target, source)
    own = columns_of(table, rules.features, source)
    if also is not None:
        for name in also.names:
            if name not in own.column_names and name in table.column_names:
                own = own.append_column(name, table.column(name))
    return Rows(_checked(own, source), y)


def held_back(rows: Rows, network: Network, part: float, seed: int) -> tuple[Rows, Rows]:
    """Rows to learn from and rows to measure on, drawn so that the network's classes keep their shares."""
    if not 0.0 <= part < 1.0:
        raise ValueError(f"--holdout is {part}; it is a part of the rows, from 0 to below 1.")
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
