"""Fewer rules for numbers: the same predictions for any row, or a bounded loss of R²; and comparisons."""

from dataclasses import replace

import numpy as np
import pytest
from tests.rules.regression_cases import RULES, TABLE, random_rows

from clausewise import RegressionRule, RegressionRules, Term, metrics


def test_exact_simplification_changes_no_prediction():
    rules = RULES.add(
        [
            "IF income > 5.1 THEN ADD 0.3",  # the premise of rule 0
            "IF TRUE THEN ADD 0.03",
            "IF age > 60 AND age <= 20 THEN ADD 5",
            "IF age > 44 THEN ADD 0",
            "IF job = cook AND age > 30 THEN ADD 0.5",
            "IF job = nurse AND age > 30 THEN ADD 0.5",
            "IF 1 < income <= 2 THEN ADD 0.25",
            "IF 2 < income <= 3 THEN ADD 0.25",
        ]
    )
    short = rules.simplify()
    assert len(short) == len(RULES) + 2
    assert short.base == 2.1
    rows = random_rows(400, seed=1)
    assert short.predict(rows).tolist() == rules.predict(rows).tolist()
    assert any(term.high - term.low == 2 for rule in short for term in rule.terms)


def test_numbers_of_many_digits_are_not_added_up_beforehand():
    rules = RegressionRules.from_text("IF x > 1 THEN ADD 0.1234567890123456\n" * 2, ["x"])
    assert rules.reweight(1, addition=1e6 / 3).simplify() == rules.reweight(1, addition=1e6 / 3)


def test_a_tolerance_bounds_the_loss_of_r_squared():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    target = np.where(X[:, 0] > 0, 2.0, 0.0) + np.where(X[:, 1] > 1, 0.3, 0.0)
    rules = RegressionRules.from_rules(
        [
            RegressionRule((Term(0, "a", low=0), Term(2, "c", low=-9)), 2),
            RegressionRule((Term(1, "b", low=1),), 0.3),
            RegressionRule((Term(2, "c", low=2),), 0.01),
        ],
        ["a", "b", "c"],
    )
    before = metrics.r_squared(rules.predict(X), target)
    sizes = []
    for tolerance in (0.0, 0.001, 0.05):
        short = rules.simplify(tolerance=tolerance, X=X, target=target)
        assert metrics.r_squared(short.predict(X), target) >= before - tolerance
        sizes.append(short.reading_cost)
    assert sizes == [4, 4, 2]
    (rule,) = rules.simplify(tolerance=0.05, X=X, target=target)
    assert rule.cover == np.sum(X[:, 0] > 0)
    with pytest.raises(ValueError, match="need rows"):
        rules.simplify(tolerance=0.1)


def test_a_comparison_lists_rules_settings_and_shifted_rows():
    later = RULES.reweight(0, addition=1.5).remove(5).add("IF age > 70 THEN ADD 1")
    later = later.with_additions(later.columns.weight, base=2)
    found = RULES.compare(later, TABLE)
    assert (found.added, found.removed, found.changed) == ((5,), (5,), ((0, 0),))
    assert found.settings == {"base": (2.07, 2)}
    differs = RULES.predict(TABLE) != later.predict(TABLE)
    assert found.flips.rows.tolist() == np.flatnonzero(differs).tolist()
    assert "rows get another prediction (100.00 %)" in str(found)
    assert RULES.compare(RULES, TABLE).is_same
    slightly = [replace(term, coefficient=np.nextafter(term.coefficient, 9)) for term in RULES.linear]
    assert not RULES.compare(RULES.with_additions(RULES.columns.weight, linear=slightly)).is_same
    assert "0 of 60 rows" in str(RULES.compare(RULES, TABLE).flips)
