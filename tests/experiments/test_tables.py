"""From results to tables: the choice of μ, methods that hit their limits, and the paper's numbers."""

import csv
import io
import json

import numpy as np
import pytest

from clausewise_experiments import load_settings
from clausewise_experiments.cells import (
    DEPENDENCIES,
    HELD_OUT,
    Cell,
    PreparedTask,
    RunFolder,
    changes,
    read_result,
    write_result,
)
from clausewise_experiments.figures import Mechanism, draw_coping, draw_feature_use, mechanisms
from clausewise_experiments.output import write_tables_and_figures
from clausewise_experiments.selection import Figure, Results
from clausewise_experiments.settings import Limits, Scale, digest
from clausewise_experiments.tables import NOT_RUN, Comparison, Table, as_csv, compared, paper_rows

N_FOLDS = 2


@pytest.fixture
def run_folder(tmp_path):
    return RunFolder(tmp_path)


@pytest.fixture
def prepared():
    settings = load_settings("xor").reduced(Scale(n_folds=N_FOLDS, max_values=2, limits=Limits(seconds=7)))
    return PreparedTask(settings, "rows")


def result(fidelity, held_out, n_rules=10, accuracy=0.9):
    measures = {"accuracy": accuracy, "auc_labels": 0.8, "auc_scores": 0.85, "fidelity": fidelity}
    votes = dict.fromkeys(("confidence", "majority", "share"), measures)
    return {
        "status": "done",
        "seconds": 1.0,
        "cpu_seconds": 0.5,
        "memory_mb": 100.0,
        "n_rules": n_rules,
        "mean_length": 2.0,
        "votes": votes,
        HELD_OUT: dict.fromkeys(votes, held_out),
        "feature_use": [n_rules, n_rules // 2] + [0] * 8,
    }


EXCEEDED = {"status": "exceeded", "reason": "max_rules=100,000 was exceeded", "seconds": 3.0}


def put(run_folder, prepared, fold, method, min_cases, content):
    cell = Cell("xor", fold, method, min_cases)
    dependencies = prepared.dependencies_of(cell)
    head = {"fingerprint": digest(dependencies), DEPENDENCIES: dependencies, "total_seconds": 1.0}
    write_result(run_folder.result(cell), {**head, **content})


def test_the_papers_choice_is_one_value_for_all_folds_the_honest_one_may_differ(run_folder, prepared):
    put(run_folder, prepared, 0, "ECLAIRE", 2, result(0.9, 0.5))
    put(run_folder, prepared, 1, "ECLAIRE", 2, result(0.9, 0.6))
    put(run_folder, prepared, 0, "ECLAIRE", 15, result(0.8, 0.7, n_rules=4))
    put(run_folder, prepared, 1, "ECLAIRE", 15, result(0.7, 0.4, n_rules=4))
    results = Results(prepared, run_folder)
    on_test = results.row("ECLAIRE", "confidence", "test")
    assert (on_test.min_cases, on_test.n_folds) == ("2", 2)
    assert on_test.figures["fidelity"] == Figure(90.0, 0.0)
    honest = results.row("ECLAIRE", "confidence", "held out")
    assert honest.min_cases == "2–15"
    assert honest.figures["fidelity"].mean == pytest.approx(85.0)
    assert honest.figures["n_rules"] == Figure(7.0, 3.0)


def test_values_that_exceed_their_budget_are_passed_over_and_reported(run_folder, prepared):
    put(run_folder, prepared, 0, "REM-D", 25, EXCEEDED)
    put(run_folder, prepared, 1, "REM-D", 25, result(0.99, 0.9))
    put(run_folder, prepared, 0, "REM-D", 35, result(0.6, 0.9))
    put(run_folder, prepared, 1, "REM-D", 35, result(0.6, 0.9))
    for fold in range(N_FOLDS):
        for value in (25, 35):
            put(run_folder, prepared, fold, "DeepRED*", value, EXCEEDED)
    results = Results(prepared, run_folder)
    passed_over = results.row("REM-D", "confidence", "test")
    assert passed_over.min_cases == "35"
    assert passed_over.note == "1 of 4 extractions exceeded the budget; 2 of 11 values of μ"
    never = results.row("DeepRED*", "confidence", "test")
    assert never.figures == {}
    assert never.note == (
        "exceeded its budget of 7 s, 100,000 rules and 1,024 MB (max_rules=100,000); 2 of 11 values of μ"
    )
    put(run_folder, prepared, 0, "REM-D", 35, EXCEEDED)
    some = Results(prepared, run_folder).row("REM-D", "confidence", "test")
    assert (some.min_cases, some.n_folds) == ("25", 1)
    assert some.note.startswith("1 of 2 folds: exceeded its budget of 7 s")


def test_methods_that_imitate_no_network_are_chosen_by_accuracy_and_show_no_fidelity(run_folder, prepared):
    put(run_folder, prepared, 0, "C5.0", 2, result(0.9, 0.5, accuracy=0.7))
    put(run_folder, prepared, 0, "C5.0", 15, result(0.1, 0.5, accuracy=0.8))
    row = Results(prepared, run_folder).row("C5.0", "confidence", "test")
    assert row.min_cases == "15"
    assert "fidelity" not in row.figures
    assert row.note == "1 of 2 folds have been run; 2 of 14 values of μ"


def test_a_result_found_under_other_settings_is_not_used_and_the_change_is_reported(run_folder, prepared):
    put(run_folder, prepared, 0, "ECLAIRE", 2, result(0.9, 0.5))
    cell = Cell("xor", 0, "ECLAIRE", 2)
    assert prepared.result_of(cell, run_folder)[0] is not None
    assert PreparedTask(prepared.settings, "other").result_of(cell, run_folder) == (None, "data rows → other")
    longer = load_settings("xor").reduced(Scale(epochs=2))
    assert PreparedTask(longer, "rows").result_of(cell, run_folder) == (None, "network.epochs 150 → 300")


def test_the_bounds_of_a_method_are_part_of_its_terms_only(prepared):
    other = PreparedTask(prepared.settings.reduced(Scale(limits=Limits(seconds=1))), "rows")
    eclaire, rem_d = Cell("xor", 0, "ECLAIRE", 2), Cell("xor", 0, "REM-D", 25)
    assert other.dependencies_of(eclaire) == prepared.dependencies_of(eclaire)
    assert other.dependencies_of(rem_d) != prepared.dependencies_of(rem_d)


def test_a_damaged_result_is_computed_again(run_folder, prepared):
    put(run_folder, prepared, 0, "ECLAIRE", 2, result(0.9, 0.5))
    path = run_folder.result(Cell("xor", 0, "ECLAIRE", 2))
    path.write_bytes(path.read_bytes()[:-20])
    assert read_result(path, {}) == (None, "the file is damaged")
    assert read_result(path.with_name("none"), {}) == (None, None)


def test_changes_name_the_settings():
    assert changes({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}, "d": 4}) == "a.c 2 → 3, d None → 4"


