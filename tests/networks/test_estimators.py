"""Models that are only asked for their predictions: scikit-learn's estimators, searches and functions."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import Birch, KMeans
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import clausewise
from clausewise import ECLAIRE, Pedagogical

DRAW = np.random.default_rng(0)
N_ROWS = 240
NUMBERS = pd.DataFrame(DRAW.normal(size=(N_ROWS, 3)), columns=["a", "b", "c"])
LABELS = np.where(NUMBERS.a + 0.5 * NUMBERS.b**2 > 0.4, "high", "low")
THREE = np.where(NUMBERS.c > 1, "odd", LABELS)
PEOPLE = pd.DataFrame(
    {
        "age": DRAW.integers(18, 80, N_ROWS).astype(float),
        "job": pd.Categorical(DRAW.choice(["baker", "clerk", "smith"], N_ROWS)),
        "pay": np.where(DRAW.random(N_ROWS) < 0.2, np.nan, DRAW.lognormal(3, 1, N_ROWS)),
    }
)
PAID = np.where((PEOPLE.age > 45) & (PEOPLE.job != "clerk") | PEOPLE.pay.isna(), "yes", "no")


@pytest.fixture(autouse=True)
def one_thread():
    """Keep OpenMP's threads from waiting for each other where other tests run."""
    with threadpool_limits(1):
        yield


def encoder():
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")),
    )


ESTIMATORS = [
    LogisticRegression(),
    RidgeClassifier(),
    SGDClassifier(random_state=0),
    LinearSVC(),
    SVC(),
    KNeighborsClassifier(3),
    GaussianNB(),
    GaussianProcessClassifier(),
    DecisionTreeClassifier(max_depth=3),
    RandomForestClassifier(5, random_state=0),
    ExtraTreesClassifier(5, random_state=0),
    GradientBoostingClassifier(n_estimators=3),
    HistGradientBoostingClassifier(max_iter=3),
    AdaBoostClassifier(n_estimators=3),
    BaggingClassifier(n_estimators=3, random_state=0),
    CalibratedClassifierCV(GaussianNB(), cv=2),
    VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())]),
    VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())], voting="soft"),
    StackingClassifier([("a", GaussianNB()), ("b", DecisionTreeClassifier(max_depth=2))], cv=2),
    OneVsRestClassifier(LogisticRegression()),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: str(type(estimator).__name__))
@pytest.mark.parametrize("labels", [LABELS, THREE], ids=["two", "three"])
def test_labels_are_what_predict_says(estimator, labels):
    model = estimator.fit(NUMBERS, labels)
    network = clausewise.wrap(model)
    assert network.labels(NUMBERS).tolist() == model.predict(NUMBERS).tolist()
    assert network.classes.tolist() == model.classes_.tolist()
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(network.probabilities(NUMBERS), model.predict_proba(NUMBERS))


@pytest.mark.parametrize(
    "model",
    [
        FixedThresholdClassifier(LogisticRegression(), threshold=0.8),
        TunedThresholdClassifierCV(LogisticRegression(), cv=2),
    ],
    ids=["fixed", "tuned"],
)
def test_a_threshold_decides_and_not_the_larger_probability(model):
    model.fit(NUMBERS, LABELS == "high")
    network = clausewise.wrap(model)
    assert network.labels(NUMBERS).tolist() == model.predict(NUMBERS).tolist()
    np.testing.assert_allclose(network.probabilities(NUMBERS), model.predict_proba(NUMBERS))
    if model.__class__ is FixedThresholdClassifier:
        most_probable = network.classes[network.probabilities(NUMBERS).argmax(axis=1)]
        assert (most_probable != network.labels(NUMBERS)).any()


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [2, 3]}, cv=2),
        RandomizedSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [2, 3]}, n_iter=2, cv=2),
        HalvingGridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [2, 3]}, cv=2),
    ],
    ids=lambda search: str(type(search).__name__),
)
def test_a_search_is_the_model_that_it_fitted(search):
    network = clausewise.wrap(search.fit(NUMBERS, LABELS))
    assert str(network).startswith("scikit-learn DecisionTreeClassifier: 3 inputs")
    assert network.labels(NUMBERS).tolist() == search.predict(NUMBERS).tolist()


