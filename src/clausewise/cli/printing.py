"""Printed results: tables of rules, lists of values, JSON."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from clausewise.base.json_text import json_text
from clausewise.rules import display
from clausewise.rules.stored import StoredRules

_WIDTH_WITHOUT_TERMINAL = 120
"""Width of tables that do not go to a terminal, in characters."""


def print_json(value: Any) -> None:
    """Print one line of JSON; NaN, which JSON lacks, becomes null."""
    print(json_text(json_value(value)))


def json_value(value: Any) -> Any:
    """Return the value in types that JSON has."""
    if isinstance(value, Mapping):
        return {str(key): json_value(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(part) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return json_value(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def console(*, stderr: bool = False) -> Console:
    """Return a console as wide as the terminal, or of a fixed width if the output is not a terminal."""
    found = Console(stderr=stderr, highlight=False)
    if not found.is_terminal:
        found = Console(stderr=stderr, highlight=False, width=_WIDTH_WITHOUT_TERMINAL, no_color=True)
    return found


def print_rules(rules: StoredRules[Any], to: Console, *, most: int = display.SHOWN_RULES) -> None:
    """Print a headline and a table of rules, at most the first `most`."""
    to.print(Text(str(rules).split("\n", 1)[0]))
    table = Table(box=None, pad_edge=False, show_edge=False)
    table.add_column("", justify="right", style="dim")
    table.add_column("IF", ratio=1, overflow="fold")
    table.add_column("THEN", overflow="fold")
    table.add_column("", style="dim")
    for number in range(min(len(rules), most)):
        # Text, since names may contain what rich takes for markup.
        table.add_row(*map(Text, (str(number), *rules.describe_parts(number))))
    if len(rules):
        to.print(table)
    if len(rules) > most:
        to.print(Text(f"… and {len(rules) - most:,} more"))
    for note in rules.footnotes:
        to.print(Text(note))


def print_pairs(pairs: Mapping[str, str], to: Console) -> None:
    """Print names and values, one pair per line."""
    table = Table(box=None, pad_edge=False, show_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in pairs.items():
        table.add_row(Text(name), Text(value))
    to.print(table)


def percent(fraction: float | None) -> str:
    """Return a fraction as `91.35 %`, or a dash if there is none."""
    return "–" if fraction is None or math.isnan(fraction) else f"{100 * fraction:.2f} %"
