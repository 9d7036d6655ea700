"""What is shown of long lists, at their limits."""

import numpy as np
import pytest

from clausewise import Rule, RuleSet, Term
from clausewise.rules.display import SHOWN_RULES, describe_start, describe_votes


def classes(n_classes):
    return [f"c{number}" for number in range(n_classes)]


def rules_for(n_classes, n_rules=0):
    rules = [Rule((Term(0, low=float(number)),), "c0") for number in range(n_rules)]
    return RuleSet.from_rules(rules, ["x"], default="c0", classes=classes(n_classes))


@pytest.mark.parametrize(
    ("n_classes", "shown"),
    [
        (7, "c0, c1, c2, c3, c4, c5, c6; "),
        (8, "c0, c1, c2, c3, c4, c5, c6, c7; "),
        (9, "c0, c1, c2, c3, c4, c5, c6, c7, … 1 more; "),
        (10, "c0, c1, c2, c3, c4, c5, c6, c7, … 2 more; "),
    ],
)
def test_up_to_eight_classes_are_listed(n_classes, shown):
    assert f"0 rules for the classes {shown}voting" in str(rules_for(n_classes))


@pytest.mark.parametrize(
    ("n_votes", "end"), [(7, "c6 +7"), (8, "c7 +8"), (9, "c7 +8, … 1 more"), (10, "c7 +8, … 2 more")]
)
def test_up_to_eight_base_votes_are_listed(n_votes, end):
    text = describe_start(classes(n_votes), np.arange(1.0, n_votes + 1))
    assert text.startswith("start with c0 +1, c1 +2, ")
    assert text.endswith(end)


def test_base_votes_of_zero_are_not_listed():
    assert describe_start(classes(3), np.array([0.0, -0.5, 0.25])) == "start with c1 -0.5, c2 +0.25"


@pytest.mark.parametrize(
    ("votes", "text"),
    [(1.25, "+1.25"), (-1 / 3, "-0.3333"), (2 / 3, "+0.6667"), (12345.6, "+12350")],
)
def test_votes_have_their_sign_and_four_digits(votes, text):
    assert describe_votes(votes) == text


AGAINST = RuleSet.from_rules(
    [Rule((Term(0, high=3),), "yes", confidence=0.2, cover=50, correct=10, weight=-1.634)],
    ["x"],
    default="no",
    voting="weights",
)


def test_a_rule_with_a_weight_below_zero_speaks_against_its_class():
    shown = "IF x ≤ 3 THEN speaks against yes   (covers 50, weight 1.63)"
    assert str(AGAINST).endswith(f"0  {shown}")
    assert str(AGAINST[0]) == shown
    assert ">speaks against yes</td>" in AGAINST._repr_html_()
    assert AGAINST.explain([[1.0]])[0].fired[0].text == shown
    assert "| 0 | x ≤ 3 | speaks against yes | -1.634 |  | 50 |" in AGAINST.to_markdown()
    assert "speaks against yes (-1.634)" in AGAINST.to_graphviz()
    assert AGAINST.to_text(header=False) == (
        "IF x <= 3 THEN NOT yes WITH confidence 0.2, cover 50, correct 10, weight 1.634\n"
    )


def test_a_weight_below_zero_counts_only_where_rules_vote_by_weights():
    by_confidence = AGAINST.with_voting("confidence")
    assert str(by_confidence).endswith("THEN yes   (confidence 0.20, covers 50, weight -1.63)")
    assert "THEN yes WITH confidence 0.2, cover 50, correct 10, weight -1.634" in by_confidence.to_text()


@pytest.mark.parametrize(("n_rules", "shown"), [(0, "0 rules"), (1, "1 rule"), (2, "2 rules")])
def test_the_number_of_rules_is_shown(n_rules, shown):
    assert str(rules_for(2, n_rules)).startswith(f"{shown} for the classes c0, c1; voting ")


@pytest.mark.parametrize("n_more", [-1, 0, 1, 2])
def test_as_many_rules_as_are_shown_are_not_cut_off(n_more):
    rules = rules_for(2, SHOWN_RULES + n_more)
    lines = str(rules).splitlines()[1:]
    html = rules._repr_html_()
    n_shown = min(len(rules), SHOWN_RULES)
    assert lines[0].startswith(" 0  IF x > 0 ")
    assert lines[n_shown - 1].startswith(f"{n_shown - 1}  IF x > {n_shown - 1} ")
    assert f">{n_shown - 1}</td>" in html
    assert f">{n_shown}</td>" not in html
    if n_more > 0:
        assert lines[n_shown:] == [f"… and {n_more} more; slice the rule set or use to_frame() to see them"]
        assert f"… and {n_more} more<" in html
    else:
        assert len(lines) == n_shown
        assert "more" not in html


def test_rule_numbers_are_as_wide_as_the_longest():
    assert str(rules_for(2, 10)).splitlines()[1].startswith("0  IF")
    assert str(rules_for(2, 11)).splitlines()[1].startswith(" 0  IF")


def test_a_weight_of_one_is_shown_where_rules_vote_by_weights():
    rules = AGAINST.reweight(0, weight=1.0)
    assert str(rules).endswith("(confidence 0.20, covers 50, weight 1)")
    assert str(rules.with_voting("confidence")).endswith("(confidence 0.20, covers 50)")


def test_one_class_is_not_several():
    assert "0 rules for the class c0;" in str(rules_for(1))
