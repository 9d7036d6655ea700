"""The Predict view: any row, by slider, choice, text or CSV, and the reasons for its decision."""

import math
import re

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from clausewise import Features, Rule, RuleSet, Term
from tests.report import reports
from tests.report.conftest import NARROW, WIDE, check_accessibility, settled_address, view_tab


def first_row():
    return {"age": 25.0, "income": 900.0, "job": "nurse", "smokes": False}


def asked(row):
    """Python's prediction for one row, given by name."""
    return reports.table(1).assign(**{name: [value] for name, value in row.items()})


def verdict(page):
    return page.locator(".verdict .chip").inner_text()


def paste(page, text):
    if not page.get_by_label("A row of CSV").is_visible():
        page.get_by_text("Paste or drop a row of CSV").click()
    page.get_by_label("A row of CSV").fill(text)
    page.get_by_role("button", name="Use this row").click()


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
        == "Row loaded. Note: 1 further row not read; income not given, taken as missing; id ignored."
    )
    paste(page, "25,900,nurse")
    assert "has 3 values, the rules have 4 features" in notice.inner_text()
    paste(page, "old,900,nurse,true")
    assert notice.inner_text() == 'age is "old"; expected a number or an empty cell.'
    paste(page, "25,900,diver,maybe")
    assert notice.inner_text() == 'smokes is "maybe"; expected true, false, 0, 1 or an empty cell.'
    paste(page, "")
    assert "There is no row" in notice.inner_text()


def test_a_category_that_the_rules_do_not_know_is_named(page):
    paste(page, "25,900,diver,true")
    notice = page.locator(".paste [role=status]")
    assert notice.inner_text() == 'Row loaded. Note: job is "diver", a category unknown to the rules.'
    paste(page, "25,900,nurse,true")
    assert notice.inner_text() == "Row loaded."


def test_boolean_categories_are_read_as_people_write_them(open_report, tmp_path):
    features = Features(("flag", "x"), ("categorical", "numeric"), ((False, True), None))
    rules = RuleSet.from_rules([Rule((Term(1, high=0),), "a")], features, default="b", classes=["a", "b"])
    rules.report(tmp_path / "r.html")
    page = open_report(tmp_path / "r.html", fragment="#view=predict")
    cells = {"True": "1", "true": "1", "1": "1", "FALSE": "0", "0": "0", "2": "2", "": "NaN"}
    for cell, code in cells.items():
        paste(page, f"{cell},1")
        assert page.get_by_label("flag", exact=True).input_value() == code


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
    assert answer.get_by_role("heading", name=f"{len(why.near_misses)} near misses").count() == 1
    votes = answer.get_by_label("Votes")
    shown = [item.inner_text() for item in votes.get_by_role("button").all()]
    order = sorted(why.fired, key=lambda one: (one.rule.conclusion != why.prediction, -one.votes))
    assert [int(text.split()[0]) for text in shown] == [one.number for one in order]
    missed = [item.inner_text() for item in answer.locator(".rule-buttons").get_by_role("button").all()]
    assert sorted(int(text.split()[0]) for text in missed) == [miss.number for miss in why.near_misses]
    assert "but not 30 < age ≤ 60: it is 25" in missed[0] + missed[1] + missed[2]
    votes.get_by_role("button").first.click()
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
        assert shown.locator("li").count() == len(found.changes)
        units = {name: reference[name].std(ddof=0) for name in ("age", "income")}
        for change, line in zip(found.changes, shown.locator("li").all_inner_texts(), strict=True):
            assert line.startswith(change.feature)
            if change.feature in units:
                distance = abs(change.after - change.before) / units[change.feature]
                assert f"({distance:.4g} standard deviations)" in line
            else:
                assert "(another value)" in line
    page.get_by_role("button", name="Make this change").press("Enter")
    assert verdict(page) == "perhaps"
    page.locator(".flip-found").get_by_text("None needed").wait_for()


def test_the_address_brings_the_row_back(page, small_report, open_report):
    paste(page, "25,,diver,false")
    address = settled_address(page)
    assert "predict.set" in address
    again = open_report(small_report, fragment=address)
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
    numbers = [change for change in found.changes if change.feature in ("age", "income")]
    assert page.locator(".flip-found").inner_text().count("of the range of thresholds") == len(numbers)


@pytest.mark.parametrize(("viewport", "theme"), [(WIDE, "light"), (NARROW, "dark")], ids=["wide", "narrow"])
def test_the_form_is_accessible_and_fits(small_report, open_report, theme, viewport):
    page = open_report(small_report, fragment="#view=predict&sel=row.3", viewport=viewport, theme=theme)
    enter(page, "age", "41")
    paste(page, "nonsense")
    page.locator(".flip-found:not(.is-waiting)").wait_for()
    check_accessibility(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_no_probability_is_shown_of_a_label_that_the_rules_do_not_know(open_report, tmp_path):
    X = np.linspace(-3, 3, 30)[:, None]
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-1, 1])]
    model = MLPClassifier((8,), solver="lbfgs", random_state=0).fit(X, y)
    rules = RuleSet.from_rules([Rule((Term(0, high=0),), "a")], ["x"], default="b", classes=["a", "b"])
    rules.report(tmp_path / "r.html", X, network=model)
    page = open_report(tmp_path / "r.html", fragment="#view=predict")
    for row, label, has_share in ((0, "a", True), (29, "c", False)):
        enter(page, "Row", str(row))
        assert page.locator(".recorded .chip").inner_text() == label
        assert ("%" in page.locator(".recorded").inner_text()) == has_share


