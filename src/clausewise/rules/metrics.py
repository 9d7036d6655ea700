"""How good a rule set is: faithful, accurate, short, and speaking about most rows."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from clausewise.rules.voting import Voting

if TYPE_CHECKING:
    from clausewise.rules.ruleset import RuleSet


def accuracy(predicted: ArrayLike, target: ArrayLike) -> float:
    """Part of the rows on which the prediction is the target."""
    guess, truth = _paired(predicted, target)
    return float(np.mean(guess == truth))


def fidelity(predicted: ArrayLike, network: ArrayLike) -> float:
    """Part of the rows on which the rules decide as the network does (the paper's main measure)."""
    return accuracy(predicted, network)


def balanced_accuracy(predicted: ArrayLike, target: ArrayLike) -> float:
    """Mean over the classes in `target` of the part of their rows that are predicted right."""
    guess, truth = _paired(predicted, target)
    _, index = np.unique(truth, return_inverse=True)
    return float(np.mean(np.bincount(index, weights=guess == truth) / np.bincount(index)))


def auc(scores: ArrayLike, target: ArrayLike, classes: ArrayLike) -> float:
    """Area under the ROC curve of class scores (one column per class).

    With two classes that of the second one; with more, the mean over the classes, each against all others.
    A class that has no rows, or all of them, has no curve and is left out; NaN if none is left.
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
    """AUC of hard decisions taken as scores 0 and 1: what the paper reports, kept for comparison."""
    guess, truth = _paired(predicted, target)
    labels = np.asarray(classes)
    return auc((guess[:, None] == labels).astype(np.float64), truth, labels)


def mean_rule_length(rules: "RuleSet") -> float:
    """Mean number of terms per rule; 0 without rules."""
    return float(rules.columns.lengths.mean()) if len(rules) else 0.0


def n_distinct_terms(rules: "RuleSet") -> int:
    """Number of different terms: what a reader has to understand."""
    columns = rules.columns
    parts = (columns.feature, columns.low, columns.high, columns.value_set)
    return len(set(zip(*(part.tolist() for part in parts), strict=True)))


def coverage(rules: "RuleSet", X: Any) -> float:
    """Part of the rows on which at least one rule fires."""
    return 1.0 - _part(rules.uncovered(X))


def overlap(rules: "RuleSet", X: Any) -> float:
    """Part of the rows on which two or more rules fire."""
    return _part(_rules_fired(rules, X).sum(axis=1) >= 2)


def conflict(rules: "RuleSet", X: Any) -> float:
    """Part of the rows on which rules of different classes fire, so that the vote matters."""
    return _part((_rules_fired(rules, X) > 0).sum(axis=1) >= 2)


@dataclass(frozen=True)
class Evaluation:
    """All measures of a rule set on some rows; `fidelity` is None unless the network's labels were given."""

    voting: Voting
    n_rows: int
    fidelity: float | None
    accuracy: float
    balanced_accuracy: float
    auc: float
    auc_from_labels: float
    n_rules: int
    mean_rule_length: float
    n_distinct_terms: int
    coverage: float
    overlap: float
    conflict: float

    def __str__(self) -> str:
        shares = [("fidelity to the network", self.fidelity), ("accuracy", self.accuracy)]
        shares += [("balanced accuracy", self.balanced_accuracy), ("covered by a rule", self.coverage)]
        shares += [("two or more rules fire", self.overlap), ("… of different classes", self.conflict)]
        lines = [f"{self.n_rules:,} rules on {self.n_rows:,} rows, voting {self.voting}"]
        lines += [f"  {name:<24}{100 * share:>8.2f} %" for name, share in shares if share is not None]
        lines += [
            f"  {'AUC':<24}{self.auc:>8.4f}",
            f"  {'AUC from hard labels':<24}{self.auc_from_labels:>8.4f}",
        ]
        lines += [f"  {'terms per rule':<24}{self.mean_rule_length:>8.2f}"]
        lines += [f"  {'distinct terms':<24}{self.n_distinct_terms:>8,}"]
        return "\n".join(lines)


def evaluate(
    rules: "RuleSet",
    X: Any,
    target: ArrayLike,
    network: ArrayLike | None = None,
    voting: Voting | None = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """All measures on the rows of `X`."""
    chosen = rules if voting is None else rules.with_voting(voting)
    matrix = chosen.features.encode(X)
    predicted = chosen.classes[chosen.evaluator.decide(matrix, chosen.voting, chosen.default_index, n_jobs)]
    probabilities = chosen.probabilities(chosen.evaluator.scores(matrix, chosen.voting, n_jobs))
    n_fired = chosen.evaluator.rules_per_class(matrix, n_jobs)
    return Evaluation(
        voting=chosen.voting,
        n_rows=len(matrix),
        fidelity=None if network is None else fidelity(predicted, network),
        accuracy=accuracy(predicted, target),
        balanced_accuracy=balanced_accuracy(predicted, target),
        auc=auc(probabilities, target, chosen.classes),
        auc_from_labels=auc_from_labels(predicted, target, chosen.classes),
        n_rules=len(chosen),
        mean_rule_length=mean_rule_length(chosen),
        n_distinct_terms=n_distinct_terms(chosen),
        coverage=_part(n_fired.sum(axis=1) > 0),
        overlap=_part(n_fired.sum(axis=1) >= 2),
        conflict=_part((n_fired > 0).sum(axis=1) >= 2),
    )


def _rules_fired(rules: "RuleSet", X: Any) -> NDArray[np.float64]:
    """Per row and class the number of rules that fire."""
    return rules.evaluator.rules_per_class(rules.features.encode(X))


def _part(holds: NDArray[np.bool_]) -> float:
    if len(holds) == 0:
        raise ValueError("There are no rows to measure on; pass at least one.")
    return float(holds.mean())


def _auc_of_one(score: NDArray[np.float64], is_positive: NDArray[np.bool_]) -> float:
    """The chance that a positive row scores above a negative one, ties counting half (Mann–Whitney)."""
    n_positive = int(is_positive.sum())
    n_negative = len(is_positive) - n_positive
    if n_positive == 0 or n_negative == 0:
        return math.nan
    rank_sum = float(rankdata(score)[is_positive].sum())
    return (rank_sum - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)


def _paired(predicted: ArrayLike, target: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    guess, truth = np.asarray(predicted), np.asarray(target)
    if guess.ndim != 1 or guess.shape != truth.shape:
        raise ValueError(
            f"{guess.shape} predictions and {truth.shape} targets were given; "
            "expected two columns of equal length."
        )
    if len(guess) == 0:
        raise ValueError("There are no rows to measure on; pass at least one.")
    return guess, truth
