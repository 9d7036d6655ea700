"""What a comparison of two rule sets says, at the limits of its lists."""

import numpy as np
import pytest

from clausewise import Rule, RuleSet, Term
from clausewise.analysis.comparison import SHOWN, Flips


def above(*thresholds, conclusion="yes", weight=1.0):
    rules = [Rule((Term(0, low=float(low)),), conclusion, weight=weight) for low in thresholds]
    return RuleSet.from_rules(rules, ["x"], default="no", classes=["no", "yes"])


@pytest.mark.parametrize(
    ("n_flips", "end"),
    [
        (1, "1 from no to yes: rows 0"),
        (10, "10 from no to yes: rows 0, 1, 2, 3, 4, 5, 6, 7, 8, 9"),
        (11, "11 from no to yes: rows 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …"),
    ],
)
def test_up_to_ten_rows_of_a_flip_are_listed(n_flips, end):
    flips = Flips(20, np.arange(n_flips), np.full(n_flips, "no"), np.full(n_flips, "yes"))
    assert str(flips) == f"{n_flips} of 20 rows flip ({5.0 * n_flips:.2f} %)\n  {end}"


def test_the_most_frequent_flip_is_listed_first():
    flips = Flips(4, np.array([0, 2, 3]), np.array(["b", "a", "a"]), np.array(["a", "c", "c"]))
    assert str(flips).splitlines()[1:] == ["  2 from a to c: rows 2, 3", "  1 from b to a: rows 0"]
    assert str(Flips(0, np.empty(0, int), np.empty(0), np.empty(0))) == "0 of 0 rows flip (0.00 %)"


def test_decisions_are_compared_only_where_rows_are_given():
    before, after = above(1), above(2)
    without = before.compare(after)
    assert without.flips is None
    assert "flip" not in str(without)
    found = before.compare(after, [[0.5], [1.5], [2.5]])
    assert found.flips.rows.tolist() == [1]
    assert str(found).splitlines() == [
        "rules: 1 added, 1 removed, 0 changed, 0 the same",
        "- IF x > 1 THEN yes",
        "+ IF x > 2 THEN yes",
        "1 of 3 rows flip (33.33 %)",
        "  1 from yes to no: rows 1",
    ]


@pytest.mark.parametrize("n_more", [-1, 0, 1])
def test_as_many_rules_as_are_shown_are_not_cut_off(n_more):
    lines = str(above().compare(above(*range(SHOWN + n_more)))).splitlines()[1:]
    assert sum(line.startswith("+ IF x > ") for line in lines) == min(SHOWN, SHOWN + n_more)
    assert lines[SHOWN:] == (["  … and 1 more added"] if n_more > 0 else [])


def test_a_rule_that_occurs_twice_is_matched_once():
    found = above(1, 1, 2).compare(above(2, 1))
    assert (found.added, found.removed, found.changed, found.n_same) == ((), (1,), (), 2)


def test_rules_with_the_same_premise_are_changed_whatever_else_differs():
    for other in (above(1, conclusion="no"), above(1, weight=2.0)):
        found = above(1).compare(other)
        assert found.changed == ((0, 0),)
        assert not found.is_same
    assert above(1).compare(above(1)).is_same


def test_features_in_another_order_are_a_setting():
    one = RuleSet.from_rules([], ["x", "y"], default="no", classes=["no", "yes"])
    other = RuleSet.from_rules([], ["y", "x"], default="no", classes=["no", "yes"])
    assert one.compare(other).settings == {"features": ("in another order", "in another order")}
