"""The frame around the views: tabs, theme, address, and a page that no data can break."""

import re

import numpy as np
import pytest

from clausewise import Features, Rule, RuleSet, Term
from tests.report import reports
from tests.report.conftest import NARROW, WIDE, check_accessibility, settled_address, view_tab

VIEWS = ["Overview", "Rules", "Structure", "Predict", "Where they differ", "Origin", "Edit", "Compare"]


# Colours depend on the theme and what fits on the width: two of the four combinations show both.
@pytest.mark.parametrize(
    ("theme", "viewport"),
    [
        pytest.param("light", WIDE, id="wide-light"),
        pytest.param("dark", NARROW, id="narrow-dark"),
        pytest.param("dark", WIDE, id="wide-dark", marks=pytest.mark.fuzz),
        pytest.param("light", NARROW, id="narrow-light", marks=pytest.mark.fuzz),
    ],
)
def test_every_view_is_accessible_and_fits_the_window(small_report, open_report, theme, viewport):
    page = open_report(small_report, fragment="#overview.sizes=1", viewport=viewport, theme=theme)
    for name in VIEWS:
        view_tab(page, name)
        check_accessibility(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= viewport["width"], name
    page.evaluate("() => window.clausewise.store.selectRule(2)")
    check_accessibility(page)
    page.evaluate("() => window.clausewise.store.select({ kind: 'row', row: 3 })")
    check_accessibility(page)


def test_arrow_keys_move_between_tabs(small_report, open_report):
    page = open_report(small_report)
    page.get_by_role("tab", name="Overview").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="Rules").get_attribute("aria-selected") == "true"
    assert page.evaluate("() => document.activeElement.textContent") == "Rules"
    page.keyboard.press("End")
    last = page.get_by_role("tab").last
    assert last.get_attribute("aria-selected") == "true"
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="Overview").get_attribute("aria-selected") == "true"


def test_the_current_tab_is_in_sight_on_narrow_screens(small_report, open_report):
    page = open_report(small_report, fragment="#view=compare", viewport=NARROW)
    box = page.get_by_role("tab", name="Compare").bounding_box()
    assert 0 <= box["x"] <= NARROW["width"] - box["width"]


def test_the_first_tab_stop_skips_to_the_view(small_report, open_report):
    page = open_report(small_report)
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Skip to the view"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "view"


def test_the_theme_follows_the_system_until_it_is_chosen(small_report, open_report):
    page = open_report(small_report, theme="dark")
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    page.get_by_role("button", name="Light theme").click()
    assert page.evaluate("() => document.documentElement.dataset.theme") == "light"
    page.reload()
    assert page.evaluate("() => document.documentElement.dataset.theme") == "light"


def test_a_link_brings_back_view_selection_and_filters(small_report, open_report):
    page = open_report(small_report, fragment="#rules.as=table")
    view_tab(page, "Rules")
    page.get_by_label("Words in the rule").fill("nurse")
    page.get_by_role("row").nth(1).click()
    fragment = settled_address(page)
    assert "rule.0" in fragment
    again = open_report(small_report, fragment=fragment)
    assert again.get_by_role("tab", name="Rules").get_attribute("aria-selected") == "true"
    assert again.get_by_label("Words in the rule").input_value() == "nurse"
    assert again.get_by_role("complementary").get_by_role("heading", level=2).inner_text() == "Rule 0"


def test_back_returns_to_the_view_before(small_report, open_report):
    page = open_report(small_report)
    view_tab(page, "Rules")
    view_tab(page, "Origin")
    page.go_back()
    assert page.get_by_role("tab", name="Rules").get_attribute("aria-selected") == "true"


