"""Convolutional and recurrent networks, trained on recorded sequences."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch import nn  # noqa: E402

import clausewise  # noqa: E402
from tests.networks.forward import conv1d, gru, linear, max_pool, parameters, relu, sigmoid  # noqa: E402
from tests.networks.modules import Convolutional, Recurrent, seeded  # noqa: E402
from tests.shared import SHARED  # noqa: E402

pytestmark = pytest.mark.skipif(
    not (SHARED / "data").is_dir(), reason="the recorded sequences are not available"
)


def recorded(name):
    """X (rows × channels × positions, single precision) and y for training and for testing."""
    with np.load(SHARED / "data" / f"ts_{name}.npz", allow_pickle=False) as file:
        X, y, is_test = file["X"].astype(np.float32), file["y"].astype(np.int64), file["is_test"].astype(bool)
    return X[~is_test], y[~is_test], X[is_test], y[is_test]


@pytest.fixture(autouse=True)
def one_thread():
    """Threads that wait for each other take longer than these small products do."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)


def trained(module, X, y, loss, n_epochs=60):
    optimizer = torch.optim.Adam(module.parameters(), lr=0.02)
    X, y = torch.tensor(X), torch.tensor(y)
    for _ in range(n_epochs):
        optimizer.zero_grad()
        loss(module(X), y).backward()
        optimizer.step()
    return module


def test_a_convolutional_network_on_power_demand():
    X, y, X_test, y_test = recorded("ItalyPowerDemand")
    module = trained(seeded(Convolutional, 1), X, y.astype(np.float32), nn.BCELoss())
    values = parameters(module)
    pooled = max_pool(relu(conv1d(X_test, values["body.0.weight"], values["body.0.bias"])), 2)
    mean = np.tanh(conv1d(pooled, values["body.3.weight"], values["body.3.bias"])).mean(axis=2)
    network = clausewise.wrap(module)
    first, last = network.hidden_layers(X_test)
    np.testing.assert_allclose(first.matrix, pooled.reshape(len(pooled), -1), atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(last.matrix, mean, atol=1e-4)
    chance = sigmoid(linear(mean, values, "head"))[:, 0]
    np.testing.assert_allclose(network.probabilities(X_test)[:, 1], chance, atol=1e-4)
    assert (network.codes(X_test) == y_test).mean() > 0.7
    assert first.unit_names[-1] == "body.2[c=3, x=10]"


def test_a_recurrent_network_on_vowels():
    X, y, X_test, y_test = (
        part.swapaxes(1, 2) if part.ndim == 3 else part for part in recorded("JapaneseVowels_eq")
    )
    n_classes = int(y.max()) + 1
    module = trained(seeded(Recurrent, nn.GRU, n_inputs=12, n_classes=n_classes), X, y, nn.CrossEntropyLoss())
    values = parameters(module)
    gates = [values[f"rnn.{part}_l0"] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    states = gru(X_test, *gates)
    network = clausewise.wrap(module)
    (last,) = network.hidden_layers(X_test)
    np.testing.assert_allclose(last.matrix, states[:, -1], atol=1e-4)
    (every,) = network.hidden_layers(X_test, layers="rnn.h")
    np.testing.assert_allclose(every.matrix, states.reshape(len(states), -1), atol=1e-4)
    assert every.unit_names[-1] == f"rnn.h[t={X.shape[1] - 1}, 4]"
    assert (network.codes(X_test) == y_test).mean() > 0.7
