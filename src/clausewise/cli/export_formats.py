"""The formats of `clausewise export`, by name."""

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


def export_rules(rules: RuleSet, to: str, *, table: str, dialect: str, decision: str) -> bytes:
    """Return the rules in a format, as the content of a file."""
    content = FORMATS[to](rules, table=table, dialect=dialect, decision=decision)
    if isinstance(content, bytes):
        return content
    return (content if content.endswith("\n") else f"{content}\n").encode("utf-8")
