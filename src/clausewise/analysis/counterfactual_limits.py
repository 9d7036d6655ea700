"""The values that each feature may change to in a counterfactual."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.base.parameters import (
    NOTHING,
    TEXT,
    Constraint,
    check_parameters,
    instance_of,
    list_of,
    number,
    whole,
)
from clausewise.data.features import Features
from clausewise.data.table import Category

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

_NAMES: Final = list_of(TEXT | whole(0), "a list of features, by name or position") | NOTHING
LIMIT_PARAMETERS: Final[Mapping[str, Constraint]] = {
    "fixed": _NAMES,
    "increase_only": _NAMES,
    "decrease_only": _NAMES,
    "allowed": instance_of(Mapping, "a mapping from features to what they may become") | NOTHING,
}
_NUMBER = number()


@dataclass(frozen=True, eq=False)
class Limits:
    """The values that one feature may change to, as numbers of an encoded matrix.

    Attributes
    ----------
    may_rise, may_fall : bool
        Whether larger and smaller values are allowed. Both are false for a fixed feature.
    low, high : float
        The range that new values must lie in.
    least, most : float
        The range of the known rows. A change never leads out of it, or further out.
    values : ndarray, optional
        The only allowed values, ascending.
    is_whole : bool
        Whether new values are whole numbers.
    """

    may_rise: bool = True
    may_fall: bool = True
    low: float = -math.inf
    high: float = math.inf
    least: float = -math.inf
    most: float = math.inf
    values: Floats | None = None
    is_whole: bool = False

    @property
    def may_change(self) -> bool:
        """Whether any change is allowed."""
        return self.may_rise or self.may_fall

    def allow(self, before: Floats, after: Floats) -> Booleans:
        """Return which changes are allowed; none is always allowed."""
        rises = (after > before) & self.may_rise & (after <= self.most)
        falls = (after < before) & self.may_fall & (after >= self.least)
        allowed = (rises | falls) & (after >= self.low) & (after <= self.high)
        if self.values is not None:
            allowed &= np.isin(after, self.values)
        if self.is_whole:
            allowed &= after == np.floor(after)
        return np.asarray(allowed | (after == before) | (np.isnan(after) & np.isnan(before)))


def read_limits(
    features: Features,
    known: Floats | None,
    is_whole: Sequence[bool],
    fixed: Iterable[str | int] | None,
    increase_only: Iterable[str | int] | None,
    decrease_only: Iterable[str | int] | None,
    allowed: Mapping[str | int, Any] | None,
) -> tuple[Limits, ...]:
    """Return the limits of each feature; contradictions and unknown features raise a ValueError.

    Parameters
    ----------
    features : Features
        The features of the rules.
    known : ndarray of shape (n_rows, n_features), optional
        Encoded rows that show the range of each feature.
    is_whole : sequence of bool
        Which features only have whole numbers.
    fixed, increase_only, decrease_only, allowed
        As for `RuleSet.counterfactuals`.
    """
    given = {
        "fixed": fixed,
        "increase_only": increase_only,
        "decrease_only": decrease_only,
        "allowed": allowed,
    }
    check_parameters(LIMIT_PARAMETERS, given)
    named = {name: _positions(features, listed) for name, listed in given.items() if listed is not None}
    _check_contradictions(features, named)
    limits = [_range_of(features, f, known, whole_only) for f, whole_only in enumerate(is_whole)]
    for feature in named.get("fixed", ()):
        limits[feature] = replace(limits[feature], may_rise=False, may_fall=False)
    for feature in named.get("increase_only", ()):
        limits[feature] = replace(limits[feature], may_fall=False)
    for feature in named.get("decrease_only", ()):
        limits[feature] = replace(limits[feature], may_rise=False)
    for feature, wanted in zip(named.get("allowed", ()), (allowed or {}).values(), strict=True):
        limits[feature] = _narrowed(features, feature, limits[feature], wanted)
    return tuple(limits)


def _positions(features: Features, listed: Iterable[str | int]) -> list[int]:
    return [features.index(feature) for feature in listed]


def _check_contradictions(features: Features, named: Mapping[str, Sequence[int]]) -> None:
    pairs = [("fixed", "increase_only"), ("fixed", "decrease_only"), ("fixed", "allowed")]
    for one, other in [*pairs, ("increase_only", "decrease_only")]:
        for feature in named.get(one, ()):
            if feature in named.get(other, ()):
                raise ValueError(
                    f"'{features.names[feature]}' is in {one} and in {other}; list a feature that may not "
                    f"change in fixed only{'' if one == 'fixed' else ', any other in one of the two'}."
                )
    for name in ("increase_only", "decrease_only"):
        for feature in named.get(name, ()):
            if features.kinds[feature] == "categorical":
                raise ValueError(
                    f"'{features.names[feature]}' is in {name}, but its categories have no order; list those "
                    "that it may become in allowed."
                )


def _range_of(features: Features, feature: int, known: Floats | None, is_whole: bool) -> Limits:
    if features.kinds[feature] != "numeric" or known is None:
        return Limits(is_whole=is_whole)
    column = known[:, feature][np.isfinite(known[:, feature])]
    if len(column) == 0:
        return Limits(is_whole=is_whole)
    return Limits(least=float(column.min()), most=float(column.max()), is_whole=is_whole)


def _narrowed(features: Features, feature: int, limits: Limits, wanted: Any) -> Limits:
    """Return limits with the values, or the range, that a caller allows."""
    name = features.names[feature]
    if features.kinds[feature] == "numeric" and isinstance(wanted, tuple):
        low, high = _read_range(name, wanted)
        limits = replace(limits, low=low, high=high)
        is_empty = limits.low > limits.most or limits.high < limits.least
    else:
        values = _read_values(features, feature, wanted)
        inside = values[(values >= limits.least) & (values <= limits.most)]
        if limits.is_whole:
            inside = inside[inside == np.floor(inside)]
        limits, is_empty = replace(limits, values=inside), len(inside) == 0
    if is_empty:
        raise ValueError(
            f"allowed[{name!r}] is {wanted!r}, but the values in reference are "
            f"{'whole numbers ' if limits.is_whole else ''}from {limits.least:g} to {limits.most:g}."
        )
    return limits


def _read_range(name: str, wanted: tuple[Any, ...]) -> tuple[float, float]:
    if len(wanted) != 2 or not all(bound is None or _NUMBER.allows(bound) for bound in wanted):
        raise ValueError(
            f"allowed[{name!r}] is {wanted!r}; expected (low, high), with None where there is no bound, or "
            "a list of values."
        )
    low = -math.inf if wanted[0] is None else float(wanted[0])
    high = math.inf if wanted[1] is None else float(wanted[1])
    if low > high:
        raise ValueError(f"allowed[{name!r}] is {wanted!r}; the lower bound comes first.")
    return low, high


def _read_values(features: Features, feature: int, wanted: Any) -> Floats:
    """Return a list of allowed values as numbers of an encoded matrix, ascending."""
    name, kind, categories = features.names[feature], features.kinds[feature], features.categories[feature]
    is_listed = isinstance(wanted, Sequence | set | frozenset | np.ndarray) and not isinstance(wanted, str)
    if not is_listed or len(wanted) == 0:
        expected = "(low, high) or a list of numbers" if kind == "numeric" else "a list of values"
        raise ValueError(f"allowed[{name!r}] is {wanted!r}; expected {expected}.")
    codes = []
    for value in wanted:
        if categories is not None:
            fits, expected = value in categories, f"categories of '{name}' ({_listed(categories)})"
        elif kind == "binary":
            fits, expected = value in (0, 1), "True, False, 1 or 0"
        else:
            fits, expected = _NUMBER.allows(value), "finite numbers"
        if not fits:
            raise ValueError(f"allowed[{name!r}] has {value!r}; expected {expected}.")
        codes.append(float(value) if categories is None else float(categories.index(value)))
    return np.unique(np.array(codes, dtype=np.float64))


def _listed(categories: Sequence[Category], most: int = 8) -> str:
    return ", ".join(map(repr, categories[:most])) + (", …" if len(categories) > most else "")
