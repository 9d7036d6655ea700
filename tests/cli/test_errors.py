"""Bad input: exit codes and short errors, and nothing in a file is executed."""

import os
import re
import warnings

import numpy as np
import pytest
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, SplineTransformer

from clausewise.cli.models import ModelError, load_network
from clausewise.cli.table_files import DataError


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "{rules}", "missing.csv"], "There is no file missing.csv"),
        (["predict", "missing.json", "{rows}"], "missing.json: No such file"),
        (["predict", "{rows}", "{rows}"], "damaged"),
        (["predict", "{rules}", "{rules}"], "ends in none of .csv"),
        (["predict", "{rules}", "{rows}", "-o", "no/such/folder/out.csv"], "No such file"),
        (["predict", "{rules}", "{rows}", "--keep", "--name", "age"], "already"),
        (["evaluate", "{rules}", "{rows}", "--target", "nothing"], "no column 'nothing'"),
        (["explain", "{rules}", "{rows}", "--row", "600"], "no row 600"),
        (["extract", "model.pt", "{rows}"], "may run code"),
        (["extract", "model.joblib", "{rows}"], r"skops\.io\.dump as \.skops.* module:object"),
        (["extract", "missing.onnx", "{rows}"], "no file missing.onnx"),
        (["extract", "missing.skops", "{rows}"], "no file missing.skops"),
        (["extract", "no_such_module:thing", "{rows}"], "no module 'no_such_module'"),
        (["extract", "json:nothing", "{rows}"], "json has no 'nothing'"),
        (
            ["extract", "{rows}", "{model}"],
            r"rows\.csv is not a supported model; pass an \.onnx, \.keras or \.skops file, or module:object\."
            r" .*model\.skops looks like one; MODEL comes before DATA\.",
        ),
        (["extract", "{rows}", "my.module:network"], "my.module:network looks like one"),
        (["extract", "{rows}", "{rows}"], r"or module:object\.$"),
        (["extract", "model.h5", "{rows}"], "a Keras model as .keras"),
        (["validate", "{rules}", "{rows}", "{model}"], r"model\.skops looks like one; MODEL comes before"),
        (["evaluate", "{rules}", "{rows}", "--model", "{rows}"], r"or module:object\.$"),
        (["extract", "json:decoder", "{rows}"], "is not a supported model type"),
        (["extract", "{model}", "{rows}", "--drop", "nothing"], "no column 'nothing'"),
        (["extract", "{model}", "{rows}", "-o", "no/folder/r.json"], "no folder"),
        (
            ["evaluate", "{rules}", "{rows}", "--target", "age"],
            "'18', .*, which are not among the classes 'no', 'yes'",
        ),
        (["simplify", "{rules}", "{rows}", "--target", "age", "--tolerance", "0.1"], "not among the classes"),
    ],
)
def test_bad_input_is_reported_in_a_line_or_two_with_exit_code_1(work, run, arguments, message):
    places = {"rules": "rules.json", "rows": "rows.csv", "model": "model.skops"}
    filled = [text.format(**{key: work.path(name) for key, name in places.items()}) for text in arguments]
    result = run(*filled)
    assert result.exit_code == 1, result.output
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert re.search(message, errors[0])
    assert "Traceback" not in result.output
    assert len(result.stderr.splitlines()) <= 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["predict"],
        ["predict", "a", "b", "--no-such-option"],
        ["evaluate", "{rules}", "{rows}"],
        ["extract", "{model}", "{rows}", "--method", "magic"],
        ["extract", "{model}", "{rows}", "--min-cases", "few"],
        ["extract", "{model}", "{rows}", "--method", "pedagogical", "--max-rules", "0"],
        ["extract", "{model}", "{rows}", "--max-rules", "few"],
        ["extract", "{model}", "{rows}", "--max-conditions", "1"],
        ["compact", "{rules}", "{rows}"],
        ["simplify", "{rules}", "--tolerance", "0.1"],
        ["export", "{rules}", "--to", "fortran"],
        ["export", "{rules}", "--to", "sql", "--dialect", "klingon"],
        ["extract", "{model}", "{rows}", "--holdout", "1.5"],
        ["extract", "{model}", "{rows}", "--voting", "loud"],
        ["extract", "{model}", "{rows}", "--json"],
        ["compact", "{rules}", "{rows}", "--target", "truth", "--max-rules", "0"],
        ["predict", "{rules}", "{rows}", "--jobs", "0"],
        ["predict", "{rules}", "{rows}", "--format", "xls"],
        ["predict", "{rules}", "{rows}", "--proba", "--name", "probability no"],
        ["explain", "{rules}", "--row", "3"],
        ["explain", "{rules}", "{rows}", "--row", "-1"],
        ["extract", "{model}", "{rows}", "--min-cases", "0"],
        ["simplify", "{rules}", "--target", "truth"],
    ],
)
def test_wrong_usage_has_exit_code_2(work, run, arguments):
    places = {"rules": "rules.json", "rows": "rows.csv", "model": "model.skops"}
    result = run(
        *[text.format(**{key: work.path(name) for key, name in places.items()}) for text in arguments]
    )
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output


