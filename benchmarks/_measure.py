"""Measure wall time, CPU time, and the peak memory of a new process."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Timing:
    """Wall and CPU seconds, each the best of the repetitions."""

    wall: float
    cpu: float


def timed(work: Callable[[], object], repeat: int) -> Timing:
    walls, cpus = [], []
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return Timing(min(walls), min(cpus))


def peak_growth(module: str, work: str) -> int | None:
    """Return by how many bytes the peak memory of a new process grows during `work`.

    None where the system does not report it. `python -m MODULE WORK` must print what `growth_during` returns.
    """
    if not Path("/proc/self/clear_refs").exists():
        return None
    command = [sys.executable, "-m", module, work]
    folder = Path(__file__).parents[1]
    result = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, env=os.environ)
    return int(result.stdout)


def growth_during(work: Callable[[], object]) -> int:
    """In the new process: reset the peak, call `work`, and return the growth in bytes."""
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    work()
    return _status("VmHWM") - before


def megabytes(growth: int | None) -> str:
    return "unknown" if growth is None else f"{growth / 2**20:.0f} MB"


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(key)
