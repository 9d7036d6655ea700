"""Forward passes in plain NumPy, written from the definitions and not from the adapters."""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def relu(x):
    return np.where(x > 0, x, 0)


def conv1d(x, kernel, bias):
    """x: rows × channels × positions, kernel: out × in × width."""
    n_positions = x.shape[2] - kernel.shape[2] + 1
    made = np.empty((len(x), len(kernel), n_positions))
    for place in range(n_positions):
        window = x[:, :, place : place + kernel.shape[2]]
        made[:, :, place] = np.einsum("rcw,ocw->ro", window, kernel) + bias
    return made


def max_pool(x, width):
    n_kept = x.shape[2] // width
    return x[:, :, : n_kept * width].reshape(*x.shape[:2], n_kept, width).max(axis=3)


def gru(x, w_input, w_hidden, b_input, b_hidden):
    """PyTorch's GRU (gates reset, update, new): rows × time × inputs → all states, rows × time × units."""
    n_units = w_hidden.shape[1]
    h = np.zeros((len(x), n_units))
    states = []
    for t in range(x.shape[1]):
        from_input, from_hidden = x[:, t] @ w_input.T + b_input, h @ w_hidden.T + b_hidden
        i_reset, i_update, i_new = np.split(from_input, 3, axis=1)
        h_reset, h_update, h_new = np.split(from_hidden, 3, axis=1)
        reset, update = sigmoid(i_reset + h_reset), sigmoid(i_update + h_update)
        new = np.tanh(i_new + reset * h_new)
        h = (1 - update) * new + update * h
        states.append(h)
    return np.stack(states, axis=1)


def lstm(x, w_input, w_hidden, b_input, b_hidden):
    """PyTorch's LSTM: gates input, forget, cell, output."""
    h = c = np.zeros((len(x), w_hidden.shape[1]))
    states = []
    for t in range(x.shape[1]):
        gates = x[:, t] @ w_input.T + b_input + h @ w_hidden.T + b_hidden
        i, f, g, o = np.split(gates, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        states.append(h)
    return np.stack(states, axis=1)


def parameters(module):
    """The parameters of a PyTorch module as double arrays, by name."""
    return {name: value.detach().double().numpy() for name, value in module.named_parameters()}


def linear(x, values, name):
    return x @ values[f"{name}.weight"].T + values[f"{name}.bias"]


def assert_layers(network, X, expected):
    """The network's hidden layers are these, in order: name → matrix."""
    found = {layer.name: layer.matrix for layer in network.hidden_layers(X)}
    assert list(found) == list(expected)
    for name, matrix in expected.items():
        assert found[name].dtype == np.float32
        np.testing.assert_allclose(
            found[name], matrix.reshape(len(matrix), -1), atol=2e-5, rtol=1e-4, err_msg=name
        )
