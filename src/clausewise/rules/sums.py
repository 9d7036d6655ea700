"""How the numbers of rules are added, so that predictions, explanations and every export agree exactly.

Additions are usually short decimals, such as 1.4 and −0.06, which doubles do not hold exactly. So they are
counted in a common unit, here hundredths: 140 and −6 are whole numbers, which doubles add without rounding in
any order, and a single division by 100 at the end gives the double nearest to the decimal sum. What a reader
adds up with pencil and paper is what every system computes.

Numbers with too many digits for that are added as doubles, in the order of the rules, beginning with the
base. Linear terms follow, in their order: coefficient times value, rounded, then added.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Link = Literal["identity", "log"]
LINKS: Final[tuple[Link, ...]] = get_args(Link)

# Powers of 10 up to this one are exact doubles.
_MAX_DECIMALS: Final = 22
# More digits than any double has between its first and the last decimal place of another.
_EXACT: Final = Context(prec=1000)


@dataclass(frozen=True, eq=False)
class ScaledSum:
    """The base and the addition of each rule as they are added, and the divisor of the result."""

    start: float
    additions: NDArray[np.float64]
    divisor: float


def scaled_sum(base: float, additions: Sequence[float] | NDArray[np.float64]) -> ScaledSum:
    """Return the numbers in whole units, or as they are, with divisor 1, if they have too many digits."""
    numbers = [Decimal(repr(float(number))) for number in (base, *additions)]
    n_decimals = max(0, *(_n_decimals(number) for number in numbers))
    if n_decimals <= _MAX_DECIMALS:
        units = [int(number.scaleb(n_decimals)) for number in numbers]
        if sum(map(abs, units)) < 2**53:
            whole = np.array(units, dtype=np.float64)
            return ScaledSum(float(whole[0]), _frozen(whole[1:]), 10.0**n_decimals)
    return ScaledSum(float(base), _frozen(np.array(additions, dtype=np.float64)), 1.0)


def _n_decimals(number: Decimal) -> int:
    exponent = number.normalize().as_tuple().exponent
    assert isinstance(exponent, int)  # the numbers are finite
    return -exponent


def _frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array.setflags(write=False)
    return array


def round_significant(number: float, n_digits: int) -> float:
    """Return the double nearest to the number rounded to this many significant decimal digits."""
    return float(f"{number:.{n_digits - 1}e}") + 0.0


def round_to_place(number: float, place: int) -> float:
    """Return the double nearest to the number rounded to a multiple of 10^place."""
    return float(Decimal(repr(float(number))).quantize(Decimal(1).scaleb(place), context=_EXACT)) + 0.0


def last_place(number: float) -> int:
    """Return the power of 10 of the last digit that is not 0: −2 for 1.45, 3 for 12000."""
    return -_n_decimals(Decimal(repr(float(number))))


def _exponential(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    # By the C library, as databases and Python compute it; NumPy's own differs in the last digit.
    return np.array([exponential(total) for total in totals.tolist()], dtype=np.float64)


def exponential(number: float) -> float:
    """Return e to a power; infinity where it is too large for a double."""
    try:
        return math.exp(number)
    except OverflowError:
        return math.inf


RESPONSE_OF_SUM: Final[dict[Link, Callable[[NDArray[np.float64]], NDArray[np.float64]]]] = {
    "identity": lambda totals: totals,
    "log": _exponential,
}
"""What each link makes of the sums."""


def checked_link(link: str) -> Link:
    """Return the name of a link, or raise an error that lists them."""
    for name in LINKS:
        if link == name:
            return name
    raise ValueError(f"link is {link!r}; the links are {', '.join(LINKS)}.")
