"""The smallest change of one or two features of a row that changes what the rules decide.

The thresholds of all rules on a feature cut its axis into bins, and a decision depends on the bins of a row
only. So there is one candidate per bin, at the end that is next to the row. On the way down that is the
threshold itself (intervals are closed above), or a decimal just below if it has many digits; on the way up, a
decimal just above. All candidates, and all pairs of candidates of two features, are tried; what is found is
checked with `predict`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, overload

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from clausewise.base.frames import Backend, frame_of
from clausewise.base.parameters import check_parameters, one_of
from clausewise.data.features import Features
from clausewise.data.labels import Label, known_label
from clausewise.networks.answers import model_labels
from clausewise.rules.columns import NO_SET, RuleColumns
from clausewise.rules.decimals import shortest_decimal
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import Value, format_category
from clausewise.rules.voting import Jury, juries, sums_are_exact

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

SLACK = 0.01
"""How far from a threshold a readable value may lie, in units of the feature's spread."""


@dataclass(frozen=True)
class Change:
    """Another value for one feature of a row."""

    feature: str
    before: Value
    after: Value

    def __str__(self) -> str:
        before = self.before
        if isinstance(before, float) and float(f"{before:.6g}") != self.after:
            before = float(f"{before:.6g}")  # more digits of what the row has say nothing
        shown = ("unknown" if value is None else format_category(value) for value in (before, self.after))
        return f"{self.feature} {' → '.join(shown)}"


@dataclass(frozen=True)
class Counterfactual:
    """What would have to be different about a row for another decision.

    Attributes
    ----------
    row : int
        Position of the row.
    prediction, becomes : class label
        What the rules decide, and what they would; `becomes` is None if no change was found.
    changes : tuple of Change
        The changes, at most `max_features`; none if there is none, or none is needed.
    distance : float
        Sum of the changes in units of their feature's spread; infinite if none was found.
    network_before, network_after : class label or None
        What the network says without and with the changes, if one was given.
    """

    row: int
    prediction: Label
    becomes: Label | None
    changes: tuple[Change, ...]
    distance: float
    network_before: Label | None = None
    network_after: Label | None = None

    @property
    def is_found(self) -> bool:
        """Whether there is such a change."""
        return self.becomes is not None

    @property
    def network_flips(self) -> bool | None:
        """Whether the network changes its mind too; None if it was not asked."""
        if self.network_after is None or not self.changes:
            return None
        return self.network_after != self.network_before

    def __str__(self) -> str:
        head = f"row {self.row}: {format_category(self.prediction)}"
        if self.becomes is None:
            return f"{head}, and no change allowed changes that"
        if not self.changes:
            return f"{head} already"
        changes = " and ".join(map(str, self.changes))
        network = ""
        if self.network_flips is not None and self.network_after is not None:
            network = f" (the network: {format_category(self.network_after)}"
            network += ")" if self.network_flips else ", as before)"
        return f"{head} becomes {format_category(self.becomes)} if {changes}{network}"


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactuals(Sequence[Counterfactual]):
    """One Counterfactual per row.

    Attributes
    ----------
    found : tuple of Counterfactual
        One per row.
    rows : array or DataFrame
        The rows given, with the changes made.
    units : ndarray of shape (n_features,)
        What counts as a distance of 1, per feature; 1 for categorical and binary ones.
    """

    found: tuple[Counterfactual, ...]
    rows: Any
    units: Floats

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, row: int) -> Counterfactual: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[Counterfactual, ...]: ...
    def __getitem__(self, row: int | slice) -> Counterfactual | tuple[Counterfactual, ...]:
        return self.found[row]

    def __iter__(self) -> Iterator[Counterfactual]:
        return iter(self.found)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """One line per row: decision, what it would become, the changes as text, distance, the network."""
        return frame_of(
            {
                "row": [one.row for one in self.found],
                "prediction": [one.prediction for one in self.found],
                "becomes": [one.becomes for one in self.found],
                "n_changes": [len(one.changes) for one in self.found],
                "changes": [" and ".join(map(str, one.changes)) for one in self.found],
                "distance": [one.distance for one in self.found],
                "network": [one.network_after for one in self.found],
                "network_flips": [one.network_flips for one in self.found],
            },
            backend,
        )

    def __str__(self) -> str:
        return "\n".join(map(str, self.found))

    def __repr__(self) -> str:
        n_found = sum(one.is_found for one in self.found)
        return f"<Counterfactuals for {n_found:,} of {len(self):,} rows>"


