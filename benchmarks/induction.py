"""C5.0 and CART compared with scikit-learn's trees, many targets with single fits, and growth of the cost.

The targets, as ratios of CPU time within one run:

- one rule set, preparation included, no slower than a scikit-learn tree with as many leaves;
- 100 premises over one matrix at least 10 times cheaper than 100 separate fits, and 20 times cheaper than 100
  scikit-learn trees with the same minimum leaf size;
- twice the rows at most 2.4 times the cost. Met by trees, and by rule sets with min_cases in proportion to
  the rows; not by rule sets with a small min_cases on noisy data (2.2 to 3 times);
- 100 boosted trials at most 100 times one fit with case weights.
"""

import sys
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks._measure import growth_during, megabytes, peak_growth, timed
from clausewise import C50Classifier, RuleSet
from clausewise.induction import C50Inducer, CARTInducer, PreparedMatrix, induce_many, induce_premises
from clausewise.induction.c50_core import fit_core

SHAPES = [(40_000, 16), (10_000, 64)]
N_PREMISES, MIN_CASES = 100, 50
SIZES = [25_000, 50_000, 100_000, 200_000, 400_000]
N_TRIALS = 100


def rectified(n_rows: int, n_columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return values like a layer's activations, half of them 0, and noisy classes."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n_rows, 8))
    X = np.maximum(hidden @ rng.normal(size=(8, n_columns)) + rng.normal(size=n_columns), 0)
    score = np.sin(2 * hidden[:, 0]) + hidden[:, 1] * hidden[:, 2] + 0.3 * rng.normal(size=n_rows)
    return X, (score > 0).astype(np.int32)


def continuous(n_rows: int, n_columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return normal numbers, and classes by a product and a sum with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    score = X[:, 0] * X[:, 1] + X[:, 2] - X[:, 3] + 0.3 * rng.normal(size=n_rows)
    return X, (score > 0.3).astype(np.int32)


DATA: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "rectified": rectified,
    "continuous": continuous,
}


def as_many_leaves(X: np.ndarray, y: np.ndarray) -> DecisionTreeClassifier:
    n_leaves = C50Classifier(rules=False).fit(X, y).tree_.n_leaves
    return DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=n_leaves, random_state=0)


def compare_with_trees() -> None:
    print(
        "\nOne C5.0 rule set (one thread, preparation included) and scikit-learn's tree with as many leaves"
    )
    columns = ("C5.0", "tree")
    print(f"{'data':<26}{'leaves':>7}{'rules':>7}{columns[0]:>9}{columns[1]:>9}{'ratio':>7}", end="")
    print("".join(f"{name:>9}" for name in columns * 2))
    print(f"{'':<40}{'cpu s':>9}{'cpu s':>9}{'':>7}{'wall s':>9}{'wall s':>9}{'peak':>9}{'peak':>9}")
    for name, make in DATA.items():
        for n_rows, n_columns in SHAPES:
            X, y = make(n_rows, n_columns)
            model, tree = C50Classifier(n_jobs=1), as_many_leaves(X, y)
            ours, theirs = (timed(partial(estimator.fit, X, y), 3) for estimator in (model, tree))
            print(
                f"{f'{name} {n_rows:,} × {n_columns}':<26}{tree.get_n_leaves():>7}{len(model.rules_):>7}",
                end="",
            )
            print(f"{ours.cpu:>9.3f}{theirs.cpu:>9.3f}{ours.cpu / theirs.cpu:>7.2f}", end="")
            print(f"{ours.wall:>9.3f}{theirs.wall:>9.3f}", end="")
            works = [f"{who}/{name}/{n_rows}/{n_columns}" for who in ("c50", "tree")]
            print("".join(f"{megabytes(peak_growth('benchmarks.induction', work)):>9}" for work in works))


def premises() -> tuple[np.ndarray, np.ndarray]:
    """Return 100,000 × 50 rows, half of the columns rectified, and the leaves of a tree as targets."""
    X, y = continuous(100_000, 50)
    X[:, 25:] = np.maximum(X[:, 25:], 0)
    tree = DecisionTreeClassifier(max_leaf_nodes=N_PREMISES, min_samples_leaf=100, random_state=0).fit(X, y)
    leaf = tree.apply(X)
    return X, np.array([leaf == each for each in np.unique(leaf)])


def many_at_once(X: np.ndarray, targets: np.ndarray, **options: object) -> None:
    induce_many(C50Inducer(min_cases=MIN_CASES, **options), PreparedMatrix.prepare(X), targets)


def one_by_one(X: np.ndarray, targets: np.ndarray) -> None:
    for target in targets:
        codes = (~target).astype(np.int32)
        C50Inducer(min_cases=MIN_CASES).induce(
            PreparedMatrix.prepare(X, n_jobs=1), codes, (True, False), n_jobs=1
        )


