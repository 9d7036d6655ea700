"""Rows of iterators of batches, which can be read only once, and are kept for further passes."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from clausewise.base.spool import Spool
from clausewise.partitions.schemas import conformed, described, merged_type
from clausewise.partitions.streamed import ArrowRows, as_arrow_table


def iterator_rows(batches: Iterable[Any], max_memory: int) -> ArrowRows:
    """Return the rows of an iterator of record batches or tables, which can be read only once.

    They are kept: in memory, or beyond `max_memory` bytes in a temporary file without a name, which the
    system deletes with the last use.
    """
    kept = _KeptBatches(max_memory)
    for number, batch in enumerate(batches):
        kept.put(as_arrow_table(batch if _is_arrow(batch) else _converted(batch, number)), number)
    if kept.schema is None:
        raise ValueError("The iterator has no batches; there are no rows to read.")
    kept.close()
    return ArrowRows("The iterator of batches", kept.read, kept.schema.names, lambda: kept.n_rows)


class _KeptBatches:
    """Tables in a file, as streams of Arrow: a new one wherever the types of columns change.

    `schema` has the types that hold the values of all of them.
    """

    def __init__(self, max_memory: int) -> None:
        self._file = Spool(max_size=max_memory)
        self._starts: list[int] = []
        self._writer: Any = None
        self._written_schema: pa.Schema | None = None
        self._is_empty: set[str] = set()
        self.schema: pa.Schema | None = None
        self.n_rows = 0

    def put(self, table: pa.Table, number: int) -> None:
        """Add a table."""
        table = table.replace_schema_metadata()
        if self.schema is not None:
            table = _in_order(table, self.schema.names, number)
        self._merge(table, number)
        if self._written_schema is None or not table.schema.equals(self._written_schema):
            self.close()
            self._starts.append(self._file.tell())
            self._writer = pa.ipc.new_stream(self._file, table.schema)
            self._written_schema = table.schema
        self._writer.write(table)
        self.n_rows += table.num_rows

    def close(self) -> None:
        """Complete what is written."""
        if self._writer is not None:
            self._writer.close()

    def read(self, names: list[str] | None) -> Iterator[Any]:
        """Iterate over the tables, with the columns of `schema` or some of them."""
        assert self.schema is not None
        schema = self.schema if names is None else pa.schema([self.schema.field(name) for name in names])
        for start in self._starts:
            self._file.seek(start)
            for batch in pa.ipc.open_stream(self._file):
                yield conformed(as_arrow_table(batch), schema)

    def _merge(self, table: pa.Table, number: int) -> None:
        without = {name for name in table.column_names if table[name].null_count == table.num_rows}
        if self.schema is None:
            self.schema, self._is_empty = table.schema, without
            return
        fields = []
        for name in self.schema.names:
            known, found = self.schema.field(name).type, table.schema.field(name).type
            merged = merged_type(known, found)
            if merged is None and name in self._is_empty:
                merged = found
            elif merged is None and name in without:
                merged = known
            elif merged is None:
                raise ValueError(
                    f"Column '{name}' holds {described(found)} in batch {number}, and {described(known)} in "
                    "those before it; make it one or the other."
                )
            fields.append(pa.field(name, merged))
        self.schema, self._is_empty = pa.schema(fields), self._is_empty & without


def _in_order(table: pa.Table, names: Sequence[str], number: int) -> pa.Table:
    """Return a table with the columns of the first one, in its order."""
    for name in names:
        if name not in table.column_names:
            raise ValueError(
                f"Batch {number} has no column '{name}', which batch 0 has; pass the same columns."
            )
    for name in table.column_names:
        if name not in names:
            raise ValueError(
                f"Batch {number} has a column '{name}', which batch 0 has not; pass the same columns."
            )
    return table.select(list(names))


def _is_arrow(batch: Any) -> bool:
    return isinstance(batch, pa.RecordBatch | pa.Table)


def _converted(batch: Any, number: int) -> Any:
    """Return a DataFrame as an Arrow table."""
    if hasattr(batch, "to_arrow"):
        return batch.to_arrow()
    if hasattr(batch, "iloc"):
        return pa.Table.from_pandas(batch, preserve_index=False)
    raise TypeError(
        f"Batch {number} of the iterator is a {type(batch).__name__}; pass record batches of pyarrow, or "
        "DataFrames."
    )
