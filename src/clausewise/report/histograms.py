"""Histograms of features."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.data.table import Category, Kind

N_BINS: Final = 24
# Fraction of rows that the axis may leave out at each end, so that outliers do not squeeze the others.
_TAIL: Final = 0.005


def histogram_of(column: NDArray[Any], kind: Kind, categories: Sequence[Category] | None) -> dict[str, Any]:
    """Return the HistogramEntry (explorer/src/payload.ts) of an encoded column."""
    is_missing = np.isnan(column)
    n_missing = int(is_missing.sum())
    known = column[~is_missing].astype(np.float64)
    if kind == "numeric":
        return _numeric_histogram(known) | {"n_missing": n_missing}
    n_values = 2 if categories is None else len(categories)
    # The code of unknown categories comes after all others.
    counts = np.bincount(known.astype(np.int64), minlength=n_values + 1)
    return {
        "kind": "categories",
        "counts": counts[:n_values].tolist(),
        "n_unknown": int(counts[n_values:].sum()),
        "n_missing": n_missing,
    }


def _numeric_histogram(known: NDArray[np.float64]) -> dict[str, Any]:
    finite = known[np.isfinite(known)]
    if len(finite) == 0:
        ends = {"low": 0.0, "high": 1.0, "min": None, "max": None}
        return {"kind": "numeric", "counts": [0] * N_BINS, "is_whole": False, **ends}
    is_whole = bool((finite == np.floor(finite)).all())
    low, high, n_bins = _axis(finite, is_whole)
    # The width of the axis may overflow a double; half of it does not.
    scale = 0.5 if math.isinf(high - low) else 1.0
    relative = (finite * scale - low * scale) / (high * scale - low * scale)
    bins = np.clip(np.floor(relative * n_bins), 0, n_bins - 1).astype(np.int64)
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
    """Return the range to draw and the number of bins; a few whole numbers get a bin each, centred."""
    low, high = _ends(finite)
    if is_whole and float(finite.max()) - float(finite.min()) < N_BINS:
        low, high = float(finite.min()), float(finite.max())
        return low - 0.5, high + 0.5, int(high - low) + 1
    return low, high, N_BINS


def _ends(finite: NDArray[np.float64]) -> tuple[float, float]:
    """Return the range to draw, without the tails if these would take more than half of it."""
    least, greatest = float(finite.min()), float(finite.max())
    low, high = (float(np.quantile(finite, fraction, method="nearest")) for fraction in (_TAIL, 1 - _TAIL))
    if low == high or high / 2 - low / 2 > greatest / 4 - least / 4:
        low, high = least, greatest
    return (low, high) if low < high else (low - max(abs(low), 1.0) / 2, low + max(abs(low), 1.0) / 2)
