"""The columns that rules test (names, kinds, categories), and the encoding of tables as matrices."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from clausewise.base.counts import count_of
from clausewise.data.computed import ComputedColumns
from clausewise.data.table import (
    Category,
    Column,
    Kind,
    Matrix,
    RecordTable,
    Table,
    as_table,
    names_in,
    plain_category,
    rows_as_table,
)

KINDS: Final[tuple[Kind, ...]] = ("numeric", "binary", "categorical")

# Codes up to here are exact in a float32 matrix.
_MAX_FLOAT32_CODE = 2**24


@dataclass(frozen=True)
class Features:
    """Names, kinds and categories of the columns of a table, in order.

    Parameters
    ----------
    names : sequence of str
        One distinct name per column.
    kinds : sequence of {"numeric", "binary", "categorical"}, optional
        All numeric unless given. A binary column is a number that is 0 or 1 (false or true).
    categories : sequence, optional
        Per column: the possible values of a categorical column, in display order; None for other columns.
    named : bool, default True
        Whether the names come from the table. If not, columns are only matched by position, and estimators
        set no `feature_names_in_`.
    source : ComputedColumns, optional
        What computes these columns from raw rows, such as series; methods that take a table then take raw
        rows too. It is not compared, and not part of rule files.

    Examples
    --------
    >>> import pandas as pd
    >>> from clausewise import Features, RuleSet
    >>> features = Features.learn(pd.DataFrame({"age": [25, 60, 41], "job": ["nurse", "cook", "nurse"]}))
    >>> features.names, features.kinds, features.categories
    (('age', 'job'), ('numeric', 'categorical'), (None, ('cook', 'nurse')))
    >>> features.encode([{"age": 33, "job": "nurse"}])
    array([[33.,  1.]])
    >>> print(RuleSet.from_text("IF age > 30 AND job != cook THEN yes", features, default="no"))
    1 rule for the classes no, yes; voting confidence, otherwise no
    0  IF age > 30 AND job = nurse THEN yes   (confidence 1.00)
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...] = ()
    categories: tuple[tuple[Category, ...] | None, ...] = ()
    named: bool = True
    source: ComputedColumns | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        fill = object.__setattr__
        fill(self, "names", tuple(self.names))
        fill(self, "kinds", tuple(self.kinds) or ("numeric",) * len(self.names))
        fill(self, "categories", tuple(self.categories) or (None,) * len(self.names))
        if not self.names:
            raise ValueError("There are no features; a table has at least one column.")
        _check_names(self.names)
        if not len(self.names) == len(self.kinds) == len(self.categories):
            raise ValueError(
                f"{len(self.names)} names, {len(self.kinds)} kinds and {len(self.categories)} categories "
                "were given; there must be one of each per column."
            )
        fill(self, "categories", tuple(map(_checked_categories, self.names, self.kinds, self.categories)))

    @classmethod
    def learn(
        cls,
        X: Any,
        categorical: Iterable[str | int] | None = None,
        names: Sequence[str] | None = None,
    ) -> "Features":
        """Learn names, kinds and categories from a table.

        Text, categorical and enum columns are categorical, booleans are binary, the rest is numeric.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_columns)
            A NumPy array, anything that converts to one, or a DataFrame that narwhals knows (pandas,
            polars, …).
        categorical : iterable of str or int, optional
            Names or positions of further categorical columns, for example numeric codes. Booleans stay
            binary.
        names : sequence of str, optional
            Names of the columns of an array (`x0`, `x1`, … otherwise).
        """
        table = as_table(X)
        if table.n_columns == 0:
            raise ValueError(
                f"Found array with 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required."
            )
        given_names = table.names if names is None else tuple(names)
        if given_names is not None and len(given_names) != table.n_columns:
            raise ValueError(f"X has {table.n_columns} columns and {len(given_names)} names were given.")
        shown = given_names or tuple(f"x{i}" for i in range(table.n_columns))
        _check_names(shown)
        chosen = _positions(categorical or (), shown)
        alike = None if chosen else table.kind_of_all()
        if alike is not None:
            return cls(shown, (alike,) * table.n_columns, named=given_names is not None)
        learnt = [_learn_column(table.column(i), i in chosen) for i in range(table.n_columns)]
        kinds, categories = tuple(kind for kind, _ in learnt), tuple(found for _, found in learnt)
        return cls(shown, kinds, categories, named=given_names is not None)

    @classmethod
    def of_computed(cls, source: ComputedColumns, table: Any) -> "Features":
        """Learn names, kinds and categories of columns that `source` computed."""
        return replace(cls.learn(table, names=source.names_of(table)), source=source)

    def __len__(self) -> int:
        return len(self.names)

    def index(self, feature: str | int) -> int:
        """Return the position of a column given by name or position."""
        return next(iter(_positions([feature], self.names)))

    @property
    def n_categories(self) -> NDArray[np.int32]:
        """Number of categories of each column; −1 for a column that is not categorical."""
        return np.array([-1 if values is None else len(values) for values in self.categories], dtype=np.int32)

    def encode(
        self, X: Any, estimator: str | None = None, needed: Callable[[], Collection[int]] | None = None
    ) -> Matrix:
        """Encode a table as one matrix of numbers, with columns in the order of these features.

        Categories become their codes (positions in `categories`), missing values become NaN, and categories
        not seen in training become `len(categories)`, a code that no value set contains. A float32 table
        stays float32, any other becomes float64; an array that already fits is returned without a copy.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_columns), or rows by name
            A DataFrame's columns are matched by name if `named` is true; other columns are ignored. One row
            may be a dictionary, a named tuple or a pandas Series with the columns as its index, and several
            rows a list of these. A one-dimensional sequence with one value per column is one row.
        estimator : str, optional
            Name of the calling scikit-learn estimator. One-dimensional arrays are then refused, and errors
            about the number of columns worded, as scikit-learn does.
        needed : function without parameters, optional
            Returns which features the rows must have if they have names; others may be left out, and are
            missing. All are needed unless given.
        """
        table = as_table(self.columns(X), len(self) if estimator is None else None)
        order = self._order(table, estimator, needed)
        whole = self._unchanged(table, order)
        if whole is not None:
            return whole
        dtype = np.float32 if table.is_float32 and self._codes_fit_float32 else np.float64
        matrix: NDArray[Any] = np.empty((table.n_rows, len(self)), dtype=dtype, order="F")
        for position, name in enumerate(self.names):
            place = order[position]
            matrix[:, position] = (
                math.nan if place is None else self._encode_column(table.column(place), position, name)
            )
        return matrix

    def reads_raw(self, X: Any) -> bool:
        """Return whether these are raw rows, from which `source` computes the columns.

        Everything is, except a DataFrame or rows by name that have all the columns already.
        """
        return self.source is not None and not set(self.names) <= set(names_in(X))

    def columns(self, X: Any) -> Any:
        """Return a table of the columns: what `source` computes from raw rows, anything else unchanged."""
        return self.source.table(X) if self.source is not None and self.reads_raw(X) else X

    def table(self, X: Any) -> Any:
        """Return rows that `encode` reads as a table of these columns alone, for models.

        Rows by name become a DataFrame, one row by position an array or a list with one row. A DataFrame
        loses its other columns. Anything else, and raw rows, are returned unchanged.
        """
        if self.reads_raw(X):
            return X
        rows = rows_as_table(X, len(self))
        frame = nw.from_native(rows, eager_only=True, pass_through=True)
        has_names = self.named and isinstance(frame, nw.DataFrame)
        if has_names and set(self.names) < set(frame.columns):
            return frame.select(*self.names).to_native()
        return rows

    def decode(self, feature: int, code: float) -> Category | None:
        """Return the raw value of a cell of an encoded matrix; None if missing or an unknown category."""
        if math.isnan(code):
            return None
        values = self.categories[feature]
        if values is None:
            return bool(code) if self.kinds[feature] == "binary" else float(code)
        return values[int(code)] if code == int(code) and 0 <= code < len(values) else None

    def _order(
        self, table: Table, estimator: str | None, needed: Callable[[], Collection[int]] | None
    ) -> Sequence[int | None]:
        """Return the position of each feature in the table; None for one that is left out."""
        is_by_name = self.named or isinstance(table, RecordTable)
        if table.names is None or not is_by_name:
            if table.n_columns != len(self):
                raise ValueError(_wrong_width(table.n_columns, len(self), estimator))
            return range(len(self))
        position = {name: i for i, name in enumerate(table.names)}
        missing = [name for name in self.names if name not in position]
        if missing and needed is not None:
            needed_names = {self.names[feature] for feature in needed()}
            missing = [name for name in missing if name in needed_names]
        if missing:
            known = set(self.names)
            unknown = [name for name in table.names if name not in known]
            raise ValueError(_wrong_columns(table.n_columns, len(self), missing, unknown))
        return [position.get(name) for name in self.names]

    def _unchanged(self, table: Table, order: Sequence[int | None]) -> Matrix | None:
        """Return the table's own matrix if its columns are in order and its cells are already the codes."""
        matrix = table.float_matrix()
        if matrix is None or list(order) != list(range(len(self))):
            return None
        for position, (kind, values) in enumerate(zip(self.kinds, self.categories, strict=True)):
            if kind == "binary":
                _require_binary(matrix[:, position], self.names[position])
            elif values is not None and values != tuple(range(len(values))):
                return None
        return matrix if table.n_columns == len(self) else matrix[:, : len(self)]

    @property
    def _codes_fit_float32(self) -> bool:
        return int(self.n_categories.max(initial=0)) < _MAX_FLOAT32_CODE

    def _encode_column(self, column: Column, position: int, name: str) -> NDArray[Any]:
        values = self.categories[position]
        if values is not None:
            return _codes(column, name, values)
        numbers = column.numbers(name)
        if self.kinds[position] == "binary":
            _require_binary(numbers, name)
        return numbers


