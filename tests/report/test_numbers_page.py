"""The page of rules for numbers in Chromium: the predictions of Python, and each view as a person uses it."""

import csv
import io
import json
import re

import numpy as np
import pytest

from clausewise import RegressionRules
from clausewise.io.json import dumps
from tests.report import number_reports
from tests.report.conftest import NARROW, WIDE, check_accessibility, go, rows_in, view_tab

VIEWS = (
    "Overview",
    "Rules",
    "Structure",
    "Predict",
    "Where they differ",
    "Origin",
    "Edit",
    "Compare",
)


@pytest.fixture
def page(number_page):
    return number_page


# --- The same as Python ---


def test_predictions_are_those_of_python_bit_for_bit(page):
    expected = number_reports.rules().predict(number_reports.table())[rows_in(page)].tolist()
    assert page.evaluate("window.clausewise.tools.predictions()") == expected
    assert page.evaluate("window.clausewise.tools.rowByRow()") == expected


def test_sums_of_random_rules_are_those_of_python_bit_for_bit(page):
    rng = np.random.default_rng(0)
    matrix = number_reports.features().encode(number_reports.table(40, seed=5)).astype(np.float64)
    matrix[:2, 0] = [np.inf, -1e300]
    sets = [number_reports.random_rules(rng, link) for link in ("identity",) * 50 + ("log",) * 10]
    found = page.evaluate(
        "([files, rows]) => files.map(file => window.clausewise.tools.predictWith(file, rows, true))",
        [[json.loads(dumps(rules)) for rules in sets], matrix.tolist()],
    )
    assert found == [rules.sums_of(matrix).tolist() for rules in sets]


def test_the_exponential_of_a_sum_differs_in_the_last_digit_at_most(page):
    rules = number_reports.rules(link="log")
    matrix = number_reports.features().encode(number_reports.table(40))
    found = page.evaluate(
        "([file, rows]) => window.clausewise.tools.predictWith(file, rows)",
        [json.loads(dumps(rules)), matrix.astype(np.float64).tolist()],
    )
    expected = rules.predict(number_reports.table(40))
    assert (np.abs(np.array(found) - expected) <= 2 * np.spacing(expected)).all()


def test_the_curve_of_a_feature_is_what_python_predicts_along_it(page):
    rules = number_reports.rules()
    parts = page.evaluate("window.clausewise.tools.curve([3, 40, 0, 1], 0, 0, 16)")
    # Bounds of rules on income, and the ends of its linear term.
    assert [part["to"] for part in parts] == [0.5, 2, 5.1, 15, 16]

    def predicted(income):
        row = {"income": income, "constructor": 40, "place": "bay", "old": True}
        return rules.predict([row])[0]

    for part in parts:
        assert part["end"] == predicted(part["to"])
        assert part["start"] == pytest.approx(predicted(part["from"] + 1e-9), abs=1e-8)


# --- Views ---


def test_the_overview_says_how_good_the_rules_are(page):
    truth, network = number_reports.numbers()
    measured = number_reports.rules().evaluate(number_reports.table(), truth, network=network)
    headline = page.locator(".headline")
    expected = f"5 rules and 1 coefficient explain {100 * measured.to_network.r_squared:.0f} %"
    assert expected in headline.inner_text()
    assert "on 300 rows" in headline.inner_text()
    page.get_by_role("button", name="the truth", exact=True).click()
    assert f"explain {100 * measured.to_truth.r_squared:.0f} %" in headline.inner_text()
    assert "true numbers" in headline.inner_text()


