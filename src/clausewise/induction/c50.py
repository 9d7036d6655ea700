"""C5.0 for Python: as an inducer for extractors, and as a scikit-learn classifier in its own right."""

import numbers
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from clausewise import _core
from clausewise.base import threads
from clausewise.base.parameters import (
    ARRAY_LIKE,
    FLAG,
    JOBS,
    MIN_CASES,
    NOTHING,
    RANDOM_STATE,
    VERBOSE,
    Constraint,
    check_estimator_parameters,
    check_parameters,
    instance_of,
    number,
    one_of,
    whole,
)
from clausewise.base.progress import Progress
from clausewise.data.features import Features, ordered_columns
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
    trials_of,
)
from clausewise.induction.c50_exports import ExportedRules
from clausewise.induction.c50_trials import C50Trial, Summary, answers_in_turn, codes_of, joint_answer
from clausewise.induction.estimator import (
    TableClassifier,
    checked_case_weights,
    encode_for,
    read_targets,
    set_feature_attributes,
)
from clausewise.induction.matrix import PreparedMatrix, collapsed_columns
from clausewise.induction.protocol import BINARY_CLASSES, Premises, ProgressCallback
from clausewise.rules import RuleSet

if TYPE_CHECKING:
    from typing import Self

# C5.0's seeds. Its generator discards as many numbers as the seed says, so larger seeds would only cost time.
N_SEEDS = 4096

