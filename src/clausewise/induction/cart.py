"""CART with cost-complexity pruning, as an inducer for extractors and as a classifier with rules."""

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from clausewise.features import Features
from clausewise.induction._estimator import (
    TableClassifier,
    checked_case_weights,
    checked_codes,
    counted_min_cases,
    encode_for,
    read_targets,
    require_count,
    set_feature_attributes,
)
from clausewise.induction.matrix import PreparedMatrix
from clausewise.induction.paths import rules_of_trees
from clausewise.rules import RuleSet
from clausewise.rules.rule import Label

if TYPE_CHECKING:
    from typing import Self

Criterion = Literal["gini", "entropy"]
N_FOLDS = 5
MAX_ALPHAS = 40


@dataclass(frozen=True)
class CARTInducer:
    """The leaves of a CART tree as the paper's ψ. Growing is scikit-learn's, on ranks.

    Parameters
    ----------
    min_cases : int or float, default 2
        The paper's μ: a node with fewer rows is not divided; below 1, a fraction of the rows, rounded up.
    min_leaf : int, default 1
        Rows that each branch of a test holds at least.
    max_leaves : int, optional
        Most leaves, the best first.
    criterion : {"gini", "entropy"}, default "gini"
        What tests are chosen by.
    ccp_alpha : float or "cv", default 0.0
        Strength of cost-complexity pruning. "cv" chooses it by cross-validation: the strongest whose
        accuracy is within one standard error of the best.
    random_state : int, default 0
        Decides between tests of equal value, and draws the folds of "cv".
    """

    min_cases: int | float = 2
    min_leaf: int = 1
    max_leaves: int | None = None
    criterion: Criterion = "gini"
    ccp_alpha: float | Literal["cv"] = 0.0
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
        """One rule per leaf; see `Inducer.induce`."""
        weights = checked_case_weights(weights, matrix.n_rows)
        codes = checked_codes(codes, matrix.n_rows, len(classes))
        tree = self.grow(matrix, codes, weights)
        return rules_of_trees([tree], tree.classes_, matrix, codes, classes, weights)

    def grow(
        self, matrix: PreparedMatrix, codes: NDArray[np.int32], weights: NDArray[np.float64] | None
    ) -> DecisionTreeClassifier:
        """The pruned tree, over the columns of `matrix.rank_table`."""
        require_count("min_leaf", self.min_leaf, 1)
        require_count("max_leaves", self.max_leaves, 2)
        alpha = self._chosen_alpha(matrix, codes, weights)
        return self._tree(matrix.n_rows, alpha).fit(matrix.rank_table.table, codes, sample_weight=weights)

    def _tree(self, n_rows: int, ccp_alpha: float) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(
            criterion=self.criterion,
            min_samples_split=max(2, int(np.ceil(counted_min_cases(self.min_cases, n_rows)))),
            min_samples_leaf=self.min_leaf,
            max_leaf_nodes=self.max_leaves,
            ccp_alpha=ccp_alpha,
            random_state=self.random_state,
        )

    def _chosen_alpha(
        self, matrix: PreparedMatrix, codes: NDArray[np.int32], weights: NDArray[np.float64] | None
    ) -> float:
        if isinstance(self.ccp_alpha, numbers.Real) and 0.0 <= self.ccp_alpha < np.inf:
            return float(self.ccp_alpha)
        if self.ccp_alpha != "cv":
            raise ValueError(f"ccp_alpha is {self.ccp_alpha!r}; expected a number of 0 or more, or 'cv'.")
        n_folds = min(N_FOLDS, int(np.bincount(codes)[np.unique(codes)].min()))
        if n_folds < 2:  # a class with a single row cannot be both learnt and checked
            return 0.0
        table = matrix.rank_table.table
        path = self._tree(matrix.n_rows, 0.0).cost_complexity_pruning_path(
            table, codes, sample_weight=weights
        )
        alphas = _representatives(path.ccp_alphas)
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state).split(table, codes)
        accuracy = np.array([self._fold_accuracy(matrix, codes, weights, fold, alphas) for fold in folds])
        mean = accuracy.mean(axis=0)
        best = int(mean.argmax())
        standard_error = accuracy[:, best].std(ddof=1) / np.sqrt(n_folds)
        return float(alphas[np.flatnonzero(mean >= mean[best] - standard_error)[-1]])

    def _fold_accuracy(
        self,
        matrix: PreparedMatrix,
        codes: NDArray[np.int32],
        weights: NDArray[np.float64] | None,
        fold: tuple[NDArray[np.intp], NDArray[np.intp]],
        alphas: NDArray[np.float64],
    ) -> list[float]:
        """Accuracy on the rows held back, for each strength of pruning."""
        train, held_back = fold
        table = matrix.rank_table.table
        on_train = None if weights is None else weights[train]
        on_held_back = None if weights is None else weights[held_back]
        return [
            self._tree(len(train), alpha)
            .fit(table[train], codes[train], sample_weight=on_train)
            .score(table[held_back], codes[held_back], sample_weight=on_held_back)
            for alpha in alphas
        ]


def _representatives(alphas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Geometric means of neighbouring alphas, where a pruned tree is the same over a range; not too many."""
    alphas = np.unique(np.maximum(alphas, 0.0))
    # The last stands for the root alone, also in a fold whose own greatest is a little greater.
    between = np.append(np.sqrt(alphas[:-1] * alphas[1:]), 2.0 * alphas[-1] + 1.0)
    chosen = np.linspace(0, len(between) - 1, min(MAX_ALPHAS, len(between))).round().astype(int)
    return np.asarray(between[np.unique(chosen)])


class CARTClassifier(TableClassifier):
    """A CART tree whose leaves are rules, with cost-complexity pruning.

    Categories become sets of values; a missing value fails every term, so that a row may match no rule and
    get the most frequent class.

    Parameters
    ----------
    min_cases, min_leaf, max_leaves, criterion, ccp_alpha
        As for `CARTInducer`.
    random_state : int, default 0
        Decides between tests of equal value, and draws the folds of `ccp_alpha="cv"`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    rules_ : RuleSet
        One rule per leaf.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """

    def __init__(
        self,
        *,
        min_cases: int | float = 2,
        min_leaf: int = 1,
        max_leaves: int | None = None,
        criterion: Criterion = "gini",
        ccp_alpha: float | Literal["cv"] = 0.0,
        random_state: int = 0,
    ) -> None:
        self.min_cases = min_cases
        self.min_leaf = min_leaf
        self.max_leaves = max_leaves
        self.criterion = criterion
        self.ccp_alpha = ccp_alpha
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "Self":
        """Learn from rows X, their classes y and, if given, case weights."""
        features = Features.learn(X)
        table = features.encode(X)
        classes, codes, weights = read_targets(y, sample_weight, len(table))
        rows = np.arange(len(table)) if weights is None else np.flatnonzero(weights > 0)
        used = table if len(rows) == len(table) else table[rows]
        inducer = CARTInducer(**self.get_params())
        self.rules_ = inducer.induce(
            PreparedMatrix.of_encoded(used, features),
            codes[rows],
            classes.labels,
            weights=None if weights is None else weights[rows],
        )
        set_feature_attributes(self, features)
        self.classes_ = classes.sorted
        self.features_ = features
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        table = encode_for(self, X)
        decided = self.rules_.evaluator.decide(table, self.rules_.voting, self.rules_.default_index)
        return self.classes_[decided]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Votes of the rules that fire, as probabilities; 1 / n_classes where none does."""
        table = encode_for(self, X)
        return self.rules_.probabilities(self.rules_.evaluator.scores(table, self.rules_.voting))