def test_the_overview_draws_rows_errors_rules_and_sizes(page):
    assert "for 200 rows" in page.locator("section[aria-labelledby=parity] svg").get_attribute("aria-label")
    assert "98 % of 200 rows" in page.locator("section[aria-labelledby=errors] svg").get_attribute(
        "aria-label"
    )
    assert "◆ this rule set: 5 rules" in page.locator("section[aria-labelledby=frontier]").inner_text()
    assert (
        "+0.21 × income (0.5 to 15; 3.5 if missing)"
        in page.locator("section[aria-labelledby=linear]").inner_text()
    )
    listed = page.locator("section[aria-labelledby=strongest] li")
    assert listed.count() == 5
    # A chosen name is shown; a class of rows lights up when its rule is selected.
    chosen = listed.filter(has_text="≠ the valley")
    assert "2 < income ≤ 5.1 AND place ≠ the valley" in chosen.inner_text()
    chosen.get_by_role("button").click()
    assert page.get_by_label("Selection", exact=True).get_by_role("heading", level=2).inner_text() == "Rule 4"
    n_lit = page.locator(".parity-dots.is-lit").get_attribute("d").count("M")
    term = number_reports.table().iloc[rows_in(page)]
    holds = (term.income > 2) & (term.income <= 5.1) & term.place.isin(["bay", "__proto__"])
    assert n_lit == holds.sum()


def test_rules_are_sorted_filtered_and_selected(page):
    view_tab(page, "Rules")
    grid = page.get_by_role("grid", name="Rules")

    def additions():
        return [row.get_by_role("gridcell").nth(1).inner_text() for row in grid.get_by_role("row").all()[1:]]

    assert additions() == ["+0.74", "−0.58", "+0.15", "+0.33", "+0.3"]
    grid.get_by_role("button", name="Adds").click()
    assert additions() == ["+0.74", "+0.33", "+0.3", "+0.15", "−0.58"]
    page.get_by_label("Search").fill("missing")
    assert additions() == ["+0.33"]
    page.get_by_label("Search").fill("")
    page.get_by_label("Feature").select_option("place")
    assert additions() == ["+0.3", "−0.58"]
    page.wait_for_url(re.compile("rules.feature=2"))
    grid.focus()
    page.keyboard.press("ArrowDown")
    selection = page.get_by_label("Selection", exact=True)
    assert "held on\n90 rows" in selection.inner_text()
    assert "1 to 3" in selection.inner_text()


def test_predict_adds_up_the_row_as_explain_does(page):
    view_tab(page, "Predict")
    first = rows_in(page)[0]
    row = number_reports.table().iloc[[first]]
    verdict, steps = page.locator(".verdict"), page.locator(".waterfall .fall-step")
    assert f"price: {number_reports.rules().predict(row)[0]:.15g}" in verdict.inner_text()
    for name, value in (("income", "6"), ("constructor", "10")):
        page.get_by_label(name, exact=True).fill(value)
        page.get_by_label(name, exact=True).press("Enter")
    page.get_by_label("old", exact=True).select_option("1")
    page.get_by_label("place", exact=True).select_option(label="the valley → 3.19")
    assert "price: 3.19" in verdict.inner_text()
    assert [step.locator(".number").last.inner_text() for step in steps.all()] == [
        "1.62", "+0.74", "−0.58", "+0.15", "+1.26", "3.19",
    ]  # fmt: skip
    page.wait_for_url(re.compile("predict.set="))
    assert "+0.33 if constructor is missing" in page.locator(".predict-answer").inner_text()
    page.locator(".field").filter(has_text="constructor").get_by_role("button", name="set missing").click()
    row = {"income": 6, "constructor": None, "place": "valley", "old": True}
    assert f"price: {number_reports.rules().predict([row])[0]:.15g}" in verdict.inner_text()
    page.get_by_label("income, slider").focus()
    page.keyboard.press("Home")
    assert float(page.get_by_label("income", exact=True).input_value()) < 1
    page.get_by_role("button", name="Undo 4 changes").click()
    assert "Here the network says" in verdict.inner_text()


def test_rows_that_are_furthest_off_come_first_and_can_be_saved(page):
    view_tab(page, "Where they differ")
    truth, network = number_reports.numbers()
    predicted = number_reports.rules().predict(number_reports.table())
    shown = np.array(rows_in(page))
    order = shown[np.argsort(-np.abs(predicted - network)[shown], kind="stable")]
    cells = page.get_by_role("grid", name="Rows").get_by_role("row").nth(1).get_by_role("gridcell")
    assert cells.first.inner_text() == str(order[0])
    assert page.locator("figure.multiple").count() == 4
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    lines = list(csv.DictReader(io.StringIO(saved.value.path().read_text(encoding="utf-8"))))
    assert [int(line["row"]) for line in lines] == order.tolist()
    assert [float(line["rules"]) for line in lines] == predicted[order].tolist()
    assert [float(line["truth"]) for line in lines] == truth[order].tolist()
    cells.first.click()
    page.get_by_role("button", name="Open it in Predict").click()
    assert page.get_by_label("Row", exact=True).input_value() == str(order[0])


