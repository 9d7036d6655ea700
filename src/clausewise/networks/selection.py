"""Selecting the layers of a network to use (the paper's hidden representation subsampling)."""

import numbers
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.base.parameters import ARRAY_LIKE, NOTHING, TEXT, Constraint
from clausewise.networks.protocol import Tensor

LayerChoice = str | int | Sequence[str | int] | NDArray[Any] | None
"""The values of `layers=`.

None (all hidden layers), "every 2", "last 3", a name, a position among the hidden layers, or a list or array
of names and positions.
"""


def _is_position(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


_POSITION = Constraint("a position", _is_position)
LAYER_CHOICE = Constraint(
    "None, 'every 2', 'last 3', a layer's name or position, or a list of names and positions",
    (NOTHING | TEXT | _POSITION | ARRAY_LIKE).allows,
)


def select_layers(tensors: Sequence[Tensor], choice: LayerChoice) -> tuple[Tensor, ...]:
    """Return the chosen tensors, in the order of computation.

    Positions, "every k" and "last k" count the hidden layers; a name may be that of any tensor. "every k"
    counts backwards from the last hidden layer, which is therefore always included.
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
            raise ValueError(f"layers is {choice!r}; expected '{word} 1' or more.")
        return tuple(hidden[::-1][::number][::-1] if word == "every" else hidden[-number:])
    is_list = isinstance(choice, Sequence) and not isinstance(choice, str)
    listed: list[Any] = list(choice) if is_list else [choice]  # type: ignore[arg-type]
    if not listed:
        raise ValueError(f"layers is {choice!r}, which selects no layer; omit it to use all hidden layers.")
    chosen = {_name_of(item, hidden, tensors) for item in listed}
    return tuple(tensor for tensor in tensors if tensor.name in chosen)


def _name_of(item: str | int, hidden: Sequence[Tensor], tensors: Sequence[Tensor]) -> str:
    if isinstance(item, str):
        if any(tensor.name == item for tensor in tensors):
            return item
        raise ValueError(f"There is no layer {item!r}; the layers are {_listed(tensors)}.")
    if not _is_position(item):
        raise TypeError(f"{item!r} is not a layer; pass names, positions, 'every 2' or 'last 3'.")
    if not -len(hidden) <= item < len(hidden):
        raise ValueError(
            f"There is no hidden layer {item}; the {len(hidden)} hidden layers, counted from 0, are "
            f"{_listed(hidden)}."
        )
    return hidden[item].name


def _listed(tensors: Sequence[Tensor]) -> str:
    return ", ".join(repr(tensor.name) for tensor in tensors) or "none"
