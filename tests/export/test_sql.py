"""SQL queries, run by SQLite, DuckDB and PostgreSQL, decide as `predict` does."""

import math
import sqlite3
import struct
from dataclasses import replace

import duckdb
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.export.export_cases import (
    AWKWARD,
    abstaining_cases,
    cases,
    half_as_many,
    many_rules,
    predicted,
    random_case,
    two_rules,
    with_nan,
)

from clausewise import Features, Rule, RuleSet, Term
from clausewise.export import DIALECTS
from clausewise.rules import Abstention

DUCKDB = duckdb.connect()


@half_as_many
@given(cases, st.integers(0, 10**6))
def test_queries_decide_as_predict_does_and_nan_is_missing(database, case, seed):
    rng = np.random.default_rng(seed)
    rows = with_nan(rng, case.rules.features, case.rows)
    binary = str(rng.choice(["BOOLEAN", "SMALLINT", database.double]))
    assert database.decisions(case.rules, rows, binary=binary) == case.expected


@half_as_many
@given(abstaining_cases)
def test_queries_abstain_where_predict_does(database, case):
    assert database.decisions(case.rules, case.rows) == case.expected


def test_abstaining_rules_for_a_hundred_classes_run(database):
    labels = [f"c{i}" for i in range(150)]
    rules = RuleSet.from_rules(
        [Rule((Term(0, low=i),), label, confidence=(i / 150) ** 2) for i, label in enumerate(labels)],
        ["a"],
        default="c140",
        classes=labels,
    )
    rules = replace(rules, abstention=Abstention(6.0, "none"))
    rows = [[float(i)] for i in range(-1, 160, 7)]
    expected = predicted(rules, rows)
    assert "none" in expected
    assert len(set(expected)) > 1
    assert database.decisions(rules, rows) == expected


@pytest.mark.parametrize("voting", ["confidence", "weights"])
def test_thousands_of_rules_run_in_one_query(database, voting):
    rng = np.random.default_rng(5)
    rules = many_rules(rng, 1200, voting, decimals=2)
    rows = (rng.normal(size=(40, 2)) - 1).tolist()
    expected = predicted(rules, rows)
    assert len(set(expected)) == 2
    assert database.decisions(rules, rows) == expected


@pytest.mark.parametrize("n_rules", [3, 30, 300, 500])
def test_fitted_weights_are_added_in_the_order_of_the_rules(n_rules, database):
    rng = np.random.default_rng(n_rules)
    rules = RuleSet.from_rules(
        [Rule((Term(0, low=x),), "yes", weight=w) for x, w in rng.normal(size=(n_rules, 2)).tolist()],
        ["x"],
        default="no",
        classes=["no", "yes"],
        voting="weights",
        base=[0.1, -0.1],
    )
    rows = rng.normal(size=(30, 1))
    names, found = database.result(rules, rows.tolist())
    votes = [names.index("clausewise_votes_0"), names.index("clausewise_votes_1")]
    # Bit for bit: in another order the last digits would differ.
    assert np.array_equal([[row[i] for i in votes] for row in found], rules.scores(rows))


def test_rules_with_thousands_of_terms_and_sets_run(database):
    n = 900 if database.dialect == "postgresql" else 1500  # a row of PostgreSQL has at most 8 kB
    features = Features(
        (*(f"f{i}" for i in range(n)), "word"),
        ("numeric",) * n + ("categorical",),
        (None,) * n + (tuple(f"w{i}" for i in range(3000)),),
    )
    words = Term(n, values=[f"w{i}" for i in range(2999)])
    rules = RuleSet.from_rules(
        [Rule((*(Term(i, high=i) for i in range(n)), words), "yes")], features, default="no"
    )
    rows = [[0.0] * n + ["w5"], [0.0] * n + ["w2999"], [0.0] * (n - 1) + [2000.0, "w5"]]
    assert database.decisions(rules, rows) == ["yes", "no", "no"]


