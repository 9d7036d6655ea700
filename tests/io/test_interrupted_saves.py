"""The old file survives killed processes, full disks and read-only folders."""

import contextlib
import errno
import gc
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from clausewise import Rule, RuleSet, Term
from clausewise.cli.prediction_files import table_writer
from clausewise.io import atomic

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals, locks and limits")

N_KILLS = 100
MANY = RuleSet.from_rules([Rule((Term(0, low=i),), "yes") for i in range(3_000)], ["x"], default="no")
FEW = MANY[:5]


def python(code, *arguments, **options):
    """Start a process that runs this code."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def output_of(process, timeout=60):
    """Wait for a process and return what it printed."""
    output, errors = process.communicate(timeout=timeout)
    assert process.returncode == 0, errors
    return output


# --- Killed ---

KILL_WRITERS = """
    import os, random, signal, sys, time
    from clausewise import RuleSet
    from clausewise.io import json as rule_json

    few, many = (RuleSet.load(path) for path in sys.argv[1:3])
    target = sys.argv[3]
    # Serialised beforehand, so that the kill hits the writing, which is much faster.
    texts = {len(rules): rule_json.dumps(rules) for rules in (few, many)}
    rule_json.dumps = lambda rules: texts[len(rules)]
    whole = {text.encode() for text in texts.values()}
    chance, n_leftovers = random.Random(0), 0
    for _ in range(int(sys.argv[4])):
        writer = os.fork()
        if writer == 0:
            while True:
                few.save(target)
                many.save(target)
        time.sleep(chance.uniform(0.001, 0.01))
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        with open(target, "rb") as file:
            assert file.read() in whole
        n_leftovers += len(os.listdir(os.path.dirname(target))) - 1
        few.save(target)
        assert os.listdir(os.path.dirname(target)) == [os.path.basename(target)]
    print(n_leftovers)
"""


@pytest.fixture
def versions(tmp_path):
    FEW.save(tmp_path / "few.json")
    MANY.save(tmp_path / "many.json")
    return [tmp_path / "few.json", tmp_path / "many.json"]


def test_a_process_killed_while_saving_leaves_a_complete_file_and_the_next_save_cleans_up(tmp_path, versions):
    folder = tmp_path / "folder"
    folder.mkdir()
    FEW.save(folder / "rules.json")
    printed = output_of(python(KILL_WRITERS, *versions, folder / "rules.json", N_KILLS))
    assert int(printed) > 0, "no process was killed while writing, so nothing was tested"
    assert RuleSet.load(folder / "rules.json") == FEW


KILLED_AT = """
    import os, signal, sys
    from clausewise import RuleSet
    from clausewise.io import atomic

    few, many = (RuleSet.load(path) for path in sys.argv[1:3])
    target = sys.argv[3]
    few.save(target)
    before = open(target, "rb").read()

    def killed(*arguments, **options):
        os.kill(os.getpid(), signal.SIGKILL)

    def half(handle, *arguments):
        os.write(handle, b"{")
        killed()

    for step in ("fdopen", "fsync", "chmod", "replace"):
        writer = os.fork()
        if writer == 0:
            setattr(atomic.os, step, half if step == "fdopen" else killed)
            many.save(target)
        assert os.waitpid(writer, 0)[1] == signal.SIGKILL
        assert open(target, "rb").read() == before
        assert len(os.listdir(os.path.dirname(target))) == 2
        few.save(target)
        assert os.listdir(os.path.dirname(target)) == [os.path.basename(target)]
        print(step)
