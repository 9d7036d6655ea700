"""The rule set as a value: building, slicing, joining, filtering, printing."""

import copy
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import rules as reference
from tests.rules.random_rules import random_features, random_ruleset, random_table

from clausewise import Features, Origin, Rule, RuleSet, RuleSetBuilder, Term

FEATURES = Features(
    ("age", "job", "smokes", "size"),
    ("numeric", "categorical", "binary", "categorical"),
    (None, ("cook", "nurse", "teacher"), None, ("small", "medium", "large")),
)
YOUNG_NURSE = Rule((Term(0, high=47), Term(1, values=["teacher", "nurse"])), "yes", 0.93, 120, 112)
OLD_SMOKER = Rule(
    (Term(0, low=47), Term(2, low=0.5)),
    "no",
    0.61,
    50.5,
    30,
    weight=2.5,
    origin=Origin("hidden 1", "h3 > 0.5"),
)
ANYTHING = Rule((), "no", 0.5, 400, 200)
TABLE = pd.DataFrame(
    {
        "age": [40, 60, 50, np.nan],
        "job": ["nurse", "cook", None, "pilot"],
        "smokes": [False, True, False, True],
        "size": ["small", "large", "small", "medium"],
    }
)


@pytest.fixture
def rules():
    return RuleSet.from_rules([YOUNG_NURSE, OLD_SMOKER, ANYTHING], FEATURES, default="no")


def make_ruleset(seed, n_rules=12):
    rng = np.random.default_rng(seed)
    return random_ruleset(rng, random_features(rng, 5), n_rules)


rulesets = st.builds(make_ruleset, st.integers(0, 10**6), st.integers(0, 20))


# --- A sequence of rules ---


@given(rulesets)
def test_rules_come_out_as_they_went_in(rules):
    again = RuleSet.from_rules(
        list(rules),
        rules.features,
        classes=rules.classes,
        default=rules.default,
        voting=rules.voting,
        base=rules.base,
    )
    assert again == rules
    assert hash(again) == hash(rules)
    assert [rules[i] for i in range(len(rules))] == list(rules)


@given(rulesets, st.slices(20))
def test_slices_and_masks_select_as_lists_do(rules, part):
    listed = list(rules)
    assert list(rules[part]) == listed[part]
    mask = [len(rule) > 1 for rule in listed]
    assert list(rules[np.array(mask, dtype=bool)]) == [rule for rule in listed if len(rule) > 1]
    order = np.arange(len(rules))[::-1]
    assert list(rules[order]) == listed[::-1]
    assert rules[part] == RuleSet.from_rules(
        listed[part], rules.features, classes=rules.classes, default=rules.default, base=rules.base
    )


@given(rulesets, st.integers(0, 20))
def test_a_rule_set_cut_in_two_and_joined_is_the_same(rules, place):
    joined = rules[:place] + rules[place:]
    assert joined == rules
    assert hash(joined) == hash(rules)


def test_rule_sets_that_differ_are_not_equal(rules):
    assert rules != rules[:2]
    assert rules != rules[[1, 0, 2]]
    assert rules != rules.with_voting("majority")
    assert rules != rules.with_default("yes")
    assert rules.with_weights([1, 2, 3]) != rules.with_weights([1, 2, 3], base=[0, 1])
    assert rules != "rules"
    other = RuleSet.from_rules(
        [Rule((Term(0, high=47), Term(1, values=["nurse"])), "yes", 0.93, 120, 112), OLD_SMOKER, ANYTHING],
        FEATURES,
        default="no",
    )
    assert rules != other


def test_indexing_counts_from_both_ends(rules):
    assert rules[0] == YOUNG_NURSE
    assert rules[-1] == rules[np.int64(2)] == ANYTHING
    assert YOUNG_NURSE in rules
    assert Rule((), "yes") not in rules


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (3, IndexError, "no rule 3; there are 3"),
        (-4, IndexError, "no rule -4"),
        ([True, False], IndexError, "mask has 2 entries for 3 rules"),
        ("first", TypeError, "cannot select rules"),
        (1.0, TypeError, "cannot select rules"),
        (True, TypeError, "cannot select rules"),
    ],
)
def test_wrong_keys_are_errors(rules, key, error, message):
    with pytest.raises(error, match=message):
        rules[key]


