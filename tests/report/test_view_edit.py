"""The Edit view: rules deleted, changed and added by hand; saved files equal Python's own edits."""

import json

import numpy as np
import pytest

from clausewise import Features, Rule, RuleSet, Term
from tests.reference import rules as reference
from tests.report import reports
from tests.report.conftest import NARROW, WIDE, check_accessibility, view_tab

TEXT = "In the rule language"
REASON = "Reason, for the list of changes"


@pytest.fixture
def page(small_report, open_report):
    opened = open_report(small_report)
    view_tab(opened, "Edit")
    return opened


def choose(page, number):
    page.get_by_role("grid", name="Rules to edit").get_by_role("row").nth(number + 1).click()


def add(page, text, reason=""):
    page.get_by_role("button", name="New rule", exact=True).click()
    page.get_by_label(TEXT).fill(text)
    page.get_by_label(REASON).fill(reason)
    page.get_by_role("button", name="Add", exact=True).click()


def delete(page):
    """Delete the chosen rule; the first button shows what would change."""
    page.get_by_role("button", name="Delete the rule …").click()
    page.get_by_role("button", name="Delete rule").click()


def saved(page, button="Save the rules"):
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).click()
    return waiting.value.path()


def effect(page, label="On the 300 rows in this page"):
    """The figures after the arrow, by name."""
    shown = page.get_by_label(label)
    names, figures = shown.locator("dt").all_inner_texts(), shown.locator("dd strong").all_inner_texts()
    return dict(zip(names, figures, strict=True))


def expected_effect(page, rules):
    """The same figures from Python, on the rows that the report holds."""
    drawn = page.evaluate("Array.from(window.clausewise.store.table.numbers)")
    X = reports.table().iloc[drawn]
    truth, network = (labels[drawn] for labels in reports.labels())
    decided = rules.predict(X)
    return {
        "fidelity": f"{100 * np.mean(decided == network):.2f} %",
        "accuracy": f"{100 * np.mean(decided == truth):.2f} %",
        "coverage": f"{100 * np.mean(~rules.uncovered(X)):.2f} %",
        "rules": str(len(rules)),
        "reading cost": str(sum(reference.reading_cost(rule, rules.features.n_categories) for rule in rules)),
        "decided differently": str(np.sum(decided != reports.rules().predict(X))),
    }


def test_rules_are_edited_and_saved_as_python_would(page):
    choose(page, 1)
    page.get_by_label(REASON).fill("too broad")
    delete(page)
    choose(page, 0)
    page.get_by_label(TEXT).fill("IF age <= 35 AND job IN {nurse, cook} THEN yes WITH confidence 0.8")
    page.get_by_label(TEXT).press("Control+Enter")
    add(page, "IF age >= 80 THEN perhaps WITH priority\nIF income > 6000 THEN no", "asked the experts")
    choose(page, 3)
    page.get_by_label("Confidence").fill("0.25")
    page.get_by_label("Confidence").press("Enter")
    page.get_by_role("button", name="Change the rule").press("Enter")
    expected = (
        reports.rules()
        .remove(1, note="too broad")
        .replace(0, "IF age <= 35 AND job IN {nurse, cook} THEN yes WITH confidence 0.8")
        .add("IF age >= 80 THEN perhaps WITH priority IF income > 6000 THEN no", note="asked the experts")
        .reweight(3, confidence=0.25)
    )
    found = RuleSet.load(saved(page))
    assert found == expected
    assert found.changes == expected.changes
    text = saved(page, "Save the list of changes").read_text(encoding="utf-8")
    assert text == "".join(f"{change}\n" for change in expected.changes)
    assert effect(page) == expected_effect(page, expected)


def test_the_saved_file_is_the_one_that_python_writes(page, tmp_path):
    reports.rules().save(tmp_path / "rules.json")
    assert saved(page).read_text(encoding="utf-8") == (tmp_path / "rules.json").read_text(encoding="utf-8")


def test_the_effect_of_a_draft_is_shown_before_it_is_applied(page):
    choose(page, 1)
    page.get_by_label(TEXT).fill("IF age > 20 AND age <= 60 THEN perhaps WITH confidence 0.99")
    expected = reports.rules().replace(1, "IF 20 < age <= 60 THEN perhaps WITH confidence 0.99")
    wanted = expected_effect(page, expected)
    preview = effect(page, "Effect of this edit")
    assert preview == {name: wanted[name] for name in ("fidelity", "accuracy", "coverage")}
    n_flipped = wanted["decided differently"]
    assert f"{n_flipped} rows decided differently" in page.locator(".preview").inner_text()
    assert effect(page) == expected_effect(page, reports.rules())


