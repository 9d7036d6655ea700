"""Pruning: pessimistic errors, local pruning with raising, global pruning, final touches (spec 3, B7, B9)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .c50_data import Costs, TrainingSet
from .c50_grow import Regime, grow_branches
from .c50_numbers import f32, first_maximum, quotient, size32, sum_in_order
from .c50_tree import (
    MULTIWAY,
    SMALLEST_BRANCH,
    SUBSET,
    THRESHOLD,
    Node,
    divide,
    training_time_classes,
    weights_scaled,
)

CONFIDENCE_LEVELS = [f32(v) for v in (0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)]
NORMAL_DEVIATES = [f32(v) for v in (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)]
ERROR_MARGIN = 0.1


class ExtraErrors:
    """Pessimistic extra errors of a leaf (spec 3.1; with two-class costs spec 6)."""

    def __init__(self, cf: float, costs: Costs | None) -> None:
        confidence = f32(cf)
        upper = next((i for i in range(1, 9) if CONFIDENCE_LEVELS[i] >= confidence), 8)
        z0, z1 = NORMAL_DEVIATES[upper - 1], NORMAL_DEVIATES[upper]
        c0, c1 = CONFIDENCE_LEVELS[upper - 1], CONFIDENCE_LEVELS[upper]
        z = z0 + (z1 - z0) * (confidence - c0) / (c1 - c0)  # single precision at every step
        self.k = z * z
        self.log_cf = math.log(float(max(confidence, f32(1e-6))))
        self.class_factor = costs.class_factor if costs is not None else None

    def of_leaf(self, size: np.float32, errors: np.float32, cls: int) -> np.float32:
        if self.class_factor is None:
            return self(size, errors)
        own, other = self.class_factor[cls], self.class_factor[1 - cls]
        uncosted_errors = errors / other
        uncosted_size = (size - errors) / own + uncosted_errors
        return other * self(uncosted_size, uncosted_errors)

    def __call__(self, size: np.float32, errors: np.float32) -> np.float32:
        """X(n, e)."""
        n, e = float(size), float(errors)
        if e < 1e-6:
            return self._without_error(n)
        if n > 1 and e < 0.9999:
            at_zero = self._without_error(n)
            at_one = self._with_errors(size, f32(1))
            return at_zero + errors * (at_one - at_zero)
        return self._with_errors(size, errors)

    def _without_error(self, n: float) -> np.float32:
        return f32(n * (1 - math.exp(self.log_cf / n)))

    def _with_errors(self, size: np.float32, errors: np.float32) -> np.float32:
        n, e, k = float(size), float(errors), float(self.k)
        if e + 0.5 >= n:
            return f32(0.67 * float(size - errors))
        half_k, quarter_k = float(f32(k / 2)), float(f32(k / 4))
        root = math.sqrt(k * ((e + 0.5) * (1 - (e + 0.5) / n) + quarter_k))
        p = f32((e + 0.5 + half_k + root) / float(size + self.k))
        return size * p - errors


@dataclass(frozen=True)
class LocalPruning:
    """Spec 3.2: `est` of the specification, called on the root by `prune`."""

    data: TrainingSet
    regime: Regime
    extra_errors: ExtraErrors

    def prune(self, tree: Node, cases: np.ndarray, rebuild: bool = True) -> None:
        self.estimate(tree, cases, update=True, rebuild=rebuild)

    def estimate(self, node: Node, cases: np.ndarray, update: bool, rebuild: bool) -> np.float32:
        """Pessimistic errors of the subtree on `cases`; with `update` the subtree is pruned as well."""
        class_weights = self.data.class_weights(cases)
        size = size32(class_weights)
        cls = first_maximum(class_weights)
        errors = f32(float(size) - float(class_weights[cls]))
        leaf_estimate = errors + self.extra_errors.of_leaf(size, errors, cls)
        if update:
            node.cls, node.size = cls, size
            node.distribution = class_weights.astype(np.float32)
        if node.is_leaf:
            return leaf_estimate
        tree_estimate = self._estimate_of_branches(node, cases, size, update, rebuild)
        if not update:
            return tree_estimate

        raised = self._branch_to_raise(node)
        if raised is None:
            raise_estimate = f32(self.regime.n_cases)
        else:
            raise_estimate = self.estimate(raised, cases, update=False, rebuild=False)
        leaf, tree, raise_ = float(leaf_estimate), float(tree_estimate), float(raise_estimate)
        if leaf <= raise_ + ERROR_MARGIN and leaf <= tree + ERROR_MARGIN:
            node.make_leaf()
            return leaf_estimate
        # Without a candidate there is nothing to raise, however large the default estimate.
        if raised is not None and raise_ <= tree + ERROR_MARGIN:
            share = raised.size / size
            node.take_test_of(raised)
            if rebuild and float(share) < 0.95:
                n_forks, empty_class = len(node.branches), raised.cls
                grow_branches(self.data, self.regime, node, cases, n_forks, frozenset(), empty_class)
            return self.estimate(node, cases, update=True, rebuild=False)
        return tree_estimate

    def _estimate_of_branches(self, node, cases, size, update: bool, rebuild: bool) -> np.float32:
        """treeEst: estimates of the branches, those below min_cases pooled into one leaf."""
        data = self.data
        division = divide(data, node, cases, size, len(node.branches))
        estimate, pool, pooled_size = f32(0), np.zeros(data.n_classes, dtype=np.float32), f32(0)
        for index, branch in enumerate(node.branches):
            weight = division.weight_for_pruning(index)
            if not float(weight) >= SMALLEST_BRANCH:
                continue
            members = division.cases_of(index, data.weights)
            with weights_scaled(data, division.missing, division.factor[index]):
                branch_estimate = self.estimate(branch, members, update, rebuild)
                if float(weight) < self.regime.min_cases:
                    for case in members:
                        pool[data.classes[case]] += data.weights[case]
                    pooled_size = pooled_size + weight
                else:
                    estimate = estimate + branch_estimate
        if pooled_size > 0:
            cls = first_maximum(pool)
            errors = pooled_size - pool[cls]
            estimate = estimate + (errors + self.extra_errors.of_leaf(pooled_size, errors, cls))
        return estimate

    @staticmethod
    def _branch_to_raise(node: Node) -> Node | None:
        best = None
        for branch in node.branches:
            if branch.is_leaf or float(branch.size) < 0.1 * float(node.size):
                continue
            if node.test == THRESHOLD and branch.feature == node.feature:
                continue
            if best is None or branch.size > best.size:
                best = branch
        return best


def relabel_with_resubstitution_errors(node: Node) -> None:
    """Spec 3.3, first step."""
    if node.is_leaf:
        counts = float(node.size) > 1e-3
        node.err = node.size - node.distribution[node.cls] if counts else f32(0)
        node.leaves = 1 if counts else 0
        return
    node.err, node.leaves = f32(0), 0
    for branch in node.branches:
        relabel_with_resubstitution_errors(branch)
        node.err = node.err + branch.err
        node.leaves += branch.leaves


def relabel_by_costs(data: TrainingSet, node: Node) -> None:
    """Spec 6 and B9.4, "any K with costs": true class counts and sizes, class of least expected cost."""
    for each in node.nodes():
        if float(each.size) < SMALLEST_BRANCH:
            continue
        if data.costs.reweights_cases:
            each.distribution = each.distribution / data.costs.class_factor
            each.size = size32(each.distribution)
        each.cls = int(np.argmin(data.costs.expected(each.distribution)))
        each.err = each.size - each.distribution[each.cls]


def extra_if_leaf(node: Node) -> np.float32:
    """The spec's d: extra errors if the node became a leaf."""
    return (node.size - node.distribution[node.cls]) - node.err


