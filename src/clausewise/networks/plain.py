"""Feed-forward networks in one small form: affine maps, activations and sums, whatever framework made them.

Adapters whose models have this form offer `plain()`, which returns it; proofs and gradients are computed on
it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]


class UnsupportedLayerError(ValueError):
    """A network has a layer that is not an affine map, a supported activation or a sum."""


@dataclass(frozen=True, eq=False)
class Dense:
    """`source @ weights + bias`."""

    source: int
    weights: Floats
    bias: Floats


@dataclass(frozen=True, eq=False)
class Scale:
    """`source * scale + shift` for each unit, such as batch normalisation.

    `magnitude` bounds the absolute values that are added up to the shift, for rounding errors.
    """

    source: int
    scale: Floats
    shift: Floats
    magnitude: Floats


@dataclass(frozen=True, eq=False)
class Activation:
    """A function of each unit; `slope` is that of a leaky relu below 0, and the scale of an elu there."""

    source: int
    name: str
    slope: float = 0.0


@dataclass(frozen=True, eq=False)
class Add:
    """The sum of several steps, as in residual networks."""

    sources: tuple[int, ...]


Step = Dense | Scale | Activation | Add


def _relu(z: Floats, _: float) -> Floats:
    return np.maximum(z, 0.0)


def _leaky_relu(z: Floats, slope: float) -> Floats:
    return np.where(z > 0, z, slope * z)


def _elu(z: Floats, slope: float) -> Floats:
    return np.where(z > 0, z, slope * np.expm1(np.minimum(z, 0.0)))


def _softplus(z: Floats, _: float) -> Floats:
    return np.logaddexp(z, 0.0)


def _tanh(z: Floats, _: float) -> Floats:
    return np.tanh(z)


def _sigmoid(z: Floats, _: float) -> Floats:
    return np.asarray(expit(z))


def _relu_slope(z: Floats, _: float) -> Floats:
    return np.where(z > 0, 1.0, 0.0)


def _leaky_relu_slope(z: Floats, slope: float) -> Floats:
    return np.where(z > 0, 1.0, slope)


def _elu_slope(z: Floats, slope: float) -> Floats:
    return np.where(z > 0, 1.0, slope * np.exp(np.minimum(z, 0.0)))


def _tanh_slope(z: Floats, _: float) -> Floats:
    return 1.0 - np.tanh(z) ** 2


def _sigmoid_slope(z: Floats, _: float) -> Floats:
    value = expit(z)
    return np.asarray(value * (1.0 - value))


_Function = Callable[[Floats, float], Floats]

FUNCTIONS: Final[Mapping[str, tuple[_Function, _Function]]] = {
    "relu": (_relu, _relu_slope),
    "leaky_relu": (_leaky_relu, _leaky_relu_slope),
    "elu": (_elu, _elu_slope),
    "softplus": (_softplus, _sigmoid),
    "tanh": (_tanh, _tanh_slope),
    "sigmoid": (_sigmoid, _sigmoid_slope),
}
"""Each supported activation and its derivative, as functions of the units and the slope."""

_WITH_SLOPE: Final = ("leaky_relu", "elu")
_SUPPORTED: Final = (
    "dense layers, batch normalisation, relu, leaky relu, elu, softplus, tanh, sigmoid, sums, and a softmax "
    "at "
    "the end"
)


@dataclass(frozen=True, eq=False)
class PlainNetwork:
    """A feed-forward network: step 0 is the input, step i is `steps[i - 1]`, and the last one is the output.

    Attributes
    ----------
    n_inputs : int
        Number of input columns.
    steps : tuple of Step
        Each reads earlier steps.
    sizes : tuple of int
        Number of units of each step, the input included.
    dtype : numpy dtype
        The least precise type in which the model itself computes: single or double precision.
    softmax : {"", "softmax", "log_softmax"}
        What the model applies to the output of the last step. It changes no decision, but rounds.
    """

    n_inputs: int
    steps: tuple[Step, ...]
    sizes: tuple[int, ...]
    dtype: np.dtype[Any]
    softmax: str = ""

    def values(self, rows: Floats) -> list[Floats]:
        """Return the values of all steps, the input first, in double precision."""
        found: list[Floats] = [np.asarray(rows, dtype=np.float64)]
        for step in self.steps:
            found.append(_value(step, found))
        return found

    def outputs(self, rows: Floats) -> Floats:
        """Return the output of each row."""
        return self.values(rows)[-1]

    def gradients(self, rows: Floats, weights: Floats) -> Floats:
        """Return for each row the gradient of its output times its `weights`, with respect to the inputs."""
        values = self.values(rows)
        pending: dict[int, Floats] = {len(self.steps): np.asarray(weights, dtype=np.float64)}
        for number in range(len(self.steps), 0, -1):
            if number not in pending:
                continue
            above, step = pending.pop(number), self.steps[number - 1]
            if isinstance(step, Add):
                below = [(source, above) for source in step.sources]
            elif isinstance(step, Dense):
                below = [(step.source, above @ step.weights.T)]
            elif isinstance(step, Scale):
                below = [(step.source, above * step.scale)]
            else:
                slope = FUNCTIONS[step.name][1](values[step.source], step.slope)
                below = [(step.source, above * slope)]
            for source, part in below:
                pending[source] = pending[source] + part if source in pending else part
        return pending.get(0, np.zeros((len(rows), self.n_inputs)))


@dataclass(frozen=True, eq=False)
class CalledNetwork(PlainNetwork):
    """A network of unknown layers that can be differentiated; nothing can be proven about it.

    Attributes
    ----------
    call : callable
        Returns the outputs of rows.
    differentiate : callable
        Returns the gradient of the outputs times weights, for each row.
    """

    call: Callable[[Floats], Floats] = field(kw_only=True)
    differentiate: Callable[[Floats, Floats], Floats] = field(kw_only=True)

    def outputs(self, rows: Floats) -> Floats:
        """Return the output of each row."""
        return self.call(rows)

    def gradients(self, rows: Floats, weights: Floats) -> Floats:
        """Return for each row the gradient of its output times its `weights`."""
        return self.differentiate(rows, weights)


def _value(step: Step, found: Sequence[Floats]) -> Floats:
    if isinstance(step, Add):
        return np.sum([found[source] for source in step.sources], axis=0)  # type: ignore[no-any-return]
    if isinstance(step, Dense):
        return found[step.source] @ step.weights + step.bias
    if isinstance(step, Scale):
        return found[step.source] * step.scale + step.shift
    return FUNCTIONS[step.name][0](found[step.source], step.slope)


class PlainBuilder:
    """Collects the steps of a network; each method returns the number of the step that it adds.

    Parameters
    ----------
    title : str
        The network's name in error messages.
    n_inputs : int
        Number of input columns.
    dtype : dtype or str
        The type of the input.
    """

    def __init__(self, title: str, n_inputs: int, dtype: Any) -> None:
        self._title, self._steps, self._sizes = title, list[Step](), [int(n_inputs)]
        self._softmax: dict[int, str] = {}
        self._precisions: set[str] = set()
        self.computes_in(dtype)

    def computes_in(self, dtype: Any) -> None:
        """Note the type of some numbers or weights; bounds are about the least precise one."""
        name = dtype if isinstance(dtype, str) else np.dtype(dtype).name
        if name not in ("float32", "float64"):
            raise UnsupportedLayerError(
                f"{self._title} computes in {name}; proofs need single or double precision."
            )
        self._precisions.add(name)

    def cast(self, source: int, dtype: Any) -> int:
        """Add a change of the type, which rounds if it is to a less precise one."""
        was_double = "float64" in self._precisions
        self.computes_in(dtype)
        is_single = np.dtype(dtype) == np.float32
        return self.scale(source, 1.0, 0.0) if is_single and was_double else source

    def size(self, step: int) -> int:
        """Return the number of units of a step."""
        return self._sizes[step]

    def dense(self, source: int, weights: Any, bias: Any = None) -> int:
        """Add `source @ weights + bias`."""
        matrix = np.asarray(weights, dtype=np.float64)
        vector = np.zeros(matrix.shape[1]) if bias is None else np.asarray(bias, dtype=np.float64)
        return self._add(Dense(source, matrix, np.broadcast_to(vector, matrix.shape[1:])), matrix.shape[1])

    def scale(self, source: int, scale: Any, shift: Any, magnitude: Any = None) -> int:
        """Add `source * scale + shift`, each a number or one per unit."""
        size = self._sizes[source]
        largest = np.abs(shift) if magnitude is None else magnitude
        parts = [np.broadcast_to(np.asarray(p, dtype=np.float64), (size,)) for p in (scale, shift, largest)]
        return self._add(Scale(source, *parts), size)

    def batch_norm(
        self, source: int, mean: Any, variance: Any, epsilon: float, gamma: Any = None, beta: Any = None
    ) -> int:
        """Add batch normalisation with fixed statistics."""
        centre, spread = np.asarray(mean, np.float64), np.asarray(variance, np.float64)
        scale = (1.0 if gamma is None else np.asarray(gamma, np.float64)) / np.sqrt(spread + epsilon)
        offset = np.zeros_like(centre) if beta is None else np.asarray(beta, np.float64)
        return self.scale(source, scale, offset - centre * scale, np.abs(offset) + np.abs(centre * scale))

    def activation(self, source: int, name: str, slope: float = 0.0, *, layer: str = "") -> int:
        """Add an activation by its name; "identity" adds nothing, and a softmax must be the last step."""
        name = {"logistic": "sigmoid", "linear": "identity", "logsoftmax": "log_softmax"}.get(name, name)
        if name == "identity":
            return source
        if name in ("softmax", "log_softmax"):
            self._softmax[source] = name
            return source
        # Outside of these ranges, a leaky relu and an elu are not convex.
        is_convex = name not in _WITH_SLOPE or 0.0 <= slope <= 1.0
        if name not in FUNCTIONS or not is_convex:
            shown = name if is_convex else f"{name} with a slope of {slope:g}"
            raise self.unsupported(layer or shown, "" if layer in ("", shown) else f" ({shown})")
        own = float(slope) if name in _WITH_SLOPE else 0.0
        return self._add(Activation(source, name, own), self._sizes[source])

    def add(self, sources: Sequence[int]) -> int:
        """Add the sum of steps of the same size."""
        sizes = {self._sizes[source] for source in sources}
        if len(sizes) != 1:
            raise self.unsupported("a sum of tensors of different sizes")
        return self._add(Add(tuple(sources)), sizes.pop())

    def concatenate(self, sources: Sequence[int]) -> int:
        """Add the units of several steps, one after the other."""
        sizes = [self._sizes[source] for source in sources]
        every = np.eye(sum(sizes))
        starts = np.cumsum([0, *sizes])
        parts = [
            self.dense(source, every[start : start + size])
            for source, start, size in zip(sources, starts, sizes, strict=False)
        ]
        return self.add(parts)

    def select(self, source: int, columns: Any) -> int:
        """Add some units of a step."""
        return self.dense(source, np.eye(self._sizes[source])[:, columns])

    def unsupported(self, layer: str, detail: str = "") -> UnsupportedLayerError:
        """Return the error about a layer that is not supported."""
        return UnsupportedLayerError(
            f"{self._title} contains {layer}{detail}, which proofs do not support; they support {_SUPPORTED}."
        )

    def build(self, output: int) -> PlainNetwork:
        """Return the network whose output is that step."""
        if any(source != output for source in self._softmax):
            raise self.unsupported("a softmax before its last layer")
        if output == 0:
            raise self.unsupported("no layer")
        # Steps after the output do not contribute to it.
        steps = tuple(self._steps[:output])
        for step in steps:
            arrays = [part for part in vars(step).values() if isinstance(part, np.ndarray)]
            if not all(np.isfinite(part).all() for part in arrays):
                raise UnsupportedLayerError(f"{self._title} has weights that are NaN or infinite.")
        softmax = self._softmax.get(output, "")
        dtype = np.dtype(min(self._precisions))  # "float32" before "float64"
        return PlainNetwork(self._sizes[0], steps, tuple(self._sizes[: output + 1]), dtype, softmax)

    def _add(self, step: Step, size: int) -> int:
        sources = step.sources if isinstance(step, Add) else (step.source,)
        if isinstance(step, Dense) and len(step.weights) != self._sizes[step.source]:
            raise self.unsupported("a dense layer that is not applied to vectors")
        if any(source in self._softmax for source in sources):
            raise self.unsupported("a softmax before its last layer")
        self._steps.append(step)
        self._sizes.append(size)
        return len(self._steps)
