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
        ([0.5, 0.4, 0.3], 1),
        ([0.5, 0.9, 0.95, 1.0], 4),
        ([0.5, 0.9, 0.95, 0.9524], 3),  # within a quarter of a point of the best
        ([0.5, 0.9, 0.95, 0.9526], 4),
        ([0.5, 0.99, 0.1, 0.99], 2),
    ],
)
def test_the_smallest_budget_within_half_a_point_of_the_best_is_recommended(fidelity, knee):
    assert frontier(fidelity).knee == knee


def test_the_recommended_budget_is_one_of_those_tried():
    assert frontier([0.5, 0.9, 0.9, 0.9], first=3).knee == 4


def test_a_short_frontier_is_printed_in_full():
    lines = str(frontier([0.5, 0.6, 0.9, 0.9])).splitlines()
    assert lines[0] == "Fidelity on held-out rows"
    assert lines[4:] == ["          3   90.00 %  recommended", "          4   90.00 %"]


def test_a_long_frontier_is_printed_for_powers_of_two_its_last_and_its_recommended_budget():
    lines = str(frontier(np.linspace(0.5, 1.0, 30), np.linspace(0.6, 1.0, 30))).splitlines()
    assert lines[0] == "Fidelity on held-out rows (2 splits)"
    assert [int(line.split()[0]) for line in lines[2:]] == [1, 2, 4, 8, 16, 30]
    assert lines[2] == "          1   55.00 % ±  7.07"


def by_conditions():
    fidelity = np.array([[0.70, 0.80, 0.91, 0.951, 0.96], [0.70, 0.80, 0.91, 0.951, 0.96]])
    n_rules = np.array([[1, 2, 4, 9, 30], [1, 2, 4, 9, 30]], dtype=float)
    cost = np.array([[2, 6, 12, 30, 118], [2, 8, 12, 34, 120]], dtype=float)
    return Frontier(np.array([3, 8, 16, 40, 120]), fidelity, "conditions", n_rules, cost)


def test_sizes_are_summed_up_in_one_line_around_the_chosen_one():
    shown = by_conditions().summary(32)
    assert shown == "2 rules 80.0 %, 4 rules 91.0 %, **9 rules 95.1 %**, 30 rules 96.0 % on held-out rows"
    assert by_conditions().summary(1).startswith("**1 rule 70.0 %**, ")
    with pytest.raises(ValueError, match="without numbers of rules"):
        frontier([0.5, 0.9]).summary(4)


def test_a_frame_names_the_parameter_that_takes_the_budget():
    frame = by_conditions().to_frame()
    expected = ["max_conditions", "rules", "reading_cost", "fidelity", "spread", "is_knee"]
    assert frame.columns.tolist() == expected
    assert frame["reading_cost"].tolist() == [2.0, 7.0, 12.0, 32.0, 119.0]
    assert frame.loc[frame["is_knee"], "max_conditions"].tolist() == [120]
    assert frontier([0.5, 0.9]).to_frame().columns[0] == "max_rules"
