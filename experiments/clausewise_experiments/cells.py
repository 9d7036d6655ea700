"""The unit of work: one method with one value of μ on one fold, and its result.

Each cell runs in its own process, so that its peak memory can be measured, and writes its result atomically
to one file. The file also stores everything that the result depends on; the result is reused only while none
of that has changed.
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
# Votes that need nothing but the rules, and votes that are fitted to the network's decisions.
PLAIN_VOTES: Final = ("confidence", "majority", "share")
FITTED_VOTES: Final = ("fitted", "fitted_by_class")
VOTES: Final = (*PLAIN_VOTES, *FITTED_VOTES)
# The key of measures that do not depend on the vote: those of networks and of rules with fitted weights.
ANY_VOTE: Final = "any"
# With more columns than this, the number of rules that test each column is not stored.
MAX_FEATURES_STORED: Final = 100
# Keys of format 1 of the result files. Renaming them would discard hours of results.
DEPENDENCIES: Final = "terms"
HELD_OUT: Final = "held_back"


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
        """The stem of the name of its file."""
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
class RunFolder:
    """The folder of a run, which holds rows, networks and results."""

    folder: Path

    def data(self, data_digest: str) -> Path:
        """Return the path of a task's rows."""
        return self.folder / "data" / f"{data_digest}.npz"

    def network(self, key: str) -> Path:
        """Return the path of a trained network."""
        return self.folder / "networks" / f"{key}.npz"

    def result(self, cell: Cell) -> Path:
        """Return the path of a cell's result."""
        return self.folder / "results" / cell.task / f"fold{cell.fold}" / f"{cell.name}.json"


@dataclass(frozen=True)
class PreparedTask:
    """A task whose rows have been saved: its settings and the digest of the rows."""

    settings: TaskSettings
    data_digest: str

    def dependencies_of(self, cell: Cell) -> dict[str, Any]:
        """Return everything that a cell's result depends on, and nothing else."""
        task, method = self.settings, METHODS.get(cell.method)
        dependencies = {
            "format": FORMAT,
            "clausewise": clausewise.__version__,
            "data": self.data_digest,
            "folds": asdict(task.folds),
            "network": asdict(task.network),
            "cell": asdict(cell),
        }
        if method is not None and method.is_termwise:
            limits = {name: getattr(task.limits, name) for name in ("seconds", "rules", "megabytes")}
            dependencies["limits"] = limits
        if method is not None and method.inducer == "cart":
            is_balanced = {"balanced": task.cart.balanced} if method.kind == "eclaire" else {}
            dependencies["cart"] = {"ccp_alpha": task.cart.ccp_alpha, **is_balanced}
        return dependencies

    def result_of(self, cell: Cell, run_folder: RunFolder) -> tuple[dict[str, Any] | None, str | None]:
        """Return a cell's result, or None and what has changed since it was written."""
        result, change = read_result(run_folder.result(cell), self.dependencies_of(cell))
        limit = self.settings.limits.process_seconds
        if result is not None and result.get("stopped_after", limit) != limit:
            return None, f"limits.process_seconds {result['stopped_after']:g} → {limit:g}"
        return result, change


def cells_of(task: TaskSettings, methods: tuple[str, ...] | None = None) -> Iterator[Cell]:
    """Yield all cells of a task, fold by fold, cheap ones first."""
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
    """Save a task's rows where cells read them."""
    buffer = io.BytesIO()
    arrays = {"X": data.X, "y": data.y, "feature_names": np.array(data.feature_names)}
    if data.fold is not None:
        arrays["fold"] = data.fold
    np.savez(buffer, class_names=np.array(data.class_names), **arrays)  # type: ignore[arg-type]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, buffer.getvalue())


def write_result(path: Path, content: dict[str, Any]) -> None:
    """Write a result atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def read_result(path: Path, dependencies: dict[str, Any]) -> tuple[dict[str, Any] | None, str | None]:
    """Return a result, or None and what has changed; both are None if there is no result yet."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None, None
    except ValueError:
        return None, "the file is damaged"
    if content.get("fingerprint") == digest(dependencies):
        return content, None
    return None, changes(content.get(DEPENDENCIES, {}), json.loads(json.dumps(dependencies)))


