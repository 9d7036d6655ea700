"""Markdown, LaTeX and Graphviz: every rule is there, and no text from outside becomes markup."""

import html
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from tests.export.export_cases import AWKWARD, cases, half_as_many, two_rules

from clausewise import Features, Rule, RuleSet, Term
from clausewise.export.plan import one_line
from clausewise.rules import display
from clausewise.rules.term import format_category

FEATURES = Features(("age", "job", "smokes"), ("numeric", "categorical", "binary"), (None, ("a", "b"), None))
RULES = RuleSet.from_rules(
    [
        Rule((Term(0, high=47), Term(1, values=["a", "b"])), "yes", confidence=0.93, cover=120, correct=112),
        Rule((Term(0, high=47), Term(2, low=0)), "no", confidence=0.61, cover=50, correct=30),
        Rule((), "no", confidence=0.5, priority=True),
    ],
    FEATURES,
    default="no",
)


def shown(rules):
    """Per rule its terms and its conclusion, on one line each."""
    return [
        (
            [
                one_line(term, 10_000)
                for term in display.describe_terms(rules.columns, number, rules.features)
            ],
            one_line(format_category(rules.labels[rules.columns.class_index[number]]), 10_000),
        )
        for number in range(len(rules))
    ]


# --- Markdown ---


def test_markdown_is_a_table():
    assert RULES.to_markdown() == (
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
    for line, (terms, conclusion) in zip(lines, shown(case.rules), strict=True):
        cells = markdown_cells(line)
        assert cells[1].split() == (" AND ".join(terms) or "anything").split()
        assert cells[2].split() == conclusion.split()


@pytest.mark.parametrize(
    "text", [*AWKWARD, "<img src=x onerror=alert(1)>", "[a](javascript:b)", "| x |", "`a`"]
)
def test_markdown_holds_no_markup_from_outside(text):
    page = two_rules(text, text, text).to_markdown()
    assert "<" not in page
    assert not re.search(r"(?<!\\)[\[\]`*_]", page)
    assert page.count("\n") == 6


# --- LaTeX ---


def test_latex_is_a_booktabs_table():
    assert RULES[:1].to_latex() == (
        "% 1 rule for the classes no, yes; voting confidence, otherwise no\n"
        "\\begin{tabular}{rp{0.55\\linewidth}lrrr}\n"
        "\\toprule\n"
        "rule & IF & THEN & votes & confidence & cover \\\\\n"
        "\\midrule\n"
        "0 & age $\\le$ 47 \\textsc{and} job $\\in$ \\{a, b\\} & yes & +930 & 0.93 & 120 \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
    )
    long = RULES.to_latex(longtable=True)
    assert "\\begin{longtable}" in long
    assert "\\midrule\n\\endhead\n" in long


@pytest.mark.parametrize(
    "text", [*AWKWARD, "\\input{/etc/passwd}", "100 % & more", "a_b^c~d#e$f", "[x] -- `q'"]
)
def test_latex_holds_no_commands_from_outside(text):
    body = two_rules(text, text, text).to_latex().split("\\midrule\n")[1].split("\\bottomrule")[0]
    assert body.count("\n") == 2
    for row in body.splitlines():
        assert len(re.findall(r"(?<!\\)&", row)) == 5
    commands = set(re.findall(r"\\([A-Za-z]+)", body))
    assert commands <= {
        "textsc", "le", "in", "textbackslash", "textasciitilde", "textasciicircum", "textless",
        "textgreater", "textbar", "textquotedbl", "textasciigrave", "textquotesingle",
    }  # fmt: skip
    assert not re.search(r"(?<!\\)[#%_^~]", body)


# --- Graphviz ---


def test_graphviz_shares_what_rules_begin_with():
    text = RULES.to_graphviz()
    assert text.count("age ≤ 47") == 1
    assert "  root -> term_0;\n" in text
    assert '  term_0 [label="age ≤ 47"];\n' in text
    assert '  rule_0 [label="yes (+930)", shape=box];\n  term_1 -> rule_0;\n' in text
    assert '  rule_2 [label="no (+500)", shape=box, style=bold];\n  root -> rule_2;\n' in text


LINE = re.compile(
    r'  (?:rankdir=LR;|node \[fontname="Helvetica", shape=ellipse\];|\w+ -> \w+;'
    r'|label=(?P<head>"(?:[^"\\]|\\.)*");'
    r'|(?P<node>\w+) \[label=(?P<label>"(?:[^"\\]|\\.)*")(?:, shape=\w+)?(?:, style=bold)?\];)'
)


@half_as_many
@given(cases)
def test_graphviz_reads_back_as_the_rules(case):
    first, *lines, last, end = case.rules.to_graphviz().split("\n")
    assert (first, last, end) == ("digraph rules {", "}", "")
    labels, parent = {}, {}
    for line in lines:
        matched = LINE.fullmatch(line)
        assert matched, line
        if matched["node"]:
            labels[matched["node"]] = re.sub(r"\\(.)", r"\1", matched["label"][1:-1])
        elif "->" in line and not matched["head"]:
            source, target = line.strip(" ;").split(" -> ")
            parent[target] = source
    for number, (terms, conclusion) in enumerate(shown(case.rules)):
        path, node = [], f"rule_{number}"
        assert labels[node].startswith(f"{conclusion} (")
        while (node := parent[node]) != "root":
            path.insert(0, labels[node])
        assert path == [one_line(term) for term in terms]


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_draws_it():
    for text in AWKWARD:
        given_text = two_rules(text, text, text).to_graphviz().encode()
        drawn = subprocess.run(["dot", "-Tsvg"], input=given_text, capture_output=True)
        assert drawn.returncode == 0, drawn.stderr
        assert b"</svg>" in drawn.stdout
