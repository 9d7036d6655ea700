"""Memory that tables from files may take.

A small file can describe a large table: compressed zeros, one long string in a dictionary with a reference
per row, or a number of rows without any data. So sizes are compared with an allowance: before values are
decoded, as far as the format states them, and afterwards for every batch.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute

VARIABLE: Final = "CLAUSEWISE_MAX_TABLE_MB"
BATCH_BYTES: Final = 64 * 2**20
"""Memory of one batch of rows; larger ones are split."""
_TABLE_BYTES: Final = 256 * 2**20
_BYTES_PER_FILE_BYTE: Final = 64
_COLUMN_BYTES: Final = 2048  # of names, types and empty buffers
_CELL_BYTES: Final = 8  # rows become float64 or references to objects; a cell of text counts twice
_OBJECT_BYTES: Final = 64


class TableSizeError(ValueError):
    """A table that would take more memory than allowed."""


@dataclass
class Allowance:
    """Memory that a table may take when decoded: in proportion to its file, and at least 256 MB.

    `file_bytes` is the size of the file, or for a stream the number of bytes so far.
    """

    file_bytes: float

    @property
    def n_bytes(self) -> float:
        """The memory allowed now."""
        return max(_least_bytes(), self.file_bytes * _BYTES_PER_FILE_BYTE)

    def require(self, n_bytes: float, what: str) -> None:
        """Raise an error if something takes more memory than allowed."""
        require_at_most(self.n_bytes, n_bytes, what)

    def require_dictionary(self, n_bytes: float) -> None:
        """Raise an error if a dictionary, which every batch holds in several forms, is too large."""
        require_at_most(
            max(_least_bytes() / 8, self.file_bytes * _BYTES_PER_FILE_BYTE), n_bytes, "A dictionary"
        )


def require_at_most(allowed: float, n_bytes: float, what: str) -> None:
    """Raise an error if something takes more memory than allowed."""
    if n_bytes > allowed:
        raise TableSizeError(
            f"{what} takes {_shown(n_bytes)} when decoded; a file of this size may take {_shown(allowed)}. "
            f"If you trust the file, set {VARIABLE} to the megabytes that it may take."
        )


def _least_bytes() -> int:
    text = os.environ.get(VARIABLE, "")
    if not text:
        return _TABLE_BYTES
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ValueError(f"{VARIABLE} is {text!r}; set it to a positive number of megabytes or unset it.")
    return int(text) * 2**20


def batch_limit() -> float:
    """Return the memory that one batch, and so one row, may take."""
    return max(BATCH_BYTES, _least_bytes() / 4)


def _shown(n_bytes: float) -> str:
    return f"{n_bytes / 2**30:,.1f} GB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:,.0f} MB"


# --- Sizes of decoded tables ---


def bounded_slices(table: pa.Table, allowance: Allowance) -> Iterator[tuple[pa.Table, int]]:
    """Split a table into pieces of limited size with references resolved; yield pieces and sizes."""
    for column in table.columns:
        for chunk in column.chunks:
            if pa.types.is_dictionary(chunk.type):
                allowance.require_dictionary(array_bytes(chunk.dictionary))
    yield from _halved(table)


def _halved(table: pa.Table) -> Iterator[tuple[pa.Table, int]]:
    n_bytes = table_bytes(table)
    if n_bytes <= batch_limit():
        yield table, n_bytes
        return
    if table.num_rows <= 1:
        require_at_most(batch_limit(), n_bytes, "A row")
    middle = table.num_rows // 2
    for part in (table.slice(0, middle), table.slice(middle)):
        yield from _halved(part)


def table_bytes(table: pa.Table) -> int:
    """Return the memory of a table with all references resolved, at least eight bytes per cell."""
    values = sum(array_bytes(chunk) for column in table.columns for chunk in column.chunks)
    return values + int(table.num_columns) * _COLUMN_BYTES


def columns_bytes(n_columns: int) -> int:
    """Return the memory of columns without rows."""
    return n_columns * _COLUMN_BYTES


def object_bytes(table: pa.Table) -> int:
    """Return the memory of a table in which all but numbers become Python objects."""
    n_bytes = 0
    for chunk in (chunk for column in table.columns for chunk in column.chunks):
        text = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
        n_bytes += array_bytes(chunk)
        if not pa.types.is_primitive(text.type):
            n_bytes += _OBJECT_BYTES * len(text)
        if _is_text(text.type):
            is_ascii = (
                not pa.types.is_string(text.type) or pa.compute.all(pa.compute.string_is_ascii(text)).as_py()
            )
            # Python stores a text with one wide character in four bytes per character.
            n_bytes += (1 if is_ascii is not False else 4) * array_bytes(text)
    return n_bytes


def array_bytes(array: Any) -> int:
    """Return the memory of an array with all references resolved, at least eight bytes per value.

    The array must be validated, since its offsets are trusted. Rare types count as if every value were as
    large as all of them.
    """
    kind, n_values = array.type, len(array)
    cells = n_values * _CELL_BYTES
    if n_values == 0 or kind == pa.null():
        return cells
    if isinstance(kind, pa.BaseExtensionType):
        return array_bytes(array.storage)
    if pa.types.is_dictionary(kind):
        return cells + _referred_bytes(array)
    if _is_text(kind):
        return 2 * cells + _text_bytes(array)
    if pa.types.is_fixed_size_list(kind):
        size = kind.list_size
        return cells + array_bytes(array.values.slice(array.offset * size, n_values * size))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
        return cells + array_bytes(array.values.slice(first, last - first))
    if pa.types.is_struct(kind):
        return cells + sum(array_bytes(array.field(i)) for i in range(kind.num_fields))
    if pa.types.is_union(kind):
        return cells + n_values * sum(array_bytes(array.field(i)) for i in range(kind.num_fields))
    if hasattr(array, "values"):  # run-end encoded, or a view of a list
        return cells + n_values * array_bytes(array.values)
    return max(cells, n_values * int(kind.bit_width) // 8)


def _is_text(kind: pa.DataType) -> bool:
    return any(
        is_a(kind)
        for is_a in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_string_view,
            pa.types.is_binary_view,
        )
    )


def _referred_bytes(array: Any) -> int:
    values = array.dictionary
    if not _is_text(values.type):
        is_plain = values.type == pa.null() or pa.types.is_primitive(values.type)
        return 0 if is_plain else len(array) * array_bytes(values)
    if len(values) == 0:
        return 0
    used = pa.compute.take(pa.array(_text_lengths(values)), array.indices)
    return int(pa.compute.sum(used).as_py() or 0)


def _text_bytes(array: Any) -> int:
    offsets = _offsets(array)
    return int(_text_lengths(array).sum()) if offsets is None else int(offsets[-1] - offsets[0])


def _text_lengths(array: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    offsets = _offsets(array)
    if offsets is not None:
        return np.diff(offsets).astype(np.int64)
    # A view of a text is 16 bytes, of which the first four are its length.
    views = np.frombuffer(array.buffers()[1], dtype=np.int32)[4 * array.offset :: 4][: len(array)]
    is_known = array.is_valid().to_numpy(zero_copy_only=False)
    return np.where(is_known, views, 0).astype(np.int64)


def _offsets(array: Any) -> np.ndarray[Any, Any] | None:
    kind = array.type
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return None
    width = np.int64 if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind) else np.int32
    return np.frombuffer(array.buffers()[1], dtype=width)[array.offset :][: len(array) + 1]
