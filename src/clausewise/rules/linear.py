"""The linear part of rules for numbers: coefficients of single features, and what missing values count as."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import Features
from clausewise.data.table import Matrix
from clausewise.rules.regression_rule import describe_addition, describe_amount


@dataclass(frozen=True, slots=True)
class LinearTerm:
    """Adds a coefficient times the value of a feature to the output of every row.

    A value below `low` counts as `low`, one above `high` as `high`, and a missing one as `fill`. So a typing
    error in one row cannot carry its prediction away, and every export computes the same.

    Parameters
    ----------
    feature : int
        Position of a numeric or binary feature.
    name : str
        Its name.
    coefficient : float
        What one unit of the feature adds; not 0.
    fill : float, default 0
        The value that a missing one counts as.
    low, high : float, optional
        The range in which the value counts, such as that of the training rows; unlimited unless given.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import LinearTerm
    >>> term = LinearTerm(0, "rooms", 0.5, fill=4, low=1, high=10)
    >>> print(term)
    +0.5 × rooms   (1 to 10; 4 if missing)
    >>> term.products(np.array([[3.0], [99.0], [np.nan]]))  # 99 counts as 10, the missing value as 4
    array([1.5, 5. , 2. ])
    """

    feature: int
    name: str
    coefficient: float
    fill: float = 0.0
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        for number in ("coefficient", "fill", "low", "high"):
            object.__setattr__(self, number, float(getattr(self, number)) + 0.0)
        if not math.isfinite(self.coefficient) or self.coefficient == 0.0:
            raise ValueError(
                f"The coefficient of '{self.name}' is {self.coefficient}; it must be finite and not 0."
            )
        if not (-math.inf <= self.low <= self.fill <= self.high <= math.inf and math.isfinite(self.fill)):
            raise ValueError(
                f"'{self.name}' counts from {self.low} to {self.high}, and as {self.fill} where it is "
                "missing; expected low ≤ fill ≤ high, and a finite fill."
            )

    def values(self, matrix: Matrix) -> NDArray[np.float64]:
        """Return the value of each encoded row that is multiplied by the coefficient."""
        column = matrix[:, self.feature].astype(np.float64)
        column[np.isnan(column)] = self.fill
        return np.clip(column, self.low, self.high, out=column)

    def products(self, matrix: Matrix) -> NDArray[np.float64]:
        """Return what the term adds to each encoded row."""
        with np.errstate(over="ignore"):
            return np.asarray(self.coefficient * self.values(matrix))

    @property
    def largest(self) -> float:
        """An upper bound on the absolute value of what the term adds; infinite without a range."""
        return abs(self.coefficient) * max(abs(self.low), abs(self.high))

    def __str__(self) -> str:
        return describe_linear(self)


Linear = Mapping[str, float] | Iterable[LinearTerm]
"""Linear terms, or coefficients by the name of the feature."""


def describe_linear(term: LinearTerm) -> str:
    """Return `+0.43 × income   (0.5 to 15; 3.9 if missing)`."""
    parts = [describe_range(term)] if math.isfinite(term.low) or math.isfinite(term.high) else []
    if term.fill != 0.0:
        parts.append(f"{describe_amount(term.fill)} if missing")
    notes = f"   ({'; '.join(parts)})" if parts else ""
    return f"{describe_addition(term.coefficient)} × {term.name}{notes}"


def describe_range(term: LinearTerm) -> str:
    """Return the range in which the value counts: `0.5 to 15`, `at most 15`, `at least 0.5`."""
    low, high = describe_amount(term.low), describe_amount(term.high)
    if math.isinf(term.high):
        return f"at least {low}"
    return f"at most {high}" if math.isinf(term.low) else f"{low} to {high}"


def checked_linear(linear: "Linear | None", features: Features) -> tuple[LinearTerm, ...]:
    """Return the terms, each on another numeric or binary feature of these features."""
    terms = _as_terms(linear, features)
    seen: set[int] = set()
    for term in terms:
        if not 0 <= term.feature < len(features) or features.names[term.feature] != term.name:
            raise ValueError(f"There is no feature {term.feature} with the name '{term.name}'.")
        if features.kinds[term.feature] == "categorical":
            raise ValueError(
                f"'{term.name}' is categorical; a coefficient needs a numeric or binary feature."
            )
        if term.feature in seen:
            raise ValueError(f"'{term.name}' has two coefficients; add them up.")
        seen.add(term.feature)
    return terms


def _as_terms(linear: "Linear | None", features: Features) -> tuple[LinearTerm, ...]:
    if linear is None:
        return ()
    if not isinstance(linear, Mapping):
        terms = tuple(linear)
        for term in terms:
            if not isinstance(term, LinearTerm):
                raise TypeError(
                    f"{term!r} is not a LinearTerm; pass LinearTerm objects, or coefficients by feature."
                )
        return terms
    return tuple(
        LinearTerm(place := features.index(name), features.names[place], coefficient)
        for name, coefficient in linear.items()
    )


def add_linear(totals: NDArray[np.float64], terms: Sequence[LinearTerm], matrix: Matrix) -> None:
    """Add the products of the terms to the totals of encoded rows, one term after the other."""
    # A product is rounded before it is added, as in every export: never one fused operation. Sums of terms
    # without a range may be infinite or, of opposite infinities, undefined.
    with np.errstate(over="ignore", invalid="ignore"):
        for term in terms:
            totals += term.products(matrix)
