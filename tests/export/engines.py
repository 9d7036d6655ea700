"""The engines that run exports in tests: given a rule set and raw rows, each returns the decisions."""

import math
import re
import sqlite3
from dataclasses import replace

import duckdb
import numpy as np
import onnxruntime
import pyarrow as pa
from tests.export.pmml_engine import Engine

from clausewise import Features
from clausewise.export.onnx import MISSING_TEXT

NOT_A_CATEGORY = "\x01 not a category of any feature"
INSTEAD_OF_EMPTY = "\x01 the empty text"

# --- Databases ---


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Database:
    """Runs the queries of one dialect on tables that it creates."""

    dialect = ""
    double = "DOUBLE"

    def connection(self):
        raise NotImplementedError

    def insert(self, connection, table, kinds, rows):
        raise NotImplementedError

    def decisions(self, rules, rows, table="some table", extra=(), binary="BOOLEAN"):
        """Return the decisions of the query on a new table."""
        _, found = self.result(rules, rows, table, extra, binary)
        return [row[-1] for row in found]

    def result(self, rules, rows, table="some table", extra=(), binary="BOOLEAN"):
        """Return the names and rows of the query's result on a new table.

        The table has a column `row id`, the features, the columns `extra` (names, SQL types and values) and a
        column `more`.
        """
        names = [*rules.features.names, *(name for name, _, _ in extra), "more"]
        kinds = [*self.column_kinds(rules.features, binary), *(kind for _, kind, _ in extra), "VARCHAR"]
        columns = [f"{quoted(name)} {kind}" for name, kind in zip(names, kinds, strict=True)]
        listed = [
            [number, *row, *(value for _, _, value in extra), "more"] for number, row in enumerate(rows)
        ]
        connection = self.connection()
        connection.execute(f'CREATE TEMPORARY TABLE {quoted(table)} ("row id" INTEGER, {", ".join(columns)})')
        try:
            self.insert(connection, quoted(table), ["INTEGER", *kinds], listed)
            query = connection.execute(f'{rules.to_sql(table, self.dialect)} ORDER BY "row id"')
            found = [column[0] for column in query.description]
            self.require_names(found, ["row id", *names])
            return found, query.fetchall()
        finally:
            self.clean_up(connection, quoted(table))

    def clean_up(self, connection, table):
        connection.close()

    def column_kinds(self, features, binary):
        for kind, values in zip(features.kinds, features.categories, strict=True):
            if kind == "binary" or (values and isinstance(values[0], bool)):
                yield binary
            else:
                yield "VARCHAR" if values and isinstance(values[0], str) else self.double

    def require_names(self, found, expected):
        assert found[: len(expected)] == expected
        assert found[-1].rstrip("_") in ("decision", "prediction")
        assert len(set(found)) == len(found)


class SQLite(Database):
    dialect = "sqlite"

    def connection(self):
        return sqlite3.connect(":memory:")

    def insert(self, connection, table, kinds, rows):
        connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(kinds))})", rows)

    def require_names(self, found, expected):
        # SQLite itself gives columns called true or false other names, such as column1.
        renamed = {i for i, name in enumerate(expected) if re.fullmatch("(?i)true|false|column[0-9]+", name)}
        super().require_names(found, [found[i] if i in renamed else name for i, name in enumerate(expected)])


class DuckDB(Database):
    dialect = "duckdb"

    def connection(self):
        return duckdb.connect()

    def insert(self, connection, table, kinds, rows):
        # As one Arrow table, because inserting row by row takes a millisecond per row.
        columns = zip(kinds, zip(*rows, strict=True), strict=True)
        arrays = [pa.array(map(PYTHON_TYPE[kind], values), ARROW_TYPE[kind]) for kind, values in columns]
        connection.register("rows to insert", pa.table(arrays, names=[f"c{i}" for i in range(len(kinds))]))
        connection.execute(f'INSERT INTO {table} SELECT * FROM "rows to insert"')


