"""Simplification of rules for numbers: the same sums from fewer rules, or nearly the same on given rows.

Without a tolerance, no prediction changes on any possible row:

- rules that never fire, or add 0, are dropped;
- equal premises are merged, with the sum of their additions; rules that always fire become part of the base;
- two rules that add the same and differ in one feature, with adjacent intervals or disjoint value sets,
  become one.

Numbers are only added up beforehand if that is exact, as it is for short decimals.
"""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from clausewise.analysis.drop_search import Drop, DropSearch, Floats
from clausewise.analysis.exact_simplification import joined_neighbours, with_term
from clausewise.base.parameters import FRACTION, check_parameters
from clausewise.data.table import Matrix
from clausewise.networks.answers import ask_numbers
from clausewise.rules.regression import RegressionRules
from clausewise.rules.regression_rule import RegressionRule
from clausewise.rules.sums import scaled_sum
from clausewise.rules.term import Term
from clausewise.rules.voting import sums_are_exact


def simplify_sums(
    rules: RegressionRules,
    tolerance: float = 0.0,
    X: Any = None,
    target: Any = None,
    n_jobs: int | None = None,
) -> RegressionRules:
    """Return fewer rules that add up alike; see `RegressionRules.simplify`.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.analysis import simplify_sums
    >>> text = "BASE 1.5 IF rooms > 4 THEN ADD 0.7 IF rooms > 4 THEN ADD 0.2 IF age > 50 THEN ADD -0.4"
    >>> rules = RegressionRules.from_text(text, ["rooms", "age"])
    >>> print(simplify_sums(rules))  # as rules.simplify()
    2 rules for a number; start at 1.5 and add
    0  IF rooms > 4 THEN +0.9
    1  IF age > 50 THEN -0.4
    """
    check_parameters({"tolerance": FRACTION}, {"tolerance": tolerance})
    if X is None:
        if tolerance > 0 or target is not None:
            raise ValueError("tolerance and target need rows to measure R² on; pass X.")
        return _simplified(rules)
    matrix = rules.features.encode(X)
    if len(matrix) == 0:
        raise ValueError("X has no rows to measure R² on; pass at least one.")
    numbers = None if target is None else ask_numbers(target, X, rules.features, len(matrix), name="target")
    search = _Search(_simplified(rules), matrix, numbers, tolerance, n_jobs)
    while search.drop_the_cheapest():
        pass
    return _simplified(search.rules()).having_learnt_from(matrix)


# --- Exact ---


def _simplified(rules: RegressionRules) -> RegressionRules:
    while True:
        n_before = len(rules)
        rules = rules[np.flatnonzero(rules.columns.satisfiable & (rules.columns.weight != 0))]
        if _is_exact(rules):
            rules = _with_summed_additions(rules)
            rules = _with_joined_neighbours(rules)
        if len(rules) == n_before:
            return rules


def _is_exact(rules: RegressionRules) -> bool:
    """Return whether any part of the sum is the same double in any order."""
    numbers = (rules.base, *rules.columns.weight.tolist())
    return scaled_sum(rules.base, rules.columns.weight).divisor != 1.0 or sums_are_exact(numbers)


def _with_summed_additions(rules: RegressionRules) -> RegressionRules:
    first_of: dict[tuple[Term, ...], int] = {}
    additions, base = rules.columns.weight.tolist(), rules.base
    for number, rule in enumerate(rules):
        if not rule.terms:
            base = _added(base, rule.addition)
            continue
        first = first_of.setdefault(rule.terms, number)
        if first != number:
            additions[first] = _added(additions[first], rule.addition)
    return rules.with_additions(additions, base=base)[np.array(list(first_of.values()), dtype=np.int64)]


def _added(one: float, other: float) -> float:
    return float(Decimal(repr(one)) + Decimal(repr(other)))


def _with_joined_neighbours(rules: RegressionRules) -> RegressionRules:
    alive = joined_neighbours(list(rules), len(rules.features), lambda _, rule: rule.addition, _joined)
    return rules if len(alive) == len(rules) else replace(rules, columns=rules.columns_of(alive))


def _joined(one: RegressionRule, other: RegressionRule, union: Term) -> RegressionRule:
    """Return one rule for two that never both fire; the quantiles of their responses are not known."""
    cover, mean = one.cover + other.cover, None
    if cover > 0 and one.mean is not None and other.mean is not None:
        mean = (one.cover * one.mean + other.cover * other.mean) / cover
    return replace(one, terms=with_term(one, union), cover=cover, mean=mean, interval=None)


# --- Within a tolerance ---


class _Search(DropSearch[RegressionRules]):
    """The remaining terms and rules, their sums on all rows, and the largest squared error allowed.

    Always drops what raises the squared error least per term or rule saved. What is left adds what it did.
    """

    def __init__(
        self,
        rules: RegressionRules,
        matrix: Matrix,
        target: Floats | None,
        tolerance: float,
        n_jobs: int | None,
    ) -> None:
        super().__init__(rules, matrix, n_jobs)
        self.sums = rules.sums_of(matrix, n_jobs)
        predicted = rules.response_of(self.sums)
        self.target = predicted if target is None else target
        self.error = float(((predicted - self.target) ** 2).sum())
        variation = float(((self.target - self.target.mean()) ** 2).sum())
        self.most = self.error + tolerance * variation

    def rules(self) -> RegressionRules:
        """Return the remaining rules; those that lost a term have their cover counted on the rows."""
        kept = self._rules()
        counted = kept.with_encoded_statistics(self.matrix, self.target, None, self.n_jobs).columns
        names = ("cover", "mean", "lower", "upper")
        return self._with_new_counts(kept, {name: getattr(counted, name) for name in names})

    def _is_allowed(self, then: float) -> bool:
        return then <= self.most

    def _loss_after(self, drop: Drop) -> tuple[float, float]:
        """Return by how much the squared error would rise, and the error then."""
        added = self._added(drop, float(self.original.columns.weight[drop[0]]))
        error = self._error_of(self.sums + added)
        return error - self.error, error

    def _error_of(self, sums: Floats) -> float:
        # NumPy's exponential is faster, and its last digit does not matter here.
        with np.errstate(over="ignore"):
            predicted = np.exp(sums) if self.original.link == "log" else sums
        return float(((predicted - self.target) ** 2).sum())

    def _try(self, drop: Drop) -> bool:
        flags, position = self._flag(drop)
        flags[position] = False
        self.sums = self._rules().sums_of(self.matrix, self.n_jobs)
        self.error = self._error_of(self.sums)
        return True
