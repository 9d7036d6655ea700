"""A lock per model, for models that several threads may use at once."""

import os
import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
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
