"""Encoding tables (arrays, pandas, polars, pyarrow) as one matrix, and errors for tables that do not fit."""

import datetime
import decimal

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, column_or_1d

from clausewise import Features

JOBS = ["nurse", "cook", None, "teacher"]
AGES = [30.5, 41.0, 52.0, None]
SMOKES = [True, False, True, False]


def frame(backend, **columns):
    if backend == "pandas":
        return pd.DataFrame(columns)
    if backend == "polars":
        return pl.DataFrame(columns, strict=False)
    return pa.table(columns)


backends = pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])


@backends
def test_text_is_categorical_booleans_are_binary_and_the_rest_is_numeric(backend):
    features = Features.learn(frame(backend, age=AGES, job=JOBS, smokes=SMOKES, children=[0, 1, 2, 3]))
    assert features.names == ("age", "job", "smokes", "children")
    assert features.kinds == ("numeric", "categorical", "binary", "numeric")
    assert features.categories == (None, ("cook", "nurse", "teacher"), None, None)
    assert features.named


@backends
def test_a_frame_becomes_codes_numbers_and_nan(backend):
    table = frame(backend, age=AGES, job=JOBS, smokes=SMOKES)
    matrix = Features.learn(table).encode(table)
    expected = [[30.5, 1, 1], [41, 0, 0], [52, np.nan, 1], [np.nan, 2, 0]]
    np.testing.assert_array_equal(matrix, expected)
    assert matrix.dtype == np.float64


@backends
def test_a_category_unknown_in_training_gets_the_code_after_the_last(backend):
    features = Features.learn(frame(backend, job=JOBS))
    np.testing.assert_array_equal(
        features.encode(frame(backend, job=["pilot", None, "cook", "cook"])), [[3], [np.nan], [0], [0]]
    )


@backends
def test_columns_in_another_order_are_matched_by_name(backend):
    features = Features.learn(frame(backend, a=[1.0, 2.0], b=[3.0, 4.0]))
    np.testing.assert_array_equal(
        features.encode(frame(backend, b=[3.0, 4.0], a=[1.0, 2.0])), [[1, 3], [2, 4]]
    )


@backends
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b"], "X has 2 columns, but the rules were learnt from 3: column 'c' is missing"),
        (["a", "b", "d"], "column 'c' is missing and column 'd' is unknown"),
    ],
)
def test_missing_columns_are_named(backend, names, message):
    features = Features.learn(frame(backend, a=[1.0], b=[1.0], c=[1.0]))
    with pytest.raises(ValueError, match=message):
        features.encode(frame(backend, **{name: [1.0] for name in names}))


@backends
def test_other_columns_of_a_named_table_are_ignored(backend):
    features = Features.learn(frame(backend, a=[1.0], b=[1.0]))
    for names in ("abc", "cab", "bca"):
        table = frame(backend, **{name: [float(ord(name))] for name in names})
        np.testing.assert_array_equal(features.encode(table), [[97, 98]])
    dates = frame(backend, b=[2.0], when=[datetime.date(2020, 1, 1)], a=[1.0])
    np.testing.assert_array_equal(features.encode(dates), [[1, 2]])
    assert nw.from_native(features.table(dates)).columns == ["a", "b"]


def test_the_width_of_an_array_is_checked():
    features = Features.learn(np.zeros((5, 10)))
    with pytest.raises(
        ValueError, match="X has 9 columns, but the rules were learnt from 10; pass the same columns"
    ):
        features.encode(np.zeros((5, 9)))
    with pytest.raises(
        ValueError, match="X has 9 features, but C50Classifier is expecting 10 features as input"
    ):
        features.encode(np.zeros((5, 9)), estimator="C50Classifier")


def test_array_columns_are_matched_by_position_even_if_names_are_known():
    features = Features.learn(pd.DataFrame({"b": [1.0], "a": [2.0]}))
    np.testing.assert_array_equal(features.encode(np.array([[5.0, 6.0]])), [[5, 6]])


def test_array_columns_get_default_names():
    assert Features.learn(np.zeros((2, 3))).names == ("x0", "x1", "x2")
    assert not Features.learn(np.zeros((2, 3))).named
    given_names = Features.learn(np.zeros((2, 2)), names=["age", "size"])
    assert given_names.names == ("age", "size")
    assert given_names.named


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_that_fits_is_not_copied(dtype, order):
    X = np.array([[1, 2], [3, np.nan]], dtype=dtype, order=order)
    assert Features.learn(X).encode(X) is X
    view = X[::2, ::-1]
    assert Features.learn(X).encode(view) is view


