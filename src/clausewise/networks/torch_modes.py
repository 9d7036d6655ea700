"""Evaluation mode for PyTorch modules that several threads may use at once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn

from clausewise.networks.locks import after_fork, lock_of


@dataclass
class _Held:
    """A part of a model in evaluation mode: its own flag, and the number of evaluations that hold it.

    Models may share parts, so two models in two threads may hold the same part.
    """

    part: nn.Module
    is_training: bool
    n_holders: int = 0


class _Modes:
    """The parts of models that are in evaluation mode; by `id`, since modules may compare equal."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held: dict[int, _Held] = {}

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
        """Start afresh with the flags that the modules had."""
        for held in self._held.values():
            held.part.training = held.is_training
        self._guard, self._held = threading.Lock(), {}


_MODES = _Modes()
after_fork(_MODES.forget)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Switch to evaluation mode without gradients, as the only user of this model; restore all flags."""
    with lock_of(model), torch.no_grad():
        held: list[nn.Module] = []
        try:
            for part in model.modules():
                _MODES.hold(part)
                held.append(part)
            yield
        finally:
            for part in held:
                _MODES.release(part)
