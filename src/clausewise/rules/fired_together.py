"""The rules that fire on a row, as one key: rows with the same key are alike to all that rules decide."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_MAX_BITS: Final = 64


def pattern_keys(fires: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the rules that fire on each row as one value that can be compared."""
    n_rules, n_rows = fires.shape
    n_bytes = max(8, -(-n_rules // 8))
    packed = np.zeros((n_rows, n_bytes), dtype=np.uint8)
    packed[:, : -(-n_rules // 8)] = np.packbits(fires, axis=0, bitorder="little").T
    return packed.view(np.uint64 if n_rules <= _MAX_BITS else f"S{n_bytes}")[:, 0]


def rules_in_patterns(keys: NDArray[Any], n_rules: int) -> NDArray[np.bool_]:
    """Return the rules that fire in each pattern, from its key."""
    # NumPy drops zeros at the end of texts, but keeps the width of the array.
    as_bytes = np.ascontiguousarray(keys).view(np.uint8).reshape(len(keys), keys.dtype.itemsize)
    return np.unpackbits(as_bytes, axis=1, count=n_rules, bitorder="little").T.astype(np.bool_)
