"""ONNX models and files, run by onnxruntime."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from clausewise.networks.graph import Operation, inner_tensors, last_operation, last_weights
from clausewise.networks.layout import PROBE_SIZES, Layout, inspected_on_rows, probe_rows
from clausewise.networks.locks import lock_of
from clausewise.networks.naming import Titles
from clausewise.networks.onnx_loops import LoopError, check_loops
from clausewise.networks.onnx_plain import plain_of
from clausewise.networks.plain import PlainNetwork
from clausewise.networks.protocol import OUTPUT, Axis, OutputForm, Structure, Tensor
from clausewise.networks.shapes import axes_of

# They apply learnt weights to the input, if one of the operands is a constant of the model.
_PRODUCTS = frozenset(
    {
        "Attention",
        "Conv",
        "ConvInteger",
        "ConvTranspose",
        "Einsum",
        "GRU",
        "Gather",
        "Gemm",
        "LSTM",
        "MatMul",
        "MatMulInteger",
        "MultiHeadAttention",
        "QLinearConv",
        "QLinearMatMul",
        "RNN",
    }
)
_SAME = frozenset(
    {
        "Cast",
        "DequantizeLinear",
        "Dropout",
        "Expand",
        "Flatten",
        "Identity",
        "QuantizeLinear",
        "Reshape",
        "Squeeze",
        "Transpose",
        "Unsqueeze",
    }
)
_RECURRENT = ("GRU", "LSTM", "RNN")
_QUERIES = frozenset({"Shape", "Size"})
# Complete classifiers in one node, as written by converters of scikit-learn models.
_CLASSIFIERS = frozenset({"LinearClassifier", "SVMClassifier", "TreeEnsembleClassifier"})
_FORMS: dict[str, OutputForm] = {
    "LinearRegressor": "number",
    "SVMRegressor": "number",
    "TreeEnsembleRegressor": "number",
    "Softmax": "probabilities",
    "LogSoftmax": "logits",
    "Gemm": "logits",
    "MatMul": "logits",
}
# A model with a fixed number of rows always computes that many, however few are needed.
_MAX_FIXED_ROWS = 2**16
_DTYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
}


class OnnxBackend:
    """An ONNX model.

    Parameters
    ----------
    model : onnx.ModelProto or path
        A model with one input, whose first axis is the rows.
    """

    def __init__(self, model: Any) -> None:
        if isinstance(model, onnxruntime.InferenceSession):
            raise TypeError(
                "The layers of an InferenceSession cannot be read, because it does not expose its graph; "
                "pass the .onnx file or the onnx.ModelProto that it was made from."
            )
        self._model, name = _loaded(model)
        self.title = f"ONNX model {name}".rstrip()
        self.feature_names: Sequence[str] | None = None
        self._sessions: dict[tuple[str, ...], Any] = {}
        self._names: dict[str, str] = {}
        self._layouts: dict[str, Layout] = {}
        # Opening a session also checks types, shapes and operators.
        session = self._session(())
        read = _the_input(session, self.title)
        self._input_name: str = read.name
        self.dtype: np.dtype[Any] = np.dtype(_DTYPES[read.type])
        sizes = [size if isinstance(size, int) and size > 0 else None for size in read.shape]
        self._n_fixed, self._row_shape = sizes[0], sizes[1:]
        if self._n_fixed is not None and self._n_fixed > _MAX_FIXED_ROWS:
            raise ValueError(
                f"{self.title} has a fixed batch of {self._n_fixed:,} rows, which is too large; export it "
                "with a dynamic number of rows."
            )
        self.n_inputs = self._row_shape[0] if len(self._row_shape) == 1 else None
        self._output = _scores(session, self.title)
        self.classes: Sequence[Any] | None = _classes(self._model.graph)

    def __getstate__(self) -> dict[str, Any]:
        """Omit the sessions, which cannot be pickled and are opened again when needed."""
        return {**self.__dict__, "_sessions": {}}

    def inspect(self, rows: NDArray[Any] | None) -> Structure | None:
        """Return the structure; rows are not needed if the model defines their shape."""
        return inspected_on_rows(self._inspected, rows, self._row_shape, self.dtype)

    def _inspected(self, rows: NDArray[Any]) -> Structure:
        steps = _Steps(self._model.graph)
        inner = [one for one in inner_tensors(steps.operations, self._output) if one.name in steps.makers]
        self._names = dict(
            zip(steps.titles([one.name for one in inner]), (one.name for one in inner), strict=True)
        )
        names = [*self._names.values(), self._output]
        try:
            small, large = (self._run(probe_rows(rows, size), names) for size in self._probe_sizes)
        except Exception as error:  # onnxruntime's exceptions have no common base class
            raise ValueError(
                f"{self.title} fails on rows of shape {rows.shape[1:]}: {error}. Pass rows like those "
                "it was trained on."
            ) from error
        tensors = []
        for title, one, few, many in zip(self._names, inner, small, large, strict=False):
            layout = self._layout(few, many) if many.dtype.kind == "f" else None
            if layout is not None:
                shape = layout.row_shape(many.shape)
                axes = steps.axes(one.name, shape)
                tensors.append(Tensor(title, shape, axes, one.reader is not None))
                self._layouts[title] = layout
        n_outputs = large[-1].shape[1] if large[-1].ndim > 1 else 1
        return Structure(tuple(tensors), n_outputs, self._form(steps, n_outputs))

    def plain(self, n_inputs: int) -> PlainNetwork:
        """Return the layers in the form that proofs read."""
        names = self._input_name, self._output
        return plain_of(self.title, self._model.graph, *names, n_inputs, self.dtype)

    def evaluate(self, rows: NDArray[Any], names: Sequence[str]) -> list[NDArray[Any]]:
        """Return the named tensors; nothing else is computed."""
        asked = [self._output if name == OUTPUT else self._names[name] for name in names]
        try:
            values = self._run(rows, asked)
        except Exception as error:  # onnxruntime's exceptions have no common base class
            raise ValueError(f"{self.title} fails on rows of shape {rows.shape[1:]}: {error}") from error
        return [
            value if name == OUTPUT else self._layouts[name].rows_first(value, len(rows))
            for name, value in zip(names, values, strict=True)
        ]

    @property
    def _probe_sizes(self) -> tuple[int, int]:
        return PROBE_SIZES if self._n_fixed is None else (self._n_fixed, self._n_fixed)

    def _layout(self, small: NDArray[Any], large: NDArray[Any]) -> Layout | None:
        if self._n_fixed is None:
            return Layout.found(small, large)
        return Layout(0) if large.ndim and len(large) == self._n_fixed else None

    def _run(self, rows: NDArray[Any], names: Sequence[str]) -> list[NDArray[Any]]:
        """Return the tensors for any number of rows, also if the model was exported for a fixed number."""
        session = self._session(tuple(dict.fromkeys(names)))
        if self._n_fixed is None:
            return [np.asarray(value) for value in session.run(list(names), {self._input_name: rows})]
        parts = []
        for start in range(0, len(rows), self._n_fixed):
            part = rows[start : start + self._n_fixed]
            padded = probe_rows(part, self._n_fixed)
            values = session.run(list(names), {self._input_name: padded})
            parts.append([value[: len(part)] for value in values])
        return [np.concatenate(values) for values in zip(*parts, strict=True)]

    def _session(self, names: tuple[str, ...]) -> Any:
        """Return a session of the model with these tensors as outputs, or with its own outputs."""
        with lock_of(self):
            if names not in self._sessions:
                self._sessions[names] = self._opened(names)
            return self._sessions[names]

    def _opened(self, names: tuple[str, ...]) -> Any:
        model = self._model
        if names:
            model = onnx.ModelProto()
            model.CopyFrom(self._model)
            del model.graph.output[:]
            model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # errors are raised as exceptions
        try:
            return onnxruntime.InferenceSession(
                model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime's exceptions have no common base class
            raise ValueError(f"{self.title} cannot be run by onnxruntime: {error}") from error

    def _form(self, steps: "_Steps", n_outputs: int) -> OutputForm | None:
        last = last_operation(steps.operations, self._output)
        does = steps.does.get(last, "")
        if does == "Sigmoid":
            return "probabilities" if n_outputs == 1 else "sigmoids"
        if does == "Add" and any(steps.does.get(name) == "MatMul" for name in steps.inputs(last)):
            return "logits"  # a dense layer with its bias
        return _FORMS.get(does)


def _loaded(model: Any) -> tuple[Any, str]:
    """Return the model and its name."""
    if isinstance(model, onnx.ModelProto):
        return model, model.graph.name
    path = Path(model)
    try:
        loaded = onnx.load(path)
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror or error}.") from error
    except Exception as error:  # a damaged file may raise anything, also without a message
        reason = str(error) or type(error).__name__
        raise ValueError(f"{path.name} is not an ONNX model, or is damaged: {reason}") from error
    if not loaded.graph.node:
        raise ValueError(f"{path.name} is not an ONNX model, or is damaged: its graph is empty.")
    for node in loaded.graph.node:
        # protobuf returns text that is not UTF-8 as bytes.
        if any(isinstance(text, bytes) for text in (node.name, node.op_type, *node.input, *node.output)):
            raise ValueError(f"{path.name} is not an ONNX model, or is damaged: a name is not UTF-8.")
    try:
        check_loops(loaded)
    except LoopError as error:
        raise ValueError(
            f"{path.name} is not run: {error}. If you trust it, load it yourself with onnx.load and pass the "
            "model."
        ) from error
    return loaded, path.stem


def _the_input(session: Any, title: str) -> Any:
    inputs = session.get_inputs()
    if len(inputs) != 1:
        names = ", ".join(value.name for value in inputs) or "none"
        raise ValueError(
            f"{title} has {len(inputs)} inputs ({names}); a model with one input is needed. Wrap a "
            "scikit-learn pipeline directly, not its export: then rules are written over its raw columns."
        )
    if inputs[0].type not in _DTYPES or not inputs[0].shape:
        raise ValueError(
            f"{title} reads {inputs[0].type} of shape {inputs[0].shape}; it must read rows of numbers."
        )
    return inputs[0]


def _scores(session: Any, title: str) -> str:
    """Return the output with class scores: the only one with floating-point numbers, or the one named so."""
    outputs = session.get_outputs()
    if any(value.type.startswith("seq(map") for value in outputs):
        raise ValueError(
            f"{title} returns probabilities as a list of dictionaries (ZipMap); export it without ZipMap: "
            "skl2onnx.to_onnx(model, X, options={'zipmap': False})."
        )
    floats = [
        value for value in outputs if value.type in ("tensor(float)", "tensor(double)", "tensor(float16)")
    ]
    named = [value for value in floats if value.name in ("logits", "probabilities")]
    if len(floats) != 1 and len(named) != 1:
        listed = ", ".join(f"{value.name} ({value.type})" for value in outputs)
        raise ValueError(f"{title} has the outputs {listed}; one output with class scores is needed.")
    return str((floats if len(floats) == 1 else named)[0].name)


def _classes(graph: Any) -> list[Any] | None:
    """Return the class labels of a converted classifier."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name == "classlabels_strings" and attribute.strings:
                return [label.decode() for label in attribute.strings]
            if attribute.name in ("classlabels_ints", "classlabels_int64s") and attribute.ints:
                return list(attribute.ints)
    labels = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:  # a multi-layer perceptron ends by looking up the label of the best column
        if node.op_type == "ArrayFeatureExtractor" and node.input[0] in labels:
            values = onnx.numpy_helper.to_array(labels[node.input[0]]).ravel()
            return [value.decode() if isinstance(value, bytes) else value for value in values.tolist()]
    return None


