"""Measures of a rule set: fidelity, accuracy, errors of numbers, length, reading cost and coverage."""

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from clausewise.data.labels import as_classes, label_kind, plain_label, read_labels
from clausewise.data.responses import read_responses
from clausewise.rules.columns import NO_SET

if TYPE_CHECKING:
    from clausewise.rules.ruleset import RuleSet
    from clausewise.rules.stored import StoredRules

Floats = NDArray[np.float64]

__all__ = [
    "accuracy",
    "auc",
    "auc_from_labels",
    "balanced_accuracy",
    "cohen_kappa",
    "conflict",
    "coverage",
    "fidelity",
    "fraction_within",
    "largest_error",
    "majority_baseline",
    "mean_absolute_error",
    "mean_rule_length",
    "n_distinct_terms",
    "overlap",
    "r_squared",
    "reading_cost",
    "root_mean_squared_error",
    "wilson_interval",
]


def accuracy(predicted: ArrayLike, target: ArrayLike) -> float:
    """Return the fraction of rows on which the prediction equals the target.

    Examples
    --------
    >>> from clausewise import metrics
    >>> metrics.accuracy(["yes", "no", "no", "yes"], ["yes", "no", "yes", "yes"])
    0.75
    """
    guess, truth = _paired(predicted, target)
    return float(np.mean(guess == truth))


def fidelity(predicted: ArrayLike, network: ArrayLike) -> float:
    """Return the fraction of rows decided as the network decides them (the paper's main measure).

    Examples
    --------
    >>> from clausewise import metrics
    >>> metrics.fidelity(["yes", "no", "no", "yes"], network=["yes", "no", "no", "no"])
    0.75
    """
    return accuracy(predicted, network)


def balanced_accuracy(predicted: ArrayLike, target: ArrayLike) -> float:
    """Return the mean, over the classes in `target`, of the fraction of their rows predicted correctly.

    Examples
    --------
    >>> from clausewise import metrics
    >>> predicted, target = ["no"] * 10, ["no"] * 9 + ["yes"]
    >>> metrics.accuracy(predicted, target), metrics.balanced_accuracy(predicted, target)
    (0.9, 0.5)
    """
    guess, truth = _paired(predicted, target)
    _, index = np.unique(truth, return_inverse=True)
    return float(np.mean(np.bincount(index, weights=guess == truth) / np.bincount(index)))


def majority_baseline(target: ArrayLike) -> float:
    """Return the fraction of rows with the most frequent label: the accuracy of always predicting it.

    Examples
    --------
    >>> from clausewise import metrics
    >>> metrics.majority_baseline(["no", "yes", "no", "no"])
    0.75
    """
    labels = np.asarray(target)
    if labels.ndim != 1 or len(labels) == 0:
        raise ValueError(f"target has shape {labels.shape}; expected one label per row, at least one.")
    return float(np.unique(labels, return_counts=True)[1].max() / len(labels))


def cohen_kappa(predicted: ArrayLike, network: ArrayLike) -> float:
    """Return Cohen's kappa: the agreement beyond chance, as a fraction of all that is possible beyond chance.

    1 is full agreement; 0 is that of two who decide independently, each class as often as here. NaN if both
    give all rows the same class, where chance alone agrees fully.

    Examples
    --------
    >>> from clausewise import metrics
    >>> rules, network = ["no"] * 8 + ["yes", "no"], ["no"] * 8 + ["yes", "yes"]
    >>> metrics.fidelity(rules, network), round(metrics.cohen_kappa(rules, network), 3)
    (0.9, 0.615)
    """
    guess, answer = _paired(predicted, network)
    _, codes = np.unique(np.concatenate([guess, answer]), return_inverse=True)
    n_guessed, n_answered = (np.bincount(part, minlength=codes.max() + 1) for part in np.split(codes, 2))
    n_rows, n_equal = len(guess), int((guess == answer).sum())
    # In whole numbers, so that agreement by chance is certain exactly where it should be.
    n_by_chance = int(n_guessed @ n_answered)
    if n_by_chance == n_rows**2:
        return math.nan
    return (n_rows * n_equal - n_by_chance) / (n_rows**2 - n_by_chance)


