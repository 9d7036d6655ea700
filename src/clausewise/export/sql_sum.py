"""Rules for numbers as one SQL query that adds the prediction to a table.

A first step adds up what the rules add, as a column; the prediction adds the linear terms to it, one after
the other.
"""

import math
from collections.abc import Iterator, Sequence

from clausewise.export.plan import PlannedJury, SumPlan, sum_plan
from clausewise.export.sql import TotalsQuery, checked_table
from clausewise.export.sql_dialects import DIALECTS
from clausewise.export.text import header_line
from clausewise.rules.linear import LinearTerm
from clausewise.rules.regression import RegressionRules


def sum_to_sql(rules: RegressionRules, table: str | Sequence[str], dialect: str, prediction: str) -> str:
    """Return the query; see `RegressionRules.to_sql`.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.export import sum_to_sql
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> print(sum_to_sql(rules, "houses", "sqlite", "price"), end="")
    -- 1 rule for a number; start at 1.5 and add
    WITH clausewise_step_0 AS MATERIALIZED (
      SELECT t.*,
        (15.0
          + CASE WHEN CAST(t."rooms" AS REAL) > 4.0 THEN 7.0 ELSE 0.0 END) / 10.0 AS clausewise_sum_of_rules
      FROM "houses" AS t
    )
    SELECT t.*,
      t.clausewise_sum_of_rules AS "price"
    FROM clausewise_step_0 AS t
    """
    parts = checked_table(table, dialect, prediction, "prediction")
    return SumQuery(sum_plan(rules), DIALECTS[dialect], parts).text(prediction, header_line(rules))


class SumQuery(TotalsQuery[SumPlan]):
    """Writes the sum of a rule set for numbers."""

    def _juries_of(self, plan: SumPlan) -> tuple[PlannedJury, ...]:
        return (plan.jury,)

    def _features_read_later(self) -> list[int]:
        linear = {term.feature for term in self._plan.linear}
        return sorted({*super()._features_read_later(), *linear})

    def _steps(self) -> Iterator[list[tuple[str, str]]]:
        yield from self._copies()
        for column in self._totals(self._plan.jury, 0):
            yield [column]

    def _total(self, jury: PlannedJury, class_index: int) -> str:
        return self._column("sum_of_rules")

    def _decision(self, has_steps: bool) -> str:
        parts = [f"{self._alias}.{self._total(self._plan.jury, 0)}", *map(self._product, self._plan.linear)]
        total = "\n    + ".join(parts)
        return f"EXP({total})" if self._plan.link == "log" else total

    def _product(self, term: LinearTerm) -> str:
        """Return the coefficient times the value, or what stands for it if it is missing or out of range."""
        number, x = self._dialect.number, self._number_in(term.feature)
        cases = f"WHEN {self._missing(term.feature)} THEN {number(term.fill)}"
        if term.low > -math.inf:
            cases += f" WHEN {x} < {number(term.low)} THEN {number(term.low)}"
        if term.high < math.inf:
            cases += f" WHEN {x} > {number(term.high)} THEN {number(term.high)}"
        return f"{number(term.coefficient)} * CASE {cases} ELSE {x} END"
