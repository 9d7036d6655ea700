"""Lossy simplification: fewer and shorter rules within a stated loss of fidelity on given rows.

Terms and rules are dropped one by one, always the one that loses the fewest rows per term or rule saved. The
cost of a drop is counted on the rows that it affects; after each drop, the core decides all rows again, so
the bound holds for `predict` itself.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.analysis.drop_search import WHOLE, Booleans, Drop, DropSearch, Floats
from clausewise.analysis.exact_simplification import simplified
from clausewise.data.table import Matrix
from clausewise.networks.answers import ask_network
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.voting import SCHEMES, juries


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
    return simplified(search.recounted()).having_learnt_from(matrix)


class _Search(DropSearch[RuleSet]):
    """The remaining terms and rules, their decisions on all rows, and the least agreement allowed."""

    def __init__(
        self,
        rules: RuleSet,
        matrix: Matrix,
        target: NDArray[np.int64] | None,
        tolerance: float,
        n_jobs: int | None,
    ) -> None:
        super().__init__(rules, matrix, n_jobs)
        self.votes = SCHEMES[rules.voting].votes(rules.columns)
        self.can_change = ~rules.evaluator.decided_by_priority(matrix, n_jobs)
        decided = rules.evaluator.decide(matrix, rules.voting, rules.default_index, n_jobs)
        self.target = decided if target is None else target
        self._decide_rows()
        # A tolerance of 0.01 means 30 of 3,000 rows, even if 0.01 · 3,000 is slightly less in doubles.
        self.least_agreeing = self.n_agreeing - math.floor(tolerance * len(matrix) * (1 + 1e-12))

    def recounted(self) -> RuleSet:
        """Return the remaining rules, with new counts for those that lost a term."""
        rules = self._rules()
        cover, correct = rules.evaluator.statistics(self.matrix, self.target, None, self.n_jobs)
        return self._with_new_counts(rules, {"cover": cover, "correct": correct})

    def _droppable(self) -> Booleans:
        return np.asarray(self.has_rule & ~self.original.columns.priority)

    def _is_allowed(self, then: float) -> bool:
        return self.n_agreeing - then >= self.least_agreeing

    def _loss_after(self, drop: Drop) -> tuple[float, float]:
        """Return the number of rows lost, twice."""
        n_lost = self.n_agreeing - self._agreement_after(drop)
        return n_lost, n_lost

    def _agreement_after(self, drop: Drop) -> int:
        """Count the rows on which the decision would agree with the target."""
        rule, term = drop
        mine, divisors = int(self.original.columns.class_index[rule]), self.divisors
        added = self._added(drop, self.votes[rule])
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

    def _decided(self, scores: Floats) -> NDArray[np.int64]:
        default = self.original.default_index
        return np.where(scores[:, default] == scores.max(axis=1), default, scores.argmax(axis=1))

    # --- Dropping ---

    def _try(self, drop: Drop) -> bool:
        """Drop it unless that loses too many rows; rounded sums of weights can differ from the estimate."""
        flags, position = self._flag(drop)
        flags[position] = False
        self._decide_rows()
        if self.n_agreeing < self.least_agreeing:
            flags[position] = True
            self._decide_rows()
        return not flags[position]

    def _decide_rows(self) -> None:
        rules = self._rules()
        _, others = juries(rules.columns, rules.base, rules.voting)
        self.divisors = others.divisors
        scores = rules.evaluator.scores(self.matrix, rules.voting, self.n_jobs)
        # Counts are whole numbers, so rounding a share times its divisor recovers them.
        self.totals = np.rint(scores * self.divisors) if rules.voting == "share" else scores
        self.agrees = self._decided(scores) == self.target
        self.n_agreeing = int(self.agrees.sum())
