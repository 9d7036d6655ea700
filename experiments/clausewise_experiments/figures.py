"""The paper's figures: the features that XOR's rules test, and the effect of the coping mechanisms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from clausewise_experiments.cells import Cell, PreparedTask, RunFolder
from clausewise_experiments.selection import Results, measures_of
from clausewise_experiments.settings import TaskSettings

FEATURE_METHODS: Final = ("DeepRED*", "REM-D", "ECLAIRE", "compact 16")
PANELS: Final = (("fidelity", "fidelity %"), ("n_rules", "rules"), ("cpu_seconds", "CPU s"))
MIN_FIDELITY_RANGE: Final = 5.0  # percentage points that the fidelity axis covers at least
# No date or version in the file, so that equal numbers give equal files.
PNG_METADATA: Final = {"Software": None}


@dataclass(frozen=True)
class Mechanism:
    """One of the paper's four mechanisms for coping with large networks and data.

    Attributes
    ----------
    name, title
        Names used in its file name and above its figure.
    axis
        Label of the horizontal axis.
    option
        The option of ECLAIRE that is varied; None for μ.
    values
        Values of the option.
    """

    name: str
    title: str
    axis: str
    option: str | None
    values: Sequence[Any]

    @property
    def positions(self) -> list[float]:
        """Positions of the values on the horizontal axis."""
        return [float(str(value).removeprefix("every ")) for value in self.values]

    def cell(self, task: TaskSettings, fold: int, value: Any) -> Cell:
        """Return the cell that runs ECLAIRE with this value."""
        assert task.coping is not None
        if self.option is None:
            return Cell(task.name, fold, "ECLAIRE", value)
        return Cell(task.name, fold, "ECLAIRE", task.coping.fixed_min_cases, {self.option: value})


def mechanisms(task: TaskSettings) -> list[Mechanism]:
    """Return the four mechanisms with the values that a task tries."""
    coping = task.coping
    if coping is None:
        return []
    return [
        Mechanism("min_cases", "intermediate rule pruning", "μ ÷ rows", None, coping.min_cases),
        Mechanism("layers", "hidden representation subsampling", "every … layer", "layers", coping.layers),
        Mechanism(
            "rows", "training set subsampling", "fraction of the training rows", "max_rows", coping.rows
        ),
        Mechanism(
            "dropped",
            "intermediate rule ranking",
            "fraction of clauses dropped",
            "drop_lowest",
            coping.dropped,
        ),
    ]


def coping_points(
    prepared: PreparedTask, run_folder: RunFolder, mechanism: Mechanism, vote: str
) -> dict[float, list[dict[str, float]]]:
    """Return, for each position on the axis, the measures of every fold."""
    found: dict[float, list[dict[str, float]]] = {}
    task = prepared.settings
    for position, value in zip(mechanism.positions, mechanism.values, strict=True):
        for fold in range(task.n_folds_run):
            cell = mechanism.cell(task, fold, value)
            result, _ = prepared.result_of(cell, run_folder)
            if result is not None and result["status"] == "done":
                point = {"fidelity": 100 * measures_of(result, vote)["fidelity"]}
                point |= {name: result[name] for name in ("n_rules", "cpu_seconds")}
                found.setdefault(position, []).append(point)
    return found


def draw_coping(
    points: Mapping[float, Sequence[Mapping[str, float]]], mechanism: Mechanism, title: str, path: Path
) -> None:
    """Draw fidelity, rules and CPU time side by side; the band is the standard error over the folds."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(1, len(PANELS), figsize=(10.5, 3.0), layout="constrained")
    positions = sorted(points)
    for ax, (name, label) in zip(axes, PANELS, strict=True):
        of_folds = [np.array([point[name] for point in points[position]]) for position in positions]
        mean = np.array([values.mean() for values in of_folds])
        error = np.array([values.std() / np.sqrt(len(values)) for values in of_folds])
        ax.plot(positions, mean, marker="o", markersize=4)
        ax.fill_between(positions, mean - error, mean + error, alpha=0.25)
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
    """Widen the fidelity axis to MIN_FIDELITY_RANGE, so that a flat line looks flat."""
    low, high = ax.get_ylim()
    missing = max(0.0, MIN_FIDELITY_RANGE - (high - low)) / 2
    ax.set_ylim(low - missing, min(100.0, high + missing))


def feature_use(results: Results, vote: str) -> dict[str, np.ndarray[Any, Any]]:
    """Return, per method, the fraction of rules that test each feature, with one row per fold."""
    found = {method: results.feature_use(method, vote) for method in FEATURE_METHODS}
    return {method: np.array(folds) for method, folds in found.items() if folds}


def draw_feature_use(use: Mapping[str, np.ndarray[Any, Any]], names: Sequence[str], path: Path) -> None:
    """Draw one bar per feature and method; error bars are the standard deviation over the folds."""
    pyplot = _pyplot()
    figure, ax = pyplot.subplots(figsize=(7.5, 3.4), layout="constrained")
    width = 0.8 / len(use)
    for number, (method, folds) in enumerate(use.items()):
        places = np.arange(len(names)) + (number - (len(use) - 1) / 2) * width
        ax.bar(places, folds.mean(axis=0), width, yerr=folds.std(axis=0), label=method, error_kw={"lw": 0.7})
    ax.set_xticks(range(len(names)), list(names))
    ax.set_ylabel("fraction of rules that test the feature")
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

    matplotlib.use("Agg")  # opens no window
    from matplotlib import pyplot

    return pyplot
