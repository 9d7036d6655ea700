"""Names that every JavaScript object has, or that look like markup, are plain names on the page."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from clausewise import Features, Origin, Rule, RuleSet, Term
from clausewise.io.json import dumps, loads
from tests.report.conftest import NARROW, WIDE, check_accessibility, view_tab
from tests.report.test_comparison_parity import assert_same_comparison
from tests.report.test_counterfactual_parity import encoded
from tests.rules.random_rules import random_features, random_rules, random_table, raw

NAMES = (
    "constructor",
    "__proto__",
    "toString",
    "hasOwnProperty",
    "valueOf",
    "",
    "very long " * 40,
    """it's "quoted" `thrice`""",
    "<script>window.isBroken = true</script>",
    "</script><!--",
    "\u202eright to left\u200f",
    "שלום, עולם",
)
KINDS = ("numeric", "categorical", "binary")
CATEGORICAL = 1


def features():
    kinds = tuple(KINDS[i % 3] for i in range(len(NAMES)))
    return Features(NAMES, kinds, tuple(NAMES if kind == "categorical" else None for kind in kinds))


def rules():
    """One rule per name, which is its feature, its class, one of its categories and its layer."""
    known = features()
    listed = []
    for place, name in enumerate(NAMES):
        kind = known.kinds[place]
        term = Term(place, values=[name, NAMES[0]]) if kind == "categorical" else Term(place, low=0)
        other = [] if place == CATEGORICAL else [Term(CATEGORICAL, values=[name, *NAMES[:6]])]
        listed.append(
            Rule((term, *other), name, 0.5 + place / 40, 40, 30, origin=Origin(name, f"{name} > 1"))
        )
    return RuleSet.from_rules(listed, known, default=NAMES[1], classes=list(NAMES))


def edited():
    return rules().remove([2]).reweight(0, confidence=0.99, note="<b>__proto__</b>").add('IF "" <= 1 THEN ""')


def table(n_rows=120):
    rng = np.random.default_rng(0)
    known = features()
    columns = {}
    for place, name in enumerate(NAMES):
        if known.kinds[place] == "categorical":
            columns[name] = rng.choice(NAMES, n_rows)
        elif known.kinds[place] == "binary":
            columns[name] = rng.random(n_rows) < 0.5
        else:
            columns[name] = rng.normal(size=n_rows).round(2)
    return pd.DataFrame(columns)


def labels(n_rows=120):
    rng = np.random.default_rng(1)
    decided = rules().predict(table(n_rows))
    return np.where(rng.random(n_rows) < 0.8, decided, rng.choice(NAMES, n_rows))


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    compare = {
        "__proto__": edited(),
        "constructor": rules(),
        "": rules().with_voting("share"),
        NAMES[8]: rules(),
    }
    rules().report(path, table(), labels(), labels()[::-1].copy(), title=NAMES[8], compare=compare)
    return path


@pytest.fixture
def page(report, open_report):
    return open_report(report)


def shown_name(name):
    """A feature or layer as the page shows it: quoted if it is blank."""
    return name if name.strip() else f'"{name}"'


def shown_label(label):
    """A class or category as the page shows it: quoted where it could be misread."""
    is_plain = label and label == label.strip() and label.isprintable() and not set(label) & set("{},'\"")
    return label if is_plain else json.dumps(label, ensure_ascii=False)


def texts(found):
    """The texts of elements as they are, but without the marks that isolate right-to-left names."""
    return [text.replace("\u2068", "").replace("\u2069", "") for text in found.all_text_contents()]


def assert_nothing_ran(page):
    assert page.evaluate("typeof window.isBroken") == "undefined"
    assert page.locator("#app script").count() == 0


def written_rules(made):
    """The rules as text; names may hold what Python takes for ends of lines."""
    return made.to_text(header=False).removesuffix("\n").split("\n")


# --- Every view ---


