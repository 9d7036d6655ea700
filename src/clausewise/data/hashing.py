"""The finaliser of splitmix64, by which rows are hashed."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

_MULTIPLIERS: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def mix(hashes: NDArray[np.uint64]) -> None:
    """Spread every bit over all bits, in place."""
    for multiplier, shift in zip(_MULTIPLIERS, (30, 27), strict=True):
        hashes ^= hashes >> np.uint64(shift)
        hashes *= multiplier
    hashes ^= hashes >> np.uint64(31)
