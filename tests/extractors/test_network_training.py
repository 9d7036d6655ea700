"""Networks that are trained before rules are extracted from them."""

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from clausewise.extractors.network_training import network_for

ROWS = np.random.default_rng(0).normal(size=(40, 2))
LABELS = np.where(ROWS[:, 0] > 0, "yes", "no")
COUNTS = np.random.default_rng(1).integers(1, 4, size=40)


class Unweighted(MLPClassifier):
    """A network whose fit does not read weights, as in scikit-learn before 1.7."""

    def fit(self, X, y):
        return super().fit(X, y)


class Weighted(MLPClassifier):
    """A network that sees a row as often as its weight says."""

    def fit(self, X, y, sample_weight=None):
        counts = np.ones(len(X), dtype=int) if sample_weight is None else sample_weight
        return super().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))


def alone(model):
    return model


def in_pipeline(model):
    return make_pipeline(MinMaxScaler(), model)


def small(kind, **options):
    return kind((3,), max_iter=20, solver="lbfgs", **options)


def probabilities(model, weights=None, random_state=0):
    return network_for(model, ROWS, LABELS, weights, random_state).probabilities(ROWS)


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("wrapped", [alone, in_pipeline])
def test_weights_are_used_where_fit_reads_them(wrapped):
    weighted = probabilities(wrapped(small(Weighted)), COUNTS)
    scaled = wrapped(small(Unweighted, random_state=0))
    scaled.fit(np.repeat(ROWS, COUNTS, axis=0), np.repeat(LABELS, COUNTS))
    assert np.allclose(weighted, scaled.predict_proba(ROWS))
    assert not np.allclose(weighted, probabilities(wrapped(small(Weighted))))


@pytest.mark.parametrize("wrapped", [alone, in_pipeline])
def test_weights_are_left_out_where_fit_does_not_read_them(wrapped):
    unweighted = probabilities(wrapped(small(Unweighted)))
    assert np.array_equal(probabilities(wrapped(small(Unweighted)), COUNTS), unweighted)


@pytest.mark.parametrize("wrapped", [alone, in_pipeline])
def test_the_seed_is_used_where_the_model_has_none(wrapped):
    first, second = (probabilities(wrapped(small(Unweighted)), random_state=seed) for seed in (0, 1))
    assert not np.allclose(first, second)
    own, same = (
        probabilities(wrapped(small(Unweighted, random_state=0)), random_state=seed) for seed in (0, 1)
    )
    assert np.array_equal(own, same)
    assert np.array_equal(own, first)


def test_the_given_model_stays_unfitted_and_a_fitted_one_is_used_as_it_is():
    model = small(Unweighted)
    probabilities(model)
    assert not hasattr(model, "coefs_")
    fitted = small(Unweighted, random_state=3).fit(ROWS, LABELS)
    assert np.array_equal(probabilities(fitted, random_state=5), fitted.predict_proba(ROWS))


def test_a_model_can_only_be_trained_with_labels():
    with pytest.raises(ValueError, match="Unweighted is not fitted and y is None"):
        network_for(small(Unweighted), ROWS, None, None, 0)


def test_the_network_trained_by_default_reads_categories_and_missing_numbers():
    rows = np.array([[value, number % 2] for number, value in enumerate(ROWS[:, 0])], dtype=object)
    rows[:, 1] = np.where(rows[:, 1] == 0, "even", "odd")
    rows[3, 0] = None
    network = network_for(None, rows, np.where(rows[:, 1] == "odd", 1, 0), None, 0)
    assert network.labels(rows).tolist() == [0, 1] * 20
