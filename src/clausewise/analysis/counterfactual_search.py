"""The search for the smallest change of one or two features that flips a decision.

The thresholds of all rules on a feature cut its axis into bins, and a decision depends only on the bins of a
row. So each bin has one candidate value, at the end nearest to the row. Going down, that is the threshold
itself (intervals are closed above), or a decimal just below it if it has many digits; going up, a decimal
just above the bin's lower threshold. All candidates, and all pairs of candidates of two features, are tried.
"""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import Features
from clausewise.rules.columns import NO_SET, RuleColumns
from clausewise.rules.decimals import shortest_decimal
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.voting import Jury, juries, sums_are_exact

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

SLACK = 0.01
"""How far from a threshold a readable value may lie, in units of the feature's spread."""


# --- Bins and units ---


def _cuts(stored: RuleColumns, feature: int) -> Floats:
    """Return all finite thresholds on a feature, ascending."""
    here = stored.feature == feature
    cuts = np.unique(np.concatenate([stored.low[here], stored.high[here]]))
    return np.asarray(cuts[np.isfinite(cuts)])


def _units(stored: RuleColumns, features: Features, known: Floats | None) -> Floats:
    """Return the change that counts as 1: the standard deviation on known rows, or the thresholds' range."""
    units = np.ones(len(features))
    for feature, kind in enumerate(features.kinds):
        if kind != "numeric":
            continue
        cuts = _cuts(stored, feature)
        spread = float(np.ptp(cuts)) if len(cuts) else 0.0
        if known is not None:
            column = known[:, feature][np.isfinite(known[:, feature])]
            spread = float(column.std()) if len(column) else 0.0
        if not 0 < spread < math.inf:
            spread = float(np.abs(cuts).max(initial=0.0))  # one threshold: relative to its magnitude
        units[feature] = spread if 0 < spread < math.inf else 1.0
    return units


@dataclass(frozen=True, eq=False)
class _Axis:
    """The bins of one feature, with the rules that each bin allows and the candidate values of each bin.

    Attributes
    ----------
    feature : int
        Position of the feature.
    cuts : ndarray or None
        Upper ends of all bins but the last; None for categories, whose bins are their codes.
    passes : ndarray of bool, of shape (n_bins, n_rules)
        Whether each rule's term on the feature, if it has one, holds in each bin.
    from_below, from_above : ndarray of shape (n_bins,)
        The nearest value of each bin for rows below and above it; NaN if the bin has no possible value.
    """

    feature: int
    cuts: Floats | None
    passes: Booleans
    from_below: Floats
    from_above: Floats

    def bin_of(self, value: float) -> int:
        """Return the bin of a value; −1 for an unknown category."""
        if self.cuts is None:
            return int(value) if 0 <= value < len(self.passes) else -1
        return int(np.searchsorted(self.cuts, value, side="left"))

    def candidates(self, value: float) -> tuple[Floats, NDArray[np.int64]]:
        """Return the nearest value in each other bin, and these bins."""
        mine = self.bin_of(value)
        bins = np.flatnonzero(np.arange(len(self.passes)) != mine)
        values = np.where(bins > mine, self.from_below[bins], self.from_above[bins])
        return values[np.isfinite(values)], bins[np.isfinite(values)]


def _axes(stored: RuleColumns, features: Features, units: Floats, known: Floats | None) -> list[_Axis]:
    axes = []
    for feature in np.unique(stored.feature).tolist():
        kind = features.kinds[feature]
        cuts = None if kind == "categorical" else _cuts(stored, feature)
        if cuts is None:
            codes = np.arange(len(features.categories[feature] or ()), dtype=np.float64)
            below, above = codes, codes
        elif kind == "binary":
            cuts, below, above = np.array([0.0]), np.array([0.0, 1.0]), np.array([0.0, 1.0])
        else:
            is_whole = known is not None and _holds_whole_numbers(known[:, feature])
            below, above = _nearest_values(cuts, float(units[feature]), is_whole)
        axes.append(_Axis(feature, cuts, _passes(stored, feature, cuts, len(below)), below, above))
    return axes


def _holds_whole_numbers(column: Floats) -> bool:
    values = column[np.isfinite(column)]
    return len(values) > 0 and bool((values == np.floor(values)).all())


