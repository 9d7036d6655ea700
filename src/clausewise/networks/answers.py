"""What a network says about rows: the one reader of `network=`, a model or the labels that it gave."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.data.labels import Label, Labels, class_meant, plain_label, read_labels
from clausewise.networks.detect import UnsupportedModelError, wrap
from clausewise.networks.network import Network


@dataclass(frozen=True, eq=False)
class NetworkAnswers:
    """The labels that a network gives to rows, and the network itself unless only its labels were given."""

    labels: Labels
    network: Network | None

    def probabilities(self, rows: Any, classes: Sequence[Label]) -> NDArray[np.float64] | None:
        """Return the probabilities of these rows, one column per class; None if only labels are known."""
        if self.network is None:
            return None
        given = self.network.probabilities(rows)
        columns = np.zeros((len(given), len(classes)))
        for position, label in enumerate(self.network.classes.tolist()):
            code = class_meant(plain_label(label), classes)
            if code is not None:
                columns[:, code] = given[:, position]
        return columns


def are_labels(network: Any) -> bool:
    """Return whether `network` holds labels of rows rather than being a model."""
    is_model = hasattr(network, "predict") or callable(network)
    is_array = hasattr(network, "__array__") and not is_model
    return is_array or isinstance(network, list | tuple | Number)


def ask_network(
    network: Any,
    X: Any,
    classes: Sequence[Label],
    n_rows: int,
    *,
    name: str = "network",
    allow_unknown: bool = True,
) -> NetworkAnswers:
    """Return the answers of a model (anything that `wrap` takes), or those in an array of its labels.

    What is measured may include classes that the rules do not know, which count as wrong; what is learnt may
    not (`allow_unknown=False`).
    """
    if are_labels(network):
        return NetworkAnswers(read_labels(network, classes, n_rows, name, allow_unknown=allow_unknown), None)
    wrapped = _wrapped(network)
    given = _predicted(network, X, name) if wrapped is None else wrapped.labels(X)
    return NetworkAnswers(read_labels(given, classes, n_rows, name, allow_unknown=allow_unknown), wrapped)


def model_labels(network: Any, X: Any) -> NDArray[Any]:
    """Return the labels that a model gives to rows; labels themselves are refused."""
    if are_labels(network):
        raise TypeError(f"network is a {type(network).__name__} of labels; pass the model itself.")
    wrapped = _wrapped(network)
    return _predicted(network, X, "network") if wrapped is None else wrapped.labels(X)


def _wrapped(network: Any) -> Network | None:
    """The model as a Network; None for one that can only be asked for its decisions."""
    if isinstance(network, Network):
        return network
    try:
        return wrap(network)
    except UnsupportedModelError:
        if hasattr(network, "predict") or callable(network):
            return None
        raise


def _predicted(network: Any, X: Any, name: str) -> NDArray[Any]:
    """What `predict`, or the function itself, says about rows."""
    labels = np.asarray(network.predict(X) if hasattr(network, "predict") else network(X))
    if labels.ndim != 1:
        raise ValueError(f"{name} returned an array of shape {labels.shape}; expected one label per row.")
    return labels
