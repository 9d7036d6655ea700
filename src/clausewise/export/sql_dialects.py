"""The SQL dialects: how each database writes names, numbers, texts and missing values.

- PostgreSQL and DuckDB order NaN above all numbers, SQLite stores it as NULL, and in BigQuery every
  comparison with it is false, except `<>`.
- `0.1` is a decimal in PostgreSQL and DuckDB, and sums of decimals differ from sums of doubles.
- SQLite reads TRUE and FALSE as columns if the table has columns of these names. In the result of a step it
  gives such columns other names, `column1` for the first column.
- PostgreSQL cuts names off after 63 bytes, and a cast of CHAR(n) to TEXT strips the padding that drivers
  return.
- SQLite (3.40 at least) reads about one decimal in several thousand as a neighbouring double, such as
  -0.011227.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from clausewise.data.labels import Label
from clausewise.export.text import quoted_short, require_unicode

DialectName = Literal["sqlite", "postgresql", "duckdb", "bigquery"]


@dataclass(frozen=True)
class Dialect:
    """How one database writes the parts of the query."""

    name: str
    double: str
    text_type: str
    quote: str
    number: Callable[[float], str]
    text: Callable[[str], str]
    is_known: str = "{x} IS NOT NULL"
    is_nan: str | None = None
    nan_is_largest: bool = False
    boolean_number: str = "CAST({x} AS {double})"
    binary_collation: str = ""
    greatest: str = "GREATEST"
    step: str = "AS MATERIALIZED"
    true: str = "TRUE"
    false: str = "FALSE"
    padded_text: str | None = None
    renamed_in_steps: re.Pattern[str] | None = None
    fold_case: Callable[[str], str] = str.lower
    max_name_bytes: int | None = None
    largest_integer: float = math.inf
    escapes: dict[str, str] = field(default_factory=dict)

    def name_of(self, identifier: str, what: str) -> str:
        """Return an identifier in quotes; `what` names it in errors."""
        _require_text(identifier, what)
        if not identifier:
            raise ValueError(
                f"{what} is an empty text, which {self.name} does not allow as a name; rename it."
            )
        escaped = "".join(self.escapes.get(letter, letter) for letter in identifier)
        return f"{self.quote}{escaped.replace(self.quote, self._quote_inside)}{self.quote}"

    def column_key(self, name: str) -> str:
        """Return a text that is equal for names that are the same column in this database."""
        # Lone surrogates are refused elsewhere; here they only need a key.
        encoded = name.encode("utf-8", "surrogatepass")[: self.max_name_bytes]
        return self.fold_case(encoded.decode("utf-8", "ignore") if self.max_name_bytes else name)

    def cuts_off(self, name: str) -> bool:
        """Whether the database shortens this name."""
        return self.max_name_bytes is not None and len(name.encode("utf-8", "replace")) > self.max_name_bytes

    @property
    def _quote_inside(self) -> str:
        return "\\" + self.quote if self.escapes else 2 * self.quote

    def literal(self, value: Label) -> str:
        """Return a class label as a constant."""
        if isinstance(value, bool):
            return self.true if value else self.false
        if isinstance(value, int):
            if not -self.largest_integer - 1 <= value <= self.largest_integer:
                raise ValueError(
                    f"The class {value} is too large an integer for {self.name}; turn the classes into text."
                )
            return str(value)
        return self.number(value) if isinstance(value, float) else self.quoted(value, "The class")

    def quoted(self, value: str, what: str) -> str:
        """Return a text as a constant; `what` names it in errors."""
        return self.text(_require_text(value, what))


def _require_text(text: str, what: str) -> str:
    if "\0" in text:
        raise ValueError(
            f"{what} {quoted_short(text)} contains the character NUL, which SQL cannot hold; rename it."
        )
    return require_unicode(text, what)


def _doubled_quotes(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _postgresql_text(text: str) -> str:
    # In plain quotes, whether a backslash escapes depends on a setting; in E'' it always does.
    quoted = _doubled_quotes(text.replace("\\", "\\\\"))
    return f"E{quoted}" if "\\" in text else quoted


_BIGQUERY_ESCAPES: Final = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}


def _bigquery_text(text: str) -> str:
    escaped = "".join(_BIGQUERY_ESCAPES.get(letter, letter) for letter in text)
    return "'" + escaped.replace("'", "\\'") + "'"


def _with_exponent(number: float) -> str:
    """Return a literal with an exponent, which makes it a double; without one it would be a decimal."""
    text = repr(number)
    return text if "e" in text else f"{text.removesuffix('.0')}e0"


def _sqlite_number(number: float) -> str:
    """Return a decimal if every version of SQLite reads it exactly, otherwise a fraction without rounding."""
    if _is_read_exactly(number):
        return repr(number)
    numerator, denominator = number.as_integer_ratio()
    exponent = denominator.bit_length() - 1
    while numerator % 2 == 0:
        numerator, exponent = numerator // 2, exponent - 1
    # Scaling a double by a power of 2 is exact if the result is a double, which holds at every step.
    text, operator = f"CAST({numerator} AS REAL)", "/" if exponent > 0 else "*"
    for left in range(abs(exponent), 0, -60):
        text += f" {operator} {2 ** min(left, 60)}"
    return f"({text} /* {number!r} */)"


def _is_read_exactly(number: float) -> bool:
    """Whether a reader that rounds twice, to 63 bits or more and then to 53, gets this double.

    If the digits and the power of 10 are both exact doubles, only one operation rounds. Rounding twice is
    wrong only near the midpoint of two doubles.
    """
    digits, _, power = repr(number).partition("e")
    whole, _, decimals = digits.partition(".")
    decimals = decimals.rstrip("0")
    shift = len(decimals) - int(power or 0)
    mantissa = int(whole + decimals)
    if abs(mantissa) >= 2**53 or abs(shift) > 22:
        return False
    # The distance of the decimal from the double, relative to the spacing of doubles, in integers.
    numerator, denominator = number.as_integer_ratio()
    ulp, ulps_per_one = math.ulp(number).as_integer_ratio()
    up, down = int(10 ** max(-shift, 0)), int(10 ** max(shift, 0))
    off = abs(mantissa * up * denominator - numerator * down) * ulps_per_one
    whole_ulp = denominator * down * ulp
    return 4 * off < whole_ulp or 2**9 * abs(2 * off - whole_ulp) > 2 * whole_ulp


def _ascii_lower(text: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


_CASE_OF_BOOLEAN: Final = (
    "CASE CAST({x} AS {text}) WHEN 'true' THEN {one} WHEN 'false' THEN {zero} "
    "ELSE CAST(CAST({x} AS {text}) AS {double}) END"
)
"""Some databases do not convert booleans to doubles; all convert booleans and numbers to text."""

DIALECTS: Final[dict[str, Dialect]] = {
    "sqlite": Dialect(
        name="SQLite",
        double="REAL",
        text_type="TEXT",
        quote='"',
        number=_sqlite_number,
        text=_doubled_quotes,
        binary_collation=" COLLATE BINARY",
        greatest="MAX",
        true="1",
        false="0",
        renamed_in_steps=re.compile("true|false|column[0-9].*", re.IGNORECASE | re.ASCII | re.DOTALL),
        fold_case=_ascii_lower,
        largest_integer=2**63 - 1,
    ),
    "postgresql": Dialect(
        name="PostgreSQL",
        double="DOUBLE PRECISION",
        text_type="TEXT",
        quote='"',
        number=lambda number: f"FLOAT8 '{number!r}'",
        text=_postgresql_text,
        is_known="{x} < FLOAT8 'NaN'",
        is_nan="{x} = FLOAT8 'NaN'",
        nan_is_largest=True,
        boolean_number=_CASE_OF_BOOLEAN,
        binary_collation=' COLLATE "C"',
        padded_text="pg_catalog.concat({x})",
        fold_case=str,
        max_name_bytes=63,
    ),
    "duckdb": Dialect(
        name="DuckDB",
        double="DOUBLE",
        text_type="VARCHAR",
        quote='"',
        number=_with_exponent,
        text=_doubled_quotes,
        is_known="{x} < CAST('NaN' AS DOUBLE)",
        is_nan="{x} = CAST('NaN' AS DOUBLE)",
        nan_is_largest=True,
        binary_collation=" COLLATE C",
        fold_case=_ascii_lower,
    ),
    "bigquery": Dialect(
        name="BigQuery",
        double="FLOAT64",
        text_type="STRING",
        quote="`",
        number=_with_exponent,
        text=_bigquery_text,
        is_known="{x} <= CAST('inf' AS FLOAT64)",
        is_nan="{x} <> {x}",
        boolean_number=_CASE_OF_BOOLEAN,
        step="AS",
        largest_integer=2**63 - 1,
        escapes=_BIGQUERY_ESCAPES,
    ),
}
assert tuple(DIALECTS) == get_args(DialectName)