def test_undo_and_redo_by_button_and_keyboard(page):
    add(page, "IF TRUE THEN perhaps WITH priority")
    everywhere = effect(page)
    assert everywhere["coverage"] == "100.00 %"
    page.get_by_role("button", name="Undo edit").click()
    assert effect(page) == expected_effect(page, reports.rules())
    page.get_by_role("button", name="Redo edit").click()
    assert effect(page) == everywhere
    page.get_by_role("grid", name="Rules to edit").focus()
    page.keyboard.press("Control+z")
    assert effect(page)["rules"] == "7"
    page.keyboard.press("Control+Shift+z")
    assert effect(page) == everywhere
    page.get_by_role("button", name="Discard all").click()
    assert effect(page) == expected_effect(page, reports.rules())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("IF age <= 47 AND jbo = nurse THEN yes", "Column 18: there is no feature jbo; did you mean job?"),
        ("IF age <= 47\nAND job = nurse THEN maybe", "Line 2, column 22: maybe is not a class"),
        ("IF age <= 47 THEN yes WITH confidence 2", "Column 39: The rule has confidence 2.0;"),
    ],
)
def test_the_error_of_a_text_is_shown_with_its_place(page, text, message):
    page.get_by_role("button", name="New rule", exact=True).click()
    page.get_by_label(TEXT).fill(text)
    assert message in page.locator(".draft-error").inner_text()
    assert page.get_by_label(TEXT).get_attribute("aria-invalid") == "true"
    assert page.get_by_role("button", name="Add", exact=True).is_disabled()
    column = int(message.split("olumn ")[1].split(":")[0])
    shown = page.locator(".draft-error pre").inner_text().split("\n")
    assert shown[0][shown[1].index("▲") :].startswith(text.split("\n")[-1][column - 1 :][:3])


def test_a_rule_is_written_with_the_form_alone(page):
    page.get_by_role("button", name="New rule", exact=True).click()
    page.get_by_role("combobox", name="Term on").fill("age")
    page.get_by_role("button", name="Add a term").click()
    page.get_by_label("age, lower bound").fill(">= 30")
    page.get_by_label("age, upper bound").fill("< 41")
    page.get_by_role("combobox", name="Term on").fill("job")
    page.get_by_role("combobox", name="Term on").press("Enter")
    page.get_by_label("pilot").check()
    page.get_by_role("combobox", name="Term on").fill("smokes")
    page.get_by_role("combobox", name="Term on").press("Enter")
    page.get_by_label("smokes is").select_option("false")
    page.get_by_role("combobox", name="Then").select_option("perhaps")
    page.get_by_label("Priority").check()
    written = "IF 30 <= age < 41 AND job != nurse AND smokes = FALSE THEN perhaps WITH priority"
    assert page.get_by_label(TEXT).input_value() == written
    missing = page.get_by_label("is missing")
    for box in (missing.first, missing.last):
        box.check()
    page.get_by_label("smokes is").select_option("missing")
    only_missing = "IF age IS MISSING AND job IS MISSING AND smokes IS MISSING THEN perhaps WITH priority"
    assert page.get_by_label(TEXT).input_value() == only_missing
    for box in (missing.first, missing.last):
        box.uncheck()
    page.get_by_label("smokes is").select_option("false")
    assert page.get_by_label(TEXT).input_value() == written
    page.get_by_role("button", name="Remove the term on smokes").click()
    page.get_by_label("age, lower bound").fill("nonsense")
    page.get_by_label("age, lower bound").press("Enter")
    assert page.get_by_label("age, lower bound").input_value() == ">= 30"
    page.get_by_role("button", name="Add", exact=True).click()
    below = float(np.nextafter(30, 0)), float(np.nextafter(41, 0))
    terms = (Term(0, low=below[0], high=below[1]), Term(2, values=["cook", "pilot"]))
    assert RuleSet.load(saved(page))[7] == Rule(terms, "perhaps", priority=True)
    assert page.get_by_label("Editor").get_by_role("heading", name="Rule 7").count() == 1


def test_reasons_can_be_given_afterwards(page):
    choose(page, 6)
    delete(page)
    page.get_by_label("Reason for change 1").fill("covers nobody")
    page.get_by_label("Reason for change 1").press("Enter")
    (change,) = json.loads(saved(page).read_text(encoding="utf-8"))["changes"]
    assert change["note"] == "covers nobody"
    page.get_by_role("button", name="Undo edit").click()
    assert page.get_by_label("Reason for change 1").input_value() == ""


