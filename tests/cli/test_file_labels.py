"""Labels in a column of a file: which classes they mean, and unknown or missing ones."""

import json

import pyarrow as pa
import pyarrow.parquet
import pytest


@pytest.mark.parametrize(
    ("classes", "column"),
    [
        ('{"0", "1"}', "0\n1"),
        ("{0, 1}", "0\n1.0"),
        ("{FALSE, TRUE}", "false\nTrue"),
        ('{"false", "true"}', "false\ntrue"),
        ("{0.5, 1.5}", "0.5\n1.50"),
    ],
)
def test_labels_of_a_file_are_taken_as_the_classes_they_mean(run, tmp_path, classes, column):
    first, second = classes.strip("{}").split(", ")
    rules = f"FEATURE x NUMERIC CLASSES {classes} DEFAULT {first} IF x > 0 THEN {second}"
    (tmp_path / "rules.txt").write_text(rules)
    labels = column.split("\n")
    rows = f"x,y\n-1,{labels[0]}\n1,{labels[1]}\n"
    result = run("evaluate", "rules.txt", "-", "--target", "y", "--json", input=rows)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["accuracy"] == 1.0


def test_unknown_labels_count_as_wrong_and_a_note_names_them(run, by_hand):
    rows = "age,job,smokes,y\n50,cook,0,yes\n50,cook,0,perhaps\n"
    result = run("evaluate", by_hand, "-", "--target", "y", "--json", input=rows)
    assert json.loads(result.stdout)["accuracy"] == 0.5
    assert "holds 'perhaps', which is not among the classes 'no', 'yes'" in result.stderr


def test_missing_labels_are_an_error(run, by_hand):
    rows = "age,job,smokes,y\n50,cook,0,yes\n50,cook,0,\n50,cook,0,NA\n"
    result = run("evaluate", by_hand, "-", "--target", "y", input=rows)
    assert result.exit_code == 1
    assert "has 2 missing labels" in result.stderr


def test_unknown_numbers_in_a_csv_file_count_as_wrong_beside_numeric_classes(run, tmp_path):
    (tmp_path / "rules.txt").write_text("FEATURE x NUMERIC CLASSES {0, 1} DEFAULT 0 IF x > 0 THEN 1")
    rows = "x,y\n-1,0\n1,1\n1,2\n1,2.0\n"
    result = run("evaluate", "rules.txt", "-", "--target", "y", "--json", input=rows)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["accuracy"] == 0.5
    assert result.stderr.count("note:") == 1
    assert "holds 2, which is not among the classes 0, 1" in result.stderr


def test_text_that_cannot_be_one_of_numeric_classes_is_an_error(run, tmp_path):
    (tmp_path / "rules.txt").write_text("FEATURE x NUMERIC CLASSES {0, 1} DEFAULT 0 IF x > 0 THEN 1")
    result = run("evaluate", "rules.txt", "-", "--target", "y", input="x,y\n-1,0\n1,perhaps\n")
    assert result.exit_code == 1
    assert "holds 'perhaps', which is not among the classes 0, 1" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_dates_are_not_labels(run, by_hand, tmp_path):
    dates = pa.array([0, 1], pa.date32())
    columns = {"age": [50.0, 20.0], "job": ["cook", "nurse"], "smokes": [True, False], "y": dates}
    pa.parquet.write_table(pa.table(columns), tmp_path / "rows.parquet")
    result = run("evaluate", by_hand, "rows.parquet", "--target", "y")
    assert result.exit_code == 1
    assert "is not a class label" in result.stderr
