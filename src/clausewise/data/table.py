"""Column-wise access to tables: NumPy arrays, the DataFrames that narwhals supports, and rows by name."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.util import find_spec
from numbers import Integral, Real
from typing import Any, Literal

import narwhals.stable.v1 as nw  # narwhals keeps this interface stable across releases
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clausewise.base.frames import Backend, frame_of
from clausewise.data.partition_kinds import kind_of_partitions, need_of_memory

Kind = Literal["numeric", "binary", "categorical"]
Category = str | int | float | bool
Matrix = NDArray[np.float32] | NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """One column: numbers (bool, integer or float array), or text (object array, None where missing).

    `declared` holds the categories of a categorical data type, in their declared order. Booleans with missing
    values are stored as floats, so `is_boolean` records that they are booleans.
    """

    values: NDArray[Any]
    declared: tuple[Category, ...] | None = None
    is_boolean: bool = False

    @property
    def is_text(self) -> bool:
        """Whether the column holds text rather than numbers."""
        return self.values.dtype == object

    def numbers(self, name: str) -> NDArray[Any]:
        """Return the values as numbers; a text column is accepted only if all its values are missing."""
        if not self.is_text:
            return self.values
        present = [value for value in self.values if value is not None]
        if present:
            raise ValueError(
                f"Column '{name}' holds text such as {present[0]!r}, but the rules were learnt from numbers; "
                "pass numbers."
            )
        return np.full(len(self.values), np.nan)


class Table:
    """The interface through which `Features.learn` and `Features.encode` read an input."""

    names: tuple[str, ...] | None
    n_rows: int
    n_columns: int
    is_float32: bool

    def column(self, position: int) -> Column:
        """Return one column."""
        raise NotImplementedError

    def is_ordered(self, _position: int) -> bool:
        """Return whether a column is an ordered categorical one."""
        return False

    def kind_of_all(self) -> Kind | None:
        """Return the kind of all columns if it is known without looking at each of them."""
        return None

    def float_matrix(self) -> Matrix | None:
        """Return all columns as one float matrix if that needs no copy."""
        raise NotImplementedError


class ArrayTable(Table):
    """A two-dimensional array, without column names."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.names = None
        self.n_rows, self.n_columns = array.shape
        self.is_float32 = array.dtype in (np.float32, np.float16)

    def column(self, position: int) -> Column:
        """Return one column."""
        values = self.array[:, position]
        if values.dtype.kind in "US":
            return Column(values.astype(str).astype(object))
        if values.dtype == object:
            return _object_column(values, f"x{position}")
        return Column(values, is_boolean=values.dtype == bool)

    def kind_of_all(self) -> Kind | None:
        """Return the kind that the array's data type implies for every column."""
        kinds: dict[str, Kind] = {"f": "numeric", "i": "numeric", "u": "numeric", "b": "binary"}
        return kinds.get(self.array.dtype.kind)

    def float_matrix(self) -> Matrix | None:
        """Return the array itself if the kernels can read it."""
        array = self.array
        # The kernel walks strides in whole elements of native byte order.
        fits = array.dtype in (np.float32, np.float64) and array.dtype.isnative and array.flags.aligned
        whole_strides = all(stride % array.itemsize == 0 for stride in array.strides)
        return array if fits and whole_strides else None


class FrameTable(Table):
    """A DataFrame."""

    def __init__(self, frame: "nw.DataFrame[Any]", names: tuple[str, ...] | None) -> None:
        self.frame = frame
        self.names = names
        self.n_rows, self.n_columns = frame.shape
        numeric = [dtype for dtype in frame.schema.values() if dtype.is_numeric()]
        self.is_float32 = bool(numeric) and all(dtype == nw.Float32 for dtype in numeric)

    def column(self, position: int) -> Column:
        """Return one column."""
        series = self.frame[:, position]
        return _series_column(series, str(series.name))

    def is_ordered(self, position: int) -> bool:
        """Return whether a column is an ordered categorical one, as pandas and pyarrow have them."""
        series = self.frame[:, position].to_native()
        dtype = series.dtype if hasattr(series, "dtype") else series.type
        return getattr(dtype, "ordered", False) is True

    def float_matrix(self) -> Matrix | None:
        """Return all columns as one matrix if they all have the same float type."""
        dtypes = set(self.frame.schema.values())
        if len(dtypes) != 1 or dtypes.pop() not in (nw.Float32, nw.Float64) or self.n_rows == 0:
            return None
        return ArrayTable(self.frame.to_numpy()).float_matrix()


class RecordTable(Table):
    """Rows that were given by name, as mappings from column names to values; all have the same columns."""

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        self.records = records
        self.names: tuple[str, ...] = tuple(records[0])
        self.n_rows, self.n_columns = len(records), len(self.names)
        self.is_float32 = False
        for number, record in enumerate(records):
            missing = next((name for name in self.names if name not in record), None)
            if missing is not None:
                raise ValueError(
                    f"Row {number} of X has no '{missing}', but row 0 has; pass None if the value is missing."
                )

    def values(self, name: str) -> list[Any]:
        """Return the values of one column."""
        return [record[name] for record in self.records]

    def column(self, position: int) -> Column:
        """Return one column."""
        name = self.names[position]
        cells = np.empty(self.n_rows, dtype=object)
        cells[:] = self.values(name)
        return _object_column(cells, name)

    def float_matrix(self) -> Matrix | None:
        """Return None, since the cells are Python objects."""
        return None


