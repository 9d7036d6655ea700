"""The steps of a PyTorch module, found by symbolic tracing.

While `torch.fx.Tracer.trace` runs, it replaces `nn.Module.__call__`, `nn.Module.__getattr__` and functions of
`math` for the whole process, so that modules fail in other threads. Here a copy of the module is traced. The
copy shares the weights, and the classes of its parts report calls to the tracer; nothing else is touched.
"""

import inspect
import types
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import torch
from torch import fx, nn

from clausewise.networks.calling import ONE_TENSOR, Calling
from clausewise.networks.graph import Operation
from clausewise.networks.naming import OutputKey, Titles, inside, picked_output
from clausewise.networks.torch_steps import (
    Collection,
    Step,
    TuplePath,
    Wanted,
    function_kind,
    function_name,
    index_text,
    is_leaf,
    is_state,
    module_kind,
    part_names,
)
from clausewise.networks.torch_watch import WatchHook


class CannotTraceError(Exception):
    """The module's computation depends on the values of its rows, or on code that tracing cannot follow."""


class TracedProgram:
    """The steps of a module as a `torch.fx` graph, which is the same for all rows.

    Parameters
    ----------
    module : nn.Module
        In evaluation mode.

    Attributes
    ----------
    graph : fx.Graph
        The graph.
    constants : dict
        Values by name that the graph reads like attributes of the module; see `_Tracer`.
    """

    def __init__(
        self, module: nn.Module, calling: Calling = ONE_TENSOR, output_key: OutputKey = None
    ) -> None:
        self._module = module
        if any(has_hooks(inner) for inner in module.modules() if not is_leaf(inner)):
            raise CannotTraceError("tracing would skip the hooks of modules")
        try:
            if calling == ONE_TENSOR:
                _check_plain_arguments(module)
            tracer = _Tracer()
            tracer.calling = calling
            self.graph = tracer.trace(module)
            self.constants = tracer.constants
        except Exception as error:  # tracing runs the module's own code, which may raise anything
            raise CannotTraceError(str(error)) from error
        output = next(node for node in self.graph.nodes if node.op == "output")
        if output_key is not None and isinstance(output.args[0], fx.Node):
            raise CannotTraceError("one step of the module computes several results")
        self.output: str = picked_output(
            output.args[0], lambda value: isinstance(value, fx.Node), output_key
        ).name
        self.inputs: Sequence[str] = [node.name for node in self.graph.nodes if node.op == "placeholder"]
        self.steps: Sequence[Step] = _Reader(module, self.graph).steps
        if self.output not in {step.operation.name for step in self.steps}:
            raise CannotTraceError("the output does not depend on the input")

    @property
    def n_inputs(self) -> int | None:
        """Number of input columns, if only dense layers read the input; otherwise None."""
        if len(self.inputs) > 1:
            return None
        found: set[int | None] = set()
        open_nodes = [next(node for node in self.graph.nodes if node.op == "placeholder")]
        while open_nodes:
            for user in open_nodes.pop().users:
                module = self._module.get_submodule(user.target) if user.op == "call_module" else None
                if isinstance(module, nn.Identity | nn.BatchNorm1d | nn.modules.dropout._DropoutNd):
                    open_nodes.append(user)
                else:
                    found.add(self._n_columns_read(user, module))
        modules = (self._module.get_submodule(n.target) for n in self.graph.nodes if n.op == "call_module")
        reads_sequences = any(isinstance(m, nn.RNNBase | nn.MultiheadAttention) for m in modules)
        return found.pop() if len(found) == 1 and not reads_sequences else None

    def _n_columns_read(self, node: fx.Node, module: nn.Module | None) -> int | None:
        """Return the number of columns that a dense layer reads; None for anything else."""
        if isinstance(module, nn.Linear):
            return module.in_features
        is_dense = node.op == "call_function" and function_name(node.target) == "linear"
        weights = node.args[1] if is_dense and len(node.args) > 1 else None
        if not isinstance(weights, fx.Node) or weights.op != "get_attr":
            return None
        name = str(weights.target)
        values = self.constants[name] if name in self.constants else attrgetter(name)(self._module)
        return int(values.shape[1])

    def run(self, inputs: Sequence[torch.Tensor], wanted: Sequence[Wanted]) -> list[Any]:
        """Return a copy of each wanted tensor; nothing after the last of them is computed."""
        return _Run(self._module, self.graph, self.constants, inputs).collect(wanted)


