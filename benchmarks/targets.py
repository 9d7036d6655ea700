"""Every path fast, not only the one that was tuned: what must hold, measured, and a summary of it.

`python -m benchmarks targets` measures all lines; `python -m benchmarks.targets predict` those whose title
contains a word. The exit code is 1 if a target is missed.

CPU seconds are divided by how much longer this machine takes for a fixed loop than an idle one did. Ratios
are measured in one process.
"""

import importlib
import sys
from collections.abc import Iterator, Sequence

from benchmarks._measure import timed
from benchmarks._targets import HEAD, Target, line
from benchmarks.eclaire import CALIBRATION_SECONDS, calibration

# Modules with a function targets() that returns lines of the summary.
MODULES = ("_target_start", "_target_rules", "_target_classes", "_target_learning")


def all_targets() -> Iterator[Target]:
    """Yield the targets of all modules."""
    for name in MODULES:
        yield from importlib.import_module(f"benchmarks.{name}").targets()


def main(words: Sequence[str] = ()) -> int:
    """Measure and print; return how many targets were missed."""
    chosen = [one for one in all_targets() if all(word.lower() in one.title.lower() for word in words)]
    slowness = timed(calibration, 5).cpu / CALIBRATION_SECONDS
    print(f"\nTargets: {len(chosen)} lines; this machine takes {slowness:.2f} times as long as an idle one")
    print(f"\n{HEAD}")
    n_missed = 0
    for target in chosen:
        measured = target.measure() / (slowness if target.is_time else 1.0)
        n_missed += not target.holds(measured)
        print(line(target, measured), flush=True)
    print(f"\n{len(chosen) - n_missed} of {len(chosen)} targets hold.")
    return n_missed


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
