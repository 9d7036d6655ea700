"""Rules for numbers as a PMML 4.4 document with a RegressionModel.

A RuleSetModel predicts classes only. So what the rules add is computed in derived fields, whose expressions
fix the order of additions, and the equation of the model has one predictor, their total, with coefficient 1.
"""

import math

from clausewise.export.plan import SumPlan, sum_plan
from clausewise.export.pmml import Document
from clausewise.export.pmml_elements import (
    Lines,
    apply,
    constant,
    derived_field,
    empty_tag,
    field,
    open_tag,
)
from clausewise.export.text import header_line
from clausewise.rules.decimals import format_number
from clausewise.rules.linear import LinearTerm
from clausewise.rules.regression import RegressionRules


def sum_to_pmml(rules: RegressionRules) -> str:
    """Return the document; see `RegressionRules.to_pmml`.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.export import sum_to_pmml
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> document = sum_to_pmml(rules)  # as rules.to_pmml()
    >>> document.splitlines()[1], "RegressionModel" in document
    ('<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">', True)
    """
    return _SumDocument(sum_plan(rules), rules.response or "prediction").text(header_line(rules))


class _SumDocument(Document[SumPlan]):
    """Writes the sum of a rule set for numbers."""

    def _target_field(self) -> Lines:
        yield empty_tag("DataField", name=self._target, optype="continuous", dataType="double")

    def _models(self) -> Lines:
        method = "exp" if self._plan.link == "log" else "none"
        yield open_tag(
            "RegressionModel",
            functionName="regression",
            algorithmName="clausewise",
            normalizationMethod=method,
        )
        yield from self._mining_schema()
        yield "<LocalTransformations>"
        jury = self._plan.jury
        for rule in jury.rules:
            yield from derived_field(self._votes_of(rule), self._votes_expression(rule))
        yield from self._total_fields(jury, 0)
        for term in self._plan.linear:
            # A field of its own, since JPMML takes the value for text in a larger expression.
            filled = field(self._names[term.feature], mapMissingTo=format_number(term.fill))
            yield from derived_field(self._filled(term), filled)
        total = field(self._total(jury, 0))
        for term in self._plan.linear:
            total = apply("+", [total, apply("*", [constant(term.coefficient), self._limited(term)])])
        yield from derived_field(self._free("sum"), total)
        yield "</LocalTransformations>"
        yield open_tag("RegressionTable", intercept=0)
        yield empty_tag("NumericPredictor", name=self._free("sum"), coefficient=1)
        yield "</RegressionTable>"
        yield "</RegressionModel>"

    def _limited(self, term: LinearTerm) -> str:
        """Return the value inside its range, and what stands for it where it is missing."""
        value = field(self._filled(term))
        if term.low > -math.inf:
            value = apply("max", [value, constant(term.low)])
        return value if term.high == math.inf else apply("min", [value, constant(term.high)])

    def _filled(self, term: LinearTerm) -> str:
        return self._free(f"value of feature {term.feature}")
