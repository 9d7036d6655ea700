"""Files that commands write: none of them is an input, and its ending is checked first."""

import os
import shutil

import pytest

from clausewise import RuleSet
from clausewise.cli.app import COMMANDS, load_command
from clausewise.cli.output_files import INPUTS, OUTPUTS

NAMES = ("model.skops", "rules.json", "rows.csv", "rows.parquet")


@pytest.fixture
def files(work, run, tmp_path):
    """Copy the files of the work to the folder of `run`; return a function that checks that they are kept."""
    for name in NAMES:
        shutil.copy(work.path(name), tmp_path)
    shutil.copytree(tmp_path, tmp_path / "folder", ignore=lambda *_: NAMES[:3])
    os.symlink("rows.csv", "link.csv")
    os.link("model.skops", "hard.json")
    (tmp_path / "names.json").write_text("{}")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def are_kept():
        now = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        return now == before and (tmp_path / "link.csv").is_symlink()

    return are_kept


@pytest.mark.parametrize(
    "command",
    [
        "extract model.skops rows.csv --report rows.csv",
        "extract model.skops rows.csv --report model.skops",
        "extract model.skops rows.csv --report link.csv",
        "extract model.skops rows.csv -o hard.json",
        "extract model.skops rows.csv --test rows.parquet --report rows.parquet",
        "predict rules.json rows.csv -o rows.csv",
        "predict rules.json rows.csv -o ./link.csv",
        "predict rules.json folder -o folder/rows.parquet",
        "predict rules.json folder/*.parquet -o folder/rows.parquet",
        "predict rules.json rows.csv -o rules.json --json",
        "compact rules.json rows.csv --model hard.json -o hard.json",
        "report rules.json rows.csv -o rows.csv",
        "report rules.json rows.csv --labels names.json -o names.json",
        "export rules.json --to sql -o rules.json",
        "export rules.json --to json -o rules.json",
        "validate rules.json model.skops rows.csv -o rows.csv",
        "validate rules.json model.skops rows.csv -o rules.json",
        "validate rules.json hard.json rows.csv --attach hard.json",
    ],
)
def test_an_output_never_overwrites_an_input(run, files, command):
    result = run(*command.split())
    assert result.exit_code == 2, result.output
    assert "would overwrite a file that the command reads" in " ".join(result.stderr.replace("│", "").split())
    assert files()


def test_two_outputs_are_not_the_same_file(run, files):
    result = run(*["extract", "model.skops", "rows.csv", "-o", "new.json", "--report", "./new.json"])
    assert result.exit_code == 2
    assert "-o and --report are the same file" in result.stderr
    assert files()


def test_rules_may_replace_the_rules_that_they_come_from(run, files):
    rules = RuleSet.load("rules.json")
    for command in ("compact rules.json rows.csv --target truth --max-rules 1", "simplify rules.json"):
        rules.save("rules.json")
        result = run(*command.split(), "-o", "rules.json")
        assert result.exit_code == 0, result.output
        assert 0 < len(RuleSet.load("rules.json")) <= len(rules)
    result = run(
        *["validate", "rules.json", "model.skops", "rows.csv", "--overlap", "keep", "--attach", "rules.json"]
    )
    assert result.exit_code == 0, result.output
    assert RuleSet.load("rules.json").guaranteed is not None


@pytest.mark.parametrize(
    "command",
    [
        "extract model.skops rows.csv -o new.xyz",
        "extract model.skops rows.csv -o new",
        "compact rules.json rows.csv --target truth -o new.csv",
        "simplify rules.json -o new.yaml",
        "validate rules.json model.skops rows.csv --attach new.html",
        "predict rules.json rows.csv -o new.xyz",
    ],
)
def test_the_ending_of_an_output_is_checked_before_anything_is_read(run, files, command):
    result = run(*command.split())
    assert result.exit_code == 2
    assert "ends in ." in " ".join(result.stderr.replace("│", "").split())
    assert files()


def test_devices_have_no_ending(run, files):
    assert run("simplify", "rules.json", "-o", os.devnull).exit_code == 0
    assert files()


def test_every_file_of_a_command_is_known_as_an_input_or_an_output():
    for name in COMMANDS:
        for option in load_command(name).params:
            if option.metavar in ("FILE", "RULES", "MODEL", "DATA", "BEFORE", "AFTER"):
                assert option.name in INPUTS or option.name in OUTPUTS, (name, option.name)
