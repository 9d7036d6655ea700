"""Labels, weights and `network=` are read in one place: every entry point gives the same answer."""

import datetime

import numpy as np
import pandas as pd
import pytest

from clausewise import ECLAIRE, REMD, C50Classifier, CARTClassifier, Pedagogical, RuleSet
from clausewise.data.labels import LabelError
from clausewise.io.json import dumps
from clausewise.networks import ArrayNetwork, CallableNetwork

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
LABELS = (X[:, 0] > 0).astype(int)
LABELS[:3] = 1 - LABELS[:3]
RULES = RuleSet.from_text(
    "IF a > 0 THEN 1\nIF a <= 0 AND b > -1 THEN 0", ["a", "b"], classes=[0, 1], default=0
)
NETWORK = ArrayNetwork([np.array([[1.0], [0.1]]), np.array([[2.0]])], [np.zeros(1), np.array([-0.5])])


def payload_of(view):
    return view.html


# The result of each entry point for given labels, in a form that can be compared. The first group measures
# and counts labels of classes that the rules lack as wrong; the second learns and refuses them.
MEASURING = {
    "with_statistics": lambda labels: dumps(RULES.with_statistics(X, labels)),
    "evaluate target": lambda labels: str(RULES.evaluate(X, labels)),
    "evaluate network": lambda labels: str(RULES.evaluate(X, LABELS, network=labels)),
    "explain_global": lambda labels: str(RULES.explain_global(X, labels)),
    "simplify": lambda labels: dumps(RULES.simplify(X=X, target=labels, tolerance=0.35)),
    "report y": lambda labels: payload_of(RULES.show(X, labels)),
    "report network": lambda labels: payload_of(RULES.show(X, network=labels)),
}
LEARNING = {
    "compact": lambda labels: dumps(RULES.compact(X, labels, max_rules=2)),
    "frontier": lambda labels: str(RULES.frontier(X, labels, max_rules=2, n_splits=1)),
}
ENTRY_POINTS = {**MEASURING, **LEARNING}

SAME = {
    "text": LABELS.astype(str),
    "text in a list": LABELS.astype(str).tolist(),
    "text of floats": LABELS.astype(float).astype(str),
    "floats": LABELS.astype(float),
    "booleans": LABELS.astype(bool),
    "objects": LABELS.astype(object),
    "small integers": LABELS.astype(np.int8),
    "a tuple": tuple(LABELS.tolist()),
    "a Series": pd.Series(LABELS),
    "a Series of text": pd.Series(LABELS.astype(str)),
    "a categorical Series": pd.Series(LABELS.astype(str), dtype="category"),
    "a Series with an index": pd.Series(LABELS, index=range(100, 160)),
    "a masked array without a mask": np.ma.MaskedArray(LABELS),
}
WRONG = {
    "too few": (LABELS[:-1], r"has shape \(59,\) for 60 rows"),
    "a column": (LABELS[:, None], "60"),
    "one label": (1, "shape"),
    "missing": ([None, *LABELS[1:].tolist()], r"has 1 missing label"),
    "not a number": (np.append(np.nan, LABELS[1:]), r"has 1 missing label"),
    "masked": (np.ma.MaskedArray(LABELS, mask=np.arange(60) < 2), r"has 2 missing label"),
    "masked text": (np.ma.MaskedArray(LABELS.astype(str), mask=np.arange(60) < 2), r"has 2 missing label"),
    "other text": (np.where(LABELS, "yes", "no"), r"holds 'no', 'yes', which are not among the classes 0, 1"),
    "other numbers": (LABELS + 7, r"holds 7, 8, which are not among the classes 0, 1"),
    "text among numbers": (
        [*LABELS[:-1].tolist(), "yes"],
        r"holds 'yes', which is not among the classes 0, 1",
    ),
    "dates": ([datetime.date(2020, 1, 1)] * 60, "not a class label"),
    "lists": ([[1]] * 59 + [[1, 2]], "one label per row"),
}


@pytest.mark.parametrize("labels", SAME.values(), ids=SAME)
@pytest.mark.parametrize("call", ENTRY_POINTS.values(), ids=ENTRY_POINTS)
def test_labels_are_taken_for_the_classes_that_they_mean(call, labels):
    assert call(labels) == call(LABELS)


@pytest.mark.parametrize(("labels", "message"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("call", ENTRY_POINTS.values(), ids=ENTRY_POINTS)
def test_labels_that_mean_no_class_are_one_clear_error(call, labels, message):
    with pytest.raises(ValueError, match=message):
        call(labels)


# The result of simplify depends on more than a count, so it is left out here.
COUNTING = {name: call for name, call in MEASURING.items() if name != "simplify"}


@pytest.mark.parametrize("call", COUNTING.values(), ids=COUNTING)
def test_measures_count_classes_that_the_rules_lack_as_wrong(call):
    labels = LABELS.copy()
    labels[:20] = 2
    assert call(labels) != call(LABELS)
    assert call(labels.astype(str)) == call(labels)


@pytest.mark.parametrize("call", LEARNING.values(), ids=LEARNING)
def test_learning_refuses_classes_that_the_rules_lack(call):
    labels = LABELS.copy()
    labels[:5] = 2
    with pytest.raises(LabelError, match="target holds 2, which is not among the classes 0, 1"):
        call(labels)


def test_accuracy_counts_a_class_that_the_rules_lack_as_wrong():
    labels = RULES.predict(X)
    labels[:6] = 2
    assert RULES.evaluate(X, labels).accuracy == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        (["no", "yes"], np.array(["no", "yes"])),
        (["0", "1"], np.array([0, 1])),
        (["0", "1"], np.array([False, True])),
        (["1.0", "2.0"], np.array([1, 2])),
        (["False", "True"], np.array([False, True])),
        ([False, True], np.array(["false", "TRUE"])),
        ([False, True], np.array([0, 1])),
        ([False, True], np.array(["0", "1"])),
        ([0.5, 1.5], np.array(["0.5", "1.5"])),
        ([1, 2], np.array([1.0, 2.0], dtype=np.float32)),
    ],
)
def test_what_labels_mean_does_not_depend_on_their_type(classes, labels):
    rules = RuleSet.from_text("", ["a", "b"], classes=classes, default=classes[0])
    assert rules.evaluate(X[:4], labels[[0, 1, 0, 0]]).accuracy == 0.75


