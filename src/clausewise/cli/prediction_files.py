"""Files of predictions, written batch by batch; a file appears only once it is complete."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
import typer

from clausewise.cli.output_files import is_stdout
from clausewise.cli.printing import json_value
from clausewise.io.atomic import atomic_file

Write = Callable[[pa.Table], None]
_FORMAT_OF_SUFFIX: Final = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".jsonl": "json",
}

_FORMULA: Final = r"\A([=+\-@\t\r])"  # the beginning of a formula
_NUMBER: Final = r"\A[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\z"


@contextlib.contextmanager
def table_writer(
    path: str | None, schema: pa.Schema, as_json: bool, *, for_spreadsheets: bool = False
) -> Iterator[Write]:
    """Return a writer for batches of this schema: CSV, Parquet, Arrow or JSON by the file name; else CSV.

    With `for_spreadsheets`, text in CSV that a spreadsheet would run as a formula begins with an apostrophe.
    """
    if path is None or is_stdout(path):
        with _writer(sys.stdout.buffer, "json" if as_json else "csv", schema, for_spreadsheets) as write:
            yield write
        sys.stdout.buffer.flush()
        return
    format = format_of(path, as_json)
    with atomic_file(path) as file, _writer(file, format, schema, for_spreadsheets) as write:
        yield write


def format_of(path: str, as_json: bool) -> str:
    """Return the format that the name of an output asks for."""
    format = "json" if as_json else _FORMAT_OF_SUFFIX.get(Path(path).suffix.lower())
    if format is None:
        raise typer.BadParameter(
            f"The format of {path} is not known; pass a name that ends in {', '.join(_FORMAT_OF_SUFFIX)}."
        )
    return format


@contextlib.contextmanager
def _writer(file: Any, format: str, schema: pa.Schema, for_spreadsheets: bool) -> Iterator[Write]:
    if format == "json":
        yield lambda table: file.writelines(_lines(table))
    elif format == "csv" and for_spreadsheets:
        plain = _without_formulas(schema.empty_table()).schema
        with pa.csv.CSVWriter(file, plain) as csv:
            yield lambda table: csv.write_table(_without_formulas(table))
    elif format == "csv":
        with pa.csv.CSVWriter(file, schema) as csv:
            yield csv.write_table
    elif format == "parquet":
        with pa.parquet.ParquetWriter(file, schema) as parquet:
            yield parquet.write_table
    else:
        with pa.ipc.new_file(file, schema) as arrow:
            yield arrow.write_table


def _without_formulas(table: pa.Table) -> pa.Table:
    """Return the table with an apostrophe before text, and names, that spreadsheets take for formulas."""
    columns = [_quoted(column) if _is_text(column.type) else column for column in table.columns]
    names = _quoted(pa.chunked_array([pa.array(table.column_names, pa.string())])).to_pylist()
    return pa.table(columns, names=names)


def _quoted(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    plain = texts.cast(pa.large_string())
    is_number = pa.compute.match_substring_regex(plain, _NUMBER)
    return pa.compute.if_else(is_number, plain, pa.compute.replace_substring_regex(plain, _FORMULA, r"'\1"))


def _is_text(kind: pa.DataType) -> bool:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(
        pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value)
    )


def _lines(table: pa.Table) -> Iterator[bytes]:
    for row in table.to_pylist():
        yield (json.dumps(json_value(row), ensure_ascii=False, default=str) + "\n").encode()
