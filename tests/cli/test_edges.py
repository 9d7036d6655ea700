"""Bad input, scripts and pipes: exit codes, short errors, steady memory."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import clausewise
from clausewise import Features, Rule, RuleSet, Term


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "{rules}", "missing.csv"], "There is no file missing.csv"),
        (["predict", "missing.json", "{rows}"], "missing.json: No such file"),
        (["predict", "{rows}", "{rows}"], "damaged"),
        (["predict", "{rules}", "{rules}"], "ends in .csv"),
        (["predict", "{rules}", "{rows}", "-o", "out.xyz"], "ends in .csv"),
        (["predict", "{rules}", "{rows}", "-o", "no/such/folder/out.csv"], "No such file"),
        (["predict", "{rules}", "{rows}", "--keep", "--name", "age"], "already"),
        (["evaluate", "{rules}", "{rows}", "--target", "nothing"], "no column 'nothing'"),
        (["explain", "{rules}", "{rows}", "--row", "600"], "no row 600"),
        (["extract", "model.pt", "{rows}"], "may run code"),
        (["extract", "missing.onnx", "{rows}"], "no file missing.onnx"),
        (["extract", "missing.skops", "{rows}"], "no file missing.skops"),
        (["extract", "no_such_module:thing", "{rows}"], "no module 'no_such_module'"),
        (["extract", "json:nothing", "{rows}"], "json has no 'nothing'"),
        (["extract", "json:dumps", "{rows}"], "is no network"),
        (["extract", "{model}", "{rows}", "--drop", "nothing"], "no column 'nothing'"),
        (["extract", "{model}", "{rows}", "-o", "no/folder/r.json"], "no folder"),
        (["evaluate", "{rules}", "{rows}", "--target", "age"], "none of which is one of the classes no, yes"),
        (["simplify", "{rules}", "{rows}", "--target", "age", "--tolerance", "0.1"], "none of which"),
    ],
)
def test_what_is_wrong_is_said_in_a_line_or_two_with_exit_code_1(work, run, arguments, message):
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
        ["extract", "{model}", "{rows}", "--method", "pedagogical", "--max-rules", "3"],
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


def test_objects_in_an_npz_file_are_not_unpickled(work, run):
    class Bomb:
        def __reduce__(self):
            return os.system, ("touch exploded",)

    np.savez("bomb.npz", X=np.array([[Bomb()]], dtype=object))
    result = run("predict", work.path("rules.json"), "bomb.npz")
    assert result.exit_code == 1
    assert not os.path.exists("exploded")


def test_unknown_types_in_a_skops_file_are_refused_by_name(work, run):
    from sklearn.preprocessing import FunctionTransformer

    skops.io.dump(FunctionTransformer(os.path.join), "other.skops")
    result = run("extract", "other.skops", work.path("rows.csv"))
    assert result.exit_code == 1
    assert "not trusted" in result.stderr
    assert "--trust" in result.stderr


def test_debug_shows_where_an_error_comes_from(work, shell):
    quiet, loud = (shell("predict", work.path("rules.json"), "x.csv", *more) for more in ([], ["--debug"]))
    assert (quiet.returncode, loud.returncode) == (1, 1)
    assert b"Traceback" not in quiet.stderr
    assert b"Traceback" in loud.stderr


def test_the_module_runs_as_the_command_does(shell):
    result = shell("--version")
    assert result.returncode == 0
    assert result.stdout.decode().strip() == f"clausewise {clausewise.__version__}"


def test_no_colour_reaches_pipes_and_none_where_it_is_not_wanted(work, shell):
    result = shell("explain", work.path("rules.json"), work.path("rows.csv"), NO_COLOR="1", FORCE_COLOR="1")
    assert b"\x1b[3" not in result.stdout
    assert result.returncode == 0


def test_a_reader_that_has_seen_enough_is_no_error(work, tmp_path):
    big = pd.concat([work.frame] * 300)
    big.to_csv(tmp_path / "big.csv", index=False)
    command = f'"{sys.executable}" -m clausewise predict "{work.path("rules.json")}" big.csv --keep | head -2'
    result = subprocess.run(command, shell=True, capture_output=True, cwd=tmp_path, check=False)
    assert result.stdout.count(b"\n") == 2
    assert result.stderr == b""


def test_an_interrupt_leaves_the_old_file_and_no_other(work, tmp_path):
    big = pd.concat([work.frame] * 2000)
    big.to_csv(tmp_path / "big.csv", index=False)
    out = tmp_path / "out.csv"
    out.write_text("old\n")
    command = [
        sys.executable,
        "-m",
        "clausewise",
        "predict",
        work.path("rules.json"),
        "big.csv",
        "-o",
        "out.csv",
    ]
    process = subprocess.Popen([*command, "--keep", "--proba"], cwd=tmp_path, stderr=subprocess.PIPE)
    while process.poll() is None and not list(tmp_path.glob(".out.csv*")):
        pass
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == b"interrupted\n"
    assert out.read_text() == "old\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big.csv", "out.csv"]


_PEAK = """
import resource, sys
from clausewise.cli import main
sys.argv = ["clausewise", *sys.argv[1:]]
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
"""


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_predict_needs_no_more_memory_for_a_longer_file(work, tmp_path, kind):
    peaks = []
    for times in (100, 3000):
        big = pd.concat([work.frame] * times, ignore_index=True)
        path = tmp_path / f"rows{times}.{kind}"
        big.to_csv(path, index=False) if kind == "csv" else big.to_parquet(path)
        command = [
            sys.executable,
            "-c",
            _PEAK,
            "predict",
            work.path("rules.json"),
            str(path),
            "-o",
            "out.parquet",
        ]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
        peaks.append(int(result.stderr.split()[-1]))
        assert len(pd.read_parquet(tmp_path / "out.parquet")) == 600 * times
    # The longer file alone takes more than 100 MB as a table.
    assert peaks[1] - peaks[0] < 60, peaks


def test_words_for_missing_values_are_categories_where_the_rules_say_so(run):
    features = Features(("code", "x"), ("categorical", "numeric"), (("NA", "null"), None))
    rules = RuleSet.from_rules(
        [Rule((Term(0, values=["NA"]),), 1), Rule((Term(1, low=0),), 2)], features, default=0
    )
    rules.save("rules.json")
    result = run("predict", "rules.json", "-", input="x,code\n-1,NA\n1,null\nNaN,\nNA,null\n")
    assert result.stdout.split() == ['"prediction"', "1", "2", "0", "0"]


def test_numbers_that_are_text_to_the_rules_are_read_as_text(run):
    features = Features(("zip",), ("categorical",), (("01234", "1234"),))
    RuleSet.from_rules([Rule((Term(0, values=["01234"]),), "a")], features, default="b").save("rules.json")
    result = run("predict", "rules.json", "-", input="zip\n01234\n1234\n")
    assert result.stdout.split() == ['"prediction"', '"a"', '"b"']


def test_binary_columns_may_say_true_or_1(run):
    features = Features(("flag",), ("binary",))
    RuleSet.from_rules([Rule((Term(0, low=0),), 1)], features, default=0).save("rules.json")
    result = run("predict", "rules.json", "-", input="flag\ntrue\n1\n0\nFalse\n1.0\n\n")
    assert result.stdout.split() == ['"prediction"', "1", "1", "0", "0", "1"]


def test_every_json_answer_is_one_line_of_json(work, run):
    for command in (
        ["explain", work.path("rules.json"), "--json"],
        ["evaluate", work.path("rules.json"), work.path("rows.csv"), "--target", "truth", "--json"],
        ["compare", work.path("rules.json"), work.path("rules.json"), "--json"],
    ):
        (line,) = run(*command).stdout.splitlines()
        json.loads(line)


def test_explore_serves_the_page_with_the_network_behind_it_until_interrupted(work, tmp_path):
    command = [sys.executable, "-u", "-m", "clausewise", "explore", work.path("rules.json"), "--no-browser"]
    files = ["--data", work.path("rows.csv"), "--model", work.path("model.skops"), "--target", "truth"]
    process = subprocess.Popen(
        [*command, *files], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        printed = ""
        while "http://127.0.0.1" not in printed:
            line = process.stdout.readline().decode()
            assert line, process.stderr.read()
            printed += line
        address = re.search(r"http://127\.0\.0\.1:\d+/\S+", printed)[0]
        page = urllib.request.urlopen(address, timeout=60).read().decode()
        assert '"has_network":true' in page.replace(" ", "")
        rows = {"rows": [[30, "nurse", False, 40.0]]}
        question = urllib.request.Request(
            f"{address}api/predict", json.dumps(rows).encode(), {"Content-Type": "application/json"}
        )
        answer = json.loads(urllib.request.urlopen(question, timeout=60).read())
        asked = pd.DataFrame([[30, "nurse", False, 40.0]], columns=["age", "job", "smokes", "income"])
        assert answer["labels"] == work.network.predict(asked).tolist()
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert b"Traceback" not in errors


RULES = """
FEATURE age NUMERIC
FEATURE job CATEGORICAL {cook, nurse}
FEATURE smokes BINARY
CLASSES {no, yes}
DEFAULT no
IF age > 40 AND job = cook THEN yes
IF smokes = TRUE THEN yes
"""


@pytest.fixture
def by_hand(tmp_path):
    (tmp_path / "rules.txt").write_text(RULES)
    return "rules.txt"


def test_columns_that_rules_do_not_know_may_hold_anything(run, by_hand):
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


def test_labels_that_no_rule_knows_are_told_and_count_as_wrong(run, by_hand):
    rows = "age,job,smokes,y\n50,cook,0,yes\n50,cook,0,perhaps\n"
    result = run("evaluate", by_hand, "-", "--target", "y", "--json", input=rows)
    assert json.loads(result.stdout)["accuracy"] == 0.5
    assert "holds 'perhaps', which is none of the classes" in result.stderr


def test_missing_labels_are_an_error(run, by_hand):
    rows = "age,job,smokes,y\n50,cook,0,yes\n50,cook,0,\n50,cook,0,NA\n"
    result = run("evaluate", by_hand, "-", "--target", "y", input=rows)
    assert result.exit_code == 1
    assert "lacks 2 labels" in result.stderr


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


def test_a_column_can_be_said_to_be_text(run):
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


def test_a_pipe_is_written_to_and_not_replaced(work, run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", "pipe"], cwd=tmp_path, stdout=subprocess.PIPE)
    result = run("export", work.path("rules.json"), "--to", "text", "-o", "pipe")
    assert result.exit_code == 0, result.stderr
    assert reader.communicate(timeout=60)[0].decode() == work.rules.to_text()
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow"])
def test_rows_may_come_from_a_pipe_with_a_name(work, run, tmp_path, format):
    file = work.path(f"rows.{format}")
    if format == "arrow":  # through a pipe goes Arrow's format of streams
        table = pa.ipc.open_file(file).read_all()
        file = str(tmp_path / "stream.arrow")
        with pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table)
    os.mkfifo(tmp_path / "rows")
    writer = subprocess.Popen(["cp", file, "rows"], cwd=tmp_path)
    result = run("predict", work.path("rules.json"), "rows", "--format", format)
    assert writer.wait(timeout=60) == 0
    assert result.stdout.count("\n") == 601, result.stderr


def test_two_rule_sets_can_be_compared_on_rows_from_standard_input(run, by_hand, tmp_path):
    (tmp_path / "other.txt").write_text(RULES + "IF age > 60 THEN no")
    result = run("compare", by_hand, "other.txt", "-", input="age,job,smokes\n70,cook,0\n50,cook,0\n")
    assert "1 of 2 rows flip" in result.stdout


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


def test_rules_in_text_can_be_piped_in(run):
    assert run("explain", "-", input=RULES).stdout.startswith("2 rules")


def test_a_page_can_go_to_standard_output(run, by_hand, tmp_path):
    result = run("report", by_hand, "-o", "-")
    assert result.stdout.startswith("<!")
    assert [path.name for path in tmp_path.iterdir()] == ["rules.txt"]