def test_the_overview_shows_names_as_text(page):
    assert texts(page.get_by_role("heading", level=1)) == [NAMES[8]]
    page.get_by_text("Sizes, lengths and what the rules test").click()
    chips = page.locator("section", has_text="Rules per class").locator(".bars .chip-text")
    chips.first.wait_for()
    assert texts(chips) == [shown_label(name) for name in NAMES]
    listed = texts(page.get_by_label("Rules per feature and class").get_by_role("rowheader"))
    assert sorted(listed) == sorted(map(shown_name, NAMES))
    for name in ("constructor", "__proto__", '""'):
        page.get_by_label("Rules per feature and class").get_by_role("button", name=name, exact=True).click()
        assert page.get_by_label("Feature").locator("option:checked").inner_text() == name
        view_tab(page, "Overview")
    assert_nothing_ran(page)


def test_the_rules_are_listed_searched_and_drawn(page):
    view_tab(page, "Rules")
    page.get_by_role("button", name="Table").click()
    grid = page.get_by_role("grid", name="Rules")
    assert texts(grid.locator(".chip-text")) == [shown_label(name) for name in NAMES]
    assert texts(page.get_by_label("Layer").locator("option"))[1:] == [name for name in NAMES if name]
    for name in ("constructor", "__proto__", "hasOwnProperty", "<script>", "toString"):
        page.get_by_label("Words in the rule").fill(name)
        # A set that is shown by the categories it excludes is also found by those it accepts.
        accepted = [" ".join(str(v) for term in rule.terms for v in term.values or ()) for rule in rules()]
        searched = zip(written_rules(rules()), accepted, strict=True)
        expected = [place for place, texts_of in enumerate(searched) if name in " ".join(texts_of)]
        found = [int(text) for text in texts(grid.get_by_role("row").locator("[role=gridcell]:first-child"))]
        assert found == expected, name
    page.get_by_label("Words in the rule").fill("")
    for index, name in enumerate(NAMES):
        page.get_by_label("Class").select_option(str(index))
        assert texts(grid.locator(".chip-text")) == [shown_label(name)]
    page.get_by_label("Class").select_option("")
    page.get_by_role("button", name="Matrix").click()
    grid = page.get_by_role("grid", name="Rules by features")
    heads = set(texts(page.locator(".matrix-name")))
    grid.evaluate("grid => (grid.scrollLeft = grid.scrollWidth)")
    page.locator(f'.matrix-feature[aria-colindex="{len(NAMES) + 3}"]').wait_for()
    assert heads | set(texts(page.locator(".matrix-name"))) == set(map(shown_name, NAMES))
    assert_nothing_ran(page)


def test_the_tree_shows_every_rule(page):
    view_tab(page, "Structure")
    page.get_by_label("First level").select_option("class")
    page.get_by_role("button", name="Expand all").click()
    branches = page.get_by_role("treeitem", level=1)
    assert branches.count() == len(NAMES)
    assert texts(branches.locator(".tree-text .chip-text")) == [shown_label(name) for name in NAMES]
    assert_nothing_ran(page)


def test_disagreement_and_origin_name_classes_and_layers(page):
    view_tab(page, "Where they differ")
    heads = page.locator(".confusion thead .chip-text")
    assert texts(heads) == [shown_label(name) for name in NAMES]
    page.locator('[data-cell="1.0"]').click()
    assert (
        "network: __proto__, rules: constructor" in page.get_by_label("Rows of the cell").inner_text().lower()
    )
    view_tab(page, "Origin")
    assert texts(page.locator(".layer-name")) == [*filter(None, NAMES), "no layer"]
    for name in ("constructor", "__proto__"):
        page.locator(".layer").filter(has=page.get_by_text(name, exact=True)).first.click()
        assert texts(page.get_by_role("grid", name="Final rules").locator(".chip-text")) == [name]
    assert_nothing_ran(page)


# --- Editing, predicting, comparing ---


def test_rules_about_such_names_are_edited(page):
    view_tab(page, "Edit")
    for place in range(len(NAMES)):
        check_edit(page, place)
        page.get_by_role("button", name="Discard all").click()
    assert_nothing_ran(page)


