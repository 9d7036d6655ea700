"""Readable weights: numbers whose sums are exact, whole points, and the scale of their probabilities."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from clausewise.rules.ruleset import RuleSet

Floats = NDArray[np.float64]

MAX_POINTS = 5
# Multiples of 1/256 add up without rounding, in any order, even in single precision.
_STEPS_PER_UNIT = 256
# Scales to try, as multiples of the one that gives the largest weight the most points. Above 1, large weights
# are clipped, which preserves the differences between small ones.
_SCALES = np.linspace(0.5, 2.0, 16)


def exact(weights: Floats) -> Floats:
    """Return the nearest numbers whose sums are exact."""
    return np.asarray(np.round(weights * _STEPS_PER_UNIT) / _STEPS_PER_UNIT)


def with_points(rules: RuleSet, matrix: NDArray[np.floating], target: Floats, row_weight: Floats) -> RuleSet:
    """Return the rules with whole weights between −5 and 5, on the scale with the smallest cross-entropy.

    Rules with 0 points are dropped.
    """
    largest = float(np.abs(rules.columns.weight).max(initial=0.0))
    if largest == 0.0:
        return rules
    best, least = rules, np.inf
    for factor in _SCALES * (MAX_POINTS / largest):
        points = np.clip(np.round(rules.columns.weight * factor), -MAX_POINTS, MAX_POINTS) + 0.0
        tried = rules.with_weights(points, np.round(rules.base * factor))
        scale, loss = _calibration(tried, matrix, target, row_weight)
        if loss < least:
            best, least = tried.with_scale(scale), loss
    return _shortened(best[best.columns.weight != 0])


def _shortened(rules: RuleSet) -> RuleSet:
    """Divide all points by their common divisor; decisions and probabilities stay the same."""
    points = np.concatenate([rules.columns.weight, rules.base]).astype(np.int64)
    divisor = max(int(np.gcd.reduce(points)), 1)
    shorter = rules.with_weights(rules.columns.weight / divisor, rules.base / divisor)
    return shorter.with_scale(rules.scale / divisor)


def calibrated(rules: RuleSet, matrix: NDArray[np.floating], target: Floats, row_weight: Floats) -> RuleSet:
    """Return the rules with the scale that brings their probabilities closest to the target's."""
    return rules.with_scale(_calibration(rules, matrix, target, row_weight)[0])


def _calibration(
    rules: RuleSet, matrix: NDArray[np.floating], target: Floats, row_weight: Floats
) -> tuple[float, float]:
    """Return the scale with the smallest cross-entropy to the target's probabilities, and that entropy."""
    scores = rules.evaluator.scores(matrix, "weights")
    expected = (target * scores).sum(axis=1)
    top = scores.max(axis=1, keepdims=True)

    def loss(log_scale: float) -> float:
        scale = np.exp(log_scale)
        spread = np.log(np.exp((scores - top) / scale).sum(axis=1)) + top[:, 0] / scale
        return float(row_weight @ (spread - expected / scale))

    found = minimize_scalar(loss, bounds=(-3.0, 5.0), method="bounded", options={"xatol": 1e-3})
    return float(np.exp(found.x)), float(found.fun)
