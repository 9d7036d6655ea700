"""Exports of rules for numbers predict bit for bit what `predict` does, whatever is missing."""

import math
import shutil
import sqlite3
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from tests.export.engines import onnx_predictions, pmml_predictions, python_module, raw_table
from tests.export.pmml_engine import tag
from tests.rules.random_rules import random_features, random_table, random_term
from tests.rules.regression_cases import FEATURES, RULES, TABLE

from clausewise import LinearTerm, RegressionRule, RegressionRules

N_ROWS = 40


def python_predictions(rules, rows):
    return python_module(rules)["predict_many"](rows)


def random_numbers(rng, size, exact):
    """Return short decimals, or numbers that use all digits, whose sums depend on the order."""
    return rng.normal(size=size).round(rng.integers(0, 4)) if exact else rng.normal(size=size) / 3


def random_sum(seed, exact):
    """Return rules over all kinds of features, with linear terms, and raw rows with missing values."""
    rng = np.random.default_rng(seed)
    features = random_features(rng, 5)
    numbers = random_numbers(rng, 30, exact).tolist()
    rules = [
        RegressionRule(
            tuple(
                random_term(rng, features, int(f)) for f in rng.choice(5, rng.integers(0, 4), replace=False)
            ),
            numbers[rule],
        )
        for rule in range(int(rng.integers(0, 25)))
    ]
    linear = [
        LinearTerm(f, features.names[f], float(rng.normal()) or 1.0, fill=0.1, low=low, high=high)
        for f, kind in enumerate(features.kinds)
        for low, high in [[(-1.5, 2.0), (-2.0, math.inf), (-math.inf, 3.0)][int(rng.integers(3))]]
        if kind != "categorical"
    ]
    made = RegressionRules.from_rules(rules, features, base=numbers[-1], linear=linear[: rng.integers(0, 4)])
    table = random_table(rng, features, N_ROWS)
    # Infinite values would make sums infinite or undefined where the range is open.
    for column in table.columns:
        if column.dtype != object:
            column[np.isinf(column)] = 1e6
    rows = [[None if value != value else value for value in row] for row in zip(*table.columns, strict=True)]
    return made, rows, made.predict(raw_table(rows)).tolist()


CASES = [random_sum(seed, exact=seed % 2 == 0) for seed in range(8)]
LOG = [(replace(rules, link="log"), rows) for rules, rows, _ in CASES[:2]]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_every_export_predicts_the_same_double(case, database):
    rules, rows, expected = CASES[case]
    assert database.decisions(rules, rows) == expected
    if database.dialect == "sqlite":  # once
        assert python_predictions(rules, rows) == expected
        assert onnx_predictions(rules, rows) == expected
        assert pmml_predictions(rules, rows) == expected


@pytest.mark.fuzz
def test_many_drawn_sums_are_the_same_everywhere(database):
    for seed in range(100, 400):
        rules, rows, expected = random_sum(seed, exact=seed % 2 == 0)
        assert database.decisions(rules, rows) == expected
        assert python_predictions(rules, rows) == expected
        assert onnx_predictions(rules, rows) == expected
        assert pmml_predictions(rules, rows) == expected


@pytest.mark.parametrize("case", range(len(LOG)))
def test_exports_with_the_log_link_predict_the_same(case, database):
    rules, rows = LOG[case]
    shrunk = rules.with_additions(rules.columns.weight / 100, base=0.5, linear={})
    expected = shrunk.predict(raw_table(rows)).tolist()
    assert python_predictions(shrunk, rows) == expected
    assert pmml_predictions(shrunk, rows) == expected
    # The exponential function of other libraries may differ in the last digit.
    assert onnx_predictions(shrunk, rows) == pytest.approx(expected, rel=1e-14)
    if database.dialect != "sqlite" or _sqlite_has_exp():
        assert database.decisions(shrunk, rows) == pytest.approx(expected, rel=1e-14)


def _sqlite_has_exp():
    try:
        sqlite3.connect(":memory:").execute("SELECT EXP(1.0)")
    except sqlite3.OperationalError:
        return False
    return True


