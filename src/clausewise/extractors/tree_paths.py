"""The paths of a model's own trees as rules over the raw columns."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import Features
from clausewise.data.rows import take_rows
from clausewise.data.table import Matrix
from clausewise.extractors.extraction_data import ExtractionData
from clausewise.networks.ensembles import TreeGroup, tree_groups
from clausewise.networks.tree_models import UNKNOWN, ModelTree
from clausewise.rules import Origin, Rule, RuleSet, Term
from clausewise.rules.decimals import shortest_decimal
from clausewise.rules.display import describe_premise

# Rows that paths are compared on, to choose some of them.
_MAX_ROWS: Final = 10_000
# Of how many columns a premise tests all combinations of known and missing values.
_MAX_COMBINED: Final = 3
# Nodes that are looked at, in the order of the trees: boosted models correct less and less.
_MAX_NODES: Final = 20_000

Rows = NDArray[np.bool_]


@dataclass(frozen=True)
class Condition:
    """The values of a raw column on one side of a split.

    Attributes
    ----------
    feature : int
        The position of the column.
    low, high : float
        The interval (low, high], for numbers.
    codes : frozenset of int or None
        The codes of the categories, for a categorical column.
    missing : bool
        Whether missing values are on this side too.
    """

    feature: int
    low: float = -math.inf
    high: float = math.inf
    codes: frozenset[int] | None = None
    missing: bool = False

    def __and__(self, other: "Condition") -> "Condition":
        codes = self.codes
        if codes is not None and other.codes is not None:
            codes = codes & other.codes
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Condition(self.feature, low, high, codes, self.missing and other.missing)

    def term(self, features: Features) -> Term:
        """Return the condition on known values as a term."""
        name, categories = features.names[self.feature], features.categories[self.feature]
        if self.codes is None or categories is None:
            return Term(self.feature, name, low=self.low, high=self.high)
        return Term(self.feature, name, values=[categories[code] for code in self.codes])


@dataclass(frozen=True)
class Path:
    """The conditions that lead to a node of a tree, one per raw column, and the rows that reach it."""

    tree: str
    conditions: tuple[Condition, ...]
    is_leaf: bool
    counts: tuple[float, ...]

    @property
    def key(self) -> tuple[Condition, ...]:
        """What equal premises share."""
        return self.conditions


@dataclass(frozen=True, eq=False)
class _Sides:
    """Both sides of a split: rows, and conditions on a raw column (None if they cannot be written so)."""

    rows: tuple[Rows, Rows]
    conditions: tuple[Condition | None, Condition | None]


class TreePaths:
    """The paths of all trees of a model, compared on rows that were learnt from.

    Parameters
    ----------
    data : ExtractionData
        Rows with the decisions of a model that has trees.
    uses_all_rows : bool, default False
        Compare paths on all rows, rather than on up to 10,000 of them.
    """

    def __init__(self, data: ExtractionData, *, uses_all_rows: bool = False) -> None:
        self._data, self._features = data, data.inputs.features
        n_rows = data.n_rows if uses_all_rows else min(data.n_rows, _MAX_ROWS)
        chosen = np.unique(np.linspace(0, data.n_rows - 1, n_rows).astype(np.intp))
        self._table: Matrix = data.inputs.table[chosen]
        self._codes = data.codes[chosen]
        self._weights = None if data.weights is None else data.weights[chosen]
        network, rows = data.trained_network, data.rows
        if len(chosen) < data.n_rows:
            rows = take_rows(rows, chosen)
        self.groups = tree_groups(network, rows, self._features.names)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return sum(len(group.trees) for group in self.groups)

    @property
    def n_leaves(self) -> int:
        """Number of leaves of all trees."""
        return sum(int((tree.children[:, 0] < 0).sum()) for group in self.groups for tree in group.trees)

    def all_leaves(self) -> RuleSet:
        """Return the path to every leaf that rows reach as a rule, without duplicates."""
        leaves = (path for path in self._paths(min_rows=1, max_nodes=None) if path.is_leaf)
        return self._rules(_distinct(leaves))

    def best(self, n_paths: int, max_terms: int) -> RuleSet:
        """Return the paths, to leaves and to nodes above them, that say most about the decisions."""
        min_rows = max(5, len(self._codes) // 1000)
        found = [
            path for path in _distinct(self._paths(min_rows, _MAX_NODES)) if len(path.conditions) <= max_terms
        ]
        information = _mutual_information(np.array([path.counts for path in found]), self._totals)
        order = np.argsort(-information, kind="stable")[:n_paths]
        return self._rules([found[place] for place in order.tolist()])

    @property
    def _totals(self) -> NDArray[np.float64]:
        n_classes = len(self._data.classes)
        return np.bincount(self._codes, self._weights, n_classes).astype(np.float64)

    def _paths(self, min_rows: int, max_nodes: int | None) -> Iterator[Path]:
        """Yield the path to every node but the root that enough rows reach."""
        n_seen = 0
        for group in self.groups:
            sides_of: dict[Any, _Sides] = {}
            for tree in group.trees:
                if max_nodes is not None and n_seen >= max_nodes:
                    return
                for path in self._paths_of(tree, group, sides_of, min_rows):
                    n_seen += 1
                    yield path

    def _paths_of(
        self, tree: ModelTree, group: TreeGroup, sides_of: dict[Any, _Sides], min_rows: int
    ) -> Iterator[Path]:
        everything = np.ones(len(self._codes), dtype=bool)
        waiting: list[tuple[int, Rows, dict[int, Condition]]] = [(0, everything, {})]
        while waiting:
            node, rows, conditions = waiting.pop()
            if conditions:
                counts = np.bincount(
                    self._codes[rows],
                    None if self._weights is None else self._weights[rows],
                    len(self._data.classes),
                )
                listed = tuple(conditions[feature] for feature in sorted(conditions))
                yield Path(tree.name, listed, tree.is_leaf(node), tuple(counts.tolist()))
            if tree.is_leaf(node):
                continue
            sides = self._sides(tree, node, group, sides_of)
            for side in (1, 0):
                below = rows & sides.rows[side]
                if int(below.sum()) >= min_rows:
                    child = int(tree.children[node, side])
                    waiting.append((child, below, _extended(conditions, sides.conditions[side])))

    def _sides(self, tree: ModelTree, node: int, group: TreeGroup, known: dict[Any, _Sides]) -> _Sides:
        """Return both sides of a split; equal splits of other nodes share them."""
        column = int(tree.column[node])
        test = tree.categories.get(node, float(tree.threshold[node]))
        key = (column, test, bool(tree.missing_left[node]))
        if key not in known:
            source = group.sources[column] if 0 <= column < len(group.sources) else None
            if column == UNKNOWN or source is None:
                everything = np.ones(len(self._codes), dtype=bool)
                known[key] = _Sides((everything, everything), (None, None))
            else:
                is_left = tree.goes_left(node, group.columns.values(column))
                feature = self._features.names.index(source)
                known[key] = self._divided(feature, is_left)
        return known[key]

    def _divided(self, feature: int, is_left: Rows) -> _Sides:
        """Return the sides of a split as conditions on a raw column, if they are intervals or categories."""
        if is_left.all() or not is_left.any():
            return _Sides((is_left, ~is_left), (None, None))
        values = self._table[:, feature]
        is_missing = np.isnan(values)
        missing = is_left[is_missing]
        of_missing = (bool(missing.size and missing.all()), bool(missing.size and not missing.any()))
        is_known = ~is_missing
        both = values[is_known & is_left], values[is_known & ~is_left]
        divide = _intervals if self._features.categories[feature] is None else _category_sets
        found = divide(feature, *both)
        if found is None or (missing.size and not any(of_missing)):
            everything = np.ones(len(values), dtype=bool)
            return _Sides((everything, everything), (None, None))
        left, right = (replace(part, missing=side) for part, side in zip(found, of_missing, strict=True))
        return _Sides((is_left, ~is_left), (left, right))

    def _rules(self, paths: Sequence[Path]) -> RuleSet:
        """Return a rule per path and, where missing values take it too, one that tests for these."""
        classes, features = self._data.classes, self._features
        rules, trees = [], []
        for path in paths:
            conclusion = classes[int(np.argmax(path.counts))]
            for terms in _premises(path.conditions, features):
                rules.append(Rule(terms, conclusion))
                trees.append(path.tree)
        most_frequent = self._data.most_frequent()
        found = RuleSet.from_rules(rules, features, default=most_frequent, classes=classes)
        origins = tuple(
            Origin(tree, describe_premise(found.columns, number, features))
            for number, tree in enumerate(trees)
        )
        found = self._data.measured(
            replace(found, columns=replace(found.columns, origins=origins)).distinct()
        )
        fires = np.flatnonzero(found.columns.cover > 0)
        return replace(found, columns=found.columns.take(fires))


def _extended(conditions: dict[int, Condition], added: Condition | None) -> dict[int, Condition]:
    """Return conditions with one more; those on one column are merged."""
    if added is None:
        return conditions
    known = conditions.get(added.feature)
    return {**conditions, added.feature: added if known is None else known & added}


def _intervals(feature: int, left: NDArray[Any], right: NDArray[Any]) -> tuple[Condition, Condition] | None:
    """Return the intervals of numbers on both sides; None if they overlap."""
    if len(left) == 0 or len(right) == 0:
        nothing = Condition(feature, 0.0, 0.0)
        return (nothing, Condition(feature)) if len(left) == 0 else (Condition(feature), nothing)
    if left.max() < right.min():
        cut = shortest_decimal(float(left.max()), float(right.min()))
        return Condition(feature, high=cut), Condition(feature, low=cut)
    if right.max() < left.min():
        cut = shortest_decimal(float(right.max()), float(left.min()))
        return Condition(feature, low=cut), Condition(feature, high=cut)
    return None


def _category_sets(
    feature: int, left: NDArray[Any], right: NDArray[Any]
) -> tuple[Condition, Condition] | None:
    """Return the categories on both sides; None if one is on both."""
    of_left, of_right = (frozenset(side.astype(int).tolist()) for side in (left, right))
    if of_left & of_right:
        return None
    return Condition(feature, codes=of_left), Condition(feature, codes=of_right)


def _premises(conditions: Sequence[Condition], features: Features) -> Iterator[tuple[Term, ...]]:
    """Yield the premise for known values, and others with tests for missing values that go the same way."""
    known = [condition.term(features) for condition in conditions]
    with_missing = [place for place, condition in enumerate(conditions) if condition.missing]
    n_at_once = len(with_missing) if len(with_missing) <= _MAX_COMBINED else 1
    for size in range(n_at_once + 1):
        for places in combinations(with_missing, size):
            terms = list(known)
            for place in places:
                feature = conditions[place].feature
                terms[place] = Term(feature, features.names[feature], missing=True)
            yield tuple(terms)


def _distinct(paths: Iterable[Path]) -> list[Path]:
    """Return paths without those that lead to the same rows as an earlier one."""
    first: dict[tuple[Condition, ...], Path] = {}
    for path in paths:
        first.setdefault(path.key, path)
    return list(first.values())


def _mutual_information(counts: NDArray[np.float64], totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each path how much knowing whether a row takes it says about its class, times the rows."""
    counts = counts.reshape(-1, len(totals))
    return _information(totals[np.newaxis]) - _information(counts) - _information(totals - counts)


def _information(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy of the classes, times the rows."""
    n_rows = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(counts > 0, counts * np.log(n_rows / counts), 0.0)
    return np.asarray(parts.sum(axis=1))
