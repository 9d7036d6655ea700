"""Turning tensors of any shape into named columns."""

import math
from collections.abc import Mapping
from itertools import product
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from clausewise.base.parameters import Constraint, one_of
from clausewise.networks.protocol import Axis, Tensor

Reduction = Literal["flatten", "mean", "max", "last"]
_REDUCTION: Final = one_of("flatten", "mean", "max", "last")


def _is_reduction_per_layer(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_REDUCTION.allows(reduction) for reduction in value.values())


REDUCE: Final = _REDUCTION | Constraint("a mapping from layer names to these", _is_reduction_per_layer)
# The axes that mean, max and last reduce to one number; units and channels are kept.
_REPEATED: Final[tuple[Axis, ...]] = ("position", "time")
_LETTERS: Final[dict[Axis, str]] = {"time": "t=", "channel": "c=", "unit": "", "position": ""}
_POSITIONS = ("x=", "y=", "z=")


def axes_of(shape: tuple[int, ...]) -> tuple[Axis, ...]:
    """Return the default meaning of the axes: steps of units, or channels of positions."""
    known: dict[int, tuple[Axis, ...]] = {0: (), 1: ("unit",), 2: ("time", "unit")}
    return known.get(len(shape), ("channel", *["position"] * (len(shape) - 1)))  # type: ignore[arg-type]


def reduction_of(tensor: Tensor, reduce: Reduction | Mapping[str, Reduction]) -> Reduction:
    """Return how this tensor becomes columns; vectors are never reduced."""
    chosen = reduce.get(tensor.name, "flatten") if isinstance(reduce, Mapping) else reduce
    return chosen if set(tensor.axes) & set(_REPEATED) else "flatten"


def n_columns(tensor: Tensor, reduction: Reduction) -> int:
    """Return the number of columns that the tensor becomes."""
    kept = (
        size
        for size, axis in zip(tensor.shape, tensor.axes, strict=True)
        if reduction == "flatten" or axis not in _REPEATED
    )
    return math.prod(kept)


def to_columns(values: NDArray[Any], tensor: Tensor, reduction: Reduction) -> NDArray[Any]:
    """Reshape or reduce values of shape (rows, *tensor.shape) to (rows, columns)."""
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
    """Return a descriptive name per column: `relu[3]`, `gru.h[t=7, 3]`, `conv[c=2, x=mean]`."""
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
