"""Golden runs of C5.0: reading them, running the core on their data, and naming the first difference."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clausewise import C50Classifier, _core
from tests.shared import ROOT, SHARED

COMPLETE = SHARED / "c50" / "golden"  # all 546 runs, outside the repository
SELECTION = ROOT / "tests" / "golden" / "c50"  # a part of them, in the project
COMPLETE_BOOSTING = (
    SHARED / "c50" / "golden_boosting"
)  # 149 runs with boosting, fuzzy thresholds, ordered factors
SELECTION_BOOSTING = ROOT / "tests" / "golden" / "c50_boosting"

KINDS = ["leaf", "threshold", "multiway", "subset"]
OPERATORS = ["<=", ">", "==", "in"]


@dataclass(frozen=True)
class DataSet:
    """The rows of one golden file; discrete columns as codes, missing cells and classes as NaN and -1."""

    table: np.ndarray
    values: list[list[str] | None]
    classes: np.ndarray
    n_classes: int
    weights: np.ndarray | None
    costs: np.ndarray | None
    is_ordered: tuple[bool, ...] = ()  # per column; empty if none is

    @property
    def kinds(self) -> list[str]:
        """Continuous, discrete or ordered."""
        ordered = self.is_ordered or (False,) * len(self.values)
        return [
            "c" if declared is None else "o" if is_ordered else "d"
            for declared, is_ordered in zip(self.values, ordered, strict=True)
        ]

    @property
    def n_categories(self) -> np.ndarray:
        return np.array(
            [0 if declared is None else len(declared) for declared in self.values], dtype=np.int32
        )


def read(folder: Path, file: str) -> tuple[dict[str, Any], DataSet]:
    """A golden file and its training data."""
    golden = json.loads((folder / file).read_text())
    return golden, read_rows(folder, golden, "data")


def read_rows(folder: Path, golden: dict[str, Any], which: str) -> DataSet:
    """The training data ("data") or fresh rows ("test_data") of a golden file."""
    with open(folder / golden[which], newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    kinds = golden["feature_kinds"]
    columns: list[list[float]] = []
    values: list[list[str] | None] = []
    for a, kind in enumerate(kinds):
        cells = [row[a] for row in rows]
        declared = None
        if kind != "c":  # the first collection declares values in sorted order, without naming them
            declared = golden["values"][a] if "values" in golden else sorted({*cells} - {"NA"})
        values.append(declared)
        number = float if declared is None else declared.index
        columns.append([np.nan if cell == "NA" else float(number(cell)) for cell in cells])
    labels = [row[len(kinds)] for row in rows]
    codes = {label: code for code, label in enumerate(golden["classes"])}
    weights = np.array([float(row[-1]) for row in rows], dtype=np.float32) if golden["case_weights"] else None
    costs = golden["costs_pred_by_actual"]
    return DataSet(
        table=np.array(columns, dtype=np.float64).T,
        values=values,
        classes=np.array([codes.get(label, -1) for label in labels], dtype=np.int32),
        n_classes=len(golden["classes"]),
        weights=weights,
        costs=None if costs is None else np.array(costs, dtype=np.float32).ravel(),
        is_ordered=tuple(kind == "o" for kind in kinds),
    )


def fit(
    data: DataSet, options: dict[str, Any], n_threads: int = 1, always_in_leaf_order: bool = False
) -> _core.C50Model:
    """The core's model for the options of a golden run."""
    rows = np.flatnonzero(data.classes >= 0)
    if options["sample"] > 0:
        rows = rows[_core.sampled_rows(len(rows), options["sample"], options["seed"])]
    matrix = _core.prepare_matrix(data.table[rows], data.n_categories, n_threads)
    settings = _core.C50Options(
        rules=options["rules"],
        min_cases=options["minCases"],
        cf=options["CF"],
        winnow=options["winnow"],
        global_pruning=not options["noGlobalPruning"],
        subset=options["subset"],
        trials=options.get("trials", 1),
        early_stopping=options.get("earlyStopping", True),
        fuzzy_threshold=options.get("fuzzyThreshold", False),
        always_in_leaf_order=always_in_leaf_order,
    )
    weights = None if data.weights is None else data.weights[rows]
    is_ordered = [bool(ordered) for ordered in data.is_ordered] or None
    classes = data.classes[rows]
    return _core.fit_c50(
        matrix, classes, data.n_classes, weights, data.costs, settings, n_threads, is_ordered=is_ordered
    )


