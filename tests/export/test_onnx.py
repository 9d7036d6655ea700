"""ONNX models, run by onnxruntime, give the labels and scores of the rule set."""

import sys

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from tests.export.engines import onnx_decisions, onnx_results
from tests.export.export_cases import AWKWARD, cases, half_as_many, many_rules, predicted, two_rules

from clausewise import Features, Rule, RuleSet, Term
from clausewise.rules.voting import VOTINGS


@half_as_many
@given(cases)
def test_onnxruntime_gives_the_same_labels_and_scores(case):
    assert onnx_decisions(case.rules, case.rows) == case.expected


def test_numbers_are_one_matrix_and_categories_are_columns():
    numeric = RuleSet.from_rules([Rule((Term(0, low=1),), 1)], ["a", "b"], default=0)
    assert [value.name for value in numeric.to_onnx().graph.input] == ["X"]
    assert [value.name for value in two_rules().to_onnx().graph.input] == ["age", "job"]
    assert [value.name for value in numeric.to_onnx().graph.output] == ["label", "scores"]


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        (np.array(["a", "b"]), object),
        (np.array([0, 7], dtype=np.uint8), np.int64),
        (np.array([0, 2**64 - 1], dtype=np.uint64), np.uint64),
        (np.array([-1, 7], dtype=np.int32), np.int64),
        (np.array([0.5, 0.1], dtype=np.float32), np.float64),
        (np.array([False, True]), np.bool_),
    ],
)
def test_labels_keep_their_kind(labels, dtype):
    low, high = labels.tolist()
    rules = RuleSet.from_rules([Rule((Term(0, low=1),), high)], ["a"], default=low, classes=labels)
    found, _ = onnx_results(rules, [[0.0], [2.0]])
    assert found.dtype == dtype
    assert found.tolist() == [low, high]


def test_thousands_of_rules_run():
    rng = np.random.default_rng(3)
    for voting in ("confidence", "weights"):
        rules = many_rules(rng, 3000, voting)
        rows = rng.normal(size=(40, 2)).tolist()
        labels, scores = onnx_results(rules, rows)
        assert labels.tolist() == predicted(rules, rows)
        assert np.array_equal(scores, rules.scores(np.array(rows)))


@pytest.mark.parametrize("text", AWKWARD)
def test_text_from_data_stays_text(text):
    labels, _ = onnx_results(two_rules(text, text, text), [[30.0, text], [30.0, "cook"], [60.0, text]])
    assert labels.tolist() == [text, "no", "no"]


def test_zero_rows_give_zero_labels():
    rules = RuleSet.from_rules([Rule((Term(0, low=1),), "yes")], ["a"], default="no")
    session = onnxruntime.InferenceSession(rules.to_onnx().SerializeToString())
    labels, scores = session.run(None, {"X": np.empty((0, 1))})
    assert labels.shape == (0,)
    assert scores.shape == (0, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "cannot be the name of an ONNX input"),
        ({"name": "label"}, "cannot be the name of an ONNX input"),
        ({"name": "\ud800"}, "lone surrogate"),
        ({"category": "\ud800"}, "lone surrogate"),
        ({"label": "\ud800"}, "lone surrogate"),
    ],
)
def test_text_that_onnx_cannot_hold_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        two_rules(**changes).to_onnx()


def test_the_empty_text_is_a_missing_category():
    features = Features(("job",), ("categorical",), (("cook", "nurse"),))
    premises = (Term(0, missing=True), Term(0, values=["nurse"]))
    rules = RuleSet.from_rules([Rule((term,), "yes") for term in premises], features, default="no")
    labels, _ = onnx_results(rules, [[""], ["nurse"], ["cook"], ["astronaut"]])
    assert labels.tolist() == ["yes", "yes", "no", "no"]
    features = Features(("job",), ("categorical",), (("", "nurse"),))
    rules = RuleSet.from_rules([Rule((premises[0],), "yes")], features, default="no")
    with pytest.raises(ValueError, match="has the empty text as a category"):
        rules.to_onnx()


def test_without_onnx_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'clausewise\[onnx\]'"):
        two_rules().to_onnx()


def test_categories_beyond_exact_doubles_are_refused():
    features = Features(("id",), ("categorical",), ((1, 2**53 + 1),))
    rules = RuleSet.from_rules([], features, default="no")
    with pytest.raises(ValueError, match=r"beyond 2\^53"):
        rules.to_onnx()


@pytest.mark.parametrize("base", [2.0**53 - 1, 2.0**53, 2.0**53 + 2, -(2.0**53), 1e300])
@pytest.mark.parametrize("priority", [True, False])
def test_large_base_votes_run_without_ordinary_rules(base, priority):
    rules = [Rule((Term(0, low=1),), "no", weight=0.1, priority=True)] if priority else []
    made = RuleSet.from_rules(
        rules, ["a"], default="no", classes=["no", "yes"], voting="weights", base=[0.0, base]
    )
    rows = [[0.0], [2.0], [np.nan]]
    assert onnx_decisions(made, rows) == predicted(made, rows)


@pytest.mark.parametrize("base", [1e-300, -5e-324, 1e-46, 0.0])
@pytest.mark.parametrize("weights", [(), (0.3,), (0.1, 0.2, 0.3)])
def test_tiny_base_votes_of_a_single_class_count(base, weights):
    made = RuleSet.from_rules(
        [Rule((Term(0, low=0),), "only", weight=weight) for weight in weights],
        ["a"],
        default="only",
        voting="weights",
        base=[base],
    )
    rows = [[-1.0], [1.0], [np.nan]]
    assert made.scores(np.array(rows))[0, 0] == base
    assert onnx_decisions(made, rows) == ["only"] * 3


@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.parametrize("priority", [True, False])
@pytest.mark.parametrize("categorical", [True, False])
def test_scores_of_a_single_class_are_doubles(voting, priority, categorical):
    kind, values = ("categorical", ("x", "y")) if categorical else ("numeric", None)
    rules = RuleSet.from_rules(
        [
            Rule((Term(0, low=i),), "only", confidence=0.3, weight=0.1 * i, priority=priority)
            for i in range(3)
        ],
        Features(("a", "b"), ("numeric", kind), (None, values)),
        default="only",
        voting=voting,
        base=[0.1],
    )
    rows = [[number, "x" if categorical else 1.0] for number in (-1.0, 0.5, 1.5, 9.0)]
    assert onnx_decisions(rules, rows) == ["only"] * 4
