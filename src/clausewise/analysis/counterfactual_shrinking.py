"""Makes changes that are confirmed smaller, as long as they stay confirmed."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from clausewise.analysis.counterfactual_agreement import Agreement
from clausewise.analysis.counterfactual_limits import Floats, Limits
from clausewise.analysis.counterfactual_moves import SLACK, Integers, costs_of
from clausewise.rules.decimals import shortest_decimal

# Values this close, in units of their feature, are not told apart; further digits would not be readable.
_CLOSE: Final = 2 * SLACK
_N_ROUNDS: Final = 2
_N_HALVINGS: Final = 8


def shrunken(
    agreement: Agreement, rows: Integers, changed: Floats, limits: Sequence[Limits], units: Floats
) -> Floats:
    """Return the changed rows with fewer or smaller changes that are confirmed, too.

    One feature after another, the most expensive first: its change is left out or, for a number, halved
    several times.
    """
    changed = changed.copy()
    own = agreement.matrix[rows]
    features = agreement.rules.features
    for _ in range(_N_ROUNDS):
        costs = costs_of(own, changed, features, units)
        order = np.argsort(-costs, axis=1, kind="stable")
        for place in range(int((costs > 0).sum(axis=1).max(initial=0))):
            feature = order[:, place]
            is_open = np.take_along_axis(costs, feature[:, None], axis=1)[:, 0] > 0
            _shrink_feature(agreement, rows, changed, feature, np.flatnonzero(is_open), limits, units)
    return changed


def _shrink_feature(
    agreement: Agreement,
    rows: Integers,
    changed: Floats,
    feature: Integers,
    places: Integers,
    limits: Sequence[Limits],
    units: Floats,
) -> None:
    """Shrink the change of one feature of each row at these places, in place."""
    own = agreement.matrix[rows, feature]
    kinds = agreement.rules.features.kinds
    near, value = own.copy(), own.copy()
    for _ in range(_N_HALVINGS + 1):
        trial = changed[places]
        trial[np.arange(len(places)), feature[places]] = value[places]
        holds = agreement.hold(rows[places], trial)
        changed[places[holds], feature[places[holds]]] = value[places[holds]]
        near[places[~holds]] = value[places[~holds]]
        # Where the feature keeps its own value, or has no order, nothing is left to halve.
        places = places[~(holds & (value[places] == own[places]))]
        places = places[[kinds[f] == "numeric" for f in feature[places].tolist()]]
        for i in places.tolist():
            f = int(feature[i])
            value[i] = _between(float(near[i]), float(changed[i, f]), limits[f], float(units[f]))
        places = places[np.isfinite(value[places])]
        if len(places) == 0:
            break


def _between(near: float, far: float, limits: Limits, unit: float) -> float:
    """Return an allowed value about halfway between two values; NaN if they are close or there is none."""
    low, high = min(near, far), max(near, far)
    if limits.values is not None:
        inside = limits.values[(limits.values > low) & (limits.values < high)]
        return float(inside[len(inside) // 2]) if len(inside) else math.nan
    # The allowed range may begin or end between the two.
    low, high = max(low, limits.low), min(high, limits.high)
    middle, width = low / 2 + high / 2, high - low
    if limits.is_whole:
        value = float(math.floor(middle))
        value = value if value > low else value + 1
        return value if low < value < high else math.nan
    if not width > _CLOSE * unit:
        return math.nan
    return shortest_decimal(middle - width / 4, math.nextafter(middle + width / 4, math.inf), middle)
