"""Classifying new cases with a finished model (spec 7, B3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .c50_data import known_cells, rounded_column
from .c50_numbers import f32
from .c50_rules import Rule, RuleModel, vote_of
from .c50_tree import Node, SoftBounds, class_scores


def predict(
    model, columns: Sequence[np.ndarray], from_text: bool = False, trials: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Class codes and class probabilities, by the first `trials` classifiers.

    `from_text`: use the numbers as they come back from the emitted text (spec 7.3), as the R function does: bounds with
    7 significant digits, weights with 6. Thresholds stay exact, although 8 digits do not identify every single: the
    text would send some training cases that lie on a threshold the other way.
    """
    columns = [rounded_column(column, kind) for column, kind in zip(columns, model.kinds)]
    voting = model.trials[:trials]
    answers = [answer_of(model, trial, columns, from_text) for trial in voting]
    if len(answers) == 1:
        return answers[0].classes, answers[0].probabilities
    n_cases = len(columns[0])
    votes = np.zeros((n_cases, model.n_classes), dtype=np.float32)
    total = np.zeros(n_cases)
    rows = np.arange(n_cases)
    for answer in answers:
        before = votes[rows, answer.classes].astype(np.float64)
        votes[rows, answer.classes] = (before + answer.confidences).astype(np.float32)
        total += answer.confidences
    shares = votes / total[:, None]
    default = answers[0].default
    classes = np.argmax(shares, axis=1)
    classes[shares[:, default] >= shares.max(axis=1)] = default
    return classes, shares / np.cumsum(shares, axis=1)[:, -1:]


@dataclass(frozen=True)
class Answer:
    """What one classifier says of some cases."""

    classes: np.ndarray
    probabilities: np.ndarray
    confidences: np.ndarray  # of the class
    default: int


def answer_of(model, trial, columns, from_text: bool) -> Answer:
    if trial.found is None:
        return _predict_tree(model, trial.tree, columns, from_text)
    return _predict_rules(model, trial.found, columns, from_text)


def bounds_from_text(bounds: SoftBounds | None, threshold: np.float32, from_text: bool) -> SoftBounds | None:
    """Bounds are written only if the upper one lies above the threshold (B4.3)."""
    if bounds is None or not bounds.high > threshold:
        return None
    if not from_text:
        return bounds
    return SoftBounds(*(f32(float("%.7g" % float(bound))) for bound in (bounds.low, bounds.mid, bounds.high)))


def weight_from_text(weight: float) -> float:
    return float("%g" % float(weight))


def _tree_for_prediction(node: Node, from_text: bool) -> Node:
    """A copy whose sizes are the sums of the distribution, which is all that a reader of the model knows."""
    distribution = node.distribution
    if from_text:
        distribution = np.array([weight_from_text(weight) for weight in distribution], dtype=np.float32)
    size = f32(0)
    for weight in distribution:
        size = size + weight
    bounds = None if node.threshold is None else bounds_from_text(node.bounds, node.threshold, from_text)
    branches = [_tree_for_prediction(branch, from_text) for branch in node.branches]
    return replace(node, distribution=distribution, size=size, bounds=bounds, branches=branches)


def _predict_tree(model, grown: Node, columns, from_text: bool) -> Answer:
    """Spec 7.1, B3.2."""
    tree = _tree_for_prediction(grown, from_text)
    known = [known_cells(column, kind) for column, kind in zip(columns, model.kinds)]
    scores, mean_leaf_size = class_scores(tree, columns, known, model.n_classes, in_training=False)
    if model.costs is None:
        classes = np.argmax(scores, axis=1)
        ties_with_root = scores[:, tree.cls] >= scores.max(axis=1)
        classes[ties_with_root] = tree.cls
    else:
        classes = np.array([_cheapest(model.costs.expected(row), row) for row in scores], dtype=np.int64)
    prior = (tree.distribution / tree.size).astype(np.float64)  # single precision (B9.9)
    raw = (mean_leaf_size[:, None] * scores + prior) / (mean_leaf_size[:, None] + 1)
    return Answer(
        classes, raw / np.cumsum(raw, axis=1)[:, -1:], raw[np.arange(len(classes)), classes], tree.cls
    )


def _cheapest(expected_costs: list[float], scores: np.ndarray) -> int:
    possible = [c for c in range(len(scores)) if scores[c] != 0]
    return min(possible, key=lambda c: (expected_costs[c], c))


def _predict_rules(model, found: RuleModel, columns, from_text: bool) -> Answer:
    """Spec 7.2, B3.2."""
    rules = [_rule_from_text(rule) for rule in found.rules] if from_text else found.rules
    n_cases, n_classes = len(columns[0]), model.n_classes
    votes = np.zeros((n_cases, n_classes))
    n_firing = np.zeros(n_cases)
    # Per class, the vote of the firing rule with the smallest cover, the larger vote on equal cover.
    specific_vote = np.zeros((n_cases, n_classes))
    smallest_cover = np.full((n_cases, n_classes), np.inf)
    for rule in rules:
        fires = rule.fires(columns)
        votes[fires, rule.cls] += rule.vote
        n_firing[fires] += 1
        cover, vote = smallest_cover[:, rule.cls], specific_vote[:, rule.cls]
        is_better = fires & ((rule.cover < cover) | ((rule.cover == cover) & (rule.vote > vote)))
        cover[is_better], vote[is_better] = rule.cover, rule.vote

    classes = np.argmax(votes, axis=1)
    classes[votes[:, found.default] >= votes.max(axis=1, initial=0)] = found.default
    classes[n_firing == 0] = found.default

    mean_vote = votes / (1000 * np.maximum(n_firing, 1))[:, None]
    confidence = np.where(votes > 0, np.minimum(mean_vote, specific_vote / 1000), 0.0)
    winner = (np.arange(n_cases), classes)
    confidence[winner] = np.maximum(mean_vote, specific_vote / 1000)[winner]
    of_winner = np.where(n_firing == 0, 0.5, confidence[winner])
    confidence[n_firing == 0] = 1.0
    return Answer(classes, confidence / confidence.sum(axis=1, keepdims=True), of_winner, found.default)


def _rule_from_text(rule: Rule) -> Rule:
    cover, ok = weight_from_text(rule.cover), weight_from_text(rule.ok)
    return replace(rule, cover=cover, ok=ok, vote=vote_of(f32(ok), f32(cover)))
