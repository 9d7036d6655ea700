"""The same decisions from fewer rules: what can go without changing one, and what a stated loss buys.

`simplified` changes no prediction on any row there can be. A term is never redundant by itself, as even one
that accepts every value fails where the value is missing; what can go are rules:

- rules that never fire, or fire without a vote;
- equal rules, whose votes are added up (weights) or taken in proportion (the other schemes);
- two rules that differ in one feature, with neighbouring intervals or disjoint value sets, which become one;
- rules that never decide: wherever they fire, their class wins or loses whatever else may fire.

Where fitted weights are doubles of full length, the last digit of a sum depends on the order of addition.
Votes are only rearranged where every sum is exact; else a rule must fail to matter by more than rounding.
"""

import heapq
import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.features import Matrix
from clausewise.rules.columns import NO_SET, RuleColumns
from clausewise.rules.global_explanation import codes_of
from clausewise.rules.rule import Rule
from clausewise.rules.term import Term
from clausewise.rules.voting import SCHEMES, sums_are_exact

if TYPE_CHECKING:
    from clausewise.rules.ruleset import RuleSet

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


def simplified(rules: "RuleSet") -> "RuleSet":
    """Fewer rules that decide every row alike under the rule set's own voting."""
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


# --- Rules without a say ---


def _without_silent_rules(rules: "RuleSet") -> "RuleSet":
    votes = SCHEMES[rules.voting].votes(rules.columns)
    return rules[np.flatnonzero(rules.columns.satisfiable & (votes != 0))]


# --- Equal rules ---


def _with_summed_votes(rules: "RuleSet") -> "RuleSet":
    """Of rules with equal premise and conclusion the first, with the sum of their weights.

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


def _with_smallest_counts(rules: "RuleSet") -> "RuleSet":
    """If every rule is there a multiple of n times, one n-th of each; only proportions decide.

    Under `share` each class has proportions of its own, in which rules that never fire count as well.
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


def _with_joined_neighbours(rules: "RuleSet") -> "RuleSet":
    """Rules that differ in one feature, and never both fire, as one rule, if they have the same votes."""
    if rules.voting == "weights" and not sums_are_exact(
        (*rules.columns.weight.tolist(), *rules.base.tolist())
    ):
        return rules
    votes = SCHEMES[rules.voting].votes(rules.columns).tolist()
    alive: dict[int, Rule] = dict(enumerate(rules))
    n_before = len(alive)
    for feature in range(len(rules.features)):
        groups: dict[Hashable, list[int]] = {}
        for number, rule in alive.items():
            others = tuple(term for term in rule.terms if term.feature != feature)
            if len(others) < len(rule.terms):
                groups.setdefault((rule.conclusion, votes[number], others), []).append(number)
        for group in groups.values():
            _join_group(alive, group, feature)
    if len(alive) == n_before:
        return rules
    return rules.from_rules(
        alive.values(),
        rules.features,
        default=rules.default,
        classes=rules.classes,
        voting=rules.voting,
        base=rules.base,
    )


def _join_group(alive: dict[int, Rule], group: Sequence[int], feature: int) -> None:
    """Join what can be joined of rules that differ in one feature only; the first of two stays."""
    remaining = list(group)
    while remaining:
        first = remaining.pop(0)
        joined_one = True
        while joined_one:
            joined_one = False
            for other in remaining:
                union = _disjoint_union(_term_on(alive[first], feature), _term_on(alive[other], feature))
                if union is not None:
                    alive[first] = _joined(alive[first], alive.pop(other), union)
                    remaining.remove(other)
                    joined_one = True
                    break


def _term_on(rule: Rule, feature: int) -> Term:
    return next(term for term in rule.terms if term.feature == feature)


def _disjoint_union(one: Term, other: Term) -> Term | None:
    """The term that holds where one of two holds, if they never both do and there is such a term."""
    if one.values is not None and other.values is not None:
        is_disjoint = one.values.isdisjoint(other.values)
        return Term(one.feature, one.name, values=one.values | other.values) if is_disjoint else None
    if one.high == other.low:
        return Term(one.feature, one.name, low=one.low, high=other.high)
    if other.high == one.low:
        return Term(one.feature, one.name, low=other.low, high=one.high)
    return None


def _joined(one: Rule, other: Rule, union: Term) -> Rule:
    terms = tuple(union if term.feature == union.feature else term for term in one.terms)
    # They never both fire, so their counts add up.
    return replace(one, terms=terms, cover=one.cover + other.cover, correct=one.correct + other.correct)


# --- Rules that never decide ---


def _without_undecisive_rules(rules: "RuleSet") -> "RuleSet":
    """Without rules whose class wins, or loses, wherever they fire, whatever other rules fire there.

    Later rules go first. Each is judged against those that are left, so that no two rules go because of each
    other.
    """
    stored = rules.columns
    ballot = _Ballot.of(rules)
    relation = _PremiseRelation(stored)
    alive = np.ones(len(rules), dtype=bool)
    for rule in reversed(range(len(rules))):
        may_fire, must_fire = relation.beside(rule)
        alive[rule] = False
        alive[rule] = ballot.matters(rule, may_fire & alive, must_fire & alive)
    return rules[alive]


