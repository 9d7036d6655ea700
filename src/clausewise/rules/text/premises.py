"""Reads premises, with one method per construct of the rule language, and the names and values in them."""

import difflib
import itertools
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar, cast

from clausewise.data.table import Category, Kind
from clausewise.rules.rule import Conjunction, Origin
from clausewise.rules.term import Term
from clausewise.rules.text.tokens import KEYWORDS, MIRRORED, Token, TokenCursor
from clausewise.rules.text.vocabulary import Vocabulary
from clausewise.rules.text.write import write_name, write_value

# `x != a` is stored as the set of all other categories, so a short text may stand for very large sets. These
# may have this many categories together, or this many per character of the text if that is more.
_MAX_IMPLIED: Final = 2_000_000
_MAX_IMPLIED_PER_CHARACTER: Final = 10

_Built = TypeVar("_Built")


_Rule = TypeVar("_Rule", bound=Conjunction)


class PremiseReader(TokenCursor, Generic[_Rule]):
    """Reads rules about the features of `vocabulary`, which headers extend; `rule` differs by kind."""

    def __init__(self, text: str, known: Vocabulary) -> None:
        super().__init__(text)
        self.vocabulary = known
        self._index: dict[str, int] = {}
        self._codes: dict[int, dict[tuple[bool, Category], Category]] = {}
        self.n_implied = 0
        self.max_implied = implied_limit(text)
        self.index_vocabulary()

    # --- Rules ---

    def rule(self) -> _Rule:
        """Read one rule, from IF to its last property."""
        raise NotImplementedError

    def only_rules(self) -> list[_Rule]:
        """Read a text that holds rules only, at least one."""
        rules = []
        while not self.at_end:
            if not self.sees("IF"):
                self.fail(f"expected IF, found {self.shown}")
            rules.append(self.rule())
        if not rules:
            self.fail("there is no rule; write IF … THEN …")
        return rules

    def premise(self) -> tuple[Term, ...]:
        """Read terms joined by AND, or TRUE for a premise that always holds."""
        if self.sees("TRUE") and self.sees("THEN", ahead=1):
            self.next()
            return ()
        terms = [self.term()]
        while self.take("AND"):
            terms.append(self.term())
        return tuple(terms)

    def properties(self, statistics: tuple[str, ...], flags: tuple[str, ...] = ()) -> dict[str, Any]:
        """Read what follows WITH: statistics with a number, flags, and where the rule was found."""
        given: dict[str, Any] = {}
        while True:
            position = self.token.position
            name = self.one_of((*statistics, *flags, "layer", "clause", "origin"))
            if name in given:
                self.fail(f"{name} is given twice", position)
            if name in statistics:
                given[name] = self.statistic(name)
            else:
                given[name] = self.name() if name in ("layer", "clause") else True
            if not self.take(","):
                break
        origin = {name: given.pop(name) for name in ("layer", "clause") if name in given}
        if origin or given.pop("origin", False):
            given["origin"] = Origin(**origin)
        return given

    def statistic(self, name: str) -> float:
        """Read the value of a statistic."""
        return self.number()

    # --- Terms ---

    def term(self) -> Term:
        """Read one term."""
        if self.token.kind == "number":
            return self._interval()
        position = self.token.position
        feature = self._known_feature()
        if self.take("IS"):
            if self.one_of(("KNOWN", "MISSING")) == "MISSING":
                return Term(feature, self._name_of(feature), missing=True)
            return self._any_value(feature)
        if self.take("∉"):
            return self._value_set(feature, self._set_values(feature), negated=True)
        if self.take("NOT"):
            self.expect("IN")
            return self._value_set(feature, self._set_values(feature), negated=True)
        if self.take("IN"):
            return self._value_set(feature, self._set_values(feature))
        if self.sees("=", "!="):
            negated = self.next().text == "!="
            return self._equality(feature, position, negated)
        return self._one_sided(feature)

    def _interval(self) -> Term:
        """Read `17 < age <= 65` or `65 >= age > 17`, or one side of it: `17 < age`."""
        bound = self.number()
        if not self.sees("<", "<=", ">", ">="):
            self.fail(f"expected <, <=, > or >=, found {self.shown}")
        comparison = self.next().text
        feature = self._known_feature()
        term = self._bounded(feature, MIRRORED[comparison], bound)
        same_direction = ("<", "<=") if comparison in ("<", "<=") else (">", ">=")
        if not self.sees(*same_direction):
            return term
        other = self.next().text
        return term.intersection(self._bounded(feature, other, self.number()))

    def _one_sided(self, feature: int) -> Term:
        if not self.sees("<", "<=", ">", ">="):
            self.fail(f"expected <, <=, >, >=, =, !=, IN, NOT IN, IS KNOWN or IS MISSING, found {self.shown}")
        return self._bounded(feature, self.next().text, self.number())

    def _bounded(self, feature: int, comparison: str, bound: float) -> Term:
        position = self.last_position
        name, kind = self._name_of(feature), self._kind_of(feature)
        if kind == "categorical":
            self.fail(f"{write_name(name)} is categorical; write = or IN {{…}}", position)
        # Intervals are (low, high], so the cut of x < 3 and of x ≥ 3 is the double just below 3.
        cut = math.nextafter(bound, -math.inf) if comparison in ("<", ">=") else bound
        if not math.isfinite(cut):
            self.fail("no finite number is smaller than this one", position)
        is_upper = comparison in ("<", "<=")
        return Term(feature, name, high=cut) if is_upper else Term(feature, name, low=cut)

    def _any_value(self, feature: int) -> Term:
        if self._kind_of(feature) == "categorical":
            return self._value_set(feature, [], negated=True)
        return Term(feature, self._name_of(feature))

    def _equality(self, feature: int, position: int, negated: bool) -> Term:
        name, kind = self._name_of(feature), self._kind_of(feature)
        if kind == "categorical":
            return self._value_set(feature, [self._category(feature)], negated)
        if kind == "binary":
            word = self.token
            if not self.sees("TRUE", "FALSE") and not (word.kind == "number" and float(word.text) in (0, 1)):
                self.fail(f"{write_name(name)} is binary; expected TRUE or FALSE, found {self.shown}")
            is_true = self.next().text.upper() in ("TRUE", "1") or (
                word.kind == "number" and float(word.text) == 1
            )
            return Term(feature, name, low=0) if is_true != negated else Term(feature, name, high=0)
        if negated:
            self.fail(
                f"{write_name(name)} is numeric, and != is not an interval; write two rules, with < and >",
                position,
            )
        number = self.number()
        return self._bounded(feature, "<=", number).intersection(self._bounded(feature, ">=", number))

    def _set_values(self, feature: int) -> list[Category]:
        if self._kind_of(feature) != "categorical":
            name, kind = write_name(self._name_of(feature)), self._kind_of(feature)
            self.fail(f"{name} is {kind}, and IN is for categorical features; write a comparison")
        return self._listed(lambda: self._category(feature))

    def _value_set(self, feature: int, values: list[Category], negated: bool = False) -> Term:
        if negated:
            excluded = set(map(value_key, values))
            self._count_implied(len(self._codes[feature]) - len(excluded))
            values = [value for key, value in self._codes[feature].items() if key not in excluded]
        return Term(feature, self._name_of(feature), values=values)

    def _count_implied(self, n_categories: int) -> None:
        self.n_implied += n_categories
        if self.n_implied > self.max_implied:
            self.fail(
                f"!=, NOT IN and IS KNOWN stand for more than {self.max_implied:,} categories up to here; "
                "use a rule file (JSON) for rules like these"
            )

    # --- Names and values ---

    def _known_feature(self) -> int:
        if self.vocabulary.features is None:
            self.fail("no features are known; begin with FEATURE lines or pass features")
        position = self.token.position
        return self.feature_named(self.name(), position)

    def feature_named(self, name: str, position: int) -> int:
        """Return the place of a feature whose name was read at a position."""
        place = self._index.get(name)
        if place is None:
            hint = _did_you_mean(name, {other: write_name(other) for other in self._index})
            self.fail(f"there is no feature {write_name(name)}{hint}", position)
        return place

    def _name_of(self, feature: int) -> str:
        assert self.vocabulary.features is not None
        return self.vocabulary.features.names[feature]

    def _kind_of(self, feature: int) -> Kind:
        assert self.vocabulary.features is not None
        return self.vocabulary.features.kinds[feature]

    def name(self) -> str:
        """Read a bare or quoted word."""
        token = self.token
        if token.kind == "string":
            return self._string()
        if token.kind != "word":
            self.fail(f"expected a name, found {self.shown}")
        if token.text.upper() in KEYWORDS:
            word = token.text
            self.fail(f'expected a name, found the keyword {word}; if it is a name, quote it: "{word}"')
        return self.next().text

    def _string(self) -> str:
        token = self.next()
        try:
            text = json.loads(token.text, strict=False)
        except ValueError:
            self.fail("unknown escape sequence after a backslash; write \\\\ for a backslash", token.position)
        return cast(str, text)

    def value(self) -> Category:
        """Read a class or category: a number, a truth value, or a name."""
        token = self.token
        if token.kind == "number":
            return self._plain_number(self.next())
        if self.sees("TRUE", "FALSE"):
            return self.next().text.upper() == "TRUE"
        if token.kind not in ("word", "string"):
            self.fail(f"expected a value, found {self.shown}")
        return self.name()

    def values(self) -> list[Category]:
        """Read values in braces or parentheses."""
        return self._listed(self.value)

    def _listed(self, one: Callable[[], Category]) -> list[Category]:
        end = ")" if self.take("(") else "}"
        if end == "}":
            self.expect("{")
        found: list[Category] = []
        while not self.take(end):
            if found and not self.take(","):
                self.fail(f"expected , or {end}, found {self.shown}")
            found.append(one())
        return found

    def number(self) -> float:
        """Read a number."""
        if self.token.kind != "number":
            self.fail(f"expected a number, found {self.shown}")
        position = self.token.position
        return self.as_float(self._plain_number(self.next()), position)

    def _plain_number(self, token: Token) -> int | float:
        is_whole = token.text.lstrip("+-").isdigit()
        if len(token.text) > 400 or not math.isfinite(float(token.text)):
            self.fail("this number is too long or too large", token.position)
        return int(token.text) if is_whole else float(token.text)

    def as_float(self, value: Category, position: int) -> float:
        """Return a value that was read at a position as a float, which text and truth values are not."""
        if isinstance(value, bool | str):
            self.fail(f"expected numbers, found {write_value(value)}", position)
        return float(value)

    def _category(self, feature: int) -> Category:
        raw, position = self.token.text, self.token.position
        what = f"category of {write_name(self._name_of(feature))}"
        return self.found(self.value(), raw, position, self._codes[feature], what)

    def found(
        self,
        value: Category,
        raw: str,
        position: int,
        known: dict[tuple[bool, Category], Category],
        what: str,
    ) -> Category:
        """Return the known value that is meant: `1` may mean the text "1" where values are text."""
        for candidate in (value, raw):
            if value_key(candidate) in known:
                return known[value_key(candidate)]
        listed = [write_value(other) for other in itertools.islice(known.values(), 8)]
        expected = f"; expected {', '.join(listed)}{', …' if len(known) > 8 else ''}" if listed else ""
        hint = _did_you_mean(str(value), {str(other): write_value(other) for other in known.values()})
        return self.fail(f"{write_value(value)} is not a {what}{expected}{hint}", position)

    # --- Vocabulary and errors ---

    def declare(self, **parts: Any) -> None:
        """Add to the vocabulary what the text declares."""
        self.vocabulary = replace(self.vocabulary, **parts)
        self.index_vocabulary()

    def index_vocabulary(self) -> None:
        """Prepare what names and categories are found by."""
        features = self.vocabulary.features
        if features is not None:
            self._index = {name: place for place, name in enumerate(features.names)}
            self._codes = {
                place: {value_key(value): value for value in values}
                for place, values in enumerate(features.categories)
                if values is not None
            }

    def build(self, make: Callable[[], _Built], position: int | None = None) -> _Built:
        """Call a constructor; its error becomes one that points at the place in the text."""
        try:
            return make()
        except (ValueError, TypeError, OverflowError) as error:
            self.fail(str(error).rstrip("."), position)


def implied_limit(text: str) -> int:
    """Return how many categories `!=`, `NOT IN` and `IS KNOWN` of a text may stand for."""
    return max(_MAX_IMPLIED, _MAX_IMPLIED_PER_CHARACTER * len(text))


def value_key(value: Category) -> tuple[bool, Category]:
    """Return a key under which True is not 1."""
    return isinstance(value, bool), value


def _did_you_mean(name: str, known: Mapping[str, str]) -> str:
    """Return `; did you mean age?` if something known (as in a text, by name) is similar, else nothing."""
    if len(name) > 100:  # comparing long names, or very many, takes too long
        return ""
    candidates = [other for other in itertools.islice(known, 500) if abs(len(other) - len(name)) <= len(name)]
    near = difflib.get_close_matches(name, candidates, n=1)
    return f"; did you mean {known[near[0]]}?" if near else ""
