"""Rule files in JSON: `save` and `load`, and `dumps` and `loads` for text.

The format is described in docs/rule-file-format.md and in rules.schema.json next to this module. A file is
only data: nothing in it is executed. All of it is checked before a rule set is built, and anything wrong
raises a RuleFileError that says where the problem is and what was expected.
"""

import json
import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import numpy as np

from clausewise.base.json_text import json_text
from clausewise.base.parameters import check_parameters, whole
from clausewise.data.features import KINDS, Features
from clausewise.data.labels import Label
from clausewise.data.table import Category
from clausewise.io.atomic import write_atomically
from clausewise.rules.changes import ACTIONS, RuleChange
from clausewise.rules.columns import NO_SET, RuleColumns, values_at
from clausewise.rules.rule import Origin
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.voting import VOTINGS

FORMAT: Final = "clausewise-rules"
VERSION: Final = 1
MAX_BYTES: Final = 64 * 2**20
"""Larger files are refused unless the caller allows more. A rule takes about 150 bytes."""

# The format nests 6 levels. The depth is checked before parsing, because the parser recurses.
_MAX_DEPTH: Final = 16
_MAX_REASON: Final = 1_000
_LABEL_TYPES: Final[Mapping[str, type]] = {
    "str": str,
    "object": str,
    "bool": bool,
    **{f"{sign}int{bits}": int for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": float for bits in (16, 32, 64)},
}


_Choice = TypeVar("_Choice", bound=str)


class RuleFileError(ValueError):
    """A file is not a rule file, or is damaged."""


def schema() -> dict[str, Any]:
    """Return the JSON Schema of rule files."""
    text = files("clausewise.io").joinpath("rules.schema.json").read_text(encoding="utf-8")
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def save(rules: RuleSet, path: str | os.PathLike[str]) -> None:
    """Write a rule set to a file; an interrupted save leaves the old file as it was."""
    write_atomically(path, dumps(rules).encode("utf-8"))


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> RuleSet:
    """Read a rule set from a file.

    Parameters
    ----------
    path : path-like
        A file written by `save`.
    max_bytes : int, default 67108864
        Larger files are refused before they are parsed.
    """
    check_parameters({"max_bytes": whole(1)}, {"max_bytes": max_bytes})
    with Path(path).open("rb") as file:
        data = file.read(max_bytes + 1)  # not by its size: a pipe has none
    if len(data) > max_bytes:
        raise RuleFileError(
            f"{path} has more than {max_bytes:,} bytes; if you trust it, pass a larger max_bytes."
        )
    return loads(data, source=str(path))


# --- Writing ---


def dumps(rules: RuleSet) -> str:
    """Return a rule set as JSON text, one rule per line, so that line-based tools can compare versions."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "voting": rules.voting,
        "default": rules.default,
        "classes": list(rules.labels),
        "class_dtype": "str" if rules.classes.dtype.kind == "U" else rules.classes.dtype.name,
        "named": rules.features.named,
    }
    if rules.base.any():  # left out otherwise, as in most files
        head["base"] = [_json_number(votes) for votes in rules.base]
    if rules.scale != 1.0:
        head["scale"] = _json_number(rules.scale)
    lines = [f"  {json_text(key)}: {json_text(value)}," for key, value in head.items()]
    lists = [
        _json_list("features", [_feature_entry(rules.features, i) for i in range(len(rules.features))]),
        _json_list("rules", [_rule_entry(rules, number) for number in range(len(rules))]),
    ]
    if rules.changes:
        lists.append(_json_list("changes", [_change_entry(change) for change in rules.changes]))
    return "\n".join(["{", *lines, ",\n".join(lists), "}", ""])


def _json_list(key: str, entries: Sequence[dict[str, Any]]) -> str:
    if not entries:
        return f'  "{key}": []'
    lines = ",\n".join(f"    {json_text(entry)}" for entry in entries)
    return f'  "{key}": [\n{lines}\n  ]'


def _feature_entry(features: Features, position: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": features.names[position], "kind": features.kinds[position]}
    categories = features.categories[position]
    return entry if categories is None else entry | {"categories": list(categories)}


def _rule_entry(rules: RuleSet, number: int) -> dict[str, Any]:
    stored = rules.columns
    terms = range(int(stored.starts[number]), int(stored.starts[number + 1]))
    entry: dict[str, Any] = {
        "if": [_term_entry(stored, term, rules.features) for term in terms],
        "then": rules.labels[stored.class_index[number]],
        "confidence": _json_number(stored.confidence[number]),
        "cover": _json_number(stored.cover[number]),
        "correct": _json_number(stored.correct[number]),
        "weight": _json_number(stored.weight[number]),
    }
    if stored.priority[number]:
        entry["priority"] = True
    origin = stored.origins[number]
    return entry if origin is None else entry | {"origin": {"layer": origin.layer, "clause": origin.clause}}


def _term_entry(stored: RuleColumns, term: int, features: Features) -> dict[str, Any]:
    entry: dict[str, Any] = {"feature": features.names[stored.feature[term]]}
    if stored.missing[term]:
        return entry | {"missing": True}
    if stored.value_set[term] != NO_SET:
        return entry | {"values": values_at(stored, term, features)}
    for key, bound in (("low", float(stored.low[term])), ("high", float(stored.high[term]))):
        if math.isfinite(bound):  # an open end is left out: JSON has no infinity
            entry[key] = _json_number(bound)
    return entry


def _change_entry(change: RuleChange) -> dict[str, Any]:
    return {key: value for key, value in asdict(change).items() if value is not None}


def _json_number(number: float) -> int | float:
    """Return 47 for 47.0; both are read back as the same double."""
    number = float(number)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


# --- Reading ---


def loads(data: str | bytes, source: str = "The text") -> RuleSet:
    """Read a rule set from JSON text; errors refer to it as `source`."""
    try:
        return _read(_parsed(data))
    except RuleFileError as error:
        raise RuleFileError(f"{source}: {error}") from error.__cause__
    except ValueError as error:  # raised by the rule set itself
        reason = str(error)  # may repeat names of several megabytes
        shown = reason if len(reason) <= _MAX_REASON else f"{reason[:_MAX_REASON]}…"
        raise RuleFileError(f"{source}: {shown}") from error


def _parsed(data: str | bytes) -> Any:
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RuleFileError(
            f"byte {error.start} is not UTF-8; this is not a rule file, or it is damaged."
        ) from error
    if _depth(raw) > _MAX_DEPTH:
        raise RuleFileError(f"brackets are nested more than {_MAX_DEPTH} deep; this is not a rule file.")
    try:
        return json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise RuleFileError(
            f"line {error.lineno}, column {error.colno}: {error.msg}; the file is damaged or cut off."
        ) from error
    except RuleFileError:
        raise
    except ValueError as error:  # Python refuses to read whole numbers of thousands of digits
        raise RuleFileError("a number has thousands of digits; this is not a rule file.") from error
    except RecursionError as error:  # pragma: no cover - the depth is checked above
        raise RuleFileError("brackets are nested too deep; this is not a rule file.") from error


def _depth(raw: bytes) -> int:
    """Return the nesting depth of brackets. Brackets in texts are only removed if they could matter."""
    depth = _bracket_depth(raw)
    return (
        depth
        if depth <= _MAX_DEPTH
        else _bracket_depth(re.sub(rb'"(?:[^"\\]|\\.)*"', b"", raw, flags=re.DOTALL))
    )


def _bracket_depth(raw: bytes) -> int:
    symbols = np.frombuffer(raw, dtype=np.uint8)
    is_open = (symbols == ord("[")) | (symbols == ord("{"))
    is_bracket = is_open | (symbols == ord("]")) | (symbols == ord("}"))
    return int(np.cumsum(np.where(is_open[is_bracket], 1, -1)).max(initial=0))


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise RuleFileError(f"the key {_shown(twice)} appears twice in one object.")
    return entry


def _refuse_constant(name: str) -> NoReturn:
    raise RuleFileError(f"{name} is not JSON and not a threshold; leave out an open end, or write null.")


def _read(parsed: Any) -> RuleSet:
    if not isinstance(parsed, dict) or parsed.get("format") != FORMAT:
        raise RuleFileError(f'this is not a rule file; expected an object with "format": "{FORMAT}".')
    _check_version(parsed.get("version"))
    keys = ("format", "version", "voting", "default", "classes", "class_dtype", "named", "features", "rules")
    top = _object(parsed, "the file", keys, ("base", "scale", "changes"))
    voting = _one_of(top["voting"], "voting", VOTINGS)
    features = _read_features(_list(top["features"], "features"), _flag(top["named"], "named"))
    classes = _read_classes(_list(top["classes"], "classes"), top["class_dtype"])
    index_of_label = _Index("classes", classes.tolist())
    default = classes.tolist()[index_of_label.find(top["default"], "default")]
    base = _read_base(top.get("base"), len(classes))
    columns = _read_rules(_list(top["rules"], "rules"), features, index_of_label)
    changes = tuple(
        _read_change(entry, f"changes[{i}]")
        for i, entry in enumerate(_list(top.get("changes", []), "changes"))
    )
    rules = RuleSet.from_arrays(features, classes, default, voting=voting, base=base, **columns)
    rules = replace(rules, changes=changes)
    return rules if "scale" not in top else _scaled(rules, _number(top["scale"], "scale"))


def _check_version(version: Any) -> None:
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise RuleFileError(f"version is {_shown(version)}; expected a whole number of 1 or more.")
    if version > VERSION:
        raise RuleFileError(
            f"the file has version {_shown(version)}, but this clausewise reads versions up to {VERSION}; "
            "upgrade clausewise."
        )


def _read_features(entries: list[Any], named: bool) -> Features:
    names, kinds, categories = [], [], []
    for number, entry in enumerate(entries):
        where = f"features[{number}]"
        fields = _object(entry, where, ("name", "kind"), ("categories",))
        names.append(_string(fields["name"], f"{where}.name"))
        kinds.append(_one_of(fields["kind"], f"{where}.kind", KINDS))
        values = fields.get("categories")
        categories.append(None if values is None else _read_categories(values, f"{where}.categories"))
    return Features(tuple(names), tuple(kinds), tuple(categories), named=named)


def _read_categories(values: Any, where: str) -> tuple[Category, ...]:
    return tuple(_scalar(value, f"{where}[{i}]") for i, value in enumerate(_list(values, where)))


def _read_classes(labels: list[Any], dtype: Any) -> np.ndarray[Any, Any]:
    name = _one_of(dtype, "class_dtype", tuple(_LABEL_TYPES))
    expected = _LABEL_TYPES[name]
    for number, label in enumerate(labels):
        value = _scalar(label, f"classes[{number}]")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        fits = is_number if expected is float else isinstance(value, expected)
        if not fits or (expected is int and isinstance(value, bool)):
            raise RuleFileError(f"classes[{number}] is {_shown(value)}, which is not of type {name}.")
    try:
        with np.errstate(over="ignore"):
            classes = np.array(labels, dtype=name)
    except OverflowError as error:
        raise RuleFileError(f"classes has a number that {name} cannot hold.") from error
    if classes.tolist() != labels:
        raise RuleFileError(f"classes has a label that {name} cannot hold.")
    return classes


def _scaled(rules: RuleSet, scale: float) -> RuleSet:
    if not scale > 0:
        raise RuleFileError(f"scale is {scale}; expected a positive number.")
    return rules.with_scale(scale)


def _read_base(votes: Any, n_classes: int) -> list[float] | None:
    if votes is None:
        return None
    base = [_number(vote, f"base[{i}]") for i, vote in enumerate(_list(votes, "base"))]
    if len(base) != n_classes:
        raise RuleFileError(f"base has {len(base)} numbers for {n_classes} classes; expected one per class.")
    return base


def _read_rules(entries: list[Any], features: Features, index_of_label: "_Index") -> dict[str, Any]:
    """Return the columns for `RuleSet.from_arrays`."""
    per_term = ("feature", "low", "high", "value_set", "missing")
    per_rule = ("class_index", "confidence", "cover", "correct", "weight", "priority", "origins")
    column: dict[str, list[Any]] = {key: [] for key in (*per_term, "value_sets", *per_rule)}
    starts = [0]
    place_of = {name: place for place, name in enumerate(features.names)}
    code_of = {
        place: _Index("categories", values) for place, values in enumerate(features.categories) if values
    }
    for number, entry in enumerate(entries):
        where = f"rules[{number}]"
        fields = _object(
            entry, where, ("if", "then", "confidence", "cover", "correct", "weight"), ("origin", "priority")
        )
        tested = set()
        for position, term in enumerate(_list(fields["if"], f"{where}.if")):
            place = _read_term(term, f"{where}.if[{position}]", features, place_of, code_of, column)
            if place in tested:
                raise RuleFileError(
                    f"{where} tests {_shown(features.names[place])} twice; one term per feature is allowed."
                )
            tested.add(place)
        starts.append(len(column["feature"]))
        column["class_index"].append(index_of_label.find(fields["then"], f"{where}.then"))
        column["origins"].append(_read_origin(fields.get("origin"), f"{where}.origin"))
        column["priority"].append(_flag(fields.get("priority", False), f"{where}.priority"))
        for key in ("confidence", "cover", "correct", "weight"):
            column[key].append(_number(fields[key], f"{where}.{key}"))
    integers = {
        key: np.array(column.pop(key), dtype=np.int64) for key in ("feature", "value_set", "class_index")
    }
    bounds = {key: np.array(column.pop(key), dtype=np.float64) for key in ("low", "high")}
    missing = np.array(column.pop("missing"), dtype=bool)
    return {"starts": np.array(starts), "missing": missing, **integers, **bounds, **column}


def _read_term(
    term: Any,
    where: str,
    features: Features,
    place_of: Mapping[str, int],
    code_of: Mapping[int, "_Index"],
    column: dict[str, list[Any]],
) -> int:
    fields = _object(term, where, ("feature",), ("low", "high", "values", "missing"))
    name = _string(fields["feature"], f"{where}.feature")
    if name not in place_of:
        raise RuleFileError(f"{where} tests {_shown(name)}, which is not one of the features.")
    place = place_of[name]
    _check_kind_of_term(fields, where, features, place)
    column["feature"].append(place)
    for key, end in (("low", -math.inf), ("high", math.inf)):
        bound = fields.get(key)
        column[key].append(end if bound is None else _number(bound, f"{where}.{key}"))
    if "values" in fields:
        values = enumerate(_list(fields["values"], f"{where}.values"))
        codes = (
            [code_of[place].find(value, f"{where}.values[{i}]") for i, value in values]
            if place in code_of
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
    name, is_categorical = _shown(features.names[place]), features.categories[place] is not None
    if "missing" in fields:
        if fields["missing"] is not True:
            raise RuleFileError(
                f"{where}.missing is {_shown(fields['missing'])}; expected true or no such key."
            )
        if len(fields) > 2:
            raise RuleFileError(f"{where} tests whether {name} is missing; expected missing only.")
    elif ("values" in fields) != is_categorical or (is_categorical and len(fields) > 2):
        expected = "values" if is_categorical else "low and high"
        raise RuleFileError(
            f"{where} tests {name}, which is {features.kinds[place]}; expected {expected} only."
        )


def _read_origin(value: Any, where: str) -> Origin | None:
    if value is None:
        return None
    fields = _object(value, where, (), ("layer", "clause"))
    parts = {key: None if part is None else _string(part, f"{where}.{key}") for key, part in fields.items()}
    return Origin(**parts)


def _read_change(value: Any, where: str) -> RuleChange:
    fields = _object(value, where, ("action", "rule"), ("before", "after", "note"))
    number = fields["rule"]
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise RuleFileError(f"{where}.rule is {_shown(number)}; expected a whole number of 0 or more.")
    texts = {key: _string(fields[key], f"{where}.{key}") for key in fields if key not in ("action", "rule")}
    return RuleChange(_one_of(fields["action"], f"{where}.action", ACTIONS), number, **texts)


class _Index:
    """Positions of labels or categories. Unlike in Python, true is not equal to 1."""

    def __init__(self, what: str, values: Sequence[Label]) -> None:
        self._what = what
        self._position = {(isinstance(value, bool), value): i for i, value in enumerate(values)}

    def find(self, value: Any, where: str) -> int:
        plain = _scalar(value, where)
        position = self._position.get((isinstance(plain, bool), plain))
        if position is None:
            raise RuleFileError(f"{where} is {_shown(plain)}, which is not one of the {self._what}.")
        return position


# --- Single values ---


def _object(value: Any, where: str, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RuleFileError(f"{where} is {_shown(value)}; expected an object.")
    for key in required:
        if key not in value:
            raise RuleFileError(f"{where} has no {_shown(key)}; the file is damaged.")
    for key in value:
        if key not in required and key not in optional:
            raise RuleFileError(f"{where} has the unknown key {_shown(key)}.")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise RuleFileError(f"{where} is {_shown(value)}; expected a list.")
    return value


def _string(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise RuleFileError(f"{where} is {_shown(value)}; expected text.")
    return value


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise RuleFileError(f"{where} is {_shown(value)}; expected true or false.")
    return value


def _one_of(value: Any, where: str, choices: Sequence[_Choice]) -> _Choice:
    for choice in choices:
        if value == choice:
            return choice
    raise RuleFileError(f"{where} is {_shown(value)}; expected one of {', '.join(choices)}.")


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RuleFileError(f"{where} is {_shown(value)}; expected a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RuleFileError(f"{where} is too large for a double.")
    return number


def _scalar(value: Any, where: str) -> Category:
    if isinstance(value, str | bool):
        return value
    if not isinstance(value, int | float):
        raise RuleFileError(f"{where} is {_shown(value)}; expected text, a number or a boolean.")
    _number(value, where)
    return value


def _shown(value: Any, most: int = 60) -> str:
    """Return a value of the file, short enough for a message."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, int) and abs(value) >= 2**64:
        return "a huge number"  # Python refuses to print thousands of digits
    text = json.dumps(value)
    return text if len(text) <= most else f"{text[:most]}…"
