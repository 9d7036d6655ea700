"""Rules for numbers in the rule language: round trips, errors with positions, and edits."""

import re

import pytest
from tests.rules.regression_cases import FEATURES, RULES, TABLE

from clausewise import Origin, RegressionRule, RegressionRules, RuleSet, RuleTextError, Term

TEXT = """\
FEATURE income NUMERIC
FEATURE "first job" CATEGORICAL {cook, nurse}
RESPONSE price
RANGE 0.15 TO 5
LINK log
BASE 2.07
LINEAR income 0.43 WITH fill 3.9, low 0.5, high 15

IF income > 5.1 AND "first job" = cook THEN ADD 1.4 WITH cover 120, mean 3.2, lower 1, upper 5, layer "relu1"
IF TRUE THEN ADD -0.6
"""


def test_a_text_is_written_back_as_it_was_read():
    rules = RegressionRules.from_text(TEXT)
    assert rules.to_text() == TEXT
    assert rules[0] == RegressionRule(
        (Term(0, "income", low=5.1), Term(1, "first job", values=("cook",))),
        1.4,
        cover=120,
        mean=3.2,
        interval=(1, 5),
        origin=Origin("relu1"),
    )
    assert (rules.base, rules.link, rules.response, rules.response_range) == (2.07, "log", "price", (0.15, 5))


def test_rules_survive_text_with_and_without_a_header():
    counted = RULES.with_statistics(TABLE, RULES.predict(TABLE))
    assert RegressionRules.from_text(counted.to_text()) == counted
    alone = RegressionRules.from_text(counted.to_text(header=False), FEATURES)
    assert list(alone) == list(counted)
    assert (alone.base, alone.linear) == (0, ())


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("IF x > 1 THEN yes", 1, 15, "expected ADD, found yes"),
        ("IF x > 1 THEN ADD", 1, 18, "expected a number, found the end"),
        ("IF x > 1 THEN ADD 1 WITH priority", 1, 26, "expected cover, mean"),
        ("IF x > 1 THEN ADD 1 WITH lower 1", 1, 1, "belong together"),
        ("IF x > 1 THEN ADD 1 WITH lower 2, upper 1", 1, 1, "ascending"),
        ("BASE 1\nBASE 2", 2, 1, "BASE is given twice"),
        ("LINEAR y 1", 1, 8, "there is no feature y"),
        ("LINEAR x 0", 1, 8, "not 0"),
        ("LINEAR x 1\nLINEAR x 1", 1, 1, "two coefficients"),
        ("LINEAR x 1 WITH fill 1, fill 2", 1, 25, "fill is given twice"),
        ("RANGE 3 TO 1", 1, 7, "must ascend"),
        ("LINK logit", 1, 6, "expected identity, log"),
        ("DEFAULT yes", 1, 1, "expected FEATURE, COLUMNS, RESPONSE, RANGE, LINK, BASE, LINEAR or IF"),
        ("IF x > 1 THEN ADD 1\nBASE 2", 2, 1, "must come before the rules"),
    ],
)
def test_errors_point_at_the_mistake(text, line, column, message):
    with pytest.raises(RuleTextError, match=re.escape(message)) as caught:
        RegressionRules.from_text(text, ["x"])
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize("text", ["RESPONSE price\nIF x > 1 THEN ADD 1", "LINEAR x 1"])
def test_a_text_for_numbers_is_recognised_where_classes_are_expected(text):
    with pytest.raises(RuleTextError, match=r"rules for numbers; read it with RegressionRules\.from_text"):
        RuleSet.from_text(text, ["x"], default="no")


def test_edits_are_logged_and_change_predictions():
    rules = RegressionRules.from_rules([RegressionRule((Term(0, "x", low=1),), 1)], ["x"], base=1)
    edited = rules.add("IF x <= 1 THEN ADD 0.5", at=0, note="audit").reweight(1, addition=2)
    assert edited.predict([[0], [2]]).tolist() == [1.5, 3]
    edited = edited.replace(0, RegressionRule((), -1)).remove(1)
    assert edited.predict([[0], [2]]).tolist() == [0, 0]
    assert [change.action for change in edited.changes] == ["added", "reweighted", "replaced", "removed"]
    assert (edited.changes[0].after, edited.changes[0].note) == ("IF x <= 1 THEN ADD 0.5", "audit")
    assert edited.changes[1].before == "IF x > 1 THEN ADD 1"
    with pytest.raises(TypeError, match="pass a RegressionRule"):
        rules.add(3)
