"""Metadata of Parquet files, read without pyarrow, which ends the process if they are damaged."""

import pyarrow as pa
import pyarrow.parquet
import pytest

from clausewise.cli.parquet_pages import column_chunks
from clausewise.cli.thrift import INT32, LIST, STRUCT, ThriftReader

TABLE = pa.table(
    {
        "number": [0.5, None, 2.0, -1.0] * 50,
        "word": ["red", "blue", None, "red"] * 50,
        "list": [[1, 2], [], None, [3]] * 50,
        "struct": [{"a": 1, "b": "x"}, None, {"a": 3, "b": None}, {"a": 4, "b": "y"}] * 50,
    }
)
LAYOUT = {(1, INT32): None, (2, LIST): {(1, INT32): None}, (3, STRUCT): {}}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"row_group_size": 70, "use_dictionary": ["word"], "write_page_index": True},
        {"compression": "zstd", "data_page_version": "2.0", "write_statistics": False, "store_schema": False},
    ],
)
def test_columns_are_found_where_pyarrow_finds_them(tmp_path, options):
    pa.parquet.write_table(TABLE, tmp_path / "rows.parquet", **options)
    with pa.OSFile(str(tmp_path / "rows.parquet")) as file:
        metadata = pa.parquet.read_metadata(file)
        found = column_chunks(file, metadata)
    assert len(found) == metadata.num_row_groups
    for number, chunks in enumerate(found):
        group = metadata.row_group(number)
        known = [group.column(i) for i in range(group.num_columns)]
        assert [chunk.position for chunk in chunks] == [
            one.dictionary_page_offset if one.has_dictionary_page else one.data_page_offset for one in known
        ]
        assert [chunk.n_bytes for chunk in chunks] == [one.total_compressed_size for one in known]
        assert [chunk.n_values for chunk in chunks] == [one.num_values for one in known]


def test_fields_of_a_struct_are_read_and_others_skipped():
    data = bytes.fromhex("15 d804  19 2c 1503 00 00  1c 38 02ffff 00  11 18 01aa 17 0000000000000000 00  77")
    reader = ThriftReader(data)
    assert reader.struct(LAYOUT) == {1: 300, 2: [{1: -2}, {}], 3: {}}
    assert data[reader.position :] == b"\x77"


@pytest.mark.parametrize(
    "data",
    [
        "15 02 05 02 04 00",  # the same field twice
        "15 feffffff7f 00",  # more than 32 bits
        "15 ffffffffffffffffffff01 00",  # more than 64 bits
        "05 82800800 02 00",  # field 1 + 2**16, which other readers take for field 1
        "1d 00",  # an unknown type
        "29 13 020202 00",  # a list of integers where structs are expected
        "49" + "19" * 40,  # lists in lists
        "4c" + "1c" * 40,
    ],
)
def test_what_readers_may_understand_differently_is_refused(data):
    with pytest.raises(ValueError, match="metadata are damaged"):
        ThriftReader(bytes.fromhex(data)).struct(LAYOUT)


@pytest.mark.parametrize("data", ["", "15", "15 80", "48 02 ff", "47 0000", "29", "29 1c", "4c 15 02"])
def test_data_that_end_too_early_are_noticed(data):
    with pytest.raises(IndexError):
        ThriftReader(bytes.fromhex(data)).struct(LAYOUT)
