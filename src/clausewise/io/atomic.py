"""Atomic writes: a file is written completely or not at all."""

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
except ImportError:  # pragma: no cover - Windows does not have these locks
    fcntl = None  # type: ignore[assignment]

_RANDOM_SUFFIX = re.compile(r"[0-9a-f]{16}\.tmp")


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to the file `path`; on any failure, the old file stays as it was."""
    with atomic_file(path) as file:
        file.write(data)


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` when the block ends without an error.

    The data is written to a new file in the same folder, flushed to disk, and then renamed to `path` in one
    step. Links are followed, and the permissions of an existing file are kept. The temporary file of a
    process that is killed while writing is removed when the same file is next written. Pipes and devices are
    written to directly.
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
            if fcntl is not None:  # still open, so still locked: no other process removes it as a leftover
                os.replace(temporary, target)
        if fcntl is None:  # pragma: no cover - Windows can only rename closed files
            os.replace(temporary, target)
    except BaseException as error:  # an interrupt must not leave the temporary file behind either
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and _concerns(error, target):
            error.filename = os.fspath(path)  # rather than the temporary file, which callers do not know
            del error.filename2
        raise
    _sync_folder(target.parent)


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Whether the path is a pipe, a device or similar, which is written to and never replaced."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _concerns(error: OSError, target: Path) -> bool:
    """Whether an error is about this write, rather than about another file used inside the block."""
    return error.filename is None or os.path.basename(str(error.filename)).startswith(_prefix(target))


def _permissions(target: Path) -> int | None:
    """Return the permissions of the existing file, or None if there is no file."""
    try:
        return target.stat().st_mode & 0o7777
    except FileNotFoundError:
        return None


def _sync_folder(folder: Path) -> None:
    """Flush the folder, so that the new name survives a crash, if the system supports it."""
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
    if fcntl is None:  # pragma: no cover - Windows cannot distinguish them from files in use
        return
    for leftover in _temporaries(target):
        with contextlib.suppress(OSError):  # it is gone, or belongs to another user
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
            if entry.name.startswith(prefix) and _RANDOM_SUFFIX.fullmatch(entry.name, len(prefix)):
                yield entry.path


def _prefix(target: Path) -> str:
    """Return the prefix of temporary names, cut off because the length of file names is limited."""
    return f".{target.name[:40]}."


def _lock(handle: int, wait: bool) -> bool:
    """Lock a file while it is open; return False if it is locked already or locks are not supported."""
    if fcntl is None:  # pragma: no cover - Windows
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
