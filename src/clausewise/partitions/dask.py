"""The rows of a Dask DataFrame."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final

import dask
from dask.callbacks import Callback

from clausewise.base.progress import Progress
from clausewise.partitions.protocol import Add, Count, Part, PartitionedRows, PartitionError, Sum, summed
from clausewise.partitions.workers import (
    ColumnAdder,
    Compute,
    PartitionCounter,
    add_rows,
    count_rows,
    unread,
)

_PARTS_PER_SUM: Final = 16


class DaskRows(PartitionedRows):
    """The rows of a `dask.dataframe.DataFrame`, which stay where Dask has them.

    If a client of `distributed` is active, its cluster counts; otherwise Dask's local scheduler does.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The rows.
    """

    title = "The Dask DataFrame"

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.names: tuple[str, ...] = tuple(frame.columns)
        self._n_rows: int | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows, counted when it is first asked for."""
        if self._n_rows is None:
            try:
                # Dask reads as little as it can: of Parquet files, only what they say about themselves.
                self._n_rows = len(self._frame)
            except Exception:
                self._n_rows = self._counted_rows()
        return self._n_rows

    def head(self, n_rows: int) -> Any:
        """Return the first rows as a DataFrame of pandas."""
        found: list[Any] = []
        for number in range(self._frame.npartitions):
            n_left = n_rows - sum(map(len, found))
            if n_left == 0:
                break
            try:
                first = self._frame.partitions[number].head(n_left, compute=False).compute()
            except Exception as error:
                raise PartitionError(unread(self.title, number, error)) from error
            if len(first) or not found:
                found.append(first)
        return _joined(found)

    def select(self, names: Sequence[str]) -> "DaskRows":
        """Return the rows with these columns alone."""
        chosen = DaskRows(self._frame[list(names)])
        chosen._n_rows = self._n_rows
        return chosen

    def gathered(self) -> Any:
        """Return all rows as one DataFrame of pandas."""
        try:
            return self._frame.compute().reset_index(drop=True)
        except Exception:
            self._counted_rows()  # fails, too, and says which partition cannot be read
            raise

    def with_columns(self, compute: Compute, _progress: Progress | None = None) -> Any:
        """Return a lazy Dask DataFrame with further columns."""
        adder = ColumnAdder.from_first_rows(compute, self.head(1))
        meta = self._frame._meta
        return self._frame.map_partitions(adder, meta=meta.assign(**_empty_columns(adder, meta)))

    def reduce(self, count: Count, add: Add, progress: Progress | None = None, what: str = "rows") -> Part:
        """Count something on every batch where it is, and add it up."""
        # One task holds what is counted, so that a large model travels once for all partitions.
        counter = dask.delayed(PartitionCounter(count, add, self.title), traverse=False)
        tasks = [
            dask.delayed(_counted, pure=False)(counter, partition, number)
            for number, partition in enumerate(self._frame.to_delayed())
        ]
        if progress is not None:
            progress.part_started(what, len(tasks), "partitions")
        client = _active_client()
        if client is None:
            part = self._reduced_here(tasks, add, progress)
        else:
            part = self._reduced_by(client, tasks, add, progress)
        if progress is not None:
            progress.part_done()
        return part

    def _reduced_by(self, client: Any, tasks: list[Any], add: Add, progress: Progress | None) -> Part:
        """Add up what the workers of a cluster count, as it arrives."""
        total = Sum(add)
        futures = client.compute(tasks)
        try:
            for n_done, part in enumerate(self._arriving(futures), 1):
                if part is not None:
                    total.include(part)
                if progress is not None:
                    progress.steps_done(0, n_done)
        finally:
            client.cancel(futures)  # what is still running after an error or an interrupt
        return total.total()

    def _arriving(self, futures: list[Any]) -> Iterator[Part | None]:
        from distributed import as_completed

        number_of = {future.key: number for number, future in enumerate(futures)}
        for future in as_completed(futures):
            try:
                part = future.result()
            except PartitionError:
                raise
            except Exception as error:
                raise PartitionError(unread(self.title, number_of[future.key], error)) from error
            future.release()
            yield part

    def _reduced_here(self, tasks: list[Any], add: Add, progress: Progress | None) -> Part:
        """Add up what Dask's local scheduler counts."""
        sums = tasks
        while len(sums) > 1:
            groups = [sums[i : i + _PARTS_PER_SUM] for i in range(0, len(sums), _PARTS_PER_SUM)]
            sums = [dask.delayed(_added, pure=False)(group, add) for group in groups]
        try:
            with _Watch({task.key for task in tasks}, progress):
                (part,) = dask.compute(*sums)
        except PartitionError:
            raise
        except Exception:
            self._find_unreadable(tasks)
            raise
        return summed([] if part is None else [part], add)

    def _find_unreadable(self, tasks: list[Any]) -> None:
        """Raise the error that names the partition that cannot be read; the local scheduler does not say."""
        for number, task in enumerate(tasks):
            try:
                task.compute()
            except PartitionError:
                raise
            except Exception as error:
                raise PartitionError(unread(self.title, number, error)) from error

    def _counted_rows(self) -> int:
        return int(self.reduce(count_rows, add_rows)["n_rows"][0])


class _Watch(Callback):
    """Shows the progress of tasks that the local scheduler runs."""

    def __init__(self, keys: set[Any], progress: Progress | None) -> None:
        super().__init__()
        self._keys, self._progress, self._n_done = keys, progress, 0

    def _posttask(self, key: Any, _result: Any, _dsk: Any, _state: Any, _worker: Any) -> None:
        if self._progress is not None and key in self._keys:
            self._n_done += 1
            self._progress.steps_done(0, self._n_done)


def _counted(counter: PartitionCounter, frame: Any, number: int) -> Part | None:
    return counter(frame, number)


def _added(parts: list[Part | None], add: Add) -> Part | None:
    present = [part for part in parts if part is not None]
    return summed(present, add) if present else None


def _active_client() -> Any:
    """Return the client of the cluster that Dask computes on; None if it computes here."""
    distributed = sys.modules.get("distributed")
    if distributed is None or dask.config.get("scheduler", None) not in (
        None,
        "dask.distributed",
        "distributed",
    ):
        return None
    try:
        return distributed.Client.current()
    except ValueError:
        return None


def _empty_columns(adder: ColumnAdder, meta: Any) -> dict[str, Any]:
    import pandas as pd

    return {name: pd.Series([], index=meta.index, dtype=dtype) for name, dtype in adder.dtypes.items()}


def _joined(frames: list[Any]) -> Any:
    """Return DataFrames as one; categorical columns keep the categories of all."""
    from dask.dataframe.dispatch import concat

    joined = frames[0] if len(frames) == 1 else concat(frames)
    return joined.reset_index(drop=True)
