"""C5.0: `fit` and `predict` (see the package docstring)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from .c50_boost import Trial, boost
from .c50_data import Costs, Options, prepare
from .c50_predict import predict
from .c50_prune import ExtraErrors
from .c50_rules import Condition, Rule
from .c50_tree import Node
from .c50_winnow import winnow

__all__ = ["Condition", "Model", "Node", "Options", "Rule", "Trial", "fit", "predict"]


@dataclass(frozen=True)
class Model:
    """One or more classifiers, each a tree or rules with a default class."""

    trials: list[Trial]
    stopped: str | None  # "accurate", "inaccurate"
    was_abandoned: bool
    n_winnowed: int
    n_training_errors: list[int]  # per trial, unweighted
    n_classes: int
    kinds: Sequence[str]
    costs: Costs | None


def fit(columns, kinds, y, n_classes: int, options: Options, weights=None, n_values=None) -> Model:
    """The pipeline of spec 0 and the loop of B1.

    columns: 1-D arrays, float64 with NaN for missing (kind "c") or codes with -1 for missing (kinds "d" and "o", with
    the declared number of values in `n_values`); y: class codes, -1 for a missing class.
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))  # there is no depth limit (spec 2)
    data = prepare(columns, kinds, y, n_classes, options, weights, n_values)
    extra_errors = ExtraErrors(options.cf, data.costs)
    if options.winnow:
        winnow(data, extra_errors)
    boosting = boost(data, options, extra_errors)
    return Model(
        trials=boosting.trials,
        stopped=boosting.stopped,
        was_abandoned=boosting.was_abandoned,
        n_winnowed=data.in_use.count(False),
        n_training_errors=boosting.n_training_errors,
        n_classes=n_classes,
        kinds=list(kinds),
        costs=data.costs,
    )
