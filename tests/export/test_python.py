"""The Python module, run in an empty namespace, decides as `predict` does."""

import ast
import math

import numpy as np
import pytest
from hypothesis import given
from tests.export.engines import python_module
from tests.export.export_cases import AWKWARD, abstaining_cases, cases, half_as_many, two_rules

from clausewise import Features, Rule, RuleSet, Term


@half_as_many
@given(cases | abstaining_cases)
def test_the_function_decides_as_predict_does(case):
    module = python_module(case.rules)
    found = module["predict_many"](case.rows)
    assert found == case.expected
    assert [type(label) for label in found] == [type(label) for label in case.expected]
    names = case.rules.features.names
    assert [module["predict"](dict(zip(names, row, strict=True))) for row in case.rows] == case.expected


def test_the_module_imports_nothing_and_only_defines_functions_and_constants():
    tree = ast.parse(two_rules().to_python())
    kinds = {type(node) for node in tree.body}
    assert kinds == {ast.Expr, ast.Assign, ast.FunctionDef}
    assert not any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree))
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id[0] != "_"
    }
    assert called == {
        "float",
        "hasattr",
        "isinstance",
        "len",
        "max",
        "predict",
        "TypeError",
        "ValueError",
        "zip",
    }


def test_rules_read_as_code():
    text = two_rules().to_python()
    assert "    if age <= 47.5 and job in {'nurse'}:  # rule 0\n        votes[1] += 900.0\n" in text
    assert "    if age > 47.5:  # rule 1\n        votes[0] += 600.0\n" in text


@pytest.mark.parametrize("missing", [None, math.nan, np.float32("nan")])
def test_none_and_nan_are_missing(missing):
    module = python_module(two_rules(label="yes"))
    assert module["predict"]([missing, "nurse"]) == "no"
    assert module["predict"]([30, missing]) == "no"


@pytest.mark.parametrize("text", [*AWKWARD, "a\0b", "\ud800", "\u2028", "\x0c", "\r", ""])
def test_text_from_data_stays_text(text):
    module = python_module(two_rules(text, text, text))
    assert module["predict"]({text: 30, "job": text}) == text
    assert module["predict"]([60, text]) == "no"
    two_rules(text, text, text).to_python().encode("utf-8")


def test_ten_megabytes_of_quotes_are_one_category():
    text = "'\"" * 5_000_000
    assert python_module(two_rules(category=text, label=text))["predict"]([1, text]) == text


def test_local_names_never_clash():
    names = ("x1", "a b", "x1_", "votes", "class", "é")
    rules = RuleSet.from_rules(
        [Rule((Term(i, low=i),), "yes", confidence=2.0**-i / 1.024) for i in range(len(names))],
        Features(names),
        default="no",
    )
    module = python_module(rules)
    for position in range(len(names)):
        row = [-1.0] * len(names)
        row[position] = 10.0
        assert module["predict"](row) == "yes"
    assert module["predict"]([-1.0] * len(names)) == "no"


def test_wrong_rows_are_refused():
    module = python_module(two_rules())
    with pytest.raises(TypeError, match="'age' is the text '30'; expected a number"):
        module["predict"](["30", "nurse"])
    with pytest.raises(ValueError, match="The row has 1 values; expected 2, one per feature"):
        module["predict"]([30])
    with pytest.raises(KeyError, match="age"):
        module["predict"]({"job": "nurse"})
