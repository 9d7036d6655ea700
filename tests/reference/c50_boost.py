"""Boosting: several classifiers from the same cases with changing weights (B1, B2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .c50_data import Options, TrainingSet
from .c50_grow import grow, regime_of_classifier
from .c50_numbers import f32, quotient
from .c50_prune import (
    ExtraErrors,
    LocalPruning,
    distinct_values,
    prune_globally,
    relabel_by_costs,
    relabel_with_resubstitution_errors,
    snap_thresholds,
    tidy_discrete_tests,
)
from .c50_rules import RuleModel, rules_from_tree, training_time_votes
from .c50_soft import soften
from .c50_tree import SMALLEST_BRANCH, THRESHOLD, Node, Verdicts, training_time_verdicts

LEAST_WEIGHT_OF_RIGHT = 0.001
CASES_FOR_TRIMMING = 4001


@dataclass(frozen=True)
class Trial:
    """One classifier: a tree, or rules with a default class."""

    tree: Node
    found: RuleModel | None

    @property
    def is_trivial(self) -> bool:
        return self.tree.is_leaf or (self.found is not None and not self.found.rules)

    @property
    def size(self) -> int:
        """The number of rules, or of leaves that are not empty."""
        return n_leaves(self.tree) if self.found is None else len(self.found.rules)

    def verdicts(self, data: TrainingSet, cases: np.ndarray) -> Verdicts:
        if self.found is None:
            return training_time_verdicts(data, self.tree, cases)
        of_all = training_time_votes(data, self.found)
        return Verdicts(of_all.classes[cases], of_all.confidences[cases])


@dataclass
class Boosting:
    """State and result of the loop of B1.2."""

    trials: list[Trial] = field(default_factory=list)
    stopped: str | None = None
    was_abandoned: bool = False
    n_training_errors: list[int] = field(default_factory=list)  # per trial, on all cases


def boost(data: TrainingSet, options: Options, extra_errors: ExtraErrors) -> Boosting:
    boosting = Boosting()
    votes = np.zeros((data.n_cases, data.n_classes), dtype=np.float32)
    lead = np.full(data.n_cases, -1)
    n_dropped = 0
    lightest = 1.0
    if data.costs is not None and data.costs.reweights_cases:
        lightest = min(1.0, *map(float, data.costs.class_factor))
    n_planned, n_wanted = options.trials, options.trials
    t = 0
    while t < n_planned:
        trial = build_trial(data, options, extra_errors, t)
        boosting.trials.append(trial)
        verdicts = trial.verdicts(data, data.all_cases)
        boosting.n_training_errors.append(int((verdicts.classes != data.classes).sum()))
        if t == n_planned - 1:
            break
        # B1.4
        may_drop = t + 1 > n_wanted / 2
        kept, wrong = [], []
        wrong_weight = right_weight = 0.0
        for i in range(data.n_cases):
            if data.weights[i] <= 0:
                continue
            p, confidence = verdicts.classes[i], float(verdicts.confidences[i])
            votes[i, p] = f32(float(votes[i, p]) + confidence)
            if votes[i, p] > (f32(0) if lead[i] < 0 else votes[i, lead[i]]):
                lead[i] = p
            highest = f32(0) if lead[i] < 0 else votes[i, lead[i]]
            y = data.classes[i]
            if may_drop and highest > (votes[i, y] + f32(n_wanted - 1)) - f32(t):
                n_dropped += 1
                data.weights[i] = 0
                continue
            kept.append(i)
            wrong.append(p != y)
            if p != y:
                wrong_weight += float(data.weights[i])
            else:
                right_weight += float(data.weights[i])
        n_left = data.n_cases - n_dropped
        if options.early_stopping and wrong_weight < 0.1:
            n_planned, boosting.stopped = t + 1, "accurate"
        elif options.early_stopping and (
            (t > 0 and trial.is_trivial) or quotient(wrong_weight, n_left) >= 0.49
        ):
            n_planned, boosting.stopped = max(t, 1), "inaccurate"
        else:
            lightest = update_weights(
                data,
                np.array(kept, dtype=np.int64),
                np.array(wrong, dtype=bool),
                wrong_weight,
                right_weight,
                n_left,
                lightest,
            )
            if t == 0:
                data.leaf_ratio = f32(1.1 * counted_leaves(data, trial.tree) / data.n_cases)
        t += 1
    if options.early_stopping and n_wanted > 1 and n_planned <= 2:
        boosting.was_abandoned = True
        n_planned = 1
    del boosting.trials[n_planned:]
    del boosting.n_training_errors[n_planned:]
    return boosting


def build_trial(data: TrainingSet, options: Options, extra_errors: ExtraErrors, t: int) -> Trial:
    """Growing uses G, everything after it all cases (B2)."""
    regime = regime_of_classifier(data)
    tree = grow(data, regime, data.all_cases if data.growing_cases is None else data.growing_cases)
    LocalPruning(data, regime, extra_errors).prune(tree, data.all_cases, rebuild=t == 0)
    if data.costs is not None:
        relabel_by_costs(data, tree)
    else:
        relabel_with_resubstitution_errors(tree)
        if options.global_pruning:
            prune_globally(data, tree)
    tidy_discrete_tests(data, tree, first_trial=t == 0)
    snap_thresholds(data, tree)
    if t == 0:
        data.n_cuts = {
            node.feature: len(distinct_values(data, node.feature)) - 1
            for node in tree.nodes()
            if node.test == THRESHOLD
        }
    if options.fuzzy:
        soften(data, tree)
    return Trial(tree, rules_from_tree(data, tree, tree.err) if options.rules else None)


def update_weights(
    data: TrainingSet,
    kept: np.ndarray,
    wrong: np.ndarray,
    wrong_weight: float,
    right_weight: float,
    n_left: int,
    lightest: float,
) -> float:
    """B1.5 and B1.6; returns the new lightest relative weight."""
    x = 0.25 * (right_weight - wrong_weight)
    scale = quotient(right_weight - x, right_weight)
    added = quotient(x, int(wrong.sum()))
    norm = quotient(n_left, right_weight + wrong_weight)
    lightest = lightest * (scale * norm)
    old = data.weights[kept].astype(np.float64)
    right = (old * (norm * scale)).astype(np.float32)
    right[right.astype(np.float64) < LEAST_WEIGHT_OF_RIGHT] = f32(LEAST_WEIGHT_OF_RIGHT)
    data.weights[kept] = np.where(wrong, (norm * (old + added)).astype(np.float32), right)
    data.growing_cases = kept
    if data.n_cases > CASES_FOR_TRIMMING and lightest <= 0.2:
        is_light = data.weights[kept].astype(np.float64) <= lightest + LEAST_WEIGHT_OF_RIGHT
        data.growing_cases = kept[~is_light]
    return lightest


def counted_leaves(data: TrainingSet, tree: Node) -> int:
    """L0 of B2.1."""
    if data.rules or data.subset:
        return n_leaves(tree)
    return n_values_at_leaves(tree)


def n_leaves(tree: Node) -> int:
    return sum(node.is_leaf and float(node.size) >= SMALLEST_BRANCH for node in tree.nodes())


def n_values_at_leaves(node: Node) -> int:
    """Leaves, where a leaf of a merged test counts as often as it has values."""
    if node.is_leaf:
        return 1
    total = 0
    for index, branch in enumerate(node.branches):
        if float(branch.size) < SMALLEST_BRANCH:
            continue
        counts_values = branch.is_leaf and node.is_merged
        total += len(node.subsets[index]) if counts_values else n_values_at_leaves(branch)
    return total
