"""What a network says about rows: the one reader of `network=`, a model or the labels that it gave."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from clausewise.data.features import Features
from clausewise.data.labels import Label, Labels, class_meant, plain_label, read_labels, require_no_missing
from clausewise.data.responses import read_responses
from clausewise.data.rows import as_rows, raw_rows
from clausewise.data.table import names_in, rows_as_table
from clausewise.networks.detect import wrap
from clausewise.networks.network import Network


@dataclass(frozen=True, eq=False)
class NetworkAnswers:
    """What a network says about rows.

    Attributes
    ----------
    labels : Labels
        The label of each row.
    network : Network or None
        The network itself; None if only its labels are known.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        The probability of each class of the rules, if it was asked for and the network has probabilities.
    """

    labels: Labels
    network: Network | None = None
    probabilities: NDArray[np.float64] | None = None


def are_labels(network: Any) -> bool:
    """Return whether `network` holds labels of rows rather than being a model."""
    is_model = hasattr(network, "predict") or callable(network)
    is_array = hasattr(network, "__array__") and not is_model
    return is_array or isinstance(network, list | tuple | Number)


def are_numbers(labels: Any) -> bool:
    """Return whether an array of answers holds measured numbers rather than labels: some are not whole."""
    answers = np.asarray(labels)
    require_no_missing(answers, "the array of labels")
    return type_of_target(answers) in ("continuous", "continuous-multioutput")


def states_output(model: Any) -> bool:
    """Return whether a model says by itself what its output means, as a plain function does not."""
    is_model = hasattr(model, "predict") or hasattr(model, "predict_proba")
    is_function = callable(model) and not is_model and not hasattr(model, "parameters")
    return not is_function


def ask_network(
    network: Any,
    X: Any,
    features: Features,
    classes: Sequence[Label],
    n_rows: int,
    *,
    name: str = "network",
    allow_unknown: bool = True,
    probabilities: bool = False,
) -> NetworkAnswers:
    """Return the answers of a model (anything that `wrap` takes), or those in an array of its labels.

    The model evaluates the rows once. What is measured may include classes that the rules do not know, which
    count as wrong; what is learnt may not (`allow_unknown=False`).
    """
    if are_labels(network):
        return NetworkAnswers(read_labels(network, classes, n_rows, name, allow_unknown=allow_unknown))
    wrapped = wrap(network)
    rows = model_rows(wrapped, X, features)
    run = wrapped.run(rows, hidden=False, probabilities=probabilities)
    labels = read_labels(wrapped.classes[run.codes], classes, n_rows, name, allow_unknown=allow_unknown)
    if run.probabilities is None or not wrapped.has_probabilities:
        return NetworkAnswers(labels, wrapped)
    return NetworkAnswers(labels, wrapped, _of_classes(run.probabilities, wrapped.classes.tolist(), classes))


def ask_numbers(
    network: Any, X: Any, features: Features, n_rows: int, *, name: str = "network"
) -> NDArray[np.float64]:
    """Return the numbers of a model (anything that `wrap` takes), or those in an array, one per row."""
    if are_labels(network):
        return read_responses(network, n_rows, name)
    wrapped = number_model(network)
    return one_number(wrapped.numbers(model_rows(wrapped, X, features)), name)


def number_model(model: Any) -> Network:
    """Return the wrapped model; a plain function is taken to return numbers."""
    return wrap(model) if isinstance(model, Network) or states_output(model) else wrap(model, output="number")


def one_number(numbers: NDArray[np.float64], name: str = "network") -> NDArray[np.float64]:
    """Return the only column of a model's outputs."""
    if numbers.shape[1] != 1:
        raise ValueError(
            f"{name} has {numbers.shape[1]} outputs; pass the numbers of one of them, or a function that "
            "returns one."
        )
    return numbers[:, 0]


def _of_classes(
    probabilities: NDArray[np.float64], own: Sequence[Label], classes: Sequence[Label]
) -> NDArray[np.float64]:
    """Return the probabilities of a network's own classes as columns for the classes of rules."""
    columns = np.zeros((len(probabilities), len(classes)))
    for position, label in enumerate(own):
        code = class_meant(plain_label(label), classes)
        if code is not None:
            columns[:, code] = probabilities[:, position]
    return columns


def rows_to_learn_from(network: Any, X: Any) -> Any:
    """Return rows as they can be chosen by position: raw ones if a network computes columns from them."""
    is_raw = isinstance(network, Network) and network.computes_features
    return raw_rows(X) if is_raw else as_rows(X)


def model_rows(model: Any, X: Any, features: Features) -> Any:
    """Return rows as a model reads them.

    Of a DataFrame, it gets the columns that it names; if it names none, all of them if it reads as many, else
    those of the features. Rows from which the features are computed are passed on as they are.
    """
    if features.source is not None:
        return _raw(model, X, features)
    rows = as_rows(rows_as_table(X, len(features)))
    frame = nw.from_native(rows, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or not features.named:
        return rows
    wanted = getattr(model, "feature_names", None)
    if wanted is None:
        reads_more = getattr(model, "n_inputs", None) == len(frame.columns) > len(features)
        wanted = frame.columns if reads_more else features.names
    chosen = list(wanted)
    if chosen == frame.columns or not set(chosen) <= set(frame.columns):
        return rows
    return frame.select(chosen).to_native()


def _raw(model: Any, X: Any, features: Features) -> Any:
    """Return raw rows for a model; the columns that were computed from them do not suffice."""
    assert features.source is not None
    if set(names_in(X)) == set(features.names):
        raise ValueError(
            f"X has the columns that {features.source.title} computes, but the network reads the rows from "
            "which they are computed; pass these rows."
        )
    return raw_rows(X)


def labels_by(network: Any) -> Callable[[Any], NDArray[Any]]:
    """Return the function that gives the labels of a model to any rows; labels themselves are refused."""
    if are_labels(network):
        raise TypeError(f"network is a {type(network).__name__} of labels; pass the model itself.")
    return wrap(network).labels
