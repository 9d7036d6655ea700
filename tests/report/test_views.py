"""Each view used as a person would, with mouse and keyboard."""

import base64
import itertools
import json
import re

import numpy as np

from clausewise import Frontier, Origin, Rule, RuleSet, Term
from tests.reference import rules as reference
from tests.report import reports
from tests.report.conftest import view_tab

# The table of rules instead of the matrix, and the closed part of the Overview opened.
SIZES = "#overview.sizes=1&rules.as=table"
TABLE = "&rules.as=table"


def selection(page):
    return page.get_by_role("complementary").get_by_role("heading", level=2).inner_text()


def rows_shown(path):
    """The numbers in the data of the rows in a report."""
    payload = json.loads(path.read_text().split('id="clausewise-payload">')[1].split("</script>")[0])
    packed = payload["rows"]["numbers"]
    return np.frombuffer(base64.b64decode(packed["data"]), dtype=packed["type"]).tolist()


def first_cells(page, table, column):
    rows = page.get_by_role("grid", name=table).get_by_role("row")
    return [rows.nth(i).get_by_role("gridcell").nth(column).inner_text() for i in range(1, rows.count())]


# --- Overview ---


def test_the_overview_gives_the_measures_on_all_rows(small_report, open_report):
    page = open_report(small_report, fragment=SIZES)
    truth, network = reports.labels()
    measured = reports.rules().evaluate(reports.table(), truth, network=network)
    figures = page.get_by_label("Figures").inner_text()
    assert f"{100 * measured.fidelity:.1f} %" in figures
    assert f"{100 * measured.accuracy:.1f} %" in figures
    assert "on all 400 rows given; 300 of 400 rows are in this page" in figures
    costs = [reference.reading_cost(rule, reports.rules().features.n_categories) for rule in reports.rules()]
    assert f"Reading cost\n{sum(costs)}\n" in figures


def test_the_overview_leads_to_the_rules_of_a_class(small_report, open_report):
    page = open_report(small_report, fragment=SIZES)
    page.get_by_title("Show the rules for perhaps").focus()
    page.keyboard.press("Enter")
    assert first_cells(page, "Rules", 1) == ["perhaps", "perhaps"]


def test_the_overview_leads_to_the_rules_with_a_term_and_of_a_feature(small_report, open_report):
    page = open_report(small_report, fragment=SIZES)
    page.get_by_role("button", name="age ≤ 30").click()
    assert first_cells(page, "Rules", 0) == ["0", "5"]
    view_tab(page, "Overview")
    page.get_by_role("rowheader", name="smokes").get_by_role("button").click()
    assert first_cells(page, "Rules", 0) == ["2", "4"]


def test_a_term_leads_to_the_rules_with_that_very_term(open_report, tmp_path):
    listed = [
        Rule((Term(0, high=3),), "a"),
        Rule((Term(0, high=30),), "a"),
        Rule((Term(0, low=1, high=3),), "b"),
    ]
    RuleSet.from_rules(listed, ["x"], default="b", classes=["a", "b"]).report(tmp_path / "r.html")
    page = open_report(tmp_path / "r.html", fragment=SIZES)
    page.get_by_role("button", name="x ≤ 3", exact=True).click()
    assert first_cells(page, "Rules", 0) == ["0"]
    assert page.get_by_label("Term", exact=True).locator("option:checked").inner_text() == "x ≤ 3"
    page.get_by_role("button", name="Clear", exact=True).click()
    assert first_cells(page, "Rules", 0) == ["0", "1", "2"]


def test_bars_of_equal_numbers_are_equally_long(open_report, tmp_path):
    """Also the bar of the default class, which has a badge beside it."""
    listed = [Rule((Term(0, high=i),), label) for i in range(3) for label in "ab"]
    listed += [Rule((Term(0, low=i),), "c") for i in range(1_200)]
    RuleSet.from_rules(listed, ["x"], default="a", classes=list("abc")).report(tmp_path / "r.html")
    page = open_report(tmp_path / "r.html", fragment=SIZES)
    boxes = [box.bounding_box() for box in page.locator("[aria-labelledby=rules-per-class] .bar-box").all()]
    assert len({(round(box["x"], 2), round(box["width"], 2)) for box in boxes}) == 1
    assert boxes[0]["width"] > 50


