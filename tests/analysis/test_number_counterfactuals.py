"""The smallest changes that bring a number into a wanted range, against brute force."""

import itertools
import math

import numpy as np
import pytest
from tests.rules.regression_cases import RULES, random_rows

from clausewise import LinearTerm, RegressionRule, RegressionRules, Term

PLAIN = RegressionRules.from_rules(
    [
        RegressionRule((Term(0, "income", low=5),), 1.4),
        RegressionRule((Term(1, "age", high=30),), -0.6),
        RegressionRule((Term(0, "income", low=2), Term(1, "age", low=50)), 0.7),
    ],
    ["income", "age"],
    base=2,
)
X = np.array([[6.0, 25.0], [1.0, 60.0], [3.0, 40.0]])
REFERENCE = np.array([[0.5, 18.5], [10.0, 80.0], [4.0, 40.0]])


def test_without_a_linear_part_the_smallest_change_is_exact():
    spread = REFERENCE.std(axis=0)
    # Thresholds, and values just above them with few digits.
    grid = [[0.5, 2, 2.01, 5, 5.01, 10], [18.5, 30, 30.1, 50, 50.1, 80]]
    for above, below in ((None, 2), (2.5, None), (1.9, 2.6), (3.9, None)):
        found = PLAIN.counterfactuals(X, above=above, below=below, reference=REFERENCE)
        for row, one in zip(X, found, strict=True):
            candidates = [row, *(list(point) for point in itertools.product(*grid))]
            candidates += [[value, row[1]] for value in grid[0]] + [[row[0], value] for value in grid[1]]
            numbers = PLAIN.predict(candidates)
            wanted = (numbers > (-math.inf if above is None else above)) & (
                numbers < (math.inf if below is None else below)
            )
            distances = (np.abs(np.array(candidates) - row) / spread).sum(axis=1)[wanted]
            assert one.is_found == bool(len(distances))
            if one.is_found:
                assert one.distance <= distances.min() + 1e-9
                assert one.distance >= distances.min() - 0.02  # the grid has values just above thresholds
        assert found.rows.shape == X.shape


def test_changes_are_printed_with_both_numbers():
    found = PLAIN.counterfactuals(X[:1], below=2.5, reference=REFERENCE)
    assert str(found) == "row 0: 2.8 becomes 1.4 if income 6 → 5"
    none = PLAIN.counterfactuals(X[:1], above=9)
    assert str(none) == "row 0: 2.8; no change of up to 2 features brings it above 9"
    assert str(PLAIN.counterfactuals(X[:1], above=1, below=3)) == "row 0: 2.8 already"
    assert PLAIN.counterfactuals(X, below=2.5).to_frame()["becomes"].max() < 2.5


@pytest.mark.parametrize(("above", "below"), [(9, None), (None, 3), (5, 6)])
def test_with_a_linear_part_what_is_found_holds(above, below):
    rows = random_rows(25, seed=2)
    found = RULES.counterfactuals(rows, above=above, below=below)
    after = RULES.predict(found.rows)
    assert np.mean([one.is_found for one in found]) > 0.7
    for one, number in zip(found, after.tolist(), strict=True):
        if one.is_found:
            assert one.becomes == number
            assert above is None or number > above
            assert below is None or number < below
        assert len(one.changes) <= 2


def test_a_linear_change_is_at_most_a_step_too_large():
    rules = RegressionRules.from_rules([], ["x"], linear=[LinearTerm(0, "x", 2, low=0, high=100)])
    (one,) = rules.counterfactuals([[10.0]], above=50, reference=[[0.0], [100.0], [33.3]])
    (change,) = one.changes
    assert 25 < change.after <= 30


def test_a_network_confirms_the_change():
    def network(rows):
        return PLAIN.predict(rows) + (np.asarray(rows)[:, 0] > 4.5)  # still high a bit further down

    (one,) = PLAIN.counterfactuals(X[:1], below=2.2, network=network, reference=REFERENCE)
    assert one.is_confirmed
    assert one.changes[0].after <= 4.5
    assert one.network_after < 2.2
    # The rules predict 2 here already, but the network does not.
    (one,) = PLAIN.counterfactuals([[4.7, 40.0]], below=2.2, network=network, reference=REFERENCE)
    assert one.is_confirmed
    assert one.changes[0].after <= 4.5
    (one,) = PLAIN.counterfactuals(X[2:], below=2.2, network=lambda rows: 9 + PLAIN.predict(rows))
    assert (one.is_found, one.is_confirmed, one.changes) == (True, False, ())


def test_the_log_link_and_limits_are_checked():
    rules = RegressionRules.from_text("LINK log\nIF x > 1 THEN ADD 0.5", ["x"])
    (one,) = rules.counterfactuals([[0.0]], above=1.5)
    assert one.becomes == math.exp(0.5)
    assert str(rules.counterfactuals([[0.0]], above=-1)) == "row 0: 1 already"
    for limits, message in (
        ({}, "nothing to aim for"),
        ({"above": 2, "below": 1}, "no number is between"),
        ({"below": 0}, "above 0"),
    ):
        with pytest.raises(ValueError, match=message):
            rules.counterfactuals([[0.0]], **limits)
