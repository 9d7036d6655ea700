"""Tables in Markdown, LaTeX and CSV, with the paper's numbers, ours and the difference."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from clausewise_experiments.cells import VOTES
from clausewise_experiments.methods import C50_METHODS, CART_METHODS, NETWORK, compact_budget
from clausewise_experiments.selection import (
    MEASURES,
    OF_VOTE,
    RESOURCES,
    Choice,
    Figure,
    Results,
    Row,
)

PAPER_FILE: Final = Path(__file__).parent / "paper.csv"
HEADS: Final = {
    "accuracy": "accuracy %",
    "auc_labels": "AUC % (labels)",
    "auc_scores": "AUC % (scores)",
    "fidelity": "fidelity %",
    "seconds": "runtime s",
    "cpu_seconds": "CPU s",
    "memory_mb": "memory MB",
    "n_rules": "rules",
    "mean_length": "length",
}
NOT_RUN: Final = "not run here"
MEMORY_NOTE: Final = (
    "Memory: ours is the peak of a process that does nothing but this extraction, interpreter and data "
    "included. The paper's column is the reference implementation's own count of Python objects, which is "
    "not in megabytes; no difference is shown."
)
VOTE_NOTE: Final = "The vote is {vote}; compact rule sets vote by their fitted weights."
CHOICE_NOTES: Final[Mapping[Choice, str]] = {
    "test": "μ is the value with the best mean fidelity (C5.0, CART: accuracy) ON THE TEST ROWS, as the "
    "paper chose it: figures are a little too good.",
    "held out": "μ was chosen in each fold on held-out training rows (a fifth); test rows were not used.",
}


@dataclass(frozen=True)
class Table:
    """A table of strings, with a title, notes and a header."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [f"# {self.title}", "", *(f"- {note}" for note in self.notes), ""]
        lines += [_pipes(self.head), _pipes(["---"] * len(self.head)), *map(_pipes, self.rows)]
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        """Return the table as a LaTeX tabular, for the package booktabs."""
        lines = [f"% {self.title}", *(f"% {note}" for note in self.notes)]
        lines += [f"\\begin{{tabular}}{{{'l' * len(self.head)}}}", "\\toprule", _ampersands(self.head)]
        previous = None
        for row in self.rows:
            if row[0] != previous:
                lines.append("\\midrule")
                previous = row[0]
            lines.append(_ampersands(row))
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"]) + "\n"


def paper_rows() -> dict[tuple[str, str], Row]:
    """Return the rows of the paper's tables, by task and method."""
    rows = {}
    with PAPER_FILE.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            figures = {
                name: Figure(float(line[name]), float(line[f"{name}_sd"]))
                for name in MEASURES
                if line.get(name)
            }
            row = Row(line["task"], line["method"], line["min_cases"], figures)
            rows[row.task, row.method] = row
    return rows


@dataclass(frozen=True)
class Comparison:
    """The paper's row and ours; either may be missing."""

    task: str
    method: str
    paper: Row | None
    ours: Row | None

    @property
    def difference(self) -> dict[str, float]:
        """Our mean minus the paper's, for the measures that both have."""
        if self.paper is None or self.ours is None:
            return {}
        theirs = self.paper.figures
        return {
            name: figure.mean - theirs[name].mean
            for name, figure in self.ours.figures.items()
            if name in theirs and name != "memory_mb"
        }


def compared(
    results: Iterable[Results], titles: Sequence[str], methods: Sequence[str], vote: str, choice: Choice
) -> list[Comparison]:
    """Return, per task, the methods with a row in our results or in the paper, compact ones last."""
    paper, ours = paper_rows(), {one.settings.title: one for one in results}
    found = []
    for title in titles:
        present = ours[title].methods if title in ours else []
        compact = [name for name in present if compact_budget(name) is not None and NETWORK in methods]
        for method in (*methods, *compact):
            mine = ours[title].row(method, vote, choice) if method in present else None
            theirs = paper.get((title, method))
            if mine is not None or theirs is not None:
                found.append(Comparison(title, method, theirs, mine))
    return found


def comparison_table(
    title: str, rows: Sequence[Comparison], notes: Sequence[str], *, with_resources: bool = True
) -> Table:
    """Return a table with three lines per method: paper, ours, difference."""
    names = [name for name in MEASURES if with_resources or name not in RESOURCES]
    head = ("task", "method", "", "μ", *(HEADS[name] for name in names), "folds", "note")
    lines = tuple(line for row in rows for line in _lines(row, names))
    return Table(title, head, lines, tuple(notes))


