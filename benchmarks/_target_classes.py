"""Targets for many classes: what a small budget costs, compared with one for every class."""

import warnings
from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks._measure import timed
from benchmarks._targets import Target
from clausewise import RuleSet

N_ROWS, N_FEATURES, N_RULES = 10_000, 8, 16


def targets() -> Sequence[Target]:
    """Return the lines of the summary."""
    return (
        Target("compact, 16 rules for 1,000 classes", "CPU s", 15.0, partial(seconds, 1000), before=74.3),
    )


def seconds(n_classes: int) -> float:
    """Return the CPU seconds of a search on rows around a centre per class."""
    rng = np.random.default_rng(0)
    codes = rng.integers(n_classes, size=N_ROWS)
    X = 2 * rng.normal(size=(n_classes, N_FEATURES))[codes] + 0.4 * rng.normal(size=(N_ROWS, N_FEATURES))
    names = [f"x{i}" for i in range(N_FEATURES)]
    empty = RuleSet.from_rules([], names, default=0, classes=np.arange(n_classes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the budget
        return timed(lambda: empty.compact(X, codes, max_rules=N_RULES, n_jobs=1), 1).cpu
