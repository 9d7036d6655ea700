import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neural_network import MLPClassifier, MLPRegressor

import clausewise
from clausewise.networks.plain import UnsupportedLayerError
from tests.networks.forward import assert_layers, relu

X, Y = load_iris(return_X_y=True)
NAMES = load_iris().target_names


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


@pytest.mark.parametrize(
    ("name", "activation"),
    [
        ("relu", relu),
        ("tanh", np.tanh),
        ("logistic", lambda x: 1 / (1 + np.exp(-x))),
        ("identity", lambda x: x),
    ],
)
def test_a_classifier_gives_its_own_layers_and_probabilities(name, activation):
    model = fitted(MLPClassifier((7, 4), activation=name, max_iter=20, random_state=0), X, NAMES[Y])
    network = clausewise.wrap(model)
    first = activation(X @ model.coefs_[0] + model.intercepts_[0])
    second = activation(first @ model.coefs_[1] + model.intercepts_[1])
    assert_layers(network, X, {"hidden 1": first, "hidden 2": second})
    np.testing.assert_allclose(network.probabilities(X), model.predict_proba(X))
    np.testing.assert_array_equal(network.labels(X), model.predict(X))
    assert network.classes.tolist() == NAMES.tolist()


def test_a_classifier_of_two_classes_gives_its_own_decisions():
    model = fitted(MLPClassifier((5,), max_iter=50, random_state=0), X, Y == 1)
    network = clausewise.wrap(model)
    np.testing.assert_array_equal(network.labels(X), model.predict(X))
    np.testing.assert_allclose(network.probabilities(X), model.predict_proba(X))


def test_a_single_class_is_always_decided():
    model = fitted(MLPClassifier((5,), max_iter=5, random_state=0), X, np.full(len(X), "all"))
    assert set(clausewise.wrap(model).labels(X)) == {"all"}


def test_a_regressor_needs_cut_points():
    model = fitted(MLPRegressor(hidden_layer_sizes=(6,), max_iter=50, random_state=0), X[:, :3], X[:, 3])
    with pytest.raises(ValueError, match=r"estimates a number .* ascending cut points"):
        clausewise.wrap(model).labels(X[:, :3])
    network = clausewise.wrap(model, output=[0.8, 1.6], classes=["thin", "middle", "wide"])
    expected = np.array(["thin", "middle", "wide"])[np.searchsorted([0.8, 1.6], model.predict(X[:, :3]))]
    np.testing.assert_array_equal(network.labels(X[:, :3]), expected)
    np.testing.assert_allclose(clausewise.wrap(model).outputs(X[:, :3])[:, 0], model.predict(X[:, :3]))


def test_an_unfitted_model_is_refused():
    with pytest.raises(NotFittedError, match="MLPClassifier instance is not fitted yet"):
        clausewise.wrap(MLPClassifier())


def test_several_labels_per_row_are_refused():
    model = fitted(MLPClassifier((5,), max_iter=5, random_state=0), X, np.column_stack([Y == 0, Y == 1]))
    with pytest.raises(ValueError, match="several labels per row"):
        clausewise.wrap(model)


class Contrary(MLPClassifier):
    """A network that predicts in another way than its layers."""

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]


def test_a_class_with_its_own_predictions_is_asked_for_them():
    model = fitted(Contrary((5,), max_iter=50, random_state=0), X, Y == 1)
    assert (clausewise.wrap(model).labels(X) == model.predict(X)).all()
    with pytest.raises(UnsupportedLayerError):
        clausewise.wrap(model).plain(X)
