"""The steps of a PyTorch module that cannot be traced, recorded while it processes rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from clausewise.networks.calling import ONE_TENSOR, Calling
from clausewise.networks.graph import Operation
from clausewise.networks.naming import OutputKey, Titles, inside, picked_output
from clausewise.networks.torch_steps import (
    QUERIES,
    Collection,
    Step,
    Wanted,
    function_kind,
    index_text,
    is_state,
    module_kind,
    part_names,
    tensors_in,
)
from clausewise.networks.torch_watch import Call, Mark, Watch


class _Recorder(Watch):
    """Records calls as steps; it identifies tensors by `id`, so it keeps all of them alive."""

    def __init__(self, module: nn.Module, inputs: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self.inputs = [f"input {position}" for position in range(len(inputs))]
        self.steps: list[Step] = []
        self.marks: dict[str, Mark] = {}
        self._titles = Titles()
        self._key_of: dict[int, str] = dict(zip(map(id, inputs), self.inputs, strict=True))
        self._title_of: dict[str, str] = {}
        self._weights = {id(tensor) for tensor in [*module.parameters(), *module.buffers()]}
        self._alive: list[Any] = [*inputs]
        self._numbers = iter(range(10**9))
        self._n_queries = 0

    def key_of(self, tensor: torch.Tensor) -> str | None:
        """Return the step that computed a tensor, or changed it last."""
        return self._key_of.get(id(tensor))

    def before(self, call: Call) -> None:
        """Do nothing: a call is recorded when its result is known."""

    def after(self, call: Call, result: Any) -> None:
        """Record one step, and another for each tensor if the result has several."""
        read = [tensor for _, tensor in tensors_in([call.args, call.kwargs])]
        made = list(tensors_in(result))
        if call.does == "setitem":
            made = [((), call.args[0])]
        self._alive.append((call, result))
        key = self._next_key(call)
        inputs = tuple(dict.fromkeys(self._key_of[id(t)] for t in read if id(t) in self._key_of))
        reads_weights = any(id(tensor) in self._weights for tensor in read)
        if not inputs or not made:
            self._weights.update(id(tensor) for _, tensor in made if reads_weights)
            return
        if call.module is not None:
            kind = module_kind(call.module)
        else:
            kind = function_kind(call.does, call.args, call.kwargs, reads_weights)
        if kind == "no tensor":  # an attribute that is a tensor: x.T
            kind = "same"
        title = self._title(call, inputs[0])
        self.steps.append(Step(Operation(key, inputs, kind), title, call.does))
        self.marks[key] = self.mark(call)
        if len(made) == 1 and made[0][0] == ():
            self._learn(made[0][1], key, title)
            return
        names = part_names(call.module)
        for place, (path, tensor) in enumerate(made):
            part, index = f"{key}.{place}", "".join(f"[{i}]" for i in path)
            part_title = f"{title}{names.get(path, index)}"
            state = is_state(call.module, path)
            self.steps.append(Step(Operation(part, (key,), "other"), part_title, call.does, state))
            self._learn(tensor, part, part_title)

    def _next_key(self, call: Call) -> str:
        """Return a key for the call. Queries are not counted: their number may differ between runs."""
        if call.does in QUERIES:
            self._n_queries += 1
            return f"query {self._n_queries}"
        return str(next(self._numbers))

    def _title(self, call: Call, source: str) -> str:
        if call.module is not None:
            return self._titles.new(call.scope)
        if call.does == "getitem" and source in self._title_of:
            return self._titles.new(f"{self._title_of[source]}{index_text(call.args[1])}")
        return self._titles.new(inside(call.scope, call.does))

    def _learn(self, tensor: torch.Tensor, key: str, title: str) -> None:
        self._key_of[id(tensor)] = key
        self._title_of[key] = title


class _Done(BaseException):
    """Everything wanted is collected. A BaseException, which no `except Exception` of the module catches."""


class _Collector(Watch):
    """Collects wanted tensors from another run that makes the recorded calls."""

    def __init__(self, recorded: Mapping[str, Mark], wanted: Sequence[Wanted]) -> None:
        super().__init__()
        self._recorded = recorded
        self._collection = Collection(wanted)
        self._n_calls = 0

    @property
    def values(self) -> list[Any]:
        """The collected tensors."""
        if not self._collection.is_complete:
            raise ValueError(_OTHER_BRANCH)
        return self._collection.values

    def before(self, call: Call) -> None:
        """Collect what the call is about to read."""
        if call.does not in QUERIES:
            self._collection.before(self._current(call))
            self._stop_when_complete()

    def after(self, call: Call, result: Any) -> None:
        """Collect what the call computed."""
        if call.does in QUERIES:
            return
        key = self._current(call)
        self._n_calls += 1
        value = call.args[0] if call.does == "setitem" else result
        self._collection.made(key, value)
        if not torch.is_tensor(value):
            for place, (_, tensor) in enumerate(tensors_in(value)):
                self._collection.made(f"{key}.{place}", tensor)
        self._stop_when_complete()

    def _current(self, call: Call) -> str:
        key = str(self._n_calls)
        mark = self.mark(call)
        if self._recorded.get(key, mark) != mark:
            raise ValueError(_OTHER_BRANCH)
        return key

    def _stop_when_complete(self) -> None:
        if self._collection.is_complete:
            raise _Done


_OTHER_BRANCH = (
    "The module takes another branch for these rows than for the first rows, so its layers are not the same "
    "for all rows; pass the layers as functions to clausewise.networks.CallableNetwork."
)


class RecordedProgram:
    """The steps of a module, recorded on some rows.

    Parameters
    ----------
    module : nn.Module
        In evaluation mode.
    inputs : sequence of torch.Tensor
        A few rows of each input.
    calling : Calling
        How the module is called with these.
    output_key : str or int, optional
        Which of the results are the class scores.
    """

    def __init__(
        self,
        module: nn.Module,
        inputs: Sequence[torch.Tensor],
        calling: Calling = ONE_TENSOR,
        output_key: OutputKey = None,
    ) -> None:
        self._module, self._calling = module, calling
        recorder = _Recorder(module, inputs)
        args, kwargs = calling.arguments(inputs)
        with recorder.watching(module):
            result = module(*args, **kwargs)
        output = recorder.key_of(picked_output(result, torch.is_tensor, output_key))
        if output is None or output in recorder.inputs:
            raise ValueError("The module's output is not computed from its input by PyTorch functions.")
        self.output: str = output
        self.inputs: Sequence[str] = recorder.inputs
        self.steps: Sequence[Step] = recorder.steps
        self._marks = recorder.marks

    def run(self, inputs: Sequence[torch.Tensor], wanted: Sequence[Wanted]) -> list[Any]:
        """Return a copy of each wanted tensor; nothing after the last of them is computed."""
        collector = _Collector(self._marks, wanted)
        try:
            with collector.watching(self._module):
                args, kwargs = self._calling.arguments(inputs)
                self._module(*args, **kwargs)
        except _Done:
            pass
        return collector.values
