"""Training the paper's networks with PyTorch: class-weighted cross-entropy, Adam, as its appendix says."""

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
    """Weights (inputs × outputs) and biases of each layer, trained on rows that are scaled already.

    On one thread and with everything seeded, so that the same call gives the same network.
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
            # The mean over the batch, as Keras weighs classes; torch's own weights would divide by their sum.
            optimizer.zero_grad(set_to_none=True)
            (loss * weight_of_row[batch]).mean().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    dense = [layer for layer in model if isinstance(layer, torch.nn.Linear)]
    weights = [layer.weight.detach().numpy().T.copy() for layer in dense]
    return weights, [layer.bias.detach().numpy().copy() for layer in dense]


def build(n_inputs: int, n_classes: int, settings: NetworkSettings) -> torch.nn.Sequential:
    """Dense layers that start as in Keras, which the paper used: Glorot uniform weights, biases of 0."""
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
    """A weight for each class, so that all classes together count alike."""
    counts = np.bincount(y, minlength=n_classes)
    return (len(y) / (n_classes * np.maximum(counts, 1))).astype(np.float32)
