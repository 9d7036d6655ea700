"""The demo with ten seeds for rows, split and network: `python -m benchmarks.demo_seeds`.

docs/get-started.md states what it prints: the range and the mean, over the seeds, of how many test rows
rules decide as the network does.
"""

import warnings

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from clausewise import ECLAIRE, Pedagogical, wrap
from clausewise.cli import demo
from clausewise.extractors import ExtractionWarning

N_SEEDS = 10
METHODS = {
    "default": lambda network: ECLAIRE(network),
    "all rules, confidence": lambda network: ECLAIRE(network, max_rules=None, voting="confidence"),
    "all rules, fitted votes": lambda network: ECLAIRE(network, max_rules=None),
    "labels alone": lambda network: Pedagogical(network, max_rules=None),
}


def main() -> None:
    """Run the benchmark."""
    fidelities: dict[str, list[float]] = {name: [] for name in METHODS}
    sizes: dict[str, list[int]] = {name: [] for name in METHODS}
    warnings.simplefilter("ignore", ExtractionWarning)  # rules from labels alone miss a class
    for seed in range(N_SEEDS):
        X, X_test, y, _ = train_test_split(*demo.xor_rows(seed), test_size=0.25, random_state=seed)
        network = MLPClassifier((32, 16), alpha=0.1, max_iter=1_000, random_state=seed).fit(X, y)
        wrapped = wrap(network, feature_names=demo.NAMES)
        for name, method in METHODS.items():
            fitted = method(wrapped).fit(X)
            fidelities[name].append(fitted.fidelity(X_test))
            sizes[name].append(len(fitted.rules_))
    for name, found in fidelities.items():
        print(
            f"{name:<26}{min(found):6.1%} to {max(found):.1%}, mean {np.mean(found):.1%}; "
            f"{min(sizes[name])} to {max(sizes[name])} rules"
        )


if __name__ == "__main__":
    main()
