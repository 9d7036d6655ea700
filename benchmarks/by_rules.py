"""Fidelity by number of rules: compact rule sets compared with other small rule sets, on recorded networks.

All are fitted to the network's labels on the training rows and measured by their agreement with its labels on
the test rows. Targets for fidelity, in % of the test rows: MAGIC 93 with 16 rules, 94 with 32, 95 with 64;
XOR 97 with 4; MB-ER 96 with 16; Letters 92 with 16 per class. Targets for time, in CPU seconds on two
threads, scaled by a calibration loop: MAGIC 0.5 with 16 rules and 3 with 64; MB-ER 2 with 16; Letters 15 with
16 per class.

`python -m benchmarks.by_rules --quick` runs MAGIC and XOR without peers; `--markdown FILE` also writes the
output to a file. Needs the recorded networks (`benchmarks/_recorded.py`). Peers need the extra `peers`; those
that are not installed are named and left out.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import eclaire
from benchmarks._measure import timed
from benchmarks._peers import PEERS, Fit, PeerRun, run_peer
from benchmarks._recorded import BENCH, MISSING, recorded
from benchmarks.eclaire import CALIBRATION_SECONDS, N_JOBS, calibration, verdict
from clausewise import RuleSet
from clausewise.networks import ArrayNetwork

TASKS = {
    "MAGIC": ["magic_fold0"],
    "XOR": ["xor_fold0", "xor_fold1", "xor_fold2"],
    "MB-ER": ["mb_er_fold0"],
    "MB-HIST": ["mb_hist_fold0"],
    "Letters": ["letters_fold0"],
}
QUICK_TASKS = ("MAGIC", "XOR")
BUDGETS, BUDGETS_PER_CLASS = (4, 8, 16, 32, 64), (1, 2, 4, 8, 16)
# Task and number of rules: target for fidelity in %.
TARGETS = {
    ("MAGIC", 16): 93.0,
    ("MAGIC", 32): 94.0,
    ("MAGIC", 64): 95.0,
    ("XOR", 4): 97.0,
    ("MB-ER", 16): 96.0,
    ("Letters", 416): 92.0,
}
# Task and number of rules: target for CPU seconds.
TIME_TARGETS = {("MAGIC", 16): 0.5, ("MAGIC", 64): 3.0, ("MB-ER", 16): 2.0, ("Letters", 416): 15.0}
# Fidelity of a prototype, with its weaker / stronger penalty where both were tried.
PROTOTYPE = {
    "MAGIC": ("87.7 / 88.2", "89.0 / 90.0", "91.4 / 92.2", "92.9 / 93.2", "93.7 / 94.1"),
    "XOR": ("97.0", "97.8 / 97.0", "97.5 / 97.2", "97.5 / 97.2", "97.5 / 97.2"),
    "MB-ER": ("93.1 / 92.7", "95.2 / 94.8", "96.0 / 95.3", "96.6 / 96.7", "96.3 / 96.5"),
    "MB-HIST": ("90.4 / 92.1", "91.2 / 92.6", "93.1 / 93.8", "94.4 / 94.0", "–"),
    "Letters": ("62.4", "71.7", "80.0", "86.4", "91.0"),
}
N_SUBSAMPLES, SUBSAMPLE = 5, 0.9
PEER_SECONDS = 120  # CPU seconds for all settings of a peer on one network
LEGEND = """\
# Fidelity by number of rules

Cells: fidelity on the test rows in % · rules (CART: leaves, FIGS: splits, RuleFit: terms of its sum, shared
premises: premises) · CPU seconds of that fit; means over the folds where there are several. A peer's cell
shows its best fit with at most that many rules, chosen *on the test rows*, which favours it, and the time of
that fit alone; ours use one setting. `>>` marks a peer that is better than both of our starts, `>` than one
of them. "90 % of the rows": mean ± standard deviation over random subsamples of the training rows (the search
itself is deterministic). The prototype's numbers are means of two folds."""


@dataclass(frozen=True)
class Variant:
    """One way to call `RuleSet.compact`: its start and its options."""

    from_eclaire: bool = False
    options: dict[str, Any] = field(default_factory=dict)


FROM_NOTHING, FROM_ECLAIRE = "ours, from nothing", "ours, from ECLAIRE's rules"
VARIANTS = {
    FROM_NOTHING: Variant(),
    FROM_ECLAIRE: Variant(from_eclaire=True),
    "ours, from nothing, points": Variant(options={"points": True}),
}
STARTS = (FROM_NOTHING, FROM_ECLAIRE)
SHARED_PREMISES = {"ours, from nothing, shared premises": Variant(options={"shared_premises": True})}


