"""The Predict view: any row, by slider, choice, text or CSV, and why it is decided so."""

import math
import re

import pytest

from tests.report import reports
from tests.report.conftest import NARROW, WIDE, check_accessibility, view_tab


def first_row():
    return {"age": 25.0, "income": 900.0, "job": "nurse", "smokes": False}


def asked(row):
    """What Python says of one row, given by name."""
    return reports.table(1).assign(**{name: [value] for name, value in row.items()})


def verdict(page):
    return page.locator(".verdict .chip").inner_text()


def paste(page, text):
    if not page.get_by_label("A row of CSV").is_visible():
        page.get_by_text("Paste or drop a row of CSV").click()
    page.get_by_label("A row of CSV").fill(text)
    page.get_by_role("button", name="Take this row").click()


def enter(page, label, value):
    field = page.get_by_label(label, exact=True)
    field.fill(value)
    field.press("Enter")


@pytest.fixture
def page(small_report, open_report):
    opened = open_report(small_report)
    view_tab(opened, "Predict")
    return opened


def test_rows_of_the_report_are_decided_as_python_decides_them(page):
    rules, X = reports.rules(), reports.table()
    truth, network = reports.labels()
    for _ in range(6):
        number = int(page.get_by_label("Row", exact=True).input_value())
        assert verdict(page) == rules.predict(X.iloc[[number]])[0]
        said = page.locator(".recorded .chip")
        assert [said.nth(i).inner_text() for i in (0, 1)] == [network[number], truth[number]]
        page.get_by_role("button", name="Next row").click()
    enter(page, "Row", str(number))
    assert page.get_by_label("Row", exact=True).input_value() == str(number)


def test_values_are_changed_by_number_slider_and_choice(page):
    rules = reports.rules()
    row = {"age": 64.0, "income": 2_500.0, "job": "pilot", "smokes": True}
    enter(page, "age", "64")
    enter(page, "income", "2500")
    page.get_by_label("job", exact=True).select_option(
        label=next(iter(page.get_by_label("job").locator("option", has_text="pilot").all_inner_texts()))
    )
    page.get_by_label("smokes", exact=True).select_option("1")
    assert verdict(page) == rules.predict(asked(row))[0]
    slider = page.get_by_label("age, slider")
    slider.focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    row["age"] = float(page.get_by_label("age", exact=True).input_value())
    assert row["age"] == 72
    assert verdict(page) == rules.predict(asked(row))[0]
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 12, box["y"] + box["height"] / 2)
    row["age"] = float(page.get_by_label("age", exact=True).input_value())
    assert row["age"] < 25
    assert verdict(page) == rules.predict(asked(row))[0]
    enter(page, "age", "")
    assert verdict(page) == rules.predict(asked(row | {"age": math.nan}))[0]
    enter(page, "age", "old")
    assert page.get_by_label("age", exact=True).input_value() == ""
    page.get_by_role("button", name=re.compile(r"Undo \d changes")).click()
    assert page.locator(".field.is-changed").count() == 0


def test_a_csv_row_is_pasted_with_and_without_names(page):
    rules = reports.rules()
    paste(page, "25;900;nurse;false")
    assert verdict(page) == rules.predict(asked(first_row()))[0]
    paste(page, 'smokes,job,id,age\n1,"pilot",7,64\n0,cook,8,20')
    expected = {"age": 64.0, "income": math.nan, "job": "pilot", "smokes": True}
    assert verdict(page) == rules.predict(asked(expected))[0]
    notice = page.locator(".paste [role=status]")
    assert (
        notice.inner_text()
        == "Row taken. Note: 1 further row not read; income not given, so missing; id ignored."
    )
    paste(page, "25,900,nurse")
    assert "has 3 values, the rules know 4 features" in notice.inner_text()
    paste(page, "old,900,nurse,true")
    assert notice.inner_text() == 'age is "old"; expected a number or nothing.'
    paste(page, "25,900,diver,maybe")
    assert notice.inner_text() == 'smokes is "maybe"; expected true, false, 0, 1 or nothing.'
    paste(page, "")
    assert "There is no row" in notice.inner_text()


def test_a_csv_file_is_dropped(page):
    data = page.evaluate_handle(
        """() => { const data = new DataTransfer();
        data.items.add(new File(['age,income,job,smokes\\n64,2500,pilot,true\\n'], 'row.csv'));
        return data; }"""
    )
    page.locator(".predict").dispatch_event("drop", {"dataTransfer": data})
    page.wait_for_function("() => document.querySelectorAll('.field.is-changed').length > 0")
    assert page.get_by_label("age", exact=True).input_value() == "64"
    row = {"age": 64.0, "income": 2_500.0, "job": "pilot", "smokes": True}
    assert verdict(page) == reports.rules().predict(asked(row))[0]


