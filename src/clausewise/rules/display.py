"""Rule sets as text, and as HTML for notebooks."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from clausewise.base import html
from clausewise.base.counts import count_of
from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.rules.columns import NO_SET, RuleColumns, named_values
from clausewise.rules.decimals import format_number
from clausewise.rules.rule import ANYTHING, describe_conclusion, describe_statistics, one_line_rule
from clausewise.rules.term import describe_interval, describe_missing, describe_values, format_category
from clausewise.rules.voting import Voting, speaks_against

SHOWN_RULES = 40
"""At most this many rules are printed."""


def describe_term(columns: RuleColumns, term: int, features: Features) -> str:
    """Return a term as text, with true or false for binary features.

    Categories are in their declared order; the excluded ones are named if they are fewer.
    """
    feature = int(columns.feature[term])
    name = features.names[feature]
    if columns.missing[term]:
        return describe_missing(name)
    if columns.value_set[term] != NO_SET:
        return describe_values(name, *named_values(columns, term, features))
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


def describe_parts_at(
    columns: RuleColumns, rule: int, features: Features, labels: tuple[Label, ...], voting: Voting
) -> tuple[str, str, str]:
    """Return the premise of a rule, the class that it speaks for or against, and its statistics."""
    is_against = speaks_against(columns, rule, voting)
    premise = describe_premise(columns, rule, features)
    conclusion = describe_conclusion(labels[columns.class_index[rule]], is_against)
    statistics = describe_statistics(
        confidence=float(columns.confidence[rule]),
        cover=float(columns.cover[rule]),
        weight=float(columns.weight[rule]),
        priority=bool(columns.priority[rule]),
        is_against=is_against,
        votes_by_weight=voting == "weights",
    )
    return premise, conclusion, statistics


_Key = TypeVar("_Key")
_Made = TypeVar("_Made")


class Remembered(dict[_Key, _Made]):
    """Values by key, each made when it is first asked for."""

    def __init__(self, make: Callable[[_Key], _Made]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: _Key) -> _Made:
        value = self[key] = self._make(key)
        return value


class RuleTexts:
    """Texts of the terms, premises and rules of a rule set by number, each made when it is first needed."""

    def __init__(
        self, columns: RuleColumns, features: Features, describe_parts: Callable[[int], tuple[str, str, str]]
    ) -> None:
        self.conditions = Remembered[int, str](lambda term: describe_term(columns, term, features))
        self.premises = Remembered[int, str](lambda rule: describe_premise(columns, rule, features))
        self.lines = Remembered[int, str](lambda rule: one_line_rule(*describe_parts(rule)))


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
    rules = count_of(n_rules, "rule")
    if n_with_priority:
        rules += f" ({n_with_priority:,} with priority)"
    starting = f" ({describe_start(labels, start)})" if start.any() else ""
    which = "class" if len(classes) == 1 else "classes"
    return f"{rules} for the {which} {shown}; voting {voting}{starting}, otherwise {format_category(default)}"


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


def as_text(
    headline: str,
    describe_parts: Callable[[int], tuple[str, str, str]],
    n_rules: int,
    footnotes: Sequence[str] = (),
) -> str:
    """Return the headline, one line per rule (`describe_parts` gives what is shown of it), and footnotes."""
    n_shown = min(n_rules, SHOWN_RULES)
    width = len(str(max(n_shown - 1, 0)))
    lines = [f"{rule:>{width}}  {one_line_rule(*describe_parts(rule))}" for rule in range(n_shown)]
    if n_rules > SHOWN_RULES:
        lines.append(
            f"… and {n_rules - SHOWN_RULES:,} more; slice the rule set or use to_frame() to see them"
        )
    lines += [f"{'':>{width}}  {note}" for note in footnotes]
    return "\n".join([headline, *lines])


def as_html(
    headline: str,
    describe_parts: Callable[[int], tuple[str, str, str]],
    n_rules: int,
    footnotes: Sequence[str] = (),
) -> str:
    """Return an HTML table for notebooks. Names and labels come from data, so all text is escaped."""
    rows = [(str(rule), *describe_parts(rule)) for rule in range(min(n_rules, SHOWN_RULES))]
    if n_rules > SHOWN_RULES:
        rows.append(("", f"… and {n_rules - SHOWN_RULES:,} more", "", ""))
    notes = map(html.note, footnotes)
    return html.block(headline, html.table(("", "IF", "THEN", ""), rows, numbers=[0]), *notes)