def slider_report(tmp_path, column):
    rules = RuleSet.from_rules([Rule((Term(0, high=0),), "a")], ["x"], default="b", classes=["a", "b"])
    rules.report(tmp_path / "r.html", np.asarray(column, dtype=float)[:, None])
    return tmp_path / "r.html"


@pytest.mark.parametrize(
    ("column", "typed"),
    [
        (
            [0, 1, 2, 3, 5],
            [("Home", 0), ("Home ArrowRight", 1), ("Home ArrowRight ArrowRight ArrowLeft", 1), ("End", 5)],
        ),
        ([7, 7, 7], [("ArrowRight", 7)]),
        ([48.85, 48.86], [("Home ArrowRight", 48.85005), ("End", 48.86)]),
        ([-1e308, 1e308], [("End", 1e308), ("Home ArrowRight", -0.99e308)]),
    ],
)
def test_the_slider_reaches_the_values_of_its_range(column, typed, open_report, tmp_path):
    page = open_report(slider_report(tmp_path, column), fragment="#view=predict")
    slider = page.get_by_label("x, slider")
    for keys, expected in typed:
        for key in keys.split():
            slider.press(key)
        assert float(slider.get_attribute("aria-valuetext")) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("column", [[0, 1, 2, 3, 5], [7, 7, 7], [0.5, 1.25, 2]])
def test_the_thumb_of_the_slider_stands_where_the_value_is_marked(column, open_report, tmp_path):
    page = open_report(slider_report(tmp_path, column), fragment="#view=predict")
    for value in column:
        enter(page, "x", str(value))
        thumb = page.get_by_label("x, slider").evaluate(
            """input => { const box = input.getBoundingClientRect();
            const part = input.max === '0' ? 0 : Number(input.value) / Number(input.max);
            return box.left + 8 + part * (box.width - 16); }"""
        )
        mark = page.locator(".slider-place").bounding_box()
        assert abs(thumb - mark["x"] - mark["width"] / 2) < 2


@pytest.mark.parametrize(
    ("column", "expected"),
    [([48.85, 48.86], 48.855), ([-1e308, 1e308], 0), ([0, 1], 0), ([7, 7], 7), ([1e-300, 3e-300], 2e-300)],
)
def test_a_typical_value_lies_within_the_data(column, expected, open_report, tmp_path):
    page = open_report(slider_report(tmp_path, column), fragment="#view=predict&predict.row=typical")
    assert float(page.get_by_label("x, slider").get_attribute("aria-valuetext")) == expected


def test_without_a_rule_the_base_votes_decide(open_report, tmp_path):
    rules = RuleSet.from_rules(
        [Rule((Term(0, high=0),), "a", weight=2.0)],
        ["x"],
        default="b",
        classes=["a", "b"],
        voting="weights",
        base=[1.0, 0.0],
    )
    rules.report(tmp_path / "r.html", np.ones((3, 1)))
    page = open_report(tmp_path / "r.html", fragment="#view=predict")
    assert verdict(page) == rules.predict(np.ones((1, 1)))[0] == "a"
    assert "by the base votes: no rule fires" in page.locator(".verdict").inner_text()


def test_the_same_file_can_be_taken_again(page, tmp_path):
    path = tmp_path / "row.csv"
    page.get_by_text("Paste or drop a row of CSV").click()
    for age in ("31", "32"):
        path.write_text(f"{age},900,nurse,false\n", encoding="utf-8")
        page.get_by_label("Open a file").set_input_files(path)
        page.wait_for_function("age => document.querySelector('.field-number').value === age", arg=age)
        assert page.get_by_label("Open a file").evaluate("input => input.files.length") == 0


@pytest.mark.parametrize("name", ["", "  "])
def test_a_blank_name_is_shown_in_quotes(name, open_report, tmp_path):
    rules = RuleSet.from_rules([Rule((Term(0, high=0),), "a")], [name, "x"], default="b", classes=["a", "b"])
    rules.report(tmp_path / "r.html", np.arange(6.0).reshape(3, 2))
    page = open_report(tmp_path / "r.html", fragment="#view=predict")
    assert page.locator(".field-name label").first.text_content() == f'"{name}"'
    check_accessibility(page)
    page.evaluate("() => { location.hash = '#view=rules&rules.as=table'; }")
    page.get_by_role("grid", name="Rules").wait_for()
    assert page.locator(".clip").first.text_content().strip() == f'"{name}" ≤ 0'
