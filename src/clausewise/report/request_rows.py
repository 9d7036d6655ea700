"""Rows in the requests of a served page: read from JSON, and checked against the features."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from clausewise.data.features import Features
from clausewise.data.table import Category

# A few bytes refer to a whole row of the data, so their number is limited; the page asks about one at a time.
_MAX_VALUES_OF_CHANGED_ROWS: Final = 500_000

RawRow = list[Category | None]
RawRows = list[RawRow]


@dataclass(frozen=True)
class ChangedRow:
    """A row of the data, by its number, with other values for some features, by their positions."""

    number: int
    changes: Mapping[int, Category | None]


def read_rows(value: Any, features: Features, n_rows: int = 0) -> list[RawRow | ChangedRow]:
    """Return the rows of a request: lists of raw values, one per feature (None if missing), or changed rows.

    Changed rows refer to one of the `n_rows` rows of the data.
    """
    if not isinstance(value, list) or not value:
        raise ValueError(
            f"rows is {shown_value(value)}; expected a list with at least one row, each a list of values."
        )
    n_changed = sum(isinstance(row, dict) for row in value)
    if n_changed * len(features) > _MAX_VALUES_OF_CHANGED_ROWS:
        at_most = _MAX_VALUES_OF_CHANGED_ROWS // len(features)
        raise ValueError(f"rows refers to {n_changed:,} rows of the data; expected at most {at_most:,}.")
    return [
        _read_changed_row(row, f"rows[{number}]", features, n_rows)
        if isinstance(row, dict)
        else _read_row(row, f"rows[{number}]", features)
        for number, row in enumerate(value)
    ]


def _read_changed_row(row: dict[str, Any], where: str, features: Features, n_rows: int) -> ChangedRow:
    if set(row) != {"number", "changes"}:
        raise ValueError(f'{where} is {shown_value(row)}; expected the keys "number" and "changes" only.')
    number, changes = row["number"], row["changes"]
    if not _is_position(number, n_rows):
        raise ValueError(
            f"{where} has the number {shown_value(number)}; expected a whole number from 0 to {n_rows - 1}."
        )
    if not isinstance(changes, list):
        raise ValueError(f"{where} has {shown_value(changes)} as changes; expected a list of pairs.")
    read: dict[int, Category | None] = {}
    for pair in changes:
        if not isinstance(pair, list) or len(pair) != 2 or not _is_position(pair[0], len(features)):
            raise ValueError(
                f"{where} has the change {shown_value(pair)}; expected a pair of a feature's position, from "
                f"0 to {len(features) - 1}, and a value."
            )
        if pair[0] in read:
            raise ValueError(f"{where} changes feature {pair[0]} twice; expected one value per feature.")
        read[pair[0]] = _read_value(pair[1], where, pair[0], features)
    return ChangedRow(number, read)


def _is_position(value: Any, n: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < n


def _read_row(row: Any, where: str, features: Features) -> RawRow:
    if not isinstance(row, list):
        raise ValueError(f"{where} is {shown_value(row)}; expected a list of {len(features)} values.")
    if len(row) != len(features):
        raise ValueError(f"{where} has {len(row)} values; expected {len(features)}, one per feature.")
    return [_read_value(value, where, position, features) for position, value in enumerate(row)]


def _read_value(value: Any, where: str, position: int, features: Features) -> Category | None:
    if value is None:
        return None
    name, categories = shown_value(features.names[position]), features.categories[position]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if categories is not None:
        # Unknown categories are allowed; the network decides what they mean.
        is_text = not categories or isinstance(categories[0], str)
        fits = isinstance(value, str) if is_text else is_number or isinstance(value, bool)
        expected = "text" if is_text else "a number"
    elif features.kinds[position] == "binary":
        fits = isinstance(value, bool) or (is_number and value in (0, 1))
        expected = "true, false, 0 or 1"
    else:
        fits, expected = is_number, "a number"
    if not fits:
        raise ValueError(
            f"{where} has {shown_value(value)} for {name}; expected {expected}, or null if it is missing."
        )
    if is_number and not _is_finite(value):
        raise ValueError(f"{where} has a number for {name} that is too large for a double.")
    return value  # type: ignore[no-any-return]


def _is_finite(number: int | float) -> bool:
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def shown_value(value: Any, most: int = 60) -> str:
    """Return a value as text, short enough for a message."""
    if isinstance(value, list | dict):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    if isinstance(value, int) and abs(value) >= 2**64:
        return "a huge number"  # Python refuses to print thousands of digits
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}…"
