"""Explanations where rules have priority."""

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
