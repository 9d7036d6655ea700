"""One condition of a rule: a feature lies in an interval, is one of several categories, or is missing."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from clausewise.data.table import Category, is_missing
from clausewise.rules.decimals import format_number, lower_bound, upper_bound

Value = Category | None
"""The value of a table cell; None and NaN are missing."""


@dataclass(frozen=True, slots=True, init=False)
class Term:
    """A condition on one feature: low < x ≤ high, x in `values`, or x is missing.

    A missing value satisfies no interval and no set of categories, only a term with `missing`.

    Parameters
    ----------
    feature : int
        Column index of the feature.
    name : str, optional
        The displayed name of the feature; `x0`, `x1`, … unless given. Equality ignores it.
    low, high : float
        Bounds of the interval (low, high]; −inf and +inf where it is open. A term open on both sides holds
        wherever the value is known. Bounds with low ≥ high are allowed and hold nowhere (`is_satisfiable`).
    values : iterable of str, int, float or bool, optional
        The accepted categories, instead of an interval.
    missing : bool, default False
        Whether the term holds exactly where the value is missing (None or NaN), instead of an interval or
        categories. A category unknown in training is not missing.

    Examples
    --------
    >>> from clausewise import Term
    >>> term = Term(0, "age", low=30, high=60)
    >>> print(term)
    30 < age ≤ 60
    >>> term.holds(60), term.holds(30), term.holds(None)
    (True, False, False)
    >>> print(term.intersection(Term(0, "age", low=50)))
    50 < age ≤ 60
    >>> print(Term(1, "job", values=["nurse", "teacher"]))
    job ∈ {nurse, teacher}
    >>> Term(2, "income", missing=True).holds(None)
    True
    """

    feature: int
    name: str = field(compare=False)
    low: float
    high: float
    values: frozenset[Category] | None
    missing: bool

    def __init__(
        self,
        feature: int,
        name: str | None = None,
        *,
        low: float = -math.inf,
        high: float = math.inf,
        values: Iterable[Category] | None = None,
        missing: bool = False,
    ) -> None:
        if isinstance(feature, bool) or not hasattr(feature, "__index__") or feature < 0:
            raise ValueError(f"feature is {feature!r}; expected the index of a column, 0 or more.")
        if isinstance(values, str):
            raise ValueError(f"values is the text {values!r}; pass the accepted categories as a list.")
        bounds = _bound("low", low, -math.inf), _bound("high", high, math.inf)
        if values is not None and bounds != (-math.inf, math.inf):
            raise ValueError("A term is an interval or a set of values; pass either low and high, or values.")
        if missing and (values is not None or bounds != (-math.inf, math.inf)):
            raise ValueError("A term with missing=True has no bounds and no values; pass it alone.")
        # A frozen dataclass with its own __init__ must set its fields this way.
        fill = object.__setattr__
        fill(self, "feature", int(feature))
        fill(self, "name", f"x{int(feature)}" if name is None else str(name))
        fill(self, "low", bounds[0])
        fill(self, "high", bounds[1])
        fill(self, "values", None if values is None else _categories(values))
        fill(self, "missing", bool(missing))

    @property
    def is_categorical(self) -> bool:
        """Whether the term is a set of values."""
        return self.values is not None

    @property
    def is_satisfiable(self) -> bool:
        """Whether any value satisfies the term."""
        return bool(self.values) if self.values is not None else self.low < self.high

    def holds(self, value: Value) -> bool:
        """Return whether a value satisfies the term."""
        if is_missing(value):
            return self.missing
        if self.missing:
            return False
        if self.values is not None:
            return value in self.values
        assert value is not None
        number = float(value)
        # −inf means "no lower bound", which −inf itself satisfies.
        return number <= self.high and (number > self.low or self.low == -math.inf)

    def contains(self, other: "Term") -> bool:
        """Return whether every value that satisfies `other` satisfies this term."""
        self._require_comparable(other)
        if not other.is_satisfiable:
            return True
        if self.missing or other.missing:
            return self.missing and other.missing
        if self.values is not None and other.values is not None:
            return other.values <= self.values
        return self.low <= other.low and other.high <= self.high

    def intersection(self, other: "Term") -> "Term":
        """Return the term that holds exactly where both do; unsatisfiable if they contradict each other."""
        self._require_comparable(other)
        if self.missing or other.missing:
            return self if self == other else self._empty(is_set=self.is_categorical or other.is_categorical)
        if self.values is not None and other.values is not None:
            return Term(self.feature, self.name, values=self.values & other.values)
        return Term(self.feature, self.name, low=max(self.low, other.low), high=min(self.high, other.high))

    def contradicts(self, other: "Term") -> bool:
        """Return whether no value satisfies both."""
        return not self.intersection(other).is_satisfiable

    def _empty(self, is_set: bool) -> "Term":
        """Return a term on this feature that no value satisfies."""
        name = self.name
        return Term(self.feature, name, values=()) if is_set else Term(self.feature, name, low=0, high=0)

    def _require_comparable(self, other: "Term") -> None:
        same_kind = self.missing or other.missing or self.is_categorical == other.is_categorical
        if self.feature != other.feature or not same_kind:
            raise ValueError(
                f"'{self}' and '{other}' cannot be compared; both must be intervals, or both value sets, "
                "on the same feature."
            )

    def __str__(self) -> str:
        if self.missing:
            return describe_missing(self.name)
        if self.values is None:
            return describe_interval(self.name, self.low, self.high)
        return describe_values(self.name, sorted(self.values, key=_display_order))


def describe_interval(name: str, low: float, high: float) -> str:
    """Return an interval as text: `age ≤ 47`, `age > 30`, `30 < age ≤ 47`, or `age is known` without bounds.

    A bound just below a short number is shown as `age < 47` or `age ≥ 30`.
    """
    above, below = lower_bound(low).replace(">=", "≥"), upper_bound(high).replace("<=", "≤")
    if low >= high:
        return f"{name} {above} and {below}"
    if low == -math.inf:
        return f"{name} is known" if high == math.inf else f"{name} {below}"
    if high == math.inf:
        return f"{name} {above}"
    comparison, number = above.split(" ")
    return f"{number} {'<' if comparison == '>' else '≤'} {name} {below}"


def describe_missing(name: str) -> str:
    """Return `age is missing`."""
    return f"{name} is missing"


def describe_values(name: str, values: Iterable[Category], are_excluded: bool = False) -> str:
    """Return a set of values as text: `job = nurse`, `job ∈ {nurse, teacher}`, or `job ∈ {}`.

    If `are_excluded`, the values are those of the feature that are not in the set: `job ≠ nurse`,
    `job ∉ {nurse, teacher}`, or `job is known` if there are none.
    """
    shown = [format_category(value) for value in values]
    if are_excluded and not shown:
        return describe_interval(name, -math.inf, math.inf)
    if len(shown) == 1:
        return f"{name} {'≠' if are_excluded else '='} {shown[0]}"
    return f"{name} {'∉' if are_excluded else '∈'} {{{', '.join(shown)}}}"


def format_category(value: Category) -> str:
    """Return a category as text, quoted only where it could be misread."""
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    plain = value and value == value.strip() and value.isprintable() and not any(c in value for c in "{},'\"")
    return value if plain else repr(value)


def _bound(which: str, bound: float, open_end: float) -> float:
    number = float(bound)
    if math.isnan(number) or (math.isinf(number) and number != open_end):
        raise ValueError(
            f"{which} is {number}; a bound is a finite number, or {open_end} where the term is open."
        )
    return number + 0.0  # −0 becomes 0: they compare equal and must not print differently


def _categories(values: Iterable[Category]) -> frozenset[Category]:
    listed = list(values)
    # Short texts may stand for millions of categories, nearly always all of them text.
    return frozenset(listed if set(map(type, listed)) <= {str} else map(_category, listed))


def _category(value: Category) -> Category:
    plain = value.item() if hasattr(value, "item") else value
    if not isinstance(plain, str | int | float) or plain != plain:
        raise ValueError(
            f"{value!r} is not a category; categories are text, numbers or booleans, and not missing."
        )
    return plain


def _display_order(value: Category) -> tuple[bool, float, str]:
    return (True, 0.0, value) if isinstance(value, str) else (False, float(value), "")