def _nearest_values(cuts: Floats, unit: float, is_whole: bool) -> tuple[Floats, Floats]:
    """Return the nearest value of each bin for rows below it and for rows above it."""
    lows, highs = np.append(-math.inf, cuts), np.append(cuts, math.inf)
    below, above = np.full(len(lows), np.nan), highs.copy()
    for b, (low, high) in enumerate(zip(lows.tolist(), highs.tolist(), strict=True)):
        if is_whole:
            last = math.floor(high) if math.isfinite(high) else math.inf
            above[b] = last if last > low else np.nan
            first = math.floor(low) + 1.0 if math.isfinite(low) else math.inf
            below[b] = first if low < first <= high else np.nan
        elif math.isfinite(low):
            first = math.nextafter(low, math.inf)
            last = max(min(high, low + SLACK * unit), first)
            if math.isfinite(last):
                below[b] = shortest_decimal(first, math.nextafter(last, math.inf), first)
        if not is_whole and math.isfinite(high) and float(f"{high:.4g}") != high:
            first = max(math.nextafter(low, math.inf), high - SLACK * unit)
            if math.isfinite(first):
                above[b] = shortest_decimal(first, math.nextafter(high, math.inf), high)
    return below, above


def _passes(stored: RuleColumns, feature: int, cuts: Floats | None, n_bins: int) -> Booleans:
    passes = np.ones((n_bins, stored.n_rules), dtype=bool)
    rule_of_term = np.repeat(np.arange(stored.n_rules), stored.lengths)
    for term in np.flatnonzero(stored.feature == feature).tolist():
        rule = rule_of_term[term]
        if stored.value_set[term] != NO_SET:
            passes[:, rule] = np.isin(np.arange(n_bins), stored.codes(int(stored.value_set[term])))
        else:
            assert cuts is not None
            # Every bound is a cut, so a bin lies entirely inside or entirely outside the interval.
            lows, highs = np.append(-math.inf, cuts), np.append(cuts, math.inf)
            passes[:, rule] = (lows >= stored.low[term]) & (highs <= stored.high[term])
    return passes


# --- Search ---


@dataclass(frozen=True, eq=False)
class _Moves:
    """Candidate values of one feature of a row, with their costs and the terms that hold there."""

    axis: _Axis
    values: Floats
    costs: Floats
    passes: Booleans

    def cheaper_than(self, bound: float) -> "_Moves":
        near = self.costs < bound
        return _Moves(self.axis, self.values[near], self.costs[near], self.passes[near])


