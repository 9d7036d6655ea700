"""Choosing min_cases, the paper's μ, on rows held back."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.data.rows import stratified_rows, take_rows
from clausewise.extractors.clause_substitution import Plan, extract_clausewise
from clausewise.extractors.extraction_data import Task
from clausewise.extractors.run_log import PathPoint, ReportBuilder
from clausewise.induction import PreparedMatrix
from clausewise.rules import RuleSet
from clausewise.rules.voting import Voting

# Values are tried as parts of the rows, so that what is good for some rows is good for all of them.
PARTS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
LEAST = 2
# A fifth of the rows is held back; with few rows, each fifth in turn, since chance would decide otherwise.
N_FOLDS = 5
FEW_ROWS = 5_000
# More rows than this do not make the choice better, only slower.
MAX_ROWS = 20_000
# With fewer rows, fidelity on a fifth of them says nothing.
LEAST_ROWS = 50


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
    n_rows = task.n_rows
    path = min_cases_path(n_rows)
    if len(path) == 1 or n_rows < LEAST_ROWS:
        return path[0], ()
    fidelities, sizes = [], []
    splits = list(held_back_splits(task.codes, random))
    for number, (learnt_from, held_back) in enumerate(splits, start=1):
        part = _part_of(task, learnt_from, plan_with(path[0]).n_jobs)
        # Fewer rows to learn from need fewer cases in proportion.
        plans = [plan_with(max(LEAST, round(value * len(learnt_from) / n_rows))) for value in path]
        of_all = f" ({number}/{len(splits)})" if len(splits) > 1 else ""
        progress.started(f"choosing min_cases{of_all}", n_parts(task, plans))
        found = extract_clausewise(part, plans, report, progress)
        with report.stage("statistics"):
            fidelities.append([_fidelity(task, one.rules, held_back, voting) for one in found])
        sizes.append([len(one.rules) for one in found])
    # Rounded, so that values which decide alike do not differ by the order of a sum.
    fidelity = np.mean(fidelities, axis=0).round(12).tolist()
    means = zip(path, fidelity, np.mean(sizes, axis=0).tolist(), strict=True)
    points = tuple(PathPoint(*point) for point in means)
    best = max(points, key=lambda point: (point.fidelity, -point.n_rules, point.min_cases))
    return best.min_cases, points


def held_back_splits(
    codes: NDArray[np.int32], random: np.random.RandomState
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows to learn from and rows held back, of each class in proportion; several pairs of few rows."""
    drawn = stratified_rows(codes, MAX_ROWS, random)
    shuffled = random.permutation(drawn)
    # The rows of each class are dealt to the folds in turn.
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    fold = np.empty(len(codes), dtype=np.int64)
    fold[order] = np.arange(len(order)) % N_FOLDS
    for number in range(N_FOLDS if len(drawn) <= FEW_ROWS else 1):
        is_held_back = fold[drawn] == number
        yield drawn[~is_held_back], drawn[is_held_back]


def n_parts(task: Task, plans: Sequence[Plan]) -> int:
    """Steps of an extraction, for its progress."""
    first = plans[0]
    n_layers = len(task.trained_network.select_layers(first.layers)) + first.eclectic
    return n_layers * len(plans)


def _part_of(task: Task, rows: NDArray[np.intp], n_jobs: int | None) -> Task:
    weights = None if task.weights is None else task.weights[rows]
    inputs = PreparedMatrix.of_encoded(task.inputs.table[rows], task.inputs.features, n_jobs=n_jobs)
    return Task(task.network, task.classes, take_rows(task.rows, rows), inputs, task.codes[rows], weights)


def _fidelity(task: Task, rules: RuleSet, held_back: NDArray[np.intp], voting: Voting) -> float:
    decided = rules.evaluator.decide(task.inputs.table[held_back], voting, rules.default_index)
    weights = None if task.weights is None else task.weights[held_back]
    return float(np.average(decided == task.codes[held_back], weights=weights))
