"""Hashes of the contents of raw rows: the same wherever, and in whichever order, the rows are."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.data.hashing import mix
from clausewise.data.table import Column, as_table

Hashes = NDArray[np.uint64]

# A missing value is the same in a column of text, of numbers and of booleans: which of these a column without
# values is may differ from batch to batch.
_MISSING = int(np.array(np.nan).view(np.uint64))


def content_hashes(batch: Any, further: Sequence[NDArray[np.int32]] = ()) -> Hashes:
    """Return a hash of 64 bits for each row of a table; `further` columns of codes count, too."""
    table = as_table(batch)
    matrix = table.float_matrix()
    hashes = np.zeros(table.n_rows, dtype=np.uint64)
    for position in range(table.n_columns):
        if matrix is not None:
            bits = _number_bits(matrix[:, position])
        else:
            bits = _bits(table.column(position), str(position))
        _include(hashes, bits, position)
    for position, codes in enumerate(further):
        _include(hashes, codes.astype(np.uint64), -1 - position)
    return hashes


def _include(hashes: Hashes, bits: Hashes, position: int) -> None:
    key = hashlib.blake2b(str(position).encode(), digest_size=8).digest()
    hashes ^= bits + np.frombuffer(key, dtype="<u8")[0]
    mix(hashes)


def _bits(column: Column, name: str) -> Hashes:
    if not column.is_text:
        return _number_bits(np.asarray(column.numbers(name), dtype=np.float64))
    values, codes = _distinct(column.values)
    hashed = np.array([_value_bits(value) for value in values], dtype=np.uint64)
    return np.asarray(hashed[codes])


def _distinct(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct values of a column of objects, and the place of each value among them."""
    place: dict[Any, int] = {}
    codes = np.fromiter((place.setdefault(value, len(place)) for value in values), np.int64, len(values))
    return list(place), codes


def _value_bits(value: str | float | None) -> int:
    if value is None:
        return _MISSING
    if not isinstance(value, str):  # a category may be a number
        return int(_number_bits(np.array([value]))[0])
    digest = hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _number_bits(values: NDArray[Any]) -> Hashes:
    """Return numbers as the bits of doubles, the same for 0 and −0, and for every NaN."""
    numbers = values.astype(np.float64) + 0.0
    bits = numbers.view(np.uint64)
    bits[np.isnan(numbers)] = _MISSING
    return bits
