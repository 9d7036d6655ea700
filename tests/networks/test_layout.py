import numpy as np
import pytest

from clausewise.networks.layout import PROBE_SIZES, AmbiguousLayoutError, Layout, probe_rows, random_rows

SMALL, LARGE = PROBE_SIZES


def probes(make):
    """The same rows, few and more of them, as a network would lay them out."""
    rows = np.random.default_rng(0).normal(size=(LARGE, 4, 2))
    return make(rows[:SMALL]), make(rows), rows


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda rows: rows, Layout(0)),
        (lambda rows: rows.transpose(1, 0, 2), Layout(1)),
        (lambda rows: rows.transpose(1, 2, 0), Layout(2)),
        (lambda rows: rows.reshape(-1, 2), Layout(0, 4)),
        (lambda rows: rows.transpose(1, 0, 2).reshape(-1, 2), Layout(0, 4, is_by_step=True)),
    ],
)
def test_rows_are_found_and_put_first(make, expected):
    small, large, rows = probes(make)
    layout = Layout.found(small, large)
    assert layout == expected
    assert layout.row_shape(large.shape) == (4, 2)
    np.testing.assert_array_equal(layout.rows_first(large, LARGE), rows)


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: rows[0],  # the same for any number of rows
        lambda rows: np.einsum("ac,bc->ab", rows[:, 0], rows[:, 0]),  # rows × rows
        lambda rows: np.zeros(len(rows) + 1),
    ],
)
def test_tensors_that_are_not_made_of_rows_have_no_layout(make):
    small, large, _ = probes(make)
    assert Layout.found(small, large) is None


def test_probe_rows_go_round_when_there_are_too_few():
    assert probe_rows(np.arange(2), 5).tolist() == [0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    "rows", [np.zeros((LARGE, 4, 2)), np.broadcast_to(np.arange(4.0).reshape(2, 2), (LARGE, 2, 2))]
)
def test_no_order_of_stacked_steps_is_chosen_for_rows_that_are_alike(rows):
    with pytest.raises(AmbiguousLayoutError, match=r"call network.inspect\(X\) with rows that differ"):
        Layout.found(rows[:SMALL].reshape(-1, 2), rows.reshape(-1, 2))


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_random_rows_differ_and_are_the_same_again(dtype):
    rows = random_rows([6, 2], np.dtype(dtype))
    assert rows.shape == (LARGE, 6, 2)
    assert rows.dtype == dtype
    assert len(np.unique(rows, axis=0)) == LARGE
    np.testing.assert_array_equal(rows, random_rows([6, 2], np.dtype(dtype)))
