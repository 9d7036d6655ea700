"""What the page tells at first sight, and what a person does next: compare, delete, share, print."""

import csv
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from clausewise import Features, Origin, Rule, RuleSet, Term, metrics
from clausewise.rules import RESIDUAL
from tests.report import reports
from tests.report.conftest import NARROW, check_accessibility, view_tab


def measured(**options):
    truth, network = reports.labels()
    return reports.rules(**options).evaluate(reports.table(), truth, network=network)


def drawn_rows(page):
    return np.array(page.evaluate("() => Array.from(window.clausewise.store.table.numbers)"))


def percent(part, digits=1):
    return f"{100 * part:.{digits}f} %"


def text_of(locator):
    return locator.inner_text().replace("\u00a0", " ")


# --- Overview ---


def test_one_sentence_says_how_faithful_the_rules_are_and_compared_to_what(small_report, open_report):
    page = open_report(small_report)
    found = measured()
    low, high = (f"{100 * bound:.1f}" for bound in found.fidelity_interval)
    weakest = min(found.class_fidelity, key=lambda one: one.fidelity)
    most = max(found.class_fidelity, key=lambda one: one.n_rows)
    assert text_of(page.locator(".headline")) == (
        f"7 rules decide as the network does on {percent(found.fidelity)} of 400 rows ({low}–{high}); "
        f"always answering {most.label} would reach {percent(found.fidelity_baseline)}. "
        f"Weakest: class {weakest.label}, {percent(weakest.fidelity, 0)}."
    )
    bars = page.locator("[aria-labelledby=agreements]").inner_text().replace("\n", " ")
    shown = (found.accuracy_baseline, found.accuracy, found.accuracy_of_network, found.fidelity)
    assert all(percent(part) in bars for part in shown)


def test_the_agreement_of_a_class_opens_the_rows_that_differ(small_report, open_report):
    page = open_report(small_report)
    bars = page.locator("[aria-labelledby=per-class] li").all_inner_texts()
    expected = [(one.label, percent(one.fidelity)) for one in measured().class_fidelity]
    assert [tuple(text.split("\n")[:2]) for text in bars] == expected
    page.get_by_title("Show the rows of yes on which the rules differ").click()
    rows = drawn_rows(page)
    network = reports.labels()[1][rows]
    n_missed = int(
        np.sum((network == "yes") & (reports.rules().predict(reports.table().iloc[rows]) != "yes"))
    )
    heading = page.get_by_label("Rows of the cell").get_by_role("heading", level=2)
    assert heading.inner_text() == f"Network: yes, rules: another class: {n_missed} rows in this page"
    page.go_back()
    page.locator(".headline").wait_for()


@pytest.fixture(scope="module")
def worrying_report(tmp_path_factory):
    """600 rows; rule 1 is contradicted by the network, rule 2 never fires."""
    path = tmp_path_factory.mktemp("worrying") / "report.html"
    listed = [
        Rule((Term(0, low=0.5),), "a", 0.9),
        Rule((Term(0, high=0.2), Term(1, low=0.5)), "a", 0.6),
        Rule((Term(0, low=7),), "b", 0.9),
    ]
    rules = RuleSet.from_rules(listed, ["x", "y"], default="b", classes=["a", "b"])
    X = np.random.default_rng(0).random((600, 2))
    rules.report(path, X, network=np.where(X[:, 0] > 0.5, "a", "b"))
    return path


def test_rules_that_need_attention_are_links(worrying_report, open_report):
    page = open_report(worrying_report)
    concerns = page.locator(".concerns li").all_inner_texts()
    assert [re.match(r"Rule (\d)", text).group(1) for text in concerns] == ["1", "2"]
    assert "the network agrees on only 0 % of its" in concerns[0]
    assert "fires on none of the 600 rows in this page" in concerns[1]
    page.get_by_role("button", name="Rule 2").click()
    assert page.get_by_role("complementary").get_by_role("heading", level=2).inner_text() == "Rule 2"


