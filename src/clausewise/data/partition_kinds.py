"""Recognising rows in partitions by their type, without importing any engine."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

TITLES: Final = {
    "paths": "a path",
    "dask": "a Dask DataFrame",
    "ray": "a Ray Dataset",
    "spark": "a Spark DataFrame",
    "polars": "a LazyFrame",
    "dataset": "a data set of pyarrow",
    "iterator": "an iterator",
    "rows": "an object of rows in partitions",
}
"""What each kind of rows in partitions is called."""
_IN_MEMORY: Final = {
    "dask": "X.compute()",
    "ray": "X.to_pandas()",
    "spark": "X.toPandas()",
    "polars": "X.collect()",
    "dataset": "X.to_table()",
    "rows": "X.gathered()",
}


FORMAT_OF_SUFFIX: Final = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
}
"""The formats of files, by how their names end, before what says that they are compressed."""
_COMPRESSED: Final = (".gz", ".bz2", ".zst", ".lz4")


def suffix_of(path: str) -> str:
    """Return how the name of a file ends, without what says that it is compressed."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    plain = [suffix for suffix in suffixes if suffix not in _COMPRESSED]
    return plain[-1] if plain else ""


def need_of_memory(kind: str) -> str:
    """Return the error for rows in partitions where a table in memory is needed."""
    instead = f"pass {_IN_MEMORY[kind]}" if kind in _IN_MEMORY else "read it into a DataFrame"
    return (
        f"X is {TITLES[kind]}, and a table in memory is needed here; {instead}. Rows that are read in parts "
        "are taken by extract, predict, evaluate, with_statistics, compact and frontier."
    )


def _is_path(value: Any) -> bool:
    """Return whether an entry of a list is a path; other texts may be rows of a model that reads text."""
    if not isinstance(value, str):
        return isinstance(value, os.PathLike)
    return suffix_of(value) in FORMAT_OF_SUFFIX or os.path.exists(value)


def kind_of_partitions(source: Any) -> str | None:
    """Return the kind of rows in partitions; None for tables in memory and anything else."""
    if isinstance(source, str | os.PathLike):
        return "paths"
    if isinstance(source, list | tuple):
        are_paths = bool(source) and all(map(_is_path, source))
        return "paths" if are_paths else None
    if hasattr(type(source), "gathered"):
        return "rows"
    kind, folder = type(source).__name__, type(source).__module__.split(".")
    if folder[0] == "dask" and kind == "DataFrame":
        return "dask"
    if folder[:2] == ["ray", "data"]:
        return "ray"
    if folder[0] == "pyspark" and kind == "DataFrame":
        return "spark"
    if folder[0] == "polars" and kind == "LazyFrame":
        return "polars"
    if folder[0] == "pyarrow" and kind.endswith("Dataset"):
        return "dataset"
    is_reader = folder[0] == "pyarrow" and kind == "RecordBatchReader"
    return "iterator" if is_reader or isinstance(source, Iterator) else None
