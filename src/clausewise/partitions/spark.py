"""The rows of a Spark DataFrame."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from clausewise.base.progress import Progress
from clausewise.partitions.protocol import (
    BATCH_ROWS,
    Add,
    Count,
    Part,
    PartitionedRows,
    PartitionError,
    Sum,
    frame_of_arrow,
    from_bytes,
    to_bytes,
)
from clausewise.partitions.workers import Compute, batches, raised_in, reason, uncounted, unread

_PART_SCHEMA = "part binary, problem string"
_PARTS_PER_SUM: Final = 16


class SparkRows(PartitionedRows):
    """The rows of a `pyspark.sql.DataFrame`, which Spark's executors count where they are.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The rows.
    """

    title = "The Spark DataFrame"

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.names: tuple[str, ...] = tuple(frame.columns)
        self._size: tuple[int, int] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows, counted when it is first asked for."""
        return self._rows_and_partitions[0]

    @property
    def _rows_and_partitions(self) -> tuple[int, int]:
        """Number of rows, and of partitions up to the last one with rows."""
        if self._size is None:
            from pyspark.sql import functions

            counted = self._frame.select(functions.spark_partition_id().alias("number")).agg(
                functions.count("number"), functions.max("number")
            )
            n_rows, last = self._run(counted.first)
            self._size = int(n_rows), 0 if last is None else int(last) + 1
        return self._size

    def head(self, n_rows: int) -> Any:
        """Return the first rows as a DataFrame of pandas."""
        from pyspark.sql.pandas.types import to_arrow_schema

        # Other than `limit`, this reads no more partitions than it needs.
        first = self._run(lambda: self._frame.take(n_rows))
        schema = to_arrow_schema(self._frame.schema)
        return frame_of_arrow(pa.Table.from_pylist([row.asDict() for row in first], schema))

    def select(self, names: Sequence[str]) -> "SparkRows":
        """Return the rows with these columns alone."""
        # Backticks, since a dot in a name would mean a field.
        chosen = SparkRows(self._frame.select(["`" + name.replace("`", "``") + "`" for name in names]))
        chosen._size = self._size
        return chosen

    def gathered(self) -> Any:
        """Return all rows as one DataFrame of pandas."""
        return self._run(lambda: _collected(self._frame))

    def with_columns(self, compute: Compute, _progress: Progress | None = None) -> Any:
        """Return a lazy Spark DataFrame with further columns."""
        from pyspark.sql.pandas.types import from_arrow_type
        from pyspark.sql.types import StructField, StructType

        first = self.head(1)
        if len(first) == 0:
            raise ValueError("There are no rows.")
        types = {name: pa.array(values, from_pandas=True).type for name, values in compute(first).items()}
        kept = [field for field in self._frame.schema.fields if field.name not in types]
        added = [StructField(name, from_arrow_type(found)) for name, found in types.items()]

        def widened(arriving: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            names = [field.name for field in kept]
            for batch in arriving:
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    part = batch.slice(start, BATCH_ROWS)
                    columns = compute(_as_frame(part))
                    arrays = [pa.array(columns[name], types[name], from_pandas=True) for name in types]
                    yield pa.RecordBatch.from_arrays(
                        [*(part.column(name) for name in names), *arrays], names=[*names, *types]
                    )

        return self._frame.mapInArrow(widened, StructType([*kept, *added]))

    def reduce(self, count: Count, add: Add, progress: Progress | None = None, what: str = "rows") -> Part:
        """Count something on every batch where it is, and add it up."""
        title = self.title

        def counted(arriving: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from pyspark import TaskContext

            total, is_empty = Sum(add), True
            for batch in arriving:
                try:
                    for rows in batches(_as_frame(batch)):
                        total.include(count(rows, None))
                        is_empty = False
                except Exception as error:
                    yield _sent(None, uncounted(title, TaskContext.get().partitionId(), error))
                    return
            if not is_empty:
                yield _sent(to_bytes(total.total()), None)

        if progress is not None:
            progress.part_started(what, 1, "passes")
        parts, n_parts = self._frame.mapInArrow(counted, _PART_SCHEMA), self._rows_and_partitions[1]
        # The executors add most parts up, since the driver could not hold those of thousands of partitions.
        while n_parts > _PARTS_PER_SUM:
            n_parts = -(-n_parts // _PARTS_PER_SUM)
            parts = parts.repartition(n_parts).mapInArrow(_adder(add), _PART_SCHEMA)
        total = Sum(add)
        for row in self._run(parts.collect):
            if row["problem"] is not None:
                raise PartitionError(row["problem"])
            total.include(from_bytes(bytes(row["part"])))
        if progress is not None:
            progress.part_done()
        return total.total()

    def _run(self, job: Callable[[], Any]) -> Any:
        """Run a job of Spark; if it fails, the error names the partition."""
        try:
            return job()
        except Exception as error:
            raise PartitionError(self._problem(error)) from error

    def _problem(self, error: Exception) -> str:
        task = re.search(r"Task (\d+) in stage", str(error))
        number = _failed_partition(self._frame) if task is None else int(task[1])
        why = raised_in(str(error)) or reason(error).split("\n")[0]
        if number is None:
            return f"{self.title} cannot be read: {why}"
        return unread(self.title, number, why)


def _adder(add: Add) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what adds up the parts that reach a task; a problem among them is passed on."""

    def added(arriving: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total, is_empty = Sum(add), True
        for batch in arriving:
            for part, problem in zip(batch.column("part"), batch.column("problem"), strict=True):
                if problem.is_valid:
                    yield _sent(None, problem.as_py())
                    return
                total.include(from_bytes(part.as_py()))
                is_empty = False
        if not is_empty:
            yield _sent(to_bytes(total.total()), None)

    return added


def _failed_partition(frame: Any) -> int | None:
    """Return the number of the first partition that cannot be read; None if all can be.

    Spark 4 raises what a Python worker raised without its task, so partitions are read again, one by one.
    """
    try:
        rows = frame.rdd
        n_partitions = rows.getNumPartitions()
    except Exception:  # Spark Connect has no partitions to show
        return None
    for number in range(n_partitions):
        try:
            rows.context.runJob(rows, _length, [number])
        except Exception:
            return number
    return None


def _length(rows: Iterator[Any]) -> list[int]:
    return [sum(1 for _ in rows)]


def _collected(frame: Any) -> Any:
    # Spark 3 has no toArrow.
    return frame_of_arrow(frame.toArrow()) if hasattr(frame, "toArrow") else frame.toPandas()


def _as_frame(batch: pa.RecordBatch) -> Any:
    return frame_of_arrow(pa.Table.from_batches([batch]))


def _sent(part: bytes | None, problem: str | None) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array([part], pa.binary()), pa.array([problem], pa.string())], names=["part", "problem"]
    )