def test_hidden_layers_are_found_inside_pipelines_and_searches():
    inner = make_pipeline(StandardScaler(), MLPClassifier((4,), solver="lbfgs", max_iter=20, random_state=0))
    search = GridSearchCV(inner, {"mlpclassifier__alpha": [0.1, 0.2]}, cv=2)
    model = make_pipeline(StandardScaler(), make_pipeline(PCA(2), search))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network = clausewise.wrap(model.fit(NUMBERS, LABELS))
    assert network.layer_names == ("hidden 1",)
    assert network.labels(NUMBERS).tolist() == model.predict(NUMBERS).tolist()


def test_a_search_without_a_fitted_model_is_refused():
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2, 3]}, cv=2, refit=False)
    with pytest.raises(TypeError, match=r"fitted with refit=False, .* Fit it with refit=True"):
        clausewise.wrap(search.fit(NUMBERS, LABELS))


class Spy(LogisticRegression):
    """Records the rows that it is asked about."""

    def predict(self, X):
        self.seen.append(X)
        return super().predict(X)


def test_a_dataframe_reaches_the_model_as_one_with_its_own_columns_only():
    model = Spy().fit(NUMBERS, LABELS)
    model.seen = []
    table = NUMBERS.assign(other="text")[["c", "other", "b", "a"]]
    network = clausewise.wrap(model, batch_size=100)
    assert network.labels(table).tolist() == model.predict(NUMBERS).tolist()
    assert all(isinstance(rows, pd.DataFrame) for rows in model.seen)
    assert {tuple(rows.columns) for rows in model.seen} == {("a", "b", "c")}
    assert max(map(len, model.seen[:-1])) <= 128
    assert network.reads(table).tolist() == [True, False, True, True]


@pytest.mark.parametrize("is_fitted_to_names", [True, False])
@pytest.mark.parametrize("gets_names", [True, False])
def test_rows_have_names_exactly_if_the_model_knows_names(is_fitted_to_names, gets_names):
    # Otherwise scikit-learn warns, and tests treat warnings as errors.
    model = make_pipeline(StandardScaler(), RandomForestClassifier(3, random_state=0))
    model.fit(NUMBERS if is_fitted_to_names else NUMBERS.to_numpy(), LABELS)
    expected = model.predict(NUMBERS if is_fitted_to_names else NUMBERS.to_numpy())
    rows = NUMBERS if gets_names else NUMBERS.to_numpy()
    assert clausewise.wrap(model).labels(rows).tolist() == expected.tolist()
    assert clausewise.wrap(model[-1]).labels(model[:-1].transform(rows_for(model, rows))).shape == (N_ROWS,)


def rows_for(model, rows):
    return NUMBERS if hasattr(model, "feature_names_in_") else np.asarray(rows)