def has_hooks(module: nn.Module) -> bool:
    """Return whether hooks of others may change what a module reads or returns."""
    # Those of a watch are gone soon, and do nothing in this thread.
    hooks = [*module._forward_hooks.values(), *module._forward_pre_hooks.values()]
    return not all(isinstance(hook, WatchHook) for hook in hooks)


def _check_plain_arguments(module: nn.Module) -> None:
    parameters = list(inspect.signature(module.forward).parameters.values())
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in parameters):
        raise CannotTraceError("forward takes variable or keyword-only arguments")


class _Tracer(fx.Tracer):
    """Traces a copy of a module; see the top of this file.

    Attributes
    ----------
    constants : dict
        Values by name that the graph reads like attributes of the module, but that the module does not have:
        tensors made by its code.
    calling : Calling
        How the module is called.
    """

    calling: Calling = ONE_TENSOR

    def trace(self, root: Any, concrete_args: Mapping[str, Any] | None = None) -> fx.Graph:
        """Return the graph of a module; other arguments of `forward` keep their defaults."""
        self.root = _copied(root, self)
        self.graph = fx.Graph(tracer_cls=type(self))
        self._parameters: dict[str, fx.Proxy] = {}
        self._paths: dict[int, str] = {id(inner): path for path, inner in self.root.named_modules()}
        self.tensor_attrs = {
            value: f"{path}.{name}".lstrip(".")
            for path, inner in self.root.named_modules()
            for name, value in vars(inner).items()
            if isinstance(value, torch.Tensor)
        }
        known = set(vars(self.root))
        inputs = [self.create_proxy("placeholder", f"input_{key}", (), {}) for key in self.calling.keys]
        args, kwargs = self.calling.arguments(inputs)
        # As torch.fx does, trace what the class says, not what calls of the module itself may do around it.
        result = type(self.root).forward(self.root, *args, **kwargs)
        self.create_node("output", "output", (self.create_arg(result),), {})
        made = {node.target for node in self.graph.nodes if node.op == "get_attr"} - known
        self.constants = {name: value for name, value in vars(self.root).items() if name in made}
        for node in self.graph.nodes:  # of the modules around a node, keep the name and not the copied class
            node.meta = {"scope": next(reversed(node.meta.get("nn_module_stack") or {"": None}))}
        return self.graph

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return is_leaf(m)

    def path_of_module(self, mod: nn.Module) -> str:
        if id(mod) not in self._paths:
            raise NameError("module is not installed as a submodule")
        return self._paths[id(mod)]

    def attribute(self, name: str, value: Any) -> Any:
        """Return what the module's code gets as an attribute: a weight as a symbol."""
        return self.getattr(name, value, self._parameters)


