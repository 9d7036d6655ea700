"""Keras models as affine maps, activations and sums."""

from collections.abc import Sequence
from typing import Any, Final

import keras
import numpy as np

from clausewise.networks.keras_steps import as_array
from clausewise.networks.plain import PlainBuilder, PlainNetwork

# Layers and activations are compared with those of Keras itself: code of one's own may use the same names.
_LAYERS: Final = {
    getattr(keras.layers, name): name
    for name in (
        "InputLayer",
        "Dense",
        "BatchNormalization",
        "Activation",
        "ReLU",
        "LeakyReLU",
        "ELU",
        "Softmax",
        "Add",
        "Concatenate",
        "Rescaling",
    )
}
_DROPPED: Final = frozenset(
    {
        keras.layers.Dropout,
        keras.layers.AlphaDropout,
        keras.layers.GaussianDropout,
        keras.layers.GaussianNoise,
        keras.layers.Identity,
        keras.layers.Flatten,
        keras.layers.ActivityRegularization,
    }
)
# The slopes that Keras uses.
_SLOPES: Final = {"leaky_relu": 0.2, "elu": 1.0}
_ACTIVATIONS: Final = {
    getattr(keras.activations, name): name
    for name in (
        "relu",
        "leaky_relu",
        "elu",
        "softplus",
        "tanh",
        "sigmoid",
        "softmax",
        "log_softmax",
        "linear",
    )
}


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
        The type of the input; layers may compute in another one.
    """
    builder = PlainBuilder(title, n_inputs, dtype)
    steps: dict[int, int] = {}
    for node in nodes:
        operation = node.operation
        if type(operation) is keras.layers.InputLayer:
            step = 0
        else:
            sources = [steps[id(tensor)] for tensor in node.input_tensors]
            step = _through(builder, operation, sources)
        steps |= {id(tensor): step for tensor in node.outputs}
    return builder.build(steps[id(output)])


def _through(builder: PlainBuilder, layer: Any, sources: list[int]) -> int:
    title = f"the layer {layer.name} ({type(layer).__name__})"
    does = _kind(layer)
    if does is None or getattr(layer, "quantization_mode", None) is not None:
        raise builder.unsupported(title)
    if isinstance(layer, keras.layers.Layer):  # its inputs are cast to the type in which it computes
        sources = [builder.cast(source, str(layer.compute_dtype)) for source in sources]
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
    if does == "Softmax" and layer.axis in (-1, 1):
        return builder.activation(sources[0], "softmax", layer=title)
    if does == "Add" and len(sources) > 1:
        return builder.add(sources)
    if does == "Concatenate" and layer.axis in (-1, 1):
        return builder.concatenate(sources)
    if does == "Rescaling":
        return builder.scale(sources[0], _numbers(layer.scale), _numbers(layer.offset))
    if does == "same":
        return sources[0]
    raise builder.unsupported(title)


def _kind(layer: Any) -> str | None:
    """Return the name of a layer of Keras, or of the operation of `+`; None for any other."""
    if type(layer) in _DROPPED:
        return "same"
    # Operations have no public names.
    is_operation = type(layer).__module__.startswith("keras.src.ops.")
    return "Add" if is_operation and type(layer).__name__ == "Add" else _LAYERS.get(type(layer))


def _activated(builder: PlainBuilder, step: int, function: Any, title: str) -> int:
    name = _ACTIVATIONS.get(function)
    if name is None:
        shown = getattr(function, "__name__", type(function).__name__)
        known = shown in _ACTIVATIONS.values()
        raise builder.unsupported(title, f" with {'another' if known else 'the activation'} {shown}")
    return builder.activation(step, name, _SLOPES.get(name, 0.0), layer=title)


def _numbers(variable: Any) -> Any:
    """Return a variable as an array of doubles; None as None."""
    if variable is None or isinstance(variable, int | float):
        return variable
    return as_array(keras.ops.convert_to_tensor(variable)).astype(np.float64)
