"""Evaluate rules on rows: the core compared with NumPy, rule by rule.

The target: 1,000,000 rows × 200 rules of 4 terms at least 10 times faster than NumPy on the same table in the
same run, with a peak of less than 2 × the bytes of X, including X.
"""

import sys

import numpy as np

from benchmarks._measure import growth_during, megabytes, peak_growth, timed
from clausewise import RuleSet
from clausewise.base import threads

N_ROWS, N_FEATURES, N_RULES, N_TERMS = 1_000_000, 20, 200, 4
LAYOUTS = [(dtype, order) for dtype in ("float64", "float32") for order in ("row-major", "column-major")]


def make_table(dtype: str, order: str, n_rows: int = N_ROWS) -> np.ndarray:
    """Return normal numbers, filled in place so that there is never a second table."""
    X = np.empty((n_rows, N_FEATURES), dtype=dtype, order="C" if order == "row-major" else "F")
    rng = np.random.default_rng(0)
    for first in range(0, n_rows, 10_000):
        X[first : first + 10_000] = rng.standard_normal((min(10_000, n_rows - first), N_FEATURES))
    return X


def make_rules(n_rules: int = N_RULES, n_features: int = N_FEATURES) -> RuleSet:
    """Return rules of 4 terms on random features, with lower, upper or both bounds in equal numbers."""
    rng = np.random.default_rng(1)
    feature = rng.permuted(np.tile(np.arange(n_features), (n_rules, 1)), axis=1)[:, :N_TERMS].ravel()
    bounds = np.sort(np.round(rng.normal(size=(len(feature), 2)), 4))
    shape = rng.integers(3, size=len(feature))
    return RuleSet.from_arrays(
        [f"x{i}" for i in range(n_features)],
        ["class 0", "class 1"],
        "class 0",
        starts=np.arange(0, len(feature) + 1, N_TERMS),
        feature=feature,
        low=np.where(shape == 0, -np.inf, bounds[:, 0]),
        high=np.where(shape == 1, np.inf, bounds[:, 1]),
        class_index=rng.integers(2, size=n_rules),
        confidence=rng.uniform(0.5, 1, n_rules),
    )


def predict_with_numpy(rules: RuleSet, X: np.ndarray) -> np.ndarray:
    """Predict without the core: one mask per rule, whose votes are added where the mask holds."""
    totals = np.zeros((len(X), len(rules.labels)))
    for rule in rules:
        fires = np.ones(len(X), dtype=bool)
        for term in rule.terms:
            column = X[:, term.feature]
            if term.low > -np.inf:
                fires &= column > term.low
            if term.high < np.inf:
                fires &= column <= term.high
        totals[fires, rules.labels.index(rule.conclusion)] += np.floor(1000 * rule.confidence + 0.5)
    return rules.classes[totals.argmax(axis=1)]


def measure_peak(work: str) -> None:
    """In the new process: make the input, predict, and print the growth in bytes."""
    if work == "many-rules":
        X, rules = make_table("float64", "row-major", 2_000), make_rules(100_000)
    else:
        dtype, order = work.split("/")
        X, rules = make_table(dtype, order), make_rules()
    make_rules(10).predict(X[:10])  # warm up libraries and threads; the tables count
    print(growth_during(lambda: rules.predict(X)))


def compare_layouts() -> None:
    rules = make_rules()
    print(f"\npredict, {N_ROWS:,} rows × {N_FEATURES} features, {N_RULES} rules of {N_TERMS} terms, ", end="")
    print(f"{threads.resolve(None)} threads (best of 3; NumPy once)\n")
    print(f"{'table':<24}{'NumPy':>8}{'core':>8}{'times':>7}{'NumPy':>9}{'core':>8}{'times':>7}{'peak':>16}")
    print(f"{'':<24}{'wall s':>8}{'wall s':>8}{'':>7}{'cpu s':>9}{'cpu s':>8}{'':>7}{'÷ bytes of X':>16}")
    for dtype, order in LAYOUTS:
        X = make_table(dtype, order)
        assert (predict_with_numpy(rules, X[:20_000]) == rules.predict(X[:20_000])).all()
        plain = timed(lambda X=X: predict_with_numpy(rules, X), repeat=1)
        core = timed(lambda X=X: rules.predict(X), repeat=3)
        growth = peak_growth("benchmarks.evaluation", f"{dtype}/{order}")
        peak = "unknown" if growth is None else f"{1 + growth / X.nbytes:.2f}"
        print(
            f"{dtype + ', ' + order:<24}{plain.wall:>8.2f}{core.wall:>8.3f}{plain.wall / core.wall:>6.0f}×",
            end="",
        )
        print(f"{plain.cpu:>9.2f}{core.cpu:>8.3f}{plain.cpu / core.cpu:>6.0f}×{peak:>16}")


def show_many_rules() -> None:
    rules, X = make_rules(100_000), make_table("float64", "row-major", 2_000)
    built = timed(lambda: rules[:].predict(X[:1]), repeat=1)
    core = timed(lambda: rules.predict(X), repeat=2)
    growth = peak_growth("benchmarks.evaluation", "many-rules")
    print("\n100,000 rules of 4 terms, 2,000 rows: ", end="")
    print(f"first row {built.wall:.2f} s, all rows {core.wall:.2f} s, peak growth {megabytes(growth)}")


def main() -> None:
    compare_layouts()
    show_many_rules()


if __name__ == "__main__":
    measure_peak(sys.argv[1])
