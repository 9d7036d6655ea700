"""Term-wise substitution: each term of a rule is replaced by the rules that tell it, one layer down.

REM-D rewrites its rules as soon as a layer is done; DeepRED first learns what tells every term, down to the
inputs, and merges at the end. Both form products: a conjunction of terms, each told by several premises,
becomes all combinations of these premises. Products are formed factor by factor. Combinations that contradict
themselves or repeat others are dropped at once, and over the inputs also those that a more general one
includes; none of that changes where rules of a class fire. (Over hidden units a more general clause does not
make another one superfluous: its terms are told by other premises.)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.data.features import Features
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
from clausewise.extractors.clause_substitution import INPUTS, intermediate_clauses, shown_premise
from clausewise.extractors.dropping import Dropping
from clausewise.extractors.extraction_data import Extracted, Task
from clausewise.extractors.limits import Budget, ExtractionBudgetExceeded
from clausewise.extractors.run_log import LayerReport, ReportBuilder
from clausewise.induction import Inducer, PreparedMatrix, induce_many, induce_premises
from clausewise.induction.protocol import rules_or_default
from clausewise.networks.selection import LayerChoice
from clausewise.rules import Origin, RuleSet

# Boxes that a product may gather before they are tidied.
_BOXES_BEFORE_TIDYING = 10_000
# When the time is over: rules that a product keeps, of how many, and premises of a term that take part.
_KEPT_WHEN_LATE = 50
_RANKED_WHEN_LATE = 1_000
_PREMISES_WHEN_LATE = 2


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
        names, units, level, first = self._start()
        class_of = first.columns.class_index
        for step in range(1, len(names) + 1):
            name, units, told = self._told(level, units, names, step)
            product = Product(self, units, name, class_of)
            with self.report.stage("products"):
                boxes = product.of_clauses(level.uses, told, level.boxes.owner)
            if units is not self.task.inputs:
                level = Level.of(name, boxes)
        return self._extracted(boxes, first, names[0])

    def merging_at_the_end(self) -> Extracted:
        """DeepRED*: what tells every term is learnt down to the inputs; then products are formed upwards."""
        names, units, level, first = self._start()
        levels = [level]
        told: list[Boxes] = []
        for step in range(1, len(names) + 1):
            name, units, told = self._told(levels[-1], units, names, step)
            if units is not self.task.inputs:
                of_terms = [part.owned_by(term) for term, part in enumerate(told)]
                levels.append(Level.of(name, joined(of_terms, told_space(told, units.features))))
        product = Product(self, self.task.inputs, INPUTS, first.columns.class_index)
        with self.report.stage("products"):
            for upper, lower in zip(levels[-2::-1], levels[:0:-1], strict=True):
                told = product.of_terms(len(upper.terms), lower, told)
            boxes = product.of_clauses(levels[0].uses, told, levels[0].boxes.owner)
        return self._extracted(boxes, first, names[0])

    # --- Steps ---

    def _start(self) -> tuple[list[str], PreparedMatrix, Level, RuleSet]:
        """The hidden layers from the last to the first, and the last with clauses that tell the labels."""
        names = list(reversed(self.task.trained_network.select_layers(self.plan.layers)))
        units = self._units(names[0])
        with self.report.stage("rules over units"):
            clauses, n_dropped = intermediate_clauses(
                self.task, units, self.plan.inducers[0], self.plan.dropping, self.plan.n_jobs
            )
        self.layers.append(LayerReport(names[0], units.n_columns, n_dropped, (len(clauses),)))
        boxes = boxes_of(clauses, Space.tested_by(clauses))
        return names, units, Level.of(names[0], boxes), clauses

    def _units(self, name: str) -> PreparedMatrix:
        """A layer, prepared; layers are computed when they are needed, two at a time."""
        with self.report.stage("activations"):
            layer = next(iter(self.task.trained_network.hidden_layers(self.task.rows, [name])))
        with self.report.stage("preparation"):
            return PreparedMatrix.of_encoded(
                layer.matrix, Features(layer.unit_names), n_jobs=self.plan.n_jobs
            )

    def _told(
        self, level: Level, above: PreparedMatrix, names: Sequence[str], step: int
    ) -> tuple[str, PreparedMatrix, list[Boxes]]:
        """The representation below a level and, per term of the level, the premises over it that tell it."""
        is_last = step == len(names)
        name = INPUTS if is_last else names[step]
        units = self.task.inputs if is_last else self._units(name)
        self.progress.part_started(name, len(level.terms))
        with self.report.stage("rules over inputs" if is_last else "rules over units"):
            listed = self._learnt(level, above, units, self.plan.inducers[step])
            kept = [self.plan.dropping.kept(rules) for rules in listed]
        n_dropped = sum(map(len, listed)) - sum(map(len, kept))
        self.layers.append(LayerReport(name, units.n_columns, n_dropped, tuple(map(len, kept))))
        self.progress.part_done()
        together = RuleSet.concatenate(kept, units.features, (True, False), default=False)
        space = Space.tested_by(together)
        return name, units, [boxes_of(rules, space) for rules in kept]

    def _learnt(
        self, level: Level, above: PreparedMatrix, units: PreparedMatrix, inducer: Inducer
    ) -> list[RuleSet]:
        """Per term of a level the rules that conclude True."""
        terms = level.terms
        if len(terms) == 0:
            return []
        if self.plan.merge_negations:
            return self._learnt_with_negations(level, above, units, inducer)
        premises = induce_premises(
            inducer,
            units,
            terms.holds(above.table),
            weights=self.task.weights,
            n_jobs=self.plan.n_jobs,
            progress=partial(self._watch, level),
        )
        return [premises.rules[premises.target == term] for term in range(len(terms))]

    def _learnt_with_negations(
        self, level: Level, above: PreparedMatrix, units: PreparedMatrix, inducer: Inducer
    ) -> list[RuleSet]:
        """One rule set per threshold: what concludes True tells "greater than", the rest "at most"."""
        terms = level.terms
        keys = np.stack([terms.feature.astype(np.float64), terms.threshold], axis=1)
        distinct, place = np.unique(keys, axis=0, return_inverse=True)
        tests = Terms(distinct[:, 0].astype(np.int32), distinct[:, 1], np.ones(len(distinct), dtype=bool))
        learnt = induce_many(
            inducer,
            units,
            tests.holds(above.table),
            weights=self.task.weights,
            n_jobs=self.plan.n_jobs,
            progress=partial(self._watch, level),
        )
        complete = [rules_or_default(rules, units) for rules in learnt]
        wanted = zip(place.ravel().tolist(), terms.is_above.tolist(), strict=True)
        return [_concluding_true(complete[test].concluding(is_above)) for test, is_above in wanted]

    def _watch(self, level: Level, n_done: int, n_total: int) -> None:
        """Show progress, and stop where the time is over and that is an error."""
        self.progress.steps_done(0, n_done)
        if self.budget.on_budget == "raise" and self.budget.is_late:
            # Clauses over hidden units; their conclusions are those of the clauses that they come from.
            so_far = RuleSet.from_rules([], level.boxes.space.features, default=False, classes=(True, False))
            rules = rules_of(level.boxes, so_far, np.zeros(len(level.boxes), dtype=np.int32))
            raise ExtractionBudgetExceeded(str(self.budget.hit(0, 0)), rules, level.name, n_total)

    def _extracted(self, boxes: Boxes, first: RuleSet, last_layer: str) -> Extracted:
        with self.report.stage("statistics"):
            origins = [Origin(last_layer, shown_premise(clause)) for clause in first]
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
        self.task, self.budget, self.progress = extraction.task, extraction.budget, extraction.progress
        self.n_jobs = extraction.plan.n_jobs
        self.units, self.name, self.class_of = units, name, class_of
        self._finished: list[tuple[Boxes, int]] = []  # of classes that are done

    def of_clauses(
        self, uses: Sequence[tuple[int, ...]], told: Sequence[Boxes], owner: NDArray[np.int64]
    ) -> Boxes:
        """All clauses with their terms replaced, class by class."""
        space = told_space(told, self.units.features)
        self.progress.part_started(f"products over {self.name}", len(uses))
        n_done = 0
        for label in np.unique(self.class_of[owner]).tolist():
            clauses = np.flatnonzero(self.class_of[owner] == label).tolist()
            found = Gathering(self, space, label)
            for position, clause in enumerate(clauses):
                if self._is_over and len(found) > 0:
                    self.budget.n_truncated += len(clauses) - position
                    break
                product = self.of_factors([told[term] for term in uses[clause]], space, label)
                following = uses[clauses[min(position + 1, len(clauses) - 1)]]
                next_size = math.prod(len(told[term]) for term in following)
                found.add(product.owned_by(int(owner[clause])), next_size)
                n_done += 1
                self.progress.steps_done(0, n_done)
            self._finished.append((found.finished(), label))
        self.progress.part_done()
        return joined([boxes for boxes, _ in self._finished], space)

    def of_terms(self, n_terms: int, lower: Level, told: Sequence[Boxes]) -> list[Boxes]:
        """Per term above a level the boxes over the inputs, from those of the terms of the level."""
        space = told_space(told, self.units.features)
        found = [Gathering(self, space, None) for _ in range(n_terms)]
        self.progress.part_started(f"products for {lower.name}", len(lower.uses))
        for premise, term in enumerate(lower.boxes.owner.tolist()):
            if self._is_over and len(found[term]) > 0:
                self.budget.n_truncated += 1
                continue
            factors = [told[used] for used in lower.uses[premise]]
            found[term].add(self.of_factors(factors, space, None), math.prod(map(len, factors)))
            self.progress.steps_done(0, premise + 1)
        self.progress.part_done()
        return [gathering.finished() for gathering in found]

    def of_factors(self, factors: Sequence[Boxes], space: Space, label: int | None) -> Boxes:
        """The boxes that hold where one of each factor does; small factors first."""
        found = everything(space)
        for factor in sorted(factors, key=len):
            if self._is_over:
                factor = factor.take(np.arange(min(len(factor), _PREMISES_WHEN_LATE)))
            next_size = len(found) * len(factor)
            gathering = Gathering(self, space, label)
            for part in intersections(found, factor):
                gathering.add(part, next_size)
            found = gathering.finished()
        return found

    def tidied(self, boxes: Boxes) -> Boxes:
        """Without repetitions; over the inputs also without what a more general box includes."""
        if self.units is self.task.inputs:
            return minimal(boxes, lambda: self.budget.is_late)
        return without_repetitions(boxes)

    def within_bounds(self, boxes: Boxes, label: int | None, next_size: int) -> Boxes:
        """The boxes, or the best-ranked of them; raises where a bound is hit and that is an error."""
        reason = self.budget.hit(len(boxes), boxes.n_bytes)
        if reason is None:
            return boxes
        if self.budget.on_budget == "raise":
            raise ExtractionBudgetExceeded(reason, self._so_far(boxes, label), self.name, next_size)
        n_kept = self._n_kept(boxes)
        if n_kept >= len(boxes):
            return boxes
        self.budget.n_truncated += len(boxes) - n_kept
        return boxes.take(np.sort(self._best_first(boxes, label)[:n_kept]))

    @property
    def _is_over(self) -> bool:
        """Whether only a little more may be done. (Where that is an error, it is raised elsewhere.)"""
        return self.budget.on_budget == "truncate" and self.budget.is_late

    def _so_far(self, boxes: Boxes, label: int | None) -> RuleSet:
        """Rules of the classes that are done and of the one at hand; premises of a term conclude True."""
        if label is None:
            of_term = RuleSet.from_rules([], boxes.space.features, default=False, classes=(True, False))
            return rules_of(boxes, of_term, np.zeros(len(boxes), dtype=np.int32))
        parts = [*self._finished, (boxes, label)]
        labels = np.concatenate([np.full(len(part), own, dtype=np.int32) for part, own in parts])
        return rules_of(joined([part for part, _ in parts], boxes.space), self.task.no_rules(), labels)

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
        if self._is_over:  # the first come from premises that their inducer put first
            boxes = boxes.take(np.arange(min(len(boxes), _RANKED_WHEN_LATE)))
        class_index = np.full(len(boxes), 0 if label is None else label, dtype=np.int32)
        rules = rules_of(boxes, self.task.no_rules(), class_index)
        codes = self.task.codes.astype(np.int64)
        cover, correct = rules.evaluator.statistics(self.units.table, codes, self.task.weights, self.n_jobs)
        confidence = cover if label is None else (correct + 1) / (cover + 2)
        return np.lexsort((-cover, -confidence))


class Gathering:
    """Boxes that come in parts; tidied when they have become many, and kept within the bounds."""

    def __init__(self, product: Product, space: Space, label: int | None) -> None:
        self._product, self._space, self._label = product, space, label
        self._parts: list[Boxes] = []
        self._n_boxes = self._n_when_tidied = 0
        self._next_size = 0
        limit = product.budget.max_memory
        # Tidying holds a few copies.
        fits = _BOXES_BEFORE_TIDYING if limit is None else int(limit // (64 * max(1, len(space))))
        self._n_before_tidying = max(1, min(_BOXES_BEFORE_TIDYING, fits))

    def __len__(self) -> int:
        return self._n_boxes

    def add(self, part: Boxes, next_size: int) -> None:
        """Another part; `next_size` is what the step at hand, or the next one, looks at."""
        self._parts.append(part)
        self._n_boxes += len(part)
        self._next_size = next_size
        is_large = self._n_boxes > max(self._n_before_tidying, 2 * self._n_when_tidied)
        if is_large or self._product.budget.is_late:
            self._tidy()

    def finished(self) -> Boxes:
        """All boxes, tidied and within the bounds."""
        self._tidy()
        return self._parts[0]

    def _tidy(self) -> None:
        tidied = self._product.tidied(joined(self._parts, self._space))
        tidied = self._product.within_bounds(tidied, self._label, self._next_size)
        self._parts = [tidied]
        self._n_boxes = self._n_when_tidied = len(tidied)


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
