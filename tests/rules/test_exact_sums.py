"""When doubles add up without rounding, whatever the order."""

import pytest

from clausewise.rules.voting import sums_are_exact


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([], True),
        ([0.1], True),  # one number is its own sum
        ([0.1, 0.2], False),
        ([0.5, -0.25, 3.0], True),
        ([2.0**53 - 2, 1.0], True),
        ([2.0**53 - 1, 2.0], False),
        ([2.0**53 - 1, -2.0], False),  # a rule may fire without the other
        ([2.0**52 - 1, 0.5], True),
        ([2.0**52, 0.5, 0.5], False),
        ([1.0, 2.0**-52], True),
        ([1.0, 2.0**-53], False),
        ([1e300, 1e-300], False),
    ],
)
def test_sums_are_exact_as_long_as_they_fit_the_digits_of_a_double(numbers, expected):
    assert sums_are_exact(numbers) == expected