def test_edits_survive_a_reload_until_they_are_discarded(page):
    choose(page, 1)
    delete(page)
    add(page, "IF age > 80 THEN no")
    expected = reports.rules().remove(1).add("IF age > 80 THEN no")
    page.reload()
    assert "Edits of your last visit" in page.locator(".edit-state").inner_text()
    found = RuleSet.load(saved(page))
    assert found == expected
    assert found.changes == expected.changes
    assert effect(page) == expected_effect(page, expected)
    page.get_by_role("button", name="Undo edit").click()
    assert effect(page) == expected_effect(page, reports.rules())
    page.reload()
    assert page.locator(".edit-state").count() == 0


def test_the_browser_asks_before_edits_are_lost_that_it_cannot_keep(page):
    leave = """() => {
        const event = new Event("beforeunload", { cancelable: true });
        window.dispatchEvent(event);
        return event.defaultPrevented;
    }"""
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    assert not page.evaluate(leave)
    add(page, "IF age > 80 THEN no")
    assert page.evaluate(leave)
    saved(page)
    assert not page.evaluate(leave)


def test_rules_and_rows_lead_to_the_editor_and_the_form(page):
    view_tab(page, "Rules")
    page.evaluate("() => window.clausewise.store.selectRule(3)")
    page.get_by_role("button", name="Edit it").click()
    assert page.get_by_label("Editor").get_by_role("heading", name="Rule 3").count() == 1
    page.evaluate("() => window.clausewise.store.select({ kind: 'row', row: 7 })")
    page.get_by_role("button", name="Try other values").press("Enter")
    number = page.evaluate("window.clausewise.store.table.numbers[7]")
    assert page.get_by_label("Row", exact=True).input_value() == str(number)


def test_drafts_are_kept_while_other_views_are_shown(page):
    choose(page, 2)
    page.get_by_label(TEXT).fill("IF age <= 3 THEN yes")
    choose(page, 3)
    assert "age > 60" in page.get_by_label(TEXT).input_value()
    view_tab(page, "Structure")
    view_tab(page, "Edit")
    choose(page, 2)
    assert page.get_by_label(TEXT).input_value() == "IF age <= 3 THEN yes"
    page.get_by_role("button", name="Revert").click()
    assert "income > 2000" in page.get_by_label(TEXT).input_value()


@pytest.mark.parametrize("classes", [[0.5, 2.0], [False, True], [3, 1]], ids=str)
def test_labels_of_every_type_come_back(classes, open_report, tmp_path):
    rules = RuleSet.from_rules(
        [Rule((Term(0, low=1),), classes[1])], ["x"], classes=classes, default=classes[0]
    )
    rules.report(tmp_path / "report.html")
    page = open_report(tmp_path / "report.html", fragment="#view=edit&sel=rule.0")
    page.get_by_label("x, lower bound").fill("2")
    page.get_by_label("x, lower bound").press("Enter")
    page.get_by_role("button", name="Change the rule").click()
    expected = rules.replace(0, Rule((Term(0, low=2),), classes[1]))
    found = RuleSet.load(saved(page))
    assert found == expected
    assert found.changes == expected.changes
    assert "has no rows" in page.get_by_label("Effect of all edits").inner_text()


