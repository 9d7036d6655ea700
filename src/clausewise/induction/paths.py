"""Rules from the paths of scikit-learn's trees."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.induction.matrix import PreparedMatrix
from clausewise.rules import RuleSet
from clausewise.rules.rule import Label


@dataclass
class _Conditions:
    """Conditions of paths, one after the other: rank up to (or above) a threshold, or a category (or not)."""

    starts: list[int] = field(default_factory=lambda: [0])
    column: list[int] = field(default_factory=list)
    rank: list[int] = field(default_factory=list)
    is_above: list[bool] = field(default_factory=list)
    tells_missing: list[bool] = field(default_factory=list)  # up to infinity: known; above it: missing

    def add_path(self, path: Sequence[tuple[int, float, bool]]) -> None:
        for column, threshold, is_above in path:
            self.column.append(column)
            self.tells_missing.append(math.isinf(threshold))
            self.rank.append(0 if math.isinf(threshold) else math.floor(threshold))
            self.is_above.append(is_above)
        self.starts.append(len(self.column))


def rules_of_trees(
    trees: Sequence[Any],
    tree_classes: NDArray[np.int32],
    matrix: PreparedMatrix,
    codes: NDArray[np.int32],
    classes: Sequence[Label],
    weights: NDArray[np.float64] | None,
) -> RuleSet:
    """One rule per leaf of the trees, equal ones only once, in the order of trees and leaves.

    Cover, correct and confidence, (correct + 1) / (cover + 2), are those of the rule on the rows of the
    matrix. The default is the most frequent class.

    Parameters
    ----------
    trees : sequence of DecisionTreeClassifier
        Fitted to `matrix.rank_table`.
    tree_classes : ndarray
        For each class of the trees, its position in `classes`.
    matrix, codes, classes, weights
        As for `Inducer.induce`.
    """
    conditions, labels = _Conditions(), []
    for tree in trees:
        for path, label in _paths(tree.tree_):
            conditions.add_path(path)
            labels.append(int(tree_classes[label]))
    totals = np.bincount(codes, weights=weights, minlength=len(classes))
    found = _rule_set(conditions, labels, matrix, classes, classes[int(totals.argmax())])
    # A leaf for missing values has no rule: they fail every term.
    found = found.distinct()
    return found.with_counts(*found.evaluator.statistics(matrix.table, codes, weights))


def _paths(nodes: Any) -> Iterator[tuple[list[tuple[int, float, bool]], int]]:
    """The conditions (column, threshold, is above) that lead to each leaf, and the class of the leaf."""
    label = nodes.value[:, 0, :].argmax(axis=1)
    waiting: list[tuple[int, list[tuple[int, float, bool]]]] = [(0, [])]
    while waiting:
        node, path = waiting.pop()
        left, right = nodes.children_left[node], nodes.children_right[node]
        if left == right:
            yield path, int(label[node])
            continue
        test = int(nodes.feature[node]), float(nodes.threshold[node])
        waiting.append((right, [*path, (*test, True)]))
        waiting.append((left, [*path, (*test, False)]))


def _rule_set(
    conditions: _Conditions,
    labels: Sequence[int],
    matrix: PreparedMatrix,
    classes: Sequence[Label],
    default: Label,
) -> RuleSet:
    columns = np.array(conditions.column, dtype=np.int64)
    ranks = np.array(conditions.rank, dtype=np.int32)
    is_above = np.array(conditions.is_above, dtype=bool)
    tells_missing = np.array(conditions.tells_missing, dtype=bool)
    feature = matrix.rank_table.feature[columns]
    code = matrix.rank_table.code[columns]
    low, high = np.full(len(columns), -math.inf), np.full(len(columns), math.inf)
    is_rank = code < 0
    thresholds = np.zeros(len(columns))
    thresholds[is_rank] = matrix.thresholds(feature[is_rank], ranks[is_rank], "middle")
    thresholds[tells_missing & ~is_above] = math.inf
    low[is_rank & is_above] = thresholds[is_rank & is_above]
    high[is_rank & ~is_above] = thresholds[is_rank & ~is_above]
    is_missing = is_rank & is_above & tells_missing
    low[is_missing] = high[is_missing] = 0.0  # (0, 0]: nothing holds
    value_set = np.full(len(columns), -1, dtype=np.int32)
    value_set[~is_rank] = np.arange(int((~is_rank).sum()))
    n_categories = matrix.features.n_categories
    value_sets = [
        _accepted(int(code[c]), bool(is_above[c]), bool(tells_missing[c]), int(n_categories[feature[c]]))
        for c in np.flatnonzero(~is_rank)
    ]
    return RuleSet.from_arrays(
        matrix.features,
        list(classes),
        default,
        starts=conditions.starts,
        feature=feature,
        low=low,
        high=high,
        class_index=np.array(labels, dtype=np.int32),
        value_set=value_set,
        value_sets=value_sets,
        voting="confidence",
    )


def _accepted(code: int, is_above: bool, tells_missing: bool, n_categories: int) -> list[int]:
    """The categories on one side of a test of an indicator."""
    if tells_missing:
        return [] if is_above else list(range(n_categories))
    return [code] if is_above else [value for value in range(n_categories) if value != code]
