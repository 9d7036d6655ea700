"""What an adapter for a framework gives: the tensors inside a network, and their values for rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

OutputForm = Literal["logits", "probabilities", "sigmoids", "labels", "number"]
"""What the numbers of the output mean.

`logits`: softmax of several columns or the sigmoid of one gives probabilities (log-probabilities are logits
as well). `probabilities`: one column per class, or one with the second class's. `sigmoids`: a probability per
class on its own, not summing to 1. `labels`: positions of classes, one column.
`number`: an estimate, from which only cut points make classes.
"""

OUTPUT: Final = "\0output"
"""The name under which `Backend.evaluate` gives the network's output; no layer is called so."""

Axis = Literal["unit", "channel", "position", "time"]


@dataclass(frozen=True)
class Tensor:
    """A tensor inside a network.

    Attributes
    ----------
    name : str
        As the user may select it.
    shape : tuple of int
        The shape for one row.
    axes : tuple of {"unit", "channel", "position", "time"}
        What the axes of `shape` stand for.
    is_hidden : bool
        Whether learnt weights read it: a hidden representation, used unless the caller chooses others.
    """

    name: str
    shape: tuple[int, ...]
    axes: tuple[Axis, ...]
    is_hidden: bool = True

    def __post_init__(self) -> None:
        if len(self.axes) != len(self.shape):
            raise ValueError(f"Tensor {self.name!r} has shape {self.shape} and axes {self.axes}.")


@dataclass(frozen=True)
class Structure:
    """What is inside a network.

    Attributes
    ----------
    tensors : tuple of Tensor
        In the order of computation.
    n_outputs : int
        Number of columns of the output.
    output : OutputForm or None
        What the output means, or None if the network does not say.
    threshold : float
        Above which probability one column decides for the second class.
    """

    tensors: tuple[Tensor, ...]
    n_outputs: int
    output: OutputForm | None
    threshold: float = 0.5


class Backend(Protocol):
    """A trained network of one framework, seen as a function from rows to tensors.

    Attributes
    ----------
    title : str
        What the network is, in words: "PyTorch module Net".
    n_inputs : int or None
        Number of columns it reads, or None if its rows are not vectors or it does not say.
    classes : sequence or None
        The class labels, if it knows them.
    feature_names : sequence of str or None
        Names of its columns, if it knows them.
    dtype : numpy dtype
        Of the rows that `inspect` and `evaluate` take.
    """

    title: str
    n_inputs: int | None
    classes: Sequence[Any] | None
    feature_names: Sequence[str] | None
    dtype: np.dtype[Any]

    def inspect(self, rows: NDArray[Any] | None) -> Structure | None:
        """What is inside; None if that takes rows and none were given."""
        ...

    def evaluate(self, rows: NDArray[Any], names: Sequence[str]) -> list[NDArray[Any]]:
        """For each name (a tensor's, or `OUTPUT`) its values for these rows, rows first.

        The network is left as it was, also after an exception.
        """
        ...


@dataclass(frozen=True, eq=False)
class Layer:
    """The activations of one hidden representation.

    Attributes
    ----------
    name : str
        Name of the layer.
    matrix : ndarray of shape (n_rows, n_units)
        What each unit answers to each row, in single precision.
    unit_names : tuple of str
        One name per column, such as `relu[3]` or `gru.h[t=7, 3]`.
    """

    name: str
    matrix: NDArray[np.float32] | NDArray[np.float64]
    unit_names: tuple[str, ...]