def test_categories_and_missing_values_reach_the_model():
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype").fit(PEOPLE, PAID)
    network = clausewise.wrap(model, batch_size=50)
    assert network.labels(PEOPLE).tolist() == model.predict(PEOPLE).tolist()
    assert network.features(PEOPLE).kinds == ("numeric", "categorical", "numeric")
    rules = clausewise.extract(model, PEOPLE, method="pedagogical")
    assert (rules.predict(PEOPLE) == model.predict(PEOPLE)).mean() > 0.95


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables_of_other_libraries_are_read(library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    import polars

    table = polars.from_pandas(NUMBERS)
    table = table if library == "polars" else table.to_arrow()
    model = RandomForestClassifier(5, random_state=0).fit(NUMBERS.to_numpy(), LABELS)
    assert clausewise.wrap(model).labels(table).tolist() == model.predict(NUMBERS.to_numpy()).tolist()


def test_sparse_preprocessing_is_passed_on():
    model = make_pipeline(encoder(), LogisticRegression()).fit(PEOPLE, PAID)
    network = clausewise.wrap(model)
    assert network.labels(PEOPLE).tolist() == model.predict(PEOPLE).tolist()
    assert network.features(PEOPLE).kinds == ("numeric", "categorical", "numeric")


@pytest.mark.parametrize(
    "model", [LogisticRegression(), RandomForestClassifier(5, random_state=0)], ids=["linear", "trees"]
)
def test_sparse_matrices_inside_a_pipeline_are_evaluated(model):
    table = PEOPLE[["job"]].astype(object)
    fitted = make_pipeline(OneHotEncoder(), model).fit(table, table.job == "clerk")
    assert sparse.issparse(fitted[0].transform(table))
    network = clausewise.wrap(fitted, batch_size=64)
    assert network.labels(table).tolist() == fitted.predict(table).tolist()
    np.testing.assert_array_equal(network.probabilities(table), fitted.predict_proba(table))
    assert (clausewise.extract(fitted, table).predict(table) == fitted.predict(table)).all()


def test_models_that_refuse_missing_values_say_so_themselves():
    network = clausewise.wrap(LogisticRegression().fit(NUMBERS, LABELS))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        network.labels(NUMBERS.assign(a=np.nan))


def test_a_clusterer_predicts_its_clusters():
    for model in (
        KMeans(3, random_state=0, n_init=1),
        Birch(n_clusters=2),
        GaussianMixture(2, random_state=0),
    ):
        network = clausewise.wrap(model.fit(NUMBERS))
        assert network.labels(NUMBERS).tolist() == model.predict(NUMBERS).tolist()


def test_a_regressor_needs_cut_points():
    model = LinearRegression().fit(NUMBERS, NUMBERS.a)
    with pytest.raises(ValueError, match=r"estimates a number .* ascending cut points"):
        clausewise.wrap(model).labels(NUMBERS)
    network = clausewise.wrap(model, output=[0.0], classes=["below", "above"])
    assert network.labels(NUMBERS).tolist() == np.where(model.predict(NUMBERS) > 0, "above", "below").tolist()


def test_a_wrong_number_of_columns_is_an_error():
    model = GaussianNB().fit(NUMBERS.to_numpy(), LABELS)
    with pytest.raises(ValueError, match="X has 2 columns, but the network reads 3"):
        clausewise.wrap(model).labels(NUMBERS.to_numpy()[:, :2])


# --- Functions ---


def by_name(rows):
    return np.where(rows["a"] > 0, "up", "down")


def shares(rows):
    up = 1 / (1 + np.exp(-np.asarray(rows)[:, 0]))
    return np.column_stack([1 - up, up])


def test_a_function_gets_rows_as_they_are_and_its_labels_are_the_classes():
    network = clausewise.wrap(by_name)
    assert network.labels(NUMBERS).tolist() == by_name(NUMBERS).tolist()
    assert network.classes.tolist() == ["down", "up"]
    np.testing.assert_array_equal(network.probabilities(NUMBERS)[:, 1], NUMBERS.a > 0)
    rules = clausewise.extract(by_name, NUMBERS, method="pedagogical")
    assert (rules.predict(NUMBERS) == by_name(NUMBERS)).mean() > 0.98


def test_classes_come_from_all_rows_and_not_only_from_the_first_ones():
    table = NUMBERS.sort_values("a")
    network = clausewise.wrap(by_name, batch_size=10)
    assert network.inspect(table).classes.tolist() == ["down", "up"]


def test_labels_that_appear_later_are_further_classes():
    network = clausewise.wrap(by_name)
    assert set(network.labels(NUMBERS[NUMBERS.a > 0])) == {"up"}
    assert network.labels(NUMBERS).tolist() == by_name(NUMBERS).tolist()
    assert network.classes.tolist() == ["up", "down"]
    assert network.probabilities(NUMBERS).shape == (N_ROWS, 2)


def test_a_function_of_probabilities_decides_by_the_larger_one():
    network = clausewise.wrap(shares, classes=["down", "up"])
    np.testing.assert_allclose(network.probabilities(NUMBERS), shares(NUMBERS))
    assert network.labels(NUMBERS).tolist() == by_name(NUMBERS).tolist()


def test_numbers_that_are_not_labels_need_their_meaning():
    with pytest.raises(ValueError, match=r"is not a class label. State what the number is: output='number'"):
        clausewise.wrap(lambda rows: shares(rows)[:, 1]).labels(NUMBERS)
    network = clausewise.wrap(lambda rows: shares(rows)[:, 1], output="probabilities", classes=["down", "up"])
    assert network.labels(NUMBERS).tolist() == by_name(NUMBERS).tolist()


def test_a_label_that_is_not_among_the_stated_classes_is_an_error():
    with pytest.raises(ValueError, match=r"predicted 'down', which is not one of its classes \(up, level\)"):
        clausewise.wrap(by_name, classes=["up", "level"]).labels(NUMBERS)


def test_a_stated_output_decides_instead_of_predict():
    model = FixedThresholdClassifier(LogisticRegression(), threshold=0.8).fit(NUMBERS, LABELS == "high")
    network = clausewise.wrap(model, output="probabilities")
    assert network.labels(NUMBERS).tolist() == (model.predict_proba(NUMBERS)[:, 1] > 0.5).tolist()

    class Scorer:
        def predict(self, rows):
            return shares(rows)[:, 1]

    network = clausewise.wrap(Scorer(), output=[0.5], classes=["down", "up"])
    assert network.labels(NUMBERS).tolist() == by_name(NUMBERS).tolist()


def test_an_object_with_predict_is_a_model():
    class Service:
        def predict(self, rows):
            return by_name(rows)

    assert clausewise.wrap(Service()).labels(NUMBERS).tolist() == by_name(NUMBERS).tolist()


def test_answers_at_random_are_refused():
    draw = np.random.default_rng(0)
    with pytest.raises(ValueError, match="answers at random"):
        clausewise.wrap(lambda rows: draw.integers(0, 2, len(rows))).labels(NUMBERS)


def test_answers_that_depend_on_other_rows_are_refused():
    with pytest.raises(ValueError, match="depending on the other rows"):
        clausewise.wrap(lambda rows: shares(rows - rows.mean())).labels(NUMBERS)
    with pytest.raises(ValueError, match="depending on the other rows"):
        clausewise.wrap(lambda rows: np.arange(len(rows)) // 10).labels(NUMBERS)


# --- What is refused ---


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            IsolationForest(random_state=0).fit(NUMBERS),
            r"IsolationForest detects outliers .* Pass a function",
        ),
        (
            StandardScaler().fit(NUMBERS),
            r"it has neither predict nor predict_proba. Pass a trained classifier",
        ),
        (
            MultiOutputClassifier(GaussianNB()).fit(NUMBERS, np.column_stack([LABELS, LABELS])),
            r"several labels per row, .* model.predict\(X\)\[:, 0\]",
        ),
        (
            OneVsRestClassifier(GaussianNB()).fit(NUMBERS, np.column_stack([LABELS == "low", NUMBERS.a > 1])),
            "several labels per row",
        ),
        (GaussianNB, r"The class GaussianNB \(not an instance of it\)"),
        ({"a": 1}, r"builtins.dict is not a supported model type"),
    ],
)
def test_models_without_one_class_per_row_are_refused(model, message):
    with pytest.raises(TypeError, match=message):
        clausewise.wrap(model)