def six_digits(numbers: Any) -> list[str]:
    """As C5.0 prints them."""
    return [f"{float(number):g}" for number in numbers]


def described_rules(
    model: _core.C50Model, values: list[list[str] | None], trial: int = 0
) -> list[dict[str, Any]]:
    """The rules of a trial in the words of a golden file."""
    flat = model.rules(trial)
    rules = []
    for r, label in enumerate(flat["label"]):
        conditions = []
        for c in range(flat["start"][r], flat["start"][r + 1]):
            column, op = int(flat["column"][c]), OPERATORS[flat["kind"][c]]
            condition: dict[str, Any] = {"feature": column, "op": op}
            if op in ("<=", ">"):
                condition["threshold"] = float(flat["threshold"][c])
            else:
                declared = values[column]
                assert declared is not None
                named = [
                    declared[v] for v in flat["values"][flat["value_start"][c] : flat["value_start"][c + 1]]
                ]
                condition["value"] = named if op == "in" else named[0]
            conditions.append(condition)
        rules.append(
            {
                "cls": int(label),
                "conditions": conditions,
                "figures": six_digits([flat["cover"][r], flat["correct"][r], flat["lift"][r]]),
            }
        )
    return rules


def described_tree(model: _core.C50Model, values: list[list[str] | None], trial: int = 0) -> dict[str, Any]:
    """The tree of a trial in the words of a golden file."""
    flat = model.tree(trial)
    distribution = flat["distribution"].reshape(-1, model.n_classes)

    def describe(i: int) -> dict[str, Any]:
        node: dict[str, Any] = {"cls": int(flat["label"][i])}
        node["freq"] = six_digits(distribution[i]) if flat["size"][i] > 0 else None
        kind = KINDS[flat["kind"][i]]
        if kind == "leaf":
            return node
        node |= {"test": kind, "feature": int(flat["column"][i])}
        branches = [
            describe(child) for child in flat["child"][flat["child_start"][i] : flat["child_start"][i + 1]]
        ]
        if kind == "threshold":
            node |= {"threshold": float(flat["threshold"][i]), "le": branches[0], "gt": branches[1]}
            bounds = [float(flat[name][i]) for name in ("low", "middle", "high")]
            return node | written_bounds(bounds, node["threshold"])
        if kind == "subset":
            declared = values[node["feature"]]
            assert declared is not None
            branch_of = flat["value_branch"][flat["value_start"][i] : flat["value_start"][i + 1]]
            node["subsets"] = [
                [declared[v] for v in np.flatnonzero(branch_of == b)] for b in range(len(branches))
            ]
        return node | {"branches": branches}

    return describe(0)


def written_bounds(bounds: list[float], threshold: float) -> dict[str, str]:
    """The bounds of a fuzzy threshold as C5.0 writes them: only if the upper one is above the threshold."""
    if not bounds[2] > threshold:
        return {}
    return {
        f"{name}_text": f"{bound:.7g}" for name, bound in zip(("low", "mid", "high"), bounds, strict=True)
    }


def expected_model(model: dict[str, Any]) -> Any:
    """A golden model in the form of `described_rules` and `described_tree`."""

    def simplify(part: Any) -> Any:
        if isinstance(part, list):
            return [simplify(each) for each in part]
        if not isinstance(part, dict):
            return part
        kept = {
            k: simplify(v) for k, v in part.items() if k not in ("threshold_text", "threshold_candidates")
        }
        if part.get("threshold_candidates"):
            kept["threshold"] = tuple(part["threshold_candidates"])
        if kept.get("freq") is not None:
            kept["freq"] = six_digits(kept["freq"])
        if "cover" in kept:
            kept["figures"] = six_digits([kept.pop("cover"), kept.pop("ok"), kept.pop("lift")])
            del kept["confidence"]
        return kept

    return simplify(model["rules"] if model["type"] == "rules" else model["root"])


