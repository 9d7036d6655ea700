"""Lossy simplification: fewer and shorter rules within a stated loss of fidelity on given rows.

Terms and rules are dropped one by one, always the one that loses the fewest rows per term or rule saved. The
cost of a drop is counted on the rows that it affects; after each drop, the core decides all rows again, so
the bound holds for `predict` itself.
"""

import heapq
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.analysis.exact_simplification import simplified
from clausewise.data.table import Matrix
from clausewise.networks.answers import ask_network
from clausewise.rules.columns import NO_SET, RuleColumns
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.voting import SCHEMES, juries

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Drop = tuple[int, int]
"""A rule and one of its terms, or `WHOLE` for the rule itself."""
WHOLE = -1


def simplified_within(rules: RuleSet, X: Any, target: Any, tolerance: float, n_jobs: int | None) -> RuleSet:
    """Drop terms and rules; fidelity to `target` on `X` falls by at most `tolerance`.

    Votes do not change; cover and correct of a rule that lost a term are counted on `X`. Rules with priority
    are never dropped, since somebody added them on purpose.
    """
    matrix = rules.features.encode(X)
    if len(matrix) == 0:
        raise ValueError("X has no rows to measure fidelity on; pass at least one.")
    codes = None
    if target is not None:
        answers = ask_network(target, X, rules.features, rules.labels, len(matrix), name="target")
        codes = answers.labels.codes
    search = _Search(simplified(rules), matrix, codes, tolerance, n_jobs)
    while search.drop_the_cheapest():
        pass
    return simplified(search.recounted())


