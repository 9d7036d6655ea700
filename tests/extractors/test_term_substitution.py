"""REM-D and DeepRED* against a literal cartesian product, their bounds, and the boxes they are made of."""

import contextlib
import pickle
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from benchmarks._recorded import recorded
from sklearn.compose import ColumnTransformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import clausewise
from clausewise import (
    REMD,
    DeepRED,
    ExtractionLimitExceeded,
    ExtractionWarning,
    Features,
    Rule,
    RuleSet,
    Term,
    extract,
)
from clausewise.extractors.boxes import Space, boxes_of, everything, intersections, joined, minimal, rules_of
from clausewise.induction import C50Inducer, CARTInducer
from clausewise.networks import ArrayNetwork
from tests.extractors.networks import random_network, random_rows
from tests.reference import termwise as literal
from tests.shared import needs_bench

METHODS = [(REMD, literal.rem_d), (DeepRED, literal.deepred)]


def random_case(seed, n_layers=None):
    rng = np.random.default_rng(seed)
    n_columns, n_classes = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    X = random_rows(rng, int(rng.integers(60, 160)), n_columns)
    while True:
        network = random_network(rng, n_columns, n_classes, n_layers=n_layers)
        if np.sort(np.bincount(network.codes(X), minlength=n_classes))[-2] >= 5:
            return rng, network, X


def fires(premises, table, features):
    """Rows on which one of the premises holds."""
    rules = RuleSet.from_rules([Rule(terms, "yes") for terms in premises], features, default="no")
    return rules.fires(table).dense().any(axis=0)


# --- The product ---


@pytest.mark.filterwarnings("ignore::clausewise.ExtractionWarning")
@pytest.mark.parametrize(("method", "reference"), METHODS)
@pytest.mark.parametrize("seed", range(12))
def test_rules_fire_where_those_of_the_literal_product_do(seed, method, reference):
    rng, network, X = random_case(seed, n_layers=1 + seed % 3)
    inducer = C50Inducer(min_cases=int(rng.integers(4, 25)), winnow=bool(rng.integers(2)))
    features = network.features(X)
    expected = reference(network, X, features, inducer)
    model = method(network, inducer=inducer, max_rules=None).fit(X)
    if not any(expected.values()):
        assert len(model.rules_) == 1  # nothing is left of the product
        return
    rows = np.vstack([X, random_rows(rng, 500, X.shape[1])])
    for label, premises in expected.items():
        own = [rule.terms for rule in model.rules_ if rule.conclusion == label]
        np.testing.assert_array_equal(fires(own, rows, features), fires(premises, rows, features))
        assert len(own) <= len(premises)


@pytest.mark.filterwarnings("ignore::clausewise.ExtractionWarning")
@pytest.mark.parametrize(("method", "reference"), METHODS)
def test_cart_can_be_the_inducer(method, reference):
    _, network, X = random_case(3, n_layers=2)
    inducer = CARTInducer(min_cases=30)
    features = network.features(X)
    expected = reference(network, X, features, inducer)
    model = method(network, inducer=inducer, max_rules=None).fit(X)
    for label, premises in expected.items():
        own = [rule.terms for rule in model.rules_ if rule.conclusion == label]
        np.testing.assert_array_equal(fires(own, X, features), fires(premises, X, features))


def test_no_rule_is_included_in_another_of_its_class():
    _, network, X = random_case(11, n_layers=2)
    rules = list(REMD(network, min_cases=5, max_rules=None).fit(X).rules_)
    for rule in rules:
        others = [other for other in rules if other is not rule and other.conclusion == rule.conclusion]
        assert not any(other.subsumes(rule) for other in others)


def test_categories_are_multiplied_as_sets():
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"age": rng.integers(18, 80, 300) * 1.0, "job": rng.choice(list("abcde"), 300)})
    y = np.where(np.isin(X["job"], ["a", "b"]), X["age"] <= 50, X["age"] > 60)
    encoder = ColumnTransformer([("job", OneHotEncoder(), ["job"])], remainder=StandardScaler())
    network = clausewise.wrap(
        make_pipeline(encoder, MLPClassifier((8, 4), solver="lbfgs", random_state=0)).fit(X, y)
    )
    inducer = C50Inducer(min_cases=10)
    model = REMD(network, inducer=inducer, max_rules=None).fit(X)
    assert any(term.values is not None for rule in model.rules_ for term in rule.terms)
    expected = literal.rem_d(network, X, network.features(X), inducer)
    for label, premises in expected.items():
        own = [rule.terms for rule in model.rules_ if rule.conclusion == label]
        features = network.features(X)
        np.testing.assert_array_equal(fires(own, X, features), fires(premises, X, features))


