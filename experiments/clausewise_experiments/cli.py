"""The command `clausewise-experiments`."""

import argparse
import importlib.util
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from clausewise.io.atomic import write_atomically
from clausewise_experiments.cells import VOTES, PreparedTask, RunFolder
from clausewise_experiments.data import DataNotFoundError, data_folder, find_file
from clausewise_experiments.jobs import jobs_of, prepare
from clausewise_experiments.methods import METHODS
from clausewise_experiments.progress_bar import ProgressBar
from clausewise_experiments.scheduler import run_jobs
from clausewise_experiments.settings import QUICK, Scale, TaskSettings, load_settings, task_names

NEEDED = {"torch": "train networks", "matplotlib": "draw figures"}
DEFAULT_FOLDER = Path("out/experiments")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser().parse_args(given)
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(
            f"clausewise-experiments needs {missing[0]} to {NEEDED[missing[0]]}; "
            "pip install clausewise[experiments].",
            file=sys.stderr,
        )
        return 2
    options.command = shlex.join(["clausewise-experiments", *given])
    try:
        return int(options.action(options))
    except (DataNotFoundError, ValueError) as error:
        print(f"clausewise-experiments: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped. Run the same command again to resume.", file=sys.stderr)
        return 130


# --- Actions ---


def run(options: argparse.Namespace) -> int:
    """Train networks, extract rules, write tables and figures."""
    run_folder = RunFolder(options.out)
    progress = ProgressBar(options.jobs)
    tasks, absent = _tasks(options, run_folder)
    for text in absent:
        progress.say(text)
    if not tasks:
        return 2
    jobs = jobs_of(tasks, run_folder, progress, _methods(options), with_coping=not options.no_coping)
    failed = run_jobs(jobs, options.jobs, progress)
    _write_output(options, tasks, run_folder)
    if failed:
        print(f"{len(failed)} jobs failed, see above: {', '.join(failed[:5])} …", file=sys.stderr)
    return 1 if failed else 0


def tables(options: argparse.Namespace) -> int:
    """Write tables and figures from existing results."""
    run_folder = RunFolder(options.out)
    found, absent = _tasks(options, run_folder)
    for text in absent:
        print(text, file=sys.stderr)
    _write_output(options, found, run_folder)
    return 0


def search_architectures(options: argparse.Namespace) -> int:
    """Run the paper's architecture search."""
    from clausewise_experiments.architectures import as_table, search

    run_folder = RunFolder(options.out)
    prepared = prepare(load_settings(options.task).reduced(_scale(options)), run_folder)
    found = search(prepared, run_folder, options.jobs, ProgressBar(options.jobs), options.max_candidates)
    table = as_table(found, prepared.settings.title)
    path = options.out / "tables" / f"architectures-{prepared.settings.name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, table.markdown().encode())
    print(table.markdown())
    return 0


def list_tasks(_: argparse.Namespace) -> int:
    """List the tasks and whether their rows are available."""
    print(f"data folder: {data_folder() or 'none (set CLAUSEWISE_DATA)'}")
    for name in task_names():
        task = load_settings(name)
        if task.data.source == "xor":
            where = "generated"
        elif find_file(task.data.file) is not None:
            where = f"{task.data.file} found"
        elif task.data.source == "openml":
            where = f"{task.data.file} not found; fetched from OpenML ({task.data.openml_id})"
        else:
            where = f"{task.data.file} not found"
        hidden = "-".join(map(str, task.network.hidden))
        print(f"{name:<12} {task.network.activation} {hidden:<16} {where}")
    return 0


