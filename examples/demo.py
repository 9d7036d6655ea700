"""Rules for a small network: `python examples/demo.py OUTDIR`, or `make demo`.

A network is trained on XOR of two columns among eight columns of noise. Rules that imitate it can be learnt
from its labels alone (the pedagogical way), but a greedy learner fails there: no single column of XOR says
anything. The paper's way leads through the hidden layers. clausewise has no finished extractor yet, so the
steps are written out here, from the parts that exist.
"""

import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from clausewise import C50Classifier, Features, Origin, Rule, RuleSet
from clausewise.induction import C50Inducer, PreparedMatrix, induce_many

FEATURES = Features([f"x{i}" for i in range(1, 11)])
INDUCER = C50Inducer(min_cases=10, thresholds="readable")
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
  td, th {{ padding: .2rem .8rem; border-bottom: 1px solid #ccc }}
  pre {{ overflow-x: auto; background: #f5f5f5; color: #222; padding: 1rem }}
</style>
<h1>{title}</h1><p>{about}</p>
<h2>Rules</h2>{rules}
<h2>How good they are on rows held back</h2><pre>{figures}</pre>
<h2>Why one of these rows is decided so</h2><pre>{explanation}</pre>
</html>
"""


def xor_rows() -> tuple[np.ndarray, np.ndarray]:
    """1,000 rows uniform in [0, 1]^10, with three decimals; the class is round(x1) xor round(x2)."""
    X = np.random.default_rng(0).uniform(size=(1_000, len(FEATURES))).round(3)
    return X, np.where(np.round(X[:, 0]) != np.round(X[:, 1]), "one", "zero")


def hidden_layers(network: MLPClassifier, X: np.ndarray) -> Iterator[np.ndarray]:
    """What the units of each hidden layer answer to the rows."""
    for weights, bias in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        X = np.maximum(X @ weights + bias, 0.0)
        yield X


def rules_through_layers(network: MLPClassifier, X: np.ndarray) -> list[Rule]:
    """Rules over the columns of X that imitate the network (the paper's Algorithm 1)."""
    matrix = PreparedMatrix.prepare(X, features=FEATURES)
    codes = np.searchsorted(network.classes_, network.predict(X)).astype(np.int32)
    found: dict[tuple, Rule] = {}  # by premise and conclusion: layers may say the same
    for layer, units in enumerate(hidden_layers(network, X), start=1):
        names = Features([f"unit {number}" for number in range(units.shape[1])])
        unit_matrix = PreparedMatrix.prepare(units, features=names)
        clauses = INDUCER.induce(unit_matrix, codes, network.classes_.tolist())
        # Where a clause over units holds is a target of its own, told in the columns of X.
        targets = clauses.fires(units).dense()
        for clause, told in zip(clauses, induce_many(INDUCER, matrix, targets), strict=True):
            origin = Origin(f"hidden layer {layer}", " AND ".join(map(str, clause.terms)))
            for rule in told.concluding(True):
                substituted = Rule(rule.terms, clause.conclusion, origin=origin)
                found.setdefault((rule.terms, clause.conclusion), substituted)
    return list(found.values())


def is_needed(rule: Rule, rules: list[Rule]) -> bool:
    """Whether no more general rule says the same."""
    same = (other for other in rules if other.conclusion == rule.conclusion and other is not rule)
    return not any(other.subsumes(rule) for other in same)


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

    candidates = RuleSet.from_rules(rules_through_layers(network, X), FEATURES, default=pedagogical.default)
    reliable = list(candidates.with_statistics(X, labels).filter(min_confidence=0.9))
    needed = [rule for rule in reliable if is_needed(rule, reliable)]
    rules = RuleSet.from_rules(needed, FEATURES, default=pedagogical.default, classes=network.classes_)
    figures = rules.evaluate(X_held, y_held, network=labels_held)
    explanation = rules.explain(X_held)[0]
    print(f"{about}\n\nRules through its hidden layers: {rules}\n\n{figures}\n\nWhy {explanation}\n")

    folder.mkdir(parents=True, exist_ok=True)
    rules_file, report_file = folder / "rules.json", folder / "report.html"
    rules.save(rules_file)
    if RuleSet.load(rules_file) != rules:
        raise SystemExit(f"{rules_file} does not hold the rules that were saved")
    texts = {"about": about, "figures": str(figures), "explanation": str(explanation)}
    texts = {name: escape(text) for name, text in texts.items()}
    title = "Rules for a small network"
    report_file.write_text(PAGE.format(title=title, rules=rules._repr_html_(), **texts), encoding="utf-8")
    print(f"Wrote {rules_file} (loaded again: equal) and {report_file}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python examples/demo.py OUTDIR")
    main(Path(sys.argv[1]))