def test_a_rule_knows_the_clause_over_the_last_layer():
    _, network, X = random_case(11, n_layers=2)
    for rule in REMD(network, min_cases=10, max_rules=None).fit(X).rules_:
        assert rule.origin.layer == "hidden 2"
        assert "hidden 2[" in rule.origin.clause


# --- Options ---


def test_negations_may_be_learnt_together():
    _, network, X = random_case(11, n_layers=2)
    apart, together = (
        REMD(network, min_cases=10, merge_negations=m, max_rules=None).fit(X) for m in (False, True)
    )
    assert together.fidelity(X) == pytest.approx(apart.fidelity(X), abs=0.1)


def test_min_cases_may_change_from_layer_to_layer():
    _, network, X = random_case(11, n_layers=2)
    estimator = REMD(network, min_cases=40, final_min_cases=10, max_rules=None)
    assert [inducer.min_cases for inducer in estimator._inducers(3, len(X))] == [40, 25, 10]
    assert estimator.fit(X).rules_ != REMD(network, min_cases=40, max_rules=None).fit(X).rules_


@pytest.mark.filterwarnings("ignore::clausewise.ExtractionWarning")
def test_lower_ranked_rules_may_be_dropped_on_the_way():
    _, network, X = random_case(11, n_layers=2)
    model = REMD(network, min_cases=5, max_intermediate_rules=1, max_rules=None).fit(X)
    assert max(max(layer.rules_per_clause) for layer in model.report_.layers) == 1
    assert sum(layer.n_dropped for layer in model.report_.layers) > 0


@pytest.mark.parametrize("method", ["rem-d", "deepred"])
def test_extract_knows_the_method(method):
    _, network, X = random_case(11, n_layers=2)
    estimator = {"rem-d": REMD, "deepred": DeepRED}[method]
    assert extract(network, X, method=method, min_cases=10) == estimator(network, min_cases=10).fit(X).rules_


@pytest.mark.filterwarnings("ignore::clausewise.ExtractionWarning")
@pytest.mark.parametrize("method", [REMD, DeepRED])
def test_threads_do_not_change_the_rules(method):
    _, network, X = random_case(12, n_layers=3)
    options = {"min_cases": 8, "max_rules": None}
    assert (
        method(network, n_jobs=1, **options).fit(X).rules_
        == method(network, n_jobs=4, **options).fit(X).rules_
    )


# --- Bounds ---


