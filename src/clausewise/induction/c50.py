"""C5.0 for Python: as an inducer for extractors, and as a scikit-learn classifier in its own right."""

import math
import numbers
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from clausewise import _core
from clausewise.base import threads
from clausewise.base.parameters import (
    ARRAY_LIKE,
    FLAG,
    JOBS,
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
from clausewise.data.table import Matrix
from clausewise.induction.c50_core import (
    Thresholds,
    check_categories,
    core_options,
    fit_core,
    premise_arrays,
    rule_set_of,
    rule_set_of_arrays,
    tree_of,
)
from clausewise.induction.estimator import TableClassifier, encode_for, read_targets, set_feature_attributes
from clausewise.induction.matrix import PreparedMatrix, collapsed_columns
from clausewise.induction.protocol import BINARY_CLASSES, Premises, ProgressCallback
from clausewise.rules import RuleSet

if TYPE_CHECKING:
    from typing import Self

# C5.0's seeds. Its generator discards as many numbers as the seed says, so larger seeds would only cost time.
N_SEEDS = 4096
_ROWS_PER_CHUNK = 16_384

_SHARED_CONSTRAINTS: Final[Mapping[str, Constraint]] = {
    "min_cases": MIN_CASES,
    "cf": number(least=1e-30, most=1),  # smaller levels are 0 in single precision
    "winnow": FLAG,
    "global_pruning": FLAG,
    "subset": FLAG,
    "thresholds": one_of("exact", "readable"),
}


@dataclass(frozen=True)
class C50Inducer:
    """C5.0 rule sets as the paper's ψ.

    Parameters
    ----------
    min_cases : int or float, default 2
        The paper's μ: every test has two branches with at least this many rows. Below 1, a fraction of the
        rows, rounded up.
    cf : float, default 0.25
        Confidence level of pruning, in (0, 1]; smaller prunes more.
    winnow : bool, default False
        First drop the columns that do not help, judged on half of the rows.
    global_pruning : bool, default True
        Prune the tree as a whole after its subtrees.
    subset : bool, default True
        Let tests group categories into sets.
    thresholds : {"readable", "exact"}, default "readable"
        "readable" writes the shortest decimals that separate the training rows, "exact" C5.0's own
        thresholds.
    """

    min_cases: int | float = 2
    cf: float = 0.25
    winnow: bool = False
    global_pruning: bool = True
    subset: bool = True
    thresholds: Thresholds = "readable"

    _parameter_constraints: ClassVar[Mapping[str, Constraint]] = _SHARED_CONSTRAINTS

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
        """Return one rule set; see `Inducer.induce`."""
        model = fit_core(self, matrix, codes, len(classes), weights=weights, n_jobs=n_jobs)
        return rule_set_of(model, matrix, classes, self.thresholds)

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
        models = self._models(matrix, targets, positive_weights, n_jobs, progress)
        return [rule_set_of(model, matrix, BINARY_CLASSES, self.thresholds) for model in models]

    def induce_premises(
        self,
        matrix: PreparedMatrix,
        targets: NDArray[np.bool_],
        *,
        positive_weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Premises:
        """Return the rules that predict True for each target; see `clausewise.induction.induce_premises`."""
        models = self._models(matrix, targets, positive_weights, n_jobs, progress)
        arrays, target = premise_arrays(models, matrix.n_rows)
        return Premises(rule_set_of_arrays(arrays, False, matrix, BINARY_CLASSES, self.thresholds), target)

    def _models(
        self,
        matrix: PreparedMatrix,
        targets: NDArray[np.bool_],
        positive_weights: NDArray[np.float64] | None,
        n_jobs: int | None,
        progress: ProgressCallback | None,
    ) -> list[_core.C50Model]:
        check_categories(matrix.features, self.subset)
        weights = None if positive_weights is None else positive_weights.astype(np.float32)
        options = core_options(self, matrix.n_rows, rules=True)
        n_threads = threads.resolve(n_jobs)
        return _core.fit_c50_many(matrix.core, targets.view(np.uint8), weights, options, n_threads, progress)


class C50Classifier(TableClassifier):
    """C5.0 decision trees and rule sets.

    An independent implementation of Quinlan's C5.0 (release 2.07), written from a description of its
    behaviour: the same data, options and class order give the same trees and rules. Numeric columns may have
    missing values, and categorical columns (text, pandas and polars categoricals, booleans) need no encoding.

    Parameters
    ----------
    rules : bool, default True
        Turn the tree into a rule set (`rules_`); otherwise keep the tree (`tree_`).
    min_cases : int or float, default 2
        Every test has two branches with at least this many rows. Below 1, a fraction of the rows, rounded
        up.
    cf : float, default 0.25
        Confidence level of pruning, in (0, 1]; smaller prunes more.
    winnow : bool, default False
        First drop the columns that do not help, judged on half of the rows.
    global_pruning : bool, default True
        Prune the tree as a whole after its subtrees.
    subset : bool, default True
        Let tests group categories into sets; otherwise each category has its own branch.
    sample : float, default 0.0
        Learn from this fraction of the rows, in [0, 1), drawn at random; 0 uses all rows.
    costs : array-like of shape (n_classes, n_classes), optional
        Cost of predicting class i (row) when the true class is j (column), in the order of `class_order` or
        `classes_`. As in C5.0, entries up to 1 count as 1.
    trials : int, default 1
        Boosting rounds. Only 1 is implemented.
    thresholds : {"exact", "readable"}, default "exact"
        "exact" puts thresholds where C5.0 does, on a training value (written as the shortest decimal of that
        value in single precision), so new rows get C5.0's predictions. "readable" takes the shortest decimal
        that separates the training rows.
    class_order : array-like, optional
        The classes in the order that breaks C5.0's ties, like the levels of a factor in R; it may include
        classes without rows. `classes_` is always sorted.
    random_state : int, RandomState or None
        Seed of the sample. An integer below 4096 is C5.0's own seed. Without `sample` nothing is random.
    n_jobs : int, optional
        Number of threads; by default all usable cores. It does not change any result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    rules_ : RuleSet
        The rules in C5.0's order (only if `rules`), voting by confidence.
    tree_ : C50Tree
        The tree (only if not `rules`).
    feature_importances_ : ndarray of shape (n_features,)
        C5.0's attribute usage, scaled to sum to 1: for rules, the fraction of training rows covered by a rule
        that tests the column; for a tree, the fraction of training rows that a test of the column classifies.
    n_features_in_, feature_names_in_
        As for every scikit-learn estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from clausewise import C50Classifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = C50Classifier().fit(X, y)
    >>> len(model.rules_), round(model.score(X, y), 3)
    (4, 0.973)
    """

    _parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        **_SHARED_CONSTRAINTS,
        "rules": FLAG,
        "sample": number(least=0, below=1),
        "costs": ARRAY_LIKE | NOTHING,
        "trials": whole(1),
        "class_order": ARRAY_LIKE | NOTHING,
        "random_state": RANDOM_STATE,
        "n_jobs": JOBS,
    }

    def __init__(
        self,
        *,
        rules: bool = True,
        min_cases: int | float = 2,
        cf: float = 0.25,
        winnow: bool = False,
        global_pruning: bool = True,
        subset: bool = True,
        sample: float = 0.0,
        costs: ArrayLike | None = None,
        trials: int = 1,
        thresholds: Thresholds = "exact",
        class_order: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.rules = rules
        self.min_cases = min_cases
        self.cf = cf
        self.winnow = winnow
        self.global_pruning = global_pruning
        self.subset = subset
        self.sample = sample
        self.costs = costs
        self.trials = trials
        self.thresholds = thresholds
        self.class_order = class_order
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "Self":
        """Learn from rows X, their classes y and optional case weights.

        Rows of weight 0 are ignored. As in C5.0, weights count relative to their mean.
        """
        check_estimator_parameters(self)
        if self.trials > 1:
            raise NotImplementedError(
                f"trials is {self.trials}; boosting is not implemented yet, use trials=1."
            )
        features = Features.learn(X)
        table = features.encode(X)
        order, codes, weights = read_targets(y, sample_weight, len(table), self.class_order)
        costs = _checked_costs(self.costs, len(order.declared))
        rows = self._training_rows(len(table), weights)
        used = table if len(rows) == len(table) else table[rows]
        matrix = PreparedMatrix.of_encoded(used, features, n_jobs=self.n_jobs)
        _warn_about_collapsed(used, features)
        model = fit_core(
            self,
            matrix,
            codes[rows],
            len(order.declared),
            weights=None if weights is None else weights[rows],
            costs=costs,
            rules=bool(self.rules),
            n_jobs=self.n_jobs,
        )
        set_feature_attributes(self, features)
        self.classes_ = order.sorted
        self.features_ = features
        self.n_winnowed_ = model.in_use.count(False)
        self._order, self._costs = order, costs
        usage = np.array(model.usage)
        self.feature_importances_ = usage / usage.sum() if usage.any() else usage
        for fitted in ("rules_", "tree_"):
            if hasattr(self, fitted):
                delattr(self, fitted)
        if self.rules:
            self.rules_ = rule_set_of(model, matrix, order.labels, self.thresholds)
        else:
            self.tree_ = tree_of(model, matrix, order.labels, self.thresholds)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row."""
        table = encode_for(self, X)
        decided = self._decided_by_rules(table) if self._has_rules else self._decided_by_tree(table)
        return self._order.declared[decided]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities as C5.0 estimates them; columns as in `classes_`."""
        table = encode_for(self, X)
        probabilities = (
            self._rule_probabilities(table) if self._has_rules else self._tree_probabilities(table)
        )
        in_order: NDArray[np.float64] = np.empty_like(probabilities)
        in_order[:, self._order.sorted_positions] = probabilities
        return in_order

    def _training_rows(self, n_rows: int, weights: NDArray[np.float64] | None) -> NDArray[np.int64]:
        rows = np.arange(n_rows) if weights is None else np.flatnonzero(weights > 0)
        if self.sample == 0.0:
            return rows
        if isinstance(self.random_state, numbers.Integral):
            seed = int(self.random_state) % N_SEEDS
        else:
            seed = int(check_random_state(self.random_state).randint(N_SEEDS))
        drawn = np.asarray(_core.sampled_rows(len(rows), float(self.sample), seed), dtype=np.int64)
        if len(drawn) == 0:
            raise ValueError(f"sample={self.sample} of {len(rows)} rows draws no row; increase sample.")
        return rows[drawn]

    def _decided_by_rules(self, table: NDArray[Any]) -> NDArray[np.int32]:
        evaluator, default = self.rules_.evaluator, self.rules_.default_index
        return evaluator.decide(table, self.rules_.voting, default, self.n_jobs)

    @property
    def _has_rules(self) -> bool:
        """Whether rules were fitted; `set_params` may have changed `rules` since."""
        return hasattr(self, "rules_")

    def _decided_by_tree(self, table: NDArray[Any]) -> NDArray[np.intp]:
        scores, _ = self.tree_.class_scores(table, self.n_jobs)
        if self._costs is not None:
            effective = np.where(self._costs > 1, self._costs, 1.0)
            np.fill_diagonal(effective, 0.0)
            expected = np.where(scores > 0, scores @ effective.T, math.inf)
            return np.asarray(expected.argmin(axis=1))
        root = int(self.tree_.arrays["label"][0])
        best = scores.argmax(axis=1)
        return np.where(scores[:, root] >= scores.max(axis=1), root, best)

    def _tree_probabilities(self, table: NDArray[Any]) -> NDArray[np.float64]:
        """Class fractions at the leaf, smoothed by one case with the fractions of all training rows."""
        scores, leaf_sizes = self.tree_.class_scores(table, self.n_jobs)
        at_root = self.tree_.nodes[0].distribution.astype(np.float64)
        raw = leaf_sizes[:, None] * scores + at_root / at_root.sum()
        return np.asarray(raw / raw.sum(axis=1, keepdims=True))

    def _rule_probabilities(self, table: NDArray[Any]) -> NDArray[np.float64]:
        """The mean vote per class of the rules that fire, or the vote of the most specific of them.

        The greater of the two for the predicted class, the smaller for the others, scaled to sum to 1.
        """
        rules = self.rules_.columns
        probabilities = np.empty((len(table), len(self._order.labels)))
        winners = self._decided_by_rules(table)
        votes = np.floor(1000 * rules.confidence + 0.5)
        for start in range(0, len(table), _ROWS_PER_CHUNK):
            rows = slice(start, start + _ROWS_PER_CHUNK)
            fires = self.rules_.evaluator.fires(table[rows], self.n_jobs).dense()
            probabilities[rows] = _rule_confidences(
                fires, votes, rules.cover, rules.class_index, winners[rows], probabilities.shape[1]
            )
        return probabilities


def _rule_confidences(
    fires: NDArray[np.bool_],
    votes: NDArray[np.float64],
    cover: NDArray[np.float64],
    class_index: NDArray[np.int32],
    winners: NDArray[np.int32],
    n_classes: int,
) -> NDArray[np.float64]:
    n_firing = np.maximum(fires.sum(axis=0), 1)
    mean_vote = np.zeros((fires.shape[1], n_classes))
    specific_vote = np.zeros_like(mean_vote)
    # From the most general rule to the most specific: the last rule that fires overwrites the others.
    for rule in np.lexsort((votes, -cover)):
        mean_vote[fires[rule], class_index[rule]] += votes[rule]
        specific_vote[fires[rule], class_index[rule]] = votes[rule]
    mean_vote /= n_firing[:, None]
    confidence = np.minimum(mean_vote, specific_vote)
    of_winner = np.arange(len(winners)), winners
    confidence[of_winner] = np.maximum(mean_vote, specific_vote)[of_winner]
    confidence[~fires.any(axis=0)] = 1.0
    total = confidence.sum(axis=1, keepdims=True)
    return np.asarray(
        np.divide(confidence, total, out=np.full_like(confidence, 1 / n_classes), where=total > 0)
    )


def _checked_costs(costs: ArrayLike | None, n_classes: int) -> NDArray[np.float64] | None:
    if costs is None:
        return None
    matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs has shape {matrix.shape}; expected ({n_classes}, {n_classes}), predicted × actual class."
        )
    wrong = matrix[~((matrix >= 0) & (matrix <= 1e30))]
    if len(wrong):
        raise ValueError(f"costs contains {wrong[0]:g}; expected numbers from 0 to 1e30.")
    off_diagonal = matrix[~np.eye(n_classes, dtype=bool)]
    return matrix if (off_diagonal > 1).any() else None


def _warn_about_collapsed(table: Matrix, features: Features) -> None:
    """C5.0 computes in single precision; say so where that makes a column useless."""
    for column in collapsed_columns(table, features):
        warnings.warn(
            f"C5.0 reads column '{features.names[column]}' in single precision, in which many of its values "
            "are equal; subtract a constant from the column, such as its minimum.",
            UserWarning,
            stacklevel=3,
        )
