"""Declared constraints on parameters, checked in one place before any work is done.

An estimator lists its constraints by parameter name in `_parameter_constraints`, a function passes a mapping
to `check_parameters`; both raise the same error, which says what was given and what was expected.
"""

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


class ParameterError(ValueError, TypeError):
    """A parameter has a value that its constraint does not allow."""


@dataclass(frozen=True)
class Constraint:
    """A set of allowed values: its description and its membership test."""

    expected: str
    allows: Callable[[Any], bool]

    def __or__(self, other: "Constraint") -> "Constraint":
        first, second = self.allows, other.allows
        return Constraint(f"{self.expected} or {other.expected}", lambda value: first(value) or second(value))


def whole(least: int, most: int | None = None) -> Constraint:
    """Allow whole numbers of at least `least` (and at most `most`); booleans are not numbers."""
    bounds = f"of {least} or more" if most is None else f"from {least} to {most}"

    def allows(value: Any) -> bool:
        is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
        return is_whole and least <= value and (most is None or value <= most)

    return Constraint(f"a whole number {bounds}", allows)


def number(
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    below: float | None = None,
) -> Constraint:
    """Allow finite numbers within bounds: `above` and `below` exclusive, `least` and `most` inclusive."""
    if least is not None and most is not None:
        expected = f"a number from {least:g} to {most:g}"
    else:
        lower = _at_least(above, least)
        upper = "" if most is None else f"at most {most:g}"
        upper = upper if below is None else f"below {below:g}"
        expected = f"{lower}, {upper}" if upper else lower

    def allows(value: Any) -> bool:
        if not _is_number(value) or not math.isfinite(value):
            return False
        is_high_enough = (above is None or value > above) and (least is None or value >= least)
        return is_high_enough and (most is None or value <= most) and (below is None or value < below)

    return Constraint(expected, allows)


def one_of(*choices: Any) -> Constraint:
    """Allow a few values."""
    listed = [repr(choice) for choice in choices]
    expected = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"
    return Constraint(expected, lambda value: any(_is_same(value, choice) for choice in choices))


def list_of(entries: Constraint, expected: str) -> Constraint:
    """Allow a list, a tuple or an array of allowed entries; `expected` describes it in error messages."""
    return Constraint(expected, lambda value: _is_array_like(value) and all(map(entries.allows, value)))


def instance_of(kind: type | tuple[type, ...], expected: str) -> Constraint:
    """Allow objects of a type; `expected` describes it in error messages."""
    return Constraint(expected, lambda value: isinstance(value, kind))


def _at_least(above: float | None, least: float | None) -> str:
    if above is not None:
        return "a positive number" if above == 0 else f"a number above {above:g}"
    return "a finite number" if least is None else f"a number of {least:g} or more"


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def _is_array_like(value: Any) -> bool:
    is_listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return is_listed or (hasattr(value, "__array__") and not isinstance(value, type))


def _is_same(value: Any, choice: Any) -> bool:
    """Return whether a value equals a choice and has its type; an array never does."""
    return type(value) is type(choice) and bool(value == choice)


NOTHING = Constraint("None", lambda value: value is None)
FLAG = Constraint("True or False", lambda value: isinstance(value, bool | np.bool_))
# A list, a tuple, a NumPy array, a Series, …
ARRAY_LIKE = Constraint("an array or a list", _is_array_like)
FUNCTION = Constraint("a function", callable)
TEXT = Constraint("text", lambda value: isinstance(value, str))
FRACTION = number(least=0, most=1)
# A number of rows, or a fraction of them.
ROWS = Constraint(
    "a number of rows or a fraction of them (above 0, at most 1)",
    lambda value: (_is_number(value) and 0 < value <= 1) or whole(1).allows(value),
)
# The paper's μ. C5.0 also accepts fractional numbers of cases.
MIN_CASES = Constraint(
    "a number of rows (1 or more) or a fraction of them (below 1)",
    lambda value: _is_number(value) and 0 < value < math.inf,
)
JOBS = Constraint(
    "None or -1 for all usable cores, or a number of threads",
    lambda value: value is None or value == -1 or whole(1).allows(value),
)
VERBOSE = Constraint("0 (silent), 1 or 2", lambda value: FLAG.allows(value) or whole(0).allows(value))
RANDOM_STATE = Constraint(
    "None, a whole number from 0 to 4294967295, or a RandomState",
    lambda value: (
        value is None or isinstance(value, np.random.RandomState) or whole(0, 2**32 - 1).allows(value)
    ),
)


def check_parameters(constraints: Mapping[str, Constraint], values: Mapping[str, Any]) -> None:
    """Raise a ParameterError for the first value that its constraint does not allow."""
    for name, constraint in constraints.items():
        if name in values and not constraint.allows(values[name]):
            raise ParameterError(f"{name} is {_shown(values[name])}; expected {constraint.expected}.")


def check_estimator_parameters(estimator: Any) -> None:
    """Check the parameters of a scikit-learn estimator against its `_parameter_constraints`."""
    check_parameters(estimator._parameter_constraints, estimator.get_params(deep=False))


def _shown(value: Any, most: int = 80) -> str:
    text = " ".join(line.strip() for line in repr(value).splitlines())  # arrays span several lines
    return text if len(text) <= most else f"{text[:most]}…"
