"""Rules for a small network: `python examples/demo.py OUTDIR`, or `make demo`.

A network is trained on XOR of two columns among eight columns of noise. Rules that imitate it can be learnt
from its labels alone (the pedagogical way), but a greedy learner fails there: no single column of XOR says
anything. ECLAIRE leads through the hidden layers, and under a budget it finds the few rules that matter.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from clausewise import ECLAIRE, C50Classifier, RuleSet, wrap

NAMES = [f"x{i}" for i in range(1, 11)]


def xor_rows() -> tuple[np.ndarray, np.ndarray]:
    """1,000 rows uniform in [0, 1]^10, with three decimals; the class is round(x1) xor round(x2)."""
    X = np.random.default_rng(0).uniform(size=(1_000, len(NAMES))).round(3)
    return X, np.where(np.round(X[:, 0]) != np.round(X[:, 1]), "one", "zero")


def main(folder: Path) -> None:
    X, y = xor_rows()
    X, X_held, y, y_held = train_test_split(X, y, test_size=0.25, random_state=0)
    network = MLPClassifier((32, 16), alpha=0.1, max_iter=1_000, random_state=0).fit(X, y)
    labels, labels_held = network.predict(X), network.predict(X_held)
    about = f"A network with 32 and 16 hidden units, right on {network.score(X_held, y_held):.1%} of "
    about += f"{len(X_held)} rows held back."

    pedagogical = C50Classifier(thresholds="readable").fit(X, labels).rules_
    figures = pedagogical.evaluate(X_held, y_held, network=labels_held)
    about += f"\nRules learnt from its labels alone: {figures.n_rules}, fidelity {figures.fidelity:.1%}."

    wrapped = wrap(network, feature_names=NAMES)
    every_rule = ECLAIRE(wrapped).fit(X)
    about += f"\nRules through its hidden layers: {len(every_rule.rules_)}, "
    about += f"fidelity {every_rule.fidelity(X_held):.1%}."

    model = ECLAIRE(wrapped, max_rules=4, points=True).fit(X)
    about += f"\n{model.report_}"
    rules = model.rules_
    figures = rules.evaluate(X_held, y_held, network=labels_held)
    explanation = rules.explain(X_held)[0]
    print(f"{about}\n\nAt most four, with whole points: {rules}\n\n{rules.scorecard()}\n")
    print(f"{figures}\n\nWhy {explanation}\n")

    folder.mkdir(parents=True, exist_ok=True)
    rules_file, report_file = folder / "rules.json", folder / "report.html"
    rules.save(rules_file)
    if RuleSet.load(rules_file) != rules:
        raise SystemExit(f"{rules_file} does not hold the rules that were saved")
    rules.report(report_file, X_held, y_held, wrapped, title="Rules for a small network")
    print(f"Wrote {rules_file} (loaded again: equal) and {report_file}, a page to open in a browser")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python examples/demo.py OUTDIR")
    main(Path(sys.argv[1]))
