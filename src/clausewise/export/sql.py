"""A rule set as one SQL query that scores a table.

The query computes the total votes of each class as a column and ends with the decision. What differs between
databases is in `Dialect`. Databases refuse deep expressions (SQLite: 1000 levels), so long sums are grouped
by parentheses if they are exact in every order; otherwise a chain of additions continues in another step of
the query.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Generic, TypeVar

from clausewise.base.parameters import TEXT, Constraint, check_parameters, one_of
from clausewise.data.features import Features
from clausewise.export.plan import ExportPlan, Plan, PlannedJury, PlannedRule, export_plan
from clausewise.export.row_tests import AtMost, Known, Missing, OneOf, Test
from clausewise.export.sql_dialects import DIALECTS, Dialect
from clausewise.export.text import free_name, header_line, quoted_short
from clausewise.rules.ruleset import RuleSet

__all__ = ["DIALECTS", "to_sql"]

_MAX_CHAIN: Final = 200
"""Maximum length of a chain of additions whose order matters: a depth that every database allows."""

_MAX_GROUP: Final = 20
"""Maximum number of operands in one pair of parentheses. DuckDB plans flat expressions much faster."""

_FEW_CLASSES: Final = 16
"""With more classes than this, the largest total is computed once, in a separate step."""

_MAX_PREFIX: Final = 30
"""Maximum length of the prefix of added columns: with it, their names fit the 63 bytes of PostgreSQL."""


def to_sql(rules: RuleSet, table: str | Sequence[str], dialect: str, decision: str) -> str:
    """Return the query; see `RuleSet.to_sql`.

    Examples
    --------
    >>> import sqlite3
    >>> from clausewise import RuleSet
    >>> from clausewise.export import to_sql
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> query = to_sql(rules, "people", "sqlite", "decision")  # as rules.to_sql("people")
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.execute("CREATE TABLE people AS SELECT 60 AS age UNION SELECT 30")
    >>> database.execute(f"SELECT age, decision FROM ({query})").fetchall()
    [(30, 'low'), (60, 'high')]
    >>> database.close()
    """
    parts = checked_table(table, dialect, decision)
    query = JuryQuery(export_plan(rules), DIALECTS[dialect], parts)
    return query.text(decision, header_line(rules))


def checked_table(
    table: str | Sequence[str], dialect: str, result: str, name: str = "decision"
) -> tuple[str, ...]:
    """Return the parts of the name of a table, after checking the parameters of an export to SQL.

    `result` is the name of the last column, given as the parameter `name`.
    """
    constraints = {**_CONSTRAINTS, name: TEXT}
    check_parameters(constraints, {"table": table, "dialect": dialect, name: result})
    return (table,) if isinstance(table, str) else tuple(table)


def _is_table(value: Any) -> bool:
    if isinstance(value, str):
        return True
    return isinstance(value, Sequence) and len(value) > 0 and all(isinstance(part, str) for part in value)


_CONSTRAINTS: Final = {
    "table": Constraint("a name, or the parts of one, such as ('schema', 'table')", _is_table),
    "dialect": one_of(*DIALECTS),
}


_Plan = TypeVar("_Plan", bound=Plan)


class Query(Generic[_Plan]):
    """Writes a plan in one dialect; `_steps` and `_decision` are what kinds of plans differ in.

    The rows pass through steps (common table expressions), each of which adds columns. The names of these
    columns begin with `prefix`, with which no feature or table name begins.
    """

    def __init__(self, plan: _Plan, dialect: Dialect, table: tuple[str, ...]) -> None:
        self._plan = plan
        self._dialect = dialect
        self._table = table
        columns = _distinct_names(plan.features, dialect)
        taken = [*columns, *map(str.lower, table)]
        self._prefix = _free_prefix(taken)
        self._alias = free_name("t", columns.__contains__)
        self._copied = self._features_to_copy()
        self._tests = [self._test(test) for test in plan.tests]
        self._zero = dialect.number(0.0)

    def text(self, decision: str, headline: str) -> str:
        """Return the whole query, without a semicolon, so that it can be part of a larger one."""
        source = ".".join(self._dialect.name_of(part, "The table") for part in self._table)
        steps = list(self._steps())
        written = []
        for number, columns in enumerate(steps):
            listed = "".join(f",\n    {text} AS {name}" for name, text in columns)
            name = f"{self._prefix}_step_{number}"
            written.append(
                f"{name} {self._dialect.step} (\n  SELECT {self._alias}.*{listed}\n"
                f"  FROM {source} AS {self._alias}\n)"
            )
            source = name
        added = [name for columns in steps for name, _ in columns]
        result = self._decision_name(decision, [*self._plan.features.names, *added])
        lines = [f"-- {headline}"]
        if written:
            lines.append("WITH " + ",\n".join(written))
        lines.append(f"SELECT {self._alias}.*,\n  {self._decision(bool(written))} AS {result}")
        lines.append(f"FROM {source} AS {self._alias}\n")
        return "\n".join(lines)

    def _decision_name(self, decision: str, others: Iterable[str]) -> str:
        dialect = self._dialect
        taken = set(map(dialect.column_key, others))
        free = free_name(
            decision, lambda name: dialect.column_key(name) in taken and not dialect.cuts_off(name)
        )
        if dialect.cuts_off(free):
            raise ValueError(
                f"The name of the decision, {quoted_short(free)}, is longer than the "
                f"{dialect.max_name_bytes} bytes that {dialect.name} allows; choose a shorter one."
            )
        return dialect.name_of(free, "The name of the decision")

    def _features_to_copy(self) -> list[int]:
        """Return features that later steps test, but cannot read by their own name."""
        return []

    def _steps(self) -> Iterator[list[tuple[str, str]]]:
        """Yield, for each step, the columns that it adds: names and expressions."""
        raise NotImplementedError

    def _decision(self, has_steps: bool) -> str:
        """Return an expression for the decision, after all steps."""
        raise NotImplementedError

    # --- Votes ---

    def _sum_of_votes(self, rules: Sequence[PlannedRule]) -> str:
        """Return the sum of the votes of rules that fire, if every order of additions gives the same."""
        return self._added([self._votes(rule) for rule in rules if rule.votes != 0] or [self._zero])

    def _added(self, terms: Sequence[str]) -> str:
        return _grouped(terms, "\n      + ")

    def _greatest(self, expressions: Sequence[str]) -> str:
        greatest = list(expressions)
        while len(greatest) > 1:
            # In SQLite, MAX of one argument is an aggregate, and of more than 127 an error.
            groups = [greatest[i : i + 100] for i in range(0, len(greatest), 100)]
            greatest = [
                group[0] if len(group) == 1 else f"{self._dialect.greatest}({', '.join(group)})"
                for group in groups
            ]
        return greatest[0]

    def _votes(self, rule: PlannedRule) -> str:
        votes = self._dialect.number(rule.votes)
        if not rule.tests:
            return votes
        return f"CASE WHEN {self._premise(rule)} THEN {votes} ELSE {self._zero} END"

    # --- Names of columns ---

    def _column(self, name: str) -> str:
        return f"{self._prefix}_{name}"

    # --- Premises ---

    def _premise(self, rule: PlannedRule) -> str:
        return _grouped([self._tests[test] for test in rule.tests], " AND ")

    def _test(self, test: Test) -> str:
        """Return a test as a condition; CASE treats false and unknown alike."""
        dialect = self._dialect
        if isinstance(test, OneOf):
            return self._one_of(test)
        if isinstance(test, Missing):
            return self._missing(test.feature)
        x = self._number_in(test.feature)
        known = dialect.is_known.format(x=x)
        if isinstance(test, Known):
            return known
        if isinstance(test, AtMost):
            return f"{x} <= {dialect.number(test.bound)}"
        above = f"{x} > {dialect.number(test.bound)}"
        return f"{above} AND {known}" if dialect.nan_is_largest else above

    def _missing(self, feature: int) -> str:
        is_null = f"{self._cell(feature)} IS NULL"
        if self._dialect.is_nan is None or self._is_text(feature):
            return is_null
        return f"({is_null} OR {self._dialect.is_nan.format(x=self._number_in(feature))})"

    def _one_of(self, test: OneOf) -> str:
        dialect = self._dialect
        if self._is_text(test.feature):
            what = f"A category of {quoted_short(self._plan.features.names[test.feature])},"
            values = ", ".join(dialect.quoted(str(value), what) for value in test.values)
            x = self._cell(test.feature)
            if dialect.padded_text and self._has_padded_categories(test.feature):
                padded = dialect.padded_text.format(x=x)
                return f"{x} IS NOT NULL AND {padded}{dialect.binary_collation} IN ({values})"
            return f"CAST({x} AS {dialect.text_type}){dialect.binary_collation} IN ({values})"
        values = ", ".join(dialect.number(float(value)) for value in test.values)
        return f"{self._number_in(test.feature)} IN ({values})"

    def _is_text(self, feature: int) -> bool:
        categories = self._plan.features.categories[feature]
        return categories is not None and all(isinstance(value, str) for value in categories)

    def _has_padded_categories(self, feature: int) -> bool:
        """Whether a category ends with a blank, so that the padding of CHAR(n) is a part of the values."""
        categories = self._plan.features.categories[feature] or ()
        return any(isinstance(value, str) and value.endswith(" ") for value in categories)

    def _number_in(self, feature: int) -> str:
        """Return the value as a double: numbers are compared as doubles, even if integers would be exact."""
        categories = self._plan.features.categories[feature]
        is_boolean = self._plan.features.kinds[feature] == "binary" or (
            categories is not None and all(isinstance(value, bool) for value in categories)
        )
        pattern = self._dialect.boolean_number if is_boolean else "CAST({x} AS {double})"
        return pattern.format(
            x=self._cell(feature),
            double=self._dialect.double,
            text=self._dialect.text_type,
            one=self._dialect.number(1.0),
            zero=self._dialect.number(0.0),
        )

    def _cell(self, feature: int) -> str:
        if feature in self._copied:
            return f"{self._alias}.{self._copy_of(feature)}"
        return self._table_cell(feature)

    def _copy_of(self, feature: int) -> str:
        return self._column(f"feature_{feature}")

    def _table_cell(self, feature: int) -> str:
        # With the alias, because SQLite silently reads an unknown quoted name as a text.
        return f"{self._alias}.{self._dialect.name_of(self._plan.features.names[feature], 'The feature')}"


class TotalsQuery(Query[_Plan]):
    """Writes the totals of juries, one column each, or one per step where the order of additions matters."""

    def _juries_of(self, plan: _Plan) -> tuple[PlannedJury, ...]:
        """Return the juries of the plan."""
        raise NotImplementedError

    def __init__(self, plan: _Plan, dialect: Dialect, table: tuple[str, ...]) -> None:
        self._juries = self._juries_of(plan)
        super().__init__(plan, dialect, table)

    def _features_to_copy(self) -> list[int]:
        renamed = self._dialect.renamed_in_steps
        if renamed is None:
            return []
        later = self._features_read_later()
        return [feature for feature in later if renamed.fullmatch(self._plan.features.names[feature])]

    def _features_read_later(self) -> list[int]:
        """Return the features that are read after the first step: where a chain of additions continues."""
        has_later_tests = any(
            not jury.sums_are_exact and max(map(len, jury.by_class)) >= _MAX_CHAIN for jury in self._juries
        )
        rules = (rule for jury in self._juries for rule in jury.rules)
        return self._plan.tested_features(rules) if has_later_tests else []

    def _copies(self) -> Iterator[list[tuple[str, str]]]:
        """Yield a step that copies features, if any has to be."""
        if self._copied:
            yield [(self._copy_of(feature), self._table_cell(feature)) for feature in self._copied]

    # --- Totals ---

    def _totals(self, jury: PlannedJury, class_index: int) -> Iterator[tuple[str, str]]:
        """Yield the total of one class: one column, or one per step if the order of additions matters."""
        votes = [self._votes(rule) for rule in jury.by_class[class_index] if rule.votes != 0]
        start = jury.start[class_index]
        if start != 0 or not votes:
            votes.insert(0, self._dialect.number(start))
        if jury.sums_are_exact:
            chunks = [[_grouped(votes, "\n      + ")]]
        else:
            chunks = [votes[i : i + _MAX_CHAIN] for i in range(0, len(votes), _MAX_CHAIN)]
        partial = None
        for number, chunk in enumerate(chunks):
            is_last = number == len(chunks) - 1
            total = "\n      + ".join(chunk if partial is None else [f"{self._alias}.{partial}", *chunk])
            name = self._total(jury, class_index)
            if is_last and jury.divisors[class_index] != 1:
                total = f"({total}) / {self._dialect.number(jury.divisors[class_index])}"
            partial = name if is_last else f"{name}_part_{number}"
            yield partial, total

    def _total(self, jury: PlannedJury, class_index: int) -> str:
        return self._column(f"{'priority_' if jury.has_priority else ''}votes_{class_index}")


class JuryQuery(TotalsQuery[ExportPlan]):
    """Writes the juries of one rule set."""

    def _juries_of(self, plan: ExportPlan) -> tuple[PlannedJury, ...]:
        return plan.juries

    def _steps(self) -> Iterator[list[tuple[str, str]]]:
        if len(self._plan.labels) == 1:
            return
        yield from self._copies()
        steps: list[list[tuple[str, str]]] = [[]]
        for jury in self._juries:
            if jury.has_priority:
                steps[0].append((self._column("priority"), self._any_fires(jury.rules)))
            for class_index in range(len(self._plan.labels)):
                for depth, column in enumerate(self._totals(jury, class_index)):
                    if depth == len(steps):
                        steps.append([])
                    steps[depth].append(column)
        if self._has_largest_as_column:
            steps.append([(self._most_votes(jury), self._largest(jury)) for jury in self._juries])
        yield from steps

    @property
    def _has_largest_as_column(self) -> bool:
        """Whether the largest total is computed in a step of its own, since the decision names it often."""
        return len(self._plan.labels) > _FEW_CLASSES or self._plan.abstention is not None

    def _any_fires(self, rules: Sequence[PlannedRule]) -> str:
        # Never with TRUE or FALSE, which SQLite would read as a column of that name.
        if not rules:
            return "0"
        if not all(rule.tests for rule in rules):
            return "1"
        premises = [f"({self._premise(rule)})" for rule in rules]
        return f"CASE WHEN {_grouped(premises, ' OR ')} THEN 1 ELSE 0 END"

    # --- The decision ---

    def _label(self, class_index: int) -> str:
        return self._dialect.literal(self._plan.labels[class_index])

    def _decision(self, has_totals: bool) -> str:
        if not has_totals:
            return self._dialect.literal(self._plan.labels[0])
        *priority, ordinary = self._juries
        text = self._winner(ordinary)
        for jury in priority:
            applies = f"{self._alias}.{self._column('priority')} = 1"
            text = f"CASE WHEN {applies}\n    THEN {self._winner(jury)}\n    ELSE {text} END"
        return text

    def _winner(self, jury: PlannedJury) -> str:
        """Return an expression for the first class, by rank, that has the largest total."""
        if self._has_largest_as_column:
            largest = f"{self._alias}.{self._most_votes(jury)}"
        else:
            largest = self._largest(jury)
        *first, last = self._plan.by_rank
        cases = "".join(
            f" WHEN {self._alias}.{self._total(jury, index)} THEN {self._label(index)}" for index in first
        )
        winner = f"CASE {largest}{cases} ELSE {self._label(last)} END"
        return winner if self._plan.abstention is None else self._unless_close(winner, jury, largest)

    def _unless_close(self, winner: str, jury: PlannedJury, largest: str) -> str:
        """Return an expression for the winner if no other class comes nearer to it than the margin."""
        assert self._plan.abstention is not None
        margin = self._dialect.number(self._plan.abstention.margin)
        near = [
            f"CASE WHEN {largest} - {self._alias}.{self._total(jury, index)} < {margin} THEN 1 ELSE 0 END"
            for index in range(len(self._plan.labels))
        ]
        label = self._dialect.literal(self._plan.abstention.label)
        return f"CASE WHEN {_grouped(near, ' + ')} > 1\n    THEN {label}\n    ELSE {winner} END"

    def _largest(self, jury: PlannedJury) -> str:
        totals = [f"{self._alias}.{self._total(jury, index)}" for index in range(len(self._plan.labels))]
        return self._greatest(totals)

    def _most_votes(self, jury: PlannedJury) -> str:
        return self._column(f"{'priority_' if jury.has_priority else ''}most_votes")


def _grouped(operands: Sequence[str], operator: str) -> str:
    """Return operands joined by an associative operator, grouped by parentheses to limit the depth."""
    joined = list(operands)
    while len(joined) > _MAX_GROUP:
        joined = [f"({operator.join(joined[i : i + _MAX_GROUP])})" for i in range(0, len(joined), _MAX_GROUP)]
    return operator.join(joined)


def _free_prefix(taken: Sequence[str]) -> str:
    """Return a short text with which none of these names begins."""

    def is_taken(prefix: str) -> bool:
        return any(name.startswith(prefix) for name in taken)

    prefix = free_name("clausewise", is_taken)
    if len(prefix) <= _MAX_PREFIX:
        return prefix
    numbered = (f"clausewise_{number}" for number in itertools.count())
    return next(prefix for prefix in numbered if not is_taken(prefix))


def _distinct_names(features: Features, dialect: Dialect) -> set[str]:
    """Return the names in lower case; raise if the database cannot tell two of them apart."""
    seen: dict[str, str] = {}
    for name in features.names:
        other = seen.setdefault(dialect.column_key(name), name)
        if other != name:
            limit = f", which cuts names off after {dialect.max_name_bytes} bytes"
            raise ValueError(
                f"The features {quoted_short(other)} and {quoted_short(name)} are the same column in "
                f"{dialect.name}{limit if dialect.max_name_bytes else ''}; rename one of them."
            )
    return set(map(str.lower, features.names))
