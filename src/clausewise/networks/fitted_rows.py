"""Rows in the form in which a model was fitted: a DataFrame with its column names, or an array."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from clausewise.base.frames import frame_of


def rows_as_fitted(rows: Any, names: Sequence[str] | None, n_inputs: int | None) -> Any:
    """Return rows as a model takes them that was fitted to columns with these names.

    Parameters
    ----------
    rows : array or DataFrame
        What the caller has.
    names : sequence of str or None
        Names of the columns of the DataFrame that the model was fitted to; None if there were none.
    n_inputs : int or None
        Number of columns that the model was fitted to; None if unknown. If it is known and names are not, the
        model was fitted to an array.
    """
    frame = nw.from_native(rows, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        array = rows if hasattr(rows, "shape") else np.asarray(rows)
        return array if names is None else _named(array, [str(name) for name in names])
    if names is None:
        is_all_numbers = all(dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values())
        return frame.to_numpy() if n_inputs is not None and is_all_numbers else rows
    wanted = [str(name) for name in names]
    if wanted == frame.columns or not set(wanted) <= set(frame.columns):
        return rows  # a model that misses a column says so itself
    return frame.select(wanted).to_native()


def as_pandas(rows: Any) -> Any:
    """Return a DataFrame as one of pandas, which all libraries read; anything else unchanged."""
    frame = nw.from_native(rows, eager_only=True, pass_through=True)
    is_other = isinstance(frame, nw.DataFrame) and not frame.implementation.is_pandas()
    return frame.to_pandas() if is_other else rows


def with_categories(rows: Any) -> Any:
    """Return a DataFrame as one of pandas in which text columns are categories; anything else unchanged."""
    table = as_pandas(rows)
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return table
    text = [name for name, dtype in frame.schema.items() if dtype in (nw.String, nw.Object)]
    return table.astype(dict.fromkeys(text, "category")) if text else table


def _named(array: Any, names: list[str]) -> Any:
    """Return an array as a DataFrame of pandas with these column names, if that is possible."""
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.shape[1] != len(names):
        return array
    if find_spec("pandas") is None:
        return array
    return frame_of({name: _column(array[:, place]) for place, name in enumerate(names)}, "pandas")


def _column(values: NDArray[Any]) -> Any:
    """Return a column of objects as a list, so that pandas finds its type."""
    return values.tolist() if values.dtype == object else values
