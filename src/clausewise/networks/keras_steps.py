"""The operations of a Keras model, found by following it symbolically."""

import inspect
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from clausewise.networks.graph import Operation, last_weights
from clausewise.networks.naming import Titles, inside

# Classes of layers and operations that return their input at inference, perhaps reshaped.
_SAME = frozenset(
    {
        "Dropout",
        "SpatialDropout1D",
        "SpatialDropout2D",
        "SpatialDropout3D",
        "AlphaDropout",
        "GaussianDropout",
        "GaussianNoise",
        "ActivityRegularization",
        "Identity",
        "Flatten",
        "Reshape",
        "Permute",
        "Squeeze",
        "ExpandDims",
        "Transpose",
        "Cast",
        "Ravel",
        "Copy",
        "StopGradient",
    }
)
# They have weights but treat every unit separately, as activations do.
_UNITWISE = frozenset(
    {
        "BatchNormalization",
        "LayerNormalization",
        "GroupNormalization",
        "RMSNormalization",
        "UnitNormalization",
        "Normalization",
        "PReLU",
    }
)
# They look up or encode whole numbers that stand for categories.
_ENCODERS = frozenset({"Embedding", "CategoryEncoding", "IntegerLookup", "OneHot"})
# They take a part of a tensor.
_SELECTIONS = frozenset({"GetItem", "Split", "Unstack", "Take"})
_PRODUCTS = frozenset({"Matmul", "Einsum", "Dot", "Tensordot", "Inner", "Conv", "DepthwiseConv"})


def symbolic_inputs(model: Any) -> list[Any]:
    """Return the symbolic inputs of a model; none for a model with its own `call`."""
    try:
        return list(getattr(model, "inputs", None) or [])
    except (AttributeError, ValueError):
        return []


class Follower:
    """Calls a model on a symbolic tensor, layer by layer, and records the nested model of each layer.

    Attributes
    ----------
    scopes : dict
        For each operation (by `id`) the name of the nested model that contains it; "" for the outer model.
    """

    def __init__(self) -> None:
        self.scopes: dict[int, str] = {}

    def follow(self, model: Any, *args: Any, scope: str = "", **kwargs: Any) -> Any:
        """Return the model's result for symbolic tensors."""
        if isinstance(model, keras.Sequential):
            return self._through_sequence(model, *args, scope=scope, **kwargs)
        if symbolic_inputs(model):
            return self._through_graph(model, *args, scope=scope, **kwargs)
        return _called(model, *args, **kwargs)

    def _through_sequence(self, model: Any, inputs: Any, *, scope: str, **_: Any) -> Any:
        for layer in model.layers:
            inputs = self._applied(layer, scope, inputs)
        return inputs

    def _through_graph(self, model: Any, inputs: Any, *, scope: str, **_: Any) -> Any:
        if isinstance(inputs, Mapping) and not isinstance(model.input, Mapping):
            inputs = [inputs[tensor.name] for tensor in model.inputs]

        def applied(operation: Any, *args: Any, **kwargs: Any) -> Any:
            return self._applied(operation, scope, *args, **kwargs)

        # Not keras.models.clone_model, which also compiles the clone, and does not take any symbolic tensor.
        return model._run_through_graph(inputs, call_fn=applied)

    def _applied(self, operation: Any, scope: str, *args: Any, **kwargs: Any) -> Any:
        if isinstance(operation, keras.Model):
            return self.follow(operation, *args, scope=inside(scope, operation.name), **kwargs)
        self.scopes[id(operation)] = scope
        return operation(*args, **kwargs)


def _called(model: Any, *args: Any, **kwargs: Any) -> Any:
    """Run `call` in inference mode; not every `call` takes `training`."""
    kwargs.pop("training", None)
    if "training" in inspect.signature(model.call).parameters:
        kwargs["training"] = False
    return model.call(*args, **kwargs)


