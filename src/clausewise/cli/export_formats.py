"""The formats of `clausewise export`."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from clausewise.io import json as rule_json
from clausewise.rules import RuleSet

FORMATS: Final[Mapping[str, Callable[..., Any]]] = {
    "sql": lambda rules, table, dialect, decision: rules.to_sql(
        table.split("."), dialect=dialect, decision=decision
    ),
    "python": lambda rules, **_: rules.to_python(),
    "pmml": lambda rules, **_: rules.to_pmml(),
    "onnx": lambda rules, **_: rules.to_onnx().SerializeToString(),
    "json": lambda rules, **_: rule_json.dumps(rules),
    "text": lambda rules, **_: rules.to_text(),
    "markdown": lambda rules, **_: rules.to_markdown(),
    "latex": lambda rules, **_: rules.to_latex(),
    "graphviz": lambda rules, **_: rules.to_graphviz(),
}


def exported(rules: RuleSet, to: str, *, table: str, dialect: str, decision: str) -> bytes:
    """The rules in a format, ready to be written."""
    found = FORMATS[to](rules, table=table, dialect=dialect, decision=decision)
    if isinstance(found, bytes):
        return found
    return (found if found.endswith("\n") else f"{found}\n").encode("utf-8")