BAD_TABLES = {
    "empty.csv": b"",
    "header.csv": b"age,job,smokes,income\n",
    "numbers.csv": b"1,2,3\n4,5,6\n",
    "ragged.csv": b"age,job,smokes,income\n1,cook,true,2\n1,cook\n",
    "text.csv": b"age,job,smokes,income\nold,cook,true,2\n",
    "twice.csv": b"age,age,job,smokes,income\n1,1,cook,true,2\n",
    "latin.csv": "age,job,smokes,income\n1,caf\xe9,true,2\n".encode("latin-1"),
    "latin header.csv": "age,job,smokes,m\xe9tier\n1,cook,true,2\n".encode("latin-1"),
    "utf-16 le.csv": "\ufeffage,job,smokes,income\n1,cook,true,2\n".encode("utf-16-le"),
    "utf-16 be.csv": "\ufeffage,job,smokes,income\n1,cook,true,2\n".encode("utf-16-be"),
    "lacking.csv": b"age,job,smokes\n1,cook,true\n",
    "noise.parquet": b"PAR1" + bytes(100),
    "noise.arrow": b"ARROW1" + bytes(100),
    "noise.npz": b"PK\x03\x04" + bytes(100),
    "empty.npz": b"",
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_damaged_table_is_refused_by_name(work, run, tmp_path, name):
    (tmp_path / name).write_bytes(BAD_TABLES[name])
    result = run("evaluate", work.path("rules.json"), name, "--target", "job")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert name in result.stderr
    assert len(result.stderr.splitlines()) <= 2


ENCODINGS = {
    "latin.csv": "Column 'job' of latin.csv is not text in UTF-8",
    "latin header.csv": "The first line of latin header.csv is not text in UTF-8",
    "utf-16 le.csv": "utf-16 le.csv is text in UTF-16, .* `iconv -f UTF-16 -t UTF-8`",
    "utf-16 be.csv": "utf-16 be.csv is text in UTF-16, .* `iconv -f UTF-16 -t UTF-8`",
}


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize(
    "command",
    [
        "extract {model} {file} -q",
        "extract {model} {file} -q --text job",
        "predict {rules} {file}",
        "evaluate {rules} {file} --model {model}",
        "validate {rules} {model} {file}",
    ],
)
def test_the_encoding_of_a_csv_file_is_named(work, run, tmp_path, name, command):
    (tmp_path / name).write_bytes(BAD_TABLES[name])
    places = {"model": work.path("model.skops"), "rules": work.path("rules.json"), "file": name}
    result = run(*[part.format(**places) for part in command.split()])
    assert result.exit_code == 1
    assert re.match(f"error: {ENCODINGS[name]}", result.stderr)


def test_extract_names_the_columns_that_the_model_does_not_get(work, run):
    work.frame.drop(columns=["age", "truth"]).to_csv("lacking.csv", index=False)
    work.frame.drop(columns=["truth"]).to_parquet("whole.parquet")
    given = "'job', 'smokes', 'income'."
    for data, more in (("lacking.csv", ()), ("whole.parquet", ("--drop", "age"))):
        result = run("extract", work.path("model.skops"), data, "-q", *more)
        assert result.exit_code == 1
        message = f"error: The model reads column 'age'; the columns that it gets from {data} are {given}\n"
        assert result.stderr == message


def test_a_column_that_the_model_was_fitted_with_but_does_not_read_may_be_missing(work, run):
    encoder = ColumnTransformer([("numbers", SimpleImputer(), ["age", "income"])])
    network = make_pipeline(encoder, MLPClassifier((4,), max_iter=5, random_state=0))
    with warnings.catch_warnings(action="ignore"):
        network.fit(work.frame.drop(columns="truth"), work.frame.truth)
    skops.io.dump(network, "model.skops")
    work.frame.drop(columns=["smokes", "truth"]).to_csv("rows.csv", index=False)
    assert run("extract", "model.skops", "rows.csv", "-q", "-o", "r.json").exit_code == 0


def write_with_text(frame, column):
    """Write foo.csv, with a word in one row of a column of numbers."""
    changed = frame.astype({column: object})
    changed.loc[500, column] = "foo"
    changed.to_csv("foo.csv", index=False)


@pytest.mark.parametrize("model", ["pipeline", "network", "estimator"])
def test_extract_names_the_column_with_text_among_numbers(work, run, model):
    path = work.path("model.skops")
    if model != "pipeline":
        path = "model.skops"
        kind = MLPClassifier((4,), max_iter=5) if model == "network" else LogisticRegression()
        with warnings.catch_warnings(action="ignore"):
            skops.io.dump(kind.fit(work.frame[["age", "income"]], work.frame.truth), path)
    write_with_text(work.frame, "age")
    message = "error: Column 'age' of foo.csv contains 'foo', but the model reads numbers there.\n"
    for target in (["--target", "truth"], ["--drop", "truth"]):
        result = run("extract", path, "foo.csv", "-q", *target)
        assert result.exit_code == 1
        assert result.stderr == message
    result = run("extract", path, work.path("rows.csv"), "-q", "--target", "truth", "--test", "foo.csv")
    assert "Column 'age' of foo.csv contains 'foo'" in result.stderr


def test_evaluate_names_a_column_with_text_that_only_the_network_reads(work, run, tmp_path):
    (tmp_path / "age.txt").write_text("FEATURE age NUMERIC\nCLASSES {no, yes}\nDEFAULT no\n")
    write_with_text(work.frame, "income")
    result = run("evaluate", "age.txt", "foo.csv", "--model", work.path("model.skops"))
    assert "Column 'income' of foo.csv contains 'foo', but the model reads numbers there." in result.stderr


def test_objects_in_an_npz_file_are_not_unpickled(work, run):
    class Bomb:
        def __reduce__(self):
            return os.system, ("touch exploded",)

    np.savez("bomb.npz", X=np.array([[Bomb()]], dtype=object))
    result = run("predict", work.path("rules.json"), "bomb.npz")
    assert result.exit_code == 1
    assert not os.path.exists("exploded")


def test_unknown_types_in_a_skops_file_are_refused_by_name(work, run):
    skops.io.dump(FunctionTransformer(os.path.join), "other.skops")
    result = run("extract", "other.skops", work.path("rows.csv"))
    assert result.exit_code == 1
    assert "not trusted" in result.stderr
    assert "--trust" in result.stderr


def test_ordinary_pipelines_in_skops_files_are_trusted(work, run):
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), SplineTransformer()), ["age", "income"]),
            ("text", OneHotEncoder(sparse_output=False), make_column_selector(dtype_include=object)),
        ]
    )
    network = make_pipeline(columns, SelectKBest(f_classif, k=4), MLPClassifier((4,), max_iter=5))
    X = work.frame.drop(columns="truth")
    with warnings.catch_warnings(action="ignore"):
        network.fit(X.assign(job=X.job.astype(object)), work.frame.truth)
    skops.io.dump(network, "model.skops")
    assert load_network("model.skops").classes.tolist() == ["no", "yes"]


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibrated_models_in_skops_files_are_trusted(work, run, method):
    X = work.frame[["age", "income"]].fillna(0)
    model = CalibratedClassifierCV(LogisticRegression(), method=method, cv=2).fit(X, work.frame.truth)
    skops.io.dump(model, "model.skops")
    assert load_network("model.skops").labels(X).tolist() == model.predict(X).tolist()


