"""The fast extraction against Algorithm 1 written out in plain loops."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import clausewise
from clausewise import ECLAIRE
from clausewise.extractors import clause_substitution as algorithm
from clausewise.induction import C50Inducer, CARTInducer, RandomForestInducer
from tests.extractors.networks import random_network, random_rows
from tests.reference.eclaire import eclaire


def random_case(seed):
    rng = np.random.default_rng(seed)
    n_columns, n_classes = int(rng.integers(2, 6)), int(rng.integers(2, 5))
    X = random_rows(rng, int(rng.integers(20, 160)), n_columns)
    while True:
        network = random_network(rng, n_columns, n_classes)
        if (
            np.sort(np.bincount(network.codes(X), minlength=n_classes))[-2] >= 3
        ):  # two classes are frequent enough
            return rng, network, X


def assert_same(network, X, inducer, **options):
    model = ECLAIRE(network, inducer=inducer, max_rules=None, voting="confidence", n_jobs=2, **options).fit(X)
    weights = options.pop("sample_weight", None)
    expected = eclaire(
        network,
        X,
        network.features(X),
        inducer,
        weights=weights,
        balance=options.get("balance") is not None,
        eclectic=options.get("eclectic", False),
    )
    assert model.rules_ == expected


@pytest.mark.filterwarnings("ignore::clausewise.ExtractionWarning")
@pytest.mark.parametrize("seed", range(40))
def test_rules_are_those_of_algorithm_1(seed):
    rng, network, X = random_case(seed)
    inducer = C50Inducer(min_cases=int(rng.integers(1, 9)), winnow=bool(rng.integers(2)))
    assert_same(network, X, inducer, eclectic=bool(rng.integers(2)))


@pytest.mark.filterwarnings("ignore::clausewise.ExtractionWarning")
@pytest.mark.parametrize("inducer", [CARTInducer(min_cases=8), RandomForestInducer(n_trees=2, max_depth=3)])
@pytest.mark.parametrize("seed", range(40, 44))
def test_other_inducers_give_the_rules_of_algorithm_1(seed, inducer):
    _, network, X = random_case(seed)
    assert_same(network, X, inducer)


@pytest.mark.filterwarnings("ignore::clausewise.ExtractionWarning")
@pytest.mark.parametrize("balance", [None, "balanced"])
@pytest.mark.parametrize("seed", range(50, 54))
def test_weights_count_as_in_algorithm_1(seed, balance):
    rng, network, X = random_case(seed)
    weights = rng.integers(1, 4, len(X)).astype(float)
    inducer = C50Inducer(min_cases=3)
    model = ECLAIRE(network, inducer=inducer, balance=balance, max_rules=None, voting="confidence").fit(
        X, sample_weight=weights
    )
    expected = eclaire(network, X, network.features(X), inducer, weights=weights, balance=balance is not None)
    assert [rule.terms for rule in model.rules_] == [rule.terms for rule in expected]
    np.testing.assert_allclose(model.rules_.columns.cover, expected.columns.cover)
    np.testing.assert_allclose(model.rules_.columns.confidence, expected.columns.confidence)
    assert model.rules_.default == expected.default


@pytest.mark.filterwarnings("ignore::clausewise.ExtractionWarning")
def test_balanced_targets_are_those_of_algorithm_1():
    _, network, X = random_case(60)
    assert_same(network, X, C50Inducer(min_cases=3), balance="balanced")


def people(n_rows=150):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows).astype(float),
            "job": rng.choice(["nurse", "cook", "pilot"], n_rows),
            "smokes": rng.random(n_rows) < 0.4,
        }
    )
    says_yes = np.where(frame["job"] == "pilot", frame["age"] <= 50, frame["smokes"])
    return frame, np.where(says_yes, "yes", "no")


def test_categories_are_substituted_as_in_algorithm_1():
    X, y = people()
    encoder = ColumnTransformer([("job", OneHotEncoder(), ["job"])], remainder=StandardScaler())
    model = make_pipeline(encoder, MLPClassifier((8, 4), solver="lbfgs", random_state=0)).fit(X, y)
    network = clausewise.wrap(model)
    assert network.features(X).kinds == ("numeric", "categorical", "binary")
    assert_same(network, X, C50Inducer(min_cases=2))


def test_many_clauses_are_substituted_in_parts_with_the_same_result(monkeypatch):
    _, network, X = random_case(3)
    inducer = C50Inducer(min_cases=2)
    whole = ECLAIRE(network, inducer=inducer, max_rules=None, voting="confidence").fit(X)
    assert max(layer.n_clauses for layer in whole.report_.layers) > 2
    monkeypatch.setattr(algorithm, "MAX_TARGET_BYTES", 2 * len(X))
    in_parts = ECLAIRE(network, inducer=inducer, max_rules=None, voting="confidence").fit(X)
    assert in_parts.rules_ == whole.rules_
    assert in_parts.report_.layers == whole.report_.layers
