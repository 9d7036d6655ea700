"""How the rules that fire on a row decide together.

Every scheme is: each rule that fires adds a fixed number of votes to its class, each class total is divided
by a fixed number, the largest total wins. Ties go to the default class, then to the lowest class index; when
no rule fires all totals are 0, so the default class. Fitted weights may come with base votes, which every row
starts with; they decide where no rule fires. Nothing is random and nothing depends on threads.

Rules with priority are a jury of their own. Where any of them fires they decide alone, without base votes and
with divisors of their own; everywhere else the other rules decide as if there were none. So a rule that is
added with priority changes no decision on rows on which it does not fire.

A new kind of conclusion (numbers, for regression) would be a scheme of its own here.
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
    """One way to vote, in terms of the rules' columns."""

    summary: str
    votes: Callable[[RuleColumns], Floats]
    divisors: Callable[[RuleColumns, int], Floats]
    probabilities: Callable[[Floats], Floats]
    uses_base: bool = False

    def start(self, base: Floats) -> Floats:
        """The votes that every row starts with, of a rule set with these base votes."""
        return base if self.uses_base else np.zeros(len(base))


def per_mille(confidence: Floats) -> Floats:
    """C5.0's votes, ⌊1000·confidence + 0.5⌋: integers, so that their sum does not depend on the order."""
    return np.floor(1000.0 * confidence + 0.5)


def _ones(columns: RuleColumns) -> Floats:
    return np.ones(columns.n_rules)


def _undivided(columns: RuleColumns, n_classes: int) -> Floats:
    return np.ones(n_classes)


def _rules_per_class(columns: RuleColumns, n_classes: int) -> Floats:
    # Counts below 2^26 divide to doubles that are equal exactly when the fractions are.
    counts = np.bincount(columns.class_index, minlength=n_classes).astype(np.float64)
    return np.maximum(counts, 1.0)


def _normalised(scores: Floats) -> Floats:
    """Each class's part of all votes; where nobody votes, all classes alike (as C5.0 does)."""
    totals = scores.sum(axis=1, keepdims=True)
    alike = np.full_like(scores, 1.0 / scores.shape[1])
    return np.asarray(np.divide(scores, totals, out=alike, where=totals > 0))


def _softmax(scores: Floats) -> Floats:
    """Fitted weights are log-odds, and may be negative."""
    with np.errstate(over="ignore"):  # what falls behind by more than a double can hold has probability 0
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
    """Rules that decide together: which they are, what each adds, divided by what, starting from what."""

    rules: NDArray[np.int64]
    columns: RuleColumns
    votes: Floats
    divisors: Floats
    start: Floats


def juries(columns: RuleColumns, base: Floats, voting: Voting) -> tuple[Jury, Jury]:
    """The rules with priority, which may be none, and the others."""
    scheme = SCHEMES[voting]

    def jury(members: NDArray[np.bool_], start: Floats) -> Jury:
        numbers = np.flatnonzero(members)
        own = columns if members.all() else columns.take(numbers)
        return Jury(numbers, own, scheme.votes(own), scheme.divisors(own, len(base)), scheme.start(start))

    return jury(columns.priority, np.zeros(len(base))), jury(~columns.priority, base)


def votes_of_rules(columns: RuleColumns, n_classes: int, voting: Voting) -> Floats:
    """What each rule adds to the score of its class in its jury."""
    votes = np.zeros(columns.n_rules)
    for jury in juries(columns, np.zeros(n_classes), voting):
        votes[jury.rules] = jury.votes / jury.divisors[jury.columns.class_index]
    return votes


def sums_are_exact(numbers: Iterable[float]) -> bool:
    """Whether these doubles add up without rounding in any order and any selection."""
    # Denominators are powers of 2, so the largest is a multiple of all; sums are multiples of its inverse.
    ratios = [number.as_integer_ratio() for number in numbers]
    finest = max((denominator for _, denominator in ratios), default=1)
    return sum(abs(numerator) * (finest // denominator) for numerator, denominator in ratios) < 2**53


def checked_voting(voting: str) -> Voting:
    """The scheme's name, or an error that lists the names there are."""
    for name in VOTINGS:
        if voting == name:
            return name
    raise ValueError(f"voting is {voting!r}; the schemes are {', '.join(VOTINGS)}.")
