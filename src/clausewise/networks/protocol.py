"""The protocol of adapters for frameworks: the tensors inside a network, and their values for rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

OutputForm = Literal["logits", "probabilities", "sigmoids", "labels", "predictions", "number"]
"""The meaning of the output's numbers.

`logits`: the softmax of several columns or the sigmoid of one gives probabilities (log-probabilities are
logits as well). `probabilities`: one column per class, or a single column for the second class. `sigmoids`:
an independent probability per class; they do not sum to 1. `labels`: positions of classes, in one column.
`predictions`: the position of the predicted class, which need not be the most probable one, and then a column
of probabilities per class. `number`: regression estimates, one per column, which need cut points to make
classes.
"""

OUTPUT: Final = "\0output"
"""The name of the network's output in `NetworkBackend.evaluate`; no layer can have it."""

Axis = Literal["unit", "channel", "position", "time"]


@dataclass(frozen=True)
class Tensor:
    """A tensor inside a network.

    Attributes
    ----------
    name : str
        The name by which users select it.
    shape : tuple of int
        The shape for one row.
    axes : tuple of {"unit", "channel", "position", "time"}
        The meaning of each axis of `shape`.
    is_hidden : bool
        Whether learnt weights read it, which makes it a hidden representation. These are used by default.

    Examples
    --------
    >>> from clausewise.networks import ArrayNetwork
    >>> network = ArrayNetwork([[[1, -1], [0, 1]], [[1, -1], [-1, 1]]], [[0, 0], [0, 0]])
    >>> for tensor in network.tensors:
    ...     print(tensor.name, tensor.shape, tensor.axes, tensor.is_hidden)
    hidden 1 (2,) ('unit',) True
    """

    name: str
    shape: tuple[int, ...]
    axes: tuple[Axis, ...]
    is_hidden: bool = True

    def __post_init__(self) -> None:
        if len(self.axes) != len(self.shape):
            raise ValueError(f"Tensor {self.name!r} has shape {self.shape} but axes {self.axes}.")


@dataclass(frozen=True)
class Structure:
    """The tensors and the output of a network.

    Attributes
    ----------
    tensors : tuple of Tensor
        In the order of computation.
    n_outputs : int
        Number of columns of the output.
    output : OutputForm or None
        The meaning of the output, or None if the network does not define it.
    threshold : float
        A single output column predicts the second class if its probability is above this.

    Examples
    --------
    What `NetworkBackend.inspect` returns for a network with 16 hidden units and one output:

    >>> from clausewise.networks import Structure, Tensor
    >>> hidden = Tensor("hidden", shape=(16,), axes=("unit",))
    >>> structure = Structure((hidden,), n_outputs=1, output="probabilities", threshold=0.3)
    >>> structure.tensors[0].shape, structure.threshold
    ((16,), 0.3)
    """

    tensors: tuple[Tensor, ...]
    n_outputs: int
    output: OutputForm | None
    threshold: float = 0.5


class NetworkBackend(Protocol):
    """A trained network of one framework as a function from rows to tensors.

    Attributes
    ----------
    title : str
        A short description of the network: "PyTorch module Net".
    n_inputs : int or None
        Number of input columns, or None if rows are not vectors or the number is unknown.
    classes : sequence or None
        The class labels, if known.
    feature_names : sequence of str or None
        Names of the input columns, if known.
    dtype : numpy dtype
        The type of the rows that `inspect` and `evaluate` take.

    An adapter for models with several inputs takes `Inputs` (networks/inputs.py) as rows if `inputs=` is
    given, and has two more members: `dtype_of(key)`, the type in which an input is read, and
    `category_inputs`, the inputs that embeddings read.
    """

    title: str
    n_inputs: int | None
    classes: Sequence[Any] | None
    feature_names: Sequence[str] | None
    dtype: np.dtype[Any]

    def inspect(self, rows: NDArray[Any] | None) -> Structure | None:
        """Return the structure of the network; None if finding it needs rows and none were given."""
        ...

    def evaluate(self, rows: NDArray[Any], names: Sequence[str]) -> list[NDArray[Any]]:
        """Return the values of each named tensor (or `OUTPUT`) for these rows; the first axis is the rows.

        The network itself stays unchanged, also after an exception.
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
        The activation of each unit for each row, in single precision.
    unit_names : tuple of str
        One name per column, such as `relu[3]` or `gru.h[t=7, 3]`.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise.networks import ArrayNetwork
    >>> network = ArrayNetwork([[[1, -1], [0, 1]], [[1, -1], [-1, 1]]], [[0, 0], [0, 0]])
    >>> layer = next(network.hidden_layers(np.array([[6.0, 2.0], [1.0, 3.0]])))
    >>> layer.name, layer.unit_names
    ('hidden 1', ('hidden 1[0]', 'hidden 1[1]'))
    >>> layer.matrix
    array([[6., 0.],
           [1., 2.]], dtype=float32)
    """

    name: str
    matrix: NDArray[np.float32] | NDArray[np.float64]
    unit_names: tuple[str, ...]