class WeakestNodes:
    """One round of spec 3.3: the set Z of nodes that are cheapest to cut, per leaf saved."""

    def __init__(self, slack: float) -> None:
        self.slack = slack
        self.lowest = f32(1e38)  # cm: single precision although costs are compared in double
        self.total = 0.0
        self.paths: list[list[Node]] = []  # root ... node

    def visit(self, path: list[Node]) -> None:
        node = path[-1]
        lowest_in, n_in, total_in = self.lowest, len(self.paths), self.total
        for branch in node.branches:
            if not branch.is_leaf and float(branch.size) > 0.1:
                self.visit([*path, branch])
        extra = extra_if_leaf(node)
        if float(extra) > self.slack:
            return
        cost = quotient(float(extra), node.leaves - 1)
        lowest = float(self.lowest)
        if cost < lowest or (cost <= lowest and cost < float(lowest_in)):
            self.paths = [path]
            self.lowest = f32(cost)
            self.total = float(extra)
        elif cost <= lowest:
            if len(self.paths) > n_in:  # ties below this node
                del self.paths[n_in:]
                self.total = total_in
            self.paths.append(path)
            self.total += float(extra)


def prune_globally(data: TrainingSet, tree: Node) -> None:
    """Spec 3.3, after `relabel_with_resubstitution_errors`."""
    errors = float(tree.err)
    if any(data.has_missing[feature] for feature in tree.tested_features()):
        wrong = training_time_classes(data, tree, data.all_cases) != data.classes
        errors = sum_in_order(data.weights[wrong])
    slack = math.sqrt(max(errors * (1 - errors / data.n_cases), 0.0))
    while slack > 0:
        weakest = WeakestNodes(slack)
        if not tree.is_leaf:
            weakest.visit([tree])
        if not weakest.paths or weakest.total > slack:
            return
        for path in weakest.paths:
            node = path[-1]
            extra, leaves_saved = extra_if_leaf(node), node.leaves - 1
            node.make_leaf()
            for each in path:
                each.err = each.err + extra
                each.leaves -= leaves_saved
            slack -= float(extra)


