"""The compiled search for changes finds exactly those that are found by trying all of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import counterfactuals as reference
from tests.rules.random_rules import random_features, random_ruleset, random_table

from clausewise import Features, Rule, RuleSet, Term, _core
from clausewise.analysis.counterfactual_limits import Limits
from clausewise.analysis.counterfactual_moves import (
    Combinations,
    axis_of,
    further_moves,
    nearest_moves,
    units_of,
)
from clausewise.rules.voting import VOTINGS

NO_RULES = {
    "class_of_rule": np.empty(0, np.int32),
    "vote_of_rule": np.empty(0),
    "has_priority": np.empty(0, np.uint64),
    "start": np.zeros(2),
    "divisors": np.ones(2),
    "priority_divisors": np.ones(2),
    "default_class": 0,
}


@given(
    seed=st.integers(0, 10**6),
    voting=st.sampled_from(VOTINGS),
    max_features=st.sampled_from([1, 2]),
    wanted=st.sampled_from([None, 0, 2]),
    within_bins=st.booleans(),
    n_changes=st.sampled_from([1, 2, 7, 40]),
    is_spread=st.booleans(),
)
def test_changes_are_those_of_the_reference(
    seed, voting, max_features, wanted, within_bins, n_changes, is_spread
):
    rng = np.random.default_rng(seed)
    features = random_features(rng, int(rng.integers(1, 4)))
    # More than 64 rules take two words.
    rules = random_ruleset(rng, features, int(rng.choice([0, 1, 5, 70])), voting=voting)
    matrix = random_table(rng, features, 3).encoded()
    known = random_table(rng, features, 20).encoded()
    units = units_of(rules.columns, features, known)
    axes = [axis_of(rules.columns, features, feature) for feature in range(len(features))]
    limits = [Limits(may_rise=rng.random() < 0.9, may_fall=rng.random() < 0.9) for _ in axes]
    moves = [
        further_moves(axis, features, limit, units[axis.feature], known[:, axis.feature])
        for axis, limit in zip(axes, limits, strict=True)
    ]
    decided = rules.evaluator.decide(matrix, rules.voting, rules.default_index, 1)
    combinations = Combinations(rules, axes, moves, units, within_bins)
    found = [
        combinations.search(matrix, decided, wanted, max_features, n_changes, n_threads, is_spread=is_spread)
        for n_threads in (1, 3)
    ]
    for one, other in zip(vars(found[0]).values(), vars(found[1]).values(), strict=True):
        np.testing.assert_array_equal(one, other)
    bins_of = {axis.feature: lambda value, axis=axis: axis.bins_of(np.array([value]))[0] for axis in axes}
    for row in range(len(matrix)):
        every = reference.all_changes(
            rules, matrix[row], dict(enumerate(moves)), units, wanted, max_features, within_bins, bins_of
        )
        expected = (reference.spread if is_spread else reference.cheapest)(every, n_changes)
        changed = np.tile(matrix[row], (len(expected), 1))
        for place, (_, cells) in enumerate(expected):
            for feature, value in cells:
                changed[place, feature] = value
        np.testing.assert_array_equal(found[0].matrix[found[0].row == row], changed)


@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("wanted", [None, 1])
def test_pairs_that_are_left_out_flip_no_decision(voting, n_classes, wanted):
    # Without priority, votes bound what a pair of changes can reach; many rules test two features at once.
    rng = np.random.default_rng(n_classes)
    features = Features(tuple("abcde"))
    rules = random_ruleset(rng, features, 60, n_classes=n_classes, voting=voting)
    rules = replace(rules, columns=replace(rules.columns, priority=np.zeros(60, dtype=bool)))
    matrix = rng.normal(size=(4, 5))
    units = units_of(rules.columns, features, matrix)
    axes = [axis_of(rules.columns, features, feature) for feature in range(5)]
    moves = [nearest_moves(axis, features, Limits(), units[axis.feature]) for axis in axes]
    decided = rules.evaluator.decide(matrix, rules.voting, rules.default_index, 1)
    found = Combinations(rules, axes, moves, units, False).search(matrix, decided, wanted, 2, 3, 2)
    bins_of = {axis.feature: lambda value, axis=axis: axis.bins_of(np.array([value]))[0] for axis in axes}
    for row in range(len(matrix)):
        every = reference.all_changes(
            rules, matrix[row], dict(enumerate(moves)), units, wanted, 2, False, bins_of
        )
        changed = [matrix[row].copy() for _ in reference.cheapest(every, 3)]
        for one, (_, cells) in zip(changed, reference.cheapest(every, 3), strict=True):
            one[[feature for feature, _ in cells]] = [value for _, value in cells]
        np.testing.assert_array_equal(found.matrix[found.row == row], np.reshape(changed, (-1, 5)))


def test_the_unit_of_a_number_does_not_depend_on_columns_before_it():
    features = Features(("job", "x"), ("categorical", "numeric"), (("cook", "nurse"), None))
    rules = RuleSet.from_rules([Rule((Term(1, low=10, high=30),), "a")], features, default="b")
    assert units_of(rules.columns, features, None).tolist() == [1, 20]


def test_without_known_rows_moves_reach_half_a_unit_beyond_the_thresholds():
    rules = RuleSet.from_rules([Rule((Term(0, low=10, high=20),), "a")], Features(("x",)), default="b")
    axis = axis_of(rules.columns, rules.features, 0)
    (unit,) = units_of(rules.columns, rules.features, None)
    moves = further_moves(axis, rules.features, Limits(), unit, None)
    free = moves.values[moves.direction == 0]
    assert (unit, free[0], free[-1], len(free)) == (10, 5, 25, 17)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"bin_starts": np.array([0, 0])}, "every axis needs a bin"),
        ({"value_starts": np.array([0, 2])}, "starts must be ascending"),
        ({"bin_of_value": np.array([1], np.int32)}, "must be ascending and exist"),
        ({"default_class": 2}, "unknown class index"),
        ({"start": np.zeros(3)}, "one entry per class"),
        ({"has_priority": np.zeros(1, np.uint64)}, "every rule needs a vote"),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(wrong, message):
    axes = {
        "bin_starts": np.array([0, 1]),
        "accepts": np.empty(0, np.uint64),
        "value_starts": np.array([0, 1]),
        "values": np.zeros(1),
        "bin_of_value": np.zeros(1, np.int32),
        "direction": np.zeros(1, np.int8),
        "units": np.ones(1),
    }
    with pytest.raises(ValueError, match=message):
        _core.ChangeSearch(**(axes | NO_RULES | wrong))
    search = _core.ChangeSearch(**(axes | NO_RULES))
    with pytest.raises(ValueError, match="unknown bin"):
        search.search(
            np.zeros((1, 1)), np.ones((1, 1), np.int32), np.zeros(1, np.int32), 1, True, True, 1, False, 1
        )