def test_an_unfitted_model_is_refused():
    with pytest.raises(NotFittedError, match="GaussianNB instance is not fitted yet"):
        clausewise.wrap(GaussianNB())


# --- Everywhere ---


def test_every_reader_of_models_takes_them():
    model = make_pipeline(StandardScaler(), SVC()).fit(NUMBERS, LABELS)
    rules = Pedagogical(model).fit(NUMBERS).rules_
    own = model.predict(NUMBERS)
    expected = float(np.mean(rules.predict(NUMBERS) == own))
    for network in (model, own, model.predict, clausewise.wrap(model)):
        assert rules.evaluate(NUMBERS, network=network).fidelity == pytest.approx(expected)
    compacted = rules.compact(NUMBERS, model.predict, max_rules=4)
    assert compacted == rules.compact(NUMBERS, own, max_rules=4)


def test_a_network_without_hidden_layers_names_the_pedagogical_method():
    with pytest.raises(ValueError, match=r"has no hidden layer.*pedagogical"):
        ECLAIRE(GaussianNB().fit(NUMBERS, LABELS)).fit(NUMBERS)


def test_an_unfitted_model_is_trained_on_the_classes():
    rules = Pedagogical(RandomForestClassifier(5)).fit(NUMBERS, LABELS)
    assert rules.fidelity(NUMBERS) > 0.85


def test_threads_share_a_model():
    model = RandomForestClassifier(5, random_state=0).fit(NUMBERS, LABELS)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: clausewise.wrap(model).labels(NUMBERS).tolist(), range(8)))
    assert all(answer == model.predict(NUMBERS).tolist() for answer in answers)


def test_a_wrapped_model_can_be_pickled():
    model = make_pipeline(StandardScaler(), GaussianNB()).fit(NUMBERS, LABELS)
    network = pickle.loads(pickle.dumps(clausewise.wrap(model)))
    assert network.labels(NUMBERS).tolist() == model.predict(NUMBERS).tolist()
