"""All measures of a rule set on given rows, in one object."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from clausewise.analysis.agreement import Agreement, AgreementCounter, Pairs, add_agreement, count_agreement
from clausewise.analysis.shortcomings import shortcomings
from clausewise.base import html
from clausewise.base.counts import count_of
from clausewise.base.parameters import VERBOSE, check_parameters
from clausewise.base.progress import Progress
from clausewise.data.labels import Label, read_labels
from clausewise.networks.answers import ask_network
from clausewise.networks.batch_answers import batch_labels, columns_used
from clausewise.partitions import PartitionedRows, is_partitioned, partitioned
from clausewise.partitions.protocol import Part
from clausewise.rules.metrics import mean_rule_length, n_distinct_terms, reading_cost, wilson_interval
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

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> X, network = [[20], [30], [40], [60], [70]], ["low", "low", "high", "high", "high"]
    >>> for each in rules.evaluate(X, network=network).class_fidelity:
    ...     print(each.label, each.n_rows, round(each.fidelity, 2))
    high 3 0.67
    low 2 1.0
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

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> ages = range(21, 81)
    >>> truth = ["high" if age > 45 else "low" for age in ages]
    >>> network = ["high" if age > 48 else "low" for age in ages]  # or the model itself
    >>> measured = rules.evaluate([[age] for age in ages], truth, network=network)
    >>> round(measured.fidelity, 3), round(measured.accuracy, 3), measured.warnings
    (0.967, 0.917, ())
    >>> print(measured)
    1 rule on 60 rows, voting confidence
      fidelity to the network   96.67 %  (95 % interval 88.64 to 99.08 %)
      majority baseline         53.33 %
      Cohen's kappa              0.9333
      fidelity on high          93.75 %  (95 % interval 79.85 to 98.27 %), 32 rows
      fidelity on low          100.00 %  (95 % interval 87.94 to 100.00 %), 28 rows
      accuracy                  91.67 %
      majority baseline         58.33 %
      accuracy of the network   95.00 %
      balanced accuracy         92.86 %
      AUC                        0.9286
      AUC from hard labels       0.9286
      covered by a rule         50.00 %
      two or more rules fire     0.00 %
      … of different classes     0.00 %
      terms per rule               1.00
      distinct terms                  1
      reading cost                    2
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
        return f"{count_of(self.n_rules, 'rule')} on {count_of(self.n_rows, 'row')}, voting {self.voting}"

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
            rows = count_of(of_class.n_rows, "row")
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
    verbose: int = 0,
) -> Evaluation:
    """Measure the rules on the rows of `X`; see `RuleSet.evaluate`.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.analysis import evaluate
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> measured = evaluate(rules, [[30], [40], [60]], target=["low", "high", "high"])
    >>> round(measured.accuracy, 2), round(measured.coverage, 2)
    (0.67, 0.33)
    """
    if target is None and network is None:
        raise ValueError(
            "There is nothing to measure the rules against; pass target (true classes), network (a model or "
            "its labels), or both."
        )
    chosen = rules if voting is None else rules.with_voting(voting)
    if is_partitioned(X):
        check_parameters({"verbose": VERBOSE}, {"verbose": verbose})
        with Progress(verbose) as progress:
            counted, asked, truth = _counted_in_parts(
                chosen, partitioned(X), target, network, n_jobs, progress
            )
    else:
        counted, asked, truth = _counted(chosen, X, target, network, n_jobs)
    if counted["figures"][0] == 0:
        n_rows = int(counted["n_rows"])
        raise ValueError(f"The rules abstain on all {n_rows:,} rows; there is nothing to measure.")
    found = Agreement(counted)
    decided, coverage, overlap, conflict = found.fractions
    return Evaluation(
        voting=chosen.voting,
        n_rows=found.n_rows,
        n_rules=len(chosen),
        decided=decided,
        **_against_network(chosen, found, asked),
        **_against_truth(chosen, found, truth),
        accuracy_of_network=None if not truth or not asked else found.network_with_truth(asked, truth),
        coverage=coverage,
        overlap=overlap,
        conflict=conflict,
        mean_rule_length=mean_rule_length(chosen),
        n_distinct_terms=n_distinct_terms(chosen),
        reading_cost=reading_cost(chosen),
    )


_Counted = tuple[Part, Sequence[Label], Sequence[Label]]
"""What was counted, and the labels of the codes of the network and of true classes; none if not given."""


def _counted(rules: RuleSet, X: Any, target: Any, network: Any, n_jobs: int | None) -> _Counted:
    matrix = rules.features.encode(X)
    if len(matrix) == 0:
        raise ValueError("There are no rows to measure on; pass at least one.")
    truth, asked = None, None
    if target is not None:
        truth = read_labels(target, rules.labels, len(matrix), "target", allow_unknown=True)
    if network is not None:
        asked = ask_network(network, X, rules.features, rules.labels, len(matrix)).labels
    asked_codes, truth_codes = (None if given is None else given.codes for given in (asked, truth))
    part = count_agreement(rules, matrix, asked_codes, truth_codes, n_jobs)
    return part, () if asked is None else asked.labels, () if truth is None else truth.labels


def _counted_in_parts(
    rules: RuleSet,
    rows: PartitionedRows,
    target: Any,
    network: Any,
    n_jobs: int | None,
    progress: Progress,
) -> _Counted:
    rows = columns_used(rows, rules.features, target, network)
    progress.started("Evaluation", 1 + sum(isinstance(source, str) for source in (target, network)))
    truth, asked = (
        None if source is None else batch_labels(source, rows, rules.labels, rules.features, name, progress)
        for source, name in ((target, "target"), (network, "network"))
    )
    part = rows.reduce(AgreementCounter(rules, asked, truth, n_jobs), add_agreement, progress)
    return part, () if asked is None else asked.classes, () if truth is None else truth.classes


def _against_network(rules: RuleSet, found: Agreement, labels: Sequence[Label]) -> dict[str, Any]:
    """Return the measures that need a network."""
    if not labels:
        names = ("fidelity", "fidelity_interval", "fidelity_baseline", "kappa")
        return {**dict.fromkeys(names), "class_fidelity": (), "warnings": ()}
    pairs = found.with_network
    return {
        "fidelity": pairs.agreement,
        "fidelity_interval": wilson_interval(pairs.n_equal, pairs.total),
        "fidelity_baseline": pairs.baseline,
        "kappa": pairs.kappa,
        "class_fidelity": _by_class(pairs, labels),
        "warnings": shortcomings(
            pairs.decided,
            pairs.wanted,
            labels,
            n_rules=len(rules),
            counts=pairs.n_rows,
            # As `compact` returns them; it cannot learn classes that they do not know.
            can_balance=rules.voting == "weights" and len(labels) == len(rules.labels),
        ),
    }


def _by_class(pairs: Pairs, labels: Sequence[Label]) -> tuple[ClassFidelity, ...]:
    counts = zip(pairs.n_wanted.tolist(), pairs.n_equal_of_class.tolist(), strict=True)
    return tuple(
        ClassFidelity(labels[code], n, n_equal / n, wilson_interval(n_equal, n))
        for code, (n, n_equal) in enumerate(counts)
        if n > 0
    )


def _against_truth(rules: RuleSet, found: Agreement, labels: Sequence[Label]) -> dict[str, Any]:
    """Return the measures that need true classes."""
    if not labels:
        return dict.fromkeys(("accuracy", "accuracy_baseline", "balanced_accuracy", "auc", "auc_from_labels"))
    pairs, n_classes = found.with_truth, len(rules.labels)
    return {
        "accuracy": pairs.agreement,
        "accuracy_baseline": pairs.baseline,
        "balanced_accuracy": pairs.balanced,
        "auc": found.area(n_classes),
        "auc_from_labels": found.area_from_labels(n_classes),
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
