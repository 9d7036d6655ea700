"""From results to rows of tables: which value of μ is shown, and means over the folds."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from clausewise_experiments.cells import ANY_VOTE, Cell, Prepared, Workplace, cells_of
from clausewise_experiments.methods import METHODS, aims_at_fidelity
from clausewise_experiments.settings import TaskSettings, load_settings, task_names

Choice = Literal["test", "held back"]
Result = Mapping[str, Any]

# What is measured under a vote, in per cent in tables; and what does not depend on it.
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
        """The population's standard deviation, as NumPy gives it by default."""
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
        The value of μ, or the range of values where each fold chose its own.
    figures
        What there is of `MEASURES`.
    n_folds
        Folds that the means are over.
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
    """All results of a task that are there and were found under its present settings."""

    def __init__(self, prepared: Prepared, place: Workplace, cells: Iterable[Cell] | None = None) -> None:
        self.settings = prepared.settings
        self._by_method: dict[str, dict[float | None, dict[int, Result]]] = defaultdict(dict)
        for cell in cells_of(prepared.settings) if cells is None else cells:
            result, _ = prepared.result_of(cell, place)
            if result is not None:
                self._by_method[cell.method].setdefault(cell.min_cases, {})[cell.fold] = result

    @property
    def methods(self) -> list[str]:
        """Methods with any result, a method that only exceeded its bounds included."""
        return list(self._by_method)

    def row(self, method: str, vote: str, choice: Choice) -> Row:
        """A method's row of a table."""
        by_value = self._by_method[method]
        picked = (_best_on_test if choice == "test" else _best_held_back)(by_value, method, vote)
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
        """Per fold the part of a method's rules that test each feature."""
        picked = _best_on_test(self._by_method.get(method, {}), method, vote)
        kept = (result for _, result in picked.values() if "feature_use" in result)
        return [np.array(result["feature_use"]) / max(result["n_rules"], 1) for result in kept]

    def _note(
        self,
        method: str,
        by_value: Mapping[float | None, Mapping[int, Result]],
        picked: Mapping[int, Any],
    ) -> str:
        notes = [self._of_folds(method, by_value, picked)]
        n_values = len(as_filed(self.settings).min_cases.get(method, by_value))
        if len(by_value) < n_values:
            notes.append(f"{len(by_value)} of {n_values} values of μ")
        return "; ".join(note for note in notes if note)

    def _of_folds(
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
    """The task as its file says; the task itself if the package has no such file."""
    return load_settings(settings.name) if settings.name in task_names() else settings


def measures_of(result: Result, vote: str) -> Mapping[str, float]:
    """A result's measures under a vote."""
    votes: Mapping[str, Mapping[str, float]] = result["votes"]
    return votes.get(vote) or votes[ANY_VOTE]


def _figures(results: Sequence[Result], vote: str, method: str) -> dict[str, Figure]:
    figures = {}
    for name in OF_VOTE:
        # The paper reports no fidelity of methods that imitate no network.
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
    """The paper's choice: one value for all folds, the best on the test rows. Few failures come first."""

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


def _best_held_back(
    by_value: Mapping[float | None, Mapping[int, Result]], method: str, vote: str
) -> dict[int, tuple[float | None, Result]]:
    """An honest choice: in each fold the value that is best on training rows held back."""
    if set(by_value) <= {None}:  # nothing to choose
        return _best_on_test(by_value, method, vote)
    picked: dict[int, tuple[float | None, Result]] = {}
    best: dict[int, tuple[float, float]] = {}
    for value, folds in by_value.items():
        for fold, result in _done(folds).items():
            held_back = result.get("held_back")
            if held_back is None:
                continue
            quality = (round(held_back[vote], 12), -result["n_rules"])
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
    """A value of μ as the paper writes it: a number of rows, or a part of N."""
    return f"{value:g}N" if value < 1 else f"{value:g}"
