"""Binned tables, with at most 254 bins per column, and conversion between sets of bins and rule terms."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise import _core
from clausewise.data.features import Features, require_finite
from clausewise.data.table import Matrix
from clausewise.rules.columns import NO_SET
from clausewise.rules.decimals import shortest_decimal
from clausewise.rules.stored import StoredRules

# A premise in bins: the accepted bins of each tested column, as four words of 64 bits, sorted by column.
BinSet = tuple[int, int, int, int]
Box = tuple[tuple[int, BinSet], ...]

# With many columns, some separate the rows by chance; fewer thresholds make that rarer and the search faster.
MAX_BINS, MAX_BINS_WIDE, MANY_COLUMNS = 128, 32, 200
_MAX_CATEGORIES = 254
# Of `core/compact/gradient_histogram.cpp`, whose error would not say what to do.
MAX_ROWS: Final = 2**28


@dataclass(frozen=True, eq=False)
class Column:
    """The meaning of the bins of one column.

    Attributes
    ----------
    last : ndarray of float
        Numeric columns: the greatest training value of each bin.
    following : ndarray of float
        Numeric columns: the training value that follows it; infinite for the last bin.
    codes : ndarray of int, optional
        Categorical columns: the code of each bin.
    n_without_bin : int
        Categorical columns: number of further categories that occur and are treated as missing.
    tests_missing : bool
        Whether the bin for missing values holds some, and nothing else.
    """

    last: NDArray[np.float64]
    following: NDArray[np.float64]
    codes: NDArray[np.int64] | None = None
    n_without_bin: int = 0
    tests_missing: bool = False

    @property
    def n_bins(self) -> int:
        """Number of bins, not counting the one for missing values."""
        return len(self.last) if self.codes is None else len(self.codes)

    @property
    def n_values(self) -> int:
        """Number of categories that occur; −1 for numeric columns."""
        return -1 if self.codes is None else len(self.codes) + self.n_without_bin

    def threshold(self, bin_index: int) -> float:
        """Return the shortest decimal between this bin and the next."""
        low = float(self.last[bin_index])
        return shortest_decimal(low, float(self.following[bin_index]), low)

    def bins_of(self, values: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Return the bin of each value; the one after the last holds missing values and rare categories."""
        is_known = ~np.isnan(values)
        if self.codes is None:
            # Between two bins, values belong to the nearer one. Between adjacent doubles there is nothing.
            last, following = self.last[:-1], self.following[:-1]
            with np.errstate(over="ignore"):
                middle = last + (following - last) / 2
            borders = np.where(middle < following, middle, last)
            return np.where(is_known, np.searchsorted(borders, values), self.n_bins).astype(np.uint8)
        whole = np.where(is_known, values, -1).astype(np.int64)
        nearest = np.minimum(np.searchsorted(self.codes, whole), max(self.n_bins - 1, 0))
        has_bin = self.codes[nearest] == whole if self.n_bins else np.zeros(len(values), dtype=bool)
        return np.where(has_bin, nearest, self.n_bins).astype(np.uint8)

    def bins_between(self, low: float, high: float) -> BinSet:
        """Return the bins that best match the interval (low, high]; at least one."""
        first = int(np.searchsorted(self.last, low, side="right")) if low > -np.inf else 0
        end = int(np.searchsorted(self.last, high, side="right")) if high < np.inf else self.n_bins
        first = min(first, self.n_bins - 1)
        return bin_set(range(first, max(end, first + 1)))


