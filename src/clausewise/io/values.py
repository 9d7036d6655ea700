"""Single values of a rule file, each checked with an error that says where it is and what was expected."""

import json
import math
from collections.abc import Sequence
from typing import Any, TypeVar

from clausewise.data.labels import Label
from clausewise.data.table import Category

_Choice = TypeVar("_Choice", bound=str)


class RuleFileError(ValueError):
    """A file is not a rule file, or is damaged."""


class ValueIndex:
    """Positions of labels or categories. Unlike in Python, true is not equal to 1."""

    def __init__(self, what: str, values: Sequence[Label]) -> None:
        self._what = what
        self._position = {(isinstance(value, bool), value): i for i, value in enumerate(values)}

    def find(self, value: Any, where: str) -> int:
        """Return the position of a value that was read at a place."""
        plain = scalar(value, where)
        position = self._position.get((isinstance(plain, bool), plain))
        if position is None:
            raise RuleFileError(f"{where} is {shown(plain)}, which is not one of the {self._what}.")
        return position


def json_number(number: float) -> int | float:
    """Return 47 for 47.0; both are read back as the same double."""
    number = float(number)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def json_object(
    value: Any, where: str, required: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, Any]:
    """Return an object that has the required keys, and no others than these and the optional ones."""
    if not isinstance(value, dict):
        raise RuleFileError(f"{where} is {shown(value)}; expected an object.")
    for key in required:
        if key not in value:
            raise RuleFileError(f"{where} has no {shown(key)}; the file is damaged.")
    for key in value:
        if key not in required and key not in optional:
            raise RuleFileError(f"{where} has the unknown key {shown(key)}.")
    return value


def json_array(value: Any, where: str) -> list[Any]:
    """Return a list."""
    if not isinstance(value, list):
        raise RuleFileError(f"{where} is {shown(value)}; expected a list.")
    return value


def json_string(value: Any, where: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise RuleFileError(f"{where} is {shown(value)}; expected text.")
    return value


def json_flag(value: Any, where: str) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise RuleFileError(f"{where} is {shown(value)}; expected true or false.")
    return value


def one_of(value: Any, where: str, choices: Sequence[_Choice]) -> _Choice:
    """Return one of the choices."""
    for choice in choices:
        if value == choice:
            return choice
    raise RuleFileError(f"{where} is {shown(value)}; expected one of {', '.join(choices)}.")


def finite_number(value: Any, where: str) -> float:
    """Return a number as a double."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RuleFileError(f"{where} is {shown(value)}; expected a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RuleFileError(f"{where} is too large for a double.")
    return number


def scalar(value: Any, where: str) -> Category:
    """Return a text, a number or a boolean."""
    if isinstance(value, str | bool):
        return value
    if not isinstance(value, int | float):
        raise RuleFileError(f"{where} is {shown(value)}; expected text, a number or a boolean.")
    finite_number(value, where)
    return value


def shown(value: Any, most: int = 60) -> str:
    """Return a value of the file, short enough for a message."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, int) and abs(value) >= 2**64:
        return "a huge number"  # Python refuses to print thousands of digits
    text = json.dumps(value)
    return text if len(text) <= most else f"{text[:most]}…"
