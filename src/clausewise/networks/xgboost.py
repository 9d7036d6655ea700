"""XGBoost's own boosters, without scikit-learn's interface."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xgboost

from clausewise.networks.estimators import locked
from clausewise.networks.fitted_rows import rows_as_fitted, with_categories
from clausewise.networks.predictions import Answer
from clausewise.networks.protocol import OutputForm


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
        return with_categories(rows_as_fitted(rows, self.feature_names, self.n_inputs))

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
