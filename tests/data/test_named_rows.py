"""Rows as people have them: a dictionary, a Series, a list of dictionaries, one row of values."""

from collections import namedtuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from clausewise import C50Classifier, Features, Pedagogical, RuleSet

TABLE = pd.DataFrame(
    {
        "age": [31.0, 52.0, 44.0, 23.0, 65.0, 38.0] * 4,
        "job": ["nurse", "cook", "cook", "nurse", "nurse", "cook"] * 4,
        "smokes": [True, True, False, False, True, False] * 4,
    }
)
TRUTH = np.where((TABLE.age < 40) & (TABLE.job == "nurse"), "yes", "no")
FEATURES = Features.learn(TABLE)
RULES = RuleSet.from_text(
    "IF age <= 40 AND job = nurse THEN yes\nIF smokes = true THEN no", FEATURES, default="no"
)
ENCODER = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["job", "smokes"]))
MODEL = make_pipeline(ENCODER, MLPClassifier((4,), solver="lbfgs", random_state=0)).fit(TABLE, TRUTH)
EXTRACTOR = Pedagogical(MODEL, min_cases=2).fit(TABLE)
TREE = C50Classifier().fit(TABLE, TRUTH)

ROW = {"age": 31.0, "job": "nurse", "smokes": True}
Person = namedtuple("Person", ["Index", "job", "age", "smokes"])
BY_NAME = {
    "a dictionary": ROW,
    "a dictionary with more, in another order": {"zip": "9000", **dict(reversed(ROW.items()))},
    "a list of dictionaries": [ROW],
    "a Series": TABLE.iloc[0],
    "a Series with more": pd.Series({"when": pd.Timestamp(0), **ROW}),
    "a named tuple": Person(0, "nurse", 31.0, True),
    "a row of polars": pl.from_pandas(TABLE).row(0, named=True),
    "a DataFrame with more": TABLE[:1].assign(zip="9000")[["smokes", "zip", "job", "age"]],
    "a frame of polars": pl.DataFrame([ROW | {"zip": "9000"}]),
}
BY_POSITION = {
    "a list": [31.0, "nurse", True],
    "a tuple": (31.0, "nurse", True),
    "an array": np.array([31.0, "nurse", True], dtype=object),
}
ONE_ROW = {**BY_NAME, **BY_POSITION}

CALLS = {
    "predict": lambda X: RULES.predict(X).tolist(),
    "predict_proba": lambda X: RULES.predict_proba(X).tolist(),
    "scores": lambda X: RULES.scores(X).tolist(),
    "fires": lambda X: RULES.fires(X).dense().tolist(),
    "uncovered": lambda X: RULES.uncovered(X).tolist(),
    "explain": lambda X: list(map(str, RULES.explain(X))),
    "explain_global": lambda X: str(RULES.explain_global(X, ["yes"])),
    "evaluate": lambda X: str(RULES.evaluate(X, ["yes"])),
    "counterfactuals": lambda X: str(RULES.counterfactuals(X)),
    "with_statistics": lambda X: str(RULES.with_statistics(X, ["yes"])),
    "compare": lambda X: str(RULES.compare(RULES[:1], X)),
}
# A pipeline that selects columns by name reads only rows that have names, and an estimator no bare row.
CALLS_BY_NAME = {
    "evaluate with a model": lambda X: str(RULES.evaluate(X, network=MODEL)),
    "explain_global with a model": lambda X: str(RULES.explain_global(X, MODEL)),
    "show": lambda X: RULES.show(X, network=MODEL).html,
    "predict of a classifier": lambda X: TREE.predict(X).tolist(),
    "predict of an extractor": lambda X: EXTRACTOR.predict(X).tolist(),
    "explain of an extractor": lambda X: str(EXTRACTOR.explain(X)[0]),
    "fidelity of an extractor": lambda X: EXTRACTOR.fidelity(X),
}


@pytest.mark.parametrize("row", ONE_ROW.values(), ids=ONE_ROW)
def test_one_row_means_the_same_in_every_form_and_call(row):
    for name, call in CALLS.items():
        assert call(row) == call(TABLE[:1]), name


