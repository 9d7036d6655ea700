"""Fidelity against reading cost: what a person reads, and how often that agrees with a network.

Networks are trained on five random splits of tables with numbers, categories and missing values; rule sets
are fitted to their labels on the training rows, and measured by their agreement with them on the test rows.
`python -m benchmarks.frontier adult MAGIC --splits 2` runs some tables and splits, `--before PYTHON` compares
with another version of clausewise, which that interpreter has installed, and `--markdown FILE` also writes
the output to a file. Needs the tables of `benchmarks/_tables.py` and, for peers, the extra `peers`.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks._reading import BUDGETS, LABELS, RULE_BUDGETS, Fit, scaled
from benchmarks._recorded import BENCH, MISSING
from benchmarks._tables import REPORTED, TUNING

# Methods that share a process, and a network trained in it.
FAST, SLOW, BEFORE = ("ours", LABELS, "default", "CART", "C5.0"), ("RUG", "FIGS", "RuleFit"), "before"
N_SPLITS, SECONDS = 5, 300
PEER_SECONDS = 6
LEGEND = """\
# Fidelity by reading cost

Cells: fidelity on the test rows in %, mean ± standard deviation over the splits. Columns: reading costs,
then numbers of rules, for two classes 8 to 128 and 4 to 64, in proportion for more. Ours:
`compact(X, network, max_conditions=…)` and `compact(X, network, max_rules=…)` from no rules; "labels alone":
the same on the network's labels of the training rows, without rows that it labels besides. A peer's cell
shows its best fit within the budget, chosen *on the test rows*, which favours it; likewise "before", the best
of 4, 8, 16 and 32 rules (in proportion to the classes) times 1, 2, 3 and 6 terms. `>` marks a method that is
ahead of ours."""


@dataclass(frozen=True)
class Runs:
    """The fits of one or more methods to the splits of one table."""

    fits: list[list[Fit]]
    about: dict[str, int]
    note: str

    def of(self, method: str) -> "Runs":
        """Return the fits of one method."""
        return replace(self, fits=[[fit for fit in fits if fit.method == method] for fits in self.fits])

    def named(self, setting: str) -> list[Fit]:
        """Return the fit with this setting of each split."""
        return [fit for fits in self.fits for fit in fits if fit.setting == setting]

    def best(self, budget: int) -> list[float]:
        """Return the best fidelity within a budget, per split that has one."""
        limit = scaled(budget, self.about.get("n_classes", 2))
        within = ([fit.fidelity for fit in fits if fit.cost <= limit] for fits in self.fits)
        return [max(found) for found in within if found]

    def best_of_rules(self, n_rules: int) -> list[float]:
        """Return the best fidelity with at most this many rules, per split that has one."""
        limit = scaled(n_rules, self.about.get("n_classes", 2))
        within = ([fit.fidelity for fit in fits if fit.n_rules <= limit] for fits in self.fits)
        return [max(found) for found in within if found]


def run(
    methods: Sequence[str],
    table: str,
    n_splits: int,
    seconds: int,
    answers: Path,
    python: str = sys.executable,
) -> Runs:
    """Run methods on the splits of a table, each split in a new process with a limit on its CPU time.

    The networks' decisions are kept in the folder `answers`, so that only the first run trains them.
    """
    all_fits, about, notes = [], {}, set()
    for split in range(n_splits):
        arguments = ["+".join(methods), table, str(split), str(seconds), str(answers / f"{split}.npz")]
        done = subprocess.run(
            [python, "-m", "benchmarks._reading", *arguments],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[1],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        about = lines[0] if lines else about
        all_fits.append([Fit(**line) for line in lines[1:]])
        if done.returncode == -signal.SIGXCPU:
            notes.add(f"stopped after {seconds} CPU seconds")
        elif done.returncode:
            notes.add(done.stderr.strip().splitlines()[-1])
    return Runs(all_fits, about, "; ".join(sorted(notes)))


def shown(values: Sequence[float], mark: str = "") -> str:
    if not values:
        return "–"
    spread = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
    return f"{mark}{np.mean(values):.1f}{spread}"


def table_lines(table: str, n_splits: int, before: str | None, answers: Path) -> Iterator[str]:
    fast = run(FAST, table, n_splits, SECONDS, answers)
    ours, about = fast.of("ours"), fast.about
    yield (
        f"\n{table}: {about['n_rows']:,} training rows, {about['n_columns']:,} columns, "
        f"{about['n_classes']} classes\n"
    )
    head = [str(scaled(budget, about["n_classes"])) for budget in BUDGETS]
    head += [f"{scaled(budget, about['n_classes'])} rules" for budget in RULE_BUDGETS]
    yield as_row([table, *head, "note"])
    yield as_row(["---"] * (len(head) + 2))
    settings = [str(budget) for budget in BUDGETS] + [f"{budget} rules" for budget in RULE_BUDGETS]
    own, alone = (
        [[fit.fidelity for fit in fast.of(name).named(setting)] for setting in settings]
        for name in ("ours", LABELS)
    )
    yield as_row(["ours", *map(shown, own), fast.note])
    yield as_row([LABELS, *marked(alone, own), cpu_note(ours, fast.of(LABELS))])
    rivals = {name: fast.of(name) for name in ("CART", "C5.0")}
    rivals |= {name: run([name], table, n_splits, PEER_SECONDS, answers) for name in SLOW}
    earlier = None
    if before is not None:
        earlier = rivals["before"] = run([BEFORE], table, n_splits, SECONDS, answers, before)
    for name, runs in rivals.items():
        cells = [runs.best(budget) for budget in BUDGETS]
        cells += [runs.best_of_rules(budget) for budget in RULE_BUDGETS]
        yield as_row([name, *marked(cells, own), runs.note])
    yield from size_lines(ours, fast.of("default"), earlier)


def marked(cells: Sequence[Sequence[float]], own: Sequence[Sequence[float]]) -> Iterator[str]:
    """Yield the cells, those that are ahead of our own marked."""
    for values, mine in zip(cells, own, strict=True):
        yield shown(values, "> " if _mean(values) > _mean(mine) else "")


def cpu_note(ours: Runs, alone: Runs) -> str:
    """Return how much longer the search takes with rows that the network labels."""
    ratios = [
        one.cpu / other.cpu
        for fits, others in zip(ours.fits, alone.fits, strict=True)
        for one, other in zip(fits, others, strict=True)
        if other.cpu > 0
    ]
    return (
        f"ours takes {np.median(ratios):.1f} × its CPU (median), {np.max(ratios):.1f} × (worst)"
        if ratios
        else ""
    )


def size_lines(ours: Runs, chosen: Runs, earlier: Runs | None) -> Iterator[str]:
    """Yield what 16 rules cost to read, and what the default gives."""
    yield ""
    yield described("16 rules", ours.named("16 rules"))
    if earlier is not None:
        yield described("16 rules, before", earlier.named("16 rules"))
    default, sixteen = chosen.named("default"), chosen.named("16 rules")
    if not default or len(sixteen) < len(default):
        return
    yield described("extract(model, X)", default)
    best = max(_mean([fit.fidelity for fit in chosen.named(f"{n} rules")]) for n in (16, 32, 64))
    ratio = np.sum([fit.cpu for fit in default]) / np.sum([fit.cpu for fit in sixteen])
    within = max(_mean([fit.fidelity for fit in ours.named(str(n))]) for n in BUDGETS if n <= 64)
    reached = _mean([fit.fidelity for fit in default])
    yield (
        f"- {reached - within:+.1f} from the best budget of up to 64 to read, {reached - best:+.1f} from the "
        f"best of 16, 32 and 64 rules; CPU {ratio:.1f} × extract(…, max_rules=16)"
    )


def described(name: str, fits: Sequence[Fit]) -> str:
    counts = (
        f"{_mean([fit.n_rules for fit in fits]):.0f} rules, {_mean([fit.cost for fit in fits]):.0f} to read"
    )
    return f"- {name}: {counts}, fidelity {shown([fit.fidelity for fit in fits])}"


def as_row(cells: Sequence[str]) -> str:
    name, *values, note = cells
    return f"| {name:<14} | " + " | ".join(f"{value:<12}" for value in values) + f" | {note} |"


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("-inf")


def main(arguments: Sequence[str] = ()) -> None:
    tables = {**REPORTED, **TUNING}
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frontier")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"out of {', '.join(tables)}")
    parser.add_argument("--splits", type=int, default=N_SPLITS, help="number of random splits")
    parser.add_argument("--before", metavar="PYTHON", help="interpreter with a version to compare with")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the output to FILE")
    options = parser.parse_args(arguments)
    unknown = [table for table in options.tables if table not in tables]
    if unknown:
        parser.error(f"there is no table {unknown[0]!r}; choose from {', '.join(tables)}")
    if not BENCH.is_dir():
        print(f"\nFrontier: not run, {MISSING}.")
        return
    lines = [LEGEND]
    print(LEGEND)
    for table in options.tables or REPORTED:
        with tempfile.TemporaryDirectory() as answers:
            for line in table_lines(table, options.splits, options.before, Path(answers)):
                print(line, flush=True)
                lines.append(line)
    if options.markdown is not None:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
