"""Examples on induction and in the README are run and show what they print; links lead somewhere."""

import re

import pytest

from tests.doc_blocks import ROOT, run_examples

PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))]


def test_the_examples_of_induction_print_what_the_page_shows(capsys):
    assert run_examples("docs/induction.md", capsys) > 5


def test_the_examples_of_the_readme_print_what_it_shows(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_examples("README.md", capsys) == 3
    assert (tmp_path / "rules.json").is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []
