"""Sampling rows."""

import numpy as np
import pytest

from clausewise.data.rows import row_limit, stratified_rows


def test_rows_are_drawn_from_each_class_in_proportion():
    codes = np.repeat([0, 1, 2], [700, 290, 10]).astype(np.int32)
    rows = stratified_rows(codes, 100, np.random.RandomState(0))
    assert np.bincount(codes[rows]).tolist() == [70, 29, 1]
    assert (np.diff(rows) > 0).all()


@pytest.mark.parametrize("n_wanted", [1, 2, 3, 5, 17, 99, 100, 1_000])
def test_the_wanted_number_of_rows_is_drawn(n_wanted):
    codes = np.repeat([0, 1, 2], [1, 3, 96]).astype(np.int32)
    rows = stratified_rows(codes, n_wanted, np.random.RandomState(1))
    assert len(rows) == min(n_wanted, 100)
    assert n_wanted < 3 or set(codes[rows]) == {0, 1, 2}


def test_a_limit_of_rows_is_a_count_or_a_fraction():
    assert [row_limit(limit, 200) for limit in (None, 50, 0.3, 1.0, 1, 999)] == [200, 50, 60, 200, 1, 200]
