"""Classifying new cases with a finished model (spec 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .c50_data import known_cells, rounded_column
from .c50_numbers import f32
from .c50_rules import Rule, vote_of
from .c50_tree import Node, class_scores


def predict(model, columns: Sequence[np.ndarray], from_text: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Class codes and class probabilities.

    `from_text`: use the numbers as they come back from the emitted text (spec 7.3), as the R function does: thresholds
    with 8 significant digits, weights with 6.
    """
    columns = [rounded_column(column, kind) for column, kind in zip(columns, model.kinds)]
    if model.tree is not None:
        return _predict_tree(model, columns, from_text)
    return _predict_rules(model, columns, from_text)


def threshold_from_text(threshold: np.float32) -> np.float32:
    return f32(float("%.8g" % float(threshold)))


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
    threshold = node.threshold
    if from_text and threshold is not None:
        threshold = threshold_from_text(threshold)
    branches = [_tree_for_prediction(branch, from_text) for branch in node.branches]
    return replace(node, distribution=distribution, size=size, threshold=threshold, branches=branches)


def _predict_tree(model, columns, from_text: bool) -> tuple[np.ndarray, np.ndarray]:
    """Spec 7.1."""
    tree = _tree_for_prediction(model.tree, from_text)
    known = [known_cells(column, kind) for column, kind in zip(columns, model.kinds)]
    scores, mean_leaf_size = class_scores(tree, columns, known, model.n_classes, smallest_fraction=1e-6)
    if model.costs is None:
        classes = np.argmax(scores, axis=1)
        ties_with_root = scores[:, tree.cls] >= scores.max(axis=1)
        classes[ties_with_root] = tree.cls
    else:
        classes = np.array([_cheapest(model.costs.expected(row), row) for row in scores], dtype=np.int64)
    prior = tree.distribution.astype(np.float64) / float(tree.size)
    probabilities = (mean_leaf_size[:, None] * scores + prior) / (mean_leaf_size[:, None] + 1)
    return classes, probabilities / probabilities.sum(axis=1, keepdims=True)


def _cheapest(expected_costs: list[float], scores: np.ndarray) -> int:
    possible = [c for c in range(len(scores)) if scores[c] > 0]
    return min(possible, key=lambda c: (expected_costs[c], c))


def _predict_rules(model, columns, from_text: bool) -> tuple[np.ndarray, np.ndarray]:
    """Spec 7.2."""
    rules = [_rule_from_text(rule) for rule in model.rules] if from_text else model.rules
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
    classes[votes[:, model.default] >= votes.max(axis=1, initial=0)] = model.default
    classes[n_firing == 0] = model.default

    mean_vote = votes / (1000 * np.maximum(n_firing, 1))[:, None]
    confidence = np.where(votes > 0, np.minimum(mean_vote, specific_vote / 1000), 0.0)
    winner = (np.arange(n_cases), classes)
    confidence[winner] = np.maximum(mean_vote, specific_vote / 1000)[winner]
    confidence[n_firing == 0] = 1.0
    return classes, confidence / confidence.sum(axis=1, keepdims=True)


def _rule_from_text(rule: Rule) -> Rule:
    cover, ok = weight_from_text(rule.cover), weight_from_text(rule.ok)
    conditions = tuple(
        c if c.threshold is None else replace(c, threshold=threshold_from_text(c.threshold))
        for c in rule.conditions
    )
    return replace(rule, conditions=conditions, cover=cover, ok=ok, vote=vote_of(f32(ok), f32(cover)))
