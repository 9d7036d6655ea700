"""Rows that a browser sends, as a table of the same kind as the one that the network is known to read."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import Category, Features

RawRow = list[Category | None]
RawRows = list[RawRow]


@dataclass(frozen=True)
class ChangedRow:
    """A row of the data, by its number, with other values for some features, by their places."""

    number: int
    changes: Mapping[int, Category | None]


def read_rows(value: Any, features: Features, n_rows: int = 0) -> list[RawRow | ChangedRow]:
    """The rows of a request: lists of raw values, one per feature, None where missing, or changed rows.

    The latter name one of the `n_rows` rows of the data.
    """
    if not isinstance(value, list) or not value:
        raise ValueError(
            f"rows is {_shown(value)}; expected a list with at least one row, each a list of values."
        )
    return [
        _read_changed_row(row, f"rows[{number}]", features, n_rows)
        if isinstance(row, dict)
        else _read_row(row, f"rows[{number}]", features)
        for number, row in enumerate(value)
    ]


def _read_changed_row(row: dict[str, Any], where: str, features: Features, n_rows: int) -> ChangedRow:
    if set(row) != {"number", "changes"}:
        raise ValueError(f'{where} is {_shown(row)}; expected the keys "number" and "changes" alone.')
    number, changes = row["number"], row["changes"]
    if not _is_place(number, n_rows):
        raise ValueError(f"{where} has the number {_shown(number)}; expected that of one of {n_rows:,} rows.")
    if not isinstance(changes, list):
        raise ValueError(f"{where} has {_shown(changes)} as changes; expected a list of pairs.")
    read: dict[int, Category | None] = {}
    for pair in changes:
        if not isinstance(pair, list) or len(pair) != 2 or not _is_place(pair[0], len(features)):
            raise ValueError(
                f"{where} has the change {_shown(pair)}; expected a list of the place of a feature, from 0 "
                f"to {len(features) - 1}, and a value."
            )
        if pair[0] in read:
            raise ValueError(f"{where} changes feature {pair[0]} twice; expected one value per feature.")
        read[pair[0]] = _read_value(pair[1], where, pair[0], features)
    return ChangedRow(number, read)


def _is_place(value: Any, n: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < n


def _read_row(row: Any, where: str, features: Features) -> RawRow:
    if not isinstance(row, list):
        raise ValueError(f"{where} is {_shown(row)}; expected a list of {len(features)} values.")
    if len(row) != len(features):
        raise ValueError(f"{where} has {len(row)} values; expected {len(features)}, one per feature.")
    return [_read_value(value, where, place, features) for place, value in enumerate(row)]


def _read_value(value: Any, where: str, place: int, features: Features) -> Category | None:
    if value is None:
        return None
    categories = features.categories[place]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if categories is not None:
        # A category that nobody knows is allowed: what it means is the network's business.
        is_text = not categories or isinstance(categories[0], str)
        fits = isinstance(value, str) if is_text else is_number or isinstance(value, bool)
        expected = "text" if is_text else "a number"
    elif features.kinds[place] == "binary":
        fits = isinstance(value, bool) or (is_number and value in (0, 1))
        expected = "true, false, 0 or 1"
    else:
        fits, expected = is_number, "a number"
    if not fits:
        raise ValueError(
            f"{where} has {_shown(value)} for {_shown(features.names[place])}; expected {expected}, or null "
            "where it is missing."
        )
    if is_number and not _is_finite(value):
        raise ValueError(f"{where} has a number for {_shown(features.names[place])} that no double can hold.")
    return value  # type: ignore[no-any-return]


def _is_finite(number: int | float) -> bool:
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def _shown(value: Any, most: int = 60) -> str:
    if isinstance(value, list | dict):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    if isinstance(value, int) and abs(value) >= 2**64:
        return "a huge number"  # Python refuses to print thousands of digits
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}…"


@dataclass(frozen=True, eq=False)
class TableLike:
    """Makes tables like one that is there: the same library, columns, order and types.

    A network behind a column transformer reads columns by name, one behind an encoder distinguishes `None`
    from NaN: it should see rows as it has always seen them.

    Parameters
    ----------
    X : array or DataFrame of shape (n_rows, n_features)
        The table that is there, one that `features.encode` takes.
    features : Features
        Says which column is which.
    """

    X: Any
    features: Features

    def table(self, rows: Sequence[RawRow | ChangedRow]) -> Any:
        """These rows, with values in the order of the features."""
        return self._table_of([self._changed(row) if isinstance(row, ChangedRow) else row for row in rows])

    def _changed(self, row: ChangedRow) -> RawRow:
        values = self.raw_row(row.number)
        for place, value in row.changes.items():
            values[place] = value
        return values

    def raw_row(self, number: int) -> RawRow:
        """A row of the table that is there, its values in the order of the features.

        NaN, infinite numbers and categories that the rules do not know are as they are.
        """
        frame = self._frame
        if frame is None:
            return [_plain_cell(cell) for cell in np.asarray(self.X[number : number + 1])[0]]
        values: RawRow = [None] * len(self.features)
        for column, place in zip(_columns(frame), self._places, strict=True):
            cell = _plain_cell(column[number])
            # Among categories, pandas writes NaN for none of them.
            is_missing = column.dtype in (nw.Categorical, nw.Enum) and _is_unequal_to_itself(cell)
            values[place] = None if is_missing else cell
        return values

    def _table_of(self, rows: RawRows) -> Any:
        frame = self._frame
        if frame is None:
            return _array_like(self.X, rows, self._missing)
        values = list(zip(*rows, strict=True))
        given = [list(values[place]) for place in self._places]
        if hasattr(self.X, "iloc"):  # pandas and those that follow it
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
    def _places(self) -> list[int]:
        """For each column of the DataFrame, which feature it is."""
        assert self._frame is not None
        names = self._frame.columns
        if not self.features.named or not all(isinstance(name, str) for name in names):
            return list(range(len(self.features)))
        return [self.features.index(name) for name in names]

    @cached_property
    def _missing(self) -> list[Any]:
        """For each column of Python objects, what stands there for a missing value; None if nothing does."""
        if hasattr(self.X, "iloc"):
            return [_missing_in(self.X.iloc[:, place]) for place in range(self.X.shape[1])]
        return [_missing_in(column) for column in np.asarray(self.X).T]


def _plain_cell(cell: Any) -> Any:
    """A cell as Python has it; None for what pandas calls NA."""
    plain = cell.item() if isinstance(cell, np.generic) else cell
    return None if _is_unequal_to_itself(plain) and not isinstance(plain, float) else plain


def _missing_in(column: Any) -> Any:
    if not _holds_objects(column.dtype):
        return None
    values = np.asarray(column, dtype=object)
    return next((value for value in values if value is None or _is_unequal_to_itself(value)), None)


def _holds_objects(dtype: Any) -> bool:
    """Whether cells are Python objects; pandas' own types call themselves objects too."""
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _is_unequal_to_itself(value: Any) -> bool:
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA refuses to be compared, and is missing
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
    # Whole numbers cannot be missing or fractions; then these rows are wider than the others.
    return cast if dtype.kind == "f" or np.array_equal(cast, numbers) else numbers


