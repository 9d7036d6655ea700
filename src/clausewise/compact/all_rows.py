"""Learning from rows that need not fit into memory: look at all rows, search on the few that matter.

1. One pass over all rows asks the model about them, batch by batch, and draws a sample by the hashes of their
   contents (`partitions/sample.py`). Activations are computed for the sample alone.
2. Rules are searched for on a part of the sample, as on any table.
3. Premises are improved on four times as many rows, and again, as long as that lowers the loss on held-out
   rows. A sample of n rows has a loss of about a/n above that of all rows, so that a step to 4n gains three
   times what all further rows can; when a step gains little, they are not worth their time.
4. One more pass counts which rules fire together, by class, on all rows. Weights, base votes, cover, correct
   and the default follow from these numbers (`compact/patterns.py`). If many rules fire together in too many
   ways to be counted, weights and base votes are those of the sample.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.compact.choice import SearchProgress, row_losses
from clausewise.compact.compaction import Compacted
from clausewise.compact.examples import Examples, examples_of
from clausewise.compact.patterns import NOTE_ON_MANY_PATTERNS, count_patterns, with_votes_of_all
from clausewise.compact.points import calibrated, with_points
from clausewise.compact.seeded_search import SeededSearch
from clausewise.compact.settings import MANY_ROWS
from clausewise.data.features import Features
from clausewise.data.labels import Label, plain_label
from clausewise.networks import Network
from clausewise.networks.answers import ask_network
from clausewise.networks.batch_answers import (
    HEAD_ROWS,
    AskedNetwork,
    KeptAnswers,
    TranslatedAnswers,
    batch_labels,
    columns_read,
    columns_used,
)
from clausewise.partitions import PartitionedRows
from clausewise.partitions.columns import features_of
from clausewise.partitions.label_column import LabelColumn, classes_in, labels_in
from clausewise.partitions.sample import RowSample, draw, with_categories
from clausewise.rules import RuleSet
from clausewise.rules.batch_counts import with_counts_of_all
from clausewise.rules.stored import joined_records

FIRST_ROWS, LAST_ROWS, GROWTH = 2**15, 2**19, 4
"""The number of rows that rules are first searched on, the largest number, and the factor between steps."""
HELD_OUT_ROWS: Final = 2**15
MIN_GAIN: Final = 0.01
"""A step must lower the held-out loss by this fraction for another step to be worth its time."""


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Rows in partitions, and a sample of them: the parts to learn from, and held-out rows behind them.

    Attributes
    ----------
    rows : PartitionedRows
        All rows.
    sample : RowSample
        Some of them.
    """

    rows: PartitionedRows
    sample: RowSample

    def steps(self) -> Iterator[float]:
        """Yield the shares of all rows to learn from: the first, then four times as many, and so on."""
        n_rows, size = self.sample.n_rows, FIRST_ROWS
        while size < min(LAST_ROWS, self.most * n_rows):
            yield size / n_rows
            size *= GROWTH
        yield min(LAST_ROWS / n_rows, self.most)

    @property
    def most(self) -> float:
        """The largest share of all rows to learn from."""
        first, last = self.held_out_places
        return 1.0 - last + first

    @property
    def held_out_places(self) -> tuple[float, float]:
        """The places of the held-out rows: those behind all that are learnt from."""
        n_rows = self.sample.n_rows
        last = min(1.0, (LAST_ROWS + HELD_OUT_ROWS) / n_rows)
        return last - min(HELD_OUT_ROWS / n_rows, 0.2), last

    @property
    def n_first(self) -> int:
        """The number of rows to search on first."""
        return self.n_rows_of(next(self.steps()))

    def n_rows_of(self, share: float) -> int:
        """Return about how many rows a share of all rows is."""
        return round(share * self.sample.n_rows)


