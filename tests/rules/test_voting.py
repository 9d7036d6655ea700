"""Voting schemes: votes, ties and probabilities."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.random_rules import random_features, random_ruleset, random_table

from clausewise import Rule, RuleSet, Term
from clausewise.rules.voting import SCHEMES, VOTINGS, per_mille

# On x = 1 all fire; on x = 3 only the first; on x = 9 none.
RULES = [
    Rule((Term(0, high=5),), "a", confidence=0.9, weight=0.25),
    Rule((Term(0, high=2),), "b", confidence=0.5, weight=1.0),
    Rule((Term(0, high=1),), "b", confidence=0.3, weight=-0.5),
    Rule((Term(0, low=100),), "b", confidence=0.8, weight=4.0),
]
X = np.array([[1.0], [3.0], [9.0]])


def ruleset(voting, default="c"):
    return RuleSet.from_rules(RULES, ["x"], classes=["a", "b", "c"], default=default, voting=voting)


@pytest.mark.parametrize(
    ("voting", "scores", "decisions"),
    [
        ("confidence", [[900, 800, 0], [900, 0, 0], [0, 0, 0]], ["a", "a", "c"]),
        ("majority", [[1, 2, 0], [1, 0, 0], [0, 0, 0]], ["b", "a", "c"]),
        ("share", [[1, 2 / 3, 0], [1, 0, 0], [0, 0, 0]], ["a", "a", "c"]),
        ("weights", [[0.25, 0.5, 0], [0.25, 0, 0], [0, 0, 0]], ["b", "a", "c"]),
    ],
)
def test_each_scheme_counts_what_it_says(voting, scores, decisions):
    rules = ruleset(voting)
    np.testing.assert_array_equal(rules.scores(X), scores)
    assert rules.predict(X).tolist() == decisions
    assert ruleset("majority").predict(X, voting=voting).tolist() == decisions
    np.testing.assert_array_equal(ruleset("majority").scores(X, voting=voting), scores)
    assert ruleset("majority").with_voting(voting) == rules


def test_confidence_is_the_default():
    assert RuleSet.from_rules(RULES, ["x"], default="a").voting == "confidence"


@pytest.mark.parametrize("voting", VOTINGS)
def test_ties_go_to_the_default_class_and_then_to_the_lowest_index(voting):
    def decide(default, *conclusions):
        rules = [Rule((), conclusion, confidence=0.5, weight=0.5) for conclusion in conclusions]
        made = RuleSet.from_rules(rules, ["x"], classes=["a", "b", "c"], default=default, voting=voting)
        return made.predict([[0.0]])[0]

    assert decide("b", "a", "b") == "b"
    assert decide("b", "b", "a") == "b"
    assert decide("c", "b", "a") == "a"
    assert decide("a", "c", "b") == "b"
    assert decide("c") == "c"


def test_equal_shares_tie_exactly():
    """1 of 3 and 2 of 6 rules are the same share."""
    fires, fails = (Term(0, high=1),), (Term(0, low=1),)
    rules = [Rule(fires, "a"), Rule(fails, "a"), Rule(fails, "a")]
    rules += [Rule(fires, "b")] * 2 + [Rule(fails, "b")] * 4
    made = RuleSet.from_rules(rules, ["x"], classes=["a", "b"], default="b", voting="share")
    assert made.predict([[0.0]]).tolist() == ["b"]
    assert made.with_default("a").predict([[0.0]]).tolist() == ["a"]


@pytest.mark.parametrize(
    ("confidence", "votes"),
    [(0.0, 0), (1.0, 1000), (0.9995, 1000), (0.99949, 999), (0.6665, 667), (2 / 3, 667)],
)
def test_confidence_votes_are_whole_per_mille_as_in_c50(confidence, votes):
    assert per_mille(np.array([confidence])).tolist() == [votes]


@given(st.floats(0, 1))
def test_per_mille_is_the_formula_of_c50(confidence):
    assert per_mille(np.array([confidence]))[0] == int(np.floor(1000 * confidence + 0.5))


def test_the_order_of_rules_does_not_change_confidence_votes():
    rng = np.random.default_rng(0)
    rules = [Rule((), "ab"[i % 2], confidence=float(rng.random())) for i in range(2000)]
    one = RuleSet.from_rules(rules, ["x"], default="a")
    other = one[rng.permutation(2000)]
    np.testing.assert_array_equal(one.scores([[0.0]]), other.scores([[0.0]]))


@given(st.integers(0, 10**6), st.sampled_from(VOTINGS))
def test_the_most_probable_class_is_the_predicted_one_unless_tied(seed, voting):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 4)
    rules = random_ruleset(rng, features, 15, voting=voting)
    table = random_table(rng, features, 20)
    scores = rules.evaluator.scores(table.encoded(), voting)
    probabilities = rules.probabilities(scores)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities >= 0).all()
    decided = rules.evaluator.decide(table.encoded(), voting, rules.default_index)
    assert (probabilities[np.arange(20), decided] == probabilities.max(axis=1)).all()


def test_probabilities_are_fractions_of_the_votes_or_a_softmax():
    np.testing.assert_allclose(ruleset("confidence").predict_proba(X)[0], [9 / 17, 8 / 17, 0])
    np.testing.assert_allclose(ruleset("confidence").predict_proba(X)[2], [1 / 3, 1 / 3, 1 / 3])
    powers = np.exp([0.25, 0.5, 0.0])
    np.testing.assert_allclose(ruleset("weights").predict_proba(X)[0], powers / powers.sum())


def test_weights_far_apart_do_not_overflow():
    rules = ruleset("weights").with_weights([1e6, -1e6, 0, 0])
    np.testing.assert_array_equal(rules.predict_proba(X)[0], [1, 0, 0])


def test_with_weights_votes_by_weights():
    rules = ruleset("majority").with_weights([1, 2, 3, 4])
    assert rules.voting == "weights"
    np.testing.assert_array_equal(rules.scores(X)[0], [1, 5, 0])
    for wrong in ([1, 2], [1, 2, 3, np.nan]):
        with pytest.raises(ValueError, match="4 finite numbers"):
            ruleset("majority").with_weights(wrong)


def test_base_votes_start_every_row_under_weights_only():
    rules = ruleset("weights").with_weights([0.25, 1, -0.5, 4], base=[0.5, 0.25, 0.125])
    np.testing.assert_array_equal(
        rules.scores(X), [[0.75, 0.75, 0.125], [0.75, 0.25, 0.125], [0.5, 0.25, 0.125]]
    )
    assert rules.predict(X).tolist() == ["a", "a", "a"]
    assert rules.with_default("b").predict(X).tolist() == ["b", "a", "a"]
    powers = np.exp([0.5, 0.25, 0.125])
    np.testing.assert_allclose(rules.predict_proba(X)[2], powers / powers.sum())
    for voting in ("confidence", "majority", "share"):
        np.testing.assert_array_equal(rules.scores(X, voting=voting), ruleset(voting).scores(X))
        assert rules.predict(X, voting=voting).tolist() == ruleset(voting).predict(X).tolist()


def test_tied_base_votes_go_to_the_default_class_and_then_to_the_lowest_index():
    empty = ruleset("weights")[:0]
    assert empty.with_weights([], base=[0, 1, 1]).predict(X).tolist() == ["c"] * 3
    assert empty.with_weights([], base=[0, 1, 1]).with_default("a").predict(X).tolist() == ["b"] * 3


def test_base_votes_stay_with_the_rules():
    rules = ruleset("weights").with_weights([1, 2, 3, 4], base=[1, -0.0, 3])
    for kept in (rules[1:], rules.filter(min_length=1), rules.distinct(), rules.with_default("a")):
        assert kept.base.tolist() == [1, 0, 3]
    assert rules.with_weights([4, 3, 2, 1]).base.tolist() == [1, 0, 3]
    assert rules[:2] + rules[2:] == rules
    joined = RuleSet.concatenate([rules, rules], rules.features, rules.classes, default="c")
    assert joined.base.tolist() == [1, 0, 3]
    chosen = RuleSet.concatenate([rules], rules.features, rules.classes, default="c", base=[0, 0, 1])
    assert chosen.base.tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match="cannot be joined to one over 1 features"):
        RuleSet.concatenate([rules], rules.features, ["a", "b", "d"], default="a")
    assert not rules.base.flags.writeable
    assert not np.signbit(rules.base).any()


@pytest.mark.parametrize("wrong", [[1, 2], [1, 2, np.nan], [[1, 2, 3]]])
def test_base_votes_that_do_not_fit_are_an_error(wrong):
    with pytest.raises(ValueError, match="3 finite numbers, one per class"):
        ruleset("weights").with_weights([1, 2, 3, 4], base=wrong)
    with pytest.raises(ValueError, match="3 finite numbers, one per class"):
        RuleSet.from_rules([], ["x"], classes=["a", "b", "c"], default="a", base=wrong)


def test_an_unknown_scheme_is_an_error_that_lists_the_known():
    message = "voting is 'loudest'; the schemes are confidence, majority, share, weights"
    with pytest.raises(ValueError, match=message):
        ruleset("majority").with_voting("loudest")
    with pytest.raises(ValueError, match=message):
        ruleset("majority").predict(X, voting="loudest")
    with pytest.raises(ValueError, match=message):
        ruleset("loudest")


def test_every_scheme_says_what_it_does():
    assert set(SCHEMES) == set(VOTINGS)
    assert all(scheme.summary for scheme in SCHEMES.values())


@pytest.mark.parametrize("voting", VOTINGS)
def test_rules_with_priority_decide_alone_where_they_fire(voting):
    learnt = [Rule((Term(0, high=5),), "no", 0.9, weight=3), Rule((Term(0, high=5),), "no", 0.8, weight=2)]
    expert = Rule((Term(0, high=1),), "yes", 0.3, weight=0.5, priority=True)
    rules = RuleSet.from_rules([*learnt, expert], ["x"], default="no", voting=voting, base=[4, 0])
    assert rules.predict([[0.0], [3.0], [9.0]]).tolist() == ["yes", "no", "no"]


@given(st.integers(0, 10**6), st.sampled_from(VOTINGS))
def test_a_rule_with_priority_changes_nothing_where_it_does_not_fire(seed, voting):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 3)
    rules = random_ruleset(rng, features, 8, voting=voting)
    rules = rules[~rules.columns.priority]
    rows = random_table(rng, features, 50).encoded()
    first = random_ruleset(rng, features, 1).columns
    more = replace(rules, columns=rules.columns + replace(first, priority=np.array([True])))
    fires = more.evaluator.fires(rows)[len(rules)]
    before, after = (some.evaluator.scores(rows, voting) for some in (rules, more))
    np.testing.assert_array_equal(before[~fires], after[~fires])
