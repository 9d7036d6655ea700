"""Markdown tables hold every rule, and text from data never becomes markup."""

import html
import re

import pytest
from hypothesis import given
from tests.export.export_cases import AWKWARD, MIXED_RULES, cases, half_as_many, shown_rules, two_rules


def test_markdown_is_a_table():
    assert MIXED_RULES.to_markdown() == (
        "3 rules (1 with priority) for the classes no, yes; voting confidence, otherwise no\n"
        "\n"
        "| rule | IF | THEN | votes | confidence | cover | priority |\n"
        "| ---: | --- | --- | ---: | ---: | ---: | --- |\n"
        "| 0 | age ≤ 47 AND job ∈ {a, b} | yes | +930 | 0.93 | 120 |  |\n"
        "| 1 | age ≤ 47 AND smokes = true | no | +610 | 0.61 | 50 |  |\n"
        "| 2 | anything | no | +500 | 0.50 | 0 | yes |\n"
    )


def markdown_cells(line):
    cells = re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]
    return [html.unescape(re.sub(r"\\(.)", r"\1", cell.strip(" "))) for cell in cells]


@half_as_many
@given(cases)
def test_markdown_reads_back_as_the_rules(case):
    lines = case.rules.to_markdown().split("\n")[4:-1]
    assert len(lines) == len(case.rules)
    for line, (terms, conclusion) in zip(lines, shown_rules(case.rules), strict=True):
        cells = markdown_cells(line)
        assert cells[1].split() == (" AND ".join(terms) or "anything").split()
        assert cells[2].split() == conclusion.split()


@pytest.mark.parametrize(
    "text", [*AWKWARD, "<img src=x onerror=alert(1)>", "[a](javascript:b)", "| x |", "`a`"]
)
def test_text_from_data_never_becomes_markdown(text):
    page = two_rules(text, text, text).to_markdown()
    assert "<" not in page
    assert not re.search(r"(?<!\\)[\[\]`*_]", page)
    assert page.count("\n") == 6
