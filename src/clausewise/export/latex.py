"""A rule set as a LaTeX table."""

from collections.abc import Sequence
from typing import Final

from clausewise.base.parameters import FLAG, check_parameters
from clausewise.export.rule_table import MAX_CELL, column_names, is_text_column, rule_cells, rule_columns
from clausewise.export.text import header_line, one_line
from clausewise.rules.regression import RegressionRules
from clausewise.rules.ruleset import RuleSet

_ESCAPES: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "×": r"$\times$",
        "≤": r"$\le$",
        "≥": r"$\ge$",
        "≠": r"$\ne$",
        "∈": r"$\in$",
        "∉": r"$\notin$",
        "…": r"\dots{}",
        "[": "{[}",  # after \\ it would begin an optional argument
        "]": "{]}",
        "-": "{-}",  # two in a row would become a dash
        "`": r"\textasciigrave{}",
        "'": r"\textquotesingle{}",
        **{mark: f"\\{mark}" for mark in "{}$&#_%"},
    }
)


def to_latex(rules: RuleSet | RegressionRules, longtable: bool) -> str:
    r"""Return a table in the style of booktabs; see `RuleSet.to_latex`.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.export import to_latex
    >>> text = "IF age > 50 THEN high IF debt > 8 THEN high WITH confidence 0.9"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> print(to_latex(rules, longtable=False), end="")  # as rules.to_latex()
    % 2 rules for the classes high, low; voting confidence, otherwise low
    \begin{tabular}{rp{0.55\linewidth}lrrr}
    \toprule
    rule & IF & THEN & votes & confidence & cover \\
    \midrule
    0 & age \textgreater{} 50 & high & +1000 & 1.00 & 0 \\
    1 & debt \textgreater{} 8 & high & +900 & 0.90 & 0 \\
    \bottomrule
    \end{tabular}
    """
    check_parameters({"longtable": FLAG}, {"longtable": longtable})
    columns = rule_columns(rules)
    names = column_names(columns)
    environment = "longtable" if longtable else "tabular"
    lines = [
        f"% {header_line(rules)}",
        f"\\begin{{{environment}}}{{{''.join(map(_column_type, names))}}}",
        "\\toprule",
        _row([_escape(name) for name in names]),
        "\\midrule",
    ]
    if longtable:
        lines.append("\\endhead")
    lines += [_row(cells) for cells in rule_cells(rules, columns, _escape, " \\textsc{and} ")]
    if rules.footnotes:
        width = f"\\multicolumn{{{len(names)}}}{{l}}"
        lines += ["\\midrule", *(f"{width}{{{_escape(note)}}} \\\\" for note in rules.footnotes)]
    return "\n".join([*lines, "\\bottomrule", f"\\end{{{environment}}}", ""])


def _column_type(name: str) -> str:
    if name == "IF":
        return "p{0.55\\linewidth}"
    return "l" if is_text_column(name) else "r"


def _escape(text: str) -> str:
    return one_line(text, MAX_CELL).translate(_ESCAPES)


def _row(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
