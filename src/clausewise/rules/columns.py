"""The storage of a rule set: one array per property, with the terms of all rules concatenated."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.data.table import Category
from clausewise.rules.regression_rule import RegressionRule
from clausewise.rules.rule import Origin, Rule
from clausewise.rules.term import Term

if TYPE_CHECKING:
    from typing import Self

NO_SET = -1
"""Value of `value_set` for a term that is not a set of categories."""


@dataclass(frozen=True, eq=False)
class RuleColumns:
    """The rules of a rule set in columns; arrays are read-only and in canonical form (see `canonical`).

    The terms of rule r are `starts[r]:starts[r + 1]`. A term is the interval (low, high] of `feature` or, if
    its `value_set` s is not −1, the category codes `set_codes[set_starts[s]:set_starts[s + 1]]`. A term with
    `missing` holds where the value is missing; it has no value set and the bounds −inf and inf.
    """

    starts: NDArray[np.int64]
    feature: NDArray[np.int32]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    value_set: NDArray[np.int32]
    missing: NDArray[np.bool_]
    set_starts: NDArray[np.int64]
    set_codes: NDArray[np.int32]
    class_index: NDArray[np.int32]
    confidence: NDArray[np.float64]
    cover: NDArray[np.float64]
    correct: NDArray[np.float64]
    weight: NDArray[np.float64]
    priority: NDArray[np.bool_]
    origins: tuple[Origin | None, ...]

    PER_RULE: ClassVar[tuple[str, ...]] = (
        "class_index",
        "confidence",
        "cover",
        "correct",
        "weight",
        "priority",
    )
    PER_TERM: ClassVar = ("feature", "low", "high", "value_set", "missing")
    MAY_BE_NAN: ClassVar[tuple[str, ...]] = ()

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of terms of each rule."""
        return np.diff(self.starts)

    def codes(self, value_set: int) -> NDArray[np.int32]:
        """Return the category codes of one value set, ascending."""
        return self.set_codes[self.set_starts[value_set] : self.set_starts[value_set + 1]]

    @property
    def value_sets(self) -> list[tuple[int, ...]]:
        """All value sets as tuples of codes."""
        return [tuple(self.codes(s).tolist()) for s in range(len(self.set_starts) - 1)]

    @property
    def satisfiable(self) -> NDArray[np.bool_]:
        """Whether each rule can fire at all."""
        is_empty_set = np.append(np.diff(self.set_starts) == 0, False)[self.value_set]
        is_impossible = np.where(self.value_set == NO_SET, ~(self.low < self.high), is_empty_set)
        rule_of_term = np.repeat(np.arange(self.n_rules), self.lengths)
        return np.asarray(np.bincount(rule_of_term[is_impossible], minlength=self.n_rules) == 0)

    def take(self, rules: NDArray[np.int64]) -> "Self":
        """Return these rules, in this order; the value sets stay unchanged."""
        lengths = self.lengths[rules]
        starts = starts_of(lengths)
        # The old position of every kept term: its offset inside its rule plus the old start of the rule.
        terms = np.arange(starts[-1]) + np.repeat(self.starts[:-1][rules] - starts[:-1], lengths)
        picked = {name: getattr(self, name)[rules] for name in self.PER_RULE}
        picked |= {name: getattr(self, name)[terms] for name in self.PER_TERM}
        origins = tuple(self.origins[rule] for rule in rules.tolist())
        return frozen(replace(self, starts=starts, origins=origins, **picked))

    def keep_terms(self, is_kept: NDArray[np.bool_]) -> "Self":
        """Return the same rules with only these terms."""
        rule_of_term = np.repeat(np.arange(self.n_rules), self.lengths)
        starts = starts_of(np.bincount(rule_of_term[is_kept], minlength=self.n_rules))
        picked = {name: getattr(self, name)[is_kept] for name in self.PER_TERM}
        return frozen(replace(self, starts=starts, **picked))

    def __add__(self, other: "RuleColumns") -> "RuleColumns":
        return joined([self, other])

    def first_of_equals(self) -> NDArray[np.int64]:
        """Return the satisfiable rules without repetitions of premise, conclusion and priority."""
        can_fire = self.satisfiable.tolist()
        seen: dict[tuple[int, bool, bytes], int] = {}
        alike = zip(self.class_index.tolist(), self.priority.tolist(), self.premise_keys(), strict=True)
        for rule, key in enumerate(alike):
            if can_fire[rule]:
                seen.setdefault(key, rule)
        return np.array(list(seen.values()), dtype=np.int64)

    def premise_keys(self) -> Iterator[bytes]:
        """Yield a key per rule that rules with the same premise share, without making term objects."""
        terms = np.empty((len(self.feature), 5), dtype=np.int64)
        terms[:, 0], terms[:, 1] = self.feature, self.value_set
        terms[:, 2], terms[:, 3] = self.low.view(np.int64), self.high.view(np.int64)
        terms[:, 4] = self.missing
        starts = self.starts.tolist()
        for begin, end in itertools.pairwise(starts):
            yield terms[begin:end].tobytes()

    def same_as(self, other: "RuleColumns") -> bool:
        """Return whether both hold the same rules in the same order."""
        same_arrays = all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=name in self.MAY_BE_NAN)
            for name in ("starts", *self.PER_RULE, "feature", "low", "high", "missing")
        )
        if not same_arrays or self.origins != other.origins:
            return False
        mine, theirs = self.value_sets, other.value_sets
        return [None if s == NO_SET else mine[s] for s in self.value_set.tolist()] == [
            None if s == NO_SET else theirs[s] for s in other.value_set.tolist()
        ]


