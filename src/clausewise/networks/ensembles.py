"""The trees of a wrapped model, with the rows that they read and the raw columns these come from."""

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from clausewise.networks.detect import predictor_of, unwrapped
from clausewise.networks.fitted_rows import rows_as_fitted
from clausewise.networks.network import Network
from clausewise.networks.predictions import PredictorNetwork
from clausewise.networks.preprocess import Preprocess, as_transform, first_step, trace_inputs
from clausewise.networks.tree_models import ModelColumns, ModelTree, members

# The module that reads the trees of each library.
_READERS: Final = {
    "sklearn": "sklearn_trees",
    "xgboost": "xgboost",
    "lightgbm": "lightgbm",
    "catboost": "catboost",
}


@dataclass(frozen=True, eq=False)
class TreeGroup:
    """Trees that read the same rows.

    Attributes
    ----------
    trees : tuple of ModelTree
        The trees, with names that differ between groups.
    columns : ModelColumns
        The rows, as the trees read them.
    sources : tuple of (str or None)
        For each of these columns, the raw column that it is computed from; None if unknown, or if there are
        several.
    """

    trees: tuple[ModelTree, ...]
    columns: ModelColumns
    sources: tuple[str | None, ...]


def has_trees(network: Network) -> bool:
    """Return whether a network is a model with trees inside that can be read."""
    if not isinstance(network, PredictorNetwork):
        return False
    return any(_holds_trees(model) for model, _ in _parts(network.model, network.preprocess))


def tree_groups(network: Network, X: Any, names: Sequence[str]) -> list[TreeGroup]:
    """Return the trees of a network, in the order of the model.

    Parameters
    ----------
    network : Network
        A model with trees inside.
    X : array or DataFrame
        Raw rows, as the network takes them.
    names : sequence of str
        Names of the raw columns.
    """
    assert isinstance(network, PredictorNetwork)
    number = count(1)
    groups = []
    for model, preprocess in _parts(network.model, network.preprocess):
        if _holds_trees(model):
            groups.append(_group(model, preprocess, X, names, number))
    return groups


def _parts(model: Any, preprocess: Preprocess) -> Iterator[tuple[Any, Preprocess]]:
    """Yield the models that a model consists of, each with its preprocessing."""
    model, preprocess = unwrapped(model, preprocess)
    inner = [] if _holds_trees(model) else members(model)
    if not inner:
        yield model, preprocess
    for part in inner:
        yield from _parts(part, preprocess)


def _holds_trees(model: Any) -> bool:
    reader = _reader(model)
    return reader is not None and reader.holds_trees(model)


def _reader(model: Any) -> Any:
    """Return the module that reads the trees of a model's library; None for other libraries."""
    name = next((_READERS[lib] for lib in map(_library, type(model).__mro__) if lib in _READERS), None)
    return None if name is None else importlib.import_module(f"clausewise.networks.{name}")


def _library(kind: type) -> str:
    return kind.__module__.split(".")[0]


def _group(
    model: Any, preprocess: Preprocess, X: Any, names: Sequence[str], number: Iterator[int]
) -> TreeGroup:
    predictor = predictor_of(model)
    rows = X
    if preprocess is not None:
        first = first_step(preprocess)
        known = (getattr(first, name, None) for name in ("feature_names_in_", "n_features_in_"))
        rows = as_transform(preprocess)(rows_as_fitted(X, *known))
    rows = predictor.rows(rows)
    sources = _sources(preprocess, predictor.feature_names, names)
    trees = tuple(tree.named(f"tree {next(number)}") for tree in _reader(model).read_trees(model, rows))
    return TreeGroup(trees, ModelColumns(rows), sources)


def _sources(
    preprocess: Preprocess, own_names: Sequence[str] | None, names: Sequence[str]
) -> tuple[str | None, ...]:
    if preprocess is None:
        is_by_name = own_names is not None and set(own_names) <= set(names)
        return tuple(own_names if is_by_name and own_names is not None else names)
    inputs = trace_inputs(preprocess, names)
    if inputs is None:
        return ()
    return tuple(column.sources[0] if len(column.sources) == 1 else None for column in inputs)
