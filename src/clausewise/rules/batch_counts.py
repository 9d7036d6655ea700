"""Rules on rows in partitions: what they decide, and how often they fire."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from clausewise.base.parameters import VERBOSE, check_parameters
from clausewise.base.progress import Progress
from clausewise.data.learnt_rows import LearntRows
from clausewise.partitions import PartitionedRows
from clausewise.partitions.protocol import Part

if TYPE_CHECKING:
    from clausewise.rules.base import BaseRuleSet
    from clausewise.rules.regression_base import BaseRegressionRules
    from clausewise.rules.voting import Voting

Rules = TypeVar("Rules", bound="BaseRuleSet")
Answer = Callable[[Any, int | None], NDArray[np.int32]]
"""Returns the class of each row of a batch, as a code."""
PREDICTION: Final = "prediction"
"""The column that predictions are written to."""


@dataclass(frozen=True)
class RuleCounter:
    """Counts cover and correct of rules on a batch, the classes of rows without a rule, and the rows."""

    rules: "BaseRuleSet"
    answer: Answer
    n_rows: int

    def __call__(self, batch: Any, number: int | None) -> Part:
        """Count on a batch."""
        rules, codes = self.rules, self.answer(batch, number).astype(np.int64)
        matrix = rules.features.encode(batch)
        cover, correct = rules.evaluator.statistics(matrix, codes)
        uncovered = codes[rules.evaluator.uncovered(matrix)]
        n_classes = len(rules.classes)
        learnt = LearntRows.of(rules.features.names, matrix, self.n_rows)
        return {
            "cover": cover.astype(np.int64),
            "correct": correct.astype(np.int64),
            "uncovered": np.bincount(uncovered[uncovered < n_classes], minlength=n_classes),
            **learnt_part(learnt),
        }


def learnt_part(learnt: LearntRows) -> dict[str, NDArray[Any]]:
    """Return a record of rows as arrays."""
    return {"learnt": learnt.hashes, "skipped": np.array(learnt.n_skipped_bits)}


def learnt_of(part: Part) -> LearntRows:
    """Return the record of rows that `learnt_part` wrote."""
    return LearntRows(part["learnt"], int(part["skipped"]))


def add_counts(one: Part, other: Part) -> Part:
    """Add what `RuleCounter` counted."""
    counts = {name: one[name] + other[name] for name in ("cover", "correct", "uncovered")}
    return {**counts, **learnt_part(learnt_of(one) | learnt_of(other))}


def with_counts_of_all(
    rules: Rules, rows: PartitionedRows, answer: Answer, progress: Progress | None = None
) -> tuple[Rules, NDArray[np.int64]]:
    """Return the rules with cover and correct of all rows, and the classes of rows where none fires."""
    found = rows.reduce(RuleCounter(rules, answer, rows.n_rows), add_counts, progress, "statistics")
    counted = rules.with_counts(found["cover"].astype(np.float64), found["correct"].astype(np.float64))
    known = counted.learnt_rows
    learnt = learnt_of(found) if known is None else known | learnt_of(found)
    return replace(counted, learnt_rows=learnt), found["uncovered"]


@dataclass(frozen=True)
class Decisions:
    """Computes what rules decide on a batch, as a column."""

    rules: "BaseRuleSet"
    voting: "Voting"
    n_jobs: int | None

    def __call__(self, batch: Any) -> dict[str, NDArray[Any]]:
        """Return the column."""
        return {PREDICTION: self.rules.predict(batch, voting=self.voting, n_jobs=self.n_jobs)}


@dataclass(frozen=True)
class Numbers:
    """Computes the numbers that rules predict on a batch, as a column."""

    rules: "BaseRegressionRules"
    n_jobs: int | None

    def __call__(self, batch: Any) -> dict[str, NDArray[Any]]:
        """Return the column."""
        return {PREDICTION: self.rules.predict(batch, n_jobs=self.n_jobs)}


def predicted(rows: PartitionedRows, compute: Decisions | Numbers, verbose: int) -> Any:
    """Return predictions as an array, or as a column of a lazy frame of the same kind as the rows."""
    if rows.names is not None and PREDICTION in rows.names:
        raise ValueError(f"{rows.title} already has a column '{PREDICTION}'; drop or rename it.")
    check_parameters({"verbose": VERBOSE}, {"verbose": verbose})
    features = compute.rules.features
    if not rows.is_lazy and features.named:
        rows = rows.only(features.names)
    with Progress(verbose) as progress:
        progress.started("Predictions", 1)
        found = rows.with_columns(compute, progress)
    return found[PREDICTION] if isinstance(found, dict) else found
