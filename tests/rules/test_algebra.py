"""Terms and rules: canonical form, subsumption and contradiction, checked value by value."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausewise import Origin, Rule, Term

# On this grid, with points between, below and above, two sets of reals that differ differ visibly.
BOUNDS = (-2.0, -1.0, 0.0, 1.0, 2.0)
POINTS = (-math.inf, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, math.inf, None, math.nan)
VALUES = ("a", "b", "c")


@st.composite
def intervals(draw, feature=0):
    low = draw(st.sampled_from((-math.inf, *BOUNDS)))
    high = draw(st.sampled_from((*BOUNDS, math.inf)))
    return Term(feature, low=low, high=high)


def value_sets(feature=2):
    return st.sets(st.sampled_from(VALUES)).map(lambda values: Term(feature, values=values))


def or_missing(terms, feature):
    return st.one_of(terms, terms, st.just(Term(feature, missing=True)))


numeric_terms, categorical_terms = or_missing(intervals(0), 0), or_missing(value_sets(2), 2)
terms = st.one_of(numeric_terms, or_missing(intervals(1), 1), categorical_terms)
rules = st.lists(terms, max_size=5).map(lambda found: Rule(tuple(found), "yes"))
ROWS = [(x, y, v) for x in POINTS[::2] for y in POINTS[1::2] for v in (*VALUES, None)]
ROWS += [(x, y, "a") for x in POINTS for y in POINTS]


def extent(term):
    points = POINTS if term.feature < 2 else (*VALUES, None)
    return {i for i, point in enumerate(points) if term.holds(point)}


def rows_of(rule):
    return {i for i, row in enumerate(ROWS) if rule.holds(row)}


@given(numeric_terms, numeric_terms)
def test_intervals_contain_contradict_and_intersect_as_sets_do(a, b):
    assert a.contains(b) == (extent(b) <= extent(a))
    assert a.contradicts(b) == (not extent(a) & extent(b))
    assert extent(a.intersection(b)) == extent(a) & extent(b)
    assert a.is_satisfiable == bool(extent(a))


@given(categorical_terms, categorical_terms)
def test_value_sets_contain_contradict_and_intersect_as_sets_do(a, b):
    assert a.contains(b) == (extent(b) <= extent(a))
    assert a.contradicts(b) == (not extent(a) & extent(b))
    assert extent(a.intersection(b)) == extent(a) & extent(b)
    assert a.is_satisfiable == bool(extent(a))


@given(numeric_terms, numeric_terms)
def test_satisfiable_terms_are_equal_exactly_when_they_hold_alike(a, b):
    if a.is_satisfiable and b.is_satisfiable:
        assert (a == b) == (extent(a) == extent(b))
    if a == b:
        assert hash(a) == hash(b)


@given(st.lists(terms, max_size=6), st.randoms())
def test_the_order_and_repetition_of_terms_does_not_matter(found, random):
    shuffled = [*found, *found]
    random.shuffle(shuffled)
    one, other = Rule(tuple(found), "yes"), Rule(tuple(shuffled), "yes")
    assert one == other
    assert hash(one) == hash(other)


@given(st.lists(terms, max_size=6))
def test_a_canonical_rule_holds_where_all_its_terms_did(found):
    rule = Rule(tuple(found), "yes")
    assert rows_of(rule) == {i for i, row in enumerate(ROWS) if all(t.holds(row[t.feature]) for t in found)}
    assert [t.feature for t in rule.terms] == sorted({t.feature for t in found})
    assert Rule(rule.terms, "yes") == rule


@given(rules, rules)
def test_subsumption_and_contradiction_are_exact(a, b):
    assert a.subsumes(b) == (rows_of(b) <= rows_of(a))
    assert a.contradicts(b) == (not rows_of(a) & rows_of(b))
    assert rows_of(Rule(a.intersection(b), "yes")) == rows_of(a) & rows_of(b)
    assert a.is_satisfiable == bool(rows_of(a))


@given(rules, rules)
def test_satisfiable_rules_have_equal_terms_exactly_when_they_hold_alike(a, b):
    if a.is_satisfiable and b.is_satisfiable:
        assert (a.terms == b.terms) == (rows_of(a) == rows_of(b))


@given(rules, rules, rules)
def test_subsumption_is_an_order(a, b, c):
    assert a.subsumes(a)
    if a.subsumes(b) and b.subsumes(c):
        assert a.subsumes(c)
    if a.subsumes(b) and b.subsumes(a) and a.is_satisfiable:
        assert a.terms == b.terms


def test_a_rule_without_terms_always_holds():
    anything = Rule((), "yes")
    assert anything.holds((None, math.nan))
    assert anything.subsumes(Rule((Term(0, high=3),), "no"))
    assert len(anything) == 0
    assert anything


def test_a_contradictory_rule_shows_why_it_never_fires():
    rule = Rule((Term(0, "age", low=5), Term(0, "age", high=3)), "yes")
    assert not rule.is_satisfiable
    assert str(rule) == "IF age > 5 and ≤ 3 THEN yes   (confidence 1.00)"


def test_equality_ignores_names():
    assert Term(0, "age", high=3) == Term(0, high=3)
    assert hash(Term(0, "age", high=3)) == hash(Term(0, high=3))


def test_the_parts_of_a_rule_are_plain_python_values():
    rule = Rule((Term(np.int64(1), values=np.array(["a"])),), np.str_("yes"), np.float32(0.5), np.int64(4), 2)
    assert type(rule.conclusion) is str
    assert type(rule.confidence) is float
    assert type(rule.terms[0].feature) is int
    assert {type(value) for value in rule.terms[0].values} == {str}
    assert math.copysign(1, Term(0, low=-0.0).low) == 1


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (Term(0, "age", high=47), "age ≤ 47"),
        (Term(0, "age", low=0.1), "age > 0.1"),
        (Term(0, "age", low=-1, high=1e-7), "-1 < age ≤ 1e-7"),
        (Term(3), "x3 is known"),
        (Term(3, missing=True), "x3 is missing"),
        (Term(0, "job", values=["teacher", "nurse"]), "job ∈ {nurse, teacher}"),
        (Term(0, "job", values=["nurse"]), "job = nurse"),
        (Term(0, "job", values=[]), "job ∈ {}"),
        (Term(0, "zip", values=[10, 9]), "zip ∈ {9, 10}"),
        (Term(0, "flag", values=[True]), "flag = true"),
        (Term(0, "job", values=["a, b", "", " c"]), "job ∈ {'', ' c', 'a, b'}"),
    ],
)
def test_terms_read_well(term, text):
    assert str(term) == text


def test_rules_read_well():
    rule = Rule(
        (Term(1, "job", values=["nurse"]), Term(0, "age", high=47)),
        "yes",
        confidence=0.931,
        cover=120,
        correct=112,
        weight=0.25,
        origin=Origin("hidden 1", "h3 > 0.5"),
    )
    assert str(rule) == "IF age ≤ 47 AND job = nurse THEN yes   (confidence 0.93, covers 120, weight 0.25)"
    assert str(rule.origin) == "hidden 1: h3 > 0.5"
    assert str(Rule((), True)) == "IF anything THEN true   (confidence 1.00)"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"feature": -1}, ValueError, "index of a column"),
        ({"feature": True}, ValueError, "index of a column"),
        ({"feature": 1.5}, ValueError, "index of a column"),
        ({"feature": 0, "low": math.nan}, ValueError, "low is nan"),
        ({"feature": 0, "low": math.inf}, ValueError, "low is inf"),
        ({"feature": 0, "high": -math.inf}, ValueError, "high is -inf"),
        ({"feature": 0, "values": "nurse"}, ValueError, "as a list"),
        ({"feature": 0, "values": [math.nan]}, ValueError, "not a category"),
        ({"feature": 0, "values": [("a",)]}, ValueError, "not a category"),
        ({"feature": 0, "values": ["a"], "high": 3}, ValueError, "interval or a set"),
        ({"feature": 0, "missing": True, "high": 3}, ValueError, "no bounds and no values"),
        ({"feature": 0, "missing": True, "values": []}, ValueError, "no bounds and no values"),
    ],
)
def test_impossible_terms_are_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        Term(**arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"terms": ("age",)}, TypeError, "not a Term"),
        ({"terms": (Term(0, high=1), Term(0, values=["a"]))}, ValueError, "cannot be compared"),
        ({"conclusion": None}, TypeError, "not a class label"),
        ({"conclusion": math.nan}, ValueError, "finite"),
        ({"confidence": 1.2}, ValueError, "between 0 and 1"),
        ({"confidence": math.nan}, ValueError, "between 0 and 1"),
        ({"cover": 3, "correct": 4}, ValueError, "correct ≤ cover"),
        ({"cover": math.inf}, ValueError, "correct ≤ cover"),
        ({"weight": math.nan}, ValueError, "finite"),
    ],
)
def test_impossible_rules_are_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        Rule(**({"terms": (), "conclusion": "yes"} | arguments))