# --- Options ---


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="clausewise-experiments",
        description="Reproduce the paper's evaluation and compare with its numbers.",
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION")

    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--out",
        type=Path,
        default=DEFAULT_FOLDER,
        metavar="FOLDER",
        help="folder of the results (default: out/experiments)",
    )
    shared.add_argument("--quick", action="store_true", help="a much smaller run: minutes instead of hours")
    shared.add_argument("--folds", type=int, metavar="N", help="run the first N of the five folds")
    shared.add_argument("--max-values", type=int, metavar="N", help="at most N values of μ per method")
    shared.add_argument(
        "--max-termwise-values", type=int, metavar="N", help="the same limit for REM-D and DeepRED only"
    )
    shared.add_argument(
        "--max-coping-values", type=int, metavar="N", help="at most N settings per coping mechanism"
    )
    shared.add_argument("--max-rows", type=int, metavar="N", help="at most N rows per task")
    shared.add_argument(
        "--seconds", type=float, metavar="S", help="time limit for REM-D and DeepRED (default: 60)"
    )
    shared.add_argument("--rules", type=int, metavar="N", help="limit on their rules (default: 100,000)")
    shared.add_argument("--megabytes", type=int, metavar="N", help="limit on their memory (default: 1,024)")
    shared.add_argument(
        "--process-seconds",
        type=float,
        metavar="S",
        help="stop any extraction after S seconds (default: 1,800)",
    )
    shared.add_argument(
        "--networks",
        choices=("trained", "published"),
        default="trained",
        help="published: use METABRIC's published networks from the data folder",
    )

    running = argparse.ArgumentParser(add_help=False)
    running.add_argument(
        "tasks", nargs="*", metavar="TASK", help=f"one of {', '.join(task_names())}, or a .toml file"
    )
    running.add_argument("--vote", choices=VOTES, default="confidence", help="vote used in the tables")
    running.add_argument(
        "--tables", type=Path, metavar="FOLDER", help="folder of the tables (default: OUT/tables)"
    )
    running.add_argument(
        "--no-resources", action="store_true", help="leave time and memory out of the tables"
    )

    working = argparse.ArgumentParser(add_help=False)
    working.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="number of processes"
    )

    action = actions.add_parser("run", parents=[shared, running, working], help=run.__doc__)
    action.add_argument(
        "--methods",
        metavar="A,B",
        help=f"methods to run, out of {', '.join(METHODS)} and compact (default: all)",
    )
    action.add_argument("--no-coping", action="store_true", help="leave out the coping mechanisms")
    action.set_defaults(action=run)
    action = actions.add_parser("tables", parents=[shared, running], help=tables.__doc__)
    action.set_defaults(action=tables)
    action = actions.add_parser("architectures", parents=[shared, working], help=search_architectures.__doc__)
    action.add_argument("task", metavar="TASK")
    action.add_argument(
        "--most", dest="max_candidates", type=int, metavar="N", help="try only the first N architectures"
    )
    action.set_defaults(action=search_architectures)
    action = actions.add_parser("tasks", help=list_tasks.__doc__)
    action.set_defaults(action=list_tasks)
    return parser


def _scale(options: argparse.Namespace) -> Scale:
    scale = QUICK if options.quick else Scale()
    limits = {
        "seconds": options.seconds,
        "rules": options.rules,
        "megabytes": options.megabytes,
        "process_seconds": options.process_seconds,
    }
    scale = replace(
        scale,
        limits=replace(scale.limits, **{name: value for name, value in limits.items() if value is not None}),
        published=options.networks == "published",
    )
    given = {
        "n_folds": options.folds,
        "max_values": options.max_values,
        "max_termwise_values": options.max_termwise_values,
        "max_coping_values": options.max_coping_values,
        "max_rows": options.max_rows,
    }
    for name, value in given.items():
        if value is not None and value < 1:
            option = name.removeprefix("n_").replace("_", "-")
            raise ValueError(f"--{option} is {value}; expected at least 1.")
    return replace(scale, **{name: value for name, value in given.items() if value is not None})


def _methods(options: argparse.Namespace) -> tuple[str, ...] | None:
    if options.methods is None:
        return None
    names = tuple(name.strip() for name in options.methods.split(","))
    unknown = [name for name in names if name not in (*METHODS, "compact")]
    if unknown:
        raise ValueError(
            f"--methods names {unknown[0]!r}; expected a comma-separated list of {', '.join(METHODS)} and "
            "compact."
        )
    return names


def _tasks(options: argparse.Namespace, run_folder: RunFolder) -> tuple[list[PreparedTask], list[str]]:
    """Return the tasks whose rows are available, and messages about the others.

    A task that was requested by name must be available.
    """
    prepared, absent = [], []
    for name in options.tasks or task_names():
        settings: TaskSettings = load_settings(name).reduced(_scale(options))
        try:
            prepared.append(prepare(settings, run_folder))
        except DataNotFoundError as error:
            if options.tasks:
                raise
            absent.append(f"Skipped: {error}")
    return prepared, absent


def _write_output(options: argparse.Namespace, tasks: list[PreparedTask], run_folder: RunFolder) -> None:
    from clausewise_experiments.output import write_tables_and_figures

    folder = options.tables or options.out / "tables"
    files = write_tables_and_figures(
        tasks, run_folder, folder, options.command, options.vote, with_resources=not options.no_resources
    )
    print(f"{len(files)} files in {folder}")
