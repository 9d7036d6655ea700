"""The formats of `clausewise export`, by name."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from clausewise.cli.rule_files import AnyRules
from clausewise.io import json as rule_json
from clausewise.rules import RegressionRules

FORMATS: Final[Mapping[str, Callable[..., Any]]] = {
    "sql": lambda rules, table, dialect, result: _sql(rules, table.split("."), dialect, result),
    "python": lambda rules, **_: rules.to_python(),
    "pmml": lambda rules, **_: rules.to_pmml(),
    "onnx": lambda rules, **_: rules.to_onnx().SerializeToString(),
    "json": lambda rules, **_: rule_json.dumps(rules),
    "text": lambda rules, **_: rules.to_text(),
    "markdown": lambda rules, **_: rules.to_markdown(),
    "latex": lambda rules, **_: rules.to_latex(),
    "graphviz": lambda rules, **_: rules.to_graphviz(),
}

BINARY_FORMATS: Final = ("onnx",)


def _sql(rules: AnyRules, table: list[str], dialect: Any, result: str | None) -> str:
    if isinstance(rules, RegressionRules):
        return rules.to_sql(table, dialect, **({} if result is None else {"prediction": result}))
    return rules.to_sql(table, dialect, **({} if result is None else {"decision": result}))


def export_rules(rules: AnyRules, to: str, *, table: str, dialect: str, result: str | None) -> bytes:
    """Return the rules in a format, as the content of a file; `result` names the last column of SQL."""
    content = FORMATS[to](rules, table=table, dialect=dialect, result=result)
    if isinstance(content, bytes):
        return content
    return (content if content.endswith("\n") else f"{content}\n").encode("utf-8")
