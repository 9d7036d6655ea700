"""Rules for numbers from rows that need not fit into memory; as `all_rows.py` for classes.

1. One pass over all rows draws a sample by the hashes of their contents. The model answers the sample alone.
2. Rules are searched for on a part of the sample, and improved on more of it while that lowers the loss on
   held-out rows.
3. One more pass counts, for every pattern of rules that fire together, its rows and the sum of their numbers.
   With the squared and the Poisson loss, additions depend on all rows only by these; they are fitted to them.
   If there are too many patterns, they are fitted to those of the sample. With another loss, or with a linear
   part, they are fitted to the whole sample, too.
4. The same pass counts cover, mean and range of the responses; a last one finds their quantiles.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.compact import patterns
from clausewise.compact.all_rows import (
    MIN_GAIN,
    SampledRows,
    coded_columns,
    n_drawn,
)
from clausewise.compact.choice import SearchProgress
from clausewise.compact.losses import loss_named
from clausewise.compact.model import Member, bits_of
from clausewise.compact.patterns import NOTE_ON_MANY_PATTERNS, keys_of_rows
from clausewise.compact.regression_compaction import AddingRules
from clausewise.compact.regression_examples import RegressionExamples
from clausewise.compact.regression_model import RegressionModel
from clausewise.compact.regression_search import (
    RegressionSearch,
    Scale,
    readable,
    row_losses_of_numbers,
)
from clausewise.compact.regression_settings import RegressionSettings
from clausewise.data.features import Features
from clausewise.networks import Network
from clausewise.networks.batch_answers import (
    HEAD_ROWS,
    AskedNumbers,
    KeptAnswers,
    batch_numbers,
    columns_read,
    columns_used,
)
from clausewise.partitions import PartitionedRows
from clausewise.partitions.columns import features_of
from clausewise.partitions.exact_sums import add_digits, digit_sums, exact_totals
from clausewise.partitions.number_column import NumberColumn, number_column
from clausewise.partitions.protocol import BATCH_ROWS, Part
from clausewise.partitions.ranked_values import cells_of
from clausewise.partitions.sample import draw, with_categories
from clausewise.rules.batch_counts import learnt_of
from clausewise.rules.fired_together import pattern_keys, rules_in_patterns
from clausewise.rules.regression import RegressionRules
from clausewise.rules.response_counts import ResponseCounter, add_responses
from clausewise.rules.stored import joined_records

Floats = NDArray[np.float64]

# A model's answers are rounded to this fraction of their spread, about the precision of a single.
_PRECISION: Final = 2.0**-24
_FITTED_BY_PATTERNS: Final = ("squared", "poisson")


@dataclass(frozen=True, eq=False)
class NumberLearning(SampledRows):
    """Rows in partitions that rules are learnt from, and the numbers to predict.

    Attributes
    ----------
    rows, sample
        As for `SampledRows`.
    answer : AskedNumbers or NumberColumn
        Returns the number of each row of a batch.
    features : Features
        The columns that rules test.
    """

    answer: AskedNumbers | NumberColumn
    features: Features

    @property
    def network(self) -> Network | None:
        """The network to imitate; None if a column holds the numbers."""
        return self.answer.network if isinstance(self.answer, AskedNumbers) else None

    def table(self, chosen: NDArray[np.intp]) -> Any:
        """Return some rows of the sample, as they are passed on."""
        table = self.sample.rows.take(chosen)
        if isinstance(self.answer, NumberColumn):
            # Rules are learnt from a part of the rows, but know the categories of all.
            table = with_categories(table.drop_columns([self.answer.name]), self.sample.facts)
        return self.rows.native(table)

    @cached_property
    def numbers(self) -> Floats:
        """The number of each row of the sample."""
        rows = self.sample.rows
        batches = [
            self.answer(self.rows.native(rows.slice(start, BATCH_ROWS)), None)
            for start in range(0, rows.num_rows, BATCH_ROWS)
        ]
        return np.concatenate(batches)

    def part(self, first: float, last: float) -> tuple[Any, Floats, Floats | None]:
        """Return the rows with hashes between two places as a table, their numbers and their weights."""
        chosen, weights = self.sample.between(first, last)
        return self.table(chosen), self.numbers[chosen], weights

    @property
    def first_part(self) -> tuple[Any, Floats, Floats | None]:
        """The rows to search on first."""
        return self.part(0.0, next(self.steps()))

    def examples(self, first: float, last: float) -> RegressionExamples:
        """Return the same rows as examples."""
        X, numbers, weights = self.part(first, last)
        return RegressionExamples(self.features.encode(X), numbers, weights)

    def examples_of_about(self, n_rows: int) -> RegressionExamples:
        """Return about this many rows as examples."""
        return self.examples(0.0, min(n_rows / self.sample.n_rows, self.most))

    @cached_property
    def held_out(self) -> RegressionExamples:
        """Rows that are not learnt from."""
        return self.examples(*self.held_out_places)

    @property
    def rounded_answer(self) -> AskedNumbers | NumberColumn:
        """What gives all rows their numbers: those of a model do not depend on the batch that a row is in."""
        if isinstance(self.answer, NumberColumn):
            return self.answer
        spread = float(self.numbers.std())
        unit = 2.0 ** np.floor(np.log2(spread * _PRECISION)) if spread > 0 else 0.0
        return replace(self.answer, unit=float(unit), kept=KeptAnswers.of_numbers())

    def completed(
        self, found: AddingRules, progress: Progress, earlier: RegressionRules | None = None
    ) -> tuple[RegressionRules, int, tuple[str, ...]]:
        """Return rules with premises of more rows, and additions and statistics of all rows.

        Also return the number of rows that they were searched on, and notes. `earlier` are rules they were
        made of.
        """
        rules, n_searched = _improved_on_more_rows(found, self, progress)
        counted, notes = with_additions_of_all_rows(rules, found, self, progress)
        learnt = counted.learnt_rows if earlier is None else joined_records([earlier, counted])
        return replace(counted, learnt_rows=learnt), n_searched, notes


def prepare_numbers(
    network: Network | str, rows: PartitionedRows, output: int | None, progress: Progress
) -> NumberLearning:
    """Draw the sample to learn from; `network` may be the name of the column that holds the numbers."""
    if isinstance(network, str):
        column = number_column(network, rows, "network")
        sample = draw(rows, _one_class, 1, n_drawn(), progress=progress, what="sample")
        facts = [fact for fact in sample.facts if fact.name != network]
        return NumberLearning(rows, sample, column, features_of(facts, named=True))
    rows = columns_read(network, rows)
    known = network.features(rows.head(HEAD_ROWS))
    sample = draw(
        rows,
        _one_class,
        1,
        n_drawn(),
        coded=coded_columns(known),
        progress=progress,
        what="sample",
    )
    features = replace(features_of(sample.facts, named=known.named), names=known.names)
    asked = AskedNumbers(network.with_features(features), features, output)
    return NumberLearning(rows, sample, asked, features)


def prepare_numbers_for(
    rules: RegressionRules, rows: PartitionedRows, target: Any, progress: Progress
) -> NumberLearning:
    """Draw a sample to learn rules from over the columns of others; `target` is a model or a column."""
    rows = columns_used(rows, rules.features, target)
    answer = batch_numbers(target, rows, rules.features, "target")
    sample = draw(rows, _one_class, 1, n_drawn(), progress=progress, what="sample")
    return NumberLearning(rows, sample, answer, rules.features)


def _one_class(batch: Any, _number: int | None) -> NDArray[np.int32]:
    """Return the same class for all rows: a sample for numbers has no classes to balance."""
    return np.zeros(len(batch), dtype=np.int32)


def _improved_on_more_rows(
    found: AddingRules, learning: NumberLearning, progress: Progress
) -> tuple[RegressionRules, int]:
    """Return the rules with premises improved on more rows as long as that pays, and the number of rows."""
    rules, n_learnt = found.rules, learning.n_first
    if len(rules) == 0:
        return rules, n_learnt
    settings = replace(found.settings, synthetic=0)  # there is no lack of rows
    held_out = learning.held_out
    weights = held_out.row_weights
    losses = row_losses_of_numbers(rules, held_out, settings)
    for share in list(learning.steps())[1:]:
        with SearchProgress(progress, f"{learning.n_rows_of(share):,} rows") as report:
            search = RegressionSearch(
                learning.features, learning.examples(0.0, share), settings, report, rules
            )
            tried = search.improved(found.limits)
        after = row_losses_of_numbers(tried, held_out, settings)
        gains = weights * (losses - after)
        gain, error = float(gains.mean()), float(gains.std() / np.sqrt(len(gains)))
        if gain > 0:
            rules, losses, n_learnt = tried, after, learning.n_rows_of(share)
        if gain <= max(error, MIN_GAIN * float((weights * losses).mean())):
            break
    return rules, n_learnt


def with_additions_of_all_rows(
    rules: RegressionRules, found: AddingRules, learning: NumberLearning, progress: Progress
) -> tuple[RegressionRules, tuple[str, ...]]:
    """Return rules with additions fitted to all rows, and their statistics; and notes."""
    settings, held_out = replace(found.settings, synthetic=0), learning.held_out
    is_fitted_by_patterns = settings.loss in _FITTED_BY_PATTERNS and not rules.linear
    if not is_fitted_by_patterns:
        examples = learning.examples(0.0, learning.most)
        with SearchProgress(progress, "additions") as report:
            search = RegressionSearch(learning.features, examples, settings, report, rules)
            rules = readable(search.refitted(found.limits), held_out, settings)
    answer, edges = learning.rounded_answer, cells_of(learning.numbers)
    counter = ResponseCounter(rules, answer, learning.rows.n_rows, edges)
    counted = learning.rows.reduce(
        _PatternCounter(counter, is_fitted_by_patterns), _add, progress, "additions"
    )
    is_many = is_fitted_by_patterns and bool(counted["is_many"])
    if is_fitted_by_patterns:
        sums = _sums_in_sample(rules, learning) if is_many else _sums_of_all(counted)
        rules = readable(_fitted_to_patterns(rules, sums, held_out, settings), held_out, settings)
    kept = np.flatnonzero(rules.columns.weight != 0)
    of_kept = {**counted, **{name: counted[name][kept] for name in ("cover", "cells", "digits")}}
    complete = rules[kept].with_counted_responses(of_kept, learning.rows, answer, edges, progress)
    if isinstance(answer, AskedNumbers) and answer.unit:
        mean = np.rint(complete.columns.mean / answer.unit) * answer.unit
        mean.setflags(write=False)
        complete = replace(complete, columns=replace(complete.columns, mean=mean))
    notes = (NOTE_ON_MANY_PATTERNS,) if is_many else ()
    return replace(complete, learnt_rows=learnt_of(counted)), notes


@dataclass(frozen=True)
class _PatternSums:
    """Patterns of rules that fire together, their numbers of rows, and the mean number of each.

    `n_rows` is an estimate if they are those of a sample.
    """

    keys: NDArray[Any]
    n_rows: Floats
    means: Floats


def _sums_of_all(counted: Part) -> _PatternSums:
    n_rows = counted["pattern_rows"]
    totals = exact_totals({"place": counted["pattern_place"], "digits": counted["pattern_digits"]})
    means = [float(total / n) for total, n in zip(totals, n_rows.tolist(), strict=True)]
    return _PatternSums(counted["keys"], n_rows.astype(np.float64), np.array(means))


def _sums_in_sample(rules: RegressionRules, learning: NumberLearning) -> _PatternSums:
    examples = learning.examples(0.0, learning.most)
    weights = examples.row_weights
    keys, place = np.unique(keys_of_rows(rules, examples.table), return_inverse=True)
    own = np.bincount(place, weights)
    means = np.bincount(place, weights * examples.target) / own
    return _PatternSums(keys, own * (learning.sample.n_rows / own.sum()), means)


def _fitted_to_patterns(
    rules: RegressionRules, sums: _PatternSums, held_out: RegressionExamples, settings: RegressionSettings
) -> RegressionRules:
    """Return the rules with a base and additions that fit the mean number of each pattern best."""
    scale = Scale.of(held_out.target, held_out.row_weights, settings.loss)
    if scale.spread == 0:
        return rules
    fires = rules_in_patterns(sums.keys, len(rules))
    penalty = settings.penalty_for(round(float(sums.n_rows.sum())))
    target, weights = scale.standardised(sums.means), sums.n_rows
    model = RegressionModel(target, weights, penalty, loss_named(settings.loss))
    members = [Member((), bits_of(row), None, 0) for row in fires]
    start = np.append(np.zeros(len(rules)), model.fit.weights[-1])
    fitted = model.fitted(0, members, start).fit.weights
    return rules.with_additions(scale.unit * fitted[:-1], base=scale.base(float(fitted[-1])))


@dataclass(frozen=True)
class _PatternCounter:
    """Counts, for every pattern of rules that fire together, its rows and the sum of their numbers."""

    responses: ResponseCounter
    needs_patterns: bool

    def __call__(self, batch: Any, number: int | None) -> Part:
        rules = self.responses.rules
        matrix, values = rules.features.encode(batch), self.responses.answer(batch, number)
        fires = rules.evaluator.fires(matrix).dense()
        responses = self.responses.count(matrix, fires, values)
        if not self.needs_patterns:
            return responses
        keys, place = np.unique(pattern_keys(fires), return_inverse=True)
        sums = digit_sums(values, lambda digit: np.bincount(place, weights=digit, minlength=len(keys)))
        n_rows = np.bincount(place, minlength=len(keys)).astype(np.int64)
        return {**responses, **_bounded(keys, n_rows, sums, False)}


def _bounded(keys: NDArray[Any], n_rows: NDArray[np.int64], sums: Part, is_many: bool) -> Part:
    """Return patterns, their rows and sums, or none of them if there are too many."""
    is_many = is_many or len(keys) > patterns.MAX_PATTERNS
    kept = slice(0) if is_many else slice(None)
    return {
        "keys": keys[kept],
        "pattern_rows": n_rows[kept],
        "pattern_place": sums["place"],
        "pattern_digits": sums["digits"][kept],
        "is_many": np.array(is_many),
    }


def _add(one: Part, other: Part) -> Part:
    if "keys" not in one:
        return add_responses(one, other)
    keys, place = np.unique(np.concatenate([one["keys"], other["keys"]]), return_inverse=True)
    n_rows = np.zeros(len(keys), dtype=np.int64)
    np.add.at(n_rows, place, np.concatenate([one["pattern_rows"], other["pattern_rows"]]))
    n_of_one = len(one["keys"])
    first, second = (
        {"place": part["pattern_place"], "digits": _moved(part["pattern_digits"], to, len(keys))}
        for part, to in ((one, place[:n_of_one]), (other, place[n_of_one:]))
    )
    is_many = bool(one["is_many"] | other["is_many"])
    return {**add_responses(one, other), **_bounded(keys, n_rows, add_digits(first, second), is_many)}


def _moved(digits: NDArray[np.int64], places: NDArray[np.intp], n_patterns: int) -> NDArray[np.int64]:
    """Return sums of patterns at other places among all patterns."""
    moved = np.zeros((n_patterns, digits.shape[1]), dtype=np.int64)
    moved[places] = digits
    return moved
