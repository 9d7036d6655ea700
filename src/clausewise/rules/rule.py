"""One rule: IF every term holds THEN a conclusion."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from clausewise.data.labels import Label, plain_label
from clausewise.rules.decimals import format_number
from clausewise.rules.term import Term, Value, format_category

ANYTHING = "anything"
"""How a premise without terms is shown."""


RESIDUAL = "residual"
"""`Origin.layer` of a rule that no layer gave, but a search against what earlier rules left over."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a rule was found: the network's layer, and the intermediate clause over its units.

    Rules over the inputs have the layer "inputs"; those found in what earlier rules left over, `RESIDUAL`.
    """

    layer: str | None = None
    clause: str | None = None

    def __str__(self) -> str:
        return ": ".join(part for part in (self.layer, self.clause) if part is not None)


@dataclass(frozen=True, slots=True)
class Rule:
    """A conjunction of terms with a conclusion, in canonical form.

    Terms on the same feature are merged into their intersection and sorted by feature, so two satisfiable
    rules have the same `terms` exactly when they hold on the same rows. A contradictory rule keeps its
    impossible term, so that one sees why it never fires. A rule without terms holds on every row.

    Parameters
    ----------
    terms : iterable of Term
        The premise; every term must hold.
    conclusion : str, int, float or bool
        The class label.
    confidence : float, default 1
        How often the conclusion is right where the premise holds, from 0 to 1, as the inducer estimates it.
    cover, correct : float, default 0
        Training rows on which the premise holds, and those of them with the conclusion. Fractions come from
        sample weights.
    weight : float, default 1
        What the rule adds to its class under `voting="weights"`.
    origin : Origin, optional
        Where an extractor found it.
    priority : bool, default False
        Whether it overrides rules without priority: where any rule with priority fires, only those vote.
    """

    terms: tuple[Term, ...]
    conclusion: Label
    confidence: float = 1.0
    cover: float = 0.0
    correct: float = 0.0
    weight: float = 1.0
    origin: Origin | None = None
    priority: bool = False

    def __post_init__(self) -> None:
        fill = object.__setattr__
        fill(self, "terms", merged(self.terms))
        fill(self, "conclusion", plain_label(self.conclusion))
        for name in ("confidence", "cover", "correct", "weight"):
            fill(self, name, float(getattr(self, name)) + 0.0)
        check_statistics(self.confidence, self.cover, self.correct, self.weight)
        fill(self, "priority", checked_priority(self.priority))

    def __len__(self) -> int:
        return len(self.terms)

    def __bool__(self) -> bool:
        return True  # a rule without terms is a rule

    @property
    def is_satisfiable(self) -> bool:
        """Whether some row can satisfy all terms."""
        return all(term.is_satisfiable for term in self.terms)

    def holds(self, row: Sequence[Value]) -> bool:
        """Whether all terms hold on one row of raw values, in column order."""
        return all(term.holds(row[term.feature]) for term in self.terms)

    def subsumes(self, other: "Rule") -> bool:
        """Whether this premise holds wherever `other`'s does (conclusions are not compared)."""
        if not other.is_satisfiable:
            return True
        others = {term.feature: term for term in other.terms}
        return all(term.feature in others and term.contains(others[term.feature]) for term in self.terms)

    def contradicts(self, other: "Rule") -> bool:
        """Whether no row satisfies both premises (conclusions are not compared)."""
        return not all(term.is_satisfiable for term in self.intersection(other))

    def intersection(self, other: "Rule") -> tuple[Term, ...]:
        """The premise that holds exactly where both do."""
        return merged((*self.terms, *other.terms))

    def __str__(self) -> str:
        return describe_rule(" AND ".join(map(str, self.terms)) or ANYTHING, self)


def merged(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The canonical premise: one term per feature, sorted by feature."""
    by_feature: dict[int, Term] = {}
    for term in terms:
        if not isinstance(term, Term):
            raise TypeError(f"{term!r} is not a Term; build a rule from Term objects.")
        known = by_feature.get(term.feature)
        by_feature[term.feature] = term if known is None else known.intersection(term)
    return tuple(by_feature[feature] for feature in sorted(by_feature))


def describe_rule(premise: str, rule: Rule) -> str:
    """`IF age ≤ 47 AND job = nurse THEN yes   (confidence 0.93, covers 120)`."""
    return f"IF {premise} THEN {format_category(rule.conclusion)}   ({describe_statistics(rule)})"


def describe_statistics(rule: Rule) -> str:
    """What is worth saying about a rule after its conclusion."""
    parts = [f"confidence {rule.confidence:.2f}"]
    if rule.cover > 0:
        parts.append(f"covers {format_number(round(rule.cover, 1))}")
    if rule.weight != 1.0:
        parts.append(f"weight {rule.weight:.3g}")
    if rule.priority:
        parts.append("priority")
    return ", ".join(parts)


def checked_priority(priority: object) -> bool:
    """The flag as a plain bool; 0.5 or "no" is a mistake rather than a yes."""
    if not isinstance(priority, bool | np.bool_):
        raise TypeError(f"priority is {priority!r}; it must be True or False.")
    return bool(priority)


def check_statistics(
    confidence: float, cover: float, correct: float, weight: float, subject: str = "The rule"
) -> None:
    """Refuse numbers that no induction can give."""
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
