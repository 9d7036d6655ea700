"""Rows, counters and answers for the tests of all engines; workers import this module."""

import time
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from clausewise import extract, partitioned
from clausewise.data.table import as_table
from clausewise.partitions.sample import draw
from clausewise.partitions.tables import TableRows

N_ROWS = 3_000


def mixed_rows(*, with_categorical=True):
    """Return rows with columns of all kinds, some of them repeated, with missing values."""
    rng = np.random.default_rng(0)
    city = rng.choice(["Bern", "Zürich", "Genève"], N_ROWS).astype(object)
    city[rng.random(N_ROWS) < 0.1] = None
    flag = pd.array(rng.random(N_ROWS) < 0.5, dtype="boolean")
    visits = pd.array(rng.integers(-5, 50, N_ROWS), dtype="Int64")
    visits[rng.random(N_ROWS) < 0.2] = pd.NA
    size = pd.Categorical(rng.choice(["S", "M"], N_ROWS), categories=["S", "M", "L"])
    rows = pd.DataFrame(
        {
            "amount": rng.normal(size=N_ROWS).round(1),
            "city": city,
            "flag": flag,
            "visits": visits,
            "size": size if with_categorical else np.asarray(size).astype(object),
        }
    )
    source = np.where(np.arange(N_ROWS) % 7 == 0, 3, np.arange(N_ROWS))  # one content is frequent
    return rows.iloc[source].reset_index(drop=True)


def shuffled(rows):
    """Return the rows in another order, numbered from 0."""
    return rows.sample(frac=1.0, random_state=1).reset_index(drop=True)


def sums(batch, number):
    """Return the number of rows, and the sum of each column as an integer."""
    table = as_table(batch)
    assert table.n_rows <= 65_536
    assert number is None or number >= 0
    whole = [_whole(table.column(i)) for i in range(table.n_columns)]
    return {"n_rows": np.array(table.n_rows), "sums": np.array(whole, dtype=np.int64)}


def _whole(column):
    if column.is_text:
        return sum(len(value) for value in column.values if value is not None)
    numbers = np.nan_to_num(np.asarray(column.values, dtype=np.float64))
    return int(np.rint(numbers * 10).astype(np.int64).sum())


def add_sums(one, other):
    """Add up what `sums` returns."""
    return {name: one[name] + other[name] for name in one}


def slow_sums(batch, number):
    """Return `sums` after some time."""
    time.sleep(0.3)
    return sums(batch, number)


def fails_on_bern(batch, number):
    """Fail where the first row is of Bern."""
    if str(batch["city"].iloc[0]) == "Bern":
        raise ZeroDivisionError("Bern has no rows to divide by")
    return sums(batch, number)


@dataclass(frozen=True)
class AnswerByAmount:
    """Decides rows by their amount, as a model would."""

    threshold: float

    def __call__(self, batch, number):
        """Return the class of each row."""
        return (batch["amount"].to_numpy(dtype=np.float64) > self.threshold).astype(np.int32)


@dataclass(frozen=True)
class LabelsByAmount:
    """Computes two further columns, of text and of numbers."""

    threshold: float

    def __call__(self, batch):
        """Return the columns."""
        above = batch["amount"].to_numpy(dtype=np.float64) > self.threshold
        return {"label": np.where(above, "high", "low").astype(object), "score": above * 2.5}


def sample_of(rows):
    """Return a sample as plain values, to be compared."""
    drawn = draw(rows, AnswerByAmount(0.3), 2, 600)
    return {
        "place": drawn.place.tolist(),
        "codes": drawn.codes.tolist(),
        "copies": drawn.n_copies.tolist(),
        "frequent": drawn.is_frequent.tolist(),
        "n_of_class": drawn.n_of_class.tolist(),
        "facts": list(drawn.facts),
        "rows": [
            tuple(None if value != value else value for value in row)
            for row in zip(*[column.to_pylist() for column in drawn.rows.columns], strict=True)
        ],
    }


def expected_sums(rows):
    """Return what `sums` counts on a table in memory."""
    return TableRows([rows]).reduce(sums, add_sums)


def expected_sample(rows):
    """Return the sample of a table in memory."""
    return sample_of(TableRows([rows]))


def assert_same_part(part, expected):
    """Compare two parts exactly."""
    assert {name: values.tolist() for name, values in part.items()} == {
        name: values.tolist() for name, values in expected.items()
    }


def check_same_rules(frame, rows, model):
    """Compare what is learnt and measured on an engine's frame with the same of tables in memory."""
    expected = extract(model, partitioned([rows[:9_000], rows[9_000:]]), max_rules=4)
    found = extract(model, frame, max_rules=4)
    assert found == expected
    assert found.scale == expected.scale
    assert found.columns.cover.tolist() == expected.columns.cover.tolist()
    assert found.evaluate(frame, network=model) == expected.evaluate(rows, network=model)
    return expected


def check_same_numbers(frame, rows, model):
    """Compare rules for numbers of an engine's frame with those of tables in memory."""
    tables = partitioned([rows[:9_000], rows[9_000:]])
    expected = extract(model, tables, max_rules=4)
    found = extract(model, frame, max_rules=4)
    assert found == expected  # additions and statistics, too
    assert found.learnt_rows == expected.learnt_rows
    measured = found.evaluate(frame, network=model).to_network
    assert measured.r_squared == pytest.approx(found.evaluate(tables, network=model).to_network.r_squared)
