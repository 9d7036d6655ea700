"""Weighted rules as a scorecard."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.random_rules import random_features, random_ruleset, random_table

from clausewise import Features, Rule, RuleSet, Term

YOUNG = (Term(0, high=47),)
RULES = RuleSet.from_rules(
    [
        Rule(YOUNG, "gamma", weight=3),
        Rule((Term(0, low=60), Term(1, low=0.5)), "hadron", weight=12.5),
        Rule(YOUNG, "hadron", weight=-1),
    ],
    ["age", "size"],
    classes=["gamma", "hadron", "muon"],
    default="hadron",
    voting="weights",
    base=[0, 1.25, 0],
)


def test_a_scorecard_reads_well():
    assert str(RULES.scorecard()) == (
        "Add up the points of every line that holds:\n"
        "  +1.25 hadron            start\n"
        "     +3 gamma, -1 hadron  age ≤ 47\n"
        "  +12.5 hadron            age > 60 AND size > 0.5\n"
        "The class with the most points wins; ties go to hadron, then to the class that comes first in "
        "gamma, hadron, muon."
    )
    assert repr(RULES.scorecard()) == "<Scorecard of 2 lines for the classes gamma, hadron, muon>"
    assert str(RULES.scorecard().lines[0]) == "+3 gamma, -1 hadron  age ≤ 47"


def test_rules_with_the_same_premise_share_a_line():
    lines = RULES.scorecard().lines
    assert [dict(line.points) for line in lines] == [{"gamma": 3, "hadron": -1}, {"hadron": 12.5}]
    assert [line.rules for line in lines] == [(0, 2), (1,)]
    assert RULES.scorecard().to_frame().values.tolist() == [
        ["start", "hadron", 1.25],
        ["age ≤ 47", "gamma", 3],
        ["age ≤ 47", "hadron", -1],
        ["age > 60 AND size > 0.5", "hadron", 12.5],
    ]


def test_rounded_points_are_called_rounded():
    rounded = RULES.with_weights([1 / 3, 2, 3]).scorecard()
    assert "+0.3333 gamma" in str(rounded)
    assert str(rounded).endswith("Points are rounded to four digits here.")


def test_a_scorecard_may_have_no_rules_or_very_many():
    assert str(RULES[:0].with_weights([], base=[0, 0, 0]).scorecard()).count("\n") == 1
    many = RuleSet.from_rules(
        [Rule((Term(0, low=i),), i % 9) for i in range(50)], ["x"], default=0, voting="weights"
    )
    lines = str(many.scorecard()).splitlines()
    assert lines[1] == "  +1 class 0  x > 0"
    assert lines[-2] == "   …          and 10 more"
    assert "then to the class that comes first in 0, 1, 2, 3, 4, 5, 6, 7, … 1 more." in str(many.scorecard())


def test_a_scorecard_needs_voting_by_weights():
    with pytest.raises(ValueError, match="vote by majority, but a scorecard needs weights"):
        RULES.with_voting("majority").scorecard()


def test_html_escapes_what_comes_from_data():
    features = Features(("<script>", "<i>"), ("numeric", "categorical"), (None, ("<b>", "b")))
    rules = RuleSet.from_rules(
        [Rule((Term(0, high=1), Term(1, values=["<b>"])), "<u>", weight=2)],
        features,
        default="<p>x",
        voting="weights",
        base=[1, 0],
    )
    html = rules.scorecard()._repr_html_()
    for forbidden in ("<script>", "<i>", "<b>", "<u>", "<p>x"):
        assert forbidden not in html
    assert "&lt;script&gt; ≤ 1 AND &lt;i&gt; = &lt;b&gt;" in html


@given(st.integers(0, 10**6))
def test_adding_up_the_points_gives_the_scores(seed):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 2)
    rules = random_ruleset(rng, features, 5, voting="weights")
    rules = rules[rng.integers(0, 5, 8)]
    rows = random_table(rng, features, 10).encoded()
    fires, card = rules.evaluator.fires(rows).dense(), rules.scorecard()
    overridden = np.any([fires[line.rules[0]] for line in card.lines if line.priority] or [[False] * 10], 0)
    totals = np.tile([card.start.get(label, 0.0) for label in card.labels], (10, 1))
    totals[overridden] = 0.0
    for line in card.lines:
        counts = fires[line.rules[0]] & (line.priority | ~overridden)
        for label, points in line.points.items():
            totals[counts, card.labels.index(label)] += points
    np.testing.assert_allclose(totals, rules.evaluator.scores(rows, "weights"), atol=1e-12)
