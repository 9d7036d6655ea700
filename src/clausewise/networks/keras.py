"""Keras 3 models, and `.keras` files."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from clausewise.networks.graph import inner_tensors, last_operation
from clausewise.networks.keras_config import checked_config, is_regression_loss
from clausewise.networks.keras_steps import Follower, Steps, symbolic_inputs
from clausewise.networks.layout import PROBE_SIZES, Layout, inspected_on_rows, probe_rows
from clausewise.networks.locks import lock_of
from clausewise.networks.naming import picked_output
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
        A model with one input and one output.
    loss : optional
        The loss that it was trained with, as in its configuration; by default that of the compiled model.
    """

    def __init__(self, model: Any, loss: Any = None) -> None:
        self.title = f"Keras model {model.name}"
        self.classes: Sequence[Any] | None = None
        self.feature_names: Sequence[str] | None = None
        if not model.built:
            raise ValueError(
                f"{self.title} was never built and has no weights yet; train it, or call it on rows first."
            )
        self._model = model
        self._loss = getattr(model, "loss", None) if loss is None else loss
        inputs = symbolic_inputs(model)
        if len(inputs) > 1:
            names = ", ".join(tensor.name for tensor in inputs)
            raise ValueError(
                f"{self.title} has {len(inputs)} inputs ({names}); a model with one input is needed."
            )
        # The shape of one row; None if the model does not define it.
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
        """Return the structure; rows are not needed if the model defines their shape."""
        return inspected_on_rows(self._inspected, rows, self._row_shape, self.dtype)

    def _inspected(self, rows: NDArray[Any]) -> Structure:
        # A layer numbers its calls on symbolic tensors, and models may share layers: follow one at a time.
        with lock_of(self._model), lock_of(keras):
            return self._followed(rows)

    def _followed(self, rows: NDArray[Any]) -> Structure:
        self._input = keras.Input(rows.shape[1:], dtype=self.dtype.name)
        follower = Follower()
        try:
            result = follower.follow(self._model, self._input)
        except Exception as error:  # the model's own code may raise anything on rows of the wrong shape
            raise ValueError(
                f"{self.title} cannot be followed on rows of shape {rows.shape[1:]}: "
                f"{str(error).strip().rstrip('.')}. Pass rows like those it was trained on, build the model "
                "from layers and keras.ops, or pass its layers as functions to "
                "clausewise.networks.CallableNetwork."
            ) from error
        output = picked_output(result, keras.utils.is_keras_tensor)
        steps = Steps(output, follower.scopes)
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
        """Return the named tensors; the output is what the model itself returns."""
        with lock_of(self._model):
            return self._evaluated(rows, names)

    def _evaluated(self, rows: NDArray[Any], names: Sequence[str]) -> list[NDArray[Any]]:
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
            with lock_of(keras):
                self._parts[names] = keras.Model(self._input, [self._symbols[name] for name in names])
        with _without_gradients():
            values = self._parts[names](rows, training=False)
        return [_array(value) for value in keras.tree.flatten(values)]

    def _form(self, steps: Steps, output: Any, n_outputs: int) -> OutputForm | None:
        """Return the meaning of the output by the loss of the model, or by its last activation."""
        if is_regression_loss(self._loss):
            return "number"
        last = last_operation(steps.operations, steps.key_of(output))
        activation = steps.activations.get(last, "")
        if activation == "sigmoid":
            return "probabilities" if n_outputs == 1 else "sigmoids"
        return _FORMS.get(activation)


def load_keras(path: Path) -> KerasBackend:
    """Load the model in a `.keras` file; no code in the file is executed."""
    config = checked_config(path)
    # The loss is read from the configuration; compiling the model is not needed.
    compiled = config.get("compile_config") if isinstance(config, dict) else None
    loss = compiled.get("loss") if isinstance(compiled, dict) else None
    try:
        model = keras.saving.load_model(path, compile=False, safe_mode=True)
    except Exception as error:  # a damaged file may raise anything
        raise ValueError(f"{path.name} cannot be loaded as a Keras model: {error}") from error
    return KerasBackend(model, loss)


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


def _array(tensor: Any) -> NDArray[Any]:
    if keras.backend.backend() == "torch":
        tensor = tensor.detach().cpu()
        tensor = tensor.float() if tensor.is_floating_point() else tensor
        values = np.asarray(tensor.numpy())
    else:
        values = np.asarray(keras.ops.convert_to_numpy(tensor))
    is_plain = values.dtype in (np.float32, np.float64) or values.dtype.kind in "biu"
    return values if is_plain else values.astype(np.float32)
