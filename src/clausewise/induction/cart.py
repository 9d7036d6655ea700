"""CART with cost-complexity pruning, as an inducer for extractors and as a classifier with rules."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedKFold

from clausewise import _core
from clausewise.base import threads
from clausewise.base.parameters import (
    MIN_CASES,
    NOTHING,
    RANDOM_STATE,
    Constraint,
    check_estimator_parameters,
    check_parameters,
    number,
    one_of,
    whole,
)
from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.induction.estimator import (
    TableClassifier,
    checked_case_weights,
    checked_codes,
    counted_min_cases,
    encode_for,
    read_targets,
    set_feature_attributes,
)
from clausewise.induction.matrix import PreparedMatrix, check_indicators
from clausewise.induction.paths import Paths
from clausewise.induction.protocol import BINARY_CLASSES, Premises, ProgressCallback
from clausewise.rules import RuleSet

if TYPE_CHECKING:
    from typing import Self

Criterion = Literal["gini", "entropy"]
N_FOLDS = 5
MAX_ALPHAS = 40


@dataclass(frozen=True)
class CARTInducer:
    """The leaves of a CART tree as the paper's ψ.

    Among equally good tests, that of the first column wins. While the tree grows, rows with a missing value
    go to the side of the test where they do better, but they match no rule below the test.

    Parameters
    ----------
    min_cases : int or float, default 2
        The paper's μ: a node with fewer rows is not split. Below 1, a fraction of the rows, rounded up.
    min_leaf : int, default 1
        Each branch of a test has at least this many rows.
    max_leaves : int, optional
        Maximum number of leaves, grown best first.
    criterion : {"gini", "entropy"}, default "gini"
        The impurity that tests minimise.
    ccp_alpha : float or "cv", default 0.0
        Strength of cost-complexity pruning, 0 for none. "cv" chooses it by cross-validation: the strongest
        pruning whose accuracy is within one standard error of the best.
    random_state : int, RandomState or None, default 0
        Draws the folds of "cv".

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise.induction import CARTInducer, PreparedMatrix
    >>> X = np.random.default_rng(0).uniform(0, 10, (300, 2))
    >>> codes = (X[:, 0] > X[:, 1]).astype(np.int32)
    >>> rules = CARTInducer(max_leaves=4).induce(PreparedMatrix.prepare(X), codes, ["bad", "good"])
    >>> print(rules)
    4 rules for the classes bad, good; voting confidence, otherwise good
    0  IF x0 ≤ 3.913 AND x1 ≤ 5.73 THEN bad   (confidence 0.52, covers 46)
    1  IF x0 > 3.913 AND x1 ≤ 5.73 THEN good   (confidence 0.98, covers 116)
    2  IF x0 ≤ 8.134 AND x1 > 5.73 THEN bad   (confidence 0.93, covers 111)
    3  IF x0 > 8.134 AND x1 > 5.73 THEN good   (confidence 0.86, covers 27)
    """

    min_cases: int | float = 2
    min_leaf: int = 1
    max_leaves: int | None = None
    criterion: Criterion = "gini"
    ccp_alpha: float | Literal["cv"] = 0.0
    random_state: int | np.random.RandomState | None = 0

    _parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "min_cases": MIN_CASES,
        "min_leaf": whole(1),
        "max_leaves": whole(2) | NOTHING,
        "criterion": one_of("gini", "entropy"),
        "ccp_alpha": number(least=0) | one_of("cv"),
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
        """Return one rule per leaf; see `Inducer.induce`."""
        weights = checked_case_weights(weights, matrix.n_rows)
        codes = checked_codes(codes, matrix.n_rows, len(classes))
        tree, alpha = self._pruned(matrix, codes, len(classes), weights)
        return _rules_of_tree(tree, alpha, matrix, classes)

    def induce_many(
        self,
        matrix: PreparedMatrix,
        targets: NDArray[np.bool_],
        *,
        positive_weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> list[RuleSet]:
        """Return one rule set per target; see `clausewise.induction.induce_many`."""
        trees, alphas = self._pruned_trees(matrix, targets, positive_weights, n_jobs, progress)
        return [
            _rules_of_tree(tree, alpha, matrix, BINARY_CLASSES)
            for tree, alpha in zip(trees, alphas.tolist(), strict=True)
        ]

    def induce_premises(
        self,
        matrix: PreparedMatrix,
        targets: NDArray[np.bool_],
        *,
        positive_weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Premises:
        """Return the leaves that predict True for each target; see `clausewise.induction.induce_premises`."""
        trees, alphas = self._pruned_trees(matrix, targets, positive_weights, n_jobs, progress)
        leaves = _core.cart_paths(trees, alphas, BINARY_CLASSES.index(True))
        return Premises(_rules_of(leaves, matrix, BINARY_CLASSES, False), leaves["tree"].astype(np.intp))

    def _pruned_trees(
        self,
        matrix: PreparedMatrix,
        targets: NDArray[np.bool_],
        positive_weights: NDArray[np.float64] | None,
        n_jobs: int | None,
        progress: ProgressCallback | None,
    ) -> tuple[list[_core.CartTree], NDArray[np.float64]]:
        """Grow a tree per target, and return how strongly to prune each."""
        if self.ccp_alpha != "cv":
            trees = _core.grow_cart_many(
                matrix.core,
                targets.view(np.uint8),
                positive_weights,
                self._options(matrix, matrix.n_rows),
                threads.resolve(n_jobs),
                progress,
            )
            return trees, np.full(len(trees), float(self.ccp_alpha))
        found = []
        for i, target in enumerate(targets):
            weights = None
            if positive_weights is not None and positive_weights[i] != 1.0:
                weights = np.where(target, positive_weights[i], 1.0)
            found.append(self._pruned(matrix, (~target).astype(np.int32), 2, weights))
            if progress is not None:
                progress(i + 1, len(targets))
        return [tree for tree, _ in found], np.array([alpha for _, alpha in found], dtype=np.float64)

    def _pruned(
        self,
        matrix: PreparedMatrix,
        codes: NDArray[np.int32],
        n_classes: int,
        weights: NDArray[np.float64] | None,
    ) -> tuple[_core.CartTree, float]:
        """Grow a tree, and return how strongly to prune it."""
        options = self._options(matrix, matrix.n_rows)
        tree = _core.grow_cart(matrix.core, codes, n_classes, weights, None, options)
        if self.ccp_alpha == "cv":
            return tree, self._cross_validated(tree, matrix, codes, n_classes, weights)
        return tree, float(self.ccp_alpha)

    def _options(self, matrix: PreparedMatrix, n_rows: int) -> _core.CartOptions:
        """Return the settings for a tree of `n_rows` rows, as the core takes them."""
        check_indicators(matrix.features)
        most = n_rows + 2  # equivalent to any larger number
        return _core.CartOptions(
            entropy=self.criterion == "entropy",
            min_split=max(2, math.ceil(min(most, counted_min_cases(self.min_cases, n_rows)))),
            min_leaf=min(most, int(self.min_leaf)),
            max_leaves=0 if self.max_leaves is None else min(most, int(self.max_leaves)),
            prunes=self.ccp_alpha != 0.0,
        )

    def _cross_validated(
        self,
        tree: _core.CartTree,
        matrix: PreparedMatrix,
        codes: NDArray[np.int32],
        n_classes: int,
        weights: NDArray[np.float64] | None,
    ) -> float:
        """Return the strongest pruning whose accuracy is within one standard error of the best."""
        n_folds = min(N_FOLDS, int(np.bincount(codes)[np.unique(codes)].min()))
        if n_folds < 2:  # a class with a single row cannot be both learnt and held out
            return 0.0
        alphas = _representatives(np.append(tree.alphas(), 0.0))
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state).split(codes, codes)
        accuracy = np.empty((n_folds, len(alphas)))
        for fold, (train, held_out) in enumerate(folds):
            train, held_out = train.astype(np.int32), held_out.astype(np.int32)
            options = self._options(matrix, len(train))
            fold_tree = _core.grow_cart(matrix.core, codes, n_classes, weights, train, options)
            on_held_out = None if weights is None else weights[held_out]
            for place, alpha in enumerate(alphas.tolist()):
                is_right = fold_tree.labels(matrix.core, held_out, alpha) == codes[held_out]
                accuracy[fold, place] = np.average(is_right, weights=on_held_out)
        mean = accuracy.mean(axis=0)
        best = int(mean.argmax())
        standard_error = accuracy[:, best].std(ddof=1) / np.sqrt(n_folds)
        return float(alphas[np.flatnonzero(mean >= mean[best] - standard_error)[-1]])


def _rules_of_tree(
    tree: _core.CartTree, alpha: float, matrix: PreparedMatrix, classes: Sequence[Label]
) -> RuleSet:
    """Return all leaves of a tree as rules; the default is the most frequent class."""
    return _rules_of(_core.cart_paths([tree], np.array([alpha])), matrix, classes, classes[tree.label])


def _rules_of(
    leaves: dict[str, NDArray[Any]], matrix: PreparedMatrix, classes: Sequence[Label], default: Label
) -> RuleSet:
    """Return the core's leaves as rules."""
    is_category = (matrix.features.n_categories >= 0)[leaves["column"]]
    paths = Paths(
        starts=leaves["start"],
        class_index=leaves["label"],
        feature=leaves["column"],
        code=np.where(is_category, leaves["rank"], -1),
        rank=leaves["rank"],
        is_above=leaves["is_right"].astype(bool),
        tests_missing=leaves["tests_missing"].astype(bool),
    )
    return paths.rules(matrix, classes, default, leaves["cover"], leaves["correct"])


