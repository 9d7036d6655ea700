"""Recognising rows in partitions by their type, without importing any engine."""

import os
from collections.abc import Iterator
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


def need_of_memory(kind: str) -> str:
    """Return the error for rows in partitions where a table in memory is needed."""
    instead = f"pass {_IN_MEMORY[kind]}" if kind in _IN_MEMORY else "read it into a DataFrame"
    return (
        f"X is {TITLES[kind]}, and a table in memory is needed here; {instead}. Rows that are read in parts "
        "are taken by extract, predict, evaluate, with_statistics, compact and frontier."
    )


def kind_of_partitions(source: Any) -> str | None:
    """Return the kind of rows in partitions; None for tables in memory and anything else."""
    if isinstance(source, str | os.PathLike):
        return "paths"
    if isinstance(source, list | tuple):
        are_paths = bool(source) and all(isinstance(path, os.PathLike) for path in source)
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
