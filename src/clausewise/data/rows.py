"""Taking, sampling and splitting the rows of a table."""

import math
import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, train_test_split
from sklearn.utils import _safe_indexing

from clausewise.base.parameters import ROWS, check_parameters
from clausewise.data.table import rows_as_table, unmasked

Split = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Rows to learn from, and held-out rows."""


def as_rows(X: Any) -> Any:
    """Return X if it has a shape, rows by name as a DataFrame, and anything else as an array.

    Masked cells become missing.
    """
    X = unmasked(rows_as_table(X))
    if hasattr(X, "shape"):
        return X
    array = np.asarray(X)
    if array.ndim == 0:
        raise TypeError(f"X is a {type(X).__name__}; pass an array or a DataFrame of rows.")
    # NumPy would turn numbers in a table with text into text.
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array


def raw_rows(X: Any) -> Any:
    """Return rows of any form (series, images, text) so that they can be chosen by an array of positions.

    A list becomes an array of its entries, also if these are texts or differ in length.
    """
    if hasattr(X, "iloc") and not hasattr(X, "columns"):  # a pandas Series
        return X.to_numpy()
    X = unmasked(X)
    if hasattr(X, "shape"):
        return X
    if not isinstance(X, list | tuple):
        raise TypeError(
            f"X is a {type(X).__name__}; pass an array, a DataFrame or a list with one entry per row."
        )
    try:
        array = np.asarray(X)
    except ValueError:  # entries of different lengths
        array = np.empty(len(X), dtype=object)
        array[:] = X
    return array.astype(object) if array.dtype.kind in "US" else array


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


def split_once(labels: NDArray[Any], fraction: float, seed: int) -> Split:
    """Hold out a fraction of the rows (at least one), stratified by label if each has enough rows."""
    n_rows = len(labels)
    _, counts = np.unique(labels, return_counts=True)
    n_held_out = max(1, round(fraction * n_rows))
    can_stratify = counts.min() >= 2 and min(n_held_out, n_rows - n_held_out) >= len(counts)
    learn, held_out = train_test_split(
        np.arange(n_rows),
        test_size=n_held_out,
        random_state=seed,
        stratify=labels if can_stratify else None,
    )
    return np.sort(learn), np.sort(held_out)


def random_splits(codes: NDArray[np.int32], n_splits: int, fraction: float, seed: int) -> Iterator[Split]:
    """Hold out a fraction of the rows several times, stratified by class if there are enough rows."""
    n_of_class = np.bincount(codes)
    can_stratify = (n_of_class != 1).all() and fraction * len(codes) >= len(n_of_class)
    splitter = StratifiedShuffleSplit if can_stratify else ShuffleSplit
    yield from splitter(n_splits, test_size=fraction, random_state=seed).split(codes, codes)


def fold_splits(
    codes: NDArray[np.int32], rows: NDArray[np.intp], n_folds: int, random: np.random.RandomState
) -> Iterator[Split]:
    """Hold out each fold of some rows in turn, stratified by class."""
    shuffled = random.permutation(rows)
    # The rows of each class are dealt to the folds in turn.
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    fold = np.empty(len(codes), dtype=np.int64)
    fold[order] = np.arange(len(order)) % n_folds
    for number in range(n_folds):
        is_held_out = fold[rows] == number
        yield rows[~is_held_out], rows[is_held_out]
