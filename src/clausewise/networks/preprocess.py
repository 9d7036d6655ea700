"""From raw rows to the numbers that a network reads, and from its input columns back to the raw columns."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

from clausewise.base.parameters import NOTHING, Constraint
from clausewise.data.table import unmasked

Preprocess = Any
"""An object with `transform`, a function of the rows, or a list of such steps."""

# The columns that they read are categorical, even if they contain numbers.
_CATEGORY_ENCODERS = (OneHotEncoder, OrdinalEncoder, TargetEncoder)


def _is_step(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_step, value))
    return hasattr(value, "transform") or (callable(value) and not isinstance(value, type))


PREPROCESS = NOTHING | Constraint(
    "a fitted transformer (an object with `transform`), a function from rows to an array, or a list of these",
    _is_step,
)


@dataclass(frozen=True)
class InputColumn:
    """One column that the network reads.

    Attributes
    ----------
    sources : tuple of str
        The raw columns that it is computed from.
    is_category : bool
        Whether an encoder of categories computes it.
    """

    sources: tuple[str, ...]
    is_category: bool = False


def as_transform(preprocess: Preprocess) -> Callable[[Any], Any]:
    """Return `preprocess`, allowed by `PREPROCESS`, as one function of rows."""
    if isinstance(preprocess, list | tuple):
        return _Chain(tuple(as_transform(step) for step in preprocess))
    return preprocess.transform if hasattr(preprocess, "transform") else preprocess  # type: ignore[no-any-return]


def first_step(preprocess: Preprocess) -> Any:
    """Return the first step of preprocessing; None without any."""
    return preprocess[0] if isinstance(preprocess, list | tuple) and preprocess else preprocess


@dataclass(frozen=True)
class _Chain:
    """Steps applied one after the other; a class, because closures cannot be pickled."""

    steps: tuple[Callable[[Any], Any], ...]

    def __call__(self, rows: Any) -> Any:
        for step in self.steps:
            rows = step(rows)
        return rows


def count_rows(X: Any) -> int:
    """Return the number of rows of a table or an array of any shape."""
    if hasattr(X, "shape"):
        if len(X.shape) == 0:
            raise ValueError("X is a single number; pass rows.")
        return int(X.shape[0])
    if not hasattr(X, "__len__"):
        raise TypeError(f"X is a {type(X).__name__}; pass an array or a DataFrame of rows.")
    return len(X)


def rows_of(X: Any, rows: slice) -> Any:
    """Return some rows of a table, as a table of the same type."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "slice") and hasattr(X, "column_names"):  # pyarrow
        return X.slice(rows.start, rows.stop - rows.start)
    return X.tocsr()[rows] if sparse.issparse(X) else X[rows]


def columns_of(rows: Any, names: Sequence[str] | None) -> Any:
    """Return the values of a DataFrame, with columns chosen by name if given; anything else unchanged."""
    frame = _frame(rows, names)
    return rows if frame is None else frame.to_numpy()


def table_of(rows: Any, names: Sequence[str] | None) -> Any:
    """Return a DataFrame with columns that are not numbers, chosen as by `columns_of`; else None."""
    frame = _frame(rows, names)
    if frame is None:
        return None
    kinds = [dtype for dtype in frame.schema.values() if not (dtype.is_numeric() or dtype == nw.Boolean)]
    if all(dtype == nw.Object for dtype in kinds):
        try:
            np.asarray(frame.to_numpy(), dtype=np.float64)
            return None
        except (TypeError, ValueError):
            pass
    return frame.to_native()


