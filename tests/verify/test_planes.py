from fractions import Fraction
from itertools import product
from math import factorial, prod

import numpy as np
import pytest

from clausewise import RuleSet
from clausewise.networks import ArrayNetwork
from clausewise.verify.domain import Regions
from clausewise.verify.planes import Planes, share_of_cube


def exact_share(slopes, threshold):
    """Return the share of the unit cube where `slopes · x <= threshold`, in exact arithmetic."""
    slopes, threshold = [Fraction(slope) for slope in slopes], Fraction(threshold)
    total = sum(
        (-1) ** sum(vertex)
        * max(threshold - sum(a * v for a, v in zip(slopes, vertex, strict=True)), Fraction(0)) ** len(slopes)
        for vertex in product((0, 1), repeat=len(slopes))
    )
    return total / (factorial(len(slopes)) * prod(slopes))


@pytest.mark.parametrize("n_columns", [1, 2, 3, 5, 8])
def test_the_share_below_a_plane_is_never_less_than_the_exact_one_and_hardly_more(n_columns):
    random = np.random.RandomState(n_columns)
    slopes = random.uniform(0.02, 1.0, size=(40, n_columns))
    slopes[::4, 1:] = 0.02 * slopes[::4, :1]
    thresholds = random.uniform(size=40) * slopes.sum(axis=1)

    found = share_of_cube(slopes, thresholds)

    for row, threshold, share in zip(slopes, thresholds, found, strict=True):
        exact = exact_share(row.tolist(), float(threshold))
        assert exact <= Fraction(float(share)) or share == 1.0
        assert share - float(exact) < 2e-3


def planes(low, slopes, n_columns):
    region = Regions(np.zeros((1, n_columns)), np.full((1, n_columns), 2.0))
    return Planes(np.array([low]), np.array([slopes], dtype=float), region)


def test_a_plane_through_the_middle_decides_half_of_a_box():
    both = planes([-2.0, -2.0], [[1.0, 1.0], [-1.0, -1.0]], 2)

    above, below = both.shares()

    assert above[0] == pytest.approx(0.5)
    assert below[0] == pytest.approx(0.5)
    assert both.open_shares()[0] == pytest.approx(0.0, abs=1e-9)


def test_a_plane_without_slopes_decides_nothing_or_everything():
    undecided, decided = planes([-1.0, -1.0], [[0.0], [0.0]], 1), planes([1.0, -1.0], [[0.0], [0.0]], 1)

    assert [share.tolist() for share in undecided.shares()] == [[0.0], [0.0]]
    assert [share.tolist() for share in decided.shares()] == [[1.0], [0.0]]


def test_bounds_rise_from_the_end_at_which_they_are_least():
    falling = planes([-1.0, -1.0], [[-1.0], [1.0]], 1)

    assert [bool(side[0]) for side in falling.decided_at(np.array([[0.5]]))] == [True, False]
    assert [bool(side[0]) for side in falling.decided_at(np.array([[1.5]]))] == [False, True]
    lower_half = falling.within(Regions(np.zeros((1, 1)), np.full((1, 1), 0.75)))
    assert [bool(side[0]) for side in lower_half.decided()] == [True, False]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_proven_volumes_are_at_most_what_random_rows_show(n_classes):
    random = np.random.RandomState(n_classes)
    network = ArrayNetwork(
        [random.normal(size=(4, 12)), random.normal(size=(12, n_classes))],
        [random.normal(size=12) * 0.3, random.normal(size=n_classes) * 0.1],
        output="softmax",
    )
    rows = random.uniform(-1, 1, size=(4_000, 4))
    text = "\n".join(f"IF x0 > -0.9 AND x1 <= 0.9 THEN {label}" for label in range(n_classes))
    rules = RuleSet.from_text(text, [f"x{i}" for i in range(4)], classes=list(range(n_classes)), default=0)

    certificate = rules.certify(network, rows, max_boxes=400, max_parts=0)

    drawn = random.uniform(rows.min(axis=0), rows.max(axis=0), size=(40_000, 4))
    labels = network.labels(drawn[(drawn[:, 0] > -0.9) & (drawn[:, 1] <= 0.9)])
    for proof in certificate:
        agreed = (labels == proof.predicts).mean()
        assert proof.proven_volume <= agreed + 0.01
        assert proof.refuted_volume <= 1 - agreed + 0.01
        # Most of a box that is crossed by the boundary is decided, too.
        assert proof.proven_volume + proof.refuted_volume > 0.7


def test_rows_that_a_plane_decides_are_decided_so_by_the_network():
    random = np.random.RandomState(5)
    network = ArrayNetwork(
        [random.normal(size=(4, 12)), random.normal(size=(12, 2))],
        [np.zeros(12), np.zeros(2)],
        output="softmax",
    )
    rows = random.uniform(-1, 1, size=(2_000, 4))
    rules = RuleSet.from_text("IF x0 > -2 THEN 1", [f"x{i}" for i in range(4)], classes=[0, 1], default=0)

    proof = rules.certify(network, rows, max_boxes=200, max_parts=0)[0]

    agreed = (network.labels(rows) == 1).mean()
    assert 0.8 * agreed < proof.proven_rows <= agreed
