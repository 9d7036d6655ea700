"""The linear part of rules that add numbers: few columns, each within the range of most rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clausewise.compact.regression_model import RegressionModel
from clausewise.data.features import Features
from clausewise.data.table import Matrix
from clausewise.rules.linear import LinearTerm
from clausewise.rules.sums import round_significant

Floats = NDArray[np.float64]

# Values beyond these quantiles count as the quantiles: a few extreme rows must not tilt a line.
_LOWER, _UPPER = 0.005, 0.995
_DIGITS_OF_RANGE = 3
# Of wide tables, so many columns are considered, and so many are fitted before one is chosen.
_MAX_CANDIDATES, _N_TRIED = 64, 4
DEFAULT_COLUMNS = 6
"""The most columns of a linear part whose size is not stated."""


@dataclass(frozen=True, eq=False)
class LinearColumn:
    """A column that may be part of a linear sum.

    Attributes
    ----------
    feature : int
        Its position.
    name : str
        Its name.
    low, high : float
        The range in which its values count.
    fill : float
        What a missing value counts as.
    mean, spread : float
        Of the values that count, in the training rows.
    """

    feature: int
    name: str
    low: float
    high: float
    fill: float
    mean: float
    spread: float

    def standardised(self, table: Matrix) -> Floats:
        """Return the values that count, with mean 0 and standard deviation 1 in the training rows."""
        return np.asarray((self.term(1.0).values(table) - self.mean) / self.spread)

    def term(self, coefficient: float) -> LinearTerm:
        """Return the column with a coefficient."""
        return LinearTerm(self.feature, self.name, coefficient, self.fill, self.low, self.high)


def linear_columns(table: Matrix, features: Features, weights: Floats) -> list[LinearColumn]:
    """Return the columns of numbers that vary."""
    found = []
    for feature, kind in enumerate(features.kinds):
        if kind == "categorical":
            continue
        values = np.asarray(table[:, feature], dtype=np.float64)
        is_known = np.isfinite(values) & (weights > 0)
        if not is_known.any():
            continue
        known = values[is_known]
        low, middle, high = np.quantile(known, (_LOWER, 0.5, _UPPER), method="inverted_cdf").tolist()
        if kind == "binary" or low == high:
            low, high = float(known.min()), float(known.max())
        else:
            low, middle, high = _rounded_range(low, middle, high)
        fill = float(np.clip(middle, low, high))
        counted = np.clip(np.where(np.isfinite(values), values, fill), low, high)
        mean = float(np.average(counted, weights=weights))
        spread = float(np.sqrt(np.average((counted - mean) ** 2, weights=weights)))
        if spread > 1e-12 * max(abs(mean), abs(high), abs(low)):
            found.append(LinearColumn(feature, features.names[feature], low, high, fill, mean, spread))
    return found


def _rounded_range(low: float, middle: float, high: float) -> tuple[float, float, float]:
    """Return a range and a value within it in short decimals; the width has about three digits."""
    width = high - low
    if not 0 < width < np.inf:
        return low, middle, high
    step = 10.0 ** (np.floor(np.log10(width)) - _DIGITS_OF_RANGE + 1)
    shown = [round_significant(float(np.round(end / step) * step), 15) for end in (low, middle, high)]
    return (shown[0], shown[1], shown[2]) if shown[0] < shown[2] else (low, middle, high)


def promising_columns(
    columns: Sequence[LinearColumn], model: RegressionModel, table: Matrix
) -> list[LinearColumn]:
    """Return the columns that would lower the objective of a model most on their own, at most 64."""
    if len(columns) <= _MAX_CANDIDATES:
        return list(columns)
    gradient, curvature = model.derivatives(0)
    promised = [
        _promised(values[None], gradient, curvature)[0]
        for values in (column.standardised(table) for column in columns)
    ]
    kept = np.sort(np.argsort(-np.array(promised), kind="stable")[:_MAX_CANDIDATES])
    return [columns[i] for i in kept.tolist()]


def _promised(columns: Floats, gradient: Floats, curvature: Floats) -> Floats:
    """Return twice the decrease of the objective by each column alone, to second order."""
    bend = (columns**2 * curvature).sum(axis=1)
    return np.asarray((columns * gradient).sum(axis=1) ** 2 / np.maximum(bend, 1e-12))


def choose_columns(
    model: RegressionModel, candidates: Sequence[Floats], n_columns: int, price: float
) -> list[int]:
    """Put the best columns into a model's linear part, beside its rules; return their positions.

    Columns are added one by one, the one that lowers the objective most first, while that is worth the price
    of reading it.
    """
    every = np.array(candidates).reshape(len(candidates), len(model.target))
    chosen: list[int] = []
    model.use_columns(every[chosen])
    for _ in range(min(n_columns, len(candidates))):
        before = model.fit.objective
        others = np.setdiff1d(np.arange(len(candidates)), chosen)
        promised = _promised(every[others], *model.derivatives(0))
        promising = others[np.argsort(-promised, kind="stable")[:_N_TRIED]]
        tried = []
        for column in promising.tolist():
            model.use_columns(every[[*chosen, column]])
            tried.append((model.fit.objective, column))
        objective, best = min(tried)
        is_worth_it = before - objective > price
        if is_worth_it:
            chosen.append(best)
        model.use_columns(every[chosen])
        if not is_worth_it:
            break
    return chosen
