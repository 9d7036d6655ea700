"""What small rule sets are learnt from."""

import numpy as np
import pytest

from clausewise import Rule, RuleSet
from clausewise.compact.examples import examples_of

EMPTY = RuleSet.from_rules([], ["x"], default="a", classes=["a", "b"])
X = np.array([[0.0], [1.0], [2.0], [3.0]])


def test_certain_probabilities_are_probabilities():
    certain = np.array([[1.0, 0.0], [0.0, 1.0], [0.25, 0.75], [1.0, -0.0]])
    examples = examples_of(EMPTY, X, certain)
    assert examples.codes.tolist() == [0, 1, 1, 0]
    assert np.array_equal(examples.target_probabilities, certain)


@pytest.mark.parametrize(
    "row", [[1 + 1e-9, -1e-9], [0.5, 0.502], [0.5, 0.498], [np.nan, 1.0], [np.inf, 0.0], [0.0, 0.0]]
)
def test_rows_that_are_not_probabilities_are_refused(row):
    with pytest.raises(ValueError, match="not probabilities"):
        examples_of(EMPTY, X, np.array([[0.5, 0.5], row, [1.0, 0.0], [0.0, 1.0]]))


def test_probabilities_may_be_rounded_to_three_digits():
    examples = examples_of(EMPTY, X, np.full((4, 2), [0.3334, 0.6662]))
    assert examples.codes.tolist() == [1, 1, 1, 1]


def test_labels_are_certain():
    examples = examples_of(EMPTY, X, ["a", "b", "b", "a"])
    assert examples.probabilities is None
    assert examples.target_probabilities.tolist() == [[1, 0], [0, 1], [0, 1], [1, 0]]


def test_rows_without_weight_are_left_out_and_any_other_weight_counts():
    examples = examples_of(EMPTY, X, ["a", "b", "b", "a"], [0.0, 1e-300, 1.0, 2.0])
    assert examples.table[:, 0].tolist() == [1.0, 2.0, 3.0]
    assert examples.codes.tolist() == [1, 1, 0]
    probabilities = np.array([[0.5, 0.5], [0.25, 0.75], [1, 0], [0, 1]])
    kept = examples_of(EMPTY, X, probabilities, [1.0, 0.0, 0.0, 1.0])
    assert kept.target_probabilities.tolist() == [[0.5, 0.5], [0.0, 1.0]]


def test_weights_are_one_on_average_and_balanced_classes_weigh_the_same():
    examples = examples_of(EMPTY, X, ["a", "b", "b", "b"], [2.0, 1.0, 1.0, 4.0])
    assert examples.row_weights(None).tolist() == [1.0, 0.5, 0.5, 2.0]
    balanced = examples.row_weights("balanced")
    assert balanced.mean() == pytest.approx(1.0)
    assert balanced[0] == pytest.approx(balanced[1:].sum())
    assert balanced[3] == pytest.approx(4 * balanced[1])
    one_class = examples_of(EMPTY, X, ["b"] * 4)
    assert one_class.row_weights("balanced").tolist() == [1.0] * 4
    huge = examples_of(EMPTY, X, ["a", "b", "b", "b"], [1e308] * 4)
    assert huge.row_weights(None).tolist() == [1.0] * 4


def test_one_row_is_enough_and_no_row_is_not():
    assert examples_of(EMPTY, X[:1], ["a"]).codes.tolist() == [0]
    with pytest.raises(ValueError, match="no rows"):
        examples_of(EMPTY, X[:0], [])


def test_rules_with_priority_cannot_be_compacted():
    rules = RuleSet.from_rules([Rule((), "b", priority=True)], ["x"], default="a")
    with pytest.raises(ValueError, match="1 rules have priority"):
        examples_of(rules, X, ["a", "b", "b", "a"])