def test_joining_sets_that_do_not_match_is_an_error(rules):
    with pytest.raises(ValueError, match="different voting"):
        rules + rules.with_voting("majority")
    with pytest.raises(ValueError, match="different features"):
        rules + RuleSet.from_rules([], ["a"], classes=["no", "yes"], default="no")
    weighted = rules.with_weights([1, 2, 3], base=[0, 1])
    with pytest.raises(ValueError, match=r"different base .*\[0.0, 1.0\] and \[0.0, 0.0\]"):
        weighted + rules.with_weights([1, 2, 3])
    with pytest.raises(ValueError, match="different base"):
        RuleSet.concatenate([weighted, rules], FEATURES, rules.classes, default="no")
    with pytest.raises(TypeError):
        rules + YOUNG_NURSE


def test_filters_combine(rules):
    assert list(rules.filter(conclusion="no")) == [rules[1], rules[2]]
    assert list(rules.concluding("yes")) == [rules[0]]
    assert list(rules.filter(feature="age")) == [rules[0], rules[1]]
    assert list(rules.filter(feature=1)) == [rules[0]]
    assert list(rules.filter(min_length=1, max_length=1)) == []
    assert list(rules.filter(max_length=1)) == [rules[2]]
    assert list(rules.filter(min_cover=100)) == [rules[0], rules[2]]
    assert list(rules.filter(min_confidence=0.6, feature="age", conclusion="no")) == [rules[1]]
    assert rules.filter() == rules
    with pytest.raises(ValueError, match="not one of the classes"):
        rules.filter(conclusion="maybe")
    with pytest.raises(ValueError, match="no column 'height'"):
        rules.filter(feature="height")


def test_a_filter_without_matches_returns_an_empty_rule_set(rules):
    nothing = rules.filter(min_cover=1e9)
    assert len(nothing) == 0
    assert nothing.predict(TABLE).tolist() == ["no"] * 4
    assert nothing.uncovered(TABLE).all()
    assert nothing.fires(TABLE).shape == (0, 4)
    np.testing.assert_array_equal(nothing.predict_proba(TABLE), np.full((4, 2), 0.5))


def test_a_rule_set_cannot_be_changed(rules):
    with pytest.raises(AttributeError):
        rules.voting = "majority"
    with pytest.raises(ValueError, match="read-only"):
        rules.columns.low[0] = 3
    with pytest.raises(ValueError, match="read-only"):
        rules.classes[0] = "maybe"
    with pytest.raises(ValueError, match="read-only"):
        rules[1:].columns.low[0] = 3


def test_a_rule_set_does_not_share_the_callers_arrays(rules):
    low = np.array([1.0])
    made = RuleSet.from_arrays(
        ["x"], ["a", "b"], "a", starts=[0, 1], feature=[0], low=low, high=[np.inf], class_index=[1]
    )
    low[0] = 9.0
    assert made[0].terms[0].low == 1.0


def test_copies_and_pickles_predict_alike(rules):
    rules.predict(TABLE)  # the evaluator exists now, and must not be pickled
    for again in (pickle.loads(pickle.dumps(rules)), copy.deepcopy(rules)):
        assert again == rules
        assert again.predict(TABLE).tolist() == rules.predict(TABLE).tolist()


# --- Construction ---


def test_rows_and_arrays_make_the_same_rule_set(rules):
    made = RuleSet.from_arrays(
        FEATURES,
        ["no", "yes"],
        "no",
        starts=[0, 2, 5, 5],
        feature=[1, 0, 2, 0, 0],  # not sorted, and age twice
        low=[-np.inf, -np.inf, 0.25, 40.0, 47.0],
        high=[np.inf, 47.0, 7.0, np.inf, np.inf],
        value_set=[1, -1, -1, -1, -1],
        value_sets=[[0], [2, 1, 1]],
        class_index=[1, 0, 0],
        confidence=[0.93, 0.61, 0.5],
        cover=[120, 50.5, 400],
        correct=[112, 30, 200],
        weight=[1, 2.5, 1],
        origins=[None, Origin("hidden 1", "h3 > 0.5"), None],
    )
    assert made == rules
    assert list(made) == list(rules)


def test_value_sets_on_one_feature_are_intersected():
    made = RuleSet.from_arrays(
        FEATURES,
        ["no", "yes"],
        "no",
        starts=[0, 2],
        feature=[1, 1],
        low=[-np.inf, -np.inf],
        high=[np.inf, np.inf],
        value_set=[0, 1],
        value_sets=[[0, 1], [1, 2]],
        class_index=[1],
    )
    assert made[0].terms == (Term(1, values=["nurse"]),)