# Entry points that take a network, with the same result for a model and for its labels.
NETWORKS = {
    "evaluate": lambda network: str(RULES.evaluate(X, LABELS, network=network)),
    "explain_global": lambda network: str(RULES.explain_global(X, network)),
    "simplify": lambda network: dumps(RULES.simplify(X=X, target=network, tolerance=0.1)),
    "pedagogical": lambda network: Pedagogical(network, max_rules=None).fit(X).rules_.to_text(),
}


@pytest.mark.parametrize("call", NETWORKS.values(), ids=NETWORKS)
def test_a_network_may_be_a_model_or_its_labels(call):
    assert call(NETWORK) == call(NETWORK.labels(X))


def test_compact_imitates_a_model_as_it_imitates_its_probabilities():
    by_model = RULES.compact(X, NETWORK, max_rules=2, synthetic=0)
    assert dumps(by_model) == dumps(RULES.compact(X, NETWORK.probabilities(X), max_rules=2))


ASKING = {
    "evaluate": lambda network: RULES.evaluate(X, network=network),
    "compact": lambda network: RULES.compact(X, network, max_rules=2),
    "show": lambda network: RULES.show(X, network=network),
}


@pytest.mark.parametrize("call", ASKING.values(), ids=ASKING)
def test_a_model_evaluates_every_row_once(call):
    n_asked = []

    def probabilities(rows):
        n_asked.append(len(rows))
        return NETWORK.probabilities(rows)

    network = CallableNetwork(predict=probabilities).inspect(X)
    n_asked.clear()  # the first rows are repeated, to see whether the model answers at random
    call(network)
    assert sum(n_asked) == len(X)


def test_a_function_or_any_estimator_can_be_measured_against():
    by_function = RULES.evaluate(X, LABELS, network=lambda rows: (rows[:, 0] > 0).astype(int))
    tree = CARTClassifier().fit(X, LABELS)
    assert by_function.fidelity == RULES.evaluate(X, LABELS, network=X[:, 0] > 0).fidelity
    assert RULES.evaluate(X, LABELS, network=tree).fidelity == np.mean(RULES.predict(X) == tree.predict(X))


@pytest.mark.parametrize("method", [ECLAIRE, REMD])
def test_methods_that_look_inside_refuse_labels(method):
    with pytest.raises(TypeError, match="of labels; this method looks inside, so pass the model itself"):
        method(LABELS).fit(X)


WEIGHTED = {
    "with_statistics": lambda weights: RULES.with_statistics(X, LABELS, sample_weight=weights),
    "compact": lambda weights: RULES.compact(X, LABELS, max_rules=2, sample_weight=weights),
    "frontier": lambda weights: RULES.frontier(X, LABELS, max_rules=2, sample_weight=weights),
    "ECLAIRE": lambda weights: ECLAIRE(NETWORK, min_cases=5).fit(X, sample_weight=weights),
    "Pedagogical": lambda weights: Pedagogical(NETWORK).fit(X, sample_weight=weights),
    "C50Classifier": lambda weights: C50Classifier().fit(X, LABELS, sample_weight=weights),
    "CARTClassifier": lambda weights: CARTClassifier().fit(X, LABELS, sample_weight=weights),
}
WRONG_WEIGHTS = {
    "negative": (np.append(-1.0, np.ones(59)), "sample_weight holds negative, infinite or missing weights"),
    "missing": (np.append(np.nan, np.ones(59)), "sample_weight holds negative, infinite or missing weights"),
    "masked": (
        np.ma.MaskedArray(np.ones(60), mask=np.arange(60) < 1),
        "sample_weight holds negative, infinite or missing weights",
    ),
    "infinite": (np.append(np.inf, np.ones(59)), "sample_weight holds negative, infinite or missing weights"),
    "all zero": (np.zeros(60), "sample_weight is zero for all rows"),
    "too few": (np.ones(59), r"sample_weight has shape \(59,\); expected \(60,\)"),
    "a column": (np.ones((60, 1)), r"sample_weight has shape \(60, 1\); expected \(60,\)"),
    "text": (["heavy"] * 60, "sample_weight is not one number per row"),
}


@pytest.mark.parametrize(("weights", "message"), WRONG_WEIGHTS.values(), ids=WRONG_WEIGHTS)
@pytest.mark.parametrize("call", WEIGHTED.values(), ids=WEIGHTED)
def test_wrong_weights_are_one_clear_error(call, weights, message):
    with pytest.raises(ValueError, match=message):
        call(weights)


@pytest.mark.parametrize("call", WEIGHTED.values(), ids=WEIGHTED)
def test_weights_may_be_a_list_a_series_or_one_number(call):
    weights = np.linspace(1, 2, 60)
    for same in (weights.tolist(), pd.Series(weights), pd.Series(weights, index=range(60, 120))):
        assert repr(call(same)) == repr(call(weights))
    assert repr(call(1.0)) == repr(call(np.ones(60)))
