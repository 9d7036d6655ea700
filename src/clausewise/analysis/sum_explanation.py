"""Explanations of single predictions of numbers: the sum itself, part by part."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.analysis.explanation import NearMiss, RowExplanations, near_miss
from clausewise.base import html
from clausewise.base.counts import count_of
from clausewise.base.frames import Backend, frame_of
from clausewise.data.table import Matrix
from clausewise.rules.display import Remembered
from clausewise.rules.linear import LinearTerm
from clausewise.rules.regression import RegressionRules
from clausewise.rules.regression_rule import (
    RegressionRule,
    describe_addition,
    describe_amount,
    describe_response,
)

# At most this many explanations are shown in a notebook.
_SHOWN_ROWS = 5


def explain_sums(rules: RegressionRules, X: Any, n_jobs: int | None = None) -> "SumExplanations":
    """Explain the prediction for each row; see `RegressionRules.explain`.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.analysis import explain_sums
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> print(explain_sums(rules, [[5]])[0])  # as rules.explain([[5]])[0]
    row 0 → 2.2
        1.5  start
       +0.7  rule 0: rooms > 4
      = 2.2
    """
    matrix = rules.features.encode(X)
    sums = rules.sums_of(matrix, n_jobs)
    return SumExplanations(
        rules=rules,
        matrix=matrix,
        sums=sums,
        predictions=rules.response_of(sums),
    )


@dataclass(frozen=True)
class AddedByRule:
    """A rule that fired on the row, and what it added.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> added = rules.explain([[5]])[0].fired[0]
    >>> added.number, added.premise, added.addition
    (0, 'rooms > 4', 0.7)
    """

    number: int
    rule: RegressionRule
    premise: str = field(repr=False)

    @property
    def addition(self) -> float:
        """What the rule added."""
        return self.rule.addition

    @property
    def reason(self) -> str:
        """The rule as text, with the responses of training rows where it fires."""
        statistics = describe_response(self.rule)
        return f"rule {self.number}: {self.premise}" + (f"   ({statistics})" if statistics else "")


@dataclass(frozen=True)
class AddedLinearly:
    """A linear term, the value of the row that it counted with, and what it added.

    `value` is inside the range of the term; `is_missing` and `is_limited` say that it is not the row's own.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> text = "BASE 1.5 LINEAR rooms 0.2 WITH fill 4, low 1, high 10"
    >>> rules = RegressionRules.from_text(text, ["rooms"])
    >>> added = rules.explain([[40]])[0].linear[0]
    >>> added.value, added.addition, added.is_limited
    (10.0, 2.0, True)
    >>> added.reason
    '0.2 × rooms, which is outside of the range and counts as 10'
    """

    term: LinearTerm
    value: float
    addition: float
    is_missing: bool
    is_limited: bool

    @property
    def reason(self) -> str:
        """The product as text, and why another value than the row's own counted."""
        product = f"{describe_amount(self.term.coefficient)} × {self.term.name}"
        counted = f"counts as {describe_amount(self.value)}"
        if self.is_missing:
            return f"{product}, which is missing and {counted}"
        if self.is_limited:
            return f"{product}, which is outside of the range and {counted}"
        return f"{product} = {describe_amount(self.value)}"


@dataclass(frozen=True)
class SumExplanation:
    """The prediction for one row as a sum.

    Attributes
    ----------
    row : int
        Position of the row.
    prediction : float
        What the rules predict: `total`, or e to the power of it with the link "log".
    total : float
        The sum of `base`, what the rules that fired added, and the linear terms.
    base : float
        What every row starts with.
    fired : tuple of AddedByRule
        The rules that fired, in order.
    linear : tuple of AddedLinearly
        The linear terms, in order.
    near_misses : tuple of NearMiss
        Rules with exactly one failing term.
    response : str or None
        Name of what is predicted.
    response_range : tuple of float or None
        The smallest and the largest response in the training rows.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> text = "BASE 1.5 RESPONSE price IF rooms > 4 THEN ADD 0.7 IF age > 50 THEN ADD -0.4"
    >>> rules = RegressionRules.from_text(text, ["rooms", "age"])
    >>> explanation = rules.explain([[5, 60]])[0]
    >>> print(explanation)
    row 0 → price 1.8
        1.5  start
       +0.7  rule 0: rooms > 4
       -0.4  rule 1: age > 50
      = 1.8
    >>> explanation.base, [part.addition for part in explanation.fired]
    (1.5, [0.7, -0.4])
    """

    row: int
    prediction: float
    total: float
    base: float
    fired: tuple[AddedByRule, ...]
    linear: tuple[AddedLinearly, ...]
    near_misses: tuple[NearMiss, ...]
    response: str | None = None
    response_range: tuple[float, float] | None = None

    @property
    def is_covered(self) -> bool:
        """Whether any rule fired; otherwise the base and the linear terms decide alone."""
        return bool(self.fired)

    @property
    def parts(self) -> tuple[tuple[float, str], ...]:
        """What is added up, with the reasons: the base, the rules that fired, the linear terms."""
        by_rules = [(one.addition, one.reason) for one in self.fired]
        linearly = [(one.addition, one.reason) for one in self.linear]
        return (self.base, "start"), *by_rules, *linearly

    @property
    def headline(self) -> str:
        """One line: the row, the prediction, and whether it is usual."""
        what = "" if self.response is None else f"{self.response} "
        line = f"row {self.row} → {what}{describe_amount(self.prediction)}"
        if self.prediction != self.total:
            line += f"   (e to the power of {describe_amount(self.total)})"
        if self.response_range is not None:
            low, high = self.response_range
            if not low <= self.prediction <= high:
                line += f"   (outside of training: {describe_amount(low)} to {describe_amount(high)})"
        return line

    def __str__(self) -> str:
        numbers = [describe_amount(self.base), *(describe_addition(number) for number, _ in self.parts[1:])]
        total = f"= {describe_amount(self.total)}"
        width = max(map(len, (*numbers, total)))
        lines = [
            f"{number:>{width}}  {reason}" for number, (_, reason) in zip(numbers, self.parts, strict=True)
        ]
        near = [str(one) for one in self.near_misses]
        return "\n  ".join([self.headline, *lines, f"{total:>{width}}", *near])

    def __repr__(self) -> str:
        fired = count_of(len(self.fired), "rule")
        return f"<SumExplanation: {self.headline}, {fired} fired>"

    def _repr_html_(self) -> str:
        rows = [(describe_addition(number), reason) for number, reason in self.parts]
        rows.append((f"= {describe_amount(self.total)}", ""))
        parts = [html.table(("adds", "because"), rows, numbers=[0])]
        if self.near_misses:
            near = [(str(one.number), one.text, one.reason) for one in self.near_misses]
            parts.append(html.table(("", "rules that nearly fired", "but"), near, numbers=[0]))
        return html.block(self.headline, *parts)