def test_a_value_cannot_be_missing_and_known():
    open_end = np.full(7, np.inf)
    made = RuleSet.from_arrays(
        FEATURES,
        ["no", "yes"],
        "no",
        starts=[0, 2, 4, 7],
        feature=[1, 1, 0, 0, 0, 0, 0],
        low=[*-open_end[:2], 30, -np.inf, -np.inf, 50, 60],
        high=open_end,
        value_set=[0, -1, -1, -1, -1, -1, -1],
        value_sets=[[0, 1]],
        missing=[False, True, False, True, True, False, False],
        class_index=[1, 1, 1],
    )
    cook, age, job = Term(1, values=["cook", "nurse"]), Term(0, missing=True), Term(1, missing=True)
    premises = (cook, job), (Term(0, low=30), age), (age, Term(0, low=60), Term(0, low=50))
    assert made == RuleSet.from_rules([Rule(terms, "yes") for terms in premises], FEATURES, default="no")
    assert not made.columns.satisfiable.any()


def test_all_bounds_of_a_binary_feature_have_one_form():
    def bounded(low, high):
        return RuleSet.from_rules([Rule((Term(2, low=low, high=high),), "yes")], FEATURES, default="no")

    assert bounded(0.5, np.inf) == bounded(0, 1) == bounded(0.99, 3)
    assert bounded(-np.inf, 0.5) == bounded(-1, 0) == bounded(-np.inf, 0.99)
    assert str(bounded(0.5, np.inf)[0].terms[0]) == "smokes > 0"
    assert "smokes = true" in str(bounded(0.5, np.inf))
    assert "smokes = false" in str(bounded(-np.inf, 0.5))
    assert bounded(1, 5) == bounded(-3, -1) == bounded(0.2, 0.1)
    assert not bounded(1, 5)[0].is_satisfiable


def test_a_builder_collects_rules(rules):
    builder = RuleSetBuilder(FEATURES, ["no", "yes"], default="no")
    builder.add(YOUNG_NURSE.terms, "yes", confidence=0.93, cover=120, correct=112)
    builder.add(
        OLD_SMOKER.terms,
        "no",
        confidence=0.61,
        cover=50.5,
        correct=30,
        weight=2.5,
        origin=Origin("hidden 1", "h3 > 0.5"),
    )
    assert len(builder) == 2
    assert builder.build() == rules[:2]
    with pytest.raises(ValueError, match="not one of the classes"):
        builder.add((), "maybe")
    assert RuleSetBuilder(FEATURES, ["no", "yes"], "no", base=[0.5, 0]).build().base.tolist() == [0.5, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"starts": [0, 1]}, "starts must ascend"),
        ({"starts": [0, 2, 1]}, "starts must ascend"),
        ({"starts": [[0, 1, 2]]}, "starts has 2 dimensions"),
        ({"feature": [0, 4]}, "tests column 4; there are 4 features"),
        ({"feature": [0, -1]}, "tests column -1"),
        ({"feature": [0.5, 1.0]}, "whole numbers"),
        ({"feature": [0, 2**40]}, "do not fit int32"),
        ({"low": [np.nan, 0]}, "Rule 0 has the bounds"),
        ({"low": [0, np.inf]}, "Rule 1 has the bounds"),
        ({"low": [np.nan, np.inf]}, "Rule 0 has the bounds"),
        ({"high": [1.0]}, "equally long"),
        ({"feature": [0, 1]}, "wrong kind of term on 'job'; the feature is categorical"),
        ({"value_set": [0, -1], "value_sets": [[0]]}, "wrong kind of term on 'age'; the feature is numeric"),
        ({"feature": [0, 1], "value_set": [-1, 2], "value_sets": [[0]]}, "there are 1 value_sets"),
        ({"feature": [0, 1], "value_set": [-1, 0], "value_sets": [[0]]}, "must have low"),
        (
            {
                "feature": [0, 1],
                "low": [0, -np.inf],
                "high": [1, np.inf],
                "value_set": [-1, 0],
                "value_sets": [[3]],
            },
            "category code 3; the feature has 3",
        ),
        (
            {
                "feature": [0, 1],
                "low": [0, -np.inf],
                "high": [1, np.inf],
                "value_set": [-1, 0],
                "value_sets": [[-1]],
            },
            "category code -1",
        ),
        ({"missing": [True]}, "missing has shape"),
        ({"missing": [True, False]}, "A term with missing must have low"),
        ({"class_index": [0, 2]}, "Rule 1 predicts class 2; there are 2 classes"),
        ({"confidence": [0.5]}, "confidence has 1 entries for 2 rules"),
        ({"confidence": [0.5, 1.5]}, "Rule 1 has confidence 1.5"),
        ({"correct": [1, 0]}, "Rule 0 covers 0.0 rows and is correct on 1.0"),
        ({"weight": [0, np.inf]}, "Rule 1 has weight inf"),
        ({"origins": [None]}, "origins has 1 entries"),
    ],
)
def test_arrays_that_do_not_form_rules_are_errors(change, message):
    good = {
        "starts": [0, 1, 2],
        "feature": [0, 0],
        "low": [0.0, 1.0],
        "high": [1.0, 2.0],
        "class_index": [0, 1],
    }
    RuleSet.from_arrays(FEATURES, ["no", "yes"], "no", **good)
    with pytest.raises(ValueError, match=message):
        RuleSet.from_arrays(FEATURES, ["no", "yes"], "no", **(good | change))


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Rule((Term(4, high=1),), "no"), "tests column 4"),
        (Rule((Term(0, values=["a"]),), "no"), "'age' against categories, but it is numeric"),
        (Rule((Term(1, high=1),), "no"), "wrong kind of term on 'job'"),
        (Rule((Term(1, values=["pilot"]),), "no"), "'job' for 'pilot', which is not one of its categories"),
        (Rule((), "maybe"), "predicts 'maybe'; the classes are 'no', 'yes'"),
    ],
)
def test_rules_that_do_not_fit_the_features_are_errors(rule, message):
    with pytest.raises(ValueError, match=message):
        RuleSet.from_rules([rule], FEATURES, classes=["no", "yes"], default="no")


