"""CART and random forests as rules."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.tree import DecisionTreeClassifier

from clausewise import CARTClassifier
from clausewise.induction import CARTInducer, PreparedMatrix, RandomForestInducer, induce_many


@pytest.mark.parametrize("parameters", [{}, {"max_leaves": 6}, {"min_leaf": 20, "criterion": "entropy"}])
def test_exactly_one_rule_holds_for_a_row(parameters):
    X, y = load_breast_cancer(return_X_y=True)
    rules = CARTClassifier(**parameters).fit(X, y).rules_
    fires = rules.evaluator.fires(X).dense()
    assert (fires.sum(axis=0) == 1).all()
    assert fires.sum(axis=1).tolist() == [rule.cover for rule in rules]


def test_trees_on_ranks_are_as_good_as_trees_on_values():
    X, y = load_breast_cancer(return_X_y=True)
    ours = CARTClassifier(max_leaves=8).fit(X, y)
    theirs = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, y)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=0.01)


def test_thresholds_are_short_decimals():
    X, y = load_iris(return_X_y=True)
    rules = CARTClassifier(max_leaves=3).fit(X, y).rules_
    bounds = {bound for rule in rules for term in rule.terms for bound in (term.low, term.high)}
    assert all(len(repr(bound)) <= 4 for bound in bounds if np.isfinite(bound))


def test_categories_become_sets_of_values():
    jobs = np.array(["cook", "nurse", "pilot", "teacher"] * 25)
    X = pd.DataFrame({"job": pd.Categorical(jobs), "age": np.arange(100.0)})
    y = np.isin(jobs, ["nurse", "teacher"])
    model = CARTClassifier().fit(X, y)
    assert model.score(X, y) == 1.0
    assert {str(term) for term in model.rules_.concluding(True)[0].terms} == {"job ∈ {nurse, teacher}"}


def test_many_categories_are_refused_with_advice():
    X = pd.DataFrame({"id": [f"v{i}" for i in range(500)]})
    with pytest.raises(
        ValueError, match="'id' has 500 categories; trees that test one category at a time take at most 200"
    ):
        CARTClassifier().fit(X, np.arange(500) % 2)


def test_a_missing_value_fails_every_term():
    X = np.array([[1.0], [2.0], [np.nan], [8.0], [9.0], [8.5]])
    y = np.array([0, 0, 0, 1, 1, 1])
    model = CARTClassifier().fit(X, y)
    assert model.rules_.uncovered(X).tolist() == [False, False, True, False, False, False]
    assert [rule.cover for rule in model.rules_] == [2, 3]


def test_cross_validated_pruning_gives_a_smaller_tree_that_is_no_worse():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    y = (X[:, 0] > 0) ^ (rng.random(600) < 0.15)
    fresh = rng.normal(size=(2000, 5))
    full, pruned = (CARTClassifier(ccp_alpha=alpha).fit(X, y) for alpha in (0.0, "cv"))
    assert len(pruned.rules_) < len(full.rules_) / 5
    assert pruned.score(fresh, fresh[:, 0] > 0) > full.score(fresh, fresh[:, 0] > 0)


def test_many_targets_are_pruned_by_cross_validation_as_each_alone():
    rng = np.random.default_rng(0)
    matrix = PreparedMatrix.prepare(rng.normal(size=(150, 3)))
    targets = (matrix.table.T > 0) ^ (rng.random((3, 150)) < 0.15)
    inducer = CARTInducer(ccp_alpha="cv")
    for weights in (None, [1.0, 5.0, 1.0]):
        together = induce_many(inducer, matrix, targets, positive_weights=weights)
        alone = [
            induce_many(inducer, matrix, targets[i : i + 1], positive_weights=weights and weights[i : i + 1])
            for i in range(3)
        ]
        assert together == [rules for (rules,) in alone]


def test_a_class_with_one_row_is_not_pruned_by_cross_validation():
    X, y = np.arange(6.0).reshape(-1, 1), np.array([0, 0, 0, 0, 0, 1])
    assert CARTClassifier(ccp_alpha="cv").fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("alpha", [-0.1, "best", np.inf])
def test_wrong_pruning_strengths_are_refused(alpha):
    with pytest.raises(ValueError, match="ccp_alpha is"):
        CARTClassifier(ccp_alpha=alpha).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize(
    ("inducer", "parameters", "message"),
    [
        (CARTInducer, {"min_leaf": 0}, "min_leaf is 0"),
        (CARTInducer, {"min_leaf": None}, "min_leaf is None"),
        (CARTInducer, {"ccp_alpha": -1}, "ccp_alpha is -1"),
        (CARTInducer, {"criterion": "gain"}, "criterion is 'gain'; expected 'gini' or 'entropy'"),
        (CARTInducer, {"max_leaves": 1}, "max_leaves is 1"),
        (CARTInducer, {"min_cases": -1}, "min_cases is -1"),
        (RandomForestInducer, {"n_trees": 0}, "n_trees is 0"),
        (RandomForestInducer, {"max_depth": 1.5}, "max_depth is 1.5"),
    ],
)
def test_wrong_parameters_are_named_as_the_user_knows_them(inducer, parameters, message):
    with pytest.raises(ValueError, match=message):
        inducer(**parameters)


def test_a_forest_gives_the_leaves_of_all_its_trees_once():
    X, y = load_iris(return_X_y=True)
    matrix = PreparedMatrix.prepare(X)
    inducer = RandomForestInducer(n_trees=5, max_depth=2)
    rules = inducer.induce(matrix, y.astype(np.int32), ["a", "b", "c"])
    assert 5 < len(rules) <= 5 * 4
    assert len({(rule.terms, rule.conclusion) for rule in rules}) == len(rules)
    assert (rules.predict(X) == np.array(["a", "b", "c"])[y]).mean() > 0.9
    assert rules == inducer.induce(matrix, y.astype(np.int32), ["a", "b", "c"], n_jobs=3)


@pytest.mark.parametrize("columns", [["job", "age"], ["job"]])
def test_a_forest_learns_beside_a_column_without_categories(columns):
    frame = pd.DataFrame({"job": pd.Categorical([None] * 40), "age": np.arange(40.0)})[columns]
    codes = (np.arange(40) < 20).astype(np.int32)
    rules = RandomForestInducer(n_trees=3).induce(PreparedMatrix.prepare(frame), codes, ["old", "young"])
    tested = {rules.features.names[term.feature] for rule in rules for term in rule.terms}
    assert tested == {"age"} & set(columns)


def test_a_class_without_rows_is_never_concluded():
    X, y = load_iris(return_X_y=True)
    matrix = PreparedMatrix.prepare(X[:100])
    for inducer in (CARTInducer(), RandomForestInducer(n_trees=2)):
        rules = inducer.induce(matrix, y[:100].astype(np.int32) * 2, ["a", "none", "c"])
        assert set(rules.predict(X[:100])) == {"a", "c"}


def test_cross_validated_pruning_keeps_a_test_that_separates_the_classes():
    X = np.arange(150.0)[:, None]
    y = (X[:, 0] < 50).astype(int)
    assert len(CARTClassifier(ccp_alpha="cv").fit(X, y).rules_) == 2


@pytest.mark.parametrize("as_category", [False, True])
def test_a_leaf_for_missing_values_is_left_to_the_default(as_category):
    rng = np.random.default_rng(0)
    is_missing = rng.random(300) < 0.6
    numbers = np.where(is_missing, np.nan, rng.normal(size=300))
    categories = pd.Categorical(np.where(is_missing, None, rng.choice(["u", "v"], 300)))
    X = pd.DataFrame({"a": categories if as_category else numbers, "b": rng.normal(size=300)})
    model = CARTClassifier().fit(X, np.where(is_missing, "missing", "known"))
    assert [rule.conclusion for rule in model.rules_] == ["known"]
    assert model.predict(X).tolist() == np.where(is_missing, "missing", "known").tolist()
