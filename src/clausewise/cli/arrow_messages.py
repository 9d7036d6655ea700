"""Messages of Arrow files and streams, whose sizes are checked before they are decompressed.

A file is read as a stream of the messages that its footer lists.
"""

import io
import struct
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.ipc

from clausewise.cli.table_limits import Allowance, batch_limit, require_at_most

MAGIC: Final = b"ARROW1"
_FIRST_MESSAGE: Final = 8
_TRAILER: Final = struct.Struct("<i6s")  # length of the footer, magic
_BLOCK: Final = struct.Struct("<qi4xq")  # offset, length of metadata, length of body
_BUFFER: Final = struct.Struct("<qq")  # offset, length
_DICTIONARY, _RECORDS = 2, 3  # types of messages
_MARK: Final = b"\xff" * 4


def open_messages(file: Any, is_stream: bool, allowance: Allowance) -> Any:
    """Return a reader of record batches from an Arrow file, or from Arrow's streaming format.

    A file can be searched and has a size; a stream, such as standard input, can only be read in order.
    """
    if is_stream:
        messages = _stream_messages(file, allowance)
    else:
        messages = _file_messages(file) if file.read(len(MAGIC)) == MAGIC else _saved_stream_messages(file)
    return pa.ipc.open_stream(io.BufferedReader(_Joined(_checked(messages, allowance)), 2**16))


def _stream_messages(file: Any, allowance: Allowance) -> Iterator[Any]:
    while data := bytearray(file.read(4)):
        _read_on(file, data, 4, allowance)
        if data == MAGIC[:4]:
            raise ValueError("an Arrow file is not read in order; pipe the streaming format, or pass a path")
        if data == _MARK:
            _read_on(file, data, 8, allowance)
        n_metadata = int.from_bytes(data[-4:], "little", signed=True)
        if n_metadata == 0:
            return
        begin = len(data)
        _read_on(file, data, begin + n_metadata, allowance)
        n_body = _Flat(bytes(data[begin:])).root().number(3, "<q")
        _read_on(file, data, len(data) + n_body, allowance)
        allowance.file_bytes += len(data)
        yield pa.ipc.read_message(pa.BufferReader(data))


def _read_on(file: Any, data: bytearray, size: int, allowance: Allowance) -> None:
    """Read from a stream until `data` has a declared size.

    Arrow would reserve this size at once. Here it is first compared with the allowance, and then takes memory
    only as bytes arrive.
    """
    if size < len(data):
        raise ValueError("a message is damaged")
    require_at_most(_message_limit(allowance), size, "A message")
    while len(data) < size:
        arrived = file.read(min(size - len(data), max(2**20, len(data))))
        if not arrived:
            raise ValueError("the stream ends within a message")
        data += arrived


def _saved_stream_messages(file: Any) -> Iterator[Any]:
    position, size = 0, file.size()
    while position + 4 <= size:
        message, position = _message_at(file, position)
        if message is None:
            return
        yield message


def _file_messages(file: Any) -> Iterator[Any]:
    """Yield the schema, and the dictionaries and record batches in the order of the footer."""
    for offset in [_FIRST_MESSAGE, *_block_offsets(file)]:
        message, _ = _message_at(file, offset)
        if message is None:
            raise ValueError("its footer is damaged")
        yield message


def _message_at(file: Any, position: int) -> tuple[Any, int]:
    """Return the message at a position, or None if there the stream ends, and the position after it.

    Arrow reserves the memory that a message declares, so this is first compared with the size of the file.
    """
    size = file.size()
    file.seek(position)
    prefix = file.read(8)
    is_marked = prefix[:4] == _MARK  # since version 0.15 of the format
    length = int.from_bytes(prefix[4:8] if is_marked else prefix[:4], "little", signed=True)
    begin = position + (8 if is_marked else 4)
    if length == 0:
        return None, begin
    if not 0 < length <= size - begin:
        raise ValueError("a message is longer than the file")
    file.seek(begin)
    body_bytes = _Flat(file.read(length)).root().number(3, "<q")
    end = begin + length + body_bytes
    if not begin + length <= end <= size:
        raise ValueError("a message is longer than the file")
    file.seek(position)
    return pa.ipc.read_message(file), end


def _block_offsets(file: Any) -> list[int]:
    end = file.size() - _TRAILER.size
    if end < _FIRST_MESSAGE:
        raise ValueError("the file is too short")
    file.seek(end)
    length, magic = _TRAILER.unpack(file.read(_TRAILER.size))
    if magic != MAGIC or not 0 < length <= end - _FIRST_MESSAGE:
        raise ValueError("its footer is damaged")
    file.seek(end - length)
    footer = _Flat(file.read(length)).root()
    offsets = []
    for field in (2, 3):  # dictionaries, record batches
        for block in footer.structs(field, _BLOCK.size):
            offset = _BLOCK.unpack(block)[0]
            if not 0 <= offset < end:
                raise ValueError("its footer is damaged")
            offsets.append(offset)
    return offsets