def test_the_frontier_marks_the_rule_set_of_the_report(small_report, open_report):
    page = open_report(small_report, fragment=SIZES)
    chart = page.get_by_role("img").get_attribute("aria-label")
    assert "From 4 rules on (84.0 %), more adds little." in chart
    truth, network = reports.labels()
    fidelity = reports.rules().evaluate(reports.table(), truth, network=network).fidelity
    assert f"This rule set: 7 rules, {100 * fidelity:.1f} %." in chart


def test_the_overview_says_what_the_sizes_of_a_frontier_are(open_report, tmp_path):
    sizes = Frontier(np.array([6, 12, 20]), np.array([[0.7, 0.9, 0.9]]), "conditions")
    reports.rules().report(tmp_path / "report.html", frontier=sizes)
    page = open_report(tmp_path / "report.html")
    chart = page.get_by_role("img")
    assert "From 12 conditions on (90.0 %), more adds little." in chart.get_attribute("aria-label")
    assert "conditions to read" in chart.locator("text").all_text_contents()
    assert page.get_by_role("heading", name="Fidelity by conditions to read").count() == 1


def test_the_overview_leads_to_the_rows_without_a_rule(small_report, open_report):
    page = open_report(small_report, fragment=SIZES)
    page.get_by_title("Show those in this page").click()
    assert selection(page) == "Rows on which no rule fires"


def test_the_frontier_writes_no_number_over_another_or_beyond_all(open_report, tmp_path):
    budgets = np.array([1, 2, 4, 8, 16, 32, 64, 100, 110])
    # The mean of the last plus its deviation is more than 1.
    fidelity = np.linspace(0.9, 1.0, 9) + np.array([[0.0], [0.0], [-0.02]])
    path = tmp_path / "report.html"
    reports.rules().report(path, frontier=Frontier(budgets, fidelity))
    page = open_report(path)
    texts = page.get_by_role("img").locator("text")
    boxes = [texts.nth(i).bounding_box() for i in range(texts.count())]
    names = texts.all_text_contents()
    assert "100.0 %" in names
    assert not any(name.startswith("100.") and name != "100.0 %" for name in names)
    assert all(box["x"] >= page.get_by_role("img").bounding_box()["x"] for box in boxes)
    numbers = [box for name, box in zip(names, boxes, strict=True) if name.isdigit()]
    assert len(numbers) >= 4
    assert all(a["x"] + a["width"] < b["x"] for a, b in itertools.pairwise(numbers))


# --- Rules ---


