"""What has to be computed to decide like a rule set: the one reading of the rules that all exports follow.

A row gets the answers to `tests`. A rule fires where all of its tests hold. The rules of a jury add their
votes to the totals of their classes; the first jury that is heard decides. Exports differ in syntax only.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.data.table import Category
from clausewise.rules.columns import NO_SET, RuleColumns, values_at
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.voting import Jury, juries, sums_are_exact


@dataclass(frozen=True)
class Above:
    """The number is larger than `bound`, which is finite."""

    feature: int
    bound: float


@dataclass(frozen=True)
class AtMost:
    """The number is `bound`, which is finite, or less; −inf is."""

    feature: int
    bound: float


@dataclass(frozen=True)
class Known:
    """The number is not missing."""

    feature: int


@dataclass(frozen=True)
class OneOf:
    """The category is one of these, of which there is at least one; in the order of the feature's."""

    feature: int
    values: tuple[Category, ...]


Test = Above | AtMost | Known | OneOf
"""A question about one value of a row. The answer for a missing value or an unknown category is no."""


@dataclass(frozen=True)
class PlannedRule:
    """One rule of a jury: its number in the rule set, the tests that must hold, its class and its votes."""

    number: int
    tests: tuple[int, ...]
    class_index: int
    votes: float


@dataclass(frozen=True, eq=False)
class PlannedJury:
    """Rules that vote together, in order, of which those that can never fire are left out.

    The total of a class starts at `start`, gets the votes of the rules that fire, in their order, and is
    divided by its divisor. The jury is heard on rows where one of its rules fires if `has_priority`, else on
    all rows.
    """

    rules: tuple[PlannedRule, ...]
    start: tuple[float, ...]
    divisors: tuple[float, ...]
    has_priority: bool

    @cached_property
    def by_class(self) -> list[list[PlannedRule]]:
        """Per class the rules that vote for it, in order."""
        grouped: list[list[PlannedRule]] = [[] for _ in self.start]
        for rule in self.rules:
            grouped[rule.class_index].append(rule)
        return grouped

    @cached_property
    def sums_are_exact(self) -> bool:
        """Whether the votes of a class add up to the same double in every order."""
        return all(
            sums_are_exact([start, *(rule.votes for rule in rules)])
            for start, rules in zip(self.start, self.by_class, strict=True)
        )

    @property
    def is_divided(self) -> bool:
        """Whether any total is divided by something else than 1."""
        return any(divisor != 1.0 for divisor in self.divisors)

    def whole_votes(self) -> "WholeVotes | None":
        """The same decisions with votes in whole numbers, if doubles hold all sums of them exactly."""
        common = math.lcm(*(int(divisor) for divisor in self.divisors))
        factors = [Fraction(common, int(divisor)) for divisor in self.divisors]
        start = [Fraction(vote) * factor for vote, factor in zip(self.start, factors, strict=True)]
        votes = [Fraction(rule.votes) * factors[rule.class_index] for rule in self.rules]
        finest = math.lcm(*(vote.denominator for vote in (*start, *votes)), 1)
        whole = WholeVotes([int(vote * finest) for vote in start], [int(vote * finest) for vote in votes])
        return whole if self.sums_are_exact and whole.largest_sum < 2**53 else None


@dataclass(frozen=True)
class WholeVotes:
    """Per class what every row starts with, and per rule of the jury its votes."""

    start: list[int]
    votes: list[int]

    @property
    def largest_sum(self) -> int:
        """No sum of some of these numbers is larger."""
        return sum(map(abs, self.start)) + sum(map(abs, self.votes))


