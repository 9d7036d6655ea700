"""Changes of several features, on the way from a row to real rows that are decided as wanted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from clausewise.analysis.counterfactual_agreement import Agreement, Codes
from clausewise.analysis.counterfactual_limits import Booleans, Floats, Limits
from clausewise.analysis.counterfactual_moves import Integers, costs_of

# Real rows that are tried as goals of a row; the nearest ones.
_N_GOALS: Final = 8


@dataclass(frozen=True, eq=False)
class Goals:
    """Real rows, encoded, that the rules (and the network, if there is one) put into the same class."""

    matrix: Floats
    codes: Codes


def changes_towards(
    goals: Goals,
    agreement: Agreement,
    rows: Integers,
    limits: Sequence[Limits],
    units: Floats,
    max_features: int,
) -> tuple[Integers, Floats]:
    """Return the rows for which a confirmed change of at most `max_features` features was found, and these.

    Each row is changed towards the nearest goals; changes that are not needed are left out.
    """
    starts, ends, costs = _paths(goals, agreement, rows, limits, units)
    found = _shortest_ways(agreement, starts, ends, costs, max_features)
    reached = np.flatnonzero(found.any(axis=1))
    total = np.where(found, costs, 0.0).sum(axis=1)[reached]
    order = reached[np.lexsort((total, starts[reached]))]
    own_rows, first = np.unique(starts[order], return_index=True)
    best = order[first]
    return own_rows, np.where(found[best], ends[best], agreement.matrix[own_rows])


def _paths(
    goals: Goals, agreement: Agreement, rows: Integers, limits: Sequence[Limits], units: Floats
) -> tuple[Integers, Floats, Floats]:
    """Return rows, each with several changed copies of it, and what each of their changes costs."""
    features = agreement.rules.features
    n_categories = features.n_categories
    starts, ends, costs = [np.empty(0, np.int64)], [goals.matrix[:0]], [goals.matrix[:0]]
    for row in rows.tolist():
        own = agreement.matrix[row]
        is_wanted = agreement.is_wanted(goals.codes, np.full(len(goals.codes), row))
        ends_here = goals.matrix[is_wanted].copy()
        for feature, limit in enumerate(limits):
            values = ends_here[:, feature]
            is_known = np.isfinite(values) & np.isfinite(own[feature])
            if n_categories[feature] >= 0:
                is_known &= values < n_categories[feature]
            may_change = is_known & limit.allow(own[feature], values)
            ends_here[:, feature] = np.where(may_change, values, own[feature])
        costs_here = costs_of(own, ends_here, features, units)
        nearest = np.argsort(costs_here.sum(axis=1), kind="stable")[:_N_GOALS]
        starts.append(np.full(len(nearest), row))
        ends.append(ends_here[nearest])
        costs.append(costs_here[nearest])
    return np.concatenate(starts), np.concatenate(ends), np.concatenate(costs)


def _shortest_ways(
    agreement: Agreement, rows: Integers, ends: Floats, costs: Floats, max_features: int
) -> Booleans:
    """Return which features of each path to change: at most `max_features`; none if that does not suffice.

    The changes of a path are made one after another, the cheapest first, until they are confirmed: the last
    one was needed. It is then made first of all, and the search goes on among the changes before it.
    """
    own = agreement.matrix[rows]
    # Changes that are free come last; they are none.
    rank = np.argsort(np.argsort(np.where(costs > 0, costs, np.inf), axis=1, kind="stable"), axis=1)
    n_usable = (costs > 0).sum(axis=1)
    chosen = np.zeros(costs.shape, dtype=bool)
    found = np.zeros(costs.shape, dtype=bool)
    going = np.flatnonzero(agreement.hold(rows, ends))
    for _ in range(max_features):
        low, high = np.zeros(len(rows), dtype=np.int64), n_usable.copy()
        while len(halved := going[high[going] - low[going] > 1]):
            middle = (low[halved] + high[halved]) // 2
            is_used = chosen[halved] | (rank[halved] < middle[:, None])
            holds = agreement.hold(rows[halved], np.where(is_used, ends[halved], own[halved]))
            high[halved] = np.where(holds, middle, high[halved])
            low[halved] = np.where(holds, low[halved], middle)
        n_usable[going] = high[going] - 1
        chosen[going] |= rank[going] == n_usable[going][:, None]
        holds = agreement.hold(rows[going], np.where(chosen[going], ends[going], own[going]))
        found[going[holds]] = chosen[going[holds]]
        going = going[~holds & (n_usable[going] > 0)]
    return found
