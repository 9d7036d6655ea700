"""The computation that decides like a rule set, in one form that all exports write in their own syntax.

Each row is tested by `tests`. A rule fires where all of its tests hold. The rules of a jury add their votes
to the totals of their classes, and the first jury that applies to the row decides. Rules for numbers are one
jury with one class, whose total, with linear terms added, is the prediction.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.export.row_tests import Above, AtMost, Known, Missing, OneOf, Test
from clausewise.export.text import quoted_short
from clausewise.rules.abstention import Abstention
from clausewise.rules.columns import NO_SET, RuleColumns, values_at
from clausewise.rules.linear import LinearTerm
from clausewise.rules.regression import RegressionRules
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.sums import Link, scaled_sum
from clausewise.rules.voting import Jury, juries, sums_are_exact


@dataclass(frozen=True)
class PlannedRule:
    """One rule of a jury: its number in the rule set, the tests that must hold, its class and votes."""

    number: int
    tests: tuple[int, ...]
    class_index: int
    votes: float


@dataclass(frozen=True, eq=False)
class PlannedJury:
    """Rules that vote together, in order, without those that can never fire.

    The total of a class starts at `start`, adds the votes of the rules that fire, in order, and is divided by
    its divisor. If `has_priority`, the jury applies to rows on which one of its rules fires, otherwise to all
    rows.
    """

    rules: tuple[PlannedRule, ...]
    start: tuple[float, ...]
    divisors: tuple[float, ...]
    has_priority: bool

    @cached_property
    def by_class(self) -> list[list[PlannedRule]]:
        """The rules that vote for each class, in order."""
        grouped: list[list[PlannedRule]] = [[] for _ in self.start]
        for rule in self.rules:
            grouped[rule.class_index].append(rule)
        return grouped

    @cached_property
    def sums_are_exact(self) -> bool:
        """Whether the votes of each class add up to the same double in any order."""
        return all(
            not rules or sums_are_exact([start, *(rule.votes for rule in rules)])
            for start, rules in zip(self.start, self.by_class, strict=True)
        )

    @property
    def is_divided(self) -> bool:
        """Whether any total has a divisor other than 1."""
        return any(divisor != 1.0 for divisor in self.divisors)

    def integer_votes(self) -> "IntegerVotes | None":
        """Return integer votes with the same decisions, or None if doubles may not hold their sums."""
        common = math.lcm(*(int(divisor) for divisor in self.divisors))
        factors = [Fraction(common, int(divisor)) for divisor in self.divisors]
        start = [Fraction(vote) * factor for vote, factor in zip(self.start, factors, strict=True)]
        votes = [Fraction(rule.votes) * factors[rule.class_index] for rule in self.rules]
        finest = math.lcm(*(vote.denominator for vote in (*start, *votes)), 1)
        integers = IntegerVotes(
            [int(vote * finest) for vote in start], [int(vote * finest) for vote in votes]
        )
        return integers if self.sums_are_exact and integers.largest_sum < 2**53 else None


@dataclass(frozen=True)
class IntegerVotes:
    """The votes that each class starts with, and the votes of each rule of the jury."""

    start: list[int]
    votes: list[int]

    @property
    def largest_sum(self) -> int:
        """An upper bound on the absolute value of any sum of these votes."""
        return sum(map(abs, self.start)) + sum(map(abs, self.votes))


@dataclass(frozen=True, eq=False)
class Plan:
    """What every export needs to know of a model.

    Attributes
    ----------
    features : Features
        The columns of a row.
    tests : tuple of Test
        The distinct tests of all rules.
    """

    features: Features
    tests: tuple[Test, ...]

    @property
    def n_rules(self) -> int:
        """Number of rules that can fire."""
        raise NotImplementedError

    @cached_property
    def tested_for_missing(self) -> frozenset[int]:
        """The positions of features that some rule tests for missing values."""
        return frozenset(test.feature for test in self.tests if isinstance(test, Missing))

    def tested_features(self, rules: Iterable[PlannedRule]) -> list[int]:
        """Return the positions of the features that these rules test, ascending."""
        return sorted({self.tests[test].feature for rule in rules for test in rule.tests})


@dataclass(frozen=True, eq=False)
class ClassPlan(Plan):
    """What every export needs to know of a model that predicts classes.

    Attributes
    ----------
    labels : tuple
        The classes as plain Python values.
    by_rank : tuple of int
        Class indices in the order in which classes win ties: the default class, then by position.
    """

    labels: tuple[Label, ...]
    by_rank: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ExportPlan(ClassPlan):
    """A rule set in the form that exports write.

    Attributes
    ----------
    juries : tuple of PlannedJury
        The first one that applies to a row decides; the last one applies to every row.
    abstention : Abstention, optional
        The margin by which the largest total of the jury that decides must lead, and the label of rows on
        which it does not; None if every row is decided.
    """

    juries: tuple[PlannedJury, ...]
    abstention: Abstention | None = None

    @property
    def n_rules(self) -> int:
        """Number of rules that can fire."""
        return sum(len(jury.rules) for jury in self.juries)


def export_plan(rules: RuleSet) -> ExportPlan:
    """Return the computation that decides like these rules."""
    _require_exact_categories(rules.features)
    tests = _Tests(rules.columns, rules.features, {})
    first, others = juries(rules.columns, rules.base, rules.voting)
    planned = [_planned_jury(others, tests, has_priority=False)]
    if len(first.rules) > 0:
        planned.insert(0, _planned_jury(first, tests, has_priority=True))
    return ExportPlan(
        rules.features,
        tuple(tests.number_of),
        rules.labels,
        _by_rank(rules),
        tuple(planned),
        _planned_abstention(rules),
    )


def _planned_abstention(rules: RuleSet) -> Abstention | None:
    """Return where the rules abstain, if they ever do; with one class, no other can come near."""
    if rules.abstention is None or rules.abstention.margin == 0 or len(rules.labels) == 1:
        return None
    return Abstention(rules.abstention.margin, rules.outcomes.tolist()[-1])


@dataclass(frozen=True, eq=False)
class SumPlan(Plan):
    """Rules for numbers in the form that exports write.

    Attributes
    ----------
    jury : PlannedJury
        The rules, which add numbers to the total of a single class, beginning with the base. Short decimals
        are counted in whole units, so that the total is exact; its divisor is the number of units in 1.
    linear : tuple of LinearTerm
        What is added to the total afterwards, in this order: coefficient times value, rounded, then added.
    link : {"identity", "log"}
        What the sum is turned into.
    """

    jury: PlannedJury
    linear: tuple[LinearTerm, ...]
    link: Link

    @property
    def n_rules(self) -> int:
        """Number of rules that can fire."""
        return len(self.jury.rules)


def sum_plan(rules: RegressionRules) -> SumPlan:
    """Return the computation that predicts like these rules."""
    _require_exact_categories(rules.features)
    tests = _Tests(rules.columns, rules.features, {})
    scaled = scaled_sum(rules.base, rules.columns.weight)
    start, divisors = np.array([scaled.start]), np.array([scaled.divisor])
    everyone = Jury(np.arange(len(rules)), rules.columns, scaled.additions, divisors, start)
    jury = _planned_jury(everyone, tests, has_priority=False)
    return SumPlan(rules.features, tuple(tests.number_of), jury, rules.linear, rules.link)


@dataclass(frozen=True, eq=False)
class PlannedTrial:
    """A rule set that votes for one class of a row, with its confidence in it (boosted C5.0).

    The class has the most votes of the rules that fire; on ties, `by_rank` decides. The confidence is the
    mean vote over all rules that fire, or the vote of the first rule for the class that fires, whichever is
    greater, in thousandths. If no rule fires, it is `confidence_of_default` in the first class by rank.
    """

    rules: tuple[PlannedRule, ...]  # the most specific first; votes are whole numbers, in thousandths
    by_rank: tuple[int, ...]
    confidence_of_default: float

    def of_class(self, class_index: int) -> list[PlannedRule]:
        """Return the rules for a class, the most specific first."""
        return [rule for rule in self.rules if rule.class_index == class_index]


@dataclass(frozen=True, eq=False)
class EnsemblePlan(ClassPlan):
    """Several rule sets whose confidences are added in single precision; the greatest sum decides."""

    trials: tuple[PlannedTrial, ...]

    @property
    def n_rules(self) -> int:
        """Number of rules that can fire."""
        return sum(len(trial.rules) for trial in self.trials)

    @property
    def headline(self) -> str:
        """A line that describes the ensemble."""
        return f"C5.0, {len(self.trials)} boosted rule sets with {self.n_rules:,} rules"


def ensemble_plan(rule_sets: Sequence[RuleSet], confidence_of_default: float) -> EnsemblePlan:
    """Return the computation that decides like the trials of a boosted C5.0 classifier."""
    features, labels = rule_sets[0].features, rule_sets[0].labels
    _require_exact_categories(features)
    number_of: dict[Test, int] = {}
    trials = []
    for rules in rule_sets:
        columns = rules.columns
        tests = _Tests(columns, features, number_of)
        votes = np.floor(1000 * columns.confidence + 0.5)
        planned = tuple(
            PlannedRule(number, tests.of_rule(number), int(columns.class_index[number]), float(votes[number]))
            for number in np.lexsort((-votes, columns.cover)).tolist()
            if columns.satisfiable[number]
        )
        trials.append(PlannedTrial(planned, _by_rank(rules), confidence_of_default))
    return EnsemblePlan(features, tuple(number_of), labels, trials[0].by_rank, tuple(trials))


def _by_rank(rules: RuleSet) -> tuple[int, ...]:
    default = rules.default_index
    return (default, *(index for index in range(len(rules.labels)) if index != default))


def _planned_jury(jury: Jury, tests: "_Tests", has_priority: bool) -> PlannedJury:
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
    """Numbers the distinct tests in the order in which rules first use them; adds to `number_of`."""

    def __init__(self, columns: RuleColumns, features: Features, number_of: dict[Test, int]) -> None:
        self._columns = columns
        self._features = features
        self.number_of = number_of

    def of_rule(self, rule: int) -> tuple[int, ...]:
        terms = range(int(self._columns.starts[rule]), int(self._columns.starts[rule + 1]))
        return tuple(
            self.number_of.setdefault(test, len(self.number_of))
            for term in terms
            for test in self._of_term(term)
        )

    def _of_term(self, term: int) -> Iterator[Test]:
        columns, feature = self._columns, int(self._columns.feature[term])
        if columns.missing[term]:
            yield Missing(feature)
            return
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


def _require_exact_categories(features: Features) -> None:
    for name, values in zip(features.names, features.categories, strict=True):
        for value in values or ():
            if isinstance(value, int) and abs(value) > 2**53:
                raise ValueError(
                    f"Feature {quoted_short(name)} has the category {value}, beyond 2^53, where doubles are "
                    "no longer exact; turn the categories of this feature into text."
                )
