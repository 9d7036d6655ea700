"""Measures, compared with scikit-learn's and with counts by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score

from clausewise import Rule, RuleSet, Term
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


def test_coverage_overlap_and_conflict_are_fractions_of_rows():
    assert metrics.coverage(RULES, X) == 4 / 5
    assert metrics.overlap(RULES, X) == 2 / 5
    assert metrics.conflict(RULES, X) == 1 / 5


def test_an_evaluation_holds_all_measures_and_reads_well():
    network = ["a", "a", "b", "b", "a"]
    found = RULES.evaluate(X, TARGET, network=network)
    assert RULES.predict(X).tolist() == ["a", "a", "b", "b", "a"]
    assert found.fidelity == 1.0
    assert found.accuracy == 3 / 5
    assert found.balanced_accuracy == pytest.approx((1 + 2 / 4) / 2)
    assert found.auc == metrics.auc(RULES.predict_proba(X), TARGET, ["a", "b"])
    assert found.auc_from_labels == metrics.auc_from_labels(RULES.predict(X), TARGET, ["a", "b"])
    assert (found.coverage, found.overlap, found.conflict) == (0.8, 0.4, 0.2)
    assert (found.n_rules, found.n_rows, found.mean_rule_length, found.n_distinct_terms) == (4, 5, 1.5, 5)
    lines = str(found).splitlines()
    assert lines[0] == "4 rules on 5 rows, voting confidence"
    assert lines[1] == "  fidelity to the network   100.00 %"


def test_an_evaluation_without_a_network_has_no_fidelity():
    found = RULES.evaluate(X, TARGET, voting="majority")
    assert found.fidelity is None
    assert found.voting == "majority"
    assert "fidelity" not in str(found)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (lambda: metrics.accuracy([1, 2], [1]), "equal length"),
        (lambda: metrics.accuracy([[1]], [[1]]), "equal length"),
        (lambda: metrics.accuracy([], []), "no rows"),
        (lambda: metrics.coverage(RULES, X[:0]), "no rows"),
        (lambda: metrics.overlap(RULES, X[:0]), "no rows"),
        (lambda: metrics.auc([[0.5, 0.5]], [0, 1], [0, 1]), r"scores has shape \(1, 2\)"),
        (lambda: RULES.evaluate(X, TARGET[:-1]), "pass one label per row"),
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
