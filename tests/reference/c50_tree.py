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
SMALLEST_FRACTION_IN_TRAINING = 0.01
MISSING_BRANCH = -1
NO_BRANCH = -2  # a known value that is in no set of a subset test (B7)


@dataclass(frozen=True)
class SoftBounds:
    """A threshold test that is not crisp between `low` and `high` (B4), as prediction or training reads it."""

    low: np.float32
    mid: np.float32
    high: np.float32

    def share_in_training(self, x: np.ndarray) -> np.ndarray:
        """Share of the <= branch (B4.3), single precision."""
        below = 1 - 0.5 * (x - self.low).astype(np.float64) / (float(self.mid - self.low) + 1e-6)
        above = 0.5 - 0.5 * (x - self.mid).astype(np.float64) / (float(self.high - self.mid) + 1e-6)
        return self._limited(x, np.where(x <= self.mid, below, above))

    def share_in_prediction(self, x: np.ndarray, threshold: np.float32) -> np.ndarray:
        below = 1 - 0.5 * (x - self.low).astype(np.float64) / (float(threshold - self.low) + 1e-10)
        above = 0.5 * (x - self.high).astype(np.float64) / (float(threshold - self.high) + 1e-10)
        return self._limited(x, np.where(x <= threshold, below, above))

    def _limited(self, x: np.ndarray, between: np.ndarray) -> np.ndarray:
        share = np.where(x <= self.low, 1.0, np.where(x >= self.high, 0.0, between))
        return share.astype(np.float32)


@dataclass
class Node:
    """A leaf (`test` is None) or a test.

    Branches of a threshold test: [not applicable, <=, >]; of a multiway test: [not applicable, value 0, value 1, ...];
    of a subset test: one per set in `subsets`. The not-applicable branch is always an empty leaf, which subset tests
    made by merging and tests of ordered attributes leave out.
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
    is_ordered: bool = False  # a subset test of levels up to a cut and above it (B8)
    is_merged: bool = False  # a subset test that was a multiway test before merging (B2.1)
    bounds: SoftBounds | None = None
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
        self.test = self.feature = self.threshold = self.subsets = self.bounds = None
        self.branches = []

    def take_test_of(self, other: Node) -> None:
        """Become the test `other`, subtrees included; size, class and distribution stay."""
        self.test, self.feature, self.threshold = other.test, other.feature, other.threshold
        self.subsets, self.is_ordered, self.branches = other.subsets, other.is_ordered, other.branches

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


def empty_leaf(parent: Node, cls: int) -> Node:
    return Node(cls, np.zeros_like(parent.distribution), f32(0), f32(0))


def branch_of_cells(node: Node, values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Branch index per cell of the tested column, MISSING_BRANCH or NO_BRANCH."""
    if node.test == THRESHOLD:
        branch = np.where(values <= node.threshold, 1, 2)
    elif node.test == MULTIWAY:
        branch = values + 1
    else:
        branch = np.full(len(values), NO_BRANCH)
        for index, subset in enumerate(node.subsets):
            branch[np.isin(values, subset)] = index
    return np.where(known, branch, MISSING_BRANCH)


@dataclass
class Division:
    """Cases of one node sent to its branches (spec 2.5, with the precision of B9.6)."""

    cases: np.ndarray
    branch: np.ndarray  # per case
    missing: np.ndarray  # the cases with a missing value
    branch_weight: list[np.float32]  # known cases only
    factor: list[np.float32]  # share of the missing cases that enters the branch
    missing_weight: np.float32
    missing_weight_uncosted: np.float32  # differs only under two-class costs
    skip_light_missing: bool

    def weight_for_growing(self, index: int) -> np.float32:
        return self._with_missing(index, self.missing_weight)

    def weight_for_pruning(self, index: int) -> np.float32:
        return self._with_missing(index, self.missing_weight_uncosted)

    def _with_missing(self, index: int, missing_weight: np.float32) -> np.float32:
        known = self.branch_weight[index]
        return known + self.factor[index] * missing_weight if len(self.missing) else known

    def cases_of(self, index: int, weights: np.ndarray) -> np.ndarray:
        enters = (self.branch == index) | (self.branch == MISSING_BRANCH)
        if self.skip_light_missing:
            enters &= (self.branch == index) | (weights[self.cases] >= 0.1)
        return self.cases[enters]


