"""Measures of rules for numbers, against plain formulas, with intervals and baselines."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import max_error, mean_absolute_error, r2_score, root_mean_squared_error

from clausewise import RegressionRule, RegressionRules, Term, metrics

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 2))
NETWORK = np.where(X[:, 0] > 0, 2.0, 1.0) + 0.1 * X[:, 1]
TRUTH = NETWORK + RNG.normal(scale=0.3, size=len(X))
RULES = RegressionRules.from_rules([RegressionRule((Term(0, "a", low=0),), 1)], ["a", "b"], base=1)


def test_measures_equal_those_of_scikit_learn():
    found = RULES.evaluate(X, TRUTH, network=NETWORK, tolerance=0.2)
    predicted = RULES.predict(X)
    for errors, truth in ((found.to_truth, TRUTH), (found.to_network, NETWORK)):
        assert errors.r_squared == pytest.approx(r2_score(truth, predicted))
        assert errors.mean_absolute == pytest.approx(mean_absolute_error(truth, predicted))
        assert errors.root_mean_squared == pytest.approx(root_mean_squared_error(truth, predicted))
        assert errors.largest == pytest.approx(max_error(truth, predicted))
        assert errors.largest == abs(predicted - truth)[errors.largest_row]
        assert errors.within == np.mean(abs(predicted - truth) <= 0.2)
        assert errors.baseline_root_mean_squared == pytest.approx(truth.std())
    assert found.network_to_truth.r_squared == pytest.approx(r2_score(TRUTH, NETWORK))
    assert found.reading_cost == RULES.reading_cost == 2
    assert found.coverage == np.mean(X[:, 0] > 0)


def test_intervals_contain_the_measure_and_have_the_width_of_theory():
    errors = RULES.evaluate(X, TRUTH).to_truth
    for name in ("r_squared", "mean_absolute", "root_mean_squared", "within"):
        low, high = getattr(errors, f"{name}_interval")
        assert low < getattr(errors, name) < high
    absolute = abs(RULES.predict(X) - TRUTH)
    low, high = errors.mean_absolute_interval
    assert high - low == pytest.approx(2 * 1.96 * absolute.std() / np.sqrt(len(X)), rel=0.15)
    assert RULES.evaluate(X, TRUTH) == RULES.evaluate(X, TRUTH)
    assert RULES.evaluate(X, TRUTH, random_state=1) != RULES.evaluate(X, TRUTH)


def test_a_model_a_function_and_its_numbers_are_the_same_network():
    model = LinearRegression().fit(X, NETWORK)
    by_model = RULES.evaluate(X, network=model)
    assert RULES.evaluate(X, network=model.predict(X)) == by_model
    assert RULES.evaluate(X, network=lambda rows: model.predict(rows)) == by_model


def test_rules_that_are_no_better_than_the_mean_get_a_warning():
    poor = RULES.with_additions([-1.0])
    found = poor.evaluate(X, TRUTH)
    assert "not clearly closer to the truth" in found.warnings[0]
    assert "Warning:" in str(found)
    assert not RULES.evaluate(X, TRUTH).warnings
    assert "R² to the truth" in repr(found)
    assert "R²" in found._repr_html_()


def test_numbers_without_variance_have_no_r_squared():
    found = RULES.evaluate(X[:5], np.ones(5))
    assert np.isnan(found.to_truth.r_squared)
    assert "–" in str(found)
    assert np.isnan(metrics.r_squared([1, 2], [3, 3]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "nothing to measure"),
        ({"target": TRUTH[:5]}, "one number per row"),
        ({"target": np.where(TRUTH > 2, np.nan, TRUTH)}, "finite numbers"),
        ({"target": ["a"] * len(X)}, "'a' is text"),
        ({"target": TRUTH, "tolerance": -1}, "tolerance"),
    ],
)
def test_wrong_targets_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        RULES.evaluate(X, **arguments)