@dataclass(frozen=True)
class Problem:
    """A recorded network with its rows and labels."""

    name: str
    network: ArrayNetwork
    X: np.ndarray
    labels: np.ndarray
    X_test: np.ndarray
    decided: np.ndarray
    feature_names: list[str]

    @classmethod
    def recorded(cls, name: str) -> "Problem":
        """Load the network with this file name."""
        network, arrays = recorded(name)
        network.inspect(arrays["X_train"][:1])  # determines the classes
        given = ("X_train", "dnn_train_labels", "X_test", "dnn_test_labels")
        return cls(name, network, *(arrays[key] for key in given), arrays["feature_names"].tolist())

    @property
    def n_classes(self) -> int:
        """Number of classes of the network."""
        return len(self.network.classes)

    def subsample(self, seed: int) -> "Problem":
        """Return the problem with a random subsample of the training rows."""
        rows = np.random.default_rng(seed).permutation(len(self.X))[: int(SUBSAMPLE * len(self.X))]
        rows.sort()
        return replace(self, X=self.X[rows], labels=self.labels[rows])

    def start(self, variant: Variant) -> RuleSet:
        """Return the rules that the search starts from."""
        if variant.from_eclaire:
            return eclaire.extract(self.network, self.X, eclaire.TASKS[self.name][0]).rules_
        classes = self.network.classes
        return RuleSet.from_rules([], self.feature_names, default=classes[0], classes=classes)

    def compacted(self, start: RuleSet, budget: int, variant: Variant) -> RuleSet:
        """Return at most `budget` rules, fitted to the network's labels."""
        return start.compact(self.X, self.labels, max_rules=budget, n_jobs=N_JOBS, **variant.options)

    def measured(self, start: RuleSet, budget: int, variant: Variant) -> Fit:
        """Return size, fidelity and CPU time of `compacted`."""
        before = time.process_time()
        rules = self.compacted(start, budget, variant)
        cpu = time.process_time() - before
        fidelity = 100 * float(np.mean(rules.predict(self.X_test) == self.decided))
        # A shared premise is stored as one rule per class.
        n_rules = len({rule.terms for rule in rules}) if "shared_premises" in variant.options else len(rules)
        return Fit(n_rules, fidelity, cpu)


def mean_fit(fits: Sequence[Fit]) -> Fit:
    size, fidelity, cpu = np.mean([(fit.size, fit.fidelity, fit.cpu) for fit in fits], axis=0).tolist()
    return Fit(size, fidelity, cpu)


def frontier(problems: Sequence[Problem], budgets: Sequence[int], variant: Variant) -> list[Fit]:
    """Return one fit per budget, the mean over the folds."""
    starts = [problem.start(variant) for problem in problems]
    return [
        mean_fit([p.measured(start, budget, variant) for p, start in zip(problems, starts, strict=True)])
        for budget in budgets
    ]


def spread(problems: Sequence[Problem], budgets: Sequence[int], variant: Variant) -> list[str]:
    """Return mean ± standard deviation over subsamples of the training rows."""
    found = np.array(
        [
            [fit.fidelity for fit in frontier([p.subsample(seed) for p in problems], budgets, variant)]
            for seed in range(N_SUBSAMPLES)
        ]
    )
    return [f"{column.mean():.1f} ± {column.std(ddof=1):.1f}" for column in found.T]


def shown(fit: Fit | None, mark: str = "") -> str:
    return "–" if fit is None else f"{mark}{fit.fidelity:.1f} · {fit.size:.3g} · {fit.cpu:.2f} s"


# --- Peers ---


def peer_cells(runs: Sequence[PeerRun], budgets: Sequence[int]) -> list[Fit | None]:
    """Return the best fit for each budget, the mean over the folds; None if a fold has none."""
    by_budget = ([run.best(budget) for run in runs] for budget in budgets)
    return [mean_fit([fit for fit in fits if fit]) if all(fits) else None for fits in by_budget]


def ahead(peer: Fit | None, ours: Sequence[Fit]) -> str:
    n_behind = 0 if peer is None else sum(fit.fidelity < peer.fidelity for fit in ours)
    return {0: "", len(ours): ">> "}.get(n_behind, "> ")


def peer_rows(
    problems: Sequence[Problem], budgets: Sequence[int], ours: Sequence[list[Fit]], seconds: int
) -> Iterator[str]:
    for name in PEERS:
        runs = [run_peer(name, p.name, budgets, p.n_classes, seconds) for p in problems]
        notes = sorted({run.note for run in runs if run.note})
        cells = peer_cells(runs, budgets)
        marks = map(ahead, cells, zip(*ours, strict=True))
        yield as_row([name, *map(shown, cells, marks), "; ".join(notes)])


