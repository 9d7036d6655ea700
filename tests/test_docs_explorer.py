"""The examples on reports are run and show what they print."""

from tests.doc_blocks import run_examples


def test_the_examples_of_reports_print_what_the_page_shows(capsys):
    assert run_examples("docs/explorer.md", capsys) >= 3
