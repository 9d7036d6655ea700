"""Which clauses over a layer's units are dropped before substitution (the paper's rule ranking)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from clausewise.rules import RuleSet
from clausewise.rules.columns import RuleColumns

Ranking = Literal["confidence", "accuracy", "hill_climbing"]
RANKINGS: Final[tuple[Ranking, ...]] = get_args(Ranking)
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
    """Which clauses are dropped; the estimators check the parameters.

    Attributes
    ----------
    lowest : float
        The fraction of clauses to drop, lowest ranks first.
    per_class : bool
        Whether to drop this fraction of each class separately.
    min_confidence : float
        Clauses below it are dropped.
    max_rules : int, optional
        The most clauses of a layer.
    ranking : {"confidence", "accuracy", "hill_climbing"}
        What clauses are ranked by.
    """

    lowest: float = 0.0
    per_class: bool = False
    min_confidence: float = 0.0
    max_rules: int | None = None
    ranking: Ranking = "confidence"

    def kept(self, clauses: RuleSet) -> RuleSet:
        """Return the clauses that are kept, in their order; of equal ranks, earlier ones are kept first."""
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
