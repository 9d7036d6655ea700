"""Rows that are generated near real ones."""

import numpy as np
import pytest

from clausewise import Features, _core
from clausewise.compact.nearby_rows import nearby_rows
from clausewise.data.points import positions


def nearest(points, queries, candidates, n_nearest):
    """The nearest candidates of each query but itself, by sorting all of them: a plain reference."""
    found = []
    for query in queries:
        others = [row for row in candidates if row != query]
        distance = ((points[others] - points[query]) ** 2).sum(axis=1)
        found.append(np.array(others)[np.argsort(distance, kind="stable")[:n_nearest]])
    return np.array(found)


@pytest.mark.parametrize("n_columns", [1, 7, 8, 33, 70])
@pytest.mark.parametrize("n_threads", [1, 4])
def test_nearest_rows_are_those_of_a_plain_search(n_columns, n_threads):
    draw = np.random.default_rng(n_columns)
    # Few values, so that many distances are equal and sums are exact.
    points = draw.integers(0, 3, size=(120, n_columns)).astype(np.float32)
    queries = draw.permutation(120)[:50].astype(np.int32)
    candidates = np.sort(draw.permutation(120)[:60]).astype(np.int32)
    found = _core.nearest_rows(points, queries, candidates, 8, n_threads).reshape(50, 8)
    assert found.tolist() == nearest(points, queries.tolist(), candidates.tolist(), 8).tolist()


@pytest.mark.parametrize(
    ("queries", "candidates", "n_nearest"),
    [([5], [0, 1], 1), ([0], [0, -1], 1), ([0], [0, 1], 2), ([0], [0, 1], 0)],
)
def test_rows_that_do_not_exist_are_refused(queries, candidates, n_nearest):
    rows = (np.array(numbers, dtype=np.int32) for numbers in (queries, candidates))
    with pytest.raises(ValueError, match=r"row|candidates"):
        _core.nearest_rows(np.zeros((5, 2), dtype=np.float32), *rows, n_nearest, 1)


def mixed_table(n_rows=300, seed=0):
    """A number, a whole number, a category, a flag with missing values, and a choice in three columns."""
    draw = np.random.default_rng(seed)
    choice = np.eye(3)[draw.integers(0, 3, n_rows)]
    table = np.column_stack(
        [
            draw.normal(size=n_rows),
            draw.integers(18, 90, n_rows),
            draw.integers(0, 4, n_rows),
            np.where(draw.random(n_rows) < 0.2, np.nan, draw.integers(0, 2, n_rows)),
            choice,
        ]
    ).astype(float)
    names = ("size", "age", "job", "flag", "red", "green", "blue")
    kinds = ("numeric", "numeric", "categorical", "binary", "numeric", "numeric", "numeric")
    categories = (None, None, ("a", "b", "c", "d", "never"), None, None, None, None)
    return table, Features(names, kinds, categories)


def test_generated_rows_keep_what_holds_for_every_column():
    table, features = mixed_table()
    rows = nearby_rows(table, features, 2000, seed=3).table
    assert len(rows) == 2000
    assert (table[:, 0].min() <= rows[:, 0]).all()
    assert (rows[:, 0] <= table[:, 0].max()).all()
    assert (rows[:, 1] == np.round(rows[:, 1])).all()
    assert set(rows[:, 2]) == {0.0, 1.0, 2.0, 3.0}
    assert set(rows[~np.isnan(rows[:, 3]), 3]) == {0.0, 1.0}
    assert (rows[:, 4:].sum(axis=1) == 1).all()
    # Most of them are new.
    known = {tuple(row) for row in np.nan_to_num(table, nan=-1).tolist()}
    assert np.mean([tuple(row) in known for row in np.nan_to_num(rows, nan=-1).tolist()]) < 0.05


def test_what_is_missing_in_a_row_stays_missing():
    table, features = mixed_table()
    found = nearby_rows(table, features, 900, seed=0)
    assert (np.isnan(found.table) == np.isnan(table[found.sources])).all()


def test_all_rows_are_sources_equally_often():
    table, features = mixed_table(n_rows=70)
    counts = np.bincount(nearby_rows(table, features, 200, seed=0).sources, minlength=70)
    assert set(counts) == {2, 3}
    assert counts.sum() == 200


def test_generated_rows_are_about_as_near_to_real_ones_as_these_are_to_each_other():
    draw = np.random.default_rng(0)
    angle = draw.uniform(0, 2 * np.pi, 500)
    table = np.column_stack([np.cos(angle), np.sin(angle)]) + draw.normal(scale=0.02, size=(500, 2))
    rows = nearby_rows(table, Features(("x", "y")), 1000, seed=0).table
    # On a circle, a column alone says nothing: rows drawn column by column would fill the square.
    radius = np.hypot(*rows.T)
    assert np.mean(np.abs(radius - 1) < 0.1) > 0.98


def test_the_seed_decides_and_the_number_of_threads_does_not():
    table, features = mixed_table()
    one, again, other = (
        nearby_rows(table, features, 500, seed, threads).table for seed, threads in ((0, 1), (0, 3), (1, 1))
    )
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other, equal_nan=True)


def test_numbers_of_single_precision_stay_such_numbers():
    table = np.random.default_rng(0).normal(size=(50, 2)).astype(np.float32)
    rows = nearby_rows(table, Features(("x", "y")), 100, seed=0).table
    assert rows.dtype == np.float64
    assert (rows.astype(np.float32) == rows).all()


@pytest.mark.parametrize("n_rows", [0, 1, 2, 3, 4])
def test_tables_with_few_rows_give_rows_or_none(n_rows):
    table = np.arange(2.0 * n_rows).reshape(n_rows, 2)
    assert len(nearby_rows(table, Features(("x", "y")), 6, seed=0).table) == (6 if n_rows > 2 else 0)


def test_huge_constant_and_empty_columns_have_positions():
    table = np.column_stack([np.full(9, 7.0), np.full(9, np.nan), 1.7e308 * np.linspace(-1, 1, 9)])
    found = positions(table, Features(("constant", "missing", "huge")))
    assert found.shape == (9, 1)
    assert np.isfinite(found).all()
    rows = nearby_rows(table, Features(("constant", "missing", "huge")), 20, seed=0).table
    assert (rows[:, 0] == 7).all()
    assert np.isnan(rows[:, 1]).all()
    assert np.isfinite(rows[:, 2]).all()
