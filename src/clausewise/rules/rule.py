"""One rule: IF every term holds THEN a class, or a number to add."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from clausewise.base import html
from clausewise.data.labels import Label, plain_label
from clausewise.rules.decimals import format_number
from clausewise.rules.term import Term, Value, format_category

ANYTHING = "anything"
"""How a premise without terms is shown."""


RESIDUAL = "residual"
"""`Origin.layer` of a rule found by searching what earlier rules get wrong, rather than in a layer."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a rule was found: the layer of the network, and the intermediate clause over its units.

    Rules found on the inputs have the layer "inputs"; those found in what earlier rules get wrong have
    `RESIDUAL`.

    Examples
    --------
    >>> from clausewise import Origin, Rule, Term
    >>> origin = Origin(layer="hidden 1", clause="hidden 1[3] > 0.7")
    >>> rule = Rule((Term(0, "age", low=50),), "high", origin=origin)
    >>> rule.origin.layer, rule.origin.clause
    ('hidden 1', 'hidden 1[3] > 0.7')
    """

    layer: str | None = None
    clause: str | None = None

    def __str__(self) -> str:
        return ": ".join(part for part in (self.layer, self.clause) if part is not None)


@dataclass(frozen=True, slots=True)
class Conjunction:
    """The premise of a rule, in canonical form: what rules of all kinds share."""

    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", merged(self.terms))

    def __len__(self) -> int:
        return len(self.terms)

    def __bool__(self) -> bool:
        return True  # a rule without terms is a rule

    @property
    def is_satisfiable(self) -> bool:
        """Whether some row can satisfy all terms."""
        return all(term.is_satisfiable for term in self.terms)

    def holds(self, row: Sequence[Value]) -> bool:
        """Return whether all terms hold on one row of raw values, in column order."""
        return all(term.holds(row[term.feature]) for term in self.terms)

    def subsumes(self, other: "Conjunction") -> bool:
        """Return whether this premise holds wherever that of `other` does; conclusions are not compared."""
        if not other.is_satisfiable:
            return True
        others = {term.feature: term for term in other.terms}
        return all(term.feature in others and term.contains(others[term.feature]) for term in self.terms)

    def contradicts(self, other: "Conjunction") -> bool:
        """Return whether no row satisfies both premises; conclusions are not compared."""
        return not all(term.is_satisfiable for term in self.intersection(other))

    def intersection(self, other: "Conjunction") -> tuple[Term, ...]:
        """Return the premise that holds exactly where both do."""
        return merged((*self.terms, *other.terms))

    @property
    def _premise(self) -> str:
        return " AND ".join(map(str, self.terms)) or ANYTHING


@dataclass(frozen=True, slots=True)
class Rule(Conjunction):
    """A conjunction of terms with a conclusion, in canonical form.

    Terms on the same feature are intersected, and terms are sorted by feature, so two satisfiable rules have
    the same `terms` exactly when they hold on the same rows. A contradictory rule keeps its impossible term,
    to show why it never fires. A rule without terms holds on every row.

    Parameters
    ----------
    terms : iterable of Term
        The premise; every term must hold.
    conclusion : str, int, float or bool
        The class label.
    confidence : float, default 1
        The inducer's estimate, from 0 to 1, of how often the conclusion is right where the premise holds.
    cover, correct : float, default 0
        Number of training rows on which the premise holds, and of those among them with the conclusion; sums
        of sample weights need not be whole.
    weight : float, default 1
        The votes that the rule adds to its class under `voting="weights"`. With a weight below 0 the rule
        speaks against its class.
    origin : Origin, optional
        Where an extractor found the rule.
    priority : bool, default False
        Whether it overrides rules without priority: where any rule with priority fires, only those vote.

    Examples
    --------
    >>> from clausewise import Rule, Term
    >>> rule = Rule((Term(0, "age", low=50), Term(1, "income", high=2)), "high", confidence=0.9)
    >>> print(rule)
    IF age > 50 AND income ≤ 2 THEN high   (confidence 0.90)
    >>> rule.holds([60, 1.5]), rule.holds([40, 1.5])
    (True, False)
    >>> Rule((Term(0, "age", low=30),), "low").subsumes(rule)  # premises alone are compared
    True
    """

    conclusion: Label
    confidence: float = 1.0
    cover: float = 0.0
    correct: float = 0.0
    weight: float = 1.0
    origin: Origin | None = None
    priority: bool = False

    def __post_init__(self) -> None:
        # Not super(), which does not find the class that `slots=True` makes anew.
        Conjunction.__post_init__(self)
        fill = object.__setattr__
        fill(self, "conclusion", plain_label(self.conclusion))
        for name in ("confidence", "cover", "correct", "weight"):
            fill(self, name, float(getattr(self, name)) + 0.0)
        check_statistics(self.confidence, self.cover, self.correct, self.weight)
        fill(self, "priority", checked_priority(self.priority))

    def __str__(self) -> str:
        return one_line_rule(*self._parts)

    def __repr__(self) -> str:
        return f"<Rule: {self}>"

    def _repr_html_(self) -> str:
        return html_rule(*self._parts)

    @property
    def _parts(self) -> tuple[str, str, str]:
        is_against = self.weight < 0
        conclusion = describe_conclusion(self.conclusion, is_against)
        statistics = describe_statistics(
            confidence=self.confidence,
            cover=self.cover,
            weight=self.weight,
            priority=self.priority,
            is_against=is_against,
        )
        return self._premise, conclusion, statistics


def merged(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Return the canonical premise: one term per feature, sorted by feature."""
    by_feature: dict[int, list[Term]] = {}
    for term in terms:
        if not isinstance(term, Term):
            raise TypeError(f"{term!r} is not a Term; build a rule from Term objects.")
        by_feature.setdefault(term.feature, []).append(term)
    return tuple(_intersected(by_feature[feature]) for feature in sorted(by_feature))


