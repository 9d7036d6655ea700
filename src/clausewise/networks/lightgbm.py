"""LightGBM: its own boosters, without scikit-learn's interface, and the trees inside its models."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import lightgbm
import numpy as np

from clausewise.networks.estimators import locked
from clausewise.networks.fitted_rows import rows_as_fitted, with_categories
from clausewise.networks.predictions import Answer
from clausewise.networks.protocol import OutputForm
from clausewise.networks.tree_models import UNKNOWN, ModelTree, TreeBuilder


class BoosterPredictor:
    """A `lightgbm.Booster`; its objective defines the meaning of its predictions."""

    def __init__(self, model: lightgbm.Booster) -> None:
        self.model = model
        described = model.dump_model(num_iteration=1)
        objective = described.get("objective", "custom").split(" ")[0]
        self.title = f"LightGBM Booster ({objective})"
        self.n_inputs: int | None = model.num_feature()
        names = model.feature_name()
        # Columns of an array are numbered.
        is_named = names != [f"Column_{place}" for place in range(len(names))]
        self.feature_names: Sequence[str] | None = names if is_named else None
        self.form: OutputForm | None = _FORM.get(objective, "number")
        n_classes = max(int(described["num_class"]), 2)
        self.classes: Sequence[Any] | None = None if self.form == "number" else list(range(n_classes))

    def rows(self, rows: Any) -> Any:
        """Return rows in the form in which the booster was trained."""
        return with_categories(rows_as_fitted(rows, self.feature_names, self.n_inputs))

    def ask(self, rows: Any) -> Answer:
        """Return what the booster predicts: as a rule probabilities."""
        with locked(self.model):
            return Answer(None, np.asarray(self.model.predict(rows)))


_FORM: dict[str, OutputForm] = {
    "binary": "probabilities",
    "multiclass": "probabilities",
    "multiclassova": "sigmoids",
}


def booster_predictor(model: lightgbm.Booster) -> BoosterPredictor:
    """Return a booster as a predictor."""
    return BoosterPredictor(model)


def holds_trees(model: Any) -> bool:
    """Return whether a model or booster is made of trees, as all of them are."""
    return True


def read_trees(model: Any, rows: Any) -> Iterator[ModelTree]:
    """Yield the trees of a model or booster, read from its dump."""
    booster = model if isinstance(model, lightgbm.Booster) else model.booster_
    values_of = _category_values(booster)
    for tree in booster.dump_model()["tree_info"]:
        yield _tree(tree["tree_structure"], values_of)


def _category_values(booster: lightgbm.Booster) -> dict[int, list[Any]]:
    """Return the categories of columns of a DataFrame in the order of their codes, by position."""
    listed = re.search(r"^\[categorical_feature: ([\d,]+)\]$", booster.model_to_string(), re.MULTILINE)
    known = booster.pandas_categorical
    if listed is None or not known:
        return {}
    columns = [int(column) for column in listed[1].split(",")]
    return dict(zip(columns, known, strict=True)) if len(columns) == len(known) else {}


def _tree(root: Mapping[str, Any], values_of: Mapping[int, list[Any]]) -> ModelTree:
    """Return a tree that is given as nested nodes; not by recursion, since it may be deep."""
    builder = TreeBuilder()
    waiting = [(root, builder.add(**_test(root, values_of)))]
    while waiting:
        given, node = waiting.pop()
        if "left_child" not in given:
            continue
        below = [given["left_child"], given["right_child"]]
        left, right = (builder.add(**_test(part, values_of)) for part in below)
        builder.children[node] = (left, right)
        waiting += [(below[0], left), (below[1], right)]
    return builder.build("tree")


def _test(node: Mapping[str, Any], values_of: Mapping[int, list[Any]]) -> dict[str, Any]:
    """Return the test of a node as arguments of `TreeBuilder.add`; nothing for a leaf."""
    if "split_feature" not in node:
        return {}
    column = int(node["split_feature"])
    if node["decision_type"] == "==":
        codes = [int(code) for code in str(node["threshold"]).split("||")]
        values = values_of.get(column)
        is_left = frozenset(codes if values is None else (values[code] for code in codes))
        return {"column": column, "categories": is_left}
    if node["missing_type"] == "Zero":  # then 0 is missing too, which no interval says
        return {"column": UNKNOWN}
    threshold = float(node["threshold"])
    # Without missing values in training, LightGBM reads them as 0.
    missing_left = node["default_left"] if node["missing_type"] == "NaN" else threshold >= 0
    return {"column": column, "threshold": threshold, "missing_left": bool(missing_left)}
