"""Trees read from models send rows where the libraries send them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import clausewise
from clausewise.networks.ensembles import has_trees, tree_groups
from clausewise.networks.tree_models import ModelColumns, last_left
from tests.networks import boosters
from tests.networks.boosters import NUMBERS, PEOPLE, THREE, TWO

pytest.importorskip("xgboost", reason="xgboost is not installed")
pytest.importorskip("lightgbm", reason="lightgbm is not installed")
pytest.importorskip("catboost", reason="catboost is not installed")

DRAW = np.random.default_rng(1)
N_ROWS = 2000
JOBS = PEOPLE.job.cat.categories
# The rows that the models are fitted to, and random rows with missing values.
ROWS = pd.concat(
    [
        PEOPLE.astype({"job": object}),
        pd.DataFrame(
            {
                "age": DRAW.normal(50, 20, N_ROWS).round(1),
                "job": DRAW.choice(JOBS, N_ROWS),
                "pay": np.where(DRAW.random(N_ROWS) < 0.2, np.nan, DRAW.lognormal(3, 1.5, N_ROWS)),
            }
        ),
    ]
).reset_index(drop=True)
ROWS["job"] = pd.Categorical(ROWS.job, categories=JOBS)
ROWS_OF_NUMBERS = ROWS[["age", "pay"]].to_numpy()
FILLED, FILLED_ROWS = np.nan_to_num(NUMBERS), np.nan_to_num(ROWS_OF_NUMBERS)


@pytest.fixture(autouse=True)
def one_thread():
    """Keep OpenMP's threads from waiting for each other where other tests run."""
    with threadpool_limits(1):
        yield


def trees_of(model, rows):
    groups = tree_groups(clausewise.wrap(model), rows, [f"x{place}" for place in range(rows.shape[1])])
    return [tree for group in groups for tree in group.trees]


def assert_same_leaves(model, rows, leaves):
    """Our leaves and the library's are numbered differently, but hold the same rows."""
    columns = ModelColumns(rows)
    trees = trees_of(model, rows)
    leaves = np.asarray(leaves).reshape(len(rows), -1)
    assert len(trees) == leaves.shape[1]
    for tree, expected in zip(trees, leaves.T, strict=True):
        found = tree.leaves(columns)
        pairs = set(zip(found.tolist(), expected.tolist(), strict=True))
        assert len(pairs) == len(set(found.tolist())) == len(set(expected.tolist()))


@pytest.mark.parametrize("codes", [TWO, THREE], ids=["two", "three"])
def test_leaves_of_xgboost(codes):
    model = boosters.xgboost_classifier(codes)
    assert_same_leaves(model, ROWS, model.apply(ROWS))
    assert any(tree.categories for tree in trees_of(model, ROWS))
    model = boosters.xgboost_classifier(codes, NUMBERS)
    assert_same_leaves(model, ROWS_OF_NUMBERS, model.apply(ROWS_OF_NUMBERS))
    assert_same_leaves(model.get_booster(), ROWS_OF_NUMBERS, model.apply(ROWS_OF_NUMBERS))


def test_numeric_categories_of_xgboost():
    table = PEOPLE.assign(job=pd.Categorical(PEOPLE.job.cat.codes * 10 + 3))
    model = boosters.xgboost_classifier(TWO, table)
    assert_same_leaves(model, table, model.apply(table))


def test_a_linear_booster_has_no_trees():
    model = boosters.xgboost_classifier(TWO, FILLED, booster="gblinear", max_depth=None)
    assert not has_trees(clausewise.wrap(model))
    dart = boosters.xgboost_classifier(TWO, NUMBERS, booster="dart")
    assert_same_leaves(dart, ROWS_OF_NUMBERS, dart.apply(ROWS_OF_NUMBERS))


@pytest.mark.parametrize("codes", [TWO, THREE], ids=["two", "three"])
def test_leaves_of_lightgbm(codes):
    model = boosters.lightgbm_classifier(codes)
    assert_same_leaves(model, ROWS, model.predict(ROWS, pred_leaf=True))
    assert any(tree.categories for tree in trees_of(model, ROWS))
    objective = "binary" if codes is TWO else "multiclass"
    booster = boosters.lightgbm_booster(codes, objective, FILLED)
    # Without missing values in training, LightGBM reads them as 0.
    assert_same_leaves(booster, ROWS_OF_NUMBERS, booster.predict(ROWS_OF_NUMBERS, pred_leaf=True))


