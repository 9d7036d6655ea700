"""Rules from the paths of trees, both the core's and scikit-learn's."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.data.labels import Label
from clausewise.induction.matrix import PreparedMatrix, RankTable
from clausewise.rules import RuleSet


@dataclass(frozen=True, eq=False)
class Paths:
    """The conditions of paths, those of path p at `starts[p]:starts[p + 1]`, and the class at its end.

    Attributes
    ----------
    starts : ndarray of int, of shape (n_paths + 1,)
        Where the conditions of each path start.
    class_index : ndarray of int, of shape (n_paths,)
        The class at the end of each path.
    feature : ndarray of int, of shape (n_conditions,)
        The feature that each condition tests.
    code : ndarray of int, of shape (n_conditions,)
        The category that a condition tests; −1 for a condition on the rank.
    rank : ndarray of int, of shape (n_conditions,)
        The threshold lies between this rank and the next.
    is_above : ndarray of bool, of shape (n_conditions,)
        Whether the rank must be above the threshold, or the category must be `code`; otherwise the opposite.
    tests_missing : ndarray of bool, of shape (n_conditions,)
        Whether the condition only separates missing values (above) from known ones (not above).
    """

    starts: NDArray[Any]
    class_index: NDArray[Any]
    feature: NDArray[Any]
    code: NDArray[Any]
    rank: NDArray[Any]
    is_above: NDArray[np.bool_]
    tests_missing: NDArray[np.bool_]

    def rules(
        self,
        matrix: PreparedMatrix,
        classes: Sequence[Label],
        default: Label,
        cover: NDArray[np.float64] | None = None,
        correct: NDArray[np.float64] | None = None,
    ) -> RuleSet:
        """Return one rule per path, with confidence (correct + 1) / (cover + 2) if counts are given."""
        is_rank = self.code < 0
        below, above = is_rank & ~self.is_above, is_rank & self.is_above
        thresholds = np.zeros(len(self.feature))
        thresholds[is_rank] = matrix.thresholds(self.feature[is_rank], self.rank[is_rank], "middle")
        low, high = np.full(len(self.feature), -math.inf), np.full(len(self.feature), math.inf)
        low[above] = thresholds[above]
        high[below & ~self.tests_missing] = thresholds[below & ~self.tests_missing]
        low[above & self.tests_missing] = high[above & self.tests_missing] = 0.0  # (0, 0]: nothing holds
        value_set = np.full(len(self.feature), -1, dtype=np.int32)
        value_set[~is_rank] = np.arange(int((~is_rank).sum()))
        found = RuleSet.from_arrays(
            matrix.features,
            list(classes),
            default,
            starts=self.starts,
            feature=self.feature,
            low=low,
            high=high,
            class_index=self.class_index,
            value_set=value_set,
            value_sets=[
                self._accepted(c, matrix.features.n_categories) for c in np.flatnonzero(~is_rank).tolist()
            ],
            voting="confidence",
        )
        return found if cover is None or correct is None else found.with_counts(cover, correct)

    def _accepted(self, condition: int, n_categories: NDArray[Any]) -> list[int]:
        """Return the categories for which a condition holds."""
        code, everything = int(self.code[condition]), range(int(n_categories[self.feature[condition]]))
        if self.tests_missing[condition]:
            return [] if self.is_above[condition] else list(everything)
        return [code] if self.is_above[condition] else [value for value in everything if value != code]


def rules_of_forest(
    trees: Sequence[Any],
    tree_classes: NDArray[np.int32],
    matrix: PreparedMatrix,
    codes: NDArray[np.int32],
    classes: Sequence[Label],
    weights: NDArray[np.float64] | None,
) -> RuleSet:
    """Return one rule per leaf of scikit-learn's trees, without duplicates, in the order of trees and leaves.

    Cover, correct and confidence, (correct + 1) / (cover + 2), are counted on all rows of the matrix. The
    default is the most frequent class.

    Parameters
    ----------
    trees : sequence of DecisionTreeClassifier
        Fitted to `matrix.rank_table`.
    tree_classes : ndarray
        For each class of the trees, its position in `classes`.
    matrix, codes, classes, weights
        As for `Inducer.induce`.
    """
    paths = _paths_of(trees, tree_classes, matrix.rank_table)
    # A leaf of missing values has no rule, since they fail every term.
    totals = np.bincount(codes, weights=weights, minlength=len(classes))
    found = paths.rules(matrix, classes, classes[int(totals.argmax())]).distinct()
    return found.with_counts(*found.evaluator.statistics(matrix.table, codes, weights))


def _paths_of(trees: Sequence[Any], tree_classes: NDArray[np.int32], table: RankTable) -> Paths:
    starts, labels = [0], list[int]()
    columns, thresholds, is_above = list[int](), list[float](), list[bool]()
    for tree in trees:
        for path, label in _leaves(tree.tree_):
            for column, threshold, above in path:
                columns.append(column)
                thresholds.append(threshold)
                is_above.append(above)
            starts.append(len(columns))
            labels.append(int(tree_classes[label]))
    # With an infinite threshold, known values go left and missing ones right.
    tests_missing = np.isinf(np.array(thresholds, dtype=np.float64))
    tested = np.array(columns, dtype=np.int64)
    return Paths(
        starts=np.array(starts),
        class_index=np.array(labels, dtype=np.int32),
        feature=table.feature[tested],
        code=table.code[tested],
        rank=np.floor(np.where(tests_missing, 0.0, thresholds)).astype(np.int32),
        is_above=np.array(is_above, dtype=bool),
        tests_missing=tests_missing,
    )


def _leaves(nodes: Any) -> Iterator[tuple[list[tuple[int, float, bool]], int]]:
    """Yield for each leaf the conditions (column, threshold, is above) that lead to it, and its class."""
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
