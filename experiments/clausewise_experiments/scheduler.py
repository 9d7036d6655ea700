"""Work in processes: each piece in one of its own, several at a time, networks before what needs them."""

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

from clausewise_experiments.progress import Progress


@dataclass(frozen=True, eq=False)
class Job:
    """A piece of work.

    Attributes
    ----------
    name, title
        What other jobs need it by, and what people call it.
    task, kind
        What its duration is estimated by.
    run, arguments
        A function of a module, called in a process of its own.
    is_done
        Whether its result is there already.
    needs
        The name of a job that comes first.
    limit
        Seconds after which it is stopped, and what is then called.
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
    """A job's process, its start on the clock, and whether it was stopped and a result written for it."""

    job: Job
    process: BaseProcess
    was_stopped: bool = False
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return time.monotonic() - self.started


def run_jobs(jobs: Sequence[Job], n_workers: int, progress: Progress) -> list[str]:
    """Run all jobs that are not done; the titles of those that failed.

    A job whose result is there is never run again. What fails is reported and does not stop the others, but
    what needs it is left out.
    """
    waiting = [job for job in jobs if not job.is_done]
    finished = {job.name for job in jobs if job.is_done}
    failed: list[str] = []
    progress.started(len(jobs), len(jobs) - len(waiting))
    # Processes are copies of one that has everything loaded but has never worked, so that they start at once.
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
    """Wait a little; the jobs that have ended, taken off the list. What is over its limit is stopped."""
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
    """In the new process: work, and end together with the process that asked for it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    try:
        run(*arguments)
    except Exception:
        traceback.print_exc()
        sys.exit(1)


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
