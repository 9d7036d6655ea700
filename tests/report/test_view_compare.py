"""The Compare view: edits against the original, and rule files against the report."""

import json

import pytest

from clausewise import RuleSet
from clausewise.io.json import RuleFileError, dumps, loads
from tests.report import reports
from tests.report.conftest import NARROW, WIDE, check_accessibility, view_tab


def edited():
    return (
        reports.rules()
        .remove([1, 4])
        .reweight(0, confidence=0.3, priority=True)
        .add("IF age > 45 AND smokes = TRUE THEN yes WITH priority")
    )


def rows_drawn(page):
    return page.evaluate("Array.from(window.clausewise.store.table.numbers)")


def listed(page):
    rows = page.get_by_role("grid", name="Rules that differ").get_by_role("row")
    cells = [rows.nth(i).get_by_role("gridcell").all_inner_texts()[:3] for i in range(1, rows.count())]
    return [(kind.split()[-1], before, after) for kind, before, after in cells]


def expected_lines(comparison):
    lines = [("removed", str(place), "") for place in comparison.removed]
    lines += [("changed", str(before), str(after)) for before, after in comparison.changed]
    return lines + [("added", "", str(place)) for place in comparison.added]


def check_against_python(page, before, after):
    drawn = rows_drawn(page)
    comparison = before.compare(after, reports.table().iloc[drawn])
    assert listed(page) == expected_lines(comparison)
    flips = page.get_by_label("Rows that flip")
    assert f"{len(comparison.flips)} of 300 rows" in flips.inner_text()
    numbers = [drawn[row] for row in comparison.flips.rows.tolist()]
    shown = flips.locator(".row-buttons button").all_inner_texts()
    assert [int(text) for text in shown] == numbers[:60]
    return comparison


@pytest.fixture
def page(small_report, open_report):
    opened = open_report(small_report)
    view_tab(opened, "Compare")
    return opened


def test_a_rule_file_is_opened_and_compared(page, tmp_path):
    assert "No differences" in page.get_by_label("Summary").inner_text()
    edited().save(tmp_path / "edited.json")
    page.get_by_label("Open a rule file").set_input_files(tmp_path / "edited.json")
    page.get_by_text("Opened edited.json: 6 rules.").wait_for()
    comparison = check_against_python(page, reports.rules(), edited())
    assert len(comparison.flips) > 0
    page.get_by_role("button", name="Swap").click()
    check_against_python(page, edited(), reports.rules())


def test_what_became_of_a_rule_is_shown_by_mouse_and_keyboard(page, tmp_path):
    edited().save(tmp_path / "edited.json")
    page.get_by_label("Open a rule file").set_input_files(tmp_path / "edited.json")
    page.get_by_text("Opened edited.json").wait_for()
    grid = page.get_by_role("grid", name="Rules that differ")
    grid.get_by_role("row").nth(1).click()
    texts = page.locator(".compare-texts")
    assert texts.inner_text().startswith("− IF 30 < age <= 60 THEN no WITH confidence 0.75")
    grid.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    before, after = texts.locator("code").all_inner_texts()
    assert "confidence 0.9" in before
    assert "confidence 0.3" in after
    assert "priority" in after
    assert "confidence 0.9 → 0.3, now with priority" in grid.get_by_role("row", selected=True).inner_text()
    page.get_by_label("Show").select_option("added")
    assert listed(page) == [("added", "", "5")]


def test_flips_are_filtered_by_the_way_they_go_and_lead_to_their_rows(page, tmp_path):
    edited().save(tmp_path / "edited.json")
    page.get_by_label("Open a rule file").set_input_files(tmp_path / "edited.json")
    page.get_by_text("Opened edited.json").wait_for()
    drawn = rows_drawn(page)
    flips = reports.rules().compare(edited(), reports.table().iloc[drawn]).flips
    first = page.locator(".ways button").first
    first.click()
    n, old, new = (part.strip() for part in first.inner_text().replace("→", "\n").split("\n") if part.strip())
    numbers = [
        drawn[row]
        for row, was, becomes in zip(flips.rows.tolist(), flips.before, flips.after, strict=True)
        if (was, becomes) == (old, new)
    ]
    assert len(numbers) == int(n)
    shown = page.get_by_label("Rows that flip").locator(".row-buttons button")
    assert [int(text) for text in shown.all_inner_texts()] == numbers[:60]
    shown.first.press("Enter")
    assert (
        page.get_by_role("complementary").get_by_role("heading", level=2).inner_text() == f"Row {numbers[0]}"
    )


def test_edits_are_compared_with_the_original(page):
    view_tab(page, "Edit")
    page.get_by_role("grid", name="Rules to edit").get_by_role("row").nth(2).click()
    page.get_by_role("button", name="Delete the rule …").click()
    page.get_by_role("button", name="Delete rule 1").click()
    page.get_by_role("button", name="Compare", exact=True).click()
    check_against_python(page, reports.rules(), reports.rules().remove(1))