class CounterfactualSearch:
    """Finds the smallest changes that flip the decisions of a rule set.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    known : ndarray of shape (n_rows, n_features), optional
        Encoded rows that show the spread of each feature.
    max_features : {1, 2}
        How many features of a row may change.
    to : int, optional
        Index of the wanted class; any other than the present one unless given.
    """

    def __init__(self, rules: RuleSet, known: Floats | None, max_features: int, to: int | None) -> None:
        self.rules, self.max_features, self.to = rules, max_features, to
        self.units = _units(rules.columns, rules.features, known)
        self.axes = _axes(rules.columns, rules.features, self.units, known)
        self.n_classes = len(rules.labels)
        self.first, self.others = juries(rules.columns, rules.base, rules.voting)
        self.votes = self._vote_columns()
        # Sums in another order may differ in their last digits, so near ties within this margin are tried.
        numbers = np.concatenate([self.first.votes, self.others.votes, self.others.start])
        self.doubt = 0.0 if sums_are_exact(numbers.tolist()) else 1e-9 * float(np.abs(numbers).sum())

    def _vote_columns(self) -> Floats:
        """Return the votes that each rule adds to each total.

        The totals are one per class. With rules that have priority, they are the class totals of the others,
        the class totals of those with priority, and the number of those with priority that fire.
        """
        n, stored = self.n_classes, self.rules.columns
        votes = np.zeros((stored.n_rules, 2 * n + 1 if len(self.first.rules) else n))
        votes[self.others.rules, stored.class_index[self.others.rules]] = self.others.votes
        if len(self.first.rules):
            votes[self.first.rules, n + stored.class_index[self.first.rules]] = self.first.votes
            votes[self.first.rules, -1] = 1.0
        return votes

    def _scores(self, totals: Floats) -> Floats:
        """Return the class scores of the deciding jury, from sums of `votes`."""

        def scored(jury: Jury, sums: Floats) -> Floats:
            return np.asarray((sums + jury.start) / jury.divisors)

        n = self.n_classes
        scores = scored(self.others, totals[..., :n])
        if len(self.first.rules) == 0:
            return scores
        return np.where(totals[..., -1:] > 0, scored(self.first, totals[..., n : 2 * n]), scores)

    def distance(self, row: Floats, changes: dict[int, float]) -> float:
        """Return the sum of the changes, each in units of its feature."""
        return sum(self._cost(feature, row[feature], value) for feature, value in changes.items())

    def smallest(self, row: Floats, mine: int) -> dict[int, float] | None:
        """Return the smallest change of the row that flips the decision `mine`, or None.

        Missing and infinite values do not change.
        """
        if mine == self.to:
            return {}
        holds = {axis.feature: self._holds(axis, row[axis.feature]) for axis in self.axes}
        fails = np.zeros(self.rules.columns.n_rules, dtype=np.int64)
        for passes in holds.values():
            fails += ~passes
        moves = [self._moves(axis, row) for axis in self.axes if math.isfinite(row[axis.feature])]
        best: dict[int, float] | None = None
        bound = math.inf
        for one in moves:
            others_hold = fails - ~holds[one.axis.feature] == 0
            found = self._best_single(row, mine, one.cheaper_than(bound), others_hold)
            if found is not None:
                best, bound = found
        for pair in combinations(moves, 2) if self.max_features == 2 else ():
            # Costs add up, so each must be below the bound minus the least cost of the other.
            if not all(len(part.costs) for part in pair):
                continue
            one, other = (part.cheaper_than(bound - rest.costs.min()) for part, rest in (pair, pair[::-1]))
            if not len(one.costs) or not len(other.costs):
                continue
            others_hold = fails - ~holds[one.axis.feature] - ~holds[other.axis.feature] == 0
            found = self._best_pair(row, mine, one, other, others_hold, bound)
            if found is not None:
                best, bound = found
        return best

    def _best_single(
        self, row: Floats, mine: int, moves: _Moves, others_hold: Booleans
    ) -> tuple[dict[int, float], float] | None:
        """Return the cheapest move of one feature that flips the decision, and its cost."""
        totals = (moves.passes & others_hold).astype(np.float64) @ self.votes
        candidates = np.flatnonzero(self._may_flip(totals, mine))
        for i in candidates[np.argsort(moves.costs[candidates], kind="stable")].tolist():
            changes = {moves.axis.feature: float(moves.values[i])}
            if self._flips(row, changes, mine):
                return changes, float(moves.costs[i])
        return None

    def _best_pair(
        self, row: Floats, mine: int, one: _Moves, other: _Moves, others_hold: Booleans, bound: float
    ) -> tuple[dict[int, float], float] | None:
        """Return the cheapest moves of two features that flip the decision, and their cost."""
        live = np.flatnonzero(others_hold)  # the other rules fail on some other feature
        first, second = one.passes[:, live].astype(np.float64), other.passes[:, live].astype(np.float64)
        totals = np.empty((len(first), len(second), self.votes.shape[1]))
        for c in range(self.votes.shape[1]):
            totals[:, :, c] = (first * self.votes[live, c]) @ second.T
        costs = one.costs[:, None] + other.costs[None, :]
        may_flip = self._may_flip(totals, mine) & (costs < bound)
        candidates = np.argwhere(may_flip)
        for i, j in candidates[np.argsort(costs[may_flip], kind="stable")].tolist():
            changes = {one.axis.feature: float(one.values[i]), other.axis.feature: float(other.values[j])}
            if self._flips(row, changes, mine):
                return changes, float(costs[i, j])
        return None

    def _moves(self, axis: _Axis, row: Floats) -> _Moves:
        value = float(row[axis.feature])
        values, bins = axis.candidates(value)
        costs = np.array([self._cost(axis.feature, value, to) for to in values.tolist()], dtype=np.float64)
        return _Moves(axis, values, costs, axis.passes[bins])

    def _cost(self, feature: int, before: float, after: float) -> float:
        if self.rules.features.kinds[feature] == "categorical":
            return 1.0
        return abs(after - before) / float(self.units[feature])

    def _holds(self, axis: _Axis, value: float) -> Booleans:
        """Return, per rule, whether it has no term on the feature or its term holds in the row."""
        b = -1 if math.isnan(value) else axis.bin_of(value)
        if b >= 0:
            return np.asarray(axis.passes[b])
        has_term = np.zeros(self.rules.columns.n_rules, dtype=bool)
        rule_of_term = np.repeat(np.arange(len(has_term)), self.rules.columns.lengths)
        has_term[rule_of_term[self.rules.columns.feature == axis.feature]] = True
        return np.asarray(~has_term)

    def _may_flip(self, totals: Floats, mine: int) -> Booleans:
        """Return whether another class (the wanted one, if any) wins, or nearly wins if sums are rounded."""
        scores = self._scores(totals)
        best = scores.max(axis=-1)
        default = self.rules.default_index
        decided = np.where(scores[..., default] == best, default, scores.argmax(axis=-1))
        flips = decided == self.to if self.to is not None else decided != mine
        if self.doubt > 0:
            wanted = [self.to] if self.to is not None else [c for c in range(self.n_classes) if c != mine]
            flips |= (scores[..., wanted] >= best[..., None] - self.doubt).any(axis=-1)
        return np.asarray(flips)

    def _flips(self, row: Floats, changes: dict[int, float], mine: int) -> bool:
        """Return whether the rules, evaluated by the core, decide otherwise on the changed row."""
        changed = row.copy()
        changed[list(changes)] = list(changes.values())
        rules = self.rules
        decided = int(rules.evaluator.decide(changed[None], rules.voting, rules.default_index, 1)[0])
        return decided == self.to if self.to is not None else decided != mine
