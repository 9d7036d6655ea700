"""Rule sets for classes as text: features, classes, default and voting in a header, then the rules."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from clausewise.data.labels import as_classes
from clausewise.data.table import Category
from clausewise.rules.base import DEFAULT_VOTING
from clausewise.rules.decimals import format_number
from clausewise.rules.rule import Rule
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.text.headers import DocumentReader, write_features
from clausewise.rules.text.premises import implied_limit
from clausewise.rules.text.read import RuleReader
from clausewise.rules.text.vocabulary import Vocabulary
from clausewise.rules.text.write import write_set, write_value
from clausewise.rules.text.written_form import NotInWrittenFormError, header_of, read_written
from clausewise.rules.voting import VOTINGS

# --- Writing ---


def write_ruleset(rules: RuleSet) -> str:
    """Write a whole rule set, from which `read_ruleset` makes an equal one.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.rules.text import write_ruleset
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> print(write_ruleset(rules), end="")
    FEATURE age NUMERIC
    CLASSES {high, low}
    DEFAULT low
    VOTING confidence
    <BLANKLINE>
    IF age > 50 THEN high
    """
    rules.require_deciding("the rule language, unlike rule files,")
    return "\n".join([*_write_header(rules), "", *write_rules(rules), ""])


def write_rules(rules: RuleSet) -> Iterator[str]:
    """Write each rule as one line.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.rules.text import write_rules
    >>> text = "IF age > 50 THEN high IF debt > 8 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> list(write_rules(rules))
    ['IF age > 50 THEN high', 'IF debt > 8 THEN high']
    """
    for number in range(len(rules)):
        yield rules.write_rule(number)


def _write_header(rules: RuleSet) -> Iterator[str]:
    yield from write_features(rules.features)
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
    """Read a rule set; its header takes precedence over the vocabulary that is already known.

    Examples
    --------
    >>> from clausewise.rules.text import Vocabulary, read_ruleset
    >>> text = '''
    ... FEATURE age NUMERIC
    ... FEATURE job CATEGORICAL {cook, nurse}
    ... DEFAULT low
    ... IF age > 50 AND job = nurse THEN high WITH confidence 0.9
    ... '''
    >>> print(read_ruleset(text, Vocabulary()))
    1 rule for the classes high, low; voting confidence, otherwise low
    0  IF age > 50 AND job = nurse THEN high   (confidence 0.90)
    """
    try:
        return _read_written(text, known)
    except (NotInWrittenFormError, ValueError, TypeError, OverflowError):
        return _read_any(text, known)  # whose errors say where they are


def _read_written(text: str, known: Vocabulary) -> RuleSet:
    """Read a rule set as it is written; raise an error for any other text."""
    header = header_of(text)
    reader = _DocumentReader(header, known)
    reader.everything()
    return read_written(text, len(header), reader.vocabulary, implied_limit(text))


def _read_any(text: str, known: Vocabulary) -> RuleSet:
    reader = _DocumentReader(text, known)
    rules = reader.everything()
    found = reader.vocabulary
    features, default = reader.known_features(), found.default
    if default is None:
        reader.fail("the class where no rule fires is missing; write DEFAULT or pass default", 0)

    def build() -> RuleSet:
        voting = found.voting or DEFAULT_VOTING
        return RuleSet.from_rules(
            rules, features, default=default, classes=found.classes, voting=voting, base=found.base
        ).with_scale(found.scale)

    return reader.build(build, 0)


class _DocumentReader(DocumentReader[Rule], RuleReader):
    """Reads rules for classes with their header."""

    def statements(self) -> dict[str, Callable[[], None]]:
        """Return what reads each statement of the header."""
        return {
            **super().statements(),
            "CLASSES": self._classes,
            "DEFAULT": self._default,
            "VOTING": self._voting,
            "BASE": self._base,
            "SCALE": self._scale,
        }

    def unknown_statement(self, problem: str) -> NoReturn:
        """Raise an error that recognises the header of rules for numbers."""
        if self.sees("RESPONSE", "RANGE", "LINK", "LINEAR"):
            problem = f"{self.shown} belongs to rules for numbers; read it with RegressionRules.from_text"
        self.fail(problem)

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
