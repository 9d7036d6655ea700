"""Rows of Spark DataFrames, on a local Spark."""

import os
import shutil
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from clausewise.partitions import PartitionError, partitioned
from tests.partitions.engine_cases import (
    LabelsByAmount,
    add_sums,
    assert_same_part,
    check_same_numbers,
    check_same_rules,
    expected_sample,
    expected_sums,
    fails_on_bern,
    mixed_rows,
    sample_of,
    shuffled,
    sums,
)
from tests.shared import ROOT

pyspark = pytest.importorskip("pyspark", reason="Spark is not installed")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java, which is not installed", allow_module_level=True)
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

SCHEMA = "amount double, city string, flag boolean, visits bigint, size string"
ROWS = mixed_rows(with_categorical=False)


@pytest.fixture(scope="module")
def spark():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = (
            pyspark.sql.SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.log.level", "OFF")
            .getOrCreate()
        )
        yield session
        session.stop()


def plain(rows):
    """Return rows as tuples of Python's own values, None where missing."""
    columns = pa.Table.from_pandas(rows, preserve_index=False).columns
    return list(zip(*[column.to_pylist() for column in columns], strict=True))


def frame_of(spark, rows, n_partitions):
    return spark.createDataFrame(spark.sparkContext.parallelize(plain(rows), n_partitions), SCHEMA)


def frame_to_learn_from(spark, rows):
    schema = "age double, income double, job string, smokes boolean, since double, note string, plan string"
    return spark.createDataFrame(spark.sparkContext.parallelize(plain(shuffled(rows)), 3), schema)


@pytest.mark.fuzz  # Slow; the same is tested on Dask.
def test_parts_do_not_depend_on_partitions_and_order(spark):
    rows = partitioned(frame_of(spark, shuffled(ROWS), 5))
    assert_same_part(rows.reduce(sums, add_sums), expected_sums(ROWS))
    assert sample_of(rows) == expected_sample(ROWS)


@pytest.mark.usefixtures("few_in_memory")
def test_rules_are_those_of_tables_in_memory(spark, rows, model, tmp_path):
    frame = frame_to_learn_from(spark, rows)
    rules = check_same_rules(frame, rows, model)
    rules.predict(frame).write.parquet(str(tmp_path / "out"))
    written = pd.read_parquet(tmp_path / "out")
    assert written["prediction"].tolist() == rules.predict(written).tolist()
    assert len(written) == len(rows)


@pytest.mark.fuzz  # Slow; the same is tested on Dask.
@pytest.mark.usefixtures("few_in_memory")
def test_rules_for_numbers_are_those_of_tables_in_memory(spark, rows, number_model):
    check_same_numbers(frame_to_learn_from(spark, rows), rows, number_model)


def test_parts_are_added_up_on_executors(spark, monkeypatch):
    monkeypatch.setattr("clausewise.partitions.spark._PARTS_PER_SUM", 2)
    rows = partitioned(frame_of(spark, ROWS[:60], 5).union(frame_of(spark, ROWS[:0], 1)))
    assert_same_part(rows.reduce(sums, add_sums), expected_sums(ROWS[:60]))
    others, bern = ROWS[ROWS["city"] != "Bern"][:60], ROWS[ROWS["city"] == "Bern"][:10]
    broken = partitioned(frame_of(spark, others, 6).union(frame_of(spark, bern, 1)))
    message = "^A computation on partition 6 of the Spark DataFrame failed: ZeroDivisionError: Bern has no"
    with pytest.raises(PartitionError, match=message):
        broken.reduce(fails_on_bern, add_sums)


def test_empty_partitions_count_nothing(spark):
    rows = partitioned(frame_of(spark, ROWS[:3], 6))
    assert rows.n_rows == 3
    assert_same_part(rows.reduce(sums, add_sums), expected_sums(ROWS[:3]))
    assert len(rows.head(2)) == 2
    assert len(rows.with_columns(LabelsByAmount(0.3)).collect()) == 3


def test_selected_columns_are_gathered_in_order(spark):
    rows = partitioned(frame_of(spark, ROWS, 4)).select(["visits", "amount"])
    assert rows.names == ("visits", "amount")
    assert rows.gathered()["amount"].tolist() == ROWS["amount"].tolist()


def test_further_columns_are_computed_when_they_are_asked_for(spark, tmp_path):
    def read(number, _rows):
        (tmp_path / f"{number}").touch()
        return iter(plain(ROWS[number * 100 : number * 100 + 100]))

    read_lazily = spark.sparkContext.parallelize(range(3), 3).mapPartitionsWithIndex(read)
    lazy = partitioned(spark.createDataFrame(read_lazily, SCHEMA)).with_columns(LabelsByAmount(0.3))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0"]  # the first row, for the data types
    found = lazy.collect()
    assert [row["label"] for row in found] == np.where(ROWS["amount"][:300] > 0.3, "high", "low").tolist()
    assert {row["score"] for row in found} == {0.0, 2.5}


@pytest.mark.fuzz  # Slow; the same is tested on Dask.
def test_a_partition_that_cannot_be_read_is_named(spark):
    def read(number, _rows):
        if number == 2:
            raise OSError("the file ends too early")
        return iter(plain(ROWS[number * 100 : number * 100 + 100]))

    broken = spark.sparkContext.parallelize(range(3), 3).mapPartitionsWithIndex(read)
    rows = partitioned(spark.createDataFrame(broken, SCHEMA))
    message = "^Partition 2 of the Spark DataFrame cannot be read: OSError: the file ends too early$"
    for call in (lambda: rows.n_rows, rows.gathered, lambda: rows.reduce(sums, add_sums)):
        with pytest.raises(PartitionError, match=message):
            call()
