"""Reads rule sets in the form in which `write_ruleset` writes them: a rule per line, a space between words.

Long texts are mostly written by programs, and are read here in a tenth of the time that the reader for the
whole language takes. Whatever is written differently, and whatever is wrong, is left to that reader.
"""

import json
import math
import re
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import Features
from clausewise.data.table import Category
from clausewise.rules.base import DEFAULT_VOTING
from clausewise.rules.columns import NO_SET
from clausewise.rules.rule import Origin
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import Term
from clausewise.rules.text.premises import value_key
from clausewise.rules.text.read import RuleReader
from clausewise.rules.text.vocabulary import Vocabulary
from clausewise.rules.text.write import write_name

# Possessive, as nothing in a string can be read in two ways: long strings need no stack for other attempts.
_STRING: Final = r'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"'
_NAME: Final = rf"(?:[^\W\d][\w.]*|{_STRING})"
# Numbers of more digits are left to the other reader, which refuses some of them.
_NUMBER: Final = r"[+-]?(?:[0-9]{1,300}(?:\.[0-9]{0,90})?|\.[0-9]{1,90})(?:[eE][+-]?[0-9]{1,4})?(?![\w.])"
_VALUE: Final = rf"(?:{_NUMBER}|{_NAME})"
_TERM: Final = re.compile(
    rf"(?:({_NUMBER}) (<=?) )?({_NAME}) (?:([<>]=?) ({_NUMBER})"
    rf"|(IS (?:KNOWN|MISSING)|!?= {_VALUE}|(?:NOT )?IN \{{(?:{_VALUE}(?:, {_VALUE})*)?\}}))(?= AND | THEN )"
)
_CONCLUSION: Final = re.compile(rf" THEN (NOT )?({_VALUE})(?: WITH (.*))?\s*")
_PROPERTY: Final = re.compile(
    rf"(?:(confidence|cover|correct|weight) ({_NUMBER})|(layer|clause) ({_STRING})|(priority|origin))"
    r"(?:, |\s*$)"
)
_DEFAULTS: Final = {"confidence": 1.0, "cover": 0.0, "correct": 0.0, "weight": 1.0}


class NotInWrittenFormError(Exception):
    """The text is not in the form in which rule sets are written, or something in it is wrong."""


def header_of(text: str) -> str:
    """Return the lines before the first that begins with a rule."""
    if text.startswith("IF "):
        return ""
    end = text.find("\nIF ")
    if end < 0:
        raise NotInWrittenFormError
    return text[: end + 1]


def read_written(text: str, n_header: int, known: Vocabulary, max_implied: int) -> RuleSet:
    """Read the rules after `n_header` characters, with what the header declares."""
    if known.features is None or known.classes is None or known.default is None:
        raise NotInWrittenFormError
    rules = _Columns(known.features, known, max_implied)
    for line in text[n_header:].split("\n"):
        if line.startswith("IF "):
            rules.add(line)
        elif line and not line.startswith("#") and not line.isspace():
            raise NotInWrittenFormError
    return rules.build()


