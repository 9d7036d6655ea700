"""Many classes: rules for one class each, and premises with a weight for every class.

Both are fitted to the network's labels on the training rows. What there is to read is counted twice: as rules
(one per rule, bound and named category), and as a table with a row per premise and a column per class, in
which a premise is read once, with one weight for each class. Needs the recorded networks
(`benchmarks/_recorded.py`) for Letters; digits come with scikit-learn.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from benchmarks._recorded import BENCH, MISSING, recorded
from clausewise import RuleSet

LETTERS = "letters_fold0"
# Rules, or premises: for each class 2, 4, 8 and 16.
PER_CLASS = (2, 4, 8, 16)
# The price is that of 16 rules for two classes, and a quarter of it.
PRICES = (None, 0.25)


@dataclass(frozen=True)
class Problem:
    """Rows with a network's decisions, to learn from and to test on."""

    name: str
    X: np.ndarray
    labels: np.ndarray
    X_test: np.ndarray
    decided: np.ndarray


def problems() -> Iterator[Problem]:
    """Yield the recorded network for Letters, if there is one, and one trained on digits."""
    if (BENCH / f"{LETTERS}.npz").exists():
        _, arrays = recorded(LETTERS)
        given = ("X_train", "dnn_train_labels", "X_test", "dnn_test_labels")
        yield Problem("Letters", *(arrays[key] for key in given))
    else:
        print(f"Letters is left out: {MISSING}.", file=sys.stderr)
    X, y = load_digits(return_X_y=True)
    X, X_test, y, _ = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    network = MLPClassifier((64, 32), max_iter=500, random_state=0).fit(X / 16, y)
    yield Problem("digits", X, network.predict(X / 16), X_test, network.predict(X_test / 16))


def table_cost(rules: RuleSet) -> int:
    """Return what there is to read in a table with a row per premise and a column per class."""
    of_premise = {rule.terms: number for number, rule in enumerate(rules)}
    return len(rules) + rules[sorted(of_premise.values())].reading_cost - len(of_premise)


def main() -> None:
    """Print a table per problem."""
    for problem in problems():
        classes = np.unique(problem.labels)
        names = [f"x{column}" for column in range(problem.X.shape[1])]
        empty = RuleSet.from_rules([], names, default=classes[0], classes=classes)
        print(f"\n{problem.name}: {len(problem.X):,} rows, {len(classes)} classes\n")
        print("| | budget | price | premises | as rules | as a table | train % | test % | CPU s |")
        print("|---|---|---|---|---|---|---|---|---|")
        for shared in (False, True):
            for price in PRICES:
                for per_class in PER_CLASS:
                    with threadpool_limits(1):
                        before = time.process_time()
                        rules = empty.compact(
                            problem.X,
                            problem.labels,
                            max_rules=per_class * len(classes),
                            price=price,
                            shared_premises=shared,
                            n_jobs=1,
                        )
                        cpu = time.process_time() - before
                    of_train = 100 * np.mean(rules.predict(problem.X) == problem.labels)
                    of_test = 100 * np.mean(rules.predict(problem.X_test) == problem.decided)
                    kind = "shared" if shared else "one class each"
                    print(
                        f"| {kind} | {per_class * len(classes)} | {price or 'default'} | {rules.n_premises} "
                        f"| {rules.reading_cost:,} | {table_cost(rules):,} | {of_train:.1f} | {of_test:.1f} "
                        f"| {cpu:.1f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