def test_edits_are_undone_and_saved_as_a_rule_file(page, tmp_path):
    go(page, "view=rules&sel=rule.1")
    field = page.get_by_label("Addition of rule 1")
    field.fill("-0.5")
    field.press("Enter")
    assert "was −0.58" in page.get_by_label("Selection", exact=True).inner_text()
    edited = number_reports.rules().reweight(1, addition=-0.5)
    shown = number_reports.table().iloc[rows_in(page)]
    network = number_reports.numbers()[1][rows_in(page)]
    parts = [rules.evaluate(shown, network=network).to_network for rules in (number_reports.rules(), edited)]
    effect = page.get_by_label("Effect of all edits").locator("div").first.inner_text()
    assert re.findall(r"[\d.]+ %", effect) == [f"{100 * part.r_squared:.2f} %" for part in parts]
    field.fill("much")
    field.press("Enter")
    assert "Write a number" in page.get_by_label("Selection", exact=True).inner_text()
    go(page, "view=rules&sel=rule.2")
    page.get_by_role("button", name="Delete this rule").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save rules").click()
    path = tmp_path / "rules.json"
    saved.value.save_as(path)
    expected = number_reports.rules().reweight(1, addition=-0.5).remove(2)
    loaded = RegressionRules.load(path)
    assert loaded == expected
    assert loaded.changes == expected.changes
    assert path.read_text(encoding="utf-8") == dumps(expected)
    assert (
        page.evaluate("window.clausewise.tools.predictions()")
        == expected.predict(number_reports.table())[rows_in(page)].tolist()
    )
    with page.expect_download() as saved_page:
        page.get_by_role("button", name="Save page").click()
    again = saved_page.value.path().read_text(encoding="utf-8")
    payload = json.loads(again.split('id="clausewise-payload">')[1].split("</script>")[0])
    assert json.dumps(payload["edits"]["rules"]) == json.dumps(json.loads(dumps(expected)))
    assert payload["edits"]["ids"] == [0, 1, 3, 4]
    # A reload shows the edits again: the browser kept them.
    page.wait_for_timeout(250)
    page.reload()
    page.wait_for_selector("[role=tabpanel]")
    assert json.dumps(page.evaluate("window.clausewise.tools.ruleFile()")) == json.dumps(
        json.loads(dumps(expected))
    )
    go(page, "view=overview")
    assert "4 rules" in page.locator(".headline").inner_text()
    assert "on 200 rows in this page" in page.locator(".headline").inner_text()
    page.locator("h1").click()
    page.keyboard.press("Control+z")
    assert page.locator(".badge", has_text="original").is_visible()


def test_what_is_printed_has_all_rules(page):
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    sheet = page.locator(".print-sheet").text_content()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert "Start at 1.62" in sheet
    assert len(re.findall(r"[+−][\d.]+ if ", sheet)) == 5


@pytest.mark.parametrize(("theme", "viewport"), [("light", WIDE), ("dark", NARROW), ("dark", WIDE)])
def test_every_view_is_accessible_and_fits_its_window(page, theme, viewport):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    for name in VIEWS:
        go(page, "sel=row.0" if name == "Where they differ" else "sel=rule.4")
        view_tab(page, name)
        check_accessibility(page)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= viewport["width"], name
    page.set_viewport_size(WIDE)


def test_rules_alone_make_a_page_too(tmp_path, open_report):
    path = tmp_path / "bare.html"
    number_reports.rules(response=None).report(path)
    page = open_report(path)
    assert (
        page.locator(".headline")
        .inner_text()
        .startswith("5 rules and 1 coefficient for a number: start at 1.62")
    )
    without_rows = [name for name in VIEWS if name != "Where they differ"]
    assert [tab.inner_text() for tab in page.get_by_role("tab").all()] == without_rows
    view_tab(page, "Predict")
    assert page.locator(".field").count() == 4
    view_tab(page, "Rules")
    check_accessibility(page)
