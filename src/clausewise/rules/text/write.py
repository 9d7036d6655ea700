"""Writes rules as text that `read.py` reads back as equal rules."""

import math
from collections.abc import Sequence
from typing import Final

from clausewise.base.json_text import json_text
from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.data.table import Category
from clausewise.rules.base import DEFAULT_VOTING
from clausewise.rules.columns import NO_SET, RuleColumns, named_values
from clausewise.rules.decimals import format_number, lower_bound, upper_bound
from clausewise.rules.rule import Origin
from clausewise.rules.text.tokens import MIRRORED, is_bare_name
from clausewise.rules.voting import Voting, speaks_against

_DEFAULTS: Final = {"confidence": 1.0, "cover": 0.0, "correct": 0.0, "weight": 1.0}


def write_rule(
    columns: RuleColumns,
    number: int,
    features: Features,
    labels: Sequence[Label],
    voting: Voting = DEFAULT_VOTING,
) -> str:
    """Write one rule, `IF age <= 47 THEN yes WITH confidence 0.9`; default values are omitted.

    If rules vote by weights, `THEN NOT yes WITH weight 2` stands for a weight of −2.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.rules.text import write_rule
    >>> rules = RuleSet.from_text("IF age > 50 THEN high WITH confidence 0.9", ["age"], default="low")
    >>> write_rule(rules.columns, 0, rules.features, rules.classes.tolist())
    'IF age > 50 THEN high WITH confidence 0.9'
    """
    is_against = speaks_against(columns, number, voting)
    conclusion = write_value(labels[columns.class_index[number]])
    premise = write_premise(columns, number, features)
    text = f"IF {premise} THEN {'NOT ' if is_against else ''}{conclusion}"
    properties = _write_properties(columns, number, is_against)
    return f"{text} WITH {', '.join(properties)}" if properties else text


def _write_properties(columns: RuleColumns, number: int, is_against: bool) -> list[str]:
    values = {name: float(getattr(columns, name)[number]) for name in _DEFAULTS}
    if is_against:
        values["weight"] = -values["weight"]
    written = [f"{name} {format_number(value)}" for name, value in values.items() if value != _DEFAULTS[name]]
    if columns.priority[number]:
        written.append("priority")
    return written + write_origin(columns.origins[number])


def write_premise(columns: RuleColumns, number: int, features: Features) -> str:
    """Write the terms of a rule, joined by AND."""
    terms = range(int(columns.starts[number]), int(columns.starts[number + 1]))
    return " AND ".join(_write_term(columns, term, features) for term in terms) or "TRUE"


def write_origin(origin: Origin | None) -> list[str]:
    """Write where a rule was found, as properties."""
    if origin is None:
        return []
    parts = {"layer": origin.layer, "clause": origin.clause}
    return [f"{name} {json_text(part)}" for name, part in parts.items() if part is not None] or ["origin"]


def _write_term(columns: RuleColumns, term: int, features: Features) -> str:
    feature = int(columns.feature[term])
    name = write_name(features.names[feature])
    if columns.missing[term]:
        return f"{name} IS MISSING"
    if columns.value_set[term] != NO_SET:
        values, are_excluded = named_values(columns, term, features)
        if are_excluded and not values:
            return f"{name} IS KNOWN"
        if len(values) == 1:
            return f"{name} {'!=' if are_excluded else '='} {write_value(values[0])}"
        return f"{name} {'NOT IN' if are_excluded else 'IN'} {write_set(values)}"
    low, high = float(columns.low[term]), float(columns.high[term])
    if features.kinds[feature] == "binary" and low != high and math.isinf(low) != math.isinf(high):
        return f"{name} = {'TRUE' if low == 0.0 else 'FALSE'}"
    if low == -math.inf and high == math.inf:
        return f"{name} IS KNOWN"
    above, below = lower_bound(low), upper_bound(high)
    if low == -math.inf:
        return f"{name} {below}"
    return f"{name} {above}" if high == math.inf else f"{_from_left(above)} {name} {below}"


def _from_left(bound: str) -> str:
    """Turn `> 17` and `>= 17` into what stands before the name: `17 <`, `17 <=`."""
    comparison, number = bound.split(" ")
    return f"{number} {MIRRORED[comparison]}"


def write_set(values: Sequence[Category]) -> str:
    """Write values in braces."""
    return f"{{{', '.join(map(write_value, values))}}}"


def write_value(value: Category) -> str:
    """Write a class or category."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        # A whole number stays a float: `2` and `2.0` are labels of different arrays.
        text = format_number(value)
        return text if not value.is_integer() or "e" in text else f"{text}.0"
    return str(value) if isinstance(value, int) else write_name(value)


def write_name(name: str) -> str:
    """Write a name, in quotes where it needs them."""
    return name if is_bare_name(name) else json_text(name)
