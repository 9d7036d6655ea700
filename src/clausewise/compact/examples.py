"""What small rule sets are learnt from: rows, and what rules should say on them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.features import Matrix
from clausewise.rules.ruleset import RuleSet

Balance = Literal["balanced"] | None
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows with what rules should say on them.

    Attributes
    ----------
    table : ndarray of shape (n_rows, n_features)
        The encoded rows.
    codes : ndarray of int
        The class of each row, as a position in the classes.
    n_classes : int
        Number of classes.
    probabilities : ndarray of shape (n_rows, n_classes), optional
        What the rules' probabilities should be like; certain of `codes` unless given.
    weights : ndarray of float, optional
        How much each row counts.
    """

    table: Matrix
    codes: NDArray[np.int32]
    n_classes: int
    probabilities: Floats | None = None
    weights: Floats | None = None

    def take(self, rows: NDArray[np.intp]) -> "Examples":
        """Some of the rows."""
        return replace(
            self,
            table=self.table[rows],
            codes=self.codes[rows],
            probabilities=None if self.probabilities is None else self.probabilities[rows],
            weights=None if self.weights is None else self.weights[rows],
        )

    def row_weights(self, balance: Balance) -> Floats:
        """How much each row counts, 1 on average; balanced, all classes count alike."""
        weights = np.ones(len(self.codes))
        if self.weights is not None:
            weights = self.weights / self.weights.max()  # first, as a sum might overflow
            weights /= weights.mean()
        if balance is None:
            return weights
        of_class = np.bincount(self.codes, weights=weights, minlength=self.n_classes)
        n_present = np.count_nonzero(of_class)
        return np.asarray(weights * (weights.sum() / n_present / of_class[self.codes]))

    @cached_property
    def target_probabilities(self) -> Floats:
        """Probabilities, certain where only the class is known."""
        if self.probabilities is not None:
            return self.probabilities
        return np.eye(self.n_classes)[self.codes]


def examples_of(
    rules: RuleSet, X: Any, target: ArrayLike, sample_weight: ArrayLike | None = None
) -> Examples:
    """Rows and targets as they are given: labels, or probabilities with one column per class."""
    if rules.columns.priority.any():
        raise ValueError(
            f"{int(rules.columns.priority.sum())} rules have priority, and weights cannot be fitted beside "
            "rules that override them; compact the others, rules[~rules.columns.priority], and add these to "
            "the result."
        )
    table = rules.features.encode(X)
    n_rows, n_classes = len(table), len(rules.classes)
    if n_rows == 0:
        raise ValueError("X has no rows; there is nothing to learn from.")
    given = _array(target, "target", None)
    if given.ndim not in (1, 2) or len(given) != n_rows or (given.ndim == 2 and given.shape[1] != n_classes):
        raise ValueError(
            f"target has shape {given.shape} for {n_rows} rows and {n_classes} classes; pass one label per "
            "row, or probabilities with one column per class."
        )
    if given.ndim == 1:
        examples = Examples(table, _codes(given, rules), n_classes)
    else:
        probabilities = _probabilities(given)
        examples = Examples(table, probabilities.argmax(axis=1).astype(np.int32), n_classes, probabilities)
    if sample_weight is None:
        return examples
    weights = _array(sample_weight, "sample_weight", np.float64)
    if weights.shape != (n_rows,) or not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise ValueError(
            f"sample_weight has shape {weights.shape}; expected {n_rows} finite numbers, none of them "
            "negative and not all 0."
        )
    return replace(examples, weights=weights).take(np.flatnonzero(weights > 0))


def _array(values: ArrayLike, name: str, dtype: type | None) -> NDArray[Any]:
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not an array of one entry per row: {error}") from None


def _codes(labels: NDArray[Any], rules: RuleSet) -> NDArray[np.int32]:
    code_of = {label: code for code, label in enumerate(rules.labels)}
    listed = labels.tolist()
    unknown = [label for label in listed if not isinstance(label, str | int | float) or label not in code_of]
    if unknown:
        known = ", ".join(map(repr, rules.labels[:10]))
        raise ValueError(f"target holds {unknown[0]!r}, which is not one of the classes {known}.")
    return np.array([code_of[label] for label in listed], dtype=np.int32)


def _probabilities(given: NDArray[Any]) -> Floats:
    probabilities: Floats = _array(given, "target", np.float64)
    is_allowed = np.isfinite(probabilities) & (probabilities >= 0)
    if not is_allowed.all() or not (np.abs(probabilities.sum(axis=1) - 1) < 1e-3).all():
        raise ValueError("target holds rows that are no probabilities; each must be ≥ 0 and add up to 1.")
    return probabilities
