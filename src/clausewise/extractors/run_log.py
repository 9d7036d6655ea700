"""The log of an extraction: time and memory per stage, clauses and rules per layer, min_cases tried."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

from clausewise.base import html
from clausewise.compact.frontier_curve import Frontier

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Stage:
    """One stage of an extraction, summed over layers.

    Attributes
    ----------
    name : str
        The work done.
    seconds, cpu_seconds : float
        Wall time, and processor time of all threads.
    peak_memory : int or None
        The process's peak memory in bytes when the stage ended; None where the system does not report it.
    """

    COLUMNS: ClassVar = ("stage", "seconds", "CPU s", "peak MB")

    name: str
    seconds: float
    cpu_seconds: float
    peak_memory: int | None

    @property
    def cells(self) -> tuple[str, ...]:
        """The printed line."""
        peak = "" if self.peak_memory is None else f"{self.peak_memory / 1e6:,.0f}"
        return self.name, f"{self.seconds:.2f}", f"{self.cpu_seconds:.2f}", peak


@dataclass(frozen=True)
class LayerReport:
    """Clauses and rules from one layer.

    Attributes
    ----------
    name : str
        The layer, or "inputs".
    n_units : int
        Number of its columns.
    n_dropped : int
        Clauses dropped for their rank or confidence.
    rules_per_clause : tuple of int
        For each remaining clause, the number of rules it became.
    """

    COLUMNS: ClassVar = ("layer", "units", "clauses", "dropped", "rules")

    name: str
    n_units: int
    n_dropped: int
    rules_per_clause: tuple[int, ...]

    @property
    def n_clauses(self) -> int:
        """Number of clauses that were substituted."""
        return len(self.rules_per_clause)

    @property
    def n_rules(self) -> int:
        """Number of rules they became, before duplicates are removed."""
        return sum(self.rules_per_clause)

    @property
    def cells(self) -> tuple[str, ...]:
        """The printed line."""
        return self.name, *(
            f"{count:,}" for count in (self.n_units, self.n_clauses, self.n_dropped, self.n_rules)
        )


@dataclass(frozen=True)
class PathPoint:
    """One value of min_cases that was tried.

    Attributes
    ----------
    min_cases : int
        The value, for all rows.
    fidelity : float
        On held-out rows.
    n_rules : float
        Number of rules; a mean where different rows were held out in turn.
    """

    COLUMNS: ClassVar = ("min_cases", "held-out fidelity", "rules")

    min_cases: int
    fidelity: float
    n_rules: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The printed line."""
        return f"{self.min_cases}", f"{100 * self.fidelity:.2f} %", f"{self.n_rules:,.0f}"


@dataclass(frozen=True)
class ExtractionReport:
    """How a rule set was extracted; `print` it.

    Attributes
    ----------
    method : str
        The method.
    n_rows, n_rows_given : int
        Rows learnt from, and rows given.
    min_cases : int, float or None
        The value of the paper's μ that was used; None if the inducer has its own.
    path : tuple of PathPoint
        The values tried to choose it; empty if it was given.
    layers : tuple of LayerReport
        Per layer, clauses and rules.
    n_rules, reading_cost : int
        Final number of rules, and what a person reads in them.
    sizes : Frontier or None
        Fidelity on held-out rows by reading cost, if the size was chosen by it.
    stages : tuple of Stage
        Time and memory.
    warnings : tuple of str
        What is unexpected about the rules; `fit` warns of it too.
    notes : tuple of str
        What else is to be known of how they were found.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from clausewise import Pedagogical
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> report = Pedagogical(SVC().fit(X, y), max_rules=3).fit(X).report_
    >>> report.method, report.n_rows, report.n_rules, report.reading_cost
    ('Pedagogical', 150, 3, 9)

    `print(report)` also shows layers, time and memory:

    >>> print(str(report).splitlines()[0])
    Pedagogical: 3 rules, 9 to read, from 150 rows, min_cases=2
    >>> [stage.name for stage in report.stages]
    ['network', 'labels and inputs', 'rules over inputs', 'statistics', 'compaction']
    """

    method: str
    n_rows: int
    n_rows_given: int
    min_cases: int | float | None
    path: tuple[PathPoint, ...]
    layers: tuple[LayerReport, ...]
    n_rules: int
    stages: tuple[Stage, ...]
    warnings: tuple[str, ...] = ()
    reading_cost: int = 0
    sizes: Frontier | None = None
    notes: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Wall time of all stages."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all stages and threads."""
        return sum(stage.cpu_seconds for stage in self.stages)

    def __repr__(self) -> str:
        return f"<ExtractionReport: {self._headline}; {self.seconds:.1f} s>"

    def _repr_html_(self) -> str:
        tables = [
            html.table(parts[0].COLUMNS, [part.cells for part in parts], numbers=range(1, 5))
            for parts in (self.path, self.layers, self.stages)
            if parts
        ]
        if self.sizes is not None:
            tables.insert(0, html.note(self.sizes.summary(self.reading_cost)))
        tables += [html.note(note) for note in self.notes]
        return html.block(self._headline, *tables, html.warnings(self.warnings))

    @property
    def _headline(self) -> str:
        return str(self).splitlines()[0]

    def __str__(self) -> str:
        rows = f"{self.n_rows:,} rows" + (
            f" of {self.n_rows_given:,}" if self.n_rows != self.n_rows_given else ""
        )
        lines = [f"{self.method}: {self.n_rules:,} rules, {self.reading_cost:,} to read, from {rows}"]
        if self.min_cases is not None:
            lines[0] += f", min_cases={self.min_cases:g}{' (chosen)' if self.path else ''}"
        if self.path:
            lines += _table(
                PathPoint.COLUMNS,
                [point.cells for point in self.path],
            )
        if self.sizes is not None:
            lines.append(f"  {self.sizes.summary(self.reading_cost)}")
        if self.layers:
            lines += _table(
                LayerReport.COLUMNS,
                [layer.cells for layer in self.layers],
            )
        lines += _table(
            Stage.COLUMNS,
            [stage.cells for stage in self.stages],
        )
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines + [f"Warning: {warning}" for warning in self.warnings])


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines with the first column left-aligned and numbers right-aligned."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = []
    for row in (head, *rows):
        cells = [
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  " + "  ".join(cells).rstrip())
    return lines


@dataclass
class RunLog:
    """Adds up time and memory per stage while an extraction runs."""

    stages: dict[str, Stage] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time of a `with` block as part of this stage."""
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            before = self.stages.get(name, Stage(name, 0.0, 0.0, None))
            self.stages[name] = Stage(
                name,
                before.seconds + time.perf_counter() - wall,
                before.cpu_seconds + time.process_time() - cpu,
                _peak_memory(),
            )


def _peak_memory() -> int | None:
    if resource is None:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024
