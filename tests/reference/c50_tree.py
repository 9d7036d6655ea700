"""Tree nodes, the division of cases by a test (spec 2.5), and the training-time use of a tree (spec 7.1)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from .c50_data import TrainingSet
from .c50_numbers import f32, first_maximum, quotient32, size32, sum_in_order

THRESHOLD = "threshold"
MULTIWAY = "multiway"
SUBSET = "subset"

SMALLEST_BRANCH = 0.05


@dataclass
class Node:
    """A leaf (`test` is None) or a test.

    Branches of a threshold test: [not applicable, <=, >]; of a multiway test: [not applicable, value 0, value 1, ...];
    of a subset test: one per set in `subsets`. The not-applicable branch is always an empty leaf.
    """

    cls: int
    distribution: np.ndarray  # float32 per class
    size: np.float32
    err: np.float32
    leaves: int = 1
    test: str | None = None
    feature: int | None = None
    threshold: np.float32 | None = None
    subsets: list[tuple[int, ...]] | None = None
    n_occurring: int = 0  # subset test: sets before this index were formed from occurring values (App. A)
    branches: list[Node] = field(default_factory=list)

    @property
    def is_leaf(self) -> bool:
        return self.test is None

    @property
    def is_empty(self) -> bool:
        return not self.size > 0

    @property
    def freq(self) -> list[float] | None:
        return None if self.is_empty else [float(weight) for weight in self.distribution]

    @property
    def le(self) -> Node:
        return self.branches[1]

    @property
    def gt(self) -> Node:
        return self.branches[2]

    def make_leaf(self) -> None:
        self.test = self.feature = self.threshold = self.subsets = None
        self.branches = []

    def take_test_of(self, other: Node) -> None:
        """Become the test `other`, subtrees included; size, class and distribution stay."""
        self.test, self.feature, self.threshold = other.test, other.feature, other.threshold
        self.subsets, self.n_occurring, self.branches = other.subsets, other.n_occurring, other.branches

    def nodes(self) -> Iterator[Node]:
        """Pre-order."""
        yield self
        for branch in self.branches:
            yield from branch.nodes()

    def tested_features(self) -> set[int]:
        return {node.feature for node in self.nodes() if not node.is_leaf}


def leaf_node(class_weights: np.ndarray) -> Node:
    size = size32(class_weights)
    cls = first_maximum(class_weights)
    distribution = np.asarray(class_weights).astype(np.float32)
    return Node(cls, distribution, size, err=f32(float(size) - float(class_weights[cls])))


def empty_leaf(parent: Node) -> Node:
    return Node(parent.cls, np.zeros_like(parent.distribution), f32(0), f32(0))


def branch_of_cells(node: Node, values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Branch index per cell of the tested column, -1 where the value is missing (or in no subset)."""
    if node.test == THRESHOLD:
        branch = np.where(values <= node.threshold, 1, 2)
    elif node.test == MULTIWAY:
        branch = values + 1
    else:
        branch = np.full(len(values), -1)
        for index, subset in enumerate(node.subsets):
            branch[np.isin(values, subset)] = index
    return np.where(known, branch, -1)


@dataclass
class Division:
    """Cases of one node sent to its branches (spec 2.5)."""

    cases: np.ndarray
    branch: np.ndarray  # per case, -1 = missing
    missing: np.ndarray  # the cases with a missing value
    branch_weight: list[float]  # known cases only
    factor: list[np.float32]  # share of the missing cases that enters the branch
    missing_weight: float
    missing_weight_uncosted: float  # differs only under two-class costs
    skip_light_missing: bool

    def cases_of(self, index: int, weights: np.ndarray) -> np.ndarray:
        enters = (self.branch == index) | (self.branch == -1)
        if self.skip_light_missing:
            enters &= (self.branch == index) | (weights[self.cases] >= 0.1)
        return self.cases[enters]