@pytest.mark.parametrize(
    ("classes", "default", "error", "message"),
    [
        ([], "a", ValueError, "at least one label"),
        ([["a"]], "a", (TypeError, ValueError), "shape"),
        (["a", "a"], "a", ValueError, "not all different"),
        (["a", 1], "a", ValueError, "mix"),
        ([True, 2], True, ValueError, "mix"),
        ([1, 1.0], 1, ValueError, "not all different"),
        (["a", None], "a", TypeError, "not a class label"),
        ([0.5, np.nan], 0.5, ValueError, "finite"),
        ([1, 2**70], 1, ValueError, "too large"),
        (["a", "b"], "c", ValueError, "'c' is not one of the classes 'a', 'b'"),
        ([1, 2], "one", ValueError, "not one of the classes"),
        (None, ("a",), TypeError, "not a class label"),
    ],
)
def test_impossible_classes_are_errors(classes, default, error, message):
    with pytest.raises(error, match=message):
        RuleSet.from_rules([], ["x"], classes=classes, default=default)


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([3, 7], dtype=np.int16),
        np.array([0.5, 1.5], dtype=np.float32),
        np.array([False, True]),
    ],
)
def test_predictions_have_the_type_of_the_classes(classes):
    rules = RuleSet.from_rules(
        [Rule((Term(0, high=1),), classes[1])], ["x"], classes=classes, default=classes[0]
    )
    predicted = rules.predict([[0.0], [2.0]])
    assert predicted.dtype == classes.dtype
    assert predicted.tolist() == [classes[1], classes[0]]


# --- Display ---


def test_a_rule_set_reads_well(rules):
    assert str(rules) == (
        "3 rules for the classes no, yes; voting confidence, otherwise no\n"
        "0  IF age ≤ 47 AND job ≠ cook THEN yes   (confidence 0.93, covers 120)\n"
        "1  IF age > 47 AND smokes = true THEN no   (confidence 0.61, covers 50.5, weight 2.5)\n"
        "2  IF anything THEN no   (confidence 0.50, covers 400)"
    )
    assert repr(rules) == "<RuleSet: 3 rules for the classes no, yes; voting confidence, otherwise no>"


@pytest.mark.parametrize(
    ("accepted", "shown", "written"),
    [
        ("", "size ∈ {}", "size IN {}"),
        ("c", "size = c", "size = c"),
        ("ca", "size ∈ {c, a}", "size IN {c, a}"),
        ("cab", "size ∈ {c, a, b}", "size IN {c, a, b}"),
        ("cabd", "size ∉ {f, e}", "size NOT IN {f, e}"),
        ("cabdf", "size ≠ e", "size != e"),
        ("cabdfe", "size is known", "size IS KNOWN"),
    ],
)
def test_the_fewer_categories_are_named_in_their_declared_order(accepted, shown, written):
    features = Features(("size",), ("categorical",), (tuple("cabdfe"),))
    rules = RuleSet.from_rules([Rule((Term(0, values=sorted(accepted)),), "yes")], features, default="no")
    assert f"IF {shown} THEN" in str(rules)
    text = rules.to_text(header=False)
    assert text.startswith(f"IF {written} THEN")
    assert RuleSet.from_text(text, features, default="no", classes=rules.classes) == rules


