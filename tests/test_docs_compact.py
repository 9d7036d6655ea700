"""The examples on small rule sets are run and show what they print."""

from tests.doc_blocks import run_examples


def test_the_examples_of_small_rule_sets_print_what_the_page_shows(capsys):
    assert run_examples("docs/compact.md", capsys) >= 4
