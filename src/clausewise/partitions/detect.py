"""Rows in partitions, made of whatever users have."""

import os
from typing import Any, Final

from clausewise.base.parameters import check_parameters, whole
from clausewise.data.partition_kinds import kind_of_partitions
from clausewise.partitions.protocol import PartitionedRows

MAX_MEMORY: Final = 2**30


def is_partitioned(X: Any) -> bool:
    """Return whether rows are read or computed in parts, rather than being a table in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise.partitions import is_partitioned, partitioned
    >>> table = np.zeros((3, 2))
    >>> is_partitioned(table), is_partitioned(partitioned([table, table]))
    (False, True)
    """
    return kind_of_partitions(X) is not None


def partitioned(source: Any, *, max_memory: int = MAX_MEMORY) -> PartitionedRows:
    """Return rows in a form that can be reduced over, without loading them.

    Parameters
    ----------
    source : data set, paths, LazyFrame, iterator, or frame of an engine
        A `pyarrow.dataset.Dataset`; the path of a Parquet, Arrow or CSV file, of a folder of such files
        (folders in it may be called `year=2024`), or a pattern such as "rows/*.parquet"; a list of paths; a
        `polars.LazyFrame`; an iterator of DataFrames or Arrow record batches; a `dask.dataframe.DataFrame`,
        `ray.data.Dataset` or `pyspark.sql.DataFrame`.
        A table in memory, or a list of tables, is taken as partitions, too.
    max_memory : int, default 2**30
        Bytes that may be kept in memory of rows that can be read only once. Beyond it they are kept in a
        temporary file.

    Returns
    -------
    PartitionedRows
        To be passed as `X`. Everything that takes it takes the source itself, too, unless that is a table.

    Examples
    --------
    >>> import clausewise, numpy as np
    >>> rows = clausewise.partitioned([np.zeros((3, 2)), np.ones((2, 2))])
    >>> rows.n_rows
    5
    """
    check_parameters({"max_memory": whole(0)}, {"max_memory": max_memory})
    if isinstance(source, PartitionedRows):
        return source
    kind = kind_of_partitions(source)
    if kind is None:
        from clausewise.partitions.tables import TableRows

        is_list = isinstance(source, list | tuple) and all(hasattr(table, "shape") for table in source)
        return TableRows(source if is_list else [source])
    if kind == "dask":
        from clausewise.partitions.dask import DaskRows

        return DaskRows(source)
    if kind == "ray":
        from clausewise.partitions.ray import RayRows

        return RayRows(source)
    if kind == "spark":
        from clausewise.partitions.spark import SparkRows

        return SparkRows(source)
    return _streamed(kind, source, max_memory)


def _streamed(kind: str, source: Any, max_memory: int) -> PartitionedRows:
    try:
        from clausewise.partitions import files, iterators, streamed
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"Rows in files and streams are read by pyarrow ({error}); pip install pyarrow."
        ) from error
    if kind == "polars":
        return streamed.LazyFrameRows(source)
    if kind == "dataset":
        return streamed.dataset_rows(source)
    if kind == "paths":
        return files.file_rows([source] if isinstance(source, str | os.PathLike) else source)
    return iterators.iterator_rows(source, max_memory)
