"""Rows that are read in batches of Arrow, as often as needed: of data sets, and lazy frames of polars."""

import contextlib
import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.fs
import pyarrow.ipc
import pyarrow.parquet
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.partitions.protocol import BATCH_ROWS, PartitionError, frame_of_arrow
from clausewise.partitions.tables import BatchedRows


class ArrowRows(BatchedRows):
    """Rows read as Arrow tables, as often as needed.

    Parameters
    ----------
    title : str
        What the rows are, for messages.
    read : callable
        Returns an iterator over tables (or record batches) with the named columns, in the same order each
        time; None stands for all columns.
    names : sequence of str
        The names of the columns.
    count : callable
        Returns the number of rows.
    """

    def __init__(
        self,
        title: str,
        read: Callable[[list[str] | None], Iterable[Any]],
        names: Sequence[str],
        count: Callable[[], int],
    ) -> None:
        self.title, self._read, self._count = title, read, count
        self.names: tuple[str, ...] = tuple(names)
        self._n_rows: int | None = None
        self._is_all = True

    @property
    def n_rows(self) -> int:
        """Number of rows, counted when it is first asked for."""
        if self._n_rows is None:
            try:
                self._n_rows = int(self._count())
            except (OSError, pa.ArrowException) as error:
                raise PartitionError(f"{self.title} cannot be read: {error}") from error
        return self._n_rows

    def select(self, names: Sequence[str]) -> "ArrowRows":
        """Return the rows with these columns alone."""
        chosen = ArrowRows(self.title, self._read, names, self._count)
        chosen._n_rows, chosen._is_all = self._n_rows, False
        return chosen

    def gathered(self) -> Any:
        """Return all rows as one table."""
        tables = [as_arrow_table(batch) for batch in self._read(None if self._is_all else list(self.names))]
        return frame_of_arrow(pa.concat_tables(tables, promote_options="permissive"))

    def _batches(self) -> Iterator[tuple[int, Any]]:
        position = 0
        for batch in self._read(None if self._is_all else list(self.names)):
            table = as_arrow_table(batch)
            for start in range(0, table.num_rows, BATCH_ROWS):
                part = table.slice(start, BATCH_ROWS)
                yield self._number(part, position), frame_of_arrow(part)
                position += 1

    def _no_rows(self) -> Any:
        return frame_of_arrow(pa.table({name: pa.nulls(0) for name in self.names}))

    def _number(self, _table: pa.Table, position: int) -> int:
        """Return a number for a batch; a batch of other rows has another one, also in another pass."""
        return position


def dataset_rows(dataset: Any) -> ArrowRows:
    """Return the rows of a `pyarrow.dataset.Dataset`."""

    def read(names: list[str] | None) -> Iterator[Any]:
        # Reading ahead takes memory; one batch is enough to keep a core busy.
        scanner = dataset.scanner(
            columns=names, batch_size=BATCH_ROWS, batch_readahead=1, fragment_readahead=1, use_threads=False
        )
        try:
            yield from scanner.to_batches()
        except (OSError, pa.ArrowException) as error:
            raise PartitionError(
                f"{_unreadable_file(dataset) or 'The data set'} cannot be read: {error}"
            ) from error

    return ArrowRows("The data set", read, dataset.schema.names, dataset.count_rows)


def _unreadable_file(dataset: Any) -> str | None:
    """Return the first file of a data set that cannot be read, which the error of a scan does not tell.

    A scan reads ahead, so that the number of rows before an error does not tell it either.
    """
    try:
        for fragment in dataset.get_fragments():
            try:
                for _ in fragment.to_batches(batch_size=BATCH_ROWS, batch_readahead=0, use_threads=False):
                    pass
            except (OSError, pa.ArrowException):
                return getattr(fragment, "path", None)
    except ValueError:  # a filtered data set does not give its files
        pass
    return None


class LazyFrameRows(ArrowRows):
    """The rows of a `polars.LazyFrame`, which is evaluated by its streaming engine.

    Some queries, such as a `group_by`, return their rows in another order each time. So the number of a
    batch is a hash of its place and contents.
    """

    is_lazy = True

    def __init__(self, frame: Any) -> None:
        import polars as pl

        self._frame = frame
        if not hasattr(frame, "collect_batches"):
            raise ImportError(
                f"Reading a LazyFrame in parts needs polars 1.34 or newer, and {pl.__version__} is "
                "installed; update polars, or write the rows to Parquet files with X.sink_parquet."
            )

        def read(names: list[str] | None) -> Iterator[Any]:
            chosen = frame if names is None else frame.select(names)
            with _errors_of_polars():
                for batch in chosen.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True):
                    yield batch.to_arrow()

        def count() -> int:
            with _errors_of_polars():
                return int(frame.select(pl.len()).collect(engine="streaming").item())

        with _errors_of_polars():
            names = frame.collect_schema().names()
        super().__init__("The LazyFrame", read, names, count)

    def select(self, names: Sequence[str]) -> "LazyFrameRows":
        """Return the rows with these columns alone."""
        chosen = LazyFrameRows(self._frame.select(list(names)))
        chosen._n_rows = self._n_rows
        return chosen

    def _number(self, table: pa.Table, position: int) -> int:
        digest = hashlib.blake2b(str(position).encode(), digest_size=7)
        for column in table.columns:
            for chunk in column.chunks:
                digest.update(f"{chunk.offset} {len(chunk)} {_checksums(chunk)}".encode())
        return int.from_bytes(digest.digest(), "little")

    def with_columns(
        self, compute: Callable[[Any], Mapping[str, NDArray[Any]]], _progress: Progress | None = None
    ) -> Any:
        """Return a LazyFrame with further columns."""
        import polars as pl

        frame, first = self._frame, compute(self._first_row())
        schema = frame.collect_schema()
        added = {name: pl.Series(values).dtype for name, values in first.items()}

        def widened(batch: Any) -> Any:
            if batch.height == 0:
                return pl.DataFrame(schema={**schema, **added})
            columns = compute(frame_of_arrow(batch.to_arrow()))
            return batch.with_columns(
                [pl.Series(name, values, added[name]) for name, values in columns.items()]
            )

        return frame.map_batches(widened, schema={**schema, **added}, streamable=True)


def _checksums(array: pa.Array) -> list[int]:
    """Return checksums of the memory of an array."""
    arrays = [array, array.dictionary] if pa.types.is_dictionary(array.type) else [array]
    return [zlib.crc32(buffer) for one in arrays for buffer in one.buffers() if buffer is not None]


@contextlib.contextmanager
def _errors_of_polars() -> Iterator[None]:
    """Raise what polars raises, a file that it cannot read among others, as a `PartitionError`."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise PartitionError(f"The LazyFrame cannot be read: {error}") from error


def as_arrow_table(batch: Any) -> pa.Table:
    """Return a record batch, or a table, as a table."""
    return batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
