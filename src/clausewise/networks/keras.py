"""Keras 3 models, and `.keras` files."""

import inspect
import json
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from clausewise.networks.graph import Operation, inner_tensors, last_operation, last_weights
from clausewise.networks.layout import PROBE_SIZES, Layout, probe_rows, seen_on_rows
from clausewise.networks.naming import Titles, inside, picked_output
from clausewise.networks.protocol import OUTPUT, Axis, OutputForm, Structure, Tensor
from clausewise.networks.shapes import axes_of

# At inference they hand their input on, perhaps in another shape; layers and operations, by their class.
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
# They have weights and yet treat every unit by itself, as activations do.
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
_PRODUCTS = frozenset({"Matmul", "Einsum", "Dot", "Tensordot", "Inner", "Conv", "DepthwiseConv"})
_FORMS: dict[str, OutputForm] = {
    "softmax": "probabilities",
    "log_softmax": "logits",
    "logsoftmax": "logits",
    "linear": "logits",
}
# Layers of Keras that unpickle a PyTorch module, or run a TensorFlow graph.
_FOREIGN = ("TorchModuleWrapper", "TFSMLayer")
_NUMBER_LOSSES = (
    "squared",
    "absolute",
    "mse",
    "mae",
    "msle",
    "mape",
    "huber",
    "logcosh",
    "log_cosh",
    "poisson",
)


class KerasBackend:
    """A built Keras model, at inference.

    Functional and sequential models are followed layer by layer, models inside them too; of a model with a
    `call` of its own, `call` is followed symbolically.

    Parameters
    ----------
    model : keras.Model
        With one input and one output.
    loss : optional
        What it was trained for, as in its configuration; as the model itself says, unless given.
    """

    def __init__(self, model: Any, loss: Any = None) -> None:
        self.title = f"Keras model {model.name}"
        self.classes: Sequence[Any] | None = None
        self.feature_names: Sequence[str] | None = None
        if not model.built:
            raise ValueError(
                f"{self.title} was never built, so that it has no weights yet; train it, or call it on "
                "rows first."
            )
        self._model = model
        self._loss = getattr(model, "loss", None) if loss is None else loss
        inputs = _inputs(model)
        if len(inputs) > 1:
            names = ", ".join(tensor.name for tensor in inputs)
            raise ValueError(f"{self.title} has {len(inputs)} inputs ({names}); a model with one is needed.")
        # Of one row; None if the model does not say.
        self._row_shape: tuple[int | None, ...] | None = tuple(inputs[0].shape[1:]) if inputs else None
        dtype = inputs[0].dtype if inputs else "float32"
        if dtype == "string":
            raise ValueError(f"{self.title} reads text; a model that reads numbers is needed.")
        self.dtype: np.dtype[Any] = np.dtype("float32" if dtype == "bfloat16" else dtype)
        is_vector = self._row_shape is not None and len(self._row_shape) == 1
        self.n_inputs = self._row_shape[0] if is_vector and self._row_shape else None
        self._input: Any = None
        self._symbols: dict[str, Any] = {}
        self._layouts: dict[str, Layout] = {}
        self._parts: dict[tuple[str, ...], Any] = {}

    def inspect(self, rows: NDArray[Any] | None) -> Structure | None:
        """What is inside; a model that knows the shape of its rows says so by itself."""
        return seen_on_rows(self._inspected, rows, self._row_shape, self.dtype)

    def _inspected(self, rows: NDArray[Any]) -> Structure:
        self._input = keras.Input(rows.shape[1:], dtype=self.dtype.name)
        follower = _Follower()
        try:
            result = follower.follow(self._model, self._input)
        except Exception as error:  # the model's own code, on rows that it may not be made for
            raise ValueError(
                f"{self.title} cannot be followed on rows of shape {rows.shape[1:]}: "
                f"{str(error).strip().rstrip('.')}. Pass rows as it was trained on, build the model from "
                "layers and keras.ops, or give its layers as functions with "
                "clausewise.networks.CallableNetwork."
            ) from error
        output = picked_output(result, keras.utils.is_keras_tensor)
        steps = _Steps(output, follower.scopes)
        inner = inner_tensors(steps.operations, steps.key_of(output))
        self._symbols = {steps.titles[one.name]: steps.tensors[one.name] for one in inner}
        self._parts = {}
        names = tuple(self._symbols)
        small, large = (self._values(probe_rows(rows, size), names) for size in PROBE_SIZES)
        tensors = []
        for one, few, many in zip(inner, small, large, strict=True):
            layout = Layout.found(few, many) if many.dtype.kind == "f" else None
            if layout is not None:
                title, shape = steps.titles[one.name], layout.row_shape(many.shape)
                axes = _axes(shape, steps.data_format(one.name))
                tensors.append(Tensor(title, shape, axes, one.reader is not None))
                self._layouts[title] = layout
        n_outputs = output.shape[1] if len(output.shape) > 1 else 1
        return Structure(tuple(tensors), n_outputs, self._form(steps, output, n_outputs))

    def evaluate(self, rows: NDArray[Any], names: Sequence[str]) -> list[NDArray[Any]]:
        """The named tensors; the output is what the model itself returns."""
        inner = tuple(name for name in names if name != OUTPUT)
        values = zip(inner, self._values(rows, inner), strict=True)
        found = {name: self._layouts[name].rows_first(value, len(rows)) for name, value in values}
        if OUTPUT in names:
            with _without_gradients():
                result = self._model(rows, training=False)
            found[OUTPUT] = _array(picked_output(result, keras.ops.is_tensor))
        return [found[name] for name in names]

    def _values(self, rows: NDArray[Any], names: tuple[str, ...]) -> list[NDArray[Any]]:
        if not names:
            return []
        if names not in self._parts:
            self._parts[names] = keras.Model(self._input, [self._symbols[name] for name in names])
        with _without_gradients():
            values = self._parts[names](rows, training=False)
        return [_array(value) for value in keras.tree.flatten(values)]

    def _form(self, steps: "_Steps", output: Any, n_outputs: int) -> OutputForm | None:
        """What the last layer's activation says about the output, or the loss that the model was trained "
        "for."""
        if any(_is_for_numbers(name) for name in _loss_names(self._loss)):
            return "number"
        last = last_operation(steps.operations, steps.key_of(output))
        activation = steps.activations.get(last, "")
        if activation == "sigmoid":
            return "probabilities" if n_outputs == 1 else "sigmoids"
        return _FORMS.get(activation)


