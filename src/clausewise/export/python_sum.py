"""Rules for numbers as the text of a Python module."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from clausewise.export.plan import PlannedRule, SumPlan, sum_plan
from clausewise.export.python import ROW_FUNCTIONS, RULES_PER_FUNCTION, as_tuple, local_names, premise
from clausewise.export.text import header_line
from clausewise.rules.linear import LinearTerm
from clausewise.rules.regression import RegressionRules
from clausewise.rules.regression_rule import describe_addition

_TEMPLATE: Final = '''\
"""Rules that predict a number: `predict(row)` for one row, `predict_many(rows)` for several.

A row is a mapping from names to values, or a sequence of values in the order of FEATURES. None and NaN are
missing values. The rules are in the functions below whose names begin with `_rules`.
"""

# {headline}
{imports}
FEATURES = {features}

_IS_NUMBER = {is_number}
_MISSING = float("nan")


def predict(row):
    """Return the prediction for one row."""
    values = [_value(*cell) for cell in zip(_cells(row), _IS_NUMBER, FEATURES)]
{body}

{row_functions}{helpers}

{functions}'''

_LIMITED: Final = '''

def _limited(value, fill, low, high):
    """Return a value inside its range, and another one where it is missing."""
    return fill if value != value else min(max(value, low), high)
'''

_EXPONENTIAL: Final = '''

def _exponential(number):
    """Return e to a power; infinity where it is too large."""
    try:
        return exp(number)
    except OverflowError:
        return float("inf")
'''


def sum_to_python(rules: RegressionRules) -> str:
    """Return the text of the module; see `RegressionRules.to_python`.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.export import sum_to_python
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> module = {}
    >>> exec(sum_to_python(rules), module)  # or write the text to a file, and import that
    >>> module["predict"]({"rooms": 5})
    2.2
    """
    plan = sum_plan(rules)
    functions: list[str] = []
    body = list(_lines(plan, rules, functions))
    is_log = plan.link == "log"
    return _TEMPLATE.format(
        headline=header_line(rules),
        imports="\nfrom math import exp\n" if is_log else "",
        features=as_tuple(map(repr, plan.features.names)),
        is_number=as_tuple(repr(kind != "categorical") for kind in plan.features.kinds),
        body="".join(f"    {line}\n" for line in body),
        row_functions=ROW_FUNCTIONS,
        helpers=(_LIMITED if plan.linear else "") + (_EXPONENTIAL if is_log else ""),
        functions="\n\n".join(functions),
    )


def _lines(plan: SumPlan, rules: RegressionRules, functions: list[str]) -> Iterator[str]:
    """Yield the lines of `predict` that add everything up, and append the rules to `functions`."""
    jury = plan.jury
    (start,), (divisor,) = jury.start, jury.divisors
    if divisor != 1:
        yield f"# Whole numbers, in units of 1/{int(divisor)}, so that the sum is exact."
    yield f"total = {start!r}"
    for begin in range(0, len(jury.rules), RULES_PER_FUNCTION):
        name = f"_rules_{len(functions)}"
        part = jury.rules[begin : begin + RULES_PER_FUNCTION]
        functions.append("".join(f"{line}\n" for line in _function(plan, name, part, rules)))
        yield f"total = {name}(total, values)"
    if divisor != 1:
        yield f"total = total / {divisor!r}"
    for term in plan.linear:
        yield f"total = total + {term.coefficient!r} * {_limited(term)}"
    yield "return _exponential(total)" if plan.link == "log" else "return total"


def _limited(term: LinearTerm) -> str:
    fill, low, high = map(_number, (term.fill, term.low, term.high))
    return f"_limited(values[{term.feature}], {fill}, {low}, {high})"


def _number(number: float) -> str:
    return repr(number) if math.isfinite(number) else f'float("{number}")'


def _function(plan: SumPlan, name: str, part: Sequence[PlannedRule], rules: RegressionRules) -> Iterator[str]:
    """Yield a function that adds what the rules that fire add."""
    variable = local_names(plan, part)
    yield f"def {name}(total, values):"
    yield f'    """Return the total with what rules {part[0].number} to {part[-1].number} add."""'
    for feature, local in variable.items():
        yield f"    {local} = values[{feature}]"
    for rule in part:
        shown = describe_addition(float(rules.columns.weight[rule.number]))
        yield f"    if {premise(plan, rule, variable)}:  # rule {rule.number}: {shown}"
        yield f"        total += {rule.votes!r}"
    yield "    return total"
