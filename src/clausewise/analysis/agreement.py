"""How often decisions, a network and true classes agree: whole numbers, from which all measures follow.

The numbers of several batches of rows can be added up, so that rows can be measured that no memory holds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.data.labels import Label
from clausewise.data.table import Matrix
from clausewise.partitions.protocol import Part
from clausewise.rules.abstention import ABSTAINS
from clausewise.rules.batch_counts import Answer
from clausewise.rules.ruleset import RuleSet

Codes = NDArray[np.integer[Any]]

NOT_ASKED: Final = -1
MAX_SCORES: Final = 2**20
"""The largest number of different scores, of several batches, of which the area under the curve is known."""

_MAX_ROOT: Final = 2**31 - 1  # two numbers up to this can be multiplied in 63 bits, and doubled


def count_agreement(
    rules: RuleSet, matrix: Matrix, asked: Codes | None, truth: Codes | None, n_jobs: int | None = None
) -> Part:
    """Count how often decisions agree with a network's answers and true classes, as far as they are given.

    Answers and classes are codes; those of classes that the rules do not know lie behind the others.
    """
    decided = rules.evaluator.decide(matrix, rules.voting, rules.default_index, n_jobs)
    is_decided = decided != ABSTAINS
    n_fired = rules.evaluator.rules_per_class(matrix, n_jobs)
    n_of_row = n_fired.sum(axis=1)
    figures = (is_decided, n_of_row > 0, n_of_row >= 2, (n_fired > 0).sum(axis=1) >= 2)
    not_asked = np.full(len(matrix), NOT_ASKED)
    columns = (decided, not_asked if asked is None else asked, not_asked if truth is None else truth)
    cells, n_rows = _cells(*(codes[is_decided] for codes in columns))
    part = {
        "n_rows": np.array(len(matrix)),
        "figures": np.array([holds.sum() for holds in figures], dtype=np.int64),
        "cells": cells,
        "cell_rows": n_rows,
    }
    if truth is None:
        return part
    scores = rules.probabilities(rules.evaluator.scores(matrix[is_decided], rules.voting, n_jobs))
    return {**part, **_ranked(scores, truth[is_decided])}


def _cells(*columns: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different combinations of codes, from −1 on, and the number of rows with each."""
    sizes = [int(codes.max(initial=NOT_ASKED)) + 2 for codes in columns]
    keys = np.zeros(len(columns[0]), dtype=np.int64)
    for codes, size in zip(columns, sizes, strict=True):
        keys = keys * size + codes + 1
    distinct, n_rows = np.unique(keys, return_counts=True)
    return np.column_stack(np.unravel_index(distinct, sizes)).astype(np.int64) - 1, n_rows.astype(np.int64)


def _ranked(scores: NDArray[np.float64], truth: Codes) -> Part:
    """Return how many rows of a class, and how many others, have each score for it.

    Of two classes, the second is enough.
    """
    n_classes = scores.shape[1]
    columns, values, counts = [], [], []
    for code in [1] if n_classes == 2 else range(n_classes):
        distinct, place = np.unique(scores[:, code], return_inverse=True)
        is_own = truth == code
        n_own = np.bincount(place[is_own], minlength=len(distinct))
        n_other = np.bincount(place[~is_own], minlength=len(distinct))
        columns.append(np.full(len(distinct), code))
        values.append(distinct)
        counts.append(np.column_stack([n_own, n_other]))
    return {
        "score_class": np.concatenate(columns),
        "score": np.concatenate(values),
        "score_rows": np.concatenate(counts),
    }


def add_agreement(one: Part, other: Part) -> Part:
    """Add up what `count_agreement` counted on two batches."""
    cells, n_rows = _added_up(*(np.concatenate([one[name], other[name]]) for name in ("cells", "cell_rows")))
    total = {
        "n_rows": one["n_rows"] + other["n_rows"],
        "figures": one["figures"] + other["figures"],
        "cells": cells,
        "cell_rows": n_rows,
    }
    if "score" not in one or "score" not in other:
        return total
    names = ("score_class", "score", "score_rows")
    classes, scores, counts = (np.concatenate([one[name], other[name]]) for name in names)
    keys, counts = _added_up(np.column_stack([classes, scores]), counts)
    if len(keys) > MAX_SCORES:
        return total
    return {**total, "score_class": keys[:, 0].astype(np.int64), "score": keys[:, 1], "score_rows": counts}


