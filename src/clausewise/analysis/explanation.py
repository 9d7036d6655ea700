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
from clausewise.base.counts import count_of
from clausewise.base.frames import Backend, frame_of
from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.data.table import Matrix
from clausewise.rules.columns import term_at
from clausewise.rules.decimals import format_number
from clausewise.rules.display import Remembered, RuleTexts, describe_start
from clausewise.rules.evaluator import RulesOnRow
from clausewise.rules.regression import RegressionRules
from clausewise.rules.regression_rule import RegressionRule
from clausewise.rules.rule import Rule
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import Term, Value, format_category
from clausewise.rules.voting import SCHEMES, Voting, votes_of_rules

# At most this many explanations are shown in a notebook.
_SHOWN_ROWS = 5
_NEAR_MISS = "rule {} nearly fired, but "


def explain(
    rules: RuleSet, X: Any, voting: Voting | None = None, n_jobs: int | None = None
) -> "Explanations":
    """Explain the decision on each row; see `RuleSet.explain`.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.analysis import explain
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> print(explain(rules, [[60]])[0])  # as rules.explain([[60]])[0]
    row 0 → high   (voting confidence: high 1000, low 0)
      rule 0 fired, 1000 votes: IF age > 50 THEN high   (confidence 1.00)
    """
    scheme = rules.voting if voting is None else rules.with_voting(voting).voting
    matrix = rules.features.encode(X)
    return Explanations(
        rules=rules,
        voting=scheme,
        start=SCHEMES[scheme].start(rules.base),
        matrix=matrix,
        by_priority=rules.evaluator.decided_by_priority(matrix, n_jobs),
        scores=rules.evaluator.scores(matrix, scheme, n_jobs),
        decisions=rules.evaluator.decide(matrix, scheme, rules.default_index, n_jobs),
    )


