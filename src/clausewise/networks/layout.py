"""Where the rows lie in a tensor."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

Found = TypeVar("Found")

PROBE_SIZES: Final = (3, 5)
"""Numbers of rows with which a network is tried: the axis that grows along with them is that of the rows."""
# Numbers in a row above which none are made up: a file may claim any shape, and memory is not endless.
_MAX_RANDOM: Final = 2**21


class AmbiguousLayoutError(ValueError):
    """The probes do not tell how rows lie; other rows may."""


@dataclass(frozen=True)
class Layout:
    """The axis of a tensor that holds its rows.

    Attributes
    ----------
    axis : int
        Position of the axis.
    n_per_row : int
        How many entries along that axis belong to one row: a network may put the steps of all sequences below
        each other.
    is_by_step : bool
        Whether these lie step by step, each with all rows, and not row by row.
    """

    axis: int
    n_per_row: int = 1
    is_by_step: bool = False

    @classmethod
    def found(cls, small: NDArray[Any], large: NDArray[Any]) -> "Layout | None":
        """The layout of a tensor from its values for the two probes; None if it is not made of rows.

        Raises `AmbiguousLayoutError` if the values fit more than one.
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
        # The first rows of both probes are the same, so the values tell how they lie.
        ways = (cls(axis, n_per_row), cls(axis, n_per_row, is_by_step=True))
        fitting = [layout for layout in ways if layout._fits(small, large)]
        if len(fitting) > 1:
            raise AmbiguousLayoutError(
                "The steps of all sequences lie below each other, and these rows are too much alike to tell "
                "in which order; call network.inspect(X) with rows that differ first."
            )
        return fitting[0] if fitting else None

    def _fits(self, small: NDArray[Any], large: NDArray[Any]) -> bool:
        """Whether the rows that both probes have are the same in both."""
        few, many = (self.rows_first(v, n) for v, n in zip((small, large), PROBE_SIZES, strict=True))
        # Networks with broken weights give NaN and infinity, which say nothing of the size of the others.
        size = np.abs(large[np.isfinite(large)]).max(initial=0.0)
        return np.allclose(few, many[: len(few)], rtol=0, atol=1e-5 * size, equal_nan=True)

    def row_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape for one row."""
        rest = shape[: self.axis] + shape[self.axis + 1 :]
        return rest if self.n_per_row == 1 else (self.n_per_row, *rest)

    def rows_first(self, values: NDArray[Any], n_rows: int) -> NDArray[Any]:
        """The tensor with one entry per row along its first axis."""
        if self.is_by_step:
            return np.moveaxis(values.reshape(self.n_per_row, n_rows, *values.shape[1:]), 1, 0)
        if self.n_per_row > 1:
            return values.reshape(n_rows, self.n_per_row, *values.shape[1:])
        return np.moveaxis(values, self.axis, 0)


def probe_rows(rows: NDArray[Any], n_rows: int) -> NDArray[Any]:
    """So many rows, from the first on and over again."""
    return rows[np.arange(n_rows) % len(rows)]


def random_rows(row_shape: Sequence[int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Rows that differ, for a network that says what it reads; always the same ones.

    Numbers from 0 to 1: any embedding has an entry 0, and most have an entry 1.
    """
    draw = np.random.default_rng(0)
    shape = (max(PROBE_SIZES), *row_shape)
    values = draw.random(shape) if dtype.kind == "f" else draw.integers(0, 2, shape)
    return values.astype(dtype)


def seen_on_rows(
    inspected: Callable[[NDArray[Any]], Found],
    rows: NDArray[Any] | None,
    row_shape: Sequence[int | None] | None,
    dtype: np.dtype[Any],
) -> Found | None:
    """What `inspected` sees on these rows or, without any, on rows of the shape that the model itself tells.

    None where it does not tell, where such rows do not show how they lie, or where they would be huge.
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