def _added_up(keys: NDArray[Any], counts: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the different rows of `keys`, in order, with the sums of their counts."""
    order = np.lexsort(keys.T[::-1])
    keys, counts = keys[order], counts[order]
    if len(keys) == 0:
        return keys, counts
    is_first = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
    return keys[is_first], np.add.reduceat(counts, np.flatnonzero(is_first), axis=0)


@dataclass(frozen=True)
class AgreementCounter:
    """Counts agreement on a batch of rows; `network` and `truth` return the code of each row."""

    rules: RuleSet
    network: Answer | None
    truth: Answer | None
    n_jobs: int | None = None

    def __call__(self, batch: Any, number: int | None) -> Part:
        """Count on a batch."""
        asked = None if self.network is None else self.network(batch, number)
        truth = None if self.truth is None else self.truth(batch, number)
        return count_agreement(self.rules, self.rules.features.encode(batch), asked, truth, self.n_jobs)


@dataclass(frozen=True, eq=False)
class Pairs:
    """How many rows have each pair of a decision and an answer."""

    decided: NDArray[np.int64]
    wanted: NDArray[np.int64]
    n_rows: NDArray[np.int64]

    @cached_property
    def total(self) -> int:
        """Number of rows."""
        return int(self.n_rows.sum())

    @cached_property
    def n_equal(self) -> int:
        """Number of rows with a decision that is wanted."""
        return int(self.n_rows[self.decided == self.wanted].sum())

    @cached_property
    def n_wanted(self) -> NDArray[np.int64]:
        """Number of rows per class that is wanted."""
        return _tallied(self.wanted, self.n_rows)

    @cached_property
    def n_equal_of_class(self) -> NDArray[np.int64]:
        """Number of rows per class that is wanted and decided."""
        is_equal = self.decided == self.wanted
        return _tallied(self.wanted[is_equal], self.n_rows[is_equal], len(self.n_wanted))

    @property
    def agreement(self) -> float:
        """The fraction of rows with a decision that is wanted."""
        return self.n_equal / self.total

    @property
    def baseline(self) -> float:
        """The fraction of rows of the most frequent class that is wanted."""
        return float(self.n_wanted.max() / self.total)

    @property
    def balanced(self) -> float:
        """The mean, over the classes that are wanted, of the fraction of their rows decided so."""
        is_present = self.n_wanted > 0
        return float(np.mean(self.n_equal_of_class[is_present] / self.n_wanted[is_present]))

    @property
    def kappa(self) -> float:
        """Cohen's kappa; see `clausewise.metrics.cohen_kappa`."""
        n_classes = max(len(self.n_wanted), int(self.decided.max()) + 1)
        n_wanted = _tallied(self.wanted, self.n_rows, n_classes).tolist()
        n_decided = _tallied(self.decided, self.n_rows, n_classes).tolist()
        # In whole numbers of any size, so that agreement by chance is certain exactly where it should be.
        n_by_chance = sum(a * b for a, b in zip(n_wanted, n_decided, strict=True))
        if n_by_chance == self.total**2:
            return math.nan
        return float((self.total * self.n_equal - n_by_chance) / (self.total**2 - n_by_chance))


@dataclass(frozen=True, eq=False)
class Agreement:
    """What was counted on all rows, read."""

    part: Part

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.part["n_rows"])

    @property
    def fractions(self) -> tuple[float, float, float, float]:
        """The fractions of rows that are decided, covered by a rule, by two or more, and in conflict."""
        decided, covered, overlap, conflict = (self.part["figures"] / self.n_rows).tolist()
        return decided, covered, overlap, conflict

    @property
    def with_network(self) -> Pairs:
        """Decisions and the network's answers."""
        return self._pairs(0, 1)

    @property
    def with_truth(self) -> Pairs:
        """Decisions and true classes."""
        return self._pairs(0, 2)

    def network_with_truth(self, asked: Sequence[Label], truth: Sequence[Label]) -> float:
        """Return the fraction of rows whose true class the network predicts, given the labels of codes."""
        pairs = self._pairs(1, 2)
        n_equal = sum(
            n_rows
            for answer, label, n_rows in zip(
                pairs.decided.tolist(), pairs.wanted.tolist(), pairs.n_rows.tolist(), strict=True
            )
            if asked[answer] == truth[label]
        )
        return float(n_equal / pairs.total)

    def area(self, n_classes: int) -> float | None:
        """Return the area under the ROC curve; None if there are too many different scores to know it."""
        if "score" not in self.part:
            return None
        classes, counts = self.part["score_class"], self.part["score_rows"]
        return _mean_area([_area(counts[classes == code]) for code in _compared(n_classes)])

    def area_from_labels(self, n_classes: int) -> float:
        """Return the area of hard decisions as scores 0 and 1."""
        pairs, areas = self.with_truth, []
        for code in _compared(n_classes):
            is_decided, is_own = pairs.decided == code, pairs.wanted == code
            counts = [
                [pairs.n_rows[(is_decided == score) & (is_own == own)].sum() for own in (True, False)]
                for score in (False, True)
            ]
            areas.append(_area(np.array(counts)))
        return _mean_area(areas)

    def _pairs(self, first: int, second: int) -> Pairs:
        cells = self.part["cells"]
        return Pairs(cells[:, first], cells[:, second], self.part["cell_rows"])


def _tallied(codes: Codes, n_rows: NDArray[np.int64], n_classes: int = 0) -> NDArray[np.int64]:
    """Return the number of rows of each class."""
    of_class = np.zeros(max(n_classes, int(codes.max(initial=-1)) + 1), dtype=np.int64)
    np.add.at(of_class, codes, n_rows)
    return of_class


def _compared(n_classes: int) -> Sequence[int]:
    """Return the classes that have a curve; of two, the second is enough."""
    return [1] if n_classes == 2 else range(n_classes)


def _area(counts: NDArray[np.int64]) -> float:
    """Return the chance that a row of a class scores above another row; ties count half.

    `counts` has the number of rows of the class, and of others, per score in ascending order.
    """
    n_own, n_other = (int(number) for number in counts.sum(axis=0))
    if n_own == 0 or n_other == 0:
        return math.nan
    below = np.cumsum(counts[:, 1]) - counts[:, 1]
    # Twice the number of pairs in order, of any size.
    of_score = counts[:, 0].astype(object) if n_own > _MAX_ROOT or n_other > _MAX_ROOT else counts[:, 0]
    return int(of_score @ (2 * below + counts[:, 1])) / (2 * n_own * n_other)


def _mean_area(areas: Sequence[float]) -> float:
    known = [area for area in areas if not math.isnan(area)]
    return float(np.mean(known)) if known else math.nan
