"""Pages of Parquet files: what batches of rows will take when decoded, from the headers of the pages.

The metadata of a file state sizes too, but may be wrong; readers allocate what the header of a page states.
See https://github.com/apache/parquet-format for the layout (Thrift's compact protocol).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from clausewise.cli.table_limits import Allowance, array_bytes, batch_limit, columns_bytes, require_at_most

_WIDTHS: Final = {"BOOLEAN": 8, "INT32": 8, "INT64": 8, "INT96": 12, "FLOAT": 8, "DOUBLE": 8}
_DICTIONARY_PAGE: Final = 2
_DICTIONARY_ENCODINGS: Final = (2, 8)
_DELTA_LENGTHS, _DELTA_TEXT = 6, 7
_ROWS_AT_ONCE: Final = 1_000_000
_SMALL_BYTES: Final = 16 * 2**20
_LONG_TEXT: Final = 1024
_MAX_HEADER: Final = 16 * 2**20
_MAX_NESTING: Final = 32


def parquet_batches(file: Any, batch_rows: int, allowance: Allowance) -> Iterator[pa.RecordBatch]:
    """Read record batches of limited memory; columns with long text that repeats are read as dictionaries."""
    parquet = pa.parquet.ParquetFile(file)
    allowance.require(columns_bytes(parquet.metadata.num_columns), "A row")
    probe = pa.parquet.ParquetFile(file, read_dictionary=_text_columns(parquet), buffer_size=2**16)
    for groups in _runs(parquet.metadata):
        plan = _plan(file, parquet, probe, groups, batch_rows, allowance)
        reader = (
            pa.parquet.ParquetFile(file, read_dictionary=plan.dictionaries) if plan.dictionaries else parquet
        )
        yield from reader.iter_batches(batch_size=plan.n_rows, row_groups=groups)


@dataclass(frozen=True)
class _Plan:
    n_rows: int
    dictionaries: list[str]


@dataclass
class _Need:
    """Memory for a column: once, and per row."""

    once: float = 0.0
    per_row: float = 0.0
    is_dictionary: bool = False


def _runs(metadata: Any) -> Iterator[list[int]]:
    """Yield numbers of row groups that are read in one go."""
    run, n_rows = list[int](), 0
    for group in range(metadata.num_row_groups):
        run.append(group)
        n_rows += metadata.row_group(group).num_rows
        if n_rows >= _ROWS_AT_ONCE:
            yield run
            run, n_rows = [], 0
    if run:
        yield run


def _text_columns(parquet: Any) -> list[str]:
    schema = parquet.metadata.schema
    columns = (schema.column(i) for i in range(len(schema)))
    return [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]


def _plan(
    file: Any, parquet: Any, probe: Any, groups: Sequence[int], batch_rows: int, allowance: Allowance
) -> _Plan:
    """Return how many rows may be read at a time, and the columns to read as dictionaries."""
    metadata = parquet.metadata
    once, per_row, dictionaries = 0.0, 0.0, set[str]()
    for number in range(metadata.num_columns):
        schema = metadata.schema.column(number)
        needs = []
        for group in groups:
            chunk = metadata.row_group(group).column(number)
            needs.append(_need(file, chunk, schema, probe, group, batch_rows, allowance))
        once += max(need.once for need in needs)
        per_row += max(need.per_row for need in needs)
        if any(need.is_dictionary for need in needs):
            dictionaries.add(schema.path)
    allowance.require(once, "A page or a nested column")
    require_at_most(batch_limit(), per_row, "A row")
    return _Plan(max(1, min(batch_rows, int(batch_limit() / max(per_row, 1)))), sorted(dictionaries))


def _need(
    file: Any, chunk: Any, schema: Any, probe: Any, group: int, batch_rows: int, allowance: Allowance
) -> _Need:
    pages = _pages(file, chunk)
    data = [page for page in pages if page.kind != _DICTIONARY_PAGE]
    dictionary = sum(page.n_bytes for page in pages if page.kind == _DICTIONARY_PAGE)
    largest = max((page.n_bytes for page in data), default=0)
    need = _Need(once=dictionary + 2.0 * largest)
    allowance.require(need.once, "A page")
    for page in data:
        if page.encoding in (_DELTA_LENGTHS, _DELTA_TEXT):
            # Readers decode all lengths of a page at once.
            need.once = max(need.once, dictionary + 2.0 * largest + 8.0 * page.n_values)
    is_nested = schema.max_repetition_level > 0
    n_values = sum(page.n_values for page in data)
    if schema.physical_type != "BYTE_ARRAY":
        width = max(_WIDTHS.get(schema.physical_type, 8), schema.length or 0)
        return _nested(need, n_values * width) if is_nested else _with_rows(need, width)
    allowance.require_dictionary(dictionary)
    # Pages of plain text take what they hold; of a text in a dictionary, every row has a copy.
    width = 8 + max((page.n_bytes / max(page.n_values, 1) for page in data), default=0.0)
    if any(page.encoding == _DELTA_TEXT for page in data):  # a text may repeat all before it
        width += sum(page.n_bytes for page in data)
    n_referring = sum(page.n_values for page in data if page.encoding in _DICTIONARY_ENCODINGS)
    n_at_once = n_referring if is_nested else min(n_referring, batch_rows)
    if n_at_once * dictionary > _SMALL_BYTES:
        longest = _longest_text(probe, group, schema.path)
        if longest > _LONG_TEXT and not is_nested:
            need.is_dictionary = True
        else:
            width += longest
    elif n_referring:
        width += dictionary
    return _nested(need, n_values * width) if is_nested else _with_rows(need, width)


def _with_rows(need: _Need, width: float) -> _Need:
    need.per_row += width
    return need


def _nested(need: _Need, n_bytes: float) -> _Need:
    """Count all values of a nested column at once, since one row may hold any number of them."""
    need.once += n_bytes
    return need


def _longest_text(probe: Any, group: int, path: str) -> int:
    """Return the length of the longest text in the dictionary of a column."""
    batch = next(probe.iter_batches(batch_size=1, row_groups=[group], columns=[path]), None)
    longest = 0
    stack = list(batch.columns) if batch is not None else []
    while stack:
        array = stack.pop()
        array.validate(full=True)
        if pa.types.is_dictionary(array.type):
            if len(array.dictionary):
                longest = max(
                    longest, pa.compute.max(pa.compute.binary_length(array.dictionary)).as_py() or 0
                )
        elif pa.types.is_struct(array.type):
            stack += [array.field(i) for i in range(array.type.num_fields)]
        elif pa.types.is_map(array.type):
            stack += [array.keys, array.items]
        elif hasattr(array, "values"):
            stack.append(array.values)
        else:
            longest = max(longest, array_bytes(array))
    return longest


# --- Headers of pages ---


@dataclass(frozen=True)
class _Page:
    kind: int
    n_bytes: int
    n_values: int
    encoding: int


def _pages(file: Any, chunk: Any) -> list[_Page]:
    """Return the pages of a column, as a reader meets them: until all values were seen."""
    position = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < (chunk.dictionary_page_offset or 0) < position:
        position = chunk.dictionary_page_offset
    end = min(file.size(), position + chunk.total_compressed_size + 100)
    pages, n_seen = list[_Page](), 0
    while n_seen < chunk.num_values and position < end:
        page, header_bytes, body_bytes = _page(file, position, end)
        pages.append(page)
        n_seen += page.n_values if page.kind != _DICTIONARY_PAGE else 0
        position += header_bytes + body_bytes
    return pages


def _page(file: Any, position: int, end: int) -> tuple[_Page, int, int]:
    n_bytes = 256
    while True:
        file.seek(position)
        data = file.read(min(n_bytes, end - position))
        reader = _Thrift(data)
        try:
            fields = reader.struct()
        except IndexError:
            if len(data) < n_bytes or n_bytes >= _MAX_HEADER:
                raise ValueError("the header of a page is damaged") from None
            n_bytes *= 16
            continue
        break
    details: dict[int, Any] = next(
        (fields[number] for number in (5, 7, 8) if isinstance(fields.get(number), dict)), {}
    )
    encoding = details.get(4 if 8 in fields else 2, 0)
    sizes = [fields.get(2), fields.get(3), details.get(1, 0)]
    if any(not isinstance(size, int) or size < 0 for size in [*sizes, encoding]):
        raise ValueError("the header of a page is damaged")
    n_decoded, n_stored, n_values = sizes
    return _Page(fields.get(1, 0), n_decoded, n_values, encoding), reader.position, n_stored


class _Thrift:
    """Reads a struct in Thrift's compact protocol: integers and structs by number, anything else is skipped.

    Data that end too early raise an IndexError.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Return the fields of a struct by number."""
        if depth > _MAX_NESTING:
            raise ValueError("the header of a page is damaged")
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) & 15:
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            fields[number] = self._value(head & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):  # true, false
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind == 7:
            return self._skip(8)
        if kind == 8:
            return self._skip(self._varint())
        if kind in (9, 10):
            return self._list(depth)
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError("the header of a page is damaged")

    def _list(self, depth: int) -> None:
        head = self._byte()
        n_elements = self._varint() if head >> 4 == 15 else head >> 4
        for _ in range(n_elements):
            if head & 15 in (1, 2):  # booleans in lists take a byte
                self._skip(1)
            else:
                self._value(head & 15, depth + 1)

    def _byte(self) -> int:
        value = self._data[self.position]
        self.position += 1
        return value

    def _varint(self) -> int:
        value = shift = 0
        while shift < 70:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise ValueError("the header of a page is damaged")

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _skip(self, n_bytes: int) -> None:
        self.position += n_bytes
        if self.position > len(self._data):
            raise IndexError
