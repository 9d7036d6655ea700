"""Reading of tables from CSV, Parquet, Arrow and NPZ files, whole or in batches of bounded size.

Nothing in a file is executed or unpickled, and a file that would take more memory than `table_limits` allows
is refused.
"""

import codecs
import contextlib
import csv
import glob
import io
import itertools
import math
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from clausewise.base.counts import count_of
from clausewise.base.parameters import check_parameters, one_of
from clausewise.cli.arrow_messages import open_messages
from clausewise.cli.npz_arrays import load_arrays
from clausewise.cli.parquet_pages import parquet_batches
from clausewise.cli.table_limits import Allowance, bounded_slices, columns_bytes, object_bytes, table_bytes
from clausewise.partitions.files import key_value, keys_in, types_of_keys

Format = Literal["csv", "parquet", "arrow", "npz"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
_FORMAT_OF_SUFFIX: Final[Mapping[str, Format]] = {
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
MISSING: Final = tuple(pa.csv.ConvertOptions().null_values)
"""Words for missing values in CSV files."""
# These readers need more memory and time per column than per cell.
_CSV_COLUMN_COST: Final = 8
_NPZ_COLUMN_COST: Final = 4
_CSV_CELL_COST: Final = 4
TRUE_WORDS, FALSE_WORDS = ["1", "1.0", "true", "True", "TRUE"], ["0", "0.0", "false", "False", "FALSE"]


class DataError(ValueError):
    """A table that cannot be read, or lacks what is needed."""


@dataclass(frozen=True)
class Source:
    """A file of rows, several of them, or standard input (`-`), and how to read it.

    A folder, or a pattern such as `rows/*.parquet`, has its files as `parts`. Folders in it that are called
    `year=2024` give their files columns, as `keys`.
    """

    path: str
    format: Format
    delimiter: str = ","
    parts: "tuple[Source, ...]" = ()
    keys: tuple[tuple[str, str | int | None], ...] = ()

    @classmethod
    def of(cls, path: str, format: str | None = None) -> "Source":
        """Return a source whose format is given, or follows from the file name."""
        if path == STDIN:
            return cls(path, _known_format(format or "csv"))
        if (folder := files_of(path)) is not None:
            return cls._of_files(path, folder, format)
        suffix = _suffix_of(path)
        known = format or _FORMAT_OF_SUFFIX.get(suffix)
        if known is None:
            raise DataError(
                f"The format of {path} is not known, since its name ends in none of "
                f"{', '.join(_FORMAT_OF_SUFFIX)}; pass --format {', '.join(FORMATS)}."
            )
        if not Path(path).exists():
            raise DataError(f"There is no file {path}.")
        return cls(path, _known_format(known), "\t" if suffix == ".tsv" else ",")

    @classmethod
    def _of_files(cls, path: str, files: Sequence[Path], format: str | None) -> "Source":
        if not files:
            raise DataError(f"There are no files {path}.")
        parts = tuple(cls.of(str(file), format) for file in files)
        if len({(part.format, part.delimiter) for part in parts}) > 1:
            raise DataError(f"The files of {path} have several formats; pass files of one.")
        return cls(path, parts[0].format, parts[0].delimiter, _with_keys_of_folders(parts, Path(path)))

    @property
    def files(self) -> "tuple[Source, ...]":
        """Itself, or its parts."""
        return self.parts or (self,)

    @property
    def is_stream(self) -> bool:
        """Whether it can be read only once and in order: standard input, or a named pipe."""
        return not self.parts and (self.path == STDIN or not Path(self.path).is_file())

    @property
    def shown(self) -> str:
        """Its name in messages."""
        return "standard input" if self.path == STDIN else self.path


def is_table(path: str) -> bool:
    """Return whether a name is that of a file of rows."""
    return _suffix_of(path) in _FORMAT_OF_SUFFIX


def _suffix_of(path: str) -> str:
    """Return the last suffix in lower case, without that of a compression; empty if there is none."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    plain = [suffix for suffix in suffixes if suffix not in (".gz", ".bz2", ".zst", ".lz4")]
    return plain[-1] if plain else ""


def files_of(path: str) -> list[Path] | None:
    """Return the files of a folder, without hidden ones and markers, or of a pattern; None for one file."""
    if Path(path).is_dir():
        inside = sorted(file for file in Path(path).rglob("*") if file.is_file())
        return [file for file in inside if not file.name.startswith((".", "_"))]
    if glob.has_magic(path) and not Path(path).exists():
        return sorted(Path(name) for name in glob.glob(path, recursive=True) if Path(name).is_file())
    return None


def _with_keys_of_folders(parts: Sequence[Source], path: Path) -> tuple[Source, ...]:
    """Return files with the values that folders below a path, or below the fixed part of a pattern, state."""
    fixed = itertools.takewhile(lambda folder: not glob.has_magic(folder), path.parts)
    base = path if path.is_dir() else Path(*fixed)
    stated = [keys_in(Path(part.path), base) for part in parts]
    types = types_of_keys(stated)
    return tuple(
        replace(
            part,
            keys=tuple((name, key_value(value, types[name]).as_py()) for name, value in keys.items()),
        )
        for part, keys in zip(parts, stated, strict=True)
    )


def _with_keys(table: pa.Table, source: Source, *, is_typed: bool = True) -> pa.Table:
    """Return a table with the columns that the names of folders state; all are text unless `is_typed`."""
    for name, value in source.keys:
        if name not in table.column_names:
            shown = value if is_typed or value is None else str(value)
            kind = None if is_typed else pa.string()
            table = table.append_column(name, pa.repeat(pa.scalar(shown, kind), table.num_rows))
    return table


def n_rows_of(source: Source) -> int | None:
    """Return the number of rows that files of Parquet state; None for other files."""
    if source.format != "parquet" or source.is_stream:
        return None
    n_rows = 0
    for part in source.files:
        with _named_errors(part):
            n_rows += int(pa.parquet.read_metadata(part.path).num_rows)
    return n_rows


def read_table(source: Source, *, text: Sequence[str] = ()) -> pa.Table:
    """Read all rows, with column types inferred from the values; columns in `text` are text."""
    if source.parts:
        return pa.concat_tables(
            [read_table(part, text=text) for part in source.parts], promote_options="permissive"
        )
    if source.format != "csv":
        return read_raw(source)
    with _named_errors(source), _opened(source) as (file, allowance):
        names, rejoined = _with_header(file, source, allowance)
        rejoined.limit = allowance
        options = pa.csv.ConvertOptions(
            column_types={name: pa.string() for name in text if name in names},
            null_values=MISSING,
            strings_can_be_null=True,
            true_values=TRUE_WORDS[2:],
            false_values=FALSE_WORDS[2:],
        )
        with _text_errors_named(names, source):
            table = _checked(pa.csv.read_csv(rejoined, None, _parsing(source), options), source)
        for name, kind in zip(table.column_names, table.schema.types, strict=True):
            if pa.types.is_binary(kind):
                raise DataError(_not_utf8(f"Column {name!r}", source))
        return _with_keys(table, source)


def read_batches(source: Source) -> Iterator[pa.Table]:
    """Read rows in batches, in memory that does not grow with their number (NPZ is read as a whole).

    Values of a CSV file are text; `column_types.columns_for_rules` converts them to what rules expect.
    """
    for part in source.files:
        for batch, _, _ in _bounded_batches(part):
            yield batch


def read_raw(source: Source) -> pa.Table:
    """Read all rows without converting them; values of a CSV file are text."""
    if source.parts:
        return pa.concat_tables([read_raw(part) for part in source.parts], promote_options="permissive")
    batches, n_bytes = [], 0
    with _named_errors(source):
        for batch, batch_bytes, allowance in _bounded_batches(source):
            n_bytes += batch_bytes
            allowance.require(n_bytes, "The table")
            batches.append(batch)
    return pa.concat_tables(batches, promote_options="permissive")


def require_fits(table: pa.Table, source: Source) -> None:
    """Raise an error if a table takes more memory than allowed once its text becomes Python objects."""
    with _named_errors(source):
        _allowance(source, table.nbytes).require(object_bytes(table), "The table")


def _bounded_batches(source: Source) -> Iterator[tuple[pa.Table, int, Allowance]]:
    """Read batches of limited size, with the memory that each takes."""
    readers = {"csv": _csv_batches, "parquet": _parquet_batches, "arrow": _arrow_batches, "npz": _npz_batches}
    with _named_errors(source), _opened(source) as (file, allowance):
        for batch in readers[source.format](file, source, allowance):
            for piece, n_bytes in bounded_slices(_checked(batch, source), allowance):
                yield _with_keys(piece, source, is_typed=source.format != "csv"), n_bytes, allowance


# --- CSV ---


def _csv_batches(file: Any, source: Source, allowance: Allowance) -> Iterator[pa.Table]:
    names, rejoined = _with_header(file, source, allowance)
    with _text_errors_named(names, source):
        reader = pa.csv.open_csv(
            rejoined,
            read_options=pa.csv.ReadOptions(block_size=_CSV_BLOCK_BYTES),
            parse_options=_parsing(source),
            convert_options=pa.csv.ConvertOptions(
                column_types={name: pa.string() for name in names}, strings_can_be_null=False
            ),
        )
        reader.schema.names  # noqa: B018 - an error if they are not text
        yield from _tables(iter(reader), reader.schema)


@contextlib.contextmanager
def _text_errors_named(names: Sequence[str], source: Source) -> Iterator[None]:
    """Turn errors about the encoding of a CSV file into a DataError with the name of the column."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise DataError(_not_utf8("The first line", source)) from error
    except pa.ArrowInvalid as error:
        found = re.search(r"column #(\d+): .*invalid UTF8 data", str(error))
        if found is None:
            raise
        raise DataError(_not_utf8(f"Column {names[int(found[1])]!r}", source)) from error


def _not_utf8(what: str, source: Source) -> str:
    return (
        f"{what} of {source.shown} is not text in UTF-8. Convert the file; `iconv -f ISO-8859-1 -t UTF-8` "
        "does it if it is in Latin-1."
    )


def _parsing(source: Source) -> pa.csv.ParseOptions:
    return pa.csv.ParseOptions(delimiter=source.delimiter, newlines_in_values=True)


def _with_header(file: Any, source: Source, allowance: Allowance) -> tuple[list[str], "_Rejoined"]:
    """Return the names of the columns, and the file from its beginning."""
    head = _read_head(file, _CSV_BLOCK_BYTES)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(
            f"{source.shown} is text in UTF-16, and CSV files are read as UTF-8. Convert the file with "
            "`iconv -f UTF-16 -t UTF-8`, or save it as “CSV UTF-8” in a spreadsheet."
        )
    text = head.decode("utf-8-sig", errors="replace")
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=source.delimiter)
    names = next(filter(None, lines), [])  # pyarrow skips empty lines as well
    allowance.require(columns_bytes(len(names)) * _CSV_COLUMN_COST, f"A table of {len(names):,} columns")
    if names and all(is_number(name) for name in names):
        raise DataError(
            f"The first line of {source.shown} contains numbers ({listed(names)}); it must contain the names "
            "of the columns."
        )
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        raise DataError(
            f"The first line of {source.shown} is {names[0][:60]!r}; columns must be separated by commas, or "
            "by tabs in a .tsv file."
        )
    return names, _Rejoined(head, file)


def _read_head(file: Any, n_bytes: int) -> bytes:
    """Read the beginning of a file."""
    # Not by read(), which in pyarrow keeps its buffer forever if the file is damaged.
    head, n_read = memoryview(bytearray(n_bytes)), 0
    while n_read < n_bytes and (n_more := file.readinto(head[n_read:])):
        n_read += n_more
    return bytes(head[:n_read])


class _Rejoined(io.RawIOBase):
    """The bytes that were read ahead, followed by the rest of a file, up to a limit if there is one."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head, self._rest = memoryview(head), rest
        self._n_read = 0
        self.limit: Allowance | None = None

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read bytes into a buffer and return their number."""
        n_read = min(len(buffer), len(self._head))
        if n_read:
            buffer[:n_read] = self._head[:n_read]
            self._head = self._head[n_read:]
        else:
            n_read = int(self._rest.readinto(buffer))
        self._n_read += n_read
        if self.limit is not None:
            self.limit.require(self._n_read * _CSV_CELL_COST, "The table")
        return n_read


def is_number(text: str) -> bool:
    """Return whether a text is a number as Python writes numbers."""
    try:
        float(text)
    except ValueError:
        return False
    return True


# --- Other formats ---


def _parquet_batches(file: Any, source: Source, allowance: Allowance) -> Iterator[pa.Table]:
    schema = pa.parquet.read_schema(file).remove_metadata()
    for table in _tables(parquet_batches(file, BATCH_ROWS, allowance), schema):
        if table.schema.types == schema.types:
            yield table
        else:  # columns of text that were read as dictionaries
            for piece, _ in bounded_slices(_checked(table, source), allowance):
                yield piece.cast(schema)


def _arrow_batches(file: Any, source: Source, allowance: Allowance) -> Iterator[pa.Table]:
    reader = open_messages(file, source.is_stream, allowance)
    yield from _tables(iter(reader), reader.schema.remove_metadata())


def _tables(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    n_read = 0
    for batch in batches:
        n_read += 1
        yield pa.Table.from_batches([batch])
    if n_read == 0:
        yield pa.Table.from_batches([], schema=schema)


def _npz_batches(file: Any, source: Source, allowance: Allowance) -> Iterator[pa.Table]:
    table = _npz_table(file, source, allowance)
    for start in range(0, max(table.num_rows, 1), BATCH_ROWS):
        yield table.slice(start, BATCH_ROWS)


def _npz_table(file: Any, source: Source, allowance: Allowance) -> pa.Table:
    """Return `X` (2-D), named by `feature_names` if given, and every 1-D array of its length as a column."""
    try:
        loaded = load_arrays(file, allowance)
    except Exception as error:  # a damaged archive can make NumPy raise anything
        raise ValueError(str(error)) from error
    tables = [name for name, array in loaded.items() if array.ndim == 2]
    chosen = "X" if "X" in tables else tables[0] if len(tables) == 1 else None
    if chosen is None:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in loaded.items())
        raise DataError(f"{source.shown} must contain a 2-D array X; it contains {shapes or 'nothing'}.")
    matrix = loaded.pop(chosen)
    allowance.require(
        columns_bytes(matrix.shape[1]) * _NPZ_COLUMN_COST, f"A table of {matrix.shape[1]:,} columns"
    )
    names = loaded.pop("feature_names", np.array([f"x{i}" for i in range(matrix.shape[1])]))
    if names.shape != (matrix.shape[1],):
        raise DataError(
            f"{source.shown} has {names.size} feature_names for {count_of(matrix.shape[1], 'column')} of "
            f"{chosen}."
        )
    columns = {str(name): pa.array(matrix[:, i]) for i, name in enumerate(names)}
    columns |= {name: pa.array(array) for name, array in loaded.items() if array.shape == (len(matrix),)}
    return pa.table(columns)


# --- Files and errors ---


@contextlib.contextmanager
def _opened(source: Source) -> Iterator[tuple[Any, Allowance]]:
    """Open a source, with the memory that its table may take."""
    allowance = _allowance(source, 0)
    if source.is_stream:
        with contextlib.ExitStack() as stack:
            is_stdin = source.path == STDIN
            stream = sys.stdin.buffer if is_stdin else stack.enter_context(Path(source.path).open("rb"))
            if source.format not in ("csv", "arrow"):  # Parquet and NPZ files are not read in order
                stream = pa.BufferReader(stream.read())
                allowance = Allowance(stream.size())
            yield stream, allowance
    elif source.format == "npz":
        with Path(source.path).open("rb") as file:
            yield file, allowance
    elif source.format == "csv":
        with pa.input_stream(source.path, compression="detect") as stream:
            yield stream, allowance
    else:
        with pa.OSFile(source.path) as file:
            yield file, allowance


def _allowance(source: Source, n_read: int) -> Allowance:
    """Return the memory that a table may take; text from a stream is not compressed, so any size is real."""
    if not source.is_stream:
        return Allowance(sum(Path(part.path).stat().st_size for part in source.files))
    return Allowance(math.inf if source.format == "csv" else n_read)


@contextlib.contextmanager
def _named_errors(source: Source) -> Iterator[None]:
    """Turn errors of readers into a DataError that names the file."""
    try:
        yield
    except DataError:
        raise
    except (
        pa.ArrowException,
        zipfile.BadZipFile,
        csv.Error,
        EOFError,
        ValueError,
        LookupError,
        OSError,
    ) as error:
        reason = str(error).strip() or type(error).__name__
        raise DataError(f"{source.shown} cannot be read as {source.format}: {reason[:300]}") from error


def _checked(table: pa.Table, source: Source) -> pa.Table:
    if source.format in ("parquet", "arrow"):
        if any("view" in str(kind) for kind in table.schema.types):
            # Views may share text, and every view of it is validated.
            table.validate()
            Allowance(0).require(table_bytes(table), "A batch of rows")
        # Arrow trusts lengths and offsets in a file; wrong ones would read memory out of bounds.
        table.validate(full=True)
    names = table.column_names
    if len(set(names)) != len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise DataError(f"{source.shown} has two columns named {twice!r}; names must differ.")
    return table


def _known_format(format: str) -> Format:
    check_parameters({"format": one_of(*FORMATS)}, {"format": format})
    return cast(Format, format)


def listed(names: Sequence[Any], most: int = 8) -> str:
    """Return the first `most` names, for a message."""
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
