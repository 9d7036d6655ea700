"""The rows of a Ray Dataset."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from clausewise.base.progress import Progress
from clausewise.partitions.protocol import (
    Add,
    Count,
    Part,
    PartitionedRows,
    PartitionError,
    Sum,
    from_bytes,
    to_bytes,
)
from clausewise.partitions.workers import ColumnAdder, Compute, PartitionCounter, raised_in, reason, unread


class RayRows(PartitionedRows):
    """The rows of a `ray.data.Dataset`, whose blocks are counted by tasks of Ray.

    Parameters
    ----------
    dataset : ray.data.Dataset
        The rows.
    """

    title = "The Ray Dataset"

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.names: tuple[str, ...] = tuple(self._run(dataset.columns) or ())
        self._n_rows: int | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows, counted when it is first asked for."""
        if self._n_rows is None:
            self._n_rows = int(self._run(self._dataset.count))
        return self._n_rows

    def head(self, n_rows: int) -> Any:
        """Return the first rows as a DataFrame of pandas."""
        return self._run(lambda: _ordered(self._dataset).limit(n_rows).to_pandas())

    def select(self, names: Sequence[str]) -> "RayRows":
        """Return the rows with these columns alone."""
        chosen = RayRows(self._dataset.select_columns(list(names)))
        chosen._n_rows = self._n_rows
        return chosen

    def gathered(self) -> Any:
        """Return all rows as one DataFrame of pandas."""
        return self._run(lambda: _ordered(self._dataset).to_pandas().reset_index(drop=True))

    def with_columns(self, compute: Compute, _progress: Progress | None = None) -> Any:
        """Return a lazy Ray Dataset with further columns."""
        adder = ColumnAdder.from_first_rows(compute, self.head(1))
        return self._dataset.map_batches(adder.__call__, batch_format="pandas", batch_size=None)

    def reduce(self, count: Count, add: Add, progress: Progress | None = None, what: str = "rows") -> Part:
        """Count something on every batch where it is, and add it up."""
        if progress is not None:
            progress.part_started(what, self.n_rows, "rows")
        counter = _BlockCounter(PartitionCounter(count, add, self.title))
        counted = self._dataset.map_batches(counter.__call__, batch_format="pandas", batch_size=None)
        total: Sum = self._run(lambda: _added(counted, add, progress))
        return total.total()

    def _run(self, job: Callable[[], Any]) -> Any:
        """Run a job of Ray; if it fails, the error says why in a sentence."""
        try:
            return job()
        except PartitionError:
            raise
        except Exception as error:
            number, why = _failed_block(self._dataset), raised_in(str(error)) or reason(error)
            if number is None:
                raise PartitionError(f"{self.title} cannot be read: {why}") from error
            raise PartitionError(unread(self.title, number, why)) from error


@dataclass(frozen=True)
class _BlockCounter:
    """Counts a block, and returns what is counted, or what went wrong, as a row."""

    counter: PartitionCounter

    def __call__(self, frame: Any) -> dict[str, list[Any]]:
        if len(frame) == 0:
            return {"part": [], "n_rows": [], "problem": []}
        try:
            part = self.counter(frame, _block_number())
        except PartitionError as error:
            return {"part": [b""], "n_rows": [len(frame)], "problem": [str(error)]}
        return {"part": [to_bytes(part or {})], "n_rows": [len(frame)], "problem": [""]}


def _added(counted: Any, add: Add, progress: Progress | None) -> Sum:
    total, n_done = Sum(add), 0
    for row in counted.iter_rows():
        if row["problem"]:
            raise PartitionError(row["problem"])
        total.include(from_bytes(row["part"]))
        n_done += int(row["n_rows"])
        if progress is not None:
            progress.steps_done(0, n_done)
    if progress is not None:
        progress.part_done()
    return total


def _block_number() -> int:
    """Return the number of the block that this task of Ray reads."""
    from ray.data._internal.execution.interfaces.task_context import TaskContext

    context = TaskContext.get_current()
    return 0 if context is None else int(context.task_idx)


def _numbered(frame: Any) -> dict[str, list[int]]:
    return {"number": [_block_number()]}


def _failed_block(dataset: Any) -> int | None:
    """Return the number of the first block that cannot be read; None if Ray does not tell.

    Ray's errors do not say which block failed, so all are read again, without those that fail.
    """
    try:
        lenient = _with_own_context(dataset)
        lenient.context.max_errored_blocks = -1
        read = lenient.map_batches(_numbered, batch_format="pandas", batch_size=None)
        numbers = {int(row["number"]) for row in read.iter_rows()}
    except Exception:
        return None
    # Without a gap, either the last one failed, or Ray has numbered the others anew.
    return next((number for number in range(max(numbers, default=0)) if number not in numbers), None)


def _ordered(dataset: Any) -> Any:
    """Return a Dataset whose blocks come in their order."""
    ordered = _with_own_context(dataset)
    ordered.context.execution_options.preserve_order = True
    return ordered


def _with_own_context(dataset: Any) -> Any:
    """Return a Dataset whose settings can be changed without changing those of the user's Dataset."""
    return dataset.copy(dataset, _deep_copy=True)
