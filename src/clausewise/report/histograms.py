"""How features are distributed, in few numbers."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.data.table import Category, Kind

N_BINS: Final = 24
# A few far values would squeeze all others into one bin, so the axis leaves them out at both ends.
_TAIL: Final = 0.005


def histogram_of(column: NDArray[Any], kind: Kind, categories: Sequence[Category] | None) -> dict[str, Any]:
    """HistogramEntry of explorer/src/payload.ts, of an encoded column."""
    is_missing = np.isnan(column)
    n_missing = int(is_missing.sum())
    known = column[~is_missing].astype(np.float64)
    if kind == "numeric":
        return _of_numbers(known) | {"n_missing": n_missing}
    n_values = 2 if categories is None else len(categories)
    # An unknown category has the code behind all others.
    counts = np.bincount(known.astype(np.int64), minlength=n_values + 1)
    return {
        "kind": "categories",
        "counts": counts[:n_values].tolist(),
        "n_unknown": int(counts[n_values:].sum()),
        "n_missing": n_missing,
    }


def _of_numbers(known: NDArray[np.float64]) -> dict[str, Any]:
    finite = known[np.isfinite(known)]
    if len(finite) == 0:
        ends = {"low": 0.0, "high": 1.0, "min": None, "max": None}
        return {"kind": "numeric", "counts": [0] * N_BINS, "is_whole": False, **ends}
    is_whole = bool((finite == np.floor(finite)).all())
    low, high, n_bins = _axis(finite, is_whole)
    # The width of an axis may be beyond the doubles; half of it is not.
    scale = 0.5 if math.isinf(high - low) else 1.0
    place = (finite * scale - low * scale) / (high * scale - low * scale)
    bins = np.clip(np.floor(place * n_bins), 0, n_bins - 1).astype(np.int64)
    return {
        "kind": "numeric",
        "low": low,
        "high": high,
        "counts": np.bincount(bins, minlength=n_bins).tolist(),
        "min": float(finite.min()),
        "max": float(finite.max()),
        "is_whole": is_whole,
    }


def _axis(finite: NDArray[np.float64], is_whole: bool) -> tuple[float, float, int]:
    """The range that is drawn and its number of bins; few whole numbers have a bin each, in its middle."""
    low, high = _ends(finite)
    if is_whole and float(finite.max()) - float(finite.min()) < N_BINS:
        low, high = float(finite.min()), float(finite.max())
        return low - 0.5, high + 0.5, int(high - low) + 1
    return low, high, N_BINS


def _ends(finite: NDArray[np.float64]) -> tuple[float, float]:
    """The range that is drawn: without the tails, if these would take more than half of it."""
    least, greatest = float(finite.min()), float(finite.max())
    low, high = (float(np.quantile(finite, part, method="nearest")) for part in (_TAIL, 1 - _TAIL))
    if low == high or high / 2 - low / 2 > greatest / 4 - least / 4:
        low, high = least, greatest
    return (low, high) if low < high else (low - max(abs(low), 1.0) / 2, low + max(abs(low), 1.0) / 2)
