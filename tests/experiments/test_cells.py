"""One method on one fold: what is measured, on which rows, and what happens at a limit."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest

from clausewise_experiments import cli
from clausewise_experiments.architectures import as_table, candidates, search
from clausewise_experiments.cells import (
    HELD_OUT,
    Cell,
    RunFolder,
    cells_of,
    run_cell,
    stopped_result,
    train_network,
)
from clausewise_experiments.jobs import coping_cells, prepare
from clausewise_experiments.methods import METHODS, NETWORK, estimator
from clausewise_experiments.progress_bar import ProgressBar
from clausewise_experiments.settings import QUICK, Limits, load_settings
from tests.experiments.test_data import write_miniboone
from tests.experiments.torch_state import torch_as_it_was


@pytest.fixture(scope="module")
def miniboone(tmp_path_factory):
    """Return MiniBooNE's task, reduced, on a small file of the same format, with a trained network."""
    folder = tmp_path_factory.mktemp("miniboone")
    rows = write_miniboone(folder / "MiniBooNE_PID.txt", 60, 140)
    rows[:60] += 1.5
    lines = [" 60 140", *("  ".join(f"{number: .6E}" for number in row) for row in rows)]
    (folder / "MiniBooNE_PID.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
    task = load_settings("miniboone").reduced(QUICK)
    task = replace(
        task,
        data=replace(task.data, n_of_classes={"background": 140, "signal": 60}),
        network=replace(task.network, epochs=8),
    )
    run_folder = RunFolder(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLAUSEWISE_DATA", str(folder))
        prepared = prepare(task, run_folder)
    with torch_as_it_was():
        train_network(run_folder, prepared, 0)
    return run_folder, prepared


def result_of(miniboone, method, min_cases=None, **options):
    run_folder, prepared = miniboone
    cell = Cell("miniboone", 0, method, min_cases, options)
    run_cell(run_folder, prepared, cell)
    result, change = prepared.result_of(cell, run_folder)
    assert change is None
    return result


def test_the_network_of_miniboone_learns(miniboone):
    measures = result_of(miniboone, NETWORK)["votes"]["any"]
    assert measures["accuracy"] > 0.9
    assert measures["auc_scores"] > 0.9


@pytest.mark.parametrize(
    "method", ["C5.0", "PedC5.0", "ECLAIRE", "ECLAIRE*", "CART", "PedCART", "ECLAIRE-CART"]
)
def test_methods_are_measured_under_each_vote_and_on_held_out_rows(miniboone, method):
    result = result_of(miniboone, method, 5)
    assert result["status"] == "done"
    assert set(result["votes"]) == set(result[HELD_OUT]) == {"confidence", "majority", "share", "fitted"}
    assert result["votes"]["confidence"]["accuracy"] > 0.7
    assert result["n_rules"] >= 1
    assert len(result["feature_use"]) == 50
    assert max(result["feature_use"]) <= result["n_rules"]
    assert result["memory_mb"] >= result["memory_before_mb"] > 10
    assert 0 < result["seconds"] <= result["total_seconds"]


def test_compact_rule_sets_keep_their_budget_and_have_no_vote_to_choose(miniboone):
    result = result_of(miniboone, "compact 4")
    assert result["n_rules"] <= 4
    assert list(result["votes"]) == ["any"]
    assert HELD_OUT not in result


def test_a_term_wise_method_that_hits_its_bound_is_a_result_that_says_so(miniboone):
    run_folder, prepared = miniboone
    tight = replace(prepared, settings=replace(prepared.settings, limits=Limits(rules=1)))
    result = result_of((run_folder, tight), "REM-D", 2)
    assert result["status"] == "exceeded"
    assert result["reason"] == "max_product_rules=1 was exceeded"
    assert result_of(miniboone, "REM-D", 40)["status"] == "done"


def test_coping_options_reach_the_method(miniboone):
    all_layers = result_of(miniboone, "ECLAIRE", 2, layers="every 1")
    some_layers = result_of(miniboone, "ECLAIRE", 2, layers="every 5")
    assert some_layers["n_rules"] < all_layers["n_rules"]
    assert HELD_OUT not in some_layers


def test_a_stopped_process_is_a_result_until_its_limit_changes(miniboone):
    run_folder, prepared = miniboone
    cell = Cell("miniboone", 1, "ECLAIRE", 3)
    path = run_folder.result(cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(stopped_result(prepared, cell, 31.0)), encoding="utf-8")
    result, _ = prepared.result_of(cell, run_folder)
    assert result["reason"] == "it was stopped after 20 s"
    longer = replace(prepared, settings=replace(prepared.settings, limits=Limits(process_seconds=60)))
    assert longer.result_of(cell, run_folder) == (None, "limits.process_seconds 20 → 60")


def test_cells_are_all_methods_values_and_folds_with_names_of_their_own():
    task = load_settings("letters")
    found = list(cells_of(task))
    per_fold = 1 + sum(map(len, task.min_cases.values())) + 2
    assert len(found) == 5 * per_fold
    assert len({(cell.fold, cell.name) for cell in found}) == len(found)
    assert {cell.method for cell in cells_of(task, ("REM-D", "compact"))} == {
        NETWORK,
        "REM-D",
        "compact 104",
        "compact 416",
    }
    coping = list(coping_cells(load_settings("covtype130k")))
    assert len({(cell.fold, cell.name) for cell in coping}) == len(coping) == 5 * (11 + 5 + 5 + 6)


def test_every_method_has_the_papers_settings(miniboone):
    task = miniboone[1].settings
    for name, method in METHODS.items():
        parameters = estimator(name, 7, None, task).get_params()
        assert parameters["max_rules"] is None
        if method.inducer == "c5.0":
            assert (parameters["min_cases"], parameters["winnow"]) == (7, True)
        else:
            assert parameters["inducer"].min_cases == 7
            assert parameters["inducer"].ccp_alpha == task.cart.ccp_alpha
            assert parameters.get("balance") == ("balanced" if method.kind == "eclaire" else None)
        if method.is_termwise:
            assert parameters["max_seconds"] == task.limits.seconds
            assert parameters["max_memory"] == task.limits.megabytes * 2**20
    assert estimator("compact 16", None, None, task).max_rules == 16


def test_the_architecture_search_gives_the_best_first_and_uses_networks_that_are_there(tmp_path):
    task = load_settings("xor").reduced(QUICK)
    task = replace(task, n_folds_run=1, architectures={"n_hidden": 1, "epochs": [1], "batch_sizes": [64]})
    run_folder = RunFolder(tmp_path)
    prepared = prepare(task, run_folder)
    for network in list(candidates(prepared))[:2]:
        with torch_as_it_was():
            train_network(run_folder, replace(prepared, settings=replace(task, network=network)), 0)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "networks").iterdir()}
    found = search(prepared, run_folder, 2, ProgressBar(2, io.StringIO()), max_candidates=2)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "networks").iterdir()} == before
    assert [one.network.hidden for one in found] == [(8,), (8,)]
    assert {one.network.activation for one in found} == {"tanh", "relu"}
    assert found[0].mean >= found[1].mean
    assert "accuracy %" in as_table(found, "XOR").markdown()


# --- The command ---


def test_the_command_lists_tasks_and_where_their_rows_are(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUSEWISE_DATA", str(tmp_path))
    np.savez(tmp_path / "letter.npz", X=np.zeros(1))
    assert cli.main(["tasks"]) == 0
    said = capsys.readouterr().out
    assert "xor          tanh 64-32-16         generated" in said
    assert "mb_er.npz not found" in said
    assert "letter.npz found" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "iris"], "no task 'iris'"),
        (["run", "xor", "--methods", "C5.0,C6.0"], "--methods names 'C6.0'"),
        (["run", "xor", "--folds", "0"], "--folds is 0"),
        (["run", "mb-er"], "needs the file mb_er.npz"),
    ],
)
def test_wrong_options_and_missing_rows_are_reported_in_one_line(
    arguments, message, capsys, tmp_path, monkeypatch
):
    monkeypatch.setenv("CLAUSEWISE_DATA", str(tmp_path))
    assert cli.main([*arguments, "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
