"""Masked cells are missing for networks too: the value under a mask is never read."""

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import clausewise
from clausewise import ECLAIRE, C50Classifier, CARTClassifier, Features, Rule, RuleSet, Term, extract
from clausewise.networks import ArrayNetwork
from clausewise.networks.answers import labels_by
from clausewise.networks.preprocess import as_numbers

RNG = np.random.default_rng(0)
KNOWN = RNG.integers(0, 50, (200, 2))
IS_MASKED = np.zeros(KNOWN.shape, dtype=bool)
IS_MASKED[150:190:4, 0] = True  # none in the first batch
HIDDEN = 10**6  # far outside the known values
MISSING = np.where(IS_MASKED, np.nan, KNOWN)


def masked_rows(dtype):
    return np.ma.MaskedArray(np.where(IS_MASKED, HIDDEN, KNOWN).astype(dtype), mask=IS_MASKED)


@pytest.fixture(scope="module")
def imputing():
    model = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=0),
        MLPClassifier((4,), "identity", solver="lbfgs", random_state=0),
    )
    return model.fit(MISSING, np.where(IS_MASKED[:, 0], 0, KNOWN[:, 0]) > 20)


def dense_network(**options):
    return ArrayNetwork([np.eye(2), [[1, -1], [-1, 1]]], [np.zeros(2), np.zeros(2)], **options)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, object])
def test_a_network_with_an_imputer_sees_missing_values(imputing, dtype):
    network = clausewise.wrap(imputing, batch_size=64)
    np.testing.assert_array_equal(network.labels(masked_rows(dtype)), imputing.predict(MISSING))
    np.testing.assert_array_equal(network.outputs(masked_rows(dtype)), network.outputs(MISSING))
    (hidden,), (expected,) = network.hidden_layers(masked_rows(dtype)), network.hidden_layers(MISSING)
    np.testing.assert_array_equal(hidden.matrix, expected.matrix)


def test_rules_are_extracted_from_the_decisions_on_missing_values(imputing):
    masked, missing = (ECLAIRE(imputing).fit(rows) for rows in (masked_rows(int), MISSING))
    assert masked.rules_ == missing.rules_
    assert masked.fidelity(masked_rows(int)) == missing.fidelity(MISSING)


def test_other_models_see_missing_values_too():
    def is_missing(rows):
        return np.isnan(rows[:, 0])

    np.testing.assert_array_equal(labels_by(is_missing)(masked_rows(int)), IS_MASKED[:, 0])


@pytest.mark.parametrize("dtype", [float, int, bool, object])
def test_a_network_without_an_imputer_refuses_masked_cells_with_their_place(dtype):
    with pytest.raises(
        ValueError, match=r"X contains NaN.* 10 value\(s\), the first in row 150, column 0; fill"
    ):
        dense_network(batch_size=200).labels(masked_rows(dtype))


def test_a_network_of_whole_numbers_refuses_masked_cells():
    with pytest.raises(ValueError, match=r"X contains a missing value \(10 such value\(s\)\); fill missing"):
        as_numbers(masked_rows(int), np.dtype(np.int64))


def test_cells_that_preprocessing_masks_are_missing():
    network = dense_network(preprocess=lambda rows: np.ma.masked_greater(rows, 48))
    with pytest.raises(ValueError, match=r"X contains NaN or infinity after preprocessing"):
        network.labels(KNOWN)


def test_counterfactuals_ask_the_network_about_missing_values():
    rules = RuleSet.from_rules([Rule((Term(1, high=20),), "low")], Features(("x0", "x1")), default="high")
    asked = []

    def network(rows):
        asked.append(rows[:, 0])
        return np.where(rows[:, 1] <= 20, "low", "high")

    (found,) = rules.counterfactuals(masked_rows(int)[150:151], network=network, reference=KNOWN)
    assert found.is_confirmed
    assert all(np.isnan(column).all() for column in asked)


def is_masked(rows):
    return np.isnan(np.asarray(rows, dtype=float)[:, 0])


@pytest.mark.parametrize("dtype", [float, int, object])
def test_columns_are_computed_from_missing_values(dtype):
    asked = []

    def columns(rows):
        asked.append(np.asarray(rows, dtype=float))
        return is_masked(rows)[:, np.newaxis]

    rules = extract(clausewise.wrap(is_masked, features=columns), masked_rows(dtype), max_rules=None)
    np.testing.assert_array_equal(rules.predict(masked_rows(dtype)), IS_MASKED[:, 0])
    assert all(np.nanmax(rows) < HIDDEN for rows in asked)


def test_computed_columns_may_be_masked():
    network = clausewise.wrap(is_masked, features=lambda rows: np.ma.masked_greater(rows, 40))
    np.testing.assert_array_equal(np.isnan(network.features(KNOWN).encode(KNOWN)), KNOWN > 40)


def test_a_list_of_masked_rows_is_read_as_one_masked_array():
    def is_high(rows):
        return np.nan_to_num(np.asarray(rows)[:, 0]) > 20

    rows, expected = list(masked_rows(int)), is_high(MISSING)
    np.testing.assert_array_equal(clausewise.wrap(is_high).labels(rows), expected)
    rules = extract(is_high, rows)
    assert rules == extract(is_high, MISSING)
    np.testing.assert_array_equal(rules.predict(rows), expected)


@pytest.mark.parametrize("classes", [[0, 1], [False, True], ["no", "yes"]])
@pytest.mark.parametrize(
    "estimator",
    [C50Classifier(), CARTClassifier(), ECLAIRE(), ECLAIRE(MLPClassifier((2,), max_iter=5))],
    ids=["c50", "cart", "own network", "unfitted network"],
)
def test_masked_classes_are_missing(estimator, classes):
    y = np.ma.MaskedArray(np.array(classes)[(KNOWN[:, 0] > 20).astype(int)], mask=IS_MASKED[:, 0])
    with pytest.raises(ValueError, match="contains NaN"):
        estimator.fit(KNOWN, y)


def test_masked_probabilities_are_missing():
    rules = RuleSet.from_rules([Rule((Term(0, high=20),), 0)], Features(("x0", "x1")), default=1)
    probabilities = np.ma.MaskedArray(np.full((200, 2), 0.5), mask=IS_MASKED)
    with pytest.raises(ValueError, match="target holds rows that are not probabilities"):
        rules.compact(KNOWN, probabilities, max_rules=1)
