"""Rows of Parquet, Arrow and CSV files, whose columns may have other types in some files than in others."""

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet

from clausewise.base.counts import count_of
from clausewise.data.partition_kinds import FORMAT_OF_SUFFIX, suffix_of
from clausewise.partitions.protocol import BATCH_ROWS, PartitionError
from clausewise.partitions.schemas import conformed, described, is_empty_type, merged_type
from clausewise.partitions.streamed import ArrowRows

_MISSING_KEY: Final = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class _File:
    """A file, and the values of columns that the names of its folders state (`rows/year=2024/…`)."""

    path: str
    keys: Mapping[str, str | None]


@dataclass(frozen=True)
class _Columns:
    """The columns of some files.

    Attributes
    ----------
    schema : pyarrow.Schema
        Their names, with types that hold the values of all files.
    keys : frozenset of str
        Those that are not in the files, but in the names of their folders.
    problems : mapping
        The error for each column that is not in all files, or of several kinds; it may not be needed.
    """

    schema: pa.Schema
    keys: frozenset[str]
    problems: Mapping[str, str]

    def schema_of(self, names: Sequence[str] | None) -> pa.Schema:
        """Return some of the columns, or all."""
        chosen = self.schema.names if names is None else names
        for name in chosen:
            if name in self.problems:
                raise PartitionError(self.problems[name])
        return pa.schema([self.schema.field(name) for name in chosen])


def file_rows(paths: Sequence[str | os.PathLike[str]]) -> ArrowRows:
    """Return the rows of files, folders and patterns such as "rows/*.parquet", in the order of their names.

    The format follows from the names of files; anything else is Parquet.
    """
    files = [file for path in paths for file in _files_of(os.fspath(path))]
    if not files:
        raise FileNotFoundError(f"There are no files {', '.join(repr(os.fspath(path)) for path in paths)}.")
    formats = {_format_of(file.path) for file in files}
    if len(formats) > 1:
        raise ValueError(f"The files have several formats: {', '.join(sorted(formats))}; pass those of one.")
    return _FileReader(files, formats.pop()).rows


class _FileReader:
    """Reads files of one format, one after the other."""

    def __init__(self, files: Sequence[_File], kind: str) -> None:
        self._files, self._kind = files, kind
        self._format = _arrow_format(kind)
        self._system = pa.fs.LocalFileSystem()

    @property
    def rows(self) -> ArrowRows:
        """The rows of all files."""
        first = self._files[0].path
        n_more = len(self._files) - 1
        title = f"{first} and {count_of(n_more, 'more file')}" if n_more else first
        return ArrowRows(title, self._read, self._columns.schema.names, self._count)

    def _count(self) -> int:
        paths = [file.path for file in self._files]
        schema = pa.schema([])
        return int(pa.dataset.dataset(paths, schema, self._format).count_rows())

    def _read(self, names: list[str] | None) -> Iterator[pa.Table]:
        schema = self._columns.schema_of(names)
        own = pa.schema([field for field in schema if field.name not in self._columns.keys])
        for file in self._files:
            for batch in self._batches(file, own):
                columns = [
                    pa.repeat(key_value(file.keys[field.name], field.type), batch.num_rows)
                    if field.name in self._columns.keys
                    else batch.column(field.name)
                    for field in schema
                ]
                yield conformed(pa.table(columns, names=schema.names), schema)

    def _batches(self, file: _File, schema: pa.Schema) -> Iterator[Any]:
        try:
            fragment = self._format.make_fragment(file.path, self._system)
            # The values of a CSV file are read as what all files need, others as what the file says.
            is_text = self._kind in ("csv", "tsv")
            yield from fragment.to_batches(
                schema=schema if is_text else fragment.physical_schema,
                columns=schema.names,
                batch_size=BATCH_ROWS,
                batch_readahead=1,
                use_threads=False,
            )
        except (OSError, pa.ArrowException) as error:
            raise PartitionError(f"{file.path} cannot be read: {error}") from error

    @cached_property
    def _columns(self) -> _Columns:
        """The columns of all files, from what these state about themselves: of Parquet files, the footers."""
        merged = _MergedColumns(self._files, self._kind)
        keys = types_of_keys([file.keys for file in self._files])
        for number, file in enumerate(self._files):
            own = self._schema(file)
            if number == 0:
                keys = {name: found for name, found in keys.items() if name not in own.names}
            of_keys = [pa.field(name, found) for name, found in keys.items() if name in file.keys]
            merged.include([*own, *of_keys], number)
        return _Columns(pa.schema(list(merged.types.items())), frozenset(keys), merged.problems)

    def _schema(self, file: _File) -> pa.Schema:
        try:
            return self._format.inspect(file.path, self._system)
        except (OSError, pa.ArrowException) as error:
            raise PartitionError(f"{file.path} cannot be read: {error}") from error