def as_table(X: Any, row_length: int | None = None) -> Table:
    """Return rows as a table of columns, or raise an error that says what is wrong.

    Parameters
    ----------
    X : array, DataFrame, or rows by name
        Rows by name are a mapping, a named tuple or a pandas Series (one row), or a list of them.
    row_length : int, optional
        A one-dimensional sequence of this length is taken as one row; an error unless given.
    """
    if sparse.issparse(X):
        raise TypeError("X is a sparse matrix; rules need a dense table, pass X.toarray().")
    records = _records(X)
    if records is not None:
        return RecordTable(records)
    if not isinstance(X, np.ndarray | list | tuple):
        kind = kind_of_partitions(X)
        if kind is not None:
            raise TypeError(need_of_memory(kind))
        frame = _frame(X)
        if frame is not None:
            return frame
    X = unmasked(X)
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)  # NumPy would turn numbers in a table with text into text
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X has dtype {array.dtype}; pass real numbers.")
    if array.ndim == 1 and len(array) == row_length and isinstance(X, np.ndarray | list | tuple):
        array = array[np.newaxis]
    if array.ndim != 2:
        raise ValueError(_wrong_dimensions(array.shape, row_length))
    if array.dtype.kind not in "biufOUS":
        raise ValueError(f"X has dtype {array.dtype}; pass numbers, booleans or text.")
    return ArrayTable(array)


def unmasked(X: Any) -> Any:
    """Return a masked array as an array in which masked cells are missing; anything else unchanged.

    The entries of a list may be masked arrays, too.
    """
    if isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        return [unmasked(row) for row in X]
    if not isinstance(X, np.ma.MaskedArray):
        return X
    values, mask = np.ma.getdata(X), np.ma.getmaskarray(X)
    if not mask.any():
        return values
    if values.dtype.kind == "f":
        return np.where(mask, values.dtype.type(np.nan), values)
    if values.dtype.kind in "iu":
        return np.where(mask, np.nan, values.astype(np.float64))
    objects = values.astype(object)  # booleans and text stay what they are beside missing values
    objects[mask] = np.nan  # what scikit-learn's imputers look for
    return objects


def rows_as_table(X: Any, row_length: int | None = None) -> Any:
    """Return rows as a table that models read too; see `as_table`.

    Rows by name become a DataFrame, one row by position an array with one row. Tables are returned unchanged.
    """
    records = _records(X)
    if records is not None:
        table = RecordTable(records)
        return frame_of({name: table.values(name) for name in table.names}, _installed_backend())
    if isinstance(X, np.ndarray) and X.ndim == 1 and len(X) == row_length:
        return X[np.newaxis]
    if isinstance(X, list | tuple) and len(X) == row_length and not any(map(_has_parts, X)):
        return [X]
    return X


