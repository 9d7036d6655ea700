"""Whole rule sets as text: a header that declares features, classes, default and voting, then the rules."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import KINDS, Features
from clausewise.data.labels import as_classes
from clausewise.data.table import Category, Kind
from clausewise.rules.base import DEFAULT_VOTING
from clausewise.rules.decimals import format_number
from clausewise.rules.rule import Rule
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.text.read import RuleReader
from clausewise.rules.text.vocabulary import Vocabulary
from clausewise.rules.text.write import write_name, write_rule, write_set, write_value
from clausewise.rules.voting import VOTINGS

_STATEMENTS: Final = "FEATURE, COLUMNS, CLASSES, DEFAULT, VOTING, BASE, SCALE or IF"


# --- Writing ---


def write_ruleset(rules: RuleSet) -> str:
    """Write a whole rule set, from which `read_ruleset` makes an equal one."""
    return "\n".join([*_write_header(rules), "", *write_rules(rules), ""])


def write_rules(rules: RuleSet) -> Iterator[str]:
    """Write each rule as one line."""
    for number in range(len(rules)):
        yield write_rule(rules.columns, number, rules.features, rules.labels, rules.voting)


def _write_header(rules: RuleSet) -> Iterator[str]:
    features = rules.features
    for name, kind, categories in zip(features.names, features.kinds, features.categories, strict=True):
        values = "" if categories is None else f" {write_set(categories)}"
        yield f"FEATURE {write_name(name)} {kind.upper()}{values}"
    if not features.named:
        yield "COLUMNS BY POSITION"
    dtype = "str" if rules.classes.dtype.kind == "U" else rules.classes.dtype.name
    inferred = np.array(rules.classes.tolist()).dtype
    shown_type = "" if dtype == "str" or rules.classes.dtype == inferred else f"{dtype} "
    yield f"CLASSES {shown_type}{write_set(rules.labels)}"
    yield f"DEFAULT {write_value(rules.default)}"
    yield f"VOTING {rules.voting}"
    if rules.base.any():
        yield f"BASE {write_set(rules.base.tolist())}"
    if rules.scale != 1.0:
        yield f"SCALE {format_number(rules.scale)}"


# --- Reading ---


def read_ruleset(text: str, known: Vocabulary) -> RuleSet:
    """Read a rule set; its header takes precedence over the vocabulary that is already known."""
    reader = _DocumentReader(text, known)
    rules = reader.everything()
    found = reader.vocabulary
    features, default = found.features, found.default
    if features is None:
        reader.fail("FEATURE lines are missing; add them at the top or pass features", 0)
    if default is None:
        reader.fail("the class where no rule fires is missing; write DEFAULT or pass default", 0)

    def build() -> RuleSet:
        voting = found.voting or DEFAULT_VOTING
        return RuleSet.from_rules(
            rules, features, default=default, classes=found.classes, voting=voting, base=found.base
        ).with_scale(found.scale)

    return reader.build(build, 0)


class _DocumentReader(RuleReader):
    """Reads the statements of a header as well as rules."""

    def __init__(self, text: str, known: Vocabulary) -> None:
        super().__init__(text, known)
        self._features: list[tuple[str, Kind, tuple[Category, ...] | None]] = []
        self._by_position = False

    def everything(self) -> list[Rule]:
        """Read all statements; return the rules and put the header into `vocabulary`."""
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
            token = self.token
            keyword = token.text.upper() if token.kind == "word" else ""
            if keyword == "IF":
                self._declare_features()
                rules.append(self.rule())
            elif keyword not in statements:
                self.fail(f"expected {_STATEMENTS}, found {self.shown}")
            elif rules:
                self.fail(f"{keyword} must come before the rules; move it to the top")
            elif keyword in seen and keyword != "FEATURE":
                self.fail(f"{keyword} is given twice")
            else:
                self.next()
                seen.add(keyword)
                statements[keyword]()
        self._declare_features()
        return rules

    def _feature(self) -> None:
        name = self.name()
        kind = self.one_of(tuple(kind.upper() for kind in KINDS)).lower()
        categories = tuple(self.values()) if kind == "categorical" else None
        self._features.append((name, cast(Kind, kind), categories))

    def _columns(self) -> None:
        for word in ("BY", "POSITION"):
            self.expect(word)
        self._by_position = True

    def _declare_features(self) -> None:
        """Make features of the FEATURE lines, once the first rule or the end is reached."""
        if self._features:
            names, kinds, categories = zip(*self._features, strict=True)
            self._features = []
            named = not self._by_position
            self.declare(features=self.build(lambda: Features(names, kinds, categories, named)))

    def _classes(self) -> None:
        position = self.token.position
        dtype = None if self.sees("{", "(") else self.name()
        labels = self.values()

        def build() -> NDArray[Any]:
            if dtype is None:
                return as_classes(labels)
            if dtype != "object" and not re.fullmatch(r"(u?int|float)(8|16|32|64)", dtype):
                raise ValueError(f"{dtype!r} is not a type of labels")
            return as_classes(_typed(labels, dtype))

        self.declare(classes=self.build(build, position))

    def _default(self) -> None:
        self.declare(default=self.label())

    def _voting(self) -> None:
        self.declare(voting=self.one_of(VOTINGS))

    def _base(self) -> None:
        position = self.token.position
        votes = [self.as_float(value, position) for value in self.values()]
        classes = self.vocabulary.classes
        if classes is not None and len(votes) != len(classes):
            self.fail(f"BASE has {len(votes)} numbers for {len(classes)} classes", position)
        self.declare(base=votes)

    def _scale(self) -> None:
        position = self.token.position
        scale = self.number()
        if not scale > 0:
            self.fail("SCALE must be a positive number", position)
        self.declare(scale=scale)


def _typed(labels: list[Category], dtype: str) -> NDArray[Any]:
    """Return labels as an array of a type that holds all of them exactly."""
    try:
        with np.errstate(over="ignore"):  # floats that overflow differ below
            typed = np.array(labels, dtype=dtype)
    except (ValueError, OverflowError):
        typed = None
    if typed is None or typed.tolist() != labels:
        raise ValueError(f"{dtype} cannot hold every class")
    return typed
