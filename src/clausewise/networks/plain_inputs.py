"""Preprocessing as a function of each raw column: affine for numbers, a table of values for categories."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from clausewise.data.table import Category
from clausewise.networks.fitted_rows import rows_as_fitted
from clausewise.networks.outputs import OutputReader
from clausewise.networks.plain import PlainNetwork, UnsupportedLayerError
from clausewise.networks.preprocess import (
    InputColumn,
    Preprocess,
    column_places,
    first_step,
    through_transformer,
)

_SUPPORTED: Final = (
    "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, OneHotEncoder, OrdinalEncoder, "
    "SimpleImputer, and pipelines, unions and column transformers of these"
)


@dataclass(frozen=True, eq=False)
class PlainColumn:
    """One column that a network reads, as a function of one raw column.

    A number becomes `scale * value + shift`. If an encoder of categories reads the raw column, `encode` gives
    the number for each category first. `magnitude` bounds what is added up, for rounding errors; it is 0 if
    nothing is computed.
    """

    source: int
    scale: float = 1.0
    shift: float = 0.0
    magnitude: float = 0.0
    encode: Callable[[Sequence[Category]], np.ndarray[Any, np.dtype[np.float64]]] | None = field(default=None)

    @property
    def is_computed(self) -> bool:
        """Whether a transformer computes the column, which may round."""
        return self.magnitude > 0 or self.scale != 1.0 or self.shift != 0.0

    def then(self, scale: float, shift: float, magnitude: float) -> "PlainColumn":
        """Return the column after an affine map."""
        return PlainColumn(
            self.source,
            self.scale * scale,
            self.shift * scale + shift,
            self.magnitude * abs(scale) + magnitude,
            self.encode,
        )


@dataclass(frozen=True, eq=False)
class PlainModel:
    """A network in the form that proofs read.

    Attributes
    ----------
    network : PlainNetwork
        Its layers.
    inputs : tuple of PlainColumn
        Its input columns, as functions of raw columns.
    reader : OutputReader
        Reads its output.
    names : tuple of str
        The raw columns.
    """

    network: PlainNetwork
    inputs: tuple[PlainColumn, ...]
    reader: OutputReader
    names: tuple[str, ...]

    def reading(self, names: Sequence[str]) -> "PlainModel":
        """Return the model for raw columns in another order; columns with other names keep their places."""
        if set(names) != set(self.names):
            if len(names) != len(self.names):
                raise ValueError(
                    f"The table has {len(self.names)} columns, but the rules were learnt from {len(names)}; "
                    "pass "
                    "the same columns."
                )
            return self
        places = [list(names).index(name) for name in self.names]
        moved = tuple(replace(column, source=places[column.source]) for column in self.inputs)
        return replace(self, inputs=moved, names=tuple(names))


def plain_inputs(
    preprocess: Preprocess, names: Sequence[str], order: Sequence[str], n_inputs: int
) -> tuple[PlainColumn, ...]:
    """Return each input column of a network as a function of a raw column.

    Parameters
    ----------
    preprocess : transformer, list of these or None
        As for `wrap`.
    names : sequence of str
        The raw columns.
    order : sequence of str
        The raw columns in the order in which the network reads them, if there is no preprocessing.
    n_inputs : int
        The number of columns that the network reads.
    """
    own = getattr(first_step(preprocess), "feature_names_in_", ())
    read = own if len(own) and set(own) <= set(names) else order
    columns = _through(preprocess, tuple(PlainColumn(list(names).index(name)) for name in read))
    if len(columns) != n_inputs:
        raise UnsupportedLayerError(
            f"The network reads {n_inputs} columns, but {len(columns)} were found; pass the columns that it "
            "was trained on."
        )
    return columns


Columns = tuple[PlainColumn, ...]


def _through(step: Any, columns: Columns) -> Columns:
    # Exact types: a subclass may transform rows in another way.
    kind = type(step)
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return columns
    if kind is FunctionTransformer and step.func is None:
        # What a fitted column transformer has in place of "passthrough".
        return columns
    if kind is Pipeline:
        return _through([inner for _, inner in step.steps], columns)
    if isinstance(step, list | tuple):
        for inner in step:
            columns = _through(inner, columns)
        return columns
    if kind is ColumnTransformer:
        return _through_column_transformer(step, columns)
    if kind is FeatureUnion:
        return tuple(
            column
            for name, inner in step.transformer_list
            if inner != "drop"
            for column in _weighted(_through(inner, columns), step.transformer_weights, name)
        )
    if kind in (OneHotEncoder, OrdinalEncoder):
        return _encoded(step, columns)
    if kind is SimpleImputer and _keeps_known_values(step):
        # Proofs are about known values.
        return columns
    affine = _affine_parts(step, len(columns))
    if affine is None:
        raise UnsupportedLayerError(
            f"The preprocessing contains {_title(step)}, which proofs do not support; they support "
            f"{_SUPPORTED}."
        )
    return tuple(
        column.then(float(scale), float(shift), float(size))
        for column, scale, shift, size in zip(columns, *affine, strict=True)
    )


def _title(step: Any) -> str:
    name = getattr(step, "__name__", type(step).__name__)
    if type(step) is SimpleImputer:
        return f"{name} that replaces known values, adds columns or drops some"
    if getattr(step, "clip", False):
        return f"{name}(clip=True)"
    base = next((one.__name__ for one in _AFFINE if isinstance(step, one) and type(step) is not one), None)
    return name if base is None else f"{name}, a class derived from {base}"


def _weighted(columns: Columns, weights: Mapping[str, float] | None, name: str) -> Columns:
    """Return the columns of one part of a union, or of a column transformer, times its weight."""
    weight = None if weights is None else weights.get(name)
    return columns if weight is None else tuple(column.then(float(weight), 0.0, 0.0) for column in columns)


def _keeps_known_values(step: SimpleImputer) -> bool:
    """Return whether an imputer changes missing values only, and returns the columns that it reads."""
    marker = step.missing_values
    is_dropping = any(value != value for value in step.statistics_.tolist())  # NaN: a column without values
    return isinstance(marker, float) and np.isnan(marker) and not step.add_indicator and not is_dropping


_AFFINE: Final = (MinMaxScaler, StandardScaler, RobustScaler, MaxAbsScaler)


def _affine_parts(step: Any, n_columns: int) -> tuple[Any, Any, Any] | None:
    """Return scale, shift and the magnitude of what is added, per column; None for other transformers."""
    kind = type(step)
    if kind not in _AFFINE or getattr(step, "clip", False):
        return None
    if kind is MinMaxScaler:
        return step.scale_, step.min_, np.abs(step.min_)
    spread = step.scale_
    centre = {StandardScaler: "mean_", RobustScaler: "center_"}.get(kind)
    uses_centre = centre is not None and getattr(step, "with_mean", getattr(step, "with_centering", True))
    middle = np.asarray(getattr(step, str(centre)) if uses_centre else np.zeros(n_columns))
    scale = 1.0 / np.asarray(np.ones(n_columns) if spread is None else spread)
    return scale, -middle * scale, np.abs(middle * scale)


def _through_column_transformer(step: ColumnTransformer, columns: Columns) -> Columns:
    placed: list[tuple[int, Columns]] = []
    place_of_name = {name: place for place, name in enumerate(getattr(step, "feature_names_in_", ()))}
    for name, inner, chosen in step.transformers_:
        where = step.output_indices_.get(name)
        if (isinstance(inner, str) and inner == "drop") or where is None or where.start == where.stop:
            continue
        places = column_places(chosen, place_of_name, len(columns))
        if places is None:
            raise UnsupportedLayerError(
                f"The columns of the transformer {name!r} could not be found by name."
            )
        made = _through(inner, tuple(columns[place] for place in places))
        placed.append((where.start, _weighted(made, step.transformer_weights, name)))
    placed.sort(key=lambda item: item[0])
    return tuple(column for _, part in placed for column in part)


def _encoded(step: OneHotEncoder | OrdinalEncoder, columns: Columns) -> Columns:
    """Return the columns of an encoder: for each category, what the encoder itself makes of it."""
    if any(column.encode is not None or column.is_computed for column in columns):
        raise UnsupportedLayerError(f"{type(step).__name__} reads computed columns, not raw ones.")
    made = through_transformer(step, tuple(InputColumn((str(place),)) for place in range(len(columns))))
    if made is None:
        raise UnsupportedLayerError(
            f"The output columns of {type(step).__name__} could not be found by name."
        )
    places = [int(column.sources[0]) for column in made]
    return tuple(
        PlainColumn(columns[place].source, encode=_CategoryCodes(step, place, output))
        for output, place in enumerate(places)
    )


@dataclass(frozen=True, eq=False)
class _CategoryCodes:
    """The numbers in one output column of an encoder, for categories of one of its input columns."""

    encoder: Any
    place: int
    output: int

    def __call__(self, categories: Sequence[Category]) -> np.ndarray[Any, np.dtype[np.float64]]:
        first = [known[0] for known in self.encoder.categories_]
        rows = np.empty((len(categories), len(first)), dtype=object)
        rows[:] = first
        rows[:, self.place] = list(categories)
        names = getattr(self.encoder, "feature_names_in_", None)
        made = self.encoder.transform(rows_as_fitted(rows, names, len(first)))
        dense = made.toarray() if hasattr(made, "toarray") else np.asarray(made)
        return np.asarray(dense[:, self.output], dtype=np.float64)
