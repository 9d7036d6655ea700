"""Linear bounds as half-spaces: the part of a box on which a bound already decides.

A linear function below an output is positive on a part of a box even if its least value on the box is not. On
that part the output is proven to be positive, so that boxes at a decision boundary need not be cut until they
are tiny: only what lies between the function below and the one above is open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial
from typing import Final

import numpy as np
from scipy.special import ndtr

from clausewise.networks.plain import Floats
from clausewise.verify.domain import Booleans, Places, Regions

# More than the relative rounding error of a sum over the columns, and of the slopes.
_ROUNDING: Final = 2.0**-44
# Coordinates that a volume takes into account: those whose slope times width is largest, at least this
# fraction of the sum. The others are taken at their worst end, which makes the volume smaller.
_MAX_COORDINATES: Final = 8
_LEAST_PART: Final = 0.02
_LEAST_DEVIATION: Final = 1e-100  # of a plane without slopes


@dataclass(frozen=True, eq=False)
class Planes:
    """Lower bounds on several functions that are linear in the numeric columns, for each of several regions.

    Attributes
    ----------
    low : ndarray of shape (n_regions, n_functions)
        What each function is at least, on all of the region.
    slopes : ndarray of shape (n_regions, n_functions, n_numbers)
        How steeply the bound rises from the end of each column at which it is least. Columns in which it must
        not rise have slope 0.
    regions : Regions
        Where they hold.
    """

    low: Floats
    slopes: Floats
    regions: Regions

    def take(self, places: Places) -> "Planes":
        """Return those of some regions."""
        return Planes(self.low[places], self.slopes[places], self.regions.take(places))

    @staticmethod
    def joined(parts: Sequence["Planes"]) -> "Planes":
        """Return those of several batches."""
        return Planes(
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.slopes for part in parts]),
            Regions.joined([part.regions for part in parts]),
        )

    @classmethod
    def unknown(cls, regions: Regions, n_functions: int) -> "Planes":
        """Return bounds that say nothing."""
        shape = (len(regions), n_functions)
        return cls(np.full(shape, -np.inf), np.zeros((*shape, regions.low.shape[1])), regions)

    def within(self, regions: Regions) -> "Planes":
        """Return the bounds on a part of each region."""
        from_low, from_high = regions.low - self.regions.low, self.regions.high - regions.high
        return Planes(self._risen(from_low, from_high), self.slopes, regions)

    def decided_at(self, numbers: Floats) -> tuple[Booleans, Booleans]:
        """Return the same as `decided` for one point in each region."""
        return _all_or_any(self._risen(numbers - self.regions.low, self.regions.high - numbers))

    def _risen(self, from_low: Floats, from_high: Floats) -> Floats:
        """Return the bounds at distances from the ends of each column."""
        rising, falling = np.maximum(self.slopes, 0.0), np.maximum(-self.slopes, 0.0)
        risen = np.matmul(rising, from_low[:, :, None]) + np.matmul(falling, from_high[:, :, None])
        sums = self.low + (1.0 - _ROUNDING) * risen[:, :, 0]
        return np.asarray(sums - _ROUNDING * np.abs(self.low))

    def decided(self) -> tuple[Booleans, Booleans]:
        """Return on which regions all functions of the first half are positive, and any of the second."""
        return _all_or_any(self.low)

    def shares(self) -> tuple[Floats, Floats]:
        """Return on which fractions of each region, at least, functions are positive as in `decided`."""
        below = np.array([self._share_below(at) for at in range(self.low.shape[1])]).T
        n_all = below.shape[1] // 2
        every = np.maximum(1.0 - (1.0 + _ROUNDING) * below[:, :n_all].sum(axis=1), 0.0)
        return every, np.asarray((1.0 - below[:, n_all:]).max(axis=1))

    def open_shares(self) -> Floats:
        """Return on about which fraction of each region nothing is decided."""
        spread = np.abs(self.slopes) * (self.regions.high - self.regions.low)[:, None, :]
        deviation = np.maximum(np.sqrt((spread**2).sum(axis=2) / 12), _LEAST_DEVIATION)
        above = ndtr((self.low + spread.sum(axis=2) / 2) / deviation)
        n_all = above.shape[1] // 2
        every = np.maximum(1.0 - (1.0 - above[:, :n_all]).sum(axis=1), 0.0)
        return np.asarray(np.maximum(1.0 - every - above[:, n_all:].max(axis=1), 0.0))

    def _share_below(self, function: int) -> Floats:
        """Return on which fraction of each region, at most, the bound of one function is not positive.

        For x uniform in a unit cube and positive a₁ … a_k, the probability of a·x ≤ t is the sum of
        (−1)^|v| (t − a·v)₊^k over all vertices v of the cube, divided by k! a₁ … a_k.
        """
        low = self.low[:, function]
        spread = np.abs(self.slopes[:, function]) * (self.regions.high - self.regions.low)
        spread *= 1.0 - _ROUNDING
        found = np.where(low > 0, 0.0, 1.0)
        spread = -np.sort(-spread, axis=1)[:, :_MAX_COORDINATES]
        n_used = (spread >= _LEAST_PART * spread.sum(axis=1, keepdims=True)).sum(axis=1)
        is_cut = (low <= 0) & (low + spread.sum(axis=1) > 0)
        for k in np.unique(n_used[is_cut]).tolist():
            places = np.flatnonzero(is_cut & (n_used == k))
            found[places] = share_of_cube(spread[places, :k], -low[places])
        return found


def _all_or_any(low: Floats) -> tuple[Booleans, Booleans]:
    n_all = low.shape[1] // 2
    return np.asarray((low[:, :n_all] > 0).all(axis=1)), np.asarray((low[:, n_all:] > 0).any(axis=1))


def share_of_cube(slopes: Floats, threshold: Floats) -> Floats:
    """Return an upper bound on the share of the unit cube where `slopes · x` is at most the threshold."""
    k = slopes.shape[1]
    scale = slopes.sum(axis=1)
    slopes = slopes / scale[:, None]
    vertices = ((np.arange(2**k)[:, None] >> np.arange(k)) & 1).astype(np.float64)
    reached = np.maximum((threshold / scale)[:, None] - slopes @ vertices.T, 0.0)
    terms = reached**k / (factorial(k) * slopes.prod(axis=1))[:, None]
    signs = 1.0 - 2.0 * (vertices.sum(axis=1) % 2)
    # The relative error of a difference of numbers up to 1, k-fold in its power, where it is not small.
    error = _ROUNDING * (terms.sum(axis=1) + 2**k / (factorial(k) * slopes.prod(axis=1)))
    return np.asarray(np.clip(terms @ signs + error, 0.0, 1.0))