@dataclass(frozen=True, eq=False)
class Learning(SampledRows):
    """Rows in partitions that rules are learnt from, and the classes to imitate.

    Attributes
    ----------
    rows, sample
        As for `SampledRows`.
    answer : AskedNetwork, TranslatedAnswers or LabelColumn
        Returns the class of each row of a batch.
    features : Features
        The columns that rules test.
    network : Network or None
        The network to imitate, which knows the features; None if a column holds the classes.
    """

    answer: AskedNetwork | TranslatedAnswers | LabelColumn
    features: Features
    network: Network | None

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes to imitate."""
        return self.answer.classes

    def part(self, first: float, last: float) -> tuple[Any, NDArray[np.int32], NDArray[np.float64] | None]:
        """Return the rows with hashes between two places as a table, their classes and their weights."""
        chosen, weights = self.sample.between(first, last)
        table = self.sample.rows.take(chosen)
        if isinstance(self.answer, LabelColumn):
            # Rules are learnt from a part of the rows, but know the categories of all.
            table = with_categories(table.drop_columns([self.answer.name]), self.sample.facts)
        return self.rows.native(table), self.sample.codes[chosen], weights

    @property
    def first_part(self) -> tuple[Any, NDArray[np.int32], NDArray[np.float64] | None]:
        """The rows to search on first."""
        return self.part(0.0, next(self.steps()))

    def examples(self, first: float, last: float, *, with_probabilities: bool = False) -> Examples:
        """Return the same rows as examples, with the network's probabilities if they are wanted."""
        X, codes, weights = self.part(first, last)
        table, probabilities = self.features.encode(X), None
        if self.network is not None and with_probabilities:
            asked = ask_network(self.network, X, self.features, self.classes, len(table), probabilities=True)
            probabilities = asked.probabilities
        return Examples(table, codes, len(self.classes), probabilities, weights)

    def examples_to_search(self, rules: RuleSet, n_rows: int) -> Examples:
        """Return about this many rows as `examples_of` returns a table, to search for rules on."""
        X, codes, weights = self.part(0.0, min(n_rows / self.sample.n_rows, self.most))
        target = np.array(self.classes)[codes] if self.network is None else self.network
        return examples_of(rules, X, target, weights)

    def completed(self, found: Compacted, earlier: RuleSet, progress: Progress) -> RuleSet:
        """Return short rules, made of earlier ones, with premises of more rows and votes of all rows."""
        rules, _ = improve_on_more_rows(found.rules, found, self, progress)
        voting, _ = with_votes_of_all_rows(rules, found, self, progress)
        return replace(voting, learnt_rows=joined_records([earlier, voting]))

    @cached_property
    def held_out(self) -> Examples:
        """Rows that are not learnt from, with the network's probabilities."""
        return self.examples(*self.held_out_places, with_probabilities=True)


def n_drawn() -> int:
    """Return the number of rows of a sample, to learn from and held out."""
    return LAST_ROWS + HELD_OUT_ROWS


def prepare(network: Network | str, rows: PartitionedRows, progress: Progress) -> Learning:
    """Ask the network about all rows, and draw the sample to learn from.

    `network` may be the name of the column that holds the classes.
    """
    if isinstance(network, str):
        classes = classes_in(rows, network, progress)
        column = LabelColumn(network, classes)
        sample = draw(rows, column, len(classes), n_drawn(), progress=progress)
        facts = [fact for fact in sample.facts if fact.name != network]
        return Learning(rows, sample, column, features_of(facts, named=True), None)
    rows = columns_read(network, rows)
    head = rows.head(HEAD_ROWS)
    network.inspect(head)
    classes = tuple(map(plain_label, network.classes.tolist()))
    known = network.features(head)
    asked = AskedNetwork(network, classes, KeptAnswers.of_codes(len(classes)))
    sample = draw(rows, asked, len(classes), n_drawn(), coded=coded_columns(known), progress=progress)
    features = replace(features_of(sample.facts, named=known.named), names=known.names)
    return Learning(rows, sample, asked, features, network.with_features(features))


def coded_columns(features: Features) -> list[str]:
    """Return the names of columns of numbers that are categories."""
    return [
        name
        for name, values in zip(features.names, features.categories, strict=True)
        if values is not None and not isinstance(next(iter(values), ""), str)
    ]


def prepare_for(rules: RuleSet, rows: PartitionedRows, target: Any, progress: Progress) -> Learning:
    """Draw a sample to learn rules from over the columns and classes of others.

    `target` is a model, or the name of the column that holds the classes.
    """
    rows = columns_used(rows, rules.features, target)
    answer = batch_labels(target, rows, rules.labels, rules.features, "target", progress, keep=True)
    unknown = answer.classes[len(rules.labels) :]
    if unknown:
        raise ValueError(
            f"target has the class {unknown[0]!r}, which the rules do not know; their classes are "
            f"{', '.join(map(repr, rules.labels))}."
        )
    sample = draw(rows, answer, len(rules.labels), n_drawn(), progress=progress)
    network = None if isinstance(answer, LabelColumn) else answer.asked.network
    return Learning(rows, sample, answer, rules.features, network)