def test_rules_are_searched_filtered_and_sorted(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules" + TABLE)
    assert len(first_cells(page, "Rules", 0)) == 7
    page.get_by_label("Words in the rule").fill("pilot age")
    assert first_cells(page, "Rules", 0) == ["5", "6"]
    page.get_by_role("button", name="Clear", exact=True).click()
    page.get_by_label("Layer").select_option("hidden 2")
    page.get_by_label("Confidence % ≥").fill("60")
    assert first_cells(page, "Rules", 0) == ["3", "5"]
    page.get_by_role("button", name="Clear", exact=True).click()
    page.get_by_label("Terms ≤").fill("1")
    assert first_cells(page, "Rules", 0) == ["1", "3"]
    page.get_by_role("button", name="Clear", exact=True).click()
    page.get_by_label("Support ≥").fill("100")
    page.get_by_role("button", name="Conf.").click()
    assert first_cells(page, "Rules", 0) == ["3", "1", "5"]
    page.get_by_role("button", name="Conf.").click()
    assert first_cells(page, "Rules", 0) == ["5", "1", "3"]


def test_the_table_says_on_how_many_rows_a_rule_fires_and_how_often_the_network_agrees(
    small_report, open_report
):
    page = open_report(small_report, fragment="#view=rules" + TABLE)
    drawn = page.evaluate("() => Array.from(window.clausewise.store.table.numbers)")
    fires = reports.rules().fires(reports.table().iloc[drawn]).dense()
    _, network = reports.labels()
    concluded = np.array([rule.conclusion for rule in reports.rules()])
    agrees = [np.mean(network[drawn][fires[r]] == concluded[r]) for r in range(7)]
    assert first_cells(page, "Rules", 7) == [str(n) for n in fires.sum(axis=1)]
    assert first_cells(page, "Rules", 8) == [f"{100 * part:.1f} %" for part in agrees]


def test_the_table_of_rules_is_walked_by_keyboard(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules" + TABLE)
    page.get_by_role("grid", name="Rules").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert selection(page) == "Rule 1"
    page.keyboard.press("End")
    assert selection(page) == "Rule 6"
    page.keyboard.press("Home")
    assert selection(page) == "Rule 0"


def test_the_matrix_comes_first_with_the_evidence_of_each_rule(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules")
    heads = page.get_by_role("grid").get_by_role("columnheader")
    names = page.locator(".matrix-feature .matrix-name").all_inner_texts()
    assert heads.count() == 7
    assert names == ["age", "income", "job", "smokes"]  # by the number of rules
    drawn = page.evaluate("() => Array.from(window.clausewise.store.table.numbers)")
    fires = reports.rules().fires(reports.table().iloc[drawn]).dense()
    network = reports.labels()[1][drawn]
    for line in page.get_by_role("grid").get_by_role("row").all()[1:]:
        place = int(line.get_by_role("rowheader").inner_text().split()[0])
        cells = line.get_by_role("gridcell").all_inner_texts()
        agrees = np.mean(network[fires[place]] == reports.rules()[place].conclusion)
        assert cells[0] == f"{fires[place].sum()} · {100 * agrees:.0f} %"
        assert cells[1] == f"{100 * reports.rules()[place].confidence:.1f} %"
    line = page.get_by_role("row").filter(has=page.get_by_label("Tick rule 2"))
    assert line.get_by_role("gridcell").all_inner_texts()[2:] == ["> 2000", "true"]
    # Rules of one class are together, and similar ones among them.
    classes = [text.split()[-1] for text in page.get_by_role("rowheader").all_inner_texts()]
    assert classes == sorted(classes, key=reports.CLASSES.index)
    page.get_by_role("grid").focus()
    page.keyboard.press("ArrowDown")
    assert selection(page) == f"Rule {page.get_by_role('rowheader').first.inner_text().split()[0]}"


def test_a_head_of_the_matrix_sorts_and_filters(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules")
    places = lambda: [int(text.split()[0]) for text in page.get_by_role("rowheader").all_inner_texts()]  # noqa: E731
    page.get_by_role("button", name="income").click()
    assert places() == [4, 6, 2]  # those that test it, by their bounds
    page.get_by_role("button", name="income").click()
    page.get_by_role("button", name="Conf.").click()
    assert places()[:3] == [0, 3, 1]
    page.get_by_role("button", name="network agrees").click()
    drawn = page.evaluate("() => Array.from(window.clausewise.store.table.numbers)")
    explained = reports.rules().explain_global(reports.table().iloc[drawn], reports.labels()[1][drawn])
    assert places() == np.argsort(-explained.agreement, kind="stable").tolist()


def test_the_inspector_shows_where_a_rule_fires(small_report, open_report):
    page = open_report(small_report, fragment="#sel=rule.3")
    beside = page.get_by_role("complementary")
    assert "age > 60" in beside.inner_text()
    beside.get_by_role("button", name="Show its rows").click()
    drawn = page.evaluate("() => Array.from(window.clausewise.store.table.numbers)")
    n_fired = int(reports.rules().fires(reports.table().iloc[drawn]).dense()[3].sum())
    assert f"{n_fired} rows of the 300 in this page" in beside.inner_text()
    beside.get_by_role("button", name="Back to the rule").click()
    assert selection(page) == "Rule 3"


def test_rules_are_seen_against_the_row_or_cohort_selected(small_report, open_report):
    row = rows_shown(small_report)[7]
    page = open_report(small_report, fragment=f"#view=rules&sel=row.{row}" + TABLE)
    fires = reports.rules().fires(reports.table().iloc[[row]]).dense()[:, 0]
    assert first_cells(page, "Rules", 9) == ["fires" if fired else "–" for fired in fires]
    page.get_by_label("Only rules that fire on the selection").check()
    assert first_cells(page, "Rules", 0) == [str(place) for place in np.flatnonzero(fires)]
    cohort = open_report(small_report, fragment="#view=rules&sel=differ.network.rules" + TABLE)
    drawn = cohort.evaluate("() => Array.from(window.clausewise.store.table.numbers)")
    _, network = reports.labels()
    X = reports.table().iloc[drawn]
    differs = reports.rules().predict(X) != network[drawn]
    expected = reports.rules().fires(X).dense()[:, differs].sum(axis=1)
    assert first_cells(cohort, "Rules", 9) == [str(n) for n in expected]


def test_the_rules_that_fire_on_rows_are_gone_through_one_by_one(small_report, open_report):
    row = rows_shown(small_report)[7]
    page = open_report(small_report, fragment=f"#view=rules&sel=row.{row}" + TABLE)
    fires = reports.rules().fires(reports.table().iloc[[row]]).dense()[:, 0]
    expected = [str(place) for place in np.flatnonzero(fires)]
    page.get_by_label("Only rules that fire on the selection").check()
    page.get_by_role("grid", name="Rules").get_by_role("row").nth(1).click()
    assert selection(page) == f"Rule {expected[0]}"
    assert first_cells(page, "Rules", 0) == expected
    assert page.get_by_label(f"Only rules that fire on “row {row}”").is_checked()
    page.get_by_role("button", name="Clear", exact=True).click()
    assert len(first_cells(page, "Rules", 0)) == 7


def test_rules_are_searched_with_the_signs_of_the_rule_language(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules" + TABLE)
    for query, expected in [
        ("age <= 30", ["0", "5"]),
        ("age<=30", ["0", "5"]),
        ('"age <= 30"', ["0", "5"]),
        ("age > 30", ["1"]),
        ("job in cook", ["5"]),
        ('"job in {cook"', ["5"]),
        ("job != nurse", ["5"]),
    ]:
        page.get_by_label("Words in the rule").fill(query)
        assert first_cells(page, "Rules", 0) == expected, query


def test_a_rule_with_a_weight_below_zero_speaks_against_its_class(open_report, tmp_path):
    rules = RuleSet.from_rules(
        [
            Rule((Term(0, high=3),), "yes", confidence=0.2, cover=50, correct=10, weight=-1.5),
            Rule((Term(0, low=3),), "yes", confidence=0.9, cover=50, correct=45, weight=2),
        ],
        ["x"],
        default="no",
        voting="weights",
    )
    X = np.arange(8.0)[:, None]
    rules.report(tmp_path / "report.html", X, network=np.where(X[:, 0] > 2, "yes", "no"))
    page = open_report(tmp_path / "report.html", fragment="#view=rules&sel=rule.0" + TABLE)
    rows = page.get_by_role("grid", name="Rules").get_by_role("row")
    against, for_it = (rows.nth(number).get_by_role("gridcell").all_inner_texts() for number in (1, 2))
    # Three of the four rows up to 3 are not "yes" to the network, and all above 3 are.
    shown = [" ".join(text.split()) for text in against]
    assert shown == ["0", "against yes", "x ≤ 3", "1", "2", "–", "50", "-1.5", "4", "75.0 %"]
    assert for_it[1] == "yes"
    assert for_it[-1] == "100.0 %"
    details = page.get_by_role("complementary").inner_text()
    assert "THEN speaks against" in details
    assert "Confidence" not in details
    # On the row 3 the network says "yes", and this rule alone speaks against it.
    view_tab(page, "Where they differ")
    shown = " ".join(page.locator(".rule-buttons").first.inner_text().split())
    assert shown == "0 x ≤ 3 → against yes · 1 row"


# --- Disagreement ---


def test_the_confusion_matrix_counts_all_rows_and_those_in_the_report(small_report, open_report):
    page = open_report(small_report)
    view_tab(page, "Where they differ")
    _, network = reports.labels()
    decided = reports.rules().predict(reports.table())
    expected = int(np.sum((network == "yes") & (decided == "no")))
    assert page.get_by_role("button", name=f"Network yes, rules no: {expected} row").is_visible()
    drawn = page.evaluate("() => Array.from(window.clausewise.store.table.numbers)")
    page.get_by_role("button", name="300 in this page").click()
    expected = int(np.sum((network[drawn] == "yes") & (decided[drawn] == "no")))
    assert page.get_by_role("button", name=f"Network yes, rules no: {expected} row").is_visible()


def test_a_cell_gives_its_rows_and_the_rules_that_misled(small_report, open_report):
    page = open_report(small_report)
    view_tab(page, "Where they differ")
    drawn = np.array(page.evaluate("() => Array.from(window.clausewise.store.table.numbers)"))
    _, network = reports.labels()
    decided = reports.rules().predict(reports.table())
    in_cell = drawn[(network[drawn] == "yes") & (decided[drawn] == "no")]
    page.get_by_role("button", name="Network yes, rules no").click()
    shown = [int(text.replace(",", "")) for text in first_cells(page, "Rows", 0)]
    assert shown == in_cell.tolist()[: len(shown)]
    assert len(shown) >= min(len(in_cell), 5)
    fires = reports.rules().fires(reports.table().iloc[in_cell]).dense()
    concludes_no = np.array([rule.conclusion == "no" for rule in reports.rules()])
    worst = int(np.argmax(fires.sum(axis=1) * concludes_no))
    misled = page.get_by_label("Rows of the cell").locator(".rule-buttons button").first
    assert misled.inner_text().startswith(f"{worst} ")
    assert f"{fires[worst].sum()} row" in misled.inner_text()
    misled.click()
    assert selection(page) == f"Rule {worst}"
    page.get_by_role("grid", name="Rows").get_by_role("row").nth(1).click()
    assert selection(page) == f"Row {in_cell[0]}"


def test_the_confusion_matrix_is_walked_by_keyboard(small_report, open_report):
    page = open_report(small_report)
    view_tab(page, "Where they differ")
    page.locator(".confusion button[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    rows = page.get_by_label("Rows of the cell").get_by_role("heading", level=2)
    assert rows.inner_text().startswith("Network: yes, rules: yes: ")
    page.get_by_role("button", name="All that differ").click()
    assert rows.inner_text().startswith("Rows on which network and rules differ: ")


def test_a_cell_can_be_reached_whatever_pair_is_compared(small_report, open_report):
    page = open_report(small_report, fragment="#view=disagreement&dis.focus=9.9")
    page.locator(".confusion button[tabindex='0']").focus()
    page.keyboard.press("Enter")
    rows = page.get_by_label("Rows of the cell").get_by_role("heading", level=2)
    assert rows.inner_text().startswith("Network: perhaps, rules: perhaps: ")


def test_edited_rules_are_compared_on_the_rows_in_the_report(small_report, open_report):
    page = open_report(small_report)
    view_tab(page, "Where they differ")
    page.evaluate(
        "() => { const { store } = window.clausewise; const set = store.rules.value;"
        " store.edit({ ...set, rules: set.rules.slice(1) }); }"
    )
    assert page.get_by_role("button", name="All 400 rows").is_disabled()
    assert "of 300 rows" in page.locator(".toolbar").inner_text()
    page.get_by_role("button", name="Undo").click()
    assert page.get_by_role("button", name="All 400 rows").is_enabled()


# --- Origin ---


def test_origin_leads_from_layer_to_clause_to_rules(small_report, open_report):
    page = open_report(small_report)
    view_tab(page, "Origin")
    assert first_cells(page, "Intermediate clauses", 2) == ["2", "1"]
    page.get_by_role("button", name="hidden 2").click()
    assert first_cells(page, "Final rules", 0) == ["3", "4", "5"]
    page.get_by_role("button", name="hidden 1").click()
    page.get_by_role("grid", name="Intermediate clauses").focus()
    page.keyboard.press("End")
    assert first_cells(page, "Final rules", 0) == ["2"]
    page.get_by_role("grid", name="Final rules").focus()
    page.keyboard.press("ArrowDown")
    assert selection(page) == "Rule 2"
    page.get_by_role("button", name="All rules of the layer").click()
    assert first_cells(page, "Final rules", 0) == ["0", "1", "2"]


def test_origin_shows_where_a_rule_selected_elsewhere_comes_from(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules&sel=rule.4")
    view_tab(page, "Origin")
    assert page.get_by_role("button", name="hidden 2").get_attribute("aria-pressed") == "true"
    chosen = page.get_by_role("grid", name="Final rules").locator("[aria-selected=true]")
    assert chosen.get_by_role("gridcell").first.inner_text() == "4"


def test_origin_lists_numbered_layers_in_the_order_of_the_network(open_report, tmp_path):
    layers = ["hidden 10", None, "inputs", "hidden 2"]
    listed = [
        Rule((Term(0, low=i),), "yes", origin=None if name is None else Origin(name, "clause"))
        for i, name in enumerate(layers)
    ]
    RuleSet.from_rules(listed, ["x"], default="no", classes=["no", "yes"]).report(tmp_path / "report.html")
    page = open_report(tmp_path / "report.html", fragment="#view=origin")
    assert page.locator(".layer-name").all_inner_texts() == ["hidden 2", "inputs", "hidden 10", "no layer"]


def test_less_than_all_is_never_shown_as_all(open_report, tmp_path):
    listed = [Rule((Term(0, low=1),), "yes", 0.9996), Rule((Term(0, low=2),), "yes", 1.0)]
    RuleSet.from_rules(listed, ["x"], default="no", classes=["no", "yes"]).report(tmp_path / "report.html")
    page = open_report(tmp_path / "report.html", fragment="#view=rules" + TABLE)
    assert first_cells(page, "Rules", 5) == ["99.9 %", "100.0 %"]


def test_judges_agree_on_labels_that_the_rules_do_not_know(open_report, tmp_path):
    """Each judge numbers such labels separately, so equal labels may have different numbers."""
    rules = RuleSet.from_rules([Rule((Term(0, high=2),), "a")], ["x"], default="b", classes=["a", "b"])
    truth = np.array(["a", "b", "c", "d", "d"])
    network = np.array(["a", "b", "b", "d", "e"])
    rules.report(tmp_path / "r.html", np.arange(5.0)[:, None], truth, network)
    page = open_report(tmp_path / "r.html", fragment="#view=disagreement&dis.pair=truth-network")
    assert "They agree on 60.0 % of 5 rows" in page.locator(".toolbar").inner_text()
    assert page.locator(".confusion .agree").all_inner_texts() == ["100 %", "100 %", "0 %", "50 %"]
    assert first_cells(page, "Rows", 0) == ["2", "4"]


def test_misleading_rules_depend_on_the_pair_compared(open_report, tmp_path):
    rules = RuleSet.from_rules(
        [Rule((Term(0, high=2),), "a"), Rule((Term(0, low=2),), "b")], ["x"], default="b", classes=["a", "b"]
    )
    truth, network = np.array(["b", "a", "b", "b"]), np.array(["a", "a", "a", "a"])
    rules.report(tmp_path / "r.html", np.array([[1.0], [2.0], [3.0], [4.0]]), truth, network)
    for pair, place, judge in (("network-rules", "1", "network"), ("truth-rules", "0", "truth")):
        page = open_report(tmp_path / "r.html", fragment=f"#view=disagreement&dis.pair={pair}")
        misled = page.locator(".misled")
        assert f"but the {judge} differs" in misled.inner_text()
        assert [text.split()[0] for text in misled.locator("button").all_inner_texts()] == [place]
        page.locator(".confusion button").filter(has_text=re.compile(r"^\d")).last.click()
        page.evaluate(f"() => window.location.hash = '#view=rules&sel=differ.{pair.replace('-', '.')}'")
        selected = page.get_by_label("Selection", exact=True)
        selected.get_by_text(f"but the {judge} differs").wait_for()
