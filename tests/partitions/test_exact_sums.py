"""Exact sums, and order statistics, of numbers in partitions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausewise.partitions import partitioned, ranked_values
from clausewise.partitions.exact_sums import add_digits, digit_sums, exact_totals
from clausewise.partitions.ranked_values import Rank, cells_of, counts_in_cells

FINITE = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=True)


@given(st.lists(st.tuples(FINITE, st.integers(0, 2)), min_size=1), st.integers(0, 50))
def test_sums_are_exact_whatever_the_parts(numbers, cut):
    values = np.array([value for value, _ in numbers])
    groups = np.array([group for _, group in numbers])
    cut = min(cut, len(values))

    def summed(part):
        return digit_sums(values[part], lambda digit: np.bincount(groups[part], digit, minlength=3))

    total = add_digits(summed(slice(cut)), summed(slice(cut, None)))
    for group, found in enumerate(exact_totals(total)):
        assert found == sum(map(Fraction, values[groups == group].tolist()))


def number_and_two_groups(batch, _number):
    """Return the first column, and two groups: all rows, and the rows where the second column is set."""
    return batch[:, 0], np.array([np.ones(len(batch), dtype=bool), batch[:, 1] > 0])


@pytest.mark.parametrize("max_gathered", [2**16, 4])
@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).standard_cauchy(3_000),
        np.repeat([-1e300, -0.0, 0.0, 5e-324, 7.0], 600),
        np.full(3_000, -2.5),
    ],
    ids=["heavy tails", "few values", "one value"],
)
def test_ranked_values_are_those_of_sorted_rows(monkeypatch, values, max_gathered):
    monkeypatch.setattr(ranked_values, "MAX_GATHERED", max_gathered)
    is_chosen = np.random.default_rng(1).random(len(values)) < 0.3
    table = np.column_stack([values, is_chosen])
    edges = cells_of(values[:50])  # a poor guess costs passes, not exactness
    groups = np.array([np.ones(len(values), dtype=bool), is_chosen])
    counts = counts_in_cells(values, groups, edges)
    wanted = [(0, 1), (0, 1_500), (0, 3_000), (1, 1), (1, 400), (1, int(is_chosen.sum()))]
    low, high = float(np.nextafter(values.min(), -np.inf)), float(values.max())
    ranks = [Rank(group, rank, low, high).within(counts[group], edges) for group, rank in wanted]
    rows = partitioned([table[:10], table[10:1_700], table[1_700:]])
    found = ranked_values.ranked_values(rows, number_and_two_groups, ranks)
    assert found == [np.sort(values[groups[group]])[rank - 1] for group, rank in wanted]
