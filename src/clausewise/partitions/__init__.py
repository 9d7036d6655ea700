"""Rows that need not fit into memory: files, lazy frames and frames of Dask, Ray and Spark."""

from clausewise.partitions.detect import is_partitioned, partitioned
from clausewise.partitions.protocol import PartitionedRows, PartitionError

__all__ = ["PartitionError", "PartitionedRows", "is_partitioned", "partitioned"]
