"""The changes of single features that a search for counterfactuals combines, and what they cost.

The thresholds of all rules on a feature cut its axis into bins, and a decision of the rules depends only on
the bins of a row. So for the rules alone, each bin needs one candidate value, at the end nearest to the row.
Going down, that is the threshold itself (intervals are closed above), or a decimal just below it if it has
many digits; going up, a decimal just above the bin's lower threshold. A network may need values further away:
quantiles of known rows, and all categories.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clausewise import _core
from clausewise.analysis.counterfactual_limits import Booleans, Floats, Limits
from clausewise.data.features import Features
from clausewise.rules.columns import NO_SET, RuleColumns, starts_of
from clausewise.rules.decimals import shortest_decimal
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.voting import juries

Integers = NDArray[np.int64]

SLACK: Final = 0.01
"""How far from a threshold a readable value may lie, in units of the feature's spread."""

N_LEVELS: Final = 17
"""How many quantiles of the known values, and of the distinct ones among them, a network is asked about."""

_UPWARDS, _DOWNWARDS, _BOTH_WAYS = 1, -1, 0


# --- Units ---


def cuts_of(stored: RuleColumns, feature: int) -> Floats:
    """Return all finite thresholds on a feature, ascending."""
    here = stored.feature == feature
    cuts = np.unique(np.concatenate([stored.low[here], stored.high[here]]))
    return np.asarray(cuts[np.isfinite(cuts)])


def units_of(stored: RuleColumns, features: Features, known: Floats | None) -> Floats:
    """Return the change that counts as 1: the standard deviation on known rows, or the thresholds' range."""
    units = np.ones(len(features))
    for feature, kind in enumerate(features.kinds):
        if kind != "numeric":
            continue
        cuts = cuts_of(stored, feature)
        spread = float(np.ptp(cuts)) if len(cuts) else 0.0
        if known is not None:
            column = known[:, feature][np.isfinite(known[:, feature])]
            spread = float(column.std()) if len(column) else 0.0
        if not 0 < spread < math.inf:
            spread = float(np.abs(cuts).max(initial=0.0))  # one threshold: relative to its magnitude
        units[feature] = spread if 0 < spread < math.inf else 1.0
    return units


def costs_of(before: Floats, after: Floats, features: Features, units: Floats) -> Floats:
    """Return what each change of each row costs, in units of its feature; 1 for another category."""
    is_categorical = np.array([kind == "categorical" for kind in features.kinds])
    is_same = (before == after) | (np.isnan(before) & np.isnan(after))
    with np.errstate(invalid="ignore"):
        costs = np.where(is_categorical, 1.0, np.abs(after - before) / units)
    return np.where(is_same, 0.0, costs)


# --- Bins ---


@dataclass(frozen=True, eq=False)
class Axis:
    """The bins of one feature, and which rules accept each bin.

    Attributes
    ----------
    feature : int
        Position of the feature.
    cuts : ndarray or None
        Upper ends of all bins but the last; None for categories, whose bins are their codes.
    accepts : ndarray of uint64, of shape (n_bins + 2, n_words)
        One bit per rule: whether its term on the feature, if it has one, holds in each bin, for an unknown
        category and for a missing value.
    """

    feature: int
    cuts: Floats | None
    accepts: NDArray[np.uint64]

    @property
    def n_bins(self) -> int:
        """Number of bins of known values."""
        return len(self.accepts) - 2

    def bins_of(self, column: Floats) -> NDArray[np.int32]:
        """Return the bin of each value."""
        if self.cuts is None:
            bins = np.where((column >= 0) & (column < self.n_bins), column, self.n_bins)
        else:
            bins = np.searchsorted(self.cuts, column, side="left")
        return np.where(np.isnan(column), self.n_bins + 1, bins).astype(np.int32)


def axis_of(stored: RuleColumns, features: Features, feature: int) -> Axis:
    """Return the bins of a feature."""
    kind, categories = features.kinds[feature], features.categories[feature]
    cuts = None if categories is not None else cuts_of(stored, feature)
    if kind == "binary":
        cuts = np.array([0.0])
    n_bins = len(categories or ()) if cuts is None else len(cuts) + 1
    accepts = np.ones((n_bins + 2, stored.n_rules), dtype=bool)
    terms = np.flatnonzero(stored.feature == feature)
    rules = np.repeat(np.arange(stored.n_rules), stored.lengths)[terms]
    accepts[:, rules] = False
    is_missing = stored.missing[terms]
    accepts[n_bins + 1, rules] = is_missing
    if cuts is None:
        for rule, value_set in zip(rules.tolist(), stored.value_set[terms].tolist(), strict=True):
            if value_set != NO_SET:
                accepts[stored.codes(value_set), rule] = True
    else:
        # Every bound is a cut, so a bin lies entirely inside or entirely outside of an interval.
        lows, highs = np.append(-math.inf, cuts)[:, None], np.append(cuts, math.inf)[:, None]
        is_inside = (lows >= stored.low[terms]) & (highs <= stored.high[terms])
        accepts[:n_bins, rules] = is_inside & ~is_missing
    return Axis(feature, cuts, _packed(accepts))


