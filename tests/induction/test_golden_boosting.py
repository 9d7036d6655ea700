"""Boosted models, fuzzy thresholds and ordered factors against runs of C5.0 itself."""

import json
from functools import cache

import numpy as np
import pytest

from tests.induction import golden
from tests.induction.golden import classifier_of, frame_of, positive_weights

IS_COMPLETE = golden.COMPLETE_BOOSTING.is_dir()
FOLDER = golden.COMPLETE_BOOSTING if IS_COMPLETE else golden.SELECTION_BOOSTING
FILES = sorted(path.name for path in FOLDER.glob("*.json") if path.name != "index.json")
read = cache(golden.read)


@pytest.fixture(params=FILES, ids=lambda file: file.removesuffix(".json"))
def file(request):
    return request.param


def test_the_complete_collection_is_complete():
    if not IS_COMPLETE:
        pytest.skip(
            "only the selection of golden runs in tests/golden is here; the rest is not part of the project"
        )
    assert len(json.loads((FOLDER / "index.json").read_text())) == 149
    assert sum(len(read(FOLDER, name)[0]["runs"]) for name in FILES) == 149


def test_the_selection_has_runs_of_every_group():
    groups = {json.loads(path.read_text())["group"] for path in golden.SELECTION_BOOSTING.glob("*.json")}
    assert groups == {"continuous", "costs", "discrete", "fuzzy", "missing", "ordered", "weights"}


def test_every_trial_equals_that_of_c50(file):
    collection, data = read(FOLDER, file)
    differences = {run["id"]: golden.difference_of_run(data, run) for run in collection["runs"]}
    assert {name: found for name, found in differences.items() if found is not None} == {}


def test_the_number_of_threads_changes_nothing():
    for file in FILES[::4]:
        collection, data = read(FOLDER, file)
        for run in collection["runs"]:
            assert golden.difference_of_run(data, run, n_threads=4) is None


def test_sizes_and_training_errors_are_those_that_c50_prints(file):
    collection, data = read(FOLDER, file)
    for run in collection["runs"]:
        if "trial_training_errors" not in run or has_wrong_counts(run):
            continue
        model = golden.fit(data, run["options"])
        trials = range(model.n_trials)
        if run["options"]["rules"]:
            assert [len(model.rules(t)["label"]) for t in trials] == run["trial_sizes"]
        else:
            assert [model.n_leaves(t) for t in trials] == run["trial_sizes"]
        assert [model.n_trial_errors(t) for t in trials] == run["trial_training_errors"]
        assert model.n_errors == run["reported_training_errors"]


def test_predictions_and_probabilities_equal_those_of_c50(file):
    collection, data = read(FOLDER, file)
    classes = np.array(collection["classes"])
    X, y = frame_of(data), classes[data.classes]
    fresh = None
    if collection["test_data"] is not None:
        fresh = frame_of(golden.read_rows(FOLDER, collection, "test_data"))
    for run in collection["runs"]:
        model = classifier_of(collection, run["options"]).fit(X, y, sample_weight=positive_weights(data))
        assert model.n_trials_ == len(model.trials_) == run["trials_used"], run["id"]
        np.testing.assert_array_equal(model.predict(X), classes[run["train_pred"]], err_msg=run["id"])
        in_declared_order = np.searchsorted(model.classes_, classes)

        def check_probabilities(rows, expected, trials=None, model=model, order=in_declared_order, run=run):
            found = model.predict_proba(rows, trials=trials)[:, order]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, err_msg=run["id"])

        if run["train_prob"] is not None:
            check_probabilities(X.head(len(run["train_prob"])), run["train_prob"])
        if fresh is None:
            continue
        np.testing.assert_array_equal(model.predict(fresh), classes[run["test_pred"]], err_msg=run["id"])
        if run["test_prob"] is not None:
            check_probabilities(fresh, run["test_prob"])
        fewer = run.get("with_fewer_trials")
        if fewer is not None:
            found = model.predict(fresh, trials=fewer["trials"])
            np.testing.assert_array_equal(found, classes[fewer["test_pred"]], err_msg=run["id"])
            if fewer["test_prob"] is not None:
                check_probabilities(fresh, fewer["test_prob"], fewer["trials"])


def has_wrong_counts(run) -> bool:
    """Whether C5.0 counted on a damaged list of cases: it stopped after cases had been dropped."""
    return run["stopped"] is not None and any(step["dropped"] for step in run["trace"])
