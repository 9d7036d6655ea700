"""Shared by classifiers and inducers: targets, case weights, class codes, scikit-learn's attributes."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from clausewise.base.parameters import MIN_CASES, check_parameters
from clausewise.data.features import Features, require_finite
from clausewise.data.labels import Label, LabelError, read_labels, require_no_missing
from clausewise.data.responses import read_responses
from clausewise.data.table import Matrix, unmasked
from clausewise.data.weights import case_weights

MAX_CLASSES = 10_000


class TableEstimator(BaseEstimator):
    """A scikit-learn estimator that accepts categories, text and missing values without encoding."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class TableClassifier(ClassifierMixin, TableEstimator):
    """A classifier of tables."""


class TableRegressor(RegressorMixin, TableEstimator):
    """A regressor of tables."""


@dataclass(frozen=True, eq=False)
class ClassOrder:
    """The classes in the order that breaks ties, and in scikit-learn's order."""

    declared: NDArray[Any]

    @cached_property
    def sorted(self) -> NDArray[Any]:
        """The classes in scikit-learn's order."""
        return np.sort(self.declared)

    @cached_property
    def sorted_positions(self) -> NDArray[np.intp]:
        """The position of each declared class in `sorted`."""
        return np.searchsorted(self.sorted, self.declared)

    @property
    def labels(self) -> list[Label]:
        """The declared classes as plain Python values."""
        return list(self.declared.tolist())


def read_targets(
    y: ArrayLike, sample_weight: ArrayLike | None, n_rows: int, class_order: ArrayLike | None = None
) -> tuple[ClassOrder, NDArray[np.int32], NDArray[np.float64] | None]:
    """Read the targets of `fit`: the classes, each row's position in them, and case weights.

    Where scikit-learn's estimator checks ask for a message, it is worded as theirs.
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    labels = column_or_1d(unmasked(y), warn=True)
    assert_all_finite(labels, input_name="y")
    require_no_missing(labels, "y")
    check_classification_targets(labels)
    if len(labels) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"X has {n_rows} rows, y has {len(labels)}."
        )
    if class_order is None:
        classes, codes = np.unique(labels, return_inverse=True)
    else:
        classes = _declared_classes(class_order)
        try:
            codes = read_labels(labels, classes.tolist(), n_rows, "y").codes
        except LabelError as error:
            raise LabelError(f"{error} These are the classes in class_order.") from None
    _check_number_of_classes(len(classes), n_rows)
    return ClassOrder(classes), codes.astype(np.int32), case_weights(sample_weight, n_rows)


def read_numbers(y: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    """Read the numbers that `fit` is to predict; messages are worded as scikit-learn's checks ask for."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    numbers = column_or_1d(unmasked(y), warn=True)
    assert_all_finite(numbers, input_name="y")
    if len(numbers) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"X has {n_rows} rows, y has {len(numbers)}."
        )
    return read_responses(numbers, n_rows, "y")


def _declared_classes(class_order: ArrayLike) -> NDArray[Any]:
    declared = np.asarray(class_order)
    if declared.ndim != 1 or len(declared) == 0:
        raise ValueError(f"class_order has shape {declared.shape}; expected a list of class labels.")
    if len(set(declared.tolist())) != len(declared):
        raise ValueError("class_order contains a class twice; list every class once.")
    return declared


def _check_number_of_classes(n_classes: int, n_rows: int) -> None:
    if n_rows == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    # Every node of a tree counts every class: a regression target passed by mistake could take all memory.
    if n_classes > MAX_CLASSES or (n_classes > 1_000 and n_classes * 4 > n_rows):
        raise ValueError(
            f"y has {n_classes:,} classes in {n_rows:,} rows; at most {MAX_CLASSES:,} classes are supported, "
            "and above 1,000 there must be 4 rows per class on average. Is y a regression target?"
        )


def set_feature_attributes(estimator: Any, features: Features) -> None:
    """Set `n_features_in_` and, if the table had column names, `feature_names_in_`."""
    estimator.n_features_in_ = len(features)
    if features.named:
        estimator.feature_names_in_ = np.array(features.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def encode_for(estimator: Any, X: Any) -> Matrix:
    """Encode rows for a fitted estimator, with the checks that scikit-learn makes."""
    check_is_fitted(estimator)
    features: Features = estimator.features_
    table = features.encode(X, type(estimator).__name__)
    if len(table) == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    require_finite(table, features)
    return table


def checked_case_weights(weights: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    """Return the weights given to an inducer: positive, one per row."""
    checked = case_weights(weights, n_rows)
    if checked is not None and not (checked > 0).all():
        raise ValueError("weights contains 0; drop the rows of weight 0.")
    return checked


def checked_codes(codes: NDArray[Any], n_rows: int, n_classes: int) -> NDArray[np.int32]:
    """Return the class codes given to an inducer as the core takes them, or raise a ValueError."""
    codes = np.asarray(codes)
    if codes.shape != (n_rows,) or codes.dtype.kind not in "iu":
        raise ValueError(
            f"codes has shape {codes.shape} and dtype {codes.dtype}; expected whole numbers of shape "
            f"({n_rows},), the position of each row's class."
        )
    if len(codes) and not 0 <= codes.min() <= codes.max() < n_classes:
        raise ValueError(
            f"codes range from {codes.min()} to {codes.max()}; expected 0 to {n_classes - 1} for {n_classes} "
            "classes."
        )
    return np.ascontiguousarray(codes, dtype=np.int32)


def counted_min_cases(min_cases: int | float, n_rows: int) -> float:
    """Return the number of rows that `min_cases` stands for: itself, or below 1 that fraction of the rows."""
    check_parameters({"min_cases": MIN_CASES}, {"min_cases": min_cases})
    return float(min_cases) if min_cases >= 1 else float(math.ceil(min_cases * n_rows))