def trees_one_by_one(X: np.ndarray, targets: np.ndarray) -> None:
    for target in targets:
        DecisionTreeClassifier(criterion="entropy", min_samples_leaf=MIN_CASES, random_state=0).fit(X, target)


def compare_many_targets() -> None:
    X, targets = premises()
    sizes = targets.sum(axis=1)
    print(f"\n{len(targets)} premises of {sizes.min():,} to {sizes.max():,} rows over ", end="")
    print(f"{X.shape[0]:,} × {X.shape[1]}, min_cases {MIN_CASES}; CPU seconds, preparation included")
    shared = timed(lambda: many_at_once(X, targets), 3)
    winnowed = timed(lambda: many_at_once(X, targets, winnow=True), 1)
    apart = timed(lambda: one_by_one(X, targets), 1)
    every_fifth = targets[::5]
    trees_cpu = timed(lambda: trees_one_by_one(X, every_fifth), 1).cpu * len(targets) / len(every_fifth)
    print(f"  induce_many            {shared.cpu:8.2f}   wall {shared.wall:.2f}; winnowed {winnowed.cpu:.2f}")
    print(f"  100 separate fits      {apart.cpu:8.2f}   {apart.cpu / shared.cpu:.1f} times as much")
    print(
        f"  100 scikit-learn trees {trees_cpu:8.2f}   {trees_cpu / shared.cpu:.1f} times (every fifth, × 5)"
    )
    print(f"  peak memory of induce_many: {megabytes(peak_growth('benchmarks.induction', 'many'))}; ", end="")
    print(f"X itself has {megabytes(X.nbytes)}")


def compare_boosting() -> None:
    """Print what 100 trials cost beside single fits; trials after the first work with weights."""
    n_rows, n_columns = SHAPES[0]
    print(f"\n{N_TRIALS} boosted trials on {n_rows:,} × {n_columns} (one thread, preparation included)")
    print(f"{'':<22}{'plain':>9}{'weighted':>10}{'boosted':>9}{'ratio':>7}{'peak':>9}")
    print(f"{'':<22}{'cpu s':>9}{'cpu s':>10}{'cpu s':>9}   boosted / ({N_TRIALS} × weighted)")
    for name, make in DATA.items():
        X, y = make(n_rows, n_columns)
        weights = np.random.default_rng(0).uniform(0.5, 2, n_rows)
        for rules in (False, True):
            single = C50Classifier(rules=rules, n_jobs=1)
            plain = timed(partial(single.fit, X, y), 3).cpu
            weighted = timed(partial(single.fit, X, y, sample_weight=weights), 3).cpu
            boosted = timed(partial(boosted_model(rules).fit, X, y), 1).cpu
            kind = "rules" if rules else "trees"
            peak = peak_growth("benchmarks.induction", f"boosted {kind}/{name}/{n_rows}/{n_columns}")
            print(f"{f'{name}, {kind}':<22}{plain:>9.2f}{weighted:>10.2f}{boosted:>9.1f}", end="")
            print(f"{boosted / (N_TRIALS * weighted):>7.2f}{megabytes(peak):>9}")


def boosted_model(rules: bool) -> C50Classifier:
    return C50Classifier(rules=rules, trials=N_TRIALS, early_stopping=False, n_jobs=1)


def compare_cart() -> None:
    print("\nOne CART tree as rules (one thread, preparation included) and scikit-learn's, in CPU seconds")
    print(f"{'data':<26}{'min_cases':>10}{'rules':>7}{'leaves':>8}{'ours':>9}{'theirs':>9}{'times less':>12}")
    for name, make in DATA.items():
        for n_rows, n_columns in SHAPES:
            X, y = make(n_rows, n_columns)
            for min_cases in (2, MIN_CASES):
                tree = DecisionTreeClassifier(min_samples_split=min_cases, random_state=0)
                ours = timed(partial(cart_rules, X, y, min_cases), 3)
                theirs = timed(partial(tree.fit, X, y), 3)
                print(f"{f'{name} {n_rows:,} × {n_columns}':<26}{min_cases:>10}", end="")
                print(f"{len(cart_rules(X, y, min_cases)):>7}{tree.get_n_leaves():>8}", end="")
                print(f"{ours.cpu:>9.3f}{theirs.cpu:>9.3f}{theirs.cpu / ours.cpu:>12.1f}")
    X, targets = premises()
    inducer, every_tenth = CARTInducer(min_cases=100), targets[::10]
    ours = timed(lambda: induce_premises(inducer, PreparedMatrix.prepare(X), targets, n_jobs=1), 1)
    theirs = timed(
        lambda: [DecisionTreeClassifier(min_samples_split=100).fit(X, target) for target in every_tenth], 1
    )
    theirs_cpu = theirs.cpu * len(targets) / len(every_tenth)
    print(f"  {len(targets)} premises over {X.shape[0]:,} × {X.shape[1]}: {ours.cpu:.1f}, ", end="")
    print(f"scikit-learn {theirs_cpu:.1f} (every tenth, × 10), {theirs_cpu / ours.cpu:.1f} times as much")


