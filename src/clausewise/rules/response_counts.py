"""Statistics of rules for numbers on rows in partitions: cover, mean and quantiles of the response."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.data.learnt_rows import LearntRows
from clausewise.data.table import Matrix
from clausewise.partitions import PartitionedRows
from clausewise.partitions.exact_sums import add_digits, digit_sums, exact_totals
from clausewise.partitions.protocol import Part
from clausewise.partitions.ranked_values import Rank, cells_of, counts_in_cells, ranked_values
from clausewise.rules.batch_counts import learnt_of, learnt_part

if TYPE_CHECKING:
    from clausewise.rules.regression_base import BaseRegressionRules

Floats = NDArray[np.float64]
NumberAnswer = Callable[[Any, int | None], Floats]
"""Returns the number that belongs to each row of a batch."""
# Their numbers say where the quantiles may lie; the result does not depend on them.
_FIRST_ROWS = 10_000


@dataclass(frozen=True)
class ResponseCounter:
    """Counts cover and responses of rules on a batch.

    Attributes
    ----------
    rules : BaseRegressionRules
        The rules.
    answer : callable
        Returns the response of each row.
    n_rows : int
        Number of all rows.
    edges : ndarray of float
        Responses are counted in cells between these.
    """

    rules: "BaseRegressionRules"
    answer: NumberAnswer
    n_rows: int
    edges: Floats

    def __call__(self, batch: Any, number: int | None) -> Part:
        """Count on a batch."""
        matrix = self.rules.features.encode(batch)
        fires = self.rules.evaluator.fires(matrix).dense()
        return self.count(matrix, fires, self.answer(batch, number))

    def count(self, matrix: Matrix, fires: NDArray[np.bool_], values: Floats) -> Part:
        """Count on encoded rows, given which rules fire on them."""
        as_numbers = fires.astype(np.float64)
        return {
            "cover": fires.sum(axis=1, dtype=np.int64),
            "cells": counts_in_cells(values, fires, self.edges),
            "range": np.array([values.min(), values.max()]),
            **digit_sums(values, lambda digit: as_numbers @ digit),
            **learnt_part(LearntRows.of(self.rules.features.names, matrix, self.n_rows)),
        }


def add_responses(one: Part, other: Part) -> Part:
    """Add what `ResponseCounter` counted."""
    (low, high), (other_low, other_high) = one["range"].tolist(), other["range"].tolist()
    return {
        "cover": one["cover"] + other["cover"],
        "cells": one["cells"] + other["cells"],
        "range": np.array([min(low, other_low), max(high, other_high)]),
        **add_digits(one, other),
        **learnt_part(learnt_of(one) | learnt_of(other)),
    }


@dataclass(frozen=True)
class _Covered:
    """Returns the responses of a batch, and the rows on which each rule fires."""

    rules: "BaseRegressionRules"
    answer: NumberAnswer

    def __call__(self, batch: Any, number: int | None) -> tuple[Floats, NDArray[np.bool_]]:
        fires = self.rules.evaluator.fires(self.rules.features.encode(batch)).dense()
        return self.answer(batch, number), fires


def first_cells(rows: PartitionedRows, answer: NumberAnswer) -> Floats:
    """Return edges of cells in which the responses of rows can be counted."""
    return cells_of(answer(rows.head(_FIRST_ROWS), None))


def responses_of_all(
    rules: "BaseRegressionRules",
    found: Part,
    rows: PartitionedRows,
    answer: NumberAnswer,
    edges: Floats,
    quantiles: tuple[float, float],
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return cover, mean and quantiles of the response of each rule, from what `ResponseCounter` counted.

    The quantiles need at least one more pass over the rows.
    """
    cover, (low, high) = found["cover"], found["range"].tolist()
    below = float(np.nextafter(low, -np.inf))
    firing = np.flatnonzero(cover).tolist()
    ranks = [
        Rank(rule, max(1, int(np.ceil(quantile * cover[rule]))), below, high).within(
            found["cells"][rule], edges
        )
        for rule in firing
        for quantile in quantiles
    ]
    values = ranked_values(rows, _Covered(rules, answer), ranks, progress)
    columns = {name: np.full(len(rules), np.nan) for name in ("mean", "lower", "upper")}
    totals = exact_totals(found)
    for position, rule in enumerate(firing):
        columns["mean"][rule] = float(totals[rule] / int(cover[rule]))
        columns["lower"][rule], columns["upper"][rule] = values[2 * position : 2 * position + 2]
    columns["cover"] = cover.astype(np.float64)
    for column in columns.values():
        column.setflags(write=False)
    return columns
