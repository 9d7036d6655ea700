"""Extract rules from a small network: `python examples/demo.py OUTDIR`, or `make demo`.

The network learns XOR of two columns among eight columns of noise. Rules can be learnt from its labels alone
(the pedagogical approach), but a greedy learner fails: no single column of XOR is informative. ECLAIRE uses
the hidden layers, and from its rules finds the few that matter.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from clausewise import ECLAIRE, C50Classifier, RuleSet, wrap

NAMES = [f"x{i}" for i in range(1, 11)]


def xor_rows() -> tuple[np.ndarray, np.ndarray]:
    """Return 1,000 uniform rows in [0, 1]^10 with three decimals; the class is round(x1) xor round(x2)."""
    X = np.random.default_rng(0).uniform(size=(1_000, len(NAMES))).round(3)
    return X, np.where(np.round(X[:, 0]) != np.round(X[:, 1]), "one", "zero")


def main(folder: Path) -> None:
    X, y = xor_rows()
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    network = MLPClassifier((32, 16), alpha=0.1, max_iter=1_000, random_state=0).fit(X, y)
    labels, test_labels = network.predict(X), network.predict(X_test)
    about = f"A network with 32 and 16 hidden units, correct on {network.score(X_test, y_test):.1%} of "
    about += f"{len(X_test)} held-out rows."

    pedagogical = C50Classifier(thresholds="readable").fit(X, labels).rules_
    figures = pedagogical.evaluate(X_test, y_test, network=test_labels)
    about += f"\nRules learnt from its labels alone: {figures.n_rules}, fidelity {figures.fidelity:.1%}."

    wrapped = wrap(network, feature_names=NAMES)
    paper = ECLAIRE(wrapped, max_rules=None).fit(X)
    about += f"\nAll rules through its hidden layers, as in the paper: {len(paper.rules_)}, "
    about += f"fidelity {paper.fidelity(X_test):.1%}."

    model = ECLAIRE(wrapped).fit(X)
    rules = model.rules_
    figures = rules.evaluate(X_test, y_test, network=test_labels)
    print(f"{about}\n\nBy default, the size is chosen on held-out rows.\n{model.report_}\n\n{rules}\n")
    print(f"{figures}\n\nWhy {rules.explain(X_test)[0]}\n")

    scored = ECLAIRE(wrapped, max_rules=4, points=True).fit(X).rules_
    print(f"At most four, with integer points: {scored}\n\n{scored.scorecard()}\n")

    folder.mkdir(parents=True, exist_ok=True)
    rules_file, report_file = folder / "rules.json", folder / "report.html"
    rules.save(rules_file)
    if RuleSet.load(rules_file) != rules:
        raise SystemExit(f"{rules_file} does not contain the rules that were saved")
    model.report(report_file, X_test, y_test, title="Rules for a small network")
    print(f"Wrote {rules_file} (loaded again: equal) and {report_file}, a page to open in a browser")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python examples/demo.py OUTDIR")
    main(Path(sys.argv[1]))
