"""Conjunctions as boxes, with their bounds in arrays, for products of many of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clausewise import _core
from clausewise.data.features import Features
from clausewise.rules import RuleSet
from clausewise.rules.columns import NO_SET

# Number of bounds to intersect, and of boxes to compare, between checks of time and interrupts.
_NUMBERS_AT_ONCE = 2**20
_COMPARISONS_AT_ONCE = 2**24
_LEAST = float(np.finfo(np.float64).min)


@dataclass(frozen=True, eq=False)
class Space:
    """The dimensions of boxes: the features that some rules test.

    A numeric feature is one dimension; a categorical one has a dimension per category (see `core/boxes`).

    Attributes
    ----------
    features : Features
        All features of the representation.
    feature, code : ndarray of int32, of shape (n_dimensions,)
        The feature of each dimension, and the code of its category (−1 for a numeric feature).
    """

    features: Features
    feature: NDArray[np.int32]
    code: NDArray[np.int32]

    @classmethod
    def tested_by(cls, rules: RuleSet) -> "Space":
        """Return the space of the features that these rules test."""
        tested = np.unique(rules.columns.feature)
        n_dimensions = np.maximum(rules.features.n_categories[tested], 1)
        feature = np.repeat(tested, n_dimensions).astype(np.int32)
        is_category = rules.features.n_categories[feature] >= 0
        first = np.repeat(np.cumsum(n_dimensions) - n_dimensions, n_dimensions)
        code = np.where(is_category, np.arange(len(feature)) - first, -1).astype(np.int32)
        return cls(rules.features, feature, code)

    @cached_property
    def groups(self) -> NDArray[np.int32]:
        """The number of each dimension's categorical feature; −1 for a numeric feature."""
        of_categories = np.unique(self.feature[self.code >= 0])
        return np.where(self.code >= 0, np.searchsorted(of_categories, self.feature), -1).astype(np.int32)

    def __len__(self) -> int:
        return len(self.feature)


@dataclass(frozen=True, eq=False)
class Boxes:
    """Conjunctions over a space, with one row of bounds each.

    Attributes
    ----------
    space : Space
        The dimensions.
    low, high : ndarray of shape (n_boxes, n_dimensions)
        Intervals (low, high]; for a category `high` is +inf if it is accepted and −inf if not.
    owner : ndarray of int64, of shape (n_boxes,)
        The caller's number of what each box was made from.
    """

    space: Space
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    owner: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.low)

    @property
    def n_bytes(self) -> int:
        """Memory of the bounds in bytes."""
        return self.low.nbytes + self.high.nbytes

    def take(self, boxes: NDArray[np.intp] | NDArray[np.bool_]) -> "Boxes":
        """Return some of the boxes."""
        return Boxes(self.space, self.low[boxes], self.high[boxes], self.owner[boxes])

    def owned_by(self, owner: int) -> "Boxes":
        """Return the same boxes with a single owner."""
        return Boxes(self.space, self.low, self.high, np.full(len(self), owner, dtype=np.int64))


def everything(space: Space) -> Boxes:
    """Return one box without bounds."""
    shape = (1, len(space))
    return Boxes(space, np.full(shape, -np.inf), np.full(shape, np.inf), np.zeros(1, dtype=np.int64))


def boxes_of(rules: RuleSet, space: Space) -> Boxes:
    """Return the premises of rules as boxes; the owner is the rule."""
    columns = rules.columns
    if columns.missing.any():
        name = rules.features.names[columns.feature[columns.missing][0]]
        raise ValueError(
            f"A rule tests whether '{name}' is missing, which products of rules do not support; use an "
            "inducer without such tests."
        )
    low = np.full((len(rules), len(space)), -np.inf)
    high = np.full((len(rules), len(space)), np.inf)
    rule_of_term = np.repeat(np.arange(len(rules)), columns.lengths)
    is_interval = columns.value_set == NO_SET
    # Dimensions are in the order of features; an interval has exactly one.
    dimension = np.searchsorted(space.feature, columns.feature)
    # A term without bounds still requires a known value; in a box, the smallest double as `low` encodes that.
    is_known_test = is_interval & np.isinf(columns.low) & np.isinf(columns.high)
    lows = np.where(is_known_test, _LEAST, columns.low)
    low[rule_of_term[is_interval], dimension[is_interval]] = lows[is_interval]
    high[rule_of_term[is_interval], dimension[is_interval]] = columns.high[is_interval]
    for term in np.flatnonzero(~is_interval).tolist():
        of_feature = np.flatnonzero(space.feature == columns.feature[term])
        is_refused = ~np.isin(space.code[of_feature], columns.codes(int(columns.value_set[term])))
        high[rule_of_term[term], of_feature[is_refused]] = -np.inf
    return Boxes(space, low, high, np.arange(len(rules), dtype=np.int64))


