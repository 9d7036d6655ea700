"""Which clauses over a layer's units are left out before they are substituted (the paper's rule ranking)."""

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from clausewise.induction.estimator import require_count
from clausewise.rules import RuleSet
from clausewise.rules.columns import RuleColumns

Ranking = Literal["confidence", "accuracy", "hill_climbing"]
# The constant of the hill-climbing score, which keeps rules without errors finite.
_ERROR_OFFSET = 4.0


def _confidence(columns: RuleColumns) -> NDArray[np.float64]:
    return columns.confidence


def _accuracy(columns: RuleColumns) -> NDArray[np.float64]:
    return np.divide(columns.correct, columns.cover, out=np.zeros(columns.n_rules), where=columns.cover > 0)


def _hill_climbing(columns: RuleColumns) -> NDArray[np.float64]:
    """(right − wrong) / covered + right / (wrong + 4) + right / length: exact, frequent and short first."""
    right, wrong = columns.correct, columns.cover - columns.correct
    balance = np.divide(right - wrong, columns.cover, out=np.zeros(columns.n_rules), where=columns.cover > 0)
    return balance + right / (wrong + _ERROR_OFFSET) + right / np.maximum(columns.lengths, 1)


_SCORES: Final[dict[Ranking, Callable[[RuleColumns], NDArray[np.float64]]]] = {
    "confidence": _confidence,
    "accuracy": _accuracy,
    "hill_climbing": _hill_climbing,
}


@dataclass(frozen=True)
class Dropping:
    """What clauses must be like to be kept.

    Attributes
    ----------
    lowest : float
        The part of the clauses that is dropped, lowest ranks first.
    per_class : bool
        Whether that part is taken of each class on its own.
    min_confidence : float
        Clauses below it are dropped.
    max_rules : int, optional
        Most clauses of a layer.
    ranking : {"confidence", "accuracy", "hill_climbing"}
        What clauses are ranked by.
    """

    lowest: float = 0.0
    per_class: bool = False
    min_confidence: float = 0.0
    max_rules: int | None = None
    ranking: Ranking = "confidence"

    def __post_init__(self) -> None:
        _require_part(
            "drop_lowest", self.lowest, "of the clauses to drop, at least 0 and below 1", below=True
        )
        _require_part("min_confidence", self.min_confidence, "from 0 to 1")
        require_count("max_intermediate_rules", self.max_rules, 1)
        if self.ranking not in _SCORES:
            raise ValueError(f"ranking is {self.ranking!r}; expected {', '.join(map(repr, _SCORES))}.")

    def kept(self, clauses: RuleSet) -> RuleSet:
        """The clauses that stay, in their order; of equals in rank the earlier."""
        clauses = clauses.filter(min_confidence=self.min_confidence)
        if self.lowest > 0:
            clauses = clauses[self._is_high(clauses)]
        if self.max_rules is not None and len(clauses) > self.max_rules:
            clauses = clauses[np.sort(self._best_first(clauses)[: self.max_rules])]
        return clauses

    def _best_first(self, clauses: RuleSet) -> NDArray[np.intp]:
        return np.argsort(-_SCORES[self.ranking](clauses.columns), kind="stable")

    def _is_high(self, clauses: RuleSet) -> NDArray[np.bool_]:
        best_first = self._best_first(clauses)
        group = clauses.columns.class_index if self.per_class else np.zeros(len(clauses), dtype=np.int32)
        is_high = np.zeros(len(clauses), dtype=bool)
        for one in np.unique(group).tolist():
            members = best_first[group[best_first] == one]
            is_high[members[: len(members) - math.floor(self.lowest * len(members))]] = True
        return is_high


def _require_part(name: str, value: float, expected: str, *, below: bool = False) -> None:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1 or (below and value == 1):
        raise ValueError(f"{name} is {value!r}; expected a part {expected}.")