class _Steps:
    """The nodes of a graph as operations; a key is the name of a tensor.

    Attributes
    ----------
    operations : list of Operation
        In the order of computation.
    makers, does : dict
        For each tensor the node that computes it, and its operator.
    """

    def __init__(self, graph: Any) -> None:
        self.operations: list[Operation] = []
        self.makers: dict[str, Any] = {}
        self.does: dict[str, str] = {}
        # Tensors that do not depend on the rows: weights, and what is computed from them and from shapes.
        self._constants = {tensor.name for tensor in [*graph.initializer, *graph.sparse_initializer]}
        for node in graph.node:
            self._add(node)

    def inputs(self, key: str) -> tuple[str, ...]:
        """Return the tensors that an operation reads."""
        return next(operation.inputs for operation in self.operations if operation.name == key)

    def titles(self, keys: Sequence[str]) -> list[str]:
        """Return readable names: of the node if it has one, otherwise of its operator."""
        names = Titles()
        return [names.new(self._title(key)) for key in keys]

    def axes(self, key: str, shape: tuple[int, ...]) -> tuple[Axis, ...]:
        """Return the meaning of the axes: channels first after a convolution, otherwise units last."""
        if self.does[key] in _RECURRENT:  # steps (not of a final state) × directions × units
            of_all: tuple[Axis, ...] = ("time", "unit", "unit")
            return of_all[-len(shape) :]
        weights = self.does.get(last_weights(self.operations, key) or "", "")
        return ("channel", "position") if len(shape) == 2 and "Conv" in weights else axes_of(shape)

    def _add(self, node: Any) -> None:
        inputs = tuple(name for name in node.input if name and name not in self._constants)
        if not inputs or node.op_type in _QUERIES:
            self._constants.update(node.output)
            return
        # Only the gathered data may be an embedding's weights; the indices may be constants.
        operands = node.input[:1] if node.op_type == "Gather" else node.input
        reads_weights = any(name in self._constants for name in operands)
        if node.op_type in _SAME:
            kind: Any = "same"
        elif (node.op_type in _PRODUCTS and reads_weights) or node.op_type in _CLASSIFIERS:
            kind = "weights"
        else:
            kind = "other"
        for name in filter(None, node.output):
            self.operations.append(Operation(name, inputs, kind))
            self.makers[name], self.does[name] = node, node.op_type

    def _title(self, key: str) -> str:
        node = self.makers[key]
        place = list(node.output).index(key)
        # PyTorch names nodes by number, or by the path of the module: /block/act/Relu.
        path = [part for part in node.name.split("/") if part]
        title = ".".join(path) if len(path) > 1 else node.op_type
        if node.op_type in _RECURRENT:
            return f"{title}{('.h', '.h_n', '.c_n')[place]}"
        return title if place == 0 else f"{title}[{place}]"
