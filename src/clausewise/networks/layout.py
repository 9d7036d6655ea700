"""Finding the axis of a tensor that holds the rows."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from clausewise.networks.inputs import Inputs, Rows

Found = TypeVar("Found")
AnyRows = TypeVar("AnyRows", NDArray[Any], Inputs, Rows)

PROBE_SIZES: Final = (3, 5)
"""Numbers of rows with which a network is probed: the axis that changes its size holds the rows."""
# Largest row for which random rows are drawn: a file may declare any shape, however large.
_MAX_RANDOM: Final = 2**21


class AmbiguousLayoutError(ValueError):
    """The probes do not determine the layout; other rows may."""


@dataclass(frozen=True)
class Layout:
    """The axis of a tensor that holds its rows.

    Attributes
    ----------
    axis : int
        Position of the axis.
    n_per_row : int
        Number of entries along that axis per row: a network may concatenate the steps of all sequences.
    is_by_step : bool
        Whether the entries are ordered by step and then by row, rather than by row and then by step.
    """

    axis: int
    n_per_row: int = 1
    is_by_step: bool = False

    @classmethod
    def found(cls, small: NDArray[Any], large: NDArray[Any]) -> "Layout | None":
        """Return the layout of a tensor from its values for the two probes; None if no axis holds the rows.

        Raises `AmbiguousLayoutError` if the values fit several layouts.
        """
        n_small, n_large = PROBE_SIZES
        differing = [
            axis
            for axis, sizes in enumerate(zip(small.shape, large.shape, strict=False))
            if len(set(sizes)) > 1
        ]
        if small.ndim != large.ndim or len(differing) != 1:
            return None
        axis = differing[0]
        n_per_row, rest = divmod(large.shape[axis], n_large)
        if rest or small.shape[axis] != n_per_row * n_small:
            return None
        if n_per_row == 1:
            return cls(axis)
        if axis != 0:
            return None
        # Both probes start with the same rows, so their values show the order.
        ways = (cls(axis, n_per_row), cls(axis, n_per_row, is_by_step=True))
        fitting = [layout for layout in ways if layout._fits(small, large)]
        if len(fitting) > 1:
            raise AmbiguousLayoutError(
                "The network concatenates the steps of all sequences, and these rows are too similar to find "
                "their order; call network.inspect(X) with rows that differ first."
            )
        return fitting[0] if fitting else None

    def _fits(self, small: NDArray[Any], large: NDArray[Any]) -> bool:
        """Return whether the rows that both probes share have the same values in both."""
        few, many = (self.rows_first(v, n) for v, n in zip((small, large), PROBE_SIZES, strict=True))
        # Networks with broken weights return NaN and infinity, which must not set the tolerance.
        size = np.abs(large[np.isfinite(large)]).max(initial=0.0)
        return np.allclose(few, many[: len(few)], rtol=0, atol=1e-5 * size, equal_nan=True)

    def row_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape for one row."""
        rest = shape[: self.axis] + shape[self.axis + 1 :]
        return rest if self.n_per_row == 1 else (self.n_per_row, *rest)

    def rows_first(self, values: NDArray[Any], n_rows: int) -> NDArray[Any]:
        """Return the tensor with one entry per row along its first axis."""
        if self.is_by_step:
            return np.moveaxis(values.reshape(self.n_per_row, n_rows, *values.shape[1:]), 1, 0)
        if self.n_per_row > 1:
            return values.reshape(n_rows, self.n_per_row, *values.shape[1:])
        return np.moveaxis(values, self.axis, 0)


def probe_rows(rows: AnyRows, n_rows: int) -> AnyRows:
    """Return `n_rows` rows: the given ones in order, repeated as needed."""
    return rows[np.arange(n_rows) % len(rows)]


def random_rows(row_shape: Sequence[int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return different rows of a known shape, always the same ones.

    Whole numbers are 0 or 1, since any embedding has an entry 0, and most have an entry 1.
    """
    draw = np.random.default_rng(0)
    shape = (max(PROBE_SIZES), *row_shape)
    values = draw.random(shape) if dtype.kind == "f" else draw.integers(0, 2, shape)
    return values.astype(dtype)


def inspected_on_rows(
    inspected: Callable[[Any], Found],
    rows: Rows | None,
    row_shape: Sequence[int | None] | None,
    dtype: np.dtype[Any],
) -> Found | None:
    """Return `inspected(rows)` or, without rows, its result on random rows of the model's input shape.

    None if the shape is unknown or too large, or if random rows do not determine the layout.
    """
    if rows is not None:
        return inspected(rows)
    if row_shape is None:
        return None
    sizes = [size for size in row_shape if size is not None]
    if len(sizes) < len(row_shape) or math.prod(sizes) > _MAX_RANDOM:
        return None
    try:
        return inspected(random_rows(sizes, dtype))
    except AmbiguousLayoutError:
        return None
