"""What the evaluation of an attribute needs and what it returns (spec 2.3, 2.4, App. A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .c50_data import TrainingSet
from .c50_numbers import lg
from .c50_tree import MULTIWAY, THRESHOLD, Node


@dataclass(frozen=True)
class Spot:
    """A node about to be split."""

    data: TrainingSet
    cases: np.ndarray
    size: float
    base: float
    min_cases: float
    tested: frozenset[int]


@dataclass(frozen=True)
class Candidate:
    """The best test on one attribute."""

    feature: int
    gain: np.float32
    split: np.float32
    test: str
    n_forks: int  # branches of the grown node
    threshold: np.float32 | None = None
    subsets: tuple[tuple[int, ...], ...] | None = None
    n_occurring: int = 0  # subsets that come from occurring values; a further one holds the others
    n_declared_values: int = 0  # V' of a discrete attribute

    @property
    def n_branches_for_ties(self) -> int:
        """NBr of App. A."""
        if self.test == THRESHOLD or self.n_declared_values <= 3:
            return 3
        return self.n_declared_values if self.test == MULTIWAY else self.n_occurring

    @property
    def now_tested(self) -> frozenset[int]:
        return frozenset([self.feature]) if self.test == MULTIWAY else frozenset()

    def has_many_values(self, n_cases: int) -> bool:
        return self.test == MULTIWAY and self.n_declared_values >= 0.3 * n_cases

    def preferred_to(self, other: Candidate | None) -> bool:
        """The second half of the tie clause of spec 2.4."""
        if other is None:
            return False
        mine, theirs = self.n_branches_for_ties, other.n_branches_for_ties
        return mine < theirs or (mine == theirs and self.gain > other.gain)

    def install(self, node: Node) -> None:
        node.test, node.feature, node.threshold = self.test, self.feature, self.threshold
        node.subsets = None if self.subsets is None else list(self.subsets)
        node.n_occurring = self.n_occurring


def split_information(group_weights: Sequence[float], total: float) -> float:
    """( sum of P(z) ) / total with P(z) = -z lg(z/total) (spec 2.3.7)."""
    summed = 0.0
    for weight in group_weights:
        summed += -weight * lg(weight / total)
    return summed / total
