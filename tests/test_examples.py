"""The scripts in examples/ run and print what they promise; `test_demo.py` tests the demo."""

import base64
import re
from dataclasses import replace

import pytest
from matplotlib import pyplot as plt
from tools import gallery


def run_example(name, shorter=None):
    """Run an example, with some texts in it replaced; return what it printed, and how much it drew."""
    example = gallery.Example.read(name)
    cells = []
    for cell in example.cells:
        text = cell.text
        for long, short in (shorter or {}).items():
            text = text.replace(long, short)
        cells.append(replace(cell, text=text))
    changed = "".join(cell.text for cell in cells)
    assert not [long for long in shorter or {} if long in changed or long not in example.source]
    results = gallery.run_cells(replace(example, cells=tuple(cells)))
    return "".join(result.printed for result in results), sum(len(result.figures) for result in results)


@pytest.mark.parametrize("name", gallery.NAMES)
def test_examples_have_a_title_and_compile(name):
    example = gallery.Example.read(name)
    assert 10 < len(example.title) < 120
    assert example.introduction
    for cell in example.cells:
        assert not cell.is_code or compile(cell.text, name, "exec")


def test_cells_print_and_draw_what_a_notebook_would_show(monkeypatch, tmp_path):
    (tmp_path / "small.py").write_text(
        '"""A title.\n\nMore.\n"""\n\n# %%\nx = 2\nx + 1\n\n# %% [markdown]\n# ## Text\n\n'
        "# %%\nfrom matplotlib import pyplot as plt\nplt.plot([x, 1])\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(gallery, "EXAMPLES", tmp_path)
    example = gallery.Example.read("small")
    plt.figure()  # left open by somebody else
    results = gallery.run_cells(example)
    page, notebook = gallery.page_of(example, results), gallery.notebook_of(example, results)
    assert page.startswith("# A title\n\nMore.\n")
    assert page.count("```text\n") == page.count("```text\n3\n```") == 1
    assert page.endswith("![figure 1](small-0.png)\n")
    assert [len(result.figures) for result in results] == [0, 0, 1]
    assert [cell["cell_type"] for cell in notebook["cells"]] == ["markdown", "code", "markdown", "code"]
    assert notebook["cells"][1]["outputs"][0]["text"] == ["3\n"]
    drawn = base64.b64decode(notebook["cells"][3]["outputs"][0]["data"]["image/png"])
    assert drawn == results[2].figures[0]


def test_rules_for_credit_risk_explain_an_applicant():
    printed, n_figures = run_example("credit_risk", {"n = 3_000": "n = 1_500"})
    assert "9 rules for the classes bad, good" in printed
    assert float(re.search(r"fidelity to the network +([\d.]+) %", printed)[1]) > 85
    assert "row 0: bad becomes good if" in printed
    assert n_figures == 1


def test_rules_for_a_clinical_network_name_the_layer_that_they_come_from():
    pytest.importorskip("torch")
    shorter = {
        "n_patients = 3_000": "n_patients = 1_200",
        "frontier(X, wrapped, max_rules=8": "frontier(X, wrapped, max_rules=2",
    }
    printed, n_figures = run_example("pytorch_network", shorter)
    assert "8 rules for the classes no relapse, relapse" in printed
    assert re.search(r"\d (first|second)", printed)
    assert n_figures == 1


def test_house_prices_are_sums_of_rules():
    printed, n_figures = run_example(
        "house_prices", {"n = 8_000": "n = 1_500", "max_iter=120": "max_iter=60"}
    )
    assert "12 rules for a number; start at" in printed
    assert "with 3 linear terms" in printed
    assert n_figures == 2


def test_every_decision_inside_duckdb_equals_that_of_the_rules():
    pytest.importorskip("duckdb")
    shorter = {"1_000_000": "20_000", "RandomForestClassifier(200": "RandomForestClassifier(20"}
    printed, n_figures = run_example("rules_in_sql", shorter)
    assert "19,936 of 19,936 decisions are equal" in printed
    assert n_figures == 1


def test_boosted_c50_is_compared_on_four_tables():
    pytest.importorskip("xgboost")
    shorter = {"n_rounds, n_folds = 50, 5": "n_rounds, n_folds = 4, 2", "n = 4_000": "n = 400"}
    printed, n_figures = run_example("boosted_c50", shorter)
    rows = re.findall(
        r"^ *(breast cancer|wine|digits|clinic) +(.+?) +([\d.]+) +(\d+) +[\d.]+$", printed, re.MULTILINE
    )
    assert len(rows) == 20
    sizes = {(table, model): int(size) for table, model, _, size in rows}
    assert sizes["digits", "C5.0 rules, boosted"] > sizes["digits", "C5.0 rules, one"] > 20
    assert all(float(accuracy) > 0.5 for _, _, accuracy, _ in rows)
    assert n_figures == 1


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of PyTorch's exporter
def test_an_onnx_graph_decides_as_the_rules_for_an_onnx_file_do():
    pytest.importorskip("onnxruntime")
    pytest.importorskip("torch")
    printed, n_figures = run_example("onnx_production")
    assert float(re.search(r"fidelity on the test rows: ([\d.]+)%", printed)[1]) > 95
    assert "True [" in printed
    assert n_figures == 1


def test_rules_for_series_test_named_columns():
    pytest.importorskip("torch")
    printed, n_figures = run_example("time_series", {"n, hours = 600": "n, hours = 450"})
    assert re.search(r"IF .*heat", printed)
    assert float(re.search(r"held-out series: ([\d.]+)%", printed)[1]) > 80
    assert n_figures == 1


def test_an_expert_edits_rules_and_sees_who_is_concerned():
    printed, n_figures = run_example("expert_edits")
    assert "smokes ≠ now THEN follow up" in printed
    assert "did you mean smokes?" in printed
    assert int(re.search(r"(\d+) from discharge to follow up", printed)[1]) > 10
    assert printed.splitlines()[-1].startswith("True ")
    assert n_figures == 1


def test_two_rules_imitate_a_thousand_leaves_of_xgboost():
    pytest.importorskip("xgboost")
    printed, n_figures = run_example("xgboost_rules")
    assert int(re.search(r"([\d,]+) leaves", printed)[1].replace(",", "")) > 500
    assert float(re.search(r"rules decide as the model does on ([\d.]+)%", printed)[1]) > 95
    assert n_figures == 1


def test_rules_for_a_keras_model_name_the_categories_that_it_reads_as_codes():
    pytest.importorskip("keras")
    printed, n_figures = run_example("keras_categories")
    assert "destination ∈ {Bergen, Bolzano, Innsbruck, Sion} THEN late" in printed
    assert float(re.search(r"rules decide as the network does on ([\d.]+)%", printed)[1]) > 95
    assert "carrier van → rail (the network agrees)" in printed
    assert n_figures == 1


def test_the_promises_of_the_validation_report_are_kept():
    printed, n_figures = run_example("validation_report")
    assert "3,000 of the 3,000 rows of X are rows that the rules were learnt from" in printed
    assert "at least 97 % of such rows" in printed
    assert "9 of 9 intervals contain the true fraction" in printed
    assert n_figures == 1


def test_rules_from_a_folder_are_faithful_in_each_month(few_in_memory):
    pytest.importorskip("pyarrow")
    pytest.importorskip("polars")
    printed, n_figures = run_example("parquet_folder", {"n_of_month = 30_000": "n_of_month = 1_000"})
    assert "12 files, 12,000 rows" in printed
    assert float(re.search(r"fidelity to the network +([\d.]+) %", printed)[1]) > 93
    n_decided = [int(number) for number in re.findall(r"│ (?:hold|pay) +┆ (\d+) +│", printed)]
    assert len(n_decided) == 2
    assert sum(n_decided) == 12_000
    assert n_figures == 1
