"""Structure, Origin, Edit and Compare of rules for numbers, as a person uses them, and as Python answers."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from clausewise import Features, LinearTerm, RegressionRule, RegressionRules, RuleTextError, Term
from clausewise.io import RuleFileError
from clausewise.io.json import dumps, loads_numbers
from tests.corpus.rule_texts import described
from tests.report import number_reports, reports
from tests.report.conftest import check_accessibility, go, rows_in, view_tab

RULES = number_reports.rules()


@pytest.fixture
def page(number_page):
    return number_page


def measured(rules, page):
    """The figures of rules on the rows in the page, as it words them."""
    shown = rows_in(page)
    truth, network = (numbers[shown] for numbers in number_reports.numbers())
    found = rules.evaluate(number_reports.table().iloc[shown], truth, network=network)
    return {
        "explained (network)": f"{100 * found.to_network.r_squared:.2f} %",
        "off by (network)": f"{found.to_network.mean_absolute:.3g}",
        "explained (truth)": f"{100 * found.to_truth.r_squared:.2f} %",
        "off by (truth)": f"{found.to_truth.mean_absolute:.3g}",
        "rules": str(len(rules)),
        "reading cost": str(rules.reading_cost),
    }


def effect(page, label):
    """The figures that an edit leads to, by their names."""
    parts = page.get_by_label(label, exact=True).locator("div").all()
    return {part.locator("dt").inner_text(): part.locator("dd strong").inner_text() for part in parts}


# --- The same as Python ---

TEXTS = [
    "IF income > 5.1 AND place IN {bay, valley} THEN ADD 1.4 WITH cover 12, mean 2.5, lower 1, upper 3",
    'IF TRUE THEN ADD -0.25 WITH layer "hidden 1", clause "x[0] > 1"\nif old = true then add 3e-2',
    "IF constructor IS MISSING AND 1 < income <= 3 THEN ADD -0 WITH origin",
    "IF income > 5 THEN 3",
    "IF income > 5 THEN ADD",
    "IF income > 5 THEN ADD bay",
    "IF incme > 5 THEN ADD 1",
    "IF place = mars THEN ADD 1",
    "IF income > 5 THEN ADD 1 WITH confidence 0.5",
    "IF income > 5 THEN ADD 1 WITH cover 3, cover 4",
    "IF income > 5 THEN ADD 1 WITH lower 3",
    "IF income > 5 THEN ADD 1 WITH lower 3, upper 2",
    "IF income > 5 THEN ADD 1 WITH cover -1",
    "IF income > 5 THEN ADD 1e999",
    "IF income > 5 AND THEN ADD 1",
    "THEN ADD 1",
    "",
]


def read_in_python(text):
    """The rule file of rules written as text, or the error in the text."""
    try:
        rules = RULES.read_rules(text)
    except RuleTextError as error:
        return {"error": described(error)}
    return json.loads(dumps(replace(RULES, columns=RULES.columns_of(rules))))


def test_texts_of_rules_are_read_as_in_python(page):
    found = page.evaluate("texts => texts.map(text => window.clausewise.tools.readText(text))", TEXTS)
    expected = [read_in_python(text) for text in TEXTS]
    assert found == expected
    assert sum("error" in read for read in expected) == len(TEXTS) - 3


def test_rules_are_written_as_in_python(page):
    assert page.evaluate("window.clausewise.tools.writeRules()") == [
        RULES.write_rule(number) for number in range(len(RULES))
    ]


DAMAGE = [
    lambda file: file.update(version=3),
    lambda file: file.update(base="2"),
    lambda file: file.update(link="logit"),
    lambda file: file.update(voting="weights"),
    lambda file: file.update(response_range=[3, 1]),
    lambda file: file.update(default="no"),
    lambda file: file.pop("linear"),
    lambda file: file["linear"][0].update(feature="mars"),
    lambda file: file["linear"][0].update(coefficient=0),
    lambda file: file["linear"][0].update(fill=99),
    lambda file: file["linear"][0].update(feature="place"),
    lambda file: file["linear"].append(file["linear"][0]),
    lambda file: file["rules"][0].update(add=None),
    lambda file: file["rules"][0].update(cover=-1),
    lambda file: file["rules"][0].update(mean="3"),
    lambda file: file["rules"][0].update(interval=[1]),
    lambda file: file["rules"][0]["if"].append({"feature": "mars", "low": 1}),
    lambda file: file["rules"][0]["if"].append(file["rules"][0]["if"][0]),
    lambda file: file["rules"][0].update(then="yes"),
    lambda file: file["features"].clear(),
]


def test_damaged_files_are_refused_wherever_python_refuses_them(page):
    files = [json.loads(dumps(RULES)) for _ in DAMAGE]
    for damage, file in zip(DAMAGE, files, strict=True):
        damage(file)
        with pytest.raises(RuleFileError):
            loads_numbers(json.dumps(file))
    texts = [*map(json.dumps, files), dumps(RULES), dumps(reports.rules()), "[1, 2"]
    found = page.evaluate("texts => texts.map(text => window.clausewise.tools.whyRefused(text))", texts)
    *damaged, whole, classes, torn = found
    assert all(isinstance(reason, str) and reason for reason in damaged)
    assert whole is None
    assert classes == "these are rules for classes; this report is on rules for numbers"
    assert "this is not JSON" in torn


@pytest.mark.parametrize("seed", range(6))
def test_rule_sets_are_compared_as_in_python(page, seed):
    rng = np.random.default_rng(seed)
    listed = [rule for rule in RULES if rng.random() < 0.7]
    listed += [RegressionRule(rule.terms, 0.5) for rule in listed if rng.random() < 0.5]
    rng.shuffle(listed)
    listed += number_reports.random_rules(rng)
    other = RegressionRules.from_rules(
        listed, RULES.features, base=1.62, linear=RULES.linear, link="log" if seed % 2 else "identity"
    )
    found = page.evaluate("text => window.clausewise.tools.compareWith(text)", dumps(other))
    expected = RULES.compare(other)
    assert tuple(found["added"]) == expected.added
    assert tuple(found["removed"]) == expected.removed
    assert tuple(map(tuple, found["changed"])) == expected.changed
    assert found["nSame"] == expected.n_same
    assert {entry["name"] for entry in found["settings"]} == set(expected.settings)


# --- Views ---


def test_the_tree_groups_rules_by_sign_and_moves_by_keys(page):
    view_tab(page, "Structure")
    tree = page.get_by_role("tree")
    tree.get_by_role("treeitem").nth(4).wait_for()
    assert tree.get_by_role("treeitem").count() == 5
    page.get_by_label("First level").select_option("signs")
    tree.get_by_role("treeitem").nth(6).wait_for()
    assert re.sub(r"\s+", " ", tree.get_by_role("treeitem").first.inner_text()).startswith("▾ adds 4 rules")
    tree.focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.get_by_role("heading", name="Rule 3", exact=True).wait_for()
    page.get_by_label("Find").fill("valley")
    page.get_by_text("2 of 5 rules, 4 lines").wait_for()


def test_the_origin_leads_from_the_layer_to_its_clauses_and_rules(page):
    view_tab(page, "Origin")
    page.get_by_role("heading", name="3 Final rules of hidden 1 (2 rules)").wait_for()
    page.get_by_role("button", name="hidden 2").click()
    clause = page.get_by_role("grid", name="Intermediate clauses").get_by_role("row").nth(1)
    assert "[1] > 1" in clause.inner_text()
    clause.click()
    rule = page.get_by_role("grid", name="Final rules").get_by_role("row").nth(1)
    assert "+0.3" in rule.inner_text()
    rule.click()
    page.get_by_role("heading", name="Rule 4", exact=True).wait_for()
    page.get_by_role("button", name="found by search").click()
    page.get_by_role("heading", name="3 Final rules of found by search (1 rule)").wait_for()


def test_premises_and_additions_are_edited_with_a_preview(page):
    go(page, "view=edit&sel=rule.4")
    page.get_by_label("income, upper bound").fill("6")
    page.get_by_label("income, upper bound").press("Enter")
    page.get_by_label("Then add").fill("0.45")
    page.get_by_label("Then add").press("Enter")
    text = "IF 2 < income <= 6 AND place != valley THEN ADD 0.45"
    origin = ' WITH layer "hidden 2", clause "hidden 2[1] > 1"'
    field = page.get_by_label("In the rule language")
    assert field.input_value() == text + origin
    edited = RULES.replace(4, text + origin, note="rounder")
    figures = measured(edited, page)
    preview = effect(page, "Effect of this edit")
    assert preview == {name: figures[name] for name in preview}
    assert len(preview) == 4
    shown = number_reports.table().iloc[rows_in(page)]
    shift = np.abs(edited.predict(shown) - RULES.predict(shown))
    changed = f"{(shift > 0).sum()} rows predicted differently"
    assert changed in page.locator(".preview").inner_text()
    page.get_by_label("Reason, for the list of changes").fill("rounder")
    page.get_by_role("button", name="Change the rule").click()
    page.get_by_role("heading", name="1 change").wait_for()
    assert figures.items() <= effect(page, "On the 200 rows in this page").items()
    assert page.evaluate("window.clausewise.tools.ruleFile()") == json.loads(dumps(edited))
    check_accessibility(page)
    page.get_by_role("button", name="Undo edit").click()
    page.get_by_role("heading", name="No changes").wait_for()
    assert page.evaluate("window.clausewise.tools.ruleFile()") == json.loads(dumps(RULES))


def test_rules_are_added_and_deleted_and_edits_survive_a_reload(page):
    go(page, "view=edit&edit.new=1")
    field = page.get_by_label("In the rule language")
    field.fill("IF incom > 9 THEN ADD 0.5")
    page.get_by_text("there is no feature incom; did you mean income?").wait_for()
    assert page.get_by_role("button", name="Add", exact=True).is_disabled()
    text = "IF income > 9 THEN ADD 0.5"
    field.fill(text)
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("heading", name="Rule 5").wait_for()
    page.get_by_role("grid", name="Rules to edit").get_by_role("row").nth(1).click()
    page.get_by_role("button", name="Delete the rule …").click()
    page.get_by_role("button", name="Delete rule 0").click()
    page.get_by_role("heading", name="2 changes").wait_for()
    expected = json.loads(dumps(RULES.add(text).remove(0)))
    assert page.evaluate("window.clausewise.tools.ruleFile()") == expected
    page.reload()
    page.get_by_role("heading", name="2 changes").wait_for()
    assert page.evaluate("window.clausewise.tools.ruleFile()") == expected
    assert page.get_by_role("grid", name="Rules to edit").get_by_text("new", exact=True).count() == 1


@pytest.fixture
def other_rules():
    """The rules with one changed, one gone and one new, over columns in another order."""
    edited = RULES.reweight(1, addition=-0.4).remove(2).add("IF place = bay AND income > 4 THEN ADD 0.2")
    names, kinds, categories = RULES.features.names, RULES.features.kinds, RULES.features.categories
    order = [2, 0, 3, 1]
    moved = Features(*(tuple(part[place] for place in order) for part in (names, kinds, categories)))
    text = edited.to_text().split("\n\n", 1)[1]
    return RegressionRules.from_rules(
        RegressionRules.from_rules([], moved).read_rules(text),
        moved,
        base=RULES.base,
        linear=[LinearTerm(1, "income", 0.21, fill=3.5, low=0.5, high=15)],
        response="price",
    )


def test_a_second_rule_file_is_compared_with_the_rules(page, other_rules, tmp_path):
    path = tmp_path / "other.json"
    other_rules.save(path)
    view_tab(page, "Compare")
    page.get_by_text("No differences").wait_for()
    page.get_by_label("Open a rule file").set_input_files(path)
    page.get_by_text("1 added, 1 removed, 1 changed, 3 rules unchanged.").wait_for()
    rows = page.locator("table.both tbody tr").all()
    both = {
        row.locator("th").inner_text(): [cell.inner_text() for cell in row.locator("td").all()]
        for row in rows
    }
    for place, rules in enumerate((RULES, other_rules)):
        figures = measured(rules, page)
        assert {name: cells[place].strip() for name, cells in both.items() if name in figures} == figures
    shown = np.array(rows_in(page))
    before, after = (rules.predict(number_reports.table())[shown] for rules in (RULES, other_rules))
    shift = np.abs(after - before)
    assert both["predict differently"][0].startswith(f"on {(shift > 0).sum()} rows")
    differing = page.get_by_role("grid", name="Rules that differ", exact=True).inner_text()
    assert "was −0.58" in differing
    assert re.search(
        r"as rule 4, but place bay .*, income > 4 instead of > 2, ≤ 5\.1, \+0\.2 instead of \+0\.3", differing
    )
    first = page.get_by_role("grid", name="Rows that differ most").get_by_role("row").nth(1)
    first.wait_for()
    cells = first.get_by_role("gridcell").all_inner_texts()
    order = np.argsort(-shift, kind="stable")
    assert cells[0] == str(shown[order[0]])
    assert [float(cell) for cell in cells[1:3]] == pytest.approx(
        [before[order[0]], after[order[0]]], rel=1e-3
    )
    check_accessibility(page)
    first.click()
    page.get_by_role("heading", name=f"Row {shown[order[0]]}", exact=True).wait_for()


def test_a_file_that_does_not_fit_says_why(page, tmp_path):
    view_tab(page, "Compare")
    (tmp_path / "classes.json").write_text(dumps(reports.rules()))
    page.get_by_label("Open a rule file").set_input_files(tmp_path / "classes.json")
    page.get_by_text("these are rules for classes; this report is on rules for numbers").wait_for()
    foreign = RegressionRules.from_rules(
        [RegressionRule((Term(0, low=1),), 2.0)], ["height"], linear=[LinearTerm(0, "height", 0.5)]
    )
    foreign.save(tmp_path / "foreign.json")
    page.get_by_label("Open a rule file").set_input_files(tmp_path / "foreign.json")
    page.get_by_text("the report has no feature height, which these rules test").wait_for()
