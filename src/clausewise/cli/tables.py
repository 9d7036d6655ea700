"""Tables out of files: CSV, Parquet, Arrow and NPZ, whole or in batches of bounded size.

A file is data: nothing in it is executed or unpickled. Where rules are at hand, they say what type each of
their columns has, so that `1` is text in a column of texts and `0` is false in a binary one.
"""

import contextlib
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from clausewise.features import Features

Format = Literal["csv", "parquet", "arrow", "npz"]
FORMATS: Final[Mapping[str, Format]] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npz": "npz",
}
STDIN: Final = "-"
BATCH_ROWS: Final = 65_536
_CSV_BLOCK_BYTES: Final = 4 * 2**20
_MISSING: Final = tuple(pa.csv.ConvertOptions().null_values)
_TRUE, _FALSE = ["1", "1.0", "true", "True", "TRUE"], ["0", "0.0", "false", "False", "FALSE"]


class DataError(ValueError):
    """A table that cannot be read, or does not have what is asked of it."""


@dataclass(frozen=True)
class Source:
    """A file of rows, or standard input (`-`), and how to read it."""

    path: str
    format: Format
    delimiter: str = ","

    @classmethod
    def of(cls, path: str, format: str | None = None) -> "Source":
        """A source whose format is given, or told by the name."""
        if path == STDIN:
            return cls(path, _known_format(format or "csv"))
        suffixes = [suffix.lower() for suffix in Path(path).suffixes]
        plain = [suffix for suffix in suffixes if suffix not in (".gz", ".bz2", ".zst", ".lz4")]
        told = format or FORMATS.get(plain[-1] if plain else "")
        if told is None:
            raise DataError(
                f"{path}: a name ends in {', '.join(FORMATS)}; for others, say --format csv, parquet, arrow "
                "or npz."
            )
        if not Path(path).is_file():
            raise DataError(f"There is no file {path}.")
        return cls(path, _known_format(told), "\t" if plain[-1:] == [".tsv"] else ",")

    @property
    def shown(self) -> str:
        """How messages call it."""
        return "standard input" if self.path == STDIN else self.path


def read_table(source: Source, features: Features | None = None) -> pa.Table:
    """All rows; columns that are features have their types, others those that all rows agree on."""
    with _errors_of(source):
        if source.format == "csv" and features is None:
            with _opened(source) as file:
                options = {"parse_options": _parsing(source), "convert_options": _conversion(None)}
                table = pa.csv.read_csv(file, **options)
        else:
            table = pa.concat_tables(read_batches(source, features), promote_options="permissive")
        return _checked(table, source)


def read_batches(source: Source, features: Features | None = None) -> Iterator[pa.Table]:
    """The rows batch by batch, at a memory that does not grow with their number (NPZ is read as a whole)."""
    readers = {"csv": _csv_batches, "parquet": _parquet_batches, "arrow": _arrow_batches, "npz": _npz_batches}
    with _errors_of(source), _opened(source) as file:
        for batch in readers[source.format](file, source, features):
            yield _checked(batch, source)


def columns_of(table: pa.Table, features: Features, source: Source) -> pa.Table:
    """The columns that rules know, in their order; others are left out."""
    names = table.column_names
    if features.named or set(features.names) <= set(names):
        missing = [name for name in features.names if name not in names]
        if missing:
            raise DataError(
                f"{source.shown} has no column {_listed(missing)}, which the rules know; it has "
                f"{_listed(names)}."
            )
        return table.select(list(features.names))
    if len(names) != len(features):
        raise DataError(
            f"{source.shown} has {len(names)} columns, the rules were learnt with {len(features)} without "
            "names; pass these columns only, or name them as the rules do."
        )
    return table.rename_columns(list(features.names))


