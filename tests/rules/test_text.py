"""The rule language: rules read back equal, and errors show their position. The corpus tests meanings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.random_rules import random_features, random_ruleset

from clausewise import Features, Rule, RuleSet, RuleTextError

FEATURES = Features(
    ("age", "job", "smokes", "mean radius"),
    ("numeric", "categorical", "binary", "numeric"),
    (None, ("cook", "nurse", "teacher"), None, None),
)


def read(*lines, **options):
    known = {"classes": ["no", "yes"], "default": "no"} | options
    return RuleSet.from_text("\n".join(lines), FEATURES, **known)


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


def test_text_without_header_needs_features_and_default():
    rules = read("IF age <= 3 THEN yes")
    text = rules.to_text(header=False)
    assert text == "IF age <= 3 THEN yes\n"
    assert RuleSet.from_text(text, FEATURES, classes=["no", "yes"], default="no") == rules
    with pytest.raises(RuleTextError, match="no features are known"):
        RuleSet.from_text(text, default="no")
    with pytest.raises(RuleTextError, match="write DEFAULT or pass default"):
        RuleSet.from_text(text, FEATURES)


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


def text_about_categories(n_categories, *rules):
    values = ", ".join(f"v{i}" for i in range(n_categories))
    return f"FEATURE x CATEGORICAL {{{values}}}\nCLASSES {{a, b}}\nDEFAULT a\n" + "\n".join(rules)


@pytest.mark.parametrize("term", ["x != v1", "x NOT IN {v1, v2}", "x IS KNOWN"])
def test_short_texts_that_stand_for_very_large_sets_are_refused(term):
    of_many_rules = text_about_categories(3_000, *[f"IF {term} THEN b"] * 700)
    of_one_rule = text_about_categories(3_000, f"IF {' AND '.join([term] * 700)} THEN b")
    for text in (of_many_rules, of_one_rule):
        with pytest.raises(RuleTextError, match="stand for more than 2,000,000 categories up to here; use a"):
            RuleSet.from_text(text)


def test_sets_of_any_size_are_read_where_the_text_lists_them():
    listed = ", ".join(f"v{i}" for i in range(3_000))
    known = RuleSet.from_text(text_about_categories(3_001, f"IF x IN {{{listed}}} THEN b"))
    assert known.to_text().splitlines()[-1] == "IF x != v3000 THEN b"
    assert RuleSet.from_text(known.to_text()) == known
