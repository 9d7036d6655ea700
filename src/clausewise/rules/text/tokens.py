"""Tokens of the rule language, and a cursor that walks over them."""

import re
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from clausewise.rules.text.errors import RuleTextError

KEYWORDS: Final = frozenset(
    [
        "IF",
        "AND",
        "THEN",
        "WITH",
        "IN",
        "NOT",
        "IS",
        "KNOWN",
        "TRUE",
        "FALSE",
        "FEATURE",
        "CLASSES",
        "DEFAULT",
        "VOTING",
        "BASE",
        "SCALE",
        "COLUMNS",
    ]
)
"""Words, in any case, that must be quoted to be names."""

MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Each comparison with its sides swapped: `3 < x` is `x > 3`."""

_TOKEN = re.compile(
    r"""(?P<space>[\s\ufeff]+|\#[^\n]*)
      | (?P<string>"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+")
      | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))
      | (?P<word>[^\W\d][\w.]*)
      | (?P<symbol><=|>=|!=|<>|==|[<>=≤≥≠∈∉{}(),])""",
    re.VERBOSE,
)
_BARE_WORD = re.compile(r"[^\W\d][\w.]*")
_SAME_SYMBOL: Final = {"≤": "<=", "≥": ">=", "≠": "!=", "<>": "!=", "==": "=", "∈": "IN"}


def is_bare_name(name: str) -> bool:
    """Whether a name can be written without quotes."""
    return _BARE_WORD.fullmatch(name) is not None and name.upper() not in KEYWORDS


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text: a "string", "number", "word" or "symbol", or the "end"."""

    kind: str
    text: str
    position: int


def tokens_of(text: str) -> list[Token]:
    """Split a text into tokens without spaces and comments; the last token is the end."""
    tokens, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise RuleTextError(_unreadable(text, position), text, position)
        if match.lastgroup != "space":
            found = match.group()
            tokens.append(Token(str(match.lastgroup), _SAME_SYMBOL.get(found, found), position))
        position = match.end()
    tokens.append(Token("end", "", len(text)))
    return tokens


def _unreadable(text: str, position: int) -> str:
    if text[position] == '"':
        return 'unterminated string; close it with " on the same line (\\n stands for a line break)'
    if text[position].isdigit():
        return 'this is neither a number nor a name; quote a name that starts with a digit: "2nd_try"'
    return f"unexpected character {text[position]!r}; quote names that contain it"


class TokenCursor:
    """Walks over the tokens of a text from first to last."""

    def __init__(self, text: str) -> None:
        self.restart(text)

    def restart(self, text: str) -> None:
        """Begin with another text."""
        self.text = text
        self._tokens = tokens_of(text)
        self._place = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._place]

    @property
    def at_end(self) -> bool:
        """Whether everything has been read."""
        return self.token.kind == "end"

    @property
    def shown(self) -> str:
        """The next token, shortened for a message."""
        text = self.token.text
        return "the end" if self.at_end else text if len(text) <= 40 else f"{text[:40]}…"

    @property
    def last_position(self) -> int:
        """The position of the token that was read last."""
        return self._tokens[self._place - 1].position

    def sees(self, *words: str, ahead: int = 0) -> bool:
        """Whether the next token (or one further ahead) is one of these keywords or symbols."""
        token = self._tokens[min(self._place + ahead, len(self._tokens) - 1)]
        return token.kind in ("word", "symbol") and token.text.upper() in words

    def next(self) -> Token:
        """Read the next token."""
        token = self.token
        self._place += 1
        return token

    def take(self, *words: str) -> bool:
        """Read the next token if it is one of these keywords or symbols; return whether it was."""
        if self.sees(*words):
            self._place += 1
            return True
        return False

    def expect(self, word: str) -> None:
        """Read the next token, which must be this keyword or symbol."""
        if not self.take(word):
            self.fail(f"expected {word}, found {self.shown}")

    def one_of(self, choices: tuple[str, ...]) -> Any:
        """Read the next token, which must be one of these words in any case; return the choice."""
        token = self.token
        for choice in choices:
            if token.kind == "word" and token.text.lower() == choice.lower():
                self._place += 1
                return choice
        return self.fail(f"expected {', '.join(choices)}, found {self.shown}")

    def fail(self, problem: str, position: int | None = None) -> NoReturn:
        """Raise an error at the next token, or at a position of the text."""
        raise RuleTextError(problem, self.text, self.token.position if position is None else position)
