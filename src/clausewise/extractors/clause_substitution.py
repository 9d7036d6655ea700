"""Clause-wise substitution, the paper's Algorithm 1: layer by layer, clause by clause."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.extractors.dropping import Dropping
from clausewise.extractors.extraction_data import ExtractionData, Representation
from clausewise.extractors.result import ExtractionResult
from clausewise.extractors.run_log import LayerReport, RunLog
from clausewise.induction import Inducer, Premises, PreparedMatrix, induce_premises, rules_or_default
from clausewise.networks import LayerChoice
from clausewise.rules import Origin, Rule, RuleSet
from clausewise.rules.rule import ANYTHING

# Memory for where clauses hold, at one byte per clause and row; more clauses are processed in parts.
MAX_TARGET_BYTES = 2**26


@dataclass(frozen=True)
class ClausewiseOptions:
    """Options of clause-wise extraction.

    Attributes
    ----------
    layer_inducer, clause_inducer : Inducer
        The paper's ψ: one learns clauses over a layer's units that predict the network's labels, the other
        premises over the inputs that predict where such a clause holds.
    layers : LayerChoice
        The hidden layers in use.
    eclectic : bool
        Whether the inputs are one more representation (the paper's ECLAIRE*).
    balance : bool
        Whether the rows where a clause holds get the same total weight as the others.
    dropping : Dropping
        Which clauses are dropped before substitution.
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
    data: ExtractionData, options: ClausewiseOptions, log: RunLog, progress: Progress
) -> ExtractionResult:
    """Extract rules over the inputs that imitate the network (the paper's Algorithm 1)."""
    found = RuleCollector(data)
    for layer in representations(data, options, log):
        found.add(rules_through(layer, data, options, log, progress, is_last_use=True))
        del layer  # before the next is computed
    with log.stage("statistics"):
        return found.result(options.n_jobs)


@dataclass(frozen=True, eq=False)
class LayerRules:
    """The clauses over a layer's units, and the premises over the inputs that replace them.

    Attributes
    ----------
    layer : Representation
        The layer.
    clauses : RuleSet
        Clauses over its units.
    n_dropped : int
        Clauses that were dropped before.
    premises : Premises
        Premises over the inputs; `target` is the number of the clause that each one replaces.
    """

    layer: Representation
    clauses: RuleSet
    n_dropped: int
    premises: Premises


def rules_through(
    layer: Representation,
    data: ExtractionData,
    options: ClausewiseOptions,
    log: RunLog,
    progress: Progress,
    *,
    is_last_use: bool = False,
) -> LayerRules:
    """Learn clauses over a layer, and replace each by premises over the inputs (one turn of Algorithm 1).

    With `is_last_use`, the ranks of the layer make room for those of the inputs.
    """
    with log.stage("clauses over units"):
        clauses, n_dropped = intermediate_clauses(
            data, layer.units, options.layer_inducer, options.dropping, options.n_jobs
        )
    if is_last_use and layer.units is not data.inputs:
        layer.units.forget_ranks()
    with log.stage("preparation"):
        data.inputs.rank()
    progress.part_started(layer.name, len(clauses))
    with log.stage("rules over inputs"):
        if layer.units is data.inputs:  # a clause over the inputs is a rule already
            premises = Premises(clauses, np.arange(len(clauses)))
        else:
            premises = substituted(layer, clauses, data, options, progress)
    progress.part_done()
    return LayerRules(layer, clauses, n_dropped, premises)


def representations(
    data: ExtractionData, options: ClausewiseOptions, log: RunLog
) -> Iterator[Representation]:
    """Iterate over the layers in use, prepared; the inputs first if they are one of them."""
    if options.eclectic:
        yield data.input_representation
    yield from data.hidden_layers(options.layers, log, options.n_jobs)


def intermediate_clauses(
    data: ExtractionData, units: PreparedMatrix, inducer: Inducer, dropping: Dropping, n_jobs: int | None
) -> tuple[RuleSet, int]:
    """Return clauses over a layer's units that predict the network's labels, and how many were dropped."""
    classes = data.classes.tolist()
    found = rules_or_default(
        inducer.induce(units, data.codes, classes, weights=data.weights, n_jobs=n_jobs), units
    )
    kept = dropping.kept(found)
    return kept, len(found) - len(kept)


def substituted(
    layer: Representation,
    clauses: RuleSet,
    data: ExtractionData,
    options: ClausewiseOptions,
    progress: Progress,
) -> Premises:
    """Return premises over the inputs that predict where each clause holds."""
    if len(clauses) == 0:
        return Premises(clauses, np.arange(0))
    parts = []
    n_at_once = max(1, MAX_TARGET_BYTES // data.n_rows)
    for start in range(0, len(clauses), n_at_once):
        part = clauses[start : start + n_at_once]
        holds = part.evaluator.fires(layer.units.table, options.n_jobs).dense()
        premises = induce_premises(
            options.clause_inducer,
            data.inputs,
            holds,
            weights=data.weights,
            positive_weights=balancing_weights(holds, data.weights) if options.balance else None,
            n_jobs=options.n_jobs,
            progress=partial(progress.steps_done, start),
        )
        parts.append(replace(premises, target=premises.target + start))
    return parts[0] if len(parts) == 1 else Premises.joined(parts)


def balancing_weights(holds: NDArray[np.bool_], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return, per clause, the factor that gives rows where it holds the same total weight as the others."""
    of_rows = np.ones(holds.shape[1]) if weights is None else weights
    true = holds @ of_rows
    false = of_rows.sum() - true
    return np.asarray(np.divide(false, true, out=np.ones(len(holds)), where=(true > 0) & (false > 0)))


class RuleCollector:
    """Collects substituted rules, layer by layer, into one rule set."""

    def __init__(self, data: ExtractionData) -> None:
        self._data = data
        self._empty = data.no_rules()
        self._parts: list[RuleSet] = []
        self._layers: list[LayerReport] = []

    def add(self, found: LayerRules) -> None:
        """Add the premises of a layer's clauses, as rules with the clauses' conclusions."""
        layer, clauses, premises = found.layer, found.clauses, found.premises
        is_input = layer.units is self._data.inputs
        origins = [Origin(layer.name, None if is_input else shown_premise(clause)) for clause in clauses]
        columns = replace(
            premises.rules.columns,
            class_index=clauses.columns.class_index[premises.target],
            origins=tuple(origins[clause] for clause in premises.target.tolist()),
        )
        self._parts.append(replace(self._empty, columns=columns))
        per_clause = np.bincount(premises.target, minlength=len(clauses)).tolist()
        self._layers.append(
            LayerReport(layer.name, layer.units.n_columns, found.n_dropped, tuple(per_clause))
        )

    def result(self, n_jobs: int | None) -> ExtractionResult:
        """Return all rules without duplicates, measured on the rows learnt from."""
        empty = self._empty
        rules = RuleSet.concatenate(self._parts, empty.features, empty.classes, default=empty.default)
        return ExtractionResult(self._data.measured(rules.distinct(), n_jobs), tuple(self._layers))


def shown_premise(clause: Rule) -> str:
    """Return the premise of a clause as text."""
    return " AND ".join(map(str, clause.terms)) or ANYTHING
