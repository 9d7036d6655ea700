"""Targets for starting: what an import and a page of help cost."""

import os
import subprocess
import sys
from collections.abc import Sequence

from benchmarks._targets import Target

_IMPORT = (
    "import sklearn.base, time; t = time.process_time(); import clausewise; print(time.process_time() - t)"
)


def targets() -> Sequence[Target]:
    """Return the lines of the summary."""
    return (
        Target("import clausewise, beyond scikit-learn", "CPU s", 0.15, import_seconds, before=0.60),
        Target("clausewise --help", "CPU s", 0.6, help_seconds, before=2.4),
    )


def import_seconds() -> float:
    return min(float(_output([sys.executable, "-c", _IMPORT])) for _ in range(3))


def help_seconds() -> float:
    return min(_cpu_of([sys.executable, "-m", "clausewise", "--help"]) for _ in range(3))


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _cpu_of(command: list[str]) -> float:
    """Return the CPU seconds of a process, as the system counts them for children that have ended."""
    before = os.times()
    _output(command)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
