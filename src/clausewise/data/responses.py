"""Numbers to predict: the one reader of responses (targets of regression)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.data.table import unmasked


def read_responses(values: Any, n_rows: int, name: str = "y") -> NDArray[np.float64]:
    """Return one finite number per row.

    One column of a table or a two-dimensional array with one column is taken for its values, as models with
    one output return them.
    """
    try:
        array = np.asarray(unmasked(values))
        if array.dtype.kind not in "biuf":
            array = _numbers(array)
        numbers = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not one number per row: {error}") from None
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.shape != (n_rows,):
        raise ValueError(f"{name} has shape {numbers.shape}; expected ({n_rows},), one number per row.")
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise ValueError(
            f"{name} has {numbers[wrong[0]]} in row {wrong[0]}; expected finite numbers, so drop such rows."
        )
    return numbers


def _numbers(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return objects as numbers; text is refused, even if it looks like a number, and None is missing."""
    for value in array.ravel().tolist():
        if isinstance(value, str | bytes):
            raise ValueError(f"{value!r} is text.")
    return array.astype(np.float64)
