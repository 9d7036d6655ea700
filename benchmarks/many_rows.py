"""Rules of many rows: a search on a part of them that goes on with all, beside one on all rows throughout.

Nine networks, of generated tables with 100,000 rows and of covtype. A search is better or worse by luck, so
each figure is the mean of three, on 90 % of the rows; the error is that of the mean difference. Fidelity and
loss are on further rows; CPU seconds are those of the search. The search on all rows throughout generates
rows for its last stage, too.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from unittest import mock

import numpy as np
from sklearn.datasets import make_classification, make_friedman1, make_gaussian_quantiles, make_hastie_10_2
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._recorded import BENCH, recorded
from benchmarks._target_learning import seconds_of_compaction
from clausewise import ECLAIRE
from clausewise.compact import seeded_search, settings

N_ROWS, N_HELD_OUT, N_RULES, N_SPLITS = 100_000, 20_000, 16, 3
N_GENERATED = N_ROWS + N_HELD_OUT


def blobs(seed: int, **options) -> tuple[np.ndarray, np.ndarray]:
    given = {
        "n_features": 20,
        "n_informative": 10,
        "n_clusters_per_class": 4,
        "random_state": seed,
        **options,
    }
    return make_classification(N_GENERATED, **given)


def friedman() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_friedman1(N_GENERATED, 12, noise=1.0, random_state=1)
    return X, (y > np.median(y)).astype(int)


def checkerboard() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.RandomState(2).uniform(size=(N_GENERATED, 8))
    return X, ((X[:, :2] * 3).astype(int).sum(axis=1) % 2).astype(int)


def whole_numbers() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(3)
    X = random.poisson(4, size=(N_GENERATED, 15)).astype(float)
    score = X[:, 0] * (X[:, 1] > 3) - X[:, 2] + 2 * (X[:, 3] > X[:, 4]) + random.normal(size=len(X))
    return X, (score > np.median(score)).astype(int)


TABLES: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "blobs": lambda: blobs(11),
    "rare class": lambda: blobs(12, weights=[0.98], flip_y=0.001),
    "five classes": lambda: blobs(13, n_classes=5),
    "friedman": friedman,
    "hastie": lambda: make_hastie_10_2(N_GENERATED, random_state=4),
    "quantiles": lambda: make_gaussian_quantiles(
        n_samples=N_GENERATED, n_features=6, n_classes=3, random_state=5
    ),
    "checkerboard": checkerboard,
    "whole numbers": whole_numbers,
}


def networks() -> Iterator[tuple[str, object, np.ndarray, np.ndarray]]:
    """Yield names, networks, rows to learn from and further rows."""
    for name, made in TABLES.items():
        X, y = made()
        network = make_pipeline(StandardScaler(), MLPClassifier((32, 16), max_iter=20, random_state=0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the network need not have converged
            network.fit(X[:20_000], y[:20_000])
        yield name, network, X[N_HELD_OUT:], X[:N_HELD_OUT]
    if BENCH.exists():
        network, arrays = recorded("covtype130k_fold0")
        yield "covtype", network, arrays["X_train"], arrays["X_test"]


def measured(network: object, X: np.ndarray, held_out: np.ndarray) -> np.ndarray:
    """Return CPU seconds, fidelity and loss on held-out rows, and reading cost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about classes without rules
        method = ECLAIRE(network, n_jobs=1, max_rules=N_RULES).fit(X)
    labels = method.network_.labels(held_out)
    agreed = method.rules_.predict(held_out) == labels
    place = np.searchsorted(method.rules_.classes, labels)
    probabilities = method.rules_.predict_proba(held_out)[np.arange(len(labels)), place]
    loss = -np.log(np.maximum(probabilities, 1e-6)).mean()
    return np.array([seconds_of_compaction(method), 100 * agreed.mean(), loss, method.rules_.reading_cost])


def main() -> None:
    """Run the benchmark."""
    print(f"\nSearch for {N_RULES} rules, on all rows throughout → on a part first, mean of {N_SPLITS}")
    print(f"{'':<15}{'CPU s':>14}{'ratio':>7}{'fidelity %':>17}{'loss':>19}{'to read':>13}")
    found = []
    for name, network, X, held_out in networks():
        pairs = []
        for seed in range(N_SPLITS):
            rows = np.sort(np.random.RandomState(seed).permutation(len(X))[: 9 * len(X) // 10])
            with (
                mock.patch.object(settings, "MANY_TO_SEARCH", math.inf),
                mock.patch.object(seeded_search, "MANY_TO_SEARCH", math.inf),
            ):
                before = measured(network, X[rows], held_out)
            pairs.append((before, measured(network, X[rows], held_out)))
        found.append(np.mean(pairs, axis=0))
        print(row(name, *found[-1]), flush=True)
    means = np.array(found)
    print(row("mean", *means.mean(axis=0)))
    change = means[:, 1] - means[:, 0]
    error = change.std(axis=0, ddof=1) / np.sqrt(len(change))
    for name, column in (("fidelity", 1), ("loss", 2)):
        print(f"change of {name}: {change[:, column].mean():+.4f} ± {error[column]:.4f}")


def row(name: str, before: np.ndarray, after: np.ndarray) -> str:
    """Return a line of the table."""
    ratio = f"{before[0] / after[0]:.1f}×"
    return (
        f"{name:<15}{f'{before[0]:.1f} → {after[0]:.1f}':>14}{ratio:>7}"
        f"{f'{before[1]:.2f} → {after[1]:.2f}':>17}{f'{before[2]:.4f} → {after[2]:.4f}':>19}"
        f"{f'{before[3]:.0f} → {after[3]:.0f}':>13}"
    )


if __name__ == "__main__":
    main()
