"""The examples on the rule language are run and show what they print."""

from tests.doc_blocks import run_examples


def test_the_examples_of_the_rule_language_print_what_the_page_shows(capsys):
    assert run_examples("docs/rule-language.md", capsys) == 5
