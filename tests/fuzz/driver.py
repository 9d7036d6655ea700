"""Runs inputs in child processes, and kills those that hang."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.recording import Score, ScoreFile, save_finding

ROOT = Path(__file__).parents[2]
MEMORY = 1 << 30
SECONDS = 2.0


@dataclass
class Result:
    """The result of fuzzing one target."""

    target: str
    engine: str
    score: Score = field(default_factory=Score)
    findings: dict[str, str] = field(default_factory=dict)  # name of the input → description

    @property
    def row(self):
        score = self.score
        numbers = f"{score.inputs:>9,} {score.accepted:>9,} {score.refused:>9,}"
        return (
            f"{self.target:<12} {self.engine:<10} {numbers} {score.slowest:>9.3f} s "
            f"{score.peak / 2**20:>7.0f} MB {len(self.findings):>9}"
        )


HEADER = (
    f"{'target':<12} {'engine':<10} {'inputs':>9} {'accepted':>9} {'refused':>9} {'slowest':>11} "
    f"{'peak':>10} {'findings':>9}"
)


def has_atheris():
    """Whether coverage-guided fuzzing is installed (`pip install clausewise[fuzz]`)."""
    return importlib.util.find_spec("atheris") is not None


def fuzz(target_path, engine, n_inputs, seed=0, seconds=SECONDS, memory=MEMORY, keep=None):
    """Run inputs of an engine through a target; an input that ends its process does not end the run.

    Parameters
    ----------
    target_path : str
        `module:NAME` of a Target.
    engine : {"mutation", "hypothesis", "atheris", "large"}
        The source of inputs; "large" are small files that describe large tables or rule sets.
    n_inputs : int
        Number of inputs.
    seed : int
        Makes inputs reproducible.
    seconds, memory : float, int
        Limits on the time of one input, and on the memory of the process beyond its packages.
    keep : path, optional
        Folder for inputs that failed.
    """
    result = Result(target_path.split(":")[1].lower().replace("_", "-"), engine)
    with tempfile.TemporaryDirectory(prefix="clausewise-fuzz-") as name:
        work = Path(name)
        for folder in ("findings", "empty"):
            (work / folder).mkdir()
        if engine == "large":  # written by a process of its own, because that takes much memory
            write = [sys.executable, "-m", "tests.fuzz.large_tables", result.target, str(n_inputs), str(seed)]
            subprocess.run([*write, str(work / "large")], cwd=ROOT, check=True)
        while result.score.inputs < n_inputs:
            before = result.score.inputs
            _run_process(target_path, work, result, n_inputs - before, seed + before, seconds, memory)
            if result.score.inputs == before:
                raise RuntimeError((work / "log").read_text(errors="replace")[-3000:])
        for path in (work / "empty").rglob("*"):
            save_finding(work / "findings", result.target, "wrote", b"", f"wrote {path.name}")
        for path in sorted((work / "findings").glob("*.txt")):
            result.findings[path.with_suffix(".input").name] = path.read_text(errors="replace")
        if keep is not None and result.findings:
            Path(keep).mkdir(parents=True, exist_ok=True)
            for path in (work / "findings").iterdir():
                (Path(keep) / path.name).write_bytes(path.read_bytes())
    return result


def _run_process(target_path, work, result, n_inputs, seed, seconds, memory):
    file = ScoreFile(work / "score", create=True)
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MALLOC_ARENA_MAX": "2",  # memory that threads reserve but do not use counts too
        "HYPOTHESIS_STORAGE_DIRECTORY": str(work / "hypothesis"),
    }
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.fuzz.child", target_path, result.engine]
    with (work / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, str(n_inputs), str(seed), str(work), str(memory)],
            cwd=work / "empty",
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        is_hung = _wait(process, file, seconds)
    status, score = process.returncode, file.read()
    file.close()
    _add(result.score, score)
    # The reason of a crash is at the beginning, before a long list of extension modules.
    log = (work / "log").read_text(errors="replace")[:5000]
    if is_hung:
        save_finding(work / "findings", result.target, "hang", score.running, f"over {seconds} s\n{log}")
    elif score.started > 0:
        save_finding(work / "findings", result.target, "crash", score.running, f"exit code {status}\n{log}")
    elif status != 0:
        raise RuntimeError(f"{target_path}: the process ended with {status} between two inputs\n{log}")


def _wait(process, file, seconds):
    """Wait for the process; return True if an input ran too long and the process was killed.

    The limit is on CPU time, which does not depend on other work on the machine. An input that only waits
    gets thirty times as long, since on a busy machine every input waits for most of the time.
    """
    started = used = 0.0
    while process.poll() is None:
        time.sleep(0.02)
        score = file.read()
        if score.started != started:
            started, used = score.started, _cpu_time(process.pid)
        if started and (_cpu_time(process.pid) - used > seconds or time.monotonic() - started > 30 * seconds):
            process.kill()
            process.wait()
            return True
    return False


def _cpu_time(pid):
    """Return the CPU time of a process in seconds."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has just ended
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _add(total, part):
    total.inputs += part.inputs
    total.accepted += part.accepted
    total.refused += part.refused
    total.slowest = max(total.slowest, part.slowest)
    total.peak = max(total.peak, part.peak)
