"""Files that are either written completely or not at all."""

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no such locks
    fcntl = None  # type: ignore[assignment]

_ENDING = re.compile(r"[0-9a-f]{16}\.tmp")


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Put `data` into the file `path`; if anything fails on the way, the old file stays as it was."""
    with atomic_file(path) as file:
        file.write(data)


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to that becomes `path` when the block ends without an error.

    The data goes to a new file in the same folder, reaches the disk, and then takes the old file's place in
    one step. A link is followed, and the permissions of an existing file are kept. A process that is killed
    on the way cannot clear up; what it leaves behind is removed when the same file is next written. Pipes and
    devices are written to as they are.
    """
    if _is_special(path):
        with Path(path).open("wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    _remove_leftovers(target)
    # Named before it is created: an interrupt can come as soon as it exists.
    temporary = _temporary_name(target)
    try:
        permissions = _permissions(target)
        with os.fdopen(_create_locked(temporary, permissions), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if permissions is not None:
                os.chmod(temporary, permissions)
            if fcntl is not None:  # still open and so still locked: nobody takes it for a leftover
                os.replace(temporary, target)
        if fcntl is None:  # pragma: no cover - Windows renames closed files only
            os.replace(temporary, target)
    except BaseException as error:  # an interrupt must not leave the temporary file behind either
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and _concerns(error, target):
            error.filename = os.fspath(path)  # the temporary file is one that nobody knows
            del error.filename2
        raise
    _sync_folder(target.parent)


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Whether it is a pipe, a device or the like, which is written to and never replaced."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _concerns(error: OSError, target: Path) -> bool:
    """Whether an error is about writing, and not about another file that was read meanwhile."""
    return error.filename is None or os.path.basename(str(error.filename)).startswith(_prefix(target))


def _permissions(target: Path) -> int | None:
    """Those of the existing file; None if there is none, and the system's usual ones are right."""
    try:
        return target.stat().st_mode & 0o7777
    except FileNotFoundError:
        return None


def _sync_folder(folder: Path) -> None:
    """Make the new name itself durable, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# --- Temporary files ---


def _temporary_name(target: Path) -> str:
    return os.path.join(target.parent, f"{_prefix(target)}{secrets.token_hex(8)}.tmp")


def _create_locked(temporary: str, permissions: int | None) -> int:
    """Create a file and return its handle; it is locked while it is open, which shows that its writer lives.

    Only this user may read it until it gets the permissions of the existing file; a new file gets the usual
    permissions at once.
    """
    mode = 0o666 if permissions is None else 0o600
    while True:
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        _lock(handle, wait=True)
        if fcntl is None or os.fstat(handle).st_nlink > 0:
            return handle
        os.close(handle)  # pragma: no cover - another writer took it for a leftover before it was locked


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files of this target whose writers were killed."""
    if fcntl is None:  # pragma: no cover - Windows cannot tell them from those being written
        return
    for leftover in _temporaries(target):
        with contextlib.suppress(OSError):  # it is gone, or another user's
            handle = os.open(leftover, os.O_RDWR | os.O_NOFOLLOW)
            try:
                if _lock(handle, wait=False):
                    os.unlink(leftover)
            finally:
                os.close(handle)


def _temporaries(target: Path) -> Iterator[str]:
    prefix = _prefix(target)
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and _ENDING.fullmatch(entry.name, len(prefix)):
                yield entry.path


def _prefix(target: Path) -> str:
    """How the names of temporary files begin; cut off, since a long name could not become any longer."""
    return f".{target.name[:40]}."


def _lock(handle: int, wait: bool) -> bool:
    """Lock a file as long as it is open; False if another has it, or the file system knows no locks."""
    if fcntl is None:  # pragma: no cover - Windows
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