def test_the_papers_tables_are_complete():
    rows = paper_rows()
    assert len(rows) == 31 + 6 + 6
    assert rows["XOR", "ECLAIRE"].figures["accuracy"] == Figure(91.8, 2.6)
    assert rows["MiniBooNE", "ECLAIRE"].figures["n_rules"] == Figure(1484.8, 131.9)
    assert rows["Letters", "ECLAIRE*-CART"].figures["fidelity"] == Figure(88.8, 0.4)
    assert "fidelity" not in rows["XOR", "C5.0"].figures


def test_the_difference_is_ours_minus_the_papers_but_not_for_memory(run_folder, prepared):
    for fold in range(N_FOLDS):
        put(run_folder, prepared, fold, "ECLAIRE", 2, result(0.9, 0.5))
    rows = compared([Results(prepared, run_folder)], ["XOR"], ["ECLAIRE"], "confidence", "test")
    assert len(rows) == 1
    assert rows[0].difference["accuracy"] == pytest.approx(90 - 91.8)
    assert rows[0].difference["n_rules"] == pytest.approx(10 - 87)
    assert "memory_mb" not in rows[0].difference
    lines = list(csv.DictReader(io.StringIO(as_csv(rows))))
    assert [line["who"] for line in lines] == ["paper", "ours", "difference"]
    assert float(lines[2]["fidelity"]) == pytest.approx(-1.4)