# --- Values to move to ---


@dataclass(frozen=True, eq=False)
class Moves:
    """Values that a feature may change to, ascending.

    `direction` is +1 for values that only rows below them move to, −1 for those above, 0 for both.
    """

    values: Floats
    direction: NDArray[np.int8]


def nearest_moves(axis: Axis, features: Features, limits: Limits, unit: float) -> Moves:
    """Return the value of each bin that is nearest to rows below it, and to rows above it."""
    if not limits.may_change:
        return _joined([])
    if features.kinds[axis.feature] != "numeric":
        return _joined([(_codes(axis, limits), _directions(limits))])
    assert axis.cuts is not None
    if limits.values is not None:
        bins = axis.bins_of(limits.values)
        below, above = (
            limits.values[np.diff(bins, prepend=-1) > 0],
            limits.values[np.diff(bins, append=-1) != 0],
        )
    else:
        lows, highs = np.append(-math.inf, axis.cuts).tolist(), np.append(axis.cuts, math.inf).tolist()
        pairs = list(zip(lows, highs, strict=True))
        below = np.array([_lowest(low, high, unit, limits) for low, high in pairs])
        above = np.array([_highest(low, high, unit, limits) for low, high in pairs])
    return _joined(
        [
            (below[np.isfinite(below)] if limits.may_rise else below[:0], _UPWARDS),
            (above[np.isfinite(above)] if limits.may_fall else above[:0], _DOWNWARDS),
        ]
    )


def further_moves(axis: Axis, features: Features, limits: Limits, unit: float, known: Floats | None) -> Moves:
    """Return the nearest values, and values further away: quantiles of known rows, all categories."""
    nearest = nearest_moves(axis, features, limits, unit)
    if not limits.may_change or features.kinds[axis.feature] != "numeric":
        return nearest
    assert axis.cuts is not None
    lowest, highest = max(limits.low, limits.least), min(limits.high, limits.most)
    if limits.values is not None:
        places = np.linspace(0, len(limits.values) - 1, min(2 * N_LEVELS, len(limits.values)))
        values = limits.values[places.astype(np.intp)]
    else:
        values = np.array([limits.low, limits.high, *_levels(axis.cuts, unit, known)])
        values = values[np.isfinite(values) & (values >= lowest) & (values <= highest)]
        readable = [_readable(value, unit, lowest, highest, limits.is_whole) for value in values.tolist()]
        values = np.array([value for value in readable if lowest <= value <= highest])
    marked = [(nearest.values[nearest.direction == way], way) for way in (_UPWARDS, _DOWNWARDS, _BOTH_WAYS)]
    return _joined([*marked, (values, _directions(limits))])


def _levels(cuts: Floats, unit: float, known: Floats | None) -> Floats:
    """Return quantiles of known values, or values around the thresholds."""
    if known is not None:
        column = known[np.isfinite(known)]
        if len(column) == 0:
            return column
        # Where one value is frequent, the distinct values show the others.
        levels = np.linspace(0, 1, N_LEVELS)
        quantiles = [
            np.quantile(values, levels, method="inverted_cdf") for values in (column, np.unique(column))
        ]
        return np.unique(quantiles)
    if len(cuts) == 0:
        return cuts
    return np.linspace(cuts[0] - unit / 2, cuts[-1] + unit / 2, N_LEVELS)


def _lowest(low: float, high: float, unit: float, limits: Limits) -> float:
    """Return the lowest allowed value of a bin (low, high], for rows below it; NaN if there is none."""
    if low == -math.inf:
        return math.nan
    start = max(low, limits.low)
    first = math.nextafter(low, math.inf) if start == low else start
    last = min(high, limits.high, limits.most)
    if limits.is_whole:
        first = float(math.floor(low) + 1 if start == low else math.ceil(start))
    if not first <= last:
        return math.nan
    if limits.is_whole:
        return first
    last = max(min(last, start + SLACK * unit), first)
    return shortest_decimal(first, math.nextafter(last, math.inf), first) if math.isfinite(last) else math.nan


def _highest(low: float, high: float, unit: float, limits: Limits) -> float:
    """Return the highest allowed value of a bin (low, high], for rows above it; NaN if there is none."""
    last = min(high, limits.high)
    first = max(math.nextafter(low, math.inf), limits.low, limits.least)
    if limits.is_whole and math.isfinite(last):
        last = float(math.floor(last))
    if not first <= last < math.inf:
        return math.nan
    if limits.is_whole or float(f"{last:.4g}") == last:
        return last
    first = max(first, last - SLACK * unit)
    return shortest_decimal(first, math.nextafter(last, math.inf), last) if math.isfinite(first) else last


def _readable(value: float, unit: float, lowest: float, highest: float, is_whole: bool) -> float:
    """Return a value with few digits close to this one, within a range."""
    if is_whole:
        return float(round(value))
    first, last = max(value - SLACK * unit, lowest), min(value + SLACK * unit, highest)
    return shortest_decimal(first, math.nextafter(last, math.inf), value)


