"""Measures, compared with scikit-learn's and with counts by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, cohen_kappa_score, roc_auc_score
from tests.rules.random_rules import random_features, random_ruleset

from clausewise import Features, Rule, RuleSet, Term
from clausewise.rules import metrics

labels = st.integers(0, 2)
pairs = st.lists(st.tuples(labels, labels), min_size=1, max_size=40)

RULES = RuleSet.from_rules(
    [
        Rule((Term(0, high=5), Term(1, low=0)), "a", confidence=0.9),
        Rule((Term(0, high=5), Term(1, high=2)), "b", confidence=0.8),
        Rule((Term(0, high=3),), "b", confidence=0.7),
        Rule((Term(0, low=100),), "b", confidence=0.1),
    ],
    ["x", "y"],
    default="a",
)
X = np.array([[4.0, 3.0], [4.0, 1.0], [4.0, -1.0], [2.0, -1.0], [50.0, 0.0]])
#              rule 0      rules 0, 1  rule 1       rules 1, 2   none
TARGET = ["a", "b", "b", "b", "b"]


@given(pairs)
def test_accuracy_and_balanced_accuracy_are_scikit_learns(found):
    predicted, target = np.array(found).T
    assert metrics.accuracy(predicted, target) == pytest.approx(accuracy_score(target, predicted))
    assert metrics.fidelity(predicted, target) == metrics.accuracy(predicted, target)
    # scikit-learn warns about a single class and about classes that are only predicted.
    if np.isin(predicted, target).all() and len(set(target)) > 1:
        expected = balanced_accuracy_score(target, predicted)
        assert metrics.balanced_accuracy(predicted, target) == pytest.approx(expected)


@given(pairs)
def test_kappa_is_scikit_learns_and_the_baseline_a_constants_accuracy(found):
    predicted, target = np.array(found).T
    kappa = metrics.cohen_kappa(predicted, target)
    if len({*predicted, *target}) == 1:  # where scikit-learn warns
        assert math.isnan(kappa)
    else:
        assert kappa == pytest.approx(cohen_kappa_score(predicted, target))
    constants = [accuracy_score(target, np.full_like(target, label)) for label in range(3)]
    assert metrics.majority_baseline(target) == pytest.approx(max(constants))


@given(st.integers(1, 500), st.floats(0, 1), st.sampled_from([0.5, 0.95, 0.999]))
def test_the_wilson_interval_is_scipys(n_rows, fraction, confidence):
    n_hits = round(fraction * n_rows)
    low, high = metrics.wilson_interval(n_hits, n_rows, confidence)
    expected = binomtest(n_hits, n_rows).proportion_ci(confidence, method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high))
    assert (low == 0.0, high == 1.0) == (n_hits == 0, n_hits == n_rows)


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()), min_size=2, max_size=40))
def test_auc_of_two_classes_is_scikit_learns(found):
    score, target = np.array([s for s, _ in found]), np.array([t for _, t in found])
    ours = metrics.auc(np.column_stack([1 - score, score]), target, [False, True])
    if target.all() or not target.any():
        assert math.isnan(ours)
    else:
        assert ours == pytest.approx(roc_auc_score(target, score))


@given(st.integers(0, 10**6))
def test_auc_of_many_classes_is_the_mean_over_the_classes(seed):
    rng = np.random.default_rng(seed)
    target = rng.permutation(np.arange(30) % 3)
    scores = rng.dirichlet(np.ones(3), 30)
    expected = roc_auc_score(target, scores, multi_class="ovr")
    assert metrics.auc(scores, target, [0, 1, 2]) == pytest.approx(expected)
    # A class without rows has no curve.
    wider = np.column_stack([scores, np.zeros(30)])
    assert metrics.auc(wider, target, [0, 1, 2, 3]) == pytest.approx(expected)


def test_auc_from_labels_is_that_of_the_decisions_taken_as_scores():
    predicted, target = ["a", "b", "b", "a"], ["a", "b", "a", "a"]
    expected = roc_auc_score([0, 1, 0, 0], [0, 1, 1, 0])
    assert metrics.auc_from_labels(predicted, target, ["a", "b"]) == pytest.approx(expected)
    assert metrics.auc_from_labels([0, 1, 2], [0, 1, 2], [0, 1, 2]) == 1.0


def test_rule_lengths_and_distinct_terms_are_counted():
    assert metrics.mean_rule_length(RULES) == 1.5
    assert metrics.n_distinct_terms(RULES) == 5  # x ≤ 5 is shared
    assert metrics.mean_rule_length(RULES[:0]) == 0.0
    assert metrics.n_distinct_terms(RULES[:0]) == 0
    opposites = RULES.add(["IF x IS KNOWN THEN a", "IF x IS MISSING THEN a"])
    assert metrics.n_distinct_terms(opposites) == 7


@pytest.mark.parametrize(
    ("term", "cost"),
    [
        (Term(0, high=60), 1),
        (Term(0, low=20, high=60), 2),
        (Term(0, low=60, high=20), 2),
        (Term(0), 1),
        (Term(1, values=["cook", "nurse"]), 2),
        (Term(1, values=["cook", "nurse", "pilot", "sailor"]), 1),
        (Term(1, values=["cook", "nurse", "pilot", "sailor", "teacher"]), 1),
        (Term(1, values=[]), 1),
        (Term(0, missing=True), 1),
        (Term(1, missing=True), 1),
        (Term(2, high=0), 1),
    ],
)
def test_a_term_costs_what_it_names(term, cost):
    jobs = ("cook", "nurse", "pilot", "sailor", "teacher")
    features = Features(("age", "job", "member"), ("numeric", "categorical", "binary"), (None, jobs, None))
    rules = RuleSet.from_rules([Rule((term,), "yes"), Rule((), "no")], features, default="no")
    assert rules.reading_cost == metrics.reading_cost(rules) == 2 + cost


def cost_of_rule(rule, features):
    cost = 1
    for term in rule.terms:
        if term.is_categorical:
            n_left_out = len(set(features.categories[term.feature]) - term.values)
            cost += max(min(len(term.values), n_left_out), 1)
        else:
            cost += max(math.isfinite(term.low) + math.isfinite(term.high), 1)
    return cost


@given(st.integers(0, 10**6))
def test_the_reading_cost_is_the_sum_over_the_rules(seed):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 5)
    rules = random_ruleset(rng, features, int(rng.integers(0, 12)))
    assert rules.reading_cost == sum(cost_of_rule(rule, features) for rule in rules)


def test_rules_that_share_a_premise_are_read_one_by_one():
    premise = (Term(0, high=5), Term(1, low=0))
    rules = RuleSet.from_rules([Rule(premise, "a"), Rule(premise, "b")], ["x", "y"], default="a")
    assert rules.n_premises == 1
    assert rules.reading_cost == 6


def test_coverage_overlap_and_conflict_are_fractions_of_rows():
    assert metrics.coverage(RULES, X) == 4 / 5
    assert metrics.overlap(RULES, X) == 2 / 5
    assert metrics.conflict(RULES, X) == 1 / 5


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (lambda: metrics.accuracy([1, 2], [1]), "equal length"),
        (lambda: metrics.accuracy([[1]], [[1]]), "equal length"),
        (lambda: metrics.accuracy([], []), "no rows"),
        (lambda: metrics.coverage(RULES, X[:0]), "no rows"),
        (lambda: metrics.overlap(RULES, X[:0]), "no rows"),
        (lambda: metrics.auc([[0.5, 0.5]], [0, 1], [0, 1]), r"scores has shape \(1, 2\)"),
        (lambda: metrics.majority_baseline([]), "at least one"),
        (lambda: metrics.wilson_interval(3, 2), "3 of 2 rows is not a fraction"),
        (lambda: metrics.wilson_interval(0, 0), "0 of 0 rows is not a fraction"),
        (lambda: metrics.wilson_interval(1, 2, 95), "confidence is 95"),
    ],
)
def test_measures_of_columns_that_do_not_match_are_errors(measure, message):
    with pytest.raises(ValueError, match=message):
        measure()


def test_measures_take_labels_for_what_they_mean():
    assert metrics.accuracy([0, 1, 1], ["0", "1", "0"]) == metrics.accuracy([0, 1, 1], [0, 1, 0])
    assert metrics.balanced_accuracy(["1", "0"], [1, 2]) == 0.5
    with pytest.raises(ValueError, match="target holds 'a', 'b', which are not among the classes 0, 1"):
        metrics.accuracy([0, 1], ["a", "b"])
