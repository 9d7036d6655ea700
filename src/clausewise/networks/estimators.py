"""Fitted estimators with `predict` or `predict_proba`, and plain functions, as predictors."""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from clausewise.data.labels import plain_label
from clausewise.networks.fitted_rows import as_pandas, rows_as_fitted, with_categories
from clausewise.networks.locks import lock_of
from clausewise.networks.outputs import Output
from clausewise.networks.predictions import Answer, UnsupportedModelError
from clausewise.networks.protocol import OutputForm

_LIBRARIES: Final[Mapping[str, str]] = {
    "sklearn": "scikit-learn",
    "xgboost": "XGBoost",
    "lightgbm": "LightGBM",
    "catboost": "CatBoost",
}


def xgboost_rows(rows: Any) -> Any:
    """Return rows as XGBoost takes them."""
    version = [int(part) for part in sys.modules["xgboost"].__version__.split(".")[:2]]
    # Older versions number the categories of every table anew, so text would mean other categories.
    return with_categories(rows) if version >= [3, 1] else as_pandas(rows)


# What libraries that take tables of pandas need beyond the names of columns.
_ADAPT: Final[Mapping[str, Callable[[Any], Any]]] = {
    "xgboost": xgboost_rows,
    "lightgbm": with_categories,
    "catboost": as_pandas,
}


def estimator_title(model: Any) -> str:
    """Return the library and the type of a model: "XGBoost XGBClassifier"."""
    return f"{_LIBRARIES.get(_library(model), 'model')} {type(model).__name__}"


def _library(model: Any) -> str:
    return type(model).__module__.split(".")[0]


def locked(model: Any) -> AbstractContextManager[Any]:
    """Return the lock of a model; nothing for the rare object that cannot have one."""
    try:
        return lock_of(model)
    except TypeError:  # its class has slots
        return nullcontext()


class EstimatorPredictor:
    """A fitted estimator: `predict` decides, `predict_proba` (if there is one) gives the probabilities.

    Parameters
    ----------
    model : object
        Has `predict`, `predict_proba` or both.
    output : optional
        As for `wrap`. If it says what the numbers mean, they decide instead of labels.
    """

    def __init__(self, model: Any, output: Output = None) -> None:
        _check_supported(model)
        if _is_stated(output, "number") and _kind(model) == "classifier":
            raise UnsupportedModelError(
                f"{type(model).__name__} is a classifier, which predicts classes and no numbers. For rules "
                "that add up to a probability, pass a function: lambda X: model.predict_proba(X)[:, 1]."
            )
        self.model = model
        self.title = estimator_title(model)
        is_number = _kind(model) == "regressor"
        is_stated = output is not None and not _is_labels(output)
        self._gives_labels = hasattr(model, "predict") and not is_stated
        self._gives_labels &= not is_number or _is_labels(output)
        self._gives_scores = hasattr(model, "predict_proba") and not _is_stated(output, "number")
        self.classes: Sequence[Any] | None = _class_list(model)
        if self.classes is None and hasattr(model, "cluster_centers_") and hasattr(model, "labels_"):
            self.classes = np.unique(model.labels_).tolist()
        n_inputs = getattr(model, "n_features_in_", None)
        self.n_inputs: int | None = None if n_inputs is None else int(n_inputs)
        self.feature_names: Sequence[str] | None = _feature_names(model)
        self.form: OutputForm | None = "number" if is_number else "probabilities"

    def rows(self, rows: Any) -> Any:
        """Return rows in the form in which the model was fitted."""
        rows = rows_as_fitted(rows, self.feature_names, self.n_inputs)
        adapt = _ADAPT.get(_library(self.model))
        return rows if adapt is None else adapt(rows)

    def ask(self, rows: Any) -> Answer:
        """Return labels and, if the model has them, probabilities."""
        with locked(self.model):
            if not self._gives_labels:
                wanted = self.model.predict_proba if self._gives_scores else self.model.predict
                return Answer(None, np.asarray(wanted(rows)))
            labels = np.asarray(self.model.predict(rows))
            scores = np.asarray(self.model.predict_proba(rows)) if self._gives_scores else None
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels[:, 0]
        if labels.ndim != 1:
            raise UnsupportedModelError(_SEVERAL_LABELS.format(self.title))
        if self.classes is None:
            _check_labels(self.title, labels)
        return Answer(labels, scores)


