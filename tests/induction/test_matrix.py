"""The prepared matrix: ranks, gaps and thresholds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clausewise import _core
from clausewise.data.features import Features
from clausewise.induction import C50Inducer, PreparedMatrix
from clausewise.induction.matrix import collapsed_columns

WIDTHS = st.sampled_from([32, 64])
LARGEST = float(np.float32(3e38))


@st.composite
def columns(draw):
    """Floats of both widths with ties, denormals and neighbours that are equal in single precision."""
    width = draw(WIDTHS)
    numbers = st.floats(-LARGEST, LARGEST, width=width, allow_nan=False)
    pool = draw(st.lists(numbers, min_size=1, max_size=6))
    pool += [float(np.nextafter(value, np.inf)) for value in pool if width == 64 and abs(value) < 1e38]
    cells = draw(st.lists(st.sampled_from([*pool, np.nan]), min_size=1, max_size=30))
    return np.array(cells, dtype=np.float32 if width == 32 else np.float64)


@given(columns())
def test_ranks_order_values_in_single_precision(column):
    found = PreparedMatrix.prepare(column[:, None]).core.ranks(0)
    single = column.astype(np.float32) + np.float32(0)
    known = ~np.isnan(single)
    _, expected = np.unique(single[known], return_inverse=True)
    np.testing.assert_array_equal(found[known], expected)
    assert (found[~known] == -1).all()


@given(columns(), st.sampled_from(["exact", "readable", "middle"]))
def test_thresholds_separate_the_training_rows_as_ranks_do(column, style):
    matrix = PreparedMatrix.prepare(column[:, None])
    ranks = matrix.core.ranks(0)
    for rank in range(ranks.max(initial=-1)):
        (threshold,) = matrix.thresholds(np.array([0]), np.array([rank]), style)
        known = ranks >= 0
        np.testing.assert_array_equal(column[known].astype(np.float64) <= threshold, ranks[known] <= rank)


@given(columns())
def test_exact_thresholds_round_to_the_value_to_the_left(column):
    matrix = PreparedMatrix.prepare(column[:, None])
    ranks = matrix.core.ranks(0)
    for rank in range(ranks.max(initial=-1)):
        (threshold,) = matrix.thresholds(np.array([0]), np.array([rank]), "exact")
        left = column[ranks == rank].astype(np.float32)[0]
        # The double just below the middle of two singles may be the greatest of the column, and round up.
        assert np.float32(threshold) in (left, np.nextafter(left, np.float32(np.inf)))


@given(hnp.arrays(np.int64, st.integers(1, 200), elements=st.integers(0, 40)))
def test_repeated_values_are_counted_once(column):
    ranks = PreparedMatrix.prepare(column[:, None]).core.ranks(0)
    np.testing.assert_array_equal(np.unique(column)[ranks], column)


def test_categories_are_their_codes():
    frame = pd.DataFrame(
        {"job": pd.Categorical(["cook", None, "nurse"], categories=["nurse", "cook", "pilot"])}
    )
    assert PreparedMatrix.prepare(frame).core.ranks(0).tolist() == [1, -1, 0]


def test_rank_tables_hold_ranks_and_indicators():
    frame = pd.DataFrame({"age": [40.0, np.nan, 30.0], "job": pd.Categorical(["cook", "nurse", None])})
    table = PreparedMatrix.prepare(frame).rank_table
    np.testing.assert_array_equal(table.table, [[1, 1, 0], [np.nan, 0, 1], [0, np.nan, np.nan]])
    assert table.feature.tolist() == [0, 1, 1]
    assert table.code.tolist() == [-1, 0, 1]


def test_a_column_without_categories_is_missing_and_leaves_the_others_in_place():
    frame = pd.DataFrame({"job": pd.Categorical([None, None]), "age": [40.0, 30.0]})
    matrix = PreparedMatrix.prepare(frame)
    np.testing.assert_array_equal(matrix.rank_table.table, [[np.nan, 1], [np.nan, 0]])
    assert matrix.rank_table.feature.tolist() == [0, 1]
    assert matrix.rank_table.code.tolist() == [-1, -1]


def test_preparing_does_not_depend_on_threads():
    table = np.random.default_rng(0).normal(size=(500, 30))
    one, many = (PreparedMatrix.prepare(table, n_jobs=n) for n in (1, 5))
    assert all((one.core.ranks(a) == many.core.ranks(a)).all() for a in range(30))


def test_the_core_checks_what_it_is_given():
    table = np.zeros((3, 2))
    with pytest.raises(ValueError, match="2 columns, but n_categories has length 1"):
        _core.prepare_matrix(table, np.zeros(1, np.int32))
    with pytest.raises(ValueError, match="row 0 is not a code from 0 to 1"):
        _core.prepare_matrix(np.full((3, 1), 7.0), np.array([2], np.int32))
    with pytest.raises(ValueError, match="infinite value in row 1"):
        _core.prepare_matrix(np.array([[0.0], [np.inf]]), np.zeros(1, np.int32))
    matrix = _core.prepare_matrix(table, np.zeros(2, np.int32))
    options = _core.C50Options()
    with pytest.raises(ValueError, match="but got classes for 2"):
        _core.fit_c50(matrix, np.zeros(2, np.int32), 2, None, None, options)
    with pytest.raises(ValueError, match="class code is out of range"):
        _core.fit_c50(matrix, np.array([0, 1, 2], np.int32), 2, None, None, options)
    with pytest.raises(ValueError, match="weights must have one entry per row"):
        _core.fit_c50(matrix, np.zeros(3, np.int32), 2, np.ones(2, np.float32), None, options)
    with pytest.raises(ValueError, match="classes × classes"):
        _core.fit_c50(matrix, np.zeros(3, np.int32), 2, None, np.ones(3, np.float32), options)
    with pytest.raises(IndexError):
        matrix.ranks(2)
    with pytest.raises(ValueError, match="a rank is out of range"):
        matrix.gaps(table, np.array([0], np.int32), np.array([5], np.int32))
    with pytest.raises(ValueError, match="shape of the table differs"):
        matrix.gaps(np.zeros((9, 2)), np.array([0], np.int32), np.array([0], np.int32))
    empty = _core.prepare_matrix(np.empty((0, 2)), np.zeros(2, np.int32))
    with pytest.raises(ValueError, match="no rows"):
        _core.fit_c50(empty, np.empty(0, np.int32), 2, None, None, options)


def seconds_of_a_day(n_rows=400, seed=0):
    """Whole seconds since 1970 within one hour: a few dozen numbers in single precision."""
    rng = np.random.default_rng(seed)
    return 1_700_000_000.0 + rng.permutation(3_600)[:n_rows].astype(np.float64)


def test_columns_that_single_precision_collapses_are_found():
    table = np.column_stack([seconds_of_a_day(), np.arange(400.0), np.random.default_rng(0).normal(size=400)])
    features = Features(("time", "day", "noise"))
    assert collapsed_columns(table, features) == [0]
    assert collapsed_columns(table.astype(np.float32), features) == []
    assert collapsed_columns(table[:, 1:] + 1e6, Features(("day", "noise"))) == [1]


@pytest.mark.parametrize(
    "column",
    [
        seconds_of_a_day(),
        np.append(seconds_of_a_day(), np.nan),
        -seconds_of_a_day(),
        1e15 + np.arange(300.0) * 0.125,  # exact in double precision, and still collapsed after the move
        0.1 + np.arange(300) * 1e-12,
    ],
)
def test_collapsed_values_can_be_kept_apart(column):
    features = Features(("time",))
    matrix = PreparedMatrix.of_encoded(column[:, None], features, keeps_distinct=True)
    known = column[~np.isnan(column)]
    distinct, expected = np.unique(known, return_inverse=True)
    ranks = matrix.core.ranks(0)
    np.testing.assert_array_equal(ranks[~np.isnan(column)], expected)
    cuts = np.arange(len(distinct) - 1, dtype=np.int32)
    thresholds = matrix.thresholds(np.zeros_like(cuts), cuts, "readable")
    assert ((distinct[:-1] <= thresholds) & (thresholds < distinct[1:])).all()


@pytest.mark.parametrize("shift", [0.0, 1.7e9])
def test_a_large_constant_does_not_move_the_thresholds_of_c50(shift):
    # In the group, the cut is in the middle of 0 and 100, so 80 is above it. By ranks it would be below.
    time = np.array([0.0, 100.0] * 20 + [0.0, 80.0, 100.0] * 10)
    group = np.repeat([1.0, 0.0], [40, 30])
    codes = np.where(group == 0, 2, time > 50).astype(np.int32)
    table = np.column_stack([time + shift, group])
    matrix = PreparedMatrix.of_encoded(table, Features(("time", "group")), keeps_distinct=True)
    rules = C50Inducer().induce(matrix, codes, ["early", "late", "other"])
    assert rules.predict([[shift + 80.0, 1.0]]) == ["late"]


@given(columns())
def test_other_columns_are_ranked_as_before(column):
    features = Features(("x",))
    if collapsed_columns(column[:, None], features):
        return
    kept = PreparedMatrix.of_encoded(column[:, None], features, keeps_distinct=True)
    np.testing.assert_array_equal(
        kept.core.ranks(0), PreparedMatrix.of_encoded(column[:, None], features).core.ranks(0)
    )
