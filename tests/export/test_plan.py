"""The plan of an export: when the order of additions matters, and when votes can be integers."""

import pytest

from clausewise import Rule, RuleSet, Term
from clausewise.export.plan import export_plan

LARGEST = 2.0**53 - 1


def ordinary_jury(base, weights):
    """Return the jury of rules that all vote for the class b, with base votes for a and b."""
    rules = RuleSet.from_rules(
        [Rule((Term(0, low=low),), "b", weight=weight) for low, weight in enumerate(weights)],
        ["x"],
        default="a",
        classes=["a", "b"],
        voting="weights",
        base=base,
    )
    (jury,) = export_plan(rules).juries
    return jury


@pytest.mark.parametrize(
    ("base", "weights", "is_exact"),
    [
        ([0, LARGEST - 1], [1], True),
        ([0, LARGEST], [1], False),
        ([0, -LARGEST], [-1], False),
        ([0, 0], [LARGEST - 2, 1, 1], True),
        ([0, 0], [LARGEST - 1, 1, 1], False),
        ([0, 0.5], [LARGEST / 2 - 0.5], True),
        ([0, 0.5], [LARGEST / 2], False),
        # Nothing is added to a class that no rule predicts, nor to any class without rules.
        ([1e300, LARGEST - 1], [1], True),
        ([2.0**53, 2.0**53], [], True),
        ([0, 0.1], [0.2], False),
    ],
)
def test_sums_are_exact_below_2_to_the_53(base, weights, is_exact):
    assert ordinary_jury(base, weights).sums_are_exact == is_exact


@pytest.mark.parametrize(
    ("base", "weights", "fits"),
    [
        ([0, LARGEST - 1], [1], True),
        ([1, LARGEST - 1], [1], False),
        ([LARGEST - 2, 1], [1], True),
        ([-LARGEST, 1], [1], False),
        ([0.25, 0.5], [2.0**50], True),
        ([0.25, 0.5], [2.0**51], False),
    ],
)
def test_integer_votes_stay_below_2_to_the_53_in_total(base, weights, fits):
    integers = ordinary_jury(base, weights).integer_votes()
    assert (integers is not None) == fits
    if integers is not None:
        assert integers.largest_sum < 2**53


def test_integer_votes_are_multiples_of_the_votes():
    integers = ordinary_jury([0.25, -0.5], [1, 0.75]).integer_votes()
    assert integers.start == [1, -2]
    assert integers.votes == [4, 3]
