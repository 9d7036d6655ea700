"""Packs arrays into JSON: little-endian base64, in the smallest type that holds the values exactly."""

import base64
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_CODE_TYPES: Final = (("u1", np.uint8), ("u2", np.uint16), ("u4", np.uint32))


def pack_codes(codes: NDArray[Any]) -> dict[str, str]:
    """Pack non-negative integers."""
    largest = int(codes.max(initial=0))
    name = next(name for name, dtype in _CODE_TYPES if largest <= np.iinfo(dtype).max)
    return _packed(codes, name)


def pack_numbers(numbers: NDArray[Any]) -> dict[str, str]:
    """Pack floating-point numbers, in single precision if that is lossless."""
    return _packed(numbers, f"f{_item_size(numbers)}")


def pack_column(column: NDArray[Any]) -> dict[str, Any]:
    """Pack a column as distinct values and their codes, or plainly if that is shorter."""
    values, codes = np.unique(column, return_inverse=True)
    plain = len(column) * _item_size(column)
    code_size = 1 if len(values) <= 2**8 else 2 if len(values) <= 2**16 else 4
    if len(values) * _item_size(values) + len(column) * code_size < plain:
        return {"encoding": "dictionary", "values": pack_numbers(values), "codes": pack_codes(codes)}
    return {"encoding": "plain", "values": pack_numbers(column)}


def max_packed_bytes(n_rows: int) -> int:
    """Return the maximum size in bytes of a packed column of `n_rows` rows, before base64."""
    return 8 * n_rows


def _item_size(numbers: NDArray[Any]) -> int:
    with np.errstate(over="ignore", under="ignore"):
        return 4 if np.array_equal(numbers.astype(np.float32), numbers, equal_nan=True) else 8


def _packed(numbers: NDArray[Any], name: str) -> dict[str, str]:
    data = np.ascontiguousarray(numbers).astype(f"<{name}").tobytes()
    return {"type": name, "data": base64.b64encode(data).decode("ascii")}
