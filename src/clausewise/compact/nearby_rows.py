"""Rows near real ones, for a model to label: real rows are scarce, a model's answers are not."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clausewise import _core
from clausewise.data.features import Features
from clausewise.data.points import one_hot_groups, positions
from clausewise.data.table import Matrix

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# A row moves by this fraction of the difference between two of its nearest rows.
_STEP: Final = 0.5
_N_NEAREST: Final = 8
# Columns of at most so many values take one from a near row: a value in between may mean nothing.
_FEW_VALUES: Final = 12
# A search for neighbours compares at most so many cells, which takes some tenths of a second.
_MAX_COMPARED: Final = 3 * 10**8
_MIN_CANDIDATES: Final = 500


@dataclass(frozen=True, eq=False)
class NearbyRows:
    """Generated rows, encoded, and the position of the real row that each was made from."""

    table: Floats
    sources: Rows


def nearby_rows(
    table: Matrix, features: Features, n_wanted: int, seed: int, n_threads: int = 1
) -> NearbyRows:
    """Generate rows near those of an encoded table; fewer than three rows give none.

    A number becomes x + (a − b) / 2, where a and b are the values of two of the eight nearest rows. Whole
    numbers stay whole, and no number leaves the range of its column. Categories, and columns with up to 12
    values, are taken from the row itself or from one of the two. Neighbouring columns of 0 and 1 that add up
    to 1 on every row encode one choice, and are taken together. What is missing stays missing.
    """
    n_rows = len(table)
    if n_rows < 3 or n_wanted == 0:
        return NearbyRows(np.empty((0, table.shape[1])), np.empty(0, dtype=np.intp))
    random = np.random.RandomState(seed)
    sources = _spread(n_rows, n_wanted, random)
    first, second = _two_neighbours(table, features, sources, random, n_threads)
    rows = np.array(table[sources], dtype=np.float64)
    group_of = one_hot_groups(table, features)
    is_from_first: dict[int, NDArray[np.bool_]] = {}
    for c, n_categories in enumerate(features.n_categories.tolist()):
        column = np.asarray(table[:, c], dtype=np.float64)
        own, a, b = column[sources], column[first], column[second]
        values = np.unique(column[~np.isnan(column)])
        if n_categories >= 0 or len(values) <= _FEW_VALUES:
            group = group_of.get(c, c)
            if group not in is_from_first:
                is_from_first[group] = random.random_sample(len(sources)) < 0.5
            is_taken = is_from_first[group] & ~np.isnan(own) & ~np.isnan(a)
            rows[is_taken, c] = a[is_taken]
            continue
        with np.errstate(over="ignore"):  # what leaves the range is clipped
            moved = own + _STEP * (a - b)
        if (values == np.round(values)).all():
            moved = np.round(moved)
        moved = np.clip(moved, values[0], values[-1]).astype(table.dtype)
        rows[:, c] = np.where(np.isnan(moved), own, moved)
    return NearbyRows(rows, sources)


def _spread(n_rows: int, n_wanted: int, random: np.random.RandomState) -> Rows:
    """Return the source of each row to generate; no row has more than one more than another."""
    each, n_more = divmod(n_wanted, n_rows)
    more = np.sort(random.permutation(n_rows)[:n_more])
    return np.concatenate([np.repeat(np.arange(n_rows), each), more])


def _two_neighbours(
    table: Matrix, features: Features, sources: Rows, random: np.random.RandomState, n_threads: int
) -> tuple[Rows, Rows]:
    """Draw two of the nearest rows of each source; of a large table, they are looked for in a sample."""
    n_rows = len(table)
    points = positions(table, features)
    asked, place = np.unique(sources, return_inverse=True)
    n_compared = _MAX_COMPARED // (len(asked) * points.shape[1])
    n_candidates = min(n_rows, max(n_compared, _MIN_CANDIDATES))
    candidates = np.sort(random.permutation(n_rows)[:n_candidates]).astype(np.int32)
    n_nearest = min(_N_NEAREST, n_candidates - 1)
    nearest = _core.nearest_rows(points, asked.astype(np.int32), candidates, n_nearest, n_threads)
    nearest = nearest.reshape(len(asked), n_nearest)
    drawn = random.random_sample((len(sources), n_nearest)).argsort(axis=1, kind="stable")[:, :2]
    two: Rows = np.take_along_axis(nearest[place], drawn, axis=1).astype(np.intp)
    return two[:, 0], two[:, 1]
