"""Explanations of single decisions: the rules that fired, their votes, and the rules that nearly fired."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from clausewise.base import html
from clausewise.base.frames import Backend, frame_of
from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.data.table import Matrix
from clausewise.rules.columns import RuleColumns, rule_at, term_at
from clausewise.rules.decimals import format_number
from clausewise.rules.display import describe_parts_at, describe_premise, describe_start, describe_term
from clausewise.rules.evaluator import FiredAndNear
from clausewise.rules.regression_rule import RegressionRule
from clausewise.rules.rule import Rule, one_line_rule
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import Term, Value, format_category
from clausewise.rules.voting import SCHEMES, Voting, checked_voting, votes_of_rules

# At most this many explanations are shown in a notebook.
_SHOWN_ROWS = 5


def explain(
    rules: RuleSet, X: Any, voting: Voting | None = None, n_jobs: int | None = None
) -> "Explanations":
    """Explain the decision on each row; see `RuleSet.explain`."""
    scheme = rules.voting if voting is None else checked_voting(voting)
    matrix = rules.features.encode(X)
    return Explanations(
        columns=rules.columns,
        features=rules.features,
        labels=rules.labels,
        voting=scheme,
        start=SCHEMES[scheme].start(rules.base),
        matrix=matrix,
        found=rules.evaluator.explain(matrix, n_jobs),
        by_priority=rules.evaluator.decided_by_priority(matrix, n_jobs),
        scores=rules.evaluator.scores(matrix, scheme, n_jobs),
        decisions=rules.evaluator.decide(matrix, scheme, rules.default_index, n_jobs),
    )


@dataclass(frozen=True)
class FiredRule:
    """A rule that fired on the row, and the votes that it added to the score of its class.

    A rule is `overridden`, with 0 votes, if it has no priority and a rule with priority fired too.
    """

    number: int
    rule: Rule
    votes: float
    overridden: bool
    premise: str = field(repr=False)
    text: str = field(repr=False)

    @property
    def effect(self) -> str:
        """The votes as text, or "overridden"."""
        return "overridden" if self.overridden else format_number(round(self.votes, 6))

    def __str__(self) -> str:
        effect = self.effect if self.overridden else f"{self.effect:>4} votes"
        return f"rule {self.number} fired, {effect}: {self.text}"


@dataclass(frozen=True)
class NearMiss:
    """A rule with exactly one term that failed on the row; `value` is the row's value of that feature."""

    number: int
    rule: Rule | RegressionRule
    failing: Term
    value: Value
    reason: str
    text: str = field(repr=False)

    def __str__(self) -> str:
        return f"rule {self.number} nearly fired, but {self.reason}: {self.text}"


@dataclass(frozen=True)
class Explanation:
    """The decision on one row; `scores` are the start votes plus the votes of the rules that fired."""

    row: int
    prediction: Label
    voting: Voting
    scores: dict[Label, float]
    start: dict[Label, float]
    fired: tuple[FiredRule, ...]
    near_misses: tuple[NearMiss, ...]

    @property
    def is_covered(self) -> bool:
        """Whether any rule fired; otherwise the default class or the start votes decide."""
        return bool(self.fired)

    @property
    def headline(self) -> str:
        """One line: the row, the decision, and the votes or why there are none."""
        totals = ", ".join(
            f"{format_category(label)} {format_number(round(score, 6))}"
            for label, score in self.scores.items()
        )
        uncovered = "no rule fired: start votes" if self._has_start else "no rule fired: default class"
        reason = f"voting {self.voting}: {totals}" if self.is_covered else uncovered
        return f"row {self.row} → {format_category(self.prediction)}   ({reason})"

    def __str__(self) -> str:
        parts = [self._start_text] if self._has_start else []
        return "\n  ".join([self.headline, *parts, *map(str, (*self.fired, *self.near_misses))])

    def __repr__(self) -> str:
        fired = "1 rule" if len(self.fired) == 1 else f"{len(self.fired):,} rules"
        near = "1 near miss" if len(self.near_misses) == 1 else f"{len(self.near_misses):,} near misses"
        return f"<Explanation: {self.headline}, {fired} fired, {near}>"

    def _repr_html_(self) -> str:
        parts = [html.note(self._start_text)] if self._has_start else []
        if self.fired:
            rows = [(str(one.number), one.text, one.effect) for one in self.fired]
            parts.append(html.table(("", "rules that fired", "votes"), rows, numbers=[0, 2]))
        if self.near_misses:
            near = [(str(one.number), one.text, one.reason) for one in self.near_misses]
            parts.append(html.table(("", "rules that nearly fired", "but"), near, numbers=[0]))
        return html.block(self.headline, *parts)

    @property
    def _has_start(self) -> bool:
        return any(self.start.values())

    @property
    def _start_text(self) -> str:
        return describe_start(tuple(self.start), np.array(list(self.start.values())))


_Explained = TypeVar("_Explained")


