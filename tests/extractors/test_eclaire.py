"""ECLAIRE as an estimator: parameters, variants, coping mechanisms, bad input."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import clausewise
from clausewise import (
    ECLAIRE,
    REMD,
    C50Classifier,
    DeepRED,
    ExtractionWarning,
    Features,
    Pedagogical,
    RuleSet,
    extract,
    wrap,
)
from clausewise.induction import C50Inducer, CARTInducer
from clausewise.networks import ArrayNetwork, CallableNetwork
from clausewise.rules.metrics import balanced_accuracy
from tests.extractors.networks import random_network, random_rows


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    species = np.array(["setosa", "versicolor", "virginica"])[y]
    scaled = make_pipeline(StandardScaler(), MLPClassifier((16, 8), solver="lbfgs", random_state=0))
    return X, species, scaled.fit(X, species)


@pytest.fixture(scope="module")
def numbers():
    """600 rows of numbers and a network with three layers, all of whose classes are frequent."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(600, 6))
    while True:
        network = random_network(rng, 6, 3, n_layers=3, activation="tanh")
        if np.bincount(network.codes(X), minlength=3).min() > 120:
            return network, X


# --- Results ---


def test_rules_test_raw_columns_and_predict_the_networks_classes(iris):
    X, _, network = iris
    model = ECLAIRE(network, min_cases=3, max_rules=None).fit(X)
    assert model.rules_.features == Features.learn(X)
    assert set(model.predict(X)) <= {"setosa", "versicolor", "virginica"}
    assert model.fidelity(X) == np.mean(model.predict(X) == network.predict(X)) > 0.95
    assert model.feature_names_in_.tolist() == X.columns.tolist()


def test_probabilities_and_explanations_are_those_of_the_rules(iris):
    X, _, network = iris
    model = ECLAIRE(network, min_cases=3, max_rules=None).fit(X)
    np.testing.assert_array_equal(model.predict_proba(X), model.rules_.predict_proba(X))
    assert str(model.explain(X.head(2))[0]) == str(model.rules_.explain(X.head(2))[0])


def test_every_rule_knows_its_layer_and_clause(iris):
    X, _, network = iris
    wrapped = wrap(network)
    model = ECLAIRE(wrapped, min_cases=3, eclectic=True, max_rules=None).fit(X)
    layers = [rule.origin.layer for rule in model.rules_]
    assert set(layers) == {"inputs", *wrapped.layer_names}
    assert all((rule.origin.clause is None) == (rule.origin.layer == "inputs") for rule in model.rules_)
    assert any("hidden 2[" in rule.origin.clause for rule in model.rules_ if rule.origin.layer == "hidden 2")


def test_confidence_is_measured_against_the_network(iris):
    X, _, network = iris
    rules = ECLAIRE(network, min_cases=3, max_rules=None).fit(X).rules_
    assert rules == rules.with_statistics(X, network.predict(X))


def test_equal_rules_of_different_layers_are_kept_once(numbers):
    network, X = numbers
    rules = ECLAIRE(network, min_cases=20, max_rules=None).fit(X).rules_
    assert len({(rule.terms, rule.conclusion) for rule in rules}) == len(rules)


def test_the_report_counts_clauses_and_rules(numbers):
    network, X = numbers
    model = ECLAIRE(network, min_cases=20, max_rules=None).fit(X)
    assert [layer.name for layer in model.report_.layers] == list(network.layer_names)
    assert sum(layer.n_rules for layer in model.report_.layers) >= len(model.rules_) == model.report_.n_rules
    text = str(model.report_)
    assert "min_cases=20" in text
    assert all(word in text for word in ("hidden 2", "clauses over units", "peak MB"))


# --- `extract` and scikit-learn ---


def test_extract_equals_a_fitted_estimator(iris):
    X, _, network = iris
    for options in ({}, {"min_cases": 3, "max_rules": None}):
        assert extract(network, X, **options) == ECLAIRE(network, **options).fit(X).rules_


def test_an_unknown_option_or_method_is_named(iris):
    X, _, network = iris
    with pytest.raises(TypeError, match="no option 'mu'; it has balance"):
        extract(network, X, mu=3)
    with pytest.raises(ValueError, match="method is 'magic'"):
        extract(network, X, method="magic")
    with pytest.raises(TypeError, match="model is None"):
        extract(None, X)


