"""Numbers of rows in partitions, which are in one of their columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.data.table import as_table
from clausewise.partitions.protocol import PartitionedRows


@dataclass(frozen=True)
class NumberColumn:
    """Returns the number of each row of a batch, which a column of it holds."""

    name: str

    def __call__(self, batch: Any, number: int | None = None) -> NDArray[np.float64]:
        """Return the number of each row of a batch."""
        table = as_table(batch)
        column = table.column((table.names or ()).index(self.name))
        if column.is_text:
            raise ValueError(f"Column '{self.name}' holds text; expected a number per row.")
        numbers = np.asarray(column.numbers(self.name), dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise ValueError(
                f"Column '{self.name}' has values that are missing or not finite; leave such rows out."
            )
        return numbers


def number_column(name: Any, rows: PartitionedRows, parameter: str) -> NumberColumn:
    """Return a column of numbers; `parameter` is what is called `name` by users, for messages."""
    if not isinstance(name, str):
        raise TypeError(
            f"{parameter} holds numbers, and these rows are read in parts; pass the name of the column that "
            "holds them."
        )
    if rows.names is None or name not in rows.names:
        raise ValueError(f"{rows.title}: there is no column '{name}', which should hold the numbers.")
    return NumberColumn(name)