def test_back_returns_from_a_rule_to_the_cohort_before(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules&sel=differ.network.rules")
    page.get_by_role("complementary").locator(".rule-buttons button").first.click()
    page.get_by_role("grid").focus()
    page.keyboard.press("End")
    page.get_by_role("heading", name=re.compile(r"Rule \d")).wait_for()
    page.go_back()
    page.get_by_role("heading", name="Rows on which network and rules differ").wait_for()


def test_a_changed_address_changes_the_page(small_report, open_report):
    page = open_report(small_report)
    page.evaluate("() => { location.hash = '#view=rules&sel=rule.2' }")
    page.get_by_role("heading", name="Rule 2").wait_for()
    assert page.get_by_role("tab", name="Rules").get_attribute("aria-selected") == "true"


def test_an_address_that_names_nothing_does_no_harm(small_report, open_report):
    page = open_report(small_report)
    for fragment in (
        "#view=nothing",
        "#sel=rule.999999",
        "#sel=row.999999",
        "#sel=cell.rules.9.truth.9",
        "#sel=slice.9&view=disagreement",
        "#ticked=99.x&predict.fixed=77",
        "#sel=%00&view=%",
    ):
        page.goto("about:blank")
        page.goto(small_report.resolve().as_uri() + fragment)
        page.wait_for_selector("[role=tabpanel]")
        assert page.get_by_role("tab", selected=True).count() == 1, fragment


def test_names_that_look_like_markup_are_shown_as_text(open_report, tmp_path):
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    known = Features((evil, "<!--"), ("numeric", "categorical"), (None, (evil, "b\u2028&amp;")))
    rules = RuleSet.from_rules(
        [Rule((Term(0, high=1), Term(1, values=[evil])), evil)], known, default="<b>", classes=[evil, "<b>"]
    )
    rows = np.array([[0.5, evil], [2.0, "b\u2028&amp;"]], dtype=object)
    rules.report(tmp_path / "report.html", rows, [evil, "<b>"], [evil, evil], title=evil)
    page = open_report(tmp_path / "report.html")
    assert page.get_by_role("heading", level=1).inner_text() == evil
    assert page.title() == evil
    for name in (*VIEWS[:5], *VIEWS[6:]):  # there are no origins
        view_tab(page, name)
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2


def test_the_page_may_not_load_anything(small_report, open_report):
    page = open_report(small_report, expected="Content Security Policy")
    assert page.evaluate("() => fetch('data:text/plain,hello').then(() => false, () => true)")
    page.evaluate(
        "() => { const one = document.createElement('script'); one.textContent = 'window.broken = 1';"
        " document.body.append(one); }"
    )
    assert page.evaluate("() => window.broken") is None


def test_rules_without_data_are_shown_too(bare_report, open_report):
    page = open_report(bare_report)
    assert page.get_by_role("tab").all_inner_texts() == [
        name for name in VIEWS if name != "Where they differ"
    ]
    view_tab(page, "Rules")
    page.get_by_role("row").nth(1).click()
    check_accessibility(page)


def test_a_rule_set_without_rules_is_shown(open_report, tmp_path):
    empty = RuleSet.from_rules([], ["x"], default=0, classes=[0, 1])
    empty.report(tmp_path / "report.html", [[1.0], [2.0]], [0, 1])
    page = open_report(tmp_path / "report.html")
    view_tab(page, "Rules")
    assert page.get_by_text("No rule matches these filters.").is_visible()
    page.get_by_role("button", name="Table").click()
    check_accessibility(page)


def test_a_label_that_the_rules_do_not_know_is_shown(open_report, tmp_path):
    truth, network = reports.labels()
    truth = truth.astype(object)
    truth[:5] = "never"
    reports.rules().report(tmp_path / "report.html", reports.table(), truth, network)
    page = open_report(tmp_path / "report.html")
    view_tab(page, "Where they differ")
    page.get_by_role("button", name="Truth × rules").click()
    assert page.get_by_role("rowheader", name="never").is_visible()


def test_columns_left_out_are_named(open_report, tmp_path, monkeypatch):
    from clausewise.report import payload

    monkeypatch.setattr(payload, "MAX_UNTESTED_BYTES", 0)
    rules = RuleSet.from_rules([Rule((Term(0, high=0.5),), 1)], ["a", "b"], default=0, classes=[0, 1])
    rules.report(tmp_path / "report.html", np.random.default_rng(0).random((50, 2)))
    page = open_report(tmp_path / "report.html", fragment="#sel=row.3")
    assert page.evaluate("() => window.clausewise.store.table.columns[1]") is None
    assert page.get_by_role("complementary").is_visible()


def test_a_notebook_shows_the_report_in_an_isolated_frame(browser, tmp_path):
    truth, network = reports.labels()
    shown = reports.rules().show(reports.table(), truth, network)
    (tmp_path / "notebook.html").write_text(f"<h1>Notebook</h1>{shown._repr_html_()}", encoding="utf-8")
    page = browser.new_page(viewport=WIDE)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "notebook.html").as_uri())
    frame = page.frame_locator("iframe")
    frame.get_by_role("tab", name="Rules").click()
    frame.get_by_role("row").nth(2).click()
    assert frame.get_by_role("complementary").is_visible()
    frame.get_by_role("button", name="Dark theme").click()
    # The frame has no address of its own, and may not print.
    names = frame.locator(".share button").all_inner_texts()
    assert names == ["Save rules", "Save page"]
    assert errors == []
    page.close()


