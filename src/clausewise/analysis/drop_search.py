"""The greedy search behind lossy simplification: drop the cheapest terms and rules, one by one."""

import heapq
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from clausewise.data.table import Matrix
from clausewise.rules.columns import NO_SET, RuleColumns
from clausewise.rules.stored import StoredRules

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Drop = tuple[int, int]
"""A rule and one of its terms, or `WHOLE` for the rule itself."""
WHOLE = -1
Rules = TypeVar("Rules", bound=StoredRules[Any])


class DropSearch(Generic[Rules]):
    """The remaining terms and rules of a rule set, measured on given rows.

    A subclass says what a drop loses (`_loss_after`), whether that is too much (`_is_allowed`), which rules
    may go, and measures again after each drop.
    """

    def __init__(self, rules: Rules, matrix: Matrix, n_jobs: int | None) -> None:
        self.original, self.matrix, self.n_jobs = rules, matrix, n_jobs
        self.has_term = np.ones(len(rules.columns.feature), dtype=bool)
        self.has_rule = np.ones(len(rules), dtype=bool)

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
            elif self._is_allowed(price[-1]):
                n_dropped += self._try(drop)
        return n_dropped > 0

    # --- For subclasses ---

    def _droppable(self) -> Booleans:
        """Return the rules that may be dropped or shortened."""
        return self.has_rule

    def _loss_after(self, drop: Drop) -> tuple[float, float]:
        """Return what the drop would lose, and what `_is_allowed` compares."""
        raise NotImplementedError

    def _is_allowed(self, then: float) -> bool:
        raise NotImplementedError

    def _try(self, drop: Drop) -> bool:
        """Drop it, unless it turns out to lose too much; return whether it is gone."""
        raise NotImplementedError

    # --- Possible drops and their prices ---

    def _drops(self) -> list[Drop]:
        drops = [(int(rule), WHOLE) for rule in np.flatnonzero(self._droppable())]
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

    def _price(self, drop: Drop) -> tuple[float, int, int, float]:
        """Return (loss per term or rule saved, −saved, −rule, what may be too much), to be sorted ascending.

        Of equally cheap drops, the one that saves more comes first, then that of the later rule.
        """
        if not self._is_possible(drop):
            return math.inf, 0, 0, math.inf
        rule, term = drop
        n_saved = 1 + len(self._terms(rule)) if term == WHOLE else 1
        lost, then = self._loss_after(drop)
        return lost / n_saved, -n_saved, -rule, then

    def _added(self, drop: Drop, amount: float) -> Floats:
        """Return what the drop adds on each row to the sum that the rule adds an amount to."""
        rule, term = drop
        fires = self._holds(self._terms(rule))
        if term == WHOLE:
            return np.where(fires, -amount, 0.0)
        fires_then = self._holds(other for other in self._terms(rule) if other != term)
        return np.where(fires_then & ~fires, amount, 0.0)

    def _holds(self, terms: Iterable[int]) -> Booleans:
        holds = np.ones(len(self.matrix), dtype=bool)
        for term in terms:
            holds &= _term_holds(self.original.columns, term, self.matrix)
        return holds

    # --- Dropping ---

    def _flag(self, drop: Drop) -> tuple[Booleans, int]:
        """Return the flags that say whether it is still there, and its position among them."""
        return (self.has_rule, drop[0]) if drop[1] == WHOLE else (self.has_term, drop[1])

    def _rules(self) -> Rules:
        """Return the remaining rules."""
        columns = self.original.columns.keep_terms(self.has_term).take(np.flatnonzero(self.has_rule))
        return replace(self.original, columns=columns)

    def _with_new_counts(self, rules: Rules, counted: Mapping[str, NDArray[Any]]) -> Rules:
        """Return the remaining rules, with these counts for those that lost a term."""
        columns = rules.columns
        is_shorter = columns.lengths < self.original.columns.lengths[self.has_rule]
        new: dict[str, Any] = {
            name: np.where(is_shorter, now, getattr(columns, name)) for name, now in counted.items()
        }
        for column in new.values():
            column.setflags(write=False)
        return replace(rules, columns=replace(columns, **new))


def _term_holds(stored: RuleColumns, term: int, matrix: Matrix) -> Booleans:
    """Return on which encoded rows a term holds."""
    values = matrix[:, stored.feature[term]].astype(np.float64)
    if stored.missing[term]:
        return np.isnan(values)
    if stored.value_set[term] != NO_SET:
        return np.isin(values, stored.codes(int(stored.value_set[term])))
    low, high = stored.low[term], stored.high[term]
    is_above = ~np.isnan(values) if low == -math.inf else values > low
    return np.asarray(is_above & (values <= high))
