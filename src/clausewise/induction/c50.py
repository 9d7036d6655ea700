"""C5.0 for Python: as an inducer for extractors, and as a scikit-learn classifier in its own right."""

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from clausewise import _core
from clausewise.base import threads
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
from clausewise.induction.matrix import PreparedMatrix
from clausewise.induction.protocol import BINARY_CLASSES, Premises, Progress
from clausewise.induction.tree import C50Tree, as_in_model_file
from clausewise.rules import RuleSet

if TYPE_CHECKING:
    from typing import Self

# Finding subsets takes time that grows with the cube of the categories, a branch per category memory.
MAX_CATEGORIES_IN_SUBSETS = 1_000
MAX_CATEGORIES = 50_000
# C5.0's seeds; the generator throws away as many numbers, so that larger ones would only cost time.
N_SEEDS = 4096
_ABOVE, _IS_THRESHOLD = 1, (0, 1)

Thresholds = Literal["exact", "readable"]


@dataclass(frozen=True)
class C50Inducer:
    """C5.0 rule sets as the paper's ψ.

    Parameters
    ----------
    min_cases : int or float, default 2
        The paper's μ: two branches of every test hold at least this many rows; below 1, a fraction of the
        rows, rounded up.
    cf : float, default 0.25
        Confidence level of pruning; smaller prunes more.
    winnow : bool, default False
        Put columns aside beforehand that do not help on half of the rows.
    global_pruning : bool, default True
        Prune the tree as a whole after its subtrees.
    subset : bool, default True
        Tests on categories may gather them into sets.
    thresholds : {"readable", "exact"}, default "readable"
        Write thresholds as the shortest decimals that separate the training rows, or as C5.0's own.
    """

    min_cases: int | float = 2
    cf: float = 0.25
    winnow: bool = False
    global_pruning: bool = True
    subset: bool = True
    thresholds: Thresholds = "readable"

    def induce(
        self,
        matrix: PreparedMatrix,
        codes: NDArray[np.int32],
        classes: Sequence[Label],
        *,
        weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
    ) -> RuleSet:
        """One rule set; see `Inducer.induce`."""
        model = fit_core(self, matrix, codes, len(classes), weights=weights, n_jobs=n_jobs)
        return rule_set_of(model, matrix, classes, self.thresholds)

    def induce_many(
        self,
        matrix: PreparedMatrix,
        targets: NDArray[np.bool_],
        *,
        positive_weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> list[RuleSet]:
        """One rule set per target, all on the same preparation; see `clausewise.induction.induce_many`."""
        models = self._models(matrix, targets, positive_weights, n_jobs, progress)
        return [rule_set_of(model, matrix, BINARY_CLASSES, self.thresholds) for model in models]

    def induce_premises(
        self,
        matrix: PreparedMatrix,
        targets: NDArray[np.bool_],
        *,
        positive_weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> Premises:
        """The rules that conclude True, of all targets at once; see `induce_premises` of the protocol."""
        models = self._models(matrix, targets, positive_weights, n_jobs, progress)
        arrays, target = _premise_arrays(models, matrix.n_rows)
        return Premises(_rule_set(arrays, False, matrix, BINARY_CLASSES, self.thresholds), target)

    def _models(
        self,
        matrix: PreparedMatrix,
        targets: NDArray[np.bool_],
        positive_weights: NDArray[np.float64] | None,
        n_jobs: int | None,
        progress: Progress | None,
    ) -> list[_core.C50Model]:
        check_categories(matrix.features, self.subset)
        weights = None if positive_weights is None else positive_weights.astype(np.float32)
        options = core_options(self, matrix.n_rows, rules=True)
        n_threads = threads.resolve(n_jobs)
        return _core.fit_c50_many(matrix.core, targets.view(np.uint8), weights, options, n_threads, progress)


class C50Classifier(TableClassifier):
    """C5.0 decision trees and rule sets.

    An independent implementation of Quinlan's C5.0 (release 2.07) from a description of its behaviour: with
    the same data, options and class order it gives the same trees and rules. Numeric columns with missing
    values and categorical columns (text, pandas and polars categoricals, booleans) are used as they are.

    Parameters
    ----------
    rules : bool, default True
        Turn the tree into a rule set (`rules_`); otherwise the tree is kept (`tree_`).
    min_cases : int or float, default 2
        Two branches of every test hold at least this many rows; below 1, a fraction of the rows, rounded up.
    cf : float, default 0.25
        Confidence level of pruning, in (0, 1]; smaller prunes more.
    winnow : bool, default False
        Put columns aside beforehand that do not help on half of the rows.
    global_pruning : bool, default True
        Prune the tree as a whole after its subtrees.
    subset : bool, default True
        Tests on categories may gather them into sets; otherwise each category has a branch of its own.
    sample : float, default 0.0
        Learn from this fraction of the rows, drawn at random; 0 uses all.
    costs : array-like of shape (n_classes, n_classes), optional
        Cost of predicting class i (row) where class j (column) is right, classes in the order of
        `class_order` or `classes_`. As in C5.0, entries up to 1 count as 1.
    trials : int, default 1
        Boosting rounds. Only 1 is implemented.
    thresholds : {"exact", "readable"}, default "exact"
        "exact" puts thresholds where C5.0 does, on a training value (written as the shortest decimal of that
        value in single precision), so that rows never seen are decided as by C5.0. "readable" takes the
        shortest decimal that separates the training rows.
    class_order : array-like, optional
        The classes in the order that decides C5.0's ties, as the levels of a factor in R; it may name
        classes without rows. `classes_` is sorted in any case.
    random_state : int, RandomState or None
        Draws the sample. An integer below 4096 is C5.0's own seed. Without `sample` nothing is random.
    n_jobs : int, optional
        Number of threads; all usable cores unless given. It does not change any result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    rules_ : RuleSet
        The rules in C5.0's order (only if `rules`), voting by confidence.
    tree_ : C50Tree
        The tree (only if not `rules`).
    feature_importances_ : ndarray of shape (n_features,)
        C5.0's attribute usage, made to sum to 1: for rules, the share of training rows covered by a rule that
        tests the column; for a tree, the share of rows that a test of the column decides about.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from clausewise import C50Classifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = C50Classifier().fit(X, y)
    >>> len(model.rules_), round(model.score(X, y), 3)
    (4, 0.973)
    """

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
        """Learn from rows X, their classes y and, if given, case weights.

        Rows of weight 0 are left out. As in C5.0, weights count relative to their mean.
        """
        _check_trials(self.trials)
        features = Features.learn(X)
        table = features.encode(X)
        order, codes, weights = read_targets(y, sample_weight, len(table), self.class_order)
        costs = _checked_costs(self.costs, len(order.declared))
        rows = self._training_rows(len(table), weights)
        used = table if len(rows) == len(table) else table[rows]
        matrix = PreparedMatrix.of_encoded(used, features, n_jobs=self.n_jobs)
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
        """The class of each row."""
        table = encode_for(self, X)
        decided = self._decided_by_rules(table) if self._has_rules else self._decided_by_tree(table)
        return self._order.declared[decided]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, as C5.0 estimates it; columns as in `classes_`."""
        table = encode_for(self, X)
        probabilities = (
            self._rule_probabilities(table) if self._has_rules else self._tree_probabilities(table)
        )
        in_order: NDArray[np.float64] = np.empty_like(probabilities)
        in_order[:, self._order.sorted_places] = probabilities
        return in_order

    def _training_rows(self, n_rows: int, weights: NDArray[np.float64] | None) -> NDArray[np.int64]:
        rows = np.arange(n_rows) if weights is None else np.flatnonzero(weights > 0)
        if not isinstance(self.sample, numbers.Real) or not 0.0 <= self.sample < 1.0:
            raise ValueError(
                f"sample is {self.sample!r}; expected a fraction of the rows in [0, 1), 0 for all."
            )
        if self.sample == 0.0:
            return rows
        if isinstance(self.random_state, numbers.Integral):
            seed = int(self.random_state) % N_SEEDS
        else:
            seed = int(check_random_state(self.random_state).randint(N_SEEDS))
        drawn = np.asarray(_core.sampled_rows(len(rows), float(self.sample), seed), dtype=np.int64)
        if len(drawn) == 0:
            raise ValueError(f"sample={self.sample} of {len(rows)} rows is no row; raise it.")
        return rows[drawn]

    def _decided_by_rules(self, table: NDArray[Any]) -> NDArray[np.int32]:
        evaluator, default = self.rules_.evaluator, self.rules_.default_index
        return evaluator.decide(table, self.rules_.voting, default, self.n_jobs)

    @property
    def _has_rules(self) -> bool:
        """What was fitted, which `set_params` does not change."""
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
        """Leaf shares, drawn towards those of the whole training data by one case."""
        scores, leaf_sizes = self.tree_.class_scores(table, self.n_jobs)
        at_root = self.tree_.nodes[0].distribution.astype(np.float64)
        raw = leaf_sizes[:, None] * scores + at_root / at_root.sum()
        return np.asarray(raw / raw.sum(axis=1, keepdims=True))

    def _rule_probabilities(self, table: NDArray[Any]) -> NDArray[np.float64]:
        """Between the mean vote of the rules that fire and the vote of the most special one, per class."""
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


_ROWS_PER_CHUNK = 16_384


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
    special_vote = np.zeros_like(mean_vote)
    # From the most general rule to the most special, so that the last one that fires stays.
    for rule in np.lexsort((votes, -cover)):
        mean_vote[fires[rule], class_index[rule]] += votes[rule]
        special_vote[fires[rule], class_index[rule]] = votes[rule]
    mean_vote /= n_firing[:, None]
    confidence = np.minimum(mean_vote, special_vote)
    of_winner = np.arange(len(winners)), winners
    confidence[of_winner] = np.maximum(mean_vote, special_vote)[of_winner]
    confidence[~fires.any(axis=0)] = 1.0
    total = confidence.sum(axis=1, keepdims=True)
    return np.asarray(
        np.divide(confidence, total, out=np.full_like(confidence, 1 / n_classes), where=total > 0)
    )


# --- Between Python and the core ---


def fit_core(
    settings: C50Inducer | C50Classifier,
    matrix: PreparedMatrix,
    codes: NDArray[np.int32],
    n_classes: int,
    *,
    weights: NDArray[np.float64] | None = None,
    costs: NDArray[np.float64] | None = None,
    rules: bool = True,
    n_jobs: int | None = None,
) -> _core.C50Model:
    """The core's model with these settings."""
    check_categories(matrix.features, settings.subset)
    weights = checked_case_weights(weights, matrix.n_rows)
    return _core.fit_c50(
        matrix.core,
        checked_codes(codes, matrix.n_rows, n_classes),
        n_classes,
        None if weights is None else np.ascontiguousarray(weights, dtype=np.float32),
        None if costs is None else np.ascontiguousarray(costs, dtype=np.float32).ravel(),
        core_options(settings, matrix.n_rows, rules),
        threads.resolve(n_jobs),
    )


def core_options(settings: C50Inducer | C50Classifier, n_rows: int, rules: bool) -> _core.C50Options:
    """Checked settings for the core."""
    if not isinstance(settings.cf, numbers.Real) or not 1e-30 <= settings.cf <= 1.0:
        raise ValueError(f"cf is {settings.cf!r}; expected a confidence level in (0, 1], for instance 0.25.")
    return _core.C50Options(
        rules=rules,
        min_cases=counted_min_cases(settings.min_cases, n_rows),
        cf=float(settings.cf),
        winnow=bool(settings.winnow),
        global_pruning=bool(settings.global_pruning),
        subset=bool(settings.subset),
    )


def check_categories(features: Features, subset: bool) -> None:
    """Raise a ValueError for a column with more categories than tests can be made of."""
    most = MAX_CATEGORIES_IN_SUBSETS if subset else MAX_CATEGORIES
    for name, n_categories in zip(features.names, features.n_categories.tolist(), strict=True):
        if n_categories > most:
            raise ValueError(
                f"Column '{name}' has {n_categories:,} categories, at most {most:,} can be "
                f"{'gathered into subsets' if subset else 'told apart'}; group rare ones or leave the column "
                f"out{f', or pass subset=False (up to {MAX_CATEGORIES:,})' if subset else ''}."
            )


def rule_set_of(
    model: _core.C50Model, matrix: PreparedMatrix, classes: Sequence[Label], style: Thresholds
) -> RuleSet:
    """The core's rules, with thresholds in decimal, as a rule set."""
    return _rule_set(model.rules(), classes[model.default_label], matrix, classes, style)


def _premise_arrays(
    models: Sequence[_core.C50Model], n_rows: int
) -> tuple[dict[str, NDArray[Any]], NDArray[np.intp]]:
    """The rules of all models that conclude the first class, as in `C50Model.rules`, and the model of each.

    A model without any rule, and the first class by default, stands for a rule without conditions.
    """
    always: dict[str, Any] = {"label": [0], "cover": [n_rows], "correct": [n_rows], "start": [0, 0]}
    always |= {name: [] for name in ("column", "kind", "rank", "values")} | {"value_start": [0]}
    listed = []
    for model in models:
        rules = model.rules()
        is_always = len(rules["label"]) == 0 and model.default_label == 0
        listed.append(always if is_always else rules)

    def joined(name: str, dtype: Any) -> NDArray[Any]:
        return np.concatenate([np.empty(0, dtype), *(rules[name] for rules in listed)]).astype(dtype)

    def sizes(name: str) -> NDArray[np.int64]:
        return np.concatenate([np.empty(0, np.int64), *(np.diff(rules[name]) for rules in listed)]).astype(
            np.int64
        )

    kept = joined("label", np.int32) == 0
    n_conditions, n_values = sizes("start"), sizes("value_start")
    kept_conditions = np.repeat(kept, n_conditions)
    arrays = {name: joined(name, np.float32)[kept] for name in ("cover", "correct")}
    arrays |= {name: joined(name, np.int32)[kept_conditions] for name in ("column", "kind", "rank")}
    arrays["label"] = np.zeros(int(kept.sum()), dtype=np.int32)
    arrays["start"] = np.concatenate([[0], np.cumsum(n_conditions[kept])])
    arrays["value_start"] = np.concatenate([[0], np.cumsum(n_values[kept_conditions])])
    arrays["values"] = joined("values", np.int32)[np.repeat(kept_conditions, n_values)]
    target = np.repeat(np.arange(len(listed)), [len(rules["label"]) for rules in listed])
    return arrays, target[kept]


def _rule_set(
    rules: dict[str, NDArray[Any]],
    default: Label,
    matrix: PreparedMatrix,
    classes: Sequence[Label],
    style: Thresholds,
) -> RuleSet:
    _check_thresholds(style)
    kind, column = rules["kind"], rules["column"]
    is_threshold = np.isin(kind, _IS_THRESHOLD)
    low, high = np.full(len(kind), -math.inf), np.full(len(kind), math.inf)
    thresholds = matrix.thresholds(column[is_threshold], rules["rank"][is_threshold], style)
    is_above = kind[is_threshold] == _ABOVE
    low[np.flatnonzero(is_threshold)[is_above]] = thresholds[is_above]
    high[np.flatnonzero(is_threshold)[~is_above]] = thresholds[~is_above]
    discrete = np.flatnonzero(~is_threshold).tolist()
    value_set = np.full(len(kind), -1, dtype=np.int32)
    value_set[discrete] = np.arange(len(discrete))
    bounds = rules["value_start"].tolist()
    return RuleSet.from_arrays(
        matrix.features,
        list(classes),
        default,
        starts=rules["start"],
        feature=column,
        low=low,
        high=high,
        class_index=rules["label"],
        value_set=value_set,
        value_sets=[rules["values"][bounds[c] : bounds[c + 1]].tolist() for c in discrete],
        confidence=_confidences(rules["correct"], rules["cover"]),
        cover=rules["cover"],
        # With costs both are rounded sums, which may differ in the last digit for a rule without errors.
        correct=np.minimum(rules["correct"], rules["cover"]),
        voting="confidence",
    )


def _check_trials(trials: int) -> None:
    if isinstance(trials, bool) or not hasattr(trials, "__index__") or trials < 1:
        raise ValueError(f"trials is {trials!r}; expected a number of boosting rounds, which is 1 for now.")
    if trials > 1:
        raise NotImplementedError(
            f"trials is {trials}; boosting (trials > 1) is not implemented yet, use trials=1."
        )


def _check_thresholds(style: Thresholds) -> None:
    if style not in ("exact", "readable"):
        raise ValueError(f"thresholds is {style!r}; expected 'exact' or 'readable'.")


def _confidences(correct: NDArray[Any], cover: NDArray[Any]) -> NDArray[np.float64]:
    """(correct + 1) / (cover + 2), such that per-mille rounding gives exactly C5.0's vote.

    C5.0 votes with the figures of its model file, which have six digits. The quotient may fall on the other
    side of a half by its own rounding; the neighbouring double does not.
    """
    correct, cover = as_in_model_file(correct), as_in_model_file(cover)
    votes = np.floor(1000 * (correct + 1) / (cover + 2) + 0.5)
    exact = (correct + 1) / (cover + 2)
    rounded = np.floor(1000 * exact + 0.5)
    toward = np.where(rounded < votes, math.inf, -math.inf)
    return np.where(rounded == votes, exact, np.nextafter(exact, toward))


def tree_of(
    model: _core.C50Model, matrix: PreparedMatrix, classes: Sequence[Label], style: Thresholds
) -> C50Tree:
    """The core's tree, with thresholds in decimal."""
    _check_thresholds(style)
    arrays = model.tree()
    is_threshold = arrays["kind"] == 1
    thresholds = matrix.thresholds(arrays["column"][is_threshold], arrays["rank"][is_threshold], style)
    return C50Tree.from_core(model, matrix.features, classes, thresholds)


def _checked_costs(costs: ArrayLike | None, n_classes: int) -> NDArray[np.float64] | None:
    if costs is None:
        return None
    matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs has shape {matrix.shape}; expected ({n_classes}, {n_classes}): predicted by actual class."
        )
    wrong = matrix[~((matrix >= 0) & (matrix <= 1e30))]
    if len(wrong):
        raise ValueError(f"costs holds {wrong[0]:g}; expected numbers that are not negative, up to 1e30.")
    off_diagonal = matrix[~np.eye(n_classes, dtype=bool)]
    return matrix if (off_diagonal > 1).any() else None
