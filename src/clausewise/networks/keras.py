"""Keras 3 models, and `.keras` files."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from clausewise.networks.calling import calling_of
from clausewise.networks.graph import inner_tensors, last_operation
from clausewise.networks.inputs import InputKey, Inputs, Rows, shapes_text
from clausewise.networks.keras_config import checked_config, is_regression_loss
from clausewise.networks.keras_plain import plain_of
from clausewise.networks.keras_steps import Follower, Steps, as_array, nodes_of, symbolic_inputs
from clausewise.networks.layout import PROBE_SIZES, Layout, inspected_on_rows, probe_rows
from clausewise.networks.locks import lock_of
from clausewise.networks.naming import OutputKey, picked_output
from clausewise.networks.plain import PlainNetwork
from clausewise.networks.protocol import OUTPUT, Axis, OutputForm, Structure, Tensor
from clausewise.networks.shapes import axes_of

_FORMS: dict[str, OutputForm] = {
    "softmax": "probabilities",
    "log_softmax": "logits",
    "logsoftmax": "logits",
    "linear": "logits",
}


class KerasBackend:
    """A built Keras model in inference mode.

    Functional and sequential models are followed layer by layer, including nested models; a model with its
    own `call` is followed by calling it symbolically.

    Parameters
    ----------
    model : keras.Model
        A model that returns class scores.
    loss : optional
        The loss that it was trained with, as in its configuration; by default that of the compiled model.
    has_inputs : bool
        Whether rows come as `Inputs`, one array per input, rather than as one array.
    output_key : str or int, optional
        Which of the model's outputs are the class scores.
    """

    def __init__(
        self, model: Any, loss: Any = None, *, has_inputs: bool = False, output_key: OutputKey = None
    ) -> None:
        self.title = f"Keras model {model.name}"
        self.classes: Sequence[Any] | None = None
        self.feature_names: Sequence[str] | None = None
        if not model.built:
            raise ValueError(
                f"{self.title} was never built and has no weights yet; train it, or call it on rows first."
            )
        self._model = model
        self._followed_output: Any = None
        self._loss = getattr(model, "loss", None) if loss is None else loss
        self._output_key = output_key
        inputs = symbolic_inputs(model)
        if len(inputs) > 1 and not has_inputs:
            columns = ", ".join(f"{tensor.name!r}: […]" for tensor in inputs)
            names = ", ".join(tensor.name for tensor in inputs)
            raise ValueError(
                f"{self.title} has {len(inputs)} inputs ({names}). Pass "
                f"inputs={{{columns}}} with the columns of each, or a function from rows to these inputs."
            )
        if any(tensor.dtype == "string" for tensor in inputs):
            raise ValueError(
                f"{self.title} reads text; a model that reads numbers is needed. Pass the part after its "
                "encoder of text, and the encoder as preprocess=."
            )
        # The shape of one row; None if the model does not define it.
        has_shape = len(inputs) == 1 and not has_inputs
        self._row_shape: tuple[int | None, ...] | None = tuple(inputs[0].shape[1:]) if has_shape else None
        self.dtype = _dtype(inputs[0].dtype) if has_shape else np.dtype(np.float32)
        self._arguments = KerasArguments(model, inputs, self.title) if has_inputs else None
        self.category_inputs: frozenset[InputKey] = frozenset()
        is_vector = self._row_shape is not None and len(self._row_shape) == 1
        self.n_inputs = self._row_shape[0] if is_vector and self._row_shape else None
        # The symbolic inputs: one tensor, or a list of them.
        self._input: Any = None
        self._symbols: dict[str, Any] = {}
        self._layouts: dict[str, Layout] = {}
        self._parts: dict[tuple[str, ...], Any] = {}

    def dtype_of(self, key: InputKey) -> np.dtype[Any]:
        """Return the type in which an input is read: that which the model declares, if it does."""
        assert self._arguments is not None
        return self._arguments.dtype_of(key)

    def inspect(self, rows: Rows | None) -> Structure | None:
        """Return the structure; rows are not needed if the model defines their shape."""
        return inspected_on_rows(self._inspected, rows, self._row_shape, self.dtype)

    def _inspected(self, rows: Rows) -> Structure:
        # A layer numbers its calls on symbolic tensors, and models may share layers: follow one at a time.
        with lock_of(self._model), lock_of(keras):
            return self._followed(rows)

    def _followed(self, rows: Rows) -> Structure:
        arrays = self._arrays(rows)
        symbols = [keras.Input(array.shape[1:], dtype=array.dtype.name) for array in arrays]
        self._input = symbols if isinstance(rows, Inputs) else symbols[0]
        follower = Follower()
        try:
            args, kwargs = self._called_with(rows, symbols)
            result = follower.follow(self._model, *args, **kwargs)
        except WrongInputsError:
            raise
        except Exception as error:  # the model's own code may raise anything on rows of the wrong shape
            raise ValueError(
                f"{self.title} cannot be followed on rows of shape {shapes_text(rows)}: "
                f"{str(error).strip().rstrip('.')}. Pass rows like those it was trained on, build the model "
                "from layers and keras.ops, or pass its layers as functions to "
                "clausewise.networks.CallableNetwork."
            ) from error
        output = picked_output(result, keras.utils.is_keras_tensor, self._output_key)
        self._followed_output = output
        steps = Steps(output, follower.scopes)
        inner = inner_tensors(steps.operations, steps.key_of(output))
        self._symbols = {steps.titles[one.name]: steps.tensors[one.name] for one in inner}
        self._parts = {}
        if isinstance(rows, Inputs):
            pairs = zip(rows.keys, symbols, strict=True)
            self.category_inputs = frozenset(key for key, symbol in pairs if steps.is_encoded(symbol))
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

    def plain(self, n_inputs: int) -> PlainNetwork:
        """Return the layers in the form that proofs read."""
        output = self._followed_output
        with lock_of(self._model), lock_of(keras):
            return plain_of(self.title, nodes_of(output), output, n_inputs, self.dtype)

    def evaluate(self, rows: Rows, names: Sequence[str]) -> list[NDArray[Any]]:
        """Return the named tensors; the output is what the model itself returns."""
        with lock_of(self._model):
            return self._evaluated(rows, names)

    def _evaluated(self, rows: Rows, names: Sequence[str]) -> list[NDArray[Any]]:
        inner = tuple(name for name in names if name != OUTPUT)
        values = zip(inner, self._values(rows, inner), strict=True)
        found = {name: self._layouts[name].rows_first(value, len(rows)) for name, value in values}
        if OUTPUT in names:
            args, kwargs = self._called_with(rows, self._arrays(rows))
            with _without_gradients():
                result = self._model(*args, **kwargs, training=False)
            found[OUTPUT] = as_array(picked_output(result, keras.ops.is_tensor, self._output_key))
        return [found[name] for name in names]

    def _arrays(self, rows: Rows) -> list[NDArray[Any]]:
        """Return the arrays that the model reads, in the types that it declares."""
        if not isinstance(rows, Inputs):
            return [rows]
        assert self._arguments is not None
        return self._arguments.arrays(rows)

    def _called_with(self, rows: Rows, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of a call with these values, one for each array of the rows."""
        if not isinstance(rows, Inputs):
            return (values[0],), {}
        assert self._arguments is not None
        return self._arguments.of(rows.keys, values)

    def _values(self, rows: Rows, names: tuple[str, ...]) -> list[NDArray[Any]]:
        if not names:
            return []
        if names not in self._parts:
            with lock_of(keras):
                self._parts[names] = keras.Model(self._input, [self._symbols[name] for name in names])
        arrays = self._arrays(rows)
        with _without_gradients():
            values = self._parts[names](arrays if isinstance(rows, Inputs) else rows, training=False)
        return [as_array(value) for value in keras.tree.flatten(values)]

    def _form(self, steps: Steps, output: Any, n_outputs: int) -> OutputForm | None:
        """Return the meaning of the output by the loss of the model, or by its last activation."""
        if is_regression_loss(self._loss):
            return "number"
        last = last_operation(steps.operations, steps.key_of(output))
        activation = steps.activations.get(last, "")
        if activation == "sigmoid":
            return "probabilities" if n_outputs == 1 else "sigmoids"
        return _FORMS.get(activation)


