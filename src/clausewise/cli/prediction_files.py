"""Files of predictions, written batch by batch; a file appears only once it is complete."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

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


@contextlib.contextmanager
def table_writer(path: str | None, schema: pa.Schema, as_json: bool) -> Iterator[Write]:
    """Return a writer for batches of this schema: CSV, Parquet, Arrow or JSON by the file name; else CSV."""
    if path is None or is_stdout(path):
        with _writer(sys.stdout.buffer, "json" if as_json else "csv", schema) as write:
            yield write
        sys.stdout.buffer.flush()
        return
    format = _format_of(path, as_json)
    with atomic_file(path) as file, _writer(file, format, schema) as write:
        yield write


def _format_of(path: str, as_json: bool) -> str:
    format = "json" if as_json else _FORMAT_OF_SUFFIX.get(Path(path).suffix.lower())
    if format is None:
        raise ValueError(
            f"The format of {path} is not known; pass a name that ends in {', '.join(_FORMAT_OF_SUFFIX)}."
        )
    return format


@contextlib.contextmanager
def _writer(file: Any, format: str, schema: pa.Schema) -> Iterator[Write]:
    if format == "json":
        yield lambda table: file.writelines(_lines(table))
    elif format == "csv":
        with pa.csv.CSVWriter(file, schema) as csv:
            yield csv.write_table
    elif format == "parquet":
        with pa.parquet.ParquetWriter(file, schema) as parquet:
            yield parquet.write_table
    else:
        with pa.ipc.new_file(file, schema) as arrow:
            yield arrow.write_table


def _lines(table: pa.Table) -> Iterator[bytes]:
    for row in table.to_pylist():
        yield (json.dumps(json_value(row), ensure_ascii=False, default=str) + "\n").encode()
