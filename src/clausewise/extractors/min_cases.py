"""Choosing min_cases, the paper's μ, on held-out rows."""

from collections.abc import Callable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.data.rows import Split, fold_splits, stratified_rows
from clausewise.extractors.clause_substitution import (
    ClausewiseOptions,
    RuleCollector,
    representations,
    rules_through,
)
from clausewise.extractors.extraction_data import ExtractionData
from clausewise.extractors.result import ExtractionResult
from clausewise.extractors.run_log import PathPoint, RunLog
from clausewise.rules import RuleSet

# Fractions of the rows, so that a value chosen on some of the rows suits all of them.
FRACTIONS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
LEAST = 2
# A fifth of the rows is held out; with few rows, each half in turn, since one fifth would be too noisy.
N_FOLDS, N_FOLDS_OF_FEW = 5, 2
FEW_ROWS = 5_000
# More rows than this do not improve the choice, they only slow it down.
MAX_ROWS = 20_000
# With fewer rows, fidelity on a fifth of them is meaningless.
LEAST_ROWS = 50


def min_cases_path(n_rows: int) -> list[int]:
    """Return the values that are tried for this many rows, ascending."""
    return sorted({max(LEAST, round(fraction * n_rows)) for fraction in FRACTIONS})


def choose_min_cases(
    data: ExtractionData,
    options_with: Callable[[int], ClausewiseOptions],
    voted: Callable[[RuleSet, ExtractionData], RuleSet],
    random: np.random.RandomState,
    log: RunLog,
    progress: Progress,
) -> tuple[int, tuple[PathPoint, ...]]:
    """Return the value with the highest held-out fidelity (then the fewest rules), and all values tried.

    All values are tried on the same rows and share everything that is prepared. Where rows are held out in
    turn, only values that cannot be told from the best so far are tried again. `voted` returns rules as they
    vote, given the rows that they were learnt from.
    """
    n_rows = data.n_rows
    path = np.array(min_cases_path(n_rows))
    if len(path) == 1 or n_rows < LEAST_ROWS:
        return int(path[0]), ()
    splits = _splits(data.codes, random)
    fidelity, sizes = np.full((2, len(splits), len(path)), np.nan)
    contenders = np.arange(len(path))
    for number, (learn, held_out) in enumerate(splits):
        part = data.take(learn, options_with(LEAST).n_jobs)
        # Fewer rows to learn from need fewer cases in proportion; small values may become the same.
        scaled = np.maximum(LEAST, np.round(path[contenders] * len(learn) / n_rows).astype(int))
        distinct, position = np.unique(scaled, return_inverse=True)
        options = [options_with(value) for value in distinct.tolist()]
        of_all = f" ({number + 1}/{len(splits)})" if len(splits) > 1 else ""
        progress.started(f"choosing min_cases{of_all}", len(options) * n_layers(data, options[0]))
        found = _extracted_with_each(part, options, log, progress)
        with log.stage("statistics"):
            measured = np.array([_fidelity(data, voted(one.rules, part), held_out) for one in found])
        fidelity[number, contenders] = measured[position]
        sizes[number, contenders] = np.array([len(one.rules) for one in found])[position]
        # Rounded, so that values which decide alike do not differ by the order of a sum.
        mean = fidelity[: number + 1, contenders].mean(axis=0).round(12)
        error = np.sqrt(mean.max() * (1 - mean.max()) / len(held_out))
        if number + 1 < len(splits):
            contenders = contenders[mean >= mean.max() - error]
            if len(contenders) == 1:
                break
    means = (np.nanmean(values, axis=0).round(12).tolist() for values in (fidelity, sizes))
    points = tuple(PathPoint(*point) for point in zip(path.tolist(), *means, strict=True))
    finalists = [points[contender] for contender in contenders]
    best = max(finalists, key=lambda point: (point.fidelity, -point.n_rules, point.min_cases))
    return best.min_cases, points


def _extracted_with_each(
    data: ExtractionData, options: list[ClausewiseOptions], log: RunLog, progress: Progress
) -> list[ExtractionResult]:
    """Extract rules with each of several options; every layer is prepared once for all of them."""
    collectors = [RuleCollector(data) for _ in options]
    for layer in representations(data, options[0], log):
        for one, collector in zip(options, collectors, strict=True):
            collector.add(rules_through(layer, data, one, log, progress))
        del layer  # before the next is computed
    with log.stage("statistics"):
        return [collector.result(one.n_jobs) for one, collector in zip(options, collectors, strict=True)]


def _splits(codes: NDArray[np.int32], random: np.random.RandomState) -> list[Split]:
    """Each half of few rows in turn, one fold of many."""
    drawn = stratified_rows(codes, MAX_ROWS, random)
    if len(drawn) <= FEW_ROWS:
        return list(fold_splits(codes, drawn, N_FOLDS_OF_FEW, random))
    return list(islice(fold_splits(codes, drawn, N_FOLDS, random), 1))


def n_layers(data: ExtractionData, options: ClausewiseOptions) -> int:
    """Count the representations that an extraction uses."""
    return len(data.trained_network.select_layers(options.layers)) + options.eclectic


def _fidelity(data: ExtractionData, rules: RuleSet, held_out: NDArray[np.intp]) -> float:
    decided = rules.evaluator.decide(data.inputs.table[held_out], rules.voting, rules.default_index)
    weights = None if data.weights is None else data.weights[held_out]
    return float(np.average(decided == data.codes[held_out], weights=weights))
