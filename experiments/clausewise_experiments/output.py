"""Write the tables and figures of a run, and a record of how they were made."""

import datetime
import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from clausewise.io.atomic import write_atomically
from clausewise_experiments.cells import PreparedTask, RunFolder
from clausewise_experiments.figures import (
    coping_points,
    draw_coping,
    draw_feature_use,
    feature_use,
    mechanisms,
)
from clausewise_experiments.selection import Choice, Results, as_filed
from clausewise_experiments.tables import (
    CART_TABLE_METHODS,
    CHOICE_NOTES,
    MEMORY_NOTE,
    TABLE_METHODS,
    VOTE_NOTE,
    Comparison,
    Table,
    as_csv,
    compared,
    comparison_table,
    paper_rows,
    table_as_csv,
    votes_table,
)

PACKAGES = ("clausewise", "numpy", "scipy", "scikit-learn", "torch", "matplotlib")
TABLES = {"table1": ("Table 1", TABLE_METHODS), "cart": ("The CART table", CART_TABLE_METHODS)}
# How μ is chosen: the suffix of the file, and the end of the title.
CHOICES: dict[str, tuple[Choice, str]] = {
    "best-on-test": ("test", "μ best on test"),
    "held-out": ("held out", "μ chosen on held-out rows"),
}


def write_tables_and_figures(
    prepared: Sequence[PreparedTask],
    run_folder: RunFolder,
    folder: Path,
    command: str,
    vote: str = "confidence",
    *,
    with_resources: bool = True,
) -> list[Path]:
    """Write all tables and figures from existing results; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    results = [Results(one, run_folder) for one in prepared]
    results = [one for one in results if one.methods]
    titles = _titles(results)
    files = []
    for name, (title, methods) in TABLES.items():
        for suffix, (choice, chosen) in CHOICES.items():
            rows = compared(results, titles, methods, vote, choice)
            notes = (CHOICE_NOTES[choice], VOTE_NOTE.format(vote=vote), *_notes(prepared, with_resources))
            table = comparison_table(f"{title}, {chosen}", rows, notes, with_resources=with_resources)
            files += _write_comparison(folder / f"{name}-{suffix}", table, rows, with_resources)
    votes = votes_table(results, titles, (*TABLE_METHODS, *CART_TABLE_METHODS))
    files += _write(folder / "votes", votes, table_as_csv(votes))
    files += _figures(prepared, results, run_folder, folder, vote)
    write_atomically(folder / "run.json", _run_notes(prepared, command).encode())
    return [*files, folder / "run.json"]


def _titles(results: Sequence[Results]) -> list[str]:
    """Return the titles of the paper's tasks, run or not, then those of the others."""
    run = [one.settings.title for one in results]
    return list(dict.fromkeys([*(title for title, _ in paper_rows()), *run]))


def _notes(prepared: Sequence[PreparedTask], with_resources: bool) -> list[str]:
    notes = [MEMORY_NOTE] if with_resources else []
    limits = {str(one.settings.limits) for one in prepared}
    notes += [f"REM-D and DeepRED have a budget of {text} for an extraction." for text in sorted(limits)]
    for one in prepared:
        task, full = one.settings, as_filed(one.settings)
        changes = []
        if task.max_rows is not None:
            changes.append(f"at most {task.max_rows:,} rows")
        if task.network.epochs != full.network.epochs:
            changes.append(f"{task.network.epochs} epochs instead of {full.network.epochs}")
        if task.network.use_published:
            changes.append("published networks")
        if changes:
            notes.append(f"{task.title} was run with {'; '.join(changes)}.")
    notes.append("± is the standard deviation over the folds.")
    return notes


def _write_comparison(
    stem: Path, table: Table, rows: Sequence[Comparison], with_resources: bool
) -> list[Path]:
    return _write(stem, table, as_csv(rows, with_resources=with_resources))


def _write(stem: Path, table: Table, csv_text: str) -> list[Path]:
    texts = {".md": table.markdown(), ".tex": table.latex(), ".csv": csv_text}
    for suffix, text in texts.items():
        write_atomically(stem.with_name(stem.name + suffix), text.encode())
    return [stem.with_name(stem.name + suffix) for suffix in texts]


def _figures(
    prepared: Sequence[PreparedTask],
    results: Sequence[Results],
    run_folder: RunFolder,
    folder: Path,
    vote: str,
) -> list[Path]:
    files = []
    for of_task in results:
        use = feature_use(of_task, vote) if of_task.settings.name == "xor" else {}
        if use:
            n_features = next(iter(use.values())).shape[1]
            names = [f"x{number}" for number in range(1, n_features + 1)]
            draw_feature_use(use, names, folder / "xor-feature-use.png")
            lines = [("method", *names, *(f"{name} sd" for name in names))]
            for method, folds in use.items():
                numbers = (*folds.mean(axis=0), *folds.std(axis=0))
                lines.append((method, *(f"{number:.4f}" for number in numbers)))
            table = Table("Fraction of rules that test each feature of XOR", lines[0], tuple(lines[1:]))
            files += [
                folder / "xor-feature-use.png",
                *_write(folder / "xor-feature-use", table, table_as_csv(table)),
            ]
    for one in prepared:
        files += _coping_figures(one, run_folder, folder, vote)
    return files


def _coping_figures(prepared: PreparedTask, run_folder: RunFolder, folder: Path, vote: str) -> list[Path]:
    files, lines = [], []
    head = ("mechanism", "value", "fidelity %", "rules", "CPU s", "folds")
    for mechanism in mechanisms(prepared.settings):
        points = coping_points(prepared, run_folder, mechanism, vote)
        if len(points) < 2:
            continue
        path = folder / f"coping-{prepared.settings.name}-{mechanism.name}.png"
        draw_coping(points, mechanism, prepared.settings.title, path)
        files.append(path)
        for position, folds in sorted(points.items()):
            means = [
                float(np.mean([point[name] for point in folds]))
                for name in ("fidelity", "n_rules", "cpu_seconds")
            ]
            numbers = (f"{means[0]:.2f}", f"{means[1]:.1f}", f"{means[2]:.2f}")
            lines.append((mechanism.title, f"{position:g}", *numbers, str(len(folds))))
    if lines:
        notes = ("Means over the folds; the figures show the standard error as a shade.",)
        title = f"Coping with growth: {prepared.settings.title}"
        table = Table(title, head, tuple(lines), notes)
        files += _write(folder / f"coping-{prepared.settings.name}", table, table_as_csv(table))
    return files


def _run_notes(prepared: Sequence[PreparedTask], command: str) -> str:
    """Return a record of the run as JSON: command, date, versions, machine."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    notes = {
        "command": command,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "python": platform.python_version(),
        "packages": found,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "tasks": {one.settings.name: {"rows": one.data_digest} for one in prepared},
    }
    return json.dumps(notes, indent=1) + "\n"
