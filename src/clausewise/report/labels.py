"""Labels of rows, as places in the classes of the rules; labels that the rules do not know come behind."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.networks import Network, wrap
from clausewise.rules.rule import Label, plain_label


@dataclass(frozen=True, eq=False)
class Labels:
    """One label per row: `codes` are places in `classes` followed by `extra`."""

    codes: NDArray[np.int64]
    classes: tuple[Label, ...]
    extra: tuple[Label, ...]

    @property
    def values(self) -> NDArray[Any]:
        """The labels themselves."""
        return np.array([*self.classes, *self.extra])[self.codes]


def read_labels(values: Any, classes: tuple[Label, ...], n_rows: int, name: str) -> Labels:
    """Labels checked against the rules' classes; `name` is what errors call them."""
    array = np.asarray(values)
    if array.shape != (n_rows,):
        raise ValueError(f"{name} has shape {array.shape} for {n_rows:,} rows; pass one label per row.")
    distinct, places = _distinct(array)
    try:
        labels = [plain_label(label) for label in distinct]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None
    code_of = {(_kind(label), label): code for code, label in enumerate(classes)}
    extra = [label for label in labels if (_kind(label), label) not in code_of]
    if extra and (len(extra) == len(labels) or any(_kind(label) != _kind(classes[0]) for label in extra)):
        shown, known = (", ".join(map(repr, listed[:5])) for listed in (extra, classes))
        raise ValueError(
            f"{name} holds {shown}, which the rules do not know; their classes are {known}. Pass the labels "
            "that the rules conclude."
        )
    code_of |= {(_kind(label), label): len(classes) + place for place, label in enumerate(extra)}
    codes = np.array([code_of[_kind(label), label] for label in labels], dtype=np.int64)
    return Labels(codes[places], classes, tuple(extra))


def _distinct(array: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    if array.dtype != object:
        values, places = np.unique(array, return_inverse=True)
        return values.tolist(), places
    place_of: dict[Any, int] = {}
    places = np.array([place_of.setdefault(value, len(place_of)) for value in array.tolist()], dtype=np.intp)
    return list(place_of), places


def _kind(label: Label) -> type:
    """True is not 1 here, though Python thinks so; 1 and 1.0 are the same."""
    return str if isinstance(label, str) else bool if isinstance(label, bool) else float


@dataclass(frozen=True, eq=False)
class NetworkAnswers:
    """What a network says about rows, and the network itself unless only its labels were given."""

    labels: Labels
    network: Network | None

    def probabilities(self, rows: Any, classes: tuple[Label, ...]) -> NDArray[np.float64] | None:
        """Of these rows, one column per class of the rules; None if only labels are known."""
        if self.network is None:
            return None
        given = self.network.probabilities(rows)
        place_of = {plain_label(label): place for place, label in enumerate(self.network.classes.tolist())}
        columns = np.zeros((len(given), len(classes)))
        for code, label in enumerate(classes):
            if label in place_of:
                columns[:, code] = given[:, place_of[label]]
        return columns


def ask_network(network: Any, X: Any, classes: tuple[Label, ...], n_rows: int) -> NetworkAnswers:
    """The answers of a network (anything that `wrap` takes), or those in an array of labels."""
    is_model = hasattr(network, "predict") or callable(network)
    if isinstance(network, list | tuple) or (hasattr(network, "__array__") and not is_model):
        return NetworkAnswers(read_labels(network, classes, n_rows, "network"), None)
    wrapped = network if isinstance(network, Network) else wrap(network)
    return NetworkAnswers(read_labels(wrapped.labels(X), classes, n_rows, "network"), wrapped)
