"""Exports of boosted C5.0 classifiers decide as the classifier does."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.export.engines import onnx_results, python_decisions, python_module

from clausewise import C50Classifier


def boosted(n_classes, seed, n_rows=300, trials=6, **parameters):
    """A classifier of numbers, booleans and categories, with fresh rows; values are missing in both."""
    rng = np.random.default_rng(seed)

    def table():
        return pd.DataFrame(
            {
                "first number": rng.normal(size=n_rows).round(1),
                "second": rng.normal(size=n_rows),
                "job": rng.choice(["cook", "it's", "nurse"], n_rows),
                "votes": rng.random(n_rows) < 0.4,
            }
        )

    X, fresh = table(), table()
    score = X["first number"] + X["second"] * (X["job"] == "cook") + X["votes"] + rng.normal(size=n_rows) / 2
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    for frame in (X, fresh):
        frame.loc[rng.random(n_rows) < 0.05, "second"] = np.nan
        frame.loc[rng.random(n_rows) < 0.05, "job"] = None
    model = C50Classifier(trials=trials, early_stopping=False, **parameters).fit(X, y)
    return model, fresh


def raw_rows(frame):
    return [
        [None if pd.isna(value) else value for value in row]
        for row in frame.astype(object).itertuples(index=False)
    ]


@pytest.fixture(scope="module", params=[(2, 0), (2, 1), (3, 2), (5, 3)], ids=str)
def case(request):
    model, fresh = boosted(*request.param)
    assert model.n_trials_ == 6
    return model, fresh, model.predict(fresh).tolist()


def test_queries_decide_as_the_classifier_does(database, case):
    model, fresh, expected = case
    exported = SimpleNamespace(features=model.features_, to_sql=model.to_sql)
    assert database.decisions(exported, raw_rows(fresh)) == expected


def test_the_python_module_decides_as_the_classifier_does(case):
    model, fresh, expected = case
    assert python_decisions(model, raw_rows(fresh)) == expected
    records = [dict(zip(fresh.columns, row, strict=True)) for row in raw_rows(fresh)]
    assert python_module(model)["predict"](records[0]) == expected[0]


def test_onnx_decides_as_the_classifier_does_and_scores_are_shares_of_the_vote(case):
    model, fresh, expected = case
    exported = SimpleNamespace(features=model.features_, to_onnx=model.to_onnx)
    labels, scores = onnx_results(exported, raw_rows(fresh))
    assert labels.tolist() == expected
    shares = scores / scores.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, model.predict_proba(fresh), rtol=1e-12)


def test_a_hundred_trials_run(database):
    # From few rows, so that DuckDB's optimiser, which takes longer than the query, has few rules per trial.
    model, fresh = boosted(2, 5, n_rows=100, trials=100)
    assert model.n_trials_ == 100
    exported = SimpleNamespace(features=model.features_, to_sql=model.to_sql)
    rows = fresh.head(40)
    assert database.decisions(exported, raw_rows(rows)) == model.predict(rows).tolist()


def test_exports_of_the_first_trials(case):
    model, fresh, _ = case
    for k in (1, 3):
        namespace = {}
        exec(model.to_python(trials=k), namespace)
        found = namespace["predict_many"](raw_rows(fresh))
        assert found == model.predict(fresh, trials=k).tolist()


def test_a_single_rule_set_is_exported_as_such():
    model, _ = boosted(2, 0, trials=1)
    assert model.to_python() == model.rules_.to_python()
    assert model.to_sql("t", "duckdb") == model.rules_.to_sql("t", "duckdb")
    assert model.to_onnx() == model.rules_.to_onnx()


def test_what_cannot_be_exported_is_refused():
    trees, _ = boosted(2, 0, rules=False)
    with pytest.raises(ValueError, match="fit with rules=True"):
        trees.to_python()
    many, _ = boosted(5, 0, trials=90)
    with pytest.raises(
        ValueError, match=r"1,620 columns for 90 trials of 5 classes, .* pass a smaller number"
    ):
        many.to_sql("t")
    assert "SELECT" in many.to_sql("t", trials=20)
    with pytest.raises(ValueError, match="dialect is 'excel'"):
        many.to_sql("t", "excel", trials=3)
    with pytest.raises(ValueError, match="trials is 0"):
        many.to_python(trials=0)


def test_classifiers_without_any_rule_vote_for_their_default():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 1)), np.repeat(["often", "rarely"], [40, 10])
    model = C50Classifier(trials=3, early_stopping=False, min_cases=20).fit(X, y)
    assert not any(len(trial.rules) for trial in model.trials_)
    assert python_decisions(model, [[0.0]]) == ["often"]
    labels, _ = onnx_results(SimpleNamespace(features=model.features_, to_onnx=model.to_onnx), [[0.0]])
    assert labels.tolist() == ["often"]
