"""Rules from the trees of a given model, and the choice of a method by the kind of the model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import clausewise
from clausewise import ECLAIRE, Pedagogical, TreeEnsembleRules, extract
from clausewise.extractors.extraction_data import ExtractionData, RowChoice
from clausewise.extractors.methods import chosen_method
from clausewise.extractors.tree_paths import TreePaths
from tests.networks import boosters
from tests.networks.boosters import NUMBERS, PEOPLE, THREE, TWO

CANCER = load_breast_cancer(as_frame=True)
X, Y = CANCER.data.iloc[:300, :5], CANCER.target_names[CANCER.target][:300]


@pytest.fixture(autouse=True)
def one_thread():
    """Keep OpenMP's threads from waiting for each other where other tests run."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(20, max_depth=5, random_state=0).fit(X, Y)


def test_rules_imitate_the_given_forest_and_name_its_trees(forest):
    model = TreeEnsembleRules(forest).fit(X)
    assert model.fidelity(X) > 0.95
    assert model.report_.method == "REM-T on the model's own 20 trees"
    assert "20 trees" in str(model.report_)
    layers = {rule.origin.layer for rule in model.rules_}
    assert layers <= {f"tree {number}" for number in range(1, 21)} | {"residual"}
    assert any(layer.startswith("tree") for layer in layers)
    named = next(rule for rule in model.rules_ if rule.origin.layer.startswith("tree"))
    assert any(name in named.origin.clause for name in X.columns)


def test_true_classes_play_no_part_if_trees_are_given(forest):
    noise = np.random.default_rng(0).permutation(Y)
    first, second = (TreeEnsembleRules(forest, max_rules=4).fit(X, y).rules_ for y in (noise, None))
    assert first == second


def test_a_model_without_trees_is_only_compared_with():
    model = TreeEnsembleRules(LogisticRegression(max_iter=5000).fit(X / 100, Y), max_rules=4).fit(X / 100, Y)
    assert model.report_.method == "REM-T"
    assert 0.8 < model.fidelity(X / 100) < 1


@pytest.mark.parametrize("codes", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("is_table", [True, False])
def test_all_paths_of_one_tree_decide_as_it_does(codes, is_table):
    rows = pd.DataFrame(NUMBERS, columns=["age", "pay"]) if is_table else NUMBERS
    tree = DecisionTreeClassifier(random_state=0, max_leaf_nodes=12).fit(rows, codes)
    model = TreeEnsembleRules(tree, max_rules=None).fit(rows)
    assert model.fidelity(rows) == 1
    # A leaf that both known and missing values reach needs a rule for each.
    assert 12 <= len(model.rules_) <= 24
    assert all(rule.origin.layer == "tree 1" for rule in model.rules_)


def test_the_best_paths_say_most_about_the_decisions():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 20, (400, 2)).astype(float)
    # One side of the first split says much of many rows, the small leaves below it all of a few.
    decided = (rows[:, 0] > 9.5) & ~((rows[:, 0] > 17.5) & (rows[:, 1] > 15.5)) | (rows[:, 1] > 18.5)
    tree = DecisionTreeClassifier(random_state=0).fit(rows, decided)
    network = clausewise.wrap(tree)
    data = ExtractionData.of_network(network, rows, RowChoice(None, None, np.random.RandomState(0)), 1)
    paths = TreePaths(data).best(1000, max_terms=9)
    informative = [mutual_info_score(paths.fires(rows)[place], decided) for place in range(len(paths))]
    assert len(paths) > 5
    assert informative == sorted(informative, reverse=True)
    assert TreePaths(data).best(2, max_terms=9) == paths[:2]


def test_all_paths_of_a_forest_are_faithful_and_limited(forest):
    model = TreeEnsembleRules(forest, max_rules=None).fit(X)
    assert len(model.rules_) > 100
    assert model.fidelity(X) > 0.97
    with pytest.raises(ValueError, match=r"leaves, more than max_paths=10. Pass max_rules='auto'"):
        TreeEnsembleRules(forest, max_rules=None, max_paths=10).fit(X)
    assert len(TreeEnsembleRules(forest, max_rules=4, max_paths=10).fit(X).rules_) <= 4


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_categories_and_missing_values_are_tested_as_the_trees_test_them(library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    make = getattr(boosters, f"{library}_{'model' if library == 'catboost' else 'classifier'}")
    model = make(TWO)
    rules = extract(model, PEOPLE, max_rules=8)
    terms = [term for rule in rules for term in rule.terms]
    assert any(term.values is not None for term in terms)
    assert any(term.missing for term in terms)
    assert rules.evaluate(PEOPLE, network=model).fidelity > 0.97
    assert any(rule.origin.layer.startswith("tree") for rule in rules)


def test_thresholds_of_scaled_and_encoded_columns_are_those_of_raw_ones():
    encode = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "pay"]),
        (OneHotEncoder(sparse_output=False), ["job"]),
    )
    model = make_pipeline(encode, RandomForestClassifier(10, max_depth=4, random_state=0)).fit(PEOPLE, TWO)
    fitted = TreeEnsembleRules(model, max_rules=None).fit(PEOPLE)
    columns = fitted.rules_.columns
    age = columns.feature == 0
    bounds = np.concatenate([columns.low[age], columns.high[age]])
    assert set(np.abs(bounds[np.isfinite(bounds)]) > 17) == {True}
    assert {term.feature for rule in fitted.rules_ for term in rule.terms if term.values} == {1}
    assert fitted.fidelity(PEOPLE) > 0.9


