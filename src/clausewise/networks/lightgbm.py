"""LightGBM's own boosters, without scikit-learn's interface."""

from collections.abc import Sequence
from typing import Any

import lightgbm
import numpy as np

from clausewise.networks.estimators import locked
from clausewise.networks.fitted_rows import rows_as_fitted, with_categories
from clausewise.networks.predictions import Answer
from clausewise.networks.protocol import OutputForm


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
