"""Networks given as plain arrays: dense layers with activations between them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from threadpoolctl import ThreadpoolController

from clausewise.base.parameters import ARRAY_LIKE, FUNCTION, Constraint, check_parameters, list_of, one_of
from clausewise.networks.locks import lock_of
from clausewise.networks.network import Network
from clausewise.networks.outputs import OUTPUT_MEANING, Output
from clausewise.networks.plain import PlainBuilder, PlainNetwork
from clausewise.networks.protocol import OUTPUT, OutputForm, Structure, Tensor

Activation = str | Callable[[NDArray[Any]], NDArray[Any]]


# Named functions, because lambdas cannot be pickled.
def _identity(x: NDArray[Any]) -> NDArray[Any]:
    return x


def _relu(x: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.maximum(x, 0))


def _leaky_relu(x: NDArray[Any]) -> NDArray[Any]:
    return np.where(x > 0, x, x.dtype.type(0.01) * x)


def _elu(x: NDArray[Any]) -> NDArray[Any]:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def _softplus(x: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.logaddexp(x, x.dtype.type(0)))


ACTIVATIONS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "identity": _identity,
    "relu": _relu,
    "elu": _elu,
    "tanh": np.tanh,
    "logistic": expit,
    "sigmoid": expit,
    "leaky_relu": _leaky_relu,
    "softplus": _softplus,
}

# The meaning of the output, and the function applied to it. A softmax changes no decision and is left to the
# reader of the output.
_OUTPUTS: dict[str, tuple[OutputForm, str]] = {
    "softmax": ("logits", "identity"),
    "logits": ("logits", "identity"),
    "sigmoid": ("probabilities", "sigmoid"),
    "logistic": ("probabilities", "sigmoid"),
    "probabilities": ("probabilities", "identity"),
    "sigmoids": ("sigmoids", "sigmoid"),
    "number": ("number", "identity"),
}
_ACTIVATION: Final = one_of(*ACTIVATIONS) | FUNCTION
ARRAY_OPTIONS: Final[Mapping[str, Constraint]] = {
    "weights": ARRAY_LIKE,
    "biases": ARRAY_LIKE,
    "activation": _ACTIVATION | list_of(_ACTIVATION, "a list with one of these per hidden layer"),
    "output": Constraint(
        f"{one_of(*_OUTPUTS).expected}, or as for clausewise.wrap",
        lambda value: value in _OUTPUTS if isinstance(value, str) else OUTPUT_MEANING.allows(value),
    ),
}


@cache
def _blas() -> ThreadpoolController:
    """Return the control over NumPy's threads; cached, since finding the libraries takes a millisecond."""
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let NumPy's products use one thread.

    The last bits of a product must not depend on the number of cores, and threads waiting for the next small
    product would keep a core busy. The limit is that of the process: the lock keeps one of our threads from
    restoring it while another one computes, or to what another one has set.
    """
    with lock_of(_blas()), _blas().limit(limits=1, user_api="blas"):
        yield


class DenseBackend:
    """Dense layers in NumPy: `rows @ weights + bias`, with an activation after each layer except the last.

    Parameters
    ----------
    weights : sequence of ndarray of shape (n_in, n_out)
        One matrix per layer.
    biases : sequence of ndarray of shape (n_out,)
        One vector per layer.
    activations : sequence of callable
        The function applied after each layer except the last.
    last : callable
        The function applied to the output.
    output : OutputForm or None
        The meaning of the result.
    title, classes, feature_names
        See `NetworkBackend`.
    """

    def __init__(
        self,
        weights: Sequence[NDArray[Any]],
        biases: Sequence[NDArray[Any]],
        activations: Sequence[Callable[[NDArray[Any]], NDArray[Any]]],
        last: Callable[[NDArray[Any]], NDArray[Any]],
        output: OutputForm | None,
        *,
        title: str,
        classes: Sequence[Any] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self._weights, self._biases = list(weights), list(biases)
        self._activations, self._last = list(activations), last
        self.title = title
        self.classes = classes
        self.feature_names = feature_names
        self.n_inputs: int | None = self._weights[0].shape[0]
        self.dtype = self._weights[0].dtype
        self._layer_names = [f"hidden {number}" for number in range(1, len(self._weights))]
        hidden = zip(self._layer_names, self._weights, strict=False)
        tensors = tuple(Tensor(name, (matrix.shape[1],), ("unit",)) for name, matrix in hidden)
        self._structure = Structure(tensors, self._weights[-1].shape[1], output)

    def inspect(self, rows: NDArray[Any] | None) -> Structure:
        """Return the structure."""
        return self._structure

    def plain(self, n_inputs: int) -> PlainNetwork:
        """Return the layers in the form that proofs read."""
        names = {function: name for name, function in reversed(ACTIVATIONS.items())}
        builder = PlainBuilder(self.title, n_inputs, self.dtype)
        step = 0
        applied = zip(self._weights, self._biases, [*self._activations, self._last], strict=True)
        for number, (weights, bias, function) in enumerate(applied):
            step = builder.dense(step, weights, bias)
            layer = f"the function {getattr(function, '__name__', 'of unknown name')} after layer {number}"
            slope = {"leaky_relu": 0.01, "elu": 1.0}.get(names.get(function, ""), 0.0)
            step = builder.activation(step, names.get(function, "unknown"), slope, layer=layer)
        return builder.build(step)

    def evaluate(self, rows: NDArray[Any], names: Sequence[str]) -> list[NDArray[Any]]:
        """Return the named tensors; layers after the last of them are not computed."""
        places = [len(self._layer_names) if n == OUTPUT else self._layer_names.index(n) for n in names]
        found: dict[int, NDArray[Any]] = {}
        with one_blas_thread():
            for place in range(max(places) + 1):
                rows = rows @ self._weights[place] + self._biases[place]
                is_last = place == len(self._layer_names)
                rows = self._last(rows) if is_last else self._activations[place](rows)
                found[place] = rows
        return [found[place] for place in places]


class ArrayNetwork(Network):
    """A network of dense layers, given as arrays.

    Parameters
    ----------
    weights : sequence of array-like of shape (n_in, n_out)
        One matrix per layer, the output's included; a layer computes `x @ weights[i] + biases[i]`.
    biases : sequence of array-like of shape (n_out,)
        One vector per layer.
    activation : str, callable or a sequence of one per hidden layer, default "relu"
        After every layer except the last: "relu", "elu", "tanh", "sigmoid", "logistic", "leaky_relu",
        "softplus", "identity", or a function of an array.
    output : str, sequence of float or callable, default "softmax"
        After the last layer: "softmax", "sigmoid" (one column: the probability of the second class; several:
        an independent probability per class), "logits", "probabilities", "number" (nothing is applied to
        these), or cut points or a function as for `output` of `clausewise.wrap`.
    **options
        As in `clausewise.wrap`.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise.networks import ArrayNetwork
    >>> network = ArrayNetwork([np.eye(2), [[1, -1], [-1, 1]]], [np.zeros(2), np.zeros(2)])
    >>> network.labels(np.array([[2.0, 1.0], [0.0, 3.0]])).tolist()
    [0, 1]
    """

    def __init__(
        self,
        weights: Sequence[ArrayLike],
        biases: Sequence[ArrayLike],
        *,
        activation: Activation | Sequence[Activation] = "relu",
        output: Output | str = "softmax",
        **options: Any,
    ) -> None:
        check_parameters(
            ARRAY_OPTIONS,
            {"weights": weights, "biases": biases, "activation": activation, "output": output},
        )
        matrices, vectors = _checked_arrays(weights, biases)
        n_hidden = len(matrices) - 1
        if isinstance(activation, str) or callable(activation):
            activation = [activation] * n_hidden
        chosen = [one if callable(one) else ACTIVATIONS[one] for one in activation]
        if len(chosen) != n_hidden:
            raise ValueError(
                f"activation has {len(chosen)} entries for {n_hidden} hidden layers; pass one per layer."
            )
        form: OutputForm | None = None
        last = "identity"
        if isinstance(output, str):
            form, last = _OUTPUTS[output]
            if last == "sigmoid" and matrices[-1].shape[1] > 1:
                form = "sigmoids"
        backend = DenseBackend(
            matrices,
            vectors,
            chosen,
            ACTIVATIONS[last],
            form,
            title=f"network of {len(matrices)} dense layers",
        )
        super().__init__(backend, output=None if isinstance(output, str) else output, **options)


def _checked_arrays(
    weights: Sequence[ArrayLike], biases: Sequence[ArrayLike]
) -> tuple[list[NDArray[Any]], list[NDArray[Any]]]:
    """Return the arrays in one type: single precision if all weights are, otherwise double precision."""
    matrices, vectors = [np.asarray(one) for one in weights], [np.asarray(one) for one in biases]
    if not matrices or len(matrices) != len(vectors):
        raise ValueError(
            f"There are {len(matrices)} weights and {len(vectors)} biases; pass one of each per layer."
        )
    is_single = all(array.dtype == np.float32 for array in matrices)
    dtype = np.float32 if is_single else np.float64
    width: int | None = None
    for number, (matrix, vector) in enumerate(zip(matrices, vectors, strict=True)):
        wrong_start = matrix.ndim != 2 or (width is not None and matrix.shape[0] != width)
        if wrong_start or vector.shape != (matrix.shape[1],):
            expected = "inputs" if width is None else width
            raise ValueError(
                f"Layer {number} has weights of shape {matrix.shape} and a bias of shape {vector.shape}; "
                f"expected ({expected}, units) and (units,)."
            )
        width = matrix.shape[1]
        if not (np.isfinite(matrix).all() and np.isfinite(vector).all()):
            raise ValueError(f"Layer {number} contains NaN or infinity in its weights or bias.")
    return [m.astype(dtype, copy=False) for m in matrices], [v.astype(dtype, copy=False) for v in vectors]