def column(table: pa.Table, name: str, source: Source) -> np.ndarray[Any, Any]:
    """One column as an array of labels; missing labels are an error."""
    if name not in table.column_names:
        raise DataError(f"{source.shown} has no column {name!r}; it has {_listed(table.column_names)}.")
    values = table.column(name)
    if values.null_count:
        raise DataError(
            f"Column {name!r} of {source.shown} lacks {values.null_count:,} labels; fill or drop them."
        )
    array = np.asarray(values.to_pylist())
    if array.dtype.kind not in "biufU":
        raise DataError(f"Column {name!r} of {source.shown} holds {values.type}, which are no class labels.")
    return array


# --- CSV ---


def _csv_batches(file: Any, source: Source, features: Features | None) -> Iterator[pa.Table]:
    reader = pa.csv.open_csv(
        file,
        read_options=pa.csv.ReadOptions(block_size=_CSV_BLOCK_BYTES),
        parse_options=_parsing(source),
        convert_options=_conversion(features),
    )
    _require_header(reader.schema.names, source)
    n_read = 0
    for batch in reader:
        n_read += batch.num_rows
        yield _with_missing(pa.Table.from_batches([batch]), features)
    if n_read == 0:
        yield pa.Table.from_batches([], schema=reader.schema)


def _parsing(source: Source) -> pa.csv.ParseOptions:
    return pa.csv.ParseOptions(delimiter=source.delimiter, newlines_in_values=True)


def _conversion(features: Features | None) -> pa.csv.ConvertOptions:
    types = {} if features is None else dict(zip(features.names, _types(features), strict=True))
    # Where categories are known, a word such as NA may be one of them, and `_with_missing` decides.
    return pa.csv.ConvertOptions(
        column_types=types,
        null_values=_MISSING,
        strings_can_be_null=features is None,
        true_values=_TRUE if features is not None else _TRUE[2:],
        false_values=_FALSE if features is not None else _FALSE[2:],
    )


def _with_missing(table: pa.Table, features: Features | None) -> pa.Table:
    """Words that stand for missing values as such, in columns of text where they are no category."""
    if features is None:
        return table
    for name, kind, categories in zip(features.names, features.kinds, features.categories, strict=True):
        place = table.schema.get_field_index(name)
        if kind == "categorical" and place >= 0 and pa.types.is_string(table.schema.field(place).type):
            words = pa.array([word for word in _MISSING if word not in (categories or ())])
            is_missing = pa.compute.is_in(table.column(place), value_set=words)
            values = pa.compute.if_else(is_missing, pa.scalar(None, pa.string()), table.column(place))
            table = table.set_column(place, name, values)
    return table


def _types(features: Features) -> list[pa.DataType]:
    types = []
    for kind, categories in zip(features.kinds, features.categories, strict=True):
        if kind == "binary" or (categories and all(isinstance(value, bool) for value in categories)):
            types.append(pa.bool_())
        else:
            is_text = categories is not None and all(isinstance(value, str) for value in categories)
            types.append(pa.string() if is_text else pa.float64())
    return types


