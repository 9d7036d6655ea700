"""What classifiers and inducers share: reading targets, checking parameters, scikit-learn's attributes."""

import math
import numbers
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from clausewise.data.features import Features, require_finite
from clausewise.data.labels import Label
from clausewise.data.table import Matrix
from clausewise.data.weights import case_weights

MAX_CLASSES = 10_000


class TableClassifier(ClassifierMixin, BaseEstimator):
    """A scikit-learn classifier that takes categories, text and missing values as they are."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


@dataclass(frozen=True, eq=False)
class ClassOrder:
    """Classes in the order that decides ties, and as scikit-learn orders them."""

    declared: NDArray[Any]

    @cached_property
    def sorted(self) -> NDArray[Any]:
        """The classes as scikit-learn orders them."""
        return np.sort(self.declared)

    @cached_property
    def sorted_places(self) -> NDArray[np.intp]:
        """Per declared class, its place among the sorted ones."""
        return np.searchsorted(self.sorted, self.declared)

    @property
    def labels(self) -> list[Label]:
        """The declared classes as plain values."""
        return list(self.declared.tolist())


def read_targets(
    y: ArrayLike, sample_weight: ArrayLike | None, n_rows: int, class_order: ArrayLike | None = None
) -> tuple[ClassOrder, NDArray[np.int32], NDArray[np.float64] | None]:
    """The classes, each row's position in them, and case weights; checked against the number of rows."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    if len(labels) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"X has {n_rows} rows, y has {len(labels)}."
        )
    found, codes = np.unique(labels, return_inverse=True)
    if class_order is not None:
        declared = np.asarray(class_order)
        if declared.ndim != 1:
            raise ValueError(f"class_order is {class_order!r}; expected a list of class labels.")
        place = {label: i for i, label in enumerate(declared.tolist())}
        if len(place) != len(declared):
            raise ValueError("class_order names a class twice.")
        unknown = [label for label in found.tolist() if label not in place]
        if unknown:
            raise ValueError(f"y holds the class {unknown[0]!r}, which class_order does not name; add it.")
        codes = np.array([place[label] for label in found.tolist()])[codes]
        found = declared
    _check_number_of_classes(len(found), n_rows)
    return ClassOrder(found), codes.astype(np.int32), case_weights(sample_weight, n_rows)


def _check_number_of_classes(n_classes: int, n_rows: int) -> None:
    if n_rows == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    # Every node of a tree counts every class, so that a mistake here could take all memory.
    if n_classes > MAX_CLASSES or (n_classes > 1_000 and n_classes * 4 > n_rows):
        raise ValueError(
            f"y has {n_classes:,} classes in {n_rows:,} rows (at most {MAX_CLASSES:,}, and above 1,000 at "
            "least 4 rows each on average); is it a number to be estimated rather than a class?"
        )


def set_feature_attributes(estimator: Any, features: Features) -> None:
    """`n_features_in_` and, if the table had names, `feature_names_in_`."""
    estimator.n_features_in_ = len(features)
    if features.named:
        estimator.feature_names_in_ = np.array(features.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def encode_for(estimator: Any, X: Any) -> Matrix:
    """Rows for a fitted estimator, checked as scikit-learn does."""
    check_is_fitted(estimator)
    features: Features = estimator.features_
    table = features.encode(X, type(estimator).__name__)
    if len(table) == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    require_finite(table, features)
    return table


def checked_case_weights(weights: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    """The weights given to an inducer: positive, one per row."""
    checked = case_weights(weights, n_rows)
    if checked is not None and not (checked > 0).all():
        raise ValueError("weights holds 0; leave rows that do not count out.")
    return checked


def checked_codes(codes: NDArray[Any], n_rows: int, n_classes: int) -> NDArray[np.int32]:
    """Class codes for the core, or an error that says what is wrong with them."""
    codes = np.asarray(codes)
    if codes.shape != (n_rows,) or codes.dtype.kind not in "iu":
        raise ValueError(
            f"codes has shape {codes.shape} and dtype {codes.dtype}; whole numbers of shape ({n_rows},) are "
            "needed, the position of each row's class."
        )
    if len(codes) and not 0 <= codes.min() <= codes.max() < n_classes:
        raise ValueError(f"codes runs from {codes.min()} to {codes.max()}; there are {n_classes} classes.")
    return np.ascontiguousarray(codes, dtype=np.int32)


def counted_min_cases(min_cases: int | float, n_rows: int) -> float:
    """The number of rows that `min_cases` asks for: itself, or below 1 that fraction of the rows."""
    is_number = isinstance(min_cases, numbers.Real) and not isinstance(min_cases, bool)
    if not is_number or not 0 < min_cases < math.inf:
        raise ValueError(
            f"min_cases is {min_cases!r}; expected a number of rows (1 or more) or a fraction of them."
        )
    return float(min_cases) if min_cases >= 1 else float(math.ceil(min_cases * n_rows))


def require_count(name: str, count: int | None, least: int) -> None:
    """Raise a ValueError unless the parameter is a whole number of at least `least`, or None for no limit."""
    is_count = isinstance(count, numbers.Integral) and not isinstance(count, bool)
    if count is not None and not (is_count and count >= least):
        raise ValueError(f"{name} is {count!r}; expected a whole number of {least} or more.")
