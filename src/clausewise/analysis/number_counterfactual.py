"""The smallest change of a row after which rules for numbers predict a number in a wanted range.

The rules become a rule set that votes whether a sum is too low, too high, or as wanted: "too low" starts with
the lower limit minus the base, and every rule takes from it what it adds to the sum. That is the same
question exactly, so the search for classes answers it. Linear terms become steps: a class counts the end of
each step that is worse for the aim, so that a change that is found always holds. What is found is checked
with the rules themselves.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.analysis.counterfactual import (
    Counterfactual,
    Counterfactuals,
    counterfactuals,
    encoded,
    encoded_reference,
)
from clausewise.analysis.counterfactual_agreement import require_changeable_rows
from clausewise.analysis.counterfactual_tables import ChangeableTable
from clausewise.base.parameters import NOTHING, check_parameters, number
from clausewise.data.labels import Label
from clausewise.data.rows import as_rows, take_rows
from clausewise.networks.answers import model_rows, number_model, one_number
from clausewise.rules.linear import LinearTerm
from clausewise.rules.regression import RegressionRules
from clausewise.rules.regression_rule import describe_amount
from clausewise.rules.rule import Rule
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.sums import scaled_sum
from clausewise.rules.term import Term

Floats = NDArray[np.float64]

TOO_LOW: Final = "too low"
TOO_HIGH: Final = "too high"
WANTED: Final = "as wanted"

# About this many steps stand for a linear term between the ends of its range.
_N_STEPS: Final = 50
# What a value below an unlimited term's known range is taken to be worth: as much as this many ranges.
_FAR: Final = 1e6


@dataclass(frozen=True)
class NumberCounterfactual(Counterfactual):
    """The smallest change that was found of a row, for rules that predict numbers.

    As `Counterfactual`, with numbers as predictions. `above` and `below` are the limits of the wanted range;
    with a network, `is_confirmed` says whether its number on the changed row is in this range too.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> text = "BASE 1.5 RESPONSE price IF rooms > 4 THEN ADD 0.7 IF age > 50 THEN ADD -0.4"
    >>> rules = RegressionRules.from_text(text, ["rooms", "age"])
    >>> found = rules.counterfactuals([[3, 60]], above=1.4)[0]
    >>> print(found)
    row 0: 1.1 becomes 1.5 if age 60 → 50
    >>> found.prediction, found.becomes, found.aim
    (1.1, 1.5, 'brings it above 1.4')
    """

    above: float | None = None
    below: float | None = None

    @property
    def is_confirmed(self) -> bool | None:
        """Whether the network's number on the changed row is as wanted; None if no network was given."""
        if self.network_after is None:
            return None
        return self.becomes is not None and _is_between(float(self.network_after), self.above, self.below)

    def shown(self, prediction: Label) -> str:
        """Return a prediction as text."""
        return describe_amount(float(prediction))

    @property
    def aim(self) -> str:
        """What a change should do, as text: `brings it below 200000`."""
        parts = [("above", self.above), ("below", self.below)]
        limits = " and ".join(
            f"{name} {describe_amount(limit)}" for name, limit in parts if limit is not None
        )
        return f"brings it {limits}"

    def __repr__(self) -> str:
        return f"<NumberCounterfactual: {self}>"


