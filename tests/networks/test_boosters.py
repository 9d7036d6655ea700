"""Models and native boosters of XGBoost, LightGBM and CatBoost."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import clausewise
from tests.networks import boosters
from tests.networks.boosters import IS_PAID, NUMBERS, PEOPLE, THREE, TWO

xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
catboost = pytest.importorskip("catboost", reason="catboost is not installed")

WORDS = np.array(["no", "yes", "old"])

CLASSIFIERS = {
    "xgboost": boosters.xgboost_classifier,
    "lightgbm": boosters.lightgbm_classifier,
    "catboost": boosters.catboost_model,
}


@pytest.fixture(autouse=True)
def one_thread():
    """Keep OpenMP's threads from waiting for each other where other tests run."""
    with threadpool_limits(1):
        yield


@pytest.mark.parametrize("library", CLASSIFIERS)
@pytest.mark.parametrize("codes", [TWO, THREE], ids=["two", "three"])
def test_a_classifier_decides_as_it_does_itself(library, codes):
    # XGBoost takes codes only; the others are fitted to text.
    model = CLASSIFIERS[library](codes if library == "xgboost" else WORDS[codes])
    network = clausewise.wrap(model, batch_size=100)
    assert network.labels(PEOPLE).tolist() == np.ravel(model.predict(PEOPLE)).tolist()
    np.testing.assert_allclose(network.probabilities(PEOPLE), model.predict_proba(PEOPLE), atol=1e-6)
    assert network.classes.tolist() == model.classes_.tolist()
    assert network.features(PEOPLE).kinds == ("numeric", "categorical", "numeric")


@pytest.mark.parametrize("library", CLASSIFIERS)
def test_text_is_read_as_the_categories_of_the_model(library):
    model = CLASSIFIERS[library](TWO)
    # Rows of files have text, and a single row does not have all categories.
    text = PEOPLE.astype({"job": str})
    network = clausewise.wrap(model)
    expected = np.ravel(model.predict(PEOPLE)).tolist()
    assert network.labels(text).tolist() == expected
    assert [int(network.labels(text.iloc[[row]])[0]) for row in range(40)] == expected[:40]


@pytest.mark.parametrize("library", CLASSIFIERS)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")  # LightGBM's own fit
def test_a_model_of_an_array_takes_arrays_and_tables(library):
    model = CLASSIFIERS[library](TWO, X=NUMBERS)
    expected = np.ravel(model.predict(NUMBERS)).tolist()
    assert clausewise.wrap(model).labels(NUMBERS).tolist() == expected
    assert clausewise.wrap(model).labels(PEOPLE[["age", "pay"]]).tolist() == expected


@pytest.mark.parametrize("library", CLASSIFIERS)
def test_a_model_of_a_table_takes_its_columns_in_any_order(library):
    model = CLASSIFIERS[library](TWO)
    table = PEOPLE.assign(other=1.0)[["pay", "other", "job", "age"]]
    expected = np.ravel(model.predict(PEOPLE)).tolist()
    assert clausewise.wrap(model).labels(table).tolist() == expected
    assert clausewise.wrap(model).labels(PEOPLE.to_numpy()).tolist() == expected


@pytest.mark.parametrize(
    ("codes", "objective", "decided"),
    [
        (TWO, "binary:logistic", lambda values: values > 0.5),
        (TWO, "binary:logitraw", lambda values: values > 0),
        (TWO, "binary:hinge", lambda values: values),
        (THREE, "multi:softprob", lambda values: values.argmax(axis=1)),
        (THREE, "multi:softmax", lambda values: values),
    ],
)
def test_a_booster_of_xgboost_decides_by_its_objective(codes, objective, decided):
    booster = boosters.xgboost_booster(codes, objective)
    values = booster.predict(xgboost.DMatrix(PEOPLE, enable_categorical=True))
    network = clausewise.wrap(booster)
    assert network.labels(PEOPLE).tolist() == decided(values).astype(int).tolist()
    assert network.classes.tolist() == np.unique(codes).tolist()


