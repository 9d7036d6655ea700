"""Which terms and rules go first where fidelity may fall."""

import numpy as np
import pytest

from clausewise import Rule, RuleSet, Term


def between(low, high):
    return Rule((Term(0, low=float(low), high=float(high)),), "yes")


RULES = RuleSet.from_rules(
    [between(10, 20), between(30, 40), between(50, 60)], ["x"], default="no", classes=["no", "yes"]
)
# Two rows for the first rule, one for each of the others, and 16 for none.
ROWS = np.array([12, 14, 35, 55, *range(100, 116)], dtype=float)[:, None]


def remaining(tolerance, target=None):
    simple = RULES.simplify(tolerance=tolerance, X=ROWS, target=target)
    return [float(rule.terms[0].low) for rule in simple]


@pytest.mark.parametrize(
    ("tolerance", "expected"),
    [
        (0.04, [10, 30, 50]),  # less than one row
        (0.05, [10, 30]),  # one row: of equally cheap rules the later one
        (0.10, [10]),  # two rows: two rules of one row each, not one of two
        (0.15, [10]),
        (0.20, []),
    ],
)
def test_the_cheapest_rules_go_first_as_far_as_the_tolerance_reaches(tolerance, expected):
    assert remaining(tolerance) == expected


def test_what_a_wrong_rule_costs_may_be_spent_on_others():
    target = np.where(np.isin(ROWS[:, 0], [12, 14, 35]), "yes", "no")
    # The third rule is wrong on one row. Without it and the second one, as many rows are right as before.
    assert remaining(0.0, target) == [10]


def test_a_rule_that_loses_a_term_is_counted_again():
    rules = RuleSet.from_rules(
        [Rule((Term(0, low=10.0), Term(1, low=0.0)), "yes", cover=2, correct=2)],
        ["x", "y"],
        default="no",
        classes=["no", "yes"],
    )
    X = np.array([[20.0, 1.0], [30.0, 2.0], [40.0, -1.0], *[[0.0, 1.0]] * 6])
    simple = rules.simplify(tolerance=0.12, X=X)  # one row of nine
    assert [(rule.cover, rule.correct) for rule in simple] == [(3.0, 2.0)]
    assert [term.name for rule in simple for term in rule.terms] == ["x"]