@dataclass(frozen=True, eq=False, repr=False)
class SumExplanations(RowExplanations[SumExplanation]):
    """One SumExplanation per row, made on demand.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> text = "BASE 1.5 IF rooms > 4 THEN ADD 0.7 IF age > 50 THEN ADD -0.4"
    >>> rules = RegressionRules.from_text(text, ["rooms", "age"])
    >>> explanations = rules.explain([[5, 60], [3, 20]])
    >>> [explanation.prediction for explanation in explanations]
    [1.8, 1.5]
    >>> explanations.to_frame()
       row   part  rule    premise  addition
    0    0  start   NaN                  1.5
    1    0   rule   0.0  rooms > 4       0.7
    2    0   rule   1.0   age > 50      -0.4
    3    1  start   NaN                  1.5
    """

    rules: RegressionRules
    matrix: Matrix
    sums: NDArray[np.float64]
    predictions: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.sums)

    def explanation_of(self, row: int) -> SumExplanation:
        """Return the explanation of one row."""
        rules, found = self.rules, self.rules.evaluator.explain_row(self.matrix[row])
        return SumExplanation(
            row=row,
            prediction=float(self.predictions[row]),
            total=float(self.sums[row]),
            base=rules.base,
            fired=tuple(
                AddedByRule(rule, self._objects[rule], rules.texts.premises[rule])
                for rule in found.fired.tolist()
            ),
            linear=tuple(self._linear(row)),
            near_misses=tuple(
                near_miss(rules, self.matrix[row], term, rule, self._objects[rule], rules.texts)
                for rule, term in zip(found.near.tolist(), found.failing_terms.tolist(), strict=True)
            ),
            response=rules.response,
            response_range=rules.response_range,
        )

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per row and part of its sum: what it is, the rule or feature, and what it adds.

        The base has the part "start", linear terms have "linear" and the name of the feature. The sum by row,
        with the link applied, is the prediction.
        """
        lines: list[tuple[int, str, int | None, str, float]] = []
        for one in self:
            lines.append((one.row, "start", None, "", one.base))
            lines += [(one.row, "rule", part.number, part.premise, part.addition) for part in one.fired]
            lines += [(one.row, "linear", None, part.term.name, part.addition) for part in one.linear]
        names = ("row", "part", "rule", "premise", "addition")
        columns = zip(*lines, strict=True) if lines else [[] for _ in names]
        return frame_of({name: list(column) for name, column in zip(names, columns, strict=True)}, backend)

    @cached_property
    def _objects(self) -> Remembered[int, RegressionRule]:
        return Remembered(self.rules.rule_at)

    def _linear(self, row: int) -> Iterator[AddedLinearly]:
        own = self.matrix[row : row + 1]
        for term in self.rules.linear:
            value, raw = float(term.values(own)[0]), float(own[0, term.feature])
            is_missing = bool(np.isnan(raw))
            yield AddedLinearly(
                term, value, float(term.products(own)[0]), is_missing, not is_missing and value != raw
            )

    def _repr_html_(self) -> str:
        shown = [one._repr_html_() for one in self[:_SHOWN_ROWS]]
        more = len(self) - len(shown)
        note = html.note(f"… and {more:,} more; index or slice them") if more else ""
        return html.block(f"{len(self):,} rows explained by {len(self.rules):,} rules", *shown, note)

    def __repr__(self) -> str:
        return f"<SumExplanations of {len(self):,} rows by {len(self.rules):,} rules>"
