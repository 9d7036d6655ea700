"""Readable thresholds.

Any number between two neighbouring training values separates the same training rows, so inducers take the one
with the fewest digits. That decimal *is* the threshold (as the nearest double): text, JSON, SQL and the
browser all show it and compare with it, so they decide alike on every row, seen in training or not.
"""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

# Seventeen significant digits identify every double.
_ROUNDINGS = [
    (Context(prec=n_digits, rounding=ROUND_FLOOR), Context(prec=n_digits, rounding=ROUND_CEILING))
    for n_digits in range(1, 18)
]


def shortest_decimal(low: float, high: float, prefer: float | None = None) -> float:
    """Return the double t with low ≤ t < high that has the fewest significant decimal digits.

    Of equally short ones, return the closest to `prefer` (the middle of the gap unless given); of two equally
    close ones, the smaller. Zero has no significant digits, so it is returned if the gap contains it.
    """
    low, high = float(low), float(high)
    if not low < high or math.isinf(low):
        raise ValueError(
            f"The gap [{low!r}, {high!r}) contains no threshold; low must be finite and below high."
        )
    if low <= 0.0 < high:
        return 0.0
    last = math.nextafter(high, -math.inf)
    if prefer is None:
        prefer = low / 2 + high / 2 if high < math.inf else low
    elif math.isnan(prefer):
        raise ValueError("prefer is NaN; pass a number inside the gap or leave it out.")
    centre = min(max(float(prefer), low), last)
    exact = Decimal(centre)
    for down, up in _ROUNDINGS:
        # Rounding to doubles preserves order, so the closest decimals are the neighbours of the centre.
        below, above = float(down.plus(exact)), float(up.plus(exact))
        if below < low:
            if above <= last:
                return above
        elif above > last or below == above or _is_closer(below, above, centre):
            return below
        else:
            return above
    raise AssertionError(f"no decimal of 17 digits in [{low!r}, {high!r})")  # pragma: no cover


def _is_closer(below: float, above: float, centre: float) -> bool:
    """Return whether `below` is at least as close to `centre` as `above`, without rounding errors."""
    return 2 * Fraction(centre) <= Fraction(below) + Fraction(above)


def format_number(number: float) -> str:
    """Return the shortest text that reads back as exactly this double: `47`, `0.1`, `2.5e-8`.

    Numbers are written as in JavaScript (exponents only from 1e21 up and below 1e-6), so a report in a
    browser shows the same text as Python.
    """
    number = float(number)
    if not math.isfinite(number):
        return str(number)
    if number == 0.0:
        return "0"
    if 1e-4 <= abs(number) < 1e16:  # the common case, in which Python writes the same text
        text = repr(number)
        return text[:-2] if text.endswith(".0") else text
    sign = "-" if number < 0 else ""
    # repr has the shortest digits that identify the double; only their arrangement differs here.
    _, digit_tuple, exponent = Decimal(repr(number)).normalize(_DIGITS).as_tuple()
    digits = "".join(map(str, digit_tuple))
    assert isinstance(exponent, int)
    point = len(digits) + exponent  # number = 0.digits × 10^point
    if len(digits) <= point <= 21:
        return sign + digits + "0" * exponent
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"


_DIGITS = Context(prec=17)


def lower_bound(low: float) -> str:
    """Return `> 3`, or `>= 3` for the double just below 3."""
    return f"> {format_number(low)}" if _is_readable(low) else f">= {format_number(_above(low))}"


def upper_bound(high: float) -> str:
    """Return `<= 3`, or `< 3` for the double just below 3."""
    return f"<= {format_number(high)}" if _is_readable(high) else f"< {format_number(_above(high))}"


def _above(number: float) -> float:
    return math.nextafter(number, math.inf)


def _is_readable(number: float) -> bool:
    """Return whether the next double is not much shorter, as 3 is than 2.9999999999999996."""
    above = _above(number)
    if math.isinf(above) or above == 0.0:
        return math.isinf(above)
    n_digits = len(format_number(number))
    # No text is shorter than one character, so that only long numbers have neighbours that are much shorter.
    return n_digits < 9 or len(format_number(above)) + 8 > n_digits
