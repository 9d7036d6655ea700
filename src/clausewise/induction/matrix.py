"""The table that inducers learn from, prepared once and shared by all fits."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clausewise import _core
from clausewise.base import threads
from clausewise.data.features import Features, require_finite
from clausewise.data.table import Matrix
from clausewise.rules.decimals import shortest_decimal

# Which decimal separates the training rows: the shortest one, and among equally short ones the closest to the
# value on the left ("readable") or to the middle of the gap ("middle"); or the shortest decimal that equals
# the value on the left in single precision ("exact"), which is where C5.0 itself puts a threshold.
ThresholdStyle = Literal["exact", "readable", "middle"]
# Most categories of a column for trees that test one category at a time.
MAX_INDICATORS = 200
# A column whose range spans this many numbers of single precision is precise enough as it is.
_MIN_STEPS = 2**14


@dataclass(frozen=True, eq=False)
class PreparedMatrix:
    """Rows with their features, and the same rows as ranks in the compiled core.

    Made by `PreparedMatrix.prepare`. Its first use costs one sort per column. Any number of fits then read it
    without changing it, also in parallel threads. An array is not copied and must not be changed while the
    matrix is in use.

    Attributes
    ----------
    features : Features
        Names, kinds and categories of the columns.
    table : ndarray of shape (n_rows, n_columns)
        The encoded rows: numbers, category codes, NaN where missing.
    n_jobs : int, optional
        Number of threads that sort; by default all usable cores.
    keeps_distinct : bool
        Whether values stay apart that are equal in single precision.

    Examples
    --------
    >>> import pandas as pd
    >>> from clausewise.induction import PreparedMatrix
    >>> people = pd.DataFrame({"age": [25, 60, 41], "job": ["nurse", "cook", "nurse"]})
    >>> matrix = PreparedMatrix.prepare(people)
    >>> matrix.n_rows, matrix.features.kinds
    (3, ('numeric', 'categorical'))
    >>> matrix.table
    array([[25.,  1.],
           [60.,  0.],
           [41.,  1.]])
    """

    features: Features
    table: Matrix
    n_jobs: int | None = None
    keeps_distinct: bool = False

    @classmethod
    def prepare(
        cls, X: Any, *, features: Features | None = None, n_jobs: int | None = None
    ) -> "PreparedMatrix":
        """Encode the rows of a table, to rank their values.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_columns)
            Rows as `Features.learn` takes them. Values may be missing but not infinite.
        features : Features, optional
            The columns, if already known.
        n_jobs : int, optional
            Number of threads; by default all usable cores.
        """
        known = Features.learn(X) if features is None else features
        return cls.of_encoded(known.encode(X), known, n_jobs=n_jobs)

    @classmethod
    def of_encoded(
        cls,
        table: Matrix,
        features: Features,
        *,
        n_jobs: int | None = None,
        keeps_distinct: bool = False,
    ) -> "PreparedMatrix":
        """Take rows already encoded by `features.encode`, to rank their values.

        Parameters
        ----------
        table : ndarray of shape (n_rows, n_columns)
            The encoded rows.
        features : Features
            The columns.
        n_jobs : int, optional
            Number of threads; by default all usable cores.
        keeps_distinct : bool, default False
            Keep values apart that are equal in single precision, which C5.0 computes in, such as the seconds
            of a day counted from 1970; see `collapsed_columns`. Other columns are ranked as without it.
        """
        require_finite(table, features)
        is_known = ~np.isnan(table)
        largest = max(table.max(initial=0.0, where=is_known), -table.min(initial=0.0, where=is_known))
        if largest > np.finfo(np.float32).max:
            raise ValueError(
                "X contains a number beyond single precision (above 3.4e38); rescale the column."
            )
        return cls(features, table, n_jobs, keeps_distinct)

    @cached_property
    def core(self) -> _core.Matrix:
        """The rows as ranks in the compiled core, which take four times the memory of the table."""
        ranked = _with_distinct_values(self.table, self.features) if self.keeps_distinct else self.table
        n_values = np.maximum(self.features.n_categories, 0)
        return _core.prepare_matrix(ranked, n_values, threads.resolve(self.n_jobs))

    def rank(self) -> None:
        """Rank the values now, not when they are first used."""
        self.core  # noqa: B018

    def forget_ranks(self) -> None:
        """Free the memory of the ranks; the next use would compute them again."""
        self.__dict__.pop("core", None)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.table.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.table.shape[1])

    @cached_property
    def rank_table(self) -> "RankTable":
        """The rows as scikit-learn's trees take them, computed on first use."""
        return RankTable.of(self)

    def thresholds(
        self, columns: NDArray[Any], ranks: NDArray[Any], style: ThresholdStyle
    ) -> NDArray[np.float64]:
        """Return for each (column, rank) a decimal between this rank and the next; see `ThresholdStyle`."""
        if len(columns) == 0:
            return np.empty(0)
        pairs = np.stack([columns, ranks], axis=1).astype(np.int32)
        unique, place = np.unique(pairs, axis=0, return_inverse=True)
        left, right = self.core.gaps(self.table, *np.ascontiguousarray(unique.T))
        if style == "exact":
            right = np.minimum(right, _end_of_single(left))
        found = [
            # There is no gap above the greatest value; the value itself is the threshold.
            low if np.isinf(high) else shortest_decimal(low, high, None if style == "middle" else low)
            for low, high in zip(left.tolist(), right.tolist(), strict=True)
        ]
        return np.array(found)[place.ravel()]


