"""What rule files of every kind share: features, premises, origins and the log of edits."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from clausewise.data.features import KINDS, Features
from clausewise.data.table import Category
from clausewise.io.values import (
    RuleFileError,
    ValueIndex,
    finite_number,
    json_array,
    json_number,
    json_object,
    json_string,
    one_of,
    scalar,
    shown,
)
from clausewise.rules.changes import ACTIONS, RuleChange
from clausewise.rules.columns import NO_SET, RuleColumns, values_at
from clausewise.rules.rule import Origin

# --- Writing ---


def feature_entry(features: Features, position: int) -> dict[str, Any]:
    """Return one feature as it is written."""
    entry: dict[str, Any] = {"name": features.names[position], "kind": features.kinds[position]}
    categories = features.categories[position]
    return entry if categories is None else entry | {"categories": list(categories)}


def premise_entry(stored: RuleColumns, number: int, features: Features) -> list[dict[str, Any]]:
    """Return the terms of a rule as they are written."""
    terms = range(int(stored.starts[number]), int(stored.starts[number + 1]))
    return [_term_entry(stored, term, features) for term in terms]


def _term_entry(stored: RuleColumns, term: int, features: Features) -> dict[str, Any]:
    entry: dict[str, Any] = {"feature": features.names[stored.feature[term]]}
    if stored.missing[term]:
        return entry | {"missing": True}
    if stored.value_set[term] != NO_SET:
        return entry | {"values": values_at(stored, term, features)}
    for key, bound in (("low", float(stored.low[term])), ("high", float(stored.high[term]))):
        if math.isfinite(bound):  # an open end is left out: JSON has no infinity
            entry[key] = json_number(bound)
    return entry


def origin_entry(origin: Origin | None) -> dict[str, Any]:
    """Return where a rule was found as an entry of the rule; nothing if that is not known."""
    return {} if origin is None else {"origin": {"layer": origin.layer, "clause": origin.clause}}


def change_entry(change: RuleChange) -> dict[str, Any]:
    """Return one edit as it is written."""
    return {key: value for key, value in asdict(change).items() if value is not None}


# --- Reading ---


def read_features(entries: list[Any], named: bool) -> Features:
    """Read the list of features."""
    names, kinds, categories = [], [], []
    for number, entry in enumerate(entries):
        where = f"features[{number}]"
        fields = json_object(entry, where, ("name", "kind"), ("categories",))
        names.append(json_string(fields["name"], f"{where}.name"))
        kinds.append(one_of(fields["kind"], f"{where}.kind", KINDS))
        values = fields.get("categories")
        categories.append(None if values is None else _read_categories(values, f"{where}.categories"))
    return Features(tuple(names), tuple(kinds), tuple(categories), named=named)


def _read_categories(values: Any, where: str) -> tuple[Category, ...]:
    return tuple(scalar(value, f"{where}[{i}]") for i, value in enumerate(json_array(values, where)))


class PremiseReader:
    """Collects the premises of rules as columns for `from_arrays`."""

    def __init__(self, features: Features) -> None:
        self._features = features
        self._place_of = {name: place for place, name in enumerate(features.names)}
        self._code_of = {
            place: ValueIndex("categories", values)
            for place, values in enumerate(features.categories)
            if values
        }
        self._column: dict[str, list[Any]] = {
            key: [] for key in ("feature", "low", "high", "value_set", "missing", "value_sets")
        }
        self._starts = [0]

    def read(self, terms: Any, where: str) -> None:
        """Read the terms of the next rule."""
        tested = set()
        for position, term in enumerate(json_array(terms, f"{where}.if")):
            place = self._read_term(term, f"{where}.if[{position}]")
            if place in tested:
                name = shown(self._features.names[place])
                raise RuleFileError(f"{where} tests {name} twice; one term per feature is allowed.")
            tested.add(place)
        self._starts.append(len(self._column["feature"]))

    def columns(self) -> dict[str, Any]:
        """Return the columns of all premises read so far."""
        column = self._column
        integers = {key: np.array(column[key], dtype=np.int64) for key in ("feature", "value_set")}
        bounds = {key: np.array(column[key], dtype=np.float64) for key in ("low", "high")}
        missing = np.array(column["missing"], dtype=bool)
        sets = {"value_sets": column["value_sets"]}
        return {"starts": np.array(self._starts), "missing": missing, **integers, **bounds, **sets}

    def _read_term(self, term: Any, where: str) -> int:
        features, column = self._features, self._column
        fields = json_object(term, where, ("feature",), ("low", "high", "values", "missing"))
        name = json_string(fields["feature"], f"{where}.feature")
        if name not in self._place_of:
            raise RuleFileError(f"{where} tests {shown(name)}, which is not one of the features.")
        place = self._place_of[name]
        _check_kind_of_term(fields, where, features, place)
        column["feature"].append(place)
        for key, end in (("low", -math.inf), ("high", math.inf)):
            bound = fields.get(key)
            column[key].append(end if bound is None else finite_number(bound, f"{where}.{key}"))
        if "values" in fields:
            values = enumerate(json_array(fields["values"], f"{where}.values"))
            codes = (
                [self._code_of[place].find(value, f"{where}.values[{i}]") for i, value in values]
                if place in self._code_of
                else []
            )
            column["value_set"].append(len(column["value_sets"]))
            column["value_sets"].append(codes)
        else:
            column["value_set"].append(NO_SET)
        column["missing"].append("missing" in fields)
        return place


def _check_kind_of_term(fields: Mapping[str, Any], where: str, features: Features, place: int) -> None:
    """Raise an error unless the term has the keys of one kind of term, and that kind fits the feature."""
    name, is_categorical = shown(features.names[place]), features.categories[place] is not None
    if "missing" in fields:
        if fields["missing"] is not True:
            raise RuleFileError(
                f"{where}.missing is {shown(fields['missing'])}; expected true or no such key."
            )
        if len(fields) > 2:
            raise RuleFileError(f"{where} tests whether {name} is missing; expected missing only.")
    elif ("values" in fields) != is_categorical or (is_categorical and len(fields) > 2):
        expected = "values" if is_categorical else "low and high"
        raise RuleFileError(
            f"{where} tests {name}, which is {features.kinds[place]}; expected {expected} only."
        )


def read_origin(value: Any, where: str) -> Origin | None:
    """Read where a rule was found; None if that is not known."""
    if value is None:
        return None
    fields = json_object(value, where, (), ("layer", "clause"))
    parts = {
        key: None if part is None else json_string(part, f"{where}.{key}") for key, part in fields.items()
    }
    return Origin(**parts)


def read_change(value: Any, where: str) -> RuleChange:
    """Read one edit."""
    fields = json_object(value, where, ("action", "rule"), ("before", "after", "note", "author"))
    number = fields["rule"]
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise RuleFileError(f"{where}.rule is {shown(number)}; expected a whole number of 0 or more.")
    texts = {
        key: json_string(fields[key], f"{where}.{key}") for key in fields if key not in ("action", "rule")
    }
    return RuleChange(one_of(fields["action"], f"{where}.action", ACTIONS), number, **texts)
