"""scikit-learn's multi-layer perceptrons."""

from typing import Any, Final

import numpy as np
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.utils.validation import check_is_fitted

from clausewise.networks.arrays import ACTIVATIONS, DenseBackend
from clausewise.networks.protocol import OutputForm

# What turns rows into predictions.
_METHODS: Final = ("predict", "predict_proba", "_predict", "_forward_pass", "_forward_pass_fast")


def predicts_its_own_way(model: MLPClassifier | MLPRegressor) -> bool:
    """Return whether a class of one's own, or the model itself, overrides how predictions are computed."""
    base = MLPClassifier if isinstance(model, MLPClassifier) else MLPRegressor
    return any(
        name in vars(model) or getattr(type(model), name, None) is not getattr(base, name, None)
        for name in _METHODS
    )


def mlp_backend(model: Any) -> DenseBackend:
    """Return the adapter for a fitted MLPClassifier or MLPRegressor."""
    check_is_fitted(model)
    is_classifier = isinstance(model, MLPClassifier)
    classes: list[Any] | None = None
    output: OutputForm = "number"
    last = ACTIVATIONS["identity"]
    if is_classifier:
        if model._label_binarizer.y_type_.startswith("multilabel"):
            raise ValueError(
                "This MLPClassifier predicts several labels per row, but rules predict one class. Wrap each "
                "label separately with CallableNetwork."
            )
        classes = np.asarray(model.classes_).tolist()
        # A softmax changes no decision; the sigmoid's threshold is scikit-learn's own.
        output = "logits" if model.out_activation_ == "softmax" else "probabilities"
        last = ACTIVATIONS["identity" if output == "logits" else "logistic"]
        if len(classes) == 1:
            output, last = "labels", np.zeros_like
    elif model.out_activation_ == "exp":  # fitted by the Poisson loss
        last = np.exp
    names = getattr(model, "feature_names_in_", None)
    return DenseBackend(
        model.coefs_,
        model.intercepts_,
        [ACTIVATIONS[model.activation]] * (len(model.coefs_) - 1),
        last,
        output,
        title=f"scikit-learn {type(model).__name__}",
        classes=classes,
        feature_names=None if names is None else [str(name) for name in names],
    )
