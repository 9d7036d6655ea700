"""Standard input and output, named pipes, JSON and colours."""

import json
import os
import subprocess

import pyarrow as pa
import pytest

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
    model = ("--model", work.path("model.skops"))
    result = run("evaluate", work.path("rules.json"), work.path("rows.csv"), *model)
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