def _lines(row: Comparison, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    paper, ours, difference = row.paper, row.ours, row.difference
    if paper is not None:
        figures = [show(paper.figures.get(name), name) for name in names]
        yield (row.task, row.method, "paper", paper.min_cases, *figures, "", "")
    if ours is None:
        yield (row.task, row.method, "ours", "", *[""] * len(names), "", NOT_RUN)
        return
    figures = [show(ours.figures.get(name), name) for name in names]
    n_folds = str(ours.n_folds) if ours.n_folds else ""
    yield (row.task, row.method, "ours", ours.min_cases, *figures, n_folds, ours.note)
    if difference:
        changes = [_signed(difference[name], name) if name in difference else "" for name in names]
        yield (row.task, row.method, "difference", "", *changes, "", "")


def votes_table(results: Iterable[Results], titles: Sequence[str], methods: Sequence[str]) -> Table:
    """Return accuracy and fidelity of each method under each vote, each with its best μ, and the paper's."""
    paper, ours = paper_rows(), {one.settings.title: one for one in results}
    names = ("accuracy", "fidelity")
    head = ("task", "method", *(f"{vote}: {HEADS[name]}" for name in names for vote in ("paper", *VOTES)))
    lines = []
    for title in titles:
        for method in methods:
            if title not in ours or method not in ours[title].methods or method == NETWORK:
                continue
            rows = [ours[title].row(method, vote, "test") for vote in VOTES]
            theirs = paper.get((title, method))
            cells = []
            for name in names:
                cells.append(show(theirs.figures.get(name) if theirs else None, name))
                cells += [show(row.figures.get(name), name) for row in rows]
            lines.append((title, method, *cells))
    notes = (
        "The same rules under each vote: the share of a class's rules that fire (what the reference "
        "implementation does), the number of rules that fire (what the paper says), the sum of their "
        "confidences, and weights that are fitted to the network's decisions on the "
        "training rows, one per rule or, with more than two classes, one per rule and class. μ is the best "
        "on the test rows for each vote.",
    )
    return Table("The vote matters as much as the rules", head, tuple(lines), notes)


def as_csv(rows: Iterable[Comparison], *, with_resources: bool = True) -> str:
    """Return all numbers as CSV, unrounded, with one line each for paper, ours and difference."""
    names = [name for name in MEASURES if with_resources or name not in RESOURCES]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    columns = [column for name in names for column in (name, f"{name}_sd")]
    writer.writerow(["task", "method", "who", "min_cases", *columns, "folds", "note"])
    for row in rows:
        for who, one in (("paper", row.paper), ("ours", row.ours)):
            if one is not None:
                numbers = [_both(one.figures.get(name)) for name in names]
                flat = [number for pair in numbers for number in pair]
                writer.writerow(
                    [row.task, row.method, who, one.min_cases, *flat, one.n_folds or "", one.note]
                )
        if row.ours is None:
            blank = [""] * len(columns)
            writer.writerow([row.task, row.method, "ours", "", *blank, "", NOT_RUN])
        if row.difference:
            changes = [x for name in names for x in (_number(row.difference.get(name)), "")]
            writer.writerow([row.task, row.method, "difference", "", *changes, "", ""])
    return buffer.getvalue()


def table_as_csv(table: Table) -> str:
    """Return a table as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([table.head, *table.rows])
    return buffer.getvalue()


TABLE_METHODS: Final = (NETWORK, *C50_METHODS)
CART_TABLE_METHODS: Final = CART_METHODS


# --- Numbers as text ---


def show(figure: Figure | None, name: str) -> str:
    """Format mean ± standard deviation, with as many digits as the measure needs."""
    if figure is None:
        return "N/A" if name in OF_VOTE else ""
    digits = _digits(name)
    return f"{figure.mean:,.{digits}f} ± {figure.sd:,.{digits}f}"


def _signed(value: float, name: str) -> str:
    return f"{value:+,.{_digits(name)}f}".replace("-", "−")


def _digits(name: str) -> int:
    return {"seconds": 2, "cpu_seconds": 2, "memory_mb": 0, "mean_length": 2}.get(name, 1)


def _both(figure: Figure | None) -> tuple[str, str]:
    return ("", "") if figure is None else (_number(figure.mean), _number(figure.sd))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |"


_LATEX: Final = {
    "%": "\\%", "&": "\\&", "_": "\\_", "#": "\\#", "μ": "$\\mu$", "±": "$\\pm$", "−": "$-$", "–": "--",
    "*": "\\textsuperscript{*}",
}  # fmt: skip


def _ampersands(cells: Sequence[str]) -> str:
    return " & ".join("".join(_LATEX.get(char, char) for char in cell) for cell in cells) + " \\\\"
