"""Which of a network's tensors are used (the paper's hidden representation subsampling)."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.networks.protocol import Tensor

LayerChoice = str | int | Sequence[str | int] | NDArray[Any] | None
"""What `layers=` may be.

None (all), "every 2", "last 3", a name, a position among the hidden layers, or a list or array of names
and positions.
"""


def select_layers(tensors: Sequence[Tensor], choice: LayerChoice) -> tuple[Tensor, ...]:
    """The chosen tensors, in the order of computation.

    Positions, "every k" and "last k" count the hidden layers; a name may be that of any tensor. "every k"
    counts from the last hidden layer backwards, so that this one is always there.
    """
    if isinstance(choice, np.ndarray | np.generic):
        choice = choice.tolist()
    hidden = [tensor for tensor in tensors if tensor.is_hidden]
    if choice is None:
        return tuple(hidden)
    names = {tensor.name for tensor in tensors}
    counted = re.fullmatch(r"(every|last) (\d+)", choice) if isinstance(choice, str) else None
    if counted is not None and choice not in names:
        word, number = counted[1], int(counted[2])
        if number < 1:
            raise ValueError(f"layers is {choice!r}; expected a number of 1 or more.")
        return tuple(hidden[::-1][::number][::-1] if word == "every" else hidden[-number:])
    is_list = isinstance(choice, Sequence) and not isinstance(choice, str)
    listed: list[Any] = list(choice) if is_list else [choice]  # type: ignore[arg-type]
    if not listed:
        raise ValueError(f"layers is {choice!r} and chooses nothing; leave it out to use all hidden layers.")
    chosen = {_name_of(item, hidden, tensors) for item in listed}
    return tuple(tensor for tensor in tensors if tensor.name in chosen)


def _name_of(item: str | int, hidden: Sequence[Tensor], tensors: Sequence[Tensor]) -> str:
    if isinstance(item, str):
        if any(tensor.name == item for tensor in tensors):
            return item
        raise ValueError(f"There is no layer {item!r}; there are {_listed(tensors)}.")
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise TypeError(f"{item!r} is no layer; give names, positions, 'every 2' or 'last 3'.")
    if not -len(hidden) <= item < len(hidden):
        raise ValueError(
            f"There is no hidden layer {item}; there are {len(hidden)}, counted from 0: {_listed(hidden)}."
        )
    return hidden[item].name


def _listed(tensors: Sequence[Tensor]) -> str:
    return ", ".join(repr(tensor.name) for tensor in tensors) or "none"
