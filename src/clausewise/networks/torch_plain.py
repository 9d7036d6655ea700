"""PyTorch modules as affine maps, activations and sums."""

import re
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final

import torch
from torch import fx, nn

from clausewise.networks.plain import PlainBuilder, PlainNetwork
from clausewise.networks.torch_steps import function_kind, function_name, module_kind
from clausewise.networks.torch_trace import TracedProgram, has_hooks


class _Step(int):
    """The number of a step, to tell it from numbers in the module's code."""


_FUNCTIONS: Final = frozenset({"relu", "tanh", "sigmoid"})
_CASTS: Final[Mapping[str, str]] = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
}
# Where the functions are defined that a name stands for; code of one's own may use the same names.
_KNOWN_MODULES: Final = re.compile(r"torch(?!\._ops)(\.|$)|torch\._ops\.aten|_operator|builtins")
_SUMS: Final = frozenset({"add", "iadd"})
_ARITHMETIC: Final = _SUMS | {"sub", "isub", "mul", "imul", "div", "truediv", "itruediv"}


def plain_of(
    title: str, module: nn.Module, program: TracedProgram, n_inputs: int, dtype: torch.dtype
) -> PlainNetwork:
    """Return the layers of a traced module; an error names the first that is not supported."""
    builder = PlainBuilder(title, n_inputs, _type_name(dtype))
    return _Reader(module, program, builder).read()


