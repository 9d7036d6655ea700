"""The rule language: rules as text that people write and `RuleSet.from_text` reads.

    FEATURE age NUMERIC
    FEATURE job CATEGORICAL {cook, nurse, teacher}
    CLASSES {no, yes}
    DEFAULT no
    VOTING confidence

    IF age <= 47 AND job IN {nurse, teacher} THEN yes WITH confidence 0.9, cover 120, correct 112
    IF 17 < age <= 65 THEN no WITH priority

docs/rule-language.md describes it. Text is cut into tokens, and read by one function per construct. Every
error names the line and the column and shows the place.
"""

import difflib
import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.base.json_text import json_text
from clausewise.data.features import KINDS, Features
from clausewise.data.labels import Label
from clausewise.data.table import Category, Kind
from clausewise.rules.columns import NO_SET, RuleColumns, values_at
from clausewise.rules.decimals import format_number, lower_bound, upper_bound
from clausewise.rules.rule import Origin, Rule, check_statistics
from clausewise.rules.term import Term
from clausewise.rules.voting import VOTINGS, Voting

if TYPE_CHECKING:
    from clausewise.rules.ruleset import RuleSet

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
"""Words that name nothing unless they are quoted, in capitals or not."""

_MAX_PROBLEM: Final = 1_000
_STATEMENTS: Final = "FEATURE, COLUMNS, CLASSES, DEFAULT, VOTING, BASE, SCALE or IF"
_NUMBERS: Final = ("confidence", "cover", "correct", "weight")

_TOKEN = re.compile(
    r"""(?P<space>[\s\ufeff]+|\#[^\n]*)
      | (?P<string>"(?:[^"\\\n]|\\[^\n])*")
      | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))
      | (?P<word>[^\W\d][\w.]*)
      | (?P<symbol><=|>=|!=|<>|==|[<>=≤≥≠∈{},])""",
    re.VERBOSE,
)
_BARE_WORD = re.compile(r"[^\W\d][\w.]*")
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SAME_SYMBOL: Final = {"≤": "<=", "≥": ">=", "≠": "!=", "<>": "!=", "==": "=", "∈": "IN"}


_Made = TypeVar("_Made")


