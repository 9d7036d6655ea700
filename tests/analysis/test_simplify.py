"""Simplification: fewer rules, with no decision changed, or no more than allowed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.probing import decisions, probe_rows
from tests.rules.random_rules import random_features, random_ruleset, random_table, raw

from clausewise import Features, Rule, RuleSet, Term
from clausewise.analysis.lossy_simplification import _Search
from clausewise.rules.voting import VOTINGS, sums_are_exact

YOUNG, OLD = Term(0, high=30), Term(0, low=60)


def ruleset(rules, voting="majority", default="no", **options):
    features = Features(("age", "job"), ("numeric", "categorical"), (None, ("cook", "nurse", "pilot")))
    return RuleSet.from_rules(
        rules, features, classes=["maybe", "no", "yes"], default=default, voting=voting, **options
    )


def small_ruleset(rng, features, voting, n_rules):
    """Few thresholds, duplicates and round weights, so that there is something to simplify."""
    rules = random_ruleset(rng, features, n_rules, voting=voting)
    rules = rules[rng.integers(0, n_rules, 2 * n_rules)] if rng.random() < 0.5 else rules
    if rng.random() < 0.6:
        rules = rules[np.repeat(np.arange(len(rules)), 2)]
    if rng.random() < 0.5:
        rules = rules.with_weights(rng.integers(-4, 5, len(rules)) / 4, rng.integers(-2, 3, 3) / 2)
    return rules.with_voting(voting)


@given(st.integers(0, 10**6), st.sampled_from(VOTINGS), st.integers(1, 9), st.integers(1, 4))
def test_no_decision_changes_on_any_row(seed, voting, n_rules, n_features):
    rng = np.random.default_rng(seed)
    features = random_features(rng, n_features)
    rules = small_ruleset(rng, features, voting, n_rules)
    simple = rules.simplify()
    assert len(simple) <= len(rules)
    assert (simple.voting, simple.default, simple.labels) == (rules.voting, rules.default, rules.labels)
    rows = np.concatenate([probe_rows(rules, rng), random_table(rng, features, 100).encoded()])
    np.testing.assert_array_equal(decisions(simple, rows), decisions(rules, rows))
    assert simple.simplify() == simple


@given(st.integers(0, 10**6), st.sampled_from(VOTINGS), st.sampled_from([0.0, 0.05, 0.3]), st.booleans())
def test_fidelity_falls_by_no_more_than_the_tolerance(seed, voting, tolerance, has_target):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 3)
    rules = small_ruleset(rng, features, voting, 8)
    rows = random_table(rng, features, 60).encoded()
    X = raw(features, rows)
    target = rng.choice(rules.classes, 60) if has_target else rules.predict(X)
    simple = rules.simplify(tolerance=tolerance, X=X, target=target if has_target else None)
    before, after = (np.mean(r.predict(X) == target) for r in (rules, simple))
    assert after >= before - tolerance - 1e-12
    assert simple.columns.lengths.sum() + len(simple) <= rules.columns.lengths.sum() + len(rules)


@pytest.mark.parametrize("voting", ["confidence", "majority", "weights"])
def test_rules_that_never_fire_are_dropped(voting):
    never = Rule((Term(0, low=2, high=1),), "yes")
    nowhere = Rule((Term(1, values=[]),), "yes")
    rules = ruleset([never, Rule((YOUNG,), "yes"), nowhere], voting)
    assert list(rules.simplify()) == [Rule((YOUNG,), "yes")]


def test_a_rule_that_never_fires_counts_under_share():
    """One of two rules against one of one: the class with the impossible rule must still lose."""
    never = Rule((Term(0, low=2, high=1),), "yes")
    rules = ruleset([never, Rule((YOUNG,), "yes"), Rule((YOUNG,), "maybe")], "share", default="yes")
    assert len(rules.simplify()) == 3
    doubled = rules[[0, 0, 1, 1, 2, 2, 2]]
    assert doubled.simplify() == rules


def test_a_term_that_accepts_every_value_stays_because_missing_values_fail_it():
    known_job = Rule((Term(1, values=["cook", "nurse", "pilot"]),), "yes")
    known_age = Rule((Term(0, low=-np.inf),), "maybe")
    rules = ruleset([known_job, known_age])
    assert rules.simplify() == rules
    assert rules.simplify().predict(np.array([[None, None]], dtype=object)).tolist() == ["no"]


def test_weights_of_equal_rules_add_up_and_rules_without_weight_are_dropped():
    rules = ruleset([Rule((YOUNG,), "yes")] * 2 + [Rule((OLD,), "yes"), Rule((), "maybe")], "weights")
    simple = rules.with_weights([1, 0.5, 0, 0.25]).simplify()
    assert [(rule.terms, rule.weight) for rule in simple] == [((YOUNG,), 1.5)]
    assert simple.base.tolist() == [0.25, 0, 0]


def test_weights_whose_sums_round_are_not_added():
    rules = ruleset([Rule((YOUNG,), "yes")] * 3, "weights").with_weights([0.1, 0.2, 0.3], base=[0.6, 0, 0])
    assert len(rules.simplify()) == 3
    assert sums_are_exact([1, -0.5, 1024])
    assert not sums_are_exact([0.1, 0.2])
    assert not sums_are_exact([1, 2.0**-53])


@pytest.mark.parametrize("voting", ["confidence", "majority"])
def test_counts_of_equal_rules_matter_unless_all_are_alike(voting):
    yes, no, maybe = Rule((YOUNG,), "yes"), Rule((YOUNG,), "no"), Rule((), "maybe")
    rules = ruleset([yes, yes, no, maybe], voting)
    assert rules.simplify() == rules[[0, 1, 3]]  # "no" has one vote against two
    once = ruleset([yes, Rule((Term(0, high=50),), "yes"), maybe], voting)
    assert once[[0, 0, 1, 1, 2, 2]].simplify() == once


def test_neighbours_become_one_rule():
    rules = ruleset(
        [
            Rule((Term(0, high=20), Term(1, values=["cook"])), "yes", cover=5, correct=4),
            Rule((Term(0, low=20, high=30), Term(1, values=["cook"])), "yes", cover=7, correct=7),
            Rule((Term(0, high=30), Term(1, values=["pilot"])), "yes", cover=1, correct=0),
        ]
    )
    expected = Rule((Term(0, high=30), Term(1, values=["cook", "pilot"])), "yes", cover=13, correct=11)
    assert list(rules.simplify()) == [expected]
    assert len(rules.with_voting("share").simplify()) == 3


@pytest.mark.parametrize(("weight", "n_rules"), [(0.5, 1), (0.1, 2)])
def test_neighbours_with_weights_are_joined_unless_sums_round(weight, n_rules):
    terms = Term(0, high=20), Term(0, low=20, high=30)
    rules = [Rule((term,), "yes", weight=weight) for term in terms]
    rules.append(Rule((Term(0, low=90),), "maybe", weight=0.3 if n_rules == 2 else 0.25))
    made = ruleset(rules).with_voting("weights")
    assert sums_are_exact(made.columns.weight.tolist()) == (n_rules == 1)
    assert len(made.simplify()) == n_rules + 1


def test_rules_that_overlap_are_not_joined():
    rules = ruleset([Rule((Term(0, high=20),), "yes"), Rule((Term(0, high=30),), "yes"), Rule((), "maybe")])
    assert rules.simplify() == rules


def test_rules_that_never_decide_are_dropped():
    always = Rule((), "yes", confidence=0.9)
    weaker = Rule((YOUNG,), "maybe", confidence=0.4)
    assert list(ruleset([always, weaker], "confidence").simplify()) == [always]
    alone = Rule((OLD,), "no")  # the default class, which nothing votes against
    assert list(ruleset([Rule((YOUNG,), "yes"), alone]).simplify()) == [Rule((YOUNG,), "yes")]


def test_a_rule_that_only_breaks_a_tie_stays():
    yes, maybe = Rule((YOUNG,), "yes"), Rule((YOUNG,), "maybe")
    assert len(ruleset([yes, maybe], default="no").simplify()) == 1  # "maybe" wins the tie as the first class
    assert len(ruleset([yes, Rule((), "maybe")], default="yes").simplify()) == 2


def test_terms_and_rules_are_dropped_within_the_tolerance():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    target = np.where(X[:, 0] > 0.5, "yes", "no")
    rules = RuleSet.from_rules(
        [
            Rule((Term(0, low=0.5), Term(1, low=0.001)), "yes", cover=9, correct=9),
            Rule((Term(0, high=0.002),), "yes"),
        ],
        ["a", "b"],
        default="no",
    )
    simple = rules.simplify(tolerance=0.01, X=X, target=target)
    n_yes = int((target == "yes").sum())
    assert list(simple) == [Rule((Term(0, low=0.5),), "yes", cover=n_yes, correct=n_yes)]
    assert (simple.predict(X) == target).all()
    assert not simple.columns.feature.flags.writeable
    assert len(rules.simplify(tolerance=1.0, X=X)) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": 0.1}, "pass X"),
        ({"target": ["no"]}, "pass X"),
        ({"tolerance": 1.5, "X": [[1, "cook"]]}, "tolerance is 1.5; expected a number from 0 to 1"),
        ({"tolerance": 0.1, "X": [[1, "cook"]], "target": ["no", "yes"]}, r"target has shape \(2,\) for 1"),
        ({"tolerance": 0.1, "X": np.empty((0, 2), dtype=object)}, "no rows"),
    ],
)
def test_impossible_wishes_are_errors(options, message):
    with pytest.raises(ValueError, match=message):
        ruleset([Rule((YOUNG,), "yes")]).simplify(**options)


@given(st.integers(0, 10**6), st.sampled_from(VOTINGS))
def test_the_estimated_cost_of_a_drop_is_exact(seed, voting):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 3)
    weight, base = rng.integers(-4, 5, 5) / 4, rng.integers(-2, 3, 3) / 2  # sums are exact
    rules = random_ruleset(rng, features, 5).with_weights(weight, base).with_voting(voting)
    rows = random_table(rng, features, 40).encoded()
    search = _Search(rules, rows, rng.integers(0, len(rules.classes), 40), tolerance=1.0, n_jobs=1)
    for drop in search._drops():
        if search._is_possible(drop):
            expected = search._agreement_after(drop)
            assert search._try(drop)
            assert search.n_agreeing == expected


def test_a_rule_that_loses_a_term_still_counts_among_the_rules_of_its_class():
    rules = RuleSet.from_rules(
        [
            Rule((Term(0, high=1), Term(1, high=1)), "a"),
            Rule((Term(0, low=100),), "a"),
            Rule((Term(0, high=10),), "b"),
        ],
        ["x", "y"],
        default="a",
        voting="share",
    )
    search = _Search(rules, np.array([[0.5, 5.0]]), np.array([1]), tolerance=1.0, n_jobs=1)
    # Without its second term the first rule fires too, which is half of the rules for "a".
    assert search._agreement_after((0, 1)) == 1


def test_a_target_without_any_class_is_refused():
    rules = RuleSet.from_rules([Rule((Term(0, high=1),), "a")], ["x"], default="b")
    with pytest.raises(ValueError, match="which are not among the classes 'a', 'b'"):
        rules.simplify(tolerance=0.1, X=[[0.0], [2.0]], target=[0, 1])
