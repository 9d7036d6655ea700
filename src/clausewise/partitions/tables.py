"""Tables in memory as partitions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.data.rows import as_rows, take_rows
from clausewise.partitions.protocol import (
    BATCH_ROWS,
    Add,
    Count,
    Part,
    PartitionedRows,
    PartitionError,
    Sum,
)


class BatchedRows(PartitionedRows):
    """Rows that this process reads in batches, one after the other."""

    is_lazy = False

    def _batches(self) -> Iterator[tuple[int, Any]]:
        """Iterate over all rows in batches with their numbers, as they are passed on."""
        raise NotImplementedError

    def reduce(self, count: Count, add: Add, progress: Progress | None = None, what: str = "rows") -> Part:
        """Count something on every batch, and add it up."""
        total = Sum(add)
        for number, batch in self._shown(progress, what):
            total.include(count(batch, number))
        return total.total()

    def _shown(self, progress: Progress | None, what: str) -> Iterator[tuple[int, Any]]:
        """Iterate over the batches with their numbers, and show how many rows are read."""
        n_done = 0
        if progress is not None:
            progress.part_started(what, self.n_rows, "rows")
        for number, batch in self._numbered():
            yield number, batch
            n_done += len(batch)
            if progress is not None:
                progress.steps_done(0, n_done)
        if progress is not None:
            progress.part_done()

    def head(self, n_rows: int) -> Any:
        """Return the first rows as a table."""
        first = next(self._numbered(), None)
        if first is None:
            raise ValueError(f"{self.title} has no rows.")
        return first[1][:n_rows]

    def _first_row(self) -> Any:
        """Return the first row as a table, or a table without rows if there are none."""
        first = next(self._numbered(), None)
        return self._no_rows() if first is None else first[1][:1]

    def _no_rows(self) -> Any:
        """Return a table with these columns and no rows."""
        raise NotImplementedError

    def with_columns(
        self, compute: Callable[[Any], Mapping[str, NDArray[Any]]], progress: Progress | None = None
    ) -> Any:
        """Return the new columns of all rows as arrays."""
        found = [compute(batch) for _, batch in self._shown(progress, "rows")] or [compute(self._no_rows())]
        return {name: np.concatenate([columns[name] for columns in found]) for name in found[0]}

    def _numbered(self) -> Iterator[tuple[int, Any]]:
        """Iterate over the batches that have rows, with their numbers; an error names the rows."""
        batches, n_read = self._batches(), 0
        while True:
            try:
                found = next(batches, None)
            except (OSError, ValueError) as error:  # what pyarrow and polars raise
                raise PartitionError(f"{self.title} cannot be read after row {n_read:,}: {error}") from error
            if found is None:
                return
            if len(found[1]):
                yield found
            n_read += len(found[1])


class TableRows(BatchedRows):
    """Tables in memory, each a partition.

    Parameters
    ----------
    tables : sequence of array or DataFrame
        All of one kind, with the same columns.
    """

    def __init__(self, tables: Sequence[Any]) -> None:
        self._tables = [as_rows(table) for table in tables]
        if not self._tables:
            raise ValueError("There are no tables; pass at least one.")
        self.title = "The table in memory" if len(self._tables) == 1 else "The tables in memory"
        self.names = _names(self._tables[0])
        for number, table in enumerate(self._tables):
            same = table.shape[1] == self._tables[0].shape[1] and _names(table) == self.names
            if not same:
                raise ValueError(f"Table {number} has other columns than table 0; pass the same columns.")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(table.shape[0] for table in self._tables)

    def select(self, names: Sequence[str]) -> "TableRows":
        """Return the rows with these columns alone."""
        frames = [nw.from_native(table, eager_only=True, pass_through=True) for table in self._tables]
        return TableRows(
            [
                frame.select(list(names)).to_native() if isinstance(frame, nw.DataFrame) else frame
                for frame in frames
            ]
        )

    def gathered(self) -> Any:
        """Return all rows as one table."""
        if len(self._tables) == 1:
            return self._tables[0]
        frame = nw.from_native(self._tables[0], eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return np.concatenate(self._tables)
        frames = [nw.from_native(table, eager_only=True) for table in self._tables]
        gathered = nw.concat(frames).to_native()
        return gathered.reset_index(drop=True) if hasattr(gathered, "reset_index") else gathered

    def _no_rows(self) -> Any:
        return self._tables[0][:0]

    def native(self, table: Any) -> Any:
        """Return rows of a `pyarrow.Table` as an array, if these are arrays."""
        if self.names is not None:
            return super().native(table)
        return np.column_stack([column.to_numpy() for column in table.columns])

    def _batches(self) -> Iterator[tuple[int, Any]]:
        number = 0
        for table in self._tables:
            for start in range(0, table.shape[0], BATCH_ROWS):
                yield number, take_rows(table, np.arange(start, min(start + BATCH_ROWS, table.shape[0])))
                number += 1


def _names(table: Any) -> tuple[str, ...] | None:
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    return tuple(frame.columns) if isinstance(frame, nw.DataFrame) else None
