"""Arithmetic that decides ties: single precision, the logarithm, sums in a fixed order (spec 0 and 9).

Names ending in `32` hold `np.float32`. NumPy keeps an operation on two `np.float32` in single precision and (since
NumPy 2) treats a Python number as single precision too, so every *mixed* operation is written with `float(...)`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

LN_2 = 0.69314718055994530942

f32 = np.float32


def lg(x: float) -> float:
    """Base-2 logarithm as ln(x)/ln(2), and 0 for x <= 0 (spec 0). `math.log2` differs in the last bit."""
    return math.log(x) / LN_2 if x > 0 else 0.0


def times_lg(x: float) -> float:
    """x * lg(x)."""
    return x * lg(x)


_TIMES_LG_OF_INTEGER = np.zeros(1)


def times_lg_of_each(x: np.ndarray) -> np.ndarray:
    """x * lg(x) for every element; `np.log` may differ from libm in the last bit, so `math.log` does the work."""
    global _TIMES_LG_OF_INTEGER
    largest = x.max(initial=0.0)
    whole = x.astype(np.int64)
    if largest < 1e6 and x.min(initial=0.0) >= 0 and np.array_equal(whole, x):
        if largest >= len(_TIMES_LG_OF_INTEGER):
            _TIMES_LG_OF_INTEGER = np.array([times_lg(float(j)) for j in range(int(largest) + 1)])
        return _TIMES_LG_OF_INTEGER[whole]
    log = math.log  # written out, as this is where the reference spends its time
    return np.array([v * (log(v) / LN_2) if v > 0 else 0.0 for v in x.ravel().tolist()]).reshape(x.shape)


def total_information(class_weights: Sequence[float]) -> float:
    """H(f) = S lg S - sum f lg f; counts are rounded to single, products and sums are double (spec 0, 9.1)."""
    total = 0.0
    inner = 0.0
    for weight in class_weights:
        rounded = float(f32(weight))
        total += rounded
        inner += times_lg(rounded)
    return times_lg(total) - inner


def total_information_of_rows(class_weights: np.ndarray) -> np.ndarray:
    """`total_information` of every row, bit-identical to the scalar form."""
    rounded = class_weights.astype(np.float32).astype(np.float64)
    by_class = times_lg_of_each(rounded)
    total = np.zeros(len(rounded))
    inner = np.zeros(len(rounded))
    for c in range(rounded.shape[1]):  # class order, as the scalar loop
        total += rounded[:, c]
        inner += by_class[:, c]
    return times_lg_of_each(total) - inner


def sum_in_order(values: np.ndarray) -> float:
    """Double-precision sum from first to last (`np.sum` adds pairwise, which rounds differently)."""
    return float(np.cumsum(values, dtype=np.float64)[-1]) if len(values) else 0.0


def sum32_in_order(values: np.ndarray) -> np.float32:
    """Single-precision sum from first to last."""
    return np.cumsum(values, dtype=np.float32)[-1] if len(values) else f32(0)


def class_sums(classes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Weight per class, double precision, cases in the given order."""
    return np.bincount(classes, weights=weights.astype(np.float64), minlength=n_classes)


def size32(class_weights: Sequence[float]) -> np.float32:
    """Sum of class weights, accumulated in single precision in class order (spec 2.2)."""
    total = f32(0)
    for weight in class_weights:
        total = f32(float(total) + float(weight))
    return total


def first_maximum(values: Sequence[float]) -> int:
    return int(np.argmax(np.asarray(values)))


def quotient(numerator: float, denominator: float) -> float:
    """Double-precision division with IEEE results for a zero denominator."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.float64(numerator) / np.float64(denominator))


def quotient32(numerator: np.float32, denominator: np.float32) -> np.float32:
    """Single-precision division with IEEE results for a zero denominator."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return f32(numerator) / f32(denominator)