# --- Categories ---


def _learn_column(column: Column, is_chosen: bool) -> tuple[Kind, tuple[Category, ...] | None]:
    if column.declared is not None:
        return "categorical", column.declared
    if column.is_text:
        found = {value for value in column.values if value is not None}
        # The kind of a column without values is unknown; numeric is harmless.
        return ("categorical", tuple(sorted(found))) if found or is_chosen else ("numeric", None)
    if is_chosen and not column.is_boolean:
        numbers = np.unique(column.values)
        return "categorical", tuple(plain_category(value) for value in numbers[numbers == numbers].tolist())
    return ("binary" if column.is_boolean else "numeric"), None


def ordered_columns(X: Any, features: Features) -> list[bool]:
    """Return which categorical columns of a table are ordered (pandas ordered categoricals)."""
    is_categorical = [values is not None for values in features.categories]
    if not any(is_categorical):
        return is_categorical
    table = as_table(X)
    return [known and table.is_ordered(position) for position, known in enumerate(is_categorical)]


def _codes(column: Column, name: str, categories: tuple[Category, ...]) -> NDArray[np.float64]:
    """Return each value's position in `categories`: NaN if missing, `len(categories)` if unknown."""
    code_of: Mapping[Category, int] = {value: code for code, value in enumerate(categories)}
    values = column.values
    known = (
        next((value for value in values if value is not None), None)
        if column.is_text
        else values[:1].tolist()
    )
    _require_same_type(known, name, categories)
    is_missing = values == None if column.is_text else np.isnan(values.astype(np.float64))  # noqa: E711
    codes = np.array([code_of.get(value, len(categories)) for value in values.tolist()], dtype=np.float64)
    codes[is_missing] = np.nan
    return codes