def wilson_interval(n_hits: float, n_rows: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's confidence interval of a fraction that was counted as `n_hits` of `n_rows` rows.

    Examples
    --------
    >>> from clausewise import metrics
    >>> low, high = metrics.wilson_interval(95, 100)
    >>> round(low, 3), round(high, 3)
    (0.888, 0.978)
    """
    if not 0 <= n_hits <= n_rows or n_rows == 0:
        raise ValueError(f"{n_hits} of {n_rows} rows is not a fraction; expected 0 to n_rows of 1 or more.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; it must lie between 0 and 1.")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    fraction, shrink = n_hits / n_rows, 1 / (1 + z**2 / n_rows)
    centre = shrink * (fraction + z**2 / (2 * n_rows))
    half = shrink * z * math.sqrt(fraction * (1 - fraction) / n_rows + (z / (2 * n_rows)) ** 2)
    # The bounds of 0 and 1 are exact, whatever the rounding.
    return 0.0 if n_hits == 0 else centre - half, 1.0 if n_hits == n_rows else centre + half


def auc(scores: ArrayLike, target: ArrayLike, classes: ArrayLike) -> float:
    """Return the area under the ROC curve of class scores (one column per class).

    With two classes, the area for the second; with more, the mean over the classes, each against all others.
    A class with no rows, or with all of them, has no curve and is left out; NaN if none is left.

    Examples
    --------
    >>> from clausewise import RuleSet, metrics
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low", classes=["low", "high"])
    >>> X, target = [[30], [40], [60], [70]], ["low", "high", "high", "high"]
    >>> round(metrics.auc(rules.scores(X), target, rules.classes), 3)
    0.833
    """
    columns, truth, labels = np.asarray(scores, dtype=np.float64), np.asarray(target), np.asarray(classes)
    if columns.shape != (len(truth), len(labels)):
        raise ValueError(
            f"scores has shape {columns.shape}; expected one row per target and one column per class, "
            f"{(len(truth), len(labels))}."
        )
    if len(labels) == 2:
        return _auc_of_one(columns[:, 1], truth == labels[1])
    areas = [_auc_of_one(columns[:, c], truth == label) for c, label in enumerate(labels)]
    known = [area for area in areas if not math.isnan(area)]
    return float(np.mean(known)) if known else math.nan


def auc_from_labels(predicted: ArrayLike, target: ArrayLike, classes: ArrayLike) -> float:
    """Return the AUC of hard decisions as scores 0 and 1, which the paper reports, for comparison.

    Examples
    --------
    >>> from clausewise import metrics
    >>> predicted, target = ["no", "no", "yes", "yes"], ["no", "yes", "yes", "yes"]
    >>> round(metrics.auc_from_labels(predicted, target, classes=["no", "yes"]), 3)
    0.833
    """
    guess, truth = _paired(predicted, target)
    labels = np.asarray(classes)
    return auc((guess[:, None] == labels).astype(np.float64), truth, labels)


def r_squared(predicted: ArrayLike, target: ArrayLike) -> float:
    """Return the fraction of the target's variance that the predictions explain; NaN if there is no variance.

    1 is perfect, 0 is that of always predicting the mean of the target, and below 0 is worse than that.

    Examples
    --------
    >>> from clausewise import metrics
    >>> round(metrics.r_squared([10, 20, 30, 40], [11, 20, 25, 40]), 3)
    0.941
    """
    numbers, truth = _paired_numbers(predicted, target)
    variation = float(((truth - truth.mean()) ** 2).sum())
    return 1.0 - float(((numbers - truth) ** 2).sum()) / variation if variation > 0 else math.nan


def mean_absolute_error(predicted: ArrayLike, target: ArrayLike) -> float:
    """Return the mean of the absolute errors.

    Examples
    --------
    >>> from clausewise import metrics
    >>> metrics.mean_absolute_error([10, 20, 30, 40], [11, 20, 25, 40])
    1.5
    """
    numbers, truth = _paired_numbers(predicted, target)
    return float(np.abs(numbers - truth).mean())


def root_mean_squared_error(predicted: ArrayLike, target: ArrayLike) -> float:
    """Return the square root of the mean squared error, to which large errors contribute most.

    Examples
    --------
    >>> from clausewise import metrics
    >>> round(metrics.root_mean_squared_error([10, 20, 30, 40], [11, 20, 25, 40]), 3)
    2.55
    """
    numbers, truth = _paired_numbers(predicted, target)
    return math.sqrt(float(((numbers - truth) ** 2).mean()))


def largest_error(predicted: ArrayLike, target: ArrayLike) -> float:
    """Return the largest absolute error.

    Examples
    --------
    >>> from clausewise import metrics
    >>> metrics.largest_error([10, 20, 30, 40], [11, 20, 25, 40])
    5.0
    """
    numbers, truth = _paired_numbers(predicted, target)
    return float(np.abs(numbers - truth).max())


def fraction_within(predicted: ArrayLike, target: ArrayLike, tolerance: float) -> float:
    """Return the fraction of rows whose absolute error is at most `tolerance`.

    Examples
    --------
    >>> from clausewise import metrics
    >>> metrics.fraction_within([10, 20, 30, 40], [11, 20, 25, 40], tolerance=1)
    0.75
    """
    numbers, truth = _paired_numbers(predicted, target)
    return fraction_of(np.abs(numbers - truth) <= tolerance)


def mean_rule_length(rules: "StoredRules[Any]") -> float:
    """Return the mean number of terms per rule; 0 without rules.

    Examples
    --------
    >>> from clausewise import RuleSet, metrics
    >>> rules = RuleSet.from_text(
    ...     "IF age > 50 AND debt > 2 THEN high IF debt > 8 THEN high", ["age", "debt"], default="low"
    ... )
    >>> metrics.mean_rule_length(rules)
    1.5
    """
    return float(rules.columns.lengths.mean()) if len(rules) else 0.0


def n_distinct_terms(rules: "StoredRules[Any]") -> int:
    """Count the distinct terms, which a reader has to understand.

    Examples
    --------
    >>> from clausewise import RuleSet, metrics
    >>> rules = RuleSet.from_text(
    ...     "IF age > 50 AND debt > 8 THEN high IF debt > 8 THEN high", ["age", "debt"], default="low"
    ... )
    >>> metrics.n_distinct_terms(rules)  # age > 50 and, in both rules, debt > 8
    2
    """
    columns = rules.columns
    parts = (columns.feature, columns.low, columns.high, columns.value_set, columns.missing)
    return len(set(zip(*(part.tolist() for part in parts), strict=True)))


def reading_cost(rules: "StoredRules[Any]") -> int:
    """Count what a person has to read: one per rule, and what its terms name.

    A term costs 1 per bound, so `age <= 60` costs 1 and `20 < age <= 60` costs 2. A set of categories costs
    the number of those named or, if smaller, of the feature's categories left out, and at least 1. A term
    without bounds (`age is known`, `age is missing`) costs 1. Rules that share a premise are printed one by
    one, and so are counted one by one. In rules for numbers, each coefficient of the linear part costs 1.

    Examples
    --------
    >>> from clausewise import RuleSet, metrics
    >>> rules = RuleSet.from_text(
    ...     "IF 20 < age <= 60 AND debt > 2 THEN high IF debt > 8 THEN high", ["age", "debt"], default="low"
    ... )
    >>> metrics.reading_cost(rules)  # two rules, with three bounds and one bound
    6
    """
    columns = rules.columns
    n_bounds = np.isfinite(columns.low).astype(np.int64) + np.isfinite(columns.high)
    # An interval has no set: its NO_SET selects the 0 that is appended.
    n_named = np.append(np.diff(columns.set_starts), 0)[columns.value_set]
    n_left_out = rules.features.n_categories[columns.feature] - n_named
    n_read = np.where(columns.value_set == NO_SET, n_bounds, np.minimum(n_named, n_left_out))
    return len(rules) + int(np.maximum(n_read, 1).sum()) + rules.n_coefficients


def coverage(rules: "StoredRules[Any]", X: Any) -> float:
    """Return the fraction of rows on which at least one rule fires.

    Examples
    --------
    >>> from clausewise import RuleSet, metrics
    >>> text = "IF age > 50 THEN high IF debt > 8 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> metrics.coverage(rules, [[60, 0], [60, 9], [30, 0], [30, 9]])  # no rule fires on the third row
    0.75
    """
    return 1.0 - fraction_of(rules.uncovered(X))


def overlap(rules: "RuleSet", X: Any) -> float:
    """Return the fraction of rows on which two or more rules fire.

    Examples
    --------
    >>> from clausewise import RuleSet, metrics
    >>> text = "IF age > 50 THEN high IF debt > 8 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> metrics.overlap(rules, [[60, 0], [60, 9], [30, 0], [30, 9]])  # both rules fire on the second row
    0.25
    """
    return fraction_of(_rules_fired(rules, X).sum(axis=1) >= 2)


def conflict(rules: "RuleSet", X: Any) -> float:
    """Return the fraction of rows on which rules of different classes fire, so that the vote matters.

    Examples
    --------
    >>> from clausewise import RuleSet, metrics
    >>> text = "IF age > 50 THEN high IF debt <= 1 THEN low"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> metrics.conflict(rules, [[60, 0], [60, 9], [30, 0], [30, 9]])  # both rules fire on the first row
    0.25
    """
    return fraction_of((_rules_fired(rules, X) > 0).sum(axis=1) >= 2)


def _rules_fired(rules: "RuleSet", X: Any) -> NDArray[np.float64]:
    """Count the rules that fire, per row and class."""
    return rules.evaluator.rules_per_class(rules.features.encode(X))


def fraction_of(holds: NDArray[np.bool_]) -> float:
    """Return the fraction of rows for which something holds; there must be at least one row."""
    if len(holds) == 0:
        raise ValueError("There are no rows to measure on; pass at least one.")
    return float(holds.mean())


def _auc_of_one(score: NDArray[np.float64], is_positive: NDArray[np.bool_]) -> float:
    """Return the chance that a positive row scores above a negative one; ties count half (Mann–Whitney)."""
    n_positive = int(is_positive.sum())
    n_negative = len(is_positive) - n_positive
    if n_positive == 0 or n_negative == 0:
        return math.nan
    rank_sum = float(rankdata(score)[is_positive].sum())
    return (rank_sum - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)


def _paired_numbers(predicted: ArrayLike, target: ArrayLike) -> tuple[Floats, Floats]:
    n_rows = np.size(np.asarray(target))
    truth = read_responses(target, n_rows, "target")
    numbers = np.asarray(predicted, dtype=np.float64)
    if numbers.shape != truth.shape:
        raise ValueError(
            f"predictions have shape {numbers.shape} and targets {truth.shape}; expected one each per row."
        )
    if n_rows == 0:
        raise ValueError("There are no rows to measure on; pass at least one.")
    return numbers, truth


def _paired(predicted: ArrayLike, target: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    guess, truth = np.asarray(predicted), np.asarray(target)
    if guess.ndim != 1 or guess.shape != truth.shape:
        raise ValueError(
            f"predictions have shape {guess.shape} and targets {truth.shape}; "
            "expected two one-dimensional arrays of equal length."
        )
    if len(guess) == 0:
        raise ValueError("There are no rows to measure on; pass at least one.")
    if label_kind(plain_label(guess[0])) is not label_kind(plain_label(truth[0])):
        predicted_classes = as_classes(np.unique(guess)).tolist()
        truth = read_labels(truth, predicted_classes, len(guess), "target", allow_unknown=True).values
    return guess, truth
