"""Output of commands: to standard output, or to a file that is replaced only by a complete one."""

import os
import sys
from pathlib import Path

from clausewise.cli.table_files import STDIN
from clausewise.io.atomic import write_atomically


def is_stdout(output: str | None) -> bool:
    """Return whether an output goes to standard output."""
    return output is None or output == STDIN


def write_bytes(data: bytes, output: str | None) -> None:
    """Write to a file or to standard output."""
    if output is None or is_stdout(output):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_atomically(output, data)


def require_writable(path: str | None) -> None:
    """Raise an error if a file cannot be written, before the long work whose result it will hold."""
    if path is None or is_stdout(path):
        return
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise ValueError(f"{path} cannot be written: there is no folder {folder}.")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{path} cannot be written: the folder {folder} is not writable.")
