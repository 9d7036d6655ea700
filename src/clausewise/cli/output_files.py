"""Output of commands: to standard output, or to a file that is replaced only by a complete one."""

import contextlib
import itertools
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer

from clausewise.cli.table_files import STDIN, files_of
from clausewise.io.atomic import write_atomically

# The parameters of commands that are files.
INPUTS: Final = ("rules", "model", "data", "test", "labels", "before", "after")
OUTPUTS: Final[Mapping[str, str]] = {"output": "-o", "report": "--report", "attach": "--attach"}
_REPLACES_RULES: Final = {("compact", "output"), ("simplify", "output"), ("validate", "attach")}


def is_stdout(output: str | None) -> bool:
    """Return whether an output goes to standard output."""
    return output is None or output == STDIN


def is_special(path: str) -> bool:
    """Return whether a path is a pipe, a device or similar, which is written to and never replaced."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def require_inputs_kept(command: str, options: Mapping[str, Any]) -> None:
    """Raise an error if an output is an input or another output; rules may replace those they come from."""
    given = {name: options[name] for name in OUTPUTS if options.get(name) is not None}
    outputs = {name: path for name, path in given.items() if not (is_stdout(path) or is_special(path))}
    for (one, path), (other, other_path) in itertools.combinations(outputs.items(), 2):
        if os.path.realpath(path) == os.path.realpath(other_path) or _are_same(path, other_path):
            raise typer.BadParameter(f"{OUTPUTS[one]} and {OUTPUTS[other]} are the same file; pass two.")
    for name, path in outputs.items():
        replaced = {"rules"} if (command, name) in _REPLACES_RULES else set()
        inputs = [options[other] for other in INPUTS if options.get(other) and other not in replaced]
        if os.path.exists(path) and any(_are_same(read, path) for read in _files_read(inputs)):
            raise typer.BadParameter(
                f"{OUTPUTS[name]} {path} would overwrite a file that the command reads; pass another name."
            )


def _files_read(inputs: Sequence[str]) -> Iterator[str]:
    for path in inputs:
        files = files_of(path)
        if files is None:
            yield "/dev/stdin" if path == STDIN else path
        else:
            yield from map(str, files)


def _are_same(path: str, other: str) -> bool:
    with contextlib.suppress(OSError, ValueError):  # one of them does not exist
        return os.path.samefile(path, other)
    return False


def write_bytes(data: bytes, output: str | None) -> None:
    """Write to a file or to standard output."""
    if output is None or is_stdout(output):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_atomically(output, data)


def require_no_terminal(output: str | None, what: str) -> None:
    """Raise an error if binary output would go to a terminal."""
    if is_stdout(output) and sys.stdout.isatty():
        raise typer.BadParameter(f"{what} is binary; pass -o FILE, or redirect standard output to a file.")


def require_writable(path: str | None) -> None:
    """Raise an error if a file cannot be written, before the long work whose result it will hold."""
    if path is None or is_stdout(path):
        return
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise ValueError(f"{path} cannot be written: there is no folder {folder}.")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{path} cannot be written: the folder {folder} is not writable.")
