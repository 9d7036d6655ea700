"""A fitted C5.0 tree that can be read, exported, and used to classify rows."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clausewise import _core
from clausewise.base import threads
from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.data.table import Category
from clausewise.rules.term import describe_interval, describe_values

TestName = Literal["threshold", "multiway", "subset"]
_TESTS: tuple[TestName | None, ...] = (None, "threshold", "multiway", "subset")


@dataclass(frozen=True)
class TreeNode:
    """One node of a `C50Tree`.

    Attributes
    ----------
    label : str, int, float or bool
        The most frequent class of its training rows, which it would predict as a leaf.
    distribution : ndarray of shape (n_classes,)
        Weight of its training rows per class; all 0 for a branch without training rows.
    test : {"threshold", "multiway", "subset"} or None
        The kind of test; None for a leaf.
    feature : str or None
        The column that it tests.
    threshold : float or None
        Rows with values up to it take the first branch, the others the second. A decimal that separates the
        training rows in the same way as `cut`.
    cut : float or None
        C5.0's own threshold: the training value on its left, in single precision.
    bounds : tuple of float or None
        For a fuzzy threshold, the values between which rows follow both branches: up to the first one a row
        follows only the first branch, from the second one on only the second branch.
    values : tuple or None
        For a test on categories, the categories of each branch.
    children : tuple of int
        Positions in `C50Tree.nodes` of the nodes below it, one per branch.
    """

    label: Label
    distribution: NDArray[np.float32]
    test: TestName | None = None
    feature: str | None = None
    threshold: float | None = None
    cut: float | None = None
    values: tuple[tuple[Category, ...], ...] | None = None
    children: tuple[int, ...] = ()
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class C50Tree:
    """A tree over the columns of a table. `print(tree)` draws it, `to_dict()` returns plain values.

    Attributes
    ----------
    features : Features
        The columns of the table.
    classes : tuple
        The class labels in declared order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from clausewise import C50Classifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = C50Classifier(rules=False).fit(X, y).tree_
    >>> print(tree)
    petal length (cm) ≤ 1.9: 0 (50)
    petal length (cm) > 1.9:
        petal width (cm) ≤ 1.7:
            petal length (cm) ≤ 4.9: 1 (48, 1 wrong)
            petal length (cm) > 4.9: 2 (6, 2 wrong)
        petal width (cm) > 1.7: 2 (46, 1 wrong)
    >>> tree.n_leaves, tree.depth
    (4, 3)
    """

    features: Features
    classes: tuple[Label, ...]
    arrays: dict[str, NDArray[Any]]

    @classmethod
    def from_core(
        cls,
        core_arrays: dict[str, NDArray[Any]],
        features: Features,
        classes: Sequence[Label],
        thresholds: NDArray[np.float64],
    ) -> "C50Tree":
        """Return a tree of `C50Model.tree` with these thresholds, one per threshold test in pre-order."""
        arrays: dict[str, NDArray[Any]] = {name: np.asarray(column) for name, column in core_arrays.items()}
        arrays["cut"] = arrays["threshold"]
        readable = np.zeros(len(arrays["kind"]))
        readable[arrays["kind"] == _TESTS.index("threshold")] = thresholds
        arrays["threshold"] = readable
        for column in arrays.values():
            column.setflags(write=False)
        return cls(features, tuple(classes), arrays)

    @property
    def n_leaves(self) -> int:
        """Number of leaves with training rows."""
        is_leaf = self.arrays["kind"] == 0
        return int((is_leaf & (self.arrays["size"] > 0)).sum())

    @property
    def depth(self) -> int:
        """Number of tests on the longest path."""
        return max(depth for depth, _ in self._in_pre_order())

    @cached_property
    def nodes(self) -> tuple[TreeNode, ...]:
        """All nodes, the root first and each node before the nodes below it."""
        return tuple(self._node(i) for i in range(len(self.arrays["kind"])))

    def class_scores(
        self, table: NDArray[Any], n_jobs: int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return for encoded rows the class fractions at their leaves, and the mean size of these leaves."""
        scores, sizes = self._flat.classify(table, threads.resolve(n_jobs))
        return scores.reshape(len(table), len(self.classes)), sizes

    @cached_property
    def class_fractions(self) -> NDArray[np.float32]:
        """Class fractions of the training rows, in single precision as C5.0 has them."""
        weights = self._written_distribution[: len(self.classes)].astype(np.float32)
        total = np.cumsum(weights, dtype=np.float32)[-1]
        return np.asarray(weights / total)

    # Neither method recurses, because trees may be thousands of tests deep.

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested dictionaries of plain values, ready for JSON."""
        described: dict[int, dict[str, Any]] = {}
        for i in reversed(range(len(self.nodes))):  # from the leaves up
            described[i] = self._described(i, [described[child] for child in self.nodes[i].children])
        return described[0]

    def to_text(self) -> str:
        """Return the tree as indented lines, each leaf after the condition that leads to it."""
        condition_to = self._condition_to()
        if not condition_to:
            return self._leaf_text(self.nodes[0])
        lines = []
        for depth, i in self._in_pre_order():
            if i == 0:
                continue
            node = self.nodes[i]
            answer = f" {self._leaf_text(node)}" if node.test is None else ""
            lines.append(f"{'    ' * (depth - 1)}{condition_to[i]}:{answer}")
        return "\n".join(lines)

    __str__ = to_text

    def __repr__(self) -> str:
        return f"<C50Tree: {self.n_leaves} leaves, depth {self.depth}, classes {list(self.classes)}>"

    def __getstate__(self) -> dict[str, Any]:
        # Cached properties are computed again after unpickling.
        return {name: getattr(self, name) for name in ("features", "classes", "arrays")}

    @cached_property
    def _flat(self) -> _core.FlatTree:
        # C5.0 classifies with the numbers of its model file. A test is crisp if no upper bound is written.
        arrays = self.arrays | {"distribution": self._written_distribution.astype(np.float32)}
        is_soft = arrays["high"] > arrays["cut"]
        for name in ("low", "high"):
            written = as_in_model_file(self.arrays[name], n_digits=7).astype(np.float32)
            arrays[name] = np.where(is_soft, written, np.float32(np.nan))
        # Shares are computed from C5.0's own threshold, or from a readable one that takes its place.
        is_moved = arrays["threshold"].astype(np.float32) != arrays["cut"]
        arrays["cut"] = np.where(is_moved, arrays["threshold"], arrays["cut"]).astype(np.float32)
        needed = ("kind", "column", "threshold", "distribution")
        lists = ("child_start", "child", "value_start", "value_branch")
        bounds = ("cut", "low", "high")
        return _core.FlatTree(len(self.classes), *(arrays[name] for name in needed + lists + bounds))

    @cached_property
    def _written_distribution(self) -> NDArray[np.float64]:
        return as_in_model_file(self.arrays["distribution"])

    def _node(self, i: int) -> TreeNode:
        arrays, n_classes = self.arrays, len(self.classes)
        label = self.classes[arrays["label"][i]]
        distribution = arrays["distribution"][i * n_classes : (i + 1) * n_classes]
        test = _TESTS[arrays["kind"][i]]
        if test is None:
            return TreeNode(label, distribution)
        column = int(arrays["column"][i])
        children = tuple(arrays["child"][arrays["child_start"][i] : arrays["child_start"][i + 1]].tolist())
        name = self.features.names[column]
        if test == "threshold":
            threshold, cut = float(arrays["threshold"][i]), float(arrays["cut"][i])
            low, high = float(arrays["low"][i]), float(arrays["high"][i])
            bounds = (low, high) if high > cut else None
            return TreeNode(label, distribution, test, name, threshold, cut, None, children, bounds)
        categories = self.features.categories[column]
        assert categories is not None
        branch_of = arrays["value_branch"][arrays["value_start"][i] : arrays["value_start"][i + 1]]
        values = tuple(
            tuple(categories[v] for v in np.flatnonzero(branch_of == branch))
            for branch in range(len(children))
        )
        if test == "multiway":  # drop C5.0's empty branch for "not applicable"
            values, children = values[1:], children[1:]
        return TreeNode(label, distribution, test, name, None, None, values, children)

    def _in_pre_order(self) -> Iterator[tuple[int, int]]:
        """Yield the depth and position of every node."""
        waiting = [(0, 0)]
        while waiting:
            depth, i = waiting.pop()
            yield depth, i
            waiting.extend((depth + 1, child) for child in reversed(self.nodes[i].children))

    def _described(self, i: int, branches: list[dict[str, Any]]) -> dict[str, Any]:
        node = self.nodes[i]
        described: dict[str, Any] = {"label": node.label, "distribution": node.distribution.tolist()}
        if node.test is None:
            return described
        described |= {"test": node.test, "feature": node.feature}
        if node.test == "threshold":
            described |= {"threshold": node.threshold, "cut": node.cut}
            if node.bounds is not None:
                described["bounds"] = list(node.bounds)
        else:
            described["values"] = [list(values) for values in node.values or ()]
        return described | {"branches": branches}

    def _condition_to(self) -> dict[int, str]:
        """Return for each node except the root the condition that leads to it."""
        conditions: dict[int, str] = {}
        for i, node in enumerate(self.nodes):
            if node.test is not None:
                is_binary = self.features.kinds[self.arrays["column"][i]] == "binary"
                conditions |= dict(zip(node.children, _conditions(node, is_binary), strict=True))
        return conditions

    def _leaf_text(self, node: TreeNode) -> str:
        size = float(node.distribution.sum())
        wrong = size - float(node.distribution[self.classes.index(node.label)])
        counts = f"{size:g}" if wrong < 1e-6 else f"{size:g}, {wrong:g} wrong"
        return f"{node.label} ({counts})"


def as_in_model_file(numbers: NDArray[Any], n_digits: int = 6) -> NDArray[np.float64]:
    """Return numbers as C5.0 writes them to its model file and classifies with: weights have six digits.

    Whole numbers of up to `n_digits` digits are unchanged.
    """
    written = np.ravel(numbers).astype(np.float64)
    is_changed = (written != np.floor(written)) | (np.abs(written) >= 10**n_digits)
    written[is_changed] = [float(f"{number:.{n_digits}g}") for number in written[is_changed].tolist()]
    return written


def _conditions(node: TreeNode, is_binary: bool) -> list[str]:
    """Return the condition of each branch of a test."""
    assert node.feature is not None
    if node.threshold is None:
        return [describe_values(node.feature, values) for values in node.values or ()]
    if is_binary:
        return [describe_values(node.feature, [False]), describe_values(node.feature, [True])]
    ends = (-math.inf, node.threshold), (node.threshold, math.inf)
    return [describe_interval(node.feature, low, high) for low, high in ends]
