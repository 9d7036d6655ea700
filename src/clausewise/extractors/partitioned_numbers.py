"""Rules for numbers from rows that need not fit into memory; `compact/all_rows_of_numbers.py` says how."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.base.progress import Progress
from clausewise.compact.all_rows import in_memory
from clausewise.compact.all_rows_of_numbers import NumberLearning, prepare_numbers
from clausewise.compact.compaction import FEW_ROWS
from clausewise.extractors.network_training import number_network_for
from clausewise.extractors.partitioned import columns_of_model, take_over, with_network
from clausewise.extractors.run_log import RunLog
from clausewise.networks.answers import are_labels
from clausewise.partitions import PartitionedRows

if TYPE_CHECKING:
    from clausewise.extractors.rule_regressor import RuleRegressor


def fit_partitioned_numbers(
    regressor: "RuleRegressor",
    rows: PartitionedRows,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> None:
    """Learn rules from rows in partitions, and store them as the estimator's `fit` does."""
    _check(regressor, y, sample_weight)
    if rows.n_rows <= FEW_ROWS:
        take_over(regressor, _gathered(regressor, rows))
        return
    log = RunLog()
    with Progress(regressor.verbose) as progress:
        progress.started(regressor.method, 4)
        with log.stage("sample"):
            learning = _learning(regressor, rows, progress)
        with log.stage("rules of a sample"):
            X, numbers, weights = learning.first_part
            model = numbers if learning.network is None else learning.network
            found = with_network(regressor, model).fit(X, sample_weight=weights)
        with log.stage("more rows, and additions"):
            search = replace(found.search_, rules=found.rules_)
            rules, n_searched, notes = learning.completed(search, progress)
        progress.finished(f"{regressor.method}: {len(rules):,} rules")
    name = regressor.network if isinstance(regressor.network, str) else None
    found.rules_, found.network_ = rules.with_response(name), learning.network
    found.report_ = replace(
        found.report_,
        n_rows=n_searched,
        n_rows_given=rows.n_rows,
        n_rules=len(rules),
        reading_cost=rules.reading_cost,
        stages=tuple(log.stages.values()),
        notes=notes,
    )
    take_over(regressor, found)


def sampled_for_frontier(
    regressor: "RuleRegressor",
    rows: PartitionedRows,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> tuple["RuleRegressor", Any, NDArray[np.float64] | None]:
    """Return an estimator, rows in memory and their weights, to measure sizes on: all rows, or a sample."""
    _check(regressor, y, sample_weight)
    if rows.n_rows <= FEW_ROWS:
        X, model = in_memory(columns_of_model(regressor.network, rows), regressor.network)
        return with_network(regressor, model), X, None
    with Progress(regressor.verbose) as progress:
        learning = _learning(regressor, rows, progress)
    X, numbers, weights = learning.part(0.0, min(FEW_ROWS / rows.n_rows, learning.most))
    return with_network(regressor, numbers if learning.network is None else learning.network), X, weights


def _check(regressor: "RuleRegressor", y: ArrayLike | None, sample_weight: ArrayLike | None) -> None:
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        if given is not None:
            raise ValueError(f"{name} is for tables in memory; these rows are read in parts.")
    if regressor.network is None or are_labels(regressor.network):
        raise ValueError(
            "These rows are read in parts; pass a model as network, or the name of the column that holds the "
            "numbers."
        )


def _gathered(regressor: "RuleRegressor", rows: PartitionedRows) -> "RuleRegressor":
    """Read few rows into memory, and learn from them as from any table."""
    X, target = in_memory(columns_of_model(regressor.network, rows), regressor.network)
    found = with_network(regressor, target).fit(X)
    if isinstance(regressor.network, str):
        found.rules_ = found.rules_.with_response(regressor.network)
    return found


def _learning(regressor: "RuleRegressor", rows: PartitionedRows, progress: Progress) -> NumberLearning:
    network = regressor.network
    if not isinstance(network, str):
        network = number_network_for(network, rows.head(1), None, None, 0)
    return prepare_numbers(network, rows, regressor.output, progress)
