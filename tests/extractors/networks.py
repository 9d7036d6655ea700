"""Random networks and rows for the tests of extractors."""

from itertools import pairwise

import numpy as np

from clausewise.networks import ArrayNetwork


def random_network(rng, n_inputs, n_classes, *, n_layers=None, activation=None):
    """A small network with random weights."""
    widths = [n_inputs, *rng.integers(2, 7, n_layers or rng.integers(1, 4)), n_classes]
    pairs = list(pairwise(widths))
    weights = [rng.normal(size=pair).astype(np.float32) for pair in pairs]
    biases = [rng.normal(size=pair[1]).astype(np.float32) for pair in pairs]
    kind = activation or rng.choice(["relu", "tanh", "elu", "sigmoid"])
    return ArrayNetwork(weights, biases, activation=str(kind))


def random_rows(rng, n_rows, n_columns):
    """Rows with many equal values."""
    return rng.normal(size=(n_rows, n_columns)).round(int(rng.integers(0, 3)))
