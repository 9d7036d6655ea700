"""Probabilities from votes in other units than log-odds."""

import numpy as np
import pytest

from clausewise import RuleSet


def probabilities(base, scale):
    rules = RuleSet.from_rules([], ["x"], default="a", classes=["a", "b"], voting="weights", base=base)
    return rules.with_scale(scale).predict_proba([[0.0]])[0].tolist()


def test_votes_are_divided_by_the_scale():
    assert probabilities([0.0, np.log(3.0)], 1.0) == pytest.approx([0.25, 0.75])
    assert probabilities([0.0, 10 * np.log(3.0)], 10.0) == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize(
    ("base", "expected"),
    [([1e10, 1e10 - 1.0], [1.0, 0.0]), ([1e10, 1e10], [0.5, 0.5]), ([-1e10, 1e10], [0.0, 1.0])],
)
def test_votes_that_overflow_in_units_of_the_scale_still_give_probabilities(base, expected):
    assert probabilities(base, 1e-300) == expected


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_a_scale_is_positive_and_finite(scale):
    with pytest.raises(ValueError, match="positive, finite"):
        probabilities([0.0, 0.0], scale)