def test_slices_in_words_open_their_rows(worrying_report, open_report):
    page = open_report(worrying_report, fragment="#view=disagreement")
    slices = page.locator("[aria-labelledby=slices] li button")
    assert re.search(r"x ≤ 0\.\d+.*: (\d+) % differ, \d+ rows", slices.first.inner_text())
    page.get_by_label("Rows of the cell").get_by_role("heading", name=re.compile("differ")).wait_for()
    slices.first.click()
    n_rows = int(re.search(r"(\d+) rows", slices.first.inner_text()).group(1))
    heading = page.get_by_label("Rows of the cell").get_by_role("heading", level=2)
    words = slices.first.inner_text().split(":")[0]
    assert heading.inner_text() == f"Rows with {words}: {n_rows} rows in this page"
    assert page.locator(".multiple figcaption").all_inner_texts() == ["x", "y"]
    check_accessibility(page)
    # The bar with the highest rate opens the rows that differ there.
    multiple = page.locator(".multiple").first
    worst = multiple.get_by_role("img").get_attribute("aria-label")
    n_differ = int(re.search(r"\((\d+) of \d+ rows\)", worst).group(1))
    multiple.get_by_role("button").click()
    assert re.fullmatch(
        rf"Rows with .*x ≤ 0\.\d+ on which network and rules differ: {n_differ} rows in this page",
        heading.inner_text(),
    )
    page.wait_for_function("() => location.hash.includes('dis.cell=bin.')")
    page.reload()
    assert f": {n_differ} rows in this page" in heading.inner_text()


# --- Rules ---