def test_large_reports_draw_only_what_is_in_sight(open_report, tmp_path):
    rng = np.random.default_rng(0)
    listed = [
        Rule(tuple(Term(int(f), high=float(rng.random())) for f in rng.choice(1_000, 4, replace=False)), 0)
        for _ in range(3_000)
    ]
    rules = RuleSet.from_rules(listed, [f"gene {i}" for i in range(1_000)], default=1, classes=[0, 1])
    rules.report(tmp_path / "report.html", rng.random((200, 1_000)), rng.integers(2, size=200))
    page = open_report(tmp_path / "report.html", fragment="#view=rules&rules.as=table")
    grid = page.get_by_role("grid")
    assert grid.get_attribute("aria-rowcount") == "3001"
    assert 10 < grid.get_by_role("row").count() < 80
    grid.focus()
    page.keyboard.press("End")
    page.get_by_role("heading", name="Rule 2999").wait_for()
    grid.locator("[aria-selected=true]").wait_for()
    page.get_by_role("button", name="Matrix").click()
    grid = page.get_by_role("grid")
    grid.locator("[aria-selected=true]").wait_for()  # the selection is in sight here too
    assert grid.get_by_role("columnheader").count() < 30
    assert grid.get_by_role("gridcell").count() < 200
    before = grid.get_by_role("columnheader").nth(4).inner_text()
    grid.evaluate("element => { element.scrollLeft = 60_000 }")
    page.wait_for_function(
        "before => document.querySelectorAll('[role=columnheader]')[4].innerText !== before", arg=before
    )
    assert grid.get_by_role("columnheader").count() < 30


