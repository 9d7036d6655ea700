"""Rule sets for classes in JSON: settings, classes and rules with their votes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from clausewise.io.abstentions import abstention_entry, read_abstention
from clausewise.io.history import HISTORY, with_history
from clausewise.io.premises import (
    PremiseReader,
    origin_entry,
    premise_entry,
    read_features,
    read_origin,
)
from clausewise.io.values import (
    RuleFileError,
    ValueIndex,
    finite_number,
    json_array,
    json_flag,
    json_number,
    json_object,
    one_of,
    scalar,
    shown,
)
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.voting import VOTINGS

_LABEL_TYPES: Final[Mapping[str, type]] = {
    "str": str,
    "object": str,
    "bool": bool,
    **{f"{sign}int{bits}": int for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": float for bits in (16, 32, 64)},
}
_STATISTICS: Final = ("confidence", "cover", "correct", "weight")


# --- Writing ---


def class_settings(rules: RuleSet) -> dict[str, Any]:
    """Return what a file says before its features and rules."""
    settings: dict[str, Any] = {
        "voting": rules.voting,
        "default": rules.default,
        "classes": list(rules.labels),
        "class_dtype": "str" if rules.classes.dtype.kind == "U" else rules.classes.dtype.name,
        "named": rules.features.named,
    }
    if rules.base.any():  # left out otherwise, as in most files
        settings["base"] = [json_number(votes) for votes in rules.base]
    if rules.scale != 1.0:
        settings["scale"] = json_number(rules.scale)
    if rules.abstention is not None:
        settings["abstention"] = abstention_entry(rules.abstention, rules.promised)
    return settings


def class_rule_entry(rules: RuleSet, number: int) -> dict[str, Any]:
    """Return one rule as it is written."""
    stored = rules.columns
    entry: dict[str, Any] = {
        "if": premise_entry(stored, number, rules.features),
        "then": rules.labels[stored.class_index[number]],
        **{key: json_number(getattr(stored, key)[number]) for key in _STATISTICS},
    }
    if stored.priority[number]:
        entry["priority"] = True
    return entry | origin_entry(stored.origins[number])


# --- Reading ---


def read_classes(parsed: dict[str, Any]) -> RuleSet:
    """Read rules for classes from a parsed file."""
    keys = ("format", "version", "voting", "default", "classes", "class_dtype", "named", "features", "rules")
    top = json_object(parsed, "the file", keys, ("base", "scale", "abstention", *HISTORY))
    voting = one_of(top["voting"], "voting", VOTINGS)
    features = read_features(json_array(top["features"], "features"), json_flag(top["named"], "named"))
    classes = _read_labels(json_array(top["classes"], "classes"), top["class_dtype"])
    index_of_label = ValueIndex("classes", classes.tolist())
    default = classes.tolist()[index_of_label.find(top["default"], "default")]
    base = _read_base(top.get("base"), len(classes))
    columns = _read_rules(json_array(top["rules"], "rules"), PremiseReader(features), index_of_label)
    rules = RuleSet.from_arrays(features, classes, default, voting=voting, base=base, **columns)
    rules = with_history(rules, top)
    if "abstention" in top:
        rules = replace(rules, abstention=read_abstention(top["abstention"]))
    return rules if "scale" not in top else _scaled(rules, finite_number(top["scale"], "scale"))


def _read_labels(labels: list[Any], dtype: Any) -> np.ndarray[Any, Any]:
    name = one_of(dtype, "class_dtype", tuple(_LABEL_TYPES))
    expected = _LABEL_TYPES[name]
    for number, label in enumerate(labels):
        value = scalar(label, f"classes[{number}]")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        fits = is_number if expected is float else isinstance(value, expected)
        if not fits or (expected is int and isinstance(value, bool)):
            raise RuleFileError(f"classes[{number}] is {shown(value)}, which is not of type {name}.")
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
    base = [finite_number(vote, f"base[{i}]") for i, vote in enumerate(json_array(votes, "base"))]
    if len(base) != n_classes:
        raise RuleFileError(f"base has {len(base)} numbers for {n_classes} classes; expected one per class.")
    return base


def _read_rules(entries: list[Any], premises: PremiseReader, index_of_label: ValueIndex) -> dict[str, Any]:
    """Return the columns for `RuleSet.from_arrays`."""
    column: dict[str, list[Any]] = {key: [] for key in ("class_index", "origins", "priority", *_STATISTICS)}
    for number, entry in enumerate(entries):
        where = f"rules[{number}]"
        fields = json_object(entry, where, ("if", "then", *_STATISTICS), ("origin", "priority"))
        premises.read(fields["if"], where)
        column["class_index"].append(index_of_label.find(fields["then"], f"{where}.then"))
        column["origins"].append(read_origin(fields.get("origin"), f"{where}.origin"))
        column["priority"].append(json_flag(fields.get("priority", False), f"{where}.priority"))
        for key in _STATISTICS:
            column[key].append(finite_number(fields[key], f"{where}.{key}"))
    class_index = np.array(column.pop("class_index"), dtype=np.int64)
    return {"class_index": class_index, **premises.columns(), **column}