def test_a_network_is_trained_where_none_is_given():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=300), "job": rng.choice(["a", "b", "c"], 300)})
    X.loc[rng.random(300) < 0.1, "x"] = np.nan
    y = np.where((X["job"] == "a") | (X["x"] > 0.5), "yes", "no")
    model = ECLAIRE(min_cases=5, max_rules=None).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.fidelity(X) > 0.9


def test_an_unfitted_network_is_cloned_and_trained(iris):
    X, species, _ = iris
    network = make_pipeline(StandardScaler(), MLPClassifier((8,), solver="lbfgs", random_state=0))
    model = ECLAIRE(network, min_cases=3, max_rules=None).fit(X, species)
    assert model.score(X, species) > 0.9
    with pytest.raises(NotFittedError):
        network.predict(X)
    with pytest.raises(ValueError, match="not fitted and y is None"):
        ECLAIRE(network).fit(X)


def test_a_wrapped_network_survives_cloning_and_searching(numbers):
    network, X = numbers
    assert clone(ECLAIRE(network)).network is network
    model = ECLAIRE(network, max_rules=None)
    search = GridSearchCV(model, {"min_cases": [10, 60]}, cv=2).fit(X, network.labels(X))
    assert search.best_params_["min_cases"] == 10


def test_a_fitted_estimator_can_be_pickled(iris):
    X, _, network = iris
    model = ECLAIRE(network).fit(X)
    again = pickle.loads(pickle.dumps(model))
    assert again.rules_ == model.rules_
    assert str(again.report_.sizes) == str(model.report_.sizes)
    assert again.fidelity(X) == model.fidelity(X)


def test_other_tables_give_the_same_rules(iris):
    X, _, network = iris
    named = wrap(
        network[-1], preprocess=lambda rows: network[:-1].transform(pd.DataFrame(rows, columns=X.columns))
    )
    rules = ECLAIRE(named, min_cases=3, max_rules=None).fit(pl.from_pandas(X)).rules_
    assert rules == ECLAIRE(network, min_cases=3, max_rules=None).fit(X).rules_


# --- Reproducible ---


@pytest.mark.parametrize(
    "options",
    [{"synthetic": 1}, {"max_rules": None}, {"max_rules": None, "min_cases": 5, "max_rows": 0.5}],
)
def test_threads_and_runs_do_not_change_the_rules(numbers, options):
    network, X = numbers
    first = ECLAIRE(network, n_jobs=1, random_state=3, **options).fit(X)
    second = ECLAIRE(network, n_jobs=4, random_state=3, **options).fit(X)
    assert first.rules_ == second.rules_
    assert first.report_.path == second.report_.path
    assert str(first.report_.sizes) == str(second.report_.sizes)


def test_the_seed_is_passed_to_the_trained_network_and_to_a_forest(iris):
    X, species, network = iris
    unseeded = MLPClassifier((8,), solver="lbfgs", max_iter=50)
    models = [ECLAIRE(unseeded, min_cases=3, random_state=7, max_rules=None) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert models[0].fit(X, species).rules_ == models[1].fit(X, species).rules_
    forests = [
        ECLAIRE(network, inducer="random_forest", min_cases=30, random_state=s, max_rules=None).fit(X)
        for s in (1, 2)
    ]
    assert forests[0].rules_ != forests[1].rules_


def test_min_cases_goes_to_the_inducer_that_is_named(iris):
    X, _, network = iris
    model = ECLAIRE(
        network, inducer=C50Inducer(min_cases=5), intermediate_inducer="c5.0", max_rules=None
    ).fit(X)
    assert model.min_cases_ is not None
    with pytest.raises(ValueError, match="only applies to inducers given by name"):
        ECLAIRE(network, intermediate_inducer=C50Inducer(), intermediate_min_cases=3).fit(X)


def test_no_rule_tests_a_column_that_the_network_does_not_read(iris):
    X, species, _ = iris
    columns = X.columns[2:].tolist()
    leaking = X.assign(leak=species == "setosa")
    encoder = ColumnTransformer([("scaled", StandardScaler(), columns)])
    network = make_pipeline(encoder, MLPClassifier((8,), solver="lbfgs", max_iter=500, random_state=0))
    network.fit(leaking, species)
    for model in (ECLAIRE(network), ECLAIRE(network, min_cases=3, max_rules=None)):
        rules = model.fit(leaking).rules_
        assert {term.name for rule in rules for term in rule.terms} <= set(columns)
        assert model.fidelity(leaking) > 0.9


def test_a_layer_may_have_any_name():
    X = np.random.default_rng(0).normal(size=(300, 2))

    def unit(rows):
        return np.tanh(rows @ np.array([[1.0, -2.0, 0.5], [0.3, 1.0, -1.0]]))

    def network(name):
        def predict(rows):
            return unit(rows) @ np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.0]])

        return CallableNetwork(predict=predict, layers={name: unit}, output="logits")

    for method in (ECLAIRE, REMD, DeepRED):
        options = {"min_cases": 10, "max_rules": None}
        fits = [method(network(name), **options).fit(X).rules_ for name in ("inputs", "hidden")]
        assert [rule.terms for rule in fits[0]] == [rule.terms for rule in fits[1]]


