"""Rows that a browser sends reach the network in the form of the data's rows."""

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from clausewise import Features
from clausewise.report.request_rows import ChangedRow, read_rows
from clausewise.report.table_like import TableLike

FEATURES = Features(
    ("age", "job", "smokes", "visits"),
    ("numeric", "categorical", "binary", "numeric"),
    (None, ("cook", "nurse"), None, None),
)
ROWS = [[47.5, "nurse", True, 3], [20, "cook", False, 0]]
COLUMNS = {"age": [47.5, 20.0], "job": ["nurse", "cook"], "smokes": [True, False], "visits": [3, 0]}


def frame_with(**types):
    return pd.DataFrame(COLUMNS).astype(types)


@pytest.mark.parametrize(
    "frame",
    [
        frame_with(),
        frame_with(job=object),
        frame_with(job="category", visits="Int64", smokes="boolean", age="float32"),
        frame_with(job=pd.CategoricalDtype(["nurse", "cook"], ordered=True)),
        frame_with()[["visits", "job", "age", "smokes"]],
    ],
)
def test_a_pandas_row_comes_back_as_it_was(frame):
    made = TableLike(frame, FEATURES).table(ROWS)
    pd.testing.assert_frame_equal(made, frame)


@pytest.mark.parametrize(
    "frame",
    [
        frame_with(job=object).assign(age=[np.inf, np.nan], job=["astronaut", None]),
        frame_with(job=object).assign(job=["astronaut", np.nan]),
        frame_with(job="category", visits="Int64", smokes="boolean").mask(np.eye(2, 4, dtype=bool)),
        frame_with(visits="float32")[["visits", "job", "age", "smokes"]],
    ],
)
def test_a_row_of_the_data_is_asked_about_as_it_is(frame):
    made = TableLike(frame, FEATURES).table([ChangedRow(0, {}), ChangedRow(1, {})])
    pd.testing.assert_frame_equal(made, frame)


def test_a_row_of_other_tables_is_asked_about_as_it_is():
    frame = pl.DataFrame(COLUMNS | {"age": [float("nan"), None], "job": ["astronaut", None]})
    made = TableLike(frame, FEATURES).table([ChangedRow(0, {}), ChangedRow(1, {})])
    assert made.equals(frame, null_equal=True)
    numbers = np.array([[np.inf, 1.0], [np.nan, -np.inf]], dtype=np.float32)
    made = TableLike(numbers, Features(("a", "b"))).table([ChangedRow(0, {}), ChangedRow(1, {})])
    np.testing.assert_array_equal(made, numbers)
    assert made.dtype == np.float32


def test_changes_are_made_by_the_place_of_the_feature():
    frame = frame_with(job=object)[["visits", "job", "age", "smokes"]]
    made = TableLike(frame, FEATURES).table([ChangedRow(1, {0: 33.5, 1: "nurse", 3: None})])
    expected = frame.iloc[[1]].assign(age=33.5, job="nurse", visits=np.nan).reset_index(drop=True)
    pd.testing.assert_frame_equal(made, expected.astype({"job": object}))


def test_columns_without_names_are_taken_by_position():
    frame = frame_with().set_axis([10, 20, 30, 40], axis=1)
    made = TableLike(frame, Features(FEATURES.names, FEATURES.kinds, FEATURES.categories, named=False)).table(
        ROWS
    )
    pd.testing.assert_frame_equal(made, frame)


@pytest.mark.parametrize("job", [pl.String, pl.Categorical, pl.Enum(["nurse", "cook"])])
def test_a_polars_row_comes_back_as_it_was(job):
    frame = (
        pl.DataFrame(COLUMNS).with_columns(pl.col("job").cast(job)).select("visits", "job", "age", "smokes")
    )
    made = TableLike(frame, FEATURES).table(ROWS)
    assert made.schema == frame.schema
    assert made.rows() == frame.rows()


def test_a_pyarrow_row_comes_back_as_it_was():
    table = pa.table(COLUMNS)
    assert TableLike(table, FEATURES).table(ROWS).equals(table)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8])
def test_an_array_of_numbers_keeps_its_type(dtype):
    X = np.array([[1, 2], [3, 4]], dtype=dtype)
    made = TableLike(X, Features(("a", "b"))).table([[1, 2.0], [3, 4]])
    assert made.dtype == X.dtype
    assert np.array_equal(made, X)


def test_fractions_and_missing_values_are_not_cut_to_whole_numbers():
    whole = np.array([[1, 2]])
    made = TableLike(whole, Features(("a", "b"))).table([[1.5, None]])
    assert made.dtype == np.float64
    assert np.array_equal(made, [[1.5, np.nan]], equal_nan=True)
    frame = TableLike(frame_with(), FEATURES).table([[None, None, None, 2.5], [1, "cook", True, None]])
    assert frame["visits"].tolist()[0] == 2.5
    assert frame.isna().to_numpy().tolist() == [[True, True, True, False], [False, False, False, True]]
    assert frame["smokes"].tolist()[1] == 1.0


