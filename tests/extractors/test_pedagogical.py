"""Rules from labels alone, the network's or the true ones."""

import warnings

import numpy as np
import pytest
from benchmarks._recorded import recorded
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clausewise import (
    C50Classifier,
    ExtractionWarning,
    Pedagogical,
    TreeEnsembleRules,
    extract,
    wrap,
)
from clausewise.induction import CARTInducer, RandomForestInducer
from clausewise.networks import ArrayNetwork
from tests.shared import needs_bench


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, X_held, y, y_held = train_test_split(X, np.array(["malignant", "benign"])[y], random_state=0)
    network = make_pipeline(StandardScaler(), MLPClassifier((16,), max_iter=800, random_state=0)).fit(X, y)
    return network, X, X_held, y, y_held


def test_rules_are_those_that_c50_learns_from_the_networks_labels(cancer):
    network, X, *_ = cancer
    rules = Pedagogical(network, max_rules=None).fit(X).rules_
    expected = C50Classifier(thresholds="readable").fit(X, network.predict(X)).rules_
    assert [(rule.terms, rule.conclusion) for rule in rules] == [
        (rule.terms, rule.conclusion) for rule in expected
    ]
    assert all(rule.origin.layer == "inputs" for rule in rules)


@pytest.mark.parametrize("inducer", ["c5.0", "cart", "random_forest", CARTInducer(max_leaves=8)])
def test_any_inducer_can_be_used(cancer, inducer):
    network, X, X_held, *_ = cancer
    options = {"min_cases": 5} if isinstance(inducer, str) else {}
    model = Pedagogical(network, inducer=inducer, max_rules=None, **options)
    assert model.fit(X).fidelity(X_held) > 0.85


def test_a_network_may_have_no_hidden_layers():
    X = np.random.default_rng(0).normal(size=(300, 2))
    network = ArrayNetwork([np.array([[1.0, -1.0], [0.0, 0.0]])], [np.zeros(2)])
    assert Pedagogical(network, max_rules=None).fit(X).fidelity(X) > 0.99


def test_true_labels_need_no_network(cancer):
    _, X, X_held, y, y_held = cancer
    model = TreeEnsembleRules(min_cases=10, random_state=0, max_rules=None).fit(X, y)
    assert model.score(X_held, y_held) > 0.9
    assert model.network_ is None
    with pytest.raises(ValueError, match="imitate no network"):
        model.fidelity(X_held)


def test_fidelity_of_rules_from_true_labels_can_be_measured(cancer):
    network, X, X_held, y, _ = cancer
    model = TreeEnsembleRules(wrap(network), inducer="cart", min_cases=10, max_rules=None).fit(X, y)
    assert model.fidelity(X_held) == np.mean(model.predict(X_held) == network.predict(X_held))


def test_another_inducer_can_replace_the_default_forest():
    X, y = load_iris(return_X_y=True)
    inducer = RandomForestInducer(n_trees=3, max_depth=2)
    few = TreeEnsembleRules(inducer=inducer, max_rules=None).fit(X, y)
    assert len(few.rules_) < len(TreeEnsembleRules(max_rules=None).fit(X, y).rules_)
    assert max(map(len, few.rules_)) <= 2


def test_the_seed_draws_the_forest():
    X, y = load_iris(return_X_y=True)
    first, second = (TreeEnsembleRules(random_state=seed, max_rules=None).fit(X, y).rules_ for seed in (1, 2))
    assert first != second
    assert first == TreeEnsembleRules(random_state=1, max_rules=None).fit(X, y).rules_


def test_extract_knows_both_methods(cancer):
    network, X, _, y, _ = cancer
    few = extract(network, X, method="pedagogical", max_rules=3)
    assert few == Pedagogical(network, max_rules=3).fit(X).rules_
    options = {"inducer": "cart", "min_cases": 20, "max_rules": None}
    forest = extract(network, X, method="rem-t", y=y, **options)
    assert forest == TreeEnsembleRules(wrap(network), **options).fit(X, y).rules_
    with pytest.raises(ValueError, match="requires y to be passed"):
        extract(network, X, method="rem-t")


def test_one_class_gives_one_rule_and_a_warning():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.warns(ExtractionWarning, match="The only class is a on all rows"):
        model = TreeEnsembleRules().fit(X, ["a"] * 30)
    assert len(model.rules_) == 1


@needs_bench
def test_labels_alone_do_not_reveal_xor():
    network, arrays = recorded("xor_fold0")
    with pytest.warns(ExtractionWarning, match="No rule predicts class 1"):
        model = Pedagogical(network, winnow=True, max_rules=None).fit(arrays["X_train"])
    assert len(model.rules_) == 1


def test_amounts_that_are_taken_for_classes_are_pointed_out():
    X, amounts = load_diabetes(return_X_y=True)
    with pytest.warns(ExtractionWarning) as caught:
        extract(amounts, X, max_rules=2)
    assert "214 different numbers" in str(caught[0].message)
    ages = np.repeat(np.arange(40), 900)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Pedagogical(ages, max_rules=None).fit(ages[:, None])


@pytest.mark.parametrize("labels", [np.array([1.0, np.nan, 0.0]), np.array(["a", None, "b"], dtype=object)])
def test_missing_labels_are_named(labels):
    X = np.arange(3.0).reshape(-1, 1)
    with pytest.raises(ValueError, match="1 missing label"):
        extract(labels, X)


def test_no_advice_contradicts_another():
    X = np.arange(3.0).reshape(-1, 1)
    with pytest.warns(ExtractionWarning) as caught:
        extract(np.array([0, 0, 1]), X)
    text = " ".join(str(one.message) for one in caught)
    assert "max_rules" not in text
    assert "only rule" not in text
