"""A rule set as a table for people: Markdown and LaTeX."""

from collections.abc import Callable, Iterator
from typing import Final

from clausewise.export.plan import one_line
from clausewise.rules import display
from clausewise.rules.decimals import format_number
from clausewise.rules.rule import ANYTHING
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import format_category
from clausewise.rules.voting import SCHEMES

_LONGEST: Final = 10_000
"""Characters of a cell; a longer one is cut off, as nobody reads it."""


def to_markdown(rules: RuleSet) -> str:
    """A table in the Markdown of GitHub and others; see `RuleSet.to_markdown`."""
    head = _columns(rules)
    lines = [_markdown_text(rules._headline), "", _markdown_row(head)]
    lines.append(_markdown_row(["---" if _is_text(name) else "---:" for name in head]))
    lines += [_markdown_row(cells) for cells in _rows(rules, _markdown_text, " AND ")]
    return "\n".join([*lines, ""])


def to_latex(rules: RuleSet, longtable: bool) -> str:
    """A table in the style of booktabs; see `RuleSet.to_latex`."""
    head = _columns(rules)
    kinds = "".join("p{0.55\\linewidth}" if name == "IF" else "l" if _is_text(name) else "r" for name in head)
    environment = "longtable" if longtable else "tabular"
    titles = _latex_row(list(map(_latex_text, head)))
    lines = [
        f"% {one_line(rules._headline)}",
        f"\\begin{{{environment}}}{{{kinds}}}",
        "\\toprule",
        titles,
        "\\midrule",
    ]
    if longtable:
        lines.append("\\endhead")
    lines += [_latex_row(cells) for cells in _rows(rules, _latex_text, " \\textsc{and} ")]
    return "\n".join([*lines, "\\bottomrule", f"\\end{{{environment}}}", ""])


# --- What both show ---


def _columns(rules: RuleSet) -> list[str]:
    columns = ["rule", "IF", "THEN", "votes", "confidence", "cover"]
    return [*columns, "priority"] if _has_priority(rules) else columns


def _has_priority(rules: RuleSet) -> bool:
    return bool(rules.columns.priority.any())


def _is_text(column: str) -> bool:
    return column in ("IF", "THEN", "priority")


def _rows(rules: RuleSet, escaped: Callable[[str], str], conjunction: str) -> Iterator[list[str]]:
    """Per rule its cells, escaped."""
    stored = rules.columns
    votes = SCHEMES[rules.voting].votes(stored)
    has_priority = _has_priority(rules)
    for rule in range(len(rules)):
        terms = [escaped(term) for term in display.describe_terms(stored, rule, rules.features)]
        cells = [
            str(rule),
            conjunction.join(terms) or ANYTHING,
            escaped(format_category(rules.labels[stored.class_index[rule]])),
            display.describe_votes(float(votes[rule])),
            f"{stored.confidence[rule]:.2f}",
            format_number(round(float(stored.cover[rule]), 1)),
        ]
        yield [*cells, "yes" if stored.priority[rule] else ""] if has_priority else cells


# --- Markdown ---

# Entities where HTML would begin, backslashes where Markdown would.
_MARKDOWN: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", **{mark: f"\\{mark}" for mark in "\\`*_[]|~$#"}}
)


def _markdown_text(text: str) -> str:
    return one_line(text, _LONGEST).translate(_MARKDOWN)


def _markdown_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


# --- LaTeX ---

_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "≤": r"$\le$",
        "∈": r"$\in$",
        "…": r"\dots{}",
        "[": "{[}",  # after \\ it would begin an optional argument
        "]": "{]}",
        "-": "{-}",  # two would become a dash
        "`": r"\textasciigrave{}",
        "'": r"\textquotesingle{}",
        **{mark: f"\\{mark}" for mark in "{}$&#_%"},
    }
)


def _latex_text(text: str) -> str:
    return one_line(text, _LONGEST).translate(_LATEX)


def _latex_row(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