class _MergedColumns:
    """Merges the columns of one file after the other; see `_Columns` for its attributes."""

    def __init__(self, files: Sequence[_File], kind: str) -> None:
        self._files, self._kind = files, kind
        self._first_with: dict[str, str] = {}
        self.types: dict[str, pa.DataType] = {}
        self.problems: dict[str, str] = {}

    def include(self, fields: Sequence[pa.Field], number: int) -> None:
        """Add the columns of a file, given its number."""
        path = self._files[number].path
        for name in self.types.keys() - {field.name for field in fields}:
            self.problems.setdefault(
                name, f"{path} has no column '{name}', which {self._first_with[name]} has."
            )
        for field in fields:
            if field.name in self.types:
                self._merge(field.name, field.type, number)
                continue
            self.types[field.name], self._first_with[field.name] = field.type, path
            if number:
                first = self._files[0].path
                self.problems[field.name] = f"{first} has no column '{field.name}', which {path} has."

    def _merge(self, name: str, found: pa.DataType, number: int) -> None:
        known, path = self.types[name], self._files[number].path
        merged = merged_type(known, found)
        if is_empty_type(known) or (merged is None and self._have_no_values(self._files[:number], name)):
            self.types[name], self._first_with[name] = found, path
        elif merged is not None:
            self.types[name] = merged
        elif not self._have_no_values(self._files[number : number + 1], name):
            self.problems.setdefault(
                name,
                f"Column '{name}' holds {described(known)} in {self._first_with[name]} and "
                f"{described(found)} in {path}; make it one or the other.",
            )

    def _have_no_values(self, files: Sequence[_File], name: str) -> bool:
        """Return whether Parquet files say that all values of a column are missing."""
        return self._kind == "parquet" and all(_has_no_values(file.path, name) for file in files)


def _has_no_values(path: str, name: str) -> bool:
    stated = pa.parquet.read_metadata(path)
    position = next(i for i in range(stated.num_columns) if stated.schema.column(i).path == name)
    chunks = [stated.row_group(i).column(position) for i in range(stated.num_row_groups)]
    return all(
        chunk.statistics is not None and chunk.statistics.null_count == chunk.num_values for chunk in chunks
    )


# --- Names of files ---


def _files_of(path: str) -> list[_File]:
    """Return a file itself, the files below a folder, or those that match a pattern."""
    if not glob.has_magic(path) or Path(path).exists():
        return _files_below(Path(path), Path(path))
    parts = Path(path).parts
    fixed = parts[: next(i for i, part in enumerate(parts) if glob.has_magic(part))]
    base = Path(*fixed) if fixed else Path()
    matches = sorted(glob.glob(path, recursive=True))
    return [file for name in matches for file in _files_below(Path(name), base)]


def _files_below(path: Path, base: Path) -> list[_File]:
    """Return a file itself, or the files below a folder, without hidden ones and markers."""
    if path.is_file():
        return [_File(str(path), keys_in(path, base))]
    if not path.is_dir():
        raise FileNotFoundError(f"There is no file or folder {path}.")
    inside = (file for file in sorted(path.rglob("*")) if file.is_file())
    return [_File(str(file), keys_in(file, base)) for file in inside if not file.name.startswith((".", "_"))]


def keys_in(file: Path, base: Path) -> dict[str, str | None]:
    """Return the values that folders below a base state as `name=value`."""
    pairs = [folder.split("=", 1) for folder in file.parent.parts[len(base.parts) :] if "=" in folder]
    return {unquote(name): None if value == _MISSING_KEY else unquote(value) for name, value in pairs}


def types_of_keys(stated: Sequence[Mapping[str, str | None]]) -> dict[str, pa.DataType]:
    """Return the types of the columns that folders state, for each file: whole numbers if all values are."""
    values: dict[str, set[str | None]] = {}
    for keys in stated:
        for name, value in keys.items():
            values.setdefault(name, set()).add(value)
    return {
        name: pa.int64()
        if all(value is None or re.fullmatch(r"-?\d{1,18}", value) for value in found)
        else pa.string()
        for name, found in values.items()
    }


def key_value(value: str | None, wanted: pa.DataType) -> pa.Scalar:
    """Return a value that a folder states as one of a type."""
    is_number = value is not None and pa.types.is_integer(wanted)
    return pa.scalar(int(value) if is_number else value, wanted)  # type: ignore[arg-type]


def _format_of(path: str) -> str:
    return FORMAT_OF_SUFFIX.get(suffix_of(path), "parquet")


def _arrow_format(kind: str) -> Any:
    if kind == "parquet":
        return pa.dataset.ParquetFileFormat()
    if kind == "ipc":
        return pa.dataset.IpcFileFormat()
    parsing = pa.csv.ParseOptions(delimiter="\t" if kind == "tsv" else ",")
    # As pandas and the command line read them: empty text is missing.
    return pa.dataset.CsvFileFormat(parsing, convert_options=pa.csv.ConvertOptions(strings_can_be_null=True))