def counterfactuals(
    rules: RuleSet,
    X: Any,
    max_features: int,
    network: Any,
    to: Label | None,
    reference: Any,
) -> Counterfactuals:
    """Find the smallest changes that flip the rules' decisions, row by row; see `RuleSet.counterfactuals`."""
    check_parameters({"max_features": one_of(1, 2)}, {"max_features": max_features})
    wanted = None if to is None else rules.labels.index(known_label(to, rules.classes))
    matrix = np.array(rules.features.encode(X), dtype=np.float64)
    known = None if reference is None else np.asarray(rules.features.encode(reference), dtype=np.float64)
    units = _units(rules.columns, rules.features, known)
    axes = _axes(rules.columns, rules.features, units, known)
    search = _Search(rules, axes, units, max_features, wanted)
    decided = rules.evaluator.decide(matrix, rules.voting, rules.default_index)
    changed = matrix.copy()
    found: list[dict[int, float] | None] = []
    for row, mine in enumerate(decided.tolist()):
        changes = search.smallest(matrix[row], mine)
        found.append(changes)
        for feature, value in (changes or {}).items():
            changed[row, feature] = value
    becomes = rules.evaluator.decide(changed, rules.voting, rules.default_index)
    rows = _with_changes(X, rules.features, found)
    before, after = (None, None) if network is None else (_labels_of(network, X), _labels_of(network, rows))
    described = tuple(
        Counterfactual(
            row=row,
            prediction=rules.labels[decided[row]],
            becomes=None if changes is None else rules.labels[becomes[row]],
            changes=tuple(
                Change(
                    rules.features.names[feature],
                    rules.features.decode(feature, float(matrix[row, feature])),
                    rules.features.decode(feature, value),
                )
                for feature, value in (changes or {}).items()
            ),
            distance=math.inf if changes is None else search.distance(matrix[row], changes),
            network_before=None if before is None else before[row],
            network_after=None if after is None else after[row],
        )
        for row, changes in enumerate(found)
    )
    return Counterfactuals(described, rows, units)


# --- Bins and units ---


def _cuts(stored: RuleColumns, feature: int) -> Floats:
    """All finite thresholds on a feature, ascending."""
    here = stored.feature == feature
    cuts = np.unique(np.concatenate([stored.low[here], stored.high[here]]))
    return np.asarray(cuts[np.isfinite(cuts)])


def _units(stored: RuleColumns, features: Features, known: Floats | None) -> Floats:
    """What counts as a distance of 1: the standard deviation on known rows, or the range of thresholds."""
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
            spread = float(np.abs(cuts).max(initial=0.0))  # one threshold: changes relative to its size
        units[feature] = spread if 0 < spread < math.inf else 1.0
    return units


