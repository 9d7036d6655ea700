"""The record of learnt rows: no learnt row is missed, hardly any other is found, and files keep it."""

import numpy as np
import pytest

from clausewise import _core
from clausewise.data import learnt_rows
from clausewise.data.hashing import mix
from clausewise.data.learnt_rows import LearntRows

NAMES = ("a", "b", "c")


def table(n_rows, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, len(NAMES)))


def found(record, matrix):
    return record.look_up(NAMES, matrix)[0]


@pytest.mark.parametrize("n_rows", [0, 1, 2, 3, 1000])
def test_every_learnt_row_is_found_and_no_other(n_rows):
    learnt = table(n_rows)
    record = LearntRows.of(NAMES, learnt)
    assert len(record) == n_rows
    assert found(record, learnt).all()
    assert not found(record, table(5000, seed=1)).any()


def test_one_changed_cell_makes_another_row():
    learnt = table(500)
    changed = learnt.copy()
    changed[:, 1] = np.nextafter(changed[:, 1].astype(np.float32), np.float32(9))
    assert not found(LearntRows.of(NAMES, learnt), changed).any()


def test_swapped_columns_make_another_row():
    learnt = table(500)
    assert not found(LearntRows.of(NAMES, learnt), learnt[:, ::-1]).any()


def test_a_table_is_found_in_either_precision():
    learnt = table(500)
    single = learnt.astype(np.float32)
    assert found(LearntRows.of(NAMES, learnt), single).all()
    assert found(LearntRows.of(NAMES, single), learnt).all()


def test_missing_values_and_zeros_of_either_sign_are_equal():
    record = LearntRows.of(NAMES, np.array([[0.0, np.nan, 1.0]]))
    other_nan = np.array([0x7FF8000000000001], dtype=np.uint64).view(np.float64)[0]
    assert found(record, np.array([[-0.0, other_nan, 1.0]])).all()


def test_joined_records_find_the_rows_of_both():
    one, other = table(300), table(7000, seed=1)
    both = LearntRows.of(NAMES, one) | LearntRows.of(NAMES, other)
    assert found(both, one).all()
    assert found(both, other).all()
    assert not found(both, table(5000, seed=2)).any()


def test_joining_a_record_with_itself_changes_nothing():
    record = LearntRows.of(NAMES, table(300))
    assert record | record == record


@pytest.mark.parametrize("n_rows", [0, 1, 3, 40_000])
def test_a_record_survives_being_written_as_bytes(n_rows):
    record = LearntRows.of(NAMES, table(n_rows))
    raw, width = record.to_bytes()
    assert LearntRows.from_bytes(raw, width, record.n_skipped_bits) == record


def test_a_record_takes_five_bytes_a_row():
    raw, width = LearntRows.of(NAMES, table(20_000)).to_bytes()
    assert (len(raw), width) == (100_000, 5)


def test_a_small_record_joined_with_a_large_one_mistakes_no_other_row():
    both = LearntRows.of(NAMES, table(3)) | LearntRows.of(NAMES, table(200_000, seed=1))
    assert not found(both, table(50_000, seed=2)).any()


def test_of_too_many_rows_a_part_is_recorded_in_which_none_is_missed(monkeypatch):
    monkeypatch.setattr(learnt_rows, "MAX_ROWS", 1000)
    learnt = table(10_000)
    record = LearntRows.of(NAMES, learnt)
    is_found, could_be = record.look_up(NAMES, learnt)
    assert len(record) <= 1000
    assert not record.is_complete
    np.testing.assert_array_equal(is_found, could_be)
    assert 300 < is_found.sum() <= 1000
    fresh_found, _ = record.look_up(NAMES, table(5000, seed=1))
    assert not fresh_found.any()


def test_a_partial_record_joined_with_a_complete_one_finds_what_it_says(monkeypatch):
    monkeypatch.setattr(learnt_rows, "MAX_ROWS", 1000)
    many, few = table(10_000), table(100, seed=1)
    both = LearntRows.of(NAMES, many) | LearntRows.of(NAMES, few)
    for learnt in (many, few):
        np.testing.assert_array_equal(*both.look_up(NAMES, learnt))


@pytest.mark.parametrize(
    ("raw", "width", "n_skipped", "message"),
    [
        (b"\x01\x00", 1, 0, "twice"),
        (b"\x01\x02\x03", 2, 0, "not numbers of 2 bytes"),
        (b"\x01", 9, 0, "not numbers of 9 bytes"),
        (b"\xff" * 8, 8, 0, "more than 46 bits"),
        (b"\xff" * 5, 5, 10, "more than 36 bits"),
        (b"\x01", 1, 46, "46 bits are skipped"),
    ],
)
def test_bytes_that_are_no_record_are_refused(raw, width, n_skipped, message):
    with pytest.raises(ValueError, match=message):
        LearntRows.from_bytes(raw, width, n_skipped)


def hashes_in_numpy(matrix, keys):
    """Return what the core computes, column by column."""
    hashes = np.zeros(len(matrix), dtype=np.uint64)
    for column, key in zip(matrix.T, keys, strict=True):
        with np.errstate(over="ignore"):
            values = column.astype(np.float32) + np.float32(0)
        values[np.isnan(values)] = np.nan
        hashes ^= values.view(np.uint32).astype(np.uint64) + key
        mix(hashes)
    return hashes


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [0, 1, 16, 53])
def test_hashes_of_rows_are_those_of_numpy(n_rows, dtype):
    rng = np.random.default_rng(n_rows)
    matrix = rng.normal(size=(n_rows, 7)).astype(dtype)
    matrix[rng.random(matrix.shape) < 0.1] = np.nan
    matrix[rng.random(matrix.shape) < 0.1] = -0.0
    matrix[rng.random(matrix.shape) < 0.05] = np.finfo(dtype).max
    matrix[rng.random(matrix.shape) < 0.05] *= -1  # also of NaN
    keys = rng.integers(2**64, size=7, dtype=np.uint64)
    expected = hashes_in_numpy(matrix, keys)
    for laid_out in (matrix, np.asfortranarray(matrix), np.repeat(matrix, 2, axis=0)[::2]):
        np.testing.assert_array_equal(_core.row_hashes(laid_out, keys), expected)


def test_a_hash_needs_a_key_for_each_column():
    with pytest.raises(ValueError, match="one entry per column"):
        _core.row_hashes(np.zeros((2, 3)), np.zeros(2, dtype=np.uint64))
