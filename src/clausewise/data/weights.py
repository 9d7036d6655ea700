"""Case weights: the one reader of `sample_weight`."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.data.table import unmasked

# Weights that differ by a larger factor cannot be added in single precision.
MAX_WEIGHT_RATIO = 1e30


def read_weights(
    sample_weight: ArrayLike | None, n_rows: int, name: str = "sample_weight"
) -> NDArray[np.float64] | None:
    """Return one finite weight of 0 or more per row, not all 0; None without weights.

    A single number is the weight of every row.
    """
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(unmasked(sample_weight), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not one number per row: {error}") from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(f"{name} has shape {weights.shape}; expected ({n_rows},), one weight per row.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(
            f"{name} holds negative, infinite or missing weights; pass finite weights of 0 or more."
        )
    if not (weights > 0).any():
        raise ValueError(f"{name} is zero for all rows; at least one row must count.")
    return weights


def rescaled_weights(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights that fit single precision, multiplied by a power of two, which keeps all ratios."""
    greatest, smallest = weights.max(), weights[weights > 0].min(initial=np.inf)
    if greatest / MAX_WEIGHT_RATIO > smallest:
        raise ValueError(
            f"The weights range from {smallest:g} to {greatest:g}; they may differ at most by a factor of "
            "1e30."
        )
    if are_moderate(weights):
        return weights
    return np.ldexp(weights, -int(np.frexp(np.sqrt(smallest) * np.sqrt(greatest))[1]))


def are_moderate(weights: NDArray[np.float64]) -> bool:
    """Return whether single precision holds weights, and sums of them, as they are."""
    smallest, greatest = weights[weights > 0].min(initial=np.inf), weights.max()
    return bool(smallest > 1e-30 and greatest < 1e30 and greatest / MAX_WEIGHT_RATIO <= smallest)


def case_weights(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    """Read `sample_weight` and rescale it for single precision."""
    weights = read_weights(sample_weight, n_rows)
    return None if weights is None else rescaled_weights(weights)
