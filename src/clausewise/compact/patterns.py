"""Which rules fire together, and how often, by class: all that votes need to know about many rows.

A row matters to the votes of rules only by the rules that fire on it and by its class. So many rows reduce to
the number of rows of each class per pattern of rules that fire, which are whole numbers that can be added in
any order, and few compared with the rows. Votes are then fitted to these numbers, without another look at the
rows.

Many rules may fire in nearly as many patterns as there are rows. Beyond `MAX_PATTERNS`, the patterns are not
kept, and votes are fitted to those of the sample. Cover and correct are counted on all rows in any case.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.compact.error_stage import ErrorWeights
from clausewise.compact.examples import Balance
from clausewise.compact.model import Member, Model, bits_of
from clausewise.compact.points import exact
from clausewise.compact.settings import default_penalty
from clausewise.compact.to_rules import class_votes
from clausewise.data.learnt_rows import LearntRows
from clausewise.data.table import Matrix
from clausewise.partitions import PartitionedRows
from clausewise.partitions.protocol import BATCH_ROWS, Part
from clausewise.rules.batch_counts import Answer, learnt_of, learnt_part
from clausewise.rules.fired_together import pattern_keys, rules_in_patterns
from clausewise.rules.ruleset import RuleSet

MAX_PATTERNS: Final = 2**16
"""The largest number of patterns that are counted on all rows; 16 rules cannot have more."""
NOTE_ON_MANY_PATTERNS: Final = (
    f"The rules fire together in more than {MAX_PATTERNS:,} ways, so votes are fitted to a sample; "
    "statistics are those of all rows."
)


@dataclass(frozen=True, eq=False)
class PatternCounts:
    """How often rules fire together.

    Attributes
    ----------
    fires : ndarray of bool, of shape (n_rules, n_patterns)
        The rules that fire in each pattern.
    n_rows : ndarray of int or float, of shape (n_patterns, n_classes)
        The number of rows of each class per pattern; of patterns of a sample, an estimate.
    of_rule : ndarray of int, of shape (n_rules, n_classes)
        The number of rows of each class on which each rule fires, of all rows.
    learnt : LearntRows
        The record of the rows.
    is_bounded : bool
        Whether the patterns are those of all rows, and not more than are kept.
    """

    fires: NDArray[np.bool_]
    n_rows: NDArray[np.int64] | NDArray[np.float64]
    of_rule: NDArray[np.int64]
    learnt: LearntRows
    is_bounded: bool

    @property
    def n_of_class(self) -> NDArray[Any]:
        """Number of rows of each class."""
        return np.asarray(self.n_rows.sum(axis=0))

    def statistics(self, class_index: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return cover and correct of every rule, given its class."""
        correct = np.take_along_axis(self.of_rule, class_index[:, None].astype(np.int64), axis=1)[:, 0]
        return self.of_rule.sum(axis=1).astype(np.float64), correct.astype(np.float64)

    def with_patterns_of(
        self, rules: RuleSet, matrix: Matrix, codes: NDArray[np.int32], weights: NDArray[np.float64]
    ) -> "PatternCounts":
        """Return the counts with patterns of a sample, given its encoded rows, classes and weights."""
        keys = keys_of_rows(rules, matrix)
        distinct, place = np.unique(keys, return_inverse=True)
        n_classes = self.of_rule.shape[1]
        cells = np.bincount(place * n_classes + codes, weights, minlength=len(distinct) * n_classes)
        fires = rules_in_patterns(distinct, len(rules))
        return replace(self, fires=fires, n_rows=cells.reshape(-1, n_classes))


def keys_of_rows(rules: Any, matrix: Matrix) -> NDArray[Any]:
    """Return which rules fire on each row, as one value, in memory for a batch at a time."""
    parts = [matrix[start : start + BATCH_ROWS] for start in range(0, len(matrix), BATCH_ROWS)]
    return np.concatenate([pattern_keys(rules.evaluator.fires(part).dense()) for part in parts])


@dataclass(frozen=True)
class _Counter:
    rules: RuleSet
    answer: Answer
    n_classes: int
    n_rows: int

    def __call__(self, batch: Any, number: int | None) -> Part:
        rules, codes = self.rules, self.answer(batch, number)
        matrix = rules.features.encode(batch)
        keys = pattern_keys(rules.evaluator.fires(matrix).dense())
        distinct, place = np.unique(keys, return_inverse=True)
        cells = place.astype(np.int64) * self.n_classes + codes
        counted = np.bincount(cells, minlength=len(distinct) * self.n_classes)
        n_rows = counted.reshape(-1, self.n_classes)
        of_rule = [n_rows[fires].sum(axis=0) for fires in rules_in_patterns(distinct, len(rules))]
        return {
            **_bounded(distinct, n_rows, False),
            "of_rule": np.array(of_rule, dtype=np.int64).reshape(-1, self.n_classes),
            **learnt_part(LearntRows.of(rules.features.names, matrix, self.n_rows)),
        }


