"""What is being done, how much of it is done, and how long the rest will take."""

import sys
import time
from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import TextIO

_BAR_WIDTH = 24
_SECONDS_BETWEEN_LINES = 10.0
# What a piece of work is taken to last before anything of its kind has been seen.
_UNKNOWN_SECONDS = 5.0


TRAINING = "training"


class Durations:
    """How long work of each kind takes, as far as it has been seen: of its kind, of its task, or at all.

    Training takes so much longer than extraction that the one says nothing about the other.
    """

    def __init__(self) -> None:
        self._seen: dict[Hashable, list[float]] = defaultdict(list)

    def add(self, task: str, kind: str, seconds: float) -> None:
        """Something took so long."""
        for key in _keys(task, kind):
            self._seen[key].append(seconds)

    def expected(self, task: str, kind: str) -> float:
        """How long something of that kind will take."""
        for key in _keys(task, kind):
            if self._seen.get(key):
                return sum(self._seen[key]) / len(self._seen[key])
        return _UNKNOWN_SECONDS


def _keys(task: str, kind: str) -> tuple[Hashable, ...]:
    """From the most to the least telling."""
    return (task, kind), (task, kind == TRAINING, None), kind == TRAINING


class Progress:
    """A line with a bar, written over in a terminal; elsewhere a line now and then.

    Parameters
    ----------
    n_jobs : int
        Pieces of work that run at the same time.
    stream : text stream, optional
        Where to; standard error unless given.
    """

    def __init__(self, n_jobs: int, stream: TextIO | None = None) -> None:
        self.durations = Durations()
        self._n_jobs = n_jobs
        self._stream = sys.stderr if stream is None else stream
        self._is_live = self._stream.isatty()
        self._n_all = self._n_done = 0
        self._shown = 0.0
        self._width = 0

    def started(self, n_all: int, n_done: int) -> None:
        """So many pieces of work there are, and so many of them were done before."""
        self._n_all, self._n_done = n_all, n_done
        if n_done:
            self.say(f"{n_done:,} of {n_all:,} were done before and are kept")

    def say(self, text: str) -> None:
        """A line that stays."""
        self._write(text, ends=True)

    def done(self, what: str, left: Iterable[tuple[str, str]]) -> None:
        """A piece of work is done; what is left is given by task and kind."""
        self._n_done += 1
        is_last = self._n_done == self._n_all
        now = time.monotonic()
        if not is_last and now - self._shown < (0.1 if self._is_live else _SECONDS_BETWEEN_LINES):
            return
        self._shown = now
        seconds = sum(self.durations.expected(task, kind) for task, kind in left) / self._n_jobs
        part = self._n_done / max(self._n_all, 1)
        bar = "█" * round(part * _BAR_WIDTH)
        text = f"|{bar:<{_BAR_WIDTH}}| {self._n_done:,}/{self._n_all:,}  {what}"
        self._write(text if is_last else f"{text}, about {duration(seconds)} left", ends=not self._is_live)

    def close(self) -> None:
        """What follows begins on the next line."""
        if self._width:
            self._stream.write("\n")
            self._width = 0

    def _write(self, text: str, *, ends: bool) -> None:
        padding = " " * max(self._width - len(text), 0)
        self._stream.write(f"{chr(13) if self._width else ''}{text}{padding}{chr(10) if ends else ''}")
        self._stream.flush()
        self._width = 0 if ends else len(text)


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, as people say them."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
