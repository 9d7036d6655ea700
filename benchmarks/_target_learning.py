"""Targets for learning: C5.0 and ECLAIRE with weights and missing values, and the search for short rules."""

import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
from sklearn.datasets import make_classification
from sklearn.neural_network import MLPClassifier

from benchmarks._measure import timed
from benchmarks._recorded import BENCH, recorded
from benchmarks._targets import Target
from benchmarks.eclaire import TASKS, extract, fit_unavoidable
from clausewise import ECLAIRE, C50Classifier
from clausewise.induction import C50Inducer, PreparedMatrix
from clausewise.induction.c50_core import fit_core

# Rows, columns; the first table has many columns for its rows, the second few.
TABLES = ((20_000, 28), (45_000, 9))
N_ROWS, N_COLUMNS = 100_000, 28


def targets() -> Sequence[Target]:
    """Return the lines of the summary."""
    lines = [
        Target(
            f"C5.0 {kind}, {n_rows:,} × {n_columns}, {what} ÷ plain",
            "ratio",
            2.5,
            partial(ratio_of_c50, n_rows, n_columns, what, kind == "rules"),
            before=before,
        )
        for (n_rows, n_columns), measured_before in zip(
            TABLES, ((3.9, 4.2, 4.3, 3.5, 3.5, 3.7), (3.7, 3.0, 3.7, 3.5, 3.1, 3.8)), strict=True
        )
        for (kind, what), before in zip(
            [(kind, what) for kind in ("rules", "tree") for what in ("weights", "class weights", "missing")],
            measured_before,
            strict=True,
        )
    ]
    for what in ("weights", "balanced"):
        measure = partial(ratio_of_eclaire, what)
        lines.append(Target(f"ECLAIRE, {what} ÷ plain, 100,000 × 28", "ratio", 3.0, measure))
    lines.append(
        Target("search for 16 rules, 100,000 × 28 numbers", "CPU s", 5.3, seconds_of_search, before=16.0)
    )
    if BENCH.exists():
        lines.append(
            Target("search for 16 rules, covtype", "CPU s", 6.4, seconds_of_covtype_search, before=19.2)
        )
        for name, limit, before in (("magic_fold0", 2.2, 2.8), ("mb_hist_fold0", 2.0, 2.5)):
            measure = partial(ratio_to_unavoidable_fits, name)
            lines.append(
                Target(f"ECLAIRE ÷ unavoidable fits, {name}", "ratio", limit, measure, before=before)
            )
        for name in ("magic_fold0", "mb_hist_fold0"):
            measure = partial(share_of_winnowing, name)
            lines.append(
                Target(f"share of winnowing in rules over inputs, {name}", "fraction", 1 / 3, measure)
            )
        for name, before in (("xor_fold0", 19.0), ("magic_fold0", 3.9), ("mb_er_fold0", 13.1)):
            measure = partial(ratio_of_choosing_min_cases, name)
            lines.append(
                Target(f'min_cases="auto" ÷ one extraction, {name}', "ratio", 4.0, measure, before=before)
            )
    return lines


def cpu(work: Callable[[], object], repeat: int = 3) -> float:
    return timed(work, repeat).cpu


def ratio_of_c50(n_rows: int, n_columns: int, what: str, rules: bool) -> float:
    X, y = make_classification(
        n_rows, n_columns, n_informative=min(n_columns - 3, 8), flip_y=0.05, random_state=0
    )
    rng = np.random.default_rng(0)
    changed, weights = X.copy(), None
    if what == "missing":
        changed[rng.random(X.shape) < 0.02] = np.nan
    elif what == "weights":
        weights = rng.uniform(0.5, 2, n_rows)
    class_weight = {0: 1, 1: 3} if what == "class weights" else None
    plain = C50Classifier(rules=rules, n_jobs=1)
    other = C50Classifier(rules=rules, n_jobs=1, class_weight=class_weight)
    return cpu(lambda: other.fit(changed, y, sample_weight=weights)) / cpu(lambda: plain.fit(X, y))


@cache
def network_and_rows() -> tuple[MLPClassifier, np.ndarray]:
    X, y = make_classification(
        N_ROWS + 20_000,
        N_COLUMNS,
        n_informative=12,
        n_clusters_per_class=6,
        flip_y=0.02,
        random_state=1,
    )
    X = X.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the network need not have converged
        network = MLPClassifier((32, 16), max_iter=15, random_state=0).fit(X[:20_000], y[:20_000])
    return network, X[20_000:]


def ratio_of_eclaire(what: str) -> float:
    network, X = network_and_rows()
    options = {"n_jobs": 1, "max_rules": None, "voting": "confidence", "min_cases": 0.01}
    plain = ECLAIRE(network, **options)
    other = ECLAIRE(network, balance="balanced" if what == "balanced" else None, **options)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(X)) if what == "weights" else None
    return cpu(lambda: other.fit(X, sample_weight=weights), 2) / cpu(lambda: plain.fit(X), 2)


def ratio_to_unavoidable_fits(name: str) -> float:
    network, arrays = recorded(name)
    X, min_cases = arrays["X_train"], TASKS[name][0]
    return cpu(partial(extract, network, X, min_cases), 5) / cpu(
        partial(fit_unavoidable, network, X, min_cases), 5
    )


def share_of_winnowing(name: str) -> float:
    """Return which fraction of the CPU seconds of C5.0 on the inputs winnowing takes.

    A fit without winnowing to the columns that are kept does the rest of the work. Targets are whether units
    of the last hidden layer are above their median.
    """
    network, arrays = recorded(name)
    X, min_cases = arrays["X_train"], TASKS[name][0]
    units = list(network.hidden_layers(X))[-1].matrix
    matrix, total, rest = PreparedMatrix.prepare(X, n_jobs=1), 0.0, 0.0
    matrix.rank()
    targets = [(unit > np.median(unit)).astype(np.int32) for unit in units.T]
    for target in [target for target in targets if target.mean() > 0.1][:8]:  # without dead units
        fit = partial(fit_core, codes=target, n_classes=2, n_jobs=1)
        kept = np.array(fit(C50Inducer(min_cases=min_cases, winnow=True), matrix).in_use)
        few = PreparedMatrix.prepare(X[:, kept], n_jobs=1)
        few.rank()
        total += cpu(partial(fit, C50Inducer(min_cases=min_cases, winnow=True), matrix), 5)
        rest += cpu(partial(fit, C50Inducer(min_cases=min_cases), few), 5)
    return 1 - rest / total


def seconds_of_compaction(method: ECLAIRE) -> float:
    """Return the CPU seconds of the search alone, as the log of the extraction says."""
    return sum(stage.cpu_seconds for stage in method.report_.stages if stage.name == "compaction")


def seconds_of_search() -> float:
    network, X = network_and_rows()
    return seconds_of_compaction(ECLAIRE(network, n_jobs=1, max_rules=16).fit(X))


def seconds_of_covtype_search() -> float:
    network, arrays = recorded("covtype130k_fold0")
    return seconds_of_compaction(ECLAIRE(network, n_jobs=1, max_rules=16).fit(arrays["X_train"]))


def ratio_of_choosing_min_cases(name: str) -> float:
    network, arrays = recorded(name)
    X = arrays["X_train"]
    method = ECLAIRE(network, n_jobs=1, max_rules=None, voting="confidence", min_cases="auto")
    choosing = cpu(lambda: method.fit(X), 1)
    method.set_params(min_cases=method.report_.min_cases)
    return choosing / cpu(lambda: method.fit(X))