def load_keras(path: Path, *, has_inputs: bool = False, output_key: OutputKey = None) -> KerasBackend:
    """Load the model in a `.keras` file; no code in the file is executed."""
    config = checked_config(path)
    # The loss is read from the configuration; compiling the model is not needed.
    compiled = config.get("compile_config") if isinstance(config, dict) else None
    loss = compiled.get("loss") if isinstance(compiled, dict) else None
    try:
        model = keras.saving.load_model(path, compile=False, safe_mode=True)
    except Exception as error:  # a damaged file may raise anything
        raise ValueError(f"{path.name} cannot be loaded as a Keras model: {error}") from error
    return KerasBackend(model, loss, has_inputs=has_inputs, output_key=output_key)


class WrongInputsError(ValueError):
    """The inputs are not those that the model takes."""


class KerasArguments:
    """How a Keras model is called with several inputs.

    Parameters
    ----------
    model : keras.Model
        The model.
    inputs : list
        Its symbolic inputs; none for a model with its own `call`.
    title : str
        Its name in error messages.
    """

    def __init__(self, model: Any, inputs: Sequence[Any], title: str) -> None:
        self._model, self._inputs, self._title = model, inputs, title
        # A tensor, or a list or a dictionary of them; a sequential model does not say that it is a tensor.
        self._structure = getattr(model, "input", inputs[0]) if inputs else None

    def dtype_of(self, key: InputKey) -> np.dtype[Any]:
        """Return the declared type of an input; single precision if the model declares none."""
        place = self._places().get(key)
        return np.dtype(np.float32) if place is None else _dtype(self._inputs[place].dtype)

    def arrays(self, rows: Inputs) -> list[NDArray[Any]]:
        """Return the arrays in the types that the model declares."""
        found = []
        for key, array in rows.arrays.items():
            is_kept = not self._inputs and array.dtype.kind in "ib"
            found.append(array if is_kept else array.astype(self.dtype_of(key), copy=False))
        return found

    def of(self, keys: tuple[InputKey, ...], values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return positional arguments and those by name, for one value per input."""
        if not self._inputs:
            name = f"{type(self._model).__name__}.call"
            try:
                calling = calling_of(self._model.call, name, keys, ("training", "mask"))
            except ValueError as error:
                raise WrongInputsError(str(error)) from None
            return calling.arguments(values)
        places = self._places()
        if len(keys) != len(self._inputs) or any(key not in places for key in keys):
            names = ", ".join(tensor.name for tensor in self._inputs)
            raise WrongInputsError(
                f"{self._title} has {len(self._inputs)} inputs ({names}), but inputs= has "
                f"{', '.join(map(str, keys))}; pass one entry for each, under its name."
            )
        placed = [value for _, value in sorted(zip(map(places.get, keys), values, strict=True), key=_first)]
        return (keras.tree.pack_sequence_as(self._structure, placed),), {}

    def _places(self) -> dict[InputKey, int]:
        """Return the place of each input among all, by its name, its key in a dictionary, or its position."""
        places: dict[InputKey, int] = {tensor.name: place for place, tensor in enumerate(self._inputs)}
        if isinstance(self._structure, Mapping):
            place_of = {id(tensor): place for place, tensor in enumerate(self._inputs)}
            return {**places, **{key: place_of[id(tensor)] for key, tensor in self._structure.items()}}
        return {**places, **{place: place for place in range(len(self._inputs))}}


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def _dtype(name: str) -> np.dtype[Any]:
    return np.dtype("float32" if name == "bfloat16" else name)


def _axes(shape: tuple[int, ...], data_format: str) -> tuple[Axis, ...]:
    """Return the meaning of the axes: after a convolution by its data format, otherwise units last."""
    if not data_format or len(shape) < 2:
        return axes_of(shape)
    positions: list[Axis] = ["position"] * (len(shape) - 1)
    return (*positions, "channel") if data_format == "channels_last" else ("channel", *positions)


def _without_gradients() -> AbstractContextManager[Any]:
    if keras.backend.backend() == "torch":
        import torch

        return torch.no_grad()
    return nullcontext()
