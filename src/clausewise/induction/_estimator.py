"""What the classifiers of this package share: reading targets, checking rows, scikit-learn's attributes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from clausewise.features import Features, Matrix
from clausewise.induction.matrix import require_finite
from clausewise.rules.rule import Label


@dataclass(frozen=True, eq=False)
class ClassCodes:
    """Class labels of rows as positions in a declared order.

    Attributes
    ----------
    declared : ndarray
        The classes in the order that decides ties.
    codes : ndarray of shape (n_rows,)
        Position of each row's class in it.
    """

    declared: NDArray[Any]
    codes: NDArray[np.int32]

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
) -> tuple[ClassCodes, NDArray[np.float64] | None]:
    """Class codes and case weights, checked against the number of rows."""
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
        place = {label: i for i, label in enumerate(declared.tolist())}
        if len(place) != len(declared):
            raise ValueError("class_order names a class twice.")
        unknown = [label for label in found.tolist() if label not in place]
        if unknown:
            raise ValueError(f"y holds the class {unknown[0]!r}, which class_order does not name; add it.")
        codes = np.array([place[label] for label in found.tolist()])[codes]
        found = declared
    return ClassCodes(found, codes.astype(np.int32)), _checked_weights(sample_weight, n_rows)


def check_rows(n_rows: int, classes: ClassCodes) -> None:
    """Raise a ValueError if there is nothing to learn from."""
    if n_rows == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    if len(classes.declared) > 65_535:
        raise ValueError(
            f"y has {len(classes.declared):,} classes, at most 65,535 can be told apart; is it a number to "
            "be estimated rather than a class?"
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


def _checked_weights(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; expected ({n_rows},), one weight per row."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(
            "sample_weight holds negative, infinite or missing weights; pass weights of 0 or more."
        )
    if not (weights > 0).any():
        raise ValueError("sample_weight is zero for all rows, so that there is nothing to learn from.")
    return weights
