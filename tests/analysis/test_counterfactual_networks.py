"""With a network, a counterfactual is a change that the rules and the network both confirm."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.test_counterfactuals import RULES, TABLE
from tests.rules.random_rules import random_features, random_ruleset, random_table, raw

from clausewise import Features, Rule, RuleSet, Term
from clausewise.networks import CallableNetwork

LINE = RuleSet.from_rules([Rule((Term(0, high=1),), "yes")], ["x", "y"], default="no")


def below(threshold):
    """Return a network that predicts "yes" up to a value of x."""
    return lambda rows: np.where(np.asarray(rows)[:, 0] <= threshold, "yes", "no")


def test_a_change_goes_as_far_as_the_network_needs():
    X, reference = [[3.0, 0.0], [0.0, 0.0]], np.array([[-4.5, 0], [4.5, 0]])
    (down, up) = LINE.counterfactuals(X, network=below(0.5), reference=reference)
    assert (down.becomes, down.network_before, down.network_after) == ("yes", "no", "yes")
    # From 3 down to 0.5, in units of the standard deviation of x; the rules alone need 1.
    assert 2.5 / 4.5 <= down.distance <= 2.5 / 4.5 + 0.02
    assert str(down) == f"row 0: no becomes yes if x 3 → {down.changes[0].after:g} (the network agrees)"
    # The rules need more than 1, which is enough for the network.
    assert str(up) == "row 1: yes becomes no if x 0 → 1.01 (the network agrees)"
    assert down.is_confirmed
    assert up.is_confirmed


def test_features_that_no_rule_tests_change_for_the_network():
    def both(rows):
        return np.where((rows[:, 0] <= 1) & (rows[:, 1] > 2), "yes", "no")

    reference = np.array([[0.0, 0.0], [4.5, 4.5]])
    (found,) = LINE.counterfactuals([[3.0, 0.0]], network=both, reference=reference)
    assert [change.feature for change in found.changes] == ["x", "y"]
    assert found.is_confirmed
    assert 2 < found.changes[1].after <= 2.1


def test_it_says_so_if_the_network_confirms_no_change():
    (found,) = LINE.counterfactuals([[3.0, 0.0]], network=below(-9), reference=[[0.0, 0.0], [4.0, 0.0]])
    assert found.is_found
    assert found.is_confirmed is False
    assert str(found) == (
        "row 0: no; no change of up to 2 features was found that the rules and the network confirm "
        "(for the rules alone, it becomes yes if x 3 → 1; the network: no)"
    )
    assert found.distance == 1


def test_neighbouring_doubles_are_not_halved_further():
    big = 4e17  # the next double is 64 larger
    terms = (Term(0, low=big, high=big + 64), Term(0, high=big - 256))
    rules = RuleSet.from_rules([Rule((term,), "yes") for term in terms], ["x"], default="no")
    (found,) = rules.counterfactuals([[big + 128]], network=below(big))
    assert found.is_confirmed


def test_a_wanted_decision_must_be_that_of_both():
    X, network = [[0.8, 0.0], [0.0, 0.0]], below(0.5)
    # The rules decide so already, and the network does not.
    moved, same = LINE.counterfactuals(X, to="yes", network=network, reference=[[-1.5, 0.0], [1.5, 0.0]])
    assert moved.is_confirmed
    assert moved.distance > 0
    assert moved.changes[0].after <= 0.5
    assert str(same) == "row 1: yes already, and the network agrees"
    (stuck,) = LINE.counterfactuals([[0.8, 0.0]], to="yes", network=below(-9))
    assert str(stuck) == (
        "row 0: yes; no change of up to 2 features was found that the rules and the network confirm "
        "(the rules decide so already; the network: no)"
    )


def test_results_as_a_table_say_what_is_confirmed():
    def labels(rows):
        return np.where(np.asarray(rows["age"]) <= 45, "yes", "no")

    found = RULES.counterfactuals(TABLE, network=labels, to="yes")
    frame = found.to_frame()
    assert frame["network"].tolist() == ["yes", "yes", "yes", "no"]
    assert frame["confirmed"].tolist() == [True, True, True, False]
    assert repr(found) == "<Counterfactuals for 3 of 4 rows, 3 confirmed by the network>"
    assert RULES.predict(found.rows).tolist() == labels(found.rows).tolist()
    with pytest.raises(TypeError, match="pass the model itself"):
        RULES.counterfactuals(TABLE, network=3)


def test_wrapped_networks_rule_sets_and_foreign_labels():
    rules = RuleSet.from_rules([Rule((Term(0, high=1),), 1)], ["x"], default=0)
    network = CallableNetwork(lambda rows: (rows[:, 0] <= 0.5).astype(int), classes=[0, 1])
    X = np.array([[0.0], [2.0]], dtype=np.float32)
    assert all(one.is_confirmed for one in rules.counterfactuals(X, network=network))
    assert all(one.is_confirmed for one in rules.counterfactuals(X, network=rules))
    as_text = rules.counterfactuals(X, network=lambda rows: np.where(rows[:, 0] <= 1, "1", "0"))
    assert [one.network_after for one in as_text] == [0, 1]
    unknown = rules.counterfactuals(X, network=lambda rows: np.full(len(rows), 7))
    assert [(one.network_after, one.is_confirmed) for one in unknown] == [(7, False)] * 2


def test_the_network_is_asked_a_limited_number_of_questions():
    n_asked = []

    def stubborn(rows):
        n_asked.append(len(rows))
        return np.full(len(rows), "no")

    rng = np.random.default_rng(0)
    reference = rng.normal(size=(200, 3))
    rules = RuleSet.from_rules([Rule((Term(0, high=-1),), "yes")], ["x", "y", "z"], default="no")
    rules.counterfactuals(reference[:5], network=stubborn, reference=reference, max_queries=40, to="yes")
    # Of the 5 rows, once before and once after the change; and at most 40 candidates of each.
    assert 10 < sum(n_asked) <= 5 * 40 + 10


def test_three_features_come_from_real_rows():
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(300, 5))
    rules = RuleSet.from_rules(
        [Rule(tuple(Term(f, low=0.5) for f in range(3)), "in")], list("abcde"), default="out"
    )
    X = [[0.0, 0.0, 0.0, 0.0, 0.0]]
    assert not rules.counterfactuals(X, reference=reference)[0].is_found
    (alone,) = rules.counterfactuals(X, reference=reference, max_features=3)
    assert [change.feature for change in alone.changes] == ["a", "b", "c"]
    assert alone.distance < 1.65

    def network(rows):
        return np.where((rows[:, :3] > 0.8).all(axis=1), "in", "out")

    (both,) = rules.counterfactuals(X, reference=reference, max_features=3, network=network)
    assert both.is_confirmed
    assert all(0.8 < change.after < 0.85 for change in both.changes)
    (fixed,) = rules.counterfactuals(X, reference=reference, max_features=3, fixed=["b"])
    assert not fixed.is_found


@given(st.integers(0, 10**6), st.sampled_from([1, 2]), st.sampled_from([None, "class 1"]))
def test_what_is_confirmed_is_what_both_decide(seed, max_features, to):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 3)
    rules, other = (random_ruleset(rng, features, int(rng.integers(1, 7))) for _ in range(2))
    X = raw(features, random_table(rng, features, 3).encoded())
    reference = raw(features, random_table(rng, features, 20).encoded())
    asked = {"network": other, "reference": reference, "max_features": max_features, "to": to}
    found = rules.counterfactuals(X, n_jobs=1, max_queries=100, **asked)
    again = rules.counterfactuals(X, n_jobs=3, max_queries=100, **asked)
    assert found.found == again.found
    mine, theirs, before = rules.predict(found.rows), other.predict(found.rows), rules.predict(X)
    for row, one in enumerate(found):
        assert len(one.changes) <= max_features
        if one.is_confirmed:
            assert mine[row] == theirs[row] == one.becomes
            assert mine[row] == to if to is not None else mine[row] != before[row]


@given(st.integers(0, 10**6), st.sampled_from([1, 2]))
def test_the_smallest_change_of_categories_is_found(seed, max_features):
    """Categories and booleans are few enough for all of them to be tried."""
    rng = np.random.default_rng(seed)
    jobs = ("cook", "nurse", "pilot", "teacher")
    features = Features(("a", "b", "c"), ("categorical", "categorical", "binary"), (jobs, jobs, None))
    rules, other = (random_ruleset(rng, features, int(rng.integers(1, 9))) for _ in range(2))
    matrix = np.column_stack([rng.integers(0, 4, 4), rng.integers(0, 4, 4), rng.integers(0, 2, 4)]).astype(
        float
    )
    found = rules.counterfactuals(raw(features, matrix), network=other, max_features=max_features)
    grid = np.array(list(itertools.product(range(4), range(4), range(2))), dtype=float)
    mine, theirs = (one.evaluator.decide(grid, one.voting, one.default_index, 1) for one in (rules, other))
    for row, one in zip(matrix, found, strict=True):
        n_changes = (grid != row).sum(axis=1)
        confirmed = (mine == theirs) & (mine != rules.labels.index(one.prediction))
        smallest = n_changes[confirmed & (n_changes <= max_features)].min(initial=99)
        assert (one.distance if one.is_confirmed else 99) == smallest


def test_frames_are_asked_about_as_frames():
    seen = []

    def network(rows):
        seen.append((type(rows), rows.dtypes.to_dict()))
        return RULES.predict(rows)

    RULES.counterfactuals(TABLE, network=network)
    assert all(kind is pd.DataFrame and dtypes == TABLE.dtypes.to_dict() for kind, dtypes in seen)