def _codes(axis: Axis, limits: Limits) -> Floats:
    return np.arange(axis.n_bins, dtype=np.float64) if limits.values is None else limits.values


def _directions(limits: Limits) -> int:
    """Return the directions in which limits allow a change, which they do in at least one."""
    if limits.may_rise and limits.may_fall:
        return _BOTH_WAYS
    return _UPWARDS if limits.may_rise else _DOWNWARDS


def _joined(parts: Sequence[tuple[Floats, int]]) -> Moves:
    """Return all values once each, for rows on all sides that any part has them for."""
    values, place = np.unique(
        np.concatenate([np.empty(0), *(part for part, _ in parts)]), return_inverse=True
    )
    ways = np.concatenate([np.empty(0), *(np.full(len(part), way) for part, way in parts)])
    is_up, is_down = np.zeros(len(values), dtype=bool), np.zeros(len(values), dtype=bool)
    is_up[place[ways >= 0]] = True
    is_down[place[ways <= 0]] = True
    return Moves(values, is_up.astype(np.int8) - is_down.astype(np.int8))


# --- Combinations ---


@dataclass(frozen=True, eq=False)
class FoundChanges:
    """Changes of one or two features that the rules confirm, by row and, within a row, cheapest first.

    Attributes
    ----------
    row : ndarray of int
        The row that each change belongs to.
    rank : ndarray of int
        The position of each change among those of its row.
    matrix : ndarray of shape (n_changes, n_features)
        The changed rows.
    """

    row: Integers
    rank: Integers
    matrix: Floats


class Combinations:
    """All changes of one or two features, each to one of its moves.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    axes : sequence of Axis
        Features that rules test or that may change.
    moves : sequence of Moves
        What each of them may change to.
    units : ndarray of shape (n_features,)
        The change of each feature that costs 1.
    within_bins : bool
        Whether to move to values that change no term, too.
    """

    def __init__(
        self, rules: RuleSet, axes: Sequence[Axis], moves: Sequence[Moves], units: Floats, within_bins: bool
    ) -> None:
        self._axes = axes
        self._features = np.array([axis.feature for axis in axes], dtype=np.int64)
        self._values = np.concatenate([np.empty(0), *(one.values for one in moves)])
        self._feature_of_value = np.repeat(self._features, [len(one.values) for one in moves])
        self._within_bins = within_bins
        stored = rules.columns
        first, others = juries(stored, rules.base, rules.voting)
        votes = np.zeros(stored.n_rules)
        votes[first.rules], votes[others.rules] = first.votes, others.votes
        is_categorical = np.array([axis.cuts is None for axis in axes], dtype=bool)
        bins = [axis.bins_of(one.values) for axis, one in zip(axes, moves, strict=True)]
        self._core = _core.ChangeSearch(
            bin_starts=starts_of(np.array([len(axis.accepts) for axis in axes], dtype=np.int64)),
            accepts=np.concatenate([np.empty(0, np.uint64), *(axis.accepts.ravel() for axis in axes)]),
            value_starts=starts_of(np.array([len(one.values) for one in moves], dtype=np.int64)),
            values=self._values,
            bin_of_value=np.concatenate([np.empty(0, np.int32), *bins]),
            direction=np.concatenate([np.empty(0, np.int8), *(one.direction for one in moves)]),
            units=np.where(is_categorical, 0.0, units[self._features]),
            class_of_rule=stored.class_index,
            vote_of_rule=votes,
            has_priority=_packed(stored.priority[None])[0],
            start=others.start,
            divisors=others.divisors,
            priority_divisors=first.divisors,
            default_class=rules.default_index,
        )

    def search(
        self,
        matrix: Floats,
        decided: NDArray[np.int32],
        wanted: int | None,
        max_features: int,
        n_changes: int,
        n_threads: int,
        *,
        is_spread: bool = False,
    ) -> FoundChanges:
        """Return the cheapest changes of each row, or a systematic sample of all that the rules confirm."""
        own = matrix[:, self._features]
        bins = np.empty(own.shape, dtype=np.int32)
        for column, axis in enumerate(self._axes):
            bins[:, column] = axis.bins_of(own[:, column])
        starts, first, second = self._core.search(
            np.ascontiguousarray(own),
            bins,
            decided,
            -1 if wanted is None else wanted,
            max_features > 1,
            self._within_bins,
            n_changes,
            is_spread,
            n_threads,
        )
        row = np.repeat(np.arange(len(matrix)), np.diff(starts))
        changed = matrix[row]
        for values in (first, second):
            is_used = values >= 0
            chosen = values[is_used]
            changed[is_used, self._feature_of_value[chosen]] = self._values[chosen]
        return FoundChanges(row, np.arange(len(row)) - starts[row], changed)


def _packed(rows: Booleans) -> NDArray[np.uint64]:
    """Return each row of booleans as words of 64 bits."""
    n_words = -(-rows.shape[1] // 64)
    packed = np.zeros((len(rows), 8 * n_words), dtype=np.uint8)
    packed[:, : -(-rows.shape[1] // 8)] = np.packbits(rows, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)