@dataclass(frozen=True, eq=False)
class _Ballot:
    votes: Floats
    class_index: NDArray[np.int32]
    start: Floats
    default: int
    slack: float
    """By how much sums may differ from what they would be without rounding; 0 if they are exact."""

    @classmethod
    def of(cls, rules: "RuleSet") -> "_Ballot":
        scheme = SCHEMES[rules.voting]
        votes, start = scheme.votes(rules.columns), scheme.start(rules.base)
        numbers = np.concatenate([votes, start])
        # Each of n additions rounds by at most half a unit in the last place of the largest sum; here too.
        rounding = 4 * len(numbers) * np.finfo(np.float64).eps * float(np.abs(numbers).sum())
        slack = 0.0 if sums_are_exact(numbers.tolist()) else rounding
        return cls(votes, rules.columns.class_index, start, rules.default_index, slack)

    def matters(self, rule: int, may_fire: Booleans, must_fire: Booleans) -> bool:
        """Whether the rule's votes could change a decision where it fires."""
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
        """Whether a class with these votes or more is preferred to another with those or fewer."""
        wins_ties = one == self.default or (other != self.default and one < other)
        if self.slack == 0.0 and wins_ties:
            return votes >= their_votes
        return votes > their_votes + self.slack


class _PremiseRelation:
    """Which premises can hold together with another, and which hold wherever it does."""

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

    def beside(self, rule: int) -> tuple[Booleans, Booleans]:
        """Per rule, whether it may fire where this one does, and whether it must."""
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
        """Of terms on the same feature, whether they overlap this one, and whether they contain it."""
        stored = self._stored
        if stored.value_set[term] != NO_SET:
            mine, theirs = self._accepts[stored.value_set[term]], self._accepts[stored.value_set[terms]]
            return (theirs & mine).any(axis=1), ~(mine & ~theirs).any(axis=1)
        low, high = stored.low[terms], stored.high[terms]
        overlap = np.maximum(low, stored.low[term]) < np.minimum(high, stored.high[term])
        return overlap, (low <= stored.low[term]) & (stored.high[term] <= high)


# --- Within a loss of fidelity ---


def simplified_within(
    rules: "RuleSet", X: Any, target: ArrayLike | None, tolerance: float, n_jobs: int | None
) -> "RuleSet":
    """Fewer and shorter rules, whose fidelity to `target` on `X` stays above what it was minus `tolerance`.

    Terms and rules are dropped one by one, the one first that costs the fewest rows per term or rule saved.
    Votes stay what they are; a rule that lost a term has its cover and correct counted on `X`.
    """
    search = _Search(simplified(rules), rules.features.encode(X), target, tolerance, n_jobs)
    while search.one_pass():
        pass
    return simplified(search.with_counts())


