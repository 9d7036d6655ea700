"""Columns of data files: types, missing values, and columns that rules or networks use."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from clausewise import Features, Rule, RuleSet, Term
from clausewise.cli.table_files import Source, read_raw, read_table
from tests.cli.conftest import RULES


def test_words_for_missing_values_are_categories_if_the_rules_have_them(run):
    features = Features(("code", "x"), ("categorical", "numeric"), (("NA", "null"), None))
    rules = RuleSet.from_rules(
        [Rule((Term(0, values=["NA"]),), 1), Rule((Term(1, low=0),), 2)], features, default=0
    )
    rules.save("rules.json")
    result = run("predict", "rules.json", "-", input="x,code\n-1,NA\n1,null\nNaN,\nNA,null\n")
    assert result.stdout.split() == ['"prediction"', "1", "2", "0", "0"]


@pytest.mark.parametrize("before", ["", "\n", "\r\n\n"], ids=["header", "empty line", "empty lines"])
def test_numbers_that_are_text_to_the_rules_are_read_as_text(run, before):
    features = Features(("zip",), ("categorical",), (("01234", "1234"),))
    RuleSet.from_rules([Rule((Term(0, values=["01234"]),), "a")], features, default="b").save("rules.json")
    result = run("predict", "rules.json", "-", input=f"{before}zip\n01234\n1234\n")
    assert result.stdout.split() == ['"prediction"', '"a"', '"b"'], result.stderr


def test_binary_columns_may_contain_true_or_1(run):
    features = Features(("flag",), ("binary",))
    RuleSet.from_rules([Rule((Term(0, low=0),), 1)], features, default=0).save("rules.json")
    result = run("predict", "rules.json", "-", input="flag\ntrue\n1\n0\nFalse\n1.0\n\n")
    assert result.stdout.split() == ['"prediction"', "1", "1", "0", "0", "1"]


def test_columns_that_the_rules_do_not_use_may_contain_anything(run, by_hand):
    rows = "age,job,smokes,score,day\n" + "50,cook,0,0.0,2024-01-01\n" * 200_000 + "50,cook,0,0.5,unknown\n"
    result = run("predict", by_hand, "-", "-o", "out.csv", input=rows)
    assert result.exit_code == 0, result.stderr
    assert pd.read_csv("out.csv")["prediction"].eq("yes").all()


def test_kept_columns_stay_as_they_were(run, by_hand):
    rows = 'age,job,smokes,zip,note\n50,cook,0,00001,"a, b"\n050,cook,1,0.0,\n'
    result = run("predict", by_hand, "-", "--keep", input=rows)
    assert list(csv.reader(result.stdout.splitlines()))[1:] == [
        ["50", "cook", "0", "00001", "a, b", "yes"],
        ["050", "cook", "1", "0.0", "", "yes"],
    ]


def test_rule_sets_with_other_features_are_compared_by_their_own_columns(run, by_hand, tmp_path):
    (tmp_path / "more.txt").write_text(
        RULES.replace("CLASSES", 'FEATURE zip CATEGORICAL {"01", "02"}\nCLASSES') + 'IF zip = "02" THEN no'
    )
    (tmp_path / "rows.csv").write_text("zip,age,job,smokes\n01,50,cook,0\n02,50,cook,0\n")
    for pair in ((by_hand, "more.txt"), ("more.txt", by_hand)):
        result = run("compare", *pair, "rows.csv")
        assert result.exit_code == 0, result.stderr
        assert "1 of 2 rows flip" in result.stdout


def test_rules_about_some_columns_are_measured_against_a_network_that_reads_more(work, run, tmp_path):
    (tmp_path / "few.txt").write_text(
        "FEATURE age NUMERIC CLASSES {no, yes} DEFAULT no IF age <= 44 THEN yes"
    )
    result = run("evaluate", "few.txt", work.path("rows.csv"), "--model", work.path("model.skops"), "--json")
    assert result.exit_code == 0, result.stderr
    X = work.frame.drop(columns="truth")
    agrees = np.mean(np.where(X.age <= 44, "yes", "no") == work.network.predict(X))
    assert json.loads(result.stdout)["fidelity"] == pytest.approx(agrees)


def test_rules_by_position_work_beside_a_target(run, tmp_path):
    (tmp_path / "rules.txt").write_text(
        'FEATURE x0 CATEGORICAL {"01", "02"} FEATURE x1 NUMERIC COLUMNS BY POSITION '
        "CLASSES {a, b} DEFAULT a\n"
        'IF x0 = "02" AND x1 > 1 THEN b'
    )
    rows = "code,size,y\n01,5,a\n02,5,b\n"
    result = run("evaluate", "rules.txt", "-", "--target", "y", "--json", input=rows)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["accuracy"] == 1.0


def test_a_column_can_be_declared_as_text(run):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"zip": rng.choice(["01234", "04321"], 200), "x": rng.normal(size=200).round(3)})
    y = np.where((X.zip == "01234") ^ (X.x > 0), "a", "b")
    encoder = make_column_transformer((OneHotEncoder(), ["zip"]), ("passthrough", ["x"]))
    network = make_pipeline(encoder, MLPClassifier((8,), solver="lbfgs", max_iter=200, random_state=0))
    skops.io.dump(network.fit(X, y), "model.skops")
    X.assign(y=y).to_csv("rows.csv", index=False)
    result = run("extract", "model.skops", "rows.csv", "--target", "y", "--text", "zip", "-o", "r.txt", "-q")
    assert result.exit_code == 0, result.stderr
    assert "01234" in Path("r.txt").read_text()


def test_formulas_can_be_kept_from_spreadsheets(run, by_hand):
    cells = ["=1+1", "+x", "-y", "@SUM(A1)", "\tz", "\rz", "-1.5", "+3", "a=b", ""]
    rows = pd.DataFrame({"age": 50, "job": "cook", "smokes": 0, "=note": cells})
    rows.to_csv("rows.csv", index=False, quoting=csv.QUOTE_ALL)
    expected = ["'=1+1", "'+x", "'-y", "'@SUM(A1)", "'\tz", "'\rz", "-1.5", "+3", "a=b", ""]
    for options, names, notes in (([], "=note", cells), (["--spreadsheet"], "'=note", expected)):
        result = run("predict", by_hand, "rows.csv", "--keep", "-o", "out.csv", *options)
        assert result.exit_code == 0, result.stderr
        with open("out.csv", newline="") as file:
            written = list(csv.reader(file))
        assert written[0][3] == names
        assert [row[3] for row in written[1:]] == notes


@pytest.mark.parametrize("name", ["part.parquet", "part.csv"])
@pytest.mark.parametrize("pattern", ["", "/*/part.*"])
def test_names_of_folders_are_columns(run, tmp_path, name, pattern):
    features = Features(("g", "x"), ("numeric", "numeric"), (None, None))
    RuleSet.from_rules([Rule((Term(0, low=1),), "a")], features, default="b").save("rules.json")
    for group in ("1", "2", "__HIVE_DEFAULT_PARTITION__"):
        folder = tmp_path / "rows" / f"g={group}"
        folder.mkdir(parents=True)
        part = pd.DataFrame({"x": [0.5, 0.25]})
        part.to_csv(folder / name, index=False) if name.endswith("csv") else part.to_parquet(folder / name)
    result = run("predict", "rules.json", f"{tmp_path}/rows{pattern}")
    assert result.stdout.split() == ['"prediction"', *['"b"'] * 2, *['"a"'] * 2, *['"b"'] * 2], result.stderr
    source = Source.of(f"{tmp_path}/rows{pattern}")
    for table in (read_table(source), read_raw(source)):
        assert table.column_names == ["x", "g"]
        assert [None if g is None else int(g) for g in table["g"].to_pylist()] == [1, 1, 2, 2, None, None]
