"""Rules for numbers in JSON: base, linear part, link and rules with what they add."""

import math
from typing import Any, Final

from clausewise.data.features import Features
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
    finite_number,
    json_array,
    json_flag,
    json_number,
    json_object,
    json_string,
    one_of,
    shown,
)
from clausewise.rules.linear import LinearTerm
from clausewise.rules.regression import RegressionRules
from clausewise.rules.sums import LINKS

_OF_LINEAR_TERMS: Final = {"fill": 0.0, "low": -math.inf, "high": math.inf}


# --- Writing ---


def number_settings(rules: RegressionRules) -> dict[str, Any]:
    """Return what a file says before its features and rules."""
    settings: dict[str, Any] = {
        "voting": rules.voting,
        "link": rules.link,
        "base": json_number(rules.base),
        "linear": [_linear_entry(term) for term in rules.linear],
        "named": rules.features.named,
    }
    if rules.response is not None:
        settings["response"] = rules.response
    if rules.response_range is not None:
        settings["response_range"] = [json_number(bound) for bound in rules.response_range]
    return settings


def _linear_entry(term: LinearTerm) -> dict[str, Any]:
    entry: dict[str, Any] = {"feature": term.name, "coefficient": json_number(term.coefficient)}
    values = {key: getattr(term, key) for key in _OF_LINEAR_TERMS}
    return entry | {
        key: json_number(value) for key, value in values.items() if value != _OF_LINEAR_TERMS[key]
    }


def number_rule_entry(rules: RegressionRules, number: int) -> dict[str, Any]:
    """Return one rule as it is written; statistics that were not counted are left out."""
    stored, rule = rules.columns, rules.rule_at(number)
    entry: dict[str, Any] = {
        "if": premise_entry(stored, number, rules.features),
        "add": json_number(rule.addition),
        "cover": json_number(rule.cover),
    }
    if rule.mean is not None:
        entry["mean"] = json_number(rule.mean)
    if rule.interval is not None:
        entry["interval"] = [json_number(bound) for bound in rule.interval]
    return entry | origin_entry(rule.origin)


# --- Reading ---


def read_numbers(parsed: dict[str, Any]) -> RegressionRules:
    """Read rules for numbers from a parsed file."""
    one_of(parsed.get("voting"), "voting", ("sum",))
    keys = ("format", "version", "voting", "link", "base", "linear", "named", "features", "rules")
    top = json_object(parsed, "the file", keys, ("response", "response_range", *HISTORY))
    features = read_features(json_array(top["features"], "features"), json_flag(top["named"], "named"))
    response = top.get("response")
    rules = RegressionRules.from_arrays(
        features,
        finite_number(top["base"], "base"),
        **_read_rules(json_array(top["rules"], "rules"), PremiseReader(features)),
        linear=[
            _read_linear(entry, f"linear[{i}]", features)
            for i, entry in enumerate(json_array(top["linear"], "linear"))
        ],
        link=one_of(top["link"], "link", LINKS),
        response=None if response is None else json_string(response, "response"),
        response_range=_read_interval(top.get("response_range"), "response_range"),
    )
    return with_history(rules, top)


def _read_linear(value: Any, where: str, features: Features) -> LinearTerm:
    fields = json_object(value, where, ("feature", "coefficient"), tuple(_OF_LINEAR_TERMS))
    name = json_string(fields["feature"], f"{where}.feature")
    if name not in features.names:
        raise RuleFileError(f"{where}.feature is {shown(name)}, which is not one of the features.")
    numbers = {
        key: finite_number(fields[key], f"{where}.{key}")
        for key in ("coefficient", *_OF_LINEAR_TERMS)
        if key in fields
    }
    return LinearTerm(features.names.index(name), name, **numbers)


def _read_interval(value: Any, where: str) -> tuple[float, float] | None:
    if value is None:
        return None
    bounds = [finite_number(bound, f"{where}[{i}]") for i, bound in enumerate(json_array(value, where))]
    if len(bounds) != 2 or bounds[0] > bounds[1]:
        raise RuleFileError(f"{where} is not an interval; expected two numbers, ascending.")
    return bounds[0], bounds[1]


def _read_rules(entries: list[Any], premises: PremiseReader) -> dict[str, Any]:
    """Return the columns for `RegressionRules.from_arrays`."""
    column: dict[str, list[Any]] = {
        key: [] for key in ("addition", "cover", "mean", "lower", "upper", "origins")
    }
    for number, entry in enumerate(entries):
        where = f"rules[{number}]"
        fields = json_object(entry, where, ("if", "add", "cover"), ("mean", "interval", "origin"))
        premises.read(fields["if"], where)
        column["addition"].append(finite_number(fields["add"], f"{where}.add"))
        column["cover"].append(finite_number(fields["cover"], f"{where}.cover"))
        mean = fields.get("mean")
        column["mean"].append(math.nan if mean is None else finite_number(mean, f"{where}.mean"))
        interval = _read_interval(fields.get("interval"), f"{where}.interval")
        lower, upper = (math.nan, math.nan) if interval is None else interval
        column["lower"].append(lower)
        column["upper"].append(upper)
        column["origins"].append(read_origin(fields.get("origin"), f"{where}.origin"))
    return {**premises.columns(), **column}