def test_a_file_is_dropped(page):
    text = edited().to_text()  # no JSON, and so refused
    for content, notice in [
        (text, "dropped.json cannot be opened: this is not JSON"),
        (
            '{"format": "other"}',
            'this is not a rule file; expected an object with "format": "clausewise-rules".',
        ),
    ]:
        data = page.evaluate_handle(
            """content => { const data = new DataTransfer();
            data.items.add(new File([content], 'dropped.json')); return data; }""",
            content,
        )
        page.locator(".compare").dispatch_event("drop", {"dataTransfer": data})
        page.get_by_text(notice).wait_for()


def test_rules_about_other_features_are_compared_without_decisions(page, tmp_path):
    RuleSet.from_text("IF height > 3 THEN yes", ["height"], default="no").save(tmp_path / "other.json")
    page.get_by_label("Open a rule file").set_input_files(tmp_path / "other.json")
    page.get_by_text("Opened other.json").wait_for()
    assert "the report has no feature height" in page.get_by_label("Rows that flip").inner_text()
    assert "1 added, 7 removed" in page.get_by_label("Summary").inner_text()


def test_other_rules_can_be_part_of_the_report(open_report, tmp_path):
    truth, network = reports.labels()
    reports.rules().report(
        tmp_path / "report.html",
        reports.table(),
        truth,
        network,
        max_rows=300,
        compare={"Last year": edited()},
    )
    page = open_report(tmp_path / "report.html", fragment="#view=compare")
    assert "Last year (6)" in page.get_by_label("After").locator("option:checked").inner_text()
    check_against_python(page, reports.rules(), edited())


def test_only_rule_sets_can_be_compared(tmp_path):
    with pytest.raises(TypeError, match=r"compare\['Last year'\] is a str; pass a RuleSet"):
        reports.rules().report(tmp_path / "report.html", compare={"Last year": "rules.json"})


@pytest.mark.parametrize(("viewport", "theme"), [(WIDE, "light"), (NARROW, "dark")], ids=["wide", "narrow"])
def test_the_comparison_is_accessible_and_fits(small_report, open_report, tmp_path, theme, viewport):
    edited().with_voting("share").save(tmp_path / "edited.json")
    page = open_report(small_report, fragment="#view=compare", viewport=viewport, theme=theme)
    check_accessibility(page)
    page.get_by_label("Open a rule file").set_input_files(tmp_path / "edited.json")
    page.get_by_text("Opened edited.json").wait_for()
    page.get_by_role("grid", name="Rules that differ").get_by_role("row").nth(3).click()
    page.locator(".ways button").first.click()
    check_accessibility(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def damaged(change):
    """A rule file with one change."""
    entry = json.loads(dumps(edited()))
    change(entry)
    return json.dumps(entry)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda file: file["rules"][0].update(confidence=5), "rules[0].confidence is 5; expected a number"),
        (
            lambda file: file["rules"][0].update(correct=41),
            "rules[0].correct is 41; expected a number",
        ),
        (lambda file: file["rules"][0].update(weight=None), "rules[0].weight is null; expected a number"),
        (lambda file: file["rules"][0].update(then="never"), "which is not one of the classes"),
        (lambda file: file["rules"][0].update(more=1), 'rules[0] has the unknown key "more"'),
        (lambda file: file["rules"][0].pop("cover"), 'rules[0] has no "cover"; the file is damaged'),
        (lambda file: file["features"].append({"name": "age", "kind": "numeric"}), "two features are called"),
        (lambda file: file["features"][0].update(categories=["a"]), "features[0] is numeric; categorical"),
        (lambda file: file["features"][2].update(categories=["cook"] * 3), 'contains "cook" twice'),
        (lambda file: file["features"][2].update(categories=["cook", "nurse", 3]), "mixes text and numbers"),
        (lambda file: file["rules"][0]["if"].append({"feature": "age", "low": 3}), 'tests "age" twice'),
        (
            lambda file: file["rules"][0].update({"if": [{"feature": "job", "low": 3}]}),
            "expected values",
        ),
        (
            lambda file: file["rules"][0].update({"if": [{"feature": "x"}]}),
            "which is not one of the features",
        ),
        (lambda file: file.update(classes=["no", "yes", "no"]), 'classes contains "no" twice'),
        (lambda file: file.update(class_dtype="int64"), "which is not of type int64"),
        (lambda file: file.update(scale=-1), "scale is -1; expected a positive number"),
        (lambda file: file["changes"][0].update(action="eaten"), "changes[0].action is"),
    ],
)
def test_files_that_python_refuses_are_refused(change, reason, page):
    text = damaged(change)
    with pytest.raises(RuleFileError):
        loads(text)
    found = refusal(page, text)
    assert found is not None
    assert reason in found


def refusal(page, text):
    """The page's reason to refuse a file, or None."""
    return page.evaluate(
        """text => { try { window.clausewise.tools.compareWith(text); return null; }
        catch (error) { return error.message; } }""",
        text,
    )