def _checked(messages: Iterator[Any], allowance: Allowance) -> Iterator[Any]:
    """Yield messages as bytes, after a check of what their compressed buffers declare."""
    dictionaries = 0
    for message in messages:
        kind, n_bytes = _decoded_size(message)
        limit = _message_limit(allowance)
        if kind == _DICTIONARY:
            dictionaries += n_bytes
            allowance.require_dictionary(n_bytes)
            require_at_most(limit, dictionaries, "The dictionaries of the columns")
        else:
            require_at_most(limit, n_bytes, "A batch of rows")
        yield message.serialize()


def _message_limit(allowance: Allowance) -> float:
    return max(allowance.n_bytes, batch_limit())


def _decoded_size(message: Any) -> tuple[int, int]:
    """Return the type of a message, and the size of its buffers after decompression."""
    root = _Flat(message.metadata.to_pybytes()).root()
    kind = root.number(1, "<B")
    if kind not in (_DICTIONARY, _RECORDS):
        return kind, 0
    header = root.table(2)
    records = header.table(1) if kind == _DICTIONARY and header is not None else header
    if records is None:
        raise ValueError("a message is damaged")
    body = memoryview(message.body).cast("B") if message.body is not None else memoryview(b"")
    is_compressed, total = records.table(3) is not None, 0
    for buffer in records.structs(2, _BUFFER.size):
        offset, length = _BUFFER.unpack(buffer)
        if not 0 <= offset <= offset + length <= len(body):
            raise ValueError("a buffer of a message lies outside of it")
        declared = int.from_bytes(body[offset : offset + 8], "little", signed=True) if length >= 8 else -1
        total += declared if is_compressed and declared >= 0 else length
    return kind, total


class _Joined(io.RawIOBase):
    """Buffers as one stream of bytes."""

    def __init__(self, buffers: Iterator[Any]) -> None:
        self._buffers, self._rest = buffers, memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, target: Any) -> int:
        """Read bytes into a buffer and return their number."""
        while not self._rest:
            following = next(self._buffers, None)
            if following is None:
                return 0
            self._rest = memoryview(following).cast("B")
        n_read = min(len(target), len(self._rest))
        target[:n_read] = self._rest[:n_read]
        self._rest = self._rest[n_read:]
        return n_read


# --- Flatbuffers, the encoding of Arrow's metadata ---


class _Flat:
    """A flatbuffer; positions outside of it raise a ValueError."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def unpack(self, layout: str, position: int) -> int:
        """Return one number."""
        try:
            if position < 0:
                raise ValueError("its metadata are damaged")
            (value,) = struct.unpack_from(layout, self.data, position)
        except struct.error as error:
            raise ValueError("its metadata are damaged") from error
        return int(value)

    def root(self) -> "_FlatTable":
        """Return the outermost table."""
        return _FlatTable(self, self.unpack("<I", 0))


class _FlatTable:
    """A table in a flatbuffer: fields by number, each at a place that its list of fields states."""

    def __init__(self, flat: _Flat, position: int) -> None:
        self._flat, self._position = flat, position
        self._fields = position - flat.unpack("<i", position)
        self._n_fields = (flat.unpack("<H", self._fields) - 4) // 2

    def _place(self, field: int) -> int | None:
        if field >= self._n_fields:
            return None
        offset = self._flat.unpack("<H", self._fields + 4 + 2 * field)
        return self._position + offset if offset else None

    def number(self, field: int, layout: str) -> int:
        """Return a number; 0 if absent."""
        place = self._place(field)
        return 0 if place is None else self._flat.unpack(layout, place)

    def table(self, field: int) -> "_FlatTable | None":
        """Return a table inside this one."""
        place = self._place(field)
        return None if place is None else _FlatTable(self._flat, place + self._flat.unpack("<I", place))

    def structs(self, field: int, size: int) -> Iterator[bytes]:
        """Yield the elements of a list of structs."""
        place = self._place(field)
        if place is None:
            return
        start = place + self._flat.unpack("<I", place)
        n_elements = self._flat.unpack("<I", start)
        if start + 4 + n_elements * size > len(self._flat.data):
            raise ValueError("its metadata are damaged")
        for i in range(n_elements):
            begin = start + 4 + i * size
            yield self._flat.data[begin : begin + size]
