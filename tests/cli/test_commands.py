"""Every command with valid input."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from clausewise import Features, RegressionRules, Rule, RuleSet, Term
from clausewise.cli.input_rows import rows_for_network, split_held_out
from clausewise.cli.models import load_network
from clausewise.cli.table_files import Source
from clausewise.rules.metrics import fidelity


def test_extract_prints_the_rules_and_their_fidelity_on_held_out_rows(work, run):
    result = run(
        "extract",
        work.path("model.skops"),
        work.path("rows.csv"),
        "-o",
        "rules.json",
        "--target",
        "truth",
        "--report",
        "page.html",
    )
    assert result.exit_code == 0, result.output
    assert "IF" in result.stdout
    assert "120 held-out rows" in result.stdout
    assert re.search(r"fidelity to the network +\d\d", result.stdout)
    assert "clausewise explore rules.json" in result.stdout
    assert "clausewise-report" in Path("page.html").read_text(encoding="utf-8")
    assert "ECLAIRE" in result.stderr
    assert 0 < len(RuleSet.load("rules.json")) <= 20
    assert re.search(
        r"other sizes .*\*\*\d+ rules? [\d.]+ %\*\*.* on held-out rows", result.stdout, re.DOTALL
    )


def test_extract_returns_all_rules_or_no_more_to_read_than_asked_for(work, run):
    command = ("extract", work.path("model.skops"), work.path("rows.csv"), "--target", "truth", "-q")
    every = run(*command, "-o", "all.json", "--max-rules", "all", "--voting", "majority")
    few = run(*command, "-o", "few.json", "--max-conditions", "5")
    assert every.exit_code == few.exit_code == 0, every.output + few.output
    assert RuleSet.load("all.json").voting == "majority"
    assert 0 < RuleSet.load("few.json").reading_cost <= 5
    assert "other sizes" not in every.stdout + few.stdout


def test_extract_measures_on_the_rows_that_it_did_not_learn_from(work, run):
    command = [
        "extract",
        work.path("model.skops"),
        work.path("rows.csv"),
        "-o",
        "r.json",
        "--target",
        "truth",
    ]
    result = run(*command, "--json", "-q", "--holdout", "0.25", "--max-rules", "3")
    answer = json.loads(result.stdout)
    assert (answer["n_rows"], answer["n_rows_measured"], answer["held_out"]) == (450, 150, True)
    assert answer["n_rows_shared"] is None
    assert answer["n_rules"] == len(RuleSet.load("r.json")) <= 3
    network = load_network(work.path("model.skops"))
    rows = rows_for_network(Source.of(work.path("rows.csv")), network, "truth", ())
    _, tested = split_held_out(rows, 0.25, seed=0)
    agrees = fidelity(RuleSet.load("r.json").predict(tested.X), network.labels(tested.X))
    assert answer["fidelity"] == pytest.approx(agrees)


def test_extracted_rules_carry_the_guarantee_of_the_held_out_rows(work, run):
    command = ("extract", work.path("model.skops"), work.path("rows.csv"), "--target", "truth", "-q")
    result = run(*command, "-o", "r.json", "--holdout", "0.25", "--max-rules", "3", "--seed", "7")
    assert result.exit_code == 0, result.output
    rules = RuleSet.load("r.json")
    assert rules.guaranteed.n_rows == 150
    assert " ".join(rules.guaranteed.summary.split()) in " ".join(result.stdout.split())
    network = load_network(work.path("model.skops"))
    rows = rows_for_network(Source.of(work.path("rows.csv")), network, "truth", ())
    learnt, fresh = split_held_out(rows, 0.25, seed=7)
    assert rules.guaranteed == rules.guarantee(fresh.X, network, overlap="keep", random_state=7)
    with pytest.raises(ValueError, match="are rows that the rules were learnt from"):
        rules.guarantee(learnt.X, network)


@pytest.mark.parametrize("options", [("--holdout", "0"), ("--test", "{rows}")])
def test_rows_that_were_not_held_out_promise_nothing(work, run, options):
    options = [option.format(rows=work.path("rows.csv")) for option in options]
    command = ("extract", work.path("model.skops"), work.path("rows.csv"), "--target", "truth", "-q")
    result = run(*command, "-o", "r.json", "--json", *options)
    assert json.loads(result.stdout)["guarantee"] is None
    assert RuleSet.load("r.json").guaranteed is None


def test_extract_says_how_many_rows_of_a_test_file_were_learnt_from(work, run):
    command = ("extract", work.path("model.skops"), work.path("rows.csv"), "--target", "truth", "-q")
    fresh = work.frame.assign(income=work.frame.income + 0.05)
    fresh.to_csv("fresh.csv", index=False)
    pd.concat([fresh, work.frame[:7]]).to_csv("mixed.csv", index=False)
    for name, n_rows, n_shared in (
        ("fresh.csv", 600, 0),
        ("mixed.csv", 607, 7),
        (work.path("rows.csv"), 600, 600),
    ):
        result = run(*command, "-o", "r.json", "--json", "--test", name)
        answer = json.loads(result.stdout)
        found = (answer["n_rows_measured"], answer["n_rows_shared"], answer["held_out"])
        assert found == (n_rows, n_shared, n_shared == 0)
        note = f"note: The rules were learnt from {n_shared} of the {n_rows} rows of {name}"
        assert (note in result.stderr) == (n_shared > 0)
    text = run(*command, "-o", "r.json", "--test", "mixed.csv")
    assert re.search(r"measured on +607 rows of mixed\.csv", text.stdout)
    assert "held-out rows" not in text.stdout.split("other sizes")[0]


def test_a_tolerance_is_refused_for_classes(work, run):
    refused = run("extract", work.path("model.skops"), work.path("rows.csv"), "-q", "--tolerance", "1")
    assert refused.exit_code == 2
    assert "--tolerance is for rules for numbers" in refused.stderr


def test_extract_without_an_output_writes_the_rules_to_standard_output_only(work, run):
    result = run("extract", work.path("model.skops"), work.path("rows.parquet"), "--drop", "truth", "-q")
    assert json.loads(result.stdout)["format"] == "clausewise-rules"
    assert "fidelity" in result.stderr


def test_the_same_command_gives_the_same_file(work, run, tmp_path):
    for name, jobs in (("a.json", 1), ("b.json", 2)):
        command = (
            "extract",
            work.path("model.skops"),
            work.path("rows.csv"),
            "-o",
            name,
            "--target",
            "truth",
        )
        assert run(*command, "-q", "--jobs", jobs, "--seed", 3).exit_code == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


@pytest.mark.parametrize("method", ["eclaire", "pedagogical", "rem-d", "deepred", "rem-t"])
def test_every_method_can_be_chosen(work, run, method):
    target = ["--target", "truth"]
    result = run(
        "extract", work.path("model.skops"), work.path("rows.csv"), "--method", method, *target, "-q"
    )
    if method == "rem-t":  # a single network is not an ensemble of trees
        assert result.exit_code in (0, 1)
    else:
        assert result.exit_code == 0, result.stderr


def test_a_model_can_be_an_object_of_the_users_module(work, run, tmp_path):
    (tmp_path / "mine.py").write_text(
        f"import skops.io\nclass A:\n    net = skops.io.load({work.path('model.skops')!r}, trusted="
        "['sklearn.neural_network._stochastic_optimizers.AdamOptimizer'])\n"
    )
    result = run("extract", "mine:A.net", work.path("rows.csv"), "--target", "truth", "-q", "-o", "r.json")
    assert result.exit_code == 0, result.stderr


MODELS = """
import numpy as np
import pandas as pd
import xgboost