def test_codes_that_are_their_own_positions_are_not_copied():
    X = np.array([[0.0, 5.0], [2.0, 6.0], [1.0, 7.0], [9.0, 8.0]])
    features = Features.learn(X[:3], categorical=[0])
    assert features.encode(X) is X  # 9 is not a code, so no value set contains it


def test_a_homogeneous_pandas_frame_is_not_copied():
    X = np.arange(12.0).reshape(4, 3)
    table = pd.DataFrame(X, columns=list("abc"), copy=False)
    assert np.shares_memory(Features.learn(table).encode(table), table.to_numpy())


@pytest.mark.parametrize(
    "X",
    [
        np.arange(6).reshape(3, 2),
        np.arange(6, dtype=np.uint8).reshape(3, 2),
        np.arange(6.0).reshape(3, 2).astype(">f8"),
        [[0, 1], [2, 3], [4, 5]],
        np.arange(6.0).reshape(3, 2).astype(object),
        pd.DataFrame(np.arange(6).reshape(3, 2)),
        np.frombuffer(b"\0" + np.arange(6.0).tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(3, 2),
        np.array([(0.0, 1.0, b""), (2.0, 3.0, b""), (4.0, 5.0, b"")], dtype="f8,f8,S1")[["f0", "f1"]]
        .view()
        .tolist(),
    ],
    ids=["int64", "uint8", "big-endian", "lists", "objects", "ints", "unaligned", "tuples"],
)
def test_other_arrays_become_float64(X):
    matrix = Features.learn(X).encode(X)
    np.testing.assert_array_equal(matrix, np.arange(6.0).reshape(3, 2))
    assert matrix.dtype == np.float64
    assert matrix.dtype.isnative
    assert matrix.flags.aligned


def test_a_strided_field_of_a_structured_array_is_copied_for_the_core():
    packed = np.zeros(4, dtype=[("x", "f8", (2,)), ("tag", "S1")])
    packed["x"] = np.arange(8.0).reshape(4, 2)
    matrix = Features.learn(packed["x"]).encode(packed["x"])
    np.testing.assert_array_equal(matrix, np.arange(8.0).reshape(4, 2))
    assert all(stride % 8 == 0 for stride in matrix.strides)


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_float32_stays_float32(backend):
    values = np.array([0.1, 0.2], dtype=np.float32)
    numbers = frame(backend, a=values, b=values)
    assert Features.learn(numbers).encode(numbers).dtype == np.float32
    mixed = frame(backend, a=values, job=["x", "y"])
    matrix = Features.learn(mixed).encode(mixed)
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix, np.array([[0.1, 0], [0.2, 1]], dtype=np.float32))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, None, 3], dtype="Float64"),
        pd.Series([1, None, 3], dtype="Float32"),
        pd.Series([1, None, 3], dtype="int64[pyarrow]"),
        pd.Series([1, None, 3], dtype=object),
        pd.Series([1, pd.NA, 3], dtype=object),
        pl.Series([1, None, 3]),
        pl.Series([1.0, None, 3.0]),
        pl.Series([decimal.Decimal(1), None, decimal.Decimal(3)]),
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]}-{column.dtype}",
)
def test_missing_numbers_become_nan_whatever_the_column_type(column):
    table = pd.DataFrame({"a": column}) if isinstance(column, pd.Series) else pl.DataFrame({"a": column})
    features = Features.learn(table)
    assert features.kinds == ("numeric",)
    np.testing.assert_array_equal(features.encode(table), [[1], [np.nan], [3]])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series([True, None, False], dtype="bool[pyarrow]"),
        pl.Series([True, None, False]),
    ],
    ids=["pandas", "pyarrow", "polars"],
)
def test_booleans_with_missing_values_are_encoded(column):
    table = pd.DataFrame({"a": column}) if isinstance(column, pd.Series) else pl.DataFrame({"a": column})
    features = Features.learn(table)
    assert features.kinds == ("binary",)
    np.testing.assert_array_equal(features.encode(table), [[1], [np.nan], [0]])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["m", None, "s"], dtype=pd.CategoricalDtype(["s", "m", "l"], ordered=True)),
        pd.Series(["m", None, "s"], dtype=pd.CategoricalDtype(["s", "m", "l"])),
        pl.Series(["m", None, "s"], dtype=pl.Enum(["s", "m", "l"])),
    ],
    ids=["ordered", "unordered", "polars enum"],
)
def test_declared_categories_keep_their_order(column):
    table = pd.DataFrame({"a": column}) if isinstance(column, pd.Series) else pl.DataFrame({"a": column})
    features = Features.learn(table)
    assert features.categories == (("s", "m", "l"),)
    np.testing.assert_array_equal(features.encode(table), [[1], [np.nan], [0]])