WORDED_ALIKE = [
    lambda file: file.update(format="other"),
    lambda file: file.update(version="1"),
    lambda file: file.update(version=0),
    lambda file: file.pop("version"),
    lambda file: file.pop("classes"),
    lambda file: file.update({"__proto__": {"voting": "share"}}),
    lambda file: file.update(constructor=1),
    lambda file: file.update(voting="toString"),
    lambda file: file.update(voting=["majority"]),
    lambda file: file.update(named=1),
    lambda file: file.update(default="constructor"),
    lambda file: file.update(default=None),
    lambda file: file.update(classes={}),
    lambda file: file.update(classes=["no", "yes", 3]),
    lambda file: file.update(classes=["no", "yes", {}]),
    lambda file: file.update(class_dtype="valueOf"),
    lambda file: file.update(class_dtype="int64"),
    lambda file: file.update(classes=[1, 300, 2], class_dtype="int8"),
    lambda file: file.update(classes=[1, -1, 2], class_dtype="uint64"),
    lambda file: file.update(classes=[0.1, 0.5, 2], class_dtype="float32"),
    lambda file: file.update(base=[1]),
    lambda file: file.update(base=[1, "2", 3]),
    lambda file: file.update(scale=-1.5),
    lambda file: file.update(features="age"),
    lambda file: file["features"].append(["height", "numeric"]),
    lambda file: file["features"][0].update(name=3),
    lambda file: file["features"][0].update(kind="hasOwnProperty"),
    lambda file: file["features"][2].update(categories=["cook", None]),
    lambda file: file["rules"][0].pop("cover"),
    lambda file: file["rules"][0].update(cover="many"),
    lambda file: file["rules"][0].update(weight=None),
    lambda file: file["rules"][0].update(priority="yes"),
    lambda file: file["rules"][0].update(then="x" * 100),
    lambda file: file["rules"][0].update({"__proto__": None}),
    lambda file: file["rules"][0].update(origin=[]),
    lambda file: file["rules"][0].update(origin={"layer": 3}),
    lambda file: file["rules"][0].update({"if": {}}),
    lambda file: file["rules"][0].update({"if": [{"feature": "__proto__"}]}),
    lambda file: file["rules"][0].update({"if": [{"feature": 7}]}),
    lambda file: file["rules"][0].update({"if": [{"low": 7}]}),
    lambda file: file["rules"][0].update({"if": [{"feature": "age", "low": "7"}]}),
    lambda file: file["rules"][0].update({"if": [{"feature": "age", "values": []}]}),
    lambda file: file["rules"][0].update({"if": [{"feature": "job", "low": 3}]}),
    lambda file: file["rules"][0].update({"if": [{"feature": "job", "values": ["toString"]}]}),
    lambda file: file["rules"][0].update({"if": [{"feature": "job", "values": "cook"}]}),
    lambda file: file["rules"][0].update({"if": [{"feature": "job", "missing": False}]}),
    lambda file: file["rules"][0].update({"if": [{"feature": "job", "missing": True, "values": []}]}),
    lambda file: file["rules"][0]["if"].append({"feature": "age", "low": 3}),
    lambda file: file["changes"][0].update(action="eaten"),
    lambda file: file["changes"][0].update(rule=-1),
    lambda file: file["changes"][0].update(note=3),
]


def test_files_are_refused_in_the_words_of_python(page):
    for number, change in enumerate(WORDED_ALIKE):
        text = damaged(change)
        with pytest.raises(RuleFileError) as error:
            loads(text, source="file")
        expected = str(error.value).removeprefix("file: ").removesuffix(".")
        assert refusal(page, text) == expected, number


@pytest.mark.parametrize(
    ("dtype", "labels"),
    [
        ("int8", [-128, 127]),
        ("int64", [-(2**63), 2**63 - 1]),
        ("uint64", [0, 2**64 - 1]),
        ("float32", [0.5, -2]),
    ],
)
def test_labels_at_the_ends_of_their_type_are_read(dtype, labels, page):
    file = json.loads(dumps(edited().remove(slice(None)))) | {"classes": labels, "class_dtype": dtype}
    text = json.dumps(file | {"default": labels[0]})
    assert loads(text).labels == tuple(labels)
    assert refusal(page, text) is None


def test_it_says_how_features_of_one_name_differ(page, tmp_path):
    text = damaged(lambda file: file["features"][2]["categories"].append("diver"))
    (tmp_path / "other.json").write_text(text, encoding="utf-8")
    page.get_by_label("Open a rule file").set_input_files(tmp_path / "other.json")
    page.get_by_text("Opened other.json").wait_for()
    page.locator(".compare-settings summary").click()
    settings = page.locator(".compare-settings").inner_text()
    jobs = "job (categorical: cook, nurse, pilot"
    assert f"{jobs}) → {jobs}, diver)" in settings