def _frame(rows: Any, names: Sequence[str] | None) -> nw.DataFrame[Any] | None:
    """Return a DataFrame with the named columns; None for anything else than a DataFrame."""
    frame = nw.from_native(rows, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    if names is not None:
        missing = [name for name in names if name not in frame.columns]
        if missing:
            raise ValueError(
                f"X has no column {missing[0]!r} ({len(missing)} of {len(names)} columns are missing); "
                "pass the columns that the network was trained on."
            )
        frame = frame.select(list(names))
    return frame


def as_numbers(rows: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return rows as a dense array for a network."""
    if sparse.issparse(rows):
        rows = rows.toarray()
    elif hasattr(rows, "detach"):  # a PyTorch tensor
        rows = rows.detach().cpu().numpy()
    try:
        values = np.asarray(unmasked(rows))
        refused = _not_whole(values) if dtype.kind in "iu" else np.empty(0)
        if refused.size == 0:
            return np.ascontiguousarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The network reads numbers, but X contains other values ({error}); pass preprocess= with the "
            "encoder that the network was trained with."
        ) from None
    found = "a missing value" if np.isnan(refused[0]) else f"{refused[0]:.6g}"
    raise ValueError(
        "The network reads whole numbers, such as the positions of words or categories, but X contains "
        f"{found} ({refused.size:,} such value(s)); fill missing values in, or pass preprocess= with the "
        "encoder that the network was trained with."
    )


def _not_whole(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return the numbers that an integer cannot represent, which a cast would silently truncate."""
    if values.dtype.kind not in "fO":
        return np.empty(0)
    numbers = np.asarray(values, dtype=np.float64)
    return np.asarray(numbers[~np.isfinite(numbers) | (numbers != np.floor(numbers))])


def trace_inputs(preprocess: Preprocess, names: Sequence[str]) -> tuple[InputColumn, ...] | None:
    """Return the raw columns that each input column of the network is computed from; None if unknown.

    scikit-learn's transformers, pipelines, unions and column transformers can be followed; a function cannot.
    """
    # A column transformer selects a DataFrame's columns by name, in any order, and ignores other columns.
    own_names = getattr(first_step(preprocess), "feature_names_in_", ())
    by_name = len(own_names) > 0 and set(own_names) <= set(names)
    columns: tuple[InputColumn, ...] | None = tuple(
        InputColumn((name,)) for name in (own_names if by_name else names)
    )
    if preprocess is not None:
        columns = _traced(preprocess, columns)
    return columns


def categorical_sources(inputs: Sequence[InputColumn] | None) -> list[str]:
    """Return the raw columns that an encoder of categories reads without other columns."""
    if inputs is None:
        return []
    found = {column.sources[0] for column in inputs if column.is_category and len(column.sources) == 1}
    return sorted(found)


Columns = tuple[InputColumn, ...] | None


def _traced(step: Any, columns: Columns) -> Columns:
    if columns is None:
        return None
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return columns
    if isinstance(step, Pipeline):
        return _traced([inner for _, inner in step.steps], columns)
    if isinstance(step, list | tuple):
        return _through_steps(step, columns)
    if isinstance(step, ColumnTransformer):
        return _through_column_transformer(step, columns)
    if isinstance(step, FeatureUnion):
        parts = [_traced(inner, columns) for _, inner in step.transformer_list if inner != "drop"]
        return _joined(parts)
    return through_transformer(step, columns)


def _through_steps(steps: Sequence[Any], columns: Columns) -> Columns:
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if columns is not None:
            made = _traced(step, columns)
            width = getattr(following, "n_features_in_", None)
            columns = _of_all(columns, width) if made is None and width is not None else made
    return columns


def _of_all(columns: tuple[InputColumn, ...], width: int) -> tuple[InputColumn, ...]:
    """Return `width` output columns of a step that cannot be followed, each computed from all its inputs."""
    sources = tuple(dict.fromkeys(source for column in columns for source in column.sources))
    return (InputColumn(sources),) * width


def _through_column_transformer(step: ColumnTransformer, columns: tuple[InputColumn, ...]) -> Columns:
    """Follow the fitted parts in `transformers_`; `output_indices_` has the position of each result."""
    placed: list[tuple[int, Columns]] = []
    place_of_name = {name: place for place, name in enumerate(getattr(step, "feature_names_in_", ()))}
    for name, inner, chosen in step.transformers_:
        where = step.output_indices_.get(name)
        if inner == "drop" or where is None or where.start == where.stop:
            continue
        places = column_places(chosen, place_of_name, len(columns))
        if places is None:
            return None
        read = tuple(columns[place] for place in places)
        made = _traced(inner, read)
        placed.append((where.start, _of_all(read, where.stop - where.start) if made is None else made))
    return _joined([part for _, part in sorted(placed, key=lambda item: item[0])])


def column_places(chosen: Any, place_of_name: dict[str, int], n_columns: int) -> list[int] | None:
    """Return the positions of the columns that a part of a ColumnTransformer reads."""
    if isinstance(chosen, slice):
        if isinstance(chosen.start, str) or isinstance(chosen.stop, str):
            start = 0 if chosen.start is None else place_of_name[chosen.start]
            stop = n_columns if chosen.stop is None else place_of_name[chosen.stop] + 1
            return list(range(start, stop))
        return list(range(n_columns))[chosen]
    listed = [chosen] if isinstance(chosen, str | int) else list(chosen)
    if listed and all(isinstance(item, bool | np.bool_) for item in listed):
        return np.flatnonzero(listed).tolist()
    places = [place_of_name.get(item) if isinstance(item, str) else int(item) for item in listed]
    return None if None in places else [place % n_columns for place in places if place is not None]


def through_transformer(step: Any, columns: tuple[InputColumn, ...]) -> Columns:
    """Follow one transformer by the output names that it derives from marked input names."""
    if getattr(step, "n_features_in_", None) != len(columns) or not hasattr(step, "get_feature_names_out"):
        return None
    unnamed = copy.copy(step)
    # A transformer with feature names accepts no other names.
    if hasattr(unnamed, "feature_names_in_"):
        del unnamed.feature_names_in_
    marks = [f"\x00{place}\x00" for place in range(len(columns))]
    try:
        made = unnamed.get_feature_names_out(np.array(marks, dtype=object))
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        return None
    is_category = isinstance(step, _CATEGORY_ENCODERS)
    found = []
    for name in map(str, made):
        used = [column for column, mark in zip(columns, marks, strict=True) if mark in name] or columns
        sources = tuple(dict.fromkeys(source for column in used for source in column.sources))
        is_kept = len(used) == 1 and used[0].is_category
        found.append(InputColumn(sources, is_category or is_kept))
    return tuple(found)


def _joined(parts: Sequence[Columns]) -> Columns:
    joined: list[InputColumn] = []
    for part in parts:
        if part is None:
            return None
        joined.extend(part)
    return tuple(joined)