def test_without_a_seed_the_same_call_gives_the_same_rules(numbers):
    network, X = numbers
    rules = [ECLAIRE(network, min_cases=5, max_rows=200, max_rules=None).fit(X).rules_ for _ in range(2)]
    assert rules[0] == rules[1]


def test_another_seed_draws_other_rows(numbers):
    network, X = numbers
    rules = [
        ECLAIRE(network, min_cases=5, max_rows=200, random_state=s, max_rules=None).fit(X).rules_
        for s in (1, 2)
    ]
    assert rules[0] != rules[1]


# --- min_cases ---


def test_min_cases_is_chosen_by_fidelity_and_then_by_size(numbers):
    network, X = numbers
    model = ECLAIRE(network, max_rules=None).fit(X)
    best = max(model.report_.path, key=lambda point: (point.fidelity, -point.n_rules, point.min_cases))
    assert model.min_cases_ == best.min_cases == model.report_.min_cases
    assert len(model.report_.path) >= 3
    assert model.rules_ == ECLAIRE(network, min_cases=best.min_cases, max_rules=None).fit(X).rules_
    assert "(chosen)" in str(model.report_)


def test_min_cases_may_be_a_fraction_of_the_rows(numbers):
    network, X = numbers
    fraction, number = (extract(network, X, min_cases=n, max_rules=None) for n in (0.05, 30))
    assert fraction == number


def test_clauses_may_have_their_own_min_cases(numbers):
    network, X = numbers
    fine = ECLAIRE(network, min_cases=40, intermediate_min_cases=5, max_rules=None).fit(X)
    coarse = ECLAIRE(network, min_cases=40, max_rules=None).fit(X)
    n_clauses = [sum(layer.n_clauses for layer in model.report_.layers) for model in (fine, coarse)]
    assert n_clauses[0] > n_clauses[1]


# --- Variants ---


def test_cart_and_random_forest_are_known_by_name(iris):
    X, _, network = iris
    for inducer in ("cart", "random_forest", CARTInducer(ccp_alpha="cv")):
        options = {"min_cases": 10} if isinstance(inducer, str) else {}
        model = ECLAIRE(network, inducer=inducer, max_rules=None, **options)
        assert model.fit(X).fidelity(X) > 0.9


def test_the_eclectic_variant_adds_rules_from_the_inputs(numbers):
    network, X = numbers
    plain = ECLAIRE(network, min_cases=20, max_rules=None).fit(X)
    eclectic = ECLAIRE(network, min_cases=20, eclectic=True, max_rules=None).fit(X)
    from_inputs = [rule for rule in eclectic.rules_ if rule.origin.layer == "inputs"]
    pedagogical = C50Inducer(min_cases=20, winnow=True).induce(
        clausewise.induction.PreparedMatrix.prepare(X), network.codes(X), network.classes.tolist()
    )
    assert [rule.terms for rule in from_inputs] == [rule.terms for rule in pedagogical]
    assert len(eclectic.rules_) > len(plain.rules_)


def test_balance_predicts_a_rare_clause_better():
    """Both hidden units are high in a slanted corner that holds 3 of 100 rows."""
    X = np.random.default_rng(1).uniform(size=(3_000, 4))
    units = np.array([[1.0, 0.0], [0.0, 1.0], [0.15, 0.1], [0.0, 0.1]]), np.array([-0.7, -0.7])
    network = ArrayNetwork([units[0], [[0.0, 1.0], [0.0, 1.0]]], [units[1], [0.55, 0.0]])
    decisions = network.labels(X)
    assert np.mean(decisions == 1) < 0.04

    def accuracy(balance):
        return balanced_accuracy(
            ECLAIRE(network, min_cases=40, balance=balance, max_rules=None).fit(X).predict(X), decisions
        )

    assert accuracy("balanced") > accuracy(None) + 0.05


