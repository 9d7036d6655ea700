"""Random training data and options, and the core's model compared with that of the literal reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from clausewise import _core
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


def random_boosted_case(seed: int) -> tuple[DataSet, dict[str, Any]]:
    """As `random_case`, with boosting, fuzzy thresholds, ordered factors, limits of CF and odd weights."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.choice([6, 20, 60, 120, 250, 600, 4_050], p=[0.03, 0.1, 0.25, 0.36, 0.2, 0.057, 0.003]))
    n_classes = int(rng.choice([2, 2, 2, 3, 4]))
    n_columns = int(rng.integers(1, 6))
    table = np.empty((n_rows, n_columns))
    values: list[list | None] = []
    is_ordered = []
    for column in range(n_columns):
        kind = rng.choice(["c", "d", "o"], p=[0.55, 0.3, 0.15])
        is_ordered.append(bool(kind == "o"))
        if kind == "c":
            table[:, column], _ = random_column(rng, n_rows, may_be_discrete=False)
            values.append(None)
        else:
            n_values = int(rng.choice([1, 2, 3, 4, 6, 9, 15]))
            share = rng.dirichlet(np.full(n_values, rng.choice([0.3, 2.0])))
            table[:, column] = rng.choice(n_values, n_rows, p=share)
            values.append(list(range(n_values)))
    classes = random_classes(rng, table, n_classes)
    if rng.random() < 0.3:
        table = np.where(rng.random(table.shape) < rng.choice([0.02, 0.2, 0.5]), np.nan, table)
    weights = None
    if rng.random() < 0.25:
        choices = [[0.5, 1, 2, 3.3], [0.01, 1, 40], [0, 1, np.nan, 2.5]][int(rng.integers(3))]
        weights = rng.choice(choices, n_rows).astype(np.float32)
    costs = None
    if rng.random() < 0.25:
        shape = (n_classes, n_classes)
        costs = np.where(rng.random(shape) < 0.5, rng.choice([2, 5, 1.7], shape), 1.0).astype(np.float32)
        np.fill_diagonal(costs, 0)
    options = {
        "rules": bool(rng.random() < 0.5),
        "minCases": float(rng.choice([1, 2, 2, 2, 7])),
        "CF": float(rng.choice([0.25, 0.25, 0.25, 0.05, 0.8, 1.0, 0.0, 1e-7])),
        "winnow": bool(rng.random() < 0.2) and weights is None,
        "noGlobalPruning": bool(rng.random() < 0.3),
        "subset": bool(rng.random() < 0.6),
        "sample": 0.0 if rng.random() < 0.9 else 0.6,
        "seed": int(rng.integers(0, 100)),
        "trials": int(rng.choice([1, 2, 3, 5, 9])),
        "earlyStopping": bool(rng.random() < 0.6),
        "fuzzyThreshold": bool(rng.random() < 0.35),
    }
    return DataSet(
        table,
        values,
        classes,
        n_classes,
        weights,
        None if costs is None else costs.ravel(),
        tuple(is_ordered),
    ), options


def reference_columns(data: DataSet) -> list[np.ndarray]:
    """The columns as the reference takes them."""
    return [
        cells if declared is None else np.where(np.isnan(cells), -1, cells).astype(int)
        for cells, declared in zip(data.table.T, data.values, strict=True)
    ]


def reference_model(data: DataSet, options: dict[str, Any]) -> c50.Model:
    costs = None
    if data.costs is not None:
        costs = tuple(map(tuple, data.costs.reshape(data.n_classes, data.n_classes).tolist()))
    return c50.fit(
        reference_columns(data),
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


def described(model: c50.Model, number: int = 0) -> Any:
    """A trial of the reference's model in the words of golden files."""
    trial = model.trials[number]
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
        stated |= {"threshold": float(node.threshold)} | below
        if node.bounds is None:
            return stated
        bounds = [float(bound) for bound in (node.bounds.low, node.bounds.mid, node.bounds.high)]
        return stated | golden.written_bounds(bounds, stated["threshold"])
    if node.test == "subset":
        stated["subsets"] = [[int(value) for value in subset] for subset in node.subsets]
    return stated | {"branches": [described_node(branch) for branch in node.branches]}


def difference_of_case(seed: int, n_threads: int = 1, always_in_leaf_order: bool = False) -> str | None:
    """Where the core's model differs from the reference's, or None."""
    data, options = random_case(seed)
    ours = golden.fit(data, options, n_threads, always_in_leaf_order)
    reference = reference_model(data, options)
    return difference_of_models(ours, reference, data)


def difference_of_boosted_case(seed: int, n_threads: int = 1) -> str | None:
    """Where the core's models or the classifier's predictions differ from the reference's, or None."""
    data, options = random_boosted_case(seed)
    reference = reference_model(data, options)
    difference = difference_of_models(golden.fit(data, options, n_threads), reference, data)
    # The classifier refuses weights that C5.0 takes for the mean.
    has_usable_weights = data.weights is None or (data.weights > 0).all()
    if difference is not None or not has_usable_weights:
        return difference
    return difference_of_predictions(data, options, reference)


def difference_of_predictions(data: DataSet, options: dict[str, Any], reference: c50.Model) -> str | None:
    """The same for predictions on the training rows."""
    collection = {
        "classes": list(range(data.n_classes)),
        "costs_pred_by_actual": None if data.costs is None else data.costs.reshape(-1, data.n_classes),
    }
    X = golden.frame_of(data)
    model = golden.classifier_of(collection, options)
    model.fit(X, data.classes, sample_weight=golden.positive_weights(data))
    codes, probabilities = c50.predict(reference, reference_columns(data), from_text=True)
    found = model.predict(X)
    if (found != codes).any():
        row = int(np.flatnonzero(found != codes)[0])
        return f"prediction of row {row}: {found[row]}, reference {codes[row]}"
    error = np.abs(model.predict_proba(X) - probabilities).max()
    return None if error <= 1e-12 else f"probabilities differ by {error}"


def difference_of_models(ours: _core.C50Model, reference: c50.Model, data: DataSet) -> str | None:
    """Where the core's model differs from the reference's, or None."""
    n_trials = len(reference.trials)
    pairs = {
        "winnowed columns": (ours.in_use.count(False), reference.n_winnowed),
        "trials": (ours.n_trials, n_trials),
        "stopped": (ours.stop, reference.stopped),
        "abandoned": (ours.is_abandoned, reference.was_abandoned),
    }
    for what, (found, expected) in pairs.items():
        if found != expected:
            return f"{what}: {found}, reference {expected}"
    for t, trial in enumerate(reference.trials):
        if trial.found is not None and ours.default_label(t) != trial.found.default:
            return f"trial {t}: default class {ours.default_label(t)}, reference {trial.found.default}"
        describe = golden.described_tree if trial.found is None else golden.described_rules
        difference = golden.first_difference(describe(ours, data.values, t), described(reference, t))
        if difference is not None:
            return f"trial {t}: {difference}"
        if ours.n_trial_errors(t) != reference.n_training_errors[t]:
            return f"trial {t}: {ours.n_trial_errors(t)} errors, reference {reference.n_training_errors[t]}"
    return None
