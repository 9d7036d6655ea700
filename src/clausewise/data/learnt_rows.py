"""A record of the rows that rules were learnt from, by which fresh rows are told from those.

Only a keyed hash of each row is kept, cut to as many bits as the number of rows needs: a learnt row is always
recognised, and any other row is mistaken for one with a probability of about 2⁻²⁶. Values are compared in
single precision, so that a table is recognised whether it is given in single or in double precision.

The key is made of the names of the columns, not drawn at random: the same rows give the same record, and the
records of two rule sets over the same columns can be joined. A hash does not show the values of a row, but
whoever has the record can test whether a row that they know is in it; see SECURITY.md.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clausewise.data.table import Matrix

Hashes = NDArray[np.uint64]

MAX_ROWS: Final = 2**20
"""Of more distinct rows, only those in a part of the hash space are kept: a half, a quarter, …"""

_SPARE_BITS: Final = 26
"""Bits of a hash beyond those that number the rows; a foreign row is found with probability 2⁻²⁶."""
_MAX_STEP: Final = 2**32
"""Sorted hashes are stored as differences, which must fit 32 bits."""
_MULTIPLIERS: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # of splitmix64


@dataclass(frozen=True, eq=False)
class LearntRows:
    """Hashes of the rows that rules were learnt from.

    Attributes
    ----------
    hashes : ndarray of uint64
        The first `n_bits` bits of the hash of each row; ascending, without repetitions.
    n_bits : int
        How many bits of each hash are kept.
    n_skipped_bits : int
        0 if all rows are recorded. Otherwise, only rows whose hash begins with this many zeros are, which
        is a fraction of 2 to the power of −`n_skipped_bits` of them, and no other row can be looked up.
    """

    hashes: Hashes
    n_bits: int
    n_skipped_bits: int = 0

    @classmethod
    def of(cls, names: Sequence[str], matrix: Matrix) -> "LearntRows":
        """Record the rows of an encoded matrix whose columns have these names."""
        return _bounded(np.unique(_row_hashes(names, matrix)), 64, 0)

    def __len__(self) -> int:
        return len(self.hashes)

    def __or__(self, other: "LearntRows") -> "LearntRows":
        """Return the record of the rows of both; the columns must have the same names."""
        n_bits = min(self.n_bits, other.n_bits)
        n_skipped = max(self.n_skipped_bits, other.n_skipped_bits)
        cut = [part.hashes >> np.uint64(part.n_bits - n_bits) for part in (self, other)]
        both = np.unique(np.concatenate(cut))
        return _bounded(both[both >> np.uint64(n_bits - n_skipped) == 0], n_bits, n_skipped)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LearntRows):
            return NotImplemented
        mine, theirs = (self.n_bits, self.n_skipped_bits), (other.n_bits, other.n_skipped_bits)
        return mine == theirs and np.array_equal(self.hashes, other.hashes)

    def __hash__(self) -> int:
        return hash((self.n_bits, self.n_skipped_bits, self.hashes.tobytes()))

    @property
    def is_complete(self) -> bool:
        """Whether every row can be looked up."""
        return self.n_skipped_bits == 0

    def look_up(self, names: Sequence[str], matrix: Matrix) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which rows of an encoded matrix are in the record, and which could be looked up at all."""
        wanted = _row_hashes(names, matrix) >> np.uint64(64 - self.n_bits)
        can_be_looked_up = (
            np.ones(len(wanted), dtype=bool)
            if self.is_complete
            else wanted >> np.uint64(self.n_bits - self.n_skipped_bits) == 0
        )
        place = np.searchsorted(self.hashes, wanted)
        is_found = np.append(self.hashes, np.uint64(0))[place] == wanted
        return is_found & (place < len(self.hashes)), can_be_looked_up

    def steps(self) -> NDArray[np.uint32]:
        """Return the hashes as differences between neighbours, for files; `from_steps` reads them."""
        return np.diff(self.hashes, prepend=np.uint64(0)).astype("<u4")

    @classmethod
    def from_steps(cls, steps: NDArray[np.uint32], n_bits: int, n_skipped_bits: int) -> "LearntRows":
        """Return the record that `steps` was made from; raise a ValueError for anything else."""
        if not 0 <= n_skipped_bits < n_bits <= 64:
            raise ValueError(f"{n_bits} bits of which {n_skipped_bits} are skipped; expected 1 to 64 bits.")
        if len(steps) > MAX_ROWS:
            raise ValueError(f"{len(steps):,} hashes; expected at most {MAX_ROWS:,}.")
        if (steps[1:] == 0).any():
            raise ValueError("a hash occurs twice.")
        hashes = np.cumsum(steps, dtype=np.uint64)  # at most 2²⁰ · 2³², so that nothing overflows
        if len(hashes) and int(hashes[-1]) >= 2 ** (n_bits - n_skipped_bits):
            raise ValueError(f"a hash has more than {n_bits - n_skipped_bits} bits.")
        return cls(hashes, n_bits, n_skipped_bits)


def _bounded(hashes: Hashes, n_bits: int, n_skipped: int) -> LearntRows:
    """Return a record of at most MAX_ROWS hashes with as few bits as needed."""
    while len(hashes) > MAX_ROWS:
        n_skipped += 1
        hashes = hashes[hashes >> np.uint64(n_bits - n_skipped) == 0]
    needed = n_skipped + max(len(hashes) - 1, 1).bit_length() + _SPARE_BITS
    n_kept = min(n_bits, needed)
    hashes = np.unique(hashes >> np.uint64(n_bits - n_kept))
    # Practically never: hashes are spread so evenly that a step is 64 times the mean once in 10²⁷ steps.
    while len(hashes) and int(np.diff(hashes, prepend=np.uint64(0)).max()) >= _MAX_STEP:
        n_kept, hashes = n_kept - 1, np.unique(hashes >> np.uint64(1))
    hashes.setflags(write=False)
    return LearntRows(hashes, n_kept, n_skipped)


def _row_hashes(names: Sequence[str], matrix: Matrix) -> Hashes:
    """Return a 64-bit hash of each row, with a key for each column."""
    key = hashlib.shake_256("\0".join(names).encode("utf-8", "surrogatepass"))
    keys = np.frombuffer(key.digest(8 * len(names)), dtype="<u8").astype(np.uint64)
    hashes = np.zeros(len(matrix), dtype=np.uint64)
    for column, own_key in enumerate(keys):
        hashes ^= _bits_of(matrix[:, column]) + own_key
        _mix(hashes)
    return hashes


def _bits_of(column: NDArray[np.floating]) -> Hashes:
    """Return values as the bits of floats, the same for 0 and −0, and for every NaN."""
    with np.errstate(over="ignore"):
        values = column.astype(np.float32) + np.float32(0)
    values[np.isnan(values)] = np.nan
    return values.view(np.uint32).astype(np.uint64)


def _mix(hashes: Hashes) -> None:
    """Spread every bit over all bits, in place (the finaliser of splitmix64)."""
    for multiplier, shift in zip(_MULTIPLIERS, (30, 27), strict=True):
        hashes ^= hashes >> np.uint64(shift)
        hashes *= multiplier
    hashes ^= hashes >> np.uint64(31)