@pytest.fixture(scope="module")
def explosive():
    """A network whose product is large."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 8))
    return random_network(rng, 8, 2, n_layers=3, activation="tanh"), X


@pytest.mark.parametrize("method", [REMD, DeepRED])
@pytest.mark.parametrize(
    ("bound", "reason"),
    [
        ({"max_product_rules": 20}, "max_product_rules=20"),
        ({"max_memory": 4_000}, "max_memory"),
        ({"max_seconds": 1e-6}, "max_seconds"),
    ],
)
def test_an_exceeded_limit_reports_what_was_built(explosive, method, bound, reason):
    network, X = explosive
    with pytest.raises(ExtractionLimitExceeded, match=reason) as caught:
        method(network, min_cases=5, **bound).fit(X)
    assert len(caught.value.rules) > 0
    assert caught.value.layer in ("inputs", "hidden 1", "hidden 2", "hidden 3")
    assert caught.value.next_size > 0
    # Before the rules predict classes, they predict where a term holds.
    assert caught.value.rules.classes.tolist() in ([0, 1], [True, False])
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.rules) == (str(caught.value), caught.value.rules)


@pytest.mark.parametrize("method", [REMD, DeepRED])
@pytest.mark.parametrize("on_limit", ["raise", "truncate"])
def test_an_extraction_ends_soon_after_its_time_limit(method, on_limit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_500, 30))
    weights = [rng.normal(size=shape) for shape in ((30, 40), (40, 40), (40, 4))]
    network = ArrayNetwork(weights, [rng.normal(size=len(w.T)) for w in weights], activation="tanh")
    started = time.monotonic()
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        with contextlib.suppress(ExtractionLimitExceeded):
            limits = {"max_seconds": 1, "max_product_rules": None, "on_limit": on_limit}
            method(network, min_cases=30, max_rules=None, **limits).fit(X)
    # The bound is one second; without it this takes minutes. A shared machine may hold the process up.
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("method", [REMD, DeepRED])
@pytest.mark.parametrize("bound", [{"max_product_rules": 20}, {"max_memory": 4_000}, {"max_seconds": 1e-6}])
def test_an_exceeded_limit_may_keep_the_best_ranked_rules(explosive, method, bound):
    network, X = explosive
    with pytest.warns(ExtractionWarning, match="rules of lower rank were left out"):
        model = method(network, min_cases=5, max_rules=None, on_limit="truncate", **bound).fit(X)
    assert len(model.rules_) > 0
    n_rules = np.bincount(model.rules_.columns.class_index).max()
    assert "max_product_rules" not in bound or n_rules <= 20
    assert "max_seconds" not in bound or n_rules <= 4  # when time is up, terms keep two premises
    assert model.fidelity(X) > 0.5


@pytest.mark.filterwarnings("ignore::clausewise.ExtractionWarning")
@pytest.mark.parametrize("method", [REMD, DeepRED])
def test_limits_that_are_not_exceeded_change_nothing(method):
    _, network, X = random_case(0)
    options = {"min_cases": 2, "max_rules": None}  # all rules, as they are before a short set is searched
    as_it_is = method(network, **options).fit(X).rules_
    limits = {"max_product_rules": 10_000, "max_seconds": 600, "max_memory": 2**30}
    for on_limit in ("raise", "truncate"):
        assert method(network, on_limit=on_limit, **options, **limits).fit(X).rules_ == as_it_is


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_product_rules": 0}, "max_product_rules is 0"),
        ({"max_seconds": -1}, "max_seconds is -1"),
        ({"max_memory": "1 GB"}, "max_memory is '1 GB'"),
        ({"on_limit": "ignore"}, "on_limit is 'ignore'"),
        ({"min_cases": 0}, "min_cases is 0"),
        ({"final_min_cases": -3}, "min_cases is -3"),
        ({"final_min_cases": 3, "inducer": C50Inducer()}, "only applies to inducers given by name"),
    ],
)
def test_a_bad_parameter_is_named(explosive, options, message):
    network, X = explosive
    with pytest.raises(ValueError, match=message):
        REMD(network, **options).fit(X)


# --- Recorded networks ---


@needs_bench
@pytest.mark.parametrize("method", [REMD, DeepRED])
def test_rules_of_xor_networks_are_as_faithful_as_those_of_the_reference(method):
    fidelities, n_rules = [], []
    for fold in range(3):
        network, arrays = recorded(f"xor_fold{fold}")
        rules = method(network, min_cases=33, max_rules=None).fit(arrays["X_train"]).rules_
        fidelities.append(
            np.mean(rules.predict(arrays["X_test"], voting="share") == arrays["dnn_test_labels"])
        )
        n_rules.append(len(rules))
    assert np.mean(fidelities) >= 0.895
    assert all(own < reference for own, reference in zip(n_rules, (259, 765, 4481), strict=True))


# --- Boxes ---


def random_premises(rng, n_rules, features):
    """Rules over two numbers and a category."""
    rules = []
    for _ in range(n_rules):
        terms = []
        for feature in (0, 1):
            low, high = np.sort(rng.integers(0, 6, 2)).tolist()
            if rng.random() < 0.6:
                terms.append(
                    Term(feature, low=float(low)) if rng.random() < 0.5 else Term(feature, high=float(high))
                )
        if rng.random() < 0.5:
            values = rng.choice(list("abcd"), int(rng.integers(1, 4)), replace=False).tolist()
            terms.append(Term(2, values=values))
        rules.append(Rule(tuple(terms), "yes"))
    return RuleSet.from_rules(rules, features, default="no", classes=["yes", "no"])


@pytest.mark.parametrize("seed", range(20))
def test_boxes_behave_as_rules(seed):
    rng = np.random.default_rng(seed)
    features = Features(["x", "y", "z"], ["numeric", "numeric", "categorical"], [None, None, tuple("abcd")])
    left, right = random_premises(rng, 12, features), random_premises(rng, 9, features)
    space = Space.tested_by(left + right)
    found = joined(list(intersections(boxes_of(left, space), boxes_of(right, space))), space)
    expected = [Rule(a.intersection(b), "yes") for a in left for b in right]
    expected = [rule for rule in expected if rule.is_satisfiable]
    back = rules_of(found, left, np.zeros(len(found), dtype=np.int32))
    assert [rule.terms for rule in back] == [rule.terms for rule in expected]

    kept = [
        rule.terms for rule in rules_of(minimal(found), left, np.zeros(len(minimal(found)), dtype=np.int32))
    ]
    needed = {
        rule.terms
        for rule in expected
        if not any(other.subsumes(rule) and not rule.subsumes(other) for other in expected)
    }
    assert len(kept) == len(set(kept))
    assert set(kept) == needed


def test_without_terms_there_is_one_box():
    rules = RuleSet.from_rules([Rule((), "yes"), Rule((), "yes")], ["x"], default="no")
    space = Space.tested_by(rules)
    assert len(minimal(boxes_of(rules, space))) == 1
    assert len(joined(list(intersections(everything(space), boxes_of(rules, space))), space)) == 2