def test_hundreds_of_rules_are_added_in_order(database):
    rng = np.random.default_rng(3)
    rules = RegressionRules.from_text(
        "\n".join(f"IF x > {low} THEN ADD {number}" for low, number in rng.normal(size=(450, 2)).tolist()),
        ["x"],
    )
    X = rng.normal(size=(20, 1))
    expected = rules.predict(X).tolist()
    assert database.decisions(rules, X.tolist()) == expected
    assert python_predictions(rules, X.tolist()) == expected
    assert onnx_predictions(rules, X.tolist()) == expected


def test_a_coefficient_next_to_one_survives_onnxruntime():
    rules = RegressionRules.from_rules([], ["x"], linear={"x": 1 + 2**-40})
    assert onnx_predictions(rules, [[3.0]]) == rules.predict([[3.0]]).tolist()


def test_a_query_keeps_columns_whose_names_sqlite_changes(database):
    rules = RegressionRules.from_rules([], ["true", "x"], base=1, linear={"true": 2, "x": 1})
    assert database.decisions(rules, [[3.0, 1.0], [None, 2.0]]) == [8, 3]


def test_queries_for_bigquery_add_doubles():
    text = RULES.to_sql("houses", "bigquery", prediction="price")
    assert text.splitlines()[-2].endswith("AS `price`")
    assert "THEN 1400e0 ELSE 0e0 END" in text
    assert ") / 1000e0 AS clausewise_sum_of_rules" in text


def test_the_python_module_shows_what_each_rule_adds():
    text = RULES.to_python()
    assert "# rule 0: +1.4" in text
    assert "import" not in text.split('"""')[2]
    assert python_predictions(RULES, TABLE.to_dict("records")) == RULES.predict(TABLE).tolist()


def test_the_pmml_model_is_a_regression_of_one_sum():
    document = ET.fromstring(RULES.to_pmml().encode())
    model = document[-1]
    assert [tag(part) for part in model] == ["MiningSchema", "LocalTransformations", "RegressionTable"]
    assert model.get("functionName") == "regression"
    assert [dict(part.attrib) for part in model[-1]] == [{"name": "sum", "coefficient": "1"}]


@pytest.mark.skipif(shutil.which("java") is None, reason="Java, which runs the engines, is not installed")
def test_other_engines_read_the_pmml_model(tmp_path):
    pypmml = pytest.importorskip("pypmml", reason="PMML4S is not installed (pip install pypmml)")
    jpmml = pytest.importorskip(
        "jpmml_evaluator", reason="JPMML is not installed (pip install jpmml_evaluator)"
    )
    backend, path = jpmml.make_backend("jpype"), tmp_path / "rules.pmml"
    for rules, rows, expected in CASES:
        path.write_bytes(rules.to_pmml().encode())
        evaluator = jpmml.make_evaluator(str(path), backend=backend).verify()
        model = pypmml.Model.fromString(rules.to_pmml())
        for row, number in zip(rows, expected, strict=True):
            cells = [float(cell) if isinstance(cell, int | float) else cell for cell in row]
            values = dict(zip(rules.features.names, cells, strict=True))
            known = {name: value for name, value in values.items() if value is not None}
            assert next(iter(evaluator.evaluate(values).values())) == number
            assert next(iter(model.predict(known).values())) == number
    pypmml.Model.close()


def test_tables_and_trees_show_base_additions_and_linear_terms():
    counted = RULES.with_statistics(TABLE, RULES.predict(TABLE))
    markdown = counted.to_markdown().splitlines()
    assert "start at 2.07" in markdown[0]
    assert markdown[2] == "| rule | IF | THEN | cover | mean | 90 % |"
    assert markdown[4].startswith("| 0 | income &gt; 5.1 | +1.4 |")
    assert markdown[-2:] == ["- +0.43 × income   (0.5 to 15; 3.9 if missing)", "- -0.1 × owner"]
    latex = counted.to_latex()
    assert r"\multicolumn{6}{l}{+0.43 $\times$ income" in latex
    assert 'label="+1.4"' in counted.to_graphviz()


def test_features_named_like_the_output_are_refused_by_onnx():
    features = replace(FEATURES, names=("prediction", *FEATURES.names[1:]))
    rules = RegressionRules.from_text("IF age > 3 THEN ADD 1", features)
    with pytest.raises(ValueError, match="cannot be the name of an ONNX input"):
        rules.to_onnx()
