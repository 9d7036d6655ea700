"""Trees, rules and predictions against runs of C5.0 itself."""

import json
from functools import cache

import numpy as np
import pytest

from tests.induction import golden
from tests.induction.golden import classifier_of, frame_of, positive_weights

FOLDER = golden.COMPLETE if golden.COMPLETE.is_dir() else golden.SELECTION
FILES = sorted(path.name for path in FOLDER.glob("*.json") if path.name != "index.json")
read = cache(golden.read)


@pytest.fixture(params=FILES, ids=lambda file: file.removesuffix(".json"))
def file(request):
    return request.param


# Some recorded runs are about columns that single precision collapses, as C5.0 does too.
SINGLE_PRECISION = pytest.mark.filterwarnings("ignore:C5.0 reads column:UserWarning")


def test_the_complete_collection_is_complete():
    if FOLDER != golden.COMPLETE:
        pytest.skip(
            "only the selection of golden runs in tests/golden is here; the rest is not part of the project"
        )
    n_listed = len(json.loads((FOLDER / "index.json").read_text()))
    assert n_listed == 546
    assert sum(len(read(FOLDER, name)[0]["runs"]) for name in FILES) == n_listed


def test_the_selection_has_runs_of_every_group():
    groups = {json.loads(path.read_text())["group"] for path in golden.SELECTION.glob("*.json")}
    assert groups == {"continuous", "weights", "missing", "costs", "discrete"}


def test_models_equal_those_of_c50(file):
    collection, data = read(FOLDER, file)
    differences = {run["id"]: golden.difference_of_run(data, run) for run in collection["runs"]}
    assert {name: found for name, found in differences.items() if found is not None} == {}


def test_the_number_of_threads_changes_nothing():
    for file in FILES[:: max(1, len(FILES) // 8)]:
        collection, data = read(FOLDER, file)
        for run in collection["runs"]:
            assert golden.difference_of_run(data, run, n_threads=4) is None


@SINGLE_PRECISION
def test_predictions_and_probabilities_equal_those_of_c50(file):
    collection, data = read(FOLDER, file)
    X, y = frame_of(data), np.array(collection["classes"])[data.classes]
    for run in collection["runs"]:
        model = classifier_of(collection, run["options"]).fit(X, y, sample_weight=positive_weights(data))
        expected = np.array(collection["classes"])[run["train_pred"]]
        np.testing.assert_array_equal(model.predict(X), expected, err_msg=run["id"])
        if "train_prob" in run:
            in_declared_order = np.searchsorted(model.classes_, collection["classes"])
            found = model.predict_proba(X)[:, in_declared_order]
            np.testing.assert_allclose(found, run["train_prob"], atol=1e-6, err_msg=run["id"])


@SINGLE_PRECISION
def test_readable_thresholds_decide_the_training_rows_as_c50_does(file):
    collection, data = read(FOLDER, file)
    X, y = frame_of(data), np.array(collection["classes"])[data.classes]
    for run in collection["runs"]:
        if run["options"]["sample"] > 0:
            continue  # rows outside the sample are not training rows
        model = classifier_of(collection, run["options"]).set_params(thresholds="readable")
        predicted = model.fit(X, y, sample_weight=positive_weights(data)).predict(X)
        expected = np.array(collection["classes"])[run["train_pred"]]
        np.testing.assert_array_equal(predicted, expected, err_msg=run["id"])
