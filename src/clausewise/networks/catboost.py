"""CatBoost: its models, also those without scikit-learn's interface, and the trees inside them."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import catboost
import numpy as np
from numpy.typing import NDArray

from clausewise.networks.estimators import EstimatorPredictor, locked
from clausewise.networks.predictions import Answer, Predictor
from clausewise.networks.tree_models import UNKNOWN, ModelColumns, ModelTree, TreeBuilder, last_left


class CatBoostPredictor(EstimatorPredictor):
    """A `catboost.CatBoost` that was trained with a loss for classes."""

    def ask(self, rows: Any) -> Answer:
        """Return labels and probabilities."""
        with locked(self.model):
            labels = np.asarray(self.model.predict(rows, prediction_type="Class"))
            scores = np.asarray(self.model.predict(rows, prediction_type="Probability"))
        return Answer(labels.reshape(len(labels)), scores)


def booster_predictor(model: catboost.CatBoost) -> Predictor:
    """Return a model as a predictor."""
    is_plain = not isinstance(model, catboost.CatBoostClassifier | catboost.CatBoostRegressor)
    if is_plain and model.is_fitted() and len(model.classes_) > 0:
        return CatBoostPredictor(model)
    return EstimatorPredictor(model)


def holds_trees(model: catboost.CatBoost) -> bool:
    """Return whether a model is made of trees, as all of them are."""
    return True


def read_trees(model: catboost.CatBoost, rows: Any) -> Iterator[ModelTree]:
    """Yield the trees of a model, read from its JSON form.

    CatBoost stores hashes of categories, or statistics of them. Which categories a test of one column sends
    where is therefore seen on rows, by the leaves they reach in symmetric trees; in other trees, tests of
    categories are unknown, and so are tests of several columns at once.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        described = json.loads(path.read_text(encoding="utf-8"))
    tests = _Tests.of(described["features_info"])
    symmetric = described.get("oblivious_trees", ())
    if symmetric:
        columns = ModelColumns(rows)
        leaves = np.asarray(model.calc_leaf_indexes(rows))
        for number, tree in enumerate(symmetric):
            yield _symmetric(tree, tests, columns, leaves[:, number])
    for tree in described.get("trees", ()):
        yield _nested(tree, tests)


@dataclass(frozen=True, eq=False)
class _Tests:
    """Reads the tests of nodes.

    Attributes
    ----------
    features : mapping
        The description of the columns.
    category_column : mapping of int to int
        For each test of the categories of one column, by its number, the position of the column.
    """

    features: Mapping[str, Any]
    category_column: Mapping[int, int]

    @classmethod
    def of(cls, features: Mapping[str, Any]) -> "_Tests":
        """Number the tests as CatBoost does: borders of numbers, single categories, statistics."""
        listed = features.get("categorical_features", [])
        position = {feature["feature_index"]: feature["flat_feature_index"] for feature in listed}
        columns: list[int] = []
        for feature in features.get("float_features", []):
            columns += [UNKNOWN] * len(feature["borders"])
        for feature in listed:
            columns += [feature["flat_feature_index"]] * len(feature.get("values", ()))
        for statistic in features.get("ctrs", []):
            elements = statistic["elements"]
            is_single = len(elements) == 1 and elements[0]["combination_element"] == "cat_feature_value"
            column = position[elements[0]["cat_feature_index"]] if is_single else UNKNOWN
            columns += [column] * len(statistic["borders"])
        return cls(features, {number: column for number, column in enumerate(columns) if column != UNKNOWN})

    def number(self, split: Mapping[str, Any]) -> dict[str, Any]:
        """Return a test of a number as arguments of `TreeBuilder.add`; any other is unknown."""
        if split["split_type"] != "FloatFeature":
            return {"column": UNKNOWN}
        feature = self.features["float_features"][split["float_feature_index"]]
        return {
            "column": feature["flat_feature_index"],
            "threshold": float(last_left(split["border"], is_single=True)),
            "missing_left": feature["nan_value_treatment"] != "AsTrue",
        }

    def any(
        self, split: Mapping[str, Any], columns: ModelColumns, is_right: NDArray[np.bool_]
    ) -> dict[str, Any]:
        """Return a test that sends these rows to the right as arguments of `TreeBuilder.add`."""
        column = self.category_column.get(split["split_index"])
        if column is None:
            return self.number(split)
        values = columns.values(column)
        left, right = (frozenset(values[side].tolist()) for side in (~is_right, is_right))
        return {"column": UNKNOWN} if left & right else {"column": column, "categories": left}


def _symmetric(
    tree: Mapping[str, Any], tests: _Tests, columns: ModelColumns, leaves: NDArray[Any]
) -> ModelTree:
    """Return a tree that makes the same test on all nodes of a level; bits of a leaf are their outcomes."""
    builder = TreeBuilder()
    levels = [
        tests.any(split, columns, (leaves >> level & 1).astype(bool))
        for level, split in enumerate(tree.get("splits") or ())
    ]
    above = [builder.add(**(levels[0] if levels else {}))]
    for depth in range(len(levels)):
        below = levels[depth + 1] if depth + 1 < len(levels) else {}
        added = [(builder.add(**below), builder.add(**below)) for _ in above]
        for node, children in zip(above, added, strict=True):
            builder.children[node] = children
        above = [node for children in added for node in children]
    return builder.build("tree")


def _nested(root: Mapping[str, Any], tests: _Tests) -> ModelTree:
    builder = TreeBuilder()

    def added(node: Mapping[str, Any]) -> int:
        return builder.add(**(tests.number(node["split"]) if "split" in node else {}))

    waiting = [(root, added(root))]
    while waiting:
        given, node = waiting.pop()
        if "split" in given:
            left, right = added(given["left"]), added(given["right"])
            builder.children[node] = (left, right)
            waiting += [(given["left"], left), (given["right"], right)]
    return builder.build("tree")