def test_polars_categoricals_are_encoded():
    table = pl.DataFrame({"a": pl.Series(["m", None, "s"], dtype=pl.Categorical)})
    features = Features.learn(table)
    codes = features.encode(table)[:, 0]
    assert np.isnan(codes[1])
    assert [features.decode(0, code) for code in codes] == ["m", None, "s"]


def test_number_codes_can_be_declared_categorical_by_name_or_position():
    table = pd.DataFrame({"zip": [9000, 8000, 9000], "age": [1, 2, 3]})
    for which in (["zip"], [0], [-2]):
        features = Features.learn(table, categorical=which)
        assert features.kinds == ("categorical", "numeric")
        assert features.categories == ((8000, 9000), None)
    np.testing.assert_array_equal(
        features.encode(pd.DataFrame({"zip": [8000, 7], "age": [1, 2]})), [[0, 1], [2, 2]]
    )
    np.testing.assert_array_equal(
        features.encode(np.array([[9000.0, 1], [np.nan, 2]])), [[1, 1], [np.nan, 2]]
    )


def test_object_arrays_are_read_column_by_column():
    X = np.array([["nurse", 30, True], [None, np.nan, False]], dtype=object)
    features = Features.learn(X)
    assert features.kinds == ("categorical", "numeric", "binary")
    np.testing.assert_array_equal(features.encode(X), [[0, 30, 1], [np.nan, np.nan, 0]])
    np.testing.assert_array_equal(
        features.encode(np.array([[pd.NA, pd.NA, pd.NA]], dtype=object)), [[np.nan] * 3]
    )
    assert Features.learn([["nurse", 30], ["cook", 40]]).kinds == ("categorical", "numeric")


def test_text_arrays_are_categorical():
    for X in (np.array([["a", "b"], ["c", "b"]]), np.array([[b"a", b"b"], [b"c", b"b"]])):
        features = Features.learn(X)
        assert features.categories == (("a", "c"), ("b",))
        np.testing.assert_array_equal(features.encode(X), [[0, 0], [1, 0]])


def test_a_column_without_any_value_passes_as_missing():
    features = Features.learn(pd.DataFrame({"age": [1.0], "job": ["nurse"]}))
    for nothing in (
        pd.DataFrame({"age": [None], "job": [None]}),
        pl.DataFrame({"age": [None], "job": [None]}),
        np.array([[None, None]], dtype=object),
    ):
        np.testing.assert_array_equal(features.encode(nothing), [[np.nan, np.nan]])


def test_a_table_without_rows_is_encoded():
    features = Features.learn(pd.DataFrame({"age": [1.0], "job": ["nurse"]}))
    assert features.encode(pd.DataFrame({"age": [], "job": []})).shape == (0, 2)
    assert Features.learn(np.zeros((2, 3))).encode(np.zeros((0, 3))).shape == (0, 3)


def test_decode_returns_the_raw_value():
    features = Features(
        ("age", "job", "smokes"), ("numeric", "categorical", "binary"), (None, ("a", "b"), None)
    )
    assert features.decode(0, 3.5) == 3.5
    assert features.decode(1, 1.0) == "b"
    assert features.decode(2, 1.0) is True
    assert features.decode(1, 2.0) is None
    assert features.decode(0, np.nan) is None


