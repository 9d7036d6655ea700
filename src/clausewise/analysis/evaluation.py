"""All measures of a rule set on given rows, in one object."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from clausewise.data.labels import read_labels
from clausewise.networks.answers import ask_network
from clausewise.rules.metrics import (
    accuracy,
    auc,
    auc_from_labels,
    balanced_accuracy,
    fidelity,
    fraction_of,
    mean_rule_length,
    n_distinct_terms,
)
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.voting import Voting


@dataclass(frozen=True)
class Evaluation:
    """All measures of a rule set on given rows; `fidelity` is None unless a network was given."""

    voting: Voting
    n_rows: int
    fidelity: float | None
    accuracy: float
    balanced_accuracy: float
    auc: float
    auc_from_labels: float
    n_rules: int
    mean_rule_length: float
    n_distinct_terms: int
    coverage: float
    overlap: float
    conflict: float

    def __str__(self) -> str:
        fractions = [("fidelity to the network", self.fidelity), ("accuracy", self.accuracy)]
        fractions += [("balanced accuracy", self.balanced_accuracy), ("covered by a rule", self.coverage)]
        fractions += [("two or more rules fire", self.overlap), ("… of different classes", self.conflict)]
        lines = [f"{self.n_rules:,} rules on {self.n_rows:,} rows, voting {self.voting}"]
        lines += [f"  {name:<24}{100 * value:>8.2f} %" for name, value in fractions if value is not None]
        lines += [
            f"  {'AUC':<24}{self.auc:>8.4f}",
            f"  {'AUC from hard labels':<24}{self.auc_from_labels:>8.4f}",
        ]
        lines += [f"  {'terms per rule':<24}{self.mean_rule_length:>8.2f}"]
        lines += [f"  {'distinct terms':<24}{self.n_distinct_terms:>8,}"]
        return "\n".join(lines)


def evaluate(
    rules: RuleSet,
    X: Any,
    target: ArrayLike,
    network: Any = None,
    voting: Voting | None = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Measure the rules on the rows of `X`; see `RuleSet.evaluate`."""
    chosen = rules if voting is None else rules.with_voting(voting)
    matrix = chosen.features.encode(X)
    truth = read_labels(target, chosen.labels, len(matrix), "target", allow_unknown=True).values
    answers = None if network is None else ask_network(network, X, chosen.labels, len(matrix))
    predicted = chosen.classes[chosen.evaluator.decide(matrix, chosen.voting, chosen.default_index, n_jobs)]
    probabilities = chosen.probabilities(chosen.evaluator.scores(matrix, chosen.voting, n_jobs))
    n_fired = chosen.evaluator.rules_per_class(matrix, n_jobs)
    return Evaluation(
        voting=chosen.voting,
        n_rows=len(matrix),
        fidelity=None if answers is None else fidelity(predicted, answers.labels.values),
        accuracy=accuracy(predicted, truth),
        balanced_accuracy=balanced_accuracy(predicted, truth),
        auc=auc(probabilities, truth, chosen.classes),
        auc_from_labels=auc_from_labels(predicted, truth, chosen.classes),
        n_rules=len(chosen),
        mean_rule_length=mean_rule_length(chosen),
        n_distinct_terms=n_distinct_terms(chosen),
        coverage=fraction_of(n_fired.sum(axis=1) > 0),
        overlap=fraction_of(n_fired.sum(axis=1) >= 2),
        conflict=fraction_of((n_fired > 0).sum(axis=1) >= 2),
    )
