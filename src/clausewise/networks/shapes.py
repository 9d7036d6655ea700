"""From tensors of any shape to columns with names."""

import math
from collections.abc import Mapping
from itertools import product
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from clausewise.networks.protocol import Axis, Tensor

Reduction = Literal["flatten", "mean", "max", "last"]
REDUCTIONS: Final[tuple[Reduction, ...]] = ("flatten", "mean", "max", "last")
# Axes along which mean, max and last make one number of many; units and channels stay apart.
_REPEATED: Final[tuple[Axis, ...]] = ("position", "time")
_LETTERS: Final[dict[Axis, str]] = {"time": "t=", "channel": "c=", "unit": "", "position": ""}
_POSITIONS = ("x=", "y=", "z=")


def axes_of(shape: tuple[int, ...]) -> tuple[Axis, ...]:
    """What the axes stand for, where nothing says more: steps of units, or channels of positions."""
    known: dict[int, tuple[Axis, ...]] = {0: (), 1: ("unit",), 2: ("time", "unit")}
    return known.get(len(shape), ("channel", *["position"] * (len(shape) - 1)))  # type: ignore[arg-type]


def reduction_of(tensor: Tensor, reduce: Reduction | Mapping[str, Reduction]) -> Reduction:
    """How this tensor becomes columns; vectors stay as they are."""
    chosen: Any = reduce.get(tensor.name, "flatten") if isinstance(reduce, Mapping) else reduce
    if chosen not in REDUCTIONS:
        raise ValueError(f"reduce is {chosen!r}; expected one of {', '.join(map(repr, REDUCTIONS))}.")
    return chosen if set(tensor.axes) & set(_REPEATED) else "flatten"


def n_columns(tensor: Tensor, reduction: Reduction) -> int:
    """Number of columns that the tensor becomes."""
    kept = (
        size
        for size, axis in zip(tensor.shape, tensor.axes, strict=True)
        if reduction == "flatten" or axis not in _REPEATED
    )
    return math.prod(kept)


def to_columns(values: NDArray[Any], tensor: Tensor, reduction: Reduction) -> NDArray[Any]:
    """Values of shape (rows, *tensor.shape) as (rows, columns)."""
    if reduction != "flatten":
        repeated = [place for place, axis in enumerate(tensor.axes, start=1) if axis in _REPEATED]
        if reduction == "mean":
            values = values.mean(axis=tuple(repeated))
        elif reduction == "max":
            values = values.max(axis=tuple(repeated))
        else:
            for place in reversed(repeated):
                values = np.take(values, -1, axis=place)
    return values.reshape(len(values), -1)


def column_names(tensor: Tensor, reduction: Reduction) -> tuple[str, ...]:
    """Names that say what a column holds: `relu[3]`, `gru.h[t=7, 3]`, `conv[c=2, x=mean]`."""
    if not tensor.shape:
        return (tensor.name,)
    positions = iter(_POSITIONS if tensor.axes.count("position") <= len(_POSITIONS) else ())
    parts: list[list[str]] = []
    for size, axis in zip(tensor.shape, tensor.axes, strict=True):
        letter = next(positions, "") if axis == "position" else _LETTERS[axis]
        if reduction == "flatten" or axis not in _REPEATED:
            parts.append([f"{letter}{index}" for index in range(size)])
        else:
            parts.append([f"{letter}{reduction}"])
    return tuple(f"{tensor.name}[{', '.join(index)}]" for index in product(*parts))
