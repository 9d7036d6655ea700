"""The smallest piece of work: one method with one value of μ on one fold, and its result.

A cell is run in a process of its own, so that its peak memory is its own, and its result is one file that is
written completely or not at all. What was settled when it was written is kept in it: a result is only used
again as long as nothing of that has changed.
"""

import io
import json
import platform
import resource
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

import clausewise
from clausewise import ExtractionLimitExceeded, Network, RuleSet
from clausewise.extractors import RuleExtractor
from clausewise.io.atomic import write_atomically
from clausewise.rules import metrics
from clausewise_experiments.data import TaskData, read_file
from clausewise_experiments.folds import Fold, fold_of
from clausewise_experiments.methods import METHODS, NETWORK, aims_at_fidelity, compact_name, estimator
from clausewise_experiments.networks import TrainedNetwork, network_key, network_of
from clausewise_experiments.settings import TaskSettings, digest

FORMAT: Final = 1
VOTES: Final = ("confidence", "majority", "share")
# The key of measures that no vote can change: a network's own, and those of rules with fitted weights.
ANY_VOTE: Final = "any"
# With more columns, the number of rules that test each of them is not kept.
MAX_FEATURES_KEPT: Final = 100


@dataclass(frozen=True)
class Cell:
    """One method with one value of μ (and further options) on one fold of a task."""

    task: str
    fold: int
    method: str
    min_cases: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """A name for its file."""
        parts = [self.method.replace("*", "-star").replace(" ", "-").lower()]
        if self.min_cases is not None:
            parts.append(f"{self.min_cases:g}")
        parts += [f"{key}={value}".replace(" ", "-") for key, value in sorted(self.options.items())]
        return "_".join(parts)

    def __str__(self) -> str:
        value = "" if self.min_cases is None else f" μ={self.min_cases:g}"
        options = "".join(f" {key}={value}" for key, value in self.options.items())
        return f"{self.task} fold {self.fold} {self.method}{value}{options}"


@dataclass(frozen=True)
class Workplace:
    """The folder of a run: rows, networks and results."""

    folder: Path

    def data(self, data_digest: str) -> Path:
        """The file of a task's rows."""
        return self.folder / "data" / f"{data_digest}.npz"

    def network(self, key: str) -> Path:
        """The file of a trained network."""
        return self.folder / "networks" / f"{key}.npz"

    def result(self, cell: Cell) -> Path:
        """The file of a result."""
        return self.folder / "results" / cell.task / f"fold{cell.fold}" / f"{cell.name}.json"


@dataclass(frozen=True)
class Prepared:
    """A task whose rows are ready: its settings and the name of its rows."""

    settings: TaskSettings
    data_digest: str

    def terms_of(self, cell: Cell) -> dict[str, Any]:
        """Everything that a cell's result depends on, and nothing else."""
        task, method = self.settings, METHODS.get(cell.method)
        terms = {
            "format": FORMAT,
            "clausewise": clausewise.__version__,
            "data": self.data_digest,
            "folds": asdict(task.folds),
            "network": asdict(task.network),
            "cell": asdict(cell),
        }
        if method is not None and method.is_termwise:
            terms["limits"] = {name: getattr(task.limits, name) for name in ("seconds", "rules", "megabytes")}
        if method is not None and method.inducer == "cart":
            is_balanced = {"balanced": task.cart.balanced} if method.kind == "eclaire" else {}
            terms["cart"] = {"ccp_alpha": task.cart.ccp_alpha, **is_balanced}
        return terms

    def result_of(self, cell: Cell, place: Workplace) -> tuple[dict[str, Any] | None, str | None]:
        """A cell's result, if it is there and nothing has changed since; otherwise what has."""
        result, change = read_result(place.result(cell), self.terms_of(cell))
        limit = self.settings.limits.process_seconds
        if result is not None and result.get("stopped_after", limit) != limit:
            return None, f"limits.process_seconds {result['stopped_after']:g} → {limit:g}"
        return result, change


