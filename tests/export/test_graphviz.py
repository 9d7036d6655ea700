"""Graphviz trees hold every rule, and text from data stays inside labels."""

import re
import shutil
import subprocess

import pytest
from hypothesis import given
from tests.export.export_cases import AWKWARD, MIXED_RULES, cases, half_as_many, shown_rules, two_rules

from clausewise.export.text import one_line


def test_rules_share_common_first_terms():
    text = MIXED_RULES.to_graphviz()
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
    for number, (terms, conclusion) in enumerate(shown_rules(case.rules)):
        path, node = [], f"rule_{number}"
        assert labels[node].startswith(f"{conclusion} (")
        while (node := parent[node]) != "root":
            path.insert(0, labels[node])
        assert path == [one_line(term) for term in terms]


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_draws_the_tree():
    for text in AWKWARD:
        given_text = two_rules(text, text, text).to_graphviz().encode()
        drawn = subprocess.run(["dot", "-Tsvg"], input=given_text, capture_output=True)
        assert drawn.returncode == 0, drawn.stderr
        assert b"</svg>" in drawn.stdout
