"""Lines below and above an activation on an interval, which hold for its computed values too."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from clausewise.networks.plain import FUNCTIONS, Activation, Floats

# Library functions (tanh, exp, the logistic function) are taken to be this close to the exact value, times
# one plus its magnitude. Those of PyTorch, ONNX Runtime and NumPy are closer:
# tests/verify/test_relaxation.py.
FUNCTION_ERROR: Final = {np.dtype(np.float32): 2.0**-19, np.dtype(np.float64): 2.0**-45}
_ROUNDED: Final = ("tanh", "sigmoid", "elu", "softplus")
_S_SHAPED: Final = ("tanh", "sigmoid")


@dataclass(frozen=True, eq=False)
class Lines:
    """`slope_below * z + below <= f(z) <= slope_above * z + above` for each unit of each box."""

    slope_below: Floats
    below: Floats
    slope_above: Floats
    above: Floats

    def gap(self, low: Floats, high: Floats) -> Floats:
        """Return the largest distance between the lines on these intervals."""
        steeper = self.slope_above - self.slope_below
        return np.asarray(self.above - self.below + np.maximum(steeper * low, steeper * high))


def function_error(step: Activation, dtype: np.dtype[Any]) -> float:
    """Return by how much a computed activation may differ from the exact one, relative to 1 + |value|."""
    if step.name in _ROUNDED:
        return FUNCTION_ERROR[dtype]
    return 0.0 if step.name == "relu" else 4.0 * unit_roundoff(dtype)


def unit_roundoff(dtype: np.dtype[Any]) -> float:
    """Return half the distance between 1 and the next number."""
    return float(np.finfo(dtype).eps) / 2


def lines_of(step: Activation, low: Floats, high: Floats, error: float, rounding: float) -> Lines:
    """Return lines that bound an activation between `low` and `high`.

    Slopes may be chosen freely: an offset is the largest difference between function and slope over all
    points where that difference can be extreme, so that the lines hold for every choice.

    Parameters
    ----------
    step : Activation
        The activation.
    low, high : ndarray
        The interval of each unit.
    error : float
        By how much the computed function may differ from the exact one, relative to 1 + |value|.
    rounding : float
        The relative error of the computations with these lines.
    """
    function, slope_at = FUNCTIONS[step.name]
    at_low, at_high = function(low, step.slope), function(high, step.slope)
    width = high - low
    with np.errstate(divide="ignore", invalid="ignore"):
        chord = np.where(width > 0, (at_high - at_low) / width, slope_at(low, step.slope))
    chord = np.clip(chord, 0.0, 1.0)
    if step.name in _S_SHAPED:
        slope_below, touch_below = _tangent_below(step.name, low, high, chord)
        slope_above, touch_above = _tangent_below(step.name, -high, -low, chord)
        touch_above = -touch_above
    else:
        slope_above, touch_above = chord, low
        slope_below, touch_below = _below_convex(step, low, high)

    def offsets(slope: Floats, touch: Floats) -> list[Floats]:
        touch = np.clip(touch, low, high)
        return [at_low - slope * low, at_high - slope * high, function(touch, step.slope) - slope * touch]

    largest = np.maximum(np.abs(low), np.abs(high))
    values = np.maximum(np.abs(at_low), np.abs(at_high))
    slack = error * (1.0 + values) + rounding * (1.0 + values + 2.0 * largest)
    below = np.minimum.reduce(offsets(slope_below, touch_below)) - slack
    above = np.maximum.reduce(offsets(slope_above, touch_above)) + slack
    return Lines(slope_below, below, slope_above, above)


def _below_convex(step: Activation, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the slope of a line below a convex function, and where the two come closest."""
    slope_at = FUNCTIONS[step.name][1]
    if step.name in ("relu", "leaky_relu"):
        # Of all lines through 0 this one leaves the smallest area to the function.
        slope = np.where(high > -low, 1.0, step.slope)
        slope = np.where(low >= 0, 1.0, np.where(high <= 0, step.slope, slope))
        return slope, np.zeros_like(low)
    touch = (low + high) / 2
    return slope_at(touch, step.slope), touch


def _tangent_below(name: str, low: Floats, high: Floats, chord: Floats) -> tuple[Floats, Floats]:
    """Return the slope of a line below an S-shaped function, and where it touches the convex part.

    Left of 0 the function is convex and a tangent is below it; right of 0 it is concave and the chord is. In
    between, the tangent that passes through the upper end is the best, unless that touches left of `low`;
    then the function is at least as steep as the chord on all of its convex part, and the chord is below it.
    The functions are symmetric up to a constant, so that this also gives lines above, on mirrored intervals.
    """
    slope_at = FUNCTIONS[name][1]
    touch = np.where(high <= 0, (low + high) / 2, _touching_point(name, high))
    is_chord = (low >= 0) | ((high > 0) & (slope_at(low, 0.0) >= chord))
    slope = np.where(is_chord, chord, slope_at(touch, 0.0))
    return slope, np.where(is_chord, low, touch)


def _touching_point(name: str, high: Floats) -> Floats:
    """Return where a tangent through the point of the function at `high` > 0 touches it left of 0, nearly."""
    ends, touches = _touching_points()
    scale = 2.0 if name == "sigmoid" else 1.0  # the logistic function of z is that of tanh(z / 2)
    return np.asarray(scale * np.interp(high / scale, ends, touches))


@cache
def _touching_points() -> tuple[Floats, Floats]:
    """Return upper ends and the touching points of tanh for them, found by bisection."""
    ends = np.linspace(0.0, 20.0, 4001)
    lower, upper = np.full_like(ends, -30.0), np.zeros_like(ends)
    for _ in range(60):
        touch = (lower + upper) / 2
        line_at_end = np.tanh(touch) + (1 - np.tanh(touch) ** 2) * (ends - touch)
        is_steep = line_at_end > np.tanh(ends)
        upper = np.where(is_steep, touch, upper)
        lower = np.where(is_steep, lower, touch)
    return ends, (lower + upper) / 2
