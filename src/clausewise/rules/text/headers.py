"""What the headers of all rule texts share: features and columns, and the order of statements."""

from collections.abc import Callable, Iterator
from typing import Final, NoReturn, TypeVar, cast

from clausewise.data.features import KINDS, Features
from clausewise.data.table import Category, Kind
from clausewise.rules.rule import Conjunction
from clausewise.rules.text.premises import PremiseReader
from clausewise.rules.text.vocabulary import Vocabulary
from clausewise.rules.text.write import write_name, write_set

_Rule = TypeVar("_Rule", bound=Conjunction)

# Statements that may be repeated, one per feature.
_PER_FEATURE: Final = ("FEATURE", "LINEAR")


def write_features(features: Features) -> Iterator[str]:
    """Write the statements that declare features, one line each."""
    for name, kind, categories in zip(features.names, features.kinds, features.categories, strict=True):
        values = "" if categories is None else f" {write_set(categories)}"
        yield f"FEATURE {write_name(name)} {kind.upper()}{values}"
    if not features.named:
        yield "COLUMNS BY POSITION"


class DocumentReader(PremiseReader[_Rule]):
    """Reads the statements of a header as well as rules."""

    def __init__(self, text: str, known: Vocabulary) -> None:
        super().__init__(text, known)
        self._features: list[tuple[str, Kind, tuple[Category, ...] | None]] = []
        self._by_position = False

    def statements(self) -> dict[str, Callable[[], None]]:
        """Return what reads each statement of the header, by its first word."""
        return {"FEATURE": self._feature, "COLUMNS": self._columns}

    def everything(self) -> list[_Rule]:
        """Read all statements; return the rules and put the header into `vocabulary`."""
        rules: list[_Rule] = []
        seen: set[str] = set()
        statements = self.statements()
        while not self.at_end:
            token = self.token
            keyword = token.text.upper() if token.kind == "word" else ""
            if keyword == "IF":
                self._declare_features()
                rules.append(self.rule())
            elif keyword not in statements:
                self.unknown_statement(f"expected {', '.join(statements)} or IF, found {self.shown}")
            elif rules:
                self.fail(f"{keyword} must come before the rules; move it to the top")
            elif keyword in seen and keyword not in _PER_FEATURE:
                self.fail(f"{keyword} is given twice")
            else:
                if keyword != "FEATURE":
                    seen.add(keyword)
                self.next()
                statements[keyword]()
        self._declare_features()
        return rules

    def unknown_statement(self, problem: str) -> NoReturn:
        """Raise an error for a word that no statement begins with."""
        self.fail(problem)

    def known_features(self) -> Features:
        """Return the features that were declared or passed."""
        if self.vocabulary.features is None:
            self.fail("FEATURE lines are missing; add them at the top or pass features", 0)
        return self.vocabulary.features

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
