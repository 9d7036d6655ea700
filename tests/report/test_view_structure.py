"""The tree of shared terms: its contents, and navigation by mouse and keyboard."""

import numpy as np
import pytest

from clausewise import Features, Rule, RuleSet, Term
from tests.report.conftest import NARROW, WIDE, check_accessibility, settled_address, view_tab
from tests.rules.random_rules import random_features, random_ruleset


def lines(page):
    return [line.inner_text().split("\n")[1] for line in page.get_by_role("treeitem").all()]


@pytest.fixture
def grouped_report(tmp_path):
    """Four rules: three share a term, two of these another one."""
    listed = [
        Rule((Term(0, high=30), Term(1, low=5), Term(2, high=1)), "yes"),
        Rule((Term(0, high=30), Term(1, low=5), Term(2, low=1)), "no"),
        Rule((Term(0, high=30), Term(2, low=7)), "yes"),
        Rule((Term(0, low=60),), "no", 0.8),
    ]
    rules = RuleSet.from_rules(listed, Features(("age", "income", "debt")), default="no")
    X = np.array([[20.0, 6.0, 0.0], [25.0, 6.0, 8.0], [70.0, 1.0, 1.0]])
    rules.report(tmp_path / "report.html", X)
    return tmp_path / "report.html"


def test_shared_terms_stand_above_the_rules_that_have_them(grouped_report, open_report):
    page = open_report(grouped_report)
    view_tab(page, "Structure")
    page.get_by_label("Terms are shared").select_option("equal")
    levels = [int(line.get_attribute("aria-level")) for line in page.get_by_role("treeitem").all()]
    assert lines(page) == ["age ≤ 30", "income > 5", "yes", "no", "yes", "no"]
    assert levels == [1, 2, 3, 3, 2, 1]
    assert "3 rules" in page.get_by_role("treeitem").first.inner_text()
    assert "2 rows" in page.get_by_role("treeitem").first.inner_text()


def test_the_tree_is_walked_by_keyboard(grouped_report, open_report):
    page = open_report(grouped_report)
    view_tab(page, "Structure")
    page.get_by_label("Terms are shared").select_option("equal")
    page.get_by_role("button", name="Collapse all").click()
    tree = page.get_by_role("tree")
    tree.focus()
    assert lines(page) == ["age ≤ 30", "no"]
    for key, expected in [
        ("ArrowRight", 4),
        ("ArrowRight", 4),
        ("Enter", 6),
        ("ArrowLeft", 4),
        ("ArrowLeft", 4),
    ]:
        page.keyboard.press(key)
        assert len(lines(page)) == expected, key
    active = page.get_by_role("treeitem", selected=True)
    assert "age ≤ 30" in active.inner_text()
    page.keyboard.press("End")
    assert page.get_by_role("complementary").get_by_role("heading", level=2).inner_text() == "Rule 3"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    assert lines(page) == ["age ≤ 30", "no"]
    page.keyboard.press("*")
    assert len(lines(page)) == 4
    address = settled_address(page)
    assert "structure.open=" in address
    again = open_report(grouped_report, fragment=address)
    assert lines(again) == lines(page)


def test_the_tree_is_opened_searched_and_begun_with_classes_by_mouse(grouped_report, open_report):
    page = open_report(grouped_report)
    view_tab(page, "Structure")
    page.get_by_label("First level").select_option("class")
    page.get_by_role("button", name="Collapse all").click()
    assert [line.split()[0] for line in lines(page)] == ["no", "yes"]
    page.get_by_role("treeitem").nth(1).click()
    assert len(lines(page)) == 4
    page.get_by_role("button", name="Expand all").click()
    page.get_by_role("treeitem").filter(has_text="debt ≤ 1").last.click()
    assert page.get_by_role("complementary").get_by_role("heading", level=2).inner_text() == "Rule 0"
    page.get_by_label("Find").fill("income")
    assert page.get_by_role("main").get_by_role("status").inner_text().startswith("2 of 4 rules")
    page.get_by_label("Find").fill("nothing like it")
    assert lines(page) == []