class Steps:
    """The operations that compute a symbolic tensor, in the order of computation.

    Attributes
    ----------
    operations : list of Operation
        The operations, each under a unique key.
    tensors, titles, activations : dict
        For each key the symbolic tensor, its readable name, and the name of the activation applied last.
    """

    def __init__(self, output: Any, scopes: Mapping[int, str]) -> None:
        self.operations: list[Operation] = []
        self.tensors: dict[str, Any] = {}
        self.titles: dict[str, str] = {}
        self.activations: dict[str, str] = {}
        self._data_formats: dict[str, str] = {}
        self._does: dict[str, str] = {}
        self._scopes = scopes
        self._names = Titles()
        self._keys: dict[int, str] = {}
        for node in nodes_of(output):
            self._add(node)

    def key_of(self, tensor: Any) -> str:
        """Return the key of the operation that computes a tensor."""
        return self._keys[id(tensor)]

    def is_encoded(self, tensor: Any) -> bool:
        """Return whether an embedding or an encoder of categories reads an input, perhaps a part of it."""
        wanted = self._keys.get(id(tensor))
        made = {operation.name: operation for operation in self.operations}
        for key, does in self._does.items():
            for source in made[key].inputs if does in _ENCODERS else ():
                while source in made and (made[source].kind == "same" or self._does[source] in _SELECTIONS):
                    source = made[source].inputs[0]
                if source == wanted:
                    return True
        return False

    def data_format(self, key: str) -> str:
        """Return the data format of the convolution that is the last weights before a tensor; else ""."""
        return self._data_formats.get(last_weights(self.operations, key) or "", "")

    def _add(self, node: Any) -> None:
        operation = node.operation
        does = type(operation).__name__
        inputs = tuple(self._keys[id(tensor)] for tensor in node.input_tensors if id(tensor) in self._keys)
        is_input = does == "InputLayer"
        is_layer = isinstance(operation, keras.Layer)
        title = operation.name if is_layer else does.lower()
        title = self._names.new(inside(self._scopes.get(id(operation), ""), title))
        for place, tensor in enumerate(node.outputs):
            key = str(len(self._keys))
            self._keys[id(tensor)] = key
            if is_input:
                continue
            # After its output, a recurrent layer returns its states.
            self.titles[key] = title if place == 0 else self._names.new(f"{title}.state")
            self.tensors[key] = tensor
            self.operations.append(Operation(key, inputs, _kind(operation, does, node)))
            self._does[key] = does
            self.activations[key] = _activation(operation, does)
            if "Conv" in does:
                self._data_formats[key] = operation.data_format


def nodes_of(output: Any) -> list[Any]:
    """Return the calls that compute a tensor, each after the calls that it depends on."""
    found: dict[int, Any] = {}
    open_tensors = [(output, False)]
    while open_tensors:
        tensor, is_ready = open_tensors.pop()
        history = tensor._keras_history
        node = history.operation._inbound_nodes[history.node_index]
        if id(node) in found:
            continue
        if is_ready:
            found[id(node)] = node
            continue
        open_tensors.append((tensor, True))
        open_tensors.extend((source, False) for source in reversed(node.input_tensors))
    return list(found.values())


def _kind(operation: Any, does: str, node: Any) -> Any:
    if does in _SAME:
        return "same"
    if isinstance(operation, keras.Layer):
        return "weights" if operation.weights and does not in _UNITWISE else "other"
    reads_weights = any(
        isinstance(value, keras.Variable) for value in keras.tree.flatten(node.arguments.args)
    )
    return "weights" if does in _PRODUCTS and reads_weights else "other"


def _activation(operation: Any, does: str) -> str:
    """Return the name of the last function that a layer applies: `softmax`, `sigmoid`, `linear`, …"""
    own = getattr(operation, "activation", None)
    if own is not None:
        return str(getattr(own, "__name__", type(own).__name__))
    return does.lower()


def as_array(tensor: Any) -> NDArray[Any]:
    """Return a tensor of any backend as an array."""
    if keras.backend.backend() == "torch":
        tensor = tensor.detach().cpu()
        is_double = "float64" in str(tensor.dtype)
        tensor = tensor.float() if tensor.is_floating_point() and not is_double else tensor
        values = np.asarray(tensor.numpy())
    else:
        values = np.asarray(keras.ops.convert_to_numpy(tensor))
    is_plain = values.dtype in (np.float32, np.float64) or values.dtype.kind in "biu"
    return values if is_plain else values.astype(np.float32)
