"""A rule set as a tree in Graphviz's DOT language."""

from collections.abc import Iterator
from typing import Final

from clausewise.export.text import one_line
from clausewise.rules import display
from clausewise.rules.regression import RegressionRules
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.voting import SCHEMES

_MAX_LABEL: Final = 200
"""Longer labels are cut off after this many characters: they could not be drawn."""


def to_graphviz(rules: RuleSet | RegressionRules) -> str:
    """Return a tree of terms with a box per rule; see `RuleSet.to_graphviz`.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.export import to_graphviz
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> print(to_graphviz(rules), end="")  # as rules.to_graphviz()
    digraph rules {
      rankdir=LR;
      node [fontname="Helvetica", shape=ellipse];
      label="1 rule for the classes high, low; voting confidence, otherwise low";
      root [label="row", shape=point];
      term_0 [label="age > 50"];
      root -> term_0;
      rule_0 [label="high (+1000)", shape=box];
      term_0 -> rule_0;
    }
    """
    lines = [
        "digraph rules {",
        "  rankdir=LR;",
        '  node [fontname="Helvetica", shape=ellipse];',
        f"  label={_quoted('; '.join([rules.headline, *rules.footnotes]))};",
        '  root [label="row", shape=point];',
        *_tree(rules),
        "}",
        "",
    ]
    return "\n".join(lines)


def _tree(rules: RuleSet | RegressionRules) -> Iterator[str]:
    """Yield a node per term, shared by rules that begin with the same terms, and a box per conclusion."""
    stored = rules.columns
    votes = _shown_votes(rules)
    node_of: dict[tuple[str, str], str] = {}
    for rule in range(len(rules)):
        node = "root"
        for text in display.describe_terms(stored, rule, rules.features):
            child = node_of.get((node, text))
            if child is None:
                child = node_of[node, text] = f"term_{len(node_of)}"
                yield f"  {child} [label={_quoted(text)}];"
                yield f"  {node} -> {child};"
            node = child
        _, conclusion, _ = rules.describe_parts(rule)
        shown = f"{one_line(conclusion, _MAX_LABEL)}{votes[rule]}"
        style = ", style=bold" if stored.priority[rule] else ""
        yield f"  rule_{rule} [label={_quoted(shown)}, shape=box{style}];"
        yield f"  {node} -> rule_{rule};"


def _shown_votes(rules: RuleSet | RegressionRules) -> list[str]:
    """Return the votes of each rule in parentheses; what a rule adds is its conclusion already."""
    if isinstance(rules, RegressionRules):
        return [""] * len(rules)
    votes = SCHEMES[rules.voting].votes(rules.columns).tolist()
    return [f" ({display.describe_votes(vote)})" for vote in votes]


def _quoted(text: str) -> str:
    """Return a DOT string. Backslashes are escaped: in a label, `\\N` would become the node's name."""
    escaped = one_line(text, _MAX_LABEL).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
