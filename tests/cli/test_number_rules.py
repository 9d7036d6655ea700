"""Commands with rules for numbers."""

import json
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LinearRegression

from clausewise import RegressionRules
from clausewise.report import Explorer
from tests.report.serve.client import ask
from tests.rules.regression_cases import RULES, TABLE

PREDICTED = RULES.predict(TABLE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with rules.json, rules.txt, rows.csv (with a column truth), and a model of income alone."""
    folder = tmp_path_factory.mktemp("numbers")
    RULES.save(folder / "rules.json")
    (folder / "rules.txt").write_text(RULES.to_text(), encoding="utf-8")
    TABLE.assign(truth=PREDICTED + 0.5).to_csv(folder / "rows.csv", index=False)
    known = TABLE[["income"]].fillna(4.0)
    model = LinearRegression().fit(known, PREDICTED)
    skops.io.dump(model, folder / "model.skops")
    known.to_csv(folder / "income.csv", index=False)
    return folder


@pytest.mark.parametrize("file", ["rules.json", "rules.txt"])
def test_predict_writes_numbers(run, folder, file):
    result = run("predict", folder / file, folder / "rows.csv", "-o", "found.csv", "--keep")
    assert result.exit_code == 0, result.output
    assert pd.read_csv("found.csv")["prediction"].tolist() == pytest.approx(PREDICTED.tolist(), rel=1e-15)
    result = run("predict", folder / file, folder / "rows.csv", "--proba")
    assert "--proba is for rules for classes" in result.stderr


def test_evaluate_measures_against_truth_and_network(run, folder):
    result = run("evaluate", folder / "rules.json", folder / "rows.csv", "--target", "truth", "--json")
    found = json.loads(result.stdout)
    assert found["to_truth"]["mean_absolute"] == pytest.approx(0.5)
    assert found["to_network"] is None
    alone = RegressionRules.from_text("LINEAR income 0.5\nBASE 1", ["income"])
    alone.save("income.json")
    result = run("evaluate", "income.json", folder / "income.csv", "--model", folder / "model.skops")
    assert result.exit_code == 0, result.output
    assert "R² to the network" in result.stdout
    result = run("evaluate", folder / "rules.json", folder / "rows.csv", "--target", "job")
    assert "Column 'job' of" in result.stderr
    assert "expected a number" in result.stderr


def test_explain_prints_sums_and_changes(run, folder):
    arguments = ("explain", folder / "rules.json", folder / "rows.csv", "--row", "3")
    result = run(*arguments, "--counterfactuals", "--above", "9", "--max-features", "1")
    assert result.stdout.startswith(f"row 3 → price {PREDICTED[3]:.6g}"[:18])
    assert "start" in result.stdout
    found = json.loads(run(*arguments, "--json").stdout)
    adds = [part["adds"] for part in (*found["fired"], *found["linear"])]
    assert found["base"] + sum(adds) == pytest.approx(found["prediction"])
    result = run(*arguments, "--counterfactuals", "--to", "yes")
    assert "pass --above or --below" in result.stderr
    assert "start at 2.07" in run("explain", folder / "rules.json").stdout


def test_simplify_compare_and_export_understand_numbers(run, folder):
    RULES.add("IF income > 5.1 THEN ADD 0.1").save("more.json")
    assert run("simplify", "more.json", "-o", "fewer.json").exit_code == 0
    assert len(RegressionRules.load("fewer.json")) == len(RULES)
    result = run("compare", folder / "rules.json", "fewer.json", folder / "rows.csv")
    assert "rules: 0 added, 0 removed, 1 changed" in result.stdout
    assert "rows get another prediction" in result.stdout
    result = run("export", folder / "rules.json", "--to", "sql", "--table", "houses")
    connection = sqlite3.connect(":memory:")
    TABLE.to_sql("houses", connection, index=False)
    found = pd.read_sql(result.stdout, connection)
    assert found["prediction"].tolist() == PREDICTED.tolist()
    for name in ("python", "pmml", "json", "text", "markdown", "latex", "graphviz"):
        assert run("export", folder / "rules.json", "--to", name).exit_code == 0


def test_explore_serves_the_rules_with_the_model(run, folder, monkeypatch):
    answers = []

    def explored(rules, *data, open_browser, **options):
        with Explorer(rules, *data, **options) as explorer:
            answers.append(ask(explorer, "api/predict", {"rows": [[2.5], {"number": 3, "changes": []}]}))

    monkeypatch.setattr("clausewise.report.explore", explored)
    RegressionRules.from_text("LINEAR income 0.5\nBASE 1", ["income"]).save("income.json")
    files = ("--data", folder / "income.csv", "--model", folder / "model.skops")
    result = run("explore", "income.json", *files, "--no-browser")
    assert result.exit_code == 0, result.output
    income = pd.read_csv(folder / "income.csv")
    model = LinearRegression().fit(income, PREDICTED)
    expected = model.predict(pd.DataFrame({"income": [2.5, income["income"][3]]})).tolist()
    assert answers == [(200, {"numbers": pytest.approx(expected)})]
    result = run("explore", "income.json", "--fixed", "income", "--no-browser")
    assert "--color and --fixed are for rules for classes" in result.stderr


def test_compact_searches_few_rules_for_the_target(run, folder):
    arguments = ("compact", folder / "rules.json", folder / "rows.csv", "--target", "truth", "-o", "few.json")
    result = run(*arguments, "--max-rules", "2", "-q")
    assert result.exit_code == 0, result.output
    assert "R² " in result.stdout
    assert len(RegressionRules.load("few.json")) <= 2
    assert "--points is for rules for classes" in run(*arguments, "--points").stderr


def payload_in(path):
    return json.loads(Path(path).read_text().split('id="clausewise-payload">')[1].split("</script>")[0])


def test_report_writes_a_page(run, folder):
    assert run("report", folder / "rules.json", "-o", "bare.html").exit_code == 0
    assert payload_in("bare.html")["kind"] == "numbers"
    result = run(
        "report", folder / "rules.json", folder / "rows.csv", "--target", "truth", "--title", "Prices"
    )
    assert result.exit_code == 0, result.output
    payload = payload_in("report.html")
    assert payload["title"] == "Prices"
    assert payload["measures"]["n_rows"] == len(TABLE)
    result = run("report", folder / "rules.json", "--fixed", "income")
    assert "--color and --fixed are for rules for classes" in result.stderr


def test_simplify_within_a_tolerance_measures_r_squared(run, folder):
    result = run(
        "simplify", folder / "rules.json", folder / "rows.csv", "--tolerance", "0.05", "--target", "truth"
    )
    assert result.exit_code == 0, result.output
    assert len(json.loads(result.stdout)["rules"]) < len(RULES)


def test_extract_finds_rules_for_a_regressor(run, folder):
    result = run(
        "extract", folder / "model.skops", folder / "income.csv", "-o", "found.json", "--max-rules", "4", "-q"
    )
    assert result.exit_code == 0, result.output
    assert "R² to the network" in result.stdout
    assert "clausewise explore found.json --data" in result.stdout
    assert 0 < len(RegressionRules.load("found.json")) <= 4
    arguments = ("extract", folder / "model.skops", folder / "income.csv", "-o", "line.json", "-q", "--json")
    found = json.loads(run(*arguments, "--linear", "--max-rules", "2").stdout)
    assert found["method"] == "regression"
    assert found["to_network"]["r_squared"] > 0.9
    assert RegressionRules.load("line.json").linear
    assert run(*arguments, "--max-rules", "2", "--report", "page.html").exit_code == 0
    assert payload_in("page.html")["measures"]["to_network"]["r_squared"] > 0.5
    assert "is for rules for classes" in run(*arguments, "--max-rules", "all").stderr


def test_numbers_are_guaranteed_within_a_tolerance(run, folder):
    command = ("extract", folder / "model.skops", folder / "income.csv", "-o", "found.json", "-q", "--json")
    without = json.loads(run(*command, "--max-rules", "2").stdout)
    assert without["guarantee"] is None
    assert RegressionRules.load("found.json").guaranteed is None
    found = json.loads(run(*command, "--max-rules", "2", "--tolerance", "5").stdout)
    promised = RegressionRules.load("found.json").guaranteed
    assert found["guarantee"] == promised.summary
    assert promised.n_rows == found["n_rows_measured"]


def test_a_tolerance_without_held_out_rows_is_refused(run, folder):
    command = ("extract", folder / "model.skops", folder / "income.csv", "-q", "--tolerance", "5")
    for options in (("--holdout", "0"), ("--test", folder / "income.csv")):
        refused = run(*command, *options)
        assert refused.exit_code == 2
        assert "none are held out" in " ".join(refused.stderr.replace("│", " ").split())


def test_many_rows_are_read_in_parts(run, folder, monkeypatch, tmp_path):
    few = {"cli.streamed_rows": "FEW_ROWS", "extractors.partitioned_numbers": "FEW_ROWS"}
    for module, name in {**few, "analysis.regression_evaluation": "_FEW_ROWS"}.items():
        monkeypatch.setattr(f"clausewise.{module}.{name}", 50)
    rows = pd.concat([pd.read_csv(folder / "income.csv")] * 3, ignore_index=True)
    rows["income"] += np.arange(len(rows)) / 1e6
    rows.assign(truth=rows["income"] * 2.5).to_parquet(tmp_path / "rows.parquet")
    source, model = (str(tmp_path / "rows.parquet"), str(folder / "model.skops"))
    command = ("extract", model, source, "--target", "truth", "-q", "--json", "--max-rules", "3")
    result = run(*command, "-o", "r.json", "--tolerance", "0.5")
    assert result.exit_code == 0, result.output
    answer, rules = json.loads(result.stdout), RegressionRules.load("r.json")
    assert answer["n_rows"] + answer["n_rows_measured"] == len(rows)
    assert rules.response == "truth"
    assert rules.guaranteed.n_rows == answer["n_rows_measured"]
    result = run("evaluate", "r.json", source, "--target", "truth", "--model", model, "--json")
    found = json.loads(result.stdout)
    assert found["n_rows"] == len(rows)
    expected = rules.evaluate(rows, rows["income"] * 2.5).to_truth.r_squared
    assert found["to_truth"]["r_squared"] == pytest.approx(expected)
    assert found["to_network"]["largest_row"] is None
