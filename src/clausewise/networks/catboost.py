"""CatBoost's models, also those without scikit-learn's interface."""

from typing import Any

import catboost
import numpy as np

from clausewise.networks.estimators import EstimatorPredictor, locked
from clausewise.networks.predictions import Answer, Predictor


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
