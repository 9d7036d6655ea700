"""Trees inside models: their splits as tests of the columns that the model reads.

Each library has a module with `holds_trees(model)` and `read_trees(model, rows)`, which reads the arrays or
the dump of a fitted model; nothing in it is executed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clausewise.data.table import as_table

UNKNOWN: Final = -1
"""`ModelTree.column` of a test that does not read one column, or cannot be written as a condition on it."""
LEAF: Final = -1
"""`ModelTree.children` of a leaf."""


@dataclass(frozen=True, eq=False)
class ModelTree:
    """One tree of a model, as arrays with an entry per node; node 0 is the root.

    Attributes
    ----------
    name : str
        The name of the tree, for origins of rules: "tree 17".
    children : ndarray of int32, of shape (n_nodes, 2)
        The nodes on the left and on the right; `LEAF` for both below a leaf.
    column : ndarray of int32, of shape (n_nodes,)
        The position of the column that a node tests; `UNKNOWN` if there is none. A leaf has any value.
    threshold : ndarray of float64, of shape (n_nodes,)
        The largest number that goes left, as a double.
    missing_left : ndarray of bool, of shape (n_nodes,)
        Whether missing values go left.
    categories : mapping of int to set
        For each node that tests categories, those that go left; others go right.
    """

    name: str
    children: NDArray[np.int32]
    column: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    categories: Mapping[int, frozenset[Any]] = field(default_factory=dict)

    def named(self, name: str) -> "ModelTree":
        """Return the same tree with another name."""
        return replace(self, name=name)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.children)

    def is_leaf(self, node: int) -> bool:
        """Return whether a node is a leaf."""
        return bool(self.children[node, 0] == LEAF)

    def goes_left(self, node: int, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether values of the column that a node tests go left; None and NaN are missing."""
        known = self.categories.get(node)
        if known is not None:
            is_missing = np.array([value is None or value != value for value in values.tolist()], dtype=bool)
            is_left = np.array([value in known for value in values.tolist()], dtype=bool)
        else:
            numbers = np.asarray(values, dtype=np.float64)
            is_missing = np.isnan(numbers)
            is_left = numbers <= self.threshold[node]
        return np.where(is_missing, self.missing_left[node], is_left)

    def leaves(self, columns: "ModelColumns") -> NDArray[np.int32]:
        """Return the leaf of each row; a row stops above it where the test is unknown."""
        at = np.zeros(columns.n_rows, dtype=np.int32)
        waiting = [(0, np.arange(columns.n_rows))]
        while waiting:
            node, rows = waiting.pop()
            at[rows] = node
            if self.is_leaf(node) or self.column[node] == UNKNOWN or len(rows) == 0:
                continue
            is_left = self.goes_left(node, columns.values(int(self.column[node]))[rows])
            left, right = self.children[node].tolist()
            waiting += [(left, rows[is_left]), (right, rows[~is_left])]
        return at


class ModelColumns:
    """The columns of the rows that a model reads, one at a time."""

    def __init__(self, rows: Any) -> None:
        self._table = as_table(rows.toarray() if sparse.issparse(rows) else rows)
        self._values: dict[int, NDArray[Any]] = {}
        self.n_rows = self._table.n_rows

    def values(self, position: int) -> NDArray[Any]:
        """Return the values of a column: numbers, or objects with None where they are missing."""
        if position not in self._values:
            self._values[position] = self._table.column(position).values
        return self._values[position]


def last_left(thresholds: Any, *, is_single: bool = False, is_strict: bool = False) -> NDArray[np.float64]:
    """Return the largest double that goes left of each threshold.

    Parameters
    ----------
    thresholds : array-like of float
        The thresholds of a model.
    is_single : bool
        Whether the model rounds values to single precision before it compares them.
    is_strict : bool
        Whether a value that equals the threshold goes right.
    """
    cuts = np.asarray(thresholds, dtype=np.float64)
    if not is_single:
        return np.nextafter(cuts, -np.inf) if is_strict else cuts
    with np.errstate(over="ignore"):
        single = cuts.astype(np.float32)
        is_right = single >= cuts if is_strict else single > cuts
        below = np.where(is_right, np.nextafter(single, np.float32(-np.inf)), single)
        above = np.nextafter(below, np.float32(np.inf))
        # Doubles up to the middle between two neighbours are rounded down; the middle itself to the even one.
        middle = (below.astype(np.float64) + above.astype(np.float64)) / 2
        return np.where(middle.astype(np.float32) == below, middle, np.nextafter(middle, -np.inf))


@dataclass
class TreeBuilder:
    """Collects the nodes of a tree that is given as nested parts; the root is added first."""

    children: list[tuple[int, int]] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    missing_left: list[bool] = field(default_factory=list)
    categories: dict[int, frozenset[Any]] = field(default_factory=dict)

    def add(
        self,
        column: int = UNKNOWN,
        threshold: float = np.nan,
        missing_left: bool = False,
        categories: frozenset[Any] | None = None,
    ) -> int:
        """Add a node, a leaf until it gets children; return its position."""
        node = len(self.children)
        self.children.append((LEAF, LEAF))
        self.column.append(column)
        self.threshold.append(threshold)
        self.missing_left.append(missing_left)
        if categories is not None:
            self.categories[node] = categories
        return node

    def build(self, name: str) -> ModelTree:
        """Return the tree."""
        return ModelTree(
            name,
            np.array(self.children, dtype=np.int32).reshape(-1, 2),
            np.array(self.column, dtype=np.int32),
            np.array(self.threshold, dtype=np.float64),
            np.array(self.missing_left, dtype=bool),
            self.categories,
        )


def members(model: Any) -> Sequence[Any]:
    """Return the fitted models that a model of models combines; empty for any other model."""
    if hasattr(model, "calibrated_classifiers_"):
        return [part.estimator for part in model.calibrated_classifiers_]
    found = getattr(model, "estimators_", None)
    if found is not None:
        # Gradient boosting has an array with a column per class. Forests and pipelines are sequences
        # themselves, so a list of them must not become an array.
        listed = found.ravel().tolist() if isinstance(found, np.ndarray) else list(found)
        return [part for part in listed if not isinstance(part, str)]
    return [model.estimator_] if hasattr(model, "estimator_") else []
