"""Products of premises: a conjunction of terms, each with several premises, becomes all combinations of them.

Products are formed factor by factor. Combinations that contradict themselves or repeat others are dropped at
once, and over the inputs also those inside a more general one; none of that changes where rules of a class
fire. (Over hidden units a more general clause does not make another one superfluous, since its terms have
other premises.)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.data.features import Features
from clausewise.extractors.boxes import (
    Boxes,
    Space,
    everything,
    intersections,
    joined,
    minimal,
    rules_of,
    without_repetitions,
)
from clausewise.extractors.extraction_data import ExtractionData, Representation
from clausewise.extractors.limits import ExtractionLimitExceeded, Limits
from clausewise.rules import RuleSet

# Boxes that a product may collect before they are tidied.
_BOXES_BEFORE_TIDYING = 10_000
# Bounds when time is up: rules that a product keeps, rules that are ranked for it, and premises per term.
_KEPT_WHEN_LATE = 50
_RANKED_WHEN_LATE = 1_000
_PREMISES_WHEN_LATE = 2


@dataclass(frozen=True, eq=False)
class Terms:
    """Distinct one-sided terms over the units of a layer.

    Attributes
    ----------
    feature : ndarray of int32
        The unit.
    threshold : ndarray of float64
        The bound.
    is_above : ndarray of bool
        Whether the term is "greater than", otherwise "at most".
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    is_above: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.feature)

    def holds(self, matrix: NDArray[np.float32] | NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return where each term holds, of shape (n_terms, n_rows)."""
        above = self.threshold[:, None] < matrix[:, self.feature].T
        return np.ascontiguousarray(above == self.is_above[:, None])


@dataclass(frozen=True, eq=False)
class Level:
    """Clauses over one layer, seen as sets of terms.

    Attributes
    ----------
    name : str
        The layer.
    boxes : Boxes
        The clauses.
    terms : Terms
        The terms that occur in them.
    uses : list of tuple of int
        Per clause its terms.
    """

    name: str
    boxes: Boxes
    terms: Terms
    uses: list[tuple[int, ...]]

    @classmethod
    def of(cls, name: str, boxes: Boxes) -> "Level":
        """Collect the terms of clauses over hidden units, which are all numeric."""
        sides = [(boxes.low, np.isfinite(boxes.low), True), (boxes.high, np.isfinite(boxes.high), False)]
        found = {
            (int(boxes.space.feature[place]), is_above, float(bounds[box, place])): None
            for bounds, is_bounded, is_above in sides
            for box, place in zip(*np.nonzero(is_bounded), strict=True)
        }
        number = {term: position for position, term in enumerate(sorted(found))}
        uses: list[list[int]] = [[] for _ in range(len(boxes))]
        for bounds, is_bounded, is_above in sides:
            for box, place in zip(*np.nonzero(is_bounded), strict=True):
                key = (int(boxes.space.feature[place]), is_above, float(bounds[box, place]))
                uses[box].append(number[key])
        feature, is_above_all, threshold = zip(*number, strict=True) if number else ((), (), ())
        terms = Terms(
            np.array(feature, dtype=np.int32),
            np.array(threshold, dtype=np.float64),
            np.array(is_above_all, dtype=bool),
        )
        return cls(name, boxes, terms, [tuple(sorted(one)) for one in uses])


class Product:
    """Products over one representation, within the limits of an extraction."""

    def __init__(
        self,
        data: ExtractionData,
        below: Representation,
        class_of: NDArray[np.int32],
        limits: Limits,
        progress: Progress,
        n_jobs: int | None,
    ) -> None:
        self.data, self.class_of = data, class_of
        self.units, self.name = below.units, below.name
        self.limits, self.progress, self.n_jobs = limits, progress, n_jobs
        self._finished: list[tuple[Boxes, int]] = []  # of finished classes

    def of_clauses(
        self, uses: Sequence[tuple[int, ...]], premises_of: Sequence[Boxes], owner: NDArray[np.int64]
    ) -> Boxes:
        """Replace the terms of all clauses, class by class."""
        space = shared_space(premises_of, self.units.features)
        self.progress.part_started(f"products over {self.name}", len(uses))
        n_done = 0
        for label in np.unique(self.class_of[owner]).tolist():
            clauses = np.flatnonzero(self.class_of[owner] == label).tolist()
            found = BoxCollector(self, space, label)
            for position, clause in enumerate(clauses):
                if self._is_late and len(found) > 0:
                    self.limits.n_truncated += len(clauses) - position
                    break
                product = self.of_factors([premises_of[term] for term in uses[clause]], space, label)
                following = uses[clauses[min(position + 1, len(clauses) - 1)]]
                next_size = math.prod(len(premises_of[term]) for term in following)
                found.add(product.owned_by(int(owner[clause])), next_size)
                n_done += 1
                self.progress.steps_done(0, n_done)
            self._finished.append((found.finished(), label))
        self.progress.part_done()
        return joined([boxes for boxes, _ in self._finished], space)

    def of_terms(self, n_terms: int, lower: Level, premises_of: Sequence[Boxes]) -> list[Boxes]:
        """Return, per term above a level, boxes over the inputs, from those of the terms of the level."""
        space = shared_space(premises_of, self.units.features)
        found = [BoxCollector(self, space, None) for _ in range(n_terms)]
        self.progress.part_started(f"products for {lower.name}", len(lower.uses))
        for premise, term in enumerate(lower.boxes.owner.tolist()):
            if self._is_late and len(found[term]) > 0:
                self.limits.n_truncated += 1
                continue
            factors = [premises_of[used] for used in lower.uses[premise]]
            found[term].add(self.of_factors(factors, space, None), math.prod(map(len, factors)))
            self.progress.steps_done(0, premise + 1)
        self.progress.part_done()
        return [collector.finished() for collector in found]

    def of_factors(self, factors: Sequence[Boxes], space: Space, label: int | None) -> Boxes:
        """Return the boxes that hold where a box of each factor holds; small factors first."""
        found = everything(space)
        for factor in sorted(factors, key=len):
            if self._is_late:
                factor = factor.take(np.arange(min(len(factor), _PREMISES_WHEN_LATE)))
            next_size = len(found) * len(factor)
            collector = BoxCollector(self, space, label)
            for part in intersections(found, factor):
                collector.add(part, next_size)
            found = collector.finished()
        return found

    def tidied(self, boxes: Boxes) -> Boxes:
        """Return the boxes without duplicates; over the inputs, also without those inside another."""
        if self.units is self.data.inputs:
            return minimal(boxes, lambda: self.limits.is_late)
        return without_repetitions(boxes)

    def within_limits(self, boxes: Boxes, label: int | None, next_size: int) -> Boxes:
        """Return the boxes, or the best-ranked if a limit is exceeded and that is not an error."""
        reason = self.limits.exceeded(len(boxes), boxes.n_bytes)
        if reason is None:
            return boxes
        if self.limits.on_limit == "raise":
            raise ExtractionLimitExceeded(reason, self._so_far(boxes, label), self.name, next_size)
        n_kept = self._n_kept(boxes)
        if n_kept >= len(boxes):
            return boxes
        self.limits.n_truncated += len(boxes) - n_kept
        return boxes.take(np.sort(self._best_first(boxes, label)[:n_kept]))

    @property
    def _is_late(self) -> bool:
        """Whether time is up and the work must end quickly; `on_limit="raise"` is handled elsewhere."""
        return self.limits.on_limit == "truncate" and self.limits.is_late

    def _so_far(self, boxes: Boxes, label: int | None) -> RuleSet:
        """Return the rules of the finished classes and the current one; premises of a term predict True."""
        if label is None:
            of_term = RuleSet.from_rules([], boxes.space.features, default=False, classes=(True, False))
            return rules_of(boxes, of_term, np.zeros(len(boxes), dtype=np.int32))
        parts = [*self._finished, (boxes, label)]
        labels = np.concatenate([np.full(len(part), own, dtype=np.int32) for part, own in parts])
        return rules_of(joined([part for part, _ in parts], boxes.space), self.data.no_rules(), labels)

    def _n_kept(self, boxes: Boxes) -> int:
        counts = [len(boxes)]
        if self.limits.max_product_rules is not None:
            counts.append(self.limits.max_product_rules)
        if self.limits.max_memory is not None:
            counts.append(max(1, int(self.limits.max_memory * len(boxes) // max(boxes.n_bytes, 1))))
        if self.limits.is_late:
            counts.append(_KEPT_WHEN_LATE)
        return min(counts)

    def _best_first(self, boxes: Boxes, label: int | None) -> NDArray[np.intp]:
        """Return the boxes sorted by confidence for the class (by cover without a class), then by cover."""
        if self._is_late:  # the first come from premises that their inducer ranked first
            boxes = boxes.take(np.arange(min(len(boxes), _RANKED_WHEN_LATE)))
        class_index = np.full(len(boxes), 0 if label is None else label, dtype=np.int32)
        rules = rules_of(boxes, self.data.no_rules(), class_index)
        codes = self.data.codes.astype(np.int64)
        cover, correct = rules.evaluator.statistics(self.units.table, codes, self.data.weights, self.n_jobs)
        confidence = cover if label is None else (correct + 1) / (cover + 2)
        return np.lexsort((-cover, -confidence))


class BoxCollector:
    """Collects boxes that come in parts: tidied when there are many, kept within the limits."""

    def __init__(self, product: Product, space: Space, label: int | None) -> None:
        self._product, self._space, self._label = product, space, label
        self._parts: list[Boxes] = []
        self._n_boxes = self._n_when_tidied = 0
        self._next_size = 0
        limit = product.limits.max_memory
        # Tidying makes a few copies.
        fits = _BOXES_BEFORE_TIDYING if limit is None else int(limit // (64 * max(1, len(space))))
        self._n_before_tidying = max(1, min(_BOXES_BEFORE_TIDYING, fits))

    def __len__(self) -> int:
        return self._n_boxes

    def add(self, part: Boxes, next_size: int) -> None:
        """Add a part; `next_size` is the number of rules that this step, or the next one, processes."""
        self._parts.append(part)
        self._n_boxes += len(part)
        self._next_size = next_size
        is_large = self._n_boxes > max(self._n_before_tidying, 2 * self._n_when_tidied)
        if is_large or self._product.limits.is_late:
            self._tidy()

    def finished(self) -> Boxes:
        """Return all boxes, tidied and within the limits."""
        self._tidy()
        return self._parts[0]

    def _tidy(self) -> None:
        tidied = self._product.tidied(joined(self._parts, self._space))
        tidied = self._product.within_limits(tidied, self._label, self._next_size)
        self._parts = [tidied]
        self._n_boxes = self._n_when_tidied = len(tidied)


def shared_space(premises: Sequence[Boxes], features: Features) -> Space:
    """Return the space that all premises of a step share."""
    if premises:
        return premises[0].space
    nothing = np.empty(0, dtype=np.int32)
    return Space(features, nothing, nothing)