@dataclass(frozen=True, eq=False)
class _Axis:
    """The bins of one feature: what rules hold in each, and the value to take coming from either side."""

    feature: int
    cuts: Floats | None
    """Upper ends of all bins but the last; None for categories, whose bins are their codes."""
    passes: Booleans
    """Whether each rule's term on the feature, if it has one, holds in each bin: shape (bins, rules)."""
    from_below: Floats
    from_above: Floats
    """NaN where a bin holds no value that the feature can have."""

    def bin_of(self, value: float) -> int:
        """The bin of a value; −1 for a category that is not known."""
        if self.cuts is None:
            return int(value) if 0 <= value < len(self.passes) else -1
        return int(np.searchsorted(self.cuts, value, side="left"))

    def candidates(self, value: float) -> tuple[Floats, NDArray[np.int64]]:
        """For each bin but the row's own, the nearest value in it; and the bins."""
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
    """Per bin the values to take when coming from below and from above."""
    lows, highs = np.append(-math.inf, cuts), np.append(cuts, math.inf)
    below, above = np.full(len(lows), np.nan), highs.copy()
    for place, (low, high) in enumerate(zip(lows.tolist(), highs.tolist(), strict=True)):
        if is_whole:
            last = math.floor(high) if math.isfinite(high) else math.inf
            above[place] = last if last > low else np.nan
            first = math.floor(low) + 1.0 if math.isfinite(low) else math.inf
            below[place] = first if low < first <= high else np.nan
        elif math.isfinite(low):
            first = math.nextafter(low, math.inf)
            last = max(min(high, low + SLACK * unit), first)
            if math.isfinite(last):
                below[place] = shortest_decimal(first, math.nextafter(last, math.inf), first)
        if not is_whole and math.isfinite(high) and float(f"{high:.4g}") != high:
            first = max(math.nextafter(low, math.inf), high - SLACK * unit)
            if math.isfinite(first):
                above[place] = shortest_decimal(first, math.nextafter(high, math.inf), high)
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
            # Every bound is a cut, so a bin lies inside the interval or outside of it as a whole.
            lows, highs = np.append(-math.inf, cuts), np.append(cuts, math.inf)
            passes[:, rule] = (lows >= stored.low[term]) & (highs <= stored.high[term])
    return passes


# --- Search ---


@dataclass(frozen=True, eq=False)
class _Moves:
    """Candidate values of one feature of a row that are nearer than what has been found."""

    axis: _Axis
    values: Floats
    costs: Floats
    passes: Booleans

    def below(self, bound: float) -> "_Moves":
        near = self.costs < bound
        return _Moves(self.axis, self.values[near], self.costs[near], self.passes[near])


