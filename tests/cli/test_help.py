"""`clausewise COMMAND --help` ends with examples that work."""

import shlex
import shutil

import pandas as pd
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from clausewise.cli.app import app
from clausewise.cli.examples import EXAMPLES
from tests.doc_blocks import run_command

# Only read here: the first two have slow tests of their own, and `explore` serves until it is interrupted.
READ_ONLY = ("demo", "doctor", "explore")


def names_of_commands():
    return list(get_command(app).commands)


@pytest.fixture
def folder(work, tmp_path, monkeypatch):
    """Work in a folder with the files that the examples name."""
    for name in ("model.skops", "rules.json"):
        shutil.copy(work.path(name), tmp_path)
    shutil.copy(work.path("rules.json"), tmp_path / "small.json")
    rows = work.frame.rename(columns={"truth": "decision"})
    fresh = rows.assign(income=rows.income + 0.05)  # equal to no row that the rules were learnt from
    fresh.to_csv(tmp_path / "fresh.csv", index=False)
    pd.concat([rows, fresh]).to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.chdir(tmp_path)


def test_every_command_has_examples_of_its_own():
    assert list(EXAMPLES) == names_of_commands()
    for name, lines in EXAMPLES.items():
        assert lines
        assert all(shlex.split(line)[:2] == ["clausewise", name] for line in lines)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_help_ends_with_the_examples_unbroken(name):
    result = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert result.exit_code == 0
    shown = [line.strip() for line in result.stdout.strip().splitlines()]
    assert shown[-len(EXAMPLES[name]) - 1 :] == ["Examples:", *EXAMPLES[name]]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in READ_ONLY])
def test_the_examples_run(name):
    for line in EXAMPLES[name]:
        run_command(line)


@pytest.mark.parametrize("name", READ_ONLY)
def test_the_other_examples_can_be_read(name):
    for line in EXAMPLES[name]:
        arguments = shlex.split(line)[2:]
        context = get_command(app).commands[name].make_context(name, arguments)
        assert context.args == []
