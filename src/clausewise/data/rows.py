"""Taking and sampling rows of a table."""

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from clausewise.base.parameters import ROWS, check_parameters


def as_rows(X: Any) -> Any:
    """Return X if it has a shape, otherwise X as an array."""
    if hasattr(X, "shape"):
        return X
    array = np.asarray(X)
    if array.ndim == 0:
        raise TypeError(f"X is a {type(X).__name__}; pass an array or a DataFrame of rows.")
    # NumPy would turn numbers in a table with text into text.
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return these rows of an array or a DataFrame, as the same kind of table."""
    if hasattr(X, "column_names") and hasattr(X, "take"):  # pyarrow
        return X.take(rows)
    return _safe_indexing(X, rows)


def row_limit(max_rows: int | float | None, n_rows: int) -> int:
    """Return the number of rows that `max_rows` means: a count, a fraction of the rows, or None for all."""
    if max_rows is None:
        return n_rows
    check_parameters({"max_rows": ROWS}, {"max_rows": max_rows})
    is_count = isinstance(max_rows, numbers.Integral)
    return min(n_rows, int(max_rows) if is_count else math.ceil(max_rows * n_rows))


def stratified_rows(
    codes: NDArray[np.int32], n_wanted: int, random: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw rows at random, stratified by class; return them in ascending order.

    Each class that occurs keeps at least one row if `n_wanted` allows it.
    """
    n_rows = len(codes)
    if n_wanted >= n_rows:
        return np.arange(n_rows)
    present, per_class = np.unique(codes, return_counts=True)
    share = per_class * (n_wanted / n_rows)
    quota = np.floor(share).astype(np.int64)
    if n_wanted >= len(present):
        quota = np.maximum(quota, 1)
    # Rounding down leaves rows to distribute; the minimum of one row per class can take too many.
    while quota.sum() < n_wanted:
        quota[np.argmax(share - quota)] += 1
    while quota.sum() > n_wanted:
        quota[np.argmax(np.where(quota > 1, quota - share, -np.inf))] -= 1
    drawn = [
        random.choice(np.flatnonzero(codes == code), size=n, replace=False)
        for code, n in zip(present.tolist(), quota.tolist(), strict=True)
    ]
    return np.sort(np.concatenate(drawn))
