"""What a frontier says about budgets."""

import numpy as np
import pytest

from clausewise.compact.frontier_curve import Frontier


def frontier(*by_split, first=1):
    values = np.array(by_split, dtype=float)
    return Frontier(np.arange(first, first + values.shape[1]), values)


@pytest.mark.parametrize(
    ("min_fidelity", "expected"),
    [(0.0, 1), (0.5, 1), (0.5001, 2), (0.75, 2), (0.7501, 4), (1.0, 4), (1.0001, None)],
)
def test_a_budget_that_reaches_exactly_the_fidelity_asked_for_is_enough(min_fidelity, expected):
    assert frontier([0.5, 0.75, 0.625, 1.0]).smallest(min_fidelity) == expected


def test_fidelity_and_spread_are_over_the_splits():
    two = frontier([0.5, 1.0], [0.75, 1.0])
    assert two.fidelity.tolist() == [0.625, 1.0]
    assert two.spread == pytest.approx([0.25 / np.sqrt(2), 0.0])
    assert frontier([0.5, 1.0]).spread.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("fidelity", "knee"),
    [
        ([0.5], 1),
        ([0.5, 0.5, 0.5], 1),
        ([0.5, 0.4, 0.3], 1),  # the best so far never grows
        ([0.5, 0.9, 0.95, 1.0], 2),
        ([0.5, 0.6, 0.9, 0.92, 1.0], 3),
        ([0.5, 0.6, 0.7, 1.0], 1),  # all others are below the line
        ([0.5, 0.9, 0.1, 1.0], 2),
    ],
)
def test_the_recommended_budget_is_where_the_curve_bends(fidelity, knee):
    assert frontier(fidelity).knee == knee


def test_the_recommended_budget_is_one_of_those_tried():
    assert frontier([0.5, 0.9, 0.95, 1.0], first=3).knee == 4


def test_a_frontier_is_printed_for_powers_of_two_its_last_and_its_recommended_budget():
    lines = str(frontier([0.5, 0.6, 0.9, 0.92, 0.95, 0.96, 0.97, 0.98, 0.99])).splitlines()
    assert lines[0] == "Fidelity on held-out rows (1 splits)"
    assert [int(line.split()[0]) for line in lines[2:]] == [1, 2, 3, 4, 8, 9]
    assert lines[4] == "      3   90.00 ± 0.00 %   recommended"
    assert lines[-1] == "      9   99.00 ± 0.00 %"
    assert [line for line in lines if "recommended" in line] == [lines[4]]
