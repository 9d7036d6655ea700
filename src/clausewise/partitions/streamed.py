"""Rows that are read in batches: Arrow data sets, files, lazy frames of polars, and iterators of batches."""

import contextlib
import glob
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.fs
import pyarrow.ipc
import pyarrow.parquet
from numpy.typing import NDArray

from clausewise.base.spool import Spool
from clausewise.partitions.protocol import BATCH_ROWS, PartitionError, frame_of_arrow
from clausewise.partitions.schemas import conformed, described, is_empty_type, merged_type
from clausewise.partitions.tables import BatchedRows

_FORMATS = {".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc", ".csv": "csv"}


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
        tables = [_as_table(batch) for batch in self._read(None if self._is_all else list(self.names))]
        return frame_of_arrow(pa.concat_tables(tables, promote_options="permissive"))

    def _batches(self) -> Iterator[tuple[int, Any]]:
        position = 0
        for batch in self._read(None if self._is_all else list(self.names)):
            table = _as_table(batch)
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


def file_rows(paths: Sequence[str | os.PathLike[str]]) -> ArrowRows:
    """Return the rows of files, folders and patterns such as "rows/*.parquet", in the order of their names.

    The format follows from the names of files; anything else is Parquet.
    """
    files: list[str] = []
    for path in [os.fspath(path) for path in paths]:
        found = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else [path]
        for name in found:
            files += _files_in(Path(name))
    if not files:
        raise FileNotFoundError(f"There are no files {', '.join(repr(os.fspath(path)) for path in paths)}.")
    formats = {_FORMATS.get(Path(name).suffix.lower(), "parquet") for name in files}
    if len(formats) > 1:
        raise ValueError(f"The files have several formats: {', '.join(sorted(formats))}; pass those of one.")
    title = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more files"
    dataset = pa.dataset.dataset(files, format=formats.pop(), schema=pa.schema([]))
    columns = _columns_of(dataset.format, files)

    def read(names: list[str] | None) -> Iterator[Any]:
        schema = columns.schema_of(names)
        for file in files:
            for batch in _read_file(dataset.format, file, schema):
                yield conformed(_as_table(batch), schema)

    return ArrowRows(title, read, columns.schema.names, dataset.count_rows)


@dataclass(frozen=True)
class _Columns:
    """The columns of some files.

    Attributes
    ----------
    schema : pyarrow.Schema
        Their names, with types that hold the values of all files.
    problems : mapping
        The error for each column that is not in all files, or of several kinds; it may not be needed.
    """

    schema: pa.Schema
    problems: Mapping[str, str]

    def schema_of(self, names: Sequence[str] | None) -> pa.Schema:
        """Return some of the columns, or all."""
        chosen = self.schema.names if names is None else names
        for name in chosen:
            if name in self.problems:
                raise PartitionError(self.problems[name])
        return pa.schema([self.schema.field(name) for name in chosen])


def _columns_of(kind: Any, files: Sequence[str]) -> _Columns:
    """Return the columns of files, from what these state about themselves: of Parquet files, the footers."""
    types: dict[str, Any] = {}
    first_with: dict[str, str] = {}
    problems: dict[str, str] = {}
    for number, file in enumerate(files):
        found = _schema_of(kind, file)
        for name in types.keys() - found.names if number else ():
            problems.setdefault(name, f"{file} has no column '{name}', which {first_with[name]} has.")
        for field in found:
            if field.name not in types:
                types[field.name], first_with[field.name] = field.type, file
                if number:
                    problems[field.name] = f"{files[0]} has no column '{field.name}', which {file} has."
                continue
            merged = merged_type(types[field.name], field.type)
            if merged is None and all(_has_no_values(earlier, field.name) for earlier in files[:number]):
                types[field.name], first_with[field.name] = field.type, file
            elif merged is None and not _has_no_values(file, field.name):
                problems.setdefault(
                    field.name,
                    f"Column '{field.name}' holds {described(types[field.name])} in {first_with[field.name]} "
                    f"and {described(field.type)} in {file}; make it one or the other.",
                )
            elif merged is not None:
                if is_empty_type(types[field.name]):
                    first_with[field.name] = file
                types[field.name] = merged
    return _Columns(pa.schema(list(types.items())), problems)