def test_an_unknown_category_is_neither_in_a_set_nor_outside_of_it():
    features = Features(("job",), ("categorical",), (("cook", "nurse", "pilot"),))
    texts = ["job != cook", "job = cook", "job IS KNOWN", "job IS MISSING"]
    for text in texts:
        rules = RuleSet.from_text(f"IF {text} THEN yes", features, default="no", classes=["no", "yes"])
        assert rules.predict([["astronaut"]]).tolist() == ["no"]


def test_a_long_rule_set_is_truncated_when_printed():
    rules = RuleSet.from_rules([Rule((Term(0, high=i),), "yes") for i in range(1000)], ["x"], default="no")
    lines = str(rules).splitlines()
    assert len(lines) == 42
    assert lines[-1] == "… and 960 more; slice the rule set or use to_frame() to see them"
    assert "… and 960 more" in rules._repr_html_()


def test_html_escapes_names_labels_and_categories():
    features = Features(
        ("<script>alert(1)</script>", "b"), ("numeric", "categorical"), (None, ("<i>&'\"", "x"))
    )
    rules = RuleSet.from_rules(
        [Rule((Term(0, high=1), Term(1, values=["<i>&'\""])), "<b>yes</b>")], features, default="<u>no</u>"
    )
    html = rules._repr_html_()
    for forbidden in ("<script", "<i>", "<b>", "<u>"):
        assert forbidden not in html
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_one_row_per_rule(rules, backend):
    frame = rules.to_frame(backend=backend)
    data = frame.to_dict(as_series=False) if backend == "polars" else None
    data = frame.to_dict("list") if backend == "pandas" else data or frame.to_pydict()
    assert data["premise"][1] == "age > 47 AND smokes = true"
    assert data["premise"][2] == "anything"
    assert data["conclusion"] == ["yes", "no", "no"]
    assert data["length"] == [2, 2, 0]
    assert data["cover"] == [120, 50.5, 400]
    assert data["layer"][1] == "hidden 1"
    assert isinstance(rules[:0].to_frame(), pd.DataFrame)


def test_a_frame_without_its_library_is_a_clear_error(rules, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs pandas, which is not installed.*polars"):
        rules.to_frame()


# --- Whole tables, and explanations ---


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_are_decided_row_by_row(rules, make):
    table = make(TABLE.to_dict("list"), **({"strict": False} if make is pl.DataFrame else {}))
    rules = rules[:2]
    assert rules.predict(table).tolist() == ["yes", "no", "no", "no"]
    assert rules.uncovered(table).tolist() == [False, False, True, True]
    np.testing.assert_array_equal(rules.scores(table), [[0, 930], [610, 0], [0, 0], [0, 0]])
    np.testing.assert_array_equal(rules.fires(table).dense(), [[1, 0, 0, 0], [0, 1, 0, 0]])


def test_an_explanation_lists_rules_votes_and_near_misses(rules):
    first, second, third, fourth = rules[:2].explain(TABLE)
    assert first.prediction == "yes"
    assert first.scores == {"no": 0.0, "yes": 930.0}
    assert [(fired.number, fired.rule, fired.votes) for fired in first.fired] == [(0, YOUNG_NURSE, 930.0)]
    assert not third.is_covered
    assert [(near.number, near.failing.feature, near.value) for near in third.near_misses] == [(1, 2, False)]
    assert third.near_misses[0].reason == "smokes = true fails (smokes is false)"
    assert [near.reason for near in fourth.near_misses] == ["age > 47 fails (age is missing)"]
    assert second.near_misses == ()
    assert str(third).splitlines() == [
        "row 2 → no   (no rule fired: default class)",
        "  rule 1 nearly fired, but smokes = true fails (smokes is false): "
        "IF age > 47 AND smokes = true THEN no   (confidence 0.61, covers 50.5, weight 2.5)",
    ]
    assert str(first).startswith(
        "row 0 → yes   (voting confidence: no 0, yes 930)\n  rule 0 fired,  930 votes: IF"
    )


def test_an_unknown_category_is_named_as_such():
    rules = RuleSet.from_rules([Rule((Term(1, values=["nurse"]),), "yes")], FEATURES, default="no")
    near = rules.explain(TABLE)[3].near_misses[0]
    assert near.reason == "job = nurse fails (job is a category unknown in training)"
    assert near.value is None


def test_explanations_are_a_sequence(rules):
    explained = rules.explain(TABLE, voting="majority")
    assert len(explained) == 4
    assert explained[-1].row == 3
    assert [e.row for e in explained[1:3]] == [1, 2]
    assert repr(explained) == "<Explanations of 4 rows by 3 rules, voting majority>"
    with pytest.raises(IndexError, match="no row 4"):
        explained[4]


@given(st.integers(0, 10**6), st.sampled_from(["confidence", "majority", "share", "weights"]))
def test_explained_votes_add_up_to_the_scores(seed, voting):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 4)
    rules = random_ruleset(rng, features, 10, voting=voting)
    table = random_table(rng, features, 8)
    raw = np.empty((8, 4), dtype=object)
    for position, column in enumerate(table.columns):
        raw[:, position] = column
    expected = reference.predict(list(rules), rules.labels, rules.default, table.columns, voting, rules.base)
    for row, explanation in enumerate(rules.explain(raw)):
        for label, score in explanation.scores.items():
            votes = [fired.votes for fired in explanation.fired if fired.rule.conclusion == label]
            votes.append(explanation.start[label])
            assert sum(votes) == pytest.approx(score)
        assert explanation.prediction == expected[row]


