"""Choosing min_cases, the paper's μ, on rows held back."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from clausewise.extractors.clausewise import Plan, Task, extract_clausewise
from clausewise.extractors.progress import Progress
from clausewise.extractors.report import PathPoint, ReportBuilder
from clausewise.extractors.rows import stratified_rows, take_rows
from clausewise.induction import PreparedMatrix
from clausewise.rules import RuleSet
from clausewise.rules.voting import Voting

# Values are tried as parts of the rows, so that what is good for some rows is good for all of them.
PARTS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
LEAST = 2
HELD_BACK = 0.2
# More rows than this do not make the choice better, only slower.
MAX_ROWS = 20_000
# With fewer rows held back, fidelity says nothing.
LEAST_HELD_BACK = 10


def min_cases_path(n_rows: int) -> list[int]:
    """The values that are tried for this many rows, ascending."""
    return sorted({max(LEAST, round(part * n_rows)) for part in PARTS})


def choose_min_cases(
    task: Task,
    plan_with: Callable[[int], Plan],
    voting: Voting,
    random: np.random.RandomState,
    report: ReportBuilder,
    progress: Progress,
) -> tuple[int, tuple[PathPoint, ...]]:
    """The value with the highest fidelity on rows held back (then the fewest rules), and all that were tried.

    All values are tried on the same rows and share the activations and everything that is prepared.
    """
    n_rows = task.inputs.n_rows
    path = min_cases_path(n_rows)
    drawn = stratified_rows(task.codes, MAX_ROWS, random)
    held_back = drawn[stratified_rows(task.codes[drawn], round(HELD_BACK * len(drawn)), random)]
    if len(path) == 1 or len(held_back) < LEAST_HELD_BACK:
        return path[0], ()
    learnt_from = np.setdiff1d(drawn, held_back)
    part = _part_of(task, learnt_from)
    if len(np.unique(part.codes)) < 2:
        return path[0], ()
    # Fewer rows to learn from need fewer cases in proportion.
    plans = [plan_with(max(LEAST, round(value * len(learnt_from) / n_rows))) for value in path]
    progress.started("choosing min_cases", n_parts(task, plans))
    found = extract_clausewise(part, plans, report, progress)
    with report.stage("statistics"):
        points = tuple(
            PathPoint(value, _fidelity(task, extracted.rules, held_back, voting), len(extracted.rules))
            for value, extracted in zip(path, found, strict=True)
        )
    best = max(points, key=lambda point: (point.fidelity, -point.n_rules, point.min_cases))
    return best.min_cases, points


def n_parts(task: Task, plans: Sequence[Plan]) -> int:
    """Steps of an extraction, for its progress."""
    first = plans[0]
    n_layers = len(task.network.select_layers(first.layers)) + first.eclectic
    return n_layers * len(plans)


def _part_of(task: Task, rows: NDArray[np.intp]) -> Task:
    weights = None if task.weights is None else task.weights[rows]
    inputs = PreparedMatrix.of_encoded(task.inputs.table[rows], task.inputs.features)
    return Task(task.network, take_rows(task.rows, rows), inputs, task.codes[rows], weights)


def _fidelity(task: Task, rules: RuleSet, held_back: NDArray[np.intp], voting: Voting) -> float:
    decided = rules.evaluator.decide(task.inputs.table[held_back], voting, rules.default_index)
    weights = None if task.weights is None else task.weights[held_back]
    return float(np.average(decided == task.codes[held_back], weights=weights))