def test_a_hundred_classes_and_one_class_run(database):
    labels = [f"c{i}" for i in range(150)]
    many = RuleSet.from_rules(
        [Rule((Term(0, low=i),), label, confidence=i / 200) for i, label in enumerate(labels)],
        ["a"],
        default="c140",
        classes=labels,
    )
    rows = [[float(i)] for i in range(-1, 160, 7)]
    assert database.decisions(many, rows) == predicted(many, rows)
    one = RuleSet.from_rules([Rule((Term(0, low=3),), "c")], ["a"], default="c")
    assert database.decisions(one, rows) == ["c"] * len(rows)


def doubles():
    return st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=300)
@given(doubles() | st.integers(-(10**7), 10**7).map(lambda digits: digits / 1e6))
@example(-0.011227)  # SQLite 3.40 reads a neighbouring double
@example(0.831602497819316)
@example(2.91e-11)
@example(5e-324)
@example(-1.7976931348623157e308)
@example(2.2250738585072014e-308)
def test_every_threshold_is_read_as_the_same_double(number):
    number += 0.0  # thresholds are never −0
    lite = sqlite3.connect(":memory:").execute(f"SELECT {DIALECTS['sqlite'].number(number)}").fetchone()
    duck = DUCKDB.execute(f"SELECT {DIALECTS['duckdb'].number(number)}").fetchone()
    assert struct.pack("d", lite[0]) == struct.pack("d", duck[0]) == struct.pack("d", number)


@half_as_many
@given(doubles())
@example(5e-324)
@example(-1.7976931348623157e308)
@example(2.2250738585072014e-308)
def test_postgresql_reads_every_threshold_as_the_same_double(postgresql, number):
    number += 0.0
    (found,) = postgresql.execute(f"SELECT {DIALECTS['postgresql'].number(number)}").fetchone()
    assert struct.pack("d", found) == struct.pack("d", number)


def test_integers_beyond_2_to_the_53_are_compared_as_doubles():
    rules = RuleSet.from_rules([Rule((Term(0, low=2.0**53),), "yes")], ["n"], default="no")
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (n INTEGER)")
    connection.execute(f"INSERT INTO t VALUES ({2**53 + 1}), ({2**53 + 2})")
    found = [row[-1] for row in connection.execute(rules.to_sql("t"))]
    assert found == predicted(rules, [[2**53 + 1], [2**53 + 2]]) == ["no", "yes"]


def test_text_is_compared_letter_by_letter_whatever_the_collation():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (age REAL, job TEXT COLLATE NOCASE)")
    connection.execute("INSERT INTO t VALUES (1, 'NURSE'), (1, 'nurse')")
    assert [row[-1] for row in connection.execute(two_rules().to_sql("t"))] == ["no", "yes"]


def test_a_missing_column_is_an_error():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (job TEXT)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        connection.execute(two_rules().to_sql("t"))


@pytest.mark.parametrize("text", AWKWARD)
def test_text_from_data_stays_text(database, text):
    rules = two_rules(text, text, text)
    rows = [[30.0, text], [30.0, "cook"], [60.0, text]]
    assert database.decisions(rules, rows, table=text) == [text, "no", "no"]


def test_ten_megabytes_of_quotes_are_one_category(database):
    text = "'\"" * 5_000_000
    assert database.decisions(two_rules(category=text, label=text), [[1.0, text]]) == [text]


def test_a_table_may_have_the_name_of_a_step_of_the_query(database):
    assert database.decisions(two_rules(), [[1.0, "nurse"]], table="clausewise_step_0") == ["yes"]


def test_a_table_name_may_have_parts():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t AS SELECT 1.0 AS age, 'nurse' AS job")
    assert connection.execute(two_rules().to_sql(("main", "t"))).fetchone()[-1] == "yes"
    assert "`project`.`data`.`t`" in two_rules().to_sql(("project", "data", "t"), "bigquery")


