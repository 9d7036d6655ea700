"""The scripts in examples/ run and print what they promise; `test_demo.py` tests the demo."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest
from matplotlib import pyplot as plt
from tools import gallery

from tests.doc_blocks import ROOT


def test_boosted_c50_is_compared_on_four_tables():
    command = [sys.executable, "-X", "utf8", str(ROOT / "examples" / "boosted_c50.py"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()[2:]]
    assert {row[0] for row in rows} == {"breast cancer", "wine", "digits", "clinic"}
    assert {"C5.0 rules, one", "C5.0 rules, boosted", "C5.0 trees, boosted"} <= {row[1] for row in rows}
    assert all(50 < float(row[2].removesuffix(" %")) <= 100 for row in rows if row[0] != "digits")
    sizes = {(row[0], row[1]): int(row[3].split()[0].replace(",", "")) for row in rows}
    assert sizes["digits", "C5.0 rules, boosted"] > sizes["digits", "C5.0 rules, one"] > 5


def test_house_prices_are_explained_by_a_few_rules(tmp_path):
    command = [sys.executable, "-X", "utf8", str(ROOT / "examples" / "house_prices.py"), "--quick"]
    command += ["--page", str(tmp_path / "prices.html")]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True)
    assert "6 rules for price; start at" in done.stdout
    assert "with 3 linear terms" in done.stdout
    assert "6 rules" in (tmp_path / "prices.html").read_text(encoding="utf-8")
    assert float(done.stdout.rsplit("is ", 1)[1].rstrip(".\n")) > 0.9


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


def test_an_expert_edits_rules_and_sees_who_is_concerned():
    printed = [result.printed for result in gallery.run_cells(gallery.Example.read("expert_edits"))]
    assert "smokes ≠ now THEN follow up" in printed[0]
    assert any("did you mean smokes?" in text for text in printed)
    assert int(re.search(r"(\d+) from discharge to follow up", "".join(printed))[1]) > 10
    assert printed[-1].startswith("True ")


def test_two_rules_imitate_a_thousand_leaves_of_xgboost():
    pytest.importorskip("xgboost")
    results = gallery.run_cells(gallery.Example.read("xgboost_rules"))
    printed = "".join(result.printed for result in results)
    assert int(re.search(r"([\d,]+) leaves", printed)[1].replace(",", "")) > 500
    assert float(re.search(r"rules decide as the model does on ([\d.]+)%", printed)[1]) > 95
    assert sum(len(result.figures) for result in results) == 1


def test_rules_for_a_keras_model_name_the_categories_that_it_reads_as_codes():
    pytest.importorskip("keras")
    results = gallery.run_cells(gallery.Example.read("keras_categories"))
    printed = "".join(result.printed for result in results)
    assert "destination ∈ {Bergen, Bolzano, Innsbruck, Sion} THEN late" in printed
    assert float(re.search(r"rules decide as the network does on ([\d.]+)%", printed)[1]) > 95
    assert "carrier van → rail (the network agrees)" in printed
    assert sum(len(result.figures) for result in results) == 1


def test_the_promises_of_the_validation_report_are_kept():
    results = gallery.run_cells(gallery.Example.read("validation_report"))
    printed = "".join(result.printed for result in results)
    assert "3,000 of the 3,000 rows of X are rows that the rules were learnt from" in printed
    assert "at least 97 % of such rows" in printed
    assert "9 of 9 intervals contain the true fraction" in printed
    assert sum(len(result.figures) for result in results) == 1


def test_rules_from_a_folder_are_faithful_in_each_month():
    pytest.importorskip("pyarrow")
    pytest.importorskip("polars")
    example = gallery.Example.read("parquet_folder")
    assert "n_of_month = 30_000" in example.cells[0].text
    fewer = replace(example.cells[0], text=example.cells[0].text.replace("30_000", "11_000"))
    results = gallery.run_cells(replace(example, cells=(fewer, *example.cells[1:])))
    printed = "".join(result.printed for result in results)
    assert "12 files, 132,000 rows" in printed  # more than are gathered into one table
    assert float(re.search(r"fidelity to the network +([\d.]+) %", printed)[1]) > 93
    n_decided = [int(number) for number in re.findall(r"│ (?:hold|pay) +┆ (\d+) +│", printed)]
    assert len(n_decided) == 2
    assert sum(n_decided) == 132_000
    assert sum(len(result.figures) for result in results) == 1
