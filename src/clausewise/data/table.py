"""Column-wise access to tables: NumPy arrays, and the DataFrames that narwhals supports."""

import math
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import narwhals.stable.v1 as nw  # narwhals keeps this interface stable across releases
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

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

    def float_matrix(self) -> Matrix | None:
        """Return all columns as one matrix if they all have the same float type."""
        dtypes = set(self.frame.schema.values())
        if len(dtypes) != 1 or dtypes.pop() not in (nw.Float32, nw.Float64) or self.n_rows == 0:
            return None
        return ArrayTable(self.frame.to_numpy()).float_matrix()


def as_table(X: Any) -> Table:
    """Return an array or DataFrame as a table of columns, or raise an error that says what is wrong."""
    if sparse.issparse(X):
        raise TypeError("X is a sparse matrix; rules need a dense table, pass X.toarray().")
    if not isinstance(X, np.ndarray | list | tuple):
        frame = _frame(X)
        if frame is not None:
            return frame
    array = _unmasked(X) if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)  # NumPy would turn numbers in a table with text into text
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X has dtype {array.dtype}; pass real numbers.")
    if array.ndim != 2:
        raise ValueError(_wrong_dimensions(array.shape))
    if array.dtype.kind not in "biufOUS":
        raise ValueError(f"X has dtype {array.dtype}; pass numbers, booleans or text.")
    return ArrayTable(array)


def _unmasked(masked: "np.ma.MaskedArray[Any, Any]") -> NDArray[Any]:
    """An array without a mask, in which masked cells are missing."""
    values, mask = np.ma.getdata(masked), np.ma.getmaskarray(masked)
    if not mask.any():
        return values
    if values.dtype.kind == "f":
        return np.where(mask, values.dtype.type(np.nan), values)
    if values.dtype.kind in "iu":
        return np.where(mask, np.nan, values.astype(np.float64))
    objects = values.astype(object)  # booleans and text stay what they are beside missing values
    objects[mask] = None
    return objects


def _wrong_dimensions(shape: tuple[int, ...]) -> str:
    needed = f"X has {len(shape)} dimension(s), a table of shape (n_rows, n_columns) is needed. "
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
    # pandas allows any object as a column name; rules can only show text.
    names = tuple(frame.columns)
    return FrameTable(frame, names if all(isinstance(name, str) for name in names) else None)


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