def rules_of(boxes: Boxes, like: RuleSet, class_index: NDArray[np.int32]) -> RuleSet:
    """Return boxes as rules that predict these classes, with the classes and default of another rule set."""
    space = boxes.space
    is_number = space.code < 0
    is_bounded = np.isfinite(boxes.low) | np.isfinite(boxes.high)
    box, place = np.nonzero(is_bounded & is_number)
    low_of = np.where(boxes.low == _LEAST, -np.inf, boxes.low)
    parts = [
        (box, space.feature[place], low_of[box, place], boxes.high[box, place], np.full(len(box), NO_SET))
    ]
    sets: list[list[int]] = []
    for feature in np.unique(space.feature[~is_number]).tolist():
        of_feature = np.flatnonzero(space.feature == feature)
        accepts = boxes.high[:, of_feature] > 0
        tests = np.flatnonzero(~accepts.all(axis=1))
        numbers = np.arange(len(sets), len(sets) + len(tests))
        sets += [space.code[of_feature][accepts[one]].tolist() for one in tests.tolist()]
        infinite = np.full(len(tests), np.inf)
        parts.append((tests, np.full(len(tests), feature), -infinite, infinite, numbers))
    rule, tested, low, high, value_set = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(rule, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(rule, minlength=len(boxes)))])
    return RuleSet.from_arrays(
        space.features,
        like.classes,
        like.default,
        starts=starts,
        feature=tested[order].astype(np.int32),
        low=low[order],
        high=high[order],
        value_set=value_set[order].astype(np.int32),
        value_sets=sets,
        class_index=class_index.astype(np.int32),
    )


def joined(parts: list[Boxes], space: Space) -> Boxes:
    """Concatenate boxes of one space."""
    if not parts:
        return everything(space).take(np.zeros(1, dtype=bool))
    return Boxes(
        space,
        np.concatenate([part.low for part in parts]),
        np.concatenate([part.high for part in parts]),
        np.concatenate([part.owner for part in parts]),
    )


def intersections(left: Boxes, right: Boxes) -> Iterator[Boxes]:
    """Yield all non-empty intersections of a left and a right box, in parts, with the owners of the left."""
    n_dimensions = len(left.space)
    n_left = max(1, _NUMBERS_AT_ONCE // max(1, len(right) * n_dimensions))
    for start in range(0, len(left), n_left):
        part = slice(start, start + n_left)
        low, high, origin = _core.intersect_boxes(
            left.low[part], left.high[part], right.low, right.high, left.space.groups
        )
        shape = (len(origin), n_dimensions)
        yield Boxes(left.space, low.reshape(shape), high.reshape(shape), left.owner[part][origin])


def without_repetitions(boxes: Boxes) -> Boxes:
    """Return the distinct boxes; of equal ones, the first."""
    if len(boxes.space) == 0:
        return boxes.take(np.arange(min(len(boxes), 1)))
    # Adding 0 turns −0 into 0.
    bounds = np.hstack([boxes.low + 0.0, boxes.high + 0.0])
    _, first = np.unique(bounds, axis=0, return_index=True)
    return boxes.take(np.sort(first))


def minimal(boxes: Boxes, is_late: Callable[[], bool] = lambda: False) -> Boxes:
    """Drop boxes that lie inside another, and repetitions; the rest holds on the same rows.

    This takes time quadratic in the number of boxes; when time is up, boxes that were not checked are kept.
    """
    distinct = without_repetitions(boxes)
    low, high = np.ascontiguousarray(distinct.low), np.ascontiguousarray(distinct.high)
    n_boxes = len(distinct)
    is_needed = np.ones(n_boxes, dtype=bool)
    n_at_once = max(1, _COMPARISONS_AT_ONCE // max(1, n_boxes))
    for start in range(0, n_boxes, n_at_once):
        if is_late():
            break
        end = min(start + n_at_once, n_boxes)
        is_needed[start:end] = _core.unsubsumed_boxes(low, high, start, end)
    return distinct.take(is_needed)
