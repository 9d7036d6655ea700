"""The table of rules that Markdown and LaTeX share: its columns, and the cells of each rule."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from clausewise.rules import display
from clausewise.rules.decimals import format_number
from clausewise.rules.regression import RegressionRules
from clausewise.rules.rule import ANYTHING
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.stored import StoredRules
from clausewise.rules.voting import SCHEMES

MAX_CELL: Final = 10_000
"""Longer cells are cut off after this many characters."""

_TEXT_COLUMNS: Final = ("IF", "THEN", "priority")


def is_text_column(name: str) -> bool:
    """Whether a column holds text, which is aligned left."""
    return name in _TEXT_COLUMNS


def rule_columns(rules: RuleSet | RegressionRules) -> dict[str, list[str]]:
    """Return what is shown of each rule beside its number, premise and conclusion, by column."""
    return _additions(rules) if isinstance(rules, RegressionRules) else _votes(rules)


def rule_cells(
    rules: StoredRules[Any], columns: dict[str, list[str]], escape: Callable[[str], str], conjunction: str
) -> Iterator[list[str]]:
    """Yield the cells of each rule, with text from data escaped and terms joined by `conjunction`."""
    for rule in range(len(rules)):
        terms = [escape(term) for term in display.describe_terms(rules.columns, rule, rules.features)]
        _, conclusion, _ = rules.describe_parts(rule)
        yield [
            str(rule),
            conjunction.join(terms) or ANYTHING,
            escape(conclusion),
            *(cells[rule] for cells in columns.values()),
        ]


def column_names(columns: dict[str, list[str]]) -> list[str]:
    """Return the names of all columns."""
    return ["rule", "IF", "THEN", *columns]


def _votes(rules: RuleSet) -> dict[str, list[str]]:
    stored = rules.columns
    votes = SCHEMES[rules.voting].votes(stored).tolist()
    columns = {
        "votes": [display.describe_votes(vote) for vote in votes],
        # The confidence of a rule that speaks against a class would be that in the class.
        "confidence": [
            "" if vote < 0 else f"{confidence:.2f}"
            for vote, confidence in zip(votes, stored.confidence.tolist(), strict=True)
        ],
        "cover": _cover(rules),
    }
    if stored.priority.any():
        columns["priority"] = ["yes" if has_priority else "" for has_priority in stored.priority.tolist()]
    return columns


def _additions(rules: RegressionRules) -> dict[str, list[str]]:
    return {
        "cover": _cover(rules),
        "mean": ["" if rule.mean is None else f"{rule.mean:.4g}" for rule in rules],
        "90 %": [
            "" if rule.interval is None else "{:.4g} to {:.4g}".format(*rule.interval) for rule in rules
        ],
    }


def _cover(rules: StoredRules[Any]) -> list[str]:
    return [format_number(round(cover, 1)) for cover in rules.columns.cover.tolist()]
