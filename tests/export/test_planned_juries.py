"""The computation that all exports share."""

import numpy as np
import pytest

from clausewise import Features, Rule, RuleSet, Term
from clausewise.export.plan import IntegerVotes, PlannedJury, PlannedRule, export_plan
from clausewise.export.row_tests import Above, AtMost, Known


def jury(start, divisors=(1.0, 1.0), votes=()):
    rules = tuple(PlannedRule(number, (), 0, vote) for number, vote in enumerate(votes))
    return PlannedJury(rules, tuple(map(float, start)), tuple(map(float, divisors)), has_priority=False)


@pytest.mark.parametrize(
    ("start", "divisors", "votes", "expected"),
    [
        ((0.5, -0.25), (1, 1), (1.0,), IntegerVotes([2, -1], [4])),
        ((1, 1), (2, 3), (1.0,), IntegerVotes([3, 2], [3])),
        # The votes of the first class are doubled, so that the divisors are equal.
        ((2**52 - 1, 0), (1, 2), (), IntegerVotes([2**53 - 2, 0], [])),
        ((2**52 + 1, 0), (1, 2), (), None),
        ((-(2**52) - 1, 0), (1, 2), (), None),
        ((2**51, 0), (1, 2), (2.0**51 + 1,), None),
        ((-(2**51), 0), (1, 2), (2.0**51 + 1,), None),
        ((0, 0), (1, 2), (2.0**51, 2.0**51 + 1), None),
    ],
)
def test_integer_votes_exist_as_long_as_doubles_hold_their_sums(start, divisors, votes, expected):
    assert jury(start, divisors, votes).integer_votes() == expected


def test_start_votes_count_when_it_is_asked_whether_sums_are_exact():
    assert jury((2**53 - 2, 0), votes=(1.0,)).sums_are_exact
    assert not jury((2**53 - 1, 0), votes=(2.0,)).sums_are_exact
    assert not jury((-(2**53) + 1, 0), votes=(-2.0,)).sums_are_exact
    # Each class has a sum of its own.
    assert jury((2**52, 2**52 + 1)).sums_are_exact


def test_a_jury_is_divided_where_any_divisor_is_not_one():
    assert not jury((0, 0), (1, 1)).is_divided
    assert jury((0, 0), (1, 2)).is_divided


def test_a_term_is_tested_on_the_sides_where_it_has_a_bound():
    rules = RuleSet.from_rules(
        [
            Rule((Term(0, low=1.0),), "a"),
            Rule((Term(0, high=2.0),), "a"),
            Rule((Term(0, low=1.0, high=2.0),), "a"),
            Rule((Term(0),), "b"),
            Rule((Term(0, low=2.0, high=1.0),), "b"),
        ],
        ["x"],
        default="b",
    )
    plan = export_plan(rules)
    assert plan.tests == (Above(0, 1.0), AtMost(0, 2.0), Known(0))
    # The last rule can never fire.
    assert [rule.tests for rule in plan.juries[0].rules] == [(0,), (1,), (0, 1), (2,)]
    assert plan.n_rules == 4


def test_the_default_class_wins_ties_then_the_others_by_position():
    rules = RuleSet.from_rules([], ["x"], default="b", classes=["a", "b", "c"])
    assert export_plan(rules).by_rank == (1, 0, 2)


@pytest.mark.parametrize("sign", [1, -1])
def test_integer_categories_are_exported_up_to_2_to_the_53(sign):
    def rules(category):
        features = Features(("code",), ("categorical",), ((0, category),))
        return RuleSet.from_rules([Rule((Term(0, values=[category]),), "a")], features, default="b")

    assert export_plan(rules(sign * 2**53)).n_rules == 1
    with pytest.raises(ValueError, match="beyond 2\\^53"):
        export_plan(rules(sign * (2**53 + 1)))


def test_rules_with_priority_are_a_jury_of_their_own():
    rules = RuleSet.from_rules(
        [Rule((Term(0, low=1.0),), "a", priority=True), Rule((Term(0, high=1.0),), "b")], ["x"], default="b"
    )
    first, others = export_plan(rules).juries
    assert first.has_priority
    assert not others.has_priority
    assert [rule.number for rule in first.rules] == [0]
    assert [rule.number for rule in others.rules] == [1]
    assert np.array_equal(others.start, [0.0, 0.0])
