"""Run jobs in separate processes, several at a time, each after the job that it needs."""

import multiprocessing
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from clausewise_experiments.progress_bar import ProgressBar


@dataclass(frozen=True, eq=False)
class Job:
    """A unit of work.

    Attributes
    ----------
    name, title
        The name that other jobs refer to, and the name that is shown.
    task, kind
        Used to estimate its duration.
    run, arguments
        A module-level function and its arguments, called in a separate process.
    is_done
        Whether its result exists.
    needs
        The name of a job that must finish first.
    limit
        Seconds after which it is stopped, and a function to call then.
    """

    name: str
    title: str
    task: str
    kind: str
    run: Callable[..., None]
    arguments: tuple[Any, ...]
    is_done: bool = False
    needs: str | None = None
    limit: tuple[float, Callable[[float], None]] | None = None


@dataclass
class Running:
    """A job's process, its start time, and whether it was stopped at its limit."""

    job: Job
    process: BaseProcess
    was_stopped: bool = False
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since it started."""
        return time.monotonic() - self.started


def run_jobs(jobs: Sequence[Job], n_workers: int, progress: ProgressBar) -> list[str]:
    """Run all jobs that are not done; return the titles of those that failed.

    A job that fails is reported and does not stop the others, but jobs that need it fail too.
    """
    waiting = [job for job in jobs if not job.is_done]
    finished = {job.name for job in jobs if job.is_done}
    failed: list[str] = []
    progress.started(len(jobs), len(jobs) - len(waiting))
    # Forking from a clean process with all modules loaded makes processes start quickly.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["clausewise_experiments.cells"])
    running: dict[int, Running] = {}
    try:
        while waiting or running:
            for job in [job for job in waiting if job.needs is None or job.needs in finished]:
                if len(running) >= n_workers:
                    break
                waiting.remove(job)
                process = context.Process(target=_call, args=(job.run, job.arguments), daemon=True)
                process.start()
                running[process.sentinel] = Running(job, process)
            for one in _ended(running):
                if one.was_stopped or one.process.exitcode == 0:
                    finished.add(one.job.name)
                    progress.durations.add(one.job.task, one.job.kind, one.seconds)
                    progress.done(one.job.title, [(job.task, job.kind) for job in waiting])
                    continue
                failed.append(one.job.title)
                progress.say(f"FAILED: {one.job.title} (exit code {one.process.exitcode})")
                lost = [job for job in waiting if job.needs == one.job.name]
                waiting = [job for job in waiting if job.needs != one.job.name]
                failed += [job.title for job in lost]
    finally:
        for one in running.values():
            one.process.kill()
        for one in running.values():
            one.process.join()
        progress.close()
    return failed


def _ended(running: dict[int, Running]) -> list[Running]:
    """Wait briefly; stop jobs that exceed their limit; remove and return the jobs that have ended."""
    ready = set(wait(list(running), timeout=0.5))
    for sentinel, one in running.items():
        limit = one.job.limit
        if sentinel not in ready and limit is not None and one.seconds > limit[0]:
            one.process.kill()
            one.process.join()
            limit[1](one.seconds)
            one.was_stopped = True
            ready.add(sentinel)
    ended = [running.pop(sentinel) for sentinel in list(running) if sentinel in ready]
    for one in ended:
        one.process.join()
    return ended


def _call(run: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Run a job in the new process, which exits if the parent process ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_with, args=(parent.sentinel,), daemon=True).start()
    try:
        run(*arguments)
    except Exception:
        traceback.print_exc()
        sys.exit(1)


def _exit_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