@dataclass(frozen=True, eq=False)
class Bins:
    """Binned training rows; made by `Bins.learn`."""

    features: Features
    columns: tuple[Column, ...]
    core: _core.ByteMatrix

    @classmethod
    def learn(
        cls, table: Matrix, features: Features, max_bins: int | None = None, further: Matrix | None = None
    ) -> "Bins":
        """Bin an encoded table, with about the same number of rows in each bin of a column.

        The rows of `further` follow those of the table, in the bins of the table.
        """
        require_finite(table, features)
        if max_bins is None:
            max_bins = MAX_BINS_WIDE if len(features) > MANY_COLUMNS else MAX_BINS
        columns = [
            _numeric(values, max_bins) if n_categories < 0 else _categorical(values, n_categories)
            for values, n_categories in zip(_columns_of(table), features.n_categories.tolist(), strict=True)
        ]
        return cls(features, tuple(columns), _binned(columns, table, further))

    def of_rows(self, table: Matrix) -> "Bins":
        """Return other rows in the same bins."""
        return replace(self, core=_binned(self.columns, table))

    def covered(self, boxes: Sequence[Box]) -> NDArray[np.uint64]:
        """Return, for each box, one bit per training row: whether the box covers it."""
        words = self.core.covered(*packed(boxes))
        return words.reshape(len(boxes), -(-self.core.n_rows // 64))

    def reading_costs(self, boxes: Sequence[Box]) -> NDArray[np.int32]:
        """Return what a person reads in each box as the premise of a rule, the rule itself included."""
        costs: NDArray[np.int32] = 1 + self.core.reading_cost(*packed(boxes))
        return costs

    def boxes_of(self, rules: StoredRules[Any]) -> list[Box]:
        """Return the premises of rules as boxes, with thresholds moved to the borders of bins."""
        stored = rules.columns
        boxes = []
        for rule in range(len(rules)):
            terms: dict[int, BinSet] = {}
            for term in range(int(stored.starts[rule]), int(stored.starts[rule + 1])):
                feature = int(stored.feature[term])
                column = self.columns[feature]
                if column.n_bins == 0:
                    continue
                if stored.missing[term]:
                    terms[feature] = bin_set([column.n_bins])
                elif column.codes is None:
                    terms[feature] = column.bins_between(float(stored.low[term]), float(stored.high[term]))
                elif stored.value_set[term] != NO_SET:
                    accepted = np.isin(column.codes, stored.codes(int(stored.value_set[term])))
                    terms[feature] = bin_set(np.flatnonzero(accepted).tolist())
            boxes.append(tuple(sorted(terms.items())))
        return boxes

    def terms_of(self, boxes: Sequence[Box]) -> dict[str, Any]:
        """Return boxes as the arguments of `RuleSet.from_arrays` that describe premises."""
        feature, low, high, value_set, missing = [], [], [], [], []
        value_sets: list[list[int]] = []
        for box in boxes:
            for c, accepted in box:
                column, bins = self.columns[c], bins_in(accepted)
                feature.append(c)
                missing.append(column.n_bins in bins)
                low.append(-np.inf)
                high.append(np.inf)
                value_set.append(NO_SET)
                if missing[-1]:
                    continue
                if column.codes is None:
                    low[-1] = column.threshold(bins[0] - 1) if bins[0] > 0 else -np.inf
                    high[-1] = column.threshold(bins[-1]) if bins[-1] < column.n_bins - 1 else np.inf
                else:
                    value_set[-1] = len(value_sets)
                    value_sets.append(self._accepted_codes(c, bins))
        return {
            "starts": np.cumsum([0, *map(len, boxes)]),
            "feature": np.array(feature, dtype=np.int32),
            "low": np.array(low, dtype=np.float64),
            "high": np.array(high, dtype=np.float64),
            "value_set": np.array(value_set, dtype=np.int32),
            "missing": np.array(missing, dtype=bool),
            "value_sets": value_sets,
        }

    def _accepted_codes(self, c: int, bins: Sequence[int]) -> list[int]:
        """Return the categories of a value set; one that excludes few also accepts those without rows."""
        column = self.columns[c]
        assert column.codes is not None
        named = column.codes[bins]
        if 2 * len(bins) <= column.n_values or column.n_without_bin:
            return [int(code) for code in named]
        excluded = np.setdiff1d(column.codes, named)
        accepted: list[int] = np.setdiff1d(np.arange(self.features.n_categories[c]), excluded).tolist()
        return accepted


def _columns_of(table: Matrix) -> Iterator[NDArray[np.float64]]:
    """Iterate over the columns of a table, as contiguous arrays."""
    for c in range(table.shape[1]):
        yield np.ascontiguousarray(table[:, c], dtype=np.float64)


def require_searchable(n_rows: int) -> None:
    """Raise an error for more rows than rules can be searched on at once."""
    if n_rows > MAX_ROWS:
        raise ValueError(
            f"There are {n_rows:,} rows, and rules are searched for on at most {MAX_ROWS:,} at once; pass "
            "clausewise.partitioned(X), whose rules are searched for on a sample and counted on all rows."
        )


def _binned(columns: Sequence[Column], *tables: Matrix | None) -> _core.ByteMatrix:
    """Return the rows of some tables, concatenated, as bins."""
    given = [table for table in tables if table is not None]
    require_searchable(sum(map(len, given)))
    bins = np.empty((len(columns), sum(map(len, given))), dtype=np.uint8)
    start = 0
    for table in given:
        for values, column, found in zip(_columns_of(table), columns, bins, strict=True):
            found[start : start + len(table)] = column.bins_of(values)
        start += len(table)
    return _core.ByteMatrix(
        bins,
        np.array([column.n_bins for column in columns], dtype=np.int32),
        np.array([column.n_values for column in columns], dtype=np.int32),
        np.array([column.tests_missing for column in columns], dtype=np.uint8),
    )


def _numeric(values: NDArray[np.float64], max_bins: int) -> Column:
    is_known = ~np.isnan(values)
    distinct, counts = np.unique(values[is_known], return_counts=True)
    last = distinct
    if len(distinct) > max_bins:
        last = distinct[_round_borders(distinct, np.cumsum(counts), max_bins)]
    following = np.append(distinct, np.inf)[np.searchsorted(distinct, last, side="right")]
    return Column(last, following, tests_missing=not is_known.all())


def _round_borders(
    distinct: NDArray[np.float64], n_up_to: NDArray[np.int64], n_bins: int
) -> NDArray[np.int64]:
    """Return the last distinct value of each bin, so that bins have about the same number of rows.

    A border may move by a third of a bin to where a rounder number separates the rows.
    """
    n_rows = int(n_up_to[-1])
    gaps = n_up_to[:-1]  # the border after each distinct value but the last
    roundness = _roundness(distinct[:-1], distinct[1:])
    ranks = np.arange(1, n_bins) * n_rows / n_bins
    tolerance = n_rows / n_bins / 3
    # Rounded up to whole numbers, which gives the same places without a conversion of all counts.
    first = np.searchsorted(gaps, np.ceil(ranks - tolerance).astype(np.int64))
    end = np.searchsorted(gaps, np.ceil(ranks + tolerance).astype(np.int64))
    nearest = np.searchsorted(n_up_to, np.ceil(ranks).astype(np.int64))
    borders = [len(distinct) - 1]
    for at, rank in enumerate(ranks.tolist()):
        near = slice(first[at], end[at])
        if first[at] >= end[at]:  # many rows have the same value
            borders.append(int(nearest[at]))
            continue
        roundest = first[at] + np.flatnonzero(roundness[near] == roundness[near].max())
        borders.append(int(roundest[np.abs(gaps[roundest] - rank).argmin()]))
    return np.unique(borders)


def _roundness(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the exponent of the largest power of ten with a multiple in [low, high)."""
    with np.errstate(over="ignore", invalid="ignore"):
        widest = np.floor(np.log10(np.maximum(high - low, 1e-300)))
        largest = np.ceil(np.log10(np.maximum(np.maximum(np.abs(low), np.abs(high)), 1e-300)))
    found = widest.astype(np.int64)
    for exponent in range(int(found.min()), int(largest.max()) + 1):
        step = 10.0**exponent
        if not 0 < step < np.inf:
            continue
        multiple = np.ceil(low / step) * step
        found[(low <= multiple) & (multiple < high)] = exponent
    return found


def _categorical(values: NDArray[np.float64], n_categories: int) -> Column:
    """Make a bin for each category that occurs; beyond 254, the rarest are treated as missing."""
    is_known = values < n_categories  # false for NaN and for the code of an unknown category
    codes, counts = np.unique(values[is_known].astype(np.int64), return_counts=True)
    n_without_bin = max(len(codes) - _MAX_CATEGORIES, 0)
    if n_without_bin:
        codes = np.sort(codes[np.argsort(-counts, kind="stable")[:_MAX_CATEGORIES]])
    column = Column(np.empty(0), np.empty(0), codes, n_without_bin)
    is_missing = np.isnan(values)
    has_no_bin = column.bins_of(values) == column.n_bins
    return replace(column, tests_missing=bool(is_missing.any() and np.array_equal(is_missing, has_no_bin)))


# --- The core's format for boxes ---


def bin_set(bins: Sequence[int]) -> BinSet:
    """Return a set of bins as four words."""
    bits = sum(1 << int(b) for b in bins)
    mask = (1 << 64) - 1
    return (bits & mask, bits >> 64 & mask, bits >> 128 & mask, bits >> 192)


def bins_in(accepted: BinSet) -> list[int]:
    """Return the bins of a set, ascending."""
    return [64 * w + b for w, word in enumerate(accepted) for b in range(64) if word >> b & 1]


Packed = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64]]


def packed(boxes: Sequence[Box]) -> Packed:
    """Return starts, columns and accepted bins of all boxes, concatenated."""
    starts = np.cumsum([0, *map(len, boxes)]).astype(np.int32)
    columns = np.array([column for box in boxes for column, _ in box], dtype=np.int32)
    accepted = np.array([word for box in boxes for _, words in box for word in words], dtype=np.uint64)
    return starts, columns, accepted


def unpacked(
    starts: NDArray[np.int32], columns: NDArray[np.int32], accepted: NDArray[np.uint64]
) -> list[Box]:
    """Return the boxes from the arrays that `packed` returns."""
    sets: list[BinSet] = [(a, b, c, d) for a, b, c, d in accepted.reshape(-1, 4).tolist()]
    terms = list(zip(columns.tolist(), sets, strict=True))
    return [tuple(terms[begin:end]) for begin, end in pairwise(starts.tolist())]