def cells_of(task: TaskSettings, methods: tuple[str, ...] | None = None) -> Iterator[Cell]:
    """All cells of a task, fold by fold, what is cheap first."""
    for fold in range(task.n_folds_run):
        yield Cell(task.name, fold, NETWORK)
        for method, values in task.min_cases.items():
            if methods is None or method in methods:
                yield from (Cell(task.name, fold, method, value) for value in values)
        for budget in task.budgets:
            if methods is None or "compact" in methods:
                yield Cell(task.name, fold, compact_name(budget))


# --- Files ---


def save_data(data: TaskData, path: Path) -> None:
    """Put a task's rows where cells read them."""
    buffer = io.BytesIO()
    arrays = {"X": data.X, "y": data.y, "feature_names": np.array(data.feature_names)}
    if data.fold is not None:
        arrays["fold"] = data.fold
    np.savez(buffer, class_names=np.array(data.class_names), **arrays)  # type: ignore[arg-type]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, buffer.getvalue())


def write_result(path: Path, content: dict[str, Any]) -> None:
    """Put a result into its file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def read_result(path: Path, terms: dict[str, Any]) -> tuple[dict[str, Any] | None, str | None]:
    """A result, if it is there and was found under these terms; otherwise what has changed, if anything."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None, None
    except ValueError:
        return None, "the file is damaged"
    if content.get("fingerprint") == digest(terms):
        return content, None
    return None, changes(content.get("terms", {}), json.loads(json.dumps(terms)))


def changes(before: Any, after: Any, name: str = "") -> str:
    """Which settings differ, such as "network.epochs 150 → 15"."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = dict.fromkeys((*before, *after))
        parts = (
            changes(before.get(key), after.get(key), f"{name}.{key}" if name else key)
            for key in keys
            if before.get(key) != after.get(key)
        )
        return ", ".join(parts)
    return f"{name} {before} → {after}"


# --- Work, in a process of its own ---


def train_network(place: Workplace, prepared: Prepared, fold: int) -> None:
    """Train the network of a fold and keep it."""
    started = time.perf_counter()
    task = prepared.settings
    data = _rows(place, prepared)
    network = network_of(data, fold_of(data, task.folds, fold), fold, task.network)
    notes: dict[str, Any] = {"task": task.name, "fold": fold, "network": asdict(task.network)}
    notes |= {"seconds": time.perf_counter() - started, "python": platform.python_version()}
    network.save(place.network(network_key(prepared.data_digest, task, fold)), notes)


def run_cell(place: Workplace, prepared: Prepared, cell: Cell) -> None:
    """Run a cell and write its result."""
    started = time.perf_counter()
    terms = prepared.terms_of(cell)
    found = measured(place, prepared, cell)
    result = {"fingerprint": digest(terms), "terms": terms, **found}
    result["total_seconds"] = time.perf_counter() - started
    write_result(place.result(cell), result)


def stopped_result(prepared: Prepared, cell: Cell, seconds: float) -> dict[str, Any]:
    """The result of a cell whose process was stopped."""
    terms, limit = prepared.terms_of(cell), prepared.settings.limits.process_seconds
    return {
        "fingerprint": digest(terms),
        "terms": terms,
        "status": "exceeded",
        "reason": f"it was stopped after {limit:g} s",
        "stopped_after": limit,
        "seconds": seconds,
        "total_seconds": seconds,
    }


def measured(place: Workplace, prepared: Prepared, cell: Cell) -> dict[str, Any]:
    """Extract rules on all training rows and test them; then choose-by figures on rows held back."""
    task = prepared.settings
    data = _rows(place, prepared)
    fold = fold_of(data, task.folds, cell.fold)
    trained = TrainedNetwork.load(place.network(network_key(prepared.data_digest, task, cell.fold)))
    network = trained.wrapped(task.network.activation, data.feature_names)
    if cell.method == NETWORK:
        return {"status": "done", "votes": {ANY_VOTE: of_network(network, data, fold)}}
    before = peak_megabytes()
    clock, cpu = time.perf_counter(), time.process_time()
    caught: list[warnings.WarningMessage]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = fitted(cell, cell.min_cases, network, data, fold.train, task)
        except ExtractionLimitExceeded as error:
            seconds = time.perf_counter() - clock
            return {"status": "exceeded", "reason": error.reason, "seconds": seconds}
    result: dict[str, Any] = {
        "status": "done",
        "seconds": time.perf_counter() - clock,
        "cpu_seconds": time.process_time() - cpu,
        "memory_mb": peak_megabytes(),
        "memory_before_mb": before,
        "warnings": sorted({str(one.message) for one in caught}),
        **of_rules(model.rules_, network, data, fold),
    }
    if cell.min_cases is not None and not cell.options:
        result["held_back"] = on_rows_held_back(cell, network, data, fold, task)
    return result


def fitted(
    cell: Cell,
    min_cases: float | None,
    network: Network,
    data: TaskData,
    rows: np.ndarray[Any, np.dtype[np.intp]],
    task: TaskSettings,
) -> RuleExtractor:
    """The cell's method, fitted to some rows."""
    model = estimator(cell.method, min_cases, network, task, **cell.options)
    return model.fit(data.X[rows], data.y[rows])


