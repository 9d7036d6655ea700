"""Random training data and options, and the core's model compared with that of the literal reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.induction import golden
from tests.induction.golden import DataSet
from tests.reference import c50

SIZES = [3, 10, 40, 120, 300, 700, 1500, 3000]
SIZE_SHARES = [0.03, 0.07, 0.15, 0.25, 0.2, 0.15, 0.1, 0.05]


def random_column(
    rng: np.random.Generator, n_rows: int, may_be_discrete: bool
) -> tuple[np.ndarray, list | None]:
    """A column, and its declared values if it is discrete."""
    kind = rng.integers(0, 8)
    if kind == 5 and may_be_discrete:
        n_values = int(rng.integers(1, 9))
        return rng.integers(0, n_values, n_rows).astype(float), list(range(n_values))
    plain = rng.normal(size=n_rows)
    shaped = {
        1: np.maximum(plain, 0),
        2: np.round(plain, 1),
        3: np.floor(rng.random(n_rows) * 4),
        4: np.tanh(3 * plain),
    }
    return shaped.get(int(kind), plain), None


def random_classes(rng: np.random.Generator, table: np.ndarray, n_classes: int) -> np.ndarray:
    """Classes that depend on some columns, with or without noise; of two, one may be rare."""
    score = rng.choice([0, 0.2, 1]) * rng.normal(size=len(table))
    for column in table.T[:3]:
        score += rng.normal() * (column if rng.random() < 0.5 else column > np.median(column))
    if n_classes == 2 and rng.random() < 0.35:
        classes = score > np.quantile(score, rng.choice([0.9, 0.95, 0.98]))
    else:
        classes = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    reverse = rng.random() < 0.3
    return (n_classes - 1 - classes if reverse else classes).astype(np.int32)


def random_case(seed: int) -> tuple[DataSet, dict[str, Any]]:
    """Data and options in the words of golden files."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.choice(SIZES, p=SIZE_SHARES))
    n_classes = int(rng.choice([2, 2, 2, 3, 5]))
    columns = [random_column(rng, n_rows, seed % 3 == 0) for _ in range(rng.integers(1, 8))]
    table = np.stack([cells for cells, _ in columns], axis=1)
    classes = random_classes(rng, table, n_classes)
    if seed % 4 == 1:
        table = np.where(rng.random(table.shape) < rng.choice([0.02, 0.2]), np.nan, table)
    weights = rng.choice([0.5, 1, 2, 3.3], n_rows).astype(np.float32) if seed % 5 == 2 else None
    costs = None
    if seed % 7 == 3:
        shape = (n_classes, n_classes)
        costs = np.where(rng.random(shape) < 0.4, rng.choice([2, 5, 2.5], shape), 1.0).astype(np.float32)
        np.fill_diagonal(costs, 0)
    options = {
        "rules": bool(rng.random() < 0.6),
        "minCases": float(rng.choice([1, 2, 2, 5, 15])),
        "CF": float(rng.choice([0.25, 0.25, 0.05, 0.75])),
        "winnow": bool(rng.random() < 0.4) and weights is None,  # the reference program is broken there
        "noGlobalPruning": bool(rng.random() < 0.2),
        "subset": bool(rng.random() < 0.6),
        "sample": 0.0 if rng.random() < 0.9 else 0.5,
        "seed": int(rng.integers(0, 100)),
    }
    values = [declared for _, declared in columns]
    return DataSet(
        table, values, classes, n_classes, weights, None if costs is None else costs.ravel()
    ), options


def reference_model(data: DataSet, options: dict[str, Any]) -> c50.Model:
    costs = None
    if data.costs is not None:
        costs = tuple(map(tuple, data.costs.reshape(data.n_classes, data.n_classes).tolist()))
    columns = [
        cells if declared is None else np.where(np.isnan(cells), -1, cells).astype(int)
        for cells, declared in zip(data.table.T, data.values, strict=True)
    ]
    return c50.fit(
        columns,
        data.kinds,
        data.classes,
        data.n_classes,
        c50.Options(
            rules=options["rules"],
            min_cases=options["minCases"],
            cf=options["CF"],
            winnow=options["winnow"],
            global_pruning=not options["noGlobalPruning"],
            subset=options["subset"],
            sample=options["sample"],
            seed=options["seed"],
            costs=costs,
            trials=options.get("trials", 1),
            early_stopping=options.get("earlyStopping", True),
            fuzzy=options.get("fuzzyThreshold", False),
        ),
        weights=data.weights,
        n_values=data.n_categories.tolist(),
    )


def described(model: c50.Model) -> Any:
    """The reference's model in the words of golden files."""
    trial = model.trials[0]
    if trial.found is None:
        return described_node(trial.tree)
    return [described_rule(rule) for rule in trial.found.rules]


def described_rule(rule: c50.Rule) -> dict[str, Any]:
    conditions = []
    for condition in rule.conditions:
        stated: dict[str, Any] = {"feature": condition.feature, "op": condition.op}
        if condition.threshold is not None:
            stated["threshold"] = float(condition.threshold)
        else:
            values = [int(value) for value in condition.values]
            stated["value"] = values if condition.op == "in" else values[0]
        conditions.append(stated)
    figures = golden.six_digits([rule.cover, rule.ok, rule.lift])
    return {"cls": int(rule.cls), "conditions": conditions, "figures": figures}


def described_node(node: c50.Node) -> dict[str, Any]:
    stated: dict[str, Any] = {"cls": int(node.cls)}
    stated["freq"] = None if node.freq is None else golden.six_digits(node.freq)
    if node.is_leaf:
        return stated
    stated |= {"test": node.test, "feature": node.feature}
    if node.test == "threshold":
        below = {"le": described_node(node.le), "gt": described_node(node.gt)}
        return stated | {"threshold": float(node.threshold)} | below
    if node.test == "subset":
        stated["subsets"] = [[int(value) for value in subset] for subset in node.subsets]
    return stated | {"branches": [described_node(branch) for branch in node.branches]}


def difference_of_case(seed: int, n_threads: int = 1, always_in_leaf_order: bool = False) -> str | None:
    """Where the core's model differs from the reference's, or None."""
    data, options = random_case(seed)
    ours = golden.fit(data, options, n_threads, always_in_leaf_order)
    reference = reference_model(data, options)
    found = reference.trials[0].found
    if found is not None and ours.default_label != found.default:
        return f"default class: {ours.default_label}, reference {found.default}"
    if ours.in_use.count(False) != reference.n_winnowed:
        return f"winnowed columns: {ours.in_use.count(False)}, reference {reference.n_winnowed}"
    describe = golden.described_rules if options["rules"] else golden.described_tree
    return golden.first_difference(describe(ours, data.values), described(reference))
