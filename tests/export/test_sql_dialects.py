"""Constants in the dialects of SQL, at the limits of what a database holds."""

import numpy as np
import pytest

from clausewise import RuleSet


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
