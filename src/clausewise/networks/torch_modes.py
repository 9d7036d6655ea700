"""Evaluation mode for PyTorch modules that several threads may use at once."""

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass
class _Held:
    """A part of a model in evaluation mode: its own flag, and the number of evaluations that hold it.

    Models may share parts, so two models in two threads may hold the same part.
    """

    part: nn.Module
    is_training: bool
    n_holders: int = 0


class _Modes:
    """The locks of models, and the parts in evaluation mode; by `id`, since modules may compare equal."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[int, Any] = {}
        self._held: dict[int, _Held] = {}

    def lock(self, model: nn.Module) -> Any:
        """Return the lock of a model, the same one for everybody who wraps it."""
        with self._guard:
            if id(model) not in self._locks:
                self._locks[id(model)] = threading.RLock()
                weakref.finalize(model, self._locks.pop, id(model), None).atexit = False
            return self._locks[id(model)]

    def hold(self, part: nn.Module) -> None:
        """Switch a part to evaluation mode."""
        with self._guard:
            held = self._held.get(id(part)) or _Held(part, part.training)
            # Not `eval()`: a module may override it to do more than set flags, which could not be undone.
            part.training = False
            held.n_holders += 1
            self._held[id(part)] = held

    def release(self, part: nn.Module) -> None:
        """Restore the flag of a part that nobody else holds."""
        with self._guard:
            held = self._held[id(part)]
            held.n_holders -= 1
            if held.n_holders == 0:
                del self._held[id(part)]
                if held.is_training:
                    part.training = True

    def forget(self) -> None:
        """Start afresh in a forked process, which has none of the threads that evaluate."""
        for held in self._held.values():
            held.part.training = held.is_training
        self._guard, self._locks, self._held = threading.Lock(), {}, {}


_MODES = _Modes()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_MODES.forget)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Switch to evaluation mode without gradients, as the only user of this model; restore all flags."""
    with _MODES.lock(model), torch.no_grad():
        held: list[nn.Module] = []
        try:
            for part in model.modules():
                _MODES.hold(part)
                held.append(part)
            yield
        finally:
            for part in held:
                _MODES.release(part)
