"""Small files that describe large tables.

Each function takes a `random.Random` and returns a file of at most a few megabytes; decoded, it would take
gigabytes.
"""

import gzip
import io
import random
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import ipc, parquet

from tests.fuzz import large_rules

_TEXT = 'a "name"'
_NAMES = ("age", _TEXT, "smokes", "zip", "</script>")  # the columns of the rules for tables


def _named(column, rng, name=None):
    """Return a table with the columns that rules look for, one or all of them with the given values."""
    n_rows = len(column)
    others = {} if rng.random() < 0.2 else {name: _zeros(n_rows) for name in _NAMES}
    if others:
        # Offsets of text would not compress, and the file would be large.
        is_small = n_rows <= 10**5
        others[_TEXT] = pa.array(["cook"] * n_rows) if is_small else pa.nulls(n_rows, pa.string())
    names = [name] if name else _NAMES[: rng.choice((1, 5))]
    return pa.table(others | dict.fromkeys(names, column))


def _zeros(n_values):
    return pa.array(np.zeros(n_values))


def _long_text(rng, most=10**8):
    return rng.choice(("x", "é", "ab,")) * rng.choice((10**5, 10**6, most // 4, most // 2))


# --- Parquet ---


def _as_parquet(table, rng, **options):
    sink = pa.BufferOutputStream()
    options = {"compression": rng.choice(("zstd", "gzip", "brotli")), "write_statistics": False} | options
    parquet.write_table(table, sink, **options)
    return sink.getvalue().to_pybytes()


def _long_dictionary(rng):
    return pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(rng.choice((1, 1000, 10**5)), dtype=np.int32)), pa.array([_long_text(rng)])
    )


def parquet_long_text_in_a_dictionary(rng):
    """Return a file with one long text that every row refers to."""
    # Without the schema, readers expect plain text.
    return _as_parquet(_named(_long_dictionary(rng), rng, _TEXT), rng, store_schema=rng.random() < 0.5)


def parquet_long_text_in_lists(rng):
    """Return a file with lists of references to one long text."""
    values = _long_dictionary(rng)
    offsets = pa.array(np.linspace(0, len(values), 4).astype(np.int32))
    lists = pa.ListArray.from_arrays(offsets, values)
    return _as_parquet(_named(lists, rng, _TEXT), rng, store_schema=rng.random() < 0.5)


def parquet_zeros(rng):
    """Return a file of many zeros."""
    table = _named(_zeros(rng.choice((10**6, 10**7))), rng)
    return _as_parquet(
        table, rng, use_dictionary=rng.random() < 0.5, data_page_size=2 ** rng.choice((20, 28))
    )


def parquet_wide(rng):
    """Return a file with many columns of many rows."""
    n_columns = rng.choice((100, 2000))
    column = _zeros(10**6 // n_columns * 10)
    return _as_parquet(pa.table({f"x{i}": column for i in range(n_columns)}), rng)


def parquet_texts_that_grow(rng):
    """Return a file in which every text repeats the one before and adds to it."""
    texts = ["x" * length for length in range(0, rng.choice((2000, 8000)), 2)]
    encodings = {_TEXT: rng.choice(("DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"))}
    table = _named(pa.array(texts * rng.choice((1, 3))), rng, _TEXT)
    return _as_parquet(table, rng, use_dictionary=False, column_encoding=encodings)


def parquet_large_list(rng):
    """Return a file with millions of values in one row."""
    values = _zeros(rng.choice((10**6, 3 * 10**7))).cast(pa.int8())
    lists = pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)
    return _as_parquet(_named(lists, rng, _TEXT), rng)


# --- Arrow ---


def _as_arrow(table, rng, codec="zstd", open_writer=None):
    sink = pa.BufferOutputStream()
    open_writer = open_writer or rng.choice((ipc.new_file, ipc.new_stream))
    with open_writer(sink, table.schema, options=ipc.IpcWriteOptions(compression=codec)) as writer:
        for _ in range(rng.choice((1, 1, 5))):
            writer.write_table(table)
    return sink.getvalue().to_pybytes()


def arrow_zeros(rng):
    """Return a file of compressed zeros."""
    return _as_arrow(_named(_zeros(rng.choice((10**6, 3 * 10**7))), rng), rng, rng.choice(("zstd", "lz4")))


def arrow_long_dictionary(rng):
    """Return a file with one long text that every row refers to."""
    return _as_arrow(_named(_long_dictionary(rng), rng), rng)


def arrow_dictionary_of_dictionaries(rng):
    """Return a file with references to lists of references to a long text."""
    inner = _long_dictionary(rng)
    lists = pa.ListArray.from_arrays(pa.array([0, len(inner)], pa.int32()), inner)
    outer = pa.DictionaryArray.from_arrays(pa.array(np.zeros(1000, dtype=np.int8)), lists)
    return _as_arrow(_named(outer, rng, _TEXT), rng)


def arrow_views(rng):
    """Return a file with many views of one long text."""
    n_views = rng.choice((10, 1000))
    text = _long_text(rng).encode()
    views = struct.pack("<i4sii", len(text), text[:4], 0, 0) * n_views
    column = pa.Array.from_buffers(
        pa.string_view(), n_views, [None, pa.py_buffer(views), pa.py_buffer(text)], null_count=0
    )
    return _as_arrow(_named(column, rng, _TEXT), rng)


