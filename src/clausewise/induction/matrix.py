"""The table that inducers learn from, prepared once and shared by all fits on it."""

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

# Which of the decimals that separate the training rows: the shortest, and among these the one closest to the
# value to the left ("readable") or to the middle of the gap ("middle"); or the shortest of those that stand
# for the value to the left in single precision ("exact"), which is where C5.0 itself puts a threshold.
ThresholdStyle = Literal["exact", "readable", "middle"]
# Categories of a column for trees that ask for one of them at a time.
MAX_INDICATORS = 200


@dataclass(frozen=True, eq=False)
class PreparedMatrix:
    """Rows with their features, and the same rows as ranks in the compiled core.

    Preparing costs one sort per column. Any number of fits, also at the same time on several threads, then
    read it without changing it. Made by `PreparedMatrix.prepare`. An array is not copied, so it must not be
    changed as long as the matrix is in use.

    Attributes
    ----------
    features : Features
        Names, kinds and categories of the columns.
    table : ndarray of shape (n_rows, n_columns)
        The encoded rows: numbers, category codes, NaN where missing.
    core : clausewise._core.Matrix
        Ranks of the values in single precision.
    """

    features: Features
    table: Matrix
    core: _core.Matrix

    @classmethod
    def prepare(
        cls, X: Any, *, features: Features | None = None, n_jobs: int | None = None
    ) -> "PreparedMatrix":
        """Encode and rank the rows of a table.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_columns)
            Rows as `Features.learn` takes them. Infinite values are an error, missing ones are not.
        features : Features, optional
            The columns, if they are already known.
        n_jobs : int, optional
            Number of threads; all usable cores unless given.
        """
        known = Features.learn(X) if features is None else features
        return cls.of_encoded(known.encode(X), known, n_jobs=n_jobs)

    @classmethod
    def of_encoded(cls, table: Matrix, features: Features, *, n_jobs: int | None = None) -> "PreparedMatrix":
        """Rank rows that `features.encode` has already made numbers of."""
        require_finite(table, features)
        if (np.abs(table).max(initial=0.0, where=~np.isnan(table))) > np.finfo(np.float32).max:
            raise ValueError(
                "X holds a number beyond single precision (3.4e38, practically infinity); rescale the column."
            )
        n_values = np.maximum(features.n_categories, 0)
        return cls(features, table, _core.prepare_matrix(table, n_values, threads.resolve(n_jobs)))

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
        """The rows as scikit-learn's trees take them; made at the first use and shared by all later ones."""
        return RankTable.of(self)

    def thresholds(
        self, columns: NDArray[Any], ranks: NDArray[Any], style: ThresholdStyle
    ) -> NDArray[np.float64]:
        """For each (column, rank) a decimal that separates this rank from the next; see `ThresholdStyle`."""
        if len(columns) == 0:
            return np.empty(0)
        pairs = np.stack([columns, ranks], axis=1).astype(np.int32)
        unique, place = np.unique(pairs, axis=0, return_inverse=True)
        left, right = self.core.gaps(self.table, *np.ascontiguousarray(unique.T))
        if style == "exact":
            right = np.minimum(right, _end_of_single(left))
        found = [
            # Behind the greatest value there is no gap; the value itself is the threshold.
            low if np.isinf(high) else shortest_decimal(low, high, None if style == "middle" else low)
            for low, high in zip(left.tolist(), right.tolist(), strict=True)
        ]
        return np.array(found)[place.ravel()]


@dataclass(frozen=True, eq=False)
class RankTable:
    """Numeric columns as ranks, categories as one 0/1 column each, NaN where missing.

    Trees grown on ranks make the same tests as on the values, and a threshold is known exactly.

    Attributes
    ----------
    table : ndarray of float32, of shape (n_rows, n_rank_columns)
        Ranks (whole numbers, exact in single precision) and indicators.
    feature, code : ndarray of int, of shape (n_rank_columns,)
        The feature behind each column, and the category that an indicator stands for (−1 for ranks).
    """

    table: NDArray[np.float32]
    feature: NDArray[np.int32]
    code: NDArray[np.int32]

    @classmethod
    def of(cls, matrix: PreparedMatrix) -> "RankTable":
        """The table of a prepared matrix."""
        check_indicators(matrix.features)
        n_columns = np.maximum(matrix.features.n_categories, 1)
        feature = np.repeat(np.arange(matrix.n_columns, dtype=np.int32), n_columns)
        table = np.empty((matrix.n_rows, len(feature)), dtype=np.float32, order="F")
        code = np.full(len(feature), -1, dtype=np.int32)
        place = 0
        for column, n_categories in enumerate(matrix.features.n_categories.tolist()):
            ranks = matrix.core.ranks(column)
            parts = [ranks] if n_categories < 0 else [ranks == value for value in range(n_categories)]
            for value, part in enumerate(parts):
                table[:, place] = np.where(ranks < 0, np.nan, part)
                code[place] = value if n_categories >= 0 else -1
                place += 1
        return cls(table[:, :place], feature[:place], code[:place])


def check_indicators(features: Features) -> None:
    """Raise a ValueError for a column with more categories than trees that ask for single ones can take."""
    for name, n_categories in zip(features.names, features.n_categories.tolist(), strict=True):
        if n_categories > MAX_INDICATORS:
            raise ValueError(
                f"Column '{name}' has {n_categories:,} categories, trees that ask for one at a time take at "
                f"most {MAX_INDICATORS}; group rare ones, leave the column out, or use C5.0."
            )


def _end_of_single(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each double the end of the doubles that round to the same single-precision number."""
    single = values.astype(np.float32)
    with np.errstate(over="ignore"):  # behind the greatest single comes infinity
        above = np.nextafter(single, np.float32(np.inf)).astype(np.float64)
    middle = single.astype(np.float64) / 2 + above / 2
    # The end must lie above the value, also where the value itself is the middle and rounds down.
    return np.maximum(middle, np.nextafter(values, np.inf))