@pytest.mark.parametrize("row", BY_NAME.values(), ids=BY_NAME)
def test_models_and_estimators_read_rows_by_name(row):
    for name, call in CALLS_BY_NAME.items():
        assert call(row) == call(TABLE[:1]), name


def test_several_rows_by_name_are_a_table():
    records = TABLE.to_dict("records")
    assert RULES.predict(records).tolist() == RULES.predict(TABLE).tolist()
    assert RULES.evaluate(records, TRUTH, network=MODEL) == RULES.evaluate(TABLE, TRUTH, network=MODEL)
    assert Features.learn(records) == FEATURES
    learnt = Pedagogical(MODEL, min_cases=2).fit(records)
    assert learnt.rules_ == EXTRACTOR.rules_


def test_missing_values_are_none_or_nan():
    for nothing in (None, np.nan, pd.NA):
        row = {"age": nothing, "job": nothing, "smokes": nothing}
        assert np.isnan(FEATURES.encode(row)).all()
    assert RULES.predict({**ROW, "job": None}).tolist() == ["no"]


def test_a_model_gets_the_columns_that_it_reads():
    wide = TABLE.assign(income=np.arange(len(TABLE)))
    numbers = ["income", "age"]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(wide[numbers], TRUTH)
    answers = model.predict(wide[numbers])
    assert RULES.evaluate(wide, network=model) == RULES.evaluate(TABLE, network=answers)
    assert RULES.evaluate(wide, network=MODEL) == RULES.evaluate(TABLE, network=MODEL)
    asked = []

    def by_job(X):
        asked.append(X)
        return np.where(X["job"] == "nurse", "yes", "no")

    RULES.evaluate(wide[["income", *TABLE.columns[::-1]]], network=by_job)
    assert asked
    assert all(list(X.columns) == list(TABLE.columns) for X in asked)


def test_rules_without_column_names_read_the_names_that_they_print():
    rules = RuleSet.from_rules([], Features.learn(np.zeros((2, 2))), default=0, classes=[0, 1])
    np.testing.assert_array_equal(rules.features.encode({"x1": 2.0, "x0": 1.0}), [[1, 2]])
    with pytest.raises(ValueError, match="columns 'x0', 'x1' are missing"):
        rules.features.encode({"a": 1.0, "b": 2.0})


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        ({"age": 31.0, "jobs": "nurse"}, ValueError, "'job', 'smokes' are missing and column 'jobs' is unkn"),
        (TABLE.iloc[0].drop("job"), ValueError, "column 'job' is missing"),
        ([ROW, {"age": 31.0, "job": "nurse"}], ValueError, "Row 1 of X has no 'smokes', but row 0 has"),
        ([ROW, [31.0, "nurse", True]], TypeError, "mixes rows by name with other values"),
        ({"age": [31.0, 52.0], "job": ["nurse", "cook"]}, TypeError, "pass a DataFrame instead of a diction"),
        ({"age": TABLE.age}, TypeError, r"X\['age'\] is a Series"),
        ({0: 31.0}, TypeError, "0 is not a column name"),
        (TABLE.age[:3], ValueError, r"Series whose index does not name columns. Pass X.to_numpy\(\) if"),
        (pl.Series([31.0, 52.0, 44.0]), ValueError, "Reshape your data"),
        ([31.0, "nurse"], ValueError, r"X has 2 values in one dimension, but one row has 3. Reshape"),
        (np.zeros(4), ValueError, "X has 4 values in one dimension, but one row has 3"),
        ({**ROW, "age": "old"}, ValueError, "Column 'age' holds text such as 'old'"),
    ],
)
def test_rows_that_do_not_fit_are_clear_errors(row, error, message):
    with pytest.raises(error, match=message):
        RULES.predict(row)


def test_one_column_is_not_taken_for_a_row():
    rules = RuleSet.from_text("IF x > 1 THEN 1", ["x"], classes=[0, 1], default=0)
    assert rules.predict([2.0]).tolist() == [1]
    with pytest.raises(ValueError, match=r"X.reshape\(-1, 1\) if it is one column"):
        rules.predict([2.0, 3.0])


def test_estimators_refuse_a_bare_row_as_scikit_learn_does():
    for estimator in (TREE, EXTRACTOR):
        with pytest.raises(ValueError, match="Reshape your data"):
            estimator.predict(BY_POSITION["an array"])
