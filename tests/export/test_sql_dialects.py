"""Constants in the dialects of SQL, at the limits of what a database holds."""

import re
from fractions import Fraction

import numpy as np
import pytest

from clausewise import Rule, RuleSet, Term


def query(classes, dialect):
    rules = RuleSet.from_rules([], ["x"], default=int(classes[-1]), classes=classes)
    return rules.to_sql("t", dialect=dialect)


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql", "duckdb", "bigquery"])
@pytest.mark.parametrize("label", [2**63 - 1, -(2**63)])
def test_classes_of_64_bits_with_sign_are_written_as_they_are(dialect, label):
    assert f" {label} " in query(np.array([0, label], dtype=np.int64), dialect)


@pytest.mark.parametrize("dialect", ["sqlite", "bigquery"])
def test_larger_integers_are_refused_where_the_database_has_none(dialect):
    with pytest.raises(ValueError, match="9223372036854775808 is too large an integer"):
        query(np.array([0, 2**63], dtype=np.uint64), dialect)


@pytest.mark.parametrize("dialect", ["postgresql", "duckdb"])
def test_larger_integers_are_written_where_the_database_has_them(dialect):
    assert f" {2**63} " in query(np.array([0, 2**63], dtype=np.uint64), dialect)


@pytest.mark.parametrize("number", [1.2345678901234567e30, -9.87654321098765e-300, 5e-324, 1.7e308])
def test_numbers_that_sqlite_might_round_are_fractions_of_exact_doubles(number):
    rules = RuleSet.from_rules([Rule((Term(0, high=number),), "a")], ["x"], default="b")
    (written,) = re.findall(
        r"\(CAST\((-?\d+) AS REAL\)(.*?) /\* (\S+) \*/\)", rules.to_sql("t", dialect="sqlite")
    )
    value = Fraction(int(written[0]))
    for operator, power in re.findall(r" ([*/]) (\d+)", written[1]):
        value = value * int(power) if operator == "*" else value / int(power)
    assert abs(int(written[0])) < 2**53
    assert value == Fraction(number)
    assert float(written[2]) == number
