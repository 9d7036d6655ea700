"""Jobs run in separate processes, after those that they need; failures and limits do not stop the others."""

import io
import os
import time
from pathlib import Path

from clausewise_experiments.progress_bar import Durations, ProgressBar, duration
from clausewise_experiments.scheduler import Job, run_jobs


def write(path: Path) -> None:
    path.write_text(str(os.getpid()))


def copy(source: Path, path: Path) -> None:
    path.write_text(source.read_text())


def fail() -> None:
    os._exit(3)


def job(name, run, *arguments, **options) -> Job:
    return Job(name=name, title=name, task="task", kind="kind", run=run, arguments=arguments, **options)


def test_jobs_run_after_what_they_need_and_failures_only_stop_what_needs_them(tmp_path):
    said = io.StringIO()
    stopped = []
    jobs = [
        job("copy", copy, tmp_path / "first", tmp_path / "second", needs="write"),
        job("write", write, tmp_path / "first"),
        job("fail", fail),
        job("lost", write, tmp_path / "lost", needs="fail"),
        job("done", fail, is_done=True),
        job("long", time.sleep, 600, limit=(0.5, stopped.append)),
    ]
    failed = run_jobs(jobs, 2, ProgressBar(2, said))
    assert sorted(failed) == ["fail", "lost"]
    assert (tmp_path / "second").read_text() == (tmp_path / "first").read_text() != str(os.getpid())
    assert not (tmp_path / "lost").exists()
    assert len(stopped) == 1
    assert 0.5 < stopped[0] < 60
    assert "1 of 6 jobs were done in an earlier run" in said.getvalue()
    assert "FAILED: fail (exit code 3)" in said.getvalue()


def test_time_left_is_estimated_by_kind_then_by_task_and_training_apart():
    durations = Durations()
    assert durations.expected("xor", "ECLAIRE") == 5.0
    durations.add("xor", "training", 100.0)
    durations.add("xor", "ECLAIRE", 2.0)
    durations.add("xor", "ECLAIRE", 4.0)
    durations.add("xor", "REM-D", 9.0)
    assert durations.expected("xor", "ECLAIRE") == 3.0
    assert durations.expected("xor", "C5.0") == 5.0
    assert durations.expected("magic", "C5.0") == 5.0
    assert durations.expected("magic", "training") == 100.0


def test_progress_shows_what_is_done_and_what_is_left():
    said = io.StringIO()
    progress = ProgressBar(2, said)
    progress.started(3, 1)
    progress.durations.add("xor", "ECLAIRE", 60.0)
    progress.done("xor fold 0 ECLAIRE", [("xor", "ECLAIRE"), ("xor", "ECLAIRE")])
    assert said.getvalue().splitlines() == [
        "1 of 3 jobs were done in an earlier run",
        "|████████████████        | 2/3  xor fold 0 ECLAIRE, about 1 min 00 s left",
    ]


def test_durations_are_shown_in_seconds_minutes_or_hours():
    assert [duration(seconds) for seconds in (4.2, 65, 7320)] == ["4 s", "1 min 05 s", "2 h 02 min"]