def _require_same_type(known: Any, name: str, categories: tuple[Category, ...]) -> None:
    if known is None or known == [] or not categories:
        return
    was_text, is_text = isinstance(categories[0], str), isinstance(known, str)
    if was_text and not is_text:
        raise ValueError(
            f"Column '{name}' holds numbers, but the rules were learnt from text such as {categories[0]!r}; "
            "pass text."
        )
    if is_text and not was_text:
        raise ValueError(
            f"Column '{name}' holds text such as {known!r}, but the rules were learnt from numeric "
            f"categories such as {', '.join(map(str, categories[:3]))}; pass numbers."
        )


def _checked_categories(
    name: str, kind: Kind, categories: tuple[Category, ...] | None
) -> tuple[Category, ...] | None:
    if kind not in KINDS:
        raise ValueError(f"Feature '{name}' has kind {kind!r}; the kinds are {', '.join(KINDS)}.")
    if (categories is not None) != (kind == "categorical"):
        raise ValueError(
            f"Feature '{name}' is {kind}; categorical features need categories, others have none."
        )
    if categories is None:
        return None
    values = tuple(plain_category(value) for value in categories)
    if len(set(values)) != len(values):
        raise ValueError(f"Feature '{name}' lists a category twice.")
    if len({isinstance(value, str) for value in values}) > 1:
        raise ValueError(
            f"Feature '{name}' mixes text and numbers in its categories; make them one or the other."
        )
    return values


