"""HTML for notebooks: small tables whose text is escaped, readable in light and in dark themes.

A notebook's theme is not known here, so text keeps its colour, and lines and bars are a transparent grey.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

_GREY = "rgba(128,128,128,.35)"
_PARAGRAPH = "margin:.4em 0"
_TABLE = f"border-collapse:collapse;margin:.4em 0;border-bottom:1px solid {_GREY}"
_CELL = "padding:.2em .6em;vertical-align:top"
_HEAD = f"{_CELL};font-weight:600;border-bottom:1px solid {_GREY}"


class Bar(NamedTuple):
    """A cell with a bar behind its text."""

    text: str
    fraction: float


Cell = str | Bar


def block(title: str, *parts: str) -> str:
    """Return a title, given as text, above parts that are HTML already."""
    return f"<div><p style='{_PARAGRAPH};font-weight:600'>{escape(title)}</p>{''.join(parts)}</div>"


def note(text: str) -> str:
    """Return a paragraph of text."""
    return f"<p style='{_PARAGRAPH}'>{escape(text)}</p>"


def warnings(texts: Iterable[str]) -> str:
    """Return a marked paragraph for each warning."""
    style = f"{_PARAGRAPH};border-left:.25em solid;padding-left:.6em"
    return "".join(f"<p style='{style}'>Warning: {escape(text)}</p>" for text in texts)


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], *, numbers: Iterable[int] = ()) -> str:
    """Return a table.

    Parameters
    ----------
    head : sequence of str
        The names of the columns, which are not shown if all are empty.
    rows : iterable of sequences of str or Bar
        The cells, row by row.
    numbers : iterable of int
        The columns that are aligned to the right.
    """
    right = set(numbers)
    sides = ["right" if column in right else "left" for column in range(len(head))]
    names = _row("th", _HEAD, head, sides) if any(head) else ""
    body = "".join(_row("td", _CELL, row, sides) for row in rows)
    return f"<table style='{_TABLE}'><thead>{names}</thead><tbody>{body}</tbody></table>"


def _row(tag: str, style: str, cells: Sequence[Cell], sides: Sequence[str]) -> str:
    made = []
    for cell, side in zip(cells, sides, strict=True):
        text, behind = (cell.text, _bar(cell.fraction)) if isinstance(cell, Bar) else (cell, "")
        made.append(f"<{tag} style='text-align:{side};{style}{behind}'>{escape(text)}</{tag}>")
    return f"<tr>{''.join(made)}</tr>"


def _bar(fraction: float) -> str:
    end = f"{100 * min(max(fraction, 0.0), 1.0):.1f}%"
    return f";background:linear-gradient(to right,{_GREY} {end},transparent {end})"
