"""Exact simplification: the same decisions from fewer rules.

No prediction changes on any possible row. A single term is never redundant, since even one that accepts every
value fails where the value is missing, so only whole rules are dropped or merged:

- rules that never fire, or fire without votes, are dropped;
- equal rules are merged, adding up their votes (weights) or keeping the proportions (the other schemes);
- two rules that differ in one feature, with adjacent intervals or disjoint value sets, become one;
- rules that never decide are dropped: wherever they fire, their class wins or loses in any case.

If fitted weights use all digits of a double, the last digit of a sum depends on the order of addition. Votes
are therefore only rearranged if every sum is exact; otherwise a rule is dropped only if it is irrelevant by
more than the rounding error.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from clausewise.rules.columns import NO_SET, RuleColumns
from clausewise.rules.rule import Conjunction, Rule
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import Term
from clausewise.rules.voting import SCHEMES, sums_are_exact

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


def simplified(rules: RuleSet) -> RuleSet:
    """Return fewer rules that decide every row alike under the same voting, those with priority first."""
    has_priority = rules.columns.priority
    if not has_priority.any():
        return _simplified_jury(rules)
    first, others = _simplified_priority(rules[has_priority]), _simplified_jury(rules[~has_priority])
    return replace(others, columns=first.columns + others.columns)


def _simplified_priority(rules: RuleSet) -> RuleSet:
    """Return fewer rules that decide alike and fire on the same rows, since elsewhere other rules decide."""
    while True:
        n_before = len(rules)
        if rules.voting != "share":
            rules = rules[rules.columns.satisfiable]
            rules = _with_joined_neighbours(rules)
        if rules.voting != "weights":
            rules = _with_smallest_counts(rules)
        if len(rules) == n_before:
            return rules


def _simplified_jury(rules: RuleSet) -> RuleSet:
    while True:
        n_before = len(rules)
        if rules.voting == "share":
            rules = _with_smallest_counts(rules)
        else:
            rules = _without_silent_rules(rules)
            rules = _with_summed_votes(rules) if rules.voting == "weights" else _with_smallest_counts(rules)
            rules = _with_joined_neighbours(rules)
            rules = _without_undecisive_rules(rules)
        if len(rules) == n_before:
            return rules


# --- Rules without votes ---


def _without_silent_rules(rules: RuleSet) -> RuleSet:
    votes = SCHEMES[rules.voting].votes(rules.columns)
    return rules[np.flatnonzero(rules.columns.satisfiable & (votes != 0))]


# --- Equal rules ---


def _with_summed_votes(rules: RuleSet) -> RuleSet:
    """Merge rules with equal premise and conclusion into the first, with the sum of their weights.

    A rule that always fires becomes part of the base votes.
    """
    if not sums_are_exact((*rules.columns.weight.tolist(), *rules.base.tolist())):
        return rules
    first_of: dict[Hashable, int] = {}
    weight, base = rules.columns.weight.copy(), rules.base.copy()
    for number, rule in enumerate(rules):
        if not rule.terms:
            base[rules.columns.class_index[number]] += rule.weight
            continue
        first = first_of.setdefault((rule.terms, rule.conclusion), number)
        if first != number:
            weight[first] += rule.weight
    return rules.with_weights(weight, base)[np.array(list(first_of.values()), dtype=np.int64)]


def _with_smallest_counts(rules: RuleSet) -> RuleSet:
    """Divide the number of copies of each rule by their common divisor, since only proportions decide.

    Under `share` each class has its own divisor, and rules that never fire count as well.
    """
    by_share = rules.voting == "share"
    votes = SCHEMES[rules.voting].votes(rules.columns).tolist()
    can_fire = rules.columns.satisfiable.tolist()
    keys = [
        (rule.conclusion, votes[number], rule.terms if can_fire[number] else None)
        for number, rule in enumerate(rules)
    ]
    counts = Counter(keys)
    divisor_of: dict[Hashable, int] = {}
    for key, count in counts.items():
        group = key[0] if by_share else None
        divisor_of[group] = math.gcd(count, divisor_of.get(group, 0))
    left = {key: count // divisor_of[key[0] if by_share else None] for key, count in counts.items()}
    kept = []
    for number, key in enumerate(keys):
        if left[key] > 0:
            left[key] -= 1
            kept.append(number)
    return rules[kept]


# --- Neighbours ---


def _with_joined_neighbours(rules: RuleSet) -> RuleSet:
    """Join rules with the same votes that differ in one feature and never both fire."""
    if rules.voting == "weights" and not sums_are_exact(
        (*rules.columns.weight.tolist(), *rules.base.tolist())
    ):
        return rules
    votes = SCHEMES[rules.voting].votes(rules.columns).tolist()
    alive = joined_neighbours(
        list(rules), len(rules.features), lambda number, rule: (rule.conclusion, votes[number]), _joined
    )
    return rules if len(alive) == len(rules) else replace(rules, columns=rules.columns_of(alive))


_Rule = TypeVar("_Rule", bound=Conjunction)


def joined_neighbours(
    rules: Sequence[_Rule],
    n_features: int,
    effect: Callable[[int, _Rule], Hashable],
    join: Callable[[_Rule, _Rule, Term], _Rule],
) -> list[_Rule]:
    """Join rules with the same effect that differ in one feature and never both fire.

    `join` makes one rule of two, given the term that holds where the term of either holds.
    """
    alive = dict(enumerate(rules))
    for feature in range(n_features):
        groups: dict[Hashable, list[int]] = {}
        for number, rule in alive.items():
            others = tuple(term for term in rule.terms if term.feature != feature)
            if len(others) < len(rule.terms):
                groups.setdefault((effect(number, rule), others), []).append(number)
        for group in groups.values():
            _join_group(alive, group, feature, join)
    return list(alive.values())


def _join_group(
    alive: dict[int, _Rule],
    group: Sequence[int],
    feature: int,
    join: Callable[[_Rule, _Rule, Term], _Rule],
) -> None:
    """Join rules that differ only in this feature where possible; the first of two is kept."""
    remaining = list(group)
    while remaining:
        first = remaining.pop(0)
        joined_one = True
        while joined_one:
            joined_one = False
            for other in remaining:
                union = _disjoint_union(_term_on(alive[first], feature), _term_on(alive[other], feature))
                if union is not None:
                    alive[first] = join(alive[first], alive.pop(other), union)
                    remaining.remove(other)
                    joined_one = True
                    break


def _term_on(rule: Conjunction, feature: int) -> Term:
    return next(term for term in rule.terms if term.feature == feature)


def _disjoint_union(one: Term, other: Term) -> Term | None:
    """Return the term that holds where exactly one of two disjoint terms holds, or None."""
    if one.values is not None and other.values is not None:
        is_disjoint = one.values.isdisjoint(other.values)
        return Term(one.feature, one.name, values=one.values | other.values) if is_disjoint else None
    if one.missing or other.missing:  # "missing or in an interval" is not a term
        return None
    if one.high == other.low:
        return Term(one.feature, one.name, low=one.low, high=other.high)
    if other.high == one.low:
        return Term(one.feature, one.name, low=other.low, high=one.high)
    return None


def with_term(rule: Conjunction, term: Term) -> tuple[Term, ...]:
    """Return the terms of a rule, with another one on the same feature."""
    return tuple(term if old.feature == term.feature else old for old in rule.terms)


def _joined(one: Rule, other: Rule, union: Term) -> Rule:
    # They never both fire, so their counts add up.
    return replace(
        one, terms=with_term(one, union), cover=one.cover + other.cover, correct=one.correct + other.correct
    )


# --- Rules that never decide ---


def _without_undecisive_rules(rules: RuleSet) -> RuleSet:
    """Drop rules whose class always wins, or always loses, where they fire, whichever other rules fire there.

    Later rules are dropped first. Each is judged against the remaining rules only, so no two rules are
    dropped because of each other.
    """
    stored = rules.columns
    ballot = _Ballot.of(rules)
    relation = _PremiseRelation(stored)
    alive = np.ones(len(rules), dtype=bool)
    for rule in reversed(range(len(rules))):
        may_fire, must_fire = relation.with_rule(rule)
        alive[rule] = False
        alive[rule] = ballot.matters(rule, may_fire & alive, must_fire & alive)
    return rules[alive]


@dataclass(frozen=True, eq=False)
class _Ballot:
    """The votes of all rules, and the votes that every row starts with.

    `slack` bounds the rounding error of any sum of votes; 0 if all sums are exact.
    """

    votes: Floats
    class_index: NDArray[np.int32]
    start: Floats
    default: int
    slack: float

    @classmethod
    def of(cls, rules: RuleSet) -> "_Ballot":
        scheme = SCHEMES[rules.voting]
        votes, start = scheme.votes(rules.columns), scheme.start(rules.base)
        numbers = np.concatenate([votes, start])
        # Each of n additions, here and in the core, rounds by at most half a unit in the last place of the
        # largest sum.
        rounding = 4 * len(numbers) * np.finfo(np.float64).eps * float(np.abs(numbers).sum())
        slack = 0.0 if sums_are_exact(numbers.tolist()) else rounding
        return cls(votes, rules.columns.class_index, start, rules.default_index, slack)

    def matters(self, rule: int, may_fire: Booleans, must_fire: Booleans) -> bool:
        """Return whether the rule's votes could change a decision where it fires."""
        n_classes, mine = len(self.start), int(self.class_index[rule])
        sure = np.where(must_fire, self.votes, 0.0)
        loose = np.where(may_fire & ~must_fire, self.votes, 0.0)

        def total(votes: Floats) -> Floats:
            return np.bincount(self.class_index, votes, n_classes).astype(np.float64)

        least = self.start + total(sure + np.minimum(loose, 0.0))
        most = self.start + total(sure + np.maximum(loose, 0.0))
        vote = float(self.votes[rule])
        least_mine, most_mine = least[mine] + min(vote, 0.0), most[mine] + max(vote, 0.0)
        others = [c for c in range(n_classes) if c != mine]
        always_wins = all(self._beats(mine, least_mine, c, most[c]) for c in others)
        always_loses = any(self._beats(c, least[c], mine, most_mine) for c in others)
        return not (always_wins or always_loses)

    def _beats(self, one: int, votes: float, other: int, their_votes: float) -> bool:
        """Return whether a class with at least `votes` always beats another with at most `their_votes`."""
        wins_ties = one == self.default or (other != self.default and one < other)
        if self.slack == 0.0 and wins_ties:
            return votes >= their_votes
        return votes > their_votes + self.slack


