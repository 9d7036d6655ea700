"""Between the C5.0 classes and the compiled core: options in, rule sets and trees out."""

import math
from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from clausewise import _core
from clausewise.base import threads
from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.induction.c50_trials import C50Trial
from clausewise.induction.estimator import checked_case_weights, checked_codes, counted_min_cases
from clausewise.induction.matrix import PreparedMatrix
from clausewise.induction.protocol import ProgressCallback
from clausewise.induction.tree import C50Tree, as_in_model_file
from clausewise.rules import RuleSet

# Finding subsets takes time that grows with the cube of the number of categories; a branch per category
# takes memory.
MAX_CATEGORIES_IN_SUBSETS = 1_000
MAX_CATEGORIES = 50_000
_ABOVE, _IS_THRESHOLD = 1, (0, 1)

Thresholds = Literal["exact", "readable"]


class C50Settings(Protocol):
    """The parameters that `C50Inducer` and `C50Classifier` share, already checked."""

    @property
    def min_cases(self) -> int | float:
        """Minimum number of rows in two branches of every test, or a fraction of the rows."""
        ...

    @property
    def cf(self) -> float:
        """Confidence level of pruning."""
        ...

    @property
    def winnow(self) -> bool:
        """Whether to drop columns that do not help first."""
        ...

    @property
    def global_pruning(self) -> bool:
        """Whether to prune the tree as a whole."""
        ...

    @property
    def subset(self) -> bool:
        """Whether tests may group categories."""
        ...


class BoostingSettings(Protocol):
    """The parameters of `C50Classifier` for several trials and fuzzy thresholds, already checked."""

    @property
    def trials(self) -> int:
        """Most classifiers to build."""
        ...

    @property
    def early_stopping(self) -> bool:
        """Whether boosting stops at accurate or inaccurate classifiers."""
        ...

    @property
    def fuzzy_threshold(self) -> bool:
        """Whether thresholds of trees are softened."""
        ...


def fit_core(
    settings: C50Settings,
    matrix: PreparedMatrix,
    codes: NDArray[np.int32],
    n_classes: int,
    *,
    weights: NDArray[np.float64] | None = None,
    costs: NDArray[np.float64] | None = None,
    boosting: BoostingSettings | None = None,
    is_ordered: Sequence[bool] | None = None,
    rules: bool = True,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> _core.C50Model:
    """Fit the core's model with these settings; one classifier with crisp thresholds unless `boosting`."""
    check_categories(matrix.features, settings.subset)
    weights = checked_case_weights(weights, matrix.n_rows)
    return _core.fit_c50(
        matrix.core,
        checked_codes(codes, matrix.n_rows, n_classes),
        n_classes,
        None if weights is None else np.ascontiguousarray(weights, dtype=np.float32),
        None if costs is None else np.ascontiguousarray(costs, dtype=np.float32).ravel(),
        core_options(settings, matrix.n_rows, rules, boosting),
        threads.resolve(n_jobs),
        is_ordered,
        progress,
    )


def core_options(
    settings: C50Settings, n_rows: int, rules: bool, boosting: BoostingSettings | None = None
) -> _core.C50Options:
    """Return the settings as the core takes them."""
    several: dict[str, Any] = {}
    if boosting is not None:
        several = {
            "trials": int(boosting.trials),
            "early_stopping": bool(boosting.early_stopping),
            "fuzzy_threshold": bool(boosting.fuzzy_threshold),
        }
    return _core.C50Options(
        rules=rules,
        min_cases=counted_min_cases(settings.min_cases, n_rows),
        cf=float(settings.cf),
        winnow=bool(settings.winnow),
        global_pruning=bool(settings.global_pruning),
        subset=bool(settings.subset),
        **several,
    )


def check_categories(features: Features, subset: bool) -> None:
    """Raise a ValueError for a column with more categories than C5.0 can test."""
    most = MAX_CATEGORIES_IN_SUBSETS if subset else MAX_CATEGORIES
    for name, n_categories in zip(features.names, features.n_categories.tolist(), strict=True):
        if n_categories > most:
            raise ValueError(
                f"Column '{name}' has {n_categories:,} categories; at most {most:,} can be "
                f"{'grouped into subsets' if subset else 'tested'}. Merge rare categories or drop the column"
                f"{f', or pass subset=False (up to {MAX_CATEGORIES:,})' if subset else ''}."
            )


def rule_set_of(
    model: _core.C50Model,
    matrix: PreparedMatrix,
    classes: Sequence[Label],
    style: Thresholds,
    trial: int = 0,
) -> RuleSet:
    """Return the rules of one of the core's trials, with decimal thresholds, as a rule set."""
    default = classes[model.default_label(trial)]
    return rule_set_of_arrays(model.rules(trial), default, matrix, classes, style)


def premise_arrays(
    models: Sequence[_core.C50Model], n_rows: int
) -> tuple[dict[str, NDArray[Any]], NDArray[np.intp]]:
    """Return the rules of all models that predict the first class, and the model of each rule.

    The rules are arrays as in `C50Model.rules`. A model without rules whose default is the first class counts
    as one rule without conditions.
    """
    always: dict[str, Any] = {"label": [0], "cover": [n_rows], "correct": [n_rows], "start": [0, 0]}
    always |= {name: [] for name in ("column", "kind", "rank", "values")} | {"value_start": [0]}
    listed = []
    for model in models:
        rules = model.rules()
        is_always = len(rules["label"]) == 0 and model.default_label() == 0
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


def rule_set_of_arrays(
    rules: dict[str, NDArray[Any]],
    default: Label,
    matrix: PreparedMatrix,
    classes: Sequence[Label],
    style: Thresholds,
) -> RuleSet:
    """Return rules given as in `C50Model.rules` as a rule set."""
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
        # With costs both are rounded sums and may differ in the last digit for a rule without errors.
        correct=np.minimum(rules["correct"], rules["cover"]),
        voting="confidence",
    )


