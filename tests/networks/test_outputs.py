import numpy as np
import pytest

from clausewise.networks import CallableNetwork
from clausewise.networks.outputs import cut_labels, read_as

LOGITS = np.array([[2.0, -1.0, 0.5], [0.1, 0.2, 3.0]])
SHARES = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])


def test_numbers_outside_zero_and_one_are_logits():
    reader = read_as(None, None, LOGITS)
    assert reader.form == "logits"
    expected = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(reader.probabilities(LOGITS, 3), expected)
    assert reader.codes(LOGITS).tolist() == [0, 2]


def test_rows_that_sum_to_one_are_probabilities():
    reader = read_as(None, None, SHARES)
    assert reader.form == "probabilities"
    np.testing.assert_allclose(reader.probabilities(SHARES, 3), SHARES)


def test_what_the_network_says_goes_before_what_numbers_look_like():
    assert read_as(None, "logits", SHARES).form == "logits"


def test_what_the_caller_states_goes_before_what_the_network_says():
    assert read_as("logits", "probabilities", SHARES).form == "logits"


@pytest.mark.parametrize(
    ("form", "values", "codes", "second"),
    [
        ("logits", [[-1.0], [0.0], [2.0]], [0, 0, 1], [0.26894, 0.5, 0.88080]),
        ("probabilities", [[0.2], [0.5], [0.9]], [0, 0, 1], [0.2, 0.5, 0.9]),
    ],
)
def test_one_column_is_for_the_second_class(form, values, codes, second):
    values = np.array(values)
    reader = read_as(form, None, values)
    assert reader.codes(values).tolist() == codes
    np.testing.assert_allclose(reader.probabilities(values, 2)[:, 1], second, atol=1e-5)


def test_sigmoids_of_several_classes_are_made_to_sum_to_one():
    values = np.array([[0.9, 0.3], [0.0, 0.0]])
    reader = read_as("sigmoids", None, values)
    np.testing.assert_allclose(reader.probabilities(values, 2), [[0.75, 0.25], [0.5, 0.5]])
    assert reader.codes(values).tolist() == [0, 0]


def test_cut_points_make_classes_of_a_number():
    values = np.array([[19.0], [20.0], [20.5], [80.0]])
    reader = read_as([20, 50], "number", values)
    assert reader.n_classes == 3
    assert reader.codes(reader.read(values)).tolist() == [0, 0, 1, 2]
    assert cut_labels([20, 50]) == ["≤ 20", "20 to 50", "> 50"]


def test_a_function_may_pick_and_convert_what_classifies():
    values = np.arange(24.0).reshape(2, 3, 4)
    reader = read_as(lambda made: np.eye(4)[np.argmax(made[:, 0], axis=1)], None, values)
    assert reader.codes(reader.read(values)).tolist() == [3, 3]


def test_ties_go_to_the_first_class():
    assert read_as("logits", None, np.ones((1, 3))).codes(np.ones((1, 3))).tolist() == [0]


@pytest.mark.parametrize(
    ("output", "known", "values", "message"),
    [
        (None, None, np.array([[0.2, 0.2], [0.1, 0.1]]), "not a class distribution: all values are in"),
        (
            None,
            None,
            np.array([[0.2], [0.9]]),
            "one column, and neither .* State what it is: output='logits'",
        ),
        (
            None,
            None,
            np.array([-0.2, -0.9]),
            "one column, and neither .* a function that returns probabilities",
        ),
        (None, None, np.zeros((2, 3, 4)), r"output has shape \(2, 3, 4\)"),
        ([20, 50], None, LOGITS, "has 3 output columns; cut points need exactly one"),
        (None, "number", LOGITS[:, :1], "estimates a number .* ascending cut points"),
    ],
)
def test_an_output_that_says_nothing_about_classes_is_refused(output, known, values, message):
    with pytest.raises(ValueError, match=message):
        read_as(output, known, values)


@pytest.mark.parametrize("output", ["scores", [50, 20], [], [1.0, np.inf], [[1.0]], 7, {"cut": 1}])
def test_an_unknown_meaning_of_the_output_is_refused_with_those_that_exist(output):
    message = r"^output is .*; expected 'logits', .* cut points in ascending order, or a function"
    with pytest.raises(ValueError, match=message):
        CallableNetwork(lambda rows: rows, output=output)


@pytest.mark.parametrize(
    ("form", "values", "message"),
    [
        ("probabilities", [[0.5, 0.2]], "1 of 1 rows do not sum to 1 .one sums to 0.7."),
        ("probabilities", [[1.5, -0.5]], "it contains 1.5, but probabilities are between 0 and 1"),
        ("sigmoids", [[0.5, 7.0]], "it contains 7"),
    ],
)
def test_stated_probabilities_are_checked(form, values, message):
    values = np.array(values)
    with pytest.raises(ValueError, match=message):
        read_as(form, None, values).codes(values)