def number_counterfactuals(
    rules: RegressionRules,
    X: Any,
    above: float | None,
    below: float | None,
    max_features: int,
    network: Any,
    reference: Any,
    **options: Any,
) -> Counterfactuals:
    """Find the smallest changes, row by row; see `RegressionRules.counterfactuals`.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.analysis import number_counterfactuals
    >>> text = "BASE 1.5 RESPONSE price IF rooms > 4 THEN ADD 0.7 IF age > 50 THEN ADD -0.4"
    >>> rules = RegressionRules.from_text(text, ["rooms", "age"])
    >>> options = {"above": 1.4, "below": None, "max_features": 2, "network": None, "reference": None}
    >>> print(number_counterfactuals(rules, [[3, 60], [5, 60]], **options))
    row 0: 1.1 becomes 1.5 if age 60 → 50
    row 1: 1.8 already
    """
    check_parameters(
        {"above": number() | NOTHING, "below": number() | NOTHING}, {"above": above, "below": below}
    )
    if above is None and below is None:
        raise ValueError("There is nothing to aim for; pass above, below, or both.")
    if above is not None and below is not None and not above < below:
        raise ValueError(f"above is {above} and below is {below}; no number is between them.")
    limits = _limits_of_sums(rules, above, below)
    model = None if network is None else number_model(network)
    judge = None if model is None else _judged(model.numbers, above, below)
    if network is not None:
        require_changeable_rows(network, rules)
    if rules.features.source is not None:
        X = rules.features.columns(X)
        reference = None if reference is None else rules.features.columns(reference)
        rules = replace(rules, features=replace(rules.features, source=None))
    matrix = encoded(rules.features, X)
    known = matrix if reference is None else np.vstack([matrix, encoded_reference(rules.features, reference)])

    def found_for(rows: Any, own: Floats) -> Counterfactuals:
        votes = _votes(rules, limits, own, known)
        return counterfactuals(votes, rows, max_features, judge, WANTED, reference, **options)

    if not rules.linear or len(matrix) == 0:
        parts = [found_for(X, matrix)]
    else:
        # Each row has steps of its own, in which its own values count.
        table = as_rows(X)
        parts = [found_for(take_rows(table, np.array([row])), matrix[[row]]) for row in range(len(matrix))]
    found = [one for part in parts for one in part]
    changed = np.vstack([encoded(rules.features, part.rows) for part in parts])
    before = rules.response_of(rules.sums_of(matrix))
    # The rules have the last word: a row that is as wanted stays, unless the network needs a change, and so
    # does one that the changes do not bring there.
    is_wanted = [_is_between(value, above, below) for value in before.tolist()]
    holds = [_is_between(value, above, below) for value in rules.response_of(rules.sums_of(changed)).tolist()]
    stays = ~np.array(holds, dtype=bool) | (np.array(is_wanted, dtype=bool) & (model is None))
    changed[stays] = matrix[stays]
    after = rules.response_of(rules.sums_of(changed))
    rows = ChangeableTable(X, rules.features, matrix).changed(changed)
    answers: list[list[Any]] = [[None] * len(matrix)] * 2
    if model is not None and len(matrix):
        asked = [one_number(model.numbers(model_rows(model, table, rules.features))) for table in (X, rows)]
        answers = [part.tolist() for part in asked]

    def described(row: int, one: Counterfactual) -> NumberCounterfactual:
        is_found = _is_between(float(after[row]), above, below)
        unchanged = 0.0 if is_found else math.inf
        return NumberCounterfactual(
            row=row,
            prediction=float(before[row]),
            becomes=float(after[row]) if is_found else None,
            changes=() if stays[row] else one.changes,
            distance=unchanged if stays[row] else one.distance,
            network_before=answers[0][row],
            network_after=answers[1][row],
            max_features=max_features,
            above=above,
            below=below,
        )

    return Counterfactuals(tuple(map(described, range(len(found)), found)), rows, parts[0].units)


def _judged(
    numbers: Callable[[Any], Floats], above: float | None, below: float | None
) -> Callable[[Any], Any]:
    """Return a function that says of rows whether a network's number is as wanted."""

    def judge(rows: Any) -> NDArray[Any]:
        found = one_number(numbers(rows))
        is_low = np.zeros(len(found), dtype=bool) if above is None else found <= above
        is_high = np.zeros(len(found), dtype=bool) if below is None else found >= below
        return np.where(is_low, TOO_LOW, np.where(is_high, TOO_HIGH, WANTED))

    return judge


def _is_between(value: float, above: float | None, below: float | None) -> bool:
    return (above is None or value > above) and (below is None or value < below)