def _confidences(correct: NDArray[Any], cover: NDArray[Any]) -> NDArray[np.float64]:
    """Return (correct + 1) / (cover + 2), adjusted so that rounding to per mille gives C5.0's vote.

    C5.0 votes with the six-digit numbers of its model file. The quotient's own rounding may move it across a
    half; the neighbouring double is on the right side.
    """
    correct, cover = as_in_model_file(correct), as_in_model_file(cover)
    votes = np.floor(1000 * (correct + 1) / (cover + 2) + 0.5)
    exact = (correct + 1) / (cover + 2)
    rounded = np.floor(1000 * exact + 0.5)
    toward = np.where(rounded < votes, math.inf, -math.inf)
    return np.where(rounded == votes, exact, np.nextafter(exact, toward))


def tree_of(
    model: _core.C50Model,
    matrix: PreparedMatrix,
    classes: Sequence[Label],
    style: Thresholds,
    trial: int = 0,
) -> C50Tree:
    """Return the tree of one of the core's trials, with decimal thresholds."""
    arrays = model.tree(trial)
    is_threshold = arrays["kind"] == 1
    thresholds = matrix.thresholds(arrays["column"][is_threshold], arrays["rank"][is_threshold], style)
    return C50Tree.from_core(arrays, matrix.features, classes, thresholds)


def trials_of(
    model: _core.C50Model,
    matrix: PreparedMatrix,
    labels: Sequence[Label],
    thresholds: Thresholds,
    has_rules: bool,
) -> tuple[C50Trial, ...]:
    """Return all classifiers of the core's model."""
    trials = []
    for t in range(model.n_trials):
        rules = rule_set_of(model, matrix, labels, thresholds, t) if has_rules else None
        tree = None if has_rules else tree_of(model, matrix, labels, thresholds, t)
        size = model.n_leaves(t) if rules is None else len(rules)
        n_errors, weight = model.n_trial_errors(t), model.mean_confidence(t)
        trials.append(C50Trial(rules, tree, size, n_errors, weight))
    return tuple(trials)
