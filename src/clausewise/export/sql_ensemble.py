"""A boosted C5.0 classifier as one SQL query that scores a table.

The first step counts the votes of every rule set, the next ones find its class and its confidence, and then
one step per rule set adds the confidence to the sum of the class.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from clausewise.export.plan import EnsemblePlan, PlannedTrial
from clausewise.export.sql import Query, checked_table
from clausewise.export.sql_dialects import DIALECTS, Dialect

_MAX_COLUMNS: Final = 1_500
"""Databases limit the columns of a step (PostgreSQL: 1664, SQLite: 2000), and the table has some already."""

_SINGLE: Final = float(2**29 + 1)
"""`x * _SINGLE - (x * _SINGLE - x)` is x rounded to single precision: 24 of the 53 digits of a double."""


def ensemble_to_sql(plan: EnsemblePlan, table: str | Sequence[str], dialect: str, decision: str) -> str:
    """Return the query; see `C50Classifier.to_sql`."""
    parts = checked_table(table, dialect, decision)
    n_columns = len(plan.trials) * (3 * len(plan.labels) + 3)
    if n_columns > _MAX_COLUMNS:
        raise ValueError(
            f"The query would need {n_columns:,} columns for {len(plan.trials)} trials of {len(plan.labels)} "
            f"classes, beyond the {_MAX_COLUMNS:,} that databases allow; pass a smaller number as trials."
        )
    return EnsembleQuery(plan, DIALECTS[dialect], parts).text(decision, plan.headline)


class EnsembleQuery(Query[EnsemblePlan]):
    """Writes the trials of an ensemble."""

    def __init__(self, plan: EnsemblePlan, dialect: Dialect, table: tuple[str, ...]) -> None:
        self._trials = plan.trials
        super().__init__(plan, dialect, table)

    def _steps(self) -> Iterator[list[tuple[str, str]]]:
        n_classes, trials = len(self._plan.labels), list(enumerate(self._trials))
        if n_classes == 1:
            return
        yield [column for number, trial in trials for column in self._counts(number, trial)]
        yield [(self._of_trial(number, "class"), self._winner(number, trial)) for number, trial in trials]
        yield [
            (self._of_trial(number, "confidence"), self._confidence(number, trial))
            for number, trial in trials
        ]
        for number, _ in trials:
            yield [(self._of_trial(number, f"sum_{c}"), self._sum(number, c)) for c in range(n_classes)]

    def _decision(self, has_steps: bool) -> str:
        if not has_steps:
            return self._label(0)
        last = len(self._trials) - 1
        sums = [self._read(last, f"sum_{c}") for c in range(len(self._plan.labels))]
        *first, other = self._plan.by_rank
        cases = "".join(f" WHEN {sums[c]} THEN {self._label(c)}" for c in first)
        return f"CASE {self._greatest(sums)}{cases} ELSE {self._label(other)} END"

    def _label(self, class_index: int) -> str:
        return self._dialect.literal(self._plan.labels[class_index])

    def _counts(self, number: int, trial: PlannedTrial) -> Iterator[tuple[str, str]]:
        """Yield votes per class, the vote of the most specific rule per class, and how many rules fire."""
        for c in range(len(self._plan.labels)):
            rules = trial.of_class(c)
            yield self._of_trial(number, f"votes_{c}"), self._sum_of_votes(rules)
            cases = "".join(
                f"\n      WHEN {self._premise(rule) or '1 = 1'} THEN {self._dialect.number(rule.votes)}"
                for rule in rules
            )
            specific = f"CASE{cases} ELSE {self._zero} END" if cases else self._zero
            yield self._of_trial(number, f"specific_{c}"), specific
        one = self._dialect.number(1.0)
        fired = [
            f"CASE WHEN {self._premise(rule) or '1 = 1'} THEN {one} ELSE {self._zero} END"
            for rule in trial.rules
        ]
        yield self._of_trial(number, "fired"), self._added(fired or [self._zero])

    def _winner(self, number: int, trial: PlannedTrial) -> str:
        votes = [self._read(number, f"votes_{c}") for c in range(len(self._plan.labels))]
        *first, other = trial.by_rank
        cases = "".join(f" WHEN {votes[c]} THEN {c}" for c in first)
        return f"CASE {self._greatest(votes)}{cases} ELSE {other} END"

    def _confidence(self, number: int, trial: PlannedTrial) -> str:
        thousand, fired = self._dialect.number(1000.0), self._read(number, "fired")
        cases = ""
        for c in range(len(self._plan.labels)):
            mean = f"{self._read(number, f'votes_{c}')} / ({thousand} * {fired})"
            specific = f"{self._read(number, f'specific_{c}')} / {thousand}"
            cases += f"\n      WHEN {c} THEN {self._dialect.greatest}({specific}, {mean})"
        silent = self._dialect.number(trial.confidence_of_default)
        winner = self._read(number, "class")
        return f"CASE WHEN {fired} = {self._zero} THEN {silent} ELSE CASE {winner}{cases} END END"

    def _sum(self, number: int, class_index: int) -> str:
        before = self._read(number - 1, f"sum_{class_index}") if number > 0 else self._zero
        summed = f"({before} + {self._read(number, 'confidence')})"
        scaled = f"{summed} * {self._dialect.number(_SINGLE)}"
        rounded = f"{scaled} - ({scaled} - {summed})"
        winner = self._read(number, "class")
        return f"CASE WHEN {winner} = {class_index} THEN {rounded} ELSE {before} END"

    def _of_trial(self, number: int, name: str) -> str:
        return self._column(f"{number}_{name}")

    def _read(self, number: int, name: str) -> str:
        return f"{self._alias}.{self._of_trial(number, name)}"