@dataclass(frozen=True)
class FiredRule:
    """A rule that fired on the row, and the votes that it added to the score of its class.

    A rule is `overridden`, with 0 votes, if it has no priority and a rule with priority fired too.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> text = "IF age > 50 THEN high WITH confidence 0.8"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> fired = rules.explain([[60, 9]])[0].fired[0]
    >>> fired.number, fired.votes, fired.premise
    (0, 800.0, 'age > 50')
    >>> print(fired)
    rule 0 fired,  800 votes: IF age > 50 THEN high   (confidence 0.80)
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
    """A rule with exactly one term that failed on the row; `value` is the row's value of that feature.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 AND debt > 8 THEN high", ["age", "debt"], default="low")
    >>> miss = rules.explain([[60, 7]])[0].near_misses[0]
    >>> miss.number, str(miss.failing), miss.value
    (0, 'debt > 8', 7.0)
    >>> miss.reason
    'debt > 8 fails (debt is 7)'
    """

    number: int
    rule: Rule | RegressionRule
    failing: Term
    value: Value
    reason: str
    text: str = field(repr=False)

    def __str__(self) -> str:
        return f"{_NEAR_MISS.format(self.number)}{self.reason}: {self.text}"


@dataclass(frozen=True)
class Explanation:
    """The decision on one row; `scores` are the start votes plus the votes of the rules that fired.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text(
    ...     '''
    ...     IF age > 50 THEN high WITH confidence 0.9
    ...     IF income > 4 THEN low WITH confidence 0.7
    ...     IF debt > 8 THEN high WITH confidence 0.8
    ...     ''',
    ...     ["age", "income", "debt"],
    ...     default="low",
    ... )
    >>> explanation = rules.explain([[60, 5, 7]])[0]
    >>> print(explanation)
    row 0 → high   (voting confidence: high 900, low 700)
      rule 0 fired,  900 votes: IF age > 50 THEN high   (confidence 0.90)
      rule 1 fired,  700 votes: IF income > 4 THEN low   (confidence 0.70)
      rule 2 nearly fired, but debt > 8 fails (debt is 7): IF debt > 8 THEN high   (confidence 0.80)
    >>> explanation.prediction, explanation.scores
    ('high', {'high': 900.0, 'low': 700.0})
    >>> [miss.number for miss in explanation.near_misses]
    [2]
    """

    row: int
    prediction: Label
    voting: Voting
    scores: dict[Label, float]
    start: dict[Label, float]
    _source: "Explanations" = field(repr=False, compare=False)

    @cached_property
    def fired(self) -> tuple[FiredRule, ...]:
        """The rules that fired, in order."""
        return tuple(self._source.fired_rule(self.row, rule) for rule in self._found.fired.tolist())

    @cached_property
    def near_misses(self) -> tuple[NearMiss, ...]:
        """The rules with exactly one failing term, in order; found when they are first asked for."""
        return tuple(
            self._source.near_miss(self.row, rule, term)
            for rule, term in zip(self._found.near.tolist(), self._found.failing_terms.tolist(), strict=True)
        )

    @cached_property
    def _found(self) -> RulesOnRow:
        return self._source.rules_on(self.row)

    @property
    def leading(self) -> Label:
        """The class that is decided or, if the rules abstain, the one that would be."""
        if self.prediction in self.scores:
            return self.prediction
        return max(self.scores, key=self.scores.__getitem__)

    @property
    def is_covered(self) -> bool:
        """Whether any rule fired; otherwise the default class or the start votes decide."""
        return len(self._found.fired) > 0

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
        return "\n  ".join([self.headline, *parts, *self._source.lines_of(self.row, self._found)])

    def __repr__(self) -> str:
        n_fired, n_near = len(self._found.fired), len(self._found.near)
        fired = count_of(n_fired, "rule")
        near = "1 near miss" if n_near == 1 else f"{n_near:,} near misses"
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

    def __getstate__(self) -> dict[str, Any]:
        # Without what is remembered, which is made again.
        fields = getattr(self, "__dataclass_fields__", {})
        return {name: value for name, value in vars(self).items() if name in fields}


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(RowExplanations[Explanation]):
    """One Explanation per row, made on demand.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> text = "IF age > 50 THEN high IF debt > 8 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> explanations = rules.explain([[60, 9], [30, 2]])
    >>> len(explanations), [explanation.prediction for explanation in explanations]
    (2, ['high', 'low'])
    >>> explanations.to_frame()[["row", "prediction", "rule", "votes"]]
       row prediction  rule   votes
    0    0       high     0  1000.0
    1    0       high     1  1000.0
    """

    rules: RuleSet
    voting: Voting
    start: NDArray[np.float64]
    matrix: Matrix
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
        columns, labels, n_rows = self.rules.columns, self.rules.labels, len(self)
        premises = self.rules.texts.premises
        starting = np.flatnonzero(self.start)
        fired_row, fired = self.rules.evaluator.fired(self.matrix)
        row = np.concatenate([np.repeat(np.arange(n_rows), len(starting)), fired_row])
        rule = np.concatenate([np.full(n_rows * len(starting), -1), fired])
        class_index = np.concatenate([np.tile(starting, n_rows), columns.class_index[fired]])
        votes = np.concatenate([np.tile(self.start[starting], n_rows), self._votes[fired]])
        has_priority = np.append(columns.priority, False)[rule]
        votes[self.by_priority[row] & ~has_priority] = 0.0
        order = np.argsort(row, kind="stable")
        return frame_of(
            {
                "row": row[order],
                "prediction": [self._outcomes[c] for c in self.decisions[row[order]]],
                "rule": rule[order],
                "premise": ["start" if r < 0 else premises[r] for r in rule[order].tolist()],
                "conclusion": [labels[c] for c in class_index[order]],
                "votes": votes[order],
            },
            backend,
        )

    def explanation_of(self, row: int) -> Explanation:
        """Return the explanation of one row."""
        labels = self.rules.labels
        start = np.zeros_like(self.start) if self.by_priority[row] else self.start
        return Explanation(
            row=row,
            prediction=self._outcomes[self.decisions[row]],
            voting=self.voting,
            scores=dict(zip(labels, self.scores[row].tolist(), strict=True)),
            start=dict(zip(labels, start.tolist(), strict=True)),
            _source=self,
        )

    # --- Parts of an explanation ---

    def rules_on(self, row: int) -> RulesOnRow:
        """Return the rules that fired on a row, and those that nearly did."""
        return self.rules.evaluator.explain_row(self.matrix[row])

    def fired_rule(self, row: int, rule: int) -> FiredRule:
        """Return a rule that fired on a row, with its votes."""
        return self._fired(rule, bool(self.by_priority[row] and not self.rules.columns.priority[rule]))

    def near_miss(self, row: int, rule: int, term: int) -> NearMiss:
        """Return a rule that only one term kept from firing on a row."""
        return near_miss(self.rules, self.matrix[row], term, rule, self._objects[rule], self._texts)

    def lines_of(self, row: int, found: RulesOnRow) -> Iterator[str]:
        """Yield the texts of `fired_rule` and `near_miss` for all rules of a row, without these objects."""
        for rule in found.fired.tolist():
            if self.by_priority[row] and not self.rules.columns.priority[rule]:
                yield str(self._fired(rule, True))
            else:
                yield self._fired_lines[rule]
        features, codes = self.rules.features, self.matrix[row].tolist()
        shown = Remembered[int, str](lambda feature: _shown_value(features, feature, codes[feature])[1])
        for rule, term in zip(found.near.tolist(), found.failing_terms.tolist(), strict=True):
            feature, before, after = self._near_lines[rule, term]
            yield f"{before}{shown[feature]}{after}"

    def _fired(self, rule: int, overridden: bool) -> FiredRule:
        votes = 0.0 if overridden else float(self._votes[rule])
        texts = self._texts
        return FiredRule(
            rule, self._objects[rule], votes, overridden, texts.premises[rule], texts.lines[rule]
        )

    @cached_property
    def _outcomes(self) -> tuple[Label, ...]:
        """What may be decided: the classes and, last, that the rules abstain."""
        return tuple(self.rules.outcomes.tolist())

    @cached_property
    def _votes(self) -> NDArray[np.float64]:
        """The votes that each rule adds to the score of its class, unless it is overridden."""
        return votes_of_rules(self.rules.columns, len(self.rules.labels), self.voting)

    @cached_property
    def _texts(self) -> RuleTexts:
        rules = self.rules
        return rules.texts if self.voting == rules.voting else rules.with_voting(self.voting).texts

    @cached_property
    def _objects(self) -> Remembered[int, Rule]:
        return Remembered(self.rules.rule_at)

    @cached_property
    def _fired_lines(self) -> Remembered[int, str]:
        return Remembered(lambda rule: str(self._fired(rule, False)))

    @cached_property
    def _near_lines(self) -> Remembered[tuple[int, int], tuple[int, str, str]]:
        """By rule and failing term: the feature, and what is shown before and after its value."""

        def around_value(key: tuple[int, int]) -> tuple[int, str, str]:
            rule, term = key
            feature = int(self.rules.columns.feature[term])
            name, condition = self.rules.features.names[feature], self._texts.conditions[term]
            before = f"{_NEAR_MISS.format(rule)}{_reason_before_value(condition, name)}"
            after = f"): {self._texts.lines[rule]}"
            return feature, before, after

        return Remembered(around_value)

    def _repr_html_(self) -> str:
        shown = [one._repr_html_() for one in self[:_SHOWN_ROWS]]
        more = len(self) - len(shown)
        return html.block(
            f"{len(self):,} rows explained by {len(self.rules):,} rules, voting {self.voting}",
            *shown,
            html.note(f"… and {more:,} more; index or slice them") if more else "",
        )

    def __repr__(self) -> str:
        return f"<Explanations of {len(self):,} rows by {len(self.rules):,} rules, voting {self.voting}>"


def near_miss(
    rules: RuleSet | RegressionRules,
    row: NDArray[Any],
    term: int,
    number: int,
    rule: Rule | RegressionRule,
    texts: RuleTexts,
) -> NearMiss:
    """Return the rule that only this term keeps from firing on an encoded row, with the reason."""
    feature = int(rules.columns.feature[term])
    value, shown = _shown_value(rules.features, feature, float(row[feature]))
    reason = f"{_reason_before_value(texts.conditions[term], rules.features.names[feature])}{shown})"
    failing = term_at(rules.columns, term, rules.features)
    return NearMiss(number, rule, failing, value, reason, texts.lines[number])


def _shown_value(features: Features, feature: int, code: float) -> tuple[Value, str]:
    """Return a value of an encoded row, and how it is shown."""
    value = features.decode(feature, code)
    if value is not None:
        return value, format_category(value)
    return value, "missing" if math.isnan(code) else "a category unknown in training"


def _reason_before_value(condition: str, name: str) -> str:
    return f"{condition} fails ({name} is "
