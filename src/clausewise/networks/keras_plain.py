"""Keras models as affine maps, activations and sums."""

from collections.abc import Sequence
from typing import Any, Final

import keras
import numpy as np

from clausewise.networks.keras_steps import as_array
from clausewise.networks.plain import PlainBuilder, PlainNetwork

# Activations by the names of Keras, and the slopes that it uses.
_SLOPES: Final = {"leaky_relu": 0.2, "elu": 1.0}
_ACTIVATIONS: Final = frozenset(
    {"relu", "leaky_relu", "elu", "softplus", "tanh", "sigmoid", "softmax", "log_softmax", "linear"}
)
_DROPPED: Final = frozenset(
    {
        "Dropout",
        "AlphaDropout",
        "GaussianDropout",
        "GaussianNoise",
        "Identity",
        "Flatten",
        "ActivityRegularization",
    }
)


def plain_of(title: str, nodes: Sequence[Any], output: Any, n_inputs: int, dtype: Any) -> PlainNetwork:
    """Return the layers of a model; an error names the first that is not supported.

    Parameters
    ----------
    title : str
        The name of the model in error messages.
    nodes : sequence
        The calls that compute the output, each after those that it depends on.
    output : symbolic tensor
        The output.
    n_inputs : int
        Number of input columns.
    dtype : numpy dtype
        The type of the input.
    """
    builder = PlainBuilder(title, n_inputs, dtype)
    steps: dict[int, int] = {}
    for node in nodes:
        operation = node.operation
        if type(operation).__name__ == "InputLayer":
            step = 0
        else:
            sources = [steps[id(tensor)] for tensor in node.input_tensors]
            step = _through(builder, operation, sources)
        steps |= {id(tensor): step for tensor in node.outputs}
    return builder.build(steps[id(output)])


def _through(builder: PlainBuilder, layer: Any, sources: list[int]) -> int:
    does = type(layer).__name__
    title = f"the layer {layer.name} ({does})"
    is_single = getattr(layer, "compute_dtype", "float32") in ("float32", "float64")
    if not is_single:
        raise builder.unsupported(title, f" in {layer.compute_dtype}")
    if does == "Dense":
        step = builder.dense(sources[0], _numbers(layer.kernel), _numbers(layer.bias))
        return _activated(builder, step, layer.activation, title)
    if does == "BatchNormalization":
        gamma, beta = (_numbers(part) for part in (layer.gamma, layer.beta))
        mean, variance = _numbers(layer.moving_mean), _numbers(layer.moving_variance)
        return builder.batch_norm(sources[0], mean, variance, layer.epsilon, gamma, beta)
    if does == "Activation":
        return _activated(builder, sources[0], layer.activation, title)
    if does == "ReLU" and layer.max_value is None and not layer.threshold:
        return builder.activation(sources[0], "leaky_relu", float(layer.negative_slope), layer=title)
    if does == "LeakyReLU":
        return builder.activation(sources[0], "leaky_relu", float(layer.negative_slope), layer=title)
    if does == "ELU":
        return builder.activation(sources[0], "elu", float(layer.alpha), layer=title)
    if does == "Softmax":
        return builder.activation(sources[0], "softmax", layer=title)
    if does == "Add" and len(sources) > 1:
        return builder.add(sources)
    if does == "Concatenate":
        return builder.concatenate(sources)
    if does == "Rescaling":
        return builder.scale(sources[0], _numbers(layer.scale), _numbers(layer.offset))
    if does in _DROPPED:
        return sources[0]
    raise builder.unsupported(title)


def _activated(builder: PlainBuilder, step: int, function: Any, title: str) -> int:
    name = getattr(function, "__name__", type(function).__name__)
    if name not in _ACTIVATIONS:
        raise builder.unsupported(title, f" with the activation {name}")
    return builder.activation(step, name, _SLOPES.get(name, 0.0), layer=title)


def _numbers(variable: Any) -> Any:
    """Return a variable as an array of doubles; None as None."""
    if variable is None or isinstance(variable, int | float):
        return variable
    return as_array(keras.ops.convert_to_tensor(variable)).astype(np.float64)
