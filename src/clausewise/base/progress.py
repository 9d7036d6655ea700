"""A progress line for long computations, in terminals and notebooks."""

import sys
import time
from typing import TextIO

_BAR_WIDTH = 24
_SECONDS_BETWEEN = 0.1


class Progress:
    """Shows the current part, the steps done in it and the estimated time left.

    Parameters
    ----------
    verbose : int
        0 is silent, 1 shows one line that is overwritten, 2 keeps a line per part.
    stream : text stream, optional
        Standard error unless given. If it is neither a terminal nor a notebook, one line per part is written.
    """

    def __init__(self, verbose: int, stream: TextIO | None = None) -> None:
        self._verbose = int(verbose)
        self._stream = sys.stderr if stream is None else stream
        self._is_live = _is_live(self._stream)
        self._started = self._shown = time.perf_counter()
        self._what, self._n_parts, self._n_parts_done = "", 1, 0
        self._part, self._n_steps, self._n_steps_done = "", 0, 0
        self._width = 0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        # After an interrupt the line stays, and further output begins on the next one.
        if self._width:
            self._stream.write("\n")
            self._width = 0

    def started(self, what: str, n_parts: int) -> None:
        """Begin a task of this many parts of about the same size."""
        self._what, self._n_parts, self._n_parts_done = what, max(n_parts, 1), 0
        self._started = time.perf_counter()

    def part_started(self, name: str, n_steps: int, unit: str = "clauses") -> None:
        """Begin a part with this many steps, 0 if that is unknown; `unit` names the steps."""
        self._part, self._n_steps, self._n_steps_done, self._unit = name, n_steps, 0, unit
        self._show()

    def steps_done(self, n_before: int, n_done: int, _n_total: int = 0) -> None:
        """Report that `n_before + n_done` steps of the part are done."""
        self._n_steps_done = n_before + n_done
        if time.perf_counter() - self._shown >= _SECONDS_BETWEEN:
            self._show()

    def part_done(self) -> None:
        """Report that the part is done."""
        self._n_steps_done = self._n_steps or self._n_steps_done
        if self._verbose >= 1 and (self._verbose >= 2 or not self._is_live):
            self._write(self._line(), ends=True)
        self._n_parts_done += 1
        self._n_steps = self._n_steps_done = 0
        self._show()

    def finished(self, summary: str) -> None:
        """Report that everything is done."""
        if self._verbose >= 1:
            self._write(summary, ends=True)

    def _show(self) -> None:
        self._shown = time.perf_counter()
        if self._verbose >= 1 and self._is_live:
            self._write(self._line(), ends=False)

    def _line(self) -> str:
        of_part = self._n_steps_done / self._n_steps if self._n_steps else 0.0
        done = min((self._n_parts_done + of_part) / self._n_parts, 1.0)
        elapsed = time.perf_counter() - self._started
        left = f", {_duration(elapsed * (1 - done) / done)} left" if done > 0.02 else ""
        bar = "█" * round(done * _BAR_WIDTH)
        if self._n_steps_done and not self._n_steps:
            return f"{self._what}  {self._part}, {self._n_steps_done} {self._unit}"
        steps = f", {self._n_steps_done}/{self._n_steps} {self._unit}" if self._n_steps else ""
        return f"{self._what} |{bar:<{_BAR_WIDTH}}| {done:4.0%}  {self._part}{steps}{left}"

    def _write(self, text: str, *, ends: bool) -> None:
        # Spaces overwrite the rest of a longer previous line.
        padding = " " * max(self._width - len(text), 0)
        start = "\r" if self._is_live else ""
        self._stream.write(f"{start}{text}{padding if self._is_live else ''}{chr(10) if ends else ''}")
        self._stream.flush()
        self._width = 0 if ends else len(text)


def _is_live(stream: TextIO) -> bool:
    """Return whether lines can be overwritten: in a terminal, or in a notebook's output."""
    return bool(getattr(stream, "isatty", lambda: False)()) or type(stream).__module__.startswith("ipykernel")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
