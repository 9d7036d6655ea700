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
from clausewise_experiments.cells import VOTES, Prepared, Workplace
from clausewise_experiments.data import DataNotFoundError, data_folder, find_file
from clausewise_experiments.methods import METHODS
from clausewise_experiments.plan import jobs_of, prepare
from clausewise_experiments.progress import Progress
from clausewise_experiments.scheduler import run_jobs
from clausewise_experiments.settings import QUICK, Scale, TaskSettings, load_settings, task_names

NEEDED = {"torch": "train networks", "matplotlib": "draw figures"}
DEFAULT_FOLDER = Path("out/experiments")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
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
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return 130


# --- Actions ---


def run(options: argparse.Namespace) -> int:
    """Networks, extractions, tables and figures."""
    place = Workplace(options.out)
    progress = Progress(options.jobs)
    tasks, absent = _tasks(options, place)
    for text in absent:
        progress.say(text)
    if not tasks:
        return 2
    jobs = jobs_of(tasks, place, progress, _methods(options), with_coping=not options.no_coping)
    failed = run_jobs(jobs, options.jobs, progress)
    _report(options, tasks, place)
    if failed:
        print(f"{len(failed)} pieces of work failed, see above: {', '.join(failed[:5])} …", file=sys.stderr)
    return 1 if failed else 0


def tables(options: argparse.Namespace) -> int:
    """Tables and figures of the results that are there."""
    place = Workplace(options.out)
    found, absent = _tasks(options, place)
    for text in absent:
        print(text, file=sys.stderr)
    _report(options, found, place)
    return 0


def search_architectures(options: argparse.Namespace) -> int:
    """The paper's search over architectures."""
    from clausewise_experiments.architectures import as_table, search

    place = Workplace(options.out)
    prepared = prepare(load_settings(options.task).reduced(_scale(options)), place)
    found = search(prepared, place, options.jobs, Progress(options.jobs), options.most)
    table = as_table(found, prepared.settings.title)
    path = options.out / "tables" / f"architectures-{prepared.settings.name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, table.markdown().encode())
    print(table.markdown())
    return 0


def list_tasks(_: argparse.Namespace) -> int:
    """The tasks and whether their rows are here."""
    print(f"data folder: {data_folder() or 'none (set CLAUSEWISE_DATA)'}")
    for name in task_names():
        task = load_settings(name)
        if task.data.source == "xor":
            where = "generated"
        elif find_file(task.data.file) is not None:
            where = f"{task.data.file} is there"
        elif task.data.source == "openml":
            where = f"{task.data.file} is not there; fetched from OpenML ({task.data.openml_id})"
        else:
            where = f"{task.data.file} is not there"
        hidden = "-".join(map(str, task.network.hidden))
        print(f"{name:<12} {task.network.activation} {hidden:<16} {where}")
    return 0


# --- Options ---


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="clausewise-experiments", description="The paper's evaluation, beside the paper's own numbers."
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION")

    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--out", type=Path, default=DEFAULT_FOLDER, metavar="FOLDER", help="results (out/experiments)"
    )
    shared.add_argument("--quick", action="store_true", help="everything much smaller: minutes, not hours")
    shared.add_argument("--folds", type=int, metavar="N", help="the first N of the five folds")
    shared.add_argument("--max-values", type=int, metavar="N", help="at most N values of μ per method")
    shared.add_argument(
        "--max-termwise-values", type=int, metavar="N", help="the same for REM-D and DeepRED only"
    )
    shared.add_argument(
        "--max-coping-values", type=int, metavar="N", help="at most N settings per coping mechanism"
    )
    shared.add_argument("--max-rows", type=int, metavar="N", help="at most N rows of a task")
    shared.add_argument("--seconds", type=float, metavar="S", help="bound on REM-D and DeepRED (60)")
    shared.add_argument("--rules", type=int, metavar="N", help="bound on their rules (100,000)")
    shared.add_argument("--megabytes", type=int, metavar="N", help="bound on their memory (1,024)")
    shared.add_argument(
        "--process-seconds", type=float, metavar="S", help="any extraction is stopped after this (1,800)"
    )
    shared.add_argument(
        "--networks",
        choices=("trained", "published"),
        default="trained",
        help="published: METABRIC's networks from the data folder",
    )

    running = argparse.ArgumentParser(add_help=False)
    running.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(task_names())}, or a .toml")
    running.add_argument("--vote", choices=VOTES, default="confidence", help="the vote of tables")
    running.add_argument("--tables", type=Path, metavar="FOLDER", help="where tables go (FOLDER/tables)")
    running.add_argument("--no-resources", action="store_true", help="tables without time and memory")

    working = argparse.ArgumentParser(add_help=False)
    working.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes")

    action = actions.add_parser("run", parents=[shared, running, working], help=run.__doc__)
    action.add_argument(
        "--methods", metavar="A,B", help=f"only these of {', '.join(METHODS)} and compact; all unless given"
    )
    action.add_argument("--no-coping", action="store_true", help="without the coping mechanisms")
    action.set_defaults(action=run)
    action = actions.add_parser("tables", parents=[shared, running], help=tables.__doc__)
    action.set_defaults(action=tables)
    action = actions.add_parser("architectures", parents=[shared, working], help=search_architectures.__doc__)
    action.add_argument("task", metavar="TASK")
    action.add_argument("--most", type=int, metavar="N", help="only the first N architectures")
    action.set_defaults(action=search_architectures)
    action = actions.add_parser("tasks", help=list_tasks.__doc__)
    action.set_defaults(action=list_tasks)
    return parser


def _scale(options: argparse.Namespace) -> Scale:
    scale = QUICK if options.quick else Scale()
    bounds = {
        "seconds": options.seconds,
        "rules": options.rules,
        "megabytes": options.megabytes,
        "process_seconds": options.process_seconds,
    }
    scale = replace(
        scale,
        limits=replace(scale.limits, **{name: value for name, value in bounds.items() if value is not None}),
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
            f"--methods names {unknown[0]!r}; expected names out of {', '.join(METHODS)} and compact, "
            "separated by commas."
        )
    return names


def _tasks(options: argparse.Namespace, place: Workplace) -> tuple[list[Prepared], list[str]]:
    """The tasks with their rows; and for those without rows, why. A task asked for by name must have them."""
    prepared, absent = [], []
    for name in options.tasks or task_names():
        settings: TaskSettings = load_settings(name).reduced(_scale(options))
        try:
            prepared.append(prepare(settings, place))
        except DataNotFoundError as error:
            if options.tasks:
                raise
            absent.append(f"Left out: {error}")
    return prepared, absent


def _report(options: argparse.Namespace, tasks: list[Prepared], place: Workplace) -> None:
    from clausewise_experiments.report import write_report

    folder = options.tables or options.out / "tables"
    files = write_report(
        tasks, place, folder, options.command, options.vote, with_resources=not options.no_resources
    )
    print(f"{len(files)} files in {folder}")
