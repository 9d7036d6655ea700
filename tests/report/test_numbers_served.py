"""Served, the page of rules for numbers asks the network itself, and measures edits on all rows."""

import re

import pytest

from clausewise.report import Explorer
from tests.report import number_reports
from tests.report.conftest import NARROW, WIDE, check_accessibility, view_tab

RULES, TABLE = number_reports.rules(), number_reports.table()
TRUTH, NUMBERS = number_reports.numbers()


@pytest.fixture(scope="module")
def model():
    return number_reports.model()


@pytest.fixture(scope="module")
def explorer(model):
    with Explorer(RULES, TABLE, TRUTH, model, max_rows=100) as started:
        yield started


@pytest.fixture
def page(open_served, explorer):
    return open_served(explorer)


def wait_for_network(page, model, row):
    """Wait until the page shows the network's number for a row, and by how much the rules differ."""
    number = model.predict(row)[0]
    difference = RULES.predict(row)[0] - number
    said = rf"The network says\s*{number:.4g}\s*: the rules say {abs(difference):.3g} "
    said += "more" if difference > 0 else "less"
    page.locator(".verdict").filter(has_text=re.compile(said)).wait_for()


def test_the_network_answers_for_any_row(page, model):
    view_tab(page, "Predict")
    row = TABLE.iloc[[int(page.get_by_label("Row", exact=True).input_value())]]
    wait_for_network(page, model, row)
    income = page.get_by_label("income", exact=True)
    income.fill("7.25")
    income.press("Enter")
    wait_for_network(page, model, row.assign(income=7.25))
    page.get_by_label("place", exact=True).select_option(index=1)
    wait_for_network(page, model, row.assign(income=7.25, place="valley"))
    check_accessibility(page)
    page.set_viewport_size(NARROW)
    page.emulate_media(color_scheme="dark")
    check_accessibility(page)
    page.get_by_label("place", exact=True).select_option("another, unknown category")
    page.get_by_text("The network cannot be asked: place is unknown category.").wait_for()


def test_edits_are_measured_on_all_rows(page, model):
    view_tab(page, "Edit")
    page.get_by_text("on all 300 rows", exact=True).wait_for()
    page.get_by_role("grid", name="Rules to edit").get_by_role("row").nth(2).click()
    page.get_by_role("button", name="Delete the rule …").click()
    page.get_by_role("button", name="Delete rule 1").click()
    expected = RULES.remove(1).evaluate(TABLE, TRUTH, network=model)
    figures = page.get_by_label("On all 300 rows").locator("dd strong")
    figures.get_by_text(f"{100 * expected.to_network.r_squared:.2f} %").wait_for()
    assert figures.all_inner_texts() == [
        f"{100 * expected.to_network.r_squared:.2f} %",
        f"{expected.to_network.mean_absolute:.3g}",
        f"{100 * expected.to_truth.r_squared:.2f} %",
        f"{expected.to_truth.mean_absolute:.3g}",
    ]
    check_accessibility(page)


def test_an_answer_about_another_row_is_not_shown_while_the_network_is_asked(page):
    view_tab(page, "Predict")
    page.locator(".verdict").filter(has_text="The network says").wait_for()
    page.route("**/api/predict", lambda route: None)  # never answered
    page.get_by_label("income", exact=True).fill("3")
    page.get_by_label("income", exact=True).press("Enter")
    page.get_by_text("Asking the network …").wait_for()
    assert page.locator(".verdict").filter(has_text="The network says").count() == 0


def test_it_says_so_when_the_server_is_gone(browser):
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    try:
        with Explorer(RULES, TABLE, network=NUMBERS) as started:
            page.goto(started.url + "#view=edit")
            page.get_by_text("on all 300 rows", exact=True).wait_for()
        page.evaluate("() => window.clausewise.store.remove([0], '')")
        page.get_by_text("The server did not answer").wait_for()
    finally:
        context.close()
