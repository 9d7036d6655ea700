"""A record of the rows that rules were learnt from, by which fresh rows are told from those.

Only a keyed hash of each row is kept. A learnt row is always recognised, and any other row is mistaken for
one with a probability of at most 2⁻²⁶. Values are compared in
single precision, so that a table is recognised whether it is given in single or in double precision.

The key is made of the names of the columns, not drawn at random: the same rows give the same record, and the
records of two rule sets over the same columns can be joined. A hash does not show the values of a row, but
whoever has the record can test whether a row that they know is in it; see SECURITY.md.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clausewise import _core
from clausewise.data.table import Matrix

Hashes = NDArray[np.uint64]

MAX_ROWS: Final = 2**20
"""Of more distinct rows, only those in a part of the hash space are kept: a half, a quarter, …"""

N_BITS: Final = 46
"""The length of a hash; with MAX_ROWS of them, a foreign row is found with probability 2⁻²⁶."""


@dataclass(frozen=True, eq=False)
class LearntRows:
    """Hashes of the rows that rules were learnt from.

    Attributes
    ----------
    hashes : ndarray of uint64
        The hash of each row, N_BITS long; ascending, without repetitions.
    n_skipped_bits : int
        0 if all rows are recorded. Otherwise, only rows whose hash begins with this many zeros are, which
        is a fraction of 2 to the power of −`n_skipped_bits` of them, and no other row can be looked up.
    """

    hashes: Hashes
    n_skipped_bits: int = 0

    @classmethod
    def of(cls, names: Sequence[str], matrix: Matrix, n_rows: int | None = None) -> "LearntRows":
        """Record the rows of an encoded matrix whose columns have these names.

        If the matrix is a part of `n_rows` rows, more than can be recorded, a part of it is recorded from
        the beginning.
        """
        n_skipped = 0 if n_rows is None else max(0, math.ceil(math.log2(n_rows / MAX_ROWS)))
        hashes = _row_hashes(names, matrix)
        return _bounded(_distinct(hashes[_is_recorded(hashes, n_skipped)]), n_skipped)

    def __len__(self) -> int:
        return len(self.hashes)

    def __or__(self, other: "LearntRows") -> "LearntRows":
        """Return the record of the rows of both; the columns must have the same names."""
        n_skipped = max(self.n_skipped_bits, other.n_skipped_bits)
        both = _distinct(np.concatenate([self.hashes, other.hashes]))
        return _bounded(both[_is_recorded(both, n_skipped)], n_skipped)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LearntRows):
            return NotImplemented
        return self.n_skipped_bits == other.n_skipped_bits and np.array_equal(self.hashes, other.hashes)

    def __hash__(self) -> int:
        return hash((self.n_skipped_bits, self.hashes.tobytes()))

    @property
    def is_complete(self) -> bool:
        """Whether every row can be looked up."""
        return self.n_skipped_bits == 0

    def look_up(self, names: Sequence[str], matrix: Matrix) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which rows of an encoded matrix are in the record, and which could be looked up at all."""
        wanted = _row_hashes(names, matrix)
        place = np.searchsorted(self.hashes, wanted)
        is_found = np.append(self.hashes, np.uint64(0))[place] == wanted
        return is_found & (place < len(self.hashes)), _is_recorded(wanted, self.n_skipped_bits)

    def to_bytes(self) -> tuple[bytes, int]:
        """Return the steps between neighbouring hashes, and how many bytes each has, the lowest first."""
        steps = np.diff(self.hashes, prepend=np.uint64(0))
        width = max(1, -(-int(steps.max(initial=0)).bit_length() // 8))
        return steps.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width].tobytes(), width

    @classmethod
    def from_bytes(cls, raw: bytes, width: int, n_skipped_bits: int) -> "LearntRows":
        """Return the record that `to_bytes` wrote; raise a ValueError for anything else."""
        if not 1 <= width <= 8 or len(raw) % width:
            raise ValueError(f"{len(raw)} bytes are not numbers of {width} bytes each.")
        if not 0 <= n_skipped_bits < N_BITS:
            raise ValueError(f"{n_skipped_bits} bits are skipped; expected 0 to {N_BITS - 1}.")
        n_rows = len(raw) // width
        if n_rows > MAX_ROWS:
            raise ValueError(f"{n_rows:,} hashes; expected at most {MAX_ROWS:,}.")
        padded = np.zeros((n_rows, 8), dtype=np.uint8)
        padded[:, :width] = np.frombuffer(raw, dtype=np.uint8).reshape(n_rows, width)
        steps = padded.view("<u8")[:, 0].astype(np.uint64)
        if (steps[1:] == 0).any():
            raise ValueError("a hash occurs twice.")
        # As doubles, since whole numbers could overflow; sums below this limit are exact.
        if steps.sum(dtype=np.float64) >= 2 ** (N_BITS - n_skipped_bits):
            raise ValueError(f"a hash has more than {N_BITS - n_skipped_bits} bits.")
        hashes = np.cumsum(steps, dtype=np.uint64)
        hashes.setflags(write=False)
        return cls(hashes, n_skipped_bits)


def _distinct(hashes: Hashes) -> Hashes:
    """Return hashes in ascending order, without repetitions."""
    ordered = np.sort(hashes, kind="stable")  # which joins two ordered parts in one pass
    return np.asarray(ordered[np.diff(ordered, prepend=~ordered[:1]) != 0])


def _is_recorded(hashes: Hashes, n_skipped_bits: int) -> NDArray[np.bool_]:
    """Return which hashes begin with this many zeros."""
    return np.asarray(hashes >> np.uint64(N_BITS - n_skipped_bits) == 0)


def _bounded(hashes: Hashes, n_skipped_bits: int) -> LearntRows:
    """Return a record of at most MAX_ROWS of these hashes."""
    while len(hashes) > MAX_ROWS:
        n_skipped_bits += 1
        hashes = hashes[_is_recorded(hashes, n_skipped_bits)]
    hashes.setflags(write=False)
    return LearntRows(hashes, n_skipped_bits)


def _row_hashes(names: Sequence[str], matrix: Matrix) -> Hashes:
    """Return the hash of each row, with a key for each column."""
    key = hashlib.shake_256("\0".join(names).encode("utf-8", "surrogatepass"))
    keys = np.frombuffer(key.digest(8 * len(names)), dtype="<u8").astype(np.uint64)
    return _core.row_hashes(matrix, keys) >> np.uint64(64 - N_BITS)