# --- Coping mechanisms ---


def test_layers_can_be_excluded(numbers):
    network, X = numbers
    model = ECLAIRE(network, min_cases=20, layers="every 2", max_rules=None).fit(X)
    assert [layer.name for layer in model.report_.layers] == ["hidden 1", "hidden 3"]


@pytest.mark.parametrize(("max_rows", "n_rows"), [(200, 200), (0.25, 150), (10_000, 600)])
def test_a_sample_of_the_rows_can_be_used(numbers, max_rows, n_rows):
    network, X = numbers
    model = ECLAIRE(network, min_cases=5, max_rows=max_rows, max_rules=None).fit(X)
    assert (model.report_.n_rows, model.report_.n_rows_given) == (n_rows, 600)


@pytest.mark.parametrize(
    ("max_rows", "is_weighted", "n_rows"), [(None, False, 600), (200, False, 200), (None, True, 300)]
)
def test_activations_are_computed_of_the_rows_to_learn_from(
    numbers, monkeypatch, max_rows, is_weighted, n_rows
):
    network, X = numbers
    n_evaluated = []
    evaluate = network._backend.evaluate

    def counted(rows, names):
        if any(name.startswith("hidden") for name in names):
            n_evaluated.append(len(rows))
        return evaluate(rows, names)

    monkeypatch.setattr(network._backend, "evaluate", counted)
    weights = (np.arange(600) < 300).astype(float) if is_weighted else None
    ECLAIRE(network, min_cases=20, max_rows=max_rows, max_rules=None).fit(X, sample_weight=weights)
    assert set(n_evaluated) == {n_rows}


def test_clauses_can_be_dropped(numbers):
    network, X = numbers
    whole = ECLAIRE(network, min_cases=10, max_rules=None).fit(X)
    dropped = ECLAIRE(network, min_cases=10, drop_lowest=0.5, max_rules=None).fit(X)
    for before, after in zip(whole.report_.layers, dropped.report_.layers, strict=True):
        assert after.n_dropped == before.n_clauses // 2
        assert after.n_clauses == before.n_clauses - after.n_dropped
    limited = ECLAIRE(network, min_cases=10, max_intermediate_rules=3, max_rules=None).fit(X)
    assert max(layer.n_clauses for layer in limited.report_.layers) == 3


def test_rows_of_weight_zero_are_ignored(numbers):
    network, X = numbers
    weights = (np.arange(600) < 300).astype(float)
    weighted = ECLAIRE(network, min_cases=5, max_rules=None).fit(X, sample_weight=weights)
    part = ECLAIRE(network, min_cases=5, max_rules=None).fit(X[:300])
    assert [rule.terms for rule in weighted.rules_] == [rule.terms for rule in part.rules_]
    assert weighted.report_.n_rows == 300


# --- Bad input ---


def one_class_network():
    return ArrayNetwork(
        [np.eye(2), np.zeros((2, 3))], [np.zeros(2), [0.0, 1.0, 0.0]], classes=["a", "b", "c"]
    )


def test_a_single_class_gives_one_rule_and_a_warning():
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.warns(ExtractionWarning, match="predicts b on all rows"):
        model = ECLAIRE(one_class_network()).fit(X)
    assert [str(rule).split("   ")[0] for rule in model.rules_] == ["IF anything THEN b"]
    assert model.fidelity(X) == 1.0


def test_a_class_that_is_never_predicted_stays_a_class():
    rng = np.random.default_rng(0)
    weights = [np.eye(2), np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]])]
    network = ArrayNetwork(
        weights, [np.zeros(2), [0.0, 0.0, -100.0]], activation="identity", classes=["a", "b", "c"]
    )
    X = rng.normal(size=(100, 2))
    model = ECLAIRE(network, min_cases=2, max_rules=None).fit(X)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict_proba(X).shape == (100, 3)
    assert set(model.predict(X)) == {"a", "b"}


def test_too_large_min_cases_warns_and_predicts_the_majority(numbers):
    network, X = numbers
    with pytest.warns(ExtractionWarning) as caught:
        model = ECLAIRE(network, min_cases=5_000, max_rules=None).fit(X)
    assert any("too large to split" in str(warning.message) for warning in caught)
    assert len(model.rules_) == 1
    assert model.rules_.default == network.classes[np.bincount(network.codes(X)).argmax()]


