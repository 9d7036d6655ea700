"""The paper's Algorithm 1: clause-wise substitution, layer by layer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.data.features import Features
from clausewise.extractors.dropping import Dropping
from clausewise.extractors.extraction_data import Extracted, Task
from clausewise.extractors.run_log import LayerReport, ReportBuilder
from clausewise.induction import Inducer, Premises, PreparedMatrix, induce_premises
from clausewise.induction.protocol import rules_or_default
from clausewise.networks import Layer
from clausewise.networks.selection import LayerChoice
from clausewise.rules import Origin, Rule, RuleSet
from clausewise.rules.rule import ANYTHING

INPUTS = "inputs"
"""The layer of rules that were found on the input features themselves."""

# Where clauses hold is kept for so many of them at once: one byte per clause and row.
MAX_TARGET_BYTES = 2**26


@dataclass(frozen=True)
class Plan:
    """How rules are extracted.

    Attributes
    ----------
    layer_inducer, clause_inducer : Inducer
        The paper's ψ: what learns clauses over a layer's units that tell the network's labels, and what
        learns premises over the inputs that tell where such a clause holds.
    layers : LayerChoice
        The hidden layers in use.
    eclectic : bool
        Whether the inputs are one more representation (the paper's ECLAIRE*).
    balance : bool
        Whether the rows where a clause holds weigh as much as those where it does not.
    dropping : Dropping
        Which clauses are left out.
    n_jobs : int, optional
        Number of threads.
    """

    layer_inducer: Inducer
    clause_inducer: Inducer
    layers: LayerChoice
    eclectic: bool
    balance: bool
    dropping: Dropping
    n_jobs: int | None


def extract_clausewise(
    task: Task, plans: Sequence[Plan], report: ReportBuilder, progress: Progress
) -> list[Extracted]:
    """Rules over the inputs that imitate the network (the paper's Algorithm 1), for each plan.

    Plans share every activation and everything that is prepared; they must agree in their layers.
    """
    found = [RuleCollector(task) for _ in plans]
    for layer, units in representations(task, plans[0], report):
        for plan, collector in zip(plans, found, strict=True):
            with report.stage("clauses over units"):
                clauses, n_dropped = intermediate_clauses(
                    task, units, plan.layer_inducer, plan.dropping, plan.n_jobs
                )
            progress.part_started(layer.name, len(clauses))
            with report.stage("rules over inputs"):
                # A clause over the inputs is a rule already.
                is_told = units is task.inputs
                premises = (
                    Premises(clauses, np.arange(len(clauses)))
                    if is_told
                    else substituted(task, clauses, layer, plan, progress)
                )
                shown = [None if is_told else shown_premise(clause) for clause in clauses]
                collector.add(layer, clauses, shown, n_dropped, premises)
            progress.part_done()
    with report.stage("statistics"):
        rule_sets = [collector.build(plan.n_jobs) for plan, collector in zip(plans, found, strict=True)]
    return [Extracted(rules, tuple(c.layers)) for rules, c in zip(rule_sets, found, strict=True)]


def representations(task: Task, plan: Plan, report: ReportBuilder) -> Iterator[tuple[Layer, PreparedMatrix]]:
    """The layers in use with their activations, prepared; one after the other."""
    if plan.eclectic:
        yield Layer(INPUTS, task.inputs.table, task.inputs.features.names), task.inputs
    layers = task.trained_network.hidden_layers(task.rows, plan.layers)
    while True:
        with report.stage("activations"):
            layer = next(layers, None)
        if layer is None:
            return
        with report.stage("preparation"):
            units = PreparedMatrix.of_encoded(layer.matrix, Features(layer.unit_names), n_jobs=plan.n_jobs)
        yield layer, units


def intermediate_clauses(
    task: Task, units: PreparedMatrix, inducer: Inducer, dropping: Dropping, n_jobs: int | None
) -> tuple[RuleSet, int]:
    """Clauses over a layer's units that tell the network's labels, and how many more were dropped."""
    classes = task.classes.tolist()
    found = rules_or_default(
        inducer.induce(units, task.codes, classes, weights=task.weights, n_jobs=n_jobs), units
    )
    kept = dropping.kept(found)
    return kept, len(found) - len(kept)


def substituted(task: Task, clauses: RuleSet, layer: Layer, plan: Plan, progress: Progress) -> Premises:
    """Premises over the inputs that tell where each clause holds."""
    if len(clauses) == 0:
        return Premises(clauses, np.arange(0))
    parts = []
    n_at_once = max(1, MAX_TARGET_BYTES // task.inputs.n_rows)
    for start in range(0, len(clauses), n_at_once):
        part = clauses[start : start + n_at_once]
        holds = part.evaluator.fires(layer.matrix, plan.n_jobs).dense()
        premises = induce_premises(
            plan.clause_inducer,
            task.inputs,
            holds,
            weights=task.weights,
            positive_weights=balancing_weights(holds, task.weights) if plan.balance else None,
            n_jobs=plan.n_jobs,
            progress=partial(progress.steps_done, start),
        )
        parts.append(replace(premises, target=premises.target + start))
    return parts[0] if len(parts) == 1 else Premises.joined(parts)


def balancing_weights(holds: NDArray[np.bool_], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """What a row where the clause holds must weigh, so that all of them weigh as much as all others."""
    of_rows = np.ones(holds.shape[1]) if weights is None else weights
    true = holds @ of_rows
    false = of_rows.sum() - true
    return np.asarray(np.divide(false, true, out=np.ones(len(holds)), where=(true > 0) & (false > 0)))


class RuleCollector:
    """Gathers substituted rules and makes one rule set of them."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._empty = task.no_rules()
        self._parts: list[RuleSet] = []
        self.layers: list[LayerReport] = []

    def add(
        self,
        layer: Layer,
        clauses: RuleSet,
        shown: Sequence[str | None],
        n_dropped: int,
        premises: Premises,
    ) -> None:
        """Add the premises of a layer's clauses, as rules with the clauses' conclusions."""
        origins = [Origin(layer.name, clause) for clause in shown]
        columns = replace(
            premises.rules.columns,
            class_index=clauses.columns.class_index[premises.target],
            origins=tuple(origins[clause] for clause in premises.target.tolist()),
        )
        self._parts.append(replace(self._empty, columns=columns))
        per_clause = np.bincount(premises.target, minlength=len(clauses)).tolist()
        self.layers.append(LayerReport(layer.name, len(layer.unit_names), n_dropped, tuple(per_clause)))

    def build(self, n_jobs: int | None) -> RuleSet:
        """All rules, equal ones once, with what they cover and get right on the rows learnt from."""
        empty = self._empty
        rules = RuleSet.concatenate(self._parts, empty.features, empty.classes, default=empty.default)
        return self._task.measured(rules.distinct(), n_jobs)


def shown_premise(clause: Rule) -> str:
    """The premise of a clause in words."""
    return " AND ".join(map(str, clause.terms)) or ANYTHING
