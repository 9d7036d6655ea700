"""Rules for gradient-boosted trees: fidelity by number of rules and by reading cost, beside other packages.

An XGBoost model is trained on random splits of tables with numbers, categories and missing values; rule sets
imitate its decisions on the training rows, and are measured by their agreement with it on the test rows.
`python -m benchmarks.trees adult MAGIC --splits 2` runs some tables and splits, and `--markdown FILE` also
writes the output to a file. Needs the tables of `benchmarks/_tables.py`, xgboost and, for peers, the extra
`peers`. TE2Rules (`pip install te2rules`) is compared with where it is installed, on tables of numbers.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

import clausewise
from benchmarks import _reading
from benchmarks._reading import BUDGETS, Fit, scaled
from benchmarks._recorded import BENCH, MISSING
from benchmarks._tables import MAX_ROWS, REPORTED, TEST_SHARE, TUNING, Problem
from benchmarks.frontier import Runs, as_row, marked, shown
from clausewise import RuleSet

TABLES = ("MAGIC", "adult", "car", "nursery", "support2", "breast cancer", "credit", "churn")
RULES = (8, 16, 32, 64)
OURS, LABELS_ALONE = "ours", "labels alone"
FAST, SLOW = (OURS, LABELS_ALONE, "CART", "C5.0"), ("RUG", "FIGS", "RuleFit", "SkopeRules", "TE2Rules")
N_SPLITS, SECONDS, PEER_SECONDS = 2, 600, 6
LEGEND = """\
# Rules for XGBoost models

Cells: fidelity on the test rows in %, mean ± standard deviation over the splits, of an XGBoost model with 100
trees of depth 6. Columns: at most this many rules, then at most this reading cost, for two classes; in
proportion for more. Ours: `extract(model, X, max_rules=…)` and `extract(model, X, max_conditions=…)`, which
start from the model's own trees; "labels alone": the same with `method="pedagogical"`. A peer's cell shows
its best fit within the budget, chosen *on the test rows*, which favours it. `>` marks a method that is ahead
of ours."""


def boosted(name: str, split: int) -> Problem:
    """Train an XGBoost model on a random split of a table, and let it decide all rows."""
    from xgboost import XGBClassifier

    X, y = (TUNING | REPORTED)[name]()
    kept = np.random.default_rng(0).permutation(len(X))[:MAX_ROWS]
    X, codes = X.iloc[kept].reset_index(drop=True), np.unique(np.asarray(y)[kept], return_inverse=True)[1]
    text = [column for column in X.columns if not pd.api.types.is_numeric_dtype(X[column])]
    X = X.astype(dict.fromkeys(text, "category"))
    train, test = train_test_split(
        np.arange(len(X)), test_size=TEST_SHARE, random_state=split, stratify=codes
    )
    model = XGBClassifier(
        n_estimators=100, max_depth=6, enable_categorical=True, n_jobs=1, random_state=split
    )
    X_train, X_test = X.iloc[train], X.iloc[test]
    model.fit(X_train, codes[train])
    return Problem(X_train, model.predict(X_train), X_test, model.predict(X_test), model)


# --- Methods ---


def _ours(problem: Problem, name: str, method: str) -> Iterator[Fit]:
    extract = partial(clausewise.extract, problem.network, problem.X, method=method)
    for setting, options in _settings(problem.n_classes):
        yield _measured(problem, name, setting, partial(extract, n_jobs=1, **options))
    yield _measured(problem, name, "default", partial(extract, n_jobs=1))


def _settings(n_classes: int) -> Iterator[tuple[str, dict[str, int]]]:
    for n_rules in RULES:
        yield f"{n_rules} rules", {"max_rules": scaled(n_rules, n_classes)}
    for cost in BUDGETS:
        yield f"cost {cost}", {"max_conditions": scaled(cost, n_classes)}


def _measured(problem: Problem, name: str, setting: str, find: Callable[[], RuleSet]) -> Fit:
    started = time.process_time()
    rules = find()
    cpu = time.process_time() - started
    fidelity = float(np.mean(rules.predict(problem.X_test) == problem.decided))
    return Fit(name, setting, rules.reading_cost, len(rules), 100 * fidelity, cpu)


def _peer(name: str, problem: Problem) -> Iterator[Fit]:
    return _reading.METHODS[name](problem)


def _skope_rules(problem: Problem) -> Iterator[Fit]:
    """Select paths of bagged trees by precision and recall, without near duplicates; two classes only."""
    from imodels import SkopeRulesClassifier

    models = (
        (
            f"depth {depth}, precision {precision}",
            SkopeRulesClassifier(
                max_depth=depth,
                precision_min=precision,
                recall_min=0.01,
                max_depth_duplication=2,
                n_estimators=30,
                random_state=0,
            ),
        )
        for depth in (1, 2, 3, 4)
        for precision in (0.6, 0.9)
    )

    def cost(model: Any) -> tuple[int, int]:
        return sum(1 + len(rule.agg_dict) for rule in model.rules_), len(model.rules_)

    return _reading.of_two_classes(problem, "SkopeRules", models, cost)


def _te2rules(problem: Problem) -> Iterator[Fit]:
    """Join paths of the model's own trees into rules for one class; two classes, and numbers only."""
    from te2rules.explainer import ModelExplainer

    is_numeric = all(map(pd.api.types.is_numeric_dtype, problem.X.dtypes))
    if problem.n_classes > 2 or not is_numeric or problem.X.isna().any(axis=None):
        raise NotImplementedError("supports two classes, and numbers without missing values, only")
    names = [f"f{place}" for place in range(problem.X.shape[1])]
    model = problem.network
    model.get_booster().feature_names = None  # TE2Rules passes arrays
    for stages in (1, 2):
        started = time.process_time()
        explainer = ModelExplainer(model=model, feature_names=names)
        rules = explainer.explain(X=problem.X.to_numpy(), y=problem.labels.tolist(), num_stages=stages)
        cpu = time.process_time() - started
        decided = explainer.predict(X=problem.X_test.to_numpy())
        fidelity = 100 * float(np.mean(np.asarray(decided) == problem.decided))
        cost = sum(1 + rule.count("&") + 1 for rule in rules)
        yield Fit("TE2Rules", f"{stages} stages", cost, len(rules), fidelity, cpu)


