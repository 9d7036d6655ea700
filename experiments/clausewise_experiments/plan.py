"""From tasks to jobs: what is to be done, what is done already, and what has changed since."""

from collections.abc import Iterable, Sequence
from functools import partial

from clausewise_experiments import cells
from clausewise_experiments.cells import Cell, Prepared, Workplace, cells_of
from clausewise_experiments.data import load_task
from clausewise_experiments.folds import sampled
from clausewise_experiments.networks import network_key
from clausewise_experiments.progress import TRAINING, Progress
from clausewise_experiments.scheduler import Job
from clausewise_experiments.settings import TaskSettings


def prepare(task: TaskSettings, place: Workplace) -> Prepared:
    """Load a task's rows and put them where the processes read them."""
    data = sampled(load_task(task), task.max_rows, task.folds.seed)
    path = place.data(data.digest)
    if not path.is_file():
        cells.save_data(data, path)
    return Prepared(task, data.digest)


def jobs_of(
    prepared: Sequence[Prepared],
    place: Workplace,
    progress: Progress,
    methods: tuple[str, ...] | None = None,
    *,
    with_coping: bool = True,
) -> list[Job]:
    """All jobs of these tasks. Settings that have changed since a result was found are told."""
    jobs, changed = [], list[str]()
    for one in prepared:
        found = list(cells_of(one.settings, methods))
        if with_coping:
            found += [cell for cell in coping_cells(one.settings) if cell not in found]
        for fold in range(one.settings.n_folds_run):
            jobs.append(network_job(one, place, fold))
            jobs += [_cell_job(one, place, cell, progress, changed) for cell in found if cell.fold == fold]
    for text in dict.fromkeys(changed):
        progress.say(f"Changed since an earlier run, {changed.count(text):,} results are found anew: {text}")
    return jobs


def network_job(prepared: Prepared, place: Workplace, fold: int) -> Job:
    """Training the network of a fold, unless it is there."""
    key = network_key(prepared.data_digest, prepared.settings, fold)
    return Job(
        name=key,
        title=f"{prepared.settings.name} fold {fold} training",
        task=prepared.settings.name,
        kind=TRAINING,
        run=cells.train_network,
        arguments=(place, prepared, fold),
        is_done=place.network(key).is_file(),
    )


def _cell_job(
    prepared: Prepared, place: Workplace, cell: Cell, progress: Progress, changed: list[str]
) -> Job:
    result, what_changed = prepared.result_of(cell, place)
    if result is not None:
        progress.durations.add(cell.task, cell.method, result["total_seconds"])
    if what_changed is not None:
        changed.append(what_changed)
    seconds = prepared.settings.limits.process_seconds
    return Job(
        name=str(cell),
        title=str(cell),
        task=cell.task,
        kind=cell.method,
        run=cells.run_cell,
        arguments=(place, prepared, cell),
        is_done=result is not None,
        needs=network_key(prepared.data_digest, prepared.settings, cell.fold),
        limit=(seconds, partial(_stopped, prepared, place, cell)),
    )


def _stopped(prepared: Prepared, place: Workplace, cell: Cell, seconds: float) -> None:
    cells.write_result(place.result(cell), cells.stopped_result(prepared, cell, seconds))


def coping_cells(task: TaskSettings) -> Iterable[Cell]:
    """ECLAIRE with each of the paper's coping mechanisms; those that change nothing but μ have no options."""
    coping = task.coping
    if coping is None:
        return
    for fold in range(task.n_folds_run):
        yield from (Cell(task.name, fold, "ECLAIRE", value) for value in coping.min_cases)
        for options in coping_options(task):
            yield Cell(task.name, fold, "ECLAIRE", coping.fixed_min_cases, options)


def coping_options(task: TaskSettings) -> list[dict[str, object]]:
    """The options of the mechanisms other than μ."""
    coping = task.coping
    if coping is None:
        return []
    varied: dict[str, Sequence[object]] = {
        "layers": coping.layers,
        "max_rows": coping.rows,
        "drop_lowest": coping.dropped,
    }
    return [{name: value} for name, values in varied.items() for value in values]