_SHARED_CONSTRAINTS: Final[Mapping[str, Constraint]] = {
    "min_cases": MIN_CASES,
    "cf": number(least=0, most=1),
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
        Confidence level of pruning, in [0, 1]; smaller prunes more.
    winnow : bool, default False
        First drop the columns that do not help, judged on half of the rows.
    global_pruning : bool, default True
        Prune the tree as a whole after its subtrees.
    subset : bool, default True
        Let tests group categories into sets.
    thresholds : {"readable", "exact"}, default "readable"
        "readable" writes the shortest decimals that separate the training rows, "exact" C5.0's own
        thresholds.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import Pedagogical
    >>> from clausewise.induction import C50Inducer
    >>> X = np.random.default_rng(0).uniform(0, 10, (300, 2))
    >>> network = np.where((X[:, 0] > 6) & (X[:, 1] <= 4), "good", "bad")  # or a model
    >>> model = Pedagogical(network, inducer=C50Inducer(min_cases=10), max_rules=None).fit(X)
    >>> print(model.rules_.concluding("good"))
    1 rule for the classes bad, good; voting confidence, otherwise bad
    0  IF x0 > 6 AND x1 ≤ 4 THEN good   (confidence 0.98, covers 57)
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
        weights: NDArray[np.float64] | None = None,
        positive_weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> list[RuleSet]:
        """Return one rule set per target; see `clausewise.induction.induce_many`."""
        models = self._models(matrix, targets, weights, positive_weights, n_jobs, progress)
        return [rule_set_of(model, matrix, BINARY_CLASSES, self.thresholds) for model in models]

    def induce_premises(
        self,
        matrix: PreparedMatrix,
        targets: NDArray[np.bool_],
        *,
        weights: NDArray[np.float64] | None = None,
        positive_weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Premises:
        """Return the rules that predict True for each target; see `clausewise.induction.induce_premises`."""
        models = self._models(matrix, targets, weights, positive_weights, n_jobs, progress)
        arrays, target = premise_arrays(models, matrix.n_rows)
        return Premises(rule_set_of_arrays(arrays, False, matrix, BINARY_CLASSES, self.thresholds), target)

    def _models(
        self,
        matrix: PreparedMatrix,
        targets: NDArray[np.bool_],
        weights: NDArray[np.float64] | None,
        positive_weights: NDArray[np.float64] | None,
        n_jobs: int | None,
        progress: ProgressCallback | None,
    ) -> list[_core.C50Model]:
        check_categories(matrix.features, self.subset)
        return _core.fit_c50_many(
            matrix.core,
            targets.view(np.uint8),
            positive_weights,
            core_options(self, matrix.n_rows, rules=True),
            threads.resolve(n_jobs),
            progress,
            checked_case_weights(weights, matrix.n_rows),
        )


class C50Classifier(ExportedRules, TableClassifier):
    """C5.0 decision trees and rule sets, one or boosted.

    An independent implementation of Quinlan's C5.0 (release 2.07), written from a description of its
    behaviour: the same data, options and class order give the same trees and rules. Numeric columns may have
    missing values, and categorical columns (text, pandas and polars categoricals, booleans) need no encoding.
    The categories of an ordered pandas categorical are tested by their order.

    Parameters
    ----------
    rules : bool, default True
        Turn the tree into a rule set (`rules_`); otherwise keep the tree (`tree_`).
    min_cases : int or float, default 2
        Every test has two branches with at least this many rows. Below 1, a fraction of the rows, rounded
        up.
    cf : float, default 0.25
        Confidence level of pruning, in [0, 1]; smaller prunes more.
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
        Most classifiers to build. Above 1 they are boosted: each one sees the rows that earlier ones got
        wrong with larger weights, and all of them vote.
    early_stopping : bool, default True
        Stop boosting when a classifier has hardly any errors or too many of them. As in C5.0, fewer than
        three classifiers are then reduced to one.
    fuzzy_threshold : bool, default False
        Soften the thresholds of trees: near a threshold, a row follows both branches. Rules stay crisp.
    thresholds : {"exact", "readable"}, default "exact"
        "exact" puts thresholds where C5.0 does, on a training value (written as the shortest decimal of that
        value in single precision), so new rows get C5.0's predictions. "readable" takes the shortest decimal
        that separates the training rows.
    class_weight : dict, "balanced" or None
        Weights of the classes, as in scikit-learn: they multiply the weights of the rows.
    class_order : array-like, optional
        The classes in the order that breaks C5.0's ties, like the levels of a factor in R; it may include
        classes without rows. `classes_` is always sorted.
    random_state : int, RandomState or None
        Seed of the sample. An integer below 4096 is C5.0's own seed. Without `sample` nothing is random.
    n_jobs : int, optional
        Number of threads; by default all usable cores. It does not change any result.
    verbose : int, default 0
        1 shows progress over the trials.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    rules_ : RuleSet
        The rules of the first trial in C5.0's order (only if `rules`), voting by confidence.
    tree_ : C50Tree
        The tree of the first trial (only if not `rules`).
    trials_ : tuple of C50Trial
        All classifiers: the rules or the tree of each, its errors, and its weight in the vote.
    n_trials_ : int
        Number of classifiers that vote.
    stop_reason_ : str or None
        Why there are fewer than `trials`: "accurate" (the last classifier had hardly any errors),
        "inaccurate" (the next one had too many), or "too few" (there would have been two). None if there are
        as many as asked for.
    feature_importances_ : ndarray of shape (n_features,)
        C5.0's attribute usage, scaled to sum to 1: for rules, the fraction of training rows covered by a rule
        that tests the column; for a tree, the fraction of training rows that a test of the column classifies.
        With several trials, a row counts if any of them uses the column for it.
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
    >>> boosted = C50Classifier(trials=10).fit(X, y)
    >>> boosted.n_trials_, round(boosted.score(X, y), 3)
    (10, 1.0)
    """

    _parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        **_SHARED_CONSTRAINTS,
        "rules": FLAG,
        "sample": number(least=0, below=1),
        "costs": ARRAY_LIKE | NOTHING,
        "trials": whole(1),
        "early_stopping": FLAG,
        "fuzzy_threshold": FLAG,
        "class_weight": one_of("balanced") | instance_of(Mapping, "a dict of weights by class") | NOTHING,
        "class_order": ARRAY_LIKE | NOTHING,
        "random_state": RANDOM_STATE,
        "n_jobs": JOBS,
        "verbose": VERBOSE,
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
        early_stopping: bool = True,
        fuzzy_threshold: bool = False,
        thresholds: Thresholds = "exact",
        class_weight: Mapping[Any, float] | str | None = None,
        class_order: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
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
        self.early_stopping = early_stopping
        self.fuzzy_threshold = fuzzy_threshold
        self.thresholds = thresholds
        self.class_weight = class_weight
        self.class_order = class_order
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "Self":
        """Learn from rows X, their classes y and optional case weights.

        Rows of weight 0 are ignored. As in C5.0, weights count relative to their mean.
        """
        check_estimator_parameters(self)
        features = Features.learn(X)
        table = features.encode(X)
        order, codes, weights = read_targets(y, sample_weight, len(table), self.class_order)
        weights = self._with_class_weights(order.declared[codes], weights)
        costs = _checked_costs(self.costs, len(order.declared))
        rows = self._training_rows(len(table), weights)
        used = table if len(rows) == len(table) else table[rows]
        matrix = PreparedMatrix.of_encoded(used, features, n_jobs=self.n_jobs)
        _warn_about_collapsed(used, features)
        with Progress(self.verbose) as progress:
            progress.started("C5.0", 1)
            progress.part_started("boosting", self.trials, unit="trials")
            model = fit_core(
                self,
                matrix,
                codes[rows],
                len(order.declared),
                weights=None if weights is None else weights[rows],
                costs=costs,
                boosting=self,
                is_ordered=ordered_columns(X, features),
                rules=bool(self.rules),
                n_jobs=self.n_jobs,
                progress=lambda n_done, n_trials: progress.steps_done(0, n_done, n_trials),
            )
            progress.part_done()
            progress.finished(f"C5.0: {model.n_trials:,} of {self.trials:,} trials")
        set_feature_attributes(self, features)
        self.classes_ = order.sorted
        self.features_ = features
        self.n_winnowed_ = model.in_use.count(False)
        self._order, self._costs = order, costs
        usage = np.array(model.usage)
        self.feature_importances_ = usage / usage.sum() if usage.any() else usage
        self.trials_ = trials_of(model, matrix, order.labels, self.thresholds, bool(self.rules))
        self.n_trials_ = model.n_trials
        self.stop_reason_ = model.stop or ("too few" if model.is_abandoned else None)
        self._summary = Summary(matrix.n_rows, model.n_errors, usage / matrix.n_rows)
        for fitted in ("rules_", "tree_"):
            if hasattr(self, fitted):
                delattr(self, fitted)
        first = self.trials_[0]
        if first.rules is not None:
            self.rules_ = first.rules.having_learnt_from(used)
        else:
            self.tree_ = first.tree
        return self

    def predict(self, X: Any, trials: int | None = None) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
            The rows.
        trials : int, optional
            Let only the first `trials` classifiers vote; all of them by default.
        """
        table = encode_for(self, X)
        codes = codes_of(self._voting_trials(trials), table, self._costs, self.n_jobs)
        return self._order.declared[codes]

    def predict_proba(self, X: Any, trials: int | None = None) -> NDArray[np.float64]:
        """Predict class probabilities as C5.0 estimates them; columns as in `classes_`.

        With several classifiers these are shares of the vote.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
            The rows.
        trials : int, optional
            Let only the first `trials` classifiers vote; all of them by default.
        """
        table = encode_for(self, X)
        answer = joint_answer(self._voting_trials(trials), table, self._costs, self.n_jobs)
        return self._in_sorted_order(answer.probabilities)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions of the first classifier, of the first two together, and so on."""
        table = encode_for(self, X)
        for answer in answers_in_turn(self.trials_, table, self._costs, self.n_jobs):
            yield self._order.declared[answer.codes]

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities of the first classifier, of the first two together, and so on."""
        table = encode_for(self, X)
        for answer in answers_in_turn(self.trials_, table, self._costs, self.n_jobs):
            yield self._in_sorted_order(answer.probabilities)

    def summary(self) -> str:
        """Return size and training errors of each trial and the use of the columns, as C5.0 prints them."""
        check_is_fitted(self)
        return self._summary.text(self.trials_, self.stop_reason_, self.features_.names)

    def _voting_trials(self, trials: int | None) -> tuple[C50Trial, ...]:
        check_parameters({"trials": whole(1) | NOTHING}, {"trials": trials})
        if trials is not None and trials > self.n_trials_:
            warnings.warn(
                f"trials is {trials}, but the model has {self.n_trials_}; all of them are used.",
                UserWarning,
                stacklevel=3,
            )
        return self.trials_[:trials]

    def _in_sorted_order(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        in_order: NDArray[np.float64] = np.empty_like(probabilities)
        in_order[:, self._order.sorted_positions] = probabilities
        return in_order

    def _with_class_weights(
        self, labels: NDArray[Any], weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        if self.class_weight is None:
            return weights
        of_classes = np.asarray(compute_sample_weight(self.class_weight, labels), dtype=np.float64)
        if not ((of_classes >= 0) & np.isfinite(of_classes)).all():
            raise ValueError("class_weight must hold finite numbers of at least 0.")
        product = of_classes if weights is None else weights * of_classes
        if not product.any():
            raise ValueError("class_weight gives every row the weight 0; some rows need a positive weight.")
        return product

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
