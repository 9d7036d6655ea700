"""Trained networks, saved in files whose names are a hash of rows, fold and settings."""

import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.io.atomic import write_atomically
from clausewise.networks import ArrayNetwork
from clausewise_experiments.data import DataNotFoundError, TaskData, find_file
from clausewise_experiments.folds import Fold
from clausewise_experiments.settings import NetworkSettings, TaskSettings, digest

# Increase this when training changes in a way that the settings do not show.
TRAINING_VERSION = 1


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A network as arrays, and the scaling of its inputs: (x − low) / width."""

    weights: Sequence[NDArray[Any]]
    biases: Sequence[NDArray[Any]]
    low: NDArray[np.float64]
    width: NDArray[np.float64]

    def wrapped(self, activation: str, feature_names: Sequence[str]) -> ArrayNetwork:
        """Return a network on raw rows, with the scaling folded into its first layer."""
        first = self.weights[0].astype(np.float64)
        weights = [first / self.width[:, None], *(w.astype(np.float64) for w in self.weights[1:])]
        biases = [b.astype(np.float64) for b in self.biases]
        biases[0] = biases[0] - (self.low / self.width) @ first
        return ArrayNetwork(weights, biases, activation=activation, feature_names=list(feature_names))

    def save(self, path: Path, notes: dict[str, Any]) -> None:
        """Save the network atomically."""
        arrays: dict[str, Any] = {"low": self.low, "width": self.width, "notes": np.array(json.dumps(notes))}
        for number, (matrix, vector) in enumerate(zip(self.weights, self.biases, strict=True)):
            arrays |= {f"W_{number}": matrix, f"b_{number}": vector}
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, buffer.getvalue())

    @staticmethod
    def load(path: Path) -> "TrainedNetwork":
        """Load a saved network."""
        with np.load(path, allow_pickle=False) as file:
            n_layers = sum(name.startswith("W_") for name in file.files)
            return TrainedNetwork(
                [file[f"W_{number}"] for number in range(n_layers)],
                [file[f"b_{number}"] for number in range(n_layers)],
                file["low"],
                file["width"],
            )


def network_key(data_digest: str, task: TaskSettings, fold: int) -> str:
    """Return the name of a network's file, which changes with rows, folds, settings and training."""
    return digest([TRAINING_VERSION, data_digest, task.folds, asdict(task.network), fold])


def network_of(data: TaskData, fold: Fold, number: int, settings: NetworkSettings) -> TrainedNetwork:
    """Train the network of a fold, or load the published one."""
    X = data.X[fold.train].astype(np.float64)
    low, width = scaling_of(X, settings)
    if settings.use_published:
        weights, biases = published(settings, number)
        return TrainedNetwork(weights, biases, low, width)
    from clausewise_experiments.training import train  # importing torch takes seconds

    scaled = ((X - low) / width).astype(np.float32)
    seed = settings.seed + number
    weights, biases = train(scaled, data.y[fold.train], len(data.class_names), settings, seed)
    return TrainedNetwork(weights, biases, low, width)


def scaling_of(
    X: NDArray[np.float64], settings: NetworkSettings
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return minimum and range of each column of the training rows; 0 and 1 if nothing is scaled."""
    if settings.scaling == "none":
        return np.zeros(X.shape[1]), np.ones(X.shape[1])
    low = X.min(axis=0)
    width = X.max(axis=0) - low
    return low, np.where(width > 0, width, 1.0)


def published(
    settings: NetworkSettings, number: int
) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
    """Return weights and biases of the published network of a fold."""
    path = find_file(settings.published)
    if path is None:
        raise DataNotFoundError(
            f"The published networks, {settings.published}, are not in the data folder; train them instead."
        )
    layers = range(len(settings.hidden) + 1)
    with np.load(path, allow_pickle=False) as file:
        return [file[f"fold{number}_W{i}"] for i in layers], [file[f"fold{number}_b{i}"] for i in layers]