rows = pd.read_csv({path!r})
X, y = rows.drop(columns="truth"), (rows.truth == "yes").astype(int)
boosted = xgboost.XGBClassifier(n_estimators=10, max_depth=4, enable_categorical=True, n_jobs=1)
boosted.fit(X.astype({{"job": "category"}}), y)

def function(rows):
    return np.where(rows["age"] < 45, "yes", "no")
"""


@pytest.mark.parametrize(
    ("name", "method"), [("boosted", "REM-T on the model's own 10 trees"), ("function", "Pedagogical")]
)
def test_the_method_is_chosen_by_the_model_and_printed(work, run, tmp_path, name, method):
    pytest.importorskip("xgboost", reason="xgboost is not installed")
    (tmp_path / "models.py").write_text(MODELS.format(path=work.path("rows.csv")))
    arguments = ["--target", "truth", "--classes", "no,yes", "-q", "-o", "r.json", "--max-rules", "6"]
    result = run("extract", f"models:{name}", work.path("rows.csv"), *arguments)
    assert result.exit_code == 0, result.stderr
    assert method in result.output
    origins = {rule.origin.layer.split()[0] for rule in RuleSet.load("r.json")}
    assert ("tree" in origins) == (name == "boosted")


@pytest.mark.parametrize("file", ["rows.csv", "rows.parquet", "rows.arrow"])
def test_predict_decides_as_the_library_does_whatever_the_file(work, run, file):
    result = run("predict", work.path("rules.json"), work.path(file), "-o", "out.csv")
    assert result.exit_code == 0, result.stderr
    expected = work.rules.predict(work.frame.drop(columns="truth"))
    assert pd.read_csv("out.csv")["prediction"].tolist() == expected.tolist()


def test_predict_reads_standard_input_and_writes_standard_output(work, run):
    csv = (work.folder / "rows.csv").read_bytes()
    result = run("predict", work.path("rules.json"), "-", "--keep", "--proba", input=csv)
    out = pd.read_csv(pd.io.common.BytesIO(result.stdout_bytes))
    assert list(out.columns[:5]) == list(work.frame.columns)
    X = work.frame.drop(columns="truth")
    np.testing.assert_allclose(out["probability yes"], work.rules.predict_proba(X)[:, 1])
    assert out["prediction"].tolist() == work.rules.predict(X).tolist()


@pytest.mark.parametrize("name", ["out.parquet", "out.arrow", "out.jsonl"])
def test_predict_writes_the_format_of_the_file_name(work, run, name):
    assert run("predict", work.path("rules.json"), work.path("rows.csv"), "-o", name).exit_code == 0
    read = {
        "out.parquet": pd.read_parquet,
        "out.arrow": lambda path: pa.ipc.open_file(path).read_all().to_pandas(),
        "out.jsonl": lambda path: pd.read_json(path, lines=True),
    }[name]
    assert read(name)["prediction"].tolist() == work.rules.predict(work.frame.drop(columns="truth")).tolist()


def test_evaluate_prints_the_measures_of_the_library(work, run):
    result = run("evaluate", work.path("rules.json"), work.path("rows.csv"), "--target", "truth", "--json")
    X = work.frame.drop(columns="truth")
    assert json.loads(result.stdout)["accuracy"] == pytest.approx(
        np.mean(work.rules.predict(X) == work.frame.truth)
    )
    against = run(
        "evaluate",
        work.path("rules.json"),
        work.path("rows.csv"),
        "--model",
        work.path("model.skops"),
        "--json",
    )
    agrees = fidelity(work.rules.predict(X), work.network.predict(X))
    assert json.loads(against.stdout)["fidelity"] == pytest.approx(agrees)
    both = run(
        "evaluate",
        work.path("rules.json"),
        work.path("rows.csv"),
        "--model",
        work.path("model.skops"),
        "--target",
        "truth",
    )
    assert "fidelity to the network" in both.stdout
    assert "balanced accuracy" in both.stdout


def test_explain_prints_the_chosen_rows(work, run):
    result = run(
        "explain", work.path("rules.json"), work.path("rows.csv"), "--row", 7, "--row", 2, "--counterfactuals"
    )
    assert result.stdout.startswith("row 7 →")
    assert "becomes" in result.stdout
    machine = run(
        "explain", work.path("rules.json"), work.path("rows.csv"), "--row", 7, "--json", "--counterfactuals"
    )
    answer = json.loads(machine.stdout)
    assert answer["row"] == 7
    assert answer["prediction"] == work.rules.predict(work.frame.drop(columns="truth"))[7]
    assert {"fired", "near_misses", "scores", "counterfactual"} <= set(answer)


def test_explain_finds_changes_that_the_network_confirms(work, run):
    command = ["explain", work.path("rules.json"), work.path("rows.csv"), "--counterfactuals"]
    limits = ["--fixed", "smokes", "--allowed", "income=20:80", "--allowed", "job=nurse,cook", "--to", "yes"]
    result = run(*command, "--model", work.path("model.skops"), "--json", *limits)
    X = work.frame.drop(columns="truth")
    for line, row in zip(result.stdout.splitlines(), range(5), strict=True):
        found = json.loads(line)["counterfactual"]
        assert found["confirmed"] is True
        changed = X[row : row + 1].assign(**{one["feature"]: one["to"] for one in found["changes"]})
        assert work.network.predict(changed)[0] == work.rules.predict(changed)[0] == "yes" == found["network"]
        assert not {"smokes"} & {one["feature"] for one in found["changes"]}
    assert "(the network agrees)" in run(*command, "--model", work.path("model.skops")).stdout
    assert "flips it" in run(*command, *(f"--fixed={name}" for name in X)).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fixed", "age"], "need --counterfactuals"),
        (["--counterfactuals", "--fixed", "size"], "There is no column 'size'"),
        (["--counterfactuals", "--allowed", "size=3"], "does not begin with a feature"),
        (["--counterfactuals", "--allowed", "age=old"], "is not a range such as 18:65"),
        (["--counterfactuals", "--allowed", "job=clown"], "has 'clown'; expected categories of 'job'"),
        (["--counterfactuals", "--allowed", "smokes=maybe"], "has 'maybe'; expected True, False"),
    ],
)
def test_explain_says_which_limit_is_wrong(work, run, options, message):
    result = run("explain", work.path("rules.json"), work.path("rows.csv"), *options)
    assert result.exit_code != 0
    assert message in " ".join(result.stderr.replace("│", " ").split())


def test_explain_without_rows_summarises_the_rules(work, run):
    assert "features tested most" in run("explain", work.path("rules.json")).stdout
    assert json.loads(run("explain", work.path("rules.json"), "--json").stdout)["n_rules"] == len(work.rules)


def test_compact_keeps_to_max_rules(work, run):
    command = ("compact", work.path("rules.json"), work.path("rows.csv"), "--model", work.path("model.skops"))
    result = run(*command, "--max-rules", 3, "-o", "small.json", "-q", "--points")
    assert result.exit_code == 0, result.stderr
    small = RuleSet.load("small.json")
    assert len(small) <= 3
    assert np.array_equal(small.columns.weight, np.round(small.columns.weight))


def test_simplify_keeps_every_decision(work, run):
    twice = work.rules + work.rules
    twice.save("twice.json")
    result = run("simplify", "twice.json", "-o", "once.json")
    assert result.exit_code == 0, result.stderr
    once = RuleSet.load("once.json")
    assert len(once) <= len(work.rules)
    X = work.frame.drop(columns="truth")
    assert np.array_equal(once.predict(X), twice.predict(X))
    shorter = run("simplify", "twice.json", work.path("rows.csv"), "--tolerance", 0.1, "-o", "shorter.txt")
    assert shorter.exit_code == 0, shorter.stderr
    assert len(RuleSet.from_text(Path("shorter.txt").read_text())) <= len(once)


def test_compare_lists_the_rows_that_flip(work, run):
    edited = work.rules.add("IF age > 60 THEN yes", priority=True)
    edited.save("edited.json")
    result = run("compare", work.path("rules.json"), "edited.json", work.path("rows.csv"))
    assert "rules: 1 added, 0 removed, 0 changed" in result.stdout
    X = work.frame.drop(columns="truth")
    flips = np.flatnonzero(work.rules.predict(X) != edited.predict(X))
    assert f"{len(flips)} of 600 rows flip" in result.stdout
    machine = json.loads(
        run("compare", work.path("rules.json"), "edited.json", work.path("rows.csv"), "--json").stdout
    )
    assert machine["flips"]["rows"] == flips.tolist()


@pytest.mark.parametrize(
    ("format", "sign"),
    [
        ("sql", b"CASE"),
        ("python", b"def predict"),
        ("pmml", b"<PMML"),
        ("onnx", b"\x08"),
        ("json", b"clausewise-rules"),
        ("text", b"FEATURE age NUMERIC"),
        ("markdown", b"|"),
        ("latex", b"\\begin"),
        ("graphviz", b"digraph"),
    ],
)
def test_export_writes_every_format(work, run, format, sign):
    result = run("export", work.path("rules.json"), "--to", format, "-o", "out")
    assert result.exit_code == 0, result.stderr
    assert sign in Path("out").read_bytes()
    assert run("export", work.path("rules.json"), "--to", format).stdout_bytes == Path("out").read_bytes()


def test_report_writes_one_page(work, run):
    Path("names.json").write_text('{"age": "Age in years"}', encoding="utf-8")
    result = run(
        "report",
        work.path("rules.json"),
        work.path("rows.csv"),
        "-o",
        "page.html",
        "--target",
        "truth",
        "--model",
        work.path("model.skops"),
        "--title",
        "Nurses & cooks",
        "--labels",
        "names.json",
        "--color",
        "yes=#0000AA",
        "--fixed",
        "age",
    )
    assert result.exit_code == 0, result.stderr
    page = Path("page.html").read_text(encoding="utf-8")
    payload = json.loads(page.split('id="clausewise-payload">')[1].split("</script>")[0])
    assert payload["names"]["features"][0] == "Age in years"
    assert payload["colors"] == [None, "#0000aa"]
    assert payload["fixed"] == [0]
    assert "Nurses &amp; cooks" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")


def test_rules_can_be_text_in_the_rule_language(work, run, tmp_path):
    (tmp_path / "rules.txt").write_text(work.rules.to_text())
    one, other = (
        run("predict", path, work.path("rows.csv")) for path in ("rules.txt", work.path("rules.json"))
    )
    assert one.stdout == other.stdout != ""


def test_doctor_finds_no_fault(run):
    result = run("doctor")
    assert result.exit_code == 0, result.stdout
    assert result.stdout.count("ok ") == 5
    assert "scikit-learn" in result.stdout


def test_validate_writes_the_page_on_rows_that_were_not_learnt_from(work, run, tmp_path):
    page, attached = tmp_path / "validation.html", tmp_path / "guaranteed.json"
    dated = work.frame.assign(day=pd.date_range("2026-01-01", periods=len(work.frame), freq="D"))
    dated.to_parquet(tmp_path / "rows.parquet")
    files = (work.path("rules.json"), work.path("model.skops"), str(tmp_path / "rows.parquet"))
    refused = run("validate", *files, "-o", str(page))
    assert refused.exit_code == 1
    rows_of_file = f"of the 600 rows of {files[2]} are rows that the rules were learnt from"
    assert rows_of_file in refused.stderr
    assert "--overlap drop to leave these out; --overlap keep counts them" in refused.stderr
    assert "overlap=" not in refused.stderr
    assert not page.exists()
    options = ("-o", str(page), "--attach", str(attached), "--overlap", "drop", "--agreement", "0.8")
    done = run("validate", *files, *options, "--title", "Quarterly")
    assert done.exit_code == 0, done.output
    assert "fresh rows" in done.stdout
    text = page.read_text(encoding="utf-8")
    assert "<h1>Quarterly</h1>" in text
    assert "2026-01-01" in text
    assert "MLPClassifier" in text
    assert hashlib.sha256(Path(work.path("rules.json")).read_bytes()).hexdigest() in text
    assert RuleSet.load(attached).guaranteed.summary[1:] in text  # it begins with a capital there
    dated.to_csv(tmp_path / "rows.csv", index=False)
    assert run("validate", *files[:2], str(tmp_path / "rows.csv"), *options).exit_code == 0
    assert "2026-01-01 to 2027-08-23" in page.read_text(encoding="utf-8")
    tried = ("--challenge", "20", "--certify", "1", "--json")
    done = run("validate", *files, *options, *tried)
    assert done.exit_code == 0, done.output
    parsed = json.loads(done.stdout)
    assert all(f"<h2>{heading}</h2>" in page.read_text("utf-8") for heading in ("Challenge", "Certificate"))
    assert parsed["promises"][0]["subject"] == "fidelity to the network"


def test_validate_says_which_options_do_not_fit(work, run):
    files = (work.path("rules.json"), work.path("model.skops"), work.path("rows.csv"))
    assert "--tolerance is for rules for numbers" in run("validate", *files, "--tolerance", "1").stderr
    assert "There is no column 'customer'" in run("validate", *files, "--groups", "customer").stderr


def test_validate_tries_to_break_rules_for_classes_only(run, tmp_path):
    numbers = RegressionRules.from_rules([], ["x"], base=1.0)
    numbers.save(tmp_path / "numbers.json")
    files = (str(tmp_path / "numbers.json"), "model.skops", "rows.csv")
    done = run("validate", *files, "--tolerance", "1", "--challenge", "5")
    assert "--challenge and --certify are for rules for classes" in done.stderr


@pytest.fixture
def folder_of_rows(work, tmp_path):
    """Write the rows of the table twice over, with other ages, as a folder of Parquet files."""
    table = pa.parquet.read_table(work.path("rows.parquet"))
    (tmp_path / "rows").mkdir()
    for number in range(4):
        pa.parquet.write_table(table.slice(number * 150, 150), tmp_path / "rows" / f"part-{number}.parquet")
    (tmp_path / "rows" / "_SUCCESS").touch()
    return tmp_path / "rows"


def test_a_folder_of_files_is_a_table(work, run, folder_of_rows):
    command = ("extract", work.path("model.skops"), "-q", "--json", "--target", "truth", "--max-rules", "3")
    expected = json.loads(run(*command, work.path("rows.parquet"), "-o", "one.json").stdout)
    found = json.loads(run(*command, str(folder_of_rows), "-o", "two.json").stdout)
    assert found["fidelity"] == expected["fidelity"]
    assert RuleSet.load("two.json") == RuleSet.load("one.json")
    of_file = run("predict", "one.json", work.path("rows.parquet")).stdout
    assert run("predict", "one.json", str(folder_of_rows)).stdout == of_file
    assert run("predict", "one.json", str(folder_of_rows / "*.parquet")).stdout == of_file
    assert "There are no files" in run("predict", "one.json", str(folder_of_rows / "*.csv")).stderr
    (folder_of_rows / "more.csv").write_text("a\n1\n")
    assert "several formats" in run("predict", "one.json", str(folder_of_rows)).stderr


def test_a_file_without_a_column_is_named(work, run, folder_of_rows, monkeypatch):
    monkeypatch.setattr("clausewise.cli.streamed_rows.FEW_ROWS", 200)
    run(
        "extract",
        work.path("model.skops"),
        work.path("rows.parquet"),
        "-q",
        "-o",
        "r.json",
        "--max-rules",
        "2",
    )
    last = folder_of_rows / "part-3.parquet"
    table = pa.parquet.read_table(last)
    name = RuleSet.load("r.json").features.names[0]
    pa.parquet.write_table(table.drop_columns([name]), last)
    commands = [
        ("extract", work.path("model.skops"), str(folder_of_rows), "-q", "-o", "s.json", "--holdout", "0"),
        ("extract", work.path("model.skops"), str(folder_of_rows), "-q", "-o", "s.json"),
        ("evaluate", "r.json", str(folder_of_rows), "--model", work.path("model.skops")),
    ]
    for command in commands:
        result = run(*command)
        assert result.exit_code == 1
        assert f"{last} has no column" in result.stderr.replace("\n", ""), result.stderr
        assert name in result.stderr


def test_many_rows_are_read_in_parts(work, run, folder_of_rows, monkeypatch):
    monkeypatch.setattr("clausewise.cli.streamed_rows.FEW_ROWS", 200)
    for module in ("clausewise.compact.compaction", "clausewise.extractors.partitioned"):
        monkeypatch.setattr(f"{module}.FEW_ROWS", 200)
    command = ("extract", work.path("model.skops"), str(folder_of_rows), "-q", "--json", "--target", "truth")
    result = run(*command, "-o", "r.json", "--max-rules", "3", "--holdout", "0.25")
    assert result.exit_code == 0, result.output
    answer, rules = json.loads(result.stdout), RuleSet.load("r.json")
    assert answer["n_rows"] + answer["n_rows_measured"] == 600
    assert answer["accuracy"] > 0.8
    assert rules.guaranteed.n_rows == answer["n_rows_measured"] == pytest.approx(150, rel=0.3)
    measured = run("evaluate", "r.json", str(folder_of_rows), "--model", work.path("model.skops"), "--json")
    in_memory = run(
        "evaluate", "r.json", work.path("rows.parquet"), "--model", work.path("model.skops"), "--json"
    )
    monkeypatch.setattr("clausewise.cli.streamed_rows.FEW_ROWS", 10_000)
    again = run("evaluate", "r.json", str(folder_of_rows), "--model", work.path("model.skops"), "--json")
    assert json.loads(measured.stdout) == json.loads(in_memory.stdout) == json.loads(again.stdout)
    monkeypatch.setattr("clausewise.cli.streamed_rows.FEW_ROWS", 200)
    everything = run(*command, "-o", "r.json", "--max-rules", "3", "--holdout", "0")
    assert json.loads(everything.stdout)["n_rows_measured"] == 600


def test_one_row_is_not_called_rows(work, run):
    command = ("extract", work.path("model.skops"), work.path("rows.csv"), "--target", "truth", "-q")
    result = run(*command, "-o", "r.json", "--holdout", "0.001", "--max-rules", "2")
    assert re.search(r"measured on +1 held-out row *\n", result.stdout)
    assert "on 1 fresh row:" in result.stdout
    Path("one.txt").write_text("FEATURE age NUMERIC\nDEFAULT no\nIF age > 40 THEN yes\n", encoding="utf-8")
    assert "1 rule became 1" in run("simplify", "one.txt", "-o", "s.json").stderr


def test_predict_needs_only_the_columns_that_rules_test(run, tmp_path):
    features = Features(("a", "b"), named=True)
    RuleSet.from_rules([Rule((Term(1, low=3),), "yes")], features, default="no").save(tmp_path / "r.json")
    (tmp_path / "b.csv").write_text("b\n2\n4\n")
    (tmp_path / "a.csv").write_text("a\n2\n")
    rules, rows = str(tmp_path / "r.json"), str(tmp_path / "b.csv")
    assert run("predict", rules, rows).stdout.split() == ['"prediction"', '"no"', '"yes"']
    assert "no column 'b', which the rules need" in run("predict", rules, str(tmp_path / "a.csv")).stderr
