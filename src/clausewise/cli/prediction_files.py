"""Tables of predictions, written batch by batch; a file appears only once it is complete."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from clausewise.cli.console import plain
from clausewise.io.atomic import atomic_file

Write = Callable[[pa.Table], None]


@contextlib.contextmanager
def table_writer(path: str | None, schema: pa.Schema, as_json: bool) -> Iterator[Write]:
    """What writes batches of this schema: CSV, Parquet or Arrow by the file's name; CSV if there is none."""
    if path is None or path == "-":
        with _writer(sys.stdout.buffer, "json" if as_json else "csv", schema) as write:
            yield write
        sys.stdout.buffer.flush()
        return
    kind = _kind_of(path, as_json)
    with atomic_file(path) as file, _writer(file, kind, schema) as write:
        yield write


def _kind_of(path: str, as_json: bool) -> str:
    kinds = {".csv": "csv", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".jsonl": "json"}
    kind = "json" if as_json else kinds.get(Path(path).suffix.lower())
    if kind is None:
        raise ValueError(f"{path}: predictions go to a file that ends in {', '.join(kinds)}, or to -.")
    return kind


@contextlib.contextmanager
def _writer(file: Any, kind: str, schema: pa.Schema) -> Iterator[Write]:
    if kind == "json":
        yield lambda table: file.writelines(_lines(table))
    elif kind == "csv":
        with pa.csv.CSVWriter(file, schema) as csv:
            yield csv.write_table
    elif kind == "parquet":
        with pa.parquet.ParquetWriter(file, schema) as parquet:
            yield parquet.write_table
    else:
        with pa.ipc.new_file(file, schema) as arrow:
            yield arrow.write_table


def _lines(table: pa.Table) -> Iterator[bytes]:
    for row in table.to_pylist():
        yield (json.dumps(plain(row), ensure_ascii=False, default=str) + "\n").encode()