def test_selecting_moves_no_row_and_keeps_the_title_in_sight(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules&rules.as=table")
    rows = page.get_by_role("grid", name="Rules").get_by_role("row")
    before = [rows.nth(i).bounding_box() for i in (1, 2, 3)]
    rows.nth(2).click()
    page.get_by_role("complementary").wait_for()
    assert [rows.nth(i).bounding_box() for i in (1, 2, 3)] == before
    page.get_by_role("complementary").evaluate("panel => panel.scrollTo(0, 1_000)")
    title = page.get_by_role("complementary").get_by_role("heading", level=2)
    panel = page.get_by_role("complementary").bounding_box()
    assert title.bounding_box()["y"] < panel["y"] + 40


def test_a_few_rules_are_shown_in_full_and_matches_are_marked(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules&rules.as=table", viewport=NARROW)
    cells = page.get_by_role("grid", name="Rules").locator(".clip").filter(has_text=re.compile("[≤>=]"))
    texts = [" ".join(text.split()) for text in cells.all_inner_texts()]
    assert texts[6] == "age > 70 AND income > 1500 AND job = pilot"
    assert all(cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth + 1") for cell in cells.all())
    page.get_by_label("Words in the rule").fill("pilot age")
    assert page.locator("mark").all_inner_texts() == ["age", "age", "pilot"]  # rule 5 is shown as "not nurse"


def test_terms_out_of_sight_are_counted_and_matches_come_first(open_report, tmp_path):
    names = [f"column {i}" for i in range(40)]
    listed = [Rule(tuple(Term(f, low=0.5) for f in range(r % 7, 40, 5)), "a") for r in range(600)]
    RuleSet.from_rules(listed, names, default="b", classes=["a", "b"]).report(tmp_path / "r.html")
    page = open_report(tmp_path / "r.html", fragment="#view=rules")
    more = page.locator(".matrix-more").first
    n_hidden = int(re.fullmatch(r"\+(\d) →", more.inner_text()).group(1))
    more.click()
    page.wait_for_function(
        "n => document.querySelector('.matrix-more')?.innerText !== `+${n} →`", arg=n_hidden
    )
    assert page.get_by_role("complementary").count() == 0  # it scrolls, and selects nothing
    page.get_by_role("button", name="Table").click()
    page.get_by_label("Words in the rule").fill('"column 38"')
    first = page.get_by_role("grid", name="Rules").locator(".clip").first
    assert first.inner_text().strip().startswith("column 38 > 0.5")
    mark, cell = first.locator("mark").bounding_box(), first.bounding_box()
    assert mark["x"] + mark["width"] <= cell["x"] + cell["width"]


def test_rules_are_compared_side_by_side(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules")
    page.get_by_label("Tick rule 0").check()
    assert page.get_by_role("button", name="Compare", exact=True).is_disabled()
    page.get_by_label("Tick rule 5").check()
    page.get_by_role("button", name="Compare", exact=True).click()
    table = page.get_by_role("table", name="Rules side by side")
    lines = {
        line.locator("th").inner_text(): line.locator("td").all_inner_texts()
        for line in table.locator("tbody tr").all()
    }
    assert lines["age"] == ["≤ 30", "≤ 30"]
    assert lines["job"] == ["nurse", "not nurse"]
    assert "income" not in lines
    strips = [box.bounding_box() for box in table.locator("tbody tr").first.locator(".strip").all()]
    assert strips[0]["width"] == strips[1]["width"]
    assert "Rules 0 and 5 fire together on 0 rows" in page.get_by_label("Shared rows").inner_text()
    page.get_by_label("Tick rule 5").uncheck()
    page.get_by_label("Tick rule 4").check()
    fires = reports.rules().fires(reports.table().iloc[drawn_rows(page)]).dense()
    together = int(np.sum(fires[0] & fires[4]))
    assert f"Rules 0 and 4 fire together on {together} rows" in page.get_by_label("Shared rows").inner_text()
    check_accessibility(page)


def test_several_rules_are_deleted_after_a_preview_and_come_back(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules&rules.q=age")
    rows = reports.table().iloc[drawn_rows(page)]
    network = reports.labels()[1][drawn_rows(page)]
    page.get_by_role("grid").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press(" ")
    first = int(page.get_by_role("rowheader").first.inner_text().split()[0])
    gone = sorted({first, 0})
    page.get_by_label("Tick rule 0").check()
    page.get_by_label("Ticked rules").get_by_role("button", name="Delete …").click()
    left = reports.rules().remove(gone)
    preview = page.locator(".preview").inner_text()
    assert percent(np.mean(left.predict(rows) == network), 2) in preview
    n_flipped = int(np.sum(left.predict(rows) != reports.rules().predict(rows)))
    assert f"{n_flipped} rows decided differently" in preview
    check_accessibility(page)
    page.get_by_role("button", name="Delete 2 rules").click()
    assert page.locator(".notice").inner_text() == f"Rules {gone[0]}, {gone[1]} deleted"
    assert page.get_by_label("Ticked rules").count() == 0
    view_tab(page, "Edit")  # with the same filter
    assert page.get_by_label("Find").input_value() == "age"
    assert page.get_by_role("grid", name="Rules to edit").get_by_role("row").count() == 1 + sum(
        "age" in str(rule) for rule in left
    )
    page.get_by_role("button", name="Undo", exact=True).click()
    assert page.evaluate("() => window.clausewise.store.rules.value.rules.length") == 7


# --- Predict ---


@pytest.fixture(scope="module")
def weighted_report(tmp_path_factory):
    """Fitted weights with base votes and a scale; one feature is fixed."""
    path = tmp_path_factory.mktemp("weighted") / "report.html"
    weighted_rules().report(path, reports.table(), None, reports.labels()[1], fixed=["age"], max_rows=None)
    return path


def weighted_rules():
    rules = reports.rules(voting="weights")
    weights = [1.5, 0.75, -0.5, 2.25, 0.5, 1.0, 0.25]
    return rules.with_weights(weights, base=[0.25, 0.0, -0.125]).with_scale(1.5)


def test_a_vote_share_is_not_called_a_probability(small_report, open_report):
    page = open_report(small_report, fragment="#view=predict")
    shown = drawn_rows(page)
    row = int(
        shown[np.flatnonzero(reports.rules().fires(reports.table().iloc[shown]).dense().any(axis=0))[5]]
    )
    page.get_by_label("Row", exact=True).fill(str(row))
    page.get_by_label("Row", exact=True).press("Enter")
    rules, X = reports.rules(), reports.table()
    shares = rules.predict_proba(X.iloc[shown])
    covered = ~rules.uncovered(X.iloc[shown])
    own = rules.predict_proba(X.iloc[[row]])[0]
    index = rules.labels.index(rules.predict(X.iloc[[row]])[0])
    decided = np.array([rules.labels.index(label) for label in rules.predict(X.iloc[shown])])
    part = shares[np.arange(len(shown)), decided]
    alike = covered & (decided == index) & (np.abs(part - own[index]) <= 0.05)
    agreed = np.mean(reports.labels()[1][shown][alike] == rules.labels[index])
    text = page.locator(".verdict").inner_text()
    assert "probability" not in text
    assert (
        f"vote share {percent(own[index], 0)} · of such rows {percent(agreed, 0)} agreed with the network "
        f"({alike.sum()} rows)" in text
    )


def test_votes_add_up_from_the_base_to_the_total(weighted_report, open_report):
    page = open_report(weighted_report, fragment="#view=predict")
    rules, X = weighted_rules(), reports.table()
    for row in (3, 11):
        page.get_by_label("Row", exact=True).fill(str(row))
        page.get_by_label("Row", exact=True).press("Enter")
        texts = page.locator(".fall-step > .number").all_inner_texts()
        (why,) = rules.explain(X.iloc[[row]])
        assert texts[0] == "no 0.25, perhaps -0.125"
        totals = dict(zip(rules.labels, [0.25, 0.0, -0.125], strict=True))
        for line in texts[1:-1]:
            votes, label = line.split(" ")
            totals[label] += float(votes.replace("−", "-"))
        assert totals == pytest.approx(why.scores)
        shown = dict(part.rsplit(" ", 1) for part in texts[-1].split(", "))
        assert {name: float(number) for name, number in shown.items()} == pytest.approx(
            {name: score for name, score in why.scores.items() if score != 0}, abs=1e-3
        )
    probability = rules.predict_proba(X.iloc[[11]]).max()
    assert f"with probability {percent(probability, 0)}" in page.locator(".verdict").inner_text()


def test_the_track_of_a_slider_shows_the_decision_at_each_value(weighted_report, open_report):
    page = open_report(weighted_report, fragment="#view=predict&predict.row=11")
    rules, X = weighted_rules(), reports.table()
    runs = page.evaluate(
        """() => {
            const parts = document.querySelectorAll('.slider-decisions');
            const read = (one) => [
                Number(one.getAttribute('x')), Number(one.getAttribute('width')), one.getAttribute('class')
            ];
            return Array.from(parts, (svg) => Array.from(svg.querySelectorAll('.decision'), read));
        }"""
    )
    names = [text.strip() for text in page.locator(".field-name label").all_inner_texts()]
    row = X.iloc[[11]]
    axes = {"age": np.linspace(18, 89, 72), "job": np.array(reports.JOBS, dtype=object)}
    for name, values in axes.items():
        parts = runs[names.index(name)]
        assert parts[0][0] == 0
        assert sum(width for _, width, _ in parts) == pytest.approx(1)
        tried = pd.concat([row] * len(values), ignore_index=True).assign(**{name: values})
        decided = rules.predict(tried)
        n_changes = int(np.sum(decided[1:] != decided[:-1]))
        assert len(parts) == n_changes + 1
        colours = [int(one.split("class-")[1]) for _, _, one in parts]
        keep = np.r_[True, decided[1:] != decided[:-1]]
        assert colours == [rules.labels.index(label) for label in decided[keep]]


def test_locked_features_are_not_changed_and_stay_in_the_address(weighted_report, open_report):
    rules, X = weighted_rules(), reports.table()
    choices = (["age"], ["age", "job"])
    flips = [rules.counterfactuals(X.iloc[:60], reference=X, fixed=locks) for locks in choices]
    row = next(i for i in range(60) if all(found[i].changes for found in flips))
    page = open_report(weighted_report, fragment=f"#view=predict&predict.row={row}")
    assert page.get_by_label("Lock age").get_attribute("aria-pressed") == "true"
    for locks, found in zip(choices, flips, strict=True):
        if "job" in locks:
            page.get_by_label("Lock job").click()
            page.locator(".flip-found.is-waiting").wait_for()
        shown = page.locator(".flip-found:not(.is-waiting)")
        shown.get_by_text(f"becomes {found[row].becomes}").wait_for()
        names = [change.feature for change in found[row].changes]
        assert [text.split()[0] for text in shown.locator("li").all_inner_texts()] == names
    page.wait_for_function("() => location.hash.includes('predict.fixed=0.2')")
    page.reload()
    assert page.get_by_label("Lock job").get_attribute("aria-pressed") == "true"
    page.get_by_label("Lock age").click()
    page.get_by_label("Lock job").click()
    page.wait_for_function("() => location.hash.includes('predict.fixed=none')")


def test_a_rule_pointed_at_lights_its_terms_on_the_sliders(weighted_report, open_report):
    page = open_report(weighted_report, fragment="#view=predict&predict.row=11")
    rules, X = weighted_rules(), reports.table()
    (why,) = rules.explain(X.iloc[[11]])
    button = page.locator(".fall-step button").first
    number = int(button.inner_text().split()[0])
    button.hover()
    lit = page.locator(".field.is-lit label").all_inner_texts()
    assert set(lit) == {rules.features.names[term.feature] for term in rules[number].terms}
    page.locator(".verdict").hover()
    assert page.locator(".field.is-lit").count() == 0
    assert number in [one.number for one in why.fired]


def test_a_slider_stays_inside_its_field(weighted_report, open_report):
    page = open_report(weighted_report, fragment="#view=predict")
    for field in page.locator(".field").filter(has=page.locator("input[type=range]")).all():
        box, slider = field.bounding_box(), field.locator("input[type=range]").bounding_box()
        assert slider["x"] >= box["x"] - 0.5
        assert slider["x"] + slider["width"] <= box["x"] + box["width"] + 0.5


# --- Rows ---


def test_rows_are_sorted_and_saved_as_csv(small_report, open_report):
    page = open_report(small_report, fragment="#view=disagreement")
    page.get_by_role("button", name="Margin (votes)").click()
    cells = page.get_by_role("grid", name="Rows").get_by_role("row")
    margins = [
        float(cells.nth(i).get_by_role("gridcell").nth(4).inner_text().replace(",", "")) for i in range(1, 8)
    ]
    assert margins == sorted(margins)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as CSV").click()
    with waiting.value.path().open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    shown = drawn_rows(page)
    rules, X, network = reports.rules(), reports.table(), reports.labels()[1]
    differ = shown[rules.predict(X.iloc[shown]) != network[shown]]
    assert sorted(int(line["row"]) for line in lines) == differ.tolist()
    scores = np.sort(rules.scores(X.iloc[[int(line["row"]) for line in lines]]), axis=1)
    assert [float(line["margin_in_votes"]) for line in lines] == (scores[:, -1] - scores[:, -2]).tolist()
    first = X.iloc[int(lines[0]["row"])]
    assert lines[0]["job"] in (first["job"], "")
    assert float(lines[0]["income"]) == first["income"]
    assert lines[0]["network"] == network[int(lines[0]["row"])]


def test_a_link_names_a_row_by_its_number_in_the_data(small_report, open_report, tmp_path):
    page = open_report(small_report)
    shown = drawn_rows(page)
    number = int(shown[40])
    truth, network = reports.labels()
    reports.rules().report(tmp_path / "all.html", reports.table(), truth, network, max_rows=None)
    again = open_report(tmp_path / "all.html", fragment=f"#view=rules&sel=row.{number}&predict.row={number}")
    title = again.get_by_role("complementary").get_by_role("heading", level=2)
    assert title.inner_text() == f"Row {number}"
    view_tab(again, "Predict")
    income = reports.table()["income"].iloc[number]
    assert float(again.get_by_label("income", exact=True).input_value()) == pytest.approx(income, rel=1e-5)
    absent = int(np.setdiff1d(np.arange(400), shown)[0])
    page.evaluate(f"() => {{ location.hash = '#view=predict&predict.row={absent}'; }}")
    page.get_by_text(f"Row {absent} is not in this report").wait_for()


# --- Origin and Compare ---


def test_the_origin_draws_the_units_and_explains_rules_found_by_search(open_report, tmp_path):
    origins = [
        Origin("hidden 1", "hidden 1[3] > 0.5 AND hidden 1[7] ≤ 2"),
        Origin("hidden 1", "hidden 1[3] > 0.5 AND hidden 1[7] ≤ 2"),
        Origin("hidden 2", "hidden 2[0] > 1"),
        Origin(RESIDUAL),
        Origin(RESIDUAL),
        Origin(RESIDUAL),
    ]
    listed = [Rule((Term(0, low=i),), "yes", origin=origin) for i, origin in enumerate(origins)]
    rules = RuleSet.from_rules(listed, ["x"], default="no", classes=["no", "yes"])
    rules.report(tmp_path / "r.html")
    page = open_report(tmp_path / "r.html", fragment="#view=origin")
    drawing = page.get_by_label("The network").get_by_role("img")
    assert drawing.get_attribute("aria-label") == (
        "hidden 1: 2 units, 1 clause, 2 rules; hidden 2: 1 unit, 1 clause, 1 rule"
    )
    units = [text for text in drawing.locator("text").all_text_contents() if text.startswith("[")]
    assert units == ["[3] 2", "[7] 2", "[0] 1"]
    assert page.locator(".layer-name").all_inner_texts() == ["hidden 1", "hidden 2", "found by search"]
    assert page.locator(".layer.is-on .layer-name").inner_text() == "hidden 1"
    assert "these rules come from no unit" in page.get_by_label("Layers").inner_text()
    drawing.get_by_text("hidden 2").click()
    assert page.locator(".layer.is-on .layer-name").inner_text() == "hidden 2"
    check_accessibility(page)


def test_different_rule_sets_are_compared_in_words(open_report, tmp_path):
    other = RuleSet.from_rules(
        [
            Rule((Term(0, high=29), Term(2, values=["nurse"])), "yes"),
            Rule((Term(0, low=61), Term(1, low=10)), "perhaps"),
        ],
        reports.features(),
        default="no",
        classes=list(reports.CLASSES),
    )
    truth, network = reports.labels()
    reports.rules().report(
        tmp_path / "r.html", reports.table(), truth, network, max_rows=None, compare={"Two rules": other}
    )
    page = open_report(tmp_path / "r.html", fragment="#view=compare&compare.kind=added")
    X = reports.table()
    both = {
        line.locator("th").inner_text(): line.locator("td").all_inner_texts()
        for line in page.locator(".both tbody tr").all()
    }
    for i, rules in enumerate((reports.rules(), other)):
        assert both["fidelity"][i].startswith(percent(np.mean(rules.predict(X) == network), 2))
        assert both["rules"][i] == str(len(rules))
        assert both["reading cost"][i] == str(rules.reading_cost)
    n_flips = int(np.sum(reports.rules().predict(X) != other.predict(X)))
    assert both["decide differently"][0].startswith(f"on {n_flips} rows")
    assert "each rule is shown beside the nearest one" in page.get_by_label("Summary").inner_text()
    lines = page.get_by_role("grid", name="Rules that differ").get_by_role("row")
    nearest = [lines.nth(i).get_by_role("gridcell").last.inner_text() for i in (1, 2)]
    fires, others = reports.rules().fires(X).dense(), other.fires(X).dense()
    shared = [
        percent(np.sum(fires[a] & others[b]) / np.sum(fires[a] | others[b]), 0) for a, b in ((0, 0), (3, 1))
    ]
    assert nearest == [
        f"as rule 0, but age ≤ 29 instead of ≤ 30; {shared[0]} of rows shared",
        f"as rule 3, but age > 61 instead of > 60, also income > 10; {shared[1]} of rows shared",
    ]


def test_nothing_is_shown_twice(small_report, open_report):
    page = open_report(small_report, fragment="#view=rules&sel=rule.2")
    beside = page.get_by_role("complementary")
    for view, is_shown in (("Rules", True), ("Edit", False), ("Structure", True)):
        view_tab(page, view)
        assert beside.count() == int(is_shown), view
    page.evaluate("() => window.clausewise.store.select({ kind: 'row', row: 3 })")
    for view, is_shown in (("Predict", False), ("Where they differ", True)):
        view_tab(page, view)
        assert beside.count() == int(is_shown), view


# --- Print and share ---


def test_the_printed_report_has_every_rule_in_full(small_report, open_report, tmp_path):
    many = [Rule((Term(0, low=i / 4), Term(1, high=1_000 + i)), "yes", 0.8, 5, 4) for i in range(340)]
    rules = RuleSet.from_rules(many, reports.features(), default="no", classes=list(reports.CLASSES))
    rules.report(tmp_path / "many.html", reports.table(), None, reports.labels()[1], title="Many rules")
    page = open_report(tmp_path / "many.html", fragment="#view=predict")
    pages = re.findall(rb"/Type\s*/Page[^s]", page.pdf(prefer_css_page_size=True))
    assert 7 <= len(pages) <= 20
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    sheet = page.locator(".print-sheet")
    assert sheet.locator(".print-rules li").count() == 340
    assert "IF age > 84.75 AND income ≤ 1339 THEN yes" in sheet.inner_text()
    assert text_of(sheet.locator(".print-headline")).startswith("340 rules decide as the network does on")
    assert sheet.locator("table td").count() == 9
    assert page.locator("#app").is_hidden()
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    assert page.locator(".print-sheet").count() == 0
    small = open_report(small_report)
    small.evaluate(
        """() => {
            const { store } = window.clausewise;
            const changes = [{ action: "removed", rule: 1, before: "IF age > 3 THEN no", note: "too old" }];
            store.edit({ ...store.rules.value, changes });
        }"""
    )
    assert len(re.findall(rb"/Type\s*/Page[^s]", small.pdf(prefer_css_page_size=True))) == 1
    small.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    log = small.locator(".print-sheet pre").text_content()
    assert log == "removed rule 1 (too old)\n  - IF age > 3 THEN no\n"


def test_the_page_is_saved_with_its_edits(small_report, open_report, tmp_path):
    page = open_report(small_report, fragment="#view=rules")
    page.get_by_label("Tick rule 3").check()
    page.get_by_label("Ticked rules").get_by_role("button", name="Delete …").click()
    page.get_by_role("button", name="Delete 1 rule").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save page").click()
    path = tmp_path / "saved.html"
    path.write_bytes(waiting.value.path().read_bytes())
    again = open_report(path)
    assert again.locator(".notice").inner_text() == "Saved with edits"
    assert text_of(again.locator(".headline")).startswith("6 rules decide as the network does on")
    with again.expect_download() as waiting:
        again.get_by_role("button", name="Save rules").click()
    assert RuleSet.load(waiting.value.path()) == reports.rules().remove(3)
    again.get_by_role("button", name="Undo", exact=True).click()
    assert text_of(again.locator(".headline")).startswith("7 rules decide")
    again.get_by_role("button", name="Copy link").click()
    again.get_by_text("Link copied.").wait_for()


# --- Names, colours, locks ---


def test_chosen_names_and_colours_are_shown_and_files_keep_those_of_the_data(open_report, tmp_path):
    labels = {"age": "Age in years", "job": {"nurse": "Nurse (RN)"}, "perhaps": "Undecided"}
    reports.rules().report(
        tmp_path / "r.html",
        reports.table(),
        None,
        reports.labels()[1],
        labels=labels,
        colors={"no": "#ffff00", "yes": "#000080"},
    )
    page = open_report(tmp_path / "r.html", fragment="#view=rules&rules.as=table")
    table = page.get_by_role("grid", name="Rules").inner_text()
    assert "Age in years ≤ 30 AND job = Nurse (RN)" in " ".join(table.split())
    assert "Undecided" in table
    for query in ("nurse", "age", '"Age in years"'):
        page.get_by_label("Words in the rule").fill(query)
        assert page.get_by_role("grid", name="Rules").get_by_role("row").count() > 1
    page.get_by_label("Words in the rule").fill("")
    fill = "mark => getComputedStyle(mark).fill"
    red, green, blue = (
        int(part) for part in re.findall(r"\d+", page.locator(".mark.own-0").first.evaluate(fill))
    )
    assert (red, blue) != (255, 0) or green < 255  # darkened until it can be seen on white
    assert red == green > blue
    assert page.locator(".mark.own-1").first.evaluate(fill) == "rgb(0, 0, 128)"
    check_accessibility(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save rules").click()
    assert RuleSet.load(waiting.value.path()) == reports.rules()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": {"wages": "income"}}, "labels names 'wages', which is not a column"),
        ({"labels": {"job": {"diver": "Diver"}}}, "labels names 'diver', which is not a category of 'job'"),
        ({"colors": {"maybe": "#000000"}}, "colors names 'maybe', which is not a class"),
        ({"colors": ["#000000"]}, "colors has 1 entries for 3 classes"),
        ({"colors": {"no": "red"}}, "colors has 'red'; write colours as '#rrggbb'"),
        ({"fixed": ["height"]}, "height"),
        ({"fixed": "age"}, "fixed is 'age'; expected a list of columns"),
    ],
)
def test_names_and_colours_of_nothing_are_refused(options, message, tmp_path):
    with pytest.raises(ValueError, match=re.escape(message)):
        reports.rules().report(tmp_path / "r.html", **options)
    assert not (tmp_path / "r.html").exists()


# --- Differences in Python ---


def test_differences_are_counted_per_bin():
    from clausewise.analysis import differences_by_feature

    features = Features(("x", "kind", "flag"), ("numeric", "categorical", "binary"), (None, ("a", "b"), None))
    matrix = np.array([[1, 0, 0], [2, 1, 1], [3, 2, 0], [np.nan, 0, 1], [3, 1, np.nan]], dtype=float)
    differs = np.array([True, False, True, True, False])
    found = {one.feature: one for one in differences_by_feature(matrix, differs, features, 9)}
    assert (found[0].cuts, found[0].n_rows, found[0].n_differ) == ((1, 2), (1, 1, 2, 1), (1, 0, 1, 1))
    assert (found[1].cuts, found[1].n_rows, found[1].n_differ) == (None, (2, 2, 1, 0), (2, 0, 1, 0))
    assert (found[2].n_rows, found[2].n_differ) == ((2, 2, 1), (2, 1, 0))


def test_cuts_between_bins_are_short_decimals_with_equally_many_rows():
    from clausewise.analysis import differences_by_feature

    column = np.random.default_rng(0).normal(size=(1000, 1))
    (found,) = differences_by_feature(column, column[:, 0] > 1, Features(("x",), ("numeric",), (None,)), 1)
    assert all(len(repr(abs(cut))) <= 7 for cut in found.cuts)
    assert found.n_rows == (100,) * 10 + (0,)
    inside = [((column > low) & (column <= high)).sum() for low, high in pairwise(found.cuts)]
    assert inside == [100] * 8


def test_slices_find_where_rules_fail_and_nothing_where_they_fail_at_random():
    from clausewise.report.differences import find_slices

    rng = np.random.default_rng(0)
    X = rng.random((3_000, 4))
    features = Features(("a", "b", "c", "d"))
    fails = (X[:, 1] > 0.8) & (X[:, 2] < 0.3)
    differs = np.where(fails, rng.random(3_000) < 0.7, rng.random(3_000) < 0.02)
    found = find_slices(X, differs, features)
    assert {term.feature for term in found[0].terms} == {1, 2}
    assert found[0].n_differ / found[0].n_rows > 0.5
    assert found[0].n_differ > 0.8 * np.sum(fails & differs)
    assert find_slices(X, rng.random(3_000) < 0.05, features) == []
    assert find_slices(X, np.zeros(3_000, dtype=bool), features) == []


def test_the_interval_of_the_page_is_that_of_python(small_report, open_report):
    page = open_report(small_report)
    shown = page.locator("[aria-labelledby=agreements] li").nth(1).inner_text()
    found = measured()
    low, high = metrics.wilson_interval(round(found.fidelity * 400), 400)
    assert f"({100 * low:.1f}–{100 * high:.1f})" in shown
