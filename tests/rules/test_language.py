"""The rule language: what is written reads back equal, and what is wrong is pointed at."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.random_rules import random_features, random_ruleset

from clausewise import Features, Origin, Rule, RuleSet, RuleTextError, Term

FEATURES = Features(
    ("age", "job", "smokes", "mean radius"),
    ("numeric", "categorical", "binary", "numeric"),
    (None, ("cook", "nurse", "teacher"), None, None),
)


def read(*lines, **options):
    known = {"classes": ["no", "yes"], "default": "no"} | options
    return RuleSet.from_text("\n".join(lines), FEATURES, **known)


def only_rule(text):
    (rule,) = read(text)
    return rule


def test_a_rule_says_premise_conclusion_and_statistics():
    rule = only_rule(
        'IF age <= 47 AND job IN {"nurse", teacher} THEN yes WITH confidence 0.9, cover 12, correct 11, '
        'weight -1.5, priority, layer "hidden 1", clause "u3 > 0.5"'
    )
    assert rule == Rule(
        (Term(0, high=47), Term(1, values=["nurse", "teacher"])),
        "yes",
        0.9,
        12,
        11,
        -1.5,
        Origin("hidden 1", "u3 > 0.5"),
        True,
    )


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("age <= 47", Term(0, high=47)),
        ("age ≤ 47", Term(0, high=47)),
        ("age > -4.5e-3", Term(0, low=-0.0045)),
        ("17 < age <= 65", Term(0, low=17, high=65)),
        ("65 >= age > 17", Term(0, low=17, high=65)),
        ("17 < age", Term(0, low=17)),
        ("3 < age <= 2", Term(0, low=3, high=2)),
        ("age < 3", Term(0, high=math.nextafter(3, 0))),
        ("age >= 3", Term(0, low=math.nextafter(3, 0))),
        ("age = 3", Term(0, low=math.nextafter(3, 0), high=3)),
        ("age IS KNOWN", Term(0)),
        ("age > 1 AND age <= 5 AND age > 2", Term(0, low=2, high=5)),
        ("job = nurse", Term(1, values=["nurse"])),
        ("job != nurse", Term(1, values=["cook", "teacher"])),
        ("job NOT IN {nurse, cook}", Term(1, values=["teacher"])),
        ("job in {}", Term(1, values=[])),
        ("job is known", Term(1, values=["cook", "nurse", "teacher"])),
        ("smokes = TRUE", Term(2, low=0)),
        ("smokes = 1", Term(2, low=0)),
        ("smokes != true", Term(2, high=0)),
        ('"mean radius" > 3', Term(3, low=3)),
    ],
)
def test_terms_mean_what_they_say(text, term):
    assert only_rule(f"IF {text} THEN yes").terms == (term,)


def test_comments_line_breaks_and_small_letters_are_allowed():
    rules = read("# by hand", "if age <= 1", "  and smokes = true  # twice", "then yes if TRUE then no")
    assert [len(rule) for rule in rules] == [2, 0]


def test_numbers_may_stand_for_text_that_looks_like_them():
    rules = RuleSet.from_text(
        'FEATURE code CATEGORICAL {"1", "2"} CLASSES {"0", "1"} DEFAULT 0 IF code = 2 THEN 1'
    )
    assert rules[0] == Rule((Term(0, values=["2"]),), "1")
    assert rules.default == "0"


@pytest.mark.parametrize(
    ("classes", "default"),
    [
        (np.array([0, 1, 5], dtype=np.int8), 5),
        (np.array([0.5, 2.0]), 2.0),
        (np.array([False, True]), True),
        (np.array(["if", "a b", '"', "é\n"], dtype=object), "if"),
        (np.array(["no", "yes"]), "no"),
    ],
)
def test_labels_of_every_type_come_back_with_their_type(classes, default):
    rules = RuleSet.from_rules([Rule((), default)], ["x"], classes=classes, default=default)
    back = RuleSet.from_text(rules.to_text())
    assert back == rules
    assert back.classes.dtype == classes.dtype


NAMES = st.text(st.characters(), min_size=1, max_size=8)


@given(st.integers(0, 10**6), st.lists(NAMES, min_size=3, max_size=3, unique=True), st.booleans())
def test_every_rule_set_reads_back_equal(seed, names, named):
    rng = np.random.default_rng(seed)
    drawn = random_features(rng, 3)
    features = Features(tuple(names), drawn.kinds, drawn.categories, named)
    voting = str(rng.choice(["confidence", "majority", "share", "weights"]))
    rules = random_ruleset(rng, features, 6, voting=voting).with_scale(float(rng.choice([1.0, 2.5])))
    assert RuleSet.from_text(rules.to_text()) == rules


def test_text_without_header_needs_to_be_told_the_rest():
    rules = read("IF age <= 3 THEN yes")
    text = rules.to_text(header=False)
    assert text == "IF age <= 3 THEN yes\n"
    assert RuleSet.from_text(text, FEATURES, classes=["no", "yes"], default="no") == rules
    with pytest.raises(RuleTextError, match="no features are known"):
        RuleSet.from_text(text, default="no")
    with pytest.raises(RuleTextError, match="write DEFAULT or pass default"):
        RuleSet.from_text(text, FEATURES)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("IF agee <= 3 THEN yes", (1, 4), "no feature agee; did you mean age?"),
        ("IF age <= abc THEN yes", (1, 11), "expected a number, found abc"),
        ("IF age <= 3\nTHEN maybe", (2, 6), "maybe is not a class; expected no, yes"),
        ('IF job IN {"nurs"} THEN yes', (1, 12), "did you mean nurse?"),
        ("IF job <= 3 THEN yes", (1, 11), "job is categorical; write = or IN"),
        ("IF age IN {3} THEN yes", (1, 11), "IN is for categorical features"),
        ("IF age != 3 THEN yes", (1, 4), "write two rules"),
        ("IF age 3 THEN yes", (1, 8), "IS KNOWN, found 3"),
        ("IF 3 age THEN yes", (1, 6), "expected <, <=, > or >="),
        ("IF smokes = 2 THEN yes", (1, 13), "expected TRUE or FALSE, found 2"),
        ("IF age <= 3 AND THEN yes", (1, 17), "expected a name, found the keyword THEN"),
        ("IF age <= 3 yes", (1, 13), "expected THEN, found yes"),
        ("IF age <= 3 THEN", (1, 17), "expected a value, found the end"),
        ("IF age <= 3 THEN yes WITH certainty 1", (1, 27), "expected confidence, cover"),
        ("IF age <= 3 THEN yes WITH weight 1, weight 2", (1, 37), "weight is given twice"),
        ("IF age <= 3 THEN yes WITH confidence 2", (1, 38), "between 0 and 1"),
        ('IF "age <= 3 THEN yes', (1, 4), "unterminated string"),
        ('IF "a\\qe" <= 3 THEN yes', (1, 4), "backslash"),
        ("IF age <= 1e999 THEN yes", (1, 11), "too long or too large"),
        (f"IF age <= {'9' * 5000} THEN yes", (1, 11), "too long or too large"),
        ("IF age <= 3x THEN yes", (1, 11), "neither a number nor a name"),
        ("IF age <= $3 THEN yes", (1, 11), "unexpected character '$'"),
        ("IF age <= ٣ THEN yes", (1, 11), "neither a number nor a name"),
        ("VOTING loudest", (1, 8), "expected confidence, majority"),
        ("VOTING share VOTING share", (1, 14), "is given twice"),
        ("IF TRUE THEN no\nVOTING share", (2, 1), "move it to the top"),
        ("RULES", (1, 1), "expected FEATURE, COLUMNS"),
        ("SCALE -1", (1, 7), "positive"),
        ("BASE {1, 2, 3}", (1, 6), "3 numbers for 2 classes"),
        ("FEATURE a NUMERIC FEATURE a NUMERIC IF TRUE THEN no", (1, 37), "Two columns are called"),
        ("CLASSES int8 {1, 300}", (1, 9), "int8"),
        ("CLASSES {1, yes}", (1, 9), "one kind"),
        ("CLASSES {1 2}", (1, 12), "expected ,, found 2"),
    ],
)
def test_errors_point_at_the_place(text, place, message):
    with pytest.raises(RuleTextError) as caught:
        read(text)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == place


def test_the_caret_stands_below_the_error_in_a_long_line():
    text = "IF " + " AND ".join(["age <= 3"] * 50) + " AND aeg <= 3 THEN yes"
    with pytest.raises(RuleTextError) as caught:
        read(text)
    _, line, caret = str(caught.value).split("\n")
    assert line[caret.index("^") :].startswith("aeg")
    assert len(line) < 100


def test_a_bound_just_below_a_short_number_is_written_as_at_least_or_less():
    text = "IF 18 <= age < 65 THEN yes\n"
    rules = read(text)
    assert rules.to_text(header=False) == text
    assert str(rules[0]).startswith("IF 18 ≤ age < 65 THEN yes")
    assert read("IF age >= 0 THEN yes").to_text(header=False) == "IF age >= 0 THEN yes\n"
