"""What the evaluation of an attribute needs and what it returns (spec 2.3, 2.4, App. A)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .c50_data import TrainingSet
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
    most_branches: float = np.inf  # of a discrete test (B2.2)


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
    n_declared_values: int = 0  # V' of a discrete attribute
    is_ordered: bool = False

    @property
    def n_branches_for_ties(self) -> int:
        """NBr of App. A, with the set of values that do not occur (B7)."""
        if self.test == THRESHOLD or self.is_ordered or self.n_declared_values <= 3:
            return 3
        return self.n_declared_values if self.test == MULTIWAY else len(self.subsets)

    @property
    def now_tested(self) -> frozenset[int]:
        return frozenset([self.feature]) if self.test == MULTIWAY else frozenset()

    def preferred_to(self, other: Candidate | None) -> bool:
        """The second half of the tie clause of spec 2.4."""
        if other is None:
            return False
        mine, theirs = self.n_branches_for_ties, other.n_branches_for_ties
        return mine < theirs or (mine == theirs and self.gain > other.gain)

    def install(self, node: Node) -> None:
        node.test, node.feature, node.threshold = self.test, self.feature, self.threshold
        node.subsets = None if self.subsets is None else list(self.subsets)
        node.is_ordered = self.is_ordered