def load_keras(path: Path) -> KerasBackend:
    """The model in a `.keras` file; nothing in the file is executed."""
    config = _checked_config(path)
    # The loss is read and not made: compiling is of no use here.
    compiled = config.get("compile_config") if isinstance(config, dict) else None
    loss = compiled.get("loss") if isinstance(compiled, dict) else None
    try:
        model = keras.saving.load_model(path, compile=False, safe_mode=True)
    except Exception as error:  # a damaged file makes all kinds of trouble
        raise ValueError(f"{path.name} cannot be loaded as a Keras model: {error}") from error
    return KerasBackend(model, loss)


def _loss_names(loss: Any) -> Iterator[str]:
    """What losses are called: names, functions and objects, as they are or serialised, alone or several."""
    if isinstance(loss, dict) and "class_name" in loss:
        yield str(loss["class_name"])
        # Of a function: its name; of an object: its options.
        yield from [loss["config"]] if isinstance(loss.get("config"), str) else []
    elif isinstance(loss, dict | list | tuple):
        for one in loss.values() if isinstance(loss, dict) else loss:
            yield from _loss_names(one)
    elif loss is not None:
        yield loss if isinstance(loss, str) else getattr(loss, "__name__", type(loss).__name__)


def _is_for_numbers(loss_name: str) -> bool:
    # The squared hinge is a loss of classifiers.
    return "hinge" not in loss_name.lower() and any(word in loss_name.lower() for word in _NUMBER_LOSSES)


def _checked_config(path: Path) -> Any:
    """A file's configuration; refuses what is no `.keras` file and what would run code when loaded."""
    try:
        with zipfile.ZipFile(path) as archive:
            config = json.loads(archive.read("config.json"))
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise ValueError(f"{path.name} is no Keras model, or damaged: {error}") from error
    known = keras.saving.get_custom_objects()
    for entry in _objects(config):
        module, name = str(entry.get("module") or "keras"), entry["class_name"]
        is_registered = entry.get("registered_name") in known
        if name == "Lambda" or "__lambda__" in str(name):
            raise ValueError(
                f"{path.name} holds a Lambda layer, which is code that would run when loaded; load it "
                "yourself if you trust it (keras.saving.load_model with safe_mode=False) and pass the model."
            )
        if str(name).split(">")[-1] in _FOREIGN:
            raise ValueError(
                f"{path.name} holds a {name}, a model of another framework that may run code when loaded; "
                "load it yourself if you trust it and pass the model."
            )
        if module.split(".")[0] not in ("keras", "builtins") and not is_registered:
            raise ValueError(
                f"{path.name} holds a {name} of the module {module}, which is not part of Keras; load it "
                "yourself if you trust it and pass the model."
            )
    return config


def _objects(config: Any) -> Iterator[Mapping[str, Any]]:
    """Every serialised object in a model's configuration."""
    if isinstance(config, dict):
        if "class_name" in config:
            yield config
        config = list(config.values())
    if isinstance(config, list):
        for entry in config:
            yield from _objects(entry)


# --- Following a model ---