class RowExplanations(ABC, Sequence[_Explained]):
    """One explanation per row, made on demand."""

    @abstractmethod
    def explanation_of(self, row: int) -> _Explained:
        """Return the explanation of one row."""

    @overload
    def __getitem__(self, row: int) -> _Explained: ...
    @overload
    def __getitem__(self, row: slice) -> list[_Explained]: ...
    def __getitem__(self, row: int | slice) -> _Explained | list[_Explained]:
        if isinstance(row, slice):
            return [self.explanation_of(i) for i in range(*row.indices(len(self)))]
        if not -len(self) <= row < len(self):
            raise IndexError(f"There is no row {row}; {len(self)} rows were explained.")
        return self.explanation_of(row % len(self))

    def __iter__(self) -> Iterator[_Explained]:
        return map(self.explanation_of, range(len(self)))


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(RowExplanations[Explanation]):
    """One Explanation per row, made on demand."""

    columns: RuleColumns
    features: Features
    labels: tuple[Label, ...]
    voting: Voting
    start: NDArray[np.float64]
    matrix: Matrix
    found: FiredAndNear
    by_priority: NDArray[np.bool_]
    scores: NDArray[np.float64]
    decisions: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.decisions)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per row and rule that fired, with its votes.

        The votes that every row starts with (`RuleSet.base`) have the rule −1 and the premise "start". The
        sums of votes by row and conclusion are the scores. A row without any votes has no line. Where rules
        with priority decide, the start and the other rules that fired have 0 votes.
        """
        n_fired = np.diff(self.found.fired_starts)
        starting = np.flatnonzero(self.start)
        fired = self.found.fired_rules
        premises = [
            describe_premise(self.columns, rule, self.features) for rule in range(self.columns.n_rules)
        ]
        n_rows = len(self)
        row = np.concatenate(
            [np.repeat(np.arange(n_rows), len(starting)), np.repeat(np.arange(n_rows), n_fired)]
        )
        rule = np.concatenate([np.full(n_rows * len(starting), -1), fired])
        class_index = np.concatenate([np.tile(starting, n_rows), self.columns.class_index[fired]])
        votes = np.concatenate([np.tile(self.start[starting], n_rows), self._votes[fired]])
        has_priority = np.append(self.columns.priority, False)[rule]
        votes[self.by_priority[row] & ~has_priority] = 0.0
        order = np.argsort(row, kind="stable")
        return frame_of(
            {
                "row": row[order],
                "prediction": [self.labels[c] for c in self.decisions[row[order]]],
                "rule": rule[order],
                "premise": ["start" if r < 0 else premises[r] for r in rule[order]],
                "conclusion": [self.labels[c] for c in class_index[order]],
                "votes": votes[order],
            },
            backend,
        )

    def explanation_of(self, row: int) -> Explanation:
        """Return the explanation of one row."""
        found = self.found
        fired = slice(found.fired_starts[row], found.fired_starts[row + 1])
        near = slice(found.near_starts[row], found.near_starts[row + 1])
        start = np.zeros_like(self.start) if self.by_priority[row] else self.start
        return Explanation(
            row=row,
            prediction=self.labels[self.decisions[row]],
            voting=self.voting,
            scores=dict(zip(self.labels, self.scores[row].tolist(), strict=True)),
            start=dict(zip(self.labels, start.tolist(), strict=True)),
            fired=tuple(self._fired(row, rule) for rule in found.fired_rules[fired].tolist()),
            near_misses=tuple(
                self._near(row, rule, term)
                for rule, term in zip(
                    found.near_rules[near].tolist(), found.failing_terms[near].tolist(), strict=True
                )
            ),
        )

    @cached_property
    def _votes(self) -> NDArray[np.float64]:
        """The votes that each rule adds to the score of its class, unless it is overridden."""
        return votes_of_rules(self.columns, len(self.labels), self.voting)

    def _fired(self, row: int, rule: int) -> FiredRule:
        premise = describe_premise(self.columns, rule, self.features)
        overridden = bool(self.by_priority[row] and not self.columns.priority[rule])
        votes = 0.0 if overridden else float(self._votes[rule])
        return FiredRule(rule, self._rule(rule), votes, overridden, premise, self._text(rule))

    def _near(self, row: int, rule: int, term: int) -> NearMiss:
        return near_miss(
            self.columns, self.features, self.matrix[row], term, rule, self._rule(rule), self._text(rule)
        )

    def _rule(self, rule: int) -> Rule:
        return rule_at(self.columns, rule, self.features, self.labels)

    def _text(self, rule: int) -> str:
        parts = describe_parts_at(self.columns, rule, self.features, self.labels, self.voting)
        return one_line_rule(*parts)

    def _repr_html_(self) -> str:
        shown = [one._repr_html_() for one in self[:_SHOWN_ROWS]]
        more = len(self) - len(shown)
        return html.block(
            f"{len(self):,} rows explained by {self.columns.n_rules:,} rules, voting {self.voting}",
            *shown,
            html.note(f"… and {more:,} more; index or slice them") if more else "",
        )

    def __repr__(self) -> str:
        return f"<Explanations of {len(self):,} rows by {self.columns.n_rules:,} rules, voting {self.voting}>"


def near_miss(
    columns: RuleColumns,
    features: Features,
    row: NDArray[Any],
    term: int,
    number: int,
    rule: Rule | RegressionRule,
    text: str,
) -> NearMiss:
    """Return the rule that only this term keeps from firing on an encoded row, with the reason."""
    feature = int(columns.feature[term])
    code = float(row[feature])
    value = features.decode(feature, code)
    if value is not None:
        shown = format_category(value)
    else:
        shown = "missing" if math.isnan(code) else "a category unknown in training"
    condition = describe_term(columns, term, features)
    reason = f"{condition} fails ({features.names[feature]} is {shown})"
    return NearMiss(number, rule, term_at(columns, term, features), value, reason, text)
