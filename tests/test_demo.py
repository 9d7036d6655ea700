"""`clausewise demo` runs anywhere, writes the files it names, and its rules imitate the network."""

import json
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import clausewise.cli
from clausewise import RuleSet
from clausewise.cli.app import app
from tests.doc_blocks import ROOT, blocks, run_command

EXAMPLE = ROOT / "examples" / "demo.py"
# The command, in a process that may not connect to anything.
OFFLINE = """
import sys

def refuse_to_connect(event, details):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise AssertionError(f"the demo connects to {details}")

sys.addaudithook(refuse_to_connect)
from clausewise.cli import main
main()
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the story that the demo prints, and the folder that it wrote to, with a space in its path."""
    folder = tmp_path_factory.mktemp("a demo") / "new folder"
    command = [sys.executable, "-W", "error", "-X", "utf8", "-c", OFFLINE, "demo", str(folder)]
    done = subprocess.run(
        command, cwd=folder.parent, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True
    )
    assert done.stderr == ""
    story, _, next_steps = done.stdout.partition("\nTo go on:\n")
    return story, folder, next_steps.splitlines()


def test_rules_through_the_layers_are_faithful_and_those_from_labels_alone_are_not(run):
    printed = run[0]
    from_labels = float(re.search(r"labels alone: \d+, fidelity ([\d.]+)%", printed)[1])
    through_layers = float(re.search(r"as in the paper: \d+, fidelity ([\d.]+)%", printed)[1])
    by_default = float(re.search(r"fidelity to the network +([\d.]+) %", printed)[1])
    assert from_labels < 60
    assert 85 < through_layers <= 100
    assert 90 < by_default <= 100


def test_the_rules_file_holds_the_printed_rules(run):
    printed, folder, _ = run
    rules = RuleSet.load(folder / "rules.json")
    assert f"\n\n{rules}\n" in printed
    assert 0 < len(rules) <= 4
    assert re.search(rf"\*\*{len(rules)} rules [\d.]+ %\*\*.* on held-out rows", printed)
    assert {"x1", "x2"} <= {term.name for rule in rules for term in rule.terms}
    assert all(rule.origin is not None and rule.origin.layer for rule in rules)


def test_at_most_four_rules_have_points_to_add_up(run):
    scored = run[0].partition("At most four, with integer points: ")[2]
    points = re.findall(r"^  ([+−]\d) (?:one|zero) ", scored, re.MULTILINE)
    assert 0 < len(points) <= 4


def test_the_report_is_one_page_that_holds_the_rules_and_the_held_out_rows(run):
    folder = run[1]
    page = (folder / "report.html").read_text(encoding="utf-8")
    payload = json.loads(
        re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1]
    )
    saved = json.loads((folder / "rules.json").read_text(encoding="utf-8"))
    del saved["learnt_rows"]  # the page has no use for the hashes of the rows that were learnt from
    assert payload["rules"] == saved
    assert payload["rows"]["n_total"] == 250
    assert payload["frontier"]["by"] == "conditions"
    assert not re.search(r"<(link|script|img)[^>]*(src|href)=", page)


def test_the_demo_prints_which_files_it_wrote(run):
    printed, folder, _ = run
    files = f"{folder / 'rules.json'} (loaded again: equal) and {folder / 'report.html'}"
    assert printed.endswith(f"Wrote {files}, a page to open in a browser\n")
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "rules.json"]


def test_get_started_shows_the_demo_as_it_is(run):
    # Training gives slightly different figures on other processors, so only the words are compared.
    def words(text):
        return set(re.findall(r"[a-z]{4,}", text))

    sample = next(
        block.text for block in blocks("docs/get-started.md") if block.text.startswith("A network with")
    )
    assert words(sample) == words(run[0].replace(str(run[1]), "out"))


def test_the_commands_to_go_on_with_run(run):
    explain, export = run[2]
    assert "x1" in run_command(explain)
    assert "SELECT" in run_command(export)


@pytest.fixture
def no_folder(tmp_path):
    """Return a path at which no folder can be created, because its parent is a file."""
    (tmp_path / "file").write_text("in the way")
    return str(tmp_path / "file" / "folder")


def test_a_folder_that_cannot_be_written_is_named_before_anything_is_computed(no_folder):
    result = CliRunner().invoke(app, ["demo", no_folder])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == (
        f"error: The demo cannot write to {no_folder} (Not a directory); pass another folder.\n"
    )


def test_a_file_in_place_of_the_folder_is_refused_and_kept(tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    result = CliRunner().invoke(app, ["demo", str(path)])
    assert result.exit_code == 1
    assert "pass another folder" in result.stderr
    assert path.read_text() == "mine"


@pytest.fixture
def no_other_packages(monkeypatch):
    """Let the packages of the command line be missing, as after a plain `pip install`."""
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "clausewise.cli.app", raising=False)
    monkeypatch.setattr("clausewise.cli.find_spec", lambda name: None)


@pytest.mark.usefixtures("no_other_packages")
def test_the_demo_runs_after_a_plain_installation(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", ["clausewise", "demo", str(tmp_path / "out")])
    clausewise.cli.main()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["report.html", "rules.json"]
    assert "To go on: pip install 'clausewise[cli]'" in capsys.readouterr().out


@pytest.mark.usefixtures("no_other_packages")
@pytest.mark.parametrize("arguments", [["explain", "rules.json"], ["demo", "--help"], []])
def test_other_commands_name_what_is_missing(monkeypatch, arguments):
    monkeypatch.setattr(sys, "argv", ["clausewise", *arguments])
    with pytest.raises(
        SystemExit, match=r"error: the command line needs \w+: pip install 'clausewise\[cli\]'"
    ):
        clausewise.cli.main()


def test_the_plain_demo_says_where_it_cannot_write(monkeypatch, no_folder, no_other_packages):
    monkeypatch.setattr(sys, "argv", ["clausewise", "demo", str(no_folder)])
    with pytest.raises(SystemExit, match="error: The demo cannot write to"):
        clausewise.cli.main()


def run_example(*arguments):
    command = [sys.executable, str(EXAMPLE), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_the_example_runs_the_same_demo(no_folder):
    done = run_example(no_folder)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: The demo cannot write to {no_folder} (")


def test_without_a_folder_the_example_prints_its_usage():
    done = run_example()
    assert done.returncode == 1
    assert done.stderr == "usage: python examples/demo.py OUTDIR\n"