def _intersected(terms: list[Term]) -> Term:
    # "Is missing" comes last, so that contradictions with it are the same term in any order.
    return reduce(Term.intersection, sorted(terms, key=lambda term: term.missing))


def one_line_rule(premise: str, conclusion: str, statistics: str) -> str:
    """Return `IF age ≤ 47 AND job = nurse THEN yes   (confidence 0.93, covers 120)`."""
    text = f"IF {premise} THEN {conclusion}"
    return f"{text}   ({statistics})" if statistics else text


def html_rule(*parts: str) -> str:
    """Return a rule as an HTML table for notebooks."""
    return f"<div>{html.table(('IF', 'THEN', ''), [parts])}</div>"


def describe_conclusion(label: Label, is_against: bool) -> str:
    """Return the class that a rule speaks for, or `speaks against` it."""
    return f"speaks against {format_category(label)}" if is_against else format_category(label)


def describe_statistics(
    *,
    confidence: float,
    cover: float,
    weight: float,
    priority: bool,
    is_against: bool,
    votes_by_weight: bool = False,
) -> str:
    """Return the statistics that are shown after a rule's conclusion.

    A rule that speaks against a class has no confidence here, which would be that in the class, and its
    weight is shown without the sign. A weight of 1, which rules have unless it is set, is only shown where
    rules vote by weight.
    """
    parts = [] if is_against else [f"confidence {confidence:.2f}"]
    if cover > 0:
        parts.append(f"covers {format_number(round(cover, 1))}")
    if votes_by_weight or weight != 1.0:
        parts.append(f"weight {abs(weight) if is_against else weight:.3g}")
    if priority:
        parts.append("priority")
    return ", ".join(parts)


def checked_priority(priority: object) -> bool:
    """Return the flag as a plain bool; other truthy values, such as 0.5 or "no", raise a TypeError."""
    if not isinstance(priority, bool | np.bool_):
        raise TypeError(f"priority is {priority!r}; it must be True or False.")
    return bool(priority)


def check_statistics(
    confidence: float, cover: float, correct: float, weight: float, subject: str = "The rule"
) -> None:
    """Raise a ValueError for statistics that no rule can have."""
    if not 0.0 <= confidence <= 1.0:
        raise ValueError(f"{subject} has confidence {confidence}; it must lie between 0 and 1.")
    # Sums of sample weights may differ in their last digits.
    if not (0.0 <= correct * (1.0 - 1e-9) <= cover < math.inf):
        raise ValueError(
            f"{subject} covers {cover} rows and is correct on {correct}; "
            "expected 0 ≤ correct ≤ cover, both finite."
        )
    if not math.isfinite(weight):
        raise ValueError(f"{subject} has weight {weight}; it must be finite.")
