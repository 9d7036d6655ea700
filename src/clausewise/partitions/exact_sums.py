"""Sums of doubles that are exact, so that they depend neither on partitions nor on the order of rows.

A double is a sum of digits in base 2^24, each a whole number at a fixed place. The digits of many rows are
added place by place, as whole numbers; only the total is rounded to a double.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.partitions.protocol import Part

Floats = NDArray[np.float64]

# Sums of digits stay within 63 bits up to 2^39 rows, and are exact in doubles within a batch.
_BITS: Final = 24


def digit_sums(values: Floats, into_groups: Callable[[Floats], NDArray[Any]]) -> Part:
    """Return the sums of finite values as digits, from the given lowest place upwards.

    `into_groups` adds up one whole number per row to one per group, such as `lambda digit: fires @ digit`.
    """
    rest, columns = np.array(values, dtype=np.float64), []
    place = int(np.frexp(np.abs(rest).max(initial=0.0))[1]) // _BITS
    while True:
        digit = np.trunc(np.ldexp(rest, -_BITS * place))
        columns.append(into_groups(digit).astype(np.int64))
        rest = rest - np.ldexp(digit, _BITS * place)
        if not rest.any():
            break
        place -= 1
    return {"place": np.array(place), "digits": np.stack(columns[::-1], axis=1)}


def add_digits(one: Part, other: Part) -> Part:
    """Add up the sums of the same groups over different rows."""
    lowest = min(int(one["place"]), int(other["place"]))
    highest = max(int(part["place"]) + part["digits"].shape[1] for part in (one, other))
    digits = np.zeros((len(one["digits"]), highest - lowest), dtype=np.int64)
    for part in (one, other):
        start = int(part["place"]) - lowest
        digits[:, start : start + part["digits"].shape[1]] += part["digits"]
    return {"place": np.array(lowest), "digits": digits}


def exact_totals(part: Part) -> list[Fraction]:
    """Return the sum of each group as a fraction."""
    unit = Fraction(2) ** (_BITS * int(part["place"]))
    return [unit * sum(d << (_BITS * i) for i, d in enumerate(row)) for row in part["digits"].tolist()]
