"""Text from data (names, categories, labels) made safe for generated files and error messages."""

from collections.abc import Callable
from typing import Any

from clausewise.rules.stored import StoredRules


def free_name(name: str, is_taken: Callable[[str], bool]) -> str:
    """Return the name, with underscores appended until it is free."""
    while is_taken(name):
        name += "_"
    return name


def one_line(text: str, most: int = 200) -> str:
    """Return the text on one line, printable, and cut off after `most` characters."""
    line = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text[: most + 1])
    return line if len(line) <= most else f"{line[:most]}…"


def header_line(rules: StoredRules[Any]) -> str:
    """Return what the first line of a file says: the rules in one line, and what is guaranteed of them."""
    return "; ".join(map(one_line, (rules.headline, *rules.promise_lines)))


def quoted_short(text: str) -> str:
    """Return the text in quotes, short enough for an error message."""
    return one_line(repr(text), 80)


def require_unicode(text: str, what: str) -> str:
    """Return the text, or raise if it contains a lone surrogate, which UTF-8 cannot encode."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{what} {quoted_short(text)} contains the lone surrogate {text[error.start]!r}, which is not a "
            "character; rename it."
        ) from None
    return text
