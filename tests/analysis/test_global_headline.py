"""The features that a global explanation lists when it is printed."""

import pytest

from clausewise import Rule, RuleSet, Term

NAMES = [f"x{number}" for number in range(7)]


def features_line(*tested):
    rules = [Rule((Term(feature, low=0.0),), "yes") for feature in tested]
    explained = RuleSet.from_rules(rules, NAMES, default="no", classes=["no", "yes"]).explain_global()
    return str(explained).splitlines()[1].strip()


@pytest.mark.parametrize(
    ("tested", "listed"),
    [
        ((3,), "x3 (1)"),
        ((3, 1, 3), "x3 (2), x1 (1)"),
        ((0, 1, 2, 3, 4), "x0 (1), x1 (1), x2 (1), x3 (1), x4 (1)"),
        ((0, 1, 2, 3, 4, 5, 5), "x5 (2), x0 (1), x1 (1), x2 (1), x3 (1)"),
    ],
)
def test_the_five_features_tested_most_are_listed_and_none_that_is_not_tested(tested, listed):
    assert features_line(*tested) == f"features tested most (rules): {listed}"
