"""Turn results into rows of tables: choose the value of μ to show, and average over the folds."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from clausewise_experiments.cells import ANY_VOTE, HELD_OUT, Cell, PreparedTask, RunFolder, cells_of
from clausewise_experiments.methods import METHODS, aims_at_fidelity
from clausewise_experiments.settings import TaskSettings, load_settings, task_names

Choice = Literal["test", "held out"]
Result = Mapping[str, Any]

# Measures that depend on the vote (shown in per cent), and measures that do not.
OF_VOTE: Final = ("accuracy", "auc_labels", "auc_scores", "fidelity")
OF_RULES: Final = ("seconds", "cpu_seconds", "memory_mb", "n_rules", "mean_length")
MEASURES: Final = (*OF_VOTE, *OF_RULES)
RESOURCES: Final = ("seconds", "cpu_seconds", "memory_mb")


@dataclass(frozen=True)
class Figure:
    """Mean and standard deviation over the folds."""

    mean: float
    sd: float

    @staticmethod
    def of(values: Iterable[float]) -> "Figure":
        """Return mean and population standard deviation (NumPy's default) of the values."""
        array = np.array(list(values), dtype=np.float64)
        return Figure(float(array.mean()), float(array.std()))


@dataclass(frozen=True)
class Row:
    """One method on one task.

    Attributes
    ----------
    task, method
        The task's title and the method's name.
    min_cases
        The value of μ, or the range of values if each fold has its own.
    figures
        The measures that are known, a subset of `MEASURES`.
    n_folds
        Number of folds in the means.
    note
        What a reader must know about these figures.
    """

    task: str
    method: str
    min_cases: str
    figures: Mapping[str, Figure]
    n_folds: int = 0
    note: str = ""


class Results:
    """All existing results of a task that were computed under its present settings."""

    def __init__(
        self, prepared: PreparedTask, run_folder: RunFolder, cells: Iterable[Cell] | None = None
    ) -> None:
        self.settings = prepared.settings
        self._by_method: dict[str, dict[float | None, dict[int, Result]]] = defaultdict(dict)
        for cell in cells_of(prepared.settings) if cells is None else cells:
            result, _ = prepared.result_of(cell, run_folder)
            if result is not None:
                self._by_method[cell.method].setdefault(cell.min_cases, {})[cell.fold] = result

    @property
    def methods(self) -> list[str]:
        """Methods with any result, including those that only exceeded their limits."""
        return list(self._by_method)

    def row(self, method: str, vote: str, choice: Choice) -> Row:
        """Return a method's row of a table."""
        by_value = self._by_method[method]
        picked = (_best_on_test if choice == "test" else _best_held_out)(by_value, method, vote)
        note = self._note(method, by_value, picked)
        values = sorted({value for value, _ in picked.values() if value is not None})
        results = [result for _, result in picked.values()]
        return Row(
            self.settings.title,
            method,
            _range(values),
            _figures(results, vote, method),
            len(results),
            note,
        )

    def feature_use(self, method: str, vote: str) -> list[np.ndarray[Any, Any]]:
        """Return, per fold, the fraction of a method's rules that test each feature."""
        picked = _best_on_test(self._by_method.get(method, {}), method, vote)
        known = (result for _, result in picked.values() if "feature_use" in result)
        return [np.array(result["feature_use"]) / max(result["n_rules"], 1) for result in known]

    def _note(
        self,
        method: str,
        by_value: Mapping[float | None, Mapping[int, Result]],
        picked: Mapping[int, Any],
    ) -> str:
        notes = [self._fold_note(method, by_value, picked)]
        n_values = len(as_filed(self.settings).min_cases.get(method, by_value))
        if len(by_value) < n_values:
            notes.append(f"{len(by_value)} of {n_values} values of μ")
        return "; ".join(note for note in notes if note)

    def _fold_note(
        self,
        method: str,
        by_value: Mapping[float | None, Mapping[int, Result]],
        picked: Mapping[int, Any],
    ) -> str:
        n_all = self.settings.n_folds_run
        everything = [result for folds in by_value.values() for result in folds.values()]
        exceeded = Counter(result["reason"] for result in everything if result["status"] == "exceeded")
        n_run = len({fold for folds in by_value.values() for fold in folds})
        not_run = [f"{n_run} of {n_all} folds have been run"] if n_run < n_all else []
        if len(picked) == n_run:
            hits = f"{exceeded.total()} of {len(everything)} extractions exceeded the budget"
            return "; ".join([*([hits] if exceeded else []), *not_run])
        if not exceeded:
            return f"{len(picked)} of {n_all} folds have been run"
        reasons = ", ".join(reason.removesuffix(" was exceeded") for reason, _ in exceeded.most_common(2))
        has_budget = method in METHODS and METHODS[method].is_termwise
        said = f"exceeded its budget of {self.settings.limits} ({reasons})" if has_budget else reasons
        return "; ".join([f"{n_run - len(picked)} of {n_run} folds: {said}" if picked else said, *not_run])


def as_filed(settings: TaskSettings) -> TaskSettings:
    """Return the task as its file defines it; the task itself if the package has no such file."""
    return load_settings(settings.name) if settings.name in task_names() else settings


def measures_of(result: Result, vote: str) -> Mapping[str, float]:
    """Return a result's measures under a vote."""
    votes: Mapping[str, Mapping[str, float]] = result["votes"]
    # Two classes have no votes by class, and earlier runs no fitted ones.
    return votes.get(vote) or votes.get(ANY_VOTE, {})


def _figures(results: Sequence[Result], vote: str, method: str) -> dict[str, Figure]:
    figures = {}
    for name in OF_VOTE:
        # The paper reports no fidelity for methods that do not imitate a network.
        if name == "fidelity" and not aims_at_fidelity(method):
            continue
        values = [measures_of(result, vote).get(name) for result in results]
        known = [100 * value for value in values if value is not None and not math.isnan(value)]
        if known:
            figures[name] = Figure.of(known)
    for name in OF_RULES:
        numbers = [result[name] for result in results if name in result]
        if numbers:
            figures[name] = Figure.of(numbers)
    return figures


def _goal(method: str) -> str:
    return "fidelity" if aims_at_fidelity(method) else "accuracy"


def _best_on_test(
    by_value: Mapping[float | None, Mapping[int, Result]], method: str, vote: str
) -> dict[int, tuple[float | None, Result]]:
    """Choose as the paper does: one value for all folds, the one that is best on the test rows.

    A value for which more folds are done comes first.
    """

    def quality(value: float | None) -> tuple[int, float, float]:
        done = _done(by_value[value])
        if not done:
            return 0, 0.0, 0.0
        goals = [measures_of(result, vote).get(_goal(method), 0.0) for result in done.values()]
        return len(done), round(float(np.mean(goals)), 12), -_mean(done, "n_rules")

    if not by_value:
        return {}
    best = max(by_value, key=quality)
    return {fold: (best, result) for fold, result in _done(by_value[best]).items()}


def _best_held_out(
    by_value: Mapping[float | None, Mapping[int, Result]], method: str, vote: str
) -> dict[int, tuple[float | None, Result]]:
    """Choose without the test rows: in each fold, the value with the best score on held-out training rows."""
    if set(by_value) <= {None}:  # there is nothing to choose
        return _best_on_test(by_value, method, vote)
    picked: dict[int, tuple[float | None, Result]] = {}
    best: dict[int, tuple[float, float]] = {}
    for value, folds in by_value.items():
        for fold, result in _done(folds).items():
            scores = result.get(HELD_OUT)
            if scores is None or vote not in scores:
                continue
            quality = (round(scores[vote], 12), -result["n_rules"])
            if fold not in best or quality > best[fold]:
                best[fold], picked[fold] = quality, (value, result)
    return dict(sorted(picked.items()))


def _done(folds: Mapping[int, Result]) -> dict[int, Result]:
    return {fold: result for fold, result in sorted(folds.items()) if result["status"] == "done"}


def _mean(done: Mapping[int, Result], name: str) -> float:
    return float(np.mean([result.get(name, 0.0) for result in done.values()]))


def _range(values: Sequence[float]) -> str:
    if not values:
        return ""
    ends = [as_min_cases(values[0]), as_min_cases(values[-1])]
    return ends[0] if len(values) == 1 else "–".join(ends)


def as_min_cases(value: float) -> str:
    """Format μ as the paper does: a number of rows, or a fraction of N."""
    return f"{value:g}N" if value < 1 else f"{value:g}"