@pytest.mark.parametrize("mark", [None, np.nan, pd.NA], ids=repr)
def test_a_missing_value_is_what_stands_for_one_in_the_data(mark):
    cells = np.array(["cook", mark], dtype=object)
    features = Features(("job",), ("categorical",), (("cook", "nurse"),))
    from_frame = TableLike(pd.DataFrame({"job": pd.Series(cells, dtype=object)}), features).table([[None]])
    from_array = TableLike(cells[:, None], features).table([[None]])
    for value in (from_frame["job"].iloc[0], from_array[0, 0]):
        assert value is mark or (isinstance(mark, float) and isinstance(value, float) and value != value)


def test_arrays_of_text_stay_text_unless_something_is_missing():
    X = np.array([["cook"], ["nurse"]])
    like = TableLike(X, Features(("job",), ("categorical",), (("cook", "nurse"),)))
    assert like.table([["astronaut"]]).tolist() == [["astronaut"]]
    assert like.table([["astronaut"]]).dtype.kind == "U"
    assert like.table([[None]]).tolist() == [[None]]


@pytest.mark.parametrize(
    "frame",
    [
        frame_with(job="category"),
        pl.DataFrame(COLUMNS).with_columns(pl.col("job").cast(pl.Enum(["cook", "nurse"]))),
    ],
    ids=["pandas", "polars"],
)
def test_a_category_that_the_type_of_the_column_cannot_hold_is_refused(frame):
    like = TableLike(frame, FEATURES)
    with pytest.raises(ValueError, match="'astronaut' is not one of the categories that column 'job'"):
        like.table([[1, "astronaut", True, 1]])


def test_rows_are_read_with_unknown_categories_and_missing_values():
    rows = [[None, "astronaut", 1, 2], [1.5, None, False, None]]
    assert read_rows(rows, FEATURES) == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "rows is 3; expected a list"),
        ("[]", "at least one row"),
        ('{"a": 1}', "rows is an object of 1"),
        ("[3]", r"rows\[0\] is 3; expected a list of 4"),
        ('[[1, "cook", true, 1], [1]]', r"rows\[1\] has 1 values; expected 4"),
        ('[["1", "cook", true, 1]]', "has '1' for 'age'; expected a number"),
        ('[[true, "cook", true, 1]]', "has True for 'age'; expected a number"),
        ('[[[1], "cook", true, 1]]', "has a list of 1 for 'age'"),
        ("[[1, 7, true, 1]]", "has 7 for 'job'; expected text"),
        ('[[1, "cook", 2, 1]]', "has 2 for 'smokes'; expected true, false, 0 or 1"),
        ('[[1e999, "cook", 1, 1]]', "for 'age' that is too large for a double"),
        (f'[[1{"0" * 400}, "cook", 1, 1]]', "for 'age' that is too large for a double"),
        (f'[[1, "cook", 1{"0" * 400}, 1]]', "has a huge number for 'smokes'"),
        (f'[["{"x" * 500}", "cook", 1, 1]]', "has 'x{59}… for 'age'"),
    ],
)
def test_rows_that_the_features_cannot_have_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        read_rows(json.loads(text), FEATURES)


def test_categories_that_are_numbers_are_read_as_numbers():
    features = Features(("zone",), ("categorical",), ((1, 2, 3),))
    assert read_rows([[2], [9]], features) == [[2], [9]]
    with pytest.raises(ValueError, match="has '2' for 'zone'; expected a number"):
        read_rows([["2"]], features)


def test_changed_rows_are_read():
    sent = [{"number": 1, "changes": [[0, None], [1, "nurse"]]}, [1, "cook", True, 2]]
    assert read_rows(sent, FEATURES, 2) == [ChangedRow(1, {0: None, 1: "nurse"}), [1, "cook", True, 2]]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"number": 1}, 'expected the keys "number" and "changes" only'),
        ({"number": 2, "changes": []}, "has the number 2; expected a whole number from 0 to 1"),
        ({"number": -1, "changes": []}, "has the number -1"),
        ({"number": True, "changes": []}, "has the number True"),
        ({"number": 0, "changes": {}}, "has an object of 0 as changes; expected a list of pairs"),
        ({"number": 0, "changes": [[4, 1]]}, "from 0 to 3, and a value"),
        ({"number": 0, "changes": [[0]]}, "from 0 to 3, and a value"),
        ({"number": 0, "changes": [[0, 1], [0, 2]]}, "changes feature 0 twice"),
        ({"number": 0, "changes": [[1, 5]]}, "has 5 for 'job'; expected text"),
    ],
)
def test_changed_rows_that_make_no_sense_are_refused(row, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        read_rows([row], FEATURES, 2)


def test_a_request_may_not_refer_to_very_many_rows():
    row = {"number": 0, "changes": []}
    assert len(read_rows([row] * 125_000, FEATURES, 1)) == 125_000
    with pytest.raises(ValueError, match="refers to 125,001 rows of the data; expected at most 125,000"):
        read_rows([row] * 125_001, FEATURES, 1)
