"""Bad input, scripts and pipes: exit codes, short errors, steady memory."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

import numpy as np
import pandas as pd
import pytest

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
        (["extract", "{model}", "{rows}", "--drop", "nothing"], "no column 'nothing' to drop"),
        (["extract", "{model}", "{rows}", "--holdout", "1.5"], "part of the rows"),
        (["extract", "{model}", "{rows}", "--voting", "loud"], "voting"),
        (["compact", "{rules}", "{rows}", "--target", "truth", "--max-rules", "0"], "max_rules"),
        (["export", "{rules}", "--to", "sql", "--dialect", "klingon"], "klingon"),
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
    import skops.io
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
