"""Served, the Predict view asks the network itself, and the Edit view measures on all rows."""

import re
import warnings

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from clausewise import wrap
from clausewise.report import payload as payload_module
from clausewise.report.serve import Explorer
from tests.report import reports
from tests.report.conftest import WIDE, check_accessibility, view_tab


@pytest.fixture(scope="module")
def model():
    """A network that reads the table by the names of its columns, missing ages included."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer(
        [
            ("numbers", numbers, ["age", "income"]),
            ("job", OneHotEncoder(handle_unknown="ignore"), ["job"]),
        ]
    )
    made = make_pipeline(columns, MLPClassifier((8,), max_iter=300, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it need not be a good network
        return made.fit(reports.table(), reports.labels()[0])


@pytest.fixture(scope="module")
def explorer(model):
    data = reports.rules(), reports.table(), reports.labels()[0]
    with Explorer(*data, wrap(model), max_rows=100) as started:
        yield started


@pytest.fixture
def page(open_served, explorer):
    return open_served(explorer)


def test_the_network_answers_for_the_row_and_for_its_smallest_change(page, model):
    view_tab(page, "Predict")
    page.get_by_text("Paste or drop a row of CSV").click()
    page.get_by_label("A row of CSV").fill("55,1200,nurse,false")
    page.get_by_role("button", name="Use this row").click()
    page.locator(".flip-found:not(.is-waiting)").get_by_text("becomes").wait_for()
    row = reports.table(1).assign(age=[55.0], income=[1_200.0], job=["nurse"], smokes=[False])
    drawn = page.evaluate("Array.from(window.clausewise.store.table.numbers)")
    found = reports.rules().counterfactuals(row, reference=reports.table().iloc[drawn])
    expected = [model.predict(row)[0], model.predict(found.rows)[0]]
    page.locator(".recorded").get_by_text("with the smallest change").wait_for()
    assert page.locator(".recorded .chip").all_inner_texts() == expected
    check_accessibility(page)


def test_edits_are_measured_on_all_rows(page, model):
    view_tab(page, "Edit")
    page.get_by_role("grid", name="Rules to edit").get_by_role("row").nth(2).click()
    page.get_by_role("button", name="Delete the rule …").click()
    page.get_by_role("button", name="Delete rule 1").click()
    edited = reports.rules().remove(1)
    X, truth = reports.table(), reports.labels()[0]
    accuracy = np.mean(edited.predict(X) == truth)
    fidelity = np.mean(edited.predict(X) == model.predict(X))
    page.get_by_text("on all 400 rows", exact=True).wait_for()
    figures = page.get_by_label("On all 400 rows").locator("dd strong")
    figures.get_by_text(f"{100 * accuracy:.2f} %").wait_for()
    assert figures.all_inner_texts()[:2] == [f"{100 * fidelity:.2f} %", f"{100 * accuracy:.2f} %"]
    check_accessibility(page)


def test_it_says_so_when_the_server_is_gone(browser):
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    try:
        with Explorer(reports.rules(), reports.table()) as started:
            page.goto(started.url + "#view=edit")
            page.get_by_text("on all 400 rows", exact=True).wait_for()
        page.evaluate("() => window.clausewise.store.selectRule(0)")
        page.get_by_role("button", name="Delete the rule …").click()
        page.get_by_role("button", name="Delete rule 0").click()
        page.get_by_text("The server did not answer").wait_for()
    finally:
        context.close()


def assert_network_says(page, model, row):
    """Wait for the answer about this row: until it arrives, the page may show the one before."""
    label, share = model.predict(row)[0], f"{100 * model.predict_proba(row).max():.0f} %"
    said = page.locator(".recorded").filter(has_text=re.compile(rf"The network predicts\s*{label}\s*{share}"))
    said.wait_for()


def test_the_network_is_asked_about_rows_that_the_page_does_not_hold(browser, model, monkeypatch):
    """Values that are left out or have no code go to the network as they are in the data."""
    monkeypatch.setattr(payload_module, "MAX_UNTESTED_BYTES", 0)
    X = reports.table()
    unknown = int(np.flatnonzero(X["job"] == "diver")[0])
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    try:
        with Explorer(reports.rules()[:2], X, network=wrap(model), max_rows=None) as started:
            page.goto(started.url + "#view=predict")
            for number in (0, 1, 2, unknown):
                page.get_by_label("Row", exact=True).fill(str(number))
                page.get_by_label("Row", exact=True).press("Enter")
                row = X.iloc[[number]]
                assert_network_says(page, model, row)
            income = page.get_by_label("income", exact=True)
            assert income.get_attribute("placeholder") == "not in this report"
            assert page.get_by_label("smokes", exact=True).input_value() == "not in this report"
            page.get_by_label("age", exact=True).fill("33")
            page.get_by_label("age", exact=True).press("Enter")
            assert_network_says(page, model, row.assign(age=33.0))
            check_accessibility(page)
    finally:
        context.close()


def test_it_says_what_the_network_cannot_be_asked(page):
    view_tab(page, "Predict")
    page.get_by_label("job", exact=True).select_option("another, unknown category")
    page.get_by_text("The network cannot be asked: job is unknown category.").wait_for()


def test_an_answer_about_another_row_is_not_shown_while_the_network_is_asked(page):
    view_tab(page, "Predict")
    page.locator(".recorded").filter(has_text="The network predicts").wait_for()
    page.route("**/api/predict", lambda route: None)  # never answered
    page.get_by_label("age", exact=True).fill("33")
    page.get_by_label("age", exact=True).press("Enter")
    page.locator(".recorded").get_by_text("Asking the network …").wait_for()
    view_tab(page, "Edit")
    page.get_by_text("on all 400 rows", exact=True).wait_for()
    page.route("**/api/measures", lambda route: None)
    page.get_by_role("grid", name="Rules to edit").get_by_role("row").nth(2).click()
    page.get_by_role("button", name="Delete the rule …").click()
    page.get_by_role("button", name="Delete rule 1").click()
    page.get_by_text("Measuring on all 400 rows …").wait_for()
    assert page.get_by_label("On all 400 rows").count() == 0
