"""Every path fast, not only the one that was tuned: what must hold, measured, and a summary of it.

`python -m benchmarks targets` measures all lines; `python -m benchmarks.targets predict` those whose title
contains a word. The exit code is 1 if a target is missed.
"""

import importlib
import sys
from collections.abc import Iterator, Sequence

from benchmarks._targets import HEAD, Target, line

# Modules with a function targets() that returns lines of the summary.
MODULES = ("_target_start", "_target_rules", "_target_classes", "_target_learning")


def all_targets() -> Iterator[Target]:
    """Yield the targets of all modules."""
    for name in MODULES:
        yield from importlib.import_module(f"benchmarks.{name}").targets()


def main(words: Sequence[str] = ()) -> int:
    """Measure and print; return how many targets were missed."""
    chosen = [one for one in all_targets() if all(word.lower() in one.title.lower() for word in words)]
    print(f"\nTargets: {len(chosen)} lines\n\n{HEAD}")
    n_missed = 0
    for target in chosen:
        measured = target.measure()
        n_missed += not target.holds(measured)
        print(line(target, measured), flush=True)
    print(f"\n{len(chosen) - n_missed} of {len(chosen)} targets hold.")
    return n_missed


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
