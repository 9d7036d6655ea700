"""One rule for numbers: IF every term holds THEN a number is added to the output."""

import math
from dataclasses import dataclass

from clausewise.rules.decimals import format_number
from clausewise.rules.rule import Conjunction, Origin, html_rule, one_line_rule


@dataclass(frozen=True, slots=True)
class RegressionRule(Conjunction):
    """A conjunction of terms with a number to add, in canonical form; see `Rule` for the form.

    Parameters
    ----------
    terms : iterable of Term
        The premise; every term must hold.
    addition : float
        The number that the rule adds to the output where it fires; below 0, it takes away.
    cover : float, default 0
        Number of training rows on which the premise holds, or the sum of their weights.
    mean : float, optional
        Mean response of these rows.
    interval : pair of float, optional
        The responses of the middle 90 % of these rows: the 5 % and the 95 % quantile.
    origin : Origin, optional
        Where an extractor found the rule.

    Examples
    --------
    >>> from clausewise import RegressionRule, Term
    >>> rule = RegressionRule((Term(0, "rooms", low=4), Term(1, "age", high=20)), addition=1.2)
    >>> print(rule)
    IF rooms > 4 AND age ≤ 20 THEN +1.2
    >>> rule.holds([5, 10]), rule.addition
    (True, 1.2)
    """

    addition: float
    cover: float = 0.0
    mean: float | None = None
    interval: tuple[float, float] | None = None
    origin: Origin | None = None

    def __post_init__(self) -> None:
        # Not super(), which does not find the class that `slots=True` makes anew.
        Conjunction.__post_init__(self)
        fill = object.__setattr__
        fill(self, "addition", float(self.addition) + 0.0)
        fill(self, "cover", float(self.cover) + 0.0)
        if self.mean is not None:
            fill(self, "mean", float(self.mean) + 0.0)
        if self.interval is not None:
            low, high = self.interval
            fill(self, "interval", (float(low) + 0.0, float(high) + 0.0))
        check_response(self.addition, self.cover, self.mean, self.interval)

    def __str__(self) -> str:
        return one_line_rule(*self._parts)

    def __repr__(self) -> str:
        return f"<RegressionRule: {self}>"

    def _repr_html_(self) -> str:
        return html_rule(*self._parts)

    @property
    def _parts(self) -> tuple[str, str, str]:
        return self._premise, describe_addition(self.addition), describe_response(self)


def describe_addition(number: float) -> str:
    """Return a number with its sign, `+1.4` or `-0.6`; more than nine digits are rounded to six."""
    text = describe_amount(number)
    return text if text.startswith("-") else f"+{text}"


def describe_amount(number: float) -> str:
    """Return a number as it is shown; more than nine digits are rounded to six."""
    text = format_number(number)
    n_digits = sum(map(str.isdigit, text.split("e")[0].strip("-0.")))
    return text if n_digits <= 9 else format_number(float(f"{number:.6g}"))


def describe_response(rule: RegressionRule) -> str:
    """Return the statistics that are shown after the addition."""
    parts = []
    if rule.cover > 0:
        parts.append(f"covers {format_number(round(rule.cover, 1))}")
    if rule.mean is not None:
        parts.append(f"mean {rule.mean:.4g}")
    if rule.interval is not None:
        parts.append("90 % from {:.4g} to {:.4g}".format(*rule.interval))
    return ", ".join(parts)


def check_response(
    addition: float,
    cover: float,
    mean: float | None,
    interval: tuple[float, float] | None,
    subject: str = "The rule",
) -> None:
    """Raise a ValueError for numbers that no rule can have."""
    if not math.isfinite(addition):
        raise ValueError(f"{subject} adds {addition}; it must be a finite number.")
    if not 0.0 <= cover < math.inf:
        raise ValueError(f"{subject} covers {cover} rows; it must be finite and not below 0.")
    if mean is not None and not math.isfinite(mean):
        raise ValueError(f"{subject} has mean {mean}; it must be finite.")
    if interval is not None and not -math.inf < interval[0] <= interval[1] < math.inf:
        raise ValueError(f"{subject} has the interval {interval}; expected two finite numbers, ascending.")