def _schema_of(kind: Any, file: str) -> pa.Schema:
    try:
        return kind.inspect(file, pa.fs.LocalFileSystem())
    except (OSError, pa.ArrowException) as error:
        raise PartitionError(f"{file} cannot be read: {error}") from error


def _has_no_values(file: str, name: str) -> bool:
    """Return whether a Parquet file says that all values of a column are missing."""
    if _FORMATS.get(Path(file).suffix.lower(), "parquet") != "parquet":
        return False
    stated = pa.parquet.read_metadata(file)
    position = next(i for i in range(stated.num_columns) if stated.schema.column(i).path == name)
    chunks = [stated.row_group(i).column(position) for i in range(stated.num_row_groups)]
    return all(
        chunk.statistics is not None and chunk.statistics.null_count == chunk.num_values for chunk in chunks
    )


def _read_file(kind: Any, file: str, schema: pa.Schema) -> Iterator[Any]:
    try:
        fragment = kind.make_fragment(file, pa.fs.LocalFileSystem())
        # The values of a CSV file are read as what all files need, others as what the file says.
        own = schema if kind.default_extname == "csv" else fragment.physical_schema
        yield from fragment.to_batches(
            schema=own, columns=schema.names, batch_size=BATCH_ROWS, batch_readahead=1, use_threads=False
        )
    except (OSError, pa.ArrowException) as error:
        raise PartitionError(f"{file} cannot be read: {error}") from error


def _files_in(path: Path) -> list[str]:
    """Return a file itself, or the files below a folder, without hidden ones and markers."""
    if path.is_file():
        return [str(path)]
    if not path.is_dir():
        raise FileNotFoundError(f"There is no file or folder {path}.")
    inside = (file for file in sorted(path.rglob("*")) if file.is_file())
    return [str(file) for file in inside if not file.name.startswith((".", "_"))]


class LazyFrameRows(ArrowRows):
    """The rows of a `polars.LazyFrame`, which is evaluated by its streaming engine.

    Some queries, such as a `group_by`, return their rows in another order each time. So the number of a
    batch is a hash of its contents.
    """

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

    def _number(self, table: pa.Table, _position: int) -> int:
        written = pa.BufferOutputStream()
        with pa.ipc.new_stream(written, table.schema) as writer:
            writer.write_table(table)
        digest = hashlib.blake2b(written.getvalue(), digest_size=7).digest()
        return int.from_bytes(digest, "little")

    def with_columns(self, compute: Callable[[Any], Mapping[str, NDArray[Any]]]) -> Any:
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


@contextlib.contextmanager
def _errors_of_polars() -> Iterator[None]:
    """Raise what polars raises, a file that it cannot read among others, as a `PartitionError`."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise PartitionError(f"The LazyFrame cannot be read: {error}") from error


def iterator_rows(batches: Iterable[Any], max_memory: int) -> ArrowRows:
    """Return the rows of an iterator of record batches or tables, which can be read only once.

    They are kept: in memory, or beyond `max_memory` bytes in a temporary file without a name, which the
    system deletes with the last use.
    """
    kept = Spool(max_size=max_memory)
    writer, n_rows, schema = None, 0, None
    for number, batch in enumerate(batches):
        if not isinstance(batch, pa.RecordBatch | pa.Table):
            batch = _converted(batch, number)
        if writer is None:
            schema = batch.schema.remove_metadata()
            writer = pa.ipc.new_stream(kept, schema)
        elif not batch.schema.equals(schema):
            raise ValueError(f"Batch {number} has another schema than batch 0; pass the same columns.")
        writer.write(batch)
        n_rows += batch.num_rows
    if writer is None or schema is None:
        raise ValueError("The iterator has no batches; there are no rows to read.")
    writer.close()

    def read(names: list[str] | None) -> Iterator[Any]:
        kept.seek(0)
        for batch in pa.ipc.open_stream(kept):
            yield batch if names is None else batch.select(names)

    return ArrowRows("The iterator of batches", read, schema.names, lambda: n_rows)


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


def _as_table(batch: Any) -> pa.Table:
    return batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
