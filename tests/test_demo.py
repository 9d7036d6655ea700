"""`make demo` runs anywhere, writes the files it names, and its rules imitate the network."""

import json
import re
import subprocess
import sys

import pytest

from clausewise import RuleSet
from tests.doc_blocks import ROOT, blocks

DEMO = ROOT / "examples" / "demo.py"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the output of the demo, and the folder that it wrote to, which has a space in its path."""
    folder = tmp_path_factory.mktemp("a demo") / "new folder"
    command = [sys.executable, "-W", "error", "-X", "utf8", str(DEMO), str(folder)]
    done = subprocess.run(
        command, cwd=folder.parent, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True
    )
    assert done.stderr == ""
    return done.stdout, folder


def test_rules_through_the_layers_are_faithful_and_those_from_labels_alone_are_not(run):
    printed, _ = run
    from_labels = float(re.search(r"labels alone: \d+, fidelity ([\d.]+)%", printed)[1])
    through_layers = float(re.search(r"as in the paper: \d+, fidelity ([\d.]+)%", printed)[1])
    by_default = float(re.search(r"fidelity to the network +([\d.]+) %", printed)[1])
    assert from_labels < 60
    assert 85 < through_layers <= 100
    assert 90 < by_default <= 100


def test_the_rules_file_holds_the_printed_rules(run):
    printed, folder = run
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
    _, folder = run
    page = (folder / "report.html").read_text(encoding="utf-8")
    payload = json.loads(
        re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1]
    )
    assert payload["rules"] == json.loads((folder / "rules.json").read_text(encoding="utf-8"))
    assert payload["rows"]["n_total"] == 250
    assert payload["frontier"]["by"] == "conditions"
    assert not re.search(r"<(link|script|img)[^>]*(src|href)=", page)


def test_the_demo_prints_which_files_it_wrote(run):
    printed, folder = run
    files = f"{folder / 'rules.json'} (loaded again: equal) and {folder / 'report.html'}"
    assert printed.endswith(f"Wrote {files}, a page to open in a browser\n")
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "rules.json"]


def test_the_readme_shows_the_demo_as_it_is(run):
    # Training gives slightly different figures on other processors, so only the words are compared.
    def words(text):
        return set(re.findall(r"[a-z]{4,}", text))

    sample = next(block.text for block in blocks("README.md") if block.text.startswith("A network with"))
    assert words(sample) == words(run[0].replace(str(run[1]), "out"))


def test_without_a_folder_the_demo_prints_its_usage():
    done = subprocess.run([sys.executable, str(DEMO)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr == "usage: python examples/demo.py OUTDIR\n"
