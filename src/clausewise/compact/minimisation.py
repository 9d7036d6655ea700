"""Minimisation of smooth functions of many weights, some of which may be bounded below by zero.

SciPy's L-BFGS-B does the same, but calls BLAS on tiny matrices, whose threads then take several times as long
as the functions that are minimised here.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Objective = Callable[[Floats], tuple[float, Floats]]

_N_PAIRS: Final = 8
_SUFFICIENT: Final = 1e-4
_MAX_HALVINGS: Final = 25


def minimised(
    objective: Objective,
    start: Floats,
    max_steps: int,
    tolerance: float,
    is_bounded: NDArray[np.bool_] | None = None,
) -> Floats:
    """Return weights at which an objective is small, by limited-memory quasi-Newton steps.

    Parameters
    ----------
    objective : callable
        Returns the value and its gradient.
    start : ndarray of float
        Weights to start from; those that are bounded must not be negative.
    max_steps : int
        Largest number of steps.
    tolerance : float
        The search ends when a step lowers the value by less than this fraction.
    is_bounded : ndarray of bool, optional
        Weights that must not become negative; steps are projected onto what is allowed.
    """
    bounded = np.zeros(len(start), dtype=bool) if is_bounded is None else is_bounded
    weights, (value, gradient) = start, objective(start)
    pairs: list[tuple[Floats, Floats]] = []
    for _ in range(max_steps):
        # A weight at its bound that would only become negative stays there.
        is_free = ~(bounded & (weights <= 0) & (gradient > 0))
        direction = np.where(is_free, -_scaled(gradient * is_free, pairs), 0.0)
        if dot(gradient, direction) >= 0:
            pairs.clear()
            direction = -gradient * is_free
        length = 1.0 if pairs else min(1.0, 1.0 / max(float(np.abs(direction).sum()), 1e-12))
        for _ in range(_MAX_HALVINGS):
            moved = weights + length * direction
            moved[bounded] = np.maximum(moved[bounded], 0.0)
            change = moved - weights
            next_value, next_gradient = objective(moved)
            if next_value <= value + _SUFFICIENT * dot(gradient, change):
                break
            length /= 2
        else:
            return weights
        difference = next_gradient - gradient
        if dot(change, difference) > 1e-10 * dot(difference, difference):
            pairs = [*pairs[-_N_PAIRS + 1 :], (change, difference)]
        lowered = value - next_value
        weights, value, gradient = moved, next_value, next_gradient
        if lowered <= tolerance * max(abs(value), 1.0):
            break
    return weights


def dot(a: Floats, b: Floats) -> float:
    """Return the sum of products, in an order that, unlike that of BLAS, does not depend on threads."""
    return float(np.einsum("i,i->", a, b))


def _scaled(gradient: Floats, pairs: list[tuple[Floats, Floats]]) -> Floats:
    """Return the product of the gradient with the inverse of the curvature that the last steps have shown."""
    step = gradient.copy()
    factors = []
    for change, difference in reversed(pairs):
        factor = dot(change, step) / dot(change, difference)
        factors.append(factor)
        step -= factor * difference
    if pairs:
        change, difference = pairs[-1]
        step *= dot(change, difference) / dot(difference, difference)
    for (change, difference), factor in zip(pairs, reversed(factors), strict=True):
        step += (factor - dot(difference, step) / dot(change, difference)) * change
    return step