class _Columns:
    """Collects rules as columns."""

    def __init__(self, features: Features, known: Vocabulary, max_implied: int) -> None:
        self._features, self._known = features, known
        self._reader = RuleReader("", known)
        self._n_implied, self._max_implied = 0, max_implied
        # By name as it is written, so that names that are written differently are not found.
        self._place = {write_name(name): place for place, name in enumerate(features.names)}
        self._is_categorical = [kind == "categorical" for kind in features.kinds]
        assert known.classes is not None
        self._class_index_of = {value_key(label): code for code, label in enumerate(known.classes.tolist())}
        self._class_of: dict[str, int] = {}
        self._codes_of: dict[int, dict[Category, int]] = {}
        self._terms: dict[str, tuple[Term, int, int]] = {}
        self._value_sets: list[tuple[int, ...]] = []
        self._starts = [0]
        self._feature: list[int] = []
        self._low: list[float] = []
        self._high: list[float] = []
        # Places of bounds whose comparison is ≥ or <: the cut is the double just below.
        self._open_lows: list[int] = []
        self._open_highs: list[int] = []
        self._value_set: dict[int, int] = {}
        self._missing: list[int] = []
        self._class_index: list[int] = []
        self._statistics: dict[str, list[float]] = {name: [] for name in _DEFAULTS}
        self._priority: list[bool] = []
        self._origins: list[Origin | None] = []

    def add(self, line: str) -> None:
        """Add the rule of a line."""
        position = 3
        if line.startswith("TRUE THEN ", position):
            position += 4
        else:
            last_feature = -1
            while True:
                term = _TERM.match(line, position)
                if term is None:
                    raise NotInWrittenFormError
                feature = self._add_term(term)
                # Terms in another order, or on the same feature, are not written.
                if feature <= last_feature:
                    raise NotInWrittenFormError
                last_feature, position = feature, term.end()
                if not line.startswith(" AND ", position):
                    break
                position += 5
        self._starts.append(len(self._feature))
        end = _CONCLUSION.fullmatch(line, position)
        if end is None:
            raise NotInWrittenFormError
        against, label, properties = end.groups()
        self._class_index.append(self._class_named(label))
        self._add_properties(properties, against is not None)

    def _add_term(self, match: re.Match[str]) -> int:
        left, left_comparison, name, comparison, bound, other = match.groups()
        place = self._place.get(name)
        if place is None:
            raise NotInWrittenFormError
        if other is not None:
            if left is not None:
                raise NotInWrittenFormError
            self._add_other(place, match.group())
            return place
        if self._is_categorical[place] or (left is not None and comparison[0] == ">"):
            raise NotInWrittenFormError
        low, high = -math.inf, math.inf
        if comparison[0] == ">":
            low = _finite(bound)
            if comparison == ">=":
                self._open_lows.append(len(self._feature))
        else:
            high = _finite(bound)
            if comparison == "<":
                self._open_highs.append(len(self._feature))
        if left is not None:
            low = _finite(left)
            if left_comparison == "<=":
                self._open_lows.append(len(self._feature))
        self._feature.append(place)
        self._low.append(low)
        self._high.append(high)
        return place

    def _add_other(self, place: int, text: str) -> None:
        """Add a term that is not an interval, which the reader for the whole language reads once."""
        if text not in self._terms:
            self._reader.restart(text)
            before = self._reader.n_implied
            term = self._reader.term()
            value_set = NO_SET
            if term.values is not None:
                value_set = len(self._value_sets)
                self._value_sets.append(tuple(map(self._codes(place).__getitem__, term.values)))
            self._terms[text] = term, value_set, self._reader.n_implied - before
        term, value_set, n_implied = self._terms[text]
        self._n_implied += n_implied
        if self._n_implied > self._max_implied:
            raise NotInWrittenFormError
        if term.missing:
            self._missing.append(len(self._feature))
        if value_set != NO_SET:
            self._value_set[len(self._feature)] = value_set
        self._feature.append(place)
        self._low.append(term.low)
        self._high.append(term.high)

    def _codes(self, place: int) -> dict[Category, int]:
        if place not in self._codes_of:
            categories = self._features.categories[place] or ()
            self._codes_of[place] = {value: code for code, value in enumerate(categories)}
        return self._codes_of[place]

    def _class_named(self, text: str) -> int:
        if text not in self._class_of:
            self._reader.restart(text)
            self._class_of[text] = self._class_index_of[value_key(self._reader.label())]
        return self._class_of[text]

    def _add_properties(self, text: str | None, is_against: bool) -> None:
        if is_against and self._known.voting != "weights":
            raise NotInWrittenFormError
        given: dict[str, Any] = {}
        position = 0
        while text is not None and position < len(text):
            match = _PROPERTY.match(text, position)
            if match is None:
                raise NotInWrittenFormError
            statistic, number, part, string, flag = match.groups()
            name = statistic or part or flag
            if name in given:
                raise NotInWrittenFormError
            given[name] = float(number) if statistic else string if part else True
            position = match.end()
        if text is not None and (not given or text.rstrip().endswith(",")):
            raise NotInWrittenFormError
        weight = given.get("weight", 1.0)
        if is_against:
            if weight < 0:
                raise NotInWrittenFormError
            given["weight"] = -weight
        for name, default in _DEFAULTS.items():
            self._statistics[name].append(given.get(name, default))
        self._priority.append("priority" in given)
        has_origin = not given.keys().isdisjoint(("layer", "clause", "origin"))
        self._origins.append(_origin(given.get("layer"), given.get("clause")) if has_origin else None)

    def build(self) -> RuleSet:
        """Return the rule set."""
        low, high = np.array(self._low, dtype=np.float64), np.array(self._high, dtype=np.float64)
        for bounds, places in ((low, self._open_lows), (high, self._open_highs)):
            with np.errstate(over="ignore", under="ignore"):
                bounds[places] = np.nextafter(bounds[places], -np.inf)
            if np.isinf(bounds[places]).any():
                raise NotInWrittenFormError
        known = self._known
        assert known.classes is not None
        assert known.default is not None
        return RuleSet.from_arrays(
            self._features,
            known.classes,
            known.default,
            starts=np.array(self._starts, dtype=np.int64),
            feature=np.array(self._feature, dtype=np.int32),
            low=low,
            high=high,
            class_index=np.array(self._class_index, dtype=np.int32),
            value_set=self._full(self._value_set),
            value_sets=self._value_sets,
            missing=np.isin(np.arange(len(low)), self._missing),
            priority=np.array(self._priority, dtype=bool),
            origins=self._origins,
            base=known.base,
            voting=known.voting or DEFAULT_VOTING,
            confidence=self._statistics["confidence"],
            cover=self._statistics["cover"],
            correct=self._statistics["correct"],
            weight=self._statistics["weight"],
        ).with_scale(known.scale)

    def _full(self, value_set: dict[int, int]) -> NDArray[np.int32]:
        full = np.full(len(self._feature), NO_SET, dtype=np.int32)
        full[list(value_set)] = list(value_set.values())
        return full


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise NotInWrittenFormError
    return number


def _origin(layer: str | None, clause: str | None) -> Origin:
    parts = [None if text is None else json.loads(text, strict=False) for text in (layer, clause)]
    return Origin(*parts)