def snap_thresholds(data: TrainingSet, tree: Node) -> None:
    """Spec 3.4: thresholds become training values."""
    for node in tree.nodes():
        if node.test == THRESHOLD:
            values = distinct_values(data, node.feature)
            at_most = int(np.searchsorted(values, node.threshold, side="right"))
            node.threshold = values[max(at_most - 1, 0)]


def distinct_values(data: TrainingSet, feature: int) -> np.ndarray:
    return np.unique(data.columns[feature][data.known[feature]])


def tidy_discrete_tests(data: TrainingSet, node: Node, first_trial: bool = True, possible=None) -> None:
    """The pass of B7 and B8 over discrete tests after pruning. `possible`: values that tests above let through."""
    possible = possible or {}
    if node.test == SUBSET:
        _drop_values_excluded_above(node, possible)
    for index, branch in enumerate(node.branches):
        below = possible
        if node.test == SUBSET:
            passing = set(node.subsets[index])
            below = {**possible, node.feature: passing & possible.get(node.feature, passing)}
        tidy_discrete_tests(data, branch, first_trial, below)
    if node.test == SUBSET and not node.is_ordered:
        _merge_branches(node, lambda a, b: a.cls == b.cls)
    elif node.test == MULTIWAY and len(node.branches) >= 4 and not data.subset:
        _merge_multiway(node, by_class=first_trial and not data.rules)


def _drop_values_excluded_above(node: Node, possible: dict[int, set[int]]) -> None:
    """Values that cannot arrive leave the last set, or both sets of an ordered test."""
    allowed = possible.get(node.feature)
    if allowed is None:
        return
    for index in range(0 if node.is_ordered else len(node.subsets) - 1, len(node.subsets)):
        node.subsets[index] = tuple(value for value in node.subsets[index] if value in allowed)
    if not node.is_ordered and not node.subsets[-1]:
        node.subsets.pop()
        node.branches.pop()


def _merge_branches(node: Node, alike) -> None:
    """Leaf branches that are alike become one, at the place of the first."""
    branches: list[Node] = []
    subsets: list[tuple[int, ...]] = []
    for branch, values in zip(node.branches, node.subsets):
        home = next(
            (i for i, b in enumerate(branches) if b.is_leaf and branch.is_leaf and alike(b, branch)), None
        )
        if home is None:
            branches.append(branch)
            subsets.append(values)
            continue
        first = branches[home]
        first.distribution = first.distribution + branch.distribution
        first.size = first.size + branch.size
        first.err = first.err + branch.err
        subsets[home] = tuple(sorted(subsets[home] + values))
    node.branches, node.subsets = branches, subsets


def _merge_multiway(node: Node, by_class: bool) -> None:
    """subset = FALSE: merge empty leaves; `by_class` also others, and then only leaves of equal class."""

    def alike(a: Node, b: Node) -> bool:
        a_is_empty, b_is_empty = float(a.size) < SMALLEST_BRANCH, float(b.size) < SMALLEST_BRANCH
        if by_class:
            return a_is_empty == b_is_empty and a.cls == b.cls
        return a_is_empty and b_is_empty

    merged = Node(node.cls, node.distribution, node.size, node.err, branches=node.branches[1:])
    merged.subsets = [(value,) for value in range(len(node.branches) - 1)]
    _merge_branches(merged, alike)
    if len(merged.branches) < len(node.branches) - 1:
        node.test, node.subsets, node.branches = SUBSET, merged.subsets, merged.branches
        node.is_merged = True
