"""Errors of rules for numbers on rows in partitions, from exact sums over groups of rows.

Rows are put into groups by a hash of their contents. Sums over these groups can be added up over partitions,
and are all that the measures and the resamples of their intervals need.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.partitions import PartitionedRows
from clausewise.partitions.contents import content_hashes
from clausewise.partitions.exact_sums import add_digits, digit_sums, exact_totals
from clausewise.partitions.protocol import Part
from clausewise.partitions.ranked_values import Rank, cells_of, counts_in_cells, ranked_values
from clausewise.rules.regression import RegressionRules
from clausewise.rules.response_counts import NumberAnswer

Floats = NDArray[np.float64]
Series = Mapping[str, NumberAnswer]
"""What gives numbers to rows, by name."""

N_GROUPS: Final = 2_000
_FIRST_ROWS: Final = 10_000
SUMMED: Final = ("error", "squared", "centred", "centred_squared")


@dataclass(frozen=True)
class Level:
    """Mean and spread of numbers.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    mean : float
        Their mean.
    low, high : float
        Their 5 % and 95 % quantiles.
    """

    n_rows: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class _LevelCounter:
    answer: NumberAnswer
    edges: Floats

    def __call__(self, batch: Any, number: int | None) -> Part:
        values = self.answer(batch, number)
        return {
            "n_rows": np.array(len(values)),
            "cells": counts_in_cells(values, np.ones((1, len(values)), dtype=bool), self.edges),
            "range": np.array([values.min(), values.max()]),
            **digit_sums(values, lambda digit: digit.sum(keepdims=True)),
        }


def _add_levels(one: Part, other: Part) -> Part:
    return {
        "n_rows": one["n_rows"] + other["n_rows"],
        "cells": one["cells"] + other["cells"],
        "range": np.array([min(one["range"][0], other["range"][0]), max(one["range"][1], other["range"][1])]),
        **add_digits(one, other),
    }


@dataclass(frozen=True)
class _Everything:
    """Returns the numbers of a batch, with all rows in one group."""

    answer: NumberAnswer

    def __call__(self, batch: Any, number: int | None) -> tuple[Floats, NDArray[np.bool_]]:
        values = self.answer(batch, number)
        return values, np.ones((1, len(values)), dtype=bool)


def level_of(rows: PartitionedRows, answer: NumberAnswer, progress: Progress | None = None) -> Level:
    """Return mean and quantiles of the numbers of all rows."""
    edges = cells_of(answer(rows.head(_FIRST_ROWS), None))
    found = rows.reduce(_LevelCounter(answer, edges), _add_levels, progress, "level")
    n_rows = int(found["n_rows"])
    (low, high), (total,) = found["range"].tolist(), exact_totals(found)
    # As NumPy's quantiles: between the two rows that are next to the place.
    places = [(n_rows - 1) * quantile for quantile in (0.05, 0.95)]
    below = float(np.nextafter(low, -np.inf))
    ranks = [
        Rank(0, min(int(place) + 1 + step, n_rows), below, high).within(found["cells"][0], edges)
        for place in places
        for step in (0, 1)
    ]
    values = ranked_values(rows, _Everything(answer), ranks, progress)
    quantiles = [
        values[2 * i] + (values[2 * i + 1] - values[2 * i]) * (place - int(place))
        for i, place in enumerate(places)
    ]
    return Level(n_rows, float(total / n_rows), quantiles[0], quantiles[1])


@dataclass(frozen=True)
class Pair:
    """Predictions and the numbers that they should be, by the names of both; and the tolerance."""

    predicted: str
    truth: str
    mean: float
    tolerance: float

    @property
    def name(self) -> str:
        """The name of what is counted about it."""
        return f"{self.predicted} to {self.truth}"


@dataclass(frozen=True)
class ErrorCounter:
    """Adds up the errors of pairs on a batch, and counts what the rules do there."""

    rules: RegressionRules
    series: Series
    pairs: Sequence[Pair]

    def __call__(self, batch: Any, number: int | None) -> Part:
        """Count on a batch."""
        rules, matrix = self.rules, self.rules.features.encode(batch)
        numbers = {name: answer(batch, number) for name, answer in self.series.items()}
        numbers["rules"] = predicted = rules.response_of(rules.sums_of(matrix))
        if not np.isfinite(predicted).all():
            raise ValueError(
                "Predictions are not finite; limit the linear terms to a range (low and high of LinearTerm)."
            )
        groups = (content_hashes(batch) % np.uint64(N_GROUPS)).astype(np.int64)
        low, high = rules.response_range or (-np.inf, np.inf)
        part: dict[str, NDArray[Any]] = {
            "n_rows": np.bincount(groups, minlength=N_GROUPS),
            "n_uncovered": np.array(rules.evaluator.uncovered(matrix).sum()),
            "n_outside": np.array(((predicted < low) | (predicted > high)).sum()),
        }
        for pair in self.pairs:
            part.update(_errors(pair, numbers[pair.predicted], numbers[pair.truth], groups))
        return part


def _errors(pair: Pair, predicted: Floats, truth: Floats, groups: NDArray[np.int64]) -> Part:
    def of_groups(values: Floats) -> NDArray[Any]:
        return np.bincount(groups, weights=values, minlength=N_GROUPS)

    error, centred = np.abs(predicted - truth), truth - pair.mean
    summed = dict(zip(SUMMED, (error, error**2, centred, centred**2), strict=True))
    summed["baseline"] = np.abs(centred)
    part: dict[str, NDArray[Any]] = {
        f"{pair.name}: within": of_groups((error <= pair.tolerance).astype(np.float64)).astype(np.int64),
        f"{pair.name}: baseline within": np.array((np.abs(centred) <= pair.tolerance).sum()),
        f"{pair.name}: largest": error.max(keepdims=True),
    }
    for name, values in summed.items():
        for key, array in digit_sums(values, of_groups).items():
            part[f"{pair.name}: {name} {key}"] = array
    return part


def add_errors(one: Part, other: Part) -> Part:
    """Add what `ErrorCounter` counted."""
    total: dict[str, NDArray[Any]] = {}
    for key, values in one.items():
        if key.endswith(" place"):
            start = key.removesuffix("place")
            first, second = ({"place": part[key], "digits": part[start + "digits"]} for part in (one, other))
            total.update({start + name: array for name, array in add_digits(first, second).items()})
        elif key.endswith(": largest"):
            total[key] = np.maximum(values, other[key])
        elif not key.endswith(" digits"):
            total[key] = values + other[key]
    return total


@dataclass(frozen=True, eq=False)
class GroupSums:
    """What was counted about a pair, read: sums over groups, and their totals."""

    part: Part
    pair: Pair

    def totals(self, name: str) -> float:
        """Return the sum over all rows."""
        return float(sum(self._exact(name)))

    def moments(self) -> Floats:
        """Return number, errors, squared errors, rows within and deviations of each group that has rows."""
        error, squared, centred, centred_squared = (
            np.array([float(total) for total in self._exact(name)]) for name in SUMMED
        )
        n_rows = self.part["n_rows"].astype(np.float64)
        within = self.part[f"{self.pair.name}: within"].astype(np.float64)
        return np.stack([n_rows, error, squared, within, centred, centred_squared], axis=1)[n_rows > 0]

    def count(self, name: str) -> int:
        """Return a number of rows."""
        return int(self.part[f"{self.pair.name}: {name}"].sum())

    @property
    def largest(self) -> float:
        """The largest error."""
        return float(self.part[f"{self.pair.name}: largest"][0])

    def _exact(self, name: str) -> list[Any]:
        start = f"{self.pair.name}: {name} "
        return exact_totals({key: self.part[start + key] for key in ("place", "digits")})
