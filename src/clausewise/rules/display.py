"""Rule sets as text, and as HTML for notebooks."""

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.rules.columns import NO_SET, RuleColumns, rule_at, values_at
from clausewise.rules.decimals import format_number
from clausewise.rules.rule import ANYTHING, describe_rule, describe_statistics
from clausewise.rules.term import describe_interval, describe_values, format_category
from clausewise.rules.voting import Voting

SHOWN_RULES = 40
"""At most this many rules are printed."""


def describe_term(columns: RuleColumns, term: int, features: Features) -> str:
    """Return a term as text: categories in their declared order, true or false for binary features."""
    feature = int(columns.feature[term])
    name = features.names[feature]
    if columns.value_set[term] != NO_SET:
        return describe_values(name, values_at(columns, term, features))
    low, high = float(columns.low[term]), float(columns.high[term])
    if features.kinds[feature] == "binary" and (low, high) in _BINARY:
        return f"{name} = {_BINARY[low, high]}"
    return describe_interval(name, low, high)


# The bounds of canonical terms on binary features.
_BINARY = {(float("-inf"), 0.0): "false", (0.0, float("inf")): "true"}


def describe_terms(columns: RuleColumns, rule: int, features: Features) -> list[str]:
    """Return the terms of a rule as texts."""
    terms = range(int(columns.starts[rule]), int(columns.starts[rule + 1]))
    return [describe_term(columns, term, features) for term in terms]


def describe_premise(columns: RuleColumns, rule: int, features: Features) -> str:
    """Return the terms of a rule as one text."""
    return " AND ".join(describe_terms(columns, rule, features)) or ANYTHING


def describe_rule_at(columns: RuleColumns, rule: int, features: Features, labels: tuple[Label, ...]) -> str:
    """Return one rule as text."""
    return describe_rule(describe_premise(columns, rule, features), rule_at(columns, rule, features, labels))


def headline(
    n_rules: int,
    labels: Sequence[Label],
    default: Label,
    voting: Voting,
    start: NDArray[np.float64],
    n_with_priority: int = 0,
) -> str:
    """Return one line on a rule set: number of rules, classes, voting, start votes and default class."""
    classes = list(map(format_category, labels))
    shown = ", ".join(classes[:8]) + (f", … {len(classes) - 8} more" if len(classes) > 8 else "")
    rules = "1 rule" if n_rules == 1 else f"{n_rules:,} rules"
    if n_with_priority:
        rules += f" ({n_with_priority:,} with priority)"
    starting = f" ({describe_start(labels, start)})" if start.any() else ""
    return f"{rules} for the classes {shown}; voting {voting}{starting}, otherwise {format_category(default)}"


def describe_start(labels: Sequence[Label], start: NDArray[np.float64], most: int = 8) -> str:
    """Return the base votes that are not 0: `start with gamma +1.25, hadron -0.5`."""
    votes = [
        f"{format_category(label)} {describe_votes(vote)}"
        for label, vote in zip(labels, start.tolist(), strict=True)
        if vote != 0
    ]
    more = f", … {len(votes) - most} more" if len(votes) > most else ""
    return f"start with {', '.join(votes[:most])}{more}"


def describe_votes(votes: float) -> str:
    """Return votes with their sign and four significant digits: `+1.25`, `-0.3333`."""
    text = format_number(float(f"{votes:.4g}"))
    return text if text.startswith("-") else f"+{text}"


def as_text(columns: RuleColumns, features: Features, labels: tuple[Label, ...], headline: str) -> str:
    """Return the headline and one line per rule."""
    width = len(str(max(min(columns.n_rules, SHOWN_RULES) - 1, 0)))
    lines = [
        f"{rule:>{width}}  {describe_rule_at(columns, rule, features, labels)}"
        for rule in range(min(columns.n_rules, SHOWN_RULES))
    ]
    if columns.n_rules > SHOWN_RULES:
        lines.append(
            f"… and {columns.n_rules - SHOWN_RULES:,} more; slice the rule set or use to_frame() to see them"
        )
    return "\n".join([headline, *lines])


def as_html(columns: RuleColumns, features: Features, labels: tuple[Label, ...], headline: str) -> str:
    """Return an HTML table for notebooks. Names and labels come from data, so all text is escaped."""
    rows = []
    for rule in range(min(columns.n_rules, SHOWN_RULES)):
        found = rule_at(columns, rule, features, labels)
        premise = describe_premise(columns, rule, features)
        cells = (str(rule), premise, format_category(found.conclusion), describe_statistics(found))
        rows.append(
            "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in cells) + "</tr>"
        )
    if columns.n_rules > SHOWN_RULES:
        rows.append(f"<tr><td></td><td colspan='3'>… and {columns.n_rules - SHOWN_RULES:,} more</td></tr>")
    head = "<tr><th></th><th>IF</th><th>THEN</th><th></th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
    return f"<div><p>{escape(headline)}</p>{table}</div>"
