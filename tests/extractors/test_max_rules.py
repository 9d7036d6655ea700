"""ECLAIRE under a budget."""

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from clausewise import ECLAIRE, extract


@pytest.fixture(scope="module")
def task():
    X = np.random.default_rng(0).random((1200, 4))
    y = np.where((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5), "yes", "no")
    network = MLPClassifier((16, 8), solver="lbfgs", max_iter=2000, random_state=0).fit(X, y)
    return network, X


def test_a_budget_gives_few_faithful_rules(task):
    network, X = task
    model = ECLAIRE(network, max_rules=4).fit(X)
    assert 0 < len(model.rules_) <= 4
    assert model.rules_.voting == "weights"
    assert model.fidelity(X) > 0.95
    assert model.report_.n_rules == len(model.rules_)
    assert "compaction" in str(model.report_)
    assert model.min_cases_ == 0.01
    assert np.array_equal(model.predict(X), model.rules_.predict(X))


def test_rules_keep_the_clause_that_they_were_started_from(task):
    network, X = task
    rules = ECLAIRE(network, max_rules=4, min_cases=10).fit(X).rules_
    layers = {rule.origin.layer for rule in rules}
    assert layers <= {"hidden 1", "hidden 2", "residual"}
    assert layers != {"residual"}
    assert all(rule.origin.clause for rule in rules if rule.origin.layer != "residual")


def test_probabilities_are_calibrated_to_the_network(task):
    network, X = task
    model = ECLAIRE(network, max_rules=4).fit(X)
    given = network.predict_proba(X)

    def entropy(rules):
        return -np.mean((given * np.log(np.clip(rules.predict_proba(X), 1e-12, 1))).sum(axis=1))

    assert entropy(model.rules_) <= min(entropy(model.rules_.with_scale(s)) for s in (0.2, 1.0, 5.0)) + 1e-6


def test_extract_can_round_weights_to_points(task):
    network, X = task
    rules = extract(network, X, max_rules=4, points=True)
    assert np.array_equal(rules.columns.weight, np.round(rules.columns.weight))
    assert "Add up the points" in str(rules.scorecard())


def test_the_smallest_budget_that_is_faithful_enough_is_found(task):
    network, X = task
    model = ECLAIRE(network, max_rules=8, min_fidelity=0.9, random_state=3).fit(X)
    assert len(model.rules_) <= 4
    assert model.fidelity(X) > 0.9
    assert model.rules_ == ECLAIRE(**model.get_params(deep=False)).fit(X).rules_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_rules": 0}, "max_rules is 0"),
        ({"min_fidelity": 0}, "min_fidelity is 0"),
        ({"max_rules": 3, "max_terms": 0}, "max_terms is 0"),
        ({"points": True}, "pass max_rules or min_fidelity"),
    ],
)
def test_a_bad_budget_is_refused_before_any_work(task, options, message):
    network, X = task
    with pytest.raises(ValueError, match=message):
        ECLAIRE(network, **options).fit(X)
