"""Which statistics a rule may have."""

import pytest

from clausewise import Rule, RuleSet


def with_counts(cover, correct, confidence=0.5):
    rule = Rule((), "a", confidence=confidence, cover=cover, correct=correct)
    return RuleSet.from_rules([rule], ["x"], default="a", classes=["a", "b"])


@pytest.mark.parametrize(("cover", "correct"), [(0.0, 0.0), (5.0, 0.0), (5.0, 0.25), (5.0, 5.0)])
def test_a_rule_is_right_on_none_to_all_of_the_rows_that_it_covers(cover, correct):
    (rule,) = with_counts(cover, correct)
    assert (rule.cover, rule.correct) == (cover, correct)


@pytest.mark.parametrize(
    ("cover", "correct"), [(5.0, -0.25), (5.0, 5.25), (-1.0, -1.0), (float("inf"), 1.0), (1.0, float("nan"))]
)
def test_other_counts_are_refused(cover, correct):
    with pytest.raises(ValueError):
        with_counts(cover, correct)


def test_a_confidence_is_from_0_to_1():
    assert [rule.confidence for end in (0.0, 1.0) for rule in with_counts(1.0, 1.0, end)] == [0.0, 1.0]
    for outside in (-1e-9, 1 + 1e-9):
        with pytest.raises(ValueError):
            with_counts(1.0, 1.0, outside)
