"""Turn tasks into jobs: find what has been done, what is left, and what has changed since."""

from collections.abc import Iterable, Sequence
from functools import partial

from clausewise_experiments import cells
from clausewise_experiments.cells import Cell, PreparedTask, RunFolder, cells_of
from clausewise_experiments.data import load_task
from clausewise_experiments.folds import sampled
from clausewise_experiments.networks import network_key
from clausewise_experiments.progress_bar import TRAINING, ProgressBar
from clausewise_experiments.scheduler import Job
from clausewise_experiments.settings import TaskSettings


def prepare(task: TaskSettings, run_folder: RunFolder) -> PreparedTask:
    """Load a task's rows and save them where the processes read them."""
    data = sampled(load_task(task), task.max_rows, task.folds.seed)
    path = run_folder.data(data.digest)
    if not path.is_file():
        cells.save_data(data, path)
    return PreparedTask(task, data.digest)


def jobs_of(
    prepared: Sequence[PreparedTask],
    run_folder: RunFolder,
    progress: ProgressBar,
    methods: tuple[str, ...] | None = None,
    *,
    with_coping: bool = True,
) -> list[Job]:
    """Return all jobs of these tasks; report settings that have changed since a result was written."""
    jobs, changed = [], list[str]()
    for one in prepared:
        found = list(cells_of(one.settings, methods))
        if with_coping:
            found += [cell for cell in coping_cells(one.settings) if cell not in found]
        for fold in range(one.settings.n_folds_run):
            jobs.append(network_job(one, run_folder, fold))
            jobs += [
                _cell_job(one, run_folder, cell, progress, changed) for cell in found if cell.fold == fold
            ]
    for text in dict.fromkeys(changed):
        progress.say(f"Settings have changed, so {changed.count(text):,} results are computed again: {text}")
    return jobs


def network_job(prepared: PreparedTask, run_folder: RunFolder, fold: int) -> Job:
    """Return the job that trains the network of a fold; it is done if the network exists."""
    key = network_key(prepared.data_digest, prepared.settings, fold)
    return Job(
        name=key,
        title=f"{prepared.settings.name} fold {fold} training",
        task=prepared.settings.name,
        kind=TRAINING,
        run=cells.train_network,
        arguments=(run_folder, prepared, fold),
        is_done=run_folder.network(key).is_file(),
    )


def _cell_job(
    prepared: PreparedTask, run_folder: RunFolder, cell: Cell, progress: ProgressBar, changed: list[str]
) -> Job:
    result, what_changed = prepared.result_of(cell, run_folder)
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
        arguments=(run_folder, prepared, cell),
        is_done=result is not None,
        needs=network_key(prepared.data_digest, prepared.settings, cell.fold),
        limit=(seconds, partial(_stopped, prepared, run_folder, cell)),
    )


def _stopped(prepared: PreparedTask, run_folder: RunFolder, cell: Cell, seconds: float) -> None:
    cells.write_result(run_folder.result(cell), cells.stopped_result(prepared, cell, seconds))


def coping_cells(task: TaskSettings) -> Iterable[Cell]:
    """Yield ECLAIRE with each of the paper's coping mechanisms; cells that only vary μ have no options."""
    coping = task.coping
    if coping is None:
        return
    for fold in range(task.n_folds_run):
        yield from (Cell(task.name, fold, "ECLAIRE", value) for value in coping.min_cases)
        for options in coping_options(task):
            yield Cell(task.name, fold, "ECLAIRE", coping.fixed_min_cases, options)


def coping_options(task: TaskSettings) -> list[dict[str, object]]:
    """Return the options of the mechanisms other than μ."""
    coping = task.coping
    if coping is None:
        return []
    varied: dict[str, Sequence[object]] = {
        "layers": coping.layers,
        "max_rows": coping.rows,
        "drop_lowest": coping.dropped,
    }
    return [{name: value} for name, values in varied.items() for value in values]