def test_a_filter_typed_just_before_changing_the_view_is_there_after_back(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules")
    page.evaluate(
        """() => {
            const { store } = window.clausewise;
            store.address.param("rules.q").value = "nurse";
            store.show("origin");
        }"""
    )
    page.go_back()
    page.wait_for_function("() => window.clausewise.store.view.value === 'rules'")
    assert page.get_by_label("Words in the rule").input_value() == "nurse"


def test_going_to_a_view_with_filters_is_one_step(small_report, open_report):
    page = open_report(small_report, fragment="#overview.sizes=1")
    before = page.evaluate("history.length")
    page.get_by_title("Show the rules for perhaps").click()
    assert page.evaluate("history.length") == before + 1
    page.go_back()
    page.wait_for_function("() => window.clausewise.store.view.value === 'overview'")
    assert "rules.class" not in page.evaluate("location.hash")


def test_the_focus_stays_when_what_is_selected_changes_or_is_cleared(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules&sel=rule.3")
    beside = page.get_by_role("complementary")
    beside.get_by_role("button", name="Show its rows").press("Enter")
    page.get_by_role("heading", name="Rows on which rule 3 fires").wait_for()
    assert page.evaluate("document.activeElement.className") == "inspector"
    beside.get_by_role("button", name="Clear the selection").press("Enter")
    assert page.evaluate("document.activeElement.id") == "view"


def test_escape_clears_the_selection_but_not_from_a_field(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules&sel=rule.3&rules.as=table")
    page.get_by_label("Words in the rule").press("Escape")
    assert page.get_by_role("complementary").count() == 1
    page.get_by_role("grid", name="Rules").press("Escape")
    assert page.get_by_role("complementary").count() == 0


def test_a_file_dropped_anywhere_does_not_replace_the_report(small_report, open_report):
    page = open_report(small_report)
    is_refused = """([kind, type]) => {
        const dataTransfer = new DataTransfer();
        if (type === "file") dataTransfer.items.add(new File(["x"], "x.txt"));
        else dataTransfer.items.add("x", "text/plain");
        const event = new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true });
        document.querySelector("h1").dispatchEvent(event);
        return event.defaultPrevented;
    }"""
    for kind in ("dragover", "drop"):
        assert page.evaluate(is_refused, [kind, "file"])
        assert not page.evaluate(is_refused, [kind, "text"])


def test_names_written_from_right_to_left_do_not_reorder_a_rule(open_report, tmp_path):
    features = Features(("גיל", "הכנסה"))
    listed = [Rule((Term(0, low=30, high=60), Term(1, high=5)), "כן")]
    RuleSet.from_rules(listed, features, default="לא").report(tmp_path / "report.html")
    page = open_report(tmp_path / "report.html", fragment="#view=rules&rules.as=table")
    text = page.get_by_role("grid", name="Rules").locator(".clip")
    # From left to right in sight as in the text: 30, the first name, 60, the second name, 5.
    places = text.evaluate(
        """element => {
            const node = [...element.childNodes].filter((one) => one.nodeType === 3).pop();
            return ["30", "גיל", "60", "הכנסה", "5"].map((part) => {
                const range = document.createRange();
                const from = node.data.lastIndexOf(part);
                range.setStart(node, from);
                range.setEnd(node, from + part.length);
                return range.getBoundingClientRect().left;
            });
        }"""
    )
    assert places == sorted(places)
    for query, n_found in (("הכנסה <= 5", 1), ("הכנסה <= 6", 0)):
        page.get_by_label("Words in the rule").fill(query)
        assert text.count() == n_found


def test_long_names_do_not_push_figures_out_of_sight(open_report, tmp_path):
    long = "a name of many words " * 12
    features = Features((long, "age"))
    listed = [Rule((Term(0, low=30), Term(1, high=5)), long), Rule((Term(1, low=5),), "no")]
    RuleSet.from_rules(listed, features, default="no").report(tmp_path / "report.html")
    page = open_report(tmp_path / "report.html", fragment="#overview.sizes=1")
    fits = "element => element.scrollWidth <= element.clientWidth + 1"
    assert page.get_by_role("region", name="Rules per feature and class").evaluate(fits)
    view_tab(page, "Predict")
    assert page.locator(".flip").evaluate(fits)


def test_what_is_chosen_is_marked_where_the_system_sets_the_colours(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules&sel=rule.3&rules.as=table")
    page.emulate_media(forced_colors="active")
    outline = "element => [getComputedStyle(element).outlineStyle, getComputedStyle(element).outlineWidth]"
    assert page.locator(".table-row.is-active").evaluate(outline) == ["solid", "2px"]
    assert page.get_by_role("button", name="Table").evaluate(outline) == ["solid", "2px"]
    border = "element => getComputedStyle(element).borderBottomWidth"
    tabs = page.get_by_role("tab", selected=True), page.get_by_role("tab", selected=False).first
    assert [tab.evaluate(border) for tab in tabs] == ["3px", "2px"]
    view_tab(page, "Overview")
    colour = "element => getComputedStyle(element).backgroundColor"
    assert page.locator(".agreement-bar").first.evaluate(colour) != page.locator("body").evaluate(colour)