class _Reporting:
    """Mixed into the class of a module, reports its calls and uses of weights to the tracer."""

    _clausewise_tracer: _Tracer

    def __init_subclass__(cls) -> None:
        """Do nothing: the class of the module may list its subclasses."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._clausewise_tracer.call_module(self, super().__call__, args, kwargs)  # type: ignore[misc, arg-type]

    def __getattr__(self, name: str) -> Any:
        return self._clausewise_tracer.attribute(name, super().__getattr__(name))  # type: ignore[misc]


def _copied(module: nn.Module, tracer: _Tracer) -> nn.Module:
    """Return a copy that shares the weights, is in evaluation mode, and reports to the tracer."""
    classes: dict[type, type] = {}
    copies: dict[int, Any] = {}
    for inner in module.modules():
        kind = type(inner)
        if isinstance(inner, torch.jit.ScriptModule):
            raise CannotTraceError("a part of the module runs outside Python")
        if kind not in classes:
            own = {"_clausewise_tracer": tracer, "__module__": kind.__module__}
            classes[kind] = types.new_class(kind.__name__, (_Reporting, kind), {}, partial(_fill, own))
        copies[id(inner)] = object.__new__(classes[kind])
    for inner in module.modules():
        state = _with_copies(vars(inner), copies)
        # A compiled module is followed as if it were not compiled.
        vars(copies[id(inner)]).update({**state, "training": False, "_compiled_call_impl": None})
    copy: nn.Module = copies[id(module)]
    return copy


def _fill(own: Mapping[str, Any], namespace: dict[str, Any]) -> None:
    namespace.update(own)


def _with_copies(value: Any, copies: Mapping[int, Any]) -> Any:
    """Return an attribute in which modules are replaced by their copies."""
    if id(value) in copies:
        return copies[id(value)]
    if isinstance(value, types.MethodType) and id(value.__self__) in copies:
        return types.MethodType(value.__func__, copies[id(value.__self__)])
    if type(value) in (dict, OrderedDict):
        # Listed at once, since another thread may add to it.
        return type(value)((key, _with_copies(one, copies)) for key, one in list(value.items()))
    if type(value) in (list, tuple):
        return type(value)(_with_copies(one, copies) for one in value)
    return value


class _Reader:
    """Turns the nodes of a graph into steps."""

    def __init__(self, module: nn.Module, graph: fx.Graph) -> None:
        self._module = module
        self._titles = Titles()
        self._title: dict[fx.Node, str] = {}
        # Nodes that depend on the rows, and other nodes that hold weights.
        self._of_rows: set[fx.Node] = set()
        self._weights: set[fx.Node] = set()
        # Parts of a module's result: the module's node, and the path in its result.
        self._parts: dict[fx.Node, tuple[fx.Node, TuplePath]] = {}
        self.steps: list[Step] = []
        for node in graph.nodes:
            if node.op == "placeholder":
                self._of_rows.add(node)
            elif node.op == "get_attr":
                self._weights.add(node)
            elif node.op != "output":
                self._read(node)

    def _read(self, node: fx.Node) -> None:
        inputs = [source for source in node.all_input_nodes if source in self._of_rows]
        reads_weights = any(source in self._weights for source in node.all_input_nodes)
        module = self._module.get_submodule(str(node.target)) if node.op == "call_module" else None
        if module is not None:
            kind, does = module_kind(module), type(module).__name__
        else:
            does = function_name(node.target)
            kind = function_kind(does, node.args, node.kwargs, reads_weights)
        if kind == "no tensor" or not inputs:
            if reads_weights and kind != "no tensor":
                self._weights.add(node)
            return
        self._of_rows.add(node)
        title, state = self._named(node, does)
        names = tuple(source.name for source in inputs)
        self.steps.append(Step(Operation(node.name, names, kind), title, does, state))

    def _named(self, node: fx.Node, does: str) -> tuple[str, bool]:
        """Return a readable name, and whether the node is a recurrent layer's state."""
        source = node.args[0] if node.args else None
        if node.op == "call_module":
            self._title[node] = self._titles.new(str(node.target))
            self._parts[node] = (node, ())
        elif does == "getitem" and isinstance(source, fx.Node) and source in self._title:
            return self._indexed(node, source, node.args[1])
        else:
            self._title[node] = self._titles.new(inside(node.meta["scope"], does))
        return self._title[node], False

    def _indexed(self, node: fx.Node, source: fx.Node, index: Any) -> tuple[str, bool]:
        owner, path = self._parts.get(source, (source, ()))
        module = self._module.get_submodule(str(owner.target)) if source in self._parts else None
        parts, path = part_names(module), (*path, index)
        name = next((name for known, name in parts.items() if known == path), None)
        if name is not None:
            self._title[node] = f"{self._title[owner]}{name}"
            return self._title[node], is_state(module, path)
        if any(known[: len(path)] == path for known in parts):  # the pair of states of an LSTM
            self._parts[node] = (owner, path)
        self._title[node] = self._titles.new(f"{self._title[source]}{index_text(index)}")
        return self._title[node], False


class _Run(fx.Interpreter):
    """One evaluation of a graph, which stops when everything wanted is collected."""

    def __init__(
        self,
        module: nn.Module,
        graph: fx.Graph,
        constants: Mapping[str, Any],
        inputs: Sequence[torch.Tensor],
    ) -> None:
        super().__init__(module, graph=graph)
        self._constants = constants
        self.args_iter = iter(inputs)

    def fetch_attr(self, target: str) -> Any:
        return self._constants[target] if target in self._constants else super().fetch_attr(target)

    def collect(self, wanted: Sequence[Wanted]) -> list[Any]:
        collection = Collection(wanted)
        for node in self.graph.nodes:
            collection.before(node.name)
            if collection.is_complete:
                break
            self.env[node] = self.run_node(node)
            collection.made(node.name, self.env[node])
            for done in self.user_to_last_uses.get(node, []):
                del self.env[done]
        return collection.values
