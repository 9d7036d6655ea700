"""A rule set as the text of a Python module that imports nothing."""

import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from clausewise.export.plan import ExportPlan, Plan, PlannedJury, PlannedRule, export_plan
from clausewise.export.row_tests import Above, AtMost, Known, Missing, OneOf, Test
from clausewise.export.text import free_name, header_line
from clausewise.rules.ruleset import RuleSet

RULES_PER_FUNCTION: Final = 500
"""Compiling many functions of this size takes far less memory than compiling one large function."""

ROW_FUNCTIONS: Final = '''\
def predict_many(rows):
    """Return the predictions for several rows, as a list."""
    return [predict(row) for row in rows]


def _cells(row):
    if hasattr(row, "keys"):
        return [row[name] for name in FEATURES]
    if len(row) != len(FEATURES):
        raise ValueError(f"The row has {len(row)} values; expected {len(FEATURES)}, one per feature.")
    return row


def _value(value, is_number, name):
    """Return a number as a float, NaN if missing: every comparison with NaN is false."""
    if not is_number:
        return value
    if isinstance(value, str):
        raise TypeError(f"{name!r} is the text {value!r}; expected a number.")
    return _MISSING if value is None else float(value)
'''

_TEMPLATE: Final = '''\
"""Rules that predict a class: `predict(row)` for one row, `predict_many(rows)` for several.

A row is a mapping from names to values, or a sequence of values in the order of FEATURES. None and NaN are
missing values. The rules are in the functions below whose names begin with `_rules`.
"""

# {headline}

FEATURES = {features}
CLASSES = {classes}

_IS_NUMBER = {is_number}
_MISSING = float("nan")


def predict(row):
    """Return the class of one row."""
    values = [_value(*cell) for cell in zip(_cells(row), _IS_NUMBER, FEATURES)]
{decide}

{row_functions}

def _winner(votes):
    """Return the first class with the most votes; the default class wins ties.{abstains}"""
    best = max(votes){abstention}
    return CLASSES[{default} if votes[{default}] == best else votes.index(best)]


{functions}'''


def to_python(rules: RuleSet) -> str:
    """Return the text of the module; see `RuleSet.to_python`.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.export import to_python
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> module = {}
    >>> exec(to_python(rules), module)  # or write the text to a file, and import that
    >>> module["predict"]({"age": 60}), module["predict_many"]([[30], [70]])
    ('high', ['low', 'high'])
    """
    plan = export_plan(rules)
    functions: list[str] = []
    decide = [line for jury in plan.juries for line in _jury_lines(plan, jury, functions)]
    return _TEMPLATE.format(
        headline=header_line(rules),
        features=as_tuple(map(repr, plan.features.names)),
        classes=as_tuple(map(repr, plan.labels)),
        is_number=as_tuple(repr(kind != "categorical") for kind in plan.features.kinds),
        row_functions=ROW_FUNCTIONS,
        decide="".join(f"    {line}\n" for line in decide),
        default=plan.by_rank[0],
        **_abstention_parts(plan),
        functions="\n\n".join(functions),
    )


def _abstention_parts(plan: ExportPlan) -> dict[str, str]:
    """Return what `_winner` says and does where no class leads by the margin."""
    if plan.abstention is None:
        return {"abstains": "", "abstention": ""}
    margin, label = plan.abstention.margin, plan.abstention.label
    return {
        "abstains": f"\n\n    Unless it leads by {margin!r}, the rules abstain.\n    ",
        "abstention": (
            f"\n    if sum(best - number < {margin!r} for number in votes) > 1:\n        return {label!r}"
        ),
    }


def as_tuple(items: Iterable[str]) -> str:
    """Return Python's text of a tuple of these expressions."""
    return f"({''.join(f'{item}, ' for item in items).rstrip()})"


def _jury_lines(plan: ExportPlan, jury: PlannedJury, functions: list[str]) -> Iterator[str]:
    """Yield the lines of `predict` that let a jury vote, and append its rules to `functions`."""
    yield f"votes = {list(jury.start)!r}"
    if jury.has_priority:
        yield "fired = 0"
    for begin in range(0, len(jury.rules), RULES_PER_FUNCTION):
        name = f"_rules_{len(functions)}"
        rules = jury.rules[begin : begin + RULES_PER_FUNCTION]
        functions.append("".join(f"{line}\n" for line in _function(plan, name, rules, jury.has_priority)))
        yield f"{'fired += ' if jury.has_priority else ''}{name}(votes, values)"
    if jury.is_divided:
        yield f"votes = [number / divisor for number, divisor in zip(votes, {jury.divisors!r})]"
    if jury.has_priority:
        yield "if fired:  # rules with priority decide alone"
        yield "    return _winner(votes)"
    else:
        yield "return _winner(votes)"


def _function(plan: ExportPlan, name: str, rules: Sequence[PlannedRule], counts: bool) -> Iterator[str]:
    """Yield a function that adds the votes of the rules that fire and, if `counts`, returns their number."""
    variable = local_names(plan, rules)
    yield f"def {name}(votes, values):"
    yield f'    """Add the votes of rules {rules[0].number} to {rules[-1].number}."""'
    for feature, local in variable.items():
        yield f"    {local} = values[{feature}]"
    if counts:
        yield "    fired = 0"
    for rule in rules:
        yield f"    if {premise(plan, rule, variable)}:  # rule {rule.number}"
        yield f"        votes[{rule.class_index}] += {rule.votes!r}"
        if counts:
            yield "        fired += 1"
    if counts:
        yield "    return fired"


def premise(plan: Plan, rule: PlannedRule, variable: dict[int, str]) -> str:
    """Return a condition that holds where the rule fires."""
    tests = [plan.tests[number] for number in rule.tests]
    texts = [
        _test(test, variable[test.feature], plan.features.categories[test.feature] is not None)
        for test in tests
    ]
    return " and ".join(texts) or "True"


def _test(test: Test, value: str, is_category: bool) -> str:
    match test:
        case Above():
            return f"{value} > {test.bound!r}"
        case AtMost():
            return f"{value} <= {test.bound!r}"
        case Known():
            return f"{value} == {value}"
        case Missing():
            # Numbers are never None here, and a category is missing if it is None or NaN.
            return f"({value} is None or {value} != {value})" if is_category else f"{value} != {value}"
        case OneOf():
            return f"{value} in {{{', '.join(map(repr, test.values))}}}"


_RESERVED_NAMES: Final = {"votes", "values", "fired", "specific", "total"}


def local_names(plan: Plan, rules: Sequence[PlannedRule]) -> dict[int, str]:
    """Return a local variable for each feature that the rules test: its name, if that is an identifier."""
    names = plan.features.names
    variable = {}
    for feature in plan.tested_features(rules):
        name = names[feature]
        is_plain = re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,39}", name) and not keyword.iskeyword(name)
        if not is_plain or name in _RESERVED_NAMES:
            name = free_name(f"x{feature}", names.__contains__)
        variable[feature] = name
    return variable
