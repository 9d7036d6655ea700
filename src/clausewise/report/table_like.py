"""Tables built from requested rows, of the same kind as the table that the network was given."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import Features
from clausewise.data.table import Category
from clausewise.report.request_rows import ChangedRow, RawRow, RawRows, shown_value


@dataclass(frozen=True, eq=False)
class TableLike:
    """Builds tables like a given one, with the same library, columns, order and types.

    The network should get rows in the form that it was trained on: a column transformer reads columns by
    name, an encoder distinguishes `None` from NaN.

    Parameters
    ----------
    X : array or DataFrame of shape (n_rows, n_features)
        The given table, which `features.encode` accepts.
    features : Features
        Maps columns to features.
    """

    X: Any
    features: Features

    def table(self, rows: Sequence[RawRow | ChangedRow]) -> Any:
        """Return a table of these rows, whose values are in the order of the features."""
        return self._table_of([self._changed(row) if isinstance(row, ChangedRow) else row for row in rows])

    def _changed(self, row: ChangedRow) -> RawRow:
        values = self.raw_row(row.number)
        for position, value in row.changes.items():
            values[position] = value
        return values

    def raw_row(self, number: int) -> RawRow:
        """Return a row of the given table, its values in the order of the features.

        NaN, infinite numbers and categories unknown to the rules are kept.
        """
        frame = self._frame
        if frame is None:
            return [_plain_cell(cell) for cell in np.asarray(self.X[number : number + 1])[0]]
        values: RawRow = [None] * len(self.features)
        for column, position in zip(_columns(frame), self._feature_positions, strict=True):
            cell = _plain_cell(column[number])
            # In categorical columns, pandas writes missing values as NaN.
            is_missing = column.dtype in (nw.Categorical, nw.Enum) and _is_unequal_to_itself(cell)
            values[position] = None if is_missing else cell
        return values

    def _table_of(self, rows: RawRows) -> Any:
        frame = self._frame
        if frame is None:
            return _array_like(self.X, rows, self._missing)
        values = list(zip(*rows, strict=True))
        given = [list(values[position]) for position in self._feature_positions]
        if hasattr(self.X, "iloc"):  # pandas and libraries with the same interface
            return _pandas_like(self.X, frame, given, self._missing)
        backend = frame.implementation
        pairs = zip(_columns(frame), given, strict=True)
        return nw.from_dict(
            {one.name: _series_like(one, cells) for one, cells in pairs}, backend=backend
        ).to_native()

    @cached_property
    def _frame(self) -> "nw.DataFrame[Any] | None":
        if isinstance(self.X, np.ndarray):
            return None
        found = nw.from_native(self.X, eager_only=True, pass_through=True)
        return found if isinstance(found, nw.DataFrame) else None

    @cached_property
    def _feature_positions(self) -> list[int]:
        """The position of the feature of each column of the DataFrame."""
        assert self._frame is not None
        names = self._frame.columns
        if not self.features.named or not all(isinstance(name, str) for name in names):
            return list(range(len(self.features)))
        return [self.features.index(name) for name in names]

    @cached_property
    def _missing(self) -> list[Any]:
        """The value that marks missing cells in each column of Python objects; None if there is none."""
        if hasattr(self.X, "iloc"):
            return [_missing_in(self.X.iloc[:, position]) for position in range(self.X.shape[1])]
        return [_missing_in(column) for column in np.asarray(self.X).T]


def _plain_cell(cell: Any) -> Any:
    """Return a cell as a plain Python value; None for pandas.NA."""
    plain = cell.item() if isinstance(cell, np.generic) else cell
    return None if _is_unequal_to_itself(plain) and not isinstance(plain, float) else plain


def _missing_in(column: Any) -> Any:
    if not _holds_objects(column.dtype):
        return None
    values = np.asarray(column, dtype=object)
    return next((value for value in values if value is None or _is_unequal_to_itself(value)), None)


def _holds_objects(dtype: Any) -> bool:
    """Whether cells are Python objects; pandas' extension types have kind "O" too."""
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _is_unequal_to_itself(value: Any) -> bool:
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA, which cannot be compared, is missing
        return True


def _array_like(X: Any, rows: RawRows, missing: Sequence[Any]) -> NDArray[Any]:
    dtype = np.asarray(X[:0]).dtype
    if dtype.kind in "US" and not any(value is None for row in rows for value in row):
        return np.array(rows, dtype=str)
    if dtype.kind in "OUS":
        table = np.empty((len(rows), len(missing)), dtype=object)
        for number, row in enumerate(rows):
            pairs = zip(row, missing, strict=True)
            table[number] = [mark if value is None else value for value, mark in pairs]
        return table
    numbers = np.array([[np.nan if value is None else value for value in row] for row in rows], np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        cast = numbers.astype(dtype)
    # Integers cannot hold missing values or fractions; then the table has doubles instead.
    return cast if dtype.kind == "f" or np.array_equal(cast, numbers) else numbers


def _columns(frame: "nw.DataFrame[Any]") -> "list[nw.Series[Any]]":
    return [frame[:, position] for position in range(frame.shape[1])]


def _pandas_like(
    X: Any, frame: "nw.DataFrame[Any]", given: Sequence[list[Category | None]], missing: Sequence[Any]
) -> Any:
    library = frame.implementation.to_native_namespace()
    columns = {}
    for position, (series, cells) in enumerate(zip(_columns(frame), given, strict=True)):
        own = X.iloc[:, position].dtype
        # pandas' extension types can hold missing values, NumPy's types cannot.
        values, wanted = _typed(series.dtype, cells, can_miss=not isinstance(own, np.dtype))
        if _holds_objects(own):
            values = [missing[position] if value is None else value for value in values]
        elif series.dtype in (nw.Categorical, nw.Enum):
            _require_declared(values, series)
        dtype = own if wanted == series.dtype else "float64"
        columns[X.columns[position]] = library.Series(values, dtype=dtype)
    return library.DataFrame(columns)


def _series_like(series: "nw.Series[Any]", cells: list[Category | None]) -> "nw.Series[Any]":
    values, dtype = _typed(series.dtype, cells, can_miss=True)
    if dtype == nw.Enum:  # narwhals does not pass on the categories
        _require_declared(values, series)
        own = series.to_native()
        return nw.from_native(type(own)(series.name, values, dtype=own.dtype), series_only=True)
    return nw.new_series(series.name, values, dtype, backend=series.implementation)


def _require_declared(values: Sequence[Any], series: "nw.Series[Any]") -> None:
    """Refuse values outside the declared categories of a type; pandas would make them missing."""
    declared = set(series.cat.get_categories().to_list())
    for value in values:
        if value is not None and value not in declared:
            raise ValueError(
                f"{shown_value(value)} is not one of the categories that column {shown_value(series.name)} "
                "of the data declares, so the network cannot be asked about it."
            )


def _typed(dtype: Any, cells: list[Category | None], can_miss: bool) -> tuple[list[Any], Any]:
    """Return values for a column of this type, and the type, or a wider one if this type cannot hold them."""
    known: list[Any] = [value for value in cells if value is not None]
    is_held = can_miss or len(known) == len(cells)
    if dtype == nw.Boolean and is_held:
        return [None if value is None else bool(value) for value in cells], dtype
    if dtype.is_integer() and is_held and all(value == math.floor(value) for value in known):
        return [None if value is None else int(value) for value in cells], dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        numbers = [None if value is None else float(value) for value in cells]
        return numbers, dtype if dtype.is_float() else nw.Float64()
    return list(cells), dtype
