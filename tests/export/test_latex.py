"""LaTeX tables hold every rule, and text from data never becomes a command."""

import math
import re

import pytest
from tests.export.export_cases import AWKWARD, MIXED_RULES, two_rules

from clausewise import Features, Rule, RuleSet, Term


def test_latex_is_a_booktabs_table():
    assert MIXED_RULES[:1].to_latex() == (
        "% 1 rule for the classes no, yes; voting confidence, otherwise no\n"
        "\\begin{tabular}{rp{0.55\\linewidth}lrrr}\n"
        "\\toprule\n"
        "rule & IF & THEN & votes & confidence & cover \\\\\n"
        "\\midrule\n"
        "0 & age $\\le$ 47 \\textsc{and} job $\\in$ \\{a, b\\} & yes & +930 & 0.93 & 120 \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
    )
    long = MIXED_RULES.to_latex(longtable=True)
    assert "\\begin{longtable}" in long
    assert "\\midrule\n\\endhead\n" in long


def test_signs_are_written_in_mathematics():
    features = Features(("x", "y"), ("numeric", "categorical"), (None, tuple("abcde")))
    terms = Term(0, low=math.nextafter(30, 0), high=47), Term(1, values=["a", "b", "c"])
    table = RuleSet.from_rules([Rule(terms, "yes")], features, default="no").to_latex()
    assert "30 $\\le$ x $\\le$ 47 \\textsc{and} y $\\notin$ \\{d, e\\}" in table
    terms = Term(0, low=math.nextafter(30, 0)), Term(1, values=["a", "b", "c", "d"])
    table = RuleSet.from_rules([Rule(terms, "yes")], features, default="no").to_latex()
    assert "x $\\ge$ 30 \\textsc{and} y $\\ne$ e" in table


@pytest.mark.parametrize(
    "text", [*AWKWARD, "\\input{/etc/passwd}", "100 % & more", "a_b^c~d#e$f", "[x] -- `q'"]
)
def test_text_from_data_never_becomes_a_command(text):
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