def test_each_model_of_a_vote_has_its_own_preprocessing():
    scaled = make_pipeline(StandardScaler(), RandomForestClassifier(5, max_depth=4, random_state=0))
    raw = RandomForestClassifier(5, max_depth=4, random_state=1)
    model = VotingClassifier([("scaled", scaled), ("raw", raw)]).fit(X, Y)
    fitted = TreeEnsembleRules(model, max_rules=None).fit(X)
    assert {rule.origin.layer for rule in fitted.rules_} == {f"tree {number}" for number in range(1, 11)}
    columns = fitted.rules_.columns
    bounds = np.concatenate([columns.low, columns.high])[np.tile(columns.feature, 2) == 0]
    least, most = X["mean radius"].min(), X["mean radius"].max()
    assert ((bounds >= least) & (bounds <= most) | np.isinf(bounds)).all()
    assert fitted.fidelity(X) > 0.95


def test_splits_of_several_columns_at_once_are_skipped():
    model = make_pipeline(PolynomialFeatures(2), RandomForestClassifier(5, max_depth=3, random_state=0))
    rows = load_iris(as_frame=True).data
    model.fit(rows, load_iris().target)
    fitted = TreeEnsembleRules(model, max_rules=6).fit(rows)
    assert fitted.fidelity(rows) > 0.93


def test_ordinal_codes_become_sets_of_categories():
    encode = make_column_transformer((OrdinalEncoder(), ["job"]), remainder="passthrough")
    boosted = HistGradientBoostingClassifier(max_iter=5, random_state=0)
    model = make_pipeline(encode, boosted).fit(PEOPLE, TWO)
    rules = TreeEnsembleRules(model, max_rules=None).fit(PEOPLE).rules_
    accepted = [term.values for rule in rules for term in rule.terms if term.feature == 1]
    assert accepted
    assert all(values <= set(PEOPLE.job) for values in accepted)


def test_the_same_rules_for_any_number_of_threads(forest):
    one, two = (TreeEnsembleRules(forest, n_jobs=n, max_rules=8).fit(X).rules_ for n in (1, 2))
    assert one == two


def test_weights_and_a_subsample_are_used(forest):
    weights = (X["mean radius"] > 12).astype(float)
    model = TreeEnsembleRules(forest, max_rows=200, max_rules=4).fit(X, sample_weight=weights)
    assert model.report_.n_rows == 200
    assert model.fidelity(X[weights > 0]) > 0.9


def test_an_unfitted_forest_is_trained_first():
    model = TreeEnsembleRules(RandomForestClassifier(5), max_rules=4).fit(X, Y)
    assert model.report_.method == "REM-T on the model's own 5 trees"
    assert model.fidelity(X) > 0.9


# --- The choice of a method ---


def network():
    model = make_pipeline(StandardScaler(), MLPClassifier((4,), max_iter=300, random_state=0))
    return model.fit(X, Y)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (network, "eclaire"),
        (lambda: RandomForestClassifier(3, random_state=0).fit(X, Y), "rem-t"),
        (
            lambda: GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2]}, cv=2).fit(X, Y),
            "rem-t",
        ),
        (
            lambda: VotingClassifier([("a", DecisionTreeClassifier(max_depth=3, random_state=0))]).fit(X, Y),
            "rem-t",
        ),
        (lambda: make_pipeline(StandardScaler(), SVC()).fit(X, Y), "pedagogical"),
        (lambda: lambda rows: np.where(rows["mean radius"] > 15, "big", "small"), "pedagogical"),
    ],
    ids=["network", "forest", "search", "voting", "kernel", "function"],
)
def test_the_method_follows_the_kind_of_the_model(make, expected):
    model = make()
    assert chosen_method(clausewise.wrap(model), X) == expected
    assert extract(model, X, max_rules=4) == extract(model, X, method=expected, max_rules=4)


def test_labels_are_learnt_from_without_a_model():
    assert extract(Y, X, max_rules=4) == Pedagogical(Y, max_rules=4).fit(X).rules_


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_an_unfitted_model_is_trained_as_its_extractor_would():
    model = make_pipeline(StandardScaler(), MLPClassifier((4,), max_iter=50))
    expected = ECLAIRE(model, random_state=3, max_rules=4).fit(X, Y).rules_
    assert extract(model, X, y=Y, random_state=3, max_rules=4) == expected


def test_options_are_those_of_the_chosen_method(forest):
    with pytest.raises(TypeError, match="rem-t has no option 'max_rule'; did you mean 'max_rules'"):
        extract(forest, X, max_rule=3)
    with pytest.raises(TypeError, match="rem-t has no option 'layers'; it has "):
        extract(forest, X, layers="last 1")
    with pytest.raises(ValueError, match="method is 'best'; expected one of 'auto', 'eclaire'"):
        extract(forest, X, method="best")