def changes(before: Any, after: Any, name: str = "") -> str:
    """Describe which settings differ, such as "network.epochs 150 → 15"."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = dict.fromkeys((*before, *after))
        parts = (
            changes(before.get(key), after.get(key), f"{name}.{key}" if name else key)
            for key in keys
            if before.get(key) != after.get(key)
        )
        return ", ".join(parts)
    return f"{name} {before} → {after}"


# --- Work, in a separate process ---


def train_network(run_folder: RunFolder, prepared: PreparedTask, fold: int) -> None:
    """Train the network of a fold and save it."""
    started = time.perf_counter()
    task = prepared.settings
    data = _rows(run_folder, prepared)
    network = network_of(data, fold_of(data, task.folds, fold), fold, task.network)
    notes: dict[str, Any] = {"task": task.name, "fold": fold, "network": asdict(task.network)}
    notes |= {"seconds": time.perf_counter() - started, "python": platform.python_version()}
    network.save(run_folder.network(network_key(prepared.data_digest, task, fold)), notes)


def run_cell(run_folder: RunFolder, prepared: PreparedTask, cell: Cell) -> None:
    """Run a cell and write its result."""
    started = time.perf_counter()
    dependencies = prepared.dependencies_of(cell)
    found = measured(run_folder, prepared, cell)
    result = {"fingerprint": digest(dependencies), DEPENDENCIES: dependencies, **found}
    result["total_seconds"] = time.perf_counter() - started
    write_result(run_folder.result(cell), result)


def stopped_result(prepared: PreparedTask, cell: Cell, seconds: float) -> dict[str, Any]:
    """Return the result of a cell whose process was stopped."""
    dependencies, limit = prepared.dependencies_of(cell), prepared.settings.limits.process_seconds
    return {
        "fingerprint": digest(dependencies),
        DEPENDENCIES: dependencies,
        "status": "exceeded",
        "reason": f"it was stopped after {limit:g} s",
        "stopped_after": limit,
        "seconds": seconds,
        "total_seconds": seconds,
    }


def measured(run_folder: RunFolder, prepared: PreparedTask, cell: Cell) -> dict[str, Any]:
    """Return the measures of a cell on the test rows, and the scores on held-out rows that μ is chosen by."""
    task = prepared.settings
    data = _rows(run_folder, prepared)
    fold = fold_of(data, task.folds, cell.fold)
    trained = TrainedNetwork.load(run_folder.network(network_key(prepared.data_digest, task, cell.fold)))
    network = trained.wrapped(task.network.activation, data.feature_names)
    if cell.method == NETWORK:
        return {"status": "done", "votes": {ANY_VOTE: network_measures(network, data, fold)}}
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
        **rule_measures(model.rules_, network, data, fold),
    }
    if cell.min_cases is not None and not cell.options:
        result[HELD_OUT] = held_out_scores(cell, network, data, fold, task)
    return result


def fitted(
    cell: Cell,
    min_cases: float | None,
    network: Network,
    data: TaskData,
    rows: np.ndarray[Any, np.dtype[np.intp]],
    task: TaskSettings,
) -> RuleExtractor:
    """Return the cell's method, fitted to the given rows."""
    model = estimator(cell.method, min_cases, network, task, **cell.options)
    return model.fit(data.X[rows], data.y[rows])


def network_measures(network: Network, data: TaskData, fold: Fold) -> dict[str, float]:
    """Return the measures of the network itself on the test rows."""
    X, y, classes = data.X[fold.test], data.y[fold.test], np.arange(len(data.class_names))
    labels = network.labels(X)
    return {
        "accuracy": metrics.accuracy(labels, y),
        "auc_labels": metrics.auc_from_labels(labels, y, classes),
        "auc_scores": metrics.auc(network.probabilities(X), y, classes),
    }


def rule_measures(rules: RuleSet, network: Network, data: TaskData, fold: Fold) -> dict[str, Any]:
    """Return all measures of a rule set on the test rows, under each vote."""
    X, y = data.X[fold.test], data.y[fold.test]
    decided = network.labels(X)
    if rules.voting == "weights":
        votes = {ANY_VOTE: vote_measures(rules, X, y, decided)}
    else:
        votes = {
            vote: vote_measures(voting, X, y, decided)
            for vote, voting in under_each_vote(rules, data.X[fold.train], network)
        }
    measures: dict[str, Any] = {
        "votes": votes,
        "n_rules": len(rules),
        "mean_length": metrics.mean_rule_length(rules),
    }
    if len(data.feature_names) <= MAX_FEATURES_STORED:
        measures["feature_use"] = rules.explain_global().feature_use.sum(axis=1).tolist()
    return measures


def vote_measures(
    rules: RuleSet, X: np.ndarray[Any, Any], y: np.ndarray[Any, Any], decided: np.ndarray[Any, Any]
) -> dict[str, float | None]:
    """Return the measures of rules, as they vote, on test rows."""
    found = rules.evaluate(X, y, network=decided, n_jobs=1)
    return {
        "accuracy": found.accuracy,
        "auc_labels": found.auc_from_labels,
        "auc_scores": found.auc,
        "fidelity": found.fidelity,
    }


def under_each_vote(
    rules: RuleSet, X: np.ndarray[Any, Any], network: Network
) -> Iterator[tuple[str, RuleSet]]:
    """Yield the rules under each vote; X are the rows that they were learnt from.

    Two classes need no weights by class.
    """
    for vote in PLAIN_VOTES:
        yield vote, rules.with_voting(vote)
    labels = network.labels(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where confidences are better, they are kept
        yield "fitted", rules.fit_votes(X, labels, n_jobs=1)
        if len(rules.classes) > 2:
            yield "fitted_by_class", rules.fit_votes(X, labels, per_class=True, n_jobs=1)


def held_out_scores(
    cell: Cell, network: Network, data: TaskData, fold: Fold, task: TaskSettings
) -> dict[str, float] | None:
    """Return the score on held-out rows per vote, by which μ is chosen; None if the method hit its limits.

    Rules are extracted from the other training rows, with μ in proportion. The score is fidelity, or accuracy
    for methods that do not imitate a network.
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
    X = data.X[fold.held_out]
    target = network.labels(X) if aims_at_fidelity(cell.method) else data.y[fold.held_out]
    return {
        vote: metrics.accuracy(voting.predict(X, n_jobs=1), target)
        for vote, voting in under_each_vote(rules, data.X[fold.kept], network)
    }


def peak_megabytes() -> float:
    """Return the peak memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def _rows(run_folder: RunFolder, prepared: PreparedTask) -> TaskData:
    return read_file(run_folder.data(prepared.data_digest))
