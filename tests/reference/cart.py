"""CART as plain as it can be said: every test is tried at every node, subtrees are weighed anew each time."""

from dataclasses import dataclass

import numpy as np

# What is asked ("threshold", "category" or "missing"), the column, a rank or code, whether missing goes left.
Test = tuple[str, int, int, bool]


@dataclass
class Node:
    """A node with the rows that reach it and those of them that were known to every test on the way."""

    rows: np.ndarray
    known: np.ndarray
    label: int
    risk: float
    test: Test | None = None
    left: "Node | None" = None
    right: "Node | None" = None

    @property
    def leaves(self) -> list["Node"]:
        if self.test is None:
            return [self]
        return self.left.leaves + self.right.leaves


@dataclass
class Cart:
    """A tree over columns of ranks or codes (−1: missing).

    `n_categories` is −1 for ranks.
    """

    columns: np.ndarray
    n_categories: list[int]
    codes: np.ndarray
    n_classes: int
    weights: np.ndarray
    criterion: str = "gini"
    min_split: int = 2
    min_leaf: int = 1
    max_leaves: int | None = None

    def grow(self) -> Node:
        everything = np.arange(len(self.codes))
        root = self._node(everything, everything)
        open_nodes = [(root, self._best(root))]
        n_leaves = 1
        while n_leaves != self.max_leaves:
            open_nodes = [(node, found) for node, found in open_nodes if found is not None]
            if not open_nodes:
                break
            # Without a bound the order makes no difference; with one, the greatest gain comes first.
            gains = [found[0] - self._purity(node.rows) for node, found in open_nodes]
            node, (_, test) = open_nodes.pop(int(np.argmax(gains)))
            is_left, is_known = self._goes_left(test, node.rows), self._values(test, node.rows) >= 0
            known = np.isin(node.rows, node.known) & is_known
            node.test = test
            node.left = self._node(node.rows[is_left], node.rows[is_left & known])
            node.right = self._node(node.rows[~is_left], node.rows[~is_left & known])
            open_nodes += [(child, self._best(child)) for child in (node.left, node.right)]
            n_leaves += 1
        return root

    def cover_of(self, node: Node) -> tuple[float, float]:
        of_label = node.known[self.codes[node.known] == node.label]
        return self.weights[node.known].sum(), self.weights[of_label].sum()

    def _node(self, rows: np.ndarray, known: np.ndarray) -> Node:
        counts = self._counts(rows)
        total = counts.sum()
        risk = total - (counts**2).sum() / total if self.criterion == "gini" else -self._purity(rows)
        return Node(rows, known, int(counts.argmax()), 0.0 if (counts > 0).sum() == 1 else risk)

    def _counts(self, rows: np.ndarray) -> np.ndarray:
        return np.bincount(self.codes[rows], self.weights[rows], self.n_classes)

    def _purity(self, rows: np.ndarray) -> float:
        counts = self._counts(rows)
        total = counts.sum()
        if self.criterion == "gini":
            return (counts**2).sum() / total
        counts = counts[counts > 0]
        return (counts * np.log2(counts)).sum() - total * np.log2(total)

    def _values(self, test: Test, rows: np.ndarray) -> np.ndarray:
        return self.columns[rows, test[1]]

    def _goes_left(self, test: Test, rows: np.ndarray) -> np.ndarray:
        kind, _, rank, missing_goes_left = test
        values = self._values(test, rows)
        known = {"threshold": values <= rank, "category": values != rank, "missing": values >= 0}[kind]
        return np.where(values < 0, missing_goes_left, known)

    def _best(self, node: Node) -> tuple[float, Test] | None:
        n_rows = len(node.rows)
        if node.risk == 0.0 or n_rows < self.min_split or n_rows < 2 * self.min_leaf:
            return None
        best = None
        for column in range(self.columns.shape[1]):
            for test in self._tests(node.rows, column):
                is_left = self._goes_left(test, node.rows)
                if min(is_left.sum(), (~is_left).sum()) < self.min_leaf:
                    continue
                purity = self._purity(node.rows[is_left]) + self._purity(node.rows[~is_left])
                if best is None or purity > best[0] + 1e-12 * self.weights[node.rows].sum():
                    best = purity, test
        return best

    def _tests(self, rows: np.ndarray, column: int) -> list[Test]:
        values = self.columns[rows, column]
        present, has_missing = np.unique(values[values >= 0]), bool((values < 0).any())
        if self.n_categories[column] >= 0:
            return self._category_tests(column, present.tolist(), values, has_missing)
        tests: list[Test] = []
        cuts = [(a + (b - a) // 2) for a, b in zip(present[:-1].tolist(), present[1:].tolist(), strict=True)]
        for missing_goes_left in (False, True) if has_missing else (None,):
            for cut in cuts:
                goes_left = missing_goes_left
                if goes_left is None:
                    goes_left = bool((values <= cut).sum() > (values > cut).sum())
                tests.append(("threshold", column, cut, goes_left))
            if missing_goes_left is False and len(present) > 0:
                tests.append(("missing", column, 0, False))
        return tests

    def _category_tests(
        self, column: int, present: list[int], values: np.ndarray, has_missing: bool
    ) -> list[Test]:
        tests: list[Test] = []
        for value in present:
            n_with, n_other = (values == value).sum(), ((values != value) & (values >= 0)).sum()
            if n_other > 0:
                tests.append(("category", column, value, True if has_missing else bool(n_other > n_with)))
            if has_missing:
                tests.append(("category", column, value, False))
        if has_missing:
            tests.append(("missing", column, 0, False))
        return tests


def prune(root: Node, alpha: float, total_weight: float) -> None:
    """Cut the weakest subtree as long as it lowers the risk by no more than alpha per leaf that it adds."""
    while True:
        inner = [node for node in _nodes(root) if node.test is not None]
        if not inner:
            return
        strengths = [_strength(node) / total_weight for node in inner]
        weakest = int(np.argmin(strengths))
        if strengths[weakest] > alpha:
            return
        inner[weakest].test = inner[weakest].left = inner[weakest].right = None


def paths(
    node: Node, way: tuple[tuple[Test, bool], ...] = ()
) -> list[tuple[tuple[tuple[Test, bool], ...], Node]]:
    """The tests on the way to each leaf, with whether it lies to the right, left before right."""
    if node.test is None:
        return [(way, node)]
    return paths(node.left, (*way, (node.test, False))) + paths(node.right, (*way, (node.test, True)))


def _nodes(node: Node) -> list[Node]:
    return [node] if node.test is None else [node, *_nodes(node.left), *_nodes(node.right)]


def _strength(node: Node) -> float:
    leaves = node.leaves
    return (node.risk - sum(leaf.risk for leaf in leaves)) / (len(leaves) - 1)
