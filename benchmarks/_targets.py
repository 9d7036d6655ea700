"""Targets of speed and memory, and how they are measured.

A line of the summary is a `Target`: a title, a unit, the most (or least) that is allowed, and a function that
measures. To add one, append it to the `targets()` of a module named in `MODULES` of `benchmarks.targets`.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """One line of the summary.

    Attributes
    ----------
    title : str
        What is measured.
    unit : str
        The unit of the limit and of what is measured, such as "CPU s".
    limit : float
        The most that is allowed; the least, if `is_least`.
    measure : callable
        Return the measured number. CPU seconds or ratios, since other work may run on the machine.
    is_least : bool
        Whether more is better, as for GB/s.
    before : float or None
        What was measured on the same kind of machine before the target was set.
    """

    title: str
    unit: str
    limit: float
    measure: Callable[[], float]
    is_least: bool = False
    before: float | None = None

    @property
    def is_time(self) -> bool:
        """Whether CPU time is measured, not a ratio, memory or a rate."""
        return self.unit.startswith("CPU")

    def holds(self, measured: float) -> bool:
        """Return whether a measured number is within the limit."""
        return measured >= self.limit if self.is_least else measured <= self.limit


HEAD = f"{'':<58}{'unit':<14}{'before':>9}{'now':>9}{'target':>11}   holds"


def line(target: Target, measured: float) -> str:
    """Return one line of the summary."""
    sign = "≥" if target.is_least else "≤"
    before = "" if target.before is None else f"{target.before:.3g}"
    limit = f"{sign} {target.limit:g}"
    holds = "yes" if target.holds(measured) else "NO"
    return f"{target.title:<58}{target.unit:<14}{before:>9}{measured:>9.3g}{limit:>11}   {holds}"
