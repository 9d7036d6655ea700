"""The table of rules that Markdown and LaTeX share: its columns, and the cells of each rule."""

from collections.abc import Callable, Iterator
from typing import Final

from clausewise.rules import display
from clausewise.rules.decimals import format_number
from clausewise.rules.rule import ANYTHING
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.voting import SCHEMES

MAX_CELL: Final = 10_000
"""Longer cells are cut off after this many characters."""


def column_names(rules: RuleSet) -> list[str]:
    """Return the names of the columns; `priority` is there only if a rule has it."""
    columns = ["rule", "IF", "THEN", "votes", "confidence", "cover"]
    return [*columns, "priority"] if _has_priority(rules) else columns


def is_text_column(name: str) -> bool:
    """Whether a column holds text, which is aligned left."""
    return name in ("IF", "THEN", "priority")


def rule_cells(rules: RuleSet, escape: Callable[[str], str], conjunction: str) -> Iterator[list[str]]:
    """Yield the cells of each rule, with text from data escaped and terms joined by `conjunction`."""
    stored = rules.columns
    votes = SCHEMES[rules.voting].votes(stored)
    has_priority = _has_priority(rules)
    for rule in range(len(rules)):
        terms = [escape(term) for term in display.describe_terms(stored, rule, rules.features)]
        cells = [
            str(rule),
            conjunction.join(terms) or ANYTHING,
            escape(display.describe_conclusion_at(stored, rule, rules.labels, rules.voting)),
            display.describe_votes(float(votes[rule])),
            # The confidence of a rule that speaks against a class would be that in the class.
            "" if votes[rule] < 0 else f"{stored.confidence[rule]:.2f}",
            format_number(round(float(stored.cover[rule]), 1)),
        ]
        yield [*cells, "yes" if stored.priority[rule] else ""] if has_priority else cells


def _has_priority(rules: RuleSet) -> bool:
    return bool(rules.columns.priority.any())