@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1, max_size=20))
def test_codes_decode_to_the_text_they_came_from(values):
    column = np.empty((len(values), 1), dtype=object)
    column[:, 0] = values
    features = Features.learn(column, categorical=[0])
    codes = features.encode(column)[:, 0]
    assert [features.decode(0, code) for code in codes] == values


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros(3), ValueError, "Reshape your data"),
        (np.zeros((2, 2, 2)), ValueError, "X has 3 dimension"),
        (np.float64(3), ValueError, "X has 0 dimension"),
        (np.zeros((2, 2), dtype=complex), ValueError, "Complex data not supported"),
        (np.zeros((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        (sparse.csr_array(np.eye(2)), TypeError, "sparse"),
        (sparse.csr_matrix(np.eye(2)), TypeError, "pass X.toarray"),
        (np.array([["a", 1]], dtype=object), None, ""),
        (np.array([["a"], [1]], dtype=object), ValueError, "mixes text .'a'. and numbers .1."),
        (np.array([[{"a": 1}]], dtype=object), TypeError, "argument must be a string or a number"),
        (np.array([[np.zeros(2), 1]], dtype=object), TypeError, "holds a ndarray"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), ValueError, "dtype datetime64"),
        (pd.DataFrame({"d": [datetime.datetime(2020, 1, 1)]}), ValueError, "Column 'd' has type Datetime"),
        (pl.DataFrame({"d": [datetime.date(2020, 1, 1)]}), ValueError, "Column 'd' has type Date"),
        (pl.DataFrame({"d": [[1, 2]]}), ValueError, "Column 'd' has type List"),
        (pd.DataFrame({"d": ["a", 1]}), ValueError, "Column 'd' mixes text"),
        (pl.LazyFrame({"d": [1]}), TypeError, r"pass X.collect\(\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "more than one column called 'a'"),
        (pd.Series([1, 2]), ValueError, "Series whose index does not name columns"),
        (None, ValueError, "X has 0 dimension"),
        ("text", TypeError, "X is a path, and a table in memory is needed"),
        (pd.DataFrame({"d": pd.Categorical([datetime.date(2020, 1, 1)])}), ValueError, "not a category"),
    ],
)
def test_tables_that_rules_cannot_read_are_clear_errors(X, error, message):
    if error is None:
        assert len(Features.learn(X)) == 2
        return
    with pytest.raises(error, match=message):
        Features.learn(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            {"age": ["old"], "job": ["nurse"], "smokes": [1]},
            "Column 'age' holds text such as 'old'.*pass numbers",
        ),
        ({"age": [1.0], "job": [3], "smokes": [1]}, "Column 'job' holds numbers.*text such as 'nurse'"),
        ({"age": [1.0], "job": ["nurse"], "smokes": [0.5]}, "Column 'smokes' is binary and holds 0.5"),
        ({"age": [1.0], "job": ["nurse"], "smokes": ["yes"]}, "Column 'smokes' holds text such as 'yes'"),
    ],
)
@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_a_column_of_another_type_than_in_training_is_a_clear_error(backend, X, message):
    features = Features.learn(frame(backend, age=[1.0], job=["nurse"], smokes=[True]))
    with pytest.raises(ValueError, match=message):
        features.encode(frame(backend, **X))


def test_text_where_number_codes_were_learnt_is_a_clear_error():
    features = Features.learn(pd.DataFrame({"zip": [9000, 8000]}), categorical=["zip"])
    with pytest.raises(
        ValueError, match=r"holds text such as '9000'.*learnt from numeric categories such as 8000, 9000"
    ):
        features.encode(pd.DataFrame({"zip": ["9000"]}))


def test_a_binary_column_accepts_the_numbers_zero_and_one():
    features = Features.learn(np.array([[True], [False]]))
    assert features.kinds == ("binary",)
    assert Features.learn(np.array([[True], [False]]), categorical=[0]) == features
    np.testing.assert_array_equal(features.encode(np.array([[1.0], [0.0], [np.nan]])), [[1], [0], [np.nan]])
    with pytest.raises(ValueError, match="is binary and holds 2"):
        features.encode(np.array([[2.0]]))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"names": ()}, ValueError, "no features"),
        ({"names": ("a", "a")}, ValueError, "Two columns are called 'a'"),
        ({"names": (1,)}, TypeError, "names are text"),
        ({"names": ("a",), "kinds": ("numeric", "numeric")}, ValueError, "one of each per column"),
        ({"names": ("a",), "kinds": ("ordinal",)}, ValueError, "kinds are numeric, binary, categorical"),
        ({"names": ("a",), "kinds": ("categorical",)}, ValueError, "need categories"),
        ({"names": ("a",), "categories": (("x",),)}, ValueError, "others have none"),
        (
            {"names": ("a",), "kinds": ("categorical",), "categories": (("x", "x"),)},
            ValueError,
            "category twice",
        ),
        ({"names": ("a",), "kinds": ("categorical",), "categories": (("x", 1),)}, ValueError, "mixes text"),
        (
            {"names": ("a",), "kinds": ("categorical",), "categories": ((None,),)},
            ValueError,
            "not a category",
        ),
    ],
)
def test_impossible_features_are_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        Features(**arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"categorical": ["job"]}, ValueError, "no column 'job'; the columns are 'x0', 'x1'"),
        ({"categorical": [2]}, ValueError, "no column 2"),
        ({"categorical": [1.5]}, TypeError, "name or its position"),
        ({"names": ["a"]}, ValueError, "2 columns and 1 names"),
    ],
)
def test_impossible_choices_of_columns_are_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        Features.learn(np.zeros((2, 2)), **arguments)


