"""Random feed-forward networks of every supported kind."""

from itertools import pairwise

import numpy as np

from clausewise.networks.plain import PlainBuilder, PlainNetwork

ACTIVATIONS = ("relu", "leaky_relu", "elu", "softplus", "tanh", "sigmoid")


def random_network(
    activation: str,
    seed: int,
    *,
    sizes: tuple[int, ...] = (3, 12, 8, 2),
    dtype: type = np.float64,
    residual: bool = False,
) -> PlainNetwork:
    """Return dense layers with random weights; with batch normalisation and sums if `residual`."""
    random = np.random.RandomState(seed)
    builder = PlainBuilder("test", sizes[0], dtype)
    step = 0
    for n_in, n_out in pairwise(sizes[:-1]):
        step = builder.dense(step, *_layer(random, n_in, n_out, dtype))
        if residual:
            mean, variance, gamma, beta = random.normal(size=(4, n_out)).astype(dtype)
            step = builder.batch_norm(step, mean, variance**2 + 0.5, 1e-5, gamma, beta)
        step = builder.activation(step, activation, {"leaky_relu": 0.1, "elu": 1.0}.get(activation, 0.0))
        if residual:
            inner = builder.dense(step, *_layer(random, n_out, n_out, dtype))
            inner = builder.activation(
                inner, activation, {"leaky_relu": 0.1, "elu": 0.7}.get(activation, 0.0)
            )
            step = builder.add([step, inner])
    return builder.build(builder.dense(step, *_layer(random, sizes[-2], sizes[-1], dtype)))


def _layer(
    random: np.random.RandomState, n_in: int, n_out: int, dtype: type
) -> tuple[np.ndarray, np.ndarray]:
    weights = 1.5 * random.normal(size=(n_in, n_out)) / np.sqrt(n_in)
    return weights.astype(dtype), (0.3 * random.normal(size=n_out)).astype(dtype)
