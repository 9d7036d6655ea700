"""Losses of rules that add numbers: how far sums of additions are from the target, and their derivatives.

A score is the sum of base, additions and linear part. The curvature is that of a parabola which touches the
loss at the score and, for losses that grow linearly, lies above it: a step to its minimum then never raises
the loss.
"""

from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LossName = Literal["squared", "huber", "absolute", "poisson"]
LOSSES: Final[tuple[LossName, ...]] = ("squared", "huber", "absolute", "poisson")

# Beyond this error, in robust standard deviations of the target, the loss grows linearly. The absolute loss
# is rounded off below it, so that it has a derivative everywhere.
_HUBER_WIDTH, _ABSOLUTE_WIDTH = 0.5, 0.05
# Scores of the Poisson loss beyond this are clipped, so that exponentials stay finite.
_LARGEST_LOG: Final = 30.0


class Loss(Protocol):
    """The loss of one score, given what it should predict."""

    @property
    def is_quadratic(self) -> bool:
        """Whether the curvature is 1 everywhere, so that one step fits all weights."""
        ...

    def start(self, target: Floats, weight: Floats) -> float:
        """Return a constant score with a small loss."""
        ...

    def value(self, target: Floats, score: Floats) -> Floats:
        """Return the loss of each row, up to a constant."""
        ...

    def derivatives(self, target: Floats, score: Floats) -> tuple[Floats, Floats]:
        """Return the negative first derivative by the score, and the curvature, of each row."""
        ...


@dataclass(frozen=True)
class SquaredLoss:
    """Half the squared error."""

    is_quadratic = True

    def start(self, target: Floats, weight: Floats) -> float:
        """Return the mean."""
        return float(np.average(target, weights=weight))

    def value(self, target: Floats, score: Floats) -> Floats:
        """Return half the squared error."""
        return np.asarray((target - score) ** 2 / 2)

    def derivatives(self, target: Floats, score: Floats) -> tuple[Floats, Floats]:
        """Return the error, and 1."""
        return target - score, np.ones(len(target))


@dataclass(frozen=True)
class HuberLoss:
    """Half the squared error up to a width; the absolute error, times the width, beyond."""

    width: float
    is_quadratic = False

    def start(self, target: Floats, weight: Floats) -> float:
        """Return the median."""
        return weighted_median(target, weight)

    def value(self, target: Floats, score: Floats) -> Floats:
        """Return the loss, divided by the width so that small widths approach the absolute error."""
        error = np.abs(target - score)
        inside = np.minimum(error, self.width)
        return np.asarray((inside * (error - inside / 2)) / self.width)

    def derivatives(self, target: Floats, score: Floats) -> tuple[Floats, Floats]:
        """Return the bounded error, and the curvature of the parabola that touches the loss from above."""
        error = target - score
        return (
            np.clip(error, -self.width, self.width) / self.width,
            1.0 / np.maximum(np.abs(error), self.width),
        )


@dataclass(frozen=True)
class PoissonLoss:
    """Half the deviance of counts whose logarithm is the score, up to a constant."""

    is_quadratic = False

    def start(self, target: Floats, weight: Floats) -> float:
        """Return the logarithm of the mean."""
        return float(np.log(max(np.average(target, weights=weight), np.exp(-_LARGEST_LOG))))

    def value(self, target: Floats, score: Floats) -> Floats:
        """Return the mean that the score stands for, less count times score."""
        score = np.clip(score, -_LARGEST_LOG, _LARGEST_LOG)
        return np.asarray(np.exp(score) - target * score)

    def derivatives(self, target: Floats, score: Floats) -> tuple[Floats, Floats]:
        """Return count less mean, and the mean."""
        mean = np.exp(np.clip(score, -_LARGEST_LOG, _LARGEST_LOG))
        return target - mean, mean


def loss_named(name: LossName, spread: float = 1.0) -> Loss:
    """Return a loss; `spread` is a robust standard deviation of what it is to predict."""
    if name == "squared":
        return SquaredLoss()
    if name == "poisson":
        return PoissonLoss()
    return HuberLoss((_HUBER_WIDTH if name == "huber" else _ABSOLUTE_WIDTH) * spread)


def weighted_median(values: Floats, weight: Floats) -> float:
    """Return the least value at which half of the weight is reached."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    return float(values[order[np.searchsorted(reached, reached[-1] / 2)]])
