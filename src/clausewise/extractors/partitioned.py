"""Extraction from rows that need not fit into memory; `compact/all_rows.py` says how."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from clausewise.base.progress import Progress
from clausewise.compact.all_rows import (
    Learning,
    improve_on_more_rows,
    in_memory,
    prepare,
    with_statistics_of_all_rows,
    with_votes_of_all_rows,
)
from clausewise.compact.compaction import FEW_ROWS
from clausewise.extractors.network_training import network_for, trained_model
from clausewise.extractors.run_log import RunLog
from clausewise.induction.estimator import TableEstimator
from clausewise.networks.answers import are_labels
from clausewise.networks.batch_answers import columns_read
from clausewise.partitions import PartitionedRows

if TYPE_CHECKING:
    from clausewise.extractors.base import RuleExtractor

Estimator = TypeVar("Estimator", bound=TableEstimator)


def fit_partitioned(extractor: "RuleExtractor", rows: PartitionedRows) -> None:
    """Extract rules from rows in partitions, and store them as the estimator's `fit` does."""
    n_rows = rows.n_rows
    if n_rows <= FEW_ROWS:
        _fit_gathered(extractor, rows)
        return
    log, network = RunLog(), extractor.network
    if not isinstance(network, str):
        network = network_for(network, rows.head(1), None, None, 0)
    with Progress(extractor.verbose) as progress:
        progress.started(extractor.method, 4)
        with log.stage("labels and sample"):
            learning = prepare(network, rows, progress)
        with log.stage("rules of a sample"):
            found = _of_first_rows(extractor, learning)
        rules, n_searched, search = found.rules_, found.report_.n_rows, found.compacted_
        notes: tuple[str, ...] = ()
        if search is None:
            with log.stage("statistics"):
                rules = with_statistics_of_all_rows(rules, learning, progress)
        else:
            with log.stage("more rows"):
                rules, n_searched = improve_on_more_rows(rules, search, learning, progress)
            with log.stage("votes"):
                rules, notes = with_votes_of_all_rows(rules, search, learning, progress)
        progress.finished(f"{found.report_.method}: {len(rules):,} rules")
    found.rules_, found.network_ = rules, learning.network
    found.report_ = replace(
        found.report_,
        n_rows=n_searched,
        n_rows_given=n_rows,
        n_rules=len(rules),
        reading_cost=rules.reading_cost,
        stages=tuple(log.stages.values()),
        notes=notes,
    )
    take_over(extractor, found)


def _fit_gathered(extractor: "RuleExtractor", rows: PartitionedRows) -> None:
    """Read few rows into memory, and extract rules from them as from any table."""
    X, labels = in_memory(columns_of_model(extractor.network, rows), extractor.network)
    if not isinstance(extractor.network, str):
        extractor.fit(X)
    else:
        take_over(extractor, with_network(extractor, labels).fit(X))


def columns_of_model(model: Any, rows: PartitionedRows) -> PartitionedRows:
    """Return the rows with the columns that a trained model names alone."""
    is_trained = model is not None and not isinstance(model, str) and not are_labels(model)
    return columns_read(trained_model(model, rows.head(1), None, None, None), rows) if is_trained else rows


def _of_first_rows(extractor: "RuleExtractor", learning: Learning) -> "RuleExtractor":
    """Return a copy of an estimator, fitted to the first rows of the sample."""
    X, codes, weights = learning.first_part
    labels = np.array(learning.classes)[codes]
    found = with_network(extractor, labels if learning.network is None else learning.network)
    return found.fit(X, sample_weight=weights)


def with_network(extractor: Estimator, network: Any) -> Estimator:
    """Return an estimator with the same parameters that is not fitted, with another network."""
    return type(extractor)(**{**extractor.get_params(deep=False), "network": network})


def take_over(extractor: TableEstimator, found: TableEstimator) -> None:
    """Store what another estimator found."""
    for name, value in vars(found).items():
        if name.endswith("_"):
            setattr(extractor, name, value)
