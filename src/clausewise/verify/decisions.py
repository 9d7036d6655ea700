"""A network's decisions as inequalities between its outputs, which hold after rounding too."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logit

from clausewise.data.labels import Label, class_meant, plain_label
from clausewise.networks.plain import Activation, Floats, PlainNetwork, UnsupportedLayerError
from clausewise.networks.plain_inputs import PlainModel
from clausewise.verify.relaxation import FUNCTION_ERROR, unit_roundoff


@dataclass(frozen=True, eq=False)
class Decision:
    """When a class is predicted.

    It is predicted where `functions @ outputs + offsets` are all above the margin, and not predicted where
    one of them is below minus the margin.

    Attributes
    ----------
    functions : ndarray of shape (n_functions, n_outputs)
        Linear functions of the outputs of the last step.
    offsets : ndarray of shape (n_functions,)
        Their constant parts.
    margin, relative_margin : float
        What rounding after the last step may change: `margin` plus `relative_margin` times the largest
        output.
    """

    functions: Floats
    offsets: Floats
    margin: float = 0.0
    relative_margin: float = 0.0

    def values(self, outputs: Floats) -> Floats:
        """Return the least of the functions for each row: negative where another class is predicted."""
        return np.asarray((outputs @ self.functions.T + self.offsets).min(axis=1))

    def margins(self, magnitude: Floats) -> Floats:
        """Return the margin that is needed where outputs are at most so large."""
        return self.margin + self.relative_margin * magnitude


def decisions_of(
    model: PlainModel, classes: Sequence[Label], own: Sequence[Any]
) -> tuple[PlainNetwork, list[Decision | None]]:
    """Return the network up to the outputs that decide, and the decision for each class of the rules.

    Parameters
    ----------
    model : PlainModel
        The network.
    classes : sequence
        The classes of the rules.
    own : sequence
        The classes of the network. A class of the rules that is not among them is never predicted: None.
    """
    reader, network = model.reader, model.network
    if reader.convert is not None or (reader.form in ("labels", "predictions") and not reader.cut_points):
        raise UnsupportedLayerError(
            "The network's output is read by a function or as labels; proofs need logits, probabilities or "
            "cut "
            "points."
        )
    if reader.cut_points:
        found = _between_cut_points(reader.cut_points)
    elif reader.n_columns == 1:
        network, found = _of_one_output(network, reader.form, reader.threshold)
    else:
        found = _of_largest(network, reader.n_columns)
    places: dict[int, Decision] = {}
    for position, label in enumerate(own):
        code = class_meant(plain_label(label), classes)
        if code is not None:
            places[code] = found[position]
    return network, [places.get(code) for code in range(len(classes))]


def _of_largest(network: PlainNetwork, n_classes: int) -> list[Decision]:
    """Return the decisions for the largest output; softmax may make nearly equal outputs equal."""
    error = FUNCTION_ERROR[network.dtype]
    margin = {"": 0.0, "softmax": 4 * error, "log_softmax": 8 * error}[network.softmax]
    relative = 16 * unit_roundoff(network.dtype) if network.softmax == "log_softmax" else 0.0
    every = np.eye(n_classes)
    return [
        Decision(every[one] - np.delete(every, one, axis=0), np.zeros(n_classes - 1), margin, relative)
        for one in range(n_classes)
    ]


def _of_one_output(network: PlainNetwork, form: str, threshold: float) -> tuple[PlainNetwork, list[Decision]]:
    """Return the decisions of a single output; a sigmoid at the end is undone, which makes bounds tighter."""
    last = network.steps[-1] if network.steps else None
    error = FUNCTION_ERROR[network.dtype]
    cut, margin = threshold, error * (1.0 + abs(threshold))
    if form == "logits":
        cut = float(logit(threshold))
        margin = error * abs(cut)
    elif isinstance(last, Activation) and last.name == "sigmoid" and last.source == len(network.steps) - 1:
        network = replace(network, steps=network.steps[:-1], sizes=network.sizes[:-1])
        cut = float(logit(threshold))
        margin = 4 * error / (threshold * (1.0 - threshold)) + error * abs(cut)
    one = np.ones((1, 1))
    return network, [
        Decision(-one, np.array([cut]), margin),
        Decision(one, np.array([-cut]), margin),
    ]


def _between_cut_points(cuts: Sequence[float]) -> list[Decision]:
    """Return the decisions of a number between cut points; single precision may round these."""
    found = []
    margin = 2.0**-22 * max(abs(cut) for cut in cuts)
    for position in range(len(cuts) + 1):
        rows, offsets = [], []
        if position > 0:
            rows.append([1.0])
            offsets.append(-cuts[position - 1])
        if position < len(cuts):
            rows.append([-1.0])
            offsets.append(cuts[position])
        found.append(Decision(np.array(rows), np.array(offsets), margin))
    return found
