"""Structs in the compact protocol of Apache Thrift, in which Parquet files hold their metadata."""

from collections.abc import Mapping
from typing import Any, Final

TRUE, FALSE, BYTE, INT16, INT32, INT64, DOUBLE, BYTES, LIST, SET, STRUCT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12
"""Types of fields."""
Layout = Mapping[tuple[int, int], Any]
"""The fields to read, by number and type: None for an integer, the layout of a struct or of those in a list.

Like other readers, this one skips a field of another type than expected.
"""
_NOT_READ: Final = object()
_LAST_NUMBER: Final = 2**15 - 1
_MAX_NESTING: Final = 32
_MAX_SHIFT: Final = 63
_LARGEST: Final = {INT16: 2**16 - 1, INT32: 2**32 - 1, INT64: 2**64 - 1}  # before the sign is moved
_DAMAGED: Final = "its metadata are damaged"


class ThriftReader:
    """Reads structs; data that end too early raise an IndexError, other damage a ValueError."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def struct(self, layout: Layout) -> dict[int, Any]:
        """Return the fields of a struct that the layout names, as far as they are there, by number."""
        data, fields, number = self._data, dict[int, Any](), 0
        while kind := (head := data[self.position]) & 15:
            self.position += 1
            number = number + (head >> 4) if head > 15 else self._integer(INT16)
            inner = layout.get((number, kind), _NOT_READ)
            if inner is _NOT_READ:
                if kind > FALSE:  # a boolean is its own type
                    self._skip(kind, 0)
                continue
            if number in fields:  # readers differ in which one counts
                raise ValueError(_DAMAGED)
            fields[number] = self._value(kind, inner)
        self.position += 1
        if number > _LAST_NUMBER:
            raise ValueError(_DAMAGED)
        return fields

    def _value(self, kind: int, layout: Any) -> Any:
        if kind == STRUCT:
            return self.struct(layout)
        if kind != LIST:
            return self._integer(kind)
        kind, n_elements = self._list_head()
        if kind != STRUCT:
            raise ValueError(_DAMAGED)
        return [self.struct(layout) for _ in range(n_elements)]

    def _skip(self, kind: int, depth: int) -> None:
        if kind in (INT16, INT32, INT64):
            self._varint()
        elif kind == BYTES:
            self._advance(self._varint())
        elif kind in (BYTE, DOUBLE):
            self._advance(1 if kind == BYTE else 8)
        elif depth == _MAX_NESTING:
            raise ValueError(_DAMAGED)
        elif kind in (LIST, SET):
            inner, n_elements = self._list_head()
            if inner in (TRUE, FALSE, BYTE):  # in a list, a boolean takes a byte
                self._advance(n_elements)
            else:
                for _ in range(n_elements):
                    self._skip(inner, depth + 1)
        elif kind == STRUCT:
            while inner := (head := self._data[self.position]) & 15:
                self.position += 1
                if head <= 15:
                    self._varint()
                if inner > FALSE:
                    self._skip(inner, depth + 1)
            self.position += 1
        else:
            raise ValueError(_DAMAGED)

    def _list_head(self) -> tuple[int, int]:
        """Return the type and the number of the elements of a list."""
        head = self._data[self.position]
        self.position += 1
        return head & 15, head >> 4 if head < 0xF0 else self._varint()

    def _integer(self, kind: int) -> int:
        value = self._varint()
        if value > _LARGEST[kind]:  # readers differ in which bits they drop
            raise ValueError(_DAMAGED)
        return (value >> 1) ^ -(value & 1)

    def _varint(self) -> int:
        data, position = self._data, self.position
        value = data[position]
        if value > 127:
            value, shift, byte = value & 127, 0, value
            while byte > 127:
                position, shift = position + 1, shift + 7
                if shift > _MAX_SHIFT:
                    raise ValueError(_DAMAGED)
                byte = data[position]
                value |= (byte & 127) << shift
        self.position = position + 1
        return value

    def _advance(self, n_bytes: int) -> None:
        self.position += n_bytes
        if self.position > len(self._data):
            raise IndexError
