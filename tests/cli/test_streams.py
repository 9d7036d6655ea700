"""Standard input and output, named pipes, JSON and colours."""

import io
import json
import os
import struct
import subprocess

import pyarrow as pa
import pytest

from clausewise.cli.arrow_messages import open_messages
from clausewise.cli.table_limits import Allowance
from tests.cli.conftest import RULES


def test_json_output_is_one_line(work, run):
    for command in (
        ["explain", work.path("rules.json"), "--json"],
        ["evaluate", work.path("rules.json"), work.path("rows.csv"), "--target", "truth", "--json"],
        ["compare", work.path("rules.json"), work.path("rules.json"), "--json"],
    ):
        (line,) = run(*command).stdout.splitlines()
        json.loads(line)


@pytest.mark.parametrize(
    ("environment", "has_styles"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True)],
)
def test_tables_are_styled_only_for_terminals_and_never_coloured_with_no_color(
    work, run, monkeypatch, environment, has_styles
):
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    target = ("--target", "truth", "--max-rules", 2)
    result = run("compact", work.path("rules.json"), work.path("rows.csv"), *target, "-q", "-o", "r.json")
    assert result.exit_code == 0, result.stderr
    assert ("\x1b[" in result.stdout) == has_styles
    if "NO_COLOR" in environment:
        assert "\x1b[3" not in result.stdout


def test_a_named_pipe_is_written_to_and_not_replaced(work, run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", "pipe"], cwd=tmp_path, stdout=subprocess.PIPE)
    result = run("export", work.path("rules.json"), "--to", "text", "-o", "pipe")
    assert result.exit_code == 0, result.stderr
    assert reader.communicate(timeout=60)[0].decode() == work.rules.to_text()
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow"])
def test_rows_may_come_from_a_named_pipe(work, run, tmp_path, format):
    file = work.path(f"rows.{format}")
    if format == "arrow":  # only Arrow's streaming format can be read from a pipe
        table = pa.ipc.open_file(file).read_all()
        file = str(tmp_path / "stream.arrow")
        with pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table)
    os.mkfifo(tmp_path / "rows")
    writer = subprocess.Popen(["cp", file, "rows"], cwd=tmp_path)
    result = run("predict", work.path("rules.json"), "rows", "--format", format)
    assert writer.wait(timeout=60) == 0
    assert result.stdout.count("\n") == 601, result.stderr


def stream_that_declares(n_metadata=None, n_body=None):
    """Return a stream of 100 rows whose second message declares other lengths than it has."""
    sink = pa.BufferOutputStream()
    table = pa.table({"age": [50.0] * 100})
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    data = sink.getvalue().to_pybytes()
    if n_body is not None:
        return data.replace(struct.pack("<q", 800), struct.pack("<q", n_body))
    start = data.index(b"\xff" * 4, 8) + 4
    return data[:start] + struct.pack("<i", n_metadata) + data[start + 4 :]


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ({"n_body": 2**62}, "A message takes 4,294,967,296.0 GB"),
        ({"n_body": 300 * 2**20}, "may take 256 MB.*set CLAUSEWISE_MAX_TABLE_MB"),
        ({"n_metadata": 2**31 - 1}, "A message takes 2.0 GB"),
        ({"n_body": 816}, "ends within a message"),
        ({"n_body": -8}, "a message is damaged"),
        ({"n_metadata": -8}, "a message is damaged"),
    ],
)
def test_lengths_that_a_stream_declares_are_not_believed(lengths, message):
    with pytest.raises(ValueError, match=message):
        list(open_messages(io.BytesIO(stream_that_declares(**lengths)), True, Allowance(0)))


def test_a_stream_may_be_as_large_as_the_user_allows(monkeypatch):
    monkeypatch.setenv("CLAUSEWISE_MAX_TABLE_MB", "400")
    with pytest.raises(ValueError, match="ends within a message"):
        list(open_messages(io.BytesIO(stream_that_declares(n_body=300 * 2**20)), True, Allowance(0)))


def test_an_arrow_file_in_a_pipe_is_refused_with_advice(work, run, tmp_path):
    os.mkfifo(tmp_path / "rows")
    writer = subprocess.Popen(["cp", work.path("rows.arrow"), "rows"], cwd=tmp_path)
    result = run("predict", work.path("rules.json"), "rows", "--format", "arrow")
    writer.wait(timeout=60)
    assert result.exit_code == 1
    assert "pipe the streaming format, or pass a path" in result.stderr


def test_two_rule_sets_can_be_compared_on_rows_from_standard_input(run, by_hand, tmp_path):
    (tmp_path / "other.txt").write_text(RULES + "IF age > 60 THEN no")
    result = run("compare", by_hand, "other.txt", "-", input="age,job,smokes\n70,cook,0\n50,cook,0\n")
    assert "1 of 2 rows flip" in result.stdout


def test_rules_in_text_can_be_piped_in(run):
    assert run("explain", "-", input=RULES).stdout.startswith("2 rules")


def test_a_page_can_go_to_standard_output(run, by_hand, tmp_path):
    result = run("report", by_hand, "-o", "-")
    assert result.stdout.startswith("<!")
    assert [path.name for path in tmp_path.iterdir()] == ["rules.txt"]