def cart_rules(X: np.ndarray, y: np.ndarray, min_cases: int) -> RuleSet:
    return CARTInducer(min_cases=min_cases).induce(PreparedMatrix.prepare(X, n_jobs=1), y, [0, 1])


def show_growth() -> None:
    """Print the cost of fits; the first is a sum over four data sets because single trees are noisy."""
    print("\nGrowth of the cost with the rows (16 columns, CPU seconds, and ratio to the previous size)")
    titles = ("rules, min_cases = rows / 1000", "tree, min_cases = 2", "rules, min_cases = 2")
    print(f"{'rows':>9}{titles[0]:>34}{titles[1]:>24}{titles[2]:>24}")
    full = [rectified(SIZES[-1], 16, seed) for seed in range(4)]
    before: list[float] = []
    for n_rows in SIZES:
        subsets = [(X[:n_rows], y[:n_rows]) for X, y in full]
        costs = [
            sum(cost_of_fit(C50Classifier(min_cases=0.001), X, y, 2) for X, y in subsets),
            cost_of_fit(C50Classifier(rules=False), *subsets[0], 2),
            cost_of_fit(C50Classifier(), *subsets[0], 1),
        ]
        times = [f"{now / then:.2f}" for now, then in zip(costs, before, strict=True)] if before else [""] * 3
        shown = [
            f"{f'{cost:.2f}':>{width}}{ratio:>8}"
            for cost, ratio, width in zip(costs, times, (26, 16, 16), strict=True)
        ]
        print(f"{n_rows:>9,}{''.join(shown)}")
        before = costs


def cost_of_fit(model: C50Classifier, X: np.ndarray, y: np.ndarray, repeat: int) -> float:
    return timed(lambda: model.set_params(n_jobs=1).fit(X, y), repeat).cpu


def show_profile() -> None:
    print("\nTime per stage (wall seconds, one thread)")
    cases = {
        "rectified 40,000 × 16, min_cases 2": (rectified(40_000, 16), 2, False),
        "rectified 40,000 × 16, min_cases 15, winnowed": (rectified(40_000, 16), 15, True),
        "rectified 200,000 × 16, min_cases 200": (rectified(200_000, 16), 200, False),
    }
    for title, ((X, y), min_cases, winnow) in cases.items():
        prepared = timed(lambda X=X: PreparedMatrix.prepare(X, n_jobs=1), 2)
        matrix = PreparedMatrix.prepare(X)
        model = fit_core(C50Inducer(min_cases=min_cases, winnow=winnow), matrix, y, 2, n_jobs=1)
        stages = {"prepare": prepared.wall} | model.seconds
        total = sum(stages.values())
        parts = ", ".join(
            f"{stage} {seconds / total:.0%}" for stage, seconds in stages.items() if seconds > 0
        )
        print(f"  {title}: {total:.2f} s = {parts}")
    print(
        "Growing is dominated by reading the ranks of a node's rows, once per column and level. If\n"
        "min_cases is small compared with the rows, the number of leaves grows with the rows, and every\n"
        "node becomes a candidate rule. Its rows are counted in blocks of 64; blocks that fail two\n"
        "conditions as a whole are skipped.\n"
        "Twice the rows give twice the candidates and about 1.7 times the blocks for each candidate."
    )


def main() -> None:
    compare_with_trees()
    compare_many_targets()
    compare_boosting()
    compare_cart()
    show_growth()
    show_profile()


def measure_peak(work: str) -> None:
    """In the new process: make the input, fit, and print the growth in bytes."""
    if work == "many":
        X, targets = premises()
        print(growth_during(lambda: many_at_once(X, targets)))
        return
    who, name, n_rows, n_columns = work.split("/")
    X, y = DATA[name](int(n_rows), int(n_columns))
    tree = as_many_leaves(X[:2_000], y[:2_000])  # warm up the libraries
    model = tree.set_params(max_leaf_nodes=1_000)
    if who != "tree":
        model = C50Classifier(n_jobs=1) if who == "c50" else boosted_model(who == "boosted rules")
    print(growth_during(lambda: model.fit(X, y)))


if __name__ == "__main__":
    measure_peak(sys.argv[1])
