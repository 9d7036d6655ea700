"""Short rule sets: of the size chosen by default, and under a budget."""

import math

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from clausewise import ECLAIRE, ExtractionWarning, Network, Pedagogical, RuleSet, extract
from clausewise.extractors import METHODS
from clausewise.networks import ArrayNetwork


@pytest.fixture(scope="module")
def task():
    X = np.random.default_rng(0).random((1200, 4))
    y = np.where((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5), "yes", "no")
    network = MLPClassifier((16, 8), solver="lbfgs", max_iter=2000, random_state=0).fit(X, y)
    return network, X


@pytest.fixture(scope="module")
def slanted():
    """Networks with two and three classes whose boundaries need more rules than fit on half a page."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 8))
    hidden = rng.normal(size=(8, 8))
    networks = {
        n: ArrayNetwork([hidden, rng.normal(size=(8, n))], [np.zeros(8), np.zeros(n)], activation="tanh")
        for n in (2, 3)
    }
    return networks, X


# --- The default ---


@pytest.mark.parametrize("method", METHODS)
def test_by_default_every_method_returns_what_fits_on_half_a_page(slanted, method):
    networks, X = slanted
    options = {} if method == "eclaire" else {"synthetic": 0}  # the same for all, and most of the time
    model = METHODS[method](networks[2], min_cases=100, **options).fit(X, networks[2].labels(X))
    assert model.report_.sizes.knee > 60  # more to read would be more faithful
    assert 10 < len(model.rules_) <= 20
    assert 40 < model.rules_.reading_cost <= 60
    assert model.rules_.voting == "weights"


def test_for_more_classes_more_fits_in_proportion(slanted):
    networks, X = slanted
    rules = ECLAIRE(networks[3], min_cases=100, synthetic=2).fit(X).rules_
    assert len(rules) <= 30
    assert 60 < rules.reading_cost <= 90


def test_the_default_is_the_least_to_read_that_is_nearly_the_most_faithful(task):
    network, X = task
    model = ECLAIRE(network).fit(X)
    sizes, report = model.report_.sizes, model.report_
    chosen = int(np.searchsorted(sizes.budgets, sizes.knee))
    assert sizes.by == "conditions"
    assert sizes.fidelity[chosen] > 0.95
    assert report.reading_cost == model.rules_.reading_cost <= math.ceil(sizes.reading_cost[chosen])
    assert sizes.summary(report.reading_cost) in str(report)


def test_few_rows_are_all_learnt_from():
    X = np.arange(9.0)[:, None]
    labels = np.where(X[:, 0] > 4, "large", "small")
    model = Pedagogical(labels).fit(X)
    assert model.predict(X).tolist() == labels.tolist()
    assert model.report_.sizes is None
    assert "held-out" not in str(model.report_)


def test_all_rules_are_returned_and_vote_as_asked_without_a_budget(task):
    network, X = task
    model = ECLAIRE(network, max_rules=None, min_cases=10, voting="majority").fit(X)
    assert len(model.rules_) > 20
    assert model.rules_.voting == "majority"
    assert model.report_.sizes is None
    with pytest.warns(ExtractionWarning, match="voting='majority' has no effect") as caught:
        short = ECLAIRE(network, voting="majority").fit(X)
    assert short.rules_.voting == "weights"
    assert short.report_.warnings == tuple(str(warning.message) for warning in caught)


# --- A budget ---


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


def test_a_budget_of_conditions_is_kept(task):
    network, X = task
    model = ECLAIRE(network, max_conditions=8).fit(X)
    assert 0 < model.report_.reading_cost == model.rules_.reading_cost <= 8
    assert model.report_.sizes is None


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
        ({"max_conditions": 1}, "max_conditions is 1"),
        ({"points": True, "max_rules": None}, "points need a short rule set"),
    ],
)
def test_a_bad_budget_is_refused_before_any_work(task, options, message):
    network, X = task
    with pytest.raises(ValueError, match=message):
        ECLAIRE(network, **options).fit(X)


def test_without_seeds_no_hidden_layer_is_looked_at(task, monkeypatch):
    network, X = task
    asked = []
    run = Network.run

    def recorded(self, X, **options):
        asked.append(options.get("hidden", False))
        return run(self, X, **options)

    monkeypatch.setattr(Network, "run", recorded)
    free = ECLAIRE(network, max_rules=6, seeds=False).fit(X)
    assert asked == [False] * len(asked) != []
    assert free.report_.layers == ()
    assert len(free.rules_) <= 6
    assert {rule.origin.layer for rule in free.rules_} == {"residual"}
    empty = RuleSet.from_rules([], free.features_, default="no", classes=free.classes_)
    assert [rule.terms for rule in free.rules_] == [
        rule.terms for rule in empty.compact(X, network, max_rules=6)
    ]
    seeded = ECLAIRE(network, max_rules=6).fit(X)
    assert any(asked)
    assert {rule.origin.layer for rule in seeded.rules_} != {"residual"}


def test_all_rules_have_fitted_votes(task):
    network, X = task
    by_confidence = ECLAIRE(network, max_rules=None, min_cases=10, voting="confidence").fit(X)
    rules = ECLAIRE(network, max_rules=None, min_cases=10).fit(X).rules_
    assert [rule.terms for rule in rules] == [rule.terms for rule in by_confidence.rules_]
    assert rules.voting == "weights"
    assert np.mean(rules.predict(X) == network.predict(X)) > by_confidence.fidelity(X)
