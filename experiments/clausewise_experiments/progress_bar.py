"""Show which jobs have finished and how long the rest will take."""

import sys
import time
from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import TextIO

_BAR_WIDTH = 24
_SECONDS_BETWEEN_LINES = 10.0
# The assumed duration of a job before any similar job has finished.
_UNKNOWN_SECONDS = 5.0


TRAINING = "training"


class Durations:
    """Mean durations of finished jobs: of the same kind, of the same task, or of any.

    Training takes much longer than extraction, so the two are never mixed.
    """

    def __init__(self) -> None:
        self._seen: dict[Hashable, list[float]] = defaultdict(list)

    def add(self, task: str, kind: str, seconds: float) -> None:
        """Record the duration of a job."""
        for key in _keys(task, kind):
            self._seen[key].append(seconds)

    def expected(self, task: str, kind: str) -> float:
        """Return the expected duration of a job."""
        for key in _keys(task, kind):
            if self._seen.get(key):
                return sum(self._seen[key]) / len(self._seen[key])
        return _UNKNOWN_SECONDS


def _keys(task: str, kind: str) -> tuple[Hashable, ...]:
    """Return the groups that a job belongs to, most similar first."""
    return (task, kind), (task, kind == TRAINING, None), kind == TRAINING


class ProgressBar:
    """A progress bar in a terminal; elsewhere, a line every few seconds.

    Parameters
    ----------
    n_jobs : int
        Number of jobs that run at the same time.
    stream : text stream, optional
        Output; standard error by default.
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
        """Begin with `n_all` jobs, of which `n_done` were done in an earlier run."""
        self._n_all, self._n_done = n_all, n_done
        if n_done:
            self.say(f"{n_done:,} of {n_all:,} jobs were done in an earlier run")

    def say(self, text: str) -> None:
        """Write a line that is not overwritten."""
        self._write(text, ends=True)

    def done(self, what: str, left: Iterable[tuple[str, str]]) -> None:
        """Count a finished job; `left` has the task and kind of each waiting job."""
        self._n_done += 1
        is_last = self._n_done == self._n_all
        now = time.monotonic()
        if not is_last and now - self._shown < (0.1 if self._is_live else _SECONDS_BETWEEN_LINES):
            return
        self._shown = now
        seconds = sum(self.durations.expected(task, kind) for task, kind in left) / self._n_jobs
        fraction = self._n_done / max(self._n_all, 1)
        bar = "█" * round(fraction * _BAR_WIDTH)
        text = f"|{bar:<{_BAR_WIDTH}}| {self._n_done:,}/{self._n_all:,}  {what}"
        self._write(text if is_last else f"{text}, about {duration(seconds)} left", ends=not self._is_live)

    def close(self) -> None:
        """End the current line."""
        if self._width:
            self._stream.write("\n")
            self._width = 0

    def _write(self, text: str, *, ends: bool) -> None:
        padding = " " * max(self._width - len(text), 0)
        self._stream.write(f"{chr(13) if self._width else ''}{text}{padding}{chr(10) if ends else ''}")
        self._stream.flush()
        self._width = 0 if ends else len(text)


def duration(seconds: float) -> str:
    """Format a duration in seconds, minutes or hours."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
