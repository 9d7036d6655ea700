"""An explanation of a number is the sum itself."""

import math

import pytest
from tests.rules.regression_cases import RULES, TABLE

from clausewise import LinearTerm, RegressionRule, RegressionRules, Term

SMALL = RegressionRules.from_rules(
    [
        RegressionRule((Term(0, "income", low=5.1),), 1.4, cover=120, mean=3.2, interval=(1, 5)),
        RegressionRule((Term(0, "income", high=2), Term(1, "age", high=30)), -0.6),
    ],
    ["income", "age"],
    base=2.07,
    linear=[LinearTerm(1, "age", 0.01, fill=40, low=20, high=80)],
    response="price",
    response_range=(0.2, 4.5),
)


def test_the_parts_of_an_explanation_add_up_to_the_prediction():
    explained = RULES.explain(TABLE)
    assert [one.prediction for one in explained] == RULES.predict(TABLE).tolist()
    for one in explained:
        assert sum(number for number, _ in one.parts) == pytest.approx(one.total, abs=1e-12)
        assert len(one.linear) == len(RULES.linear)
    frame = explained.to_frame()
    sums = frame.groupby("row")["addition"].sum()
    assert sums.tolist() == pytest.approx(RULES.predict(TABLE).tolist(), abs=1e-12)
    fires = RULES.fires(TABLE).dense()
    assert [[part.number for part in one.fired] for one in explained] == [
        [rule for rule in range(len(RULES)) if fires[rule, row]] for row in range(len(TABLE))
    ]


def test_an_explanation_is_printed_as_a_sum():
    assert str(SMALL.explain([[6.0, 50.0]])[0]).splitlines() == [
        "row 0 → price 3.97",
        "    2.07  start",
        "    +1.4  rule 0: income > 5.1   (covers 120, mean 3.2, 90 % from 1 to 5)",
        "    +0.5  0.01 × age = 50",
        "  = 3.97",
    ]


def test_missing_and_extreme_values_and_near_misses_are_named():
    missing, extreme = SMALL.explain([[1.0, math.nan], [9.0, 500.0]])
    assert missing.linear[0].reason == "0.01 × age, which is missing and counts as 40"
    assert extreme.linear[0].reason == "0.01 × age, which is outside of the range and counts as 80"
    assert "rule 1 nearly fired, but age ≤ 30 fails (age is missing)" in str(missing)
    assert "outside of training" not in extreme.headline
    far = SMALL.with_additions([9, 0]).explain([[9.0, 20.0]])[0]
    assert far.headline.endswith("(outside of training: 0.2 to 4.5)")
    assert "+1.4" in SMALL.explain([[6.0, 50.0]])._repr_html_()


def test_the_log_link_shows_sum_and_prediction():
    rules = RegressionRules.from_rules([], ["x"], base=1.5, link="log")
    one = rules.explain([[0.0]])[0]
    assert (one.total, one.prediction) == (1.5, math.exp(1.5))
    assert "e to the power of 1.5" in one.headline


def test_an_overview_counts_rows_and_ranks_effects():
    found = RULES.explain_global(TABLE)
    fires = RULES.fires(TABLE).dense()
    assert found.n_rows_covered.tolist() == fires.sum(axis=1).tolist()
    for rule, number in enumerate(RULES.columns.weight.tolist()):
        added = fires[rule] * number
        assert found.rule_effect[rule] == pytest.approx(abs(added[:, None] - added).mean())
    assert found.feature_use.tolist() == [2, 2, 2, 3]
    assert (found.feature_effect > 0).all()
    unused = RULES.filter(feature="age").with_additions([-0.65, 12.5], linear=[])
    assert unused.explain_global(TABLE).feature_effect[0] == 0
    assert "rule 4: +12.5" in str(found).split("rules by effect:")[1].splitlines()[1]
    assert found.to_frame().shape == (6, 4)
    assert found.features_to_frame()["coefficient"].tolist() == [0.43, 0, -0.1, 0]
    assert "income" in found._repr_html_()