def check_edit(page, place):
    """Another confidence, written as text; then another class and another category, chosen in the form."""
    page.evaluate("place => window.clausewise.store.selectRule(place)", place)
    field = page.get_by_label("In the rule language")
    assert field.input_value() == written_rules(rules())[place]
    expected = rules().reweight(place, confidence=0.125)
    field.fill(written_rules(expected)[place])
    page.get_by_role("button", name="Change the rule").click()
    other = NAMES[(place + 1) % len(NAMES)]
    page.get_by_label("Then").select_option(label=shown_label(other))
    form = page.get_by_role("group", name="__proto__", exact=True)
    form.get_by_label("valueOf", exact=True).click()
    page.get_by_role("button", name="Change the rule").click()
    found = loads(page.evaluate("JSON.stringify(window.clausewise.tools.ruleFile())"))
    old = expected[place]
    (accepted,) = (term.values for term in old.terms if term.feature == CATEGORICAL)
    toggled = Term(CATEGORICAL, values=set(accepted) ^ {"valueOf"})
    terms = tuple(toggled if term.feature == CATEGORICAL else term for term in old.terms)
    expected = expected.replace(place, replace(old, terms=terms, conclusion=other, cover=0, correct=0))
    assert found == expected
    assert found.changes == expected.changes


def test_mistakes_about_such_names_are_pointed_at(page):
    view_tab(page, "Edit")
    page.get_by_role("button", name="New rule", exact=True).click()
    for text, problem in [
        ("IF construct > 1 THEN valueOf", "there is no feature construct; did you mean constructor?"),
        ("IF constructor > 1 THEN __prot__", "did you mean __proto__?"),
        ("IF constructor > 1 THEN valueOf WITH constructor 2", "found constructor"),
        ("IF isPrototypeOf > 1 THEN valueOf", "there is no feature isPrototypeOf"),
        ("IF __proto__ = isPrototypeOf THEN valueOf", "isPrototypeOf is not a category of __proto__"),
        ("toString", "expected IF, found toString"),
    ]:
        page.get_by_label("In the rule language").fill(text)
        assert problem in page.locator(".draft-error").inner_text()


def test_rows_with_such_names_are_predicted(page):
    view_tab(page, "Predict")
    X = table()
    for row in range(4):
        page.get_by_label("Row", exact=True).fill(str(row))
        page.get_by_label("Row", exact=True).press("Enter")
        assert texts(page.locator(".verdict .chip-text")) == [shown_label(rules().predict(X.iloc[[row]])[0])]
    listed = texts(page.locator(".field-name label"))
    assert sorted(listed) == sorted(map(shown_name, NAMES))
    for row in range(20, 26):
        written = io.StringIO()
        csv.writer(written, quoting=csv.QUOTE_ALL).writerows([X.columns, X.iloc[row]])
        page.evaluate("document.querySelector('.paste').open = true")
        page.get_by_label("A row of CSV").fill(written.getvalue())
        page.get_by_role("button", name="Use this row").click()
        assert page.locator(".paste [role=status]").inner_text() == "Row loaded."
        assert texts(page.locator(".verdict .chip-text")) == [shown_label(rules().predict(X.iloc[[row]])[0])]
    page.locator(".flip-found p").first.wait_for()
    page.get_by_text("Searching …").wait_for(state="detached")
    assert_nothing_ran(page)


def test_rule_sets_with_such_titles_are_compared(page, tmp_path):
    view_tab(page, "Compare")
    options = texts(page.get_by_label("After").locator("option"))
    assert options[2:] == ["__proto__ (12)", "constructor (12)", '"" (12)', f"{NAMES[8]} (12)"]
    page.get_by_label("After").select_option(label="__proto__ (12)")
    X = table()
    drawn = page.evaluate("Array.from(window.clausewise.store.table.numbers)")
    expected = rules().compare(edited(), X.iloc[drawn])
    summary = page.get_by_label("Summary").inner_text()
    counts = f"{len(expected.added)} added, {len(expected.removed)} removed, {len(expected.changed)} changed"
    assert counts in summary
    assert f"{len(expected.flips)} of 120 rows" in page.get_by_label("Rows that flip").inner_text()
    edited().save(tmp_path / "__proto__.json")
    page.get_by_label("Open a rule file").set_input_files(tmp_path / "__proto__.json")
    page.get_by_text("Opened __proto__.json: 12 rules.").wait_for()
    assert counts in page.get_by_label("Summary").inner_text()
    page.get_by_role("grid", name="Rules that differ").get_by_role("row").nth(1).click()
    assert page.locator(".compare-texts code").first.inner_text().startswith("− IF ")
    assert_nothing_ran(page)


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_such_names_break_neither_layout_nor_accessibility(report, open_report, viewport):
    page = open_report(report, fragment="#sel=rule.6", viewport=viewport)
    for view in (
        "Overview",
        "Rules",
        "Structure",
        "Predict",
        "Where they differ",
        "Origin",
        "Edit",
        "Compare",
    ):
        view_tab(page, view)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], view
        if viewport is NARROW:
            check_accessibility(page)