@dataclass(frozen=True, eq=False)
class ResponseColumns(RuleColumns):
    """The rules of a rule set for numbers: `weight` is what a rule adds.

    `mean` is the mean response of the training rows on which a rule fires, `lower` and `upper` are their 5 %
    and 95 % quantiles; NaN where they were not counted. Classes, confidence, correct and priority have the
    values of a rule that votes for the only class.
    """

    mean: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    PER_RULE: ClassVar = (*RuleColumns.PER_RULE, "mean", "lower", "upper")
    MAY_BE_NAN: ClassVar = ("mean", "lower", "upper")


_Columns = TypeVar("_Columns", bound=RuleColumns)


def joined(parts: Sequence[_Columns]) -> _Columns:
    """Concatenate the rules of all parts; equal value sets are shared."""
    kind = type(parts[0])
    sets: list[tuple[int, ...]] = []
    moved = []
    for part in parts:
        moved.append(np.where(part.value_set == NO_SET, NO_SET, part.value_set + len(sets)))
        sets += part.value_sets
    sets, value_set = pooled(sets, np.concatenate(moved).astype(np.int32))
    set_starts, set_codes = flat_sets(sets)
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in (*kind.PER_RULE, "feature", "low", "high", "missing")
    }
    return frozen(
        kind(
            starts=starts_of(np.concatenate([part.lengths for part in parts])),
            value_set=value_set,
            set_starts=set_starts,
            set_codes=set_codes,
            origins=tuple(origin for part in parts for origin in part.origins),
            **arrays,
        )
    )


def rule_at(columns: RuleColumns, number: int, features: Features, labels: Sequence[Label]) -> Rule:
    """Return one rule as an object."""
    terms = range(int(columns.starts[number]), int(columns.starts[number + 1]))
    return Rule(
        terms=tuple(term_at(columns, term, features) for term in terms),
        conclusion=labels[columns.class_index[number]],
        confidence=float(columns.confidence[number]),
        cover=float(columns.cover[number]),
        correct=float(columns.correct[number]),
        weight=float(columns.weight[number]),
        origin=columns.origins[number],
        priority=bool(columns.priority[number]),
    )


def regression_rule_at(columns: "ResponseColumns", number: int, features: Features) -> RegressionRule:
    """Return one rule for numbers as an object."""
    terms = range(int(columns.starts[number]), int(columns.starts[number + 1]))
    mean, lower, upper = (float(getattr(columns, name)[number]) for name in columns.MAY_BE_NAN)
    return RegressionRule(
        terms=tuple(term_at(columns, term, features) for term in terms),
        addition=float(columns.weight[number]),
        cover=float(columns.cover[number]),
        mean=None if math.isnan(mean) else mean,
        interval=None if math.isnan(lower) else (lower, upper),
        origin=columns.origins[number],
    )


def term_at(columns: RuleColumns, term: int, features: Features) -> Term:
    """Return one term as an object; `term` counts over all rules."""
    feature = int(columns.feature[term])
    name = features.names[feature]
    if columns.missing[term]:
        return Term(feature, name, missing=True)
    if columns.value_set[term] == NO_SET:
        return Term(feature, name, low=float(columns.low[term]), high=float(columns.high[term]))
    return Term(feature, name, values=values_at(columns, term, features))


def values_at(columns: RuleColumns, term: int, features: Features) -> list[Category]:
    """Return the accepted categories of a term, in the order of the feature's categories."""
    categories = features.categories[columns.feature[term]]
    assert categories is not None
    return [categories[code] for code in columns.codes(int(columns.value_set[term])).tolist()]


def named_values(columns: RuleColumns, term: int, features: Features) -> tuple[list[Category], bool]:
    """Return the categories by which a term is shown, and whether these are the ones it excludes.

    The accepted categories, or the excluded ones if they are fewer. They are in the order of the feature's
    categories. Either way, the term holds only for categories of the feature: an unknown one is not accepted.
    """
    categories = features.categories[columns.feature[term]]
    assert categories is not None
    accepted = columns.codes(int(columns.value_set[term]))
    are_excluded = len(categories) - len(accepted) < len(accepted)
    shown = np.delete(np.arange(len(categories)), accepted) if are_excluded else accepted
    return [categories[code] for code in shown.tolist()], are_excluded


def pooled(
    sets: Sequence[tuple[int, ...]], value_set: NDArray[np.int32]
) -> tuple[list[tuple[int, ...]], NDArray[np.int32]]:
    """Return the distinct value sets that are used, in order of first use, and `value_set` renumbered."""
    number_of: dict[tuple[int, ...], int] = {}
    renumbered = [
        NO_SET if s == NO_SET else number_of.setdefault(sets[s], len(number_of)) for s in value_set.tolist()
    ]
    return list(number_of), np.array(renumbered, dtype=np.int32)


def starts_of(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return where each part of a concatenation starts, and its end, from the lengths of the parts."""
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def flat_sets(sets: Sequence[tuple[int, ...]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the starts and the codes of value sets, concatenated."""
    codes = np.array([code for codes in sets for code in codes], dtype=np.int32)
    return starts_of(np.array([len(codes) for codes in sets], dtype=np.int64)), codes


def frozen(columns: _Columns) -> _Columns:
    """Make all arrays read-only, and return the columns."""
    for field in fields(columns):
        values = getattr(columns, field.name)
        if isinstance(values, np.ndarray):
            values.setflags(write=False)
    return columns
