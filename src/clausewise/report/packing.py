"""Arrays as text: little-endian, in base64, in the smallest type that holds them exactly."""

import base64
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_CODE_TYPES: Final = (("u1", np.uint8), ("u2", np.uint16), ("u4", np.uint32))


def pack_codes(codes: NDArray[Any]) -> dict[str, str]:
    """Whole numbers from 0 up."""
    largest = int(codes.max(initial=0))
    name = next(name for name, dtype in _CODE_TYPES if largest <= np.iinfo(dtype).max)
    return _packed(codes, name)


def pack_numbers(numbers: NDArray[Any]) -> dict[str, str]:
    """Floating point numbers, in single precision where nothing is lost by it."""
    return _packed(numbers, f"f{_size_of(numbers)}")


def pack_column(column: NDArray[Any]) -> dict[str, Any]:
    """A column of a table as its distinct values and their places, or plainly where that is shorter."""
    values, places = np.unique(column, return_inverse=True)
    plain = len(column) * _size_of(column)
    code_size = 1 if len(values) <= 2**8 else 2 if len(values) <= 2**16 else 4
    if len(values) * _size_of(values) + len(column) * code_size < plain:
        return {"encoding": "dictionary", "values": pack_numbers(values), "codes": pack_codes(places)}
    return {"encoding": "plain", "values": pack_numbers(column)}


def packed_size(n_rows: int) -> int:
    """The most bytes that a column of so many rows takes before it becomes text."""
    return 8 * n_rows


def _size_of(numbers: NDArray[Any]) -> int:
    with np.errstate(over="ignore", under="ignore"):
        return 4 if np.array_equal(numbers.astype(np.float32), numbers, equal_nan=True) else 8


def _packed(numbers: NDArray[Any], name: str) -> dict[str, str]:
    data = np.ascontiguousarray(numbers).astype(f"<{name}").tobytes()
    return {"type": name, "data": base64.b64encode(data).decode("ascii")}
