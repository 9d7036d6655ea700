"""All measures of a rule set on given rows, in one object."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.analysis.shortcomings import shortcomings
from clausewise.base import html
from clausewise.data.labels import Label, Labels, read_labels
from clausewise.data.table import Matrix
from clausewise.networks.answers import ask_network
from clausewise.rules.abstention import ABSTAINS
from clausewise.rules.metrics import (
    accuracy,
    auc,
    auc_from_labels,
    balanced_accuracy,
    cohen_kappa,
    fraction_of,
    majority_baseline,
    mean_rule_length,
    n_distinct_terms,
    reading_cost,
    wilson_interval,
)
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import format_category
from clausewise.rules.voting import Voting

Interval = tuple[float, float]
"""The bounds of a 95 % interval (Wilson's)."""

_SHOWN_CLASSES = 26
# Figures are aligned behind names up to this long.
_MAX_WIDTH = 40


@dataclass(frozen=True)
class ClassFidelity:
    """Fidelity on the rows to which the network gives one class.

    Attributes
    ----------
    label : class label
        The network's class.
    n_rows : int
        Number of these rows.
    fidelity : float
        The fraction of them that the rules give the same class.
    interval : tuple of float
        The bounds of its 95 % interval (Wilson's).
    """

    label: Label
    n_rows: int
    fidelity: float
    interval: Interval


@dataclass(frozen=True)
class Evaluation:
    """All measures of a rule set on given rows; `print` it.

    Measures that need a network, or true classes, are None where these were not given.

    Attributes
    ----------
    voting : str
        How the rules voted.
    n_rows, n_rules : int
        Number of rows and of rules.
    decided : float
        The fraction of rows that the rules decide; below 1 only if they may abstain. All measures against
        network and true classes are about these rows.
    fidelity : float or None
        The fraction of rows decided as the network decides them.
    fidelity_interval : tuple of float or None
        The bounds of its 95 % interval (Wilson's).
    fidelity_baseline : float or None
        The fidelity of always predicting the network's most frequent class on these rows.
    kappa : float or None
        Cohen's kappa with the network; NaN if rules and network give all rows one and the same class.
    class_fidelity : tuple of ClassFidelity
        Fidelity for each class that the network gives to a row; empty without a network.
    accuracy : float or None
        The fraction of rows whose true class the rules predict.
    accuracy_baseline : float or None
        The accuracy of always predicting the most frequent true class of these rows.
    accuracy_of_network : float or None
        The fraction of rows whose true class the network predicts.
    balanced_accuracy, auc, auc_from_labels : float or None
        Further measures against the true classes; see `clausewise.metrics`.
    coverage, overlap, conflict : float
        The fraction of rows on which a rule fires, two or more do, and rules of different classes do.
    mean_rule_length : float
        Mean number of terms per rule.
    n_distinct_terms : int
        Number of different terms.
    reading_cost : int
        What a person has to read; see `clausewise.metrics.reading_cost`.
    warnings : tuple of str
        What to know before relying on these figures: classes that the network gives to at least 1 % of the
        rows and the rules never predict, and a fidelity that is not above the interval of the baseline.
    """

    voting: Voting
    n_rows: int
    n_rules: int
    decided: float
    fidelity: float | None
    fidelity_interval: Interval | None
    fidelity_baseline: float | None
    kappa: float | None
    class_fidelity: tuple[ClassFidelity, ...]
    accuracy: float | None
    accuracy_baseline: float | None
    accuracy_of_network: float | None
    balanced_accuracy: float | None
    auc: float | None
    auc_from_labels: float | None
    coverage: float
    overlap: float
    conflict: float
    mean_rule_length: float
    n_distinct_terms: int
    reading_cost: int
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        figures = list(self._figures())
        width = min(max(len(name) for name, _, _ in figures), _MAX_WIDTH)
        lines = [self.headline]
        lines += [f"  {name:<{width}} {value:>9}  {note}".rstrip() for name, value, note in figures]
        return "\n".join(lines + [f"Warning: {warning}" for warning in self.warnings])

    def __repr__(self) -> str:
        known = [("fidelity", self.fidelity), ("accuracy", self.accuracy)]
        figures = ", ".join(f"{name} {_percent(value)}" for name, value in known if value is not None)
        return f"<Evaluation: {self.headline}; {figures}>"

    def _repr_html_(self) -> str:
        rows = [(name, _bar(value), note) for name, value, note in self._figures()]
        return html.block(
            self.headline, html.table(("", "", ""), rows, numbers=[1]), html.warnings(self.warnings)
        )

    @property
    def headline(self) -> str:
        """One line: number of rules and rows, and how the rules voted."""
        rules = "1 rule" if self.n_rules == 1 else f"{self.n_rules:,} rules"
        return f"{rules} on {self.n_rows:,} rows, voting {self.voting}"

    def _figures(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, value and note of the measures that are known."""
        for name, value, note in (
            ("decided by the rules", None if self.decided == 1.0 else _percent(self.decided), ""),
            ("fidelity to the network", _percent(self.fidelity), _interval(self.fidelity_interval)),
            ("majority baseline", _percent(self.fidelity_baseline), ""),
            ("Cohen's kappa", _number(self.kappa), ""),
            *self._classes(),
            ("accuracy", _percent(self.accuracy), ""),
            ("majority baseline", _percent(self.accuracy_baseline), ""),
            ("accuracy of the network", _percent(self.accuracy_of_network), ""),
            ("balanced accuracy", _percent(self.balanced_accuracy), ""),
            ("AUC", _number(self.auc), ""),
            ("AUC from hard labels", _number(self.auc_from_labels), ""),
            ("covered by a rule", _percent(self.coverage), ""),
            ("two or more rules fire", _percent(self.overlap), ""),
            ("… of different classes", _percent(self.conflict), ""),
            ("terms per rule", f"{self.mean_rule_length:.2f}", ""),
            ("distinct terms", f"{self.n_distinct_terms:,}", ""),
            ("reading cost", f"{self.reading_cost:,}", ""),
        ):
            if value is not None:
                yield name, value, note

    def _classes(self) -> Iterator[tuple[str, str | None, str]]:
        for of_class in self.class_fidelity[:_SHOWN_CLASSES]:
            rows = "1 row" if of_class.n_rows == 1 else f"{of_class.n_rows:,} rows"
            name = f"fidelity on {format_category(of_class.label)}"
            yield name, _percent(of_class.fidelity), f"{_interval(of_class.interval)}, {rows}"
        if len(self.class_fidelity) > _SHOWN_CLASSES:
            yield f"… {len(self.class_fidelity) - _SHOWN_CLASSES} more classes", "", ""


def evaluate(
    rules: RuleSet,
    X: Any,
    target: ArrayLike | None = None,
    network: Any = None,
    voting: Voting | None = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Measure the rules on the rows of `X`; see `RuleSet.evaluate`."""
    if target is None and network is None:
        raise ValueError(
            "There is nothing to measure the rules against; pass target (true classes), network (a model or "
            "its labels), or both."
        )
    chosen = rules if voting is None else rules.with_voting(voting)
    matrix = chosen.features.encode(X)
    truth, asked = None, None
    if target is not None:
        truth = read_labels(target, chosen.labels, len(matrix), "target", allow_unknown=True)
    if network is not None:
        asked = ask_network(network, X, chosen.features, chosen.labels, len(matrix)).labels
    decided = chosen.evaluator.decide(matrix, chosen.voting, chosen.default_index, n_jobs)
    is_decided = decided != ABSTAINS
    if not is_decided.any():
        raise ValueError(f"The rules abstain on all {len(matrix):,} rows; there is nothing to measure.")
    if not is_decided.all():
        decided, asked, truth = decided[is_decided], _taken(asked, is_decided), _taken(truth, is_decided)
    n_fired = chosen.evaluator.rules_per_class(matrix, n_jobs)
    return Evaluation(
        voting=chosen.voting,
        n_rows=len(matrix),
        n_rules=len(chosen),
        decided=fraction_of(is_decided),
        **_against_network(chosen, decided, asked),
        **_against_truth(chosen, matrix[is_decided], decided, truth, n_jobs),
        accuracy_of_network=None if truth is None or asked is None else accuracy(asked.values, truth.values),
        coverage=fraction_of(n_fired.sum(axis=1) > 0),
        overlap=fraction_of(n_fired.sum(axis=1) >= 2),
        conflict=fraction_of((n_fired > 0).sum(axis=1) >= 2),
        mean_rule_length=mean_rule_length(chosen),
        n_distinct_terms=n_distinct_terms(chosen),
        reading_cost=reading_cost(chosen),
    )


def _against_network(rules: RuleSet, decided: NDArray[np.int32], asked: Labels | None) -> dict[str, Any]:
    """Return the measures that need a network."""
    if asked is None:
        names = ("fidelity", "fidelity_interval", "fidelity_baseline", "kappa")
        return {**dict.fromkeys(names), "class_fidelity": (), "warnings": ()}
    agrees = decided == asked.codes
    labels = (*asked.classes, *asked.unknown)
    return {
        "fidelity": fraction_of(agrees),
        "fidelity_interval": wilson_interval(int(agrees.sum()), len(agrees)),
        "fidelity_baseline": majority_baseline(asked.codes),
        "kappa": cohen_kappa(decided, asked.codes),
        "class_fidelity": _by_class(agrees, asked.codes, labels),
        "warnings": shortcomings(
            decided,
            asked.codes,
            labels,
            n_rules=len(rules),
            # As `compact` returns them; it cannot learn classes that they do not know.
            can_balance=rules.voting == "weights" and not asked.unknown,
        ),
    }


def _taken(labels: Labels | None, rows: NDArray[np.bool_]) -> Labels | None:
    return None if labels is None else replace(labels, codes=labels.codes[rows])


def _by_class(
    agrees: NDArray[np.bool_], codes: NDArray[np.int64], labels: Sequence[Label]
) -> tuple[ClassFidelity, ...]:
    n_rows = np.bincount(codes, minlength=len(labels)).tolist()
    n_agreeing = np.bincount(codes[agrees], minlength=len(labels)).tolist()
    return tuple(
        ClassFidelity(label, n, n_equal / n, wilson_interval(n_equal, n))
        for label, n, n_equal in zip(labels, n_rows, n_agreeing, strict=True)
        if n > 0
    )


def _against_truth(
    rules: RuleSet, matrix: Matrix, decided: NDArray[np.int32], truth: Labels | None, n_jobs: int | None
) -> dict[str, Any]:
    """Return the measures that need true classes."""
    if truth is None:
        return dict.fromkeys(("accuracy", "accuracy_baseline", "balanced_accuracy", "auc", "auc_from_labels"))
    predicted, target = rules.classes[decided], truth.values
    probabilities = rules.probabilities(rules.evaluator.scores(matrix, rules.voting, n_jobs))
    return {
        "accuracy": accuracy(predicted, target),
        "accuracy_baseline": majority_baseline(target),
        "balanced_accuracy": balanced_accuracy(predicted, target),
        "auc": auc(probabilities, target, rules.classes),
        "auc_from_labels": auc_from_labels(predicted, target, rules.classes),
    }


def _bar(value: str) -> html.Cell:
    """Return a percentage as a bar; anything else as it is."""
    return html.Bar(value, float(value[:-2]) / 100) if value.endswith(" %") else value


def _percent(fraction: float | None) -> str | None:
    return None if fraction is None else f"{100 * fraction:.2f} %"


def _number(value: float | None) -> str | None:
    return None if value is None or math.isnan(value) else f"{value:.4f}"


def _interval(bounds: Interval | None) -> str:
    return "" if bounds is None else f"(95 % interval {100 * bounds[0]:.2f} to {100 * bounds[1]:.2f} %)"
