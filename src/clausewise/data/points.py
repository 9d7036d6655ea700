"""Rows of an encoded table as points that can be compared, and columns that belong together."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import Features
from clausewise.data.table import Matrix

# Of categories, as many as this are told apart when rows are compared; the others are rare.
_MAX_CATEGORIES: Final = 20


def positions(table: Matrix, features: Features) -> NDArray[np.float32]:
    """Return rows as points: numbers standardised, categories as indicators, missing values as the mean."""
    parts = []
    for c, n_categories in enumerate(features.n_categories.tolist()):
        column = np.asarray(table[:, c], dtype=np.float64)
        known = column[~np.isnan(column)]
        if len(known) == 0:
            continue
        if n_categories >= 0:
            codes, counts = np.unique(known, return_counts=True)
            codes = codes[np.argsort(-counts, kind="stable")[:_MAX_CATEGORIES]]
            parts.append((column[:, None] == codes).astype(np.float32))
            continue
        largest = np.abs(known).max()  # divided by first, since squares of large numbers overflow
        scaled = known / largest if largest > 0 else known
        spread, mean = scaled.std(), scaled.mean()
        if spread == 0:
            continue
        standardised = (column / largest - mean) / spread
        parts.append(np.where(np.isnan(column), 0.0, standardised).astype(np.float32)[:, None])
    return np.hstack(parts) if parts else np.zeros((len(table), 1), dtype=np.float32)


def one_hot_groups(table: Matrix, features: Features) -> dict[int, int]:
    """Return the group of each column that encodes one choice together with its neighbours."""
    is_choice = [
        n_categories < 0 and bool(np.isin(table[:, c], (0, 1)).all())
        for c, n_categories in enumerate(features.n_categories.tolist())
    ]
    group_of: dict[int, int] = {}
    start = 0
    while start < len(is_choice):
        end, total = start, np.zeros(len(table))
        while end < len(is_choice) and is_choice[end] and total.min() < 1:
            total = total + table[:, end]
            if total.max() > 1:
                break
            end += 1
        if end > start and total.min() == total.max() == 1:
            group_of |= dict.fromkeys(range(start, end), start)
            start = end
        else:
            start += 1
    return group_of