def test_all_files_are_written_and_tasks_without_rows_say_so(run_folder, prepared, tmp_path):
    for fold in range(N_FOLDS):
        put(run_folder, prepared, fold, "ECLAIRE", 2, result(0.9, 0.5))
        put(run_folder, prepared, fold, "ECLAIRE-CART", 2, result(0.9, 0.5))
    folder = tmp_path / "tables"
    files = write_tables_and_figures([prepared], run_folder, folder, "the command")
    assert all(path.is_file() for path in files)
    stems = ["table1-best-on-test", "table1-held-out", "cart-best-on-test", "cart-held-out", "votes"]
    assert {path.name for path in files} == {
        "run.json",
        *(f"{stem}{suffix}" for stem in (*stems, "xor-feature-use") for suffix in (".md", ".tex", ".csv")),
        "xor-feature-use.png",
    }
    text = (folder / "table1-best-on-test.md").read_text(encoding="utf-8")
    of_miniboone = [line for line in text.splitlines() if line.startswith("| MiniBooNE | ECLAIRE")]
    assert len(of_miniboone) == 2
    assert of_miniboone[1].endswith(f"{NOT_RUN} |")
    assert "ON THE TEST ROWS" in text
    assert "+" not in (folder / "table1-held-out.md").read_text(encoding="utf-8").split("ECLAIRE | ours")[0]
    notes = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert notes["command"] == "the command"
    assert notes["packages"]["clausewise"] != "not installed"


def test_latex_and_markdown_show_special_characters():
    table = Table("Title", ("a_b", "%"), (("ECLAIRE*", "1.0 ± 0.1"), ("x|y", "−2")), ("note",))
    latex = table.latex()
    assert "a\\_b & \\% \\\\" in latex
    assert "ECLAIRE\\textsuperscript{*} & 1.0 $\\pm$ 0.1 \\\\" in latex
    assert "| ECLAIRE\\* | 1.0 ± 0.1 |" in table.markdown()
    assert "| x\\|y | −2 |" in table.markdown()


def test_a_comparison_without_a_row_of_ours_has_no_difference():
    assert Comparison("XOR", "ECLAIRE", paper_rows()["XOR", "ECLAIRE"], None).difference == {}


def test_coping_figures_have_four_mechanisms_and_are_drawn(tmp_path):
    task = load_settings("covtype130k")
    assert [one.name for one in mechanisms(task)] == ["min_cases", "layers", "rows", "dropped"]
    assert mechanisms(load_settings("letters")) == []
    mechanism = Mechanism("layers", "subsampling", "every … layer", "layers", ["every 1", "every 2"])
    assert mechanism.positions == [1.0, 2.0]
    assert mechanism.cell(task, 3, "every 2").options == {"layers": "every 2"}
    point = {"fidelity": 90.0, "n_rules": 10, "cpu_seconds": 1.0}
    draw_coping({1.0: [point, point], 2.0: [point]}, mechanism, "task", tmp_path / "coping.png")
    use = {"ECLAIRE": np.ones((2, 3)), "REM-D": np.zeros((2, 3))}
    draw_feature_use(use, list("abc"), tmp_path / "use.png")
    for name in ("coping.png", "use.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