@pytest.mark.parametrize(("viewport", "theme"), [(WIDE, "light"), (NARROW, "dark")], ids=["wide", "narrow"])
def test_the_editor_is_accessible_and_fits(small_report, open_report, theme, viewport):
    page = open_report(small_report, fragment="#view=edit", viewport=viewport, theme=theme)
    check_accessibility(page)
    choose(page, 0)
    page.get_by_role("button", name="Delete the rule …").click()
    page.get_by_label(TEXT).fill("IF age <= 3 THEN yes")
    check_accessibility(page)
    page.get_by_label(TEXT).fill("IF wrong")
    check_accessibility(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_the_focus_goes_on_to_the_list_after_an_edit_and_the_next_key_undoes_it(page):
    on_list = "() => document.activeElement.getAttribute('aria-label') === 'Rules to edit'"
    choose(page, 0)
    page.get_by_label(TEXT).fill("IF age <= 3 THEN yes")
    page.get_by_label(TEXT).press("Control+Enter")
    assert page.evaluate(on_list)
    page.keyboard.press("Control+z")
    assert not page.evaluate("() => window.clausewise.store.isEdited.value")
    page.keyboard.press("Control+y")
    assert page.evaluate("() => window.clausewise.store.isEdited.value")
    page.get_by_role("button", name="Delete the rule …").press("Enter")
    page.get_by_role("button", name="Delete rule 0").press("Enter")
    assert page.evaluate(on_list)
    add(page, "IF age > 80 THEN no")
    assert page.evaluate(on_list)


def test_undo_is_left_to_a_field_only_while_something_is_typed_there(page):
    add(page, "IF age > 80 THEN no")
    page.get_by_role("checkbox", name="Priority").focus()
    page.keyboard.press("Control+z")
    assert effect(page)["rules"] == "7"
    page.keyboard.press("Control+y")
    page.get_by_label("Find").fill("age")
    page.keyboard.press("Control+z")
    assert effect(page)["rules"] == "8"


def test_a_reason_stays_with_its_rule(page):
    choose(page, 1)
    page.get_by_label(REASON).fill("too broad")
    choose(page, 2)
    assert page.get_by_label(REASON).input_value() == ""
    choose(page, 1)
    assert page.get_by_label(REASON).input_value() == "too broad"


def test_the_browser_asks_before_a_draft_is_lost(page):
    leave = """() => {
        const event = new Event("beforeunload", { cancelable: true });
        window.dispatchEvent(event);
        return event.defaultPrevented;
    }"""
    choose(page, 1)
    page.get_by_label(TEXT).fill("IF age <= 3 THEN yes")
    assert page.evaluate(leave)
    page.get_by_role("button", name="Revert").click()
    assert not page.evaluate(leave)


def test_a_changed_premise_does_not_keep_the_counts_of_the_old_one(page):
    choose(page, 1)
    page.get_by_label("age, lower bound").fill("35")
    page.get_by_label("age, lower bound").press("Enter")
    page.get_by_role("button", name="Change the rule").click()
    changed = RuleSet.load(saved(page))[1]
    assert (changed.cover, changed.correct) == (0, 0)


@pytest.fixture
def towns_page(open_report, tmp_path):
    towns = tuple(f"town {i}" for i in range(40))
    features = Features(("town",), ("categorical",), (towns,))
    listed = [Rule((Term(0, values=towns[:20]),), "yes")]
    RuleSet.from_rules(listed, features, default="no", classes=["no", "yes"]).report(tmp_path / "report.html")
    return open_report(tmp_path / "report.html", fragment="#view=edit&sel=rule.0")


def test_many_categories_are_looked_for_and_chosen_together(towns_page):
    editor = towns_page.get_by_label("Editor")
    editor.get_by_role("searchbox", name="Find categories of town").fill("town 3")
    assert editor.locator(".term-categories").get_by_role("checkbox").count() == 11
    editor.get_by_role("button", name="Select found").click()
    assert "30 of 40" in editor.locator(".term-choose").inner_text()
    editor.get_by_role("searchbox", name="Find categories of town").fill("")
    editor.get_by_role("button", name="None", exact=True).click()
    editor.get_by_label("town 7", exact=True).check()
    assert towns_page.get_by_label(TEXT).input_value() == 'IF town = "town 7" THEN yes'


def test_terms_with_many_categories_are_short_and_can_be_opened(towns_page):
    listed = towns_page.get_by_role("grid", name="Rules to edit").locator(".clip")
    assert "town 19}" in listed.inner_text()  # one rule is shown in full
    view_tab(towns_page, "Structure")
    term = towns_page.get_by_role("complementary").locator("details.term-text")
    assert term.inner_text().endswith("town 7, … 12 more of 40}")
    term.locator("summary").click()
    assert "town 19}" in term.inner_text()
    check_accessibility(towns_page)


@pytest.mark.parametrize(
    ("column", "bound"), [([48.85, 48.86], "<= 48.855"), ([-1e308, 1e308], "<= 0"), ([0, 1], "<= 0")]
)
def test_a_new_term_splits_the_data(column, bound, open_report, tmp_path):
    rules = RuleSet.from_rules([Rule((), "a")], ["x"], default="b", classes=["a", "b"])
    rules.report(tmp_path / "r.html", np.array(column)[:, None])
    page = open_report(tmp_path / "r.html", fragment="#view=edit&edit.new=1")
    page.get_by_label("Term on").fill("x")
    page.get_by_role("button", name="Add a term").click()
    assert page.get_by_label("x, upper bound").input_value() == bound