class FunctionPredictor:
    """A function from rows to labels, or to one column of probabilities per class.

    Parameters
    ----------
    function : callable
        It gets rows as the caller of the network has them, a DataFrame as a DataFrame.
    classes : sequence, optional
        All labels that it may return; otherwise, those that it does return.
    output : optional
        As for `wrap`. One number per row is a label unless this says otherwise.
    """

    n_inputs: int | None = None
    feature_names: Sequence[str] | None = None

    def __init__(
        self, function: Callable[[Any], Any], classes: Sequence[Any] | None = None, output: Output = None
    ) -> None:
        self.model = function
        self.title = f"function {getattr(function, '__name__', type(function).__name__)}"
        self.classes = classes
        self._may_be_labels = output is None or _is_labels(output)
        self.form: OutputForm | None = None

    def rows(self, rows: Any) -> Any:
        """Return rows unchanged."""
        return rows if hasattr(rows, "shape") else np.asarray(rows)

    def ask(self, rows: Any) -> Answer:
        """Return what the function returns: labels, or numbers."""
        values = np.asarray(self.model(rows))
        if values.ndim == 0 or len(values) != rows.shape[0]:
            raise ValueError(
                f"{self.title} returned an array of shape {values.shape} for {rows.shape[0]} rows; expected "
                "one label, or one row of probabilities, per row."
            )
        if values.ndim == 2 and values.shape[1] == 1 and self._may_be_labels:
            values = values[:, 0]
        if values.ndim > 1 or not self._may_be_labels:
            return Answer(None, values)
        _check_labels(self.title, values)
        return Answer(values)


def _is_labels(output: Output) -> bool:
    return _is_stated(output, "labels")


def _is_stated(output: Output, form: OutputForm) -> bool:
    return isinstance(output, str) and output == form


def _check_supported(model: Any) -> None:
    """Raise an error for a model that gives no class to each row, with what to do instead."""
    name = type(model).__name__
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    elif callable(getattr(model, "is_fitted", None)) and not model.is_fitted():
        raise UnsupportedModelError(f"{name} is not fitted; fit it first.")
    if _kind(model) == "outlier_detector":
        raise UnsupportedModelError(
            f"{name} detects outliers and has no classes. Pass a function that names its decisions: "
            "lambda X: np.where(model.predict(X) < 0, 'outlier', 'inlier')."
        )


def _kind(model: Any) -> str:
    """Return "classifier", "regressor", "clusterer" or "outlier_detector"; "None" if it does not say."""
    if isinstance(model, BaseEstimator):
        return str(get_tags(model).estimator_type)
    return str(getattr(model, "_estimator_type", None))


def _class_list(model: Any) -> list[Any] | None:
    """Return the classes of a model as a list; raise an error for several labels per row."""
    known = getattr(model, "classes_", getattr(model, "classes", None))
    if not isinstance(known, list | tuple | np.ndarray) or len(known) == 0:
        return None
    is_multilabel = isinstance(known, list | tuple) and any(np.ndim(part) > 0 for part in known)
    if is_multilabel or getattr(model, "multilabel_", False):
        raise UnsupportedModelError(_SEVERAL_LABELS.format(estimator_title(model)))
    return [plain_label(label) for label in np.asarray(known)]


def _feature_names(model: Any) -> list[str] | None:
    """Return the names of the columns that a model was fitted to; None if these had no names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = getattr(model, "feature_names_", None)  # CatBoost
    if names is None or len(names) == 0:
        return None
    listed = [str(name) for name in names]
    # LightGBM and CatBoost number the columns of an array.
    is_numbered = any(
        listed == [f"{start}{place}" for place in range(len(listed))] for start in ("", "Column_")
    )
    return None if is_numbered else listed


_SEVERAL_LABELS: Final = (
    "{} predicts several labels per row, but rules predict one class. Pass a function that returns one of "
    "them: lambda X: model.predict(X)[:, 0]."
)


def _check_labels(title: str, labels: NDArray[Any]) -> None:
    """Raise an error if what should be labels are measured numbers."""
    if labels.dtype.kind != "f" or len(labels) == 0:
        return
    is_odd = labels != np.floor(labels)
    if is_odd.any():
        raise ValueError(
            f"{title} returned {labels[is_odd][0]:.6g}, which is not a class label. State what the number "
            "is: output='number' (or RuleRegressor) for rules that add numbers, output='probabilities' (of "
            "the second class), output='logits', or output= with a list of ascending cut points between "
            "classes."
        )