def _inputs(model: Any) -> list[Any]:
    """The symbolic inputs of a functional or sequential model; none for a model with a `call` of its own."""
    try:
        return list(getattr(model, "inputs", None) or [])
    except (AttributeError, ValueError):
        return []


class _Follower:
    """Calls a model on a symbolic tensor, layer by layer, and keeps in which inner model each layer is.

    Attributes
    ----------
    scopes : dict
        Per operation (by identity) the name of the model around it; "" for the model itself.
    """

    def __init__(self) -> None:
        self.scopes: dict[int, str] = {}

    def follow(self, model: Any, *args: Any, scope: str = "", **kwargs: Any) -> Any:
        """What the model makes of symbolic tensors."""
        if isinstance(model, keras.Sequential):
            return self._through_sequence(model, args[0], scope)
        if _inputs(model):
            return self._through_graph(model, args[0], scope)
        return _called(model, args[0])

    def _through_sequence(self, model: Any, tensor: Any, scope: str) -> Any:
        for layer in model.layers:
            tensor = self._applied(layer, scope, tensor)
        return tensor

    def _through_graph(self, model: Any, tensor: Any, scope: str) -> Any:
        def applied(operation: Any, *args: Any, **kwargs: Any) -> Any:
            return self._applied(operation, scope, *args, **kwargs)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # cloning warns of losses that only training needs
            same = keras.models.clone_model(
                model,
                input_tensors=keras.tree.map_structure(lambda _: tensor, model.input),
                clone_function=lambda layer: layer,
                call_function=applied,
            )
        return same.output

    def _applied(self, operation: Any, scope: str, *args: Any, **kwargs: Any) -> Any:
        if isinstance(operation, keras.Model) and len(args) == 1 and not isinstance(args[0], list | dict):
            return self.follow(operation, *args, scope=inside(scope, operation.name), **kwargs)
        self.scopes[id(operation)] = scope
        return operation(*args, **kwargs)


def _called(model: Any, tensor: Any) -> Any:
    """`call` at inference; some take `training`, some do not."""
    takes_training = "training" in inspect.signature(model.call).parameters
    return model.call(tensor, training=False) if takes_training else model.call(tensor)


class _Steps:
    """The operations behind a symbolic tensor, in the order of computation.

    Attributes
    ----------
    operations : list of Operation
        Each under a key of its own.
    tensors, titles, activations : dict
        Per key the symbolic tensor, its readable name, and the name of the activation applied last.
    """

    def __init__(self, output: Any, scopes: Mapping[int, str]) -> None:
        self.operations: list[Operation] = []
        self.tensors: dict[str, Any] = {}
        self.titles: dict[str, str] = {}
        self.activations: dict[str, str] = {}
        self._data_formats: dict[str, str] = {}
        self._scopes = scopes
        self._names = Titles()
        self._keys: dict[int, str] = {}
        for node in _nodes(output):
            self._add(node)

    def key_of(self, tensor: Any) -> str:
        """The key of the operation that makes a tensor."""
        return self._keys[id(tensor)]

    def data_format(self, key: str) -> str:
        """Where the channels lie, if the last operation with weights before a tensor is a convolution."""
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
            # The states that a recurrent layer gives beside its output.
            self.titles[key] = title if place == 0 else self._names.new(f"{title}.state")
            self.tensors[key] = tensor
            self.operations.append(Operation(key, inputs, _kind(operation, does, node)))
            self.activations[key] = _activation(operation, does)
            if "Conv" in does:
                self._data_formats[key] = operation.data_format


def _nodes(output: Any) -> list[Any]:
    """The calls that lead to a tensor, each behind those that it needs."""
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
    """The last function that a layer applies: `softmax`, `sigmoid`, `linear`, …"""
    own = getattr(operation, "activation", None)
    if own is not None:
        return str(getattr(own, "__name__", type(own).__name__))
    return does.lower()


def _axes(shape: tuple[int, ...], data_format: str) -> tuple[Axis, ...]:
    """What the axes stand for: those of a convolution as it says, units last behind anything else."""
    if not data_format or len(shape) < 2:
        return axes_of(shape)
    positions: list[Axis] = ["position"] * (len(shape) - 1)
    return (*positions, "channel") if data_format == "channels_last" else ("channel", *positions)


def _without_gradients() -> AbstractContextManager[Any]:
    if keras.backend.backend() == "torch":
        import torch

        return torch.no_grad()
    return nullcontext()


def _array(tensor: Any) -> NDArray[Any]:
    if keras.backend.backend() == "torch":
        tensor = tensor.detach().cpu()
        tensor = tensor.float() if tensor.is_floating_point() else tensor
        values = np.asarray(tensor.numpy())
    else:
        values = np.asarray(keras.ops.convert_to_numpy(tensor))
    is_plain = values.dtype in (np.float32, np.float64) or values.dtype.kind in "biu"
    return values if is_plain else values.astype(np.float32)
