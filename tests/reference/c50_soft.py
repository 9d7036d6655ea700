"""Fuzzy thresholds: bounds between which a threshold test is not crisp (B4)."""

from __future__ import annotations

import math
from contextlib import contextmanager

import numpy as np

from .c50_data import TrainingSet
from .c50_numbers import f32, sum_in_order
from .c50_tree import (
    MISSING_BRANCH,
    SMALLEST_BRANCH,
    THRESHOLD,
    Node,
    SoftBounds,
    branch_of_cells,
    divide,
    training_time_verdicts,
    weights_scaled,
)

SMALLEST_SHARE = 1e-6


def soften(data: TrainingSet, tree: Node) -> None:
    recompute_errors(data, tree, data.all_cases)
    set_bounds(data, tree, data.all_cases)


def recompute_errors(data: TrainingSet, node: Node, cases: np.ndarray) -> None:
    """B4.1."""
    if node.is_leaf:
        node.err = node.size - node.distribution[node.cls]
        return
    node.err = f32(0)
    division = divide(data, node, cases, node.size, len(node.branches))
    with_costs = data.costs is not None and data.costs.reweights_cases
    if len(division.missing) and not with_costs:
        return
    for index, branch in enumerate(node.branches):
        if float(division.weight_for_pruning(index)) < SMALLEST_BRANCH:
            continue
        with weights_scaled(data, division.missing, division.factor[index]):
            recompute_errors(data, branch, division.cases_of(index, data.weights))
        node.err = node.err + branch.err


def set_bounds(data: TrainingSet, node: Node, cases: np.ndarray) -> None:
    """B4.2, parents before children."""
    if node.is_leaf:
        return
    branch_of_case = branch_of_cells(node, data.columns[node.feature][cases], data.known[node.feature][cases])
    is_missing = branch_of_case == MISSING_BRANCH
    known_weight = f32(sum_in_order(data.weights[cases[~is_missing]]))
    if node.test == THRESHOLD:
        node.bounds = bounds_of(data, node, cases[~is_missing], known_weight)
    for index, branch in enumerate(node.branches):
        is_here = branch_of_case == index
        weight = f32(sum_in_order(data.weights[cases[is_here]]))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = float(np.float64(weight) / np.float64(known_weight))
        if not is_here.any() or not share > SMALLEST_SHARE:
            continue
        with weights_divided(data, cases[is_missing], share):
            set_bounds(data, branch, cases[is_here | is_missing])


@contextmanager
def weights_divided(data: TrainingSet, cases: np.ndarray, share: float):
    """As `weights_scaled`, but the share is a double (B4.2)."""
    data.weights[cases] = (data.weights[cases].astype(np.float64) * share).astype(np.float32)
    yield
    data.weights[cases] = (data.weights[cases].astype(np.float64) / share).astype(np.float32)


def bounds_of(
    data: TrainingSet, node: Node, known_cases: np.ndarray, known_weight: np.float32
) -> SoftBounds | None:
    """The bounds of a threshold test; None if its known cases all lie on one side (open in the spec, B12)."""
    order = known_cases[np.argsort(data.columns[node.feature][known_cases], kind="stable")]
    values = data.columns[node.feature][order]
    p = int(np.searchsorted(values, node.threshold, side="right")) - 1
    if p < 0 or p + 1 >= len(values):
        return None
    with np.errstate(over="ignore"):
        mid = f32(float(values[p] + values[p + 1]) / 2)
    product = node.err * (known_weight - node.err)
    inside = float(product) / (float(known_weight) + 0.001)
    band = f32(2 * math.sqrt(inside)) if inside >= 0 else f32(math.nan)
    wrong_by = [
        training_time_verdicts(data, branch, order, parent=node).classes != data.classes[order]
        for branch in node.branches[1:]
    ]
    weights = data.weights[order]

    def reach(start: int, stop: int, step: int, own_branch: int) -> int:
        own = other = f32(0)
        reached = start
        for i in range(start, stop, step):
            if wrong_by[1 - own_branch][i]:
                other = other + weights[i]
            if wrong_by[own_branch][i]:
                own = own + weights[i]
            if values[i + step] == values[i]:
                continue
            if other > f32(2) * own + f32(1) or float(other - own) > 0.5 * float(band):
                break
            reached = i + step
        return reached

    low = min(mid, values[reach(p, 0, -1, own_branch=0)])
    high = max(mid, values[reach(p + 1, len(values) - 1, +1, own_branch=1)])
    return SoftBounds(low, mid, high)