def test_dropping_everything_warns_and_predicts_the_majority(numbers):
    network, X = numbers
    with pytest.warns(ExtractionWarning) as caught:
        model = ECLAIRE(network, min_cases=20, min_confidence=1.0, max_rules=None).fit(X)
    assert "all clauses were dropped" in str(caught[0].message)
    assert len(model.rules_) == 1


class Nothing:
    """An inducer that never finds a rule."""

    def induce(self, matrix, codes, classes, *, weights=None, n_jobs=None):
        return RuleSet.from_rules([], matrix.features, default=classes[-1], classes=list(classes))


class Broken:
    """An inducer that does not return a rule set."""

    def induce(self, matrix, codes, classes, *, weights=None, n_jobs=None):
        return None


def test_an_inducer_that_finds_nothing_is_warned_about(numbers):
    network, X = numbers
    with pytest.warns(ExtractionWarning):
        model = ECLAIRE(network, inducer=Nothing(), max_rules=None).fit(X)
    assert len(model.rules_) == 1


def test_an_inducer_must_return_a_rule_set(numbers):
    network, X = numbers
    with pytest.raises(TypeError, match="returned a NoneType; it must return a RuleSet"):
        ECLAIRE(network, inducer=Broken()).fit(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_cases": 0}, "min_cases is 0"),
        ({"min_cases": "many"}, "min_cases is 'many'"),
        ({"intermediate_min_cases": -1}, "min_cases is -1"),
        ({"drop_lowest": 1.0}, "drop_lowest is 1.0"),
        ({"drop_lowest": -0.1}, "drop_lowest is -0.1"),
        ({"min_confidence": 2}, "min_confidence is 2"),
        ({"max_intermediate_rules": 0}, "max_intermediate_rules is 0"),
        ({"ranking": "beauty"}, "ranking is 'beauty'"),
        ({"balance": "equal"}, "balance is 'equal'"),
        ({"max_rows": 0}, "max_rows is 0"),
        ({"max_rows": 2.5}, "max_rows is 2.5"),
        ({"voting": "random"}, "random"),
        ({"inducer": "c4.5"}, "inducer is 'c4.5'"),
        ({"inducer": C50Inducer(), "min_cases": 3}, "only applies to inducers given by name"),
        ({"layers": "hidden 9"}, "There is no layer 'hidden 9'; the layers are 'hidden 1'"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_a_bad_parameter_is_named(numbers, options, message):
    network, X = numbers
    with pytest.raises(ValueError, match=message):
        ECLAIRE(network, **options).fit(X)


def test_a_table_without_rows_or_too_narrow_is_an_error(numbers):
    network, X = numbers
    with pytest.raises(ValueError, match="0 sample"):
        ECLAIRE(network).fit(X[:0])
    with pytest.raises(ValueError, match="5 columns"):
        ECLAIRE(network).fit(X[:, :5])
    with pytest.raises(TypeError, match="X is a NoneType"):
        ECLAIRE(network).fit(None)
    with pytest.raises(ValueError, match="no hidden layer"):
        ECLAIRE(ArrayNetwork([np.eye(2)], [np.zeros(2)]), min_cases=2).fit(
            random_rows(np.random.default_rng(0), 50, 2)
        )


def test_a_failed_fit_leaves_the_estimator_as_it_was(numbers):
    network, X = numbers
    model = ECLAIRE(network, min_cases=20, max_rules=None).fit(X)
    rules = model.rules_
    with pytest.raises(ValueError, match="5 columns"):
        model.fit(X[:, :5])
    assert model.rules_ is rules


def test_a_column_that_single_precision_collapses_is_learnt_from():
    rng = np.random.default_rng(0)
    seconds = 1_700_000_000.0 + rng.permutation(3_600)[:600]
    X = np.column_stack([seconds, rng.normal(size=600)])
    scale = np.array([[1 / 900.0], [0.0]])
    first = ArrayNetwork(
        [scale, np.array([[4.0]])], [np.array([-1_700_001_800.0 / 900.0]), np.zeros(1)], activation="tanh"
    )
    for method in (ECLAIRE(first), ECLAIRE(first, max_rules=None), Pedagogical(first, max_rules=None)):
        model = method.fit(X)
        assert model.fidelity(X) > 0.99
        assert len(model.rules_) <= 3
    with pytest.warns(UserWarning, match="C5.0 reads column 'x0' in single precision"):
        C50Classifier().fit(X, first.labels(X))