def arrow_runs(rng):
    """Return a file with one long run of a text."""
    n_rows = rng.choice((10**4, 2 * 10**9))
    runs = pa.RunEndEncodedArray.from_arrays(
        pa.array([n_rows], pa.int32()), pa.array(["x" * rng.choice((1, 10**6))])
    )
    if n_rows > 10**4:
        return _as_arrow(pa.table({_TEXT: runs}), rng)
    return _as_arrow(_named(runs, rng, _TEXT), rng)


def arrow_rows_without_data(rng):
    """Return a file with many rows that take no space."""
    n_rows = rng.choice((10**6, 10**9, 2**40, 2**62))
    data = _as_arrow(pa.table(dict.fromkeys(_NAMES, pa.nulls(12345))), rng)
    return data.replace(struct.pack("<q", 12345), struct.pack("<q", n_rows))


def arrow_stream_of_zeros(rng):
    """Return a stream of compressed zeros."""
    return _as_arrow(_named(_zeros(3 * 10**7), rng), rng, open_writer=ipc.new_stream)


def arrow_stream_of_false_lengths(rng):
    """Return a stream with a message that declares more bytes than follow."""
    data = _as_arrow(pa.table({_NAMES[0]: _zeros(1000)}), rng, None, ipc.new_stream)
    if rng.random() < 0.5:  # of the body
        return data.replace(struct.pack("<q", 8000), struct.pack("<q", rng.choice((2**28, 2**34, 2**62))))
    mark = b"\xff" * 4
    begin, _, rest = data.rpartition(mark) if rng.random() < 0.2 else data.partition(mark)
    return begin + mark + struct.pack("<i", rng.choice((2**28, 2**31 - 1))) + rest[4:]


# --- NPZ ---


def _as_npz(members):
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, data in members.items():
                archive.writestr(f"{name}.npy", data)
        return file.getvalue()


def _npy(shape, dtype, data):
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def npz_zeros(rng):
    """Return a file of compressed zeros; its peer in the wild has thousands of them per byte."""
    n_bytes = rng.choice((10**7, 3 * 10**8))
    return _as_npz(
        {
            "X": _npy((n_bytes // 8, 1), "<f8", bytes(n_bytes)),
            "feature_names": _npy((1,), "<U1", "x".encode("utf-32-le")),
        }
    )


def npz_false_shape(rng):
    """Return a file whose header declares more values than it has."""
    shape = rng.choice(((2**33, 1), (1, 2**33), (2**62, 4), (10**6, 10**6)))
    return _as_npz({"X": _npy(shape, rng.choice(("<f8", "|b1", "<U0", "|V0", "<U100")), bytes(1000))})


def npz_wide(rng):
    """Return a file with millions of columns."""
    n_columns = rng.choice((10**5, 10**7))
    return _as_npz({"X": _npy((1, n_columns), "|b1", bytes(n_columns))})


def npz_many_arrays(rng):
    """Return a file with many arrays of zeros."""
    array = _npy((10**6, 1), "<f8", bytes(8 * 10**6))
    return _as_npz({"X": array} | {f"y{i}": array for i in range(rng.choice((5, 100)))})


# --- Compressed CSV ---


def csv_zeros(rng):
    """Return a compressed file of many short rows."""
    header = ",".join(_NAMES[i].replace('"', '""').join('""') for i in range(5))
    row = rng.choice(("0,cook,1,8000,0", ",,,,", "1,cook,0,9000.5,1e5"))
    return gzip.compress((header + "\n" + (row + "\n") * rng.choice((10**5, 5 * 10**6))).encode(), 1)


def csv_long_cell(rng):
    """Return a compressed file with one long cell, in the header or below."""
    cell = b'"' + b"x" * rng.choice((2 * 10**5, 10**8)) + b'"'
    return gzip.compress(rng.choice((b"zip\n" + cell, cell + b"\n1")), 1)


def csv_wide(rng):
    """Return a compressed file with many columns."""
    n_columns = rng.choice((10**4, 3 * 10**5))
    names = ",".join(f"x{i}" for i in range(n_columns))
    return gzip.compress(f"{names}\n{',' * (n_columns - 1)}\n".encode(), 1)


LARGE = {
    "parquet": [
        parquet_long_text_in_a_dictionary,
        parquet_long_text_in_lists,
        parquet_zeros,
        parquet_wide,
        parquet_texts_that_grow,
        parquet_large_list,
    ],
    "arrow": [
        arrow_zeros,
        arrow_long_dictionary,
        arrow_dictionary_of_dictionaries,
        arrow_views,
        arrow_runs,
        arrow_rows_without_data,
    ],
    "arrow-stream": [arrow_stream_of_zeros, arrow_stream_of_false_lengths],
    "npz": [npz_zeros, npz_false_shape, npz_wide, npz_many_arrays],
    "csv-gz": [csv_zeros, csv_long_cell, csv_wide],
    **large_rules.LARGE,
}
"""Generators by target, also those of large rule sets."""


def write_files(target, n_files, seed, folder):
    """Write files of a target's generators, in turn, to a folder."""
    rng = random.Random(seed)
    Path(folder).mkdir()
    for number in range(n_files):
        generator = LARGE[target][number % len(LARGE[target])]
        (Path(folder) / f"{number:06d}").write_bytes(generator(rng))


if __name__ == "__main__":
    write_files(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
