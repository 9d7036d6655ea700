"""Pages of Parquet files: what batches of rows will take when decoded, from the headers of the pages.

The metadata of a file state sizes too, but may be wrong; readers allocate what the header of a page states.
Metadata of columns are read here too, since pyarrow ends the process if they are damaged.
See https://github.com/apache/parquet-format for the layout (Thrift's compact protocol).
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from clausewise.cli.table_limits import Allowance, array_bytes, batch_limit, columns_bytes, require_at_most
from clausewise.cli.thrift import INT32, INT64, LIST, STRUCT, Layout, ThriftReader

_WIDTHS: Final = {"BOOLEAN": 8, "INT32": 8, "INT64": 8, "INT96": 12, "FLOAT": 8, "DOUBLE": 8}
_DICTIONARY_PAGE, _DATA_PAGE_2 = 2, 3
_COUNTS_OF_KIND: Final = {0: 5, _DICTIONARY_PAGE: 7, _DATA_PAGE_2: 8}  # numbers of fields
_DICTIONARY_ENCODINGS: Final = (2, 8)
_DELTA_LENGTHS, _DELTA_TEXT = 6, 7
_ROWS_AT_ONCE: Final = 1_000_000
_SMALL_BYTES: Final = 16 * 2**20
_LONG_TEXT: Final = 1024
_MAX_HEADER: Final = 16 * 2**20
_TRAILER: Final = struct.Struct("<i4s")  # length of the metadata, magic
_MAGIC: Final = b"PAR1"
_COLUMN: Final[Layout] = dict.fromkeys((number, INT64) for number in (5, 7, 9, 11))
_FOOTER: Final[Layout] = {(4, LIST): {(1, LIST): {(3, STRUCT): _COLUMN}}}
_COUNTS: Final[Layout] = dict.fromkeys((number, INT32) for number in (1, 2, 4))
_PAGE_HEADER: Final[Layout] = {
    **dict.fromkeys((number, INT32) for number in (1, 2, 3)),
    **{(number, STRUCT): _COUNTS for number in (5, 7, 8)},
}


def parquet_batches(file: Any, batch_rows: int, allowance: Allowance) -> Iterator[pa.RecordBatch]:
    """Read record batches of limited memory; columns with long text that repeats are read as dictionaries."""
    parquet = pa.parquet.ParquetFile(file)
    allowance.require(columns_bytes(parquet.metadata.num_columns), "A row")
    probe = pa.parquet.ParquetFile(file, read_dictionary=_text_columns(parquet), buffer_size=2**16)
    chunks = column_chunks(file, parquet.metadata)
    for groups in _runs(parquet.metadata):
        plan = _plan(file, chunks, parquet, probe, groups, batch_rows, allowance)
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
    file: Any,
    chunks: Sequence[Sequence["_Chunk"]],
    parquet: Any,
    probe: Any,
    groups: Sequence[int],
    batch_rows: int,
    allowance: Allowance,
) -> _Plan:
    """Return how many rows may be read at a time, and the columns to read as dictionaries."""
    metadata = parquet.metadata
    once, per_row, dictionaries = 0.0, 0.0, set[str]()
    for number in range(metadata.num_columns):
        schema = metadata.schema.column(number)
        needs = [
            _need(file, chunks[group][number], schema, probe, group, batch_rows, allowance)
            for group in groups
        ]
        once += max(need.once for need in needs)
        per_row += max(need.per_row for need in needs)
        if any(need.is_dictionary for need in needs):
            dictionaries.add(schema.path)
    allowance.require(once, "A page or a nested column")
    require_at_most(batch_limit(), per_row, "A row")
    return _Plan(max(1, min(batch_rows, int(batch_limit() / max(per_row, 1)))), sorted(dictionaries))


def _need(
    file: Any, chunk: "_Chunk", schema: Any, probe: Any, group: int, batch_rows: int, allowance: Allowance
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


# --- Metadata of columns ---


@dataclass(frozen=True)
class _Chunk:
    """The values of a column in a group of rows: where they begin, their bytes in the file, their number."""

    position: int
    n_bytes: int
    n_values: int


def column_chunks(file: Any, metadata: Any) -> list[list[_Chunk]]:
    """Return the chunks of each group of rows, in the order of the columns."""
    end = file.size() - _TRAILER.size
    file.seek(end)
    length, magic = _TRAILER.unpack(file.read(_TRAILER.size))
    if magic != _MAGIC or not 0 < length <= end:
        raise ValueError("its footer is damaged")
    file.seek(end - length)
    try:
        footer = ThriftReader(file.read(length)).struct(_FOOTER)
    except IndexError:
        raise ValueError("its metadata are damaged") from None
    groups = [[_chunk(column.get(3, {})) for column in group.get(1, ())] for group in footer.get(4, ())]
    if [len(group) for group in groups] != [metadata.num_columns] * metadata.num_row_groups:
        raise ValueError("its metadata are damaged")
    return groups


def _chunk(fields: dict[int, int]) -> _Chunk:
    n_values, n_bytes, position = (fields.get(number, -1) for number in (5, 7, 9))
    if min(n_values, n_bytes, position) < 0:
        raise ValueError("its metadata are damaged")
    dictionary = fields.get(11, 0)
    return _Chunk(dictionary if 0 < dictionary < position else position, n_bytes, n_values)


# --- Headers of pages ---


@dataclass(frozen=True)
class _Page:
    kind: int
    n_bytes: int
    n_values: int
    encoding: int


def _pages(file: Any, chunk: _Chunk) -> list[_Page]:
    """Return the pages of a column, as a reader meets them: until all values were seen."""
    position = chunk.position
    end = min(file.size(), position + chunk.n_bytes + 100)
    pages, n_seen = list[_Page](), 0
    while n_seen < chunk.n_values and position < end:
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
        reader = ThriftReader(data)
        try:
            fields = reader.struct(_PAGE_HEADER)
        except IndexError:
            if len(data) < n_bytes or n_bytes >= _MAX_HEADER:
                raise ValueError("the header of a page is damaged") from None
            n_bytes *= 16
            continue
        break
    kind, n_decoded, n_stored = (fields.get(number, -1) for number in (1, 2, 3))
    counts = fields.get(_COUNTS_OF_KIND.get(kind, -1), {})
    n_values, encoding = (counts.get(number, 0) for number in (1, 4 if kind == _DATA_PAGE_2 else 2))
    if min(kind, n_decoded, n_stored, n_values, encoding) < 0:
        raise ValueError("the header of a page is damaged")
    return _Page(kind, n_decoded, n_values, encoding), reader.position, n_stored
