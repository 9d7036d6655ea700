"""Rule files: JSON, or text in the rule language."""

import sys
from pathlib import Path

from clausewise.cli.errors import RuleSourceError
from clausewise.cli.output_files import write_bytes
from clausewise.cli.table_files import STDIN
from clausewise.io import json as rule_json
from clausewise.rules import RegressionRules, RuleSet, RuleTextError
from clausewise.rules.text import is_for_numbers

TEXT_SUFFIXES = (".txt", ".rules")
"""Suffixes of files with text in the rule language."""


SUFFIXES = (".json", *TEXT_SUFFIXES)
"""Suffixes of the files that `write_rules` writes."""

AnyRules = RuleSet | RegressionRules
"""Rules for classes or for numbers."""


def read_rules(path: str) -> AnyRules:
    """Read a rule file, or text in the rule language; `-` is standard input."""
    if path == STDIN:
        data = sys.stdin.buffer.read(rule_json.MAX_BYTES + 1)
    elif _is_text(path):
        data = Path(path).read_bytes()
    else:
        return rule_json.load_any(path)
    source = "standard input" if path == STDIN else path
    if data.lstrip()[:1] in (b"{", b""):
        return rule_json.loads_any(data, source=source)
    try:
        text = data.decode("utf-8")
        return RegressionRules.from_text(text) if is_for_numbers(text) else RuleSet.from_text(text)
    except RuleTextError as error:
        raise RuleSourceError(f"{source}, {error}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{source} is not text in UTF-8: {error.reason}, byte {error.start}.") from error


def write_rules(rules: AnyRules, output: str | None) -> None:
    """Write rules as text if the file name says so, else as JSON."""
    text = rules.to_text() if output is not None and _is_text(output) else rule_json.dumps(rules)
    write_bytes(text.encode("utf-8"), output)


def _is_text(path: str) -> bool:
    return Path(path).suffix.lower() in TEXT_SUFFIXES