class _PremiseRelation:
    """Relations between premises: which can hold together, and which imply each other."""

    def __init__(self, stored: RuleColumns) -> None:
        self._stored = stored
        self._rule_of_term = np.repeat(np.arange(stored.n_rules), stored.lengths)
        self._terms_on = {
            int(feature): np.flatnonzero(stored.feature == feature) for feature in np.unique(stored.feature)
        }
        n_codes = int(stored.set_codes.max(initial=-1)) + 1
        n_sets = len(stored.set_starts) - 1
        self._accepts = np.zeros((n_sets, n_codes), dtype=bool)
        self._accepts[np.repeat(np.arange(n_sets), np.diff(stored.set_starts)), stored.set_codes] = True

    def with_rule(self, rule: int) -> tuple[Booleans, Booleans]:
        """Return, per rule, whether it may fire where this one does, and whether it must."""
        stored = self._stored
        may_fire = np.ones(stored.n_rules, dtype=bool)
        n_implied = np.zeros(stored.n_rules, dtype=np.int64)
        for term in range(int(stored.starts[rule]), int(stored.starts[rule + 1])):
            terms = self._terms_on[int(stored.feature[term])]
            overlap, contain = self._compared(term, terms)
            may_fire[self._rule_of_term[terms[~overlap]]] = False
            n_implied[self._rule_of_term[terms[contain]]] += 1
        return may_fire, n_implied == stored.lengths

    def _compared(self, term: int, terms: NDArray[np.int64]) -> tuple[Booleans, Booleans]:
        """Return which of `terms`, on the same feature, overlap this term, and which contain it."""
        stored = self._stored
        is_missing = stored.missing[terms]
        if stored.missing[term]:
            return is_missing, is_missing
        if stored.value_set[term] != NO_SET:
            mine = self._accepts[stored.value_set[term]]
            theirs = self._accepts[stored.value_set[terms]]
            overlap, contain = (theirs & mine).any(axis=1), ~(mine & ~theirs).any(axis=1)
        else:
            low, high = stored.low[terms], stored.high[terms]
            overlap = np.maximum(low, stored.low[term]) < np.minimum(high, stored.high[term])
            contain = (low <= stored.low[term]) & (stored.high[term] <= high)
        return overlap & ~is_missing, contain & ~is_missing
