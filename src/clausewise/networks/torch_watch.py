"""Watching the calls that a PyTorch module makes while it runs."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

from torch import nn
from torch.overrides import TorchFunctionMode

from clausewise.networks.torch_steps import function_name, is_leaf, tensors_in


@dataclass(frozen=True)
class Call:
    """A call of a leaf module or a function.

    `scope` is the path of the leaf module, or of the module whose `forward` calls the function.
    """

    does: str
    scope: str
    module: nn.Module | None
    args: Sequence[Any]
    kwargs: Mapping[str, Any]


Mark = tuple[str, str, tuple[str, ...]]
"""Identifies a call in another run: what it does, its scope, and the names of the weights that it reads."""


class Watch(TorchFunctionMode):
    """Reports every leaf module and every other function that a module calls.

    Forward hooks report modules; `__torch_function__` reports functions. Both concern only the thread that
    watches: other threads may use the module meanwhile.
    """

    def before(self, call: Call) -> None:
        """Act before a call."""
        raise NotImplementedError

    def after(self, call: Call, result: Any) -> None:
        """Act after a call."""
        raise NotImplementedError

    def mark(self, call: Call) -> Mark:
        """Return what identifies a call, independent of the rows."""
        read = [id(tensor) for _, tensor in tensors_in([call.args, call.kwargs])]
        return call.does, call.scope, tuple(self._weight_names[i] for i in read if i in self._weight_names)

    @contextmanager
    def watching(self, module: nn.Module) -> Iterator[None]:
        """Watch a module; its hooks are removed afterwards, also after an exception."""
        weights = chain(module.named_parameters(), module.named_buffers())
        self._weight_names = {id(tensor): name for name, tensor in weights}
        self._scopes: list[str] = []
        # One entry per running module. Calls inside a leaf, or made by the watch itself, are not reported.
        self._leaf_calls: list[Call | None] = []
        self._is_paused = False
        self._thread: int | None = threading.get_ident()
        handles = []
        try:
            for path, inner in module.named_modules():
                enter, leave = (WatchHook(self, hook) for hook in self._hooks(path))
                handles.append(inner.register_forward_pre_hook(enter, with_kwargs=True))
                handles.append(inner.register_forward_hook(leave))
            with self:
                yield
        finally:
            self._thread = None
            for handle in handles:
                handle.remove()

    @property
    def is_here(self) -> bool:
        """Whether the watched run is that of the current thread."""
        return self._thread == threading.get_ident()

    def _hooks(self, path: str) -> tuple[Callable[..., None], Callable[..., None]]:
        def enter(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            call = None
            if is_leaf(module) and not any(self._leaf_calls):
                call = Call(type(module).__name__, path, module, args, kwargs)
                with self._paused():
                    self.before(call)
            self._scopes.append(path)
            self._leaf_calls.append(call)

        def leave(module: nn.Module, args: tuple[Any, ...], result: Any) -> None:
            self._scopes.pop()
            call = self._leaf_calls.pop()
            if call is not None:
                with self._paused():
                    self.after(call, result)

        return enter, leave

    @contextmanager
    def _paused(self) -> Iterator[None]:
        self._is_paused = True
        try:
            yield
        finally:
            self._is_paused = False

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if self._is_paused or any(self._leaf_calls):
            return func(*args, **(kwargs or {}))
        call = Call(function_name(func), self._scopes[-1] if self._scopes else "", None, args, kwargs or {})
        self.before(call)
        result = func(*args, **(kwargs or {}))
        self.after(call, result)
        return result


class WatchHook:
    """A hook of a watch, which does nothing in other threads."""

    def __init__(self, watch: Watch, hook: Callable[..., None]) -> None:
        self._watch, self._hook = watch, hook

    def __call__(self, *args: Any) -> None:
        """Report to the watch; another thread may lack the last argument while the hook is being removed."""
        if self._watch.is_here:
            self._hook(*args)
