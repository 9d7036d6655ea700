"""The leaves of a random forest as rules."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from clausewise.base import threads
from clausewise.data.labels import Label
from clausewise.induction.estimator import (
    checked_case_weights,
    checked_codes,
    counted_min_cases,
    require_count,
)
from clausewise.induction.matrix import PreparedMatrix
from clausewise.induction.paths import rules_of_forest
from clausewise.rules import RuleSet


@dataclass(frozen=True)
class RandomForestInducer:
    """All leaves of all trees of a random forest as the paper's ψ. Growing is scikit-learn's, on ranks.

    Parameters
    ----------
    n_trees : int, default 10
        Number of trees.
    min_cases : int or float, default 2
        The paper's μ: a node with fewer rows is not divided; below 1, a fraction of the rows, rounded up.
    max_depth : int, optional
        Most terms of a rule before those on one feature are joined.
    max_leaves : int, optional
        Most leaves of a tree, the best first.
    random_state : int, default 0
        Draws the rows and columns of each tree.
    """

    n_trees: int = 10
    min_cases: int | float = 2
    max_depth: int | None = None
    max_leaves: int | None = None
    random_state: int = 0

    def induce(
        self,
        matrix: PreparedMatrix,
        codes: NDArray[np.int32],
        classes: Sequence[Label],
        *,
        weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
    ) -> RuleSet:
        """One rule per leaf, equal ones only once; see `Inducer.induce`."""
        weights = checked_case_weights(weights, matrix.n_rows)
        codes = checked_codes(codes, matrix.n_rows, len(classes))
        require_count("n_trees", self.n_trees, 1)
        require_count("max_depth", self.max_depth, 1)
        require_count("max_leaves", self.max_leaves, 2)
        forest = RandomForestClassifier(
            n_estimators=self.n_trees,
            min_samples_split=max(2, int(np.ceil(counted_min_cases(self.min_cases, matrix.n_rows)))),
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaves,
            random_state=self.random_state,
            n_jobs=threads.resolve(n_jobs),
        ).fit(matrix.rank_table.table, codes, sample_weight=weights)
        # The trees of a forest count classes from 0; the forest knows which they are.
        return rules_of_forest(forest.estimators_, forest.classes_, matrix, codes, classes, weights)
