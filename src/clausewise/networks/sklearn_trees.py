"""The trees inside scikit-learn's models, read from their arrays."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from clausewise.networks.tree_models import LEAF, ModelTree, last_left, members


def holds_trees(model: Any) -> bool:
    """Return whether a model is a tree, or consists of trees."""
    if isinstance(model, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        return True
    return hasattr(model, "tree_") or any(hasattr(part, "tree_") for part in members(model))


def read_trees(model: Any, rows: Any) -> Iterator[ModelTree]:
    """Yield the trees of a decision tree, a forest or a gradient-boosted model; none for other models."""
    if hasattr(model, "tree_"):
        yield _tree(model.tree_)
    elif isinstance(model, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        yield from _histogram_trees(model)
    elif isinstance(model, BaggingClassifier):
        # Each tree may have been fitted to some of the columns.
        for part, columns in zip(model.estimators_, model.estimators_features_, strict=True):
            if hasattr(part, "tree_"):
                yield _tree(part.tree_, np.asarray(columns))
    elif hasattr(model, "estimators_"):
        for part in members(model):
            if hasattr(part, "tree_"):
                yield _tree(part.tree_)


def _tree(nodes: Any, columns: Any = None) -> ModelTree:
    tested = np.maximum(nodes.feature, 0)
    # Trees of models that never saw a missing value send them to the right.
    missing_left = getattr(nodes, "missing_go_to_left", np.zeros(len(tested)))
    return ModelTree(
        "tree",
        np.column_stack([nodes.children_left, nodes.children_right]).astype(np.int32),
        (tested if columns is None else columns[tested]).astype(np.int32),
        last_left(nodes.threshold, is_single=True),
        np.asarray(missing_left, dtype=bool),
    )


def _histogram_trees(model: Any) -> Iterator[ModelTree]:
    """Yield the trees of a model that bins its columns and encodes categories first, which moves columns."""
    is_category = model.is_categorical_
    n_columns = model.n_features_in_
    encoder = getattr(model, "_preprocessor", None)
    position, values_of = np.arange(n_columns), list[Any]()
    if encoder is not None and is_category is not None:
        # Categorical columns come first, followed by the others.
        chosen = encoder.transformers_[0][2]
        is_first = np.zeros(n_columns, dtype=bool)
        is_first[np.asarray(chosen)] = True
        position = np.concatenate([np.flatnonzero(is_first), np.flatnonzero(~is_first)])
        values_of = list(encoder.named_transformers_["encoder"].categories_)
    for predictors in model._predictors:
        for predictor in predictors:
            yield _histogram_tree(predictor, position, values_of)


def _histogram_tree(predictor: Any, position: Any, values_of: list[Any]) -> ModelTree:
    nodes = predictor.nodes
    is_leaf = nodes["is_leaf"].astype(bool)
    children = np.column_stack([nodes["left"], nodes["right"]]).astype(np.int32)
    children[is_leaf] = LEAF
    categories = {}
    for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~is_leaf).tolist():
        bits = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]]
        known = values_of[int(nodes["feature_idx"][node])]
        is_left = [bool(bits[code // 32] >> np.uint32(code % 32) & 1) for code in range(len(known))]
        listed = zip(np.asarray(known).tolist(), is_left, strict=True)
        categories[node] = frozenset(value for value, left in listed if left)
    return ModelTree(
        "tree",
        children,
        position[nodes["feature_idx"]].astype(np.int32),
        nodes["num_threshold"].astype(np.float64),
        nodes["missing_go_to_left"].astype(bool),
        categories,
    )
