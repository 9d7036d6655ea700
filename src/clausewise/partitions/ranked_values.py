"""Order statistics of numbers in partitions, exactly, without sorting all rows.

The rows of a group are counted in cells of a few values. The cell that holds the wanted rank is then looked
at alone: its different values are gathered if they are few, and it is divided into smaller cells otherwise.
Where the first cells lie decides how many passes are needed, and never the result.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.partitions.protocol import Part, PartitionedRows

Floats = NDArray[np.float64]

N_CELLS: Final = 1_024
MAX_GATHERED: Final = 2**16
"""The largest number of different values that are gathered for a rank."""

Groups = Callable[[Any, int | None], tuple[Floats, NDArray[np.bool_]]]
"""Returns the number of each row of a batch, and which rows are in each group (a row of booleans each)."""


@dataclass(frozen=True)
class Rank:
    """A wanted order statistic, and the cell that it is in.

    Attributes
    ----------
    group : int
        The group of rows.
    rank : int
        Its place among the rows of the group in the cell, from 1 on.
    low, high : float
        The cell: above `low`, up to `high`.
    """

    group: int
    rank: int
    low: float
    high: float

    def within(self, counts: NDArray[np.int64], edges: Floats) -> "Rank":
        """Return the rank in one of the cells that edges divide this one into, by their counts."""
        reached = np.cumsum(counts)
        cell = int(np.searchsorted(reached, self.rank))
        return replace(
            self,
            rank=self.rank - (int(reached[cell - 1]) if cell else 0),
            low=float(edges[cell - 1]) if cell else self.low,
            high=float(edges[cell]) if cell < len(edges) else self.high,
        )

    @cached_property
    def edges(self) -> Floats:
        """Edges that divide the cell into cells with about as many doubles each."""
        low, high = _place(np.array([self.low, self.high])).tolist()
        steps = [low + (high - low) * i // N_CELLS for i in range(1, N_CELLS)]
        return _double(np.array(steps, dtype=np.int64))


def cells_of(values: Floats) -> Floats:
    """Return edges that divide numbers like these into cells with about as many rows each."""
    shares = np.arange(1, N_CELLS) / N_CELLS
    return np.unique(np.quantile(values, shares, method="inverted_cdf"))


def counts_in_cells(values: Floats, groups: NDArray[np.bool_], edges: Floats) -> NDArray[np.int64]:
    """Return the number of rows of each group in each cell; a cell ends with its upper edge."""
    cell = np.searchsorted(edges, values)
    counts = [np.bincount(cell[group], minlength=len(edges) + 1) for group in groups]
    return np.array(counts, dtype=np.int64).reshape(len(groups), len(edges) + 1)


def ranked_values(
    rows: PartitionedRows, groups: Groups, ranks: Sequence[Rank], progress: Progress | None = None
) -> list[float]:
    """Return the numbers at the given ranks."""
    found: dict[int, float] = {}
    left = dict(enumerate(ranks))
    while left:
        wanted = list(left.values())
        counted = rows.reduce(_Gatherer(groups, tuple(wanted)), _add, progress, "quantiles")
        for position, (key, rank) in enumerate(list(left.items())):
            value = _gathered_value(counted, position, rank.rank)
            if value is None:
                left[key] = rank.within(counted["cells"][position], rank.edges)
            else:
                found[key] = value
                del left[key]
    return [found[key] for key in range(len(ranks))]


@dataclass(frozen=True)
class _Gatherer:
    """Gathers the different values in the cells of some ranks, and counts them in smaller cells."""

    groups: Groups
    ranks: tuple[Rank, ...]

    def __call__(self, batch: Any, number: int | None) -> Part:
        values, groups = self.groups(batch, number)
        inside = [
            values[groups[rank.group] & (values > rank.low) & (values <= rank.high)] for rank in self.ranks
        ]
        counted = [np.unique(part, return_counts=True) for part in inside]
        cells = [
            counts_in_cells(part, np.ones((1, len(part)), dtype=bool), rank.edges)[0]
            for part, rank in zip(inside, self.ranks, strict=True)
        ]
        return _limited(
            np.repeat(np.arange(len(inside)), [len(distinct) for distinct, _ in counted]),
            np.concatenate([distinct for distinct, _ in counted]),
            np.concatenate([copies for _, copies in counted]).astype(np.int64),
            np.zeros(len(inside), dtype=bool),
            np.array(cells, dtype=np.int64),
        )


def _limited(
    of_rank: NDArray[np.int64],
    values: Floats,
    copies: NDArray[np.int64],
    is_many: NDArray[np.bool_],
    cells: NDArray[np.int64],
) -> Part:
    """Return a part without the values of ranks that have too many."""
    is_many = is_many | (np.bincount(of_rank, minlength=len(is_many)) > MAX_GATHERED)
    kept = ~is_many[of_rank]
    return {
        "rank": of_rank[kept],
        "value": values[kept],
        "copies": copies[kept],
        "is_many": is_many,
        "cells": cells,
    }


def _add(one: Part, other: Part) -> Part:
    of_rank, values, copies = (
        np.concatenate([one[name], other[name]]) for name in ("rank", "value", "copies")
    )
    order = np.lexsort((values, of_rank))
    of_rank, values, copies = of_rank[order], values[order], copies[order]
    is_first = np.ones(len(values), dtype=bool)
    is_first[1:] = (of_rank[1:] != of_rank[:-1]) | (values[1:] != values[:-1])
    firsts = np.flatnonzero(is_first)
    summed = np.add.reduceat(copies, firsts) if len(firsts) else copies
    return _limited(
        of_rank[firsts],
        values[firsts],
        summed,
        one["is_many"] | other["is_many"],
        one["cells"] + other["cells"],
    )


def _gathered_value(part: Part, position: int, rank: int) -> float | None:
    """Return the value with a rank in its cell; None if there were too many to gather."""
    if part["is_many"][position]:
        return None
    own = np.flatnonzero(part["rank"] == position)
    reached = np.cumsum(part["copies"][own])
    return float(part["value"][own[int(np.searchsorted(reached, rank))]])


def _place(values: Floats) -> NDArray[np.int64]:
    """Return whole numbers in the order of the doubles; neighbours are neighbours."""
    bits = (values + 0.0).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _double(places: NDArray[np.int64]) -> Floats:
    """Return the doubles at the places that `_place` returns."""
    return np.where(places < 0, np.int64(-(2**63)) - places, places).view(np.float64)