# --- Random names ---

PARTS = (
    *NAMES,
    "prototype",
    "__defineGetter__",
    "isPrototypeOf",
    "length",
    "0",
    "-1",
    "NaN",
    "null",
    "undefined",
)
MARKS = (
    " \t\n\"'`\\/<>&{}[]()=,;:.#%$@😀א字e\u0301"
    "\u00a0\u200b\u2028\u2029\u200e\u200f\u202d\u202e\u2066\u2069\ufeff\x00\x1f\x7f"
)


def random_name(rng):
    name = str(rng.choice(PARTS)) if rng.random() < 0.6 else ""
    noise = "".join(rng.choice(list(MARKS), int(rng.integers(0, 5))))
    return noise + name if rng.random() < 0.5 else name


def random_names(rng, n):
    """Distinct names, most of them names that objects have, some with marks before them."""
    found = {}
    while len(found) < n:
        found[random_name(rng)] = None
    return tuple(found)


def assert_pure_functions_agree(page_of, rng):
    plain = random_features(rng, 5)
    categories = random_names(rng, 4)
    known = Features(
        random_names(rng, 5),
        plain.kinds,
        tuple(None if old is None else categories for old in plain.categories),
    )
    classes = random_names(rng, 3)
    drawn = [
        replace(
            rule,
            conclusion=classes[int(rule.conclusion[-1])],
            origin=Origin(random_name(rng), random_name(rng)),
        )
        for rule in random_rules(rng, known, 30)
    ]
    made = RuleSet.from_rules(drawn, known, classes=list(classes), default=classes[0])
    X = raw(known, random_table(rng, plain, 40).encoded())
    page = page_of(made, X)
    tools = "window.clausewise.tools"
    written = written_rules(made)
    assert page.evaluate(f"{tools}.writeRules()") == written
    assert loads(page.evaluate(f"JSON.stringify({tools}.ruleFile())")) == made
    again = page.evaluate(f"text => JSON.stringify({tools}.readText(text))", "\n".join(written))
    assert list(loads(again)) == list(made)
    answers = page.evaluate("window.clausewise.answers()")
    assert [classes[i] for i in answers["decisions"]] == made.predict(X).tolist()
    leaves = page.evaluate(f"{tools}.leaves('equal', true)")
    assert sorted(leaf["place"] for leaf in leaves) == list(range(len(made)))
    assert page.evaluate(f"{tools}.nearMisses()") == [
        [miss.number for miss in one.near_misses] for one in made.explain(X)
    ]
    changes = page.evaluate(f"{tools}.smallestChanges(1, null)")
    for one, python in zip(changes, made.counterfactuals(X, max_features=1, reference=X), strict=True):
        assert (one is None) == (not python.is_found)
        if one is not None:
            assert dict(one["changes"]) == encoded(known, python.changes)
            assert classes[one["becomes"]] == python.becomes
    kept = [rule for rule in made if rng.random() < 0.7]
    other = RuleSet.from_rules(kept, known, classes=list(classes), default=classes[1], voting="majority")
    assert_same_comparison(page, made, other, X)
    assert loads(dumps(made)) == made


@pytest.fixture
def page_of(open_report, tmp_path):
    def opened(made, X):
        made.report(tmp_path / "report.html", X)
        return open_report(tmp_path / "report.html")

    return opened


@pytest.mark.parametrize("seed", range(4))
def test_pure_functions_agree_with_python_on_random_names(seed, page_of):
    assert_pure_functions_agree(page_of, np.random.default_rng(seed))


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(100, 300))
def test_pure_functions_agree_with_python_on_many_random_names(seed, page_of):
    assert_pure_functions_agree(page_of, np.random.default_rng(seed))