class RuleTextError(ValueError):
    """Text that is not in the rule language, or speaks of something unknown.

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
        super().__init__(f"line {self.line}, column {self.column}: {problem}\n{_shown_place(text, position)}")


def _shown_place(text: str, position: int, before: int = 60, after: int = 20) -> str:
    """The part of the line around a position, and a caret below it."""
    begin = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    end = len(text) if end < 0 else end
    first, last = max(begin, position - before), min(end, position + after)
    shown = "".join(character if character.isprintable() else " " for character in text[first:last])
    lead = "…" if first > begin else ""
    return f"  {lead}{shown}{'…' if last < end else ''}\n  {' ' * (len(lead) + position - first)}^"


# --- Writing ---


def written(rules: "RuleSet") -> str:
    """A whole rule set as text, from which `read` makes an equal one."""
    return "\n".join([*_header(rules), "", *written_rules(rules), ""])


def written_rules(rules: "RuleSet") -> Iterator[str]:
    """Each rule as one line."""
    for number in range(len(rules)):
        yield written_rule(rules.columns, number, rules.features, rules.labels)


def written_rule(columns: RuleColumns, number: int, features: Features, labels: Sequence[Label]) -> str:
    """One rule: `IF age <= 47 THEN yes WITH confidence 0.9`; what has its usual value is left out."""
    terms = range(int(columns.starts[number]), int(columns.starts[number + 1]))
    premise = " AND ".join(_written_term(columns, term, features) for term in terms) or "TRUE"
    text = f"IF {premise} THEN {_written_value(labels[columns.class_index[number]])}"
    properties = _written_properties(columns, number)
    return f"{text} WITH {', '.join(properties)}" if properties else text


def _written_properties(columns: RuleColumns, number: int) -> list[str]:
    usual = {"confidence": 1.0, "cover": 0.0, "correct": 0.0, "weight": 1.0}
    values = {name: float(getattr(columns, name)[number]) for name in _NUMBERS}
    written = [f"{name} {format_number(values[name])}" for name in _NUMBERS if values[name] != usual[name]]
    if columns.priority[number]:
        written.append("priority")
    origin = columns.origins[number]
    if origin is not None:
        parts = {"layer": origin.layer, "clause": origin.clause}
        said = [f"{name} {json_text(part)}" for name, part in parts.items() if part is not None]
        written += said or ["origin"]
    return written


def _written_term(columns: RuleColumns, term: int, features: Features) -> str:
    feature = int(columns.feature[term])
    name = _written_name(features.names[feature])
    if columns.value_set[term] != NO_SET:
        values = [_written_value(value) for value in values_at(columns, term, features)]
        return f"{name} = {values[0]}" if len(values) == 1 else f"{name} IN {{{', '.join(values)}}}"
    low, high = float(columns.low[term]), float(columns.high[term])
    if features.kinds[feature] == "binary" and low != high and math.isinf(low) != math.isinf(high):
        return f"{name} = {'TRUE' if low == 0.0 else 'FALSE'}"
    if low == -math.inf and high == math.inf:
        return f"{name} IS KNOWN"
    above, below = lower_bound(low), upper_bound(high)
    if low == -math.inf:
        return f"{name} {below}"
    return f"{name} {above}" if high == math.inf else f"{_from_left(above)} {name} {below}"


def _from_left(bound: str) -> str:
    """`> 17` and `>= 17` as they stand before the name: `17 <`, `17 <=`."""
    comparison, number = bound.split(" ")
    return f"{number} {_MIRRORED[comparison]}"


def _header(rules: "RuleSet") -> Iterator[str]:
    features = rules.features
    for name, kind, categories in zip(features.names, features.kinds, features.categories, strict=True):
        values = "" if categories is None else f" {_written_set(categories)}"
        yield f"FEATURE {_written_name(name)} {kind.upper()}{values}"
    if not features.named:
        yield "COLUMNS BY POSITION"
    dtype = "str" if rules.classes.dtype.kind == "U" else rules.classes.dtype.name
    usual = np.array(rules.classes.tolist()).dtype
    shown_type = "" if dtype == "str" or rules.classes.dtype == usual else f"{dtype} "
    yield f"CLASSES {shown_type}{_written_set(rules.labels)}"
    yield f"DEFAULT {_written_value(rules.default)}"
    yield f"VOTING {rules.voting}"
    if rules.base.any():
        yield f"BASE {_written_set(rules.base.tolist())}"
    if rules.scale != 1.0:
        yield f"SCALE {format_number(rules.scale)}"


def _written_set(values: Sequence[Category]) -> str:
    return f"{{{', '.join(map(_written_value, values))}}}"


def _written_value(value: Category) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        # A whole number stays a float: `2` and `2.0` are labels of different arrays.
        text = format_number(value)
        return text if not value.is_integer() or "e" in text else f"{text}.0"
    return str(value) if isinstance(value, int) else _written_name(value)


def _written_name(name: str) -> str:
    is_plain = _BARE_WORD.fullmatch(name) and name.upper() not in KEYWORDS
    return name if is_plain else json_text(name)


# --- Reading ---


@dataclass(frozen=True)
class Vocabulary:
    """What rules may speak of: features, classes, and the class where no rule fires."""

    features: Features | None = None
    classes: NDArray[Any] | None = None
    default: Label | None = None
    voting: Voting | None = None
    base: list[float] | None = None
    scale: float = 1.0


def read(text: str, known: Vocabulary) -> "RuleSet":
    """The rule set that a text describes; what its header says goes before what is known already."""
    from clausewise.rules.base import DEFAULT_VOTING
    from clausewise.rules.ruleset import RuleSet

    reader = _Reader(text, known)
    rules = reader.everything()
    said = reader.said
    features, default = said.features, said.default
    if features is None:
        reader.fail("FEATURE lines are missing; begin with them or pass features", 0)
    if default is None:
        reader.fail("the class where no rule fires is missing; write DEFAULT or pass default", 0)

    def made() -> RuleSet:
        voting = said.voting or DEFAULT_VOTING
        return RuleSet.from_rules(
            rules, features, default=default, classes=said.classes, voting=voting, base=said.base
        ).with_scale(said.scale)

    return reader.made(made, 0)


def read_rules(text: str, known: Vocabulary) -> list[Rule]:
    """The rules in a text without header, about known features and classes."""
    reader = _Reader(text, known)
    rules = []
    while not reader.at_end:
        if not reader.sees("IF"):
            reader.fail(f"expected IF, found {reader.shown}")
        rules.append(reader.rule())
    if not rules:
        reader.fail("there is no rule; write IF … THEN …")
    return rules


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    position: int


def _tokens(text: str) -> list[_Token]:
    tokens, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise RuleTextError(_unreadable(text, position), text, position)
        if match.lastgroup != "space":
            found = match.group()
            tokens.append(_Token(str(match.lastgroup), _SAME_SYMBOL.get(found, found), position))
        position = match.end()
    tokens.append(_Token("end", "", len(text)))
    return tokens


def _unreadable(text: str, position: int) -> str:
    if text[position] == '"':
        return 'this text does not end; close it with " on the same line (\\n stands for a new line)'
    if text[position].isdigit():
        return 'this is neither a number nor a name; a name that begins with a digit is quoted: "2nd_try"'
    return f"{text[position]!r} means nothing here; names with such characters are quoted"


class _Reader:
    """Reads tokens from first to last; `said` is what is known so far."""

    def __init__(self, text: str, known: Vocabulary) -> None:
        self.text, self.said = text, known
        self._tokens = _tokens(text)
        self._place = 0
        self._features: list[tuple[str, Kind, tuple[Category, ...] | None]] = []
        self._by_position = False
        self._index: dict[str, int] = {}
        self._codes: dict[int, dict[tuple[bool, Category], Category]] = {}
        self._labels: dict[tuple[bool, Category], Label] = {}
        self._vocabulary_changed()

    # --- Tokens ---

    @property
    def _token(self) -> _Token:
        return self._tokens[self._place]

    @property
    def at_end(self) -> bool:
        """Whether everything has been read."""
        return self._token.kind == "end"

    @property
    def shown(self) -> str:
        """The next token for a message."""
        text = self._token.text
        return "the end" if self.at_end else text if len(text) <= 40 else f"{text[:40]}…"

    def sees(self, *words: str) -> bool:
        """Whether the next token is one of these keywords or symbols."""
        token = self._token
        return token.kind in ("word", "symbol") and token.text.upper() in words

    def _next(self) -> _Token:
        token = self._token
        self._place += 1
        return token

    def _take(self, *words: str) -> bool:
        if self.sees(*words):
            self._place += 1
            return True
        return False

    def _expect(self, word: str) -> None:
        if not self._take(word):
            self.fail(f"expected {word}, found {self.shown}")

    def fail(self, problem: str, position: int | None = None) -> NoReturn:
        """Raise an error at the next token, or at a position of the text."""
        raise RuleTextError(problem, self.text, self._token.position if position is None else position)

    # --- Statements ---

    def everything(self) -> list[Rule]:
        """All rules; the header goes into `said`."""
        rules: list[Rule] = []
        seen: set[str] = set()
        statements: dict[str, Callable[[], None]] = {
            "FEATURE": self._feature,
            "COLUMNS": self._columns,
            "CLASSES": self._classes,
            "DEFAULT": self._default,
            "VOTING": self._voting,
            "BASE": self._base,
            "SCALE": self._scale,
        }
        while not self.at_end:
            token = self._token
            keyword = token.text.upper() if token.kind == "word" else ""
            if keyword == "IF":
                self._declare_features()
                rules.append(self.rule())
            elif keyword not in statements:
                self.fail(f"expected {_STATEMENTS}, found {self.shown}")
            elif rules:
                self.fail(f"{keyword} comes before the rules; move it to the top")
            elif keyword in seen and keyword != "FEATURE":
                self.fail(f"{keyword} stands twice")
            else:
                self._place += 1
                seen.add(keyword)
                statements[keyword]()
        self._declare_features()
        return rules

    def _feature(self) -> None:
        name = self._name()
        kind = self._one_of(tuple(kind.upper() for kind in KINDS)).lower()
        categories = tuple(self._values()) if kind == "categorical" else None
        self._features.append((name, cast(Kind, kind), categories))

    def _columns(self) -> None:
        for word in ("BY", "POSITION"):
            self._expect(word)
        self._by_position = True

    def _declare_features(self) -> None:
        """Make features of the FEATURE lines, once the first rule or the end is reached."""
        if self._features:
            names, kinds, categories = zip(*self._features, strict=True)
            self._features = []
            self._say(features=self.made(lambda: Features(names, kinds, categories, not self._by_position)))

    def _classes(self) -> None:
        from clausewise.data.labels import as_classes

        position = self._token.position
        dtype = None if self.sees("{") else self._name()
        labels = self._values()

        def made() -> NDArray[Any]:
            if dtype is None:
                return as_classes(labels)
            if dtype != "object" and not re.fullmatch(r"(u?int|float)(8|16|32|64)", dtype):
                raise ValueError(f"{dtype!r} is no type of labels")
            with np.errstate(over="ignore"):  # what does not fit is found below
                typed = np.array(labels, dtype=dtype)
            if typed.tolist() != labels:
                raise ValueError(f"{dtype} cannot hold every class")
            return as_classes(typed)

        self._say(classes=self.made(made, position))

    def _default(self) -> None:
        self._say(default=self._label())

    def _voting(self) -> None:
        self._say(voting=self._one_of(VOTINGS))

    def _base(self) -> None:
        position = self._token.position
        votes = [self._float_of(value, position) for value in self._values()]
        if self.said.classes is not None and len(votes) != len(self.said.classes):
            self.fail(f"BASE has {len(votes)} numbers for {len(self.said.classes)} classes", position)
        self._say(base=votes)

    def _scale(self) -> None:
        position = self._token.position
        scale = self._number()
        if not scale > 0:
            self.fail("SCALE must be a positive number", position)
        self._say(scale=scale)

    # --- Rules ---

    def rule(self) -> Rule:
        """`IF` premise `THEN` class [`WITH` properties]."""
        position = self._token.position
        self._expect("IF")
        terms = self._premise()
        self._expect("THEN")
        conclusion = self._label()
        properties = self._properties() if self._take("WITH") else {}
        return self.made(lambda: Rule(terms, conclusion, **properties), position)

    def _premise(self) -> tuple[Term, ...]:
        if self.sees("TRUE") and self._tokens[self._place + 1].text.upper() == "THEN":
            self._place += 1
            return ()
        terms = [self._term()]
        while self._take("AND"):
            terms.append(self._term())
        return tuple(terms)

    def _term(self) -> Term:
        if self._token.kind == "number":
            return self._interval()
        position = self._token.position
        feature = self._known_feature()
        if self._take("IS"):
            self._expect("KNOWN")
            return self._known_value(feature)
        if self._take("NOT"):
            self._expect("IN")
            return self._value_set(feature, self._set_values(feature), position, negated=True)
        if self._take("IN"):
            return self._value_set(feature, self._set_values(feature), position)
        if self.sees("=", "!="):
            negated = self._next().text == "!="
            return self._equality(feature, position, negated)
        return self._one_sided(feature)

    def _interval(self) -> Term:
        """`17 < age <= 65` or `65 >= age > 17`, or one side of it: `17 < age`."""
        bound = self._number()
        if not self.sees("<", "<=", ">", ">="):
            self.fail(f"expected <, <=, > or >=, found {self.shown}")
        comparison = self._next().text
        feature = self._known_feature()
        term = self._bounded(feature, _MIRRORED[comparison], bound)
        same_direction = ("<", "<=") if comparison in ("<", "<=") else (">", ">=")
        if not self.sees(*same_direction):
            return term
        other = self._next().text
        return term.intersection(self._bounded(feature, other, self._number()))

    def _one_sided(self, feature: int) -> Term:
        if not self.sees("<", "<=", ">", ">="):
            self.fail(f"expected <, <=, >, >=, =, !=, IN, NOT IN or IS KNOWN, found {self.shown}")
        return self._bounded(feature, self._next().text, self._number())

    def _bounded(self, feature: int, comparison: str, bound: float) -> Term:
        position = self._tokens[self._place - 1].position
        name, kind = self._name_of(feature), self._kind_of(feature)
        if kind == "categorical":
            self.fail(f"{_written_name(name)} is categorical; write = or IN {{…}}", position)
        # Intervals are (low, high], so x < 3 and x ≥ 3 are met by the double just below 3.
        cut = math.nextafter(bound, -math.inf) if comparison in ("<", ">=") else bound
        if not math.isfinite(cut):
            self.fail("there is no number below the smallest one", position)
        is_upper = comparison in ("<", "<=")
        return Term(feature, name, high=cut) if is_upper else Term(feature, name, low=cut)

    def _known_value(self, feature: int) -> Term:
        if self._kind_of(feature) == "categorical":
            return Term(feature, self._name_of(feature), values=self._codes[feature].values())
        return Term(feature, self._name_of(feature))

    def _equality(self, feature: int, position: int, negated: bool) -> Term:
        name, kind = self._name_of(feature), self._kind_of(feature)
        if kind == "categorical":
            return self._value_set(feature, [self._category(feature)], position, negated)
        if kind == "binary":
            word = self._token
            if not self.sees("TRUE", "FALSE") and not (word.kind == "number" and float(word.text) in (0, 1)):
                self.fail(f"{_written_name(name)} is binary; expected TRUE or FALSE, found {self.shown}")
            is_true = self._next().text.upper() in ("TRUE", "1") or (
                word.kind == "number" and float(word.text) == 1
            )
            return Term(feature, name, low=0) if is_true != negated else Term(feature, name, high=0)
        if negated:
            self.fail(
                f"{_written_name(name)} is numeric, and all numbers but one are no interval; write two rules",
                position,
            )
        number = self._number()
        return self._bounded(feature, "<=", number).intersection(self._bounded(feature, ">=", number))

    def _set_values(self, feature: int) -> list[Category]:
        if self._kind_of(feature) != "categorical":
            name, kind = _written_name(self._name_of(feature)), self._kind_of(feature)
            self.fail(f"{name} is {kind}, and IN is for categories; write a comparison")
        return self._listed(lambda: self._category(feature))

    def _value_set(self, feature: int, values: list[Category], position: int, negated: bool = False) -> Term:
        listed = set(map(_key, values))
        kept = [value for key, value in self._codes[feature].items() if (key in listed) != negated]
        return Term(feature, self._name_of(feature), values=kept)

    def _properties(self) -> dict[str, Any]:
        given: dict[str, Any] = {}
        while True:
            position = self._token.position
            name = self._one_of((*_NUMBERS, "priority", "layer", "clause", "origin"))
            if name in given:
                self.fail(f"{name} stands twice", position)
            if name in _NUMBERS:
                position = self._token.position
                given[name] = self._number()
                if name == "confidence":
                    self.made(partial(check_statistics, given[name], 0.0, 0.0, 1.0), position)
            else:
                given[name] = self._name() if name in ("layer", "clause") else True
            if not self._take(","):
                break
        origin = {name: given.pop(name) for name in ("layer", "clause") if name in given}
        if origin or given.pop("origin", False):
            given["origin"] = Origin(**origin)
        return given

    # --- Names and values ---

    def _known_feature(self) -> int:
        if self.said.features is None:
            self.fail("no features are known; begin with FEATURE lines or pass features")
        position, name = self._token.position, self._name()
        place = self._index.get(name)
        if place is None:
            self.fail(f"there is no feature {_written_name(name)}{_meant(name, self._index)}", position)
        return place

    def _name_of(self, feature: int) -> str:
        assert self.said.features is not None
        return self.said.features.names[feature]

    def _kind_of(self, feature: int) -> Kind:
        assert self.said.features is not None
        return self.said.features.kinds[feature]

    def _name(self) -> str:
        """A bare or quoted word."""
        token = self._token
        if token.kind == "string":
            return self._string()
        if token.kind != "word":
            self.fail(f"expected a name, found {self.shown}")
        if token.text.upper() in KEYWORDS:
            self.fail(
                f'expected a name, found {token.text}; a name that is such a word is quoted: "{token.text}"'
            )
        return self._next().text

    def _string(self) -> str:
        token = self._next()
        try:
            text = json.loads(token.text, strict=False)
        except ValueError:
            self.fail("a backslash is followed by something unknown; write \\\\ for one", token.position)
        return cast(str, text)

    def _value(self) -> Category:
        token = self._token
        if token.kind == "number":
            return self._plain_number(self._next())
        if self.sees("TRUE", "FALSE"):
            return self._next().text.upper() == "TRUE"
        if token.kind not in ("word", "string"):
            self.fail(f"expected a value, found {self.shown}")
        return self._name()

    def _values(self) -> list[Category]:
        return self._listed(self._value)

    def _listed(self, one: Callable[[], Category]) -> list[Category]:
        self._expect("{")
        found: list[Category] = []
        while not self._take("}"):
            if found:
                self._expect(",")
            found.append(one())
        return found

    def _number(self) -> float:
        if self._token.kind != "number":
            self.fail(f"expected a number, found {self.shown}")
        position = self._token.position
        return self._float_of(self._plain_number(self._next()), position)

    def _plain_number(self, token: _Token) -> int | float:
        is_whole = token.text.lstrip("+-").isdigit()
        if len(token.text) > 400 or not math.isfinite(float(token.text)):
            self.fail("this number is too long or too large", token.position)
        return int(token.text) if is_whole else float(token.text)

    def _float_of(self, value: Category, position: int) -> float:
        if isinstance(value, bool | str):
            self.fail(f"expected numbers, found {_written_value(value)}", position)
        return float(value)

    def _label(self) -> Label:
        raw, position = self._token.text, self._token.position
        value = self._value()
        if self.said.classes is None:
            return value
        return self._found(value, raw, position, self._labels, "class")

    def _category(self, feature: int) -> Category:
        raw, position = self._token.text, self._token.position
        what = f"category of {_written_name(self._name_of(feature))}"
        return self._found(self._value(), raw, position, self._codes[feature], what)

    def _found(
        self,
        value: Category,
        raw: str,
        position: int,
        known: dict[tuple[bool, Category], Category],
        what: str,
    ) -> Category:
        """The known value that is meant: `1` may mean the text "1" where values are text."""
        for candidate in (value, raw):
            if _key(candidate) in known:
                return known[_key(candidate)]
        near = _meant(str(value), {str(other): 0 for other in known.values()})
        listed = ", ".join(_written_value(other) for other in list(known.values())[:8])
        more = ", …" if len(known) > 8 else ""
        return self.fail(f"{_written_value(value)} is no {what}{near}; there are {listed}{more}", position)

    def _one_of(self, choices: Sequence[str]) -> Any:
        token = self._token
        for choice in choices:
            if token.kind == "word" and token.text.lower() == choice.lower():
                self._place += 1
                return choice
        return self.fail(f"expected {', '.join(choices)}, found {self.shown}")

    # --- What is known ---

    def _say(self, **parts: Any) -> None:
        self.said = replace(self.said, **parts)
        self._vocabulary_changed()

    def _vocabulary_changed(self) -> None:
        features, classes = self.said.features, self.said.classes
        if features is not None:
            self._index = {name: place for place, name in enumerate(features.names)}
            self._codes = {
                place: {_key(value): value for value in values}
                for place, values in enumerate(features.categories)
                if values is not None
            }
        if classes is not None:
            self._labels = {_key(label): label for label in classes.tolist()}

    def made(self, make: Callable[[], _Made], position: int | None = None) -> _Made:
        """What a constructor makes, or its complaint with the place in the text."""
        try:
            return make()
        except (ValueError, TypeError, OverflowError) as error:
            self.fail(str(error).rstrip("."), position)


def _key(value: Category) -> tuple[bool, Category]:
    """True is not 1 here, though Python thinks so."""
    return isinstance(value, bool), value


def _meant(name: str, known: dict[str, int]) -> str:
    """`; did you mean age?`, if something known looks alike."""
    if len(name) > 100:  # comparing long texts takes long, and many as well
        return ""
    alike = [other for other in itertools.islice(known, 500) if abs(len(other) - len(name)) <= len(name)]
    near = difflib.get_close_matches(name, alike, n=1)
    return f"; did you mean {_written_name(near[0])}?" if near else ""


def vocabulary_of(rules: "RuleSet") -> Vocabulary:
    """What a rule set's rules may speak of."""
    return Vocabulary(rules.features, rules.classes, rules.default, rules.voting)


def vocabulary(
    features: Features | Sequence[str] | None,
    classes: ArrayLike | None,
    default: Label | None,
    voting: Voting | None,
) -> Vocabulary:
    """What a caller says of rules, as far as it does."""
    from clausewise.data.labels import as_classes, known_label
    from clausewise.rules.base import as_features

    labels = None if classes is None else as_classes(classes)
    if labels is not None and default is not None:
        default = known_label(default, labels)
    return Vocabulary(None if features is None else as_features(features), labels, default, voting)
