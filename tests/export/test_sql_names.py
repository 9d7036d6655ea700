"""Names of columns never change the meaning of a query, and names that a database confuses are refused."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.export.engines import SQLite, quoted
from tests.export.export_cases import half_as_many, predicted, two_rules
from tests.export.wide_cases import bare_words, emitted_words, plainly_named_rules, wide_rows

from clausewise import Features, Rule, RuleSet, Term
from clausewise.export import DIALECTS

CASES = (str.lower, str.upper, str.title)
WORDS = {word for words in emitted_words().values() for word in words} | {
    "true", "false", "null", "nan", "inf", "infinity", "unknown", "rowid", "oid", "column1",
}  # fmt: skip
"""The words of queries in all dialects, and more words that a database gives a meaning."""

RESERVED_BY_BIGQUERY = """
    all and any array as asc assert_rows_modified at between by case cast collate contains create cross cube
    current default define desc distinct else end enum escape except exclude exists extract false fetch
    following for from full group grouping groups hash having if ignore in inner intersect interval into is
    join lateral left like limit lookup merge natural new no not null nulls of on or order outer over
    partition preceding proto qualify range recursive respect right rollup rows select set some struct
    tablesample then to treat true unbounded union unnest using when where window with within
"""


# --- Columns called like the words of the query ---


@pytest.mark.parametrize("value", [0, 1, None])
def test_a_column_called_true_or_false_changes_no_decision(database, value):
    always = RuleSet.from_rules(
        [Rule((), True, priority=True), Rule((Term(0, low=1),), False)], ["x"], default=False
    )
    rows = [[0.0], [2.0]]
    for name in ("true", "TRUE", "False"):
        assert database.decisions(always, rows, extra=[(name, "INTEGER", value)]) == [True, True]
        by_x = always.remove(0)
        assert database.decisions(by_x, rows, extra=[(name, "INTEGER", value)]) == [False, False]


def test_columns_called_like_words_of_the_query_change_no_decision(database):
    for number, seed in enumerate(seeds_that_emit_all_words(database.dialect)):
        words = sorted({CASES[number % 3](word) for word in WORDS})
        rules = plainly_named_rules(seed)
        rows = wide_rows(np.random.default_rng(seed), rules, 10)
        for value in (0, 1):
            extra = [(word, "INTEGER", value) for word in words]
            assert database.decisions(rules, rows, extra=extra) == predicted(rules, rows), f"seed {seed}"


def seeds_that_emit_all_words(dialect, times=6):
    """Return seeds of rule sets whose queries contain every emitted word, each in several queries."""
    chosen, left = [], dict.fromkeys(emitted_words()[dialect], times)
    for seed in range(150):
        rules = plainly_named_rules(seed)
        found = {word.lower() for word in bare_words(rules.to_sql("t", dialect), dialect)}
        if len(rules) < 100 and any(left[word] > 0 for word in found):
            chosen.append(seed)
            left = {word: n - (word in found) for word, n in left.items()}
    assert max(left.values()) < times
    return chosen


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("voting", ["majority", "weights"])
def test_features_may_be_called_like_words_of_the_query(database, case, voting):
    words = sorted({case(word) for word in WORDS})
    rng = np.random.default_rng(1)
    rules = RuleSet.from_rules(
        [
            Rule((Term(int(rng.integers(len(words))), low=float(rng.normal())),), bool(i % 2), weight=weight)
            for i, weight in enumerate(rng.normal(size=500).tolist())
        ],
        words,
        default=False,
        voting=voting,
    )
    rows = rng.normal(size=(20, len(words))).tolist()
    assert database.decisions(rules, rows) == predicted(rules, rows)


def test_words_in_queries_for_bigquery_cannot_be_columns():
    reserved = set(RESERVED_BY_BIGQUERY.split())
    for seed in range(60):
        query = plainly_named_rules(seed).to_sql("some_table", "bigquery")
        free = {word for word in bare_words(query, "bigquery") if word.lower() not in reserved}
        assert free <= {"t", "GREATEST", "FLOAT64", "STRING"}
        # A function is followed by a parenthesis, and a type ends a CAST.
        assert len(re.findall(r"\bGREATEST\b", query)) == len(re.findall(r"\bGREATEST\(", query))
        for type_name in ("FLOAT64", "STRING"):
            found = len(re.findall(rf"\b{type_name}\b", query))
            assert found == len(re.findall(rf" AS {type_name}\)", query))


def test_sqlite_reads_features_in_later_steps_whatever_it_calls_them():
    # `row id` is the first column, so that SQLite calls the second one column2, and column2 something else.
    rng = np.random.default_rng(0)
    rules = RuleSet.from_rules(
        [
            Rule((Term(int(rng.integers(3)), low=low),), "yes", weight=weight)
            for low, weight in rng.normal(size=(450, 2)).tolist()
        ],
        ["True", "column2", "x"],
        default="no",
        classes=["no", "yes"],
        voting="weights",
    )
    rows = rng.normal(size=(100, 3)).tolist()
    assert SQLite().decisions(rules, rows) == predicted(rules, rows)


# --- Names that a database confuses ---


def keeps_apart(database, first, second):
    """Whether the database accepts both names in one table."""
    connection = database.connection()
    try:
        connection.execute(f"CREATE TEMPORARY TABLE two ({quoted(first)} INTEGER, {quoted(second)} INTEGER)")
    except Exception as error:
        if re.search("duplicate column|already exists|more than once", str(error)):
            return False
        raise
    database.clean_up(connection, "two")
    return True


LONG = "é" * 31  # 62 bytes

PAIRS = [
    ("Age", "age"), ("É", "é"), ("ß", "ẞ"), ("\u212a", "k"), ("Σ", "ς"), ("İ", "i"), ("ı", "I"),
    (LONG + "a", LONG + "ab"), (LONG + "a", LONG + "b"), (LONG, LONG + "é"), (LONG + "éa", LONG + "éb"),
    ("x" * 63 + "a", "x" * 63 + "b"), ("x" * 62 + "a", "x" * 62 + "b"), ("é", "e\u0301"),
    ("日" * 21, "日" * 22), ("𝛀" * 15, "𝛀" * 16),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=range(len(PAIRS)))
def test_names_are_refused_exactly_if_the_database_confuses_them(database, first, second):
    rules = RuleSet.from_rules(
        [Rule((Term(0, low=0),), "first"), Rule((Term(1, low=0),), "second")], [first, second], default="none"
    )
    if keeps_apart(database, first, second):
        assert database.decisions(rules, [[1.0, -1.0], [-1.0, 1.0]]) == ["first", "second"]
    else:
        with pytest.raises(ValueError, match=f"are the same column in {DIALECTS[database.dialect].name}"):
            rules.to_sql("t", database.dialect)


def test_the_reason_for_refusing_a_long_name_is_its_length():
    rules = RuleSet.from_rules([], ["x" * 64, "x" * 63], default="none")
    with pytest.raises(ValueError, match="PostgreSQL, which cuts names off after 63 bytes; rename one"):
        rules.to_sql("t", "postgresql")


@half_as_many
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=80))
@example("x" * 64)
@example("日" * 40)
def test_postgresql_shortens_names_as_expected(postgresql, name):
    cursor = postgresql.execute(f"SELECT 1 AS {quoted(name)}")
    assert cursor.description[0].name == DIALECTS["postgresql"].column_key(name)


@pytest.mark.parametrize(
    "name", ["clausewise", "clausewise_votes_0", "clausewise" + "_" * 53, "Clausewise_0" * 9]
)
def test_features_may_begin_like_the_columns_of_the_query(database, name):
    rules = two_rules(name)
    assert database.decisions(rules, [[30.0, "nurse"], [60.0, "nurse"]], table=name) == ["yes", "no"]


# --- The name of the decision ---


@pytest.mark.parametrize("decision", ["job", "JOB", "clausewise_votes_0", "Clausewise_Votes_0"])
def test_the_decision_gets_a_name_of_its_own(database, decision):
    query = two_rules().to_sql("t", database.dialect, decision=decision)
    result = re.findall(r'AS "(.*)"\n', query)[-1]
    key = DIALECTS[database.dialect].column_key
    assert key(result) not in {
        key(name) for name in ("age", "job", "clausewise_votes_0", "clausewise_votes_1")
    }
    assert result.rstrip("_") == decision


def test_a_decision_with_too_long_a_name_is_refused():
    assert len(two_rules().to_sql("t", decision="d" * 64)) > 64
    assert "d" * 63 in two_rules().to_sql("t", "postgresql", decision="d" * 63)
    for rules, decision in ((two_rules(), "d" * 64), (two_rules("d" * 63), "d" * 63)):
        with pytest.raises(ValueError, match="longer than the 63 bytes that PostgreSQL allows"):
            rules.to_sql("t", "postgresql", decision=decision)


# --- Text in PostgreSQL ---


def rules_about_jobs(categories):
    """Return one rule for each category, with a class of its own."""
    features = Features(("job",), ("categorical",), (tuple(categories),))
    classes = [f"class {i}" for i in range(len(categories))]
    rules = [Rule((Term(0, values=[job]),), label) for job, label in zip(categories, classes, strict=True)]
    return RuleSet.from_rules(rules, features, classes=[*classes, "none"], default="none")


def decided(connection, rules, column_type, values):
    """Return the values that the driver reads, and the decisions on them."""
    connection.execute(f"CREATE TEMPORARY TABLE people (job {column_type})")
    try:
        connection.cursor().executemany("INSERT INTO people VALUES (%s)", [[value] for value in values])
        read = [row[0] for row in connection.execute("SELECT job FROM people")]
        made = rules(read) if callable(rules) else rules
        found = [row[-1] for row in connection.execute(made.to_sql("people", "postgresql")).fetchall()]
        return read, found, made
    finally:
        connection.execute("DROP TABLE people")


@pytest.mark.parametrize("column_type", ["CHAR(6)", "BPCHAR", "VARCHAR(6)", "TEXT"])
def test_categories_read_from_postgresql_match_with_their_padding(postgresql, column_type):
    values = ["nurse", "cook", "pilots", "", "a ", None, "nurse"]
    read, found, rules = decided(
        postgresql,
        lambda read: rules_about_jobs(sorted({value for value in read if value is not None})),
        column_type,
        values,
    )
    assert ("cook  " in read) == (column_type == "CHAR(6)")
    assert found == predicted(rules, [[value] for value in read])
    assert len(set(found)) == 6


def test_categories_without_padding_match_padded_columns_of_postgresql(postgresql):
    rules = rules_about_jobs(["nurse", "cook"])
    _, found, _ = decided(postgresql, rules, "CHAR(9)", ["cook", "nurse", "nurses", None])
    assert found == ["class 1", "class 0", "none", "none"]


def test_trailing_blanks_count_in_text_columns_of_postgresql(postgresql):
    rules = rules_about_jobs(["a", "a ", ""])
    _, found, _ = decided(postgresql, rules, "TEXT", ["a", "a ", "a  ", "", " ", None])
    assert found == ["class 0", "class 1", "none", "class 2", "none", "none"]
    _, found, _ = decided(postgresql, rules_about_jobs(["a"]), "TEXT", ["a", "a "])
    assert found == ["class 0", "none"]


def test_postgresql_compares_text_letter_by_letter_whatever_the_collation(postgresql):
    postgresql.execute(
        "CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
    )
    rules = rules_about_jobs(["nurse", "cook "])
    _, found, _ = decided(postgresql, rules, "TEXT COLLATE any_case", ["nurse", "NURSE", "cook ", "COOK "])
    assert found == ["class 0", "none", "class 1", "none"]


def test_enums_and_numbers_are_compared_as_text_in_postgresql(postgresql):
    postgresql.execute("CREATE TYPE job AS ENUM ('nurse', 'cook ', 'other')")
    rules = rules_about_jobs(["nurse", "cook ", "not in the enum"])
    _, found, _ = decided(postgresql, rules, "job", ["nurse", "cook ", "other"])
    assert found == ["class 0", "class 1", "none"]
    _, found, _ = decided(postgresql, rules_about_jobs(["12", "1"]), "INTEGER", [1, 12, 112])
    assert found == ["class 1", "class 0", "none"]