def _columns(frame: "nw.DataFrame[Any]") -> "list[nw.Series[Any]]":
    return [frame[:, place] for place in range(frame.shape[1])]


def _pandas_like(
    X: Any, frame: "nw.DataFrame[Any]", given: Sequence[list[Category | None]], missing: Sequence[Any]
) -> Any:
    library = frame.implementation.to_native_namespace()
    columns = {}
    for place, (series, cells) in enumerate(zip(_columns(frame), given, strict=True)):
        own = X.iloc[:, place].dtype
        # pandas' own types can hold missing values, those of NumPy cannot.
        values, wanted = _typed(series.dtype, cells, can_miss=not isinstance(own, np.dtype))
        if _holds_objects(own):
            values = [missing[place] if value is None else value for value in values]
        elif series.dtype in (nw.Categorical, nw.Enum):
            _require_declared(values, series)
        dtype = own if wanted == series.dtype else "float64"
        columns[X.columns[place]] = library.Series(values, dtype=dtype)
    return library.DataFrame(columns)


def _series_like(series: "nw.Series[Any]", cells: list[Category | None]) -> "nw.Series[Any]":
    values, dtype = _typed(series.dtype, cells, can_miss=True)
    if dtype == nw.Enum:  # narwhals does not hand its categories on
        _require_declared(values, series)
        own = series.to_native()
        return nw.from_native(type(own)(series.name, values, dtype=own.dtype), series_only=True)
    return nw.new_series(series.name, values, dtype, backend=series.implementation)


def _require_declared(values: Sequence[Any], series: "nw.Series[Any]") -> None:
    """A type with declared categories cannot hold others; pandas would take them for missing values."""
    declared = set(series.cat.get_categories().to_list())
    for value in values:
        if value is not None and value not in declared:
            raise ValueError(
                f"{_shown(value)} is none of the categories that column {_shown(series.name)} of the data "
                "declares, so the network cannot be asked about it."
            )


def _typed(dtype: Any, cells: list[Category | None], can_miss: bool) -> tuple[list[Any], Any]:
    """Values as a column of this type holds them, and the type; a wider one where this one cannot."""
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