def _require_header(names: Sequence[str], source: Source) -> None:
    if names and all(_is_number(name) for name in names):
        raise DataError(
            f"The first line of {source.shown} holds numbers ({_listed(names)}); a table begins with the "
            "names of its columns."
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# --- Other formats ---


def _parquet_batches(file: Any, source: Source, features: Features | None) -> Iterator[pa.Table]:
    parquet = pa.parquet.ParquetFile(file)
    schema = parquet.schema_arrow.remove_metadata()
    yield from _tables(parquet.iter_batches(batch_size=BATCH_ROWS), schema, features)


def _arrow_batches(file: Any, source: Source, features: Features | None) -> Iterator[pa.Table]:
    if source.path != STDIN and _starts_with(source.path, b"ARROW1"):  # else it is a stream
        reader = pa.ipc.open_file(file)
        batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
    else:
        reader = pa.ipc.open_stream(file)
        batches = iter(reader)
    yield from _tables(batches, reader.schema.remove_metadata(), features)


def _starts_with(path: str, magic: bytes) -> bool:
    with Path(path).open("rb") as file:
        return file.read(len(magic)) == magic


def _tables(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, features: Features | None
) -> Iterator[pa.Table]:
    n_read = 0
    for batch in batches:
        n_read += 1
        yield _typed(pa.Table.from_batches([batch]), features)
    if n_read == 0:
        yield _typed(pa.Table.from_batches([], schema=schema), features)


def _typed(table: pa.Table, features: Features | None) -> pa.Table:
    """Columns of integers where a binary feature is expected are taken as they are; 0 and 1 will do."""
    if features is None:
        return table
    for name, expected in zip(features.names, _types(features), strict=True):
        place = table.schema.get_field_index(name)
        if place >= 0 and pa.types.is_decimal(table.schema.field(place).type):
            table = table.set_column(place, name, table.column(place).cast(expected))
    return table


def _npz_batches(file: Any, source: Source, features: Features | None) -> Iterator[pa.Table]:
    table = _npz_table(file, source)
    for start in range(0, max(table.num_rows, 1), BATCH_ROWS):
        yield table.slice(start, BATCH_ROWS)


def _npz_table(file: Any, source: Source) -> pa.Table:
    """`X` (2-D) with `feature_names`, if there, and every 1-D array of the same length as a column."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            loaded = {name: arrays[name] for name in arrays.files}
    except Exception as error:  # a damaged archive makes all kinds of trouble
        raise ValueError(str(error)) from error
    tables = [name for name, array in loaded.items() if array.ndim == 2]
    chosen = "X" if "X" in tables else tables[0] if len(tables) == 1 else None
    if chosen is None:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in loaded.items())
        raise DataError(f"{source.shown} needs one table called X; it holds {shapes or 'nothing'}.")
    matrix = loaded.pop(chosen)
    names = loaded.pop("feature_names", np.array([f"x{i}" for i in range(matrix.shape[1])]))
    if names.shape != (matrix.shape[1],):
        raise DataError(
            f"{source.shown} has {names.size} feature_names for {matrix.shape[1]} columns of {chosen}."
        )
    columns = {str(name): pa.array(matrix[:, i]) for i, name in enumerate(names)}
    columns |= {name: pa.array(array) for name, array in loaded.items() if array.shape == (len(matrix),)}
    return pa.table(columns)


# --- Files and errors ---


@contextlib.contextmanager
def _opened(source: Source) -> Iterator[Any]:
    if source.path == STDIN:
        raw: IO[bytes] = sys.stdin.buffer
        # Parquet and NPZ need to jump about in what they read.
        yield raw if source.format in ("csv", "arrow") else pa.BufferReader(raw.read())
    elif source.format == "npz":
        with Path(source.path).open("rb") as file:
            yield file
    elif source.format == "csv":
        with pa.input_stream(source.path, compression="detect") as stream:
            yield stream
    else:
        with pa.OSFile(source.path) as file:
            yield file


@contextlib.contextmanager
def _errors_of(source: Source) -> Iterator[None]:
    """Whatever is wrong with a file, as one kind of error that names it."""
    try:
        yield
    except DataError:
        raise
    except (pa.ArrowException, zipfile.BadZipFile, EOFError, ValueError, KeyError, OSError) as error:
        reason = str(error).strip() or type(error).__name__
        raise DataError(f"{source.shown} cannot be read as {source.format}: {reason[:300]}") from error


def _checked(table: pa.Table, source: Source) -> pa.Table:
    if source.format in ("parquet", "arrow"):
        # Arrow takes lengths, offsets and text from a file as they are; wrong ones would be read as memory.
        table.validate(full=True)
    names = table.column_names
    if len(set(names)) != len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise DataError(f"{source.shown} has two columns called {twice!r}; names must differ.")
    return table


def _known_format(format: str) -> Format:
    for known in ("csv", "parquet", "arrow", "npz"):
        if format == known:
            return known
    raise DataError(f"There is no format {format!r}; there are csv, parquet, arrow and npz.")


def _listed(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
