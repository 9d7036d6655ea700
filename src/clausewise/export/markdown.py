"""A rule set as a Markdown table."""

from collections.abc import Sequence
from typing import Final

from clausewise.export.rule_table import MAX_CELL, column_names, is_text_column, rule_cells, rule_columns
from clausewise.export.text import one_line
from clausewise.rules.regression import RegressionRules
from clausewise.rules.ruleset import RuleSet

# HTML is prevented by entities, Markdown by backslashes.
_ESCAPES: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", **{mark: f"\\{mark}" for mark in "\\`*_[]|~$#"}}
)


def to_markdown(rules: RuleSet | RegressionRules) -> str:
    """Return a table in GitHub's Markdown; see `RuleSet.to_markdown`.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.export import to_markdown
    >>> text = "IF age > 50 THEN high IF debt > 8 THEN high WITH confidence 0.9"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> print(to_markdown(rules), end="")  # as rules.to_markdown()
    2 rules for the classes high, low; voting confidence, otherwise low
    <BLANKLINE>
    | rule | IF | THEN | votes | confidence | cover |
    | ---: | --- | --- | ---: | ---: | ---: |
    | 0 | age &gt; 50 | high | +1000 | 1.00 | 0 |
    | 1 | debt &gt; 8 | high | +900 | 0.90 | 0 |
    """
    columns = rule_columns(rules)
    names = column_names(columns)
    lines = [_escape(rules.headline), "", _row(names)]
    lines.append(_row(["---" if is_text_column(name) else "---:" for name in names]))
    lines += [_row(cells) for cells in rule_cells(rules, columns, _escape, " AND ")]
    if rules.footnotes:
        lines += ["", *(f"- {_escape(note)}" for note in rules.footnotes)]
    return "\n".join([*lines, ""])


def _escape(text: str) -> str:
    return one_line(text, MAX_CELL).translate(_ESCAPES)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
