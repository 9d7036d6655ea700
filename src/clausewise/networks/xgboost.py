"""XGBoost: its own boosters, without scikit-learn's interface, and the trees inside its models."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import xgboost
from numpy.typing import NDArray

from clausewise.networks.estimators import locked, xgboost_rows
from clausewise.networks.fitted_rows import rows_as_fitted
from clausewise.networks.predictions import Answer
from clausewise.networks.protocol import OutputForm
from clausewise.networks.tree_models import UNKNOWN, ModelTree, last_left


class BoosterPredictor:
    """An `xgboost.Booster`; its objective defines the meaning of its predictions."""

    def __init__(self, model: xgboost.Booster) -> None:
        self.model = model
        learner = json.loads(model.save_config())["learner"]
        objective = learner["objective"]["name"]
        n_classes = int(learner["learner_model_param"]["num_class"])
        self.title = f"XGBoost Booster ({objective})"
        self.n_inputs: int | None = model.num_features()
        self.feature_names: Sequence[str] | None = model.feature_names
        self.classes: Sequence[Any] | None = None
        self.form: OutputForm | None = _FORM.get(objective, "number")
        if self.form != "number":
            self.classes = list(range(max(n_classes, 2)))

    def rows(self, rows: Any) -> Any:
        """Return rows in the form in which the booster was trained."""
        return xgboost_rows(rows_as_fitted(rows, self.feature_names, self.n_inputs))

    def ask(self, rows: Any) -> Answer:
        """Return what the booster predicts: probabilities, margins or labels, as its objective says."""
        with locked(self.model):
            values = np.asarray(self.model.predict(xgboost.DMatrix(rows, enable_categorical=True)))
        return Answer(values.astype(np.int64)) if self.form == "labels" else Answer(None, values)


_FORM: dict[str, OutputForm] = {
    "binary:logistic": "probabilities",
    "binary:logitraw": "logits",
    "binary:hinge": "labels",
    "multi:softprob": "probabilities",
    "multi:softmax": "labels",
}


def booster_predictor(model: xgboost.Booster) -> BoosterPredictor:
    """Return a booster as a predictor."""
    return BoosterPredictor(model)


def holds_trees(model: Any) -> bool:
    """Return whether a model or booster is made of trees, rather than linear."""
    learner = json.loads(_booster(model).save_config())["learner"]
    return bool(learner["gradient_booster"]["name"] != "gblinear")


def _booster(model: Any) -> xgboost.Booster:
    return model if isinstance(model, xgboost.Booster) else model.get_booster()


def read_trees(model: Any, rows: Any) -> Iterator[ModelTree]:
    """Yield the trees of a model or booster, read from its JSON form."""
    part = json.loads(_booster(model).save_raw("json"))["learner"]["gradient_booster"]
    part = part.get("gbtree", part).get("model", {})
    known = [_category_values(encoded) for encoded in part.get("cats", {}).get("enc", [])]
    for tree in part.get("trees", []):
        yield _tree(tree, known)


def _category_values(encoded: Mapping[str, Any]) -> list[Any]:
    """Return the categories of a column in the order of their codes; text is stored as bytes."""
    if "offsets" not in encoded:
        return list(encoded["values"])
    text = bytes(value % 256 for value in encoded["values"])
    starts = encoded["offsets"]
    return [text[begin:end].decode() for begin, end in pairwise(starts)]


def _tree(tree: Mapping[str, Any], known: Sequence[list[Any]]) -> ModelTree:
    column = np.array(tree["split_indices"], dtype=np.int32)
    categories = {}
    listed = np.array(tree["categories"], dtype=np.int64)
    parts = zip(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True)
    for node, start, size in parts:
        values = known[column[node]] if column[node] < len(known) else []
        if not values:  # a model of an older version does not say which categories it means
            column[node] = UNKNOWN
            continue
        categories[node] = _left_categories(listed[start : start + size], values)
    return ModelTree(
        "tree",
        np.column_stack([tree["left_children"], tree["right_children"]]).astype(np.int32),
        column,
        # XGBoost compares numbers in single precision.
        last_left(np.array(tree["split_conditions"], dtype=np.float32), is_single=True, is_strict=True),
        np.array(tree["default_left"], dtype=bool),
        categories,
    )


def _left_categories(codes: NDArray[np.int64], values: Sequence[Any]) -> frozenset[Any]:
    """Return the categories that go left; XGBoost lists those that go right."""
    to_right = set(codes.tolist())
    return frozenset(value for code, value in enumerate(values) if code not in to_right)