def _limits_of_sums(
    rules: RegressionRules, above: float | None, below: float | None
) -> tuple[float | None, float | None]:
    """Return the range that the sum must be in; with the link "log", that of the logarithms."""
    if rules.link == "identity":
        return above, below
    if below is not None and below <= 0:
        raise ValueError(f"below is {below}, but with the link 'log' all predictions are above 0.")
    low = None if above is None or above <= 0 else math.log(above)
    return low, None if below is None else math.log(below)


# --- Rules that vote ---


def _votes(
    rules: RegressionRules, limits: tuple[float | None, float | None], own: Floats, known: Floats
) -> RuleSet:
    """Return rules that vote whether the sum is too low, too high, or as wanted."""
    scaled = scaled_sum(rules.base, rules.columns.weight)
    low, high = limits
    classes, base, voting = [], [], []
    for label, limit, sign in ((TOO_LOW, low, -1.0), (TOO_HIGH, high, 1.0)):
        if limit is None:
            continue
        classes.append(label)
        base.append(sign * (scaled.start - float(Decimal(repr(limit)) * Decimal(scaled.divisor))))
        voting += [
            Rule(rule.terms, label, weight=sign * addition)
            for rule, addition in zip(rules, scaled.additions.tolist(), strict=True)
        ]
        for term in rules.linear:
            for premise, amount in _steps(term, sign, own[:, term.feature], known[:, term.feature]):
                voting.append(Rule((premise,), label, weight=sign * amount * scaled.divisor))
    # A sum on a limit is not as wanted: the other classes come first, and so win ties.
    return RuleSet.from_rules(
        voting,
        rules.features,
        default=[*classes, WANTED][0],
        classes=[*classes, WANTED],
        voting="weights",
        base=[*base, 0.0],
    )


def _steps(term: LinearTerm, sign: float, own: Floats, known: Floats) -> Iterator[tuple[Term, float]]:
    """Yield conditions and what they add up to: at most (sign −1) or at least (+1) what the term adds."""
    yield Term(term.feature, term.name, missing=True), term.coefficient * term.fill
    cuts, values = _cuts(term, own, known)
    # Which end of the values above each cut is worse: the larger product if that would be too high.
    ends = np.stack([values[:-1], values[1:]]) * term.coefficient
    worst = ends.max(axis=0) if sign > 0 else ends.min(axis=0)
    yield Term(term.feature, term.name), float(worst[0])
    for cut, amount in zip(cuts.tolist(), np.diff(worst).tolist(), strict=True):
        if amount != 0:
            yield Term(term.feature, term.name, low=cut), amount


def _cuts(term: LinearTerm, own: Floats, known: Floats) -> tuple[Floats, Floats]:
    """Return cuts between steps, and the ends of the values that count in each step, one more than steps.

    Step i has the values above cut i − 1, up to cut i; a value of the row itself is a step of its own.
    """
    finite = known[np.isfinite(known)]
    least, most = (float(finite.min()), float(finite.max())) if len(finite) else (term.fill, term.fill)
    width = max(most - least, abs(most), 1e-300)
    low = term.low if math.isfinite(term.low) else least - _FAR * width
    high = term.high if math.isfinite(term.high) else most + _FAR * width
    start, end = max(low, least - width), min(high, most + width)
    step = _round_step((end - start) / _N_STEPS)
    grid = np.arange(math.ceil(start / step), math.floor(end / step) + 1) * step if step > 0 else np.empty(0)
    mine = own[np.isfinite(own)]
    readable = [float(f"{cut:.12g}") for cut in grid.tolist()]
    cuts = np.unique(np.concatenate([readable, mine, np.nextafter(mine, -np.inf), [start, end]]))
    cuts = cuts[(cuts > low) & (cuts < high)]
    return cuts, np.concatenate([[low], cuts, [high]])


def _round_step(width: float) -> float:
    """Return 1, 2 or 5 times a power of 10 that is not much smaller than a width."""
    if not 0 < width < math.inf:
        return 0.0
    power = 10.0 ** math.floor(math.log10(width))
    return next((power * digit for digit in (1, 2, 5) if power * digit >= width), 10 * power)
