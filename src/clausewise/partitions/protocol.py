"""The protocol of rows that can be reduced over where they are.

An implementation holds rows of one kind: tables in memory, files, or the frame of an engine. Algorithms see
batches, which are small tables, one at a time. They turn each into a `Part`, and add the parts up. Sums of
parts are exact and do not depend on their order, so neither the partitioning nor the order of the rows
changes a result.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress

Part = Mapping[str, NDArray[Any]]
"""What is counted on some rows, as arrays of numbers: all that travels between processes."""
Count = Callable[[Any, int | None], Part]
"""Counts something on a batch. No batch with other rows has the same number, if it is known, in any pass."""
Add = Callable[[Part, Part], Part]
"""Adds what was counted on some rows to what was counted on others."""

BATCH_ROWS: Final = 65_536
"""The largest number of rows in a batch, where we choose it."""


class PartitionError(RuntimeError):
    """A partition that cannot be read, or on which a computation failed."""


class PartitionedRows(ABC):
    """Rows that can be reduced over where they are; `clausewise.partitioned` makes one.

    Attributes
    ----------
    title : str
        What the rows are, for messages, such as "the Dask DataFrame".
    names : tuple of str or None
        The names of the columns; None for arrays.
    is_lazy : bool
        Whether `with_columns` returns a lazy frame, with all columns.

    Examples
    --------
    >>> import pandas as pd
    >>> import clausewise
    >>> january = pd.DataFrame({"age": [20, 60], "answer": ["low", "high"]})
    >>> february = pd.DataFrame({"age": [55, 35], "answer": ["low", "low"]})
    >>> rows = clausewise.partitioned([january, february])  # or a Parquet folder, or a Dask DataFrame
    >>> rows.n_rows, rows.names
    (4, ('age', 'answer'))
    >>> rules = clausewise.RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> rules.evaluate(rows, "answer").accuracy
    0.75
    """

    title: str
    names: tuple[str, ...] | None
    is_lazy: bool = True

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows, counted when it is first asked for."""

    @abstractmethod
    def head(self, n_rows: int) -> Any:
        """Return the first rows as a table, at most this many."""

    @abstractmethod
    def select(self, names: Sequence[str]) -> "PartitionedRows":
        """Return the rows with these columns alone."""

    def only(self, names: Collection[str]) -> "PartitionedRows":
        """Return the rows with these columns alone, in the order of the rows.

        Rows that lack one of them are returned as they are; what reads the column says so.
        """
        wanted = set(names)
        if self.names is None or not wanted <= set(self.names) or len(wanted) == len(self.names):
            return self
        return self.select([name for name in self.names if name in wanted])

    @abstractmethod
    def reduce(self, count: Count, add: Add, progress: Progress | None = None, what: str = "rows") -> Part:
        """Count something on every batch, and add it up.

        Raises a `PartitionError` that names the partition if one cannot be read or counted on.
        """

    @abstractmethod
    def gathered(self) -> Any:
        """Return all rows as one table, in their order."""

    @abstractmethod
    def with_columns(
        self, compute: Callable[[Any], Mapping[str, NDArray[Any]]], progress: Progress | None = None
    ) -> Any:
        """Return the rows with further columns, computed batch by batch.

        An engine's frame becomes a lazy frame of the same engine, which shows no progress. Anything else
        becomes a mapping from the names of the new columns to arrays.
        """

    def native(self, table: Any) -> Any:
        """Return rows of a `pyarrow.Table` in the form in which batches are passed on."""
        return frame_of_arrow(table)


def frame_of_arrow(table: Any) -> Any:
    """Return an Arrow table as a DataFrame of pandas, which all models read, if pandas is installed."""
    from importlib.util import find_spec

    return table if find_spec("pandas") is None else table.to_pandas()


class Sum:
    """Adds parts up, as a binary counter does: every part takes part in few additions."""

    def __init__(self, add: Add) -> None:
        self._add = add
        self._sums: list[tuple[int, Part]] = []

    def include(self, part: Part) -> None:
        """Add a part."""
        size = 1
        while self._sums and self._sums[-1][0] == size:
            _, earlier = self._sums.pop()
            part, size = self._add(earlier, part), 2 * size
        self._sums.append((size, part))

    def total(self) -> Part:
        """Return the sum of all parts."""
        if not self._sums:
            raise ValueError("There are no rows.")
        _, total = self._sums[-1]
        for _, part in reversed(self._sums[:-1]):
            total = self._add(part, total)
        return total


def summed(parts: Iterable[Part], add: Add) -> Part:
    """Add up some parts, at least one."""
    total = Sum(add)
    for part in parts:
        total.include(part)
    return total.total()


def to_bytes(part: Part) -> bytes:
    """Return a part as bytes, for engines that carry only bytes."""
    from io import BytesIO

    written = BytesIO()
    np.savez(written, allow_pickle=False, **part)
    return written.getvalue()


def from_bytes(raw: bytes) -> Part:
    """Return the part that `to_bytes` wrote. Nothing in it is executed or unpickled."""
    from io import BytesIO

    with np.load(BytesIO(raw), allow_pickle=False) as arrays:
        return dict(arrays)
