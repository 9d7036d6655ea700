"""A rule set as the text of a Python module that needs nothing but Python."""

import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from clausewise.export.plan import (
    Above,
    AtMost,
    Known,
    OneOf,
    Plan,
    PlannedJury,
    PlannedRule,
    Test,
    free_name,
    one_line,
    plan_of,
)
from clausewise.rules.ruleset import RuleSet

_RULES_PER_FUNCTION: Final = 500
"""Python compiles many functions of this size in little memory, and one large function in much."""

_TEMPLATE: Final = '''\
"""Rules that decide on a class: `predict(row)` for one row, `predict_many(rows)` for several.

A row is a mapping from names to values, or a sequence of values in the order of FEATURES. None and NaN are
missing. The rules are written out below, in the functions that begin with `_rules`.
"""

# {headline}

FEATURES = {features}
CLASSES = {classes}

_IS_NUMBER = {is_number}
_MISSING = float("nan")


def predict(row):
    """The class of one row."""
    values = [_value(*cell) for cell in zip(_cells(row), _IS_NUMBER, FEATURES)]
{decide}

def predict_many(rows):
    """The classes of several rows, as a list."""
    return [predict(row) for row in rows]


def _cells(row):
    if hasattr(row, "keys"):
        return [row[name] for name in FEATURES]
    if len(row) != len(FEATURES):
        raise ValueError(f"The row has {{len(row)}} values; there are {{len(FEATURES)}} features.")
    return row


def _value(value, is_number, name):
    """A number as a float, and NaN for a missing one, which is neither above nor below anything."""
    if not is_number:
        return value
    if isinstance(value, str):
        raise TypeError(f"{{name!r}} is the text {{value!r}}; a number is needed.")
    return _MISSING if value is None else float(value)


def _winner(votes):
    """The first class with the most votes; the default class comes before all others."""
    best = max(votes)
    return CLASSES[{default} if votes[{default}] == best else votes.index(best)]


{functions}'''


def to_python(rules: RuleSet) -> str:
    """The text of the module; see `RuleSet.to_python`."""
    plan = plan_of(rules)
    functions: list[str] = []
    decide = [line for jury in plan.juries for line in _heard(plan, jury, functions)]
    return _TEMPLATE.format(
        headline=one_line(rules._headline),
        features=_tuple(map(repr, plan.features.names)),
        classes=_tuple(map(repr, plan.labels)),
        is_number=_tuple(repr(kind != "categorical") for kind in plan.features.kinds),
        decide="".join(f"    {line}\n" for line in decide),
        default=plan.by_rank[0],
        functions="\n\n".join(functions),
    )


def _tuple(items: Iterable[str]) -> str:
    return f"({''.join(f'{item}, ' for item in items).rstrip()})"


def _heard(plan: Plan, jury: PlannedJury, functions: list[str]) -> Iterator[str]:
    """The lines of `predict` that ask a jury; its rules are added to the functions."""
    yield f"votes = {list(jury.start)!r}"
    if jury.has_priority:
        yield "fired = 0"
    for begin in range(0, len(jury.rules), _RULES_PER_FUNCTION):
        name = f"_rules_{len(functions)}"
        rules = jury.rules[begin : begin + _RULES_PER_FUNCTION]
        functions.append("".join(f"{line}\n" for line in _function(plan, name, rules, jury.has_priority)))
        yield f"{'fired += ' if jury.has_priority else ''}{name}(votes, values)"
    if jury.is_divided:
        yield f"votes = [number / divisor for number, divisor in zip(votes, {jury.divisors!r})]"
    if jury.has_priority:
        yield "if fired:  # rules with priority decide alone"
        yield "    return _winner(votes)"
    else:
        yield "return _winner(votes)"


def _function(plan: Plan, name: str, rules: Sequence[PlannedRule], counts: bool) -> Iterator[str]:
    """A function that adds the votes of the rules that fire, and counts these rules if asked to."""
    variable = _variables(plan, rules)
    yield f"def {name}(votes, values):"
    yield f'    """Rules {rules[0].number} to {rules[-1].number} add their votes."""'
    for feature, own in variable.items():
        yield f"    {own} = values[{feature}]"
    if counts:
        yield "    fired = 0"
    for rule in rules:
        yield f"    if {_premise(plan, rule, variable)}:  # rule {rule.number}"
        yield f"        votes[{rule.class_index}] += {rule.votes!r}"
        if counts:
            yield "        fired += 1"
    if counts:
        yield "    return fired"


def _premise(plan: Plan, rule: PlannedRule, variable: dict[int, str]) -> str:
    return " and ".join(_test(plan.tests[test], variable) for test in rule.tests) or "True"


def _test(test: Test, variable: dict[int, str]) -> str:
    own = variable[test.feature]
    match test:
        case Above():
            return f"{own} > {test.bound!r}"
        case AtMost():
            return f"{own} <= {test.bound!r}"
        case Known():
            return f"{own} == {own}"
        case OneOf():
            return f"{own} in {{{', '.join(map(repr, test.values))}}}"


_OWN_NAMES: Final = {"votes", "values", "fired"}


def _variables(plan: Plan, rules: Sequence[PlannedRule]) -> dict[int, str]:
    """A local name for each feature that the rules test: its own, if that is a plain one."""
    names = plan.features.names
    variable = {}
    for feature in plan.tested(rules):
        name = names[feature]
        is_plain = re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,39}", name) and not keyword.iskeyword(name)
        if not is_plain or name in _OWN_NAMES:
            name = free_name(f"x{feature}", names.__contains__)
        variable[feature] = name
    return variable
