"""The leaves of a random forest as rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from clausewise.base import threads
from clausewise.base.parameters import (
    MIN_CASES,
    NOTHING,
    RANDOM_STATE,
    Constraint,
    check_parameters,
    whole,
)
from clausewise.data.labels import Label
from clausewise.induction.estimator import checked_case_weights, checked_codes, counted_min_cases
from clausewise.induction.matrix import PreparedMatrix
from clausewise.induction.paths import rules_of_forest
from clausewise.rules import RuleSet

# On fewer cells threads save little. And scikit-learn's threads set the warning filters of the whole
# process, so that one may miss its own and warn.
_CELLS_FOR_THREADS = 2**16


@dataclass(frozen=True)
class RandomForestInducer:
    """All leaves of all trees of a random forest as the paper's ψ; scikit-learn grows them, on ranks.

    Parameters
    ----------
    n_trees : int, default 10
        Number of trees.
    min_cases : int or float, default 2
        The paper's μ: a node with fewer rows is not split. Below 1, a fraction of the rows, rounded up.
    max_depth : int, optional
        Maximum number of terms of a rule, before terms on the same feature are merged.
    max_leaves : int, optional
        Maximum number of leaves of a tree, grown best first.
    random_state : int, RandomState or None, default 0
        Draws the rows and columns of each tree.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise.induction import PreparedMatrix, RandomForestInducer
    >>> X = np.random.default_rng(0).uniform(0, 10, (300, 2))
    >>> codes = (X[:, 0] > X[:, 1]).astype(np.int32)
    >>> inducer = RandomForestInducer(n_trees=3, max_depth=2)
    >>> rules = inducer.induce(PreparedMatrix.prepare(X), codes, ["bad", "good"])
    >>> len(rules) <= 3 * 2**2, max(len(rule.terms) for rule in rules)
    (True, 2)
    """

    n_trees: int = 10
    min_cases: int | float = 2
    max_depth: int | None = None
    max_leaves: int | None = None
    random_state: int | np.random.RandomState | None = 0

    _parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_trees": whole(1),
        "min_cases": MIN_CASES,
        "max_depth": whole(1) | NOTHING,
        "max_leaves": whole(2) | NOTHING,
        "random_state": RANDOM_STATE,
    }

    def __post_init__(self) -> None:
        check_parameters(self._parameter_constraints, vars(self))

    def induce(
        self,
        matrix: PreparedMatrix,
        codes: NDArray[np.int32],
        classes: Sequence[Label],
        *,
        weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
    ) -> RuleSet:
        """Return one rule per leaf, without duplicates; see `Inducer.induce`."""
        weights = checked_case_weights(weights, matrix.n_rows)
        codes = checked_codes(codes, matrix.n_rows, len(classes))
        n_threads = threads.resolve(n_jobs) if matrix.table.size >= _CELLS_FOR_THREADS else 1
        forest = RandomForestClassifier(
            n_estimators=self.n_trees,
            min_samples_split=max(2, int(np.ceil(counted_min_cases(self.min_cases, matrix.n_rows)))),
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaves,
            random_state=self.random_state,
            n_jobs=n_threads,
        ).fit(matrix.rank_table.table, codes, sample_weight=weights)
        # The trees number the classes from 0; `forest.classes_` says which codes these are.
        return rules_of_forest(forest.estimators_, forest.classes_, matrix, codes, classes, weights)