@dataclass(frozen=True, eq=False)
class RankTable:
    """Numeric columns as ranks, categories as one 0/1 column each, NaN where missing.

    Trees grown on ranks make the same tests as trees grown on the values, and their thresholds are exact.

    Attributes
    ----------
    table : ndarray of float32, of shape (n_rows, n_rank_columns)
        Ranks (whole numbers, exact in single precision) and indicators.
    feature, code : ndarray of int, of shape (n_rank_columns,)
        The feature of each column, and the category of an indicator (−1 for ranks).
    """

    table: NDArray[np.float32]
    feature: NDArray[np.int32]
    code: NDArray[np.int32]

    @classmethod
    def of(cls, matrix: PreparedMatrix) -> "RankTable":
        """Return the table of a prepared matrix."""
        check_indicators(matrix.features)
        n_columns = np.maximum(matrix.features.n_categories, 1)
        feature = np.repeat(np.arange(matrix.n_columns, dtype=np.int32), n_columns)
        table = np.empty((matrix.n_rows, len(feature)), dtype=np.float32, order="F")
        code = np.full(len(feature), -1, dtype=np.int32)
        place = 0
        for column, n_categories in enumerate(matrix.features.n_categories.tolist()):
            ranks = matrix.core.ranks(column)
            # A column without any category stays one column, of missing values.
            parts = [ranks] if n_categories < 1 else [ranks == value for value in range(n_categories)]
            for value, part in enumerate(parts):
                table[:, place] = np.where(ranks < 0, np.nan, part)
                code[place] = value if n_categories > 0 else -1
                place += 1
        return cls(table, feature, code)


def collapsed_columns(table: Matrix, features: Features) -> list[int]:
    """Return the numeric columns that have far fewer distinct values in single precision.

    These are columns whose whole range spans fewer than 2^14 numbers of single precision, because it is small
    beside the numbers themselves, and in which different values become equal.
    """
    if table.dtype != np.float64 or len(table) == 0:
        return []
    known = ~np.isnan(table)
    lowest = table.min(axis=0, initial=np.inf, where=known)
    highest = table.max(axis=0, initial=-np.inf, where=known)
    largest = np.maximum(np.abs(lowest), np.abs(highest))
    is_narrow = highest - lowest < _MIN_STEPS * largest * float(np.finfo(np.float32).eps)
    candidates = np.flatnonzero(is_narrow & (highest > lowest) & (features.n_categories < 0))
    return [
        column for column in candidates.tolist() if _collapses(np.asarray(table[:, column], dtype=np.float64))
    ]


def _collapses(values: NDArray[np.float64]) -> bool:
    distinct = np.unique(values[~np.isnan(values)])
    return len(np.unique(distinct.astype(np.float32))) < len(distinct)


def _with_distinct_values(table: Matrix, features: Features) -> Matrix:
    """The table with collapsed columns moved to 0 or, where that is not exact or not enough, as ranks."""
    collapsed = collapsed_columns(table, features)
    if not collapsed:
        return table
    ranked = table.copy()
    for column in collapsed:
        values = np.asarray(table[:, column], dtype=np.float64)
        lowest = np.nanmin(values)
        moved = values - lowest
        is_exact = np.array_equal(moved + lowest, values, equal_nan=True)
        if not is_exact or _collapses(moved):
            _, ranks = np.unique(values, return_inverse=True)
            moved = np.where(np.isnan(values), np.nan, ranks)
        ranked[:, column] = moved
    return ranked


def check_indicators(features: Features) -> None:
    """Raise a ValueError for a column with too many categories for trees that test one at a time."""
    for name, n_categories in zip(features.names, features.n_categories.tolist(), strict=True):
        if n_categories > MAX_INDICATORS:
            raise ValueError(
                f"Column '{name}' has {n_categories:,} categories; trees that test one category at a time "
                f"take at most {MAX_INDICATORS}. Merge rare categories, drop the column, or use C5.0."
            )


def _end_of_single(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each double an upper end of the doubles that round to the same single-precision number."""
    single = values.astype(np.float32)
    with np.errstate(over="ignore"):  # the next number after the greatest single is infinity
        above = np.nextafter(single, np.float32(np.inf)).astype(np.float64)
    middle = single.astype(np.float64) / 2 + above / 2
    # The end must be above the value, even if the value itself is the middle and rounds down.
    return np.maximum(middle, np.nextafter(values, np.inf))
