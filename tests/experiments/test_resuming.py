"""A run that is killed at any moment can be resumed, and its tables equal those of an unbroken run."""

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clausewise_experiments import cli
from clausewise_experiments.cells import RunFolder
from clausewise_experiments.jobs import jobs_of, prepare
from clausewise_experiments.progress_bar import ProgressBar
from clausewise_experiments.scheduler import Job
from clausewise_experiments.settings import Scale, load_settings

TASK = """
title = "tiny"

[data]
source = "xor"
n_rows = 150
n_columns = 3

[folds]
kind = "stratified"

[network]
hidden = [6, 3]
activation = "tanh"
epochs = 20
batch_size = 16
scaling = "min-max"

[min_cases]
"C5.0" = [2]
"REM-D" = [20]
"ECLAIRE" = [2, 5, 10]

[compact]
budgets = [4]
"""
# The network, five values of μ and a compact rule set, of one fold.
N_RESULTS = 7


@pytest.fixture
def task(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TASK, encoding="utf-8")
    return path


def arguments(task: Path, out: Path) -> list[str]:
    return ["run", str(task), "--out", str(out), "--folds", "1", "--jobs", "2", "--no-resources"]


def results(out: Path) -> dict[Path, tuple[int, bytes]]:
    """Return modification time and content of every result."""
    files = sorted((out / "results").rglob("*.json"))
    return {path.relative_to(out): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def tables(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / "tables").iterdir() if path.name != "run.json"}


def jobs(task: Path, out: Path) -> tuple[list[Job], str]:
    """Return the jobs of a further run, and what it would print."""
    run_folder, said = RunFolder(out), io.StringIO()
    prepared = prepare(load_settings(task).reduced(Scale(n_folds=1)), run_folder)
    return jobs_of([prepared], run_folder, ProgressBar(1, said)), said.getvalue()


def test_a_killed_run_resumes_and_ends_with_the_same_tables(task, tmp_path, capsys):
    unbroken, broken = tmp_path / "unbroken", tmp_path / "broken"
    assert cli.main(arguments(task, unbroken)) == 0

    command = [sys.executable, "-m", "clausewise_experiments", *arguments(task, broken)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 300
        while len(results(broken)) < 2:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.005)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    before = results(broken)
    assert 2 <= len(before) < N_RESULTS
    assert not (broken / "tables").exists()

    capsys.readouterr()
    assert cli.main(arguments(task, broken)) == 0
    said = capsys.readouterr().err
    after = results(broken)
    assert len(after) == N_RESULTS
    assert {path: after[path] for path in before} == before
    assert f"of {N_RESULTS + 1} jobs were done in an earlier run" in said
    assert tables(broken) == tables(unbroken)
    assert len(tables(broken)) >= 5 * 3

    assert all(job.is_done for job in jobs(task, broken)[0])
    task.write_text(TASK.replace("epochs = 20", "epochs = 21"), encoding="utf-8")
    changed, said = jobs(task, broken)
    assert not any(job.is_done for job in changed)
    assert f"{N_RESULTS} results are computed again: network.epochs 20 → 21" in said