def first_difference(ours: Any, golden: Any, where: str = "model") -> str | None:
    """Where the two differ first, or None."""
    if isinstance(golden, tuple):  # thresholds that print alike
        return None if ours in golden else f"{where}: {ours}, golden one of {golden}"
    if isinstance(golden, dict) and isinstance(ours, dict):
        if golden.keys() != ours.keys():
            return f"{where}: has {sorted(ours)}, golden {sorted(golden)}"
        return next(
            filter(None, (first_difference(ours[k], golden[k], f"{where}.{k}") for k in golden)), None
        )
    if isinstance(golden, list) and isinstance(ours, list):
        if len(golden) != len(ours):
            return f"{where}: {len(ours)} entries, golden {len(golden)}"
        pairs = enumerate(zip(ours, golden, strict=True))
        return next(filter(None, (first_difference(o, g, f"{where}[{i}]") for i, (o, g) in pairs)), None)
    return None if ours == golden else f"{where}: {ours}, golden {golden}"


def difference_of_run(data: DataSet, run: dict[str, Any], n_threads: int = 1) -> str | None:
    """How the core's model differs from a golden one, or None."""
    model = fit(data, run["options"], n_threads)
    n_winnowed = model.in_use.count(False)
    if n_winnowed != run.get("n_winnowed", n_winnowed):
        return f"winnowed columns: {n_winnowed}, golden {run['n_winnowed']}"
    recorded = run["models"] if "models" in run else [run["model"]]
    if model.n_trials != len(recorded):
        return f"trials: {model.n_trials}, golden {len(recorded)}"
    for name, found in (("stopped", model.stop), ("abandoned", model.is_abandoned)):
        if found != run.get(name, found):
            return f"{name}: {found}, golden {run[name]}"
    for trial, expected in enumerate(recorded):
        difference = difference_of_trial(model, trial, data, expected)
        if difference is not None:
            return f"trial {trial}: {difference}"
    return None


def difference_of_trial(
    model: _core.C50Model, trial: int, data: DataSet, expected: dict[str, Any]
) -> str | None:
    """How one classifier differs from a golden one, or None."""
    if expected["type"] == "tree":
        return first_difference(described_tree(model, data.values, trial), expected_model(expected))
    if model.default_label(trial) != expected["default"]:
        return f"default class: {model.default_label(trial)}, golden {expected['default']}"
    return first_difference(described_rules(model, data.values, trial), expected_model(expected))


def positive_weights(data: DataSet) -> np.ndarray | None:
    """The classifier refuses weights of 0 and below; C5.0 takes them for the mean of the others."""
    if data.weights is None:
        return None
    is_positive = data.weights > 0
    return np.where(is_positive, data.weights, data.weights[is_positive].mean(dtype=np.float64))


def frame_of(data: DataSet) -> pd.DataFrame:
    """The rows with their categories, as users would have them."""
    columns = {}
    for position, declared in enumerate(data.values):
        cells = data.table[:, position]
        if declared is not None:
            codes = np.where(np.isnan(cells), -1, cells).astype(int)
            cells = pd.Categorical.from_codes(codes, declared, ordered=data.kinds[position] == "o")
        columns[f"column {position}"] = cells
    return pd.DataFrame(columns)


def classifier_of(collection: dict[str, Any], options: dict[str, Any]) -> C50Classifier:
    """The classifier with the options of a golden run."""
    return C50Classifier(
        rules=options["rules"],
        min_cases=options["minCases"],
        cf=options["CF"],
        winnow=options["winnow"],
        global_pruning=not options["noGlobalPruning"],
        subset=options["subset"],
        sample=options["sample"],
        random_state=options["seed"],
        costs=collection["costs_pred_by_actual"],
        trials=options.get("trials", 1),
        early_stopping=options.get("earlyStopping", True),
        fuzzy_threshold=options.get("fuzzyThreshold", False),
        class_order=collection["classes"],
    )