def of_network(network: Network, data: TaskData, fold: Fold) -> dict[str, float]:
    """How good the network itself is on the test rows."""
    X, y, classes = data.X[fold.test], data.y[fold.test], np.arange(len(data.class_names))
    labels = network.labels(X)
    return {
        "accuracy": metrics.accuracy(labels, y),
        "auc_labels": metrics.auc_from_labels(labels, y, classes),
        "auc_scores": metrics.auc(network.probabilities(X), y, classes),
    }


def of_rules(rules: RuleSet, network: Network, data: TaskData, fold: Fold) -> dict[str, Any]:
    """All measures on the test rows, under each vote."""
    X, y = data.X[fold.test], data.y[fold.test]
    decided = network.labels(X)
    votes = {}
    for vote in VOTES if rules.voting != "weights" else ("weights",):
        found = rules.evaluate(X, y, network=decided, voting=vote, n_jobs=1)
        votes[ANY_VOTE if vote == "weights" else vote] = {
            "accuracy": found.accuracy,
            "auc_labels": found.auc_from_labels,
            "auc_scores": found.auc,
            "fidelity": found.fidelity,
        }
    kept: dict[str, Any] = {
        "votes": votes,
        "n_rules": len(rules),
        "mean_length": metrics.mean_rule_length(rules),
    }
    if len(data.feature_names) <= MAX_FEATURES_KEPT:
        kept["feature_use"] = rules.explain_global().feature_use.sum(axis=1).tolist()
    return kept


def on_rows_held_back(
    cell: Cell, network: Network, data: TaskData, fold: Fold, task: TaskSettings
) -> dict[str, float] | None:
    """What μ is chosen by without a look at the test rows; None if the method hit its bounds.

    Rules from the other training rows, with μ in proportion; per vote their fidelity, or for methods that
    imitate no network their accuracy.
    """
    min_cases = cell.min_cases
    if min_cases is not None and min_cases >= 1:
        min_cases = max(2, round(min_cases * len(fold.kept) / len(fold.train)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            rules = fitted(cell, min_cases, network, data, fold.kept, task).rules_
        except ExtractionLimitExceeded:
            return None
    X = data.X[fold.held_back]
    target = network.labels(X) if aims_at_fidelity(cell.method) else data.y[fold.held_back]
    return {vote: metrics.accuracy(rules.predict(X, voting=vote, n_jobs=1), target) for vote in VOTES}


def peak_megabytes() -> float:
    """The most memory that this process has had so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def _rows(place: Workplace, prepared: Prepared) -> TaskData:
    return read_file(place.data(prepared.data_digest))