"""


def test_a_process_killed_at_each_step_leaves_the_old_file(tmp_path, versions):
    folder = tmp_path / "folder"
    folder.mkdir()
    printed = output_of(python(KILLED_AT, *versions, folder / "rules.json"))
    assert printed.split() == ["fdopen", "fsync", "chmod", "replace"]


# --- Interrupted ---


def interrupted_at(step, function):
    """Call a function and raise KeyboardInterrupt before its step-th opcode; return whether it got there.

    Counted are the opcodes of `atomic` and of `contextlib`, the places where Ctrl-C can interrupt a save.
    """
    n_steps = 0
    files = (atomic.__file__, contextlib.__file__)

    def trace(frame, event, argument):
        nonlocal n_steps
        if frame.f_code.co_filename not in files:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            n_steps += 1
            if n_steps == step:
                raise KeyboardInterrupt
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(previous)
    return False


# A handle that was opened just before the interrupt is closed by the garbage collector, which warns.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_step_leaves_a_whole_file_and_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic.os, "fsync", lambda handle: None)
    target = tmp_path / "rules.json"
    for step in itertools.count(1):
        target.write_bytes(b"old")
        is_interrupted = interrupted_at(step, lambda: atomic.write_atomically(target, b"new"))
        if len(os.listdir(tmp_path)) > 1:
            gc.collect()  # an interrupt in `contextlib` leaves the rest to the garbage collector
        assert os.listdir(tmp_path) == ["rules.json"], step
        assert target.read_bytes() in (b"old", b"new")
        if not is_interrupted:
            break
    assert target.read_bytes() == b"new"
    assert step > 100, "nothing was interrupted"


# --- Full ---

SAVE_ONCE = """
    import os, sys
    from clausewise import RuleSet
    rules = RuleSet.load(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        rules.save(sys.argv[2])
    except OSError as error:
        print(error.errno, error)
    else:
        print("saved")
"""


def test_a_disk_without_room_for_the_file_keeps_the_old_one(tmp_path, versions):
    # A limit on the size of files acts like a full disk: both fail in the middle of a write.
    folder = tmp_path / "folder"
    folder.mkdir()
    FEW.save(folder / "rules.json")
    process = python(SAVE_ONCE, versions[1], folder / "rules.json")
    assert process.stdout.readline() == "ready\n"
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (10_000, 10_000))
    number, message = output_of(process).strip().split(" ", 1)
    assert int(number) == errno.EFBIG
    assert message.endswith(f"'{folder / 'rules.json'}'")
    assert os.listdir(folder) == ["rules.json"]
    assert RuleSet.load(folder / "rules.json") == FEW


@pytest.fixture
def small_disk(tmp_path):
    """Mount a file system of 64 kB; only root can, and not in every container."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True)
    if made.returncode:
        pytest.skip(f"cannot mount a file system here: {made.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_keeps_the_old_file(small_disk):
    FEW.save(small_disk / "rules.json")
    with pytest.raises(OSError, match=r"No space left on device: .*rules\.json") as caught:
        MANY.save(small_disk / "rules.json")
    assert caught.value.errno == errno.ENOSPC
    assert os.listdir(small_disk) == ["rules.json"]
    assert RuleSet.load(small_disk / "rules.json") == FEW
    FEW[:3].save(small_disk / "rules.json")
    assert RuleSet.load(small_disk / "rules.json") == FEW[:3]


def test_a_full_disk_keeps_an_old_report(small_disk):
    path = small_disk / "report.html"
    path.write_text("old")
    with pytest.raises(OSError, match=r"No space left on device: .*report\.html"):
        FEW.report(path)
    assert os.listdir(small_disk) == ["report.html"]
    assert path.read_text() == "old"


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".jsonl"])
def test_a_full_disk_keeps_old_predictions(small_disk, suffix):
    path = small_disk / f"rows{suffix}"
    path.write_text("old")
    table = pa.table({"row": np.random.default_rng(0).integers(0, 2**60, 50_000)})
    with (
        pytest.raises(OSError, match="No space left on device"),
        table_writer(str(path), table.schema, False) as write,
    ):
        write(table)
    assert os.listdir(small_disk) == [path.name]
    assert path.read_text() == "old"


def test_a_disk_that_became_read_only_keeps_the_old_file(small_disk):
    FEW.save(small_disk / "rules.json")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(OSError, match=r"Read-only file system: .*disk/rules\.json") as caught:
        FEW[:3].save(small_disk / "rules.json")
    assert caught.value.errno == errno.EROFS
    assert os.listdir(small_disk) == ["rules.json"]
    assert RuleSet.load(small_disk / "rules.json") == FEW


# --- Read-only ---

SAVE_AS_NOBODY = """
    import os, sys
    from clausewise import RuleSet
    rules = RuleSet.load(sys.argv[1])
    rules.predict([[1.0]])
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    try:
        rules.save(sys.argv[2])
    except PermissionError as error:
        print(error)
"""


def test_a_folder_without_write_permission_keeps_the_old_file(versions):
    # Outside pytest's folders, which other users cannot enter.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        FEW.save(folder / "rules.json")
        folder.chmod(0o555)
        printed = output_of(python(SAVE_AS_NOBODY, versions[1], folder / "rules.json"))
        assert printed == f"[Errno 13] Permission denied: '{folder / 'rules.json'}'\n"
        assert os.listdir(folder) == ["rules.json"]
        assert RuleSet.load(folder / "rules.json") == FEW
        folder.chmod(0o755)