def names_in(X: Any) -> Collection[Any]:
    """Return the names of the columns of a DataFrame, or of rows by name; none for anything else."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame.columns
    row = X[0] if isinstance(X, list) and X else X
    if hasattr(row, "_fields"):  # a named tuple
        return row._fields  # type: ignore[no-any-return]
    is_series = hasattr(row, "iloc") and not hasattr(row, "columns")
    return list(row.keys()) if isinstance(row, Mapping) or is_series else ()


def _has_parts(value: Any) -> bool:
    """Return whether a value is a list, an array or the like, rather than one cell."""
    return hasattr(value, "__len__") and not isinstance(value, str) and np.shape(value) != ()


def _records(X: Any) -> list[Mapping[str, Any]] | None:
    """Return rows that are given by name; None for anything else."""
    if isinstance(X, list) or (isinstance(X, tuple) and not hasattr(X, "_asdict")):
        if len(X) == 0 or _record(X[0]) is None:
            return None
        records = [_record(row) for row in X]
        if None in records:
            raise TypeError("X mixes rows by name with other values; pass all rows in the same form.")
        return records  # type: ignore[return-value]
    record = _record(X)
    return None if record is None else [record]


def _record(row: Any) -> Mapping[str, Any] | None:
    """Return a row that is given by name as a mapping; None for anything else."""
    if hasattr(row, "_asdict"):  # a named tuple
        return row._asdict()  # type: ignore[no-any-return]
    if hasattr(row, "iloc") and hasattr(row, "index") and not hasattr(row, "columns"):  # a pandas Series
        if not row.index.is_unique or not all(isinstance(name, str) for name in row.index):
            raise ValueError(
                "X is a Series whose index does not name columns. Pass X.to_numpy() if it is one row, or a "
                "DataFrame if it is one column."
            )
        return dict(zip(row.index, row.tolist(), strict=True))
    if not isinstance(row, Mapping) or sparse.issparse(row):  # SciPy's DOK matrices are dictionaries
        return None
    for name, value in row.items():
        if not isinstance(name, str):
            raise TypeError(f"{name!r} is not a column name; names are text.")
        if _has_parts(value):
            raise TypeError(
                f"X['{name}'] is a {type(value).__name__}, but a dictionary is one row, with one value per "
                "column; pass a DataFrame instead of a dictionary of columns."
            )
    return row


def _installed_backend() -> Backend:
    backends: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")
    found = next((name for name in backends if find_spec(name) is not None), None)
    if found is None:
        raise ImportError(
            "A model reads rows by name as a DataFrame; install pandas, or pass the model's labels instead."
        )
    return found


def _wrong_dimensions(shape: tuple[int, ...], row_length: int | None) -> str:
    needed = f"X has {len(shape)} dimension(s), a table of shape (n_rows, n_columns) is needed. "
    if len(shape) == 1 and row_length is not None:
        needed = f"X has {shape[0]} values in one dimension, but one row has {row_length}. "
    if len(shape) < 2:
        return (
            f"{needed}Reshape your data: X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one "
            "row."
        )
    return (
        f"{needed}X has shape {shape}; if its first axis counts the rows, pass X.reshape(len(X), -1), so "
        "that every value of a row is a column."
    )


def _frame(X: Any) -> FrameTable | None:
    if hasattr(X, "iloc") and hasattr(X, "columns") and not X.columns.is_unique:
        twice = X.columns[X.columns.duplicated()][0]
        raise ValueError(f"X has more than one column called {twice!r}; rename them.")
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        if hasattr(X, "collect"):
            raise TypeError(f"X is a {type(X).__name__}, which is lazy; pass X.collect().") from None
        return None
    return FrameTable(frame, _names_of(frame.columns))


def _names_of(labels: Sequence[Any]) -> tuple[str, ...] | None:
    """Return the names of columns; None for ascending numbers, which pandas gives to columns without names.

    pandas allows any object as a name, but rules can only show text. Columns without names are taken by
    position, which must not hide that they are in another order.
    """
    if all(isinstance(label, str) for label in labels):
        return tuple(labels)
    if all(isinstance(label, Integral) for label in labels) and list(labels) == sorted(labels):
        return None
    shown = next(label for label in labels if not isinstance(label, str))
    raise TypeError(
        f"X has column names that are not text, such as {shown!r}; convert them: "
        "X.columns = X.columns.map(str)."
    )


def _series_column(series: "nw.Series[Any]", name: str) -> Column:
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        # polars and pyarrow store missing values separately; as floats they become NaN.
        target = nw.Float32 if dtype == nw.Float32 else nw.Float64
        return Column(series.cast(target).to_numpy(), is_boolean=dtype == nw.Boolean)
    if dtype in (nw.Categorical, nw.Enum):
        declared = tuple(plain_category(value) for value in series.cat.get_categories().to_list())
        return Column(_objects(series), declared)
    if dtype == nw.String:
        return Column(_objects(series))
    if dtype in (nw.Object, nw.Unknown):
        return _object_column(_objects(series), name)
    raise ValueError(
        f"Column '{name}' has type {dtype}, which rules cannot test; convert it to numbers or text, or drop "
        "the column."
    )


def _objects(series: "nw.Series[Any]") -> NDArray[Any]:
    """Return the values as Python objects, None where missing."""
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    values[series.is_null().to_numpy()] = None
    return values


def _object_column(values: NDArray[Any], name: str) -> Column:
    """Read a column of Python objects: all numbers, all booleans or all text, apart from missing values."""
    cells = [None if is_missing(value) else value for value in values]
    present = [value for value in cells if value is not None]
    for value in present:
        if not isinstance(value, str | np.bool_ | Real | Decimal):
            raise TypeError(
                f"Column '{name}' holds a {type(value).__name__}; each argument must be a string or a number."
            )
    n_text = sum(isinstance(value, str) for value in present)
    if 0 < n_text < len(present):
        text = next(value for value in present if isinstance(value, str))
        number = next(value for value in present if not isinstance(value, str))
        raise ValueError(
            f"Column '{name}' mixes text ({text!r}) and numbers ({number!r}); make it one or the other."
        )
    if n_text or not present:
        column = np.empty(len(cells), dtype=object)
        column[:] = cells
        return Column(column)
    numbers = np.array([math.nan if value is None else float(value) for value in cells])
    return Column(numbers, is_boolean=all(isinstance(value, bool | np.bool_) for value in present))


def plain_category(value: Any) -> Category:
    """Return a category as a plain Python value; whole floats become integers, which are easier to read."""
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, str | int | float) or not (isinstance(plain, str) or math.isfinite(plain)):
        raise ValueError(f"{value!r} is not a category; categories are text, finite numbers or booleans.")
    return int(plain) if isinstance(plain, float) and plain.is_integer() else plain


def is_missing(value: Any) -> bool:
    """Return whether a cell is missing: None, NaN or pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA cannot be compared
        return True
    except ValueError:  # an array in a cell
        return False
