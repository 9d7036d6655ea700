"""The options of a page that its author chooses: names, colours and locked columns."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from clausewise.cli.rule_files import AnyRules
from clausewise.rules import RegressionRules


def page_options(
    rules: AnyRules, labels: str | None, colors: Sequence[str] | None, fixed: Sequence[str] | None
) -> dict[str, Any]:
    """Return the given ones of the arguments `labels`, `colors` and `fixed` of the page of these rules."""
    if isinstance(rules, RegressionRules) and (colors or fixed):
        raise typer.BadParameter("--color and --fixed are for rules for classes")
    found: dict[str, Any] = {}
    if labels is not None:
        found["labels"] = _read_labels(labels)
    if colors:
        found["colors"] = dict(_pair(text) for text in colors)
    if fixed:
        found["fixed"] = list(fixed)
    return found


def _read_labels(path: str) -> dict[str, Any]:
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not JSON: {error}.") from None
    if not isinstance(found, dict):
        raise ValueError(f'{path} has no names; write an object such as {{"A11": "below 0 DM"}}.')
    return found


def _pair(text: str) -> tuple[str, str]:
    label, sign, colour = text.rpartition("=")
    if not sign:
        raise typer.BadParameter(f"--color {text}: write a class and its colour, such as bad=#b00020")
    return label, colour