def in_memory(rows: PartitionedRows, target: Any) -> tuple[Any, Any]:
    """Return few rows as a table, and the labels in the column that the target names, if it does."""
    if rows.n_rows == 0:
        raise ValueError(f"{rows.title} has no rows.")
    table = rows.gathered()
    if not isinstance(target, str):
        return table, target
    if rows.names is None or target not in rows.names:
        raise ValueError(f"{rows.title}: there is no column '{target}', which should hold the labels.")
    labels = np.array(labels_in(table, target))
    others = [name for name in rows.names if name != target]
    return table[others] if hasattr(table, "iloc") else table.select(others), labels


def improve_on_more_rows(
    rules: RuleSet, found: Compacted, learning: Learning, progress: Progress
) -> tuple[RuleSet, int]:
    """Return the rules with premises improved on more rows as long as that pays, and the number of rows."""
    steps = list(learning.steps())
    n_learnt = learning.n_first
    if found.limits is None or found.settings is None or len(steps) == 1 or len(rules) == 0:
        return rules, n_learnt
    settings = replace(found.settings, synthetic=0)  # there is no lack of rows
    held_out = learning.held_out
    weights = held_out.row_weights(settings.balance)
    losses = row_losses(_calibrated(rules, held_out, weights), held_out)
    for share in steps[1:]:
        examples = learning.examples(0.0, share)
        with SearchProgress(progress, f"{learning.n_rows_of(share):,} rows") as report:
            tried = SeededSearch(rules, examples, settings, report).improved(found.limits)
        after = row_losses(_calibrated(tried, held_out, weights), held_out)
        gains = weights * (losses - after)
        gain, error = float(gains.mean()), float(gains.std() / np.sqrt(len(gains)))
        if gain > 0:
            rules, losses = tried, after
            n_learnt = learning.n_rows_of(share)
        if gain <= max(error, MIN_GAIN * float((weights * losses).mean())):
            break
    return rules, n_learnt


def with_votes_of_all_rows(
    rules: RuleSet, found: Compacted, learning: Learning, progress: Progress
) -> tuple[RuleSet, tuple[str, ...]]:
    """Return short rules with weights, base votes, cover, correct and default of all rows, and notes.

    If the rules fire together in too many ways, weights and base votes are those of the sample.
    """
    counts = count_patterns(rules, learning.rows, learning.answer, progress)
    if not counts.is_bounded:
        examples, n_rows = learning.examples(0.0, learning.most), learning.sample.n_rows
        weights = examples.row_weights(None)
        counts = counts.with_patterns_of(
            rules, examples.table, examples.codes, weights * (n_rows / weights.sum())
        )
    balance = None if found.settings is None else found.settings.balance
    has_last_stage = found.settings is not None and learning.sample.n_rows >= MANY_ROWS
    fitted = with_votes_of_all(rules, counts, balance=balance, counts_errors=has_last_stage)
    if found.settings is not None and len(fitted):
        few = learning.held_out
        scaled = _in_points if found.settings.points else _calibrated
        fitted = scaled(fitted, few, few.row_weights(balance))
    notes = () if counts.is_bounded else (NOTE_ON_MANY_PATTERNS,)
    return replace(fitted, learnt_rows=counts.learnt), notes


def _calibrated(rules: RuleSet, examples: Examples, weights: NDArray[np.float64]) -> RuleSet:
    return calibrated(rules, examples.table, examples.target_probabilities, weights)


def _in_points(rules: RuleSet, examples: Examples, weights: NDArray[np.float64]) -> RuleSet:
    return with_points(rules, examples.table, examples.target_probabilities, weights)


def with_statistics_of_all_rows(rules: RuleSet, learning: Learning, progress: Progress) -> RuleSet:
    """Return all rules of an extraction with cover, correct and the default of all rows."""
    counted, uncovered = with_counts_of_all(rules.forget_rows(), learning.rows, learning.answer, progress)
    if not uncovered.any():
        return counted
    return counted.with_default(rules.labels[int(uncovered.argmax())])