def test_tests_for_zero_or_missing_are_unknown():
    import lightgbm

    options = {"zero_as_missing": True, "min_data_per_group": 5}
    model = lightgbm.LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1, **options).fit(PEOPLE, TWO)
    assert any((tree.column == -1).any() for tree in trees_of(model, ROWS))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"one_hot_max_size": 10},
        {"loss_function": "MultiClass"},
        {"nan_mode": "Max"},
    ],
    ids=["statistics", "one-hot", "three classes", "missing last"],
)
def test_leaves_of_symmetric_trees_of_catboost(options):
    model = boosters.catboost_model(THREE if "loss_function" in options else TWO, **options)
    assert_same_leaves(model, ROWS, model.calc_leaf_indexes(ROWS))


@pytest.mark.parametrize("policy", ["Depthwise", "Lossguide"])
def test_leaves_of_other_trees_of_catboost(policy):
    model = boosters.catboost_model(TWO, X=NUMBERS, grow_policy=policy)
    assert_same_leaves(model, ROWS_OF_NUMBERS, model.calc_leaf_indexes(ROWS_OF_NUMBERS))
    with_text = boosters.catboost_model(TWO, grow_policy=policy, one_hot_max_size=10)
    assert any((tree.column == -1).any() for tree in trees_of(with_text, ROWS))


@pytest.mark.parametrize("codes", [TWO, THREE], ids=["two", "three"])
def test_leaves_of_scikit_learn(codes):
    for model in (
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(3, random_state=0),
        ExtraTreesClassifier(3, random_state=0),
    ):
        model.fit(NUMBERS, codes)
        assert_same_leaves(model, ROWS_OF_NUMBERS, model.apply(ROWS_OF_NUMBERS))
    boosted = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(FILLED, codes)
    assert_same_leaves(boosted, FILLED_ROWS, boosted.apply(FILLED_ROWS))


def test_leaves_of_bagged_trees_of_some_columns():
    model = BaggingClassifier(n_estimators=4, max_features=1, random_state=0).fit(FILLED, TWO)
    leaves = [
        tree.apply(FILLED_ROWS[:, columns])
        for tree, columns in zip(model.estimators_, model.estimators_features_, strict=True)
    ]
    assert_same_leaves(model, FILLED_ROWS, np.column_stack(leaves))


@pytest.mark.parametrize("kind", ["categories", "numbers"])
def test_leaves_of_histogram_gradient_boosting(kind):
    table, rows = (PEOPLE, ROWS) if kind == "categories" else (NUMBERS, ROWS_OF_NUMBERS)
    model = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5, random_state=0)
    model.fit(table, TWO)
    columns, trees = ModelColumns(rows), trees_of(model, rows)
    predicted = np.full(len(rows), float(model._baseline_prediction.item()))
    for tree, (predictor,) in zip(trees, model._predictors, strict=True):
        predicted += predictor.nodes["value"][tree.leaves(columns)]
    np.testing.assert_allclose(predicted, model.decision_function(rows))
    assert any(tree.categories for tree in trees) == (kind == "categories")


@pytest.mark.parametrize(
    ("model", "n_trees"),
    [
        (AdaBoostClassifier(n_estimators=3), 3),
        (CalibratedClassifierCV(RandomForestClassifier(2), cv=2), 4),
        (VotingClassifier([("a", RandomForestClassifier(2)), ("b", GaussianNB())]), 2),
        (StackingClassifier([("a", RandomForestClassifier(2)), ("b", GaussianNB())], cv=2), 2),
        (GridSearchCV(RandomForestClassifier(2), {"max_depth": [2]}, cv=2), 2),
        (make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), RandomForestClassifier(2))), 2),
        (VotingClassifier([("a", make_pipeline(StandardScaler(), RandomForestClassifier(2)))]), 2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_trees_are_found_inside_models_of_models(model, n_trees):
    model.fit(FILLED, TWO)
    trees = trees_of(model, FILLED)
    assert [tree.name for tree in trees] == [f"tree {number}" for number in range(1, len(trees) + 1)]
    assert len(trees) == n_trees


@pytest.mark.parametrize(
    "model", [GaussianNB(), LogisticRegression(), BaggingClassifier(GaussianNB(), 2), MLPClassifier((2,))]
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_other_models_have_no_trees(model):
    assert not has_trees(clausewise.wrap(model.fit(FILLED / 100, TWO)))


@pytest.mark.parametrize("is_strict", [False, True])
def test_the_last_double_on_the_left_is_found(is_strict):
    cuts = np.concatenate([DRAW.normal(size=200), np.float32(DRAW.normal(size=200)), [0.0, 1e-40, -3.4e38]])
    last = last_left(cuts, is_single=True, is_strict=is_strict)
    following = np.nextafter(last, np.inf)
    goes_left = np.less if is_strict else np.less_equal
    with np.errstate(over="ignore"):
        assert goes_left(last.astype(np.float32), cuts).all()
        assert not goes_left(following.astype(np.float32), cuts).any()
