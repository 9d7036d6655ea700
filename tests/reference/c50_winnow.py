"""Winnowing: attributes that do not help on held-out cases are excluded beforehand (spec 5)."""

from __future__ import annotations

import numpy as np

from .c50_data import TrainingSet
from .c50_grow import Regime, grow
from .c50_numbers import f32, sum_in_order
from .c50_prune import ExtraErrors, LocalPruning, relabel_by_costs, tidy_discrete_tests
from .c50_tree import Node, training_time_classes


def winnow(data: TrainingSet, extra_errors: ExtraErrors) -> None:
    """Marks the excluded attributes in `data.in_use`."""
    training, held_out = halves(data.classes)
    if len(training) == 0:  # a single case: the tree on no cases is a leaf, which tests nothing
        _set_use(data, list(range(len(data.columns))), False)
        return
    regime = Regime(f32(0), f32(0), max(data.min_cases / 2, 2.0), len(training))

    def pruned_tree() -> tuple[Node, set[int]]:
        tree = grow(data, regime, training)
        tested_before_pruning = tree.tested_features()
        LocalPruning(data, regime, extra_errors).prune(tree, training)
        if data.costs is not None:
            relabel_by_costs(data, tree)
        tidy_discrete_tests(data, tree)  # B9.2
        data.restore_weights()  # rounding drift does not reach the next tree
        return tree, tested_before_pruning

    tree, useful = pruned_tree()
    base = held_out_errors(data, tree, held_out)
    harmful = [a for a in sorted(tree.tested_features()) if held_out_errors(data, tree, held_out, a) < base]
    if harmful:
        _set_use(data, harmful, False)
        without, _ = pruned_tree()
        if held_out_errors(data, without, held_out) > base:
            _set_use(data, harmful, True)
    _set_use(data, [a for a in range(len(data.columns)) if a not in useful], False)


def halves(classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Spec 5.1: cases of each class go alternately to the front and, from the end, to the back."""
    front, back = [], []
    goes_to_front: dict[int, bool] = {}
    for case, cls in enumerate(classes.tolist()):
        to_front = goes_to_front.get(cls, True)
        (front if to_front else back).append(case)
        goes_to_front[cls] = not to_front
    order = np.array(front + back[::-1], dtype=np.int64)
    half = len(order) // 2
    return order[:half], order[half:]


def held_out_errors(
    data: TrainingSet, tree: Node, cases: np.ndarray, unknown_feature: int | None = None
) -> float:
    """Unweighted number of errors; with costs their sum."""
    predicted = training_time_classes(data, tree, cases, unknown_feature)
    wrong = predicted != data.classes[cases]
    if data.costs is None:
        return float(wrong.sum())
    return sum_in_order(data.costs.matrix[predicted[wrong], data.classes[cases[wrong]]])


def _set_use(data: TrainingSet, features: list[int], in_use: bool) -> None:
    for feature in features:
        data.in_use[feature] = in_use
