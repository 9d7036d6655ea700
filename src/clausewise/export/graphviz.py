"""A rule set as a tree in Graphviz's DOT language."""

from collections.abc import Iterator
from typing import Final

from clausewise.export.plan import one_line
from clausewise.rules import display
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import format_category
from clausewise.rules.voting import SCHEMES

_LONGEST: Final = 200
"""Characters of a label; a longer one is cut off, as it could not be drawn."""


def to_graphviz(rules: RuleSet) -> str:
    """A tree of terms with a box per rule; see `RuleSet.to_graphviz`."""
    lines = [
        "digraph rules {",
        "  rankdir=LR;",
        '  node [fontname="Helvetica", shape=ellipse];',
        f"  label={_quoted(rules._headline)};",
        '  root [label="row", shape=point];',
        *_tree(rules),
        "}",
        "",
    ]
    return "\n".join(lines)


def _tree(rules: RuleSet) -> Iterator[str]:
    """A node per term, shared by the rules that begin with the same terms, and a box per conclusion."""
    stored = rules.columns
    votes = SCHEMES[rules.voting].votes(stored)
    node_of: dict[tuple[str, str], str] = {}
    for rule in range(len(rules)):
        node = "root"
        for text in display.describe_terms(stored, rule, rules.features):
            known = node_of.get((node, text))
            if known is None:
                known = node_of[node, text] = f"term_{len(node_of)}"
                yield f"  {known} [label={_quoted(text)}];"
                yield f"  {node} -> {known};"
            node = known
        conclusion = format_category(rules.labels[stored.class_index[rule]])
        shown = f"{one_line(conclusion, _LONGEST)} ({display.describe_votes(float(votes[rule]))})"
        first = ", style=bold" if stored.priority[rule] else ""
        yield f"  rule_{rule} [label={_quoted(shown)}, shape=box{first}];"
        yield f"  {node} -> rule_{rule};"


def _quoted(text: str) -> str:
    """A DOT string; a backslash would begin an escape such as the name of the node."""
    escaped = one_line(text, _LONGEST).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