def divide(data: TrainingSet, node: Node, cases: np.ndarray, size: np.float32, n_branches: int) -> Division:
    values = data.columns[node.feature][cases]
    branch = branch_of_cells(node, values, data.known[node.feature][cases])
    missing = cases[branch == -1]
    missing_weight = sum_in_order(data.weights[missing])
    members = [cases[branch == index] for index in range(n_branches)]
    branch_weight = [sum_in_order(data.weights[member]) for member in members]
    if data.costs is not None and data.costs.reweights_cases:
        uncosted = [f32(sum_in_order(data.uncosted_weights(member))) for member in members]
        known_weight = f32(sum_in_order(data.uncosted_weights(cases[branch != -1])))
        missing_weight_uncosted = sum_in_order(data.uncosted_weights(missing))
    else:
        uncosted = [f32(weight) for weight in branch_weight]
        known_weight = f32(float(size) - missing_weight)
        missing_weight_uncosted = missing_weight
    return Division(
        cases=cases,
        branch=branch,
        missing=missing,
        branch_weight=branch_weight,
        factor=[quotient32(weight, known_weight) for weight in uncosted],
        missing_weight=missing_weight,
        missing_weight_uncosted=missing_weight_uncosted,
        skip_light_missing=len(cases) > 1000 and len(missing) > 0.5 * len(cases) and n_branches >= 10,
    )


@contextmanager
def weights_scaled(data: TrainingSet, cases: np.ndarray, factor: np.float32) -> Iterator[None]:
    """Cases with a missing value enter a branch with a fraction of their weight. The weight is restored by division,
    which may leave it one unit in the last place off; that drift is intended (spec 2.5, 9.4)."""
    if len(cases) == 0:
        yield
        return
    data.weights[cases] = data.weights[cases] * factor
    yield
    data.weights[cases] = data.weights[cases] / factor


def class_scores(
    tree: Node, columns, known, n_classes: int, smallest_fraction: float, unknown_feature: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """s_c of spec 7.1 for every case, and the mean leaf size of its path(s).

    Fractions and a leaf's contributions are single precision, multiplied before divided; s_c is double. The goldens'
    training errors on data with missing values hold for this combination only.
    `unknown_feature`: every test on it is treated as unknown (spec 5.3).
    """
    n_cases = len(columns[0]) if columns else 0
    scores = np.zeros((n_cases, n_classes))
    mean_leaf_size = np.zeros(n_cases)

    def descend(node: Node, parent: Node, cases: np.ndarray, fraction: np.ndarray) -> None:
        if len(cases) == 0:
            return
        if node.is_leaf:
            source = parent if node.size < 1e-4 else node
            for c in range(n_classes):
                scores[cases, c] += fraction * source.distribution[c] / source.size
            mean_leaf_size[cases] += fraction * source.size
            return
        values = columns[node.feature][cases]
        is_known = known[node.feature][cases] & (node.feature != unknown_feature)
        branch = branch_of_cells(node, values, is_known)
        for index, child in enumerate(node.branches):
            follows = (branch == index) & (fraction >= smallest_fraction)
            share = fraction.copy()
            if child.size > 1e-4:
                is_split = branch == -1
                share[is_split] = share[is_split] * child.size / node.size
                follows |= is_split
            descend(child, node, cases[follows], share[follows])

    descend(tree, tree, np.arange(n_cases), np.ones(n_cases, dtype=np.float32))
    return scores, mean_leaf_size


def training_time_classes(
    data: TrainingSet, tree: Node, cases: np.ndarray, unknown_feature: int | None = None
) -> np.ndarray:
    """Classes by the training-time form of spec 7.1: ties go to the lowest class."""
    columns = [column[cases] for column in data.columns]
    known = [cells[cases] for cells in data.known]
    if not columns:
        return np.full(len(cases), tree.cls)
    scores, _ = class_scores(tree, columns, known, data.n_classes, 0.01, unknown_feature)
    if data.costs is None:
        return np.argmax(scores, axis=1)
    return np.array([int(np.argmin(data.costs.expected(row))) for row in scores], dtype=np.int64)
