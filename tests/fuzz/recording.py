"""Runs inputs one by one and keeps the score in a file that survives the process."""

import hashlib
import mmap
import os
import struct
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

# Inputs, accepted, refused, peak memory; start of the running input (0 if none), slowest; its length.
_HEAD = struct.Struct("<QQQQddQ")
MAX_INPUT = 1 << 22
MAX_MESSAGE = 20_000
"""A message that repeats megabytes of its input is not clear."""


class Forbidden(BaseException):
    """Reading an input had a side effect. A BaseException, so that `except Exception` does not catch it."""


@dataclass
class Score:
    """Counts over the inputs so far, and the input that is running."""

    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    peak: int = 0
    started: float = 0.0
    slowest: float = 0.0
    running: bytes = b""


class ScoreFile:
    """The score in a memory-mapped file, which survives if the process is killed."""

    def __init__(self, path, create=False):
        if create:
            Path(path).write_bytes(bytes(_HEAD.size + MAX_INPUT))
        self._file = Path(path).open("r+b")  # noqa: SIM115 - closed by `close`
        self._map = mmap.mmap(self._file.fileno(), 0)

    def write(self, score):
        end = _HEAD.size + len(score.running)
        self._map[_HEAD.size : end] = score.running
        self.write_numbers(score)

    def write_numbers(self, score):
        counts = (score.inputs, score.accepted, score.refused, score.peak)
        self._map[: _HEAD.size] = _HEAD.pack(*counts, score.started, score.slowest, len(score.running))

    def read(self):
        *numbers, length = _HEAD.unpack(self._map[: _HEAD.size])
        return Score(*numbers, running=bytes(self._map[_HEAD.size : _HEAD.size + length]))

    def close(self):
        self._map.close()
        self._file.close()


class Recorder:
    """Runs a target on inputs, and saves failures, one per line of source code."""

    def __init__(self, target, score_path, findings, slow_after=2.0):
        self._target = target
        self._file = ScoreFile(score_path)
        self._findings = Path(findings)
        self._slow_after = slow_after
        self._seen = set()
        self.score = Score()

    def __call__(self, data):
        """Run one input; return whether it was accepted."""
        score = self.score
        data = bytes(data[:MAX_INPUT])
        score.inputs += 1
        score.running, score.started = data, time.monotonic()
        self._file.write(score)
        accepted = None
        begin = time.perf_counter()
        try:
            with watched():
                accepted = run(self._target, data)
        except BaseException as error:
            self._found(data, error)
        score.slowest = max(score.slowest, time.perf_counter() - begin)
        score.accepted += accepted is True
        score.refused += accepted is False
        score.started = 0.0
        score.peak = peak_memory()
        self._file.write_numbers(score)
        return bool(accepted)

    def _found(self, data, error):
        place = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"{type(error).__name__}-{Path(place.filename).stem}-{place.lineno}"
        if kind in self._seen:
            return
        self._seen.add(kind)
        save_finding(
            self._findings, self._target.name, kind, data, "".join(traceback.format_exception(error))
        )


def peak_memory():
    """Return the peak memory of this process in bytes, or 0 if the system does not report it."""
    # Not getrusage, which also counts the memory of the parent process at the start.
    try:
        status = Path("/proc/self/status").read_bytes()
    except OSError:
        return 0
    begin = status.index(b"VmHWM:") + 6
    return int(status[begin : status.index(b"kB", begin)]) * 1024


def save_finding(folder, target, kind, data, reason):
    """Save an input and the reason why it failed."""
    name = f"{target}-{kind}-{hashlib.sha256(data).hexdigest()[:8]}"
    (Path(folder) / f"{name}.input").write_bytes(data)
    (Path(folder) / f"{name}.txt").write_text(reason[-20_000:], encoding="utf-8", errors="backslashreplace")


def run(target, data):
    """Return whether the target accepts an input; raise if it is neither accepted nor clearly refused."""
    try:
        value = target.read(data)
    except target.errors as error:
        if not isinstance(error, target.errors) or not str(error).strip():
            raise AssertionError(f"{type(error).__name__} without a message") from error
        if isinstance(error.__cause__, MemoryError):
            raise AssertionError("refused only because the limit on memory was reached") from error
        if len(str(error)) > MAX_MESSAGE:
            raise AssertionError(f"a message of {len(str(error)):,} characters") from error
        return False
    target.check(value)
    return True


# --- Side effects ---

_FORBIDDEN_EVENTS = """
    os.chmod os.chown os.exec os.fork os.forkpty os.kill os.link os.mkdir os.posix_spawn os.putenv os.remove
    os.rename os.rmdir os.spawn os.symlink os.system os.truncate os.utime pty.spawn pickle.find_class
    shutil.copyfile shutil.move shutil.rmtree socket.bind socket.connect socket.getaddrinfo
    subprocess.Popen urllib.Request
"""
_FORBIDDEN = frozenset(_FORBIDDEN_EVENTS.split())
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_is_watched = False


class watched:  # noqa: N801 - used like a function
    """In this block, no file may be written, no process started and no connection made."""

    def __enter__(self):
        global _is_watched
        _is_watched = True

    def __exit__(self, *error):
        global _is_watched
        _is_watched = False


class unwatched:  # noqa: N801 - used like a function
    """In this block, side effects are allowed, for targets that need them to run an input."""

    def __enter__(self):
        global _is_watched
        self._was_watched = _is_watched
        _is_watched = False

    def __exit__(self, *error):
        global _is_watched
        _is_watched = self._was_watched


def _hook(event, arguments):
    if not _is_watched:
        return
    if event == "open":
        path, mode, flags = arguments
        if isinstance(mode, str):
            writes = any(letter in mode for letter in "wax+")
        else:
            writes = isinstance(flags, int) and bool(flags & _WRITES)
        if writes and path != os.devnull:
            raise Forbidden(f"{path!r} was opened for writing")
    elif event in _FORBIDDEN:
        raise Forbidden(f"{event}{arguments!r}")


def forbid_side_effects():
    """From now on, raise for side effects while an input runs (`watched`)."""
    sys.addaudithook(_hook)
