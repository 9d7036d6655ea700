"""Commands in processes of their own: signals, closed pipes, memory."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import urllib.request

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import clausewise

PROGRAM = (sys.executable, "-m", "clausewise")


def write_repeated(work, path, times):
    """Write the rows of the fixture this many times."""
    if path.suffix == ".parquet":
        table = pa.parquet.read_table(work.path("rows.parquet"))
        pa.parquet.write_table(pa.concat_tables([table] * times), path)
    else:
        header, rows = (work.folder / "rows.csv").read_bytes().split(b"\n", 1)
        path.write_bytes(header + b"\n" + rows * times)


def test_the_module_runs_as_the_command_does():
    result = subprocess.run([*PROGRAM, "--version"], capture_output=True, check=True, text=True)
    assert result.stdout.strip() == f"clausewise {clausewise.__version__}"


def test_a_closed_pipe_is_not_an_error(work, tmp_path):
    write_repeated(work, tmp_path / "big.csv", 300)
    command = f'"{sys.executable}" -m clausewise predict "{work.path("rules.json")}" big.csv --keep | head -2'
    result = subprocess.run(command, shell=True, capture_output=True, cwd=tmp_path, check=False)
    assert result.stdout.count(b"\n") == 2
    assert result.stderr == b""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_binary_exports_do_not_go_to_a_terminal(work):
    import pty

    terminal, output = pty.openpty()
    command = [*PROGRAM, "export", work.path("rules.json"), "--to"]
    refused = subprocess.run(
        [*command, "onnx"], stdout=output, stderr=subprocess.PIPE, check=False, text=True
    )
    assert refused.returncode == 2
    assert "onnx is binary; pass -o FILE" in refused.stderr
    assert subprocess.run([*command, "text"], stdout=output, check=False).returncode == 0
    assert os.read(terminal, 10).startswith(b"FEATURE")
    os.close(terminal)
    os.close(output)


def test_an_interrupt_leaves_the_old_file_and_no_other(work, tmp_path):
    write_repeated(work, tmp_path / "big.csv", 2000)
    out = tmp_path / "out.csv"
    out.write_text("old\n")
    command = [*PROGRAM, "predict", work.path("rules.json"), "big.csv", "-o", "out.csv", "--keep", "--proba"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    while process.poll() is None and not list(tmp_path.glob(".out.csv*")):
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == b"interrupted\n"
    assert out.read_text() == "old\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big.csv", "out.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of Unix")
@pytest.mark.parametrize(("options", "expected"), [((), b"Predictions: 600 rows"), (("-q",), b"")])
def test_predict_shows_progress_in_a_terminal(work, tmp_path, options, expected):
    import pty

    ours, theirs = pty.openpty()
    command = [*PROGRAM, "predict", work.path("rules.json"), work.path("rows.parquet"), "-o", "out.csv"]
    subprocess.run([*command, *options], cwd=tmp_path, stderr=theirs, check=True)
    os.close(theirs)
    shown = b""
    with os.fdopen(ours, "rb") as terminal, contextlib.suppress(OSError):  # at its end, on Linux
        shown = terminal.read1()
    assert expected in shown
    assert bool(shown) == bool(expected)
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 601


PEAKS = """
    import resource, sys
    from typer.testing import CliRunner
    from clausewise.cli.app import app

    rules, *files = sys.argv[1:]
    for file in files:
        result = CliRunner().invoke(app, ["predict", rules, file, "-o", f"{file}.out.parquet"])
        assert result.exit_code == 0, result.output
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_predict_needs_no_more_memory_for_a_longer_file(work, tmp_path, suffix):
    files = {times: tmp_path / f"rows{times}{suffix}" for times in (100, 3000)}
    for times, path in files.items():
        write_repeated(work, path, times)
    command = [sys.executable, "-c", textwrap.dedent(PEAKS), work.path("rules.json"), *files.values()]
    printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    for times, path in files.items():
        assert pa.parquet.read_metadata(f"{path}.out.parquet").num_rows == 600 * times
    short, long = map(int, printed.split())
    # The longer file alone takes more than 100 MB as a table.
    assert long - short < 60


def test_explore_serves_a_page_with_the_network_until_interrupted(work, tmp_path):
    command = [sys.executable, "-u", "-m", "clausewise", "explore", work.path("rules.json"), "--no-browser"]
    files = ["--data", work.path("rows.csv"), "--model", work.path("model.skops"), "--target", "truth"]
    process = subprocess.Popen(
        [*command, *files], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        printed = ""
        while "http://127.0.0.1" not in printed:
            line = process.stdout.readline().decode()
            assert line, process.stderr.read()
            printed += line
        address = re.search(r"http://127\.0\.0\.1:\d+/\S+", printed)[0]
        page = urllib.request.urlopen(address, timeout=60).read().decode()
        assert '"has_network":true' in page.replace(" ", "")
        rows = {"rows": [[30, "nurse", False, 40.0]]}
        question = urllib.request.Request(
            f"{address}api/predict", json.dumps(rows).encode(), {"Content-Type": "application/json"}
        )
        answer = json.loads(urllib.request.urlopen(question, timeout=60).read())
        asked = pd.DataFrame([[30, "nurse", False, 40.0]], columns=["age", "job", "smokes", "income"])
        assert answer["labels"] == work.network.predict(asked).tolist()
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert b"Traceback" not in errors
