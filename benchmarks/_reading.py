"""Rule sets of several packages on one table, each with what a person has to read in it.

`python -m benchmarks._reading CART+RUG adult 0 20 FILE` trains a network on split 0 of the table, fits CART
and RUG to its labels for at most 20 CPU seconds, and prints one line of JSON per fit. The network's decisions
are kept in FILE; if it exists, they are read from it, and no network is trained.

A tree is read as a tree: one per split and one per leaf. A rule costs one, plus one per bound and per
category that it names or excludes. Peers that need numbers get categories as indicators, and missing values
as the median with an indicator.
"""

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

import clausewise
from benchmarks._tables import Problem, trained
from clausewise import C50Classifier, Features, RuleSet

# Reading costs, for two classes; in proportion for more.
BUDGETS = (8, 16, 32, 64, 128)
# Numbers of rules, likewise.
RULE_BUDGETS = (4, 8, 16, 32, 64)
RULES, TERMS = (4, 8, 16, 32), (1, 2, 3, 6)
LEAVES = (3, 4, 6, 8, 11, 16, 23, 32, 45, 64)
MIN_CASES = (2, 8, 30, 120, 500, 2000)
# Our search on the network's labels of the training rows alone.
LABELS = "labels alone"
FIGS_SPLITS = (4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Fit:
    """A rule set: how it was made, what it costs to read, how faithful it is, and the CPU seconds it took."""

    method: str
    setting: str
    cost: int
    n_rules: int
    fidelity: float
    cpu: float


def scaled(budget: int, n_classes: int) -> int:
    """Return a budget for two classes in proportion to the classes."""
    return round(budget * n_classes / 2)


# --- Ours ---


def _empty(problem: Problem) -> RuleSet:
    classes = np.unique(problem.labels)
    return RuleSet.from_rules([], Features.learn(problem.X), default=classes[0], classes=classes)


def _rules_fit(
    problem: Problem, method: str, setting: str, find: Callable[..., RuleSet], **options: Any
) -> Fit:
    started = time.process_time()
    rules = find(n_jobs=1, **options)
    cpu = time.process_time() - started
    fidelity = float(np.mean(rules.predict(problem.X_test) == problem.decided))
    return Fit(method, setting, reading_cost(rules), len(rules), 100 * fidelity, cpu)


def _ours(problem: Problem, name: str = "ours") -> Iterator[Fit]:
    target = problem.network if name == "ours" else problem.labels
    compact = partial(_empty(problem).compact, problem.X, target)
    for budget in BUDGETS:
        limit = scaled(budget, problem.n_classes)
        yield _rules_fit(problem, name, f"{budget}", compact, max_conditions=limit)
    for budget in RULE_BUDGETS:
        limit = scaled(budget, problem.n_classes)
        yield _rules_fit(problem, name, f"{budget} rules", compact, max_rules=limit)


def _default(problem: Problem) -> Iterator[Fit]:
    extract = partial(clausewise.extract, problem.network, problem.X)
    yield _rules_fit(problem, "default", "default", extract)
    for n_rules in (16, 32, 64):
        limit = scaled(n_rules, problem.n_classes)
        yield _rules_fit(problem, "default", f"{n_rules} rules", extract, max_rules=limit)


def _by_rules_and_terms(problem: Problem) -> Iterator[Fit]:
    compact = partial(_empty(problem).compact, problem.X, problem.labels)
    yield _rules_fit(problem, "before", "16 rules", compact, max_rules=16)
    for n_rules, n_terms in product(RULES, TERMS):
        limit = scaled(n_rules, problem.n_classes)
        setting = f"{n_rules} rules of {n_terms} terms"
        yield _rules_fit(problem, "before", setting, compact, max_rules=limit, max_terms=n_terms)


def reading_cost(rules: RuleSet) -> int:
    """Return the reading cost as `RuleSet.reading_cost` does, also for versions that do not have it."""
    known = getattr(rules, "reading_cost", None)
    if known is not None:
        return int(known)
    cost = len(rules)
    n_categories = rules.features.n_categories
    for rule in rules:
        for term in rule.terms:
            if term.values is None:
                cost += max(int(np.isfinite(term.low)) + int(np.isfinite(term.high)), 1)
            else:
                cost += max(min(len(term.values), int(n_categories[term.feature]) - len(term.values)), 1)
    return cost


# --- Peers ---


def _c50(problem: Problem) -> Iterator[Fit]:
    for min_cases in MIN_CASES:
        yield _rules_fit(problem, "C5.0", f"min_cases={min_cases}", partial(_c50_rules, problem, min_cases))


def _c50_rules(problem: Problem, min_cases: int, n_jobs: int) -> RuleSet:
    return C50Classifier(min_cases=min_cases, n_jobs=n_jobs).fit(problem.X, problem.labels).rules_


def _as_numbers(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    both = pd.concat([problem.X, problem.X_test])
    numbers = both.select_dtypes("number")
    is_missing = numbers.isna().loc[:, numbers.isna().any()].astype(float)
    filled = numbers.fillna(problem.X[numbers.columns].median())
    parts = [filled, is_missing]
    others = both.drop(columns=numbers.columns)
    if others.shape[1]:
        parts.append(pd.get_dummies(others.astype(object).fillna("missing"), dtype=float))
    matrix = np.hstack(parts).astype(np.float64)
    return matrix[: len(problem.X)], matrix[len(problem.X) :]


def _fits(
    problem: Problem,
    method: str,
    estimators: Iterable[tuple[str, Any]],
    cost: Callable[[Any], tuple[int, int]],
) -> Iterator[Fit]:
    X, X_test = _as_numbers(problem)
    classes, codes = np.unique(problem.labels, return_inverse=True)
    for setting, estimator in estimators:
        started = time.process_time()
        estimator.fit(X, codes)
        cpu = time.process_time() - started
        predicted = classes[np.asarray(estimator.predict(X_test)).astype(int)]
        fidelity = float(np.mean(predicted == problem.decided))
        yield Fit(method, setting, *cost(estimator), 100 * fidelity, cpu)


def _cart(problem: Problem) -> Iterator[Fit]:
    trees = (
        (
            f"{leaves} leaves",
            DecisionTreeClassifier(max_leaf_nodes=leaves, min_samples_leaf=5, random_state=0),
        )
        for leaves in (scaled(leaves, problem.n_classes) for leaves in LEAVES)
    )
    return _fits(problem, "CART", trees, lambda tree: (tree.tree_.node_count, int(tree.get_n_leaves())))


def _rug(problem: Problem) -> Iterator[Fit]:
    from ruleopt import RUGClassifier
    from ruleopt.solver import HiGHSSolver

    models = (
        (
            f"{rounds} rounds, penalty {penalty:g}, depth {depth}",
            RUGClassifier(
                solver=HiGHSSolver(penalty=penalty), max_rmp_calls=rounds, max_depth=depth, random_state=0
            ),
        )
        for depth, rounds, penalty in product((1, 2, 3, 4), (2, 10), (1.0, 10.0, 100.0))
    )

    def cost(model: Any) -> tuple[int, int]:
        rules = list(model.decision_rules_.values())
        return sum(1 + rule.n_clauses for rule in rules), len(rules)

    return _fits(problem, "RUG", models, cost)


def _figs(problem: Problem) -> Iterator[Fit]:
    from imodels import FIGSClassifier

    models = ((f"{n} splits", FIGSClassifier(max_rules=n, random_state=0)) for n in FIGS_SPLITS)

    def cost(model: Any) -> tuple[int, int]:
        n_splits = int(model.complexity_)
        n_leaves = n_splits + len(model.trees_)
        return n_splits + n_leaves, n_leaves

    return _fits(problem, "FIGS", models, cost)


def rulefit(problem: Problem) -> Iterator[Fit]:
    """Fit rules of boosted trees with a lasso; two classes only."""
    from imodels import RuleFitClassifier

    models = (
        (f"{n} rules", RuleFitClassifier(max_rules=n, include_linear=False, random_state=0))
        for n in (2 * RULE_BUDGETS[-1], *reversed(RULE_BUDGETS))
    )

    def cost(model: Any) -> tuple[int, int]:
        kept = [rule for rule, weight in zip(model.rules_, model.coef, strict=False) if abs(weight) > 1e-9]
        return sum(1 + len(rule.agg_dict) for rule in kept), len(kept)

    return of_two_classes(problem, "RuleFit", models, cost)


def of_two_classes(
    problem: Problem, name: str, models: Iterable[tuple[str, Any]], cost: Callable[[Any], tuple[int, int]]
) -> Iterator[Fit]:
    """Fit models that support two classes only."""
    if problem.n_classes > 2:
        raise NotImplementedError("supports two classes only")
    return _fits(problem, name, models, cost)


METHODS: dict[str, Callable[[Problem], Iterator[Fit]]] = {
    "ours": _ours,
    LABELS: partial(_ours, name=LABELS),
    "default": _default,
    "before": _by_rules_and_terms,
    "CART": _cart,
    "C5.0": _c50,
    "RUG": _rug,
    "FIGS": _figs,
    "RuleFit": rulefit,
}


def print_fits(problem: Problem, methods: Iterable[Callable[[Problem], Iterator[Fit]]], seconds: int) -> None:
    """Print the fits of some methods to one problem, for at most so many CPU seconds from now."""
    used = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, used + seconds + 5))
    warnings.simplefilter("ignore")  # standard output is for the results
    n_rows, n_columns = problem.X.shape
    print(json.dumps({"n_classes": problem.n_classes, "n_rows": n_rows, "n_columns": n_columns}), flush=True)
    for method in methods:
        for fit in method(problem):
            print(json.dumps(asdict(fit)), flush=True)


def main() -> None:
    """In a new process: print the fits of some methods to one problem."""
    methods, table, split, limit, answers = sys.argv[1:]
    problem = trained(table, int(split), Path(answers))
    print_fits(problem, [METHODS[method] for method in methods.split("+")], int(limit))


if __name__ == "__main__":
    main()