def test_it_says_which_rules_fired_and_which_nearly_did(page):
    paste(page, "25,900,nurse,false")
    (why,) = reports.rules().explain(asked(first_row()))
    answer = page.get_by_label("Answer")
    assert answer.get_by_role("heading", name=f"{len(why.fired)} rules fired").count() == 1
    assert answer.get_by_role("heading", name=f"{len(why.near_misses)} near misses").count() == 1
    shown = [item.inner_text() for item in answer.locator(".rule-buttons").nth(0).get_by_role("button").all()]
    order = sorted(why.fired, key=lambda one: (one.rule.conclusion != why.prediction, -one.votes))
    assert [int(text.split()[0]) for text in shown] == [one.number for one in order]
    missed = [
        item.inner_text() for item in answer.locator(".rule-buttons").nth(1).get_by_role("button").all()
    ]
    assert sorted(int(text.split()[0]) for text in missed) == [miss.number for miss in why.near_misses]
    assert "but not 30 < age ≤ 60: it is 25" in missed[0] + missed[1] + missed[2]
    answer.locator(".rule-buttons").nth(0).get_by_role("button").first.click()
    assert (
        page.get_by_role("complementary").get_by_role("heading", level=2).inner_text()
        == f"Rule {order[0].number}"
    )


def test_the_smallest_change_flips_the_decision_here_and_in_python(page):
    rules = reports.rules()
    paste(page, "25,900,nurse,false")
    drawn = page.evaluate("Array.from(window.clausewise.store.table.numbers)")
    reference = reports.table().iloc[drawn]
    for to in (None, "perhaps"):
        page.get_by_role("combobox", name="To").select_option(
            "" if to is None else str(rules.labels.index(to))
        )
        (found,) = rules.counterfactuals(asked(first_row()), to=to, reference=reference)
        shown = page.locator(".flip-found:not(.is-waiting)")
        shown.get_by_text(f"becomes {found.becomes}").wait_for()
        assert f"distance {found.distance:.4g} standard deviations" in shown.inner_text()
        for change in found.changes:
            assert change.feature in shown.inner_text()
    page.get_by_role("button", name="Make this change").press("Enter")
    assert verdict(page) == "perhaps"
    page.locator(".flip-found").get_by_text("None needed").wait_for()


def test_the_address_brings_the_row_back(page, small_report, open_report):
    paste(page, "25,,diver,false")
    page.wait_for_function("() => location.hash.includes('predict.set')")
    again = open_report(small_report, fragment=page.evaluate("location.hash"))
    assert again.get_by_label("age", exact=True).input_value() == "25"
    assert again.get_by_label("income", exact=True).input_value() == ""
    assert again.get_by_label("job", exact=True).input_value() == "3"
    assert verdict(again) == verdict(page)


def test_values_set_by_hand_come_back_with_the_browser(page):
    enter(page, "age", "77")
    page.get_by_role("button", name="Next row").click()
    assert page.get_by_label("age", exact=True).input_value() != "77"
    page.go_back()
    page.wait_for_function("() => location.hash.includes('predict.set=0')")
    assert page.get_by_label("age", exact=True).input_value() == "77"


def test_rules_without_rows_start_from_a_typical_row(bare_report, open_report):
    page = open_report(bare_report, fragment="#view=predict")
    enter(page, "age", "25")
    enter(page, "income", "900")
    page.get_by_label("job", exact=True).select_option("1")
    page.get_by_label("smokes", exact=True).select_option("0")
    assert verdict(page) == reports.rules().predict(asked(first_row()))[0]
    (found,) = reports.rules().counterfactuals(asked(first_row()))
    page.locator(".flip-found").get_by_text(f"becomes {found.becomes}").wait_for()
    assert f"distance {found.distance:.4g} of the range" in page.locator(".flip-found").inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_form_is_accessible_and_fits(small_report, open_report, theme, viewport):
    page = open_report(small_report, fragment="#view=predict&sel=row.3", viewport=viewport, theme=theme)
    enter(page, "age", "41")
    paste(page, "nonsense")
    page.locator(".flip-found:not(.is-waiting)").wait_for()
    check_accessibility(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
