"""Rules for numbers: construction, exact sums, statistics, selection and display."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.regression_cases import FEATURES, RULES, TABLE

from clausewise import Features, LinearTerm, RegressionRule, RegressionRules, Rule, RuleSet, Term
from clausewise.rules.sums import round_to_place, scaled_sum

SHORT = st.decimals(-1000, 1000, places=3, allow_nan=False, allow_infinity=False).map(float)


def test_a_prediction_is_the_base_plus_what_the_rules_that_fire_add():
    rules = RegressionRules.from_rules(
        [
            RegressionRule((Term(0, "income", low=5.1),), 1.4),
            RegressionRule((Term(1, "age", high=30), Term(0, "income", high=2)), -0.6),
        ],
        ["income", "age"],
        base=2.07,
    )
    assert rules.predict([[6, 50], [1, 20], [1, 40], [math.nan, 20]]).tolist() == [3.47, 1.47, 2.07, 2.07]


def test_decimals_are_added_without_rounding_errors():
    rules = RegressionRules.from_rules([RegressionRule((), 0.1)] * 3, ["x"])
    assert rules.predict([[0]]).tolist() == [0.3]  # not 0.30000000000000004


@given(st.lists(SHORT, max_size=20), SHORT)
def test_a_sum_of_short_decimals_is_the_double_nearest_to_the_decimal_sum(additions, base):
    rules = RegressionRules.from_rules([RegressionRule((), number) for number in additions], ["x"], base=base)
    exact = sum((Fraction(repr(number)) for number in additions), Fraction(repr(base)))
    assert rules.predict([[0]]).tolist() == [float(exact)]


def test_numbers_of_many_digits_are_added_in_order():
    numbers = [1 / 3, 1e-17, 2 / 7, -1 / 3]
    rules = RegressionRules.from_rules([RegressionRule((), number) for number in numbers], ["x"], base=1e3)
    assert scaled_sum(1e3, numbers).divisor == 1
    total = 1e3
    for number in numbers:
        total += number
    assert rules.predict([[0]]).tolist() == [total]


def test_linear_terms_clip_their_values_and_fill_missing_ones():
    income = LinearTerm(0, "income", 0.5, fill=3, low=1, high=10)
    rules = RegressionRules.from_rules([], ["income", "owner"], base=1, linear=[income])
    X = [[2, 0], [-5, 0], [math.inf, 0], [math.nan, 0]]
    assert rules.predict(X).tolist() == [2, 1.5, 6, 2.5]
    by_name = RegressionRules.from_rules([], ["income", "owner"], linear={"owner": -2})
    assert by_name.predict([[0, 3], [0, math.nan]]).tolist() == [-6, 0]


def test_predictions_are_the_sums_of_plain_python():
    expected = []
    for row in TABLE.to_dict("records"):
        cells = [None if value != value else value for value in row.values()]
        total = sum(
            (Fraction(repr(rule.addition)) for rule in RULES if rule.holds(cells)), Fraction(repr(RULES.base))
        )
        number = float(total)
        for term in RULES.linear:
            value = cells[term.feature]
            number += term.coefficient * (
                term.fill if value is None else min(max(value, term.low), term.high)
            )
        expected.append(number)
    assert RULES.predict(TABLE).tolist() == expected
    assert RULES.predict(TABLE, n_jobs=2).tolist() == expected
    assert RULES.predict(TABLE.iloc[3]).tolist() == expected[3:4]


def test_the_log_link_raises_e_to_the_sum():
    rules = RegressionRules.from_rules(
        [RegressionRule((Term(0, "x", low=0),), 0.5)], ["x"], base=1, link="log"
    )
    assert rules.sums([[1], [-1]]).tolist() == [1.5, 1]
    assert rules.predict([[1], [-1]]).tolist() == [math.exp(1.5), math.e]
    large = RegressionRules.from_rules([], ["x"], base=1e4, link="log")
    assert large.predict([[1]]).tolist() == [math.inf]


def test_statistics_are_counted_where_a_rule_fires():
    X = np.arange(100.0)[:, None]
    response = np.arange(100.0) ** 2
    rules = RegressionRules.from_rules(
        [RegressionRule((Term(0, "x", low=49),), 1), RegressionRule((Term(0, "x", low=200),), 1)], ["x"]
    )
    counted = rules.with_statistics(X, response)
    assert counted.response_range == (0, 99**2)
    assert counted[0].cover == 50
    assert counted[0].mean == pytest.approx(response[50:].mean())
    assert counted[0].interval == (52**2, 97**2)
    assert (counted[1].cover, counted[1].mean, counted[1].interval) == (0, None, None)
    doubled = rules.with_statistics(
        np.repeat(X, 2, axis=0), np.repeat(response, 2), sample_weight=np.tile([1.0, 0.0], 100)
    )
    assert doubled == counted


@pytest.mark.parametrize("digits", [2, 3])
def test_rounding_keeps_significant_digits_and_a_base_that_fits_them(digits):
    numbers = [1234.5678, -0.0456789, 17.0]
    rules = RegressionRules.from_rules(
        [RegressionRule((), number) for number in numbers], ["x"], base=206855.16, linear={"x": 0.123456}
    )
    found = rules.rounded(digits)
    expected = {2: ([1200, -0.046, 17], 0.12), 3: ([1230, -0.0457, 17], 0.123)}[digits]
    assert (found.columns.weight.tolist(), found.linear[0].coefficient) == expected
    assert found.base == 206855.16
    assert rules[[0]].rounded(digits).base == round_to_place(206855.16, {2: 2, 3: 1}[digits])


def test_rules_are_a_sequence_that_can_be_filtered():
    assert RULES[0] in RULES
    assert list(RULES[1:3]) == [RULES[1], RULES[2]]
    assert RULES[1:3].base == RULES.base
    assert all(rule.addition < 0 for rule in RULES.filter(sign="-"))
    assert all(abs(rule.addition) >= 1 for rule in RULES.filter(min_addition=1))
    assert len(RULES.filter(feature="job")) == sum(any(t.name == "job" for t in r.terms) for r in RULES)
    rebuilt = RegressionRules.from_rules(
        list(RULES), FEATURES, base=RULES.base, linear=RULES.linear, response="price"
    )
    assert rebuilt == RULES
    assert pickle.loads(pickle.dumps(RULES)) == RULES
    assert hash(RULES) == hash(RULES[:])
    assert RULES.with_additions(RULES.columns.weight, base=0) != RULES


def test_reading_costs_count_rules_bounds_and_coefficients():
    bare = RegressionRules.from_rules(list(RULES), FEATURES, base=RULES.base)
    assert RULES.reading_cost == bare.reading_cost + len(RULES.linear)


def test_rules_are_shown_with_base_additions_and_linear_terms():
    rules = RegressionRules.from_rules(
        [RegressionRule((Term(0, "income", low=5.1),), 1.4, cover=120, mean=3.2, interval=(1, 5))],
        ["income"],
        base=2.07,
        linear=[LinearTerm(0, "income", 0.43, fill=3.5, low=0.5, high=15)],
        response="price",
    )
    assert str(rules).splitlines() == [
        "1 rule for price; start at 2.07 and add, with 1 linear term",
        "0  IF income > 5.1 THEN +1.4   (covers 120, mean 3.2, 90 % from 1 to 5)",
        "   +0.43 × income   (0.5 to 15; 3.5 if missing)",
    ]
    assert "+1.4" in rules._repr_html_()
    assert rules.to_frame().columns.tolist()[:3] == ["premise", "addition", "length"]


def test_rules_of_the_other_kind_are_refused():
    with pytest.raises(TypeError, match="is not a RegressionRule"):
        RegressionRules.from_rules([Rule((), "yes")], ["x"])
    with pytest.raises(TypeError, match="is not a Rule;"):
        RuleSet.from_rules([RegressionRule((), 1)], ["x"], default="no")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RegressionRule((), math.inf), "adds inf"),
        (lambda: RegressionRule((), 1, interval=(2, 1)), "interval"),
        (lambda: LinearTerm(0, "x", 0.0), "not 0"),
        (lambda: LinearTerm(0, "x", 1, fill=3, high=2), "low ≤ fill ≤ high"),
        (lambda: RegressionRules.from_rules([], ["x"], base=math.nan), "base is nan"),
        (lambda: RegressionRules.from_rules([], ["x"], link="logit"), "identity, log"),
        (lambda: RegressionRules.from_rules([], ["x"], linear={"y": 1}), "y"),
        (lambda: RegressionRules.from_rules([], ["x"], linear=[LinearTerm(0, "y", 1)]), "no feature 0"),
        (lambda: RegressionRules.from_rules([], ["x"], response_range=(2, 1)), "ascending"),
        (lambda: RegressionRules.from_rules([RegressionRule((), 1e308)] * 2, ["x"]), "more than a double"),
        (
            lambda: RegressionRules.from_rules(
                [], Features(("c",), ("categorical",), (("a", "b"),)), linear={"c": 1}
            ),
            "categorical",
        ),
    ],
)
def test_wrong_numbers_are_refused(make, message):
    with pytest.raises((ValueError, KeyError), match=message):
        make()
