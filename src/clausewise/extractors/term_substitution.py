"""Term-wise substitution: each term of a rule is replaced by rules that predict it, one layer down.

REM-D rewrites its rules as soon as a layer is done; DeepRED first learns premises for every term, down to the
inputs, and merges at the end. Both form products (`products.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.extractors.boxes import Boxes, Space, boxes_of, joined, rules_of
from clausewise.extractors.clause_substitution import intermediate_clauses, shown_premise
from clausewise.extractors.dropping import Dropping
from clausewise.extractors.extraction_data import ExtractionData, Representation
from clausewise.extractors.limits import ExtractionLimitExceeded, Limits
from clausewise.extractors.products import Level, Product, Terms, shared_space
from clausewise.extractors.result import ExtractionResult
from clausewise.extractors.run_log import LayerReport, RunLog
from clausewise.induction import Inducer, PreparedMatrix, induce_many, induce_premises, rules_or_default
from clausewise.networks import LayerChoice
from clausewise.rules import Origin, RuleSet


@dataclass(frozen=True)
class TermwiseOptions:
    """Options of term-wise extraction.

    Attributes
    ----------
    inducers : tuple of Inducer
        The paper's ψ per step: over the last hidden layer, over the one before it, …, over the inputs.
    layers : LayerChoice
        The hidden layers in use.
    dropping : Dropping
        Which rules of every learnt rule set are dropped.
    merge_negations : bool
        Whether a term and its negation share one rule set.
    n_jobs : int, optional
        Number of threads.
    """

    inducers: tuple[Inducer, ...]
    layers: LayerChoice
    dropping: Dropping
    merge_negations: bool
    n_jobs: int | None


class TermwiseExtraction:
    """One term-wise extraction: its data, options, limits and log."""

    def __init__(
        self, data: ExtractionData, options: TermwiseOptions, limits: Limits, log: RunLog, progress: Progress
    ) -> None:
        self.data, self.options, self.limits = data, options, limits
        self.log, self.progress = log, progress
        self.layers: list[LayerReport] = []

    # --- The two methods ---

    def substituting_at_once(self) -> ExtractionResult:
        """REM-D: rewrite rules over a layer as rules over the layer before it, down to the inputs."""
        names, units, level, first = self._start()
        class_of = first.columns.class_index
        for step in range(1, len(names) + 1):
            below, premises = self._premises_below(level, units, names, step)
            units = below.units
            product = self._product(below, class_of)
            with self.log.stage("products"):
                boxes = product.of_clauses(level.uses, premises, level.boxes.owner)
            if units is not self.data.inputs:
                level = Level.of(below.name, boxes)
        return self._extracted(boxes, first, names[0])

    def merging_at_the_end(self) -> ExtractionResult:
        """DeepRED*: learn premises for every term down to the inputs, then form products upwards."""
        names, units, level, first = self._start()
        levels = [level]
        premises: list[Boxes] = []
        for step in range(1, len(names) + 1):
            below, premises = self._premises_below(levels[-1], units, names, step)
            units = below.units
            if units is not self.data.inputs:
                of_terms = [part.owned_by(term) for term, part in enumerate(premises)]
                levels.append(Level.of(below.name, joined(of_terms, shared_space(premises, units.features))))
        product = self._product(self.data.input_representation, first.columns.class_index)
        with self.log.stage("products"):
            for upper, lower in zip(levels[-2::-1], levels[:0:-1], strict=True):
                premises = product.of_terms(len(upper.terms), lower, premises)
            boxes = product.of_clauses(levels[0].uses, premises, levels[0].boxes.owner)
        return self._extracted(boxes, first, names[0])

    # --- Steps ---

    def _start(self) -> tuple[list[str], PreparedMatrix, Level, RuleSet]:
        """Return the layers' names from last to first, the last layer's units, and clauses over these."""
        names = list(reversed(self.data.trained_network.select_layers(self.options.layers)))
        units = self._layer(names[0]).units
        with self.log.stage("rules over units"):
            clauses, n_dropped = intermediate_clauses(
                self.data, units, self.options.inducers[0], self.options.dropping, self.options.n_jobs
            )
        self.layers.append(LayerReport(names[0], units.n_columns, n_dropped, (len(clauses),)))
        boxes = boxes_of(clauses, Space.tested_by(clauses))
        return names, units, Level.of(names[0], boxes), clauses

    def _layer(self, name: str) -> Representation:
        """Return a layer, prepared on demand; at most two layers are in memory at a time."""
        return next(self.data.hidden_layers([name], self.log, self.options.n_jobs))

    def _product(self, below: Representation, class_of: NDArray[np.int32]) -> Product:
        return Product(self.data, below, class_of, self.limits, self.progress, self.options.n_jobs)

    def _premises_below(
        self, level: Level, above: PreparedMatrix, names: Sequence[str], step: int
    ) -> tuple[Representation, list[Boxes]]:
        """Return the representation below a level and, for each term of the level, premises over it."""
        is_last = step == len(names)
        below = self.data.input_representation if is_last else self._layer(names[step])
        units = below.units
        self.progress.part_started(below.name, len(level.terms))
        with self.log.stage("rules over inputs" if is_last else "rules over units"):
            listed = self._learnt(level, above, units, self.options.inducers[step])
            kept = [self.options.dropping.kept(rules) for rules in listed]
        n_dropped = sum(map(len, listed)) - sum(map(len, kept))
        self.layers.append(LayerReport(below.name, units.n_columns, n_dropped, tuple(map(len, kept))))
        self.progress.part_done()
        together = RuleSet.concatenate(kept, units.features, (True, False), default=False)
        space = Space.tested_by(together)
        return below, [boxes_of(rules, space) for rules in kept]

    def _learnt(
        self, level: Level, above: PreparedMatrix, units: PreparedMatrix, inducer: Inducer
    ) -> list[RuleSet]:
        """Return, for each term of a level, the rules that predict True."""
        terms = level.terms
        if len(terms) == 0:
            return []
        if self.options.merge_negations:
            return self._learnt_with_negations(level, above, units, inducer)
        premises = induce_premises(
            inducer,
            units,
            terms.holds(above.table),
            weights=self.data.weights,
            n_jobs=self.options.n_jobs,
            progress=partial(self._watch, level),
        )
        return [premises.rules[premises.target == term] for term in range(len(terms))]

    def _learnt_with_negations(
        self, level: Level, above: PreparedMatrix, units: PreparedMatrix, inducer: Inducer
    ) -> list[RuleSet]:
        """Learn one rule set per threshold: True means "greater than", False means "at most"."""
        terms = level.terms
        keys = np.stack([terms.feature.astype(np.float64), terms.threshold], axis=1)
        distinct, test_of_term = np.unique(keys, axis=0, return_inverse=True)
        tests = Terms(distinct[:, 0].astype(np.int32), distinct[:, 1], np.ones(len(distinct), dtype=bool))
        learnt = induce_many(
            inducer,
            units,
            tests.holds(above.table),
            weights=self.data.weights,
            n_jobs=self.options.n_jobs,
            progress=partial(self._watch, level),
        )
        complete = [rules_or_default(rules, units) for rules in learnt]
        wanted = zip(test_of_term.ravel().tolist(), terms.is_above.tolist(), strict=True)
        return [_predicting_true(complete[test].concluding(is_above)) for test, is_above in wanted]

    def _watch(self, level: Level, n_done: int, n_total: int) -> None:
        """Show progress; raise an error if time is up and `on_limit` is "raise"."""
        self.progress.steps_done(0, n_done)
        if self.limits.on_limit == "raise" and self.limits.is_late:
            # Clauses over hidden units, all with the conclusion True.
            so_far = RuleSet.from_rules([], level.boxes.space.features, default=False, classes=(True, False))
            rules = rules_of(level.boxes, so_far, np.zeros(len(level.boxes), dtype=np.int32))
            raise ExtractionLimitExceeded(str(self.limits.exceeded(0, 0)), rules, level.name, n_total)

    def _extracted(self, boxes: Boxes, first: RuleSet, last_layer: str) -> ExtractionResult:
        with self.log.stage("statistics"):
            origins = [Origin(last_layer, shown_premise(clause)) for clause in first]
            rules = rules_of(boxes, self.data.no_rules(), first.columns.class_index[boxes.owner])
            columns = replace(
                rules.columns, origins=tuple(origins[clause] for clause in boxes.owner.tolist())
            )
            rules = self.data.measured(replace(rules, columns=columns), self.options.n_jobs)
        return ExtractionResult(rules, tuple(self.layers))


def _predicting_true(rules: RuleSet) -> RuleSet:
    """Return the same premises as rules that predict the first class, True."""
    columns = rules.columns
    return replace(
        rules, columns=replace(columns, class_index=np.zeros_like(columns.class_index)), default=False
    )
