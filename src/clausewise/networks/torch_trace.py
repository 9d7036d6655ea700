"""The steps of a PyTorch module, found by symbolic tracing."""

import inspect
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import torch
from torch import fx, nn

from clausewise.networks.graph import Operation
from clausewise.networks.naming import Titles, inside, picked_output
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


class CannotTraceError(Exception):
    """The module's computation depends on the values of its rows, or on code that tracing cannot follow."""


class TracedProgram:
    """The steps of a module as a `torch.fx` graph, which is the same for all rows.

    Parameters
    ----------
    module : nn.Module
        In evaluation mode.
    """

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._defaults = _defaults(module)
        if any(m._forward_hooks or m._forward_pre_hooks for m in module.modules() if not is_leaf(m)):
            raise CannotTraceError("tracing would skip the hooks of modules")
        try:
            self._graph = _Tracer().trace(module, concrete_args=self._defaults or None)
        except Exception as error:  # tracing runs the module's own code, which may raise anything
            raise CannotTraceError(str(error)) from error
        output = next(node for node in self._graph.nodes if node.op == "output")
        self.output: str = picked_output(output.args[0], lambda value: isinstance(value, fx.Node)).name
        self.steps: Sequence[Step] = _Reader(module, self._graph).steps
        if self.output not in {step.operation.name for step in self.steps}:
            raise CannotTraceError("the output does not depend on the input")

    @property
    def n_inputs(self) -> int | None:
        """Number of input columns, if only dense layers read the input; otherwise None."""
        found: set[int | None] = set()
        open_nodes = [next(node for node in self._graph.nodes if node.op == "placeholder")]
        while open_nodes:
            for user in open_nodes.pop().users:
                module = self._module.get_submodule(user.target) if user.op == "call_module" else None
                if isinstance(module, nn.Identity | nn.BatchNorm1d | nn.modules.dropout._DropoutNd):
                    open_nodes.append(user)
                else:
                    found.add(self._n_columns_read(user, module))
        modules = (self._module.get_submodule(n.target) for n in self._graph.nodes if n.op == "call_module")
        reads_sequences = any(isinstance(m, nn.RNNBase | nn.MultiheadAttention) for m in modules)
        return found.pop() if len(found) == 1 and not reads_sequences else None

    def _n_columns_read(self, node: fx.Node, module: nn.Module | None) -> int | None:
        """Return the number of columns that a dense layer reads; None for anything else."""
        if isinstance(module, nn.Linear):
            return module.in_features
        is_dense = node.op == "call_function" and function_name(node.target) == "linear"
        weights = node.args[1] if is_dense and len(node.args) > 1 else None
        if isinstance(weights, fx.Node) and weights.op == "get_attr":
            return int(attrgetter(str(weights.target))(self._module).shape[1])
        return None

    def run(self, rows: torch.Tensor, wanted: Sequence[Wanted]) -> list[Any]:
        """Return a copy of each wanted tensor; nothing after the last of them is computed."""
        return _Run(self._module, self._graph, [rows, *self._defaults.values()]).collect(wanted)


def _defaults(module: nn.Module) -> dict[str, Any]:
    """Return the defaults of the parameters of `forward` after the rows."""
    parameters = list(inspect.signature(module.forward).parameters.values())
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in parameters):
        raise CannotTraceError("forward takes variable or keyword-only arguments")
    return {p.name: p.default for p in parameters[1:]}


class _Tracer(fx.Tracer):
    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return is_leaf(m)


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
        is_first = True
        for node in graph.nodes:
            if node.op == "placeholder":
                if is_first:
                    self._of_rows.add(node)
                is_first = False
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
            scopes = list(node.meta.get("nn_module_stack") or [""])
            self._title[node] = self._titles.new(inside(str(scopes[-1]), does))
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

    def __init__(self, module: nn.Module, graph: fx.Graph, args: Sequence[Any]) -> None:
        super().__init__(module, graph=graph)
        self.args_iter = iter(args)

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
