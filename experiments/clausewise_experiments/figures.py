"""The paper's figures: which features XOR's rules use, and what the coping mechanisms cost and save."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from clausewise_experiments.cells import Cell, Prepared, Workplace
from clausewise_experiments.selection import Results, measures_of
from clausewise_experiments.settings import TaskSettings

FEATURE_METHODS: Final = ("DeepRED*", "REM-D", "ECLAIRE", "compact 16")
PANELS: Final = (("fidelity", "fidelity %"), ("n_rules", "rules"), ("cpu_seconds", "CPU s"))
LEAST_POINTS: Final = 5.0  # of fidelity, on its axis
# Without a date or a version inside, the same numbers give the same file.
PNG_METADATA: Final = {"Software": None}


@dataclass(frozen=True)
class Mechanism:
    """One of the paper's four ways to cope with growth.

    Attributes
    ----------
    name, title
        Of its file, and of its figure.
    axis
        What the horizontal axis says.
    option
        The option of ECLAIRE that is varied; None for μ itself.
    values
        What it is varied over, and where these stand on the axis.
    """

    name: str
    title: str
    axis: str
    option: str | None
    values: Sequence[Any]

    @property
    def places(self) -> list[float]:
        """Where the values stand."""
        return [float(str(value).removeprefix("every ")) for value in self.values]

    def cell(self, task: TaskSettings, fold: int, value: Any) -> Cell:
        """The cell of a value."""
        assert task.coping is not None
        if self.option is None:
            return Cell(task.name, fold, "ECLAIRE", value)
        return Cell(task.name, fold, "ECLAIRE", task.coping.fixed_min_cases, {self.option: value})


def mechanisms(task: TaskSettings) -> list[Mechanism]:
    """The four mechanisms, with the values of a task."""
    coping = task.coping
    if coping is None:
        return []
    return [
        Mechanism("min_cases", "intermediate rule pruning", "μ ÷ rows", None, coping.min_cases),
        Mechanism("layers", "hidden representation subsampling", "every … layer", "layers", coping.layers),
        Mechanism("rows", "training set subsampling", "part of the training rows", "max_rows", coping.rows),
        Mechanism(
            "dropped", "intermediate rule ranking", "part of clauses dropped", "drop_lowest", coping.dropped
        ),
    ]


def coping_points(
    prepared: Prepared, place: Workplace, mechanism: Mechanism, vote: str
) -> dict[float, list[dict[str, float]]]:
    """Per place on the axis what each fold gave."""
    found: dict[float, list[dict[str, float]]] = {}
    task = prepared.settings
    for where, value in zip(mechanism.places, mechanism.values, strict=True):
        for fold in range(task.n_folds_run):
            cell = mechanism.cell(task, fold, value)
            result, _ = prepared.result_of(cell, place)
            if result is not None and result["status"] == "done":
                point = {"fidelity": 100 * measures_of(result, vote)["fidelity"]}
                point |= {name: result[name] for name in ("n_rules", "cpu_seconds")}
                found.setdefault(where, []).append(point)
    return found


def draw_coping(
    points: Mapping[float, Sequence[Mapping[str, float]]], mechanism: Mechanism, title: str, path: Path
) -> None:
    """Fidelity, rules and processor time side by side; the shade is the standard error over the folds."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(1, len(PANELS), figsize=(10.5, 3.0), layout="constrained")
    places = sorted(points)
    for ax, (name, label) in zip(axes, PANELS, strict=True):
        of_folds = [np.array([point[name] for point in points[place]]) for place in places]
        mean = np.array([values.mean() for values in of_folds])
        error = np.array([values.std() / np.sqrt(len(values)) for values in of_folds])
        ax.plot(places, mean, marker="o", markersize=4)
        ax.fill_between(places, mean - error, mean + error, alpha=0.25)
        ax.set_xlabel(mechanism.axis)
        ax.set_ylabel(label)
        ax.spines[["top", "right"]].set_visible(False)
        if name == "fidelity":
            _widen(ax)
        else:
            ax.set_ylim(bottom=0)
    n_folds = max(len(folds) for folds in points.values())
    folds = "one fold" if n_folds == 1 else f"{n_folds} folds"
    figure.suptitle(f"{title}: {mechanism.title} ({folds})", fontsize="medium")
    _save(figure, path)


def _widen(ax: Any) -> None:
    """Show at least some points of fidelity, so that a flat line looks flat."""
    low, high = ax.get_ylim()
    missing = max(0.0, LEAST_POINTS - (high - low)) / 2
    ax.set_ylim(low - missing, min(100.0, high + missing))


def feature_use(results: Results, vote: str) -> dict[str, np.ndarray[Any, Any]]:
    """Per method the part of rules that test each feature, one line per fold."""
    found = {method: results.feature_use(method, vote) for method in FEATURE_METHODS}
    return {method: np.array(folds) for method, folds in found.items() if folds}


def draw_feature_use(use: Mapping[str, np.ndarray[Any, Any]], names: Sequence[str], path: Path) -> None:
    """Bars of each feature and method; the lines are the standard deviation over the folds."""
    pyplot = _pyplot()
    figure, ax = pyplot.subplots(figsize=(7.5, 3.4), layout="constrained")
    width = 0.8 / len(use)
    for number, (method, folds) in enumerate(use.items()):
        places = np.arange(len(names)) + (number - (len(use) - 1) / 2) * width
        ax.bar(places, folds.mean(axis=0), width, yerr=folds.std(axis=0), label=method, error_kw={"lw": 0.7})
    ax.set_xticks(range(len(names)), list(names))
    ax.set_ylabel("part of rules that test the feature")
    ax.set_ylim(bottom=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120, metadata=PNG_METADATA)
    _pyplot().close(figure)


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")  # no window, wherever it runs
    from matplotlib import pyplot

    return pyplot
