"""Which clauses are dropped before substitution."""

from clausewise import Rule, RuleSet, Term
from clausewise.extractors.dropping import Dropping


def clauses():
    """Six clauses of two classes: (conclusion, cover, correct, number of terms)."""
    listed = [
        ("a", 10, 10, 1),
        ("a", 100, 90, 1),
        ("a", 4, 2, 2),
        ("b", 50, 50, 3),
        ("b", 8, 4, 1),
        ("b", 2, 2, 1),
    ]
    rules = [
        Rule(tuple(Term(f, low=n) for f in range(length)), label, (ok + 1) / (cover + 2), cover, ok)
        for n, (label, cover, ok, length) in enumerate(listed)
    ]
    return RuleSet.from_rules(rules, ["x", "y", "z"], default="a")


def kept(**options):
    whole = list(clauses())
    return [whole.index(rule) for rule in Dropping(**options).kept(clauses())]


def test_nothing_is_dropped_by_default():
    assert kept() == [0, 1, 2, 3, 4, 5]


def test_the_lowest_ranked_of_all_clauses_are_dropped():
    assert kept(lowest=0.34) == [0, 1, 3, 5]


def test_the_lowest_ranked_clauses_of_each_class_are_dropped():
    assert kept(lowest=0.34, per_class=True) == [0, 1, 3, 5]
    assert kept(lowest=0.67, per_class=True) == [0, 3]
    assert kept(lowest=0.67) == [0, 3]


def test_ranks_may_be_by_accuracy_or_by_the_hill_climbing_score():
    assert kept(max_rules=3, ranking="accuracy") == [0, 3, 5]
    assert kept(max_rules=3, ranking="hill_climbing") == [0, 1, 3]


def test_at_least_one_clause_stays_whatever_fraction_is_dropped():
    assert kept(lowest=0.999) == [3]


def test_a_minimum_confidence_may_leave_no_rules():
    assert kept(min_confidence=0.9) == [0, 3]
    assert kept(min_confidence=0.999) == []