def divide(data: TrainingSet, node: Node, cases: np.ndarray, size: np.float32, n_branches: int) -> Division:
    values = data.columns[node.feature][cases]
    branch = branch_of_cells(node, values, data.known[node.feature][cases])
    missing = cases[branch == MISSING_BRANCH]
    missing_weight = f32(sum_in_order(data.weights[missing]))
    members = [cases[branch == index] for index in range(n_branches)]
    branch_weight = [f32(sum_in_order(data.weights[member])) for member in members]
    if data.costs is not None and data.costs.reweights_cases:
        uncosted = [f32(sum_in_order(data.uncosted_weights(member))) for member in members]
        known_weight = f32(sum_in_order(data.uncosted_weights(cases[branch != MISSING_BRANCH])))
        missing_weight_uncosted = f32(sum_in_order(data.uncosted_weights(missing)))
    else:
        uncosted = branch_weight
        known_weight = size - missing_weight
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
    tree: Node,
    columns,
    known,
    n_classes: int,
    in_training: bool,
    unknown_feature: int | None = None,
    parent: Node | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """s_c of spec 7.1 for every case, and the mean leaf size of its path(s).

    Fractions and a leaf's contributions are single precision, multiplied before divided; s_c is double. The goldens'
    training errors on data with missing values hold for this combination only.
    `unknown_feature`: every test on it is treated as unknown (spec 5.3). `parent`: of `tree`, if it is a subtree.
    """
    n_cases = len(columns[0]) if columns else 0
    scores = np.zeros((n_cases, n_classes))
    mean_leaf_size = np.zeros(n_cases)
    smallest = SMALLEST_FRACTION_IN_TRAINING if in_training else 1e-6

    def arrive(source: Node, cases: np.ndarray, fraction: np.ndarray) -> None:
        for c in range(n_classes):
            scores[cases, c] += fraction * source.distribution[c] / source.size
        mean_leaf_size[cases] += fraction * source.size

    def descend(node: Node, parent: Node, cases: np.ndarray, fraction: np.ndarray) -> None:
        if len(cases) == 0:
            return
        if node.is_leaf:
            arrive(parent if node.size < 1e-4 else node, cases, fraction)
            return
        values = columns[node.feature][cases]
        is_known = known[node.feature][cases] & (node.feature != unknown_feature)
        branch = branch_of_cells(node, values, is_known)
        ends_here = branch == NO_BRANCH
        if ends_here.any():
            arrive(node, cases[ends_here], fraction[ends_here])
        for index, child in enumerate(node.branches):
            share = fraction.copy()
            if node.test == THRESHOLD and node.bounds is not None:
                follows = is_known & (index > 0)
                share[is_known] = soft_fraction(
                    node, values[is_known], fraction[is_known], index, in_training
                )
                follows &= share.astype(np.float64) >= smallest
            elif node.test == THRESHOLD:
                follows = (branch == index) & (fraction.astype(np.float64) >= smallest)
            else:
                follows = branch == index
            if child.size > 1e-4:
                is_split = branch == MISSING_BRANCH
                share[is_split] = fraction[is_split] * child.size / node.size
                follows |= is_split
            descend(child, node, cases[follows], share[follows])

    descend(tree, parent or tree, np.arange(n_cases), np.ones(n_cases, dtype=np.float32))
    return scores, mean_leaf_size


def soft_fraction(
    node: Node, values: np.ndarray, fraction: np.ndarray, index: int, in_training: bool
) -> np.ndarray:
    """Fraction of each case that follows branch `index` of a soft test (B4.3); 0 where it is too small to follow."""
    if in_training:
        share = node.bounds.share_in_training(values)
        return fraction * (share if index == 1 else f32(1) - share)
    low_share = node.bounds.share_in_prediction(values, node.threshold).astype(np.float64)
    product = fraction.astype(np.float64) * (low_share if index == 1 else 1 - low_share)
    return np.where(product >= 1e-6, product, 0).astype(np.float32)


@dataclass(frozen=True)
class Verdicts:
    """Class and confidence of one classifier for some cases (B1.3)."""

    classes: np.ndarray
    confidences: np.ndarray


def training_time_verdicts(
    data: TrainingSet,
    tree: Node,
    cases: np.ndarray,
    unknown_feature: int | None = None,
    parent: Node | None = None,
) -> Verdicts:
    """The training-time form of spec 7.1: ties go to the lowest class."""
    columns = [column[cases] for column in data.columns]
    known = [cells[cases] for cells in data.known]
    if not columns:
        return Verdicts(np.full(len(cases), tree.cls), np.ones(len(cases)))
    scores, _ = class_scores(tree, columns, known, data.n_classes, True, unknown_feature, parent)
    rows = np.arange(len(cases))
    if data.costs is None:
        classes = np.argmax(scores, axis=1)
        return Verdicts(classes, scores[rows, classes])
    expected = np.array([data.costs.expected(row) for row in scores]).reshape(len(cases), data.n_classes)
    classes = np.argmin(expected, axis=1)
    total = np.cumsum(expected, axis=1)[:, -1]
    with np.errstate(invalid="ignore", divide="ignore"):
        return Verdicts(classes, 1 - expected[rows, classes] / total)


def training_time_classes(
    data: TrainingSet, tree: Node, cases: np.ndarray, unknown_feature: int | None = None
) -> np.ndarray:
    return training_time_verdicts(data, tree, cases, unknown_feature).classes
