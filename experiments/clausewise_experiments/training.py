"""Train the paper's networks with PyTorch: class-weighted cross-entropy and Adam, as in its appendix."""

import random
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from clausewise_experiments.settings import NetworkSettings

ADAM_BETAS = (0.9, 0.999)
ADAM_EPSILON = 1e-7
ACTIVATIONS: dict[str, Callable[[], torch.nn.Module]] = {
    "tanh": torch.nn.Tanh,
    "relu": torch.nn.ReLU,
    "elu": torch.nn.ELU,
}


def train(
    X: NDArray[np.float32], y: NDArray[np.int64], n_classes: int, settings: NetworkSettings, seed: int
) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
    """Train on scaled rows; return weights (inputs × outputs) and biases of each layer.

    Training runs on one thread with every generator seeded, so equal calls give equal networks.
    """
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    random.seed(seed)
    model = build(X.shape[1], n_classes, settings)
    rows, classes = torch.from_numpy(np.ascontiguousarray(X, dtype=np.float32)), torch.from_numpy(y)
    weight_of_row = torch.from_numpy(balanced_weights(y, n_classes))[classes]
    optimizer = torch.optim.Adam(
        model.parameters(), lr=settings.learning_rate, betas=ADAM_BETAS, eps=ADAM_EPSILON, fused=True
    )
    for _ in range(settings.epochs):
        for batch in torch.split(torch.randperm(len(rows)), settings.batch_size):
            loss = torch.nn.functional.cross_entropy(model(rows[batch]), classes[batch], reduction="none")
            # As in Keras, the weighted loss is averaged over the batch; torch divides by the sum of weights.
            optimizer.zero_grad(set_to_none=True)
            (loss * weight_of_row[batch]).mean().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    dense = [layer for layer in model if isinstance(layer, torch.nn.Linear)]
    weights = [layer.weight.detach().numpy().T.copy() for layer in dense]
    return weights, [layer.bias.detach().numpy().copy() for layer in dense]


def build(n_inputs: int, n_classes: int, settings: NetworkSettings) -> torch.nn.Sequential:
    """Return dense layers initialised as in Keras, which the paper used: Glorot uniform, zero biases."""
    layers: list[torch.nn.Module] = []
    width = n_inputs
    for n_units in (*settings.hidden, n_classes):
        dense = torch.nn.Linear(width, n_units)
        torch.nn.init.xavier_uniform_(dense.weight)
        torch.nn.init.zeros_(dense.bias)
        layers += [dense, ACTIVATIONS[settings.activation]()]
        width = n_units
    return torch.nn.Sequential(*layers[:-1])


def balanced_weights(y: NDArray[np.int64], n_classes: int) -> NDArray[np.float32]:
    """Return a weight per class that gives all classes the same total."""
    counts = np.bincount(y, minlength=n_classes)
    return (len(y) / (n_classes * np.maximum(counts, 1))).astype(np.float32)
