"""ONNX graphs as affine maps, activations and sums."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import onnx

from clausewise.networks.plain import PlainBuilder, PlainNetwork

# The name of an activation, its attribute for the slope, and the default of that.
_ACTIVATIONS: Final[Mapping[str, tuple[str, float]]] = {
    "Relu": ("relu", 0.0),
    "LeakyRelu": ("leaky_relu", 0.01),
    "Elu": ("elu", 1.0),
    "Softplus": ("softplus", 0.0),
    "Tanh": ("tanh", 0.0),
    "Sigmoid": ("sigmoid", 0.0),
    "Softmax": ("softmax", 0.0),
    "LogSoftmax": ("log_softmax", 0.0),
}
_SAME: Final = frozenset({"Identity", "Dropout", "Flatten", "Reshape", "Squeeze", "Unsqueeze"})
_DOMAINS: Final = frozenset({"", "ai.onnx", "ai.onnx.ml"})


def plain_of(title: str, graph: Any, read: str, output: str, n_inputs: int, dtype: Any) -> PlainNetwork:
    """Return the layers that compute an output from an input; an error names the first not supported.

    Parameters
    ----------
    title : str
        The name of the model in error messages.
    graph : onnx.GraphProto
        The graph.
    read, output : str
        Names of the input and of the output.
    n_inputs : int
        Number of input columns.
    dtype : numpy dtype
        The type of the input; casts and weights may be of another one.
    """
    reader = _Reader(graph, PlainBuilder(title, n_inputs, dtype), read)
    return reader.builder.build(reader.step(output))


class _Reader:
    """Turns the nodes that an output depends on into steps."""

    def __init__(self, graph: Any, builder: PlainBuilder, read: str) -> None:
        self.builder = builder
        self._steps: dict[str, int] = {read: 0}
        self._constants = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
        self._makers: dict[str, Any] = {}
        for node in graph.node:
            attributes = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
            if node.op_type == "Constant" and "value" in attributes:
                self._constants[node.output[0]] = onnx.numpy_helper.to_array(attributes["value"])
            self._makers |= dict.fromkeys(node.output, (node, attributes))

    def step(self, name: str) -> int:
        """Return the step that computes a tensor."""
        waiting = [name]
        while waiting:  # not by recursion: a deep network would exceed its limit
            one = waiting[-1]
            if one in self._steps:
                waiting.pop()
                continue
            if one not in self._makers:
                raise self.builder.unsupported(f"the tensor {one}, which does not depend on the input")
            node, attributes = self._makers[one]
            needed = [part for part in self._operands(node) if part not in self._steps]
            if needed:
                waiting += needed
            else:
                self._steps[one] = self._through(node, attributes)
        return self._steps[name]

    def _operands(self, node: Any) -> list[str]:
        return [part for part in node.input if part and part not in self._constants]

    def _through(self, node: Any, attributes: Mapping[str, Any]) -> int:
        builder, does = self.builder, node.op_type
        steps = [self._steps.get(name) for name in node.input]
        constants = [self._constants.get(name) for name in node.input]
        first = next((step for step in steps if step is not None), None)
        if first is None or node.domain not in _DOMAINS:
            raise builder.unsupported(f"the node {self._named(node)}")
        is_first = steps[0] is not None
        if does in _ACTIVATIONS:
            name, default = _ACTIVATIONS[does]
            return builder.activation(first, name, attributes.get("alpha", default), layer=self._named(node))
        if does in _SAME and is_first:
            return first
        if does == "Cast":
            return builder.cast(first, _type_name(attributes["to"]))
        for constant in constants:
            if constant is not None and constant.dtype.kind == "f":
                builder.computes_in(constant.dtype)
        if does == "Gemm" and is_first and constants[1] is not None and not attributes.get("transA"):
            weights = constants[1].T if attributes.get("transB") else constants[1]
            bias = constants[2] if len(constants) > 2 else None
            shift = None if bias is None else attributes.get("beta", 1.0) * bias.astype(np.float64).ravel()
            return builder.dense(first, attributes.get("alpha", 1.0) * weights.astype(np.float64), shift)
        if does == "MatMul" and is_first and constants[1] is not None:
            return builder.dense(first, constants[1])
        if does == "BatchNormalization" and is_first:
            gamma, beta, mean, variance = constants[1:5]
            return builder.batch_norm(first, mean, variance, attributes.get("epsilon", 1e-5), gamma, beta)
        if does == "Concat" and attributes.get("axis") in (1, -1) and None not in steps:
            return builder.concatenate([step for step in steps if step is not None])
        if does == "Scaler":  # of scikit-learn's converter; returns single precision
            builder.computes_in("float32")
            offset, scale = (np.asarray(attributes[key], np.float64) for key in ("offset", "scale"))
            return builder.scale(first, scale, -offset * scale, np.abs(offset * scale))
        found = self._arithmetic(does, steps, constants)
        if found is None:
            raise builder.unsupported(f"the node {self._named(node)}")
        return found

    def _arithmetic(self, does: str, steps: list[int | None], constants: list[Any]) -> int | None:
        """Return a sum of steps, or a sum or a product of a step and a constant; None for anything else."""
        if len(steps) != 2:
            return None
        left, right = steps
        if left is not None and right is not None:
            return self.builder.add([left, right]) if does == "Add" else None
        step = left if left is not None else right
        assert step is not None
        constant = constants[1] if left is not None else constants[0]
        value = None if constant is None else np.asarray(constant, np.float64).ravel()
        if value is None or value.size not in (1, self.builder.size(step)):
            return None
        if does == "Add":
            return self.builder.scale(step, 1.0, value)
        if does == "Sub":
            return (
                self.builder.scale(step, 1.0, -value)
                if left is not None
                else self.builder.scale(step, -1.0, value)
            )
        if does == "Mul":
            return self.builder.scale(step, value, 0.0)
        return self.builder.scale(step, 1.0 / value, 0.0) if does == "Div" and left is not None else None

    def _named(self, node: Any) -> str:
        return f"{node.name} ({node.op_type})" if node.name else str(node.op_type)


def _type_name(element_type: Any) -> str:
    return str(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(element_type)).name)
