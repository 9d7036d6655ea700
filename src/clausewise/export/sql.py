"""A rule set as one SQL query that scores a table.

The query adds the votes of the rules to the totals of their classes, column by column, and ends with the
decision. Everything that databases disagree on stands in a `Dialect`. What has been found in the way:

- Deep expressions are refused (SQLite: 1000 levels), so that long sums are grouped where they are exact in
  every order; where they are not, a chain of additions goes on in a further step of the query.
- NaN is the largest number to PostgreSQL and DuckDB, NULL to SQLite, and compares to nothing in BigQuery.
- `0.1` is a decimal to PostgreSQL and DuckDB, and adds up as one.
- SQLite (3.40 at least) reads one in some thousand decimals as a neighbouring double: -0.011227 is one.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.export.plan import (
    AtMost,
    Known,
    OneOf,
    Plan,
    PlannedJury,
    PlannedRule,
    Test,
    free_name,
    one_line,
    plan_of,
    require_unicode,
    shortened,
)
from clausewise.rules.ruleset import RuleSet

DialectName = Literal["sqlite", "postgresql", "duckdb", "bigquery"]

_CHAIN: Final = 200
"""Most additions behind each other where their order counts: a depth that every database allows."""

_GROUP: Final = 20
"""Most operands in one pair of parentheses elsewhere. DuckDB plans flat expressions several times faster."""

_FEW_CLASSES: Final = 16
"""Up to here the largest total is looked for where it is needed; above, once, in a step of its own."""


def to_sql(rules: RuleSet, table: str | Sequence[str], dialect: str, decision: str) -> str:
    """The query; see `RuleSet.to_sql`."""
    if dialect not in DIALECTS:
        raise ValueError(f"dialect is {dialect!r}; the dialects are {', '.join(DIALECTS)}.")
    query = _Query(plan_of(rules), DIALECTS[dialect], _parts(table))
    return query.text(decision, one_line(rules._headline))


def _parts(table: str | Sequence[str]) -> tuple[str, ...]:
    parts = (table,) if isinstance(table, str) else tuple(table)
    if not parts or not all(isinstance(part, str) for part in parts):
        raise ValueError(
            f"table is {table!r}; pass a name, or the parts of one, such as ('schema', 'table')."
        )
    return parts


# --- What databases disagree on ---


@dataclass(frozen=True)
class Dialect:
    """How one database writes what the query needs."""

    name: str
    double: str
    text_type: str
    quote: str
    number: Callable[[float], str]
    text: Callable[[str], str]
    is_known: str = "{x} IS NOT NULL"
    nan_is_largest: bool = False
    boolean_number: str = "CAST({x} AS {double})"
    binary_collation: str = ""
    greatest: str = "GREATEST"
    step: str = "AS MATERIALIZED"
    ignores_case: Callable[[str], str] = str.lower
    largest_integer: float = math.inf
    escapes: dict[str, str] = field(default_factory=dict)

    def name_of(self, identifier: str, what: str) -> str:
        """An identifier in quotes."""
        _require_text(identifier, what)
        if not identifier:
            raise ValueError(f"{what} is empty text, which {self.name} does not allow; give it a name.")
        escaped = "".join(self.escapes.get(letter, letter) for letter in identifier)
        return f"{self.quote}{escaped.replace(self.quote, self._quote_inside)}{self.quote}"

    @property
    def _quote_inside(self) -> str:
        return "\\" + self.quote if self.escapes else 2 * self.quote

    def literal(self, value: Label) -> str:
        """A class label as a constant."""
        if isinstance(value, bool):
            return str(value).upper()
        if isinstance(value, int):
            if not -self.largest_integer - 1 <= value <= self.largest_integer:
                raise ValueError(
                    f"The class {value} is too large an integer for {self.name}; make the classes text."
                )
            return str(value)
        return self.number(value) if isinstance(value, float) else self.quoted(value, "The class")

    def quoted(self, value: str, what: str) -> str:
        """A text as a constant."""
        return self.text(_require_text(value, what))


def _require_text(text: str, what: str) -> str:
    if "\0" in text:
        raise ValueError(
            f"{what} {shortened(repr(text))} holds the character NUL, which SQL cannot hold; rename it."
        )
    return require_unicode(text, what)


def _doubled_quotes(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _postgresql_text(text: str) -> str:
    # Whether a backslash escapes in plain quotes is a setting; in E'' it always does.
    quoted = _doubled_quotes(text.replace("\\", "\\\\"))
    return f"E{quoted}" if "\\" in text else quoted


_BIGQUERY_ESCAPES: Final = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}


def _bigquery_text(text: str) -> str:
    escaped = "".join(_BIGQUERY_ESCAPES.get(letter, letter) for letter in text)
    return "'" + escaped.replace("'", "\\'") + "'"


def _with_exponent(number: float) -> str:
    """A double is what has an exponent; without, it would be a decimal."""
    text = repr(number)
    return text if "e" in text else f"{text.removesuffix('.0')}e0"


def _sqlite_number(number: float) -> str:
    """A decimal if every version of SQLite reads it right, else a fraction that has no rounding in it."""
    if _is_read_right(number):
        return repr(number)
    numerator, denominator = number.as_integer_ratio()
    exponent = denominator.bit_length() - 1
    while numerator % 2 == 0:
        numerator, exponent = numerator // 2, exponent - 1
    # A double times a power of 2 is exact as long as the result is a double, which it is at every step.
    text, operator = f"CAST({numerator} AS REAL)", "/" if exponent > 0 else "*"
    for left in range(abs(exponent), 0, -60):
        text += f" {operator} {2 ** min(left, 60)}"
    return f"({text} /* {number!r} */)"


def _is_read_right(number: float) -> bool:
    """Whether a reader that rounds twice, to 63 bits or more and then to 53, gets this double.

    Digits and a power of 10 that are both exact in a double leave one operation to round. Rounding twice goes
    wrong only next to the middle between two doubles.
    """
    digits, _, power = repr(number).partition("e")
    whole, _, decimals = digits.partition(".")
    decimals = decimals.rstrip("0")
    shift = len(decimals) - int(power or 0)
    mantissa = int(whole + decimals)
    if abs(mantissa) >= 2**53 or abs(shift) > 22:
        return False
    # How far the decimal is from the double, as a part of the distance between doubles, in whole numbers.
    numerator, denominator = number.as_integer_ratio()
    ulp, ulps_per_one = math.ulp(number).as_integer_ratio()
    up, down = int(10 ** max(-shift, 0)), int(10 ** max(shift, 0))
    off = abs(mantissa * up * denominator - numerator * down) * ulps_per_one
    whole_ulp = denominator * down * ulp
    return 4 * off < whole_ulp or 2**9 * abs(2 * off - whole_ulp) > 2 * whole_ulp


def _ascii_lower(text: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


_CASE_OF_BOOLEAN: Final = (
    "CASE CAST({x} AS {text}) WHEN 'true' THEN {one} WHEN 'false' THEN {zero} "
    "ELSE CAST(CAST({x} AS {text}) AS {double}) END"
)
"""Booleans do not convert to doubles in some databases, numbers convert to text in all of them."""

DIALECTS: Final[dict[str, Dialect]] = {
    "sqlite": Dialect(
        name="SQLite",
        double="REAL",
        text_type="TEXT",
        quote='"',
        number=_sqlite_number,
        text=_doubled_quotes,
        binary_collation=" COLLATE BINARY",
        greatest="MAX",
        ignores_case=_ascii_lower,
        largest_integer=2**63 - 1,
    ),
    "postgresql": Dialect(
        name="PostgreSQL",
        double="DOUBLE PRECISION",
        text_type="TEXT",
        quote='"',
        number=lambda number: f"FLOAT8 '{number!r}'",
        text=_postgresql_text,
        is_known="{x} < FLOAT8 'NaN'",
        nan_is_largest=True,
        boolean_number=_CASE_OF_BOOLEAN,
        binary_collation=' COLLATE "C"',
        ignores_case=str,
    ),
    "duckdb": Dialect(
        name="DuckDB",
        double="DOUBLE",
        text_type="VARCHAR",
        quote='"',
        number=_with_exponent,
        text=_doubled_quotes,
        is_known="{x} < CAST('NaN' AS DOUBLE)",
        nan_is_largest=True,
        binary_collation=" COLLATE C",
    ),
    "bigquery": Dialect(
        name="BigQuery",
        double="FLOAT64",
        text_type="STRING",
        quote="`",
        number=_with_exponent,
        text=_bigquery_text,
        is_known="{x} <= CAST('inf' AS FLOAT64)",
        boolean_number=_CASE_OF_BOOLEAN,
        step="AS",
        largest_integer=2**63 - 1,
        escapes=_BIGQUERY_ESCAPES,
    ),
}
assert tuple(DIALECTS) == get_args(DialectName)


# --- The query ---


class _Query:
    """Writes a plan in one dialect.

    The rows go through steps (common table expressions), each of which adds columns. Their names begin with
    `prefix`, as the name of no feature does, nor of the table.
    """

    def __init__(self, plan: Plan, dialect: Dialect, table: tuple[str, ...]) -> None:
        self._plan = plan
        self._dialect = dialect
        self._table = table
        columns = _distinct_names(plan.features, dialect)
        taken = [*columns, *map(str.lower, table)]
        self._prefix = free_name("clausewise", lambda name: any(other.startswith(name) for other in taken))
        self._alias = free_name("t", columns.__contains__)
        self._tests = [self._test(test) for test in plan.tests]
        self._zero = dialect.number(0.0)

    def text(self, decision: str, headline: str) -> str:
        """The whole query, without a semicolon, so that it can be part of a larger one."""
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
        fold = self._dialect.ignores_case
        taken = {fold(name) for name in self._plan.features.names}
        decision = free_name(decision, lambda name: fold(name) in taken)
        result = self._dialect.name_of(decision, "The name of the decision")
        lines = [f"-- {headline}"]
        if written:
            lines.append("WITH " + ",\n".join(written))
        lines.append(f"SELECT {self._alias}.*,\n  {self._decision(bool(written))} AS {result}")
        lines.append(f"FROM {source} AS {self._alias}\n")
        return "\n".join(lines)

    def _steps(self) -> Iterator[list[tuple[str, str]]]:
        """Per step the columns that it adds: name and expression."""
        if len(self._plan.labels) == 1:
            return
        steps: list[list[tuple[str, str]]] = [[]]
        for jury in self._plan.juries:
            if jury.has_priority:
                steps[0].append((self._column("priority"), self._any_fires(jury.rules)))
            for class_index in range(len(self._plan.labels)):
                for depth, column in enumerate(self._totals(jury, class_index)):
                    if depth == len(steps):
                        steps.append([])
                    steps[depth].append(column)
        if len(self._plan.labels) > _FEW_CLASSES:
            steps.append([(self._best(jury), self._largest(jury)) for jury in self._plan.juries])
        yield from steps

    # --- Totals ---

    def _totals(self, jury: PlannedJury, class_index: int) -> Iterator[tuple[str, str]]:
        """The total of one class: one column, or one per step if the order of additions has to be kept."""
        votes = [self._votes(rule) for rule in jury.by_class[class_index] if rule.votes != 0]
        start = jury.start[class_index]
        if start != 0 or not votes:
            votes.insert(0, self._dialect.number(start))
        if jury.sums_are_exact:
            chunks = [[_grouped(votes, "\n      + ")]]
        else:
            chunks = [votes[i : i + _CHAIN] for i in range(0, len(votes), _CHAIN)]
        partial = None
        for number, chunk in enumerate(chunks):
            is_last = number == len(chunks) - 1
            total = "\n      + ".join(chunk if partial is None else [f"{self._alias}.{partial}", *chunk])
            name = self._total(jury, class_index)
            if is_last and jury.divisors[class_index] != 1:
                total = f"({total}) / {self._dialect.number(jury.divisors[class_index])}"
            partial = name if is_last else f"{name}_part_{number}"
            yield partial, total

    def _votes(self, rule: PlannedRule) -> str:
        votes = self._dialect.number(rule.votes)
        if not rule.tests:
            return votes
        return f"CASE WHEN {self._premise(rule)} THEN {votes} ELSE {self._zero} END"

    def _any_fires(self, rules: Iterable[PlannedRule]) -> str:
        premises = [f"({self._premise(rule)})" if rule.tests else "TRUE" for rule in rules] or ["FALSE"]
        return f"CASE WHEN {_grouped(premises, ' OR ')} THEN 1 ELSE 0 END"

    # --- The decision ---

    def _decision(self, has_totals: bool) -> str:
        if not has_totals:
            return self._dialect.literal(self._plan.labels[0])
        *priority, ordinary = self._plan.juries
        text = self._winner(ordinary)
        for jury in priority:
            heard = f"{self._alias}.{self._column('priority')} = 1"
            text = f"CASE WHEN {heard}\n    THEN {self._winner(jury)}\n    ELSE {text} END"
        return text

    def _winner(self, jury: PlannedJury) -> str:
        """The first class, by rank, that has the largest total."""
        if len(self._plan.labels) > _FEW_CLASSES:
            largest = f"{self._alias}.{self._best(jury)}"
        else:
            largest = self._largest(jury)
        *first, last = self._plan.by_rank
        cases = "".join(
            f" WHEN {self._alias}.{self._total(jury, index)} THEN {self._label(index)}" for index in first
        )
        return f"CASE {largest}{cases} ELSE {self._label(last)} END"

    def _largest(self, jury: PlannedJury) -> str:
        totals = [f"{self._alias}.{self._total(jury, index)}" for index in range(len(self._plan.labels))]
        while len(totals) > 1:
            # SQLite's MAX of one argument is something else, and of more than 127 an error.
            groups = [totals[i : i + 100] for i in range(0, len(totals), 100)]
            totals = [
                group[0] if len(group) == 1 else f"{self._dialect.greatest}({', '.join(group)})"
                for group in groups
            ]
        return totals[0]

    def _label(self, class_index: int) -> str:
        return self._dialect.literal(self._plan.labels[class_index])

    # --- Names of columns ---

    def _column(self, name: str) -> str:
        return f"{self._prefix}_{name}"

    def _total(self, jury: PlannedJury, class_index: int) -> str:
        return self._column(f"{'priority_' if jury.has_priority else ''}votes_{class_index}")

    def _best(self, jury: PlannedJury) -> str:
        return self._column(f"{'priority_' if jury.has_priority else ''}most_votes")

    # --- Premises ---

    def _premise(self, rule: PlannedRule) -> str:
        return _grouped([self._tests[test] for test in rule.tests], " AND ")

    def _test(self, test: Test) -> str:
        """A test as a condition that is true or not; false and unknown are the same to CASE."""
        dialect = self._dialect
        if isinstance(test, OneOf):
            return self._one_of(test)
        x = self._number_in(test.feature)
        known = dialect.is_known.format(x=x)
        if isinstance(test, Known):
            return known
        if isinstance(test, AtMost):
            return f"{x} <= {dialect.number(test.bound)}"
        above = f"{x} > {dialect.number(test.bound)}"
        return f"{above} AND {known}" if dialect.nan_is_largest else above

    def _one_of(self, test: OneOf) -> str:
        dialect = self._dialect
        if isinstance(test.values[0], str):
            what = f"A category of {shortened(repr(self._plan.features.names[test.feature]))},"
            values = [dialect.quoted(str(value), what) for value in test.values]
            x = f"CAST({self._cell(test.feature)} AS {dialect.text_type}){dialect.binary_collation}"
        else:
            values = [dialect.number(float(value)) for value in test.values]
            x = self._number_in(test.feature)
        return f"{x} IN ({', '.join(values)})"

    def _number_in(self, feature: int) -> str:
        """The value as a double, as all numbers are compared; also where integers are exact."""
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
        # With the alias: SQLite takes an unknown name in quotes for a text, and says nothing.
        return f"{self._alias}.{self._dialect.name_of(self._plan.features.names[feature], 'The feature')}"


def _grouped(operands: Sequence[str], operator: str) -> str:
    """Operands joined by an associative operator, in parentheses where the chain would get too long."""
    joined = list(operands)
    while len(joined) > _GROUP:
        joined = [f"({operator.join(joined[i : i + _GROUP])})" for i in range(0, len(joined), _GROUP)]
    return operator.join(joined)


def _distinct_names(features: Features, dialect: Dialect) -> set[str]:
    """The names as the database compares them."""
    seen: dict[str, str] = {}
    for name in features.names:
        other = seen.setdefault(dialect.ignores_case(name), name)
        if other != name:
            raise ValueError(
                f"The features {shortened(repr(other))} and {shortened(repr(name))} are one column to "
                f"{dialect.name}; rename one of them."
            )
    return set(map(str.lower, features.names))
