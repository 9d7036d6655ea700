"""Explanations of several rows, and where rules have priority."""

import pytest

from clausewise import Rule, RuleSet, Term

RULES = RuleSet.from_rules(
    [
        Rule((Term(0, low=1.0),), "yes", confidence=0.9),
        Rule((Term(0, low=5.0),), "no", confidence=0.6, priority=True),
    ],
    ["x"],
    default="no",
    classes=["no", "yes"],
)


def test_a_rule_with_priority_overrides_the_others_only_where_it_fires():
    below, above = RULES.explain([[2.0], [6.0]])
    assert [(fired.number, fired.votes, fired.overridden) for fired in below.fired] == [(0, 900.0, False)]
    assert [(fired.number, fired.votes, fired.overridden) for fired in above.fired] == [
        (0, 0.0, True),
        (1, 600.0, False),
    ]
    assert (below.prediction, above.prediction) == ("yes", "no")
    assert above.scores == {"no": 600.0, "yes": 0.0}
    assert "rule 0 fired, overridden: IF x > 1" in str(above)
    assert "rule 1 fired,  600 votes: IF x > 5" in str(above)


def test_explanations_are_found_by_the_number_of_their_row():
    explained = RULES.explain([[0.0], [2.0], [6.0]])
    assert [one.prediction for one in explained] == ["no", "yes", "no"]
    assert explained[1].prediction == explained[-2].prediction == "yes"
    assert [one.prediction for one in explained[1:]] == ["yes", "no"]
    for row in (3, -4):
        with pytest.raises(IndexError, match=f"There is no row {row}; 3 rows were explained"):
            explained[row]
