"""Evaluating rules on rows in the compiled core. Matrices here are encoded (`Features.encode`)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clausewise import _core
from clausewise.base import threads
from clausewise.data.features import Features
from clausewise.data.table import Matrix
from clausewise.rules.abstention import ABSTAINS, margins
from clausewise.rules.columns import RuleColumns
from clausewise.rules.sums import scaled_sum
from clausewise.rules.voting import Jury, Voting, juries

_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class BitMatrix:
    """Which rules (rows) fire on which rows of a table (columns), one bit each.

    Bit i of `words[r, w]` is 1 if rule r fires on table row 64·w + i; bits past the last row are 0.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> text = "IF age > 50 THEN high IF debt > 8 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> fires = rules.fires([[60, 9], [60, 0], [30, 0]])
    >>> fires.dense()
    array([[ True,  True, False],
           [ True, False, False]])
    >>> fires.rows_per_rule().tolist(), fires.rules_per_row().tolist()
    ([2, 1], [2, 1, 0])
    """

    words: NDArray[np.uint64]
    n_rows: int

    @property
    def shape(self) -> tuple[int, int]:
        """(number of rules, number of rows)."""
        return len(self.words), self.n_rows

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, rule: int) -> NDArray[np.bool_]:
        """Return the rows on which one rule fires, as booleans."""
        return self._unpacked(self.words[rule])

    def dense(self) -> NDArray[np.bool_]:
        """Return all bits as a boolean array of shape (rules, rows)."""
        return self._unpacked(self.words)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("A BitMatrix cannot be viewed as an array without a copy; leave out copy=False.")
        return self.dense() if dtype is None else self.dense().astype(dtype)

    def rows_per_rule(self) -> NDArray[np.int64]:
        """Count the rows on which each rule fires."""
        return _core.count_bits_per_rule(self.words)

    def rules_per_row(self) -> NDArray[np.int64]:
        """Count the rules that fire on each row."""
        return _core.count_bits_per_row(self.words, self.n_rows)

    def _unpacked(self, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        as_bytes = words.astype("<u8", copy=False).view(np.uint8)
        return np.unpackbits(as_bytes, axis=-1, count=self.n_rows, bitorder="little").view(np.bool_)

    def __repr__(self) -> str:
        return f"<BitMatrix: {len(self):,} rules × {self.n_rows:,} rows>"


@dataclass(frozen=True, eq=False)
class RulesOnRow:
    """The rules that fire on a row, and those that only one term keeps from firing, with this term."""

    fired: NDArray[np.int32]
    near: NDArray[np.int32]
    failing_terms: NDArray[np.int64]


# Bounds the memory of counting: rules × rows of one block, as booleans and as bits.
_DENSE_BITS = 2**24
_PACKED_BITS = 2**28


class PremiseEvaluator:
    """Premises compiled for encoded matrices. Results do not depend on the number of threads.

    `max_table_bytes` bounds the lookup tables in memory at one time; very large rule sets are evaluated in
    groups that stay below it.
    """

    def __init__(
        self, columns: RuleColumns, features: Features, *, max_table_bytes: int = 64 * 2**20
    ) -> None:
        self._columns = columns
        self._n_categories = features.n_categories
        self._max_table_bytes = max_table_bytes
        self._index = self._index_of(columns)

    def fires(self, matrix: Matrix, n_jobs: int | None = None) -> BitMatrix:
        """Return which rules fire on which rows."""
        words = np.empty((self._columns.n_rules, -(-len(matrix) // 64)), dtype=np.uint64)
        self._index.fires(matrix, words, threads.resolve(n_jobs))
        return BitMatrix(words, len(matrix))

    def uncovered(self, matrix: Matrix, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """Return on which rows no rule fires."""
        return ~_is_covered(self._index, matrix, threads.resolve(n_jobs))

    def explain_row(self, row: NDArray[Any]) -> RulesOnRow:
        """Return the rules that fire on an encoded row, and the near misses."""
        return RulesOnRow(*self._index.explain_row(np.ascontiguousarray(row, dtype=np.float64)))

    def fired(self, matrix: Matrix, n_jobs: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return row and rule of every rule that fires, by row and then by rule."""
        rows_per_chunk = max(64, _DENSE_BITS // max(1, self._columns.n_rules))
        rows, rules = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for start in range(0, len(matrix), rows_per_chunk):
            row, rule = np.nonzero(self.fires(matrix[start : start + rows_per_chunk], n_jobs).dense().T)
            rows.append(row + start)
            rules.append(rule)
        return np.concatenate(rows), np.concatenate(rules)

    def _index_of(self, columns: RuleColumns) -> _core.RuleIndex:
        return _core.RuleIndex(
            columns.starts,
            columns.feature,
            columns.low,
            columns.high,
            columns.value_set,
            columns.missing.view(np.uint8),
            columns.set_starts,
            columns.set_codes,
            self._n_categories,
            self._max_table_bytes,
        )


class SumEvaluator(PremiseEvaluator):
    """Rules that add numbers, compiled for encoded matrices."""

    def __init__(self, columns: RuleColumns, features: Features, base: float) -> None:
        super().__init__(columns, features)
        self._scaled = scaled_sum(base, columns.weight)
        self._only_class = np.zeros(columns.n_rules, dtype=np.int32)

    def sums(self, matrix: Matrix, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the base and the additions of the rules that fire, added up, for each row."""
        found = np.empty((len(matrix), 1))
        self._index.scores(
            matrix,
            self._only_class,
            self._scaled.additions,
            np.array([self._scaled.divisor]),
            np.array([self._scaled.start]),
            found,
            threads.resolve(n_jobs),
        )
        return found[:, 0]


class Evaluator(PremiseEvaluator):
    """Rules that vote for classes, compiled for encoded matrices."""

    def __init__(
        self,
        columns: RuleColumns,
        features: Features,
        n_classes: int,
        base: NDArray[np.float64] | None = None,
        max_table_bytes: int = 64 * 2**20,
        margin: float = 0.0,
    ) -> None:
        super().__init__(columns, features, max_table_bytes=max_table_bytes)
        self._n_classes = n_classes
        self._base = np.zeros(n_classes) if base is None else base
        self._margin = margin
        self._juries_by_voting: dict[Voting, tuple[Jury, Jury]] = {}

    def scores(self, matrix: Matrix, voting: Voting, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the class totals of each row, by the jury that decides on it."""
        n_threads = threads.resolve(n_jobs)

        def totals(index: _core.RuleIndex, jury: Jury, rows: Matrix) -> NDArray[np.float64]:
            found = np.empty((len(rows), self._n_classes))
            index.scores(rows, *_ballot(jury), found, n_threads)
            return found

        return self._by_jury(matrix, voting, n_threads, totals)

    def decide(
        self, matrix: Matrix, voting: Voting, default_index: int, n_jobs: int | None = None
    ) -> NDArray[np.int32]:
        """Return the index of the winning class of each row; ABSTAINS if it does not lead by the margin."""
        n_threads = threads.resolve(n_jobs)

        def decisions(index: _core.RuleIndex, jury: Jury, rows: Matrix) -> NDArray[np.int32]:
            found = np.empty(len(rows), dtype=np.int32)
            index.decide(rows, *_ballot(jury), default_index, found, n_threads)
            return found

        decided = self._by_jury(matrix, voting, n_threads, decisions)
        if self._margin > 0:
            decided[margins(self.scores(matrix, voting, n_jobs)) < self._margin] = ABSTAINS
        return decided

    def decided_by_priority(self, matrix: Matrix, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """Return on which rows a rule with priority fires, so that the others do not vote."""
        if not self._columns.priority.any():
            return np.zeros(len(matrix), dtype=bool)
        return _is_covered(self._jury_indices[0], matrix, threads.resolve(n_jobs))

    def rules_per_class(self, matrix: Matrix, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Count the rules of each class that fire on each row, including overridden ones."""
        counts = np.empty((len(matrix), self._n_classes))
        zeros, ones = np.zeros(self._n_classes), np.ones(self._n_classes)
        votes = np.ones(self._columns.n_rules)
        self._index.scores(
            matrix, self._columns.class_index, votes, ones, zeros, counts, threads.resolve(n_jobs)
        )
        return counts

    def statistics(
        self,
        matrix: Matrix,
        codes: NDArray[Any],
        weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return, per rule, the weight of the rows it covers and of those among them with its class."""
        n_rules = self._columns.n_rules
        cover, correct = np.zeros(n_rules), np.zeros(n_rules)
        rows_per_chunk = max(64, _PACKED_BITS // max(1, n_rules))
        for start in range(0, len(matrix), rows_per_chunk):
            rows = slice(start, start + rows_per_chunk)
            fires = self.fires(matrix[rows], n_jobs)
            of_class = _class_bits(codes[rows], self._n_classes, fires.words.shape[1])
            right = fires.words & of_class[self._columns.class_index]
            if weights is None:
                cover += fires.rows_per_rule()
                correct += _core.count_bits_per_rule(right)
            else:
                of_rows = np.ascontiguousarray(weights[rows], dtype=np.float64)
                cover += _core.sum_bits_per_rule(fires.words, of_rows)
                correct += _core.sum_bits_per_rule(right, of_rows)
        return cover, correct

    def _by_jury(
        self,
        matrix: Matrix,
        voting: Voting,
        n_threads: int,
        answer: Callable[[_core.RuleIndex, Jury, Matrix], NDArray[_Number]],
    ) -> NDArray[_Number]:
        """Return the answer of the rules with priority where one fires, and of the others elsewhere."""
        first, others = self._juries(voting)
        if len(first.rules) == 0:
            return answer(self._index, others, matrix)
        first_index, others_index = self._jury_indices
        found = answer(others_index, others, matrix)
        overridden = _is_covered(first_index, matrix, n_threads)
        found[overridden] = answer(first_index, first, matrix[overridden])
        return found

    def _juries(self, voting: Voting) -> tuple[Jury, Jury]:
        # Cached, since making juries takes longer than deciding a single row.
        if voting not in self._juries_by_voting:
            self._juries_by_voting[voting] = juries(self._columns, self._base, voting)
        return self._juries_by_voting[voting]

    @cached_property
    def _jury_indices(self) -> tuple[_core.RuleIndex, _core.RuleIndex]:
        first, others = self._juries("majority")
        return self._index_of(first.columns), self._index_of(others.columns)


def _ballot(
    jury: Jury,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the class and votes of each rule, and the divisor and start votes of each class."""
    return jury.columns.class_index, jury.votes, jury.divisors, jury.start


def _is_covered(index: _core.RuleIndex, matrix: Matrix, n_threads: int) -> NDArray[np.bool_]:
    is_uncovered = np.ones(len(matrix), dtype=np.uint8)
    index.uncovered(matrix, is_uncovered, n_threads)
    return ~is_uncovered.view(np.bool_)


def _class_bits(codes: NDArray[Any], n_classes: int, n_words: int) -> NDArray[np.uint64]:
    """Return one bit per row for each class, in the words of a BitMatrix."""
    is_class = np.zeros((n_classes, n_words * 64), dtype=bool)
    is_class[:, : len(codes)] = np.arange(n_classes)[:, None] == codes
    return np.packbits(is_class, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)
