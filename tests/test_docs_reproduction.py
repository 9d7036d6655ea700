"""The example on the paper's evaluation is run and shows what it prints."""

from tests.doc_blocks import run_examples


def test_the_example_of_the_reproduction_prints_what_the_page_shows(capsys):
    assert run_examples("docs/reproduction.md", capsys) == 1