@dataclass(frozen=True, eq=False)
class Plan:
    """A rule set, ready to be written down.

    Attributes
    ----------
    features : Features
        The columns of a row.
    labels : tuple
        The classes as plain values.
    by_rank : list of int
        The classes in the order in which they win ties: the default, then by position.
    tests : tuple of Test
        Every test that a rule needs, once.
    juries : tuple of PlannedJury
        The first one that is heard decides; the last one is heard on every row.
    """

    features: Features
    labels: tuple[Label, ...]
    by_rank: tuple[int, ...]
    tests: tuple[Test, ...]
    juries: tuple[PlannedJury, ...]

    @property
    def n_rules(self) -> int:
        """How many rules can fire."""
        return sum(len(jury.rules) for jury in self.juries)

    def tested(self, rules: Iterable[PlannedRule]) -> list[int]:
        """The features that these rules test, in order."""
        return sorted({self.tests[test].feature for rule in rules for test in rule.tests})


def plan_of(rules: RuleSet) -> Plan:
    """What has to be computed to decide like these rules."""
    _check_categories(rules.features)
    tests = _Tests(rules.columns, rules.features)
    first, others = juries(rules.columns, rules.base, rules.voting)
    planned = [_planned(others, tests, has_priority=False)]
    if len(first.rules) > 0:
        planned.insert(0, _planned(first, tests, has_priority=True))
    default = rules.default_index
    by_rank = (default, *(index for index in range(len(rules.labels)) if index != default))
    return Plan(rules.features, rules.labels, by_rank, tuple(tests.number_of), tuple(planned))


def _planned(jury: Jury, tests: "_Tests", has_priority: bool) -> PlannedJury:
    of_rules = zip(
        jury.rules.tolist(),
        jury.columns.class_index.tolist(),
        jury.votes.tolist(),
        jury.columns.satisfiable.tolist(),
        strict=True,
    )
    rules = tuple(
        PlannedRule(number, tests.of_rule(number), class_index, votes)
        for number, class_index, votes, can_fire in of_rules
        if can_fire
    )
    return PlannedJury(rules, tuple(jury.start.tolist()), tuple(jury.divisors.tolist()), has_priority)


class _Tests:
    """Numbers the tests of rules in the order in which they are first met."""

    def __init__(self, columns: RuleColumns, features: Features) -> None:
        self._columns = columns
        self._features = features
        self.number_of: dict[Test, int] = {}

    def of_rule(self, rule: int) -> tuple[int, ...]:
        terms = range(int(self._columns.starts[rule]), int(self._columns.starts[rule + 1]))
        return tuple(
            self.number_of.setdefault(test, len(self.number_of))
            for term in terms
            for test in self._of_term(term)
        )

    def _of_term(self, term: int) -> Iterator[Test]:
        columns, feature = self._columns, int(self._columns.feature[term])
        if columns.value_set[term] != NO_SET:
            yield OneOf(feature, tuple(values_at(columns, term, self._features)))
            return
        low, high = float(columns.low[term]), float(columns.high[term])
        if low > -math.inf:
            yield Above(feature, low)
        if high < math.inf:
            yield AtMost(feature, high)
        if (low, high) == (-math.inf, math.inf):
            yield Known(feature)


def _check_categories(features: Features) -> None:
    for name, values in zip(features.names, features.categories, strict=True):
        for value in values or ():
            if isinstance(value, int) and abs(value) > 2**53:
                raise ValueError(
                    f"Feature {shortened(repr(name))} has the category {value}, beyond 2^53, where doubles "
                    "are no longer exact; make the categories of this feature text."
                )


# --- Names and text from data ---


def free_name(name: str, is_taken: Callable[[str], bool]) -> str:
    """The name, with as many underscores behind it as make it free."""
    while is_taken(name):
        name += "_"
    return name


def one_line(text: str, most: int = 200) -> str:
    """Text from data for a comment: on one line, printable, and not too long."""
    line = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text[: most + 1])
    return line if len(line) <= most else f"{line[:most]}…"


def shortened(text: str, most: int = 80) -> str:
    """Text from data for an error message."""
    return one_line(text, most)


def require_unicode(text: str, what: str) -> str:
    """The text, or an error if it holds half a character, which no file in UTF-8 can."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{what} {shortened(repr(text))} holds the lone surrogate {text[error.start]!r}, which is no "
            "character; rename it."
        ) from None
    return text
