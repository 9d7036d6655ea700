"""Functions that engines run where the rows are, on partitions that are DataFrames of pandas."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.partitions.protocol import BATCH_ROWS, Add, Count, Part, PartitionError, summed

_OF_ENGINES: Final = ("ray.", "pyspark.", "org.apache.spark.", "py4j.")
Compute = Callable[[Any], Mapping[str, NDArray[Any]]]
"""Computes further columns of a batch."""


def batches(frame: Any) -> Iterator[Any]:
    """Iterate over the rows of a DataFrame in batches, none of them empty, with rows numbered from 0."""
    for start in range(0, len(frame), BATCH_ROWS):
        yield frame.iloc[start : start + BATCH_ROWS].reset_index(drop=True)


@dataclass(frozen=True)
class PartitionCounter:
    """Counts something on the rows of a partition.

    Attributes
    ----------
    count, add : callable
        As `PartitionedRows.reduce` takes them.
    title : str
        What the rows are, for messages.
    """

    count: Count
    add: Add
    title: str

    def __call__(self, frame: Any, number: int) -> Part | None:
        """Return what is counted on a partition; None if it has no rows."""
        if len(frame) == 0:
            return None
        try:
            return summed((self.count(batch, None) for batch in batches(frame)), self.add)
        except Exception as error:
            raise PartitionError(uncounted(self.title, number, error)) from error


@dataclass(frozen=True)
class ColumnAdder:
    """Adds further columns to a DataFrame, batch by batch.

    Attributes
    ----------
    compute : callable
        Computes the columns.
    dtypes : mapping
        The data type of each further column, which those of an empty DataFrame have, too.
    """

    compute: Compute
    dtypes: Mapping[str, Any]

    @classmethod
    def from_first_rows(cls, compute: Compute, first: Any) -> "ColumnAdder":
        """Return one with the data types of the columns that are computed on some rows."""
        import pandas as pd

        if len(first) == 0:
            raise ValueError("There are no rows.")
        return cls(compute, {name: pd.Series(values).dtype for name, values in compute(first).items()})

    def __call__(self, frame: Any) -> Any:
        """Return a DataFrame with the further columns; its index stays."""
        import pandas as pd

        found = [self.compute(batch) for batch in batches(frame)]
        added = {
            name: pd.Series(
                np.concatenate([columns[name] for columns in found]) if found else [],
                index=frame.index,
                dtype=dtype,
            )
            for name, dtype in self.dtypes.items()
        }
        return frame.assign(**added)


def count_rows(batch: Any, _number: int | None) -> Part:
    """Return the number of rows of a batch as a part."""
    return {"n_rows": np.array([len(batch)])}


def add_rows(one: Part, other: Part) -> Part:
    """Add up what `count_rows` returns."""
    return {"n_rows": one["n_rows"] + other["n_rows"]}


def unread(title: str, number: int, error: BaseException | str) -> str:
    """Return the message for a partition that cannot be read."""
    return f"Partition {number} of {_in_sentence(title)} cannot be read: {reason(error)}"


def uncounted(title: str, number: int, error: BaseException | str) -> str:
    """Return the message for a partition on which a computation failed."""
    return f"A computation on partition {number} of {_in_sentence(title)} failed: {reason(error)}"


def reason(error: BaseException | str) -> str:
    """Return the kind of an error and what it says."""
    if isinstance(error, str):
        return error
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def raised_in(text: str) -> str | None:
    """Return the kind and message of the error in the text of a trace, without the trace; None if none is.

    Engines that carry errors as text put their own beside it, so this is the first one with a message.
    """
    found = re.findall(r"^\s*((?:\w+\.)*\w*(?:Error|Exception): \S.*)$", text, re.MULTILINE)
    return next((line for line in found if not line.startswith(_OF_ENGINES)), None)


def _in_sentence(title: str) -> str:
    return title[:1].lower() + title[1:]