class PostgreSQL(Database):
    dialect = "postgresql"
    double = "DOUBLE PRECISION"

    def __init__(self, shared):
        self._shared = shared

    def connection(self):
        return self._shared

    def insert(self, connection, table, kinds, rows):
        with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
            for row in rows:
                copy.write_row([PYTHON_TYPE[kind](value) for kind, value in zip(kinds, row, strict=True)])

    def clean_up(self, connection, table):
        connection.execute(f"DROP TABLE {table}")

    def require_names(self, found, expected):
        cut_off = [name.encode("utf-8")[:63].decode("utf-8", "ignore") for name in expected]
        super().require_names(found, cut_off)


def or_none(convert):
    return lambda value: None if value is None else convert(value)


PYTHON_TYPE = {
    "INTEGER": or_none(int),
    "SMALLINT": or_none(int),
    "BOOLEAN": or_none(bool),
    "DOUBLE": or_none(float),
    "DOUBLE PRECISION": or_none(float),
    "VARCHAR": or_none(str),
}
ARROW_TYPE = {
    "INTEGER": pa.int32(),
    "SMALLINT": pa.int16(),
    "BOOLEAN": pa.bool_(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
}


# --- Python, ONNX and PMML ---


def python_module(rules):
    """Return the namespace of the exported module."""
    namespace = {}
    exec(compile(rules.to_python(), "rules.py", "exec"), namespace)
    return namespace


def python_decisions(rules, rows):
    return python_module(rules)["predict_many"](rows)


def onnx_results(rules, rows):
    """Return the labels and scores of raw rows."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(rules.to_onnx().SerializeToString(), options)
    return session.run(["label", "scores"], onnx_inputs(rules.features, rows))


def onnx_inputs(features, rows):
    columns = list(zip(*rows, strict=True))
    if "categorical" not in features.kinds:
        return {"X": np.array([_numbers(column) for column in columns]).T.copy()}
    return {
        name: (_texts(column, categories) if _is_text(categories) else _numbers(column))[:, None]
        for name, categories, column in zip(features.names, features.categories, columns, strict=True)
    }


def _is_text(categories):
    return categories is not None and isinstance(categories[0], str)


def _numbers(column):
    return np.array([np.nan if value is None else float(value) for value in column])


def _texts(column, categories):
    missing = NOT_A_CATEGORY if MISSING_TEXT in categories else MISSING_TEXT
    return np.array([missing if value is None else value for value in column], dtype=object)


def onnx_decisions(rules, rows):
    """Return the labels, after comparing the scores bit for bit."""
    if rules.columns.missing.any():
        rules, rows = without_empty_texts(rules, rows)
    labels, scores = onnx_results(rules, rows)
    assert scores.dtype == np.float64
    assert np.array_equal(scores, rules.scores(raw_table(rows)))
    return labels.tolist()


def without_empty_texts(rules, rows):
    """Return the same case with another text for the empty one, which is a missing category in ONNX."""

    def renamed(values):
        return [INSTEAD_OF_EMPTY if value == "" else value for value in values]

    features = rules.features
    categories = [None if values is None else renamed(values) for values in features.categories]
    named = Features(features.names, features.kinds, categories, features.named)
    return replace(rules, features=named), [renamed(row) for row in rows]


def pmml_decisions(rules, rows):
    engine, names = Engine(rules.to_pmml()), rules.features.names
    return [
        engine.decide({name: value for name, value in zip(names, row, strict=True) if not is_missing(value)})
        for row in rows
    ]


def onnx_predictions(rules, rows):
    """Return the predictions of rules for numbers on raw rows."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(rules.to_onnx().SerializeToString(), options)
    (found,) = session.run(["prediction"], onnx_inputs(rules.features, rows))
    return found.tolist()


def pmml_predictions(rules, rows):
    """Return the predictions of rules for numbers on raw rows."""
    engine, names = Engine(rules.to_pmml()), rules.features.names
    return [
        engine.predict({name: value for name, value in zip(names, row, strict=True) if not is_missing(value)})
        for row in rows
    ]


def is_missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def raw_table(rows):
    """Return raw rows as an array of objects."""
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    for number, row in enumerate(rows):
        table[number] = row
    return table