class EncodedTree(ClassifierMixin, BaseEstimator):
    """A minimal estimator that uses Features."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X, y):
        self.features_ = Features.learn(X)
        self.n_features_in_ = len(self.features_)
        if self.features_.named:
            self.feature_names_in_ = np.array(self.features_.names, dtype=object)
        matrix = self.features_.encode(X, estimator=type(self).__name__)
        self.tree_ = DecisionTreeClassifier(random_state=0).fit(matrix, column_or_1d(y, warn=True))
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        check_is_fitted(self)
        return self.tree_.predict(self.features_.encode(X, estimator=type(self).__name__))


def test_an_estimator_built_on_features_passes_scikit_learns_checks():
    results = check_estimator(EncodedTree(), on_skip=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []
    assert sum(result["status"] == "passed" for result in results) > 30


def test_pandas_columns_without_text_names_are_matched_by_position():
    features = Features.learn(pd.DataFrame(np.zeros((2, 3))))
    assert features.names == ("x0", "x1", "x2")
    assert not features.named


def test_equal_features_are_equal_and_hash_alike():
    table = pd.DataFrame({"age": [1.0], "job": ["nurse"]})
    assert Features.learn(table) == Features.learn(table)
    assert hash(Features.learn(table)) == hash(Features.learn(table))


@pytest.mark.parametrize("values", [[1.5, 2.5, 99.0], [1, 2, 99], [True, False, True], ["a", "b", "c"]])
def test_masked_cells_are_missing(values):
    masked = np.ma.MaskedArray(np.array(values).reshape(-1, 1), mask=[[False], [False], [True]])
    features = Features.learn(masked)
    assert features.categories[0] == (("a", "b") if values[0] == "a" else None)
    assert features.kinds[0] == Features.learn(masked.data).kinds[0]
    encoded = features.encode(masked)
    assert np.isnan(encoded[:, 0]).tolist() == [False, False, True]
    assert encoded[:2].tolist() == features.encode(masked.data)[:2].tolist()


def test_a_masked_array_of_single_precision_stays_one():
    masked = np.ma.MaskedArray(np.ones((2, 1), dtype=np.float32), mask=[[True], [False]])
    assert Features.learn(masked).encode(masked).dtype == np.float32


def test_tables_of_three_dimensions_are_refused_with_advice_that_fits():
    with pytest.raises(ValueError, match=r"shape \(4, 3, 2\).* X\.reshape\(len\(X\), -1\)") as error:
        Features.learn(np.zeros((4, 3, 2)))
    assert "reshape(-1, 1)" not in str(error.value)


@pytest.mark.parametrize(
    "labels", [["income", 2000], [2000, 1990], [("a", 1), ("a", 2)], [1.5, 2.5], [pd.Timestamp(0), "b"]]
)
def test_columns_whose_order_could_not_be_checked_are_refused(labels):
    X = pd.DataFrame(np.ones((2, 2)))
    X.columns = pd.Index(labels, tupleize_cols=False)
    with pytest.raises(TypeError, match=r"X\.columns = X\.columns\.map\(str\)"):
        Features.learn(X)


@pytest.mark.parametrize("labels", [[0, 1], [1990, 2000], [3, 7]])
def test_columns_with_ascending_numbers_are_taken_by_position(labels):
    features = Features.learn(pd.DataFrame(np.ones((2, 2)), columns=labels))
    assert not features.named
    assert features.names == ("x0", "x1")


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_columns_that_are_not_needed_may_be_left_out(backend):
    features = Features.learn(frame(backend, age=[1.0, 2.0], job=["a", "b"], pay=[3.0, 4.0]))
    for rows in (frame(backend, pay=[5.0], age=[6.0]), {"pay": 5.0, "age": 6.0}):
        np.testing.assert_array_equal(features.encode(rows, needed=lambda: {0, 2}), [[6.0, np.nan, 5.0]])
        with pytest.raises(ValueError, match="column 'job' is missing"):
            features.encode(rows, needed=lambda: {0, 1})
