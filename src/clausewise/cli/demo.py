"""The demo: rules from a small network, as `clausewise demo` and `make demo` run it.

The network learns XOR of two columns among eight columns of noise. Rules can be learnt from its labels alone
(the pedagogical approach), but a greedy learner fails: no single column of XOR is informative. ECLAIRE uses
the hidden layers, and from its rules finds the few that matter.

It needs no file, no connection and none of the optional packages.
"""

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from clausewise import ECLAIRE, C50Classifier, RuleSet, wrap

NAMES = [f"x{i}" for i in range(1, 11)]
DEFAULT_FOLDER = Path("clausewise-demo")


class DemoFiles(NamedTuple):
    """The files that the demo wrote."""

    rules: Path
    report: Path


def run_demo(folder: Path) -> DemoFiles:
    """Train a network, print what rules can say about it, and write the rules and a report into `folder`.

    The folder is created if necessary. Files of an earlier run are replaced.
    """
    _require_writable(folder)
    X, y = xor_rows()
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    network = MLPClassifier((32, 16), alpha=0.1, max_iter=1_000, random_state=0).fit(X, y)
    labels, test_labels = network.predict(X), network.predict(X_test)
    accuracy = f"{network.score(X_test, y_test):.1%} of {len(X_test)} held-out rows"
    _tell(f"A network with 32 and 16 hidden units, correct on {accuracy}.")

    pedagogical = C50Classifier(thresholds="readable").fit(X, labels).rules_
    assert pedagogical is not None  # only boosted classifiers have no single rule set
    figures = pedagogical.evaluate(X_test, y_test, network=test_labels)
    _tell(f"Rules learnt from its labels alone: {figures.n_rules}, fidelity {figures.fidelity:.1%}.")

    wrapped = wrap(network, feature_names=NAMES)
    paper = ECLAIRE(wrapped, max_rules=None).fit(X)
    size = f"{len(paper.rules_)}, fidelity {paper.fidelity(X_test):.1%}"
    _tell(f"All rules through its hidden layers, as in the paper: {size}.\n")

    model = ECLAIRE(wrapped).fit(X)
    rules = model.rules_
    _tell(f"By default, the size is chosen on held-out rows.\n{model.report_}\n\n{rules}\n")
    _tell(f"{rules.evaluate(X_test, y_test, network=test_labels)}\n\nWhy {rules.explain(X_test)[0]}\n")

    scored = ECLAIRE(wrapped, max_rules=4, points=True).fit(X).rules_
    _tell(f"At most four, with integer points: {scored}\n\n{scored.scorecard()}\n")

    files = DemoFiles(folder / "rules.json", folder / "report.html")
    rules.save(files.rules)
    if RuleSet.load(files.rules) != rules:
        raise RuntimeError(f"{files.rules} does not contain the rules that were saved.")
    model.report(files.report, X_test, y_test, title="Rules for a small network")
    _tell(f"Wrote {files.rules} (loaded again: equal) and {files.report}, a page to open in a browser")
    return files


def xor_rows(seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return 1,000 uniform rows in [0, 1]^10 with three decimals; the class is round(x1) xor round(x2)."""
    X = np.random.default_rng(seed).uniform(size=(1_000, len(NAMES))).round(3)
    return X, np.where(np.round(X[:, 0]) != np.round(X[:, 1]), "one", "zero")


def _tell(text: str) -> None:
    print(text, flush=True)  # each step appears when it is done, also in a pipe


def _require_writable(folder: Path) -> None:
    """Create the folder and a file in it that vanishes, so that nothing is computed in vain."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise ValueError(f"The demo cannot write to {folder} ({reason}); pass another folder.") from None
