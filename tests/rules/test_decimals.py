"""Shortest decimals: inside the gap, as short and as close as possible; no row changes sides."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clausewise.rules.decimals import format_number, shortest_decimal

doubles = st.floats(allow_nan=False, allow_infinity=False)
# Neighbours, float32 values, decimals and plain doubles make different kinds of gaps.
ends = st.one_of(
    doubles,
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.decimals(-1000, 1000, places=3).map(float),
    st.integers(-(2**60), 2**60).map(float),
    st.floats(0, 1e-300),
)


@st.composite
def gaps(draw):
    low = draw(ends)
    steps = draw(st.integers(0, 40))
    high = draw(ends) if steps == 0 else math.nextafter(low, math.inf)
    for _ in range(steps - 1):
        high = math.nextafter(high, math.inf)
    low, high = sorted((low, high))
    assume(low < high < math.inf)
    return low, high


def n_digits(number):
    """Significant digits of the shortest text; zero has none."""
    return 0 if number == 0 else len(Decimal(repr(number)).normalize().as_tuple().digits)


def decimals_of_length(n, low, high):
    """Doubles in [low, high) that n digits can write, next to its ends, for every power of ten in reach."""
    exponents = {math.floor(math.log10(abs(end))) for end in (low, high) if end}
    found = set()
    for exponent in range(min(exponents) - 1, max(exponents) + 2):
        unit = Fraction(10) ** (exponent - n + 1)
        for end in (low, high):
            nearest = math.floor(Fraction(end) / unit)
            for multiple in range(nearest - 1, nearest + 3):
                if abs(multiple) < 10**n:
                    found.add(float(Decimal(multiple).scaleb(exponent - n + 1)))
    return {t for t in found if low <= t < high}


@given(gaps())
@example((0.30000001192092896, 0.3100000023841858))
@example((5e-324, 1e-323))
@example((-1e-323, -5e-324))
@example((1.7976931348623155e308, 1.7976931348623157e308))
@example((9007199254740992.0, 9007199254740994.0))
def test_the_threshold_lies_in_the_gap_and_nothing_shorter_does(gap):
    low, high = gap
    threshold = shortest_decimal(low, high)
    assert low <= threshold < high
    for n in range(1, n_digits(threshold)):
        assert not decimals_of_length(n, low, high)


@given(gaps(), st.floats(0, 1))
def test_of_equally_short_ones_the_closest_to_the_preferred_is_taken(gap, place):
    low, high = gap
    prefer = min(max(low + (high / 2 - low / 2) * 2 * place, low), math.nextafter(high, -math.inf))
    threshold = shortest_decimal(low, high, prefer)
    length = n_digits(threshold)
    if length == 0:
        return
    distance = abs(Fraction(threshold) - Fraction(prefer))
    # One unit in the last place of either side's magnitude reaches every neighbour that n digits can write.
    for scale in (prefer, threshold):
        if scale == 0:
            continue
        unit = Fraction(10) ** (math.floor(math.log10(abs(scale))) - length + 1)
        for multiple in range(
            math.floor(Fraction(prefer) / unit) - 1, math.ceil(Fraction(prefer) / unit) + 2
        ):
            other = float(unit * multiple) if abs(unit * multiple) < 2**1024 - 2**970 else math.inf
            if low <= other < high and 0 < n_digits(other) <= length:
                other_distance = abs(Fraction(other) - Fraction(prefer))
                assert (distance, threshold) <= (other_distance, other)


@pytest.mark.parametrize(
    ("low", "high", "prefer", "expected"),
    [
        (0.1, 0.3, 0.2, 0.2),
        (46.9, 47.2, 47.05, 47.0),
        (1.0, 4.0, 2.5, 2.0),  # 2 and 3 are equally close: the smaller
        (-4.0, -1.0, -2.5, -3.0),
        (-3.0, 5.0, 1.25, 0.0),  # zero has no significant digit
        (0.0, 114.0, 57.0, 0.0),
        (-2.0, 0.0, -1.0, -1.0),  # high itself is outside
        (1234.5, 1299.0, 1250.0, 1250.0),
        (99.0, 101.0, 99.9, 100.0),
        (1.0, math.nextafter(1.0, 2.0), 5.0, 1.0),
        (0.0, 5e-324, 0.0, 0.0),
        (3.0, math.inf, 1e9, 1e9),
    ],
)
def test_shortest_decimals_of_examples(low, high, prefer, expected):
    assert shortest_decimal(low, high, prefer) == expected


def test_the_middle_of_the_gap_is_preferred_by_default():
    assert shortest_decimal(10.5, 29.5) == 20.0
    assert shortest_decimal(1.0, 9.5) == 5.0


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, 1.0), (2.0, 1.0), (math.nan, 1.0), (1.0, math.nan), (-math.inf, 0.0)]
)
def test_an_empty_gap_is_an_error(low, high):
    with pytest.raises(ValueError, match="contains no threshold"):
        shortest_decimal(low, high)


def test_a_preferred_value_that_is_nan_is_an_error():
    with pytest.raises(ValueError, match="prefer is NaN"):
        shortest_decimal(1, 2, math.nan)


@given(
    st.sampled_from([np.float32, np.float64]).flatmap(
        lambda dtype: hnp.arrays(
            dtype,
            st.integers(2, 30),
            elements=st.one_of(
                st.floats(width=np.dtype(dtype).itemsize * 8, allow_nan=False, allow_infinity=False),
                st.sampled_from([0.0, -0.0, 1.0, 0.5, 3.0]),
                st.floats(0, 2**-126, width=32, exclude_max=True),
            ),
        )
    )
)
def test_printing_a_threshold_moves_no_training_row(values):
    """Float32 and float64 columns with ties and denormals: text, read again, splits them at the gap."""
    distinct = np.unique(values).astype(np.float64)
    for low, high in pairwise(distinct):
        shown = format_number(shortest_decimal(low, high))
        np.testing.assert_array_equal(values.astype(np.float64) <= float(shown), values <= low)


@given(doubles)
@example(5e-324)
@example(1.7976931348623157e308)
@example(-0.0)
@example(1e21)
@example(1e-7)
def test_text_reads_back_as_the_same_number(number):
    text = format_number(number)
    assert float(text) == number
    assert not text.endswith(".0")
    assert len(Decimal(text).normalize().as_tuple().digits) <= 17


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (47.0, "47"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (-2.5, "-2.5"),
        (100.0, "100"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (0.000001, "0.000001"),
        (1.25e-7, "1.25e-7"),
        (-5e-324, "-5e-324"),
        (np.float32(0.1), "0.10000000149011612"),
        (math.inf, "inf"),
    ],
)
def test_numbers_are_written_as_a_browser_writes_them(number, text):
    assert format_number(number) == text
