"""Tables with some cells changed, of the same kind as the table that they come from."""

from collections.abc import Iterable
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from clausewise.analysis.counterfactual_limits import Floats
from clausewise.data.features import Features
from clausewise.data.table import unmasked


class ChangeableTable:
    """The rows of a caller's table, and changed copies of them.

    Parameters
    ----------
    X : array or DataFrame of shape (n_rows, n_features)
        The caller's table.
    features : Features
        Maps columns to features.
    matrix : ndarray of shape (n_rows, n_features)
        The same rows, encoded.
    """

    def __init__(self, X: Any, features: Features, matrix: Floats) -> None:
        self._features = features
        self._matrix = matrix
        try:
            self._frame: nw.DataFrame[Any] | None = nw.from_native(X, eager_only=True)
        except TypeError:
            self._frame = None
            array = np.asarray(unmasked(X))
            self._has_integers = array.dtype.kind in "iu"
            # Thresholds are doubles, which single precision and integers cannot hold; NumPy's text has a
            # fixed width.
            self._array = array.astype(np.float64 if array.dtype.kind in "fiub" else object)

    @property
    def integer_features(self) -> list[bool]:
        """Whether the column of each feature has an integer type."""
        if self._frame is None:
            return [self._has_integers] * len(self._features)
        return [self._column(self._frame, f).dtype.is_integer() for f in range(len(self._features))]

    def changed(self, matrix: Floats, rows: NDArray[np.int64] | None = None) -> Any:
        """Return rows of the table (all of them unless given) with the values that differ in `matrix`."""
        before = self._matrix if rows is None else self._matrix[rows]
        # A missing value differs from itself, but never changes.
        is_changed = (matrix != before) & ~np.isnan(matrix)
        changed = np.flatnonzero(is_changed.any(axis=0)).tolist()
        cells = {feature: np.flatnonzero(is_changed[:, feature]) for feature in changed}
        if self._frame is None:
            table = self._array.copy() if rows is None else self._array[rows]
            for feature, places in cells.items():
                table[places, feature] = self._decoded(feature, matrix[places, feature])
            return table
        frame = self._frame
        if rows is not None:
            # Rows are repeated, and columns are put together by their labels in pandas.
            frame = nw.maybe_reset_index(frame[rows.tolist(), :])
        columns = []
        for feature, places in cells.items():
            values = self._decoded(feature, matrix[places, feature])
            column = _able_to_hold(self._column(frame, feature), values)
            if column.dtype.is_integer():
                values = values.astype(np.int64)
            # `scatter` keeps missing values and the type, which a new column would not.
            columns.append(column.scatter(places.tolist(), values.tolist()))
        return frame.with_columns(*columns).to_native()

    def _column(self, frame: "nw.DataFrame[Any]", feature: int) -> "nw.Series[Any]":
        names, name = frame.columns, self._features.names[feature]
        # By position, since names in pandas may be numbers.
        return frame[:, names.index(name) if self._features.named and name in names else feature]

    def _decoded(self, feature: int, codes: Floats) -> NDArray[Any]:
        """Return the raw values of encoded ones."""
        categories = self._features.categories[feature]
        if categories is None:
            return codes.astype(bool) if self._features.kinds[feature] == "binary" else codes
        values = np.empty(len(categories), dtype=object)
        values[:] = categories
        return values[codes.astype(np.intp)]


def _able_to_hold(column: "nw.Series[Any]", values: NDArray[Any]) -> "nw.Series[Any]":
    """Return a column with a type that can hold these values exactly."""
    if column.dtype in (nw.Categorical, nw.Enum):
        return _with_categories(column, dict.fromkeys(values.tolist()))
    if values.dtype != np.float64:
        return column
    is_rounded = column.dtype == nw.Float32 and (values.astype(np.float32) != values).any()
    has_fractions = column.dtype.is_integer() and (values != np.floor(values)).any()
    return column.cast(nw.Float64()) if is_rounded or has_fractions else column


def _with_categories(column: "nw.Series[Any]", values: Iterable[Any]) -> "nw.Series[Any]":
    """Return a column whose type declares these categories, too."""
    declared = column.cat.get_categories().to_list()
    further = [value for value in values if value not in declared]
    native = column.to_native()
    if further and hasattr(native, "iloc"):  # pandas and libraries with the same interface
        return nw.from_native(native.cat.add_categories(further), series_only=True)
    if further and column.dtype == nw.Enum:  # narwhals does not pass on the categories
        return nw.from_native(native.cast(type(native.dtype)([*declared, *further])), series_only=True)
    return column