class _Search:
    """The remaining terms and rules, their decisions on all rows, and the least agreement allowed."""

    def __init__(
        self,
        rules: RuleSet,
        matrix: Matrix,
        target: NDArray[np.int64] | None,
        tolerance: float,
        n_jobs: int | None,
    ) -> None:
        self.original, self.matrix, self.n_jobs = rules, matrix, n_jobs
        self.votes = SCHEMES[rules.voting].votes(rules.columns)
        self.has_term = np.ones(len(rules.columns.feature), dtype=bool)
        self.has_rule = np.ones(len(rules), dtype=bool)
        self.can_change = ~rules.evaluator.decided_by_priority(matrix, n_jobs)
        decided = rules.evaluator.decide(matrix, rules.voting, rules.default_index, n_jobs)
        self.target = decided if target is None else target
        self._decide_rows()
        # A tolerance of 0.01 means 30 of 3,000 rows, even if 0.01 · 3,000 is slightly less in doubles.
        self.least_agreeing = self.n_agreeing - math.floor(tolerance * len(matrix) * (1 + 1e-12))

    def drop_the_cheapest(self) -> bool:
        """Go once through all terms and rules, cheapest first; return whether anything was dropped."""
        n_dropped = 0
        waiting = [(self._price(drop), drop) for drop in self._drops()]
        heapq.heapify(waiting)
        while waiting:
            _, drop = heapq.heappop(waiting)
            if not self._is_possible(drop):
                continue
            # Drops since then may have changed the price; if it rose, this one goes back into the queue.
            price = self._price(drop)
            if waiting and price > waiting[0][0]:
                heapq.heappush(waiting, (price, drop))
            elif self.n_agreeing - price[-1] >= self.least_agreeing:
                n_dropped += self._try(drop)
        return n_dropped > 0

    def recounted(self) -> RuleSet:
        """Return the remaining rules, with new counts for those that lost a term."""
        rules = self._rules()
        is_shorter = rules.columns.lengths < self.original.columns.lengths[self.has_rule]
        counts = rules.evaluator.statistics(self.matrix, self.target, None, self.n_jobs)
        before = (rules.columns.cover, rules.columns.correct)
        cover, correct = (np.where(is_shorter, new, old) for new, old in zip(counts, before, strict=True))
        for column in (cover, correct):
            column.setflags(write=False)
        return replace(rules, columns=replace(rules.columns, cover=cover, correct=correct))

    # --- Possible drops and their prices ---

    def _drops(self) -> list[Drop]:
        droppable = self.has_rule & ~self.original.columns.priority
        drops = [(int(rule), WHOLE) for rule in np.flatnonzero(droppable)]
        return drops + [(rule, term) for rule, _ in drops for term in self._terms(rule)]

    def _terms(self, rule: int) -> list[int]:
        starts = self.original.columns.starts
        return [term for term in range(int(starts[rule]), int(starts[rule + 1])) if self.has_term[term]]

    def _is_possible(self, drop: Drop) -> bool:
        """Return whether it still exists; a rule keeps its last term, or it would fire everywhere."""
        rule, term = drop
        if term == WHOLE:
            return bool(self.has_rule[rule])
        return bool(self.has_rule[rule] and self.has_term[term]) and len(self._terms(rule)) > 1

    def _price(self, drop: Drop) -> tuple[float, int, int, int]:
        """Return (rows lost per term or rule saved, −saved, −rule, rows lost), to be sorted ascending.

        Of equally cheap drops, the one that saves more comes first, then that of the later rule.
        """
        if not self._is_possible(drop):
            return math.inf, 0, 0, 0
        rule, term = drop
        n_saved = 1 + len(self._terms(rule)) if term == WHOLE else 1
        n_lost = self.n_agreeing - self._agreement_after(drop)
        return n_lost / n_saved, -n_saved, -rule, n_lost

    def _agreement_after(self, drop: Drop) -> int:
        """Count the rows on which the decision would agree with the target."""
        rule, term = drop
        mine, divisors = int(self.original.columns.class_index[rule]), self.divisors
        fires = self._holds(self._terms(rule))
        if term == WHOLE:
            added = np.where(fires, -self.votes[rule], 0.0)
        else:
            fires_then = self._holds(other for other in self._terms(rule) if other != term)
            added = np.where(fires_then & ~fires, self.votes[rule], 0.0)
        changed = np.flatnonzero(self.can_change & (added != 0))
        if term == WHOLE and self.original.voting == "share":
            # Every other rule of the class then counts more.
            divisors = divisors.copy()
            divisors[mine] = max(divisors[mine] - 1, 1)
            changed = np.flatnonzero(self.can_change & (self.totals[:, mine] != 0))
        totals = self.totals[changed]
        totals[:, mine] += added[changed]
        agrees = self._decided(totals / divisors) == self.target[changed]
        return int(self.n_agreeing - self.agrees[changed].sum() + agrees.sum())

    def _holds(self, terms: Iterable[int]) -> Booleans:
        holds = np.ones(len(self.matrix), dtype=bool)
        for term in terms:
            holds &= _term_holds(self.original.columns, term, self.matrix)
        return holds

    def _decided(self, scores: Floats) -> NDArray[np.int64]:
        default = self.original.default_index
        return np.where(scores[:, default] == scores.max(axis=1), default, scores.argmax(axis=1))

    # --- Dropping ---

    def _try(self, drop: Drop) -> bool:
        """Drop it unless that loses too many rows; rounded sums of weights can differ from the estimate."""
        flags, position = (self.has_rule, drop[0]) if drop[1] == WHOLE else (self.has_term, drop[1])
        flags[position] = False
        self._decide_rows()
        if self.n_agreeing < self.least_agreeing:
            flags[position] = True
            self._decide_rows()
        return not flags[position]

    def _rules(self) -> RuleSet:
        columns = self.original.columns.keep_terms(self.has_term).take(np.flatnonzero(self.has_rule))
        return replace(self.original, columns=columns)

    def _decide_rows(self) -> None:
        rules = self._rules()
        _, others = juries(rules.columns, rules.base, rules.voting)
        self.divisors = others.divisors
        scores = rules.evaluator.scores(self.matrix, rules.voting, self.n_jobs)
        # Counts are whole numbers, so rounding a share times its divisor recovers them.
        self.totals = np.rint(scores * self.divisors) if rules.voting == "share" else scores
        self.agrees = self._decided(scores) == self.target
        self.n_agreeing = int(self.agrees.sum())


def _term_holds(stored: RuleColumns, term: int, matrix: Matrix) -> Booleans:
    values = matrix[:, stored.feature[term]].astype(np.float64)
    if stored.missing[term]:
        return np.isnan(values)
    if stored.value_set[term] != NO_SET:
        return np.isin(values, stored.codes(int(stored.value_set[term])))
    low, high = stored.low[term], stored.high[term]
    is_above = ~np.isnan(values) if low == -math.inf else values > low
    return np.asarray(is_above & (values <= high))