def _bounded(keys: NDArray[Any], n_rows: NDArray[np.int64], is_many: bool) -> Part:
    """Return patterns and their rows, or none of them if there are too many."""
    is_many = is_many or len(keys) > MAX_PATTERNS
    kept = slice(0) if is_many else slice(None)
    return {"keys": keys[kept], "n_rows": n_rows[kept], "is_many": np.array(is_many)}


def _add(one: Part, other: Part) -> Part:
    distinct, place = np.unique(np.concatenate([one["keys"], other["keys"]]), return_inverse=True)
    n_rows = np.zeros((len(distinct), one["n_rows"].shape[1]), dtype=np.int64)
    np.add.at(n_rows, place, np.concatenate([one["n_rows"], other["n_rows"]]))
    return {
        **_bounded(distinct, n_rows, bool(one["is_many"] | other["is_many"])),
        "of_rule": one["of_rule"] + other["of_rule"],
        **learnt_part(learnt_of(one) | learnt_of(other)),
    }


def count_patterns(
    rules: RuleSet,
    rows: PartitionedRows,
    answer: Answer,
    progress: Progress | None = None,
) -> PatternCounts:
    """Count how often the rules fire together; `answer` returns the class of each row of a batch."""
    n_classes = len(rules.classes)
    found = rows.reduce(_Counter(rules, answer, n_classes, rows.n_rows), _add, progress, "votes")
    fires = rules_in_patterns(found["keys"], len(rules))
    is_bounded = not bool(found["is_many"])
    return PatternCounts(fires, found["n_rows"], found["of_rule"], learnt_of(found), is_bounded)


def with_votes_of_all(
    rules: RuleSet, counts: PatternCounts, *, balance: Balance = None, counts_errors: bool = False
) -> RuleSet:
    """Return the rules with weights and base fitted to counted rows, and cover and correct of all rows.

    With `counts_errors`, the weights lower a smooth count of errors, as in the last stage of a search. Rules
    whose weight is 0 are dropped.
    """
    patterns, classes = np.nonzero(counts.n_rows)
    present = np.unique(classes)
    row_weight = counts.n_rows[patterns, classes].astype(np.float64)
    n_rows = round(float(counts.n_rows.sum()))
    if balance is not None:
        of_class = counts.n_of_class
        row_weight *= n_rows / len(present) / of_class[classes]
    if len(present) < 2 or len(rules) == 0:
        return rules.with_counts(*counts.statistics(rules.columns.class_index))
    codes = np.searchsorted(present, classes).astype(np.int32)
    model = Model(codes, len(present), row_weight, default_penalty(n_rows, len(present)))
    of_output = _outputs(rules, present)
    for output in range(model.n_outputs):
        own = np.flatnonzero(of_output == output).tolist()
        members = [Member((), bits_of(counts.fires[rule][patterns]), None, 0) for rule in own]
        start = np.append(_signed(rules, own, present), _base(rules, output, present))
        model.replace(output, model.fitted(output, members, start))
    model.settle(3)
    if counts_errors:
        ErrorWeights(model).fit_and_store()
    return _with_weights_of(rules, model, of_output, present, counts)


def _outputs(rules: RuleSet, present: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the output of the model that each rule votes for; with two classes there is one."""
    if len(present) == 2:
        return np.zeros(len(rules), dtype=np.int64)
    return np.searchsorted(present, rules.columns.class_index)


def _signed(rules: RuleSet, own: list[int], present: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weights of rules as votes for the second class, if there are two."""
    weights = rules.columns.weight[own]
    if len(present) > 2:
        return weights
    return np.where(rules.columns.class_index[own] == present[1], weights, -weights)


def _base(rules: RuleSet, output: int, present: NDArray[np.int64]) -> float:
    base = rules.base[present]
    return float(base[1] - base[0]) if len(present) == 2 else float(base[output])


def _with_weights_of(
    rules: RuleSet,
    model: Model,
    of_output: NDArray[np.int64],
    present: NDArray[np.int64],
    counts: PatternCounts,
) -> RuleSet:
    weights = np.zeros(len(rules))
    for output, block in enumerate(model.blocks):
        weights[of_output == output] = exact(block.fit.weights[:-1])
    intercepts = exact(np.array([block.fit.weights[-1] for block in model.blocks]))
    votes = class_votes(of_output, weights, intercepts, present, len(rules.classes))
    stored = replace(rules.columns, class_index=votes.class_index)
    fitted = replace(rules, columns=stored, default=rules.labels[int(votes.base.argmax())])
    fitted = fitted.with_weights(votes.weights, votes.base)
    counted = fitted.with_counts(*counts.statistics(votes.class_index))
    return counted[np.flatnonzero(weights != 0)]