def test_trees_in_skops_files_need_trust_because_nothing_checks_them(work, run):
    X = work.frame[["age", "income"]].fillna(0)
    model = RandomForestClassifier(3, random_state=0).fit(X, work.frame.truth)
    skops.io.dump(model, "model.skops")
    with pytest.raises(ModelError, match=r"pass --trust sklearn\.tree\._tree\.Tree"):
        load_network("model.skops")
    trusted = load_network("model.skops", trusted=["sklearn.tree._tree.Tree"])
    assert trusted.labels(X).tolist() == model.predict(X).tolist()


def test_debug_lets_an_error_through_with_its_traceback(work, run):
    quiet, loud = (run("predict", work.path("rules.json"), "x.csv", *more) for more in ([], ["--debug"]))
    assert quiet.exit_code == 1
    assert isinstance(quiet.exception, SystemExit)
    assert quiet.stderr.startswith("error: ")
    assert isinstance(loud.exception, DataError)


def test_errors_in_rule_texts_name_the_file(run, tmp_path):
    (tmp_path / "bad.txt").write_text("FEATURE x NUMERIC\nDEFAULT a\nIF x <= b THEN a\n")
    (tmp_path / "latin.txt").write_bytes(b"\xff")
    for name, message in (
        ("bad.txt", "bad.txt, line 3, column 9: expected a number"),
        ("latin.txt", "not text in UTF-8"),
    ):
        result = run("explain", name)
        assert result.exit_code == 1
        assert message in result.stderr