def current_line(page):
    return page.get_by_role("treeitem", selected=True)


def test_a_rule_selected_elsewhere_is_shown_out_of_closed_branches(grouped_report, open_report):
    fragment = "#view=structure&structure.share=equal&structure.open=none&sel=rule.1"
    page = open_report(grouped_report, fragment=fragment)
    assert "debt > 1" in current_line(page).inner_text()
    # One goes on from there, and what was opened for it stays open.
    page.get_by_role("tree").focus()
    page.keyboard.press("ArrowLeft")
    assert "income > 5" in current_line(page).inner_text()
    assert len(lines(page)) == 6
    # Selected in another view, the next rule is the current line again.
    view_tab(page, "Rules")
    page.get_by_role("row").filter(has=page.get_by_label("Tick rule 2")).click()
    view_tab(page, "Structure")
    assert "debt > 7" in current_line(page).inner_text()
    page.get_by_role("button", name="Collapse all").click()
    assert lines(page) == ["age ≤ 30", "no"]


def test_what_is_open_stays_open_through_a_search_and_an_edit(grouped_report, open_report):
    page = open_report(grouped_report, fragment="#view=structure&structure.share=equal")
    page.get_by_role("button", name="Collapse all").click()
    page.get_by_role("treeitem").filter(has_text="age ≤ 30").click()
    assert len(lines(page)) == 4
    page.get_by_label("Find").fill("debt")
    # What is found is in sight, and can be closed.
    assert page.get_by_role("treeitem").filter(has_text="debt").count() == 3
    page.get_by_role("button", name="Collapse all").click()
    assert page.get_by_role("treeitem").count() == 1
    page.get_by_label("Find").fill("")
    assert len(lines(page)) == 4
    # With a larger group of rules before it, the branch has another place, and is still the one that is open.
    page.evaluate(
        """() => {
            const { store } = window.clausewise;
            const set = store.rules.value;
            const above = (feature, low) => ({ feature, low, high: Infinity, codes: null });
            const added = [1, 2, 3, 4].map((low) => (
                { ...set.rules[3], id: store.newId(), terms: [above(0, 60), above(2, low)] }
            ));
            store.edit({ ...set, rules: [...set.rules, ...added] });
        }"""
    )
    page.get_by_text("8 rules").first.wait_for()
    opened = page.locator("[role=treeitem][aria-expanded=true]").all_inner_texts()
    assert len(opened) == 1
    assert "age ≤ 30" in opened[0]


def test_the_selected_row_is_marked_where_it_satisfies_all_terms(grouped_report, open_report):
    page = open_report(grouped_report, fragment="#view=structure&structure.share=equal&sel=row.1")
    page.get_by_role("button", name="Expand all").click()
    marked = page.get_by_role("treeitem").filter(has_text="selected row").all()
    assert [line.get_attribute("aria-level") for line in marked] == ["1", "2", "3", "2"]


@pytest.mark.parametrize("sharing", ["equal", "bounds"])
@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_every_rule_stands_once_below_terms_that_it_implies(seed, by_class, sharing, open_report, tmp_path):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 4)
    rules = random_ruleset(rng, features, 80)
    rules.report(tmp_path / "report.html")
    page = open_report(tmp_path / "report.html")
    leaves = page.evaluate("args => window.clausewise.tools.leaves(...args)", [sharing, by_class])
    assert sorted(leaf["place"] for leaf in leaves) == list(range(80))
    for leaf in leaves:
        own = rules[leaf["place"]]
        text = f'IF {" AND ".join(leaf["path"]) or "TRUE"} THEN "class 0"'
        (read,) = rules.remove(slice(None)).add(text)
        # Merged, the terms on the way are the rule's own: those above are implied by its own.
        assert read.terms == own.terms
        if sharing == "equal":
            assert len(leaf["path"]) == len(own.terms)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_tree_is_accessible_and_fits(small_report, open_report, theme, viewport):
    page = open_report(small_report, fragment="#view=structure&sel=row.3", viewport=viewport, theme=theme)
    page.get_by_role("button", name="Expand all").click()
    check_accessibility(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