# --- Tables ---


def as_row(cells: Sequence[str]) -> str:
    """Return a row of Markdown that is also readable as text; the last cell is a note."""
    name, *values, note = cells
    return f"| {name:<36} | " + " | ".join(f"{value:<24}" for value in values) + f" | {note} |"


def head(cells: Sequence[str]) -> Iterator[str]:
    yield as_row(cells)
    yield as_row(["-" * 36, *["-" * 24] * (len(cells) - 2), "---"])


def target_row(task: str, budgets: Sequence[int], fits: Sequence[Fit]) -> list[str]:
    return [target_cell(TARGETS.get((task, b)), fit.fidelity) for b, fit in zip(budgets, fits, strict=True)]


def target_cell(target: float | None, fidelity: float) -> str:
    if target is None:
        return ""
    return f"{target:g}: {verdict(fidelity >= target)}, {fidelity - target:+.2f}"


def task_table(task: str, peer_seconds: int) -> Iterator[str]:
    problems = [Problem.recorded(name) for name in TASKS[task]]
    (n_rows, n_columns), n_classes = problems[0].X.shape, problems[0].n_classes
    is_binary = n_classes == 2
    budgets = BUDGETS if is_binary else tuple(n_classes * number for number in BUDGETS_PER_CLASS)
    yield f"\n{task}: {n_rows:,} training rows, {n_columns:,} columns, {n_classes} classes\n"
    yield from head([task, *map(str, budgets), "note"])
    starts = []
    for name, variant in (VARIANTS if is_binary else VARIANTS | SHARED_PREMISES).items():
        fits = frontier(problems, budgets, variant)
        yield as_row([name, *map(shown, fits), ""])
        if name not in STARTS:
            continue
        starts.append(fits)
        yield as_row(["… target", *target_row(task, budgets, fits), ""])
        if is_binary:
            cells = spread(problems, budgets, variant)
            yield as_row(["… 90 % of the rows", *cells, f"{N_SUBSAMPLES} subsamples"])
    yield as_row(["prototype", *PROTOTYPE[task], "two folds"])
    if peer_seconds:
        yield from peer_rows(problems, budgets, starts, peer_seconds)


def time_table(tasks: Sequence[str]) -> Iterator[str]:
    """Yield the time targets, each with its own calibration; best of three, or one for long fits."""
    yield f"\nOurs, from nothing, on {N_JOBS} threads; scaled: divided by the slowness of this machine\n"
    yield from head(["time", "rules", "CPU s", "slowness", "scaled CPU s", "target"])
    for (task, budget), target in TIME_TARGETS.items():
        if task not in tasks:
            continue
        problem, variant = Problem.recorded(TASKS[task][0]), VARIANTS[FROM_NOTHING]
        slowness = timed(calibration, 3).cpu / CALIBRATION_SECONDS
        fit = partial(problem.compacted, problem.start(variant), budget, variant)
        cpu = timed(fit, 3 if target < 10 else 1).cpu
        seconds = [f"{cpu:.2f}", f"{slowness:.2f}", f"{cpu / slowness:.2f}"]
        yield as_row([task, str(budget), *seconds, f"{target:g}: {verdict(cpu / slowness <= target)}"])


def lines_of(tasks: Sequence[str], peer_seconds: int) -> Iterator[str]:
    yield LEGEND
    for task in tasks:
        yield from task_table(task, peer_seconds)
    yield from time_table(tasks)


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.by_rules")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"out of {', '.join(TASKS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help=f"{' and '.join(QUICK_TASKS)}, without peers")
    parser.add_argument(
        "--peer-seconds",
        type=int,
        default=PEER_SECONDS,
        help="CPU limit per peer and network; 0 leaves peers out",
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the output to FILE")
    options = parser.parse_args(arguments)
    tasks = options.tasks or (QUICK_TASKS if options.quick else list(TASKS))
    unknown = [task for task in tasks if task not in TASKS]
    if unknown:
        parser.error(f"there is no task {unknown[0]!r}; choose from {', '.join(TASKS)}")
    if not BENCH.is_dir():
        print(f"\nFrontier: not run, {MISSING}.")
        return
    lines = []
    with threadpool_limits(1, user_api="blas"):
        for line in lines_of(tasks, 0 if options.quick else options.peer_seconds):
            print(line, flush=True)
            lines.append(line)
    if options.markdown is not None:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