class _Search:
    def __init__(
        self, rules: RuleSet, axes: list[_Axis], units: Floats, max_features: int, to: int | None
    ) -> None:
        self.rules, self.axes, self.units, self.max_features, self.to = rules, axes, units, max_features, to
        self.n_classes = len(rules.labels)
        self.first, self.others = juries(rules.columns, rules.base, rules.voting)
        self.votes = self._vote_columns()
        # Sums in another order may differ in their last digits; what is this near to a tie is tried.
        numbers = np.concatenate([self.first.votes, self.others.votes, self.others.start])
        self.doubt = 0.0 if sums_are_exact(numbers.tolist()) else 1e-9 * float(np.abs(numbers).sum())

    def _vote_columns(self) -> Floats:
        """What each rule adds to each class; if there are rules with priority, to either jury's total of
        each class, and to the number of rules with priority that fire."""
        n, stored = self.n_classes, self.rules.columns
        votes = np.zeros((stored.n_rules, 2 * n + 1 if len(self.first.rules) else n))
        votes[self.others.rules, stored.class_index[self.others.rules]] = self.others.votes
        if len(self.first.rules):
            votes[self.first.rules, n + stored.class_index[self.first.rules]] = self.first.votes
            votes[self.first.rules, -1] = 1.0
        return votes

    def _scores(self, totals: Floats) -> Floats:
        """What the jury that decides makes of the sums of `votes`."""

        def scored(jury: Jury, sums: Floats) -> Floats:
            return np.asarray((sums + jury.start) / jury.divisors)

        n = self.n_classes
        scores = scored(self.others, totals[..., :n])
        if len(self.first.rules) == 0:
            return scores
        return np.where(totals[..., -1:] > 0, scored(self.first, totals[..., n : 2 * n]), scores)

    def distance(self, row: Floats, changes: dict[int, float]) -> float:
        """Sum of the changes in units of their features."""
        return sum(self._cost(feature, row[feature], value) for feature, value in changes.items())

    def smallest(self, row: Floats, mine: int) -> dict[int, float] | None:
        """The smallest change of the row that changes the decision, or None; missing values stay missing."""
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
            near = one.below(bound)
            others_hold = fails - ~holds[one.axis.feature] == 0
            totals = (near.passes & others_hold).astype(np.float64) @ self.votes
            places = np.flatnonzero(self._may_flip(totals, mine))
            for place in places[np.argsort(near.costs[places], kind="stable")].tolist():
                changes = {one.axis.feature: float(near.values[place])}
                if self._flips(row, changes, mine):
                    best, bound = changes, float(near.costs[place])
                    break
        for pair in combinations(moves, 2) if self.max_features == 2 else ():
            # Costs add up, so that either must be below the bound by the least that the other costs.
            if not all(len(part.costs) for part in pair):
                continue
            one, other = (part.below(bound - rest.costs.min()) for part, rest in (pair, pair[::-1]))
            if not len(one.costs) or not len(other.costs):
                continue
            others_hold = fails - ~holds[one.axis.feature] - ~holds[other.axis.feature] == 0
            changes_found = self._best_pair(row, mine, one, other, others_hold, bound)
            if changes_found is not None:
                best, bound = changes_found
        return best

    def _best_pair(
        self, row: Floats, mine: int, one: _Moves, other: _Moves, others_hold: Booleans, bound: float
    ) -> tuple[dict[int, float], float] | None:
        live = np.flatnonzero(others_hold)  # rules that other features keep from firing cannot
        first, second = one.passes[:, live].astype(np.float64), other.passes[:, live].astype(np.float64)
        totals = np.empty((len(first), len(second), self.votes.shape[1]))
        for c in range(self.votes.shape[1]):
            totals[:, :, c] = (first * self.votes[live, c]) @ second.T
        costs = one.costs[:, None] + other.costs[None, :]
        may_flip = self._may_flip(totals, mine) & (costs < bound)
        places = np.argwhere(may_flip)
        for i, j in places[np.argsort(costs[may_flip], kind="stable")].tolist():
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
        """Per rule, whether its term on the feature holds in the row, or it has none."""
        place = -1 if math.isnan(value) else axis.bin_of(value)
        if place >= 0:
            return np.asarray(axis.passes[place])
        has_term = np.zeros(self.rules.columns.n_rules, dtype=bool)
        rule_of_term = np.repeat(np.arange(len(has_term)), self.rules.columns.lengths)
        has_term[rule_of_term[self.rules.columns.feature == axis.feature]] = True
        return np.asarray(~has_term)

    def _may_flip(self, totals: Floats, mine: int) -> Booleans:
        """Whether another class (the one wanted, if any) wins, or nearly does where sums are rounded."""
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
        """Whether the rules do decide otherwise."""
        changed = row.copy()
        changed[list(changes)] = list(changes.values())
        rules = self.rules
        decided = int(rules.evaluator.decide(changed[None], rules.voting, rules.default_index, 1)[0])
        return decided == self.to if self.to is not None else decided != mine


# --- Tables with changes made ---


def _with_changes(X: Any, features: Features, found: Sequence[dict[int, float] | None]) -> Any:
    """The caller's table with the changes made, in its own kind."""
    changed: dict[int, dict[int, Value]] = {}
    for row, changes in enumerate(found):
        for feature, value in (changes or {}).items():
            changed.setdefault(feature, {})[row] = features.decode(feature, value)
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        return _array_with_changes(X, changed)
    for feature, cells in changed.items():
        name = features.names[feature] if features.named else frame.columns[feature]
        column = frame[name]
        needs_fractions = any(isinstance(cell, float) and not cell.is_integer() for cell in cells.values())
        if column.dtype.is_integer() and needs_fractions:
            column = column.cast(nw.Float64())
        # In place of a column made anew, so that missing values and the type stay as they are.
        made = column.scatter(list(cells), list(cells.values()))
        frame = frame.with_columns(made)
    return frame.to_native()


def _array_with_changes(X: Any, changed: dict[int, dict[int, Value]]) -> NDArray[Any]:
    array = np.asarray(X)
    # Thresholds are doubles, which single precision and integers do not hold; text needs room.
    table = array.astype(np.float64 if array.dtype.kind in "fiub" else object)
    for feature, cells in changed.items():
        for row, value in cells.items():
            table[row, feature] = value
    return table


def _labels_of(network: Any, rows: Any) -> list[Label]:
    labels: list[Label] = model_labels(network, rows).tolist()
    return labels