class _Reader:
    """Turns the nodes of a traced module into steps."""

    def __init__(self, module: nn.Module, program: TracedProgram, builder: PlainBuilder) -> None:
        self._module, self._program, self._builder = module, program, builder
        self._values: dict[fx.Node, Any] = {}

    def read(self) -> PlainNetwork:
        """Return the network up to the output."""
        for node in self._program.graph.nodes:
            if node.op == "placeholder":
                self._values[node] = _Step(0)
            elif node.op != "output":
                self._values[node] = self._value(node)
            if node.name == self._program.output:
                return self._builder.build(self._values[node])
        raise self._builder.unsupported("no output that depends on the input")

    def _value(self, node: fx.Node) -> Any:
        if node.op == "get_attr":
            name = str(node.target)
            known = self._program.constants
            return known[name] if name in known else attrgetter(name)(self._module)
        args: Any = fx.node.map_arg(node.args, self._values.__getitem__)
        kwargs: Any = fx.node.map_arg(node.kwargs, self._values.__getitem__)
        if node.op == "call_module":
            path = str(node.target)
            return _Step(self._through_module(args[0], self._module.get_submodule(path), path))
        if not any(isinstance(self._values[source], _Step) for source in node.all_input_nodes):
            function = node.target if callable(node.target) else getattr(type(args[0]), str(node.target))
            with torch.no_grad():
                return function(*args, **kwargs)
        is_method = isinstance(node.target, str)
        if not is_method and not _KNOWN_MODULES.match(str(getattr(node.target, "__module__", ""))):
            raise self._builder.unsupported(f"the function {function_name(node.target)} of its own code")
        return _Step(self._through_function(function_name(node.target), args, kwargs))

    def _through_module(self, source: int, module: nn.Module, path: str) -> int:
        builder = self._builder
        layer = f"{path} ({type(module).__name__})"
        if has_hooks(module) or "forward" in vars(module):
            raise builder.unsupported(f"the layer {layer}", " with a hook or another forward of its own")
        if type(module) is nn.Linear:
            return builder.dense(source, self._numbers(module.weight).T, self._numbers(module.bias))
        if type(module) is nn.BatchNorm1d and module.running_mean is not None:
            parts = (module.running_mean, module.running_var, module.weight, module.bias)
            mean, variance, gamma, beta = map(self._numbers, parts)
            return builder.batch_norm(source, mean, variance, module.eps, gamma, beta)
        if module_kind(module) == "same":
            return source
        read = _MODULES.get(type(module))
        if read is None:
            raise builder.unsupported(f"the layer {layer}")
        name, slope = read(module)
        return builder.activation(source, name, slope, layer=f"the layer {layer}")

    def _through_function(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int:
        builder = self._builder
        operands = [*args, *kwargs.values()]
        if name in _CASTS or name in ("to", "type"):
            return self._cast(name, operands)
        if any(isinstance(value, torch.dtype) for value in operands):
            raise builder.unsupported(f"the function {name} with a type")
        if name == "linear":
            bias = kwargs.get("bias", args[2] if len(args) > 2 else None)
            return builder.dense(args[0], self._numbers(args[1]).T, self._numbers(bias))
        if name in ("matmul", "mm") and torch.is_tensor(args[1]):
            return builder.dense(args[0], self._numbers(args[1]))
        if name == "addmm" and torch.is_tensor(args[2]) and isinstance(args[1], _Step):
            return builder.dense(args[1], self._numbers(args[2]), self._numbers(args[0]))
        if name in _ARITHMETIC and len(operands) == 2:
            return self._arithmetic(name, *operands)
        if name in ("cat", "concat") and kwargs.get("dim", args[1] if len(args) > 1 else 0) in (1, -1):
            return builder.concatenate(args[0])
        if name == "leaky_relu":
            slope = kwargs.get("negative_slope", args[1] if len(args) > 1 else 0.01)
            return builder.activation(args[0], name, slope)
        if name == "elu":
            return builder.activation(args[0], name, kwargs.get("alpha", args[1] if len(args) > 1 else 1.0))
        if name in ("softmax", "log_softmax"):
            return builder.activation(args[0], name)
        if name in _FUNCTIONS:
            return builder.activation(args[0], name)
        if function_kind(name, args, kwargs, False) == "same":
            return int(args[0])
        raise builder.unsupported(f"the function {name}")

    def _cast(self, name: str, operands: list[Any]) -> int:
        """Return the step of a tensor in another type; devices change nothing."""
        step = int(operands[0])
        if name in _CASTS:
            return self._builder.cast(step, _CASTS[name])
        for value in operands[1:]:
            if isinstance(value, _Step):  # as precise as that tensor, which is in single precision at worst
                step = self._builder.cast(step, "float32")
            elif isinstance(value, torch.dtype) or torch.is_tensor(value):
                dtype = value.dtype if torch.is_tensor(value) else value
                step = self._builder.cast(step, _type_name(dtype))
            elif name == "type":
                raise self._builder.unsupported(f"the function type with {value!r}")
        return step

    def _arithmetic(self, name: str, first: Any, second: Any) -> int:
        builder = self._builder
        if isinstance(first, _Step) and isinstance(second, _Step):
            if name in _SUMS:
                return builder.add([first, second])
            raise builder.unsupported(f"the function {name} of two tensors")
        step, constant = (first, second) if isinstance(first, _Step) else (second, first)
        value, is_first = self._numbers(constant), isinstance(first, _Step)
        if name in _SUMS:
            return builder.scale(step, 1.0, value)
        if name in ("sub", "isub"):
            return builder.scale(step, 1.0, -value) if is_first else builder.scale(step, -1.0, value)
        if name in ("mul", "imul"):
            return builder.scale(step, value, 0.0)
        if is_first:
            return builder.scale(step, 1.0 / value, 0.0)
        raise builder.unsupported("a division by a tensor")

    def _numbers(self, tensor: Any) -> Any:
        """Return a tensor as an array of doubles, and note its precision; None as None."""
        if tensor is None or isinstance(tensor, int | float):
            return tensor
        if tensor.is_floating_point():
            self._builder.computes_in(_type_name(tensor.dtype))
        return tensor.detach().cpu().to(torch.float64).numpy()


def _type_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


_MODULES: Final[Mapping[type, Callable[[Any], tuple[str, float]]]] = {
    nn.ReLU: lambda module: ("relu", 0.0),
    nn.LeakyReLU: lambda module: ("leaky_relu", module.negative_slope),
    nn.ELU: lambda module: ("elu", module.alpha),
    nn.Tanh: lambda module: ("tanh", 0.0),
    nn.Sigmoid: lambda module: ("sigmoid", 0.0),
    nn.Softmax: lambda module: ("softmax", 0.0),
    nn.LogSoftmax: lambda module: ("log_softmax", 0.0),
}