def _representatives(alphas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return at most `MAX_ALPHAS` geometric means of neighbouring alphas.

    The pruned tree is the same between two neighbours, and each mean stands for its range.
    """
    alphas = np.unique(np.maximum(alphas, 0.0))
    # The last prunes to the root, also in a fold whose greatest alpha is a little greater.
    between = np.append(np.sqrt(alphas[:-1] * alphas[1:]), 2.0 * alphas[-1] + 1.0)
    chosen = np.linspace(0, len(between) - 1, min(MAX_ALPHAS, len(between))).round().astype(int)
    return np.asarray(between[np.unique(chosen)])


class CARTClassifier(TableClassifier):
    """A CART tree whose leaves are rules, with cost-complexity pruning.

    Tests on categorical columns become sets of values. A missing value fails every term; a row that matches
    no rule gets the most frequent class.

    Parameters
    ----------
    min_cases, min_leaf, max_leaves, criterion, ccp_alpha
        As for `CARTInducer`.
    random_state : int, RandomState or None, default 0
        Draws the folds of `ccp_alpha="cv"`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    rules_ : RuleSet
        One rule per leaf.
    n_features_in_, feature_names_in_
        As for every scikit-learn estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from clausewise import CARTClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = CARTClassifier(max_leaves=3).fit(X, y)
    >>> print(model.rules_)
    3 rules for the classes 0, 1, 2; voting confidence, otherwise 0
    0  IF petal length (cm) ≤ 2 THEN 0   (confidence 0.98, covers 50)
    1  IF petal length (cm) > 2 AND petal width (cm) ≤ 1.7 THEN 1   (confidence 0.89, covers 54)
    2  IF petal length (cm) > 2 AND petal width (cm) > 1.7 THEN 2   (confidence 0.96, covers 46)
    >>> round(model.score(X, y), 3)
    0.96
    """

    _parameter_constraints: ClassVar[Mapping[str, Constraint]] = CARTInducer._parameter_constraints

    def __init__(
        self,
        *,
        min_cases: int | float = 2,
        min_leaf: int = 1,
        max_leaves: int | None = None,
        criterion: Criterion = "gini",
        ccp_alpha: float | Literal["cv"] = 0.0,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.min_cases = min_cases
        self.min_leaf = min_leaf
        self.max_leaves = max_leaves
        self.criterion = criterion
        self.ccp_alpha = ccp_alpha
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "Self":
        """Learn from rows X, their classes y and optional case weights."""
        check_estimator_parameters(self)
        features = Features.learn(X)
        table = features.encode(X)
        classes, codes, weights = read_targets(y, sample_weight, len(table))
        rows = np.arange(len(table)) if weights is None else np.flatnonzero(weights > 0)
        used = table if len(rows) == len(table) else table[rows]
        inducer = CARTInducer(**self.get_params())
        self.rules_ = inducer.induce(
            PreparedMatrix.of_encoded(used, features, keeps_distinct=True),
            codes[rows],
            classes.labels,
            weights=None if weights is None else weights[rows],
        ).having_learnt_from(used)
        set_feature_attributes(self, features)
        self.classes_ = classes.sorted
        self.features_ = features
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row."""
        table = encode_for(self, X)
        decided = self.rules_.evaluator.decide(table, self.rules_.voting, self.rules_.default_index)
        return self.classes_[decided]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities: the votes of the rules that fire, or 1 / n_classes if none does."""
        table = encode_for(self, X)
        return self.rules_.probabilities(self.rules_.evaluator.scores(table, self.rules_.voting))
