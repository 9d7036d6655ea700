"""Voting: how the rules that fire on a row decide together.

In every scheme, each rule that fires adds a fixed number of votes to its class, each class total is divided
by a fixed number, and the largest total wins. Ties go to the default class, then to the lowest class index.
If no rule fires, all totals are 0 and the default class wins. Fitted weights may come with base votes, which
every row starts with; these decide where no rule fires. Nothing is random or depends on threads.

Rules with priority form a separate jury. Where any of them fires, they decide alone, without base votes and
with their own divisors; everywhere else, the other rules decide as if there were no rules with priority. So
adding a rule with priority does not change decisions on rows where it does not fire.

Rules for numbers do not vote: what they add is summed (`sums.py`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from clausewise.rules.columns import RuleColumns

Voting = Literal["confidence", "majority", "share", "weights"]
VOTINGS: Final[tuple[Voting, ...]] = get_args(Voting)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scheme:
    """A voting scheme: the votes of each rule, the divisor of each class, and scores to probabilities."""

    summary: str
    votes: Callable[[RuleColumns], Floats]
    divisors: Callable[[RuleColumns, int], Floats]
    probabilities: Callable[[Floats], Floats]
    uses_base: bool = False

    def start(self, base: Floats) -> Floats:
        """Return the votes that every row starts with: the base votes if the scheme uses them."""
        return base if self.uses_base else np.zeros(len(base))


def per_mille(confidence: Floats) -> Floats:
    """Return C5.0's votes, ⌊1000·confidence + 0.5⌋: integers, whose sum does not depend on the order."""
    return np.floor(1000.0 * confidence + 0.5)


def _ones(columns: RuleColumns) -> Floats:
    return np.ones(columns.n_rules)


def _undivided(columns: RuleColumns, n_classes: int) -> Floats:
    return np.ones(n_classes)


def _rules_per_class(columns: RuleColumns, n_classes: int) -> Floats:
    # Quotients of counts below 2^26 are equal as doubles exactly if the fractions are equal.
    counts = np.bincount(columns.class_index, minlength=n_classes).astype(np.float64)
    return np.maximum(counts, 1.0)


def _normalised(scores: Floats) -> Floats:
    """Return each class's fraction of all votes; without votes, the same for all classes (as C5.0 does)."""
    totals = scores.sum(axis=1, keepdims=True)
    alike = np.full_like(scores, 1.0 / scores.shape[1])
    return np.asarray(np.divide(scores, totals, out=alike, where=totals > 0))


def _softmax(scores: Floats) -> Floats:
    """Return the softmax of scores in log-odds, which may be negative."""
    with np.errstate(over="ignore"):  # a difference that overflows means probability 0
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


SCHEMES: Final[dict[Voting, Scheme]] = {
    "confidence": Scheme(
        "sum of the confidences (per mille) of the rules that fire, as C5.0 does",
        lambda columns: per_mille(columns.confidence),
        _undivided,
        _normalised,
    ),
    "majority": Scheme("number of rules that fire, as in the paper", _ones, _undivided, _normalised),
    "share": Scheme(
        "rules that fire ÷ all rules of the class, as REMIX does", _ones, _rules_per_class, _normalised
    ),
    "weights": Scheme(
        "base votes plus the weights of the rules that fire",
        lambda columns: columns.weight,
        _undivided,
        _softmax,
        uses_base=True,
    ),
}


@dataclass(frozen=True, eq=False)
class Jury:
    """Rules that decide together: their numbers, columns and votes; divisors and start votes by class."""

    rules: NDArray[np.int64]
    columns: RuleColumns
    votes: Floats
    divisors: Floats
    start: Floats


def juries(columns: RuleColumns, base: Floats, voting: Voting) -> tuple[Jury, Jury]:
    """Return the jury of the rules with priority, which may be empty, and that of the others."""
    scheme = SCHEMES[voting]

    def jury(members: NDArray[np.bool_], start: Floats) -> Jury:
        numbers = np.flatnonzero(members)
        own = columns if members.all() else columns.take(numbers)
        return Jury(numbers, own, scheme.votes(own), scheme.divisors(own, len(base)), scheme.start(start))

    return jury(columns.priority, np.zeros(len(base))), jury(~columns.priority, base)


def votes_of_rules(columns: RuleColumns, n_classes: int, voting: Voting) -> Floats:
    """Return what each rule adds to the score of its class in its jury."""
    votes = np.zeros(columns.n_rules)
    for jury in juries(columns, np.zeros(n_classes), voting):
        votes[jury.rules] = jury.votes / jury.divisors[jury.columns.class_index]
    return votes


def speaks_against(columns: RuleColumns, rule: int, voting: Voting) -> bool:
    """Return whether a rule takes votes from its class where it fires; only a weight below 0 does."""
    return voting == "weights" and bool(columns.weight[rule] < 0)


def sums_are_exact(numbers: Iterable[float]) -> bool:
    """Return whether any selection of these doubles, in any order, adds up without rounding."""
    # Denominators are powers of 2, so all sums are multiples of the inverse of the largest denominator.
    ratios = [number.as_integer_ratio() for number in numbers]
    finest = max((denominator for _, denominator in ratios), default=1)
    return sum(abs(numerator) * (finest // denominator) for numerator, denominator in ratios) < 2**53


def checked_voting(voting: str) -> Voting:
    """Return the name of a voting scheme, or raise an error that lists them."""
    for name in VOTINGS:
        if voting == name:
            return name
    raise ValueError(f"voting is {voting!r}; the schemes are {', '.join(VOTINGS)}.")
