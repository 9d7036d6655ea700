"""Bounds on the work that the loops of an ONNX model may do.

onnxruntime cannot be interrupted while a model runs, so a loop without an end would hang the process.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import onnx

MAX_STEPS: Final = 100_000
"""The most nodes that a file with loops or functions may run in one evaluation: less than a second."""

_STANDARD = ("", "ai.onnx")
# Before, a Scan read another axis.
_FIRST_OPSET = 9


class LoopError(ValueError):
    """A model's loops might never end, or crash onnxruntime."""


def check_loops(model: Any) -> None:
    """Raise an `LoopError` unless constants in the model bound the steps of all its loops.

    - `Loop`: its trip count must be a constant, whatever its condition is.
    - `Scan`: the length of the axis that it reads must be a constant, and it must be in the main graph. (An
      axis of an empty tensor takes no memory, however long it is.)
    - Other nodes with graphs inside, except `If`, and functions that call themselves, are refused.
    - A result of a loop must have a name, since onnxruntime crashes otherwise.
    """
    if _has_loops(model):
        try:
            n_steps = _Counter(model).steps(model.graph, {})
        except RecursionError:
            raise LoopError("its functions might never end, because they are nested too deeply") from None
        if n_steps > MAX_STEPS:
            raise LoopError(f"its loops and functions might take more than {MAX_STEPS:,} steps")


def _has_loops(model: Any) -> bool:
    """Return whether there are functions, or nodes that contain graphs."""
    return bool(model.functions) or any(
        node.op_type in ("Loop", "Scan", "SequenceMap") or _graphs(node) for node in model.graph.node
    )


def _graphs(node: Any) -> list[Any]:
    own = [attribute.g for attribute in node.attribute if attribute.HasField("g")]
    return own + [graph for attribute in node.attribute for graph in attribute.graphs]


_Key = tuple[str, str, str]


def _key(domain: str, name: str, of: Any) -> _Key:
    """Return what identifies a function; older versions of onnx have no overloads."""
    return ("" if domain in _STANDARD else domain, name, getattr(of, "overload", ""))


class _Counter:
    """Counts the nodes that an evaluation runs, at most."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._functions = {_key(one.domain, one.name, one): one for one in model.functions}
        self._steps_of: dict[_Key, int] = {}
        self._open: set[_Key] = set()
        self._depth = 0

    def steps(self, graph: Any, outer: Mapping[str, Any]) -> int:
        """Return the number of steps of a graph inside another one that has these constants."""
        made = {name for node in graph.node for name in node.output}
        made.update(value.name for value in graph.input)
        constants = {name: value for name, value in outer.items() if name not in made}
        constants.update({tensor.name: tensor for tensor in graph.initializer})
        return self._steps_of_nodes(graph.node, constants)

    def _steps_of_nodes(self, nodes: Sequence[Any], constants: Mapping[str, Any]) -> int:
        constants = {**constants, **_stated(nodes)}
        return sum(self._steps_of_node(node, constants) for node in nodes)

    def _steps_of_node(self, node: Any, constants: Mapping[str, Any]) -> int:
        does = node.op_type if node.domain in _STANDARD else ""
        self._depth += 1
        inside = sum(self.steps(graph, constants) for graph in _graphs(node))
        self._depth -= 1
        if does in ("Loop", "Scan") and not all(node.output):
            raise LoopError(f"its {_named(node)} has a result without a name, which crashes onnxruntime")
        if does == "Loop":
            return 1 + self._trips(node, constants) * (1 + inside)
        if does == "Scan":
            return 1 + self._length(node) * (1 + inside)
        if does == "SequenceMap" or (_graphs(node) and does != "If"):
            raise LoopError(f"its {_named(node)} might never end, because it repeats nodes without a bound")
        key = _key(node.domain, node.op_type, node)
        return 1 + inside + (self._steps_of_function(key) if key in self._functions else 0)

    def _steps_of_function(self, key: _Key) -> int:
        if key in self._open:
            raise LoopError(f"its function {key[1]!r} might never end, because it calls itself")
        if key not in self._steps_of:
            self._open.add(key)
            self._depth += 1
            self._steps_of[key] = self._steps_of_nodes(self._functions[key].node, {})
            self._depth -= 1
            self._open.remove(key)
        return self._steps_of[key]

    def _trips(self, node: Any, constants: Mapping[str, Any]) -> int:
        # Without a name there is no trip count, and the loop runs as long as its condition holds.
        is_given = len(node.input) > 0 and node.input[0] != ""
        found = _whole_number(constants.get(node.input[0])) if is_given else None
        if found is None:
            raise LoopError(f"its {_named(node)} might never end, because its trip count is not a constant")
        return max(found, 0)

    def _length(self, node: Any) -> int:
        """Return the number of times that a Scan runs."""
        n_scanned = _attribute(node, "num_scan_inputs", 0)
        axes = list(_attribute(node, "scan_input_axes", [])) or [0] * n_scanned
        is_known = self._depth == 0 and _opset(self._model) >= _FIRST_OPSET
        for name, axis in zip(node.input[len(node.input) - n_scanned :], axes, strict=False):
            shape = self._shapes.get(name, ()) if is_known else ()
            if -len(shape) <= axis < len(shape) and shape[axis].HasField("dim_value"):
                return max(int(shape[axis].dim_value), 0)
        raise LoopError(f"its {_named(node)} might never end, because its axis has no constant length")

    @cached_property
    def _shapes(self) -> dict[str, Sequence[Any]]:
        return _shapes(self._model)


def _opset(model: Any) -> int:
    return max((one.version for one in model.opset_import if one.domain in _STANDARD), default=0)


def _named(node: Any) -> str:
    return f"{node.op_type} {node.name!r}" if node.name else str(node.op_type)


def _stated(nodes: Sequence[Any]) -> dict[str, Any]:
    """Return the results of Constant nodes."""
    found: dict[str, Any] = {}
    for node in nodes:
        if node.op_type == "Constant" and node.domain in _STANDARD and node.output:
            for attribute in node.attribute:
                if attribute.name == "value" and attribute.HasField("t"):
                    found[node.output[0]] = attribute.t
                elif attribute.name == "value_int" and attribute.HasField("i"):
                    found[node.output[0]] = int(attribute.i)
    return found


def _whole_number(value: Any) -> int | None:
    """Return a constant tensor with one whole number as that number; None for anything else."""
    if value is None or isinstance(value, int):
        return value
    if value.data_type != onnx.TensorProto.INT64 or value.data_location == onnx.TensorProto.EXTERNAL:
        return None
    try:
        numbers = onnx.numpy_helper.to_array(value).ravel()
    except Exception:  # a damaged tensor may raise anything
        return None
    return int(numbers[0]) if numbers.size == 1 else None


def _attribute(node: Any, name: str, default: Any) -> Any:
    for attribute in node.attribute:
        if attribute.name == name:
            return list(attribute.ints) if isinstance(default, list) else int(attribute.i)
    return default


def _shapes(model: Any) -> dict[str, Sequence[Any]]:
    """Return the shapes of the tensors in the main graph, inferred and not as the file declares them."""
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    del bare.graph.value_info[:]
    try:
        graph = onnx.shape_inference.infer_shapes(bare).graph
    except Exception:  # a damaged model may raise anything
        graph = bare.graph
    values = [*graph.value_info, *graph.input]
    shapes: dict[str, Sequence[Any]] = {one.name: one.type.tensor_type.shape.dim for one in values}
    for tensor in graph.initializer:
        value = onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
        shapes[tensor.name] = value.type.tensor_type.shape.dim
    return shapes
