"""The commands on the page of the command line are run."""

import shlex
from pathlib import Path

from typer.testing import CliRunner

from clausewise.cli.app import app
from tests.doc_blocks import blocks, run_examples


def _run(arguments):
    """Run a command here, as a shell would that knows `< file` and `> file`."""
    files = {}
    for symbol in ("<", ">"):
        if symbol in arguments:
            place = arguments.index(symbol)
            files[symbol] = Path(arguments[place + 1])
            del arguments[place : place + 2]
    result = CliRunner().invoke(app, arguments, input=files["<"].read_bytes() if "<" in files else None)
    assert result.exit_code == 0, (arguments, result.output)
    if ">" in files:
        files[">"].write_bytes(result.stdout_bytes)


def test_the_commands_on_the_page_run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert run_examples("docs/cli.md", capsys) == 1
    pages = [block.text for block in blocks("docs/cli.md") if block.language == "sh"]
    commands = "".join(pages).splitlines()
    assert len(commands) == 13
    for command in commands:
        name, *arguments = shlex.split(command)
        assert name == "clausewise"
        _run(arguments)
    for name in ("rules.json", "decided.parquet", "decided.csv", "small.json", "rough.txt", "report.html"):
        assert Path(name).stat().st_size > 0
