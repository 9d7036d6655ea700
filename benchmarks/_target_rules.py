"""Targets for what is done with a finished rule set: predicting, explaining, changing, reading."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from benchmarks._measure import growth_during, peak_growth, timed
from benchmarks._targets import Target
from benchmarks.evaluation import make_rules
from clausewise import RuleSet

N_ROWS, N_FEATURES = 1_000_000, 28


def targets() -> Sequence[Target]:
    """Return the lines of the summary."""
    return (
        *(
            Target(
                f"predict, {n_rules} rules, 1 thread, ÷ NumPy in blocks",
                "ratio",
                1.0,
                lambda n_rules=n_rules: seconds_of_predict(n_rules) / seconds_of_numpy(n_rules),
                before=before,
            )
            for n_rules, before in ((1, 1.68), (4, 1.36), (8, 1.20), (16, 1.14), (32, 0.80), (64, 0.54))
        ),
        Target(
            "predict, 16 rules, 1 thread",
            "GB/s",
            3.0,
            lambda: table().nbytes / seconds_of_predict(16) / 1e9,
            is_least=True,
            before=1.90,
        ),
        Target(
            "counterfactuals of 2 features, 1,000 rules, per row",
            "CPU ms",
            1.0,
            milliseconds_of_counterfactuals,
            before=44.1,
        ),
        Target("str(explanation), 120 rules, per row", "CPU ms", 0.1, milliseconds_of_text, before=5.6),
        Target(
            "explain, 1,000 rows × 100,000 rules, growth", "MB", 256.0, megabytes_of_explaining, before=2500.0
        ),
        Target("reading 100,000 rules as text", "CPU s", 3.0, seconds_of_reading, before=11.7),
    )


def milliseconds_of_counterfactuals() -> float:
    """Return the CPU time per row, on all cores."""
    rules, X = make_rules(1000, N_FEATURES), table()[:1000]
    rules.counterfactuals(X[:5])
    return timed(lambda: rules.counterfactuals(X, max_features=2), 1).cpu  # seconds for 1,000 rows


def milliseconds_of_text() -> float:
    explained = make_rules(120, N_FEATURES).explain(table()[:1000])
    return timed(lambda: [str(one) for one in explained], 1).cpu  # seconds for 1,000 rows


def megabytes_of_explaining() -> float:
    growth = peak_growth("benchmarks._target_rules", "explain")
    return float("nan") if growth is None else growth / 2**20


def measure_peak() -> None:
    """In the new process: explain, and print the growth in bytes."""
    rules, X = make_rules(100_000, N_FEATURES), np.random.default_rng(0).standard_normal((1000, N_FEATURES))
    rules.predict(X[:2])
    print(growth_during(lambda: rules.explain(X)))


def seconds_of_reading() -> float:
    text = make_rules(100_000, N_FEATURES).to_text()
    return timed(lambda: RuleSet.from_text(text), 1).cpu


# --- Predicting ---


@cache
def table() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((N_ROWS, N_FEATURES))


@cache
def seconds_of_predict(n_rules: int) -> float:
    rules = make_rules(n_rules, N_FEATURES)
    return timed(lambda: rules.predict(table(), n_jobs=1), 3).cpu


@cache
def seconds_of_numpy(n_rules: int) -> float:
    rules = make_rules(n_rules, N_FEATURES)
    assert (predict_in_blocks(rules, table()) == rules.predict(table())).all()
    return timed(lambda: predict_in_blocks(rules, table()), 2).cpu


def predict_in_blocks(rules: RuleSet, X: np.ndarray, n_rows: int = 8192) -> np.ndarray:
    """Predict as one would in NumPy: blocks that stay in the cache, every column of a block copied once."""
    listed = [
        (rule.terms, rules.labels.index(rule.conclusion), np.floor(1000 * rule.confidence + 0.5))
        for rule in rules
    ]
    decided = np.empty(len(X), dtype=np.int64)
    for start in range(0, len(X), n_rows):
        block = X[start : start + n_rows]
        columns: dict[int, np.ndarray] = {}
        totals = np.zeros((len(rules.labels), len(block)))
        for terms, code, votes in listed:
            fires = np.ones(len(block), dtype=bool)
            for term in terms:
                if term.feature not in columns:
                    columns[term.feature] = np.array(block[:, term.feature])
                if term.low > -np.inf:
                    fires &= columns[term.feature] > term.low
                if term.high < np.inf:
                    fires &= columns[term.feature] <= term.high
            totals[code] += fires * votes
        decided[start : start + n_rows] = totals.argmax(axis=0)
    return rules.classes[decided]


if __name__ == "__main__":
    measure_peak()