# --- Checks ---


def require_finite(table: Matrix, features: Features) -> None:
    """Raise a ValueError that names the column of the first infinite value."""
    infinite = np.isinf(table)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise ValueError(
            f"X holds infinity in row {row}, column '{features.names[column]}'; replace inf by a number, or "
            "by NaN if the value is missing."
        )


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{name!r} is not a column name; names are text.")
    if len(set(names)) != len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"Two columns are called '{twice}'; names must differ.")


def _positions(features: Iterable[str | int], names: Sequence[str]) -> set[int]:
    positions = set()
    for feature in features:
        if isinstance(feature, str):
            if feature not in names:
                raise ValueError(f"There is no column '{feature}'; the columns are {_listed(names)}.")
            positions.add(names.index(feature))
        elif isinstance(feature, bool) or not hasattr(feature, "__index__"):
            raise TypeError(f"{feature!r} is not a column; give its name or its position.")
        elif not -len(names) <= feature < len(names):
            raise ValueError(f"There is no column {feature}; there are {len(names)}, counted from 0.")
        else:
            positions.add(int(feature) % len(names))
    return positions


def _require_binary(values: NDArray[Any], name: str) -> None:
    if values.dtype == bool:
        return
    odd = values[~((values == 0) | (values == 1) | np.isnan(values))]
    if len(odd):
        raise ValueError(
            f"Column '{name}' is binary and holds {odd[0]:g}; expected 0, 1, booleans or missing."
        )


def _wrong_width(n_given: int, n_expected: int, estimator: str | None) -> str:
    if estimator is not None:
        return f"X has {n_given} features, but {estimator} is expecting {n_expected} features as input."
    given = count_of(n_given, "column")
    return f"X has {given}, but the rules were learnt from {n_expected}; pass the same columns."


def _wrong_columns(n_given: int, n_expected: int, missing: Sequence[str], unknown: Sequence[str]) -> str:
    wrong = [f"{_columns(missing)} missing"]
    wrong += [f"{_columns(unknown)} unknown"] if unknown else []
    return (
        f"X has {count_of(n_given, 'column')}, but the rules were learnt from {n_expected}: "
        f"{' and '.join(wrong)}. Pass the same columns."
    )


def _columns(names: Sequence[str]) -> str:
    return f"column {_listed(names)} is" if len(names) == 1 else f"columns {_listed(names)} are"


def _listed(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
