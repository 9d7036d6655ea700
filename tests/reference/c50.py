"""C5.0, one classifier: `fit` and `predict` (see the package docstring)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from .c50_data import Costs, Options, TrainingSet, prepare
from .c50_grow import grow, regime_of_classifier
from .c50_predict import predict
from .c50_prune import (
    ExtraErrors,
    LocalPruning,
    prune_globally,
    relabel_by_costs,
    relabel_with_resubstitution_errors,
    snap_thresholds,
    tidy_discrete_tests,
)
from .c50_rules import Condition, Rule, rules_from_tree, training_time_votes
from .c50_tree import Node, training_time_classes
from .c50_winnow import winnow

__all__ = ["Condition", "Model", "Node", "Options", "Rule", "fit", "predict"]


@dataclass(frozen=True)
class Model:
    """A tree, or rules with a default class; the other is None."""

    tree: Node | None
    rules: list[Rule] | None
    default: int | None
    n_winnowed: int
    n_training_errors: int  # unweighted, as the engine reports them (spec 11.9)
    n_classes: int
    kinds: Sequence[str]
    costs: Costs | None


def fit(columns, kinds, y, n_classes: int, options: Options, weights=None, n_values=None) -> Model:
    """The pipeline of spec 0.

    columns: 1-D arrays, float64 with NaN for missing (kind "c") or codes with -1 for missing (kind "d", with the
    declared number of values in `n_values`); y: class codes, -1 for a missing class.
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))  # there is no depth limit (spec 2)
    data = prepare(columns, kinds, y, n_classes, options, weights, n_values)
    extra_errors = ExtraErrors(options.cf, data.costs)
    if options.winnow:
        winnow(data, extra_errors)
    tree = pruned_tree(data, options, extra_errors)
    n_winnowed = data.in_use.count(False)
    shared = {"n_winnowed": n_winnowed, "n_classes": n_classes, "kinds": list(kinds), "costs": data.costs}
    if not options.rules:
        n_errors = int((training_time_classes(data, tree, data.all_cases) != data.classes).sum())
        return Model(tree=tree, rules=None, default=None, n_training_errors=n_errors, **shared)
    found = rules_from_tree(data, tree, tree.err)
    n_errors = int((training_time_votes(data, found) != data.classes).sum())
    return Model(tree=None, rules=found.rules, default=found.default, n_training_errors=n_errors, **shared)


def pruned_tree(data: TrainingSet, options: Options, extra_errors: ExtraErrors) -> Node:
    regime = regime_of_classifier(data)
    tree = grow(data, regime, data.all_cases)
    LocalPruning(data, regime, extra_errors).prune(tree, data.all_cases)
    if data.costs is not None:
        relabel_by_costs(data, tree)
    else:
        relabel_with_resubstitution_errors(tree)
        if options.global_pruning:
            prune_globally(data, tree)
    tidy_discrete_tests(data, tree, for_rules=options.rules)
    snap_thresholds(data, tree)
    return tree