@pytest.mark.parametrize(
    ("codes", "objective"), [(TWO, "binary"), (THREE, "multiclass"), (THREE, "multiclassova")]
)
def test_a_booster_of_lightgbm_decides_by_its_objective(codes, objective):
    booster = boosters.lightgbm_booster(codes, objective)
    values = booster.predict(PEOPLE)
    decided = values.argmax(axis=1) if values.ndim == 2 else values > 0.5
    network = clausewise.wrap(booster)
    assert network.labels(PEOPLE).tolist() == decided.astype(int).tolist()
    assert network.classes.tolist() == np.unique(codes).tolist()


@pytest.mark.parametrize(("codes", "loss"), [(TWO, "Logloss"), (THREE, "MultiClass")])
def test_a_plain_catboost_model_decides_by_its_classes(codes, loss):
    model = boosters.catboost_model(WORDS[codes], "CatBoost", loss_function=loss)
    expected = np.ravel(model.predict(PEOPLE, prediction_type="Class")).tolist()
    network = clausewise.wrap(model)
    assert network.labels(PEOPLE).tolist() == expected
    probabilities = model.predict(PEOPLE, prediction_type="Probability")
    np.testing.assert_allclose(network.probabilities(PEOPLE), probabilities)


def test_boosters_of_arrays_take_tables():
    for booster in (
        boosters.xgboost_booster(TWO, "binary:logistic", NUMBERS),
        boosters.lightgbm_booster(TWO, "binary", NUMBERS),
    ):
        labels = clausewise.wrap(booster).labels(NUMBERS)
        assert clausewise.wrap(booster).labels(PEOPLE[["age", "pay"]]).tolist() == labels.tolist()


@pytest.mark.parametrize(
    "model",
    [
        xgboost.XGBRegressor(n_estimators=3).fit(NUMBERS, PEOPLE.age),
        lightgbm.LGBMRegressor(n_estimators=3, verbose=-1).fit(PEOPLE[["age", "pay"]], PEOPLE.age),
        catboost.CatBoostRegressor(iterations=3, verbose=0, allow_writing_files=False).fit(
            NUMBERS, PEOPLE.age
        ),
        boosters.xgboost_booster(PEOPLE.age, "reg:squarederror", NUMBERS),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_regressor_needs_cut_points(model):
    with pytest.raises(ValueError, match="estimates a number"):
        clausewise.wrap(model).labels(NUMBERS)
    assert set(clausewise.wrap(model, output=[45.0]).labels(NUMBERS)) == {"≤ 45", "> 45"}


def test_names_that_lightgbm_changes_are_matched_by_position():
    table = PEOPLE.rename(columns={"age": "age of person"})[["age of person", "pay"]]
    model = boosters.lightgbm_classifier(TWO, table)
    network = clausewise.wrap(model)
    assert network.labels(table).tolist() == model.predict(table).tolist()
    assert network.reads(table).all()


def test_boosters_work_inside_pipelines_and_searches():
    inner = make_pipeline(StandardScaler(), xgboost.XGBClassifier(n_estimators=3, n_jobs=1))
    search = GridSearchCV(inner, {"xgbclassifier__max_depth": [2, 3]}, cv=2)
    model = search.fit(PEOPLE[["age", "pay"]], TWO)
    network = clausewise.wrap(model)
    assert network.labels(PEOPLE).tolist() == model.predict(PEOPLE[["age", "pay"]]).tolist()


@pytest.mark.parametrize("library", CLASSIFIERS)
def test_rules_of_a_booster_are_written_over_its_columns(library):
    model = CLASSIFIERS[library](TWO)
    rules = clausewise.extract(model, PEOPLE, method="pedagogical")
    assert rules.evaluate(PEOPLE, network=model).fidelity > 0.95
    assert (rules.predict(PEOPLE) == IS_PAID).mean() > 0.85


@pytest.mark.parametrize(
    "model", [xgboost.XGBClassifier(), lightgbm.LGBMClassifier(), catboost.CatBoostClassifier()]
)
def test_an_unfitted_model_is_refused(model):
    with pytest.raises((NotFittedError, TypeError), match=r"is not fitted|not fitted yet|need to call fit"):
        clausewise.wrap(model)


def test_tables_of_polars_are_read():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    table = polars.from_pandas(PEOPLE)
    for make in CLASSIFIERS.values():
        model = make(TWO)
        assert clausewise.wrap(model).labels(table).tolist() == np.ravel(model.predict(PEOPLE)).tolist()
