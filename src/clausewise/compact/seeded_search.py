"""The search for a small rule set on given rows, seeded with the rules of a larger one."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from clausewise.base import threads
from clausewise.compact.bins import Bins, Box
from clausewise.compact.error_stage import lower_errors
from clausewise.compact.examples import Examples
from clausewise.compact.first_rows import first_rows
from clausewise.compact.model import Member, Model
from clausewise.compact.points import calibrated, with_points
from clausewise.compact.search import Budget, Search, SearchOptions, StageReport
from clausewise.compact.seeds import seed_members
from clausewise.compact.settings import (
    MANY_ROWS,
    MANY_TO_SEARCH,
    CompactionSettings,
    default_penalty,
    default_price,
    price_unit,
    searches_generated,
)
from clausewise.compact.shared_model import SharedModel
from clausewise.compact.shared_premises import SharedSearch
from clausewise.compact.to_rules import constant_rules, rule_set_of
from clausewise.rules.ruleset import RuleSet

# On smaller tables, the parts of a search are too short to be worth threads.
_MANY_CELLS = 2**19


class SeededSearch:
    """The search on given rows, seeded with the rules of a rule set.

    Parameters
    ----------
    rules : RuleSet
        Provides the premises to start from, the classes and the features.
    examples : Examples
        Rows to learn from.
    settings : CompactionSettings
        Options of `RuleSet.compact`.
    report : callable
        Called with a stage, the number of steps done and their total.
    """

    def __init__(
        self,
        rules: RuleSet,
        examples: Examples,
        settings: CompactionSettings,
        report: StageReport,
    ) -> None:
        self._rules, self._examples, self._settings = rules, examples, settings
        self._row_weight = examples.row_weights(settings.balance)
        # Classes without rows are left out, so that no rule predicts them.
        self._present = np.unique(examples.codes)
        self._report = report
        self._bins = Bins.learn(examples.table, rules.features)
        self._searched = self._first_searched()

    def _first_searched(self) -> Examples:
        """Return the rows to search first: a part of many, and generated ones as well if there are few."""
        if searches_generated(self._examples):
            return self._all
        is_part_enough = len(self._examples.codes) >= MANY_TO_SEARCH and not self._is_shared
        return first_rows(self._examples) if is_part_enough else self._examples

    def _start(self) -> None:
        """Begin a search with the premises of the given rules."""
        if self._searched is not self._examples:
            self._bins = self._bins.of_rows(self._searched.table)
        seeds = seed_members(self._rules.distinct(), self._bins)
        self._search = self._search_on(self._searched, seeds)

    def _move_to(self, examples: Examples) -> None:
        """Go on with the same rules on other rows."""
        if self._searched is examples:
            return
        self._bins = self._bins.of_rows(examples.table)
        before, self._search = self._search, self._search_on(examples, ())
        self._search.price = before.price * self._price_unit(examples) / self._price_unit(self._searched)
        self._searched = examples
        for output, block in enumerate(before.model.blocks):
            rows = self._bins.covered([member.box for member in block.members])
            members = [replace(member, rows=own) for member, own in zip(block.members, rows, strict=True)]
            fitted = self._search.model.fitted(output, members, block.fit.weights)
            self._search.model.replace(output, fitted)

    @cached_property
    def _all(self) -> Examples:
        """The real rows, followed by the generated ones; large tables only need them for the last stage."""
        n_generated = self._settings.n_generated(self._examples)
        if n_generated == 0:
            return self._examples
        generated = self._examples.generated(n_generated, threads.resolve(self._settings.n_jobs))
        return self._examples.followed_by(generated)

    def _search_on(self, examples: Examples, seeds: Sequence[Member]) -> Search:
        settings, n_present = self._settings, len(self._present)
        codes = np.searchsorted(self._present, examples.codes).astype(np.int32)
        assert not isinstance(settings.penalty, str)  # chosen by now
        n_given = len(self._examples.codes)
        penalty = settings.penalty
        if penalty is None:
            penalty = default_penalty(max(len(codes), n_given), n_present)
        if len(codes) < n_given:  # the same penalty per row
            penalty *= len(codes) / n_given
        row_weight = examples.row_weights(settings.balance)
        n_real = min(len(codes), n_given)
        is_large = examples.table.size >= _MANY_CELLS
        options = SearchOptions(
            max_terms=min(settings.max_terms, len(self._rules.features)),
            min_rows=max(5, n_real // 1000),
            n_threads=threads.resolve(settings.n_jobs) if is_large else 1,
        )
        if self._is_shared:
            shared = SharedModel(codes, n_present, row_weight, penalty)
            return SharedSearch(self._bins, shared, seeds, options, self._report, n_real)
        model = Model(codes, n_present, row_weight, penalty)
        return Search(self._bins, model, seeds, options, self._report, n_real)

    @property
    def n_searched(self) -> int:
        """Number of rows that are searched, real and generated."""
        return len(self._searched.codes)

    def rules_for(self, budget: Budget) -> RuleSet:
        """Search for the best rule set within a budget."""
        if self._is_constant:
            return constant_rules(self._rules, self._examples)
        self._start()
        self._search.compact(budget, self._price(budget))
        if len(self._searched.codes) < len(self._examples.codes):
            self._move_to(self._examples)
            self._search.improve(budget)
        if self._has_last_stage:
            self._lower_errors(budget)
        return self._built()

    def improved(self, budget: Budget) -> RuleSet:
        """Return the given rules with premises and weights improved on these rows, within a budget.

        Rules found on fewer rows need not be searched for again; their premises are varied. The votes are
        neither calibrated nor points.
        """
        if self._is_constant or self._is_shared:
            return self.rules_for(budget)
        self._searched = self._examples
        self._start_from_given_rules()
        self._search.price = self._price(budget)
        self._search.improve(budget)
        if self._has_last_stage:
            self._lower_errors(budget)
        return self._voting()

    def _start_from_given_rules(self) -> None:
        """Begin a search with a model of the given rules."""
        self._start()
        model, bins, stored = self._search.model, self._bins, self._rules.columns
        boxes = bins.boxes_of(self._rules)
        rows, costs = bins.covered(boxes), bins.reading_costs(boxes).tolist()
        members: list[dict[Box, Member]] = [{} for _ in range(model.n_outputs)]
        for number, (box, code) in enumerate(zip(boxes, stored.class_index.tolist(), strict=True)):
            output = 0 if model.n_outputs == 1 else int(np.searchsorted(self._present, code))
            if box and code in self._present:
                members[output][box] = Member(box, rows[number], stored.origins[number], costs[number])
        for output, own in enumerate(members):
            model.replace(output, model.fitted(output, [*own.values()], np.zeros(len(own) + 1)))
        model.settle(3)

    def rules_up_to(self, budget: Budget) -> Iterator[tuple[RuleSet, float]]:
        """Yield rule sets of growing size and their prices, from one search, without statistics.

        The first rule set has no rules, at any price.
        """
        if self._is_constant:
            yield constant_rules(self._rules, self._examples), math.inf
            return
        self._start()
        yield self._deciding(), math.inf
        for price in self._search.stages(budget, self._price(budget)):
            yield self._deciding(), price

    def rules_down_from(self, n_rules: int) -> dict[int, RuleSet]:
        """Return rule sets of every size up to this one, from one search, without statistics."""
        if self._is_constant:
            return dict.fromkeys(range(1, n_rules + 1), constant_rules(self._rules, self._examples))
        self._start()
        return self._search.sizes_down_from(n_rules, lambda n: self._price(Budget(n)), self._deciding)

    @property
    def _has_last_stage(self) -> bool:
        """Whether there are enough rows not to learn errors by heart."""
        return not self._is_shared and len(self._all.codes) >= MANY_ROWS

    def _lower_errors(self, budget: Budget) -> None:
        """Let the rules make fewer errors on all rows, real and generated."""
        self._move_to(self._all)
        lower_errors(self._search, budget, self._report)

    def _price(self, budget: Budget) -> float:
        """Return by how much a unit of reading cost must lower the objective."""
        price = self._settings.price
        if price is None:
            price = default_price(budget.n_rules, len(self._present))
        return price * self._price_unit(self._searched)

    def _price_unit(self, searched: Examples) -> float:
        """Return the unit of prices if these rows are searched; of a part of the rows, the same per row."""
        n_real, n_searched = len(self._examples.codes), len(searched.codes)
        if n_searched < n_real:
            return n_searched / n_real * price_unit(n_real)
        return price_unit(n_real, n_searched - n_real)

    @property
    def _is_shared(self) -> bool:
        return self._settings.shared_premises and len(self._present) > 2

    @property
    def _is_constant(self) -> bool:
        return len(self._present) == 1

    def _voting(self) -> RuleSet:
        """Return the model as a rule set with its own weights."""
        return rule_set_of(self._search.model.votes(), self._rules, self._present, self._bins)

    def _deciding(self) -> RuleSet:
        """Return the model as a rule set, the most important rules first."""
        examples, rules = self._examples, self._voting()
        if not self._settings.points:
            return rules
        return with_points(rules, examples.table, examples.target_probabilities, self._row_weight)

    def _built(self) -> RuleSet:
        """Return the model as a rule set with calibrated probabilities and statistics."""
        examples, rules = self._examples, self._deciding()
        table, codes = examples.table, examples.codes.astype(np.int64)
        is_scaled = examples.probabilities is not None or self._has_last_stage
        if is_scaled and not self._settings.points:
            rules = calibrated(rules, table, examples.target_probabilities, self._row_weight)
        return rules.with_counts(*rules.evaluator.statistics(table, codes, examples.weights))
