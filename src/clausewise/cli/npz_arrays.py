"""Arrays of NPZ files, whose sizes are checked before they are read; nothing is unpickled."""

import math
import zipfile
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from clausewise.cli.table_limits import Allowance

_CELL_BYTES = 8
_SUFFIX = ".npy"
# The longest header that NumPy accepts without trust in the file.
_MAX_HEADER = 10_000


def load_arrays(file: Any, allowance: Allowance) -> dict[str, NDArray[Any]]:
    """Return the arrays of an NPZ file by name.

    An array may not be larger than its part of the archive, which may not be larger than allowed.
    """
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        allowance.require(sum(member.file_size for member in members), "The file")
        needed = sum(_array_bytes(archive, member) for member in members)
        allowance.require(needed, "The file")
        return {member.filename.removesuffix(_SUFFIX): _read(archive, member) for member in members}


def _array_bytes(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    with archive.open(member) as file:
        shape, dtype = _header(file)
        n_values = math.prod(shape)
        if dtype.hasobject:
            raise ValueError(f"{member.filename} contains Python objects, which are not loaded")
        if n_values * dtype.itemsize > member.file_size:
            raise ValueError(f"{member.filename} is shorter than its header says")
        return n_values * max(dtype.itemsize, _CELL_BYTES)


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = npy.read_magic(file)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        # Version 3 differs in the encoding of the names of fields, which a column of a table lacks.
        raise ValueError(f"arrays of version {version} are not supported")
    shape, _, dtype = readers[version](file, max_header_size=_MAX_HEADER)
    return shape, dtype


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as file:
        array: NDArray[Any] = npy.read_array(file, allow_pickle=False, max_header_size=_MAX_HEADER)
        return array
