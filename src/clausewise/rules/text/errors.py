"""The error that points at a place in a rule text."""

from typing import Final

_MAX_PROBLEM: Final = 1_000


class RuleTextError(ValueError):
    """Text that is not in the rule language, or names something unknown.

    Attributes
    ----------
    line, column : int
        Where, counted from 1.
    """

    def __init__(self, problem: str, text: str, position: int) -> None:
        self.line = text.count("\n", 0, position) + 1
        begin = text.rfind("\n", 0, position) + 1
        self.column = position - begin + 1
        if len(problem) > _MAX_PROBLEM:  # names may be megabytes long
            problem = f"{problem[:_MAX_PROBLEM]}…"
        super().__init__(f"line {self.line}, column {self.column}: {problem}\n{_excerpt(text, position)}")


def _excerpt(text: str, position: int, before: int = 60, after: int = 20) -> str:
    """Return the text around a position, within its line, with a caret below the position."""
    begin = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    end = len(text) if end < 0 else end
    first, last = max(begin, position - before), min(end, position + after)
    shown = "".join(character if character.isprintable() else " " for character in text[first:last])
    lead = "…" if first > begin else ""
    return f"  {lead}{shown}{'…' if last < end else ''}\n  {' ' * (len(lead) + position - first)}^"
