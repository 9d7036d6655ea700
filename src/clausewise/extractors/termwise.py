"""Term-wise substitution: each term of a rule is replaced by the rules that tell it, one layer down.

REM-D rewrites its rules as soon as a layer is done; DeepRED first learns what tells every term, down to the
inputs, and merges at the end. Both form products: a conjunction of terms, each told by several premises,
becomes all combinations of these premises. Products are formed factor by factor. Combinations that contradict
themselves or repeat others are dropped at once, and over the inputs also those that a more general one
includes; none of that changes where rules of a class fire. (Over hidden units a more general clause does not
make another one superfluous: its terms are told by other premises.)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from clausewise.extractors.boxes import (
    Boxes,
    Space,
    boxes_of,
    everything,
    intersections,
    joined,
    minimal,
    rules_of,
    without_repetitions,
)
from clausewise.extractors.budget import Budget, ExtractionBudgetExceeded
from clausewise.extractors.clausewise import INPUTS
from clausewise.extractors.dropping import Dropping
from clausewise.extractors.progress import Progress
from clausewise.extractors.report import LayerReport, ReportBuilder
from clausewise.extractors.task import Extracted, Task
from clausewise.features import Features
from clausewise.induction import Inducer, PreparedMatrix, induce_many, induce_premises
from clausewise.induction.protocol import rules_or_default
from clausewise.networks.selection import LayerChoice
from clausewise.rules import Origin, RuleSet

# Boxes that a product may gather before repetitions are dropped.
_BOXES_BEFORE_TIDYING = 100_000
# Rules of a product that are kept when the time is over.
_KEPT_WHEN_LATE = 50


@dataclass(frozen=True)
class Plan:
    """How terms are replaced.

    Attributes
    ----------
    inducers : tuple of Inducer
        The paper's ψ per step: over the last hidden layer, over the one before it, …, over the inputs.
    layers : LayerChoice
        The hidden layers in use.
    dropping : Dropping
        Which rules of every learnt rule set are left out.
    merge_negations : bool
        Whether a term and its negation are told by one and the same rule set.
    n_jobs : int, optional
        Number of threads.
    """

    inducers: tuple[Inducer, ...]
    layers: LayerChoice
    dropping: Dropping
    merge_negations: bool
    n_jobs: int | None


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
        """Where each term holds: of shape (n_terms, n_rows)."""
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
        """The terms of clauses over hidden units, which are all numbers."""
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


class TermwiseExtraction:
    """One extraction: the task, how it is done, what it may cost, and what is told about it."""

    def __init__(
        self, task: Task, plan: Plan, budget: Budget, report: ReportBuilder, progress: Progress
    ) -> None:
        self.task, self.plan, self.budget = task, plan, budget
        self.report, self.progress = report, progress
        self.layers: list[LayerReport] = []

    # --- The two methods ---

    def substituting_at_once(self) -> Extracted:
        """REM-D: rules over a layer are rewritten as rules over the layer before it, until the inputs."""
        names, level, first = self._start()
        class_of = first.columns.class_index
        for step, name in enumerate(names[1:], start=1):
            units, told = self._told(level, names[step - 1], name, step)
            product = Product(self, units, name, class_of)
            with self.report.stage("products"):
                boxes = product.of_clauses(level.uses, told, level.boxes.owner)
            level = Level.of(name, boxes) if name != INPUTS else replace(level, boxes=boxes)
        return self._extracted(level.boxes, first, names[0])

    def merging_at_the_end(self) -> Extracted:
        """DeepRED*: what tells every term is learnt down to the inputs; then products are formed upwards."""
        names, level, first = self._start()
        levels = [level]
        told: list[Boxes] = []
        for step, name in enumerate(names[1:], start=1):
            units, told = self._told(levels[-1], names[step - 1], name, step)
            if name != INPUTS:
                of_terms = [part.owned_by(term) for term, part in enumerate(told)]
                levels.append(Level.of(name, joined(of_terms, told_space(told, units.features))))
        product = Product(self, self.task.inputs, INPUTS, first.columns.class_index)
        with self.report.stage("products"):
            for upper, lower in zip(levels[-2::-1], levels[:0:-1], strict=True):
                told = product.of_terms(len(upper.terms), lower, told)
            boxes = product.of_clauses(levels[0].uses, told, levels[0].boxes.owner)
        return self._extracted(boxes, first, names[0])

    # --- Steps ---

    def _start(self) -> tuple[list[str], Level, RuleSet]:
        """The representations from the last hidden layer to the inputs, and clauses that tell the labels."""
        names = [*reversed(self.task.trained_network.select_layers(self.plan.layers)), INPUTS]
        if len(names) == 1:
            self.task.trained_network.hidden_layers(self.task.rows, self.plan.layers)  # says what is wrong
        units = self._units(names[0])
        with self.report.stage("rules over units"):
            classes = self.task.classes.tolist()
            found = self.plan.inducers[0].induce(
                units, self.task.codes, classes, weights=self.task.weights, n_jobs=self.plan.n_jobs
            )
            found = rules_or_default(found, units)
            clauses = self.plan.dropping.kept(found)
        self.layers.append(LayerReport(names[0], units.n_columns, len(found) - len(clauses), (len(clauses),)))
        boxes = boxes_of(clauses, Space.tested_by(clauses))
        return names, Level.of(names[0], boxes), clauses

    def _units(self, name: str) -> PreparedMatrix:
        """A representation, prepared; layers are computed when they are needed, two at a time."""
        if name == INPUTS:
            return self.task.inputs
        with self.report.stage("activations"):
            layer = next(iter(self.task.trained_network.hidden_layers(self.task.rows, [name])))
        with self.report.stage("preparation"):
            return PreparedMatrix.of_encoded(
                layer.matrix, Features(layer.unit_names), n_jobs=self.plan.n_jobs
            )

    def _told(self, level: Level, upper: str, lower: str, step: int) -> tuple[PreparedMatrix, list[Boxes]]:
        """Per term of a level the premises over the representation below that tell it."""
        above, units = self._units(upper), self._units(lower)
        self.progress.layer_started(lower, len(level.terms))
        with self.report.stage("rules over units" if lower != INPUTS else "rules over inputs"):
            listed = self._learnt(level.terms, above, units, self.plan.inducers[step])
            kept = [self.plan.dropping.kept(rules) for rules in listed]
        n_dropped = sum(map(len, listed)) - sum(map(len, kept))
        self.layers.append(LayerReport(lower, units.n_columns, n_dropped, tuple(map(len, kept))))
        self.progress.layer_done()
        together = RuleSet.concatenate(kept, units.features, (True, False), default=False)
        space = Space.tested_by(together)
        return units, [boxes_of(rules, space) for rules in kept]

    def _learnt(
        self, terms: Terms, above: PreparedMatrix, units: PreparedMatrix, inducer: Inducer
    ) -> list[RuleSet]:
        """Per term the rules that conclude True."""
        progress = partial(self.progress.clauses_done, 0)
        if self.plan.merge_negations:
            return self._learnt_with_negations(terms, above, units, inducer)
        if len(terms) == 0:
            return []
        premises = induce_premises(
            inducer,
            units,
            terms.holds(above.table),
            weights=self.task.weights,
            n_jobs=self.plan.n_jobs,
            progress=progress,
        )
        return [premises.rules[premises.target == term] for term in range(len(terms))]

    def _learnt_with_negations(
        self, terms: Terms, above: PreparedMatrix, units: PreparedMatrix, inducer: Inducer
    ) -> list[RuleSet]:
        """One rule set per threshold: what concludes True tells "greater than", the rest "at most"."""
        keys = np.stack([terms.feature.astype(np.float64), terms.threshold], axis=1)
        distinct, place = np.unique(keys, axis=0, return_inverse=True)
        if len(distinct) == 0:
            return []
        tests = Terms(distinct[:, 0].astype(np.int32), distinct[:, 1], np.ones(len(distinct), dtype=bool))
        targets = tests.holds(above.table)
        if self.task.weights is None:
            learnt = induce_many(inducer, units, targets, n_jobs=self.plan.n_jobs)
        else:
            learnt = [
                inducer.induce(
                    units,
                    (~target).astype(np.int32),
                    (True, False),
                    weights=self.task.weights,
                    n_jobs=self.plan.n_jobs,
                )
                for target in targets
            ]
        complete = [rules_or_default(rules, units) for rules in learnt]
        wanted = zip(place.ravel().tolist(), terms.is_above.tolist(), strict=True)
        found = [complete[test].concluding(is_above) for test, is_above in wanted]
        return [_concluding_true(rules) for rules in found]

    def _extracted(self, boxes: Boxes, first: RuleSet, last_layer: str) -> Extracted:
        with self.report.stage("statistics"):
            origins = [Origin(last_layer, " AND ".join(map(str, clause.terms)) or None) for clause in first]
            rules = rules_of(boxes, self.task.no_rules(), first.columns.class_index[boxes.owner])
            columns = replace(
                rules.columns, origins=tuple(origins[clause] for clause in boxes.owner.tolist())
            )
            rules = self.task.measured(replace(rules, columns=columns), self.plan.n_jobs)
        return Extracted(rules, tuple(self.layers))


class Product:
    """Products over one representation, within the bounds of an extraction."""

    def __init__(
        self, extraction: TermwiseExtraction, units: PreparedMatrix, name: str, class_of: NDArray[np.int32]
    ) -> None:
        self.task, self.budget = extraction.task, extraction.budget
        self.units, self.name, self.class_of = units, name, class_of
        # Over the inputs a rule that another one includes says nothing more.
        self.tidied: Callable[[Boxes], Boxes] = minimal if name == INPUTS else without_repetitions

    def of_clauses(
        self, uses: Sequence[tuple[int, ...]], told: Sequence[Boxes], owner: NDArray[np.int64]
    ) -> Boxes:
        """All clauses with their terms replaced, class by class."""
        space = told_space(told, self.units.features)
        per_class = []
        for label in np.unique(self.class_of[owner]).tolist():
            found = joined([], space)
            for clause in np.flatnonzero(self.class_of[owner] == label).tolist():
                product = self.of_factors([told[term] for term in uses[clause]], space, label)
                found = self.tidied(joined([found, product.owned_by(int(owner[clause]))], space))
                found = self._within_bounds(found, label, len(found))
            per_class.append(found)
        return joined(per_class, space)

    def of_terms(self, n_terms: int, lower: Level, told: Sequence[Boxes]) -> list[Boxes]:
        """Per term above a level the boxes over the inputs, from those of the terms of the level."""
        space = told_space(told, self.units.features)
        found = [joined([], space) for _ in range(n_terms)]
        for premise, term in enumerate(lower.boxes.owner.tolist()):
            product = self.of_factors([told[used] for used in lower.uses[premise]], space, None)
            found[term] = self._within_bounds(
                self.tidied(joined([found[term], product], space)), None, len(product)
            )
        return found

    def of_factors(self, factors: Sequence[Boxes], space: Space, label: int | None) -> Boxes:
        """The boxes that hold where one of each factor does; small factors first."""
        found = everything(space)
        for factor in sorted(factors, key=len):
            parts: list[Boxes] = []
            n_gathered = 0
            for part in intersections(found, factor):
                parts.append(part)
                n_gathered += len(part)
                if n_gathered > _BOXES_BEFORE_TIDYING:
                    parts = [self.tidied(joined(parts, space))]
                    parts = [self._within_bounds(parts[0], label, len(found) * len(factor))]
                    n_gathered = len(parts[0])
            found = self._within_bounds(self.tidied(joined(parts, space)), label, len(found) * len(factor))
        return found

    def _within_bounds(self, boxes: Boxes, label: int | None, next_size: int) -> Boxes:
        reason = self.budget.hit(len(boxes), boxes.n_bytes)
        if reason is None:
            return boxes
        class_index = np.full(len(boxes), 0 if label is None else label, dtype=np.int32)
        if self.budget.on_budget == "raise":
            so_far = rules_of(boxes, self.task.no_rules(), class_index)
            raise ExtractionBudgetExceeded(reason, so_far, self.name, next_size)
        n_kept = self._n_kept(boxes)
        if n_kept >= len(boxes):
            return boxes
        self.budget.n_truncated += len(boxes) - n_kept
        return boxes.take(np.sort(self._best_first(boxes, label)[:n_kept]))

    def _n_kept(self, boxes: Boxes) -> int:
        limits = [len(boxes)]
        if self.budget.max_rules is not None:
            limits.append(self.budget.max_rules)
        if self.budget.max_memory is not None:
            limits.append(max(1, int(self.budget.max_memory * len(boxes) // max(boxes.n_bytes, 1))))
        if self.budget.is_late:
            limits.append(_KEPT_WHEN_LATE)
        return min(limits)

    def _best_first(self, boxes: Boxes, label: int | None) -> NDArray[np.intp]:
        """By confidence for the class (by cover where there is none yet), then by cover."""
        class_index = np.full(len(boxes), 0 if label is None else label, dtype=np.int32)
        rules = rules_of(boxes, self.task.no_rules(), class_index)
        cover, correct = rules.evaluator.statistics(
            self.units.table, self.task.codes.astype(np.int64), self.task.weights
        )
        confidence = cover if label is None else (correct + 1) / (cover + 2)
        return np.lexsort((-cover, -confidence))


def told_space(told: Sequence[Boxes], features: Features) -> Space:
    """The space that all premises of a step share."""
    if told:
        return told[0].space
    nothing = np.empty(0, dtype=np.int32)
    return Space(features, nothing, nothing)


def _concluding_true(rules: RuleSet) -> RuleSet:
    """The same premises, concluding the first class."""
    columns = rules.columns
    return replace(
        rules, columns=replace(columns, class_index=np.zeros_like(columns.class_index)), default=False
    )