def test_booleans_become_booleans(database):
    rules = RuleSet.from_rules([Rule((Term(0, low=1),), True)], ["a"], default=False)
    found = database.decisions(rules, [[0.0], [2.0]])
    assert found == [False, True]
    assert {type(label) for label in found} == {int if database.dialect == "sqlite" else bool}


def test_postgresql_and_bigquery_have_their_own_quotes_and_numbers():
    rules = two_rules('a"b`c', "it's a \\ in\ntwo lines", "yes")
    postgresql, bigquery = rules.to_sql("t", "postgresql"), rules.to_sql("t", "bigquery")
    assert """CAST(t."a""b`c" AS DOUBLE PRECISION) <= FLOAT8 '47.5' """ in postgresql
    assert "E'it''s a \\\\ in\ntwo lines'" in postgresql
    assert """CAST(t.`a"b\\`c` AS FLOAT64) <= 47.5e0 """ in bigquery
    assert "'it\\'s a \\\\ in\\ntwo lines'" in bigquery


def test_a_test_for_missing_values_reads_as_such():
    features = Features(("age", "job"), ("numeric", "categorical"), (None, ("nurse",)))
    missing = Term(0, missing=True), Term(1, missing=True)
    rules = RuleSet.from_rules([Rule(missing, "yes")], features, default="no")
    assert 'CASE WHEN t."age" IS NULL AND t."job" IS NULL THEN' in rules.to_sql("t")
    nan = """(t."age" IS NULL OR CAST(t."age" AS DOUBLE) = CAST('NaN' AS DOUBLE)) AND t."job" IS NULL"""
    assert nan in rules.to_sql("t", "duckdb")


def test_the_decision_can_have_another_name():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t AS SELECT 1.0 AS age, 'nurse' AS job")
    query = connection.execute(two_rules().to_sql("t", decision='the "class"'))
    assert query.description[-1][0] == 'the "class"'


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "a\0b"}, "NUL"),
        ({"category": "a\0b"}, "NUL"),
        ({"label": "\ud800"}, "lone surrogate"),
        ({"name": "\udfff"}, "lone surrogate"),
        ({"name": ""}, "empty text"),
        ({"name": "JOB"}, "are the same column in SQLite"),
    ],
)
def test_text_that_sql_cannot_hold_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        two_rules(**changes).to_sql("t")


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="'oracle'; expected 'sqlite', 'postgresql', 'duckdb' or 'bigquery'"):
        two_rules().to_sql("t", "oracle")
    with pytest.raises(ValueError, match=r"table is \(\); expected a name, or the parts of one"):
        two_rules().to_sql(())
    huge = RuleSet.from_rules([], ["a"], default=0, classes=np.array([0, 2**64 - 1], dtype=np.uint64))
    with pytest.raises(ValueError, match="too large an integer for SQLite"):
        huge.to_sql("t")
    assert str(2**64 - 1) in huge.to_sql("t", "duckdb")


def test_random_cases_are_varied():
    """The cases of this folder include priority, unsatisfiable rules, three classes, floats and infinity."""
    drawn = [random_case(seed, "weights") for seed in range(100)]
    assert any(case.rules.columns.priority.any() for case in drawn)
    assert any(not case.rules.columns.satisfiable.all() for case in drawn)
    assert any(case.rules.columns.missing.any() for case in drawn)
    assert any(len(set(case.expected)) == 3 for case in drawn)
    assert any(isinstance(case.expected[0], float) for case in drawn)
    assert any(math.inf in row for case in drawn for row in case.rows)


def test_duckdb_compares_text_letter_by_letter_whatever_the_collation():
    features = Features(("job",), ("categorical",), (("nurse",),))
    rules = RuleSet.from_rules([Rule((Term(0, values=["nurse"]),), "yes")], features, default="no")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people (job VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO people VALUES ('NURSE'), ('nurse')")
    decided = connection.execute(rules.to_sql("people", "duckdb")).fetchall()
    assert [row[-1] for row in decided] == ["no", "yes"]
