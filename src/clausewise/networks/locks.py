"""What threads share that use one model, or one process-wide setting, at once."""

import os
import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any


def after_fork(forget: Callable[[], None]) -> None:
    """Call a function in forked processes, which have none of the threads that may hold a lock."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)


class _Locks:
    """Locks by the `id` of a model, since any object may be one, also without a hash."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[int, Any] = {}

    def of(self, model: Any) -> Any:
        """Return the lock of a model, which is dropped with the model."""
        with self._guard:
            if id(model) not in self._locks:
                self._locks[id(model)] = threading.RLock()
                weakref.finalize(model, self._locks.pop, id(model), None).atexit = False
            return self._locks[id(model)]

    def forget(self) -> None:
        """Start afresh."""
        self._guard, self._locks = threading.Lock(), {}


_LOCKS = _Locks()
after_fork(_LOCKS.forget)


def lock_of(model: Any) -> AbstractContextManager[Any]:
    """Return the lock of a model (or another object): the same one for everybody who uses that object."""
    lock: AbstractContextManager[Any] = _LOCKS.of(model)
    return lock


class SharedContext:
    """A context for the whole process: the first of several threads enters it, and the last one leaves it.

    If every thread entered and left it, one of them would restore what another one had set.

    Parameters
    ----------
    make : callable
        Returns the context to enter.
    """

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]) -> None:
        self._make = make
        self._guard = threading.Lock()
        self._n_inside = 0
        self._context: AbstractContextManager[Any] | None = None
        after_fork(self._forget)

    def __enter__(self) -> None:
        with self._guard:
            if self._n_inside == 0:
                self._context = self._make()
                self._context.__enter__()
            self._n_inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._guard:
            self._n_inside -= 1
            if self._n_inside == 0 and self._context is not None:
                self._context.__exit__(kind, error, trace)

    def _forget(self) -> None:
        self._guard = threading.Lock()
        if self._n_inside and self._context is not None:
            self._context.__exit__(None, None, None)
        self._n_inside = 0
