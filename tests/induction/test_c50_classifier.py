"""C50Classifier as users meet it: scikit-learn's contract, tables of all kinds, clear errors."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from clausewise import C50Classifier, CARTClassifier
from clausewise.induction import C50Tree

WEIGHTS_ARE_RELATIVE = (
    "C5.0's weights are relative to their mean and its limits count cases, so a weight of 2 is not the "
    "same as two rows"
)
EXPECTED_TO_FAIL = {"check_sample_weight_equivalence_on_dense_data": WEIGHTS_ARE_RELATIVE}


@parametrize_with_checks(
    [
        C50Classifier(),
        C50Classifier(rules=False),
        C50Classifier(winnow=True),
        C50Classifier(trials=4),
        C50Classifier(trials=3, rules=False, fuzzy_threshold=True, early_stopping=False),
        CARTClassifier(),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_TO_FAIL if isinstance(estimator, C50Classifier) else {},
)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def people():
    """Rows with categories, numbers, booleans and missing values, and who says yes."""
    rng = np.random.default_rng(7)
    n = 400
    age = rng.integers(18, 80, n).astype(float)
    job = rng.choice(["nurse", "cook", "teacher", "pilot"], n)
    smokes = rng.random(n) < 0.3
    says_yes = np.where(np.isin(job, ["nurse", "teacher"]), age <= 47, smokes)
    age[rng.random(n) < 0.05] = np.nan
    frame = pd.DataFrame({"age": age, "job": pd.Categorical(job), "smokes": smokes})
    return frame, np.where(says_yes, "yes", "no")


def test_rules_test_categories_and_numbers(people):
    X, y = people
    model = C50Classifier().fit(X, y)
    text = str(model.rules_)
    assert "age ≤ 47" in text
    assert "job ∈ {nurse, teacher}" in text
    assert model.score(X, y) > 0.95


def test_pandas_polars_and_text_columns_give_the_same_model(people):
    X, y = people
    from_pandas = C50Classifier().fit(X, y)
    from_polars = C50Classifier().fit(pl.from_pandas(X.assign(job=X["job"].astype(str))), y)
    assert [rule.terms for rule in from_pandas.rules_] == [rule.terms for rule in from_polars.rules_]
    shuffled = X[["smokes", "job", "age"]]
    np.testing.assert_array_equal(from_pandas.predict(shuffled), from_pandas.predict(X))


def test_a_category_never_seen_fails_rules_and_follows_all_branches_of_a_tree(people):
    X, y = people
    unseen = X.head(3).assign(job=["astronaut"] * 3)
    assert set(C50Classifier().fit(X, y).predict(unseen)) <= {"yes", "no"}
    shares = C50Classifier(rules=False).fit(X, y).predict_proba(unseen)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert ((shares > 0) & (shares < 1)).all()


def test_a_tree_prints_and_exports(people):
    X, y = people
    tree = C50Classifier(rules=False).fit(X, y).tree_
    assert "age ≤ 47: yes" in str(tree)
    assert repr(tree).startswith(f"<C50Tree: {tree.n_leaves} leaves, depth {tree.depth}")
    exported = json.loads(json.dumps(tree.to_dict()))
    assert exported["feature"] == tree.nodes[0].feature
    assert sum(exported["distribution"]) == pytest.approx(len(X))
    assert len(exported["branches"]) == len(tree.nodes[0].children)


def test_a_tree_of_a_single_leaf_prints_its_class():
    assert str(C50Classifier(rules=False).fit([[0.0]] * 3, ["a", "a", "b"]).tree_) == "a (3, 1 wrong)"


@pytest.mark.parametrize("rules", [True, False])
def test_a_very_deep_tree_is_no_danger(rules):
    # Stripes that only a chain of tests can separate.
    n = 60_000
    X = np.arange(n, dtype=float).reshape(-1, 1)
    y = np.cumsum(np.arange(n) % 30 == 0) % 2
    model = C50Classifier(rules=rules, min_cases=1, cf=1.0).fit(X[:20_000], y[:20_000])
    assert model.predict(X).shape == (n,)
    if not rules:
        assert len(model.tree_.to_text().splitlines()) == len(model.tree_.nodes) - 1
        assert model.tree_.to_dict()["feature"] == "x0"


def test_multiway_tests_name_a_value_per_branch(people):
    X, _ = people
    tree = C50Classifier(rules=False, subset=False).fit(X, X["job"]).tree_
    root = tree.nodes[0]
    assert root.test == "multiway"
    assert root.values == (("cook",), ("nurse",), ("pilot",), ("teacher",))
    assert len(root.children) == 4
    assert "job = nurse: nurse" in str(tree)


def test_only_what_was_asked_for_is_there(people):
    X, y = people
    model = C50Classifier().fit(X, y)
    assert hasattr(model, "rules_")
    assert not hasattr(model, "tree_")
    model.set_params(rules=False).fit(X, y)
    assert hasattr(model, "tree_")
    assert not hasattr(model, "rules_")


def test_rules_and_classifier_decide_alike(people):
    X, y = people
    for thresholds in ("exact", "readable"):
        model = C50Classifier(thresholds=thresholds).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), model.rules_.predict(X))


def test_readable_thresholds_have_no_more_digits_than_exact_ones():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    exact = C50Classifier().fit(X, y).rules_
    readable = C50Classifier(thresholds="readable").fit(X, y).rules_
    bounds = [
        (e, r)
        for rule, short in zip(exact, readable, strict=True)
        for term, short_term in zip(rule.terms, short.terms, strict=True)
        for e, r in [(term.low, short_term.low), (term.high, short_term.high)]
        if np.isfinite(e)
    ]
    assert bounds
    assert all(len(repr(r)) <= len(repr(e)) for e, r in bounds)
    assert sum(len(repr(r)) for _, r in bounds) < sum(len(repr(e)) for e, _ in bounds)
    np.testing.assert_array_equal(exact.predict(X), readable.predict(X))


def test_exact_thresholds_are_the_training_values_in_single_precision():
    X = np.array([[0.1], [0.3], [0.7], [0.9]] * 10)
    y = (X[:, 0] > 0.5).astype(int)
    (term,) = C50Classifier().fit(X, y).rules_[0].terms
    # C5.0 stores and prints 0.3 as 0.30000001; comparing doubles must still give the same branch.
    assert term.high == 0.3


def test_importances_are_shares_of_use():
    X, y = load_iris(return_X_y=True, as_frame=True)
    for rules in (True, False):
        model = C50Classifier(rules=rules).fit(X, y)
        assert model.feature_importances_.sum() == pytest.approx(1.0)
        used = {term.name for rule in model.rules_ for term in rule.terms} if rules else set()
        used |= set() if rules else {node.feature for node in model.tree_.nodes if node.test}
        assert {name for name, share in zip(X, model.feature_importances_, strict=True) if share > 0} == used


def test_winnowing_leaves_useless_columns_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    y = (X[:, 3] > 0.2).astype(int)
    model = C50Classifier(winnow=True).fit(X, y)
    assert model.n_winnowed_ >= 10
    assert np.flatnonzero(model.feature_importances_).tolist() == [3]


def test_costs_move_decisions_towards_the_dear_class():
    X, y = load_breast_cancer(return_X_y=True)
    plain, dear = C50Classifier(cf=0.05), C50Classifier(cf=0.05, costs=[[0, 1], [20, 0]])
    assert (dear.fit(X, y).predict(X) == 0).sum() > (plain.fit(X, y).predict(X) == 0).sum()


def test_weights_move_decisions_towards_the_heavy_class():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 2))
    y = (X[:, 0] + rng.normal(size=500) > 0).astype(int)
    light = C50Classifier().fit(X, y).predict(X).mean()
    heavy = C50Classifier().fit(X, y, sample_weight=np.where(y == 1, 5.0, 1.0)).predict(X).mean()
    assert heavy > light


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 3.0, 1e300])
def test_a_common_factor_of_the_weights_changes_nothing(scale):
    X, y = load_breast_cancer(return_X_y=True)
    weights = np.where(y == 1, 4.0, 1.0)
    expected = C50Classifier().fit(X, y, sample_weight=weights)
    scaled = C50Classifier().fit(X, y, sample_weight=weights * 2.0 ** np.round(np.log2(scale)))
    assert scaled.rules_ == expected.rules_


def test_weights_too_far_apart_are_refused():
    with pytest.raises(ValueError, match=r"range from 1e-50 to 1; .* factor of 1e30"):
        C50Classifier().fit([[1.0], [2.0]], [0, 1], sample_weight=[1e-50, 1.0])


@pytest.mark.parametrize("rules", [True, False])
def test_parameters_set_after_fitting_wait_for_the_next_fit(rules):
    X, y = load_breast_cancer(return_X_y=True)
    model = C50Classifier(rules=rules).fit(X, y)
    expected = model.predict_proba(X), model.predict(X)
    model.set_params(rules=not rules, costs=[[0, 1], [50, 0]], class_order=[1, 0])
    np.testing.assert_array_equal(model.predict_proba(X), expected[0])
    np.testing.assert_array_equal(model.predict(X), expected[1])


def test_a_failed_fit_leaves_the_old_model():
    X, y = load_iris(return_X_y=True)
    model = C50Classifier().fit(X, y)
    with pytest.raises(ValueError, match="cf is 7"):
        model.set_params(cf=7).fit(X[:, :2], y)
    assert model.n_features_in_ == 4
    assert model.score(X, y) > 0.9


def test_a_printed_tree_counts_what_its_label_gets_wrong():
    X, y = np.zeros((400, 1)), np.arange(400) < 195
    tree = C50Classifier(rules=False, costs=[[0, 10], [1, 0]]).fit(X, y).tree_
    assert str(tree) == "True (400, 205 wrong)"


def test_a_tree_cannot_be_damaged_and_damage_would_be_noticed():
    X, y = load_iris(return_X_y=True)
    tree = C50Classifier(rules=False).fit(X, y).tree_
    with pytest.raises(ValueError, match="read-only"):
        tree.arrays["child"][:] = 10**8
    for name, value in [("child", 10**8), ("child", 0), ("column", -5), ("child_start", 3)]:
        damaged = {**tree.arrays, name: np.full_like(tree.arrays[name], value)}
        with pytest.raises(ValueError, match="arrays of the tree are inconsistent"):
            C50Tree(tree.features, tree.classes, damaged).class_scores(X)
    with pytest.raises(ValueError, match="arrays of the tree are inconsistent"):
        C50Tree(tree.features, ("a",) * 1000, dict(tree.arrays)).class_scores(X)


def test_a_number_to_be_estimated_is_not_taken_for_classes():
    with pytest.raises(ValueError, match="3,000 classes in 6,000 rows"):
        C50Classifier().fit(np.zeros((6000, 1)), np.arange(6000) // 2)


def test_rows_of_weight_zero_are_left_out():
    X, y = load_iris(return_X_y=True)
    weights = np.ones(len(X))
    weights[:40] = 0
    with_zeros = C50Classifier().fit(X, y, sample_weight=weights).rules_
    assert with_zeros == C50Classifier().fit(X[40:], y[40:]).rules_


def test_min_cases_below_one_is_a_fraction_rounded_up():
    X, y = load_breast_cancer(return_X_y=True)
    as_fraction = C50Classifier(min_cases=0.02).fit(X, y).rules_
    assert as_fraction == C50Classifier(min_cases=12).fit(X, y).rules_  # ceil(0.02 · 569)
    assert as_fraction != C50Classifier(min_cases=2).fit(X, y).rules_


def test_samples_depend_on_the_seed_and_on_nothing_else():
    X, y = load_breast_cancer(return_X_y=True)
    first, again, other = (
        C50Classifier(sample=0.5, random_state=seed).fit(X, y).rules_ for seed in (42, 42, 7)
    )
    assert first == again
    assert first != other


def test_class_order_decides_ties_and_classes_stay_sorted():
    X = np.zeros((4, 1))
    y = np.array(["b", "a", "a", "b"])
    assert C50Classifier().fit(X, y).predict(X[:1]) == ["a"]
    turned = C50Classifier(class_order=["b", "a"]).fit(X, y)
    assert turned.predict(X[:1]) == ["b"]
    assert turned.classes_.tolist() == ["a", "b"]


def test_probabilities_follow_the_sorted_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    turned = C50Classifier(class_order=["virginica", "setosa", "versicolor"]).fit(X, names)
    np.testing.assert_array_equal(turned.classes_[turned.predict_proba(X).argmax(axis=1)], turned.predict(X))


def test_one_class_gives_a_model_that_always_says_it():
    X = np.arange(10.0).reshape(-1, 1)
    model = C50Classifier().fit(X, ["only"] * 10)
    assert len(model.rules_) == 0
    assert model.predict([[3.0]]) == ["only"]
    assert C50Classifier(rules=False).fit(X, ["only"] * 10).predict([[3.0]]) == ["only"]


@pytest.mark.parametrize("rules", [True, False])
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((20, 2)),
        np.full((20, 1), np.nan),
        np.column_stack([np.full(20, np.nan), np.arange(20.0)]),
        np.array([[1e-300], [-1e-300]] * 10),
        np.array([[3.4e38], [-3.4e38]] * 10),
        np.array([["same"]] * 20, dtype=object),
    ],
    ids=["constant", "all missing", "a missing column", "denormals", "huge", "one category"],
)
def test_degenerate_columns_are_learnt_from_as_far_as_they_go(X, rules):
    y = np.arange(20) % 2
    model = C50Classifier(rules=rules).fit(X, y)
    assert model.predict(X).shape == (20,)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_single_row_is_enough():
    assert C50Classifier().fit([[1.0]], ["a"]).predict([[2.0]]) == ["a"]


@pytest.mark.parametrize(
    ("parameters", "X", "y", "message"),
    [
        ({}, [[np.inf]], [1], "infinity in row 0, column 'x0'"),
        ({}, [[1e39], [0.0]], [0, 1], "beyond single precision"),
        ({}, np.empty((0, 3)), [], "0 sample"),
        ({}, np.empty((3, 0)), [1, 2, 3], "0 feature"),
        ({}, [[1.0], [2.0]], [1], "inconsistent numbers of samples"),
        ({}, [[1.0], [2.0]], [0.3, 0.7], "Unknown label type"),
        ({"cf": -0.1}, [[1.0]], [1], "cf is -0.1; expected a number from 0 to 1"),
        ({"cf": 25}, [[1.0]], [1], "cf is 25"),
        ({"class_weight": "fair"}, [[1.0], [2.0]], [0, 1], "class_weight is 'fair'"),
        ({"class_weight": {0: -1, 1: 1}}, [[1.0], [2.0]], [0, 1], "class_weight must hold finite numbers"),
        ({"class_weight": {0: 0, 1: 0}}, [[1.0], [2.0]], [0, 1], "class_weight gives every row the weight 0"),
        ({"early_stopping": 1}, [[1.0], [2.0]], [0, 1], "early_stopping is 1"),
        ({"costs": [[0, 1e39], [1, 0]]}, [[1.0], [2.0]], [0, 1], "costs contains 1e.39"),
        ({"class_order": "ab"}, [[1.0], [2.0]], [0, 1], "class_order is 'ab'"),
        ({"min_cases": 0}, [[1.0]], [1], "min_cases is 0"),
        ({"min_cases": "2"}, [[1.0]], [1], "min_cases is '2'"),
        ({"sample": 1.5}, [[1.0]], [1], "sample is 1.5"),
        ({"sample": 0.001}, [[1.0]], [1], "draws no row"),
        ({"costs": [[0, 1]]}, [[1.0], [2.0]], [0, 1], r"costs has shape \(1, 2\)"),
        ({"costs": [[0, -1], [1, 0]]}, [[1.0], [2.0]], [0, 1], "costs contains -1; expected numbers from 0"),
        ({"trials": 0}, [[1.0], [2.0]], [0, 1], "trials is 0"),
        (
            {"class_order": [0]},
            [[1.0], [2.0]],
            [0, 1],
            "y holds 1, .* not among the classes 0; .* class_order",
        ),
        ({"class_order": [0, 0, 1]}, [[1.0], [2.0]], [0, 1], "twice"),
        ({"class_order": []}, [[1.0], [2.0]], [0, 1], r"class_order has shape \(0,\)"),
        ({"class_order": [[0, 1]]}, [[1.0], [2.0]], [0, 1], r"class_order has shape \(1, 2\)"),
        ({"thresholds": "pretty"}, [[1.0], [2.0]], [0, 1], "thresholds is 'pretty'"),
        ({"n_jobs": 0}, [[1.0], [2.0]], [0, 1], "n_jobs is 0"),
    ],
)
def test_bad_input_gets_an_error_that_says_what_is_wrong(parameters, X, y, message):
    with pytest.raises(ValueError, match=message):
        C50Classifier(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([-1.0, 1.0], "negative"),
        ([0.0, 0.0], "zero for all rows"),
        ([np.nan, 1.0], "missing"),
        ([np.inf, 1.0], "infinite"),
        ([1.0], r"shape \(1,\)"),
    ],
)
def test_bad_weights_get_an_error_that_says_what_is_wrong(weights, message):
    with pytest.raises(ValueError, match=message):
        C50Classifier().fit([[1.0], [2.0]], [0, 1], sample_weight=weights)


def test_a_million_categories_are_refused_with_advice():
    n = 2**20
    X = pd.DataFrame({"id": pd.Categorical.from_codes(np.arange(n), [f"v{i}" for i in range(n)])})
    y = np.arange(n) % 2
    with pytest.raises(ValueError, match=r"'id' has 1,048,576 categories; at most 1,000 .* subset=False"):
        C50Classifier().fit(X, y)
    with pytest.raises(ValueError, match="at most 50,000 can be tested"):
        C50Classifier(subset=False).fit(X, y)


def test_hundreds_of_categories_are_gathered_into_subsets():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 300, 3000)
    X = pd.DataFrame({"shop": pd.Categorical.from_codes(codes, [f"s{i}" for i in range(300)])})
    y = codes % 3 == 0
    assert C50Classifier().fit(X, y).score(X, y) == 1.0


def test_a_fitted_model_survives_copying_and_pickling(people):
    X, y = people
    for rules in (True, False):
        model = C50Classifier(rules=rules).fit(X, y)
        expected = model.predict_proba(X)
        for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(twin.predict_proba(X), expected)


def test_it_works_inside_pipelines_and_searches():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(C50Classifier(), {"min_cases": [2, 10], "cf": [0.1, 0.25]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert cross_val_score(make_pipeline(StandardScaler(), C50Classifier()), X, y, cv=3).mean() > 0.9


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("classifier", [C50Classifier(), CARTClassifier()], ids=["c50", "cart"])
def test_rules_name_the_columns_that_set_output_asks_for(classifier, library):
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler(), classifier).set_output(transform=library).fit(X, y)
    assert pipeline[-1].rules_.features.names == tuple(X.columns)
    assert pipeline.score(X, y) > 0.9


def test_float32_tables_give_the_same_rules_as_the_same_values_in_double():
    X, y = load_breast_cancer(return_X_y=True)
    single = X.astype(np.float32)
    rules = C50Classifier().fit(single, y).rules_
    assert rules == C50Classifier().fit(single.astype(np.float64), y).rules_


def test_memory_layout_changes_nothing():
    X, y = load_breast_cancer(return_X_y=True)
    expected = C50Classifier().fit(np.ascontiguousarray(X), y).rules_
    wide = np.repeat(X, 2, axis=1)[:, ::2]
    for layout in (np.asfortranarray(X), wide, X[::-1][::-1]):
        assert C50Classifier().fit(layout, y).rules_ == expected


def test_confidences_are_those_of_laplace_to_the_last_bit():
    X, y = load_iris(return_X_y=True)
    rules = C50Classifier().fit(X, y).rules_
    assert [rule.confidence for rule in rules] == [(rule.correct + 1) / (rule.cover + 2) for rule in rules]
