"""The examples in the README and in docs/ run and print what the pages show; links are valid."""

import json
import re
from pathlib import Path

import pytest

from clausewise.io import json as rule_json
from tests.doc_blocks import ROOT, blocks, first_block, run_command, run_examples


def _paths(*patterns):
    return sorted(str(path.relative_to(ROOT).as_posix()) for glob in patterns for path in ROOT.glob(glob))


EXAMPLE_PAGES = _paths("README.md", "docs/**/*.md")
LINKED_PAGES = _paths("*.md", "docs/**/*.md", ".github/**/*.md")
# A page that imports one of these is skipped where it is not installed.
OPTIONAL = {
    "torch": "PyTorch",
    "onnx": "onnx",
    "keras": "Keras",
    "matplotlib": "matplotlib",
    "skops": "skops",
    "xgboost": "XGBoost",
}
# Lower bounds, so that examples cannot disappear unnoticed; a new page needs no entry.
LEAST_EXAMPLES = {
    "README.md": 1,
    "docs/cli.md": 1,
    "docs/compact.md": 4,
    "docs/explorer.md": 3,
    "docs/exports.md": 6,
    "docs/extraction.md": 3,
    "docs/get-started.md": 5,
    "docs/induction.md": 6,
    "docs/networks.md": 8,
    "docs/reproduction.md": 1,
    "docs/rule-language.md": 5,
    "docs/rules.md": 5,
}
# Files that the examples of a page write: a pattern, and how many match it.
WRITTEN = {"docs/get-started.md": ("rep*.html", 1), "docs/rules.md": ("*.png", 5)}


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """Run in an empty folder, with figures that open no window."""
    monkeypatch.chdir(tmp_path)
    try:
        import matplotlib as mpl
        from matplotlib import pyplot as plt
    except ModuleNotFoundError:
        yield tmp_path
        return
    mpl.use("Agg")
    yield tmp_path
    plt.close("all")


def skip_without_optional_packages(page):
    code = "".join(block.text for block in blocks(page) if block.language == "python")
    for name in dict.fromkeys(re.findall(r"^\s*(?:import|from) (\w+)", code, re.MULTILINE)):
        if name in OPTIONAL:
            pytest.importorskip(name, reason=f"{OPTIONAL[name]} is not installed")


@pytest.mark.parametrize("page", EXAMPLE_PAGES)
def test_the_examples_print_what_the_page_shows(page, capsys, empty_folder):
    skip_without_optional_packages(page)
    n_fences = len(re.findall(r"^ *```python", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE))
    assert run_examples(page, capsys) == n_fences >= LEAST_EXAMPLES.get(page, 0)
    if page in WRITTEN:
        pattern, n_files = WRITTEN[page]
        assert len(list(empty_folder.glob(pattern))) == n_files


def test_pages_with_examples_are_among_those_that_run():
    assert set(LEAST_EXAMPLES) <= set(EXAMPLE_PAGES)


@pytest.mark.parametrize("page", LINKED_PAGES)
def test_links_between_pages_lead_somewhere(page):
    path = ROOT / page
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_commands_on_the_page_of_the_command_line_run(capsys, empty_folder):
    skip_without_optional_packages("docs/cli.md")
    run_examples("docs/cli.md", capsys)
    shell = [block.text for block in blocks("docs/cli.md") if block.language == "sh"]
    commands = "".join(shell).splitlines()
    assert len(commands) == 15
    for command in commands:
        run_command(command)
    for name in ("rules.json", "decided.parquet", "decided.csv", "small.json", "rough.txt", "report.html"):
        assert Path(name).stat().st_size > 0


def test_the_calls_of_the_cheat_sheet_return_what_it_says(capsys, empty_folder):
    page = "docs/cheat-sheet.md"
    skip_without_optional_packages(page)
    namespace = {}
    run_examples(page, capsys, namespace)
    lines = re.findall(r"^\| `(.+?)` \| (.+) \|$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert len(lines) >= 30
    for call, result in lines:
        returned = eval(compile(call, page, "eval"), namespace)
        expected = re.match(r"`(\w+)`", result)
        assert type(returned).__name__ == (expected[1] if expected else "NoneType"), call
    for command in first_block(page, "sh").splitlines():
        run_command(command)
    assert {"rules.json", "decided.csv", "report.html"} <= {path.name for path in empty_folder.iterdir()}


def test_llms_txt_lists_every_page_with_a_line_about_it():
    text = (ROOT / "llms.txt").read_text(encoding="utf-8")
    title, summary = (line for line in text.splitlines()[:3] if line)
    assert title == "# clausewise"
    assert summary.startswith("> ")
    entries = re.findall(r"^- \[[^\]]+\]\(([^)]+)\): \S.*$", text, re.MULTILINE)
    assert len(entries) == len(set(entries)) == text.count("](")
    assert {*_paths("docs/*.md", "docs/*/README.md"), "README.md"} <= set(entries)
    assert [path for path in entries if not (ROOT / path).is_file()] == []


def test_the_table_of_contents_names_every_page():
    contents = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    names = [path.removeprefix("docs/") for path in _paths("docs/*.md") if path != "docs/README.md"]
    assert [name for name in names if f"]({name})" not in contents] == []


def test_the_example_file_is_what_save_writes():
    example = first_block("docs/rule-file-format.md", "json")
    assert rule_json.dumps(rule_json.loads(example)) == example
    assert set(json.loads(example)) == set(rule_json.schema()["properties"])
