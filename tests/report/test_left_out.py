"""Columns that a report left out: the page states that what depends on them is unknown."""

import numpy as np
import pytest

from clausewise.report import payload as payload_module
from tests.report import number_reports, reports
from tests.report.conftest import check_accessibility, view_tab

WHY = "the report has no values for income"


@pytest.fixture
def page(open_report, tmp_path, monkeypatch):
    """A report whose rules test age and job, without the values of income and smokes; one rule is added."""
    monkeypatch.setattr(payload_module, "MAX_UNTESTED_BYTES", 0)
    truth, network = reports.labels()
    reports.rules()[:2].report(tmp_path / "r.html", reports.table(), truth, network)
    opened = open_report(tmp_path / "r.html")
    view_tab(opened, "Edit")
    opened.get_by_role("button", name="New rule", exact=True).click()
    opened.get_by_label("In the rule language").fill("IF income <= 1e9 THEN yes")
    return opened


def test_the_effect_of_an_edit_on_a_column_left_out_is_not_known(page):
    preview = page.locator(".preview")
    assert preview.inner_text() == f"The effect of this edit is not known here: {WHY}."
    page.get_by_role("button", name="Add", exact=True).click()
    effects = page.get_by_label("Effect of all edits")
    assert f"Not known here: {WHY}" in effects.inner_text()
    assert "unchanged" not in effects.inner_text()
    check_accessibility(page)


def test_no_view_counts_rows_of_a_rule_on_a_column_left_out(page):
    page.get_by_role("button", name="Add", exact=True).click()
    page.evaluate("() => { window.clausewise.store.address.param('rules.as').value = 'table'; }")
    view_tab(page, "Rules")
    assert f"not known here: {WHY}" in page.get_by_label("Selection", exact=True).inner_text()
    assert page.get_by_role("button", name="Show its rows").count() == 0
    cells = page.get_by_role("grid", name="Rules").get_by_role("row").nth(3).get_by_role("gridcell")
    assert "not known" in cells.all_inner_texts()
    page.get_by_role("button", name="Matrix").click()
    line = page.get_by_role("row").filter(has=page.get_by_label("Tick rule 2"))
    assert line.get_by_role("gridcell").first.inner_text() == "not known"
    view_tab(page, "Structure")
    assert page.get_by_role("treeitem").filter(has_text="income").get_by_text("not known").count() == 1
    view_tab(page, "Where they differ")
    assert "is not known here" in page.locator(".toolbar").inner_text()
    assert "They agree on" not in page.locator(".toolbar").inner_text()
    page.evaluate("() => { window.clausewise.store.address.param('overview.sizes').value = '1'; }")
    view_tab(page, "Overview")
    assert "is not known here" in page.locator(".headline").inner_text()
    figures = page.get_by_label("Figures").inner_text()
    assert "not known here" in figures
    assert "Fidelity" not in figures


def test_rules_on_columns_that_are_there_are_counted_as_before(page):
    drawn = page.evaluate("Array.from(window.clausewise.store.table.numbers)")
    covered = int(np.sum(~reports.rules()[:1].uncovered(reports.table().iloc[drawn])))
    view_tab(page, "Rules")
    page.evaluate("() => window.clausewise.store.selectRule(0)")
    assert f"{covered} rows" in page.get_by_label("Selection", exact=True).inner_text()


def test_what_rules_for_numbers_predict_from_a_column_left_out_is_not_known(
    open_report, tmp_path, monkeypatch
):
    monkeypatch.setattr(payload_module, "MAX_UNTESTED_BYTES", 0)
    rules = number_reports.rules()[:2]
    rules.report(tmp_path / "r.html", number_reports.table(), network=number_reports.numbers()[1])
    page = open_report(tmp_path / "r.html")
    view_tab(page, "Edit")
    page.get_by_role("button", name="New rule", exact=True).click()
    page.get_by_label("In the rule language").fill("IF constructor <= 12 THEN ADD 1")
    why = "the report has no values for constructor"
    page.get_by_text(f"The effect of this edit is not known here: {why}.").wait_for()
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_text(f"Not known here: {why}").wait_for()
    view_tab(page, "Overview")
    assert page.locator(".headline").inner_text().endswith(f"what they predict is not known here: {why}.")
    assert page.get_by_role("tab", name="Where they differ").count() == 0
    assert page.locator(".signed-rules").first.get_by_text("not known").count() == 1
    view_tab(page, "Predict")
    assert (
        "the report has no value for constructor, so it counts as missing"
        in page.locator(".verdict").inner_text()
    )
    check_accessibility(page)