METHODS: dict[str, Callable[[Problem], Iterator[Fit]]] = {
    OURS: partial(_ours, name=OURS, method="auto"),
    LABELS_ALONE: partial(_ours, name=LABELS_ALONE, method="pedagogical"),
    "CART": partial(_peer, "CART"),
    "C5.0": partial(_peer, "C5.0"),
    "RUG": partial(_peer, "RUG"),
    "FIGS": partial(_peer, "FIGS"),
    "RuleFit": _reading.rulefit,
    "SkopeRules": _skope_rules,
    "TE2Rules": _te2rules,
}
PACKAGES = {
    "RUG": "ruleopt",
    "FIGS": "imodels",
    "RuleFit": "imodels",
    "SkopeRules": "imodels",
    "TE2Rules": "te2rules",
}


# --- Processes ---


def run(methods: Sequence[str], table: str, n_splits: int, seconds: int) -> Runs:
    """Run methods on the splits of a table, each split in a new process with a limit on its CPU time."""
    lacking = [PACKAGES[name] for name in methods if name in PACKAGES and find_spec(PACKAGES[name]) is None]
    if lacking:
        return Runs([], {}, f"{lacking[0]} is not installed")
    all_fits, about, notes = [], {}, set()
    for split in range(n_splits):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "benchmarks.trees",
                "--fit",
                "+".join(methods),
                table,
                str(split),
                str(seconds),
            ],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[1],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        about = lines[0] if lines else about
        all_fits.append([Fit(**line) for line in lines[1:]])
        if done.returncode == -signal.SIGXCPU:
            notes.add(f"stopped after {seconds} CPU seconds")
        elif done.returncode:
            notes.add(done.stderr.strip().splitlines()[-1].removeprefix("NotImplementedError: "))
    return Runs(all_fits, about, "; ".join(sorted(notes)))


def fit(methods: str, table: str, split: str, limit: str) -> None:
    """In the new process: print the fits of some methods to one problem."""
    problem = boosted(table, int(split))
    _reading.print_fits(problem, [METHODS[method] for method in methods.split("+")], int(limit))


# --- Output ---


def table_lines(table: str, n_splits: int) -> Iterator[str]:
    fast = run(FAST, table, n_splits, SECONDS)
    about = fast.about
    yield (
        f"\n{table}: {about['n_rows']:,} training rows, {about['n_columns']:,} columns, "
        f"{about['n_classes']} classes\n"
    )
    head = [f"{scaled(n, about['n_classes'])} rules" for n in RULES]
    head += [f"cost {scaled(cost, about['n_classes'])}" for cost in BUDGETS]
    yield as_row([table, *head, "note"])
    yield as_row(["---"] * (len(head) + 2))
    settings = [setting for setting, _ in _settings(2)]
    own = [[found.fidelity for found in fast.of(OURS).named(setting)] for setting in settings]
    yield as_row([OURS, *map(shown, own), fast.note])
    alone = [[found.fidelity for found in fast.of(LABELS_ALONE).named(setting)] for setting in settings]
    yield as_row([LABELS_ALONE, *marked(alone, own), ""])
    rivals = {name: fast.of(name) for name in ("CART", "C5.0")}
    rivals |= {name: run([name], table, n_splits, PEER_SECONDS) for name in SLOW}
    for name, runs in rivals.items():
        cells = [runs.best_of_rules(n) for n in RULES] + [runs.best(cost) for cost in BUDGETS]
        yield as_row([name, *marked(cells, own), runs.note if name in SLOW else ""])
    yield ""
    for name in (OURS, LABELS_ALONE):
        default = fast.of(name).named("default")
        cost = np.mean([found.cost for found in default])
        cpu = np.mean([found.cpu for found in default])
        yield (
            f"- default, {name}: {cost:.0f} to read, {cpu:.1f} CPU seconds, fidelity "
            f"{shown([found.fidelity for found in default])}"
        )


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trees")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"by default {', '.join(TABLES)}")
    parser.add_argument("--splits", type=int, default=N_SPLITS, help="number of random splits")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the output to FILE")
    options = parser.parse_args(arguments)
    unknown = [table for table in options.tables if table not in TUNING | REPORTED]
    if unknown:
        parser.error(f"there is no table {unknown[0]!r}; choose from {', '.join(TUNING | REPORTED)}")
    if not BENCH.is_dir() or find_spec("xgboost") is None:
        print(f"\nTrees: not run, {MISSING if not BENCH.is_dir() else 'xgboost is not installed'}.")
        return
    lines = [LEGEND]
    print(LEGEND)
    for table in options.tables or TABLES:
        for line in table_lines(table, options.splits):
            print(line, flush=True)
            lines.append(line)
    if options.markdown is not None:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fit"]:
        fit(*sys.argv[2:])
    else:
        main(sys.argv[1:])
