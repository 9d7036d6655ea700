"""Edits return new rule sets and are logged; comparisons show changed rules and decisions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.random_rules import random_features, random_ruleset

from clausewise import Features, Rule, RuleSet, RuleTextError, Term

FEATURES = Features(("age", "job"), ("numeric", "categorical"), (None, ("cook", "nurse")))
RULES = RuleSet.from_text(
    """
    IF age <= 30 THEN yes WITH confidence 0.9
    IF age > 50 THEN no WITH confidence 0.8
    IF job = nurse THEN yes WITH confidence 0.6
    """,
    FEATURES,
    classes=["no", "yes"],
    default="no",
)
ROWS = [[20.0, "cook"], [40.0, "nurse"], [60.0, "nurse"], [40.0, "cook"]]


def test_rules_are_appended_or_inserted_at_a_position():
    text = "IF age <= 17 THEN no"
    rule = Rule((Term(0, high=17),), "no")
    assert RULES.add(text) == RULES.add(rule) == RULES.add([text]) == RULES.add((rule,))
    assert list(RULES.add(text)) == [*RULES, rule]
    assert list(RULES.add([text, "IF TRUE THEN yes"], at=1))[1:3] == [rule, Rule((), "yes")]
    assert len(RULES) == 3


def test_an_added_rule_can_override_all_others():
    edited = RULES.add("IF age <= 20 THEN no", priority=True, note="minors")
    assert RULES.predict(ROWS).tolist() == ["yes", "yes", "no", "no"]
    assert edited.predict(ROWS).tolist() == ["no", "yes", "no", "no"]
    assert edited.explain(ROWS)[0].fired[0].overridden


def test_rules_are_removed_by_number_list_slice_and_mask():
    for which in (1, -2, [1], [1, 1], slice(1, 2), np.array([False, True, False])):
        assert list(RULES.remove(which)) == [RULES[0], RULES[2]]


def test_a_replaced_rule_keeps_its_position():
    edited = RULES.replace(1, "IF age > 60 THEN no", note="later")
    assert list(edited) == [RULES[0], Rule((Term(0, low=60),), "no"), RULES[2]]


def test_rules_are_reweighted():
    edited = RULES.reweight([0, 2], weight=[2.0, 3.0], confidence=0.5, priority=True)
    assert edited.columns.weight.tolist() == [2.0, 1.0, 3.0]
    assert edited.columns.confidence.tolist() == [0.5, 0.8, 0.5]
    assert edited.columns.priority.tolist() == [True, False, True]
    assert [change.rule for change in edited.changes] == [0, 2]


def test_every_edit_is_logged_with_its_reason_and_survives_the_file(tmp_path):
    edited = RULES.add("IF age <= 17 THEN no", priority=True, note="minors").remove([0, 2], note="weak")
    edited = edited.reweight(0, confidence=0.7).replace(1, "IF age <= 18 THEN no WITH priority")
    assert [str(change).split("\n")[0] for change in edited.changes] == [
        "added rule 3 (minors)",
        "removed rule 2 (weak)",
        "removed rule 0 (weak)",
        "reweighted rule 0",
        "replaced rule 1",
    ]
    assert edited.changes[4].before == "IF age <= 17 THEN no WITH priority"
    edited.save(tmp_path / "rules.json")
    back = RuleSet.load(tmp_path / "rules.json")
    assert back == edited
    assert back.changes == edited.changes


@given(st.integers(0, 10**6))
def test_the_log_replayed_on_the_old_rules_gives_the_new_ones(seed):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 3)
    old, donors = (random_ruleset(rng, features, 6) for _ in range(2))
    edited = old
    for donor in donors:
        which = int(rng.integers(len(edited)))
        edited = [
            lambda edited=edited, donor=donor, which=which: edited.add(donor, at=which),
            lambda edited=edited, which=which: edited.remove(which) if len(edited) > 1 else edited,
            lambda edited=edited, donor=donor, which=which: edited.replace(which, donor),
            lambda edited=edited, which=which: edited.reweight(which, weight=rng.normal(), priority=True),
        ][rng.integers(4)]()
    replayed = list(old.to_text(header=False).splitlines())
    for change in edited.changes:
        if change.action != "added":
            assert replayed.pop(change.rule) == change.before
        if change.action != "removed":
            replayed.insert(change.rule, change.after)
    assert replayed == edited.to_text(header=False).splitlines()


@pytest.mark.parametrize(
    ("edit", "error", "message"),
    [
        (lambda: RULES.add("IF age <= x THEN no"), RuleTextError, "column 11"),
        (lambda: RULES.add(Rule((), "perhaps")), ValueError, "perhaps"),
        (lambda: RULES.add(Rule((Term(7, low=1),), "no")), ValueError, "7"),
        (lambda: RULES.add(3), TypeError, "3 is not a rule"),
        (lambda: RULES.add([3]), TypeError, "3 is not a rule"),
        (lambda: RULES.add("IF TRUE THEN no", at=9), IndexError, "at is 9"),
        (lambda: RULES.add("IF TRUE THEN no", priority="yes"), TypeError, "True or False"),
        (lambda: RULES.remove(3), IndexError, "no rule 3"),
        (lambda: RULES.remove([0, -4]), IndexError, "no rule -4"),
        (lambda: RULES.remove("age"), TypeError, "cannot select rules"),
        (lambda: RULES.remove([True, False]), IndexError, "2 entries for 3 rules"),
        (lambda: RULES.replace(0, "IF TRUE THEN no IF TRUE THEN yes"), ValueError, "2 rules were given"),
        (lambda: RULES.reweight(0), ValueError, "There is nothing to change"),
        (lambda: RULES.reweight(0, confidence=2), ValueError, "Rule 0 has confidence 2"),
        (lambda: RULES.reweight(0, weight=np.nan), ValueError, "Rule 0 has weight nan"),
        (lambda: RULES.reweight([0, 1], weight=[1, 2, 3]), ValueError, "shape"),
    ],
)
def test_a_wrong_edit_says_what_is_wrong(edit, error, message):
    with pytest.raises(error, match=message):
        edit()


def test_a_comparison_finds_added_removed_and_changed_rules():
    later = RULES.remove(2).reweight(0, confidence=0.4).add(["IF age > 90 THEN no", "IF age > 50 THEN yes"])
    found = RULES.compare(later, ROWS)
    assert (found.added, found.removed, found.changed, found.n_same) == ((2, 3), (2,), ((0, 0),), 1)
    assert found.flips.rows.tolist() == [1, 2]
    assert found.flips.before.tolist() == ["yes", "no"]
    assert found.flips.after.tolist() == ["no", "yes"]
    assert "2 of 4 rows flip" in str(found)
    assert found.to_frame()["change"].tolist() == ["removed", "changed", "added", "added"]


def test_equal_rules_in_another_order_are_the_same():
    found = RULES.compare(RULES[[2, 0, 1]], ROWS)
    assert found.is_same
    assert len(found.flips) == 0


def test_another_conclusion_of_the_same_premise_is_a_change():
    found = RULES.compare(RULES.replace(1, "IF age > 50 THEN yes WITH confidence 0.8"))
    assert (found.changed, found.added, found.flips) == (((1, 1),), (), None)


def test_features_are_matched_by_name_and_settings_are_compared():
    other = Features(
        ("job", "age", "new"), ("categorical", "numeric", "numeric"), (("cook", "nurse"), None, None)
    )
    moved = RuleSet.from_text(
        RULES.to_text(header=False), other, classes=["no", "yes"], default="yes", voting="majority"
    )
    found = RULES.compare(moved)
    assert found.n_same == 3
    assert found.settings["voting"] == ("confidence", "majority")
    assert found.settings["default"] == ("no", "yes")
    assert found.settings["features"] == ((), ("new",))


def test_the_log_says_who_made_an_edit(tmp_path):
    rules = RULES.add("IF age > 90 THEN no", note="law", author="C. Clerk").remove(0, author="D. Deputy")
    assert [(one.author, one.note) for one in rules.changes] == [("C. Clerk", "law"), ("D. Deputy", None)]
    assert str(rules.changes[0]).startswith("added rule 3 by C. Clerk (law)")
    rules.save(tmp_path / "rules.json")
    assert RuleSet.load(tmp_path / "rules.json").changes == rules.changes