def test_base_votes_are_shown_where_they_count(rules):
    weighted = rules[:2].with_weights([1, 2.5], base=[0, 1.25])
    line = "2 rules for the classes no, yes; voting weights (start with yes +1.25), otherwise no"
    assert str(weighted).splitlines()[0] == line
    assert "start with yes +1.25" in weighted._repr_html_()
    assert "start with" not in str(weighted.with_voting("majority"))
    assert "start with" not in str(weighted.with_weights([1, 2.5], base=[0, 0]))
    explained = weighted.explain(TABLE)
    assert str(explained[1]).splitlines()[:2] == [
        "row 1 → no   (voting weights: no 2.5, yes 1.25)",
        "  start with yes +1.25",
    ]
    assert str(explained[2]).splitlines()[:2] == [
        "row 2 → yes   (no rule fired: start votes)",
        "  start with yes +1.25",
    ]
    assert weighted.explain(TABLE, voting="majority")[0].start == {"no": 0, "yes": 0}


def test_statistics_are_counted_on_the_rows_given():
    X = np.array([[1.0], [2.0], [3.0], [np.nan]])
    rules = RuleSet.from_rules(
        [Rule((Term(0, high=2),), "low"), Rule((Term(0, low=1),), "high")], ["x"], default="low"
    )
    counted = rules.with_statistics(X, ["low", "high", "high", "low"])
    assert [(rule.cover, rule.correct, rule.confidence) for rule in counted] == [(2, 1, 0.5), (2, 2, 0.75)]
    weighted = rules.with_statistics(X, ["low", "other", "high", "low"], sample_weight=[1, 2, 3, 4])
    assert [(rule.cover, rule.correct) for rule in weighted] == [(3, 1), (5, 3)]
    with pytest.raises(ValueError, match=r"labels has shape \(1,\) for 4 rows"):
        rules.with_statistics(X, ["low"])
    with pytest.raises(ValueError, match="negative"):
        rules.with_statistics(X, ["low"] * 4, sample_weight=[1, -1, 1, 1])


def test_labels_keep_a_nul_at_their_end():
    rules = RuleSet.from_rules([Rule((), "a\0")], ["x"], default="a")
    assert rules.predict([[1.0]]).tolist() == ["a\0"]
    assert RuleSet.from_text(rules.to_text()) == rules


def test_columns_that_no_rule_tests_may_be_left_out():
    rules = RuleSet.from_rules(
        [Rule((Term(1, low=3),), "yes")], Features(("a", "b"), named=True), default="no"
    )
    for rows in (pd.DataFrame({"b": [2.0, 4.0]}), [{"b": 2.0}, {"b": 4.0}]):
        assert rules.predict(rows).tolist() == ["no", "yes"]
        assert rules.predict_proba(rows).shape == (2, 2)
        assert rules.fires(rows).dense().tolist() == [[False, True]]
        assert rules.uncovered(rows).tolist() == [True, False]
    with pytest.raises(ValueError, match="column 'b' is missing"):
        rules.predict({"a": 1.0})
