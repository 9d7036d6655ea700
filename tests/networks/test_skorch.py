import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
skorch = pytest.importorskip("skorch", reason="skorch is not installed")

from torch import nn  # noqa: E402

import clausewise  # noqa: E402

X = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
Y = (X[:, 0] > X[:, 1]).astype(np.int64)


def body(n_inputs, *last):
    return nn.Sequential(nn.Linear(n_inputs, 6), nn.ReLU(), nn.Linear(6, 2), *last)


def classifier(module, **options):
    options = {"max_epochs": 3, "verbose": 0, "train_split": None, **options}
    torch.manual_seed(0)
    return skorch.NeuralNetClassifier(module, **options)


@pytest.mark.parametrize(("last", "loss"), [((), nn.CrossEntropyLoss), ((nn.Softmax(dim=1),), nn.NLLLoss)])
def test_a_classifier_decides_as_skorch_does(last, loss):
    net = classifier(body(4, *last), criterion=loss).fit(X, Y)
    network = clausewise.wrap(net)
    np.testing.assert_array_equal(network.labels(X), net.predict(X))
    np.testing.assert_allclose(network.probabilities(X), net.predict_proba(X), atol=1e-5)
    assert network.classes.tolist() == [0, 1]
    assert network.layer_names == ("1",)


def test_a_binary_classifier_gives_the_second_class():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 1), nn.Flatten(0))
    net = skorch.NeuralNetBinaryClassifier(module, max_epochs=3, verbose=0, train_split=None)
    net.fit(X, Y.astype(np.float32))
    np.testing.assert_array_equal(clausewise.wrap(net).codes(X), net.predict(X))


@pytest.mark.parametrize("threshold", [0.4, 0.62])
def test_a_binary_classifier_decides_at_its_own_threshold(threshold):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 1), nn.Flatten(0))
    net = skorch.NeuralNetBinaryClassifier(
        module, max_epochs=20, lr=0.1, verbose=0, train_split=None, threshold=threshold
    )
    net.fit(X, Y.astype(np.float32))
    network = clausewise.wrap(net)
    assert (net.predict(X) != (net.predict_proba(X)[:, 1] > 0.5)).any()
    np.testing.assert_array_equal(network.codes(X), net.predict(X))
    np.testing.assert_allclose(network.probabilities(X), net.predict_proba(X), atol=1e-5)


def test_a_pipeline_before_a_net_is_read_from_raw_rows():
    raw = np.column_stack([X[:, :2], np.arange(60) % 3])
    encoder = ColumnTransformer([("numbers", StandardScaler(), [0, 1]), ("codes", OneHotEncoder(), [2])])
    single = FunctionTransformer(np.float32, feature_names_out="one-to-one")
    model = make_pipeline(encoder, single, classifier(body(5), criterion=nn.CrossEntropyLoss)).fit(raw, Y)
    network = clausewise.wrap(model, feature_names=["a", "b", "code"])
    np.testing.assert_array_equal(network.labels(raw), model.predict(raw))
    assert network.features(raw).kinds == ("numeric", "numeric", "categorical")


def test_a_regressor_needs_cut_points():
    torch.manual_seed(0)
    net = skorch.NeuralNetRegressor(nn.Sequential(nn.Linear(4, 1)), max_epochs=1, verbose=0, train_split=None)
    net.fit(X, X[:, :1])
    with pytest.raises(ValueError, match="estimates a number"):
        clausewise.wrap(net).labels(X)
    assert clausewise.wrap(net, output=[0.0]).labels(X)[0] in ("≤ 0", "> 0")


def test_a_net_that_was_never_fitted_is_refused():
    with pytest.raises(NotFittedError, match="This NeuralNetClassifier is not fitted yet"):
        clausewise.wrap(classifier(body(4)))


def test_preprocessing_of_a_module_is_followed_back():
    encoder = ColumnTransformer([("codes", OneHotEncoder(), [0]), ("rest", "passthrough", [1])])
    raw = np.column_stack([np.arange(60) % 3, X[:, 0]])
    network = clausewise.wrap(body(4), preprocess=encoder.fit(raw), feature_names=["code", "size"])
    assert network.features(raw).kinds == ("categorical", "numeric")
    with torch.no_grad():
        expected = body_outputs(network, encoder.transform(raw))
    np.testing.assert_allclose(network.outputs(raw), expected, atol=1e-6)


def body_outputs(network, rows):
    return network._backend._module(torch.tensor(rows, dtype=torch.float32)).numpy()