class _Search:
    """Rules that get shorter, the votes that each row has, and how many rows may still be lost."""

    def __init__(
        self,
        rules: "RuleSet",
        matrix: Matrix,
        target: ArrayLike | None,
        tolerance: float,
        n_jobs: int | None,
    ) -> None:
        self.original, self.matrix, self.n_jobs = rules, matrix, n_jobs
        self.labels = rules.labels
        decided = rules.evaluator.decide(matrix, rules.voting, rules.default_index, n_jobs)
        if len(matrix) == 0:
            raise ValueError("There are no rows to measure fidelity on; pass at least one.")
        if target is None:
            self.target = decided.astype(np.int64)
        else:
            self.target = codes_of(target, self.labels, len(matrix))
        n_agreeing = int((decided == self.target).sum())
        # A tolerance of 0.01 means 30 of 3,000 rows, though 0.01 · 3,000 may be a little less in doubles.
        self.least_agreeing = n_agreeing - math.floor(tolerance * len(matrix) * (1 + 1e-12))
        self.terms = [list(range(*rules.columns.starts[r : r + 2].tolist())) for r in range(len(rules))]
        self.alive = [True] * len(rules)
        self._refresh()

    def one_pass(self) -> bool:
        """Drop what can be dropped, the cheapest first; whether anything was."""
        dropped_any = False
        waiting = [(*self._price(move), move) for move in self._moves()]
        heapq.heapify(waiting)
        while waiting:
            *_, move = heapq.heappop(waiting)
            if not self._is_possible(move):
                continue
            # What was dropped meanwhile may have changed the price; then the move waits for its turn.
            price = self._price(move)
            if waiting and price > waiting[0][:3]:
                heapq.heappush(waiting, (*price, move))
            elif self._agreement_after(move) >= self.least_agreeing:
                dropped_any |= self._drop(move)
        return dropped_any

    def with_counts(self) -> "RuleSet":
        """The rules that are left."""
        rules, original = self._rules(), self.original.columns
        kept = [number for number, is_alive in enumerate(self.alive) if is_alive]
        is_shorter = rules.columns.lengths < original.lengths[kept]
        cover, correct = rules.evaluator.statistics(self.matrix, self.target, None, self.n_jobs)
        counted = replace(
            rules.columns,
            cover=np.where(is_shorter, cover, rules.columns.cover),
            correct=np.where(is_shorter, correct, rules.columns.correct),
        )
        return replace(rules, columns=counted)

    # A move is (rule, term), or (rule, −1) for the whole rule.
    def _moves(self) -> list[tuple[int, int]]:
        rules = [rule for rule, is_alive in enumerate(self.alive) if is_alive]
        return [(rule, term) for rule in rules for term in (-1, *self.terms[rule])]

    def _is_possible(self, move: tuple[int, int]) -> bool:
        """A rule that loses its last term would fire everywhere; it can go as a whole."""
        rule, term = move
        return self.alive[rule] and (term == -1 or (term in self.terms[rule] and len(self.terms[rule]) > 1))

    def _price(self, move: tuple[int, int]) -> tuple[float, int, int]:
        """Rows lost per term or rule saved; then the larger saving, then the later rule."""
        rule, term = move
        if not self._is_possible(move):
            return math.inf, 0, 0
        n_saved = 1 if term != -1 else 1 + len(self.terms[rule])
        return (self.n_agreeing - self._agreement_after(move)) / n_saved, -n_saved, -rule

    def _agreement_after(self, move: tuple[int, int]) -> int:
        """Rows that would be decided as the target says."""
        rule, term = move
        mine = int(self.original.columns.class_index[rule])
        fires, votes, divisors = self._holds(self.terms[rule]), self.votes[rule], self.divisors
        if term == -1:
            added = np.where(fires, -votes, 0.0)
        else:
            others = [other for other in self.terms[rule] if other != term]
            added = np.where(self._holds(others) & ~fires, votes, 0.0)
        changed = added != 0
        if term == -1 and self.original.voting == "share":
            # Every other rule of the class counts for more.
            divisors = divisors.copy()
            divisors[mine] = max(divisors[mine] - 1, 1)
            changed = self.totals[:, mine] > 0
        totals = self.totals[changed]
        totals[:, mine] += added[changed]
        after = self._decided(totals / divisors) == self.target[changed]
        return int(self.n_agreeing - self.agrees[changed].sum() + after.sum())

    def _decided(self, scores: Floats) -> NDArray[np.int64]:
        best = scores.argmax(axis=1)
        default = self.original.default_index
        return np.where(scores[:, default] == scores.max(axis=1), default, best)

    def _drop(self, move: tuple[int, int]) -> bool:
        """Drop it, unless rounding of weights makes it dearer than it seemed."""
        rule, term = move
        before = list(self.terms[rule])
        if term == -1:
            self.alive[rule] = False
        else:
            self.terms[rule].remove(term)
        self._refresh()
        if self.n_agreeing >= self.least_agreeing:
            return True
        self.alive[rule], self.terms[rule] = True, before
        self._refresh()
        return False

    def _holds(self, terms: Sequence[int]) -> Booleans:
        return reduce(np.logical_and, map(self._term_holds, terms), np.ones(len(self.matrix), dtype=bool))

    def _term_holds(self, term: int) -> Booleans:
        stored = self.original.columns
        values = self.matrix[:, stored.feature[term]].astype(np.float64)
        if stored.value_set[term] != NO_SET:
            return np.isin(values, stored.codes(int(stored.value_set[term])))
        low, high = stored.low[term], stored.high[term]
        above = ~np.isnan(values) if low == -math.inf else values > low
        return np.asarray(above & (values <= high))

    def _rules(self) -> "RuleSet":
        """The rules as they are now, as a rule set."""
        stored = self.original.columns
        kept = np.array([number for number, is_alive in enumerate(self.alive) if is_alive], dtype=np.int64)
        terms = np.array([term for rule in kept for term in self.terms[rule]], dtype=np.int64)
        lengths = [len(self.terms[rule]) for rule in kept]
        picked = stored.take(kept)
        columns = replace(
            picked,
            starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            **{name: getattr(stored, name)[terms] for name in RuleColumns.PER_TERM},
        )
        return replace(self.original, columns=columns)

    def _refresh(self) -> None:
        rules = self._rules()
        scheme = SCHEMES[rules.voting]
        self.votes = scheme.votes(self.original.columns)
        self.divisors = scheme.divisors(rules.columns, len(self.labels))
        scores = rules.evaluator.scores(self.matrix, rules.voting, self.n_jobs)
        decided = rules.evaluator.decide(self.matrix, rules.voting, rules.default_index, self.n_jobs)
        # Counts are integers, so that multiplying a share by its divisor needs rounding only.
        self.totals = np.rint(scores * self.divisors) if rules.voting == "share" else scores
        self.agrees = decided == self.target
        self.n_agreeing = int(self.agrees.sum())
