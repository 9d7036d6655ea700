"""Rows in several files, and in batches, whose columns differ."""

import numpy as np
import pandas as pd
import pytest

from clausewise import extract, partitioned
from clausewise.partitions import PartitionError

pl = pytest.importorskip("polars", reason="polars is not installed")


def numbers(*values):
    return pd.DataFrame({"a": values, "b": ["x"] * len(values)})


def write(folder, *parts):
    for number, part in enumerate(parts):
        part.to_parquet(folder / f"{number}.parquet", index=False)
    return folder


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([[1, 2], [1.5, None]], [1.0, 2.0, 1.5, None]),
        ([[None, None], [3, 4]], [None, None, 3.0, 4.0]),
        ([[True, False], [2, 3]], [1.0, 0.0, 2.0, 3.0]),
        ([[2**60 + 1], [None, 3]], [2.0**60, None, 3.0]),
        ([[np.nan], ["x", None]], [None, "x", None]),
        ([["x", None], [np.nan]], ["x", None, None]),
        ([["x"], pd.Categorical(["y", None])], ["x", "y", None]),
    ],
)
def test_types_of_columns_are_those_that_hold_all_values(tmp_path, parts, expected):
    rows = partitioned(write(tmp_path, *[pd.DataFrame({"a": part}) for part in parts]))
    found = rows.gathered()["a"].astype(object)
    assert found.where(found.notna(), None).tolist() == expected
    assert rows.n_rows == len(expected)


def test_columns_may_be_in_another_order(tmp_path):
    rows = partitioned(write(tmp_path, numbers(1, 2), numbers(3)[["b", "a"]]))
    assert rows.gathered()["a"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_file_without_a_column_is_named_if_the_column_is_read(tmp_path, is_first):
    short, whole = numbers(1, 2)[["a"]], numbers(3, 4)
    rows = partitioned(write(tmp_path, *([short, whole] if is_first else [whole, short])))
    with pytest.raises(PartitionError, match=rf"{0 if is_first else 1}\.parquet has no column 'b', which "):
        rows.gathered()
    assert len(rows.select(["a"]).gathered()) == 4


def test_files_with_text_and_with_numbers_are_named(tmp_path):
    rows = partitioned(write(tmp_path, numbers(1, 2), numbers("n/a")))
    message = r"Column 'a' holds numbers in .*0\.parquet and text in .*1\.parquet; make it one or the other"
    with pytest.raises(PartitionError, match=message):
        rows.gathered()
    assert rows.select(["b"]).gathered()["b"].tolist() == ["x"] * 3


@pytest.fixture(scope="module")
def rules():
    rows = pd.DataFrame({"a": np.arange(40.0), "b": ["x", "y"] * 20, "c": [True, False] * 20})
    return extract(np.where((rows["a"] > 20) & (rows["b"] == "x"), "high", "low"), rows, max_rules=2)


def test_no_rows_have_no_predictions(rules, tmp_path):
    empty = pd.DataFrame({"a": [1.0], "b": ["x"], "c": [True]})[:0]
    folder = write(tmp_path, empty)
    for source in (folder, iter([empty]), partitioned([empty]), partitioned([pl.DataFrame(empty)])):
        assert rules.predict(source).tolist() == []
    lazy = rules.predict(pl.scan_parquet(folder)).collect()
    assert lazy.shape == (0, 4)
    assert lazy.schema["prediction"] == pl.String


def test_a_file_behind_a_lazy_frame_that_cannot_be_read_is_a_partition_error(rules, tmp_path):
    (tmp_path / "0.parquet").write_bytes(b"nothing of the kind")
    lazy = pl.scan_parquet(tmp_path)
    for call in (lambda: rules.predict(lazy), lambda: extract("b", lazy), lambda: rules.evaluate(lazy, "b")):
        with pytest.raises(PartitionError, match="The LazyFrame cannot be read: "):
            call()


def test_a_query_that_fails_later_is_a_partition_error():
    lazy = pl.LazyFrame({"a": ["1", "2", "x"]}).select(pl.col("a").cast(pl.Int64))
    with pytest.raises(PartitionError, match="The LazyFrame cannot be read: "):
        partitioned(lazy).head(1)


def test_an_old_polars_is_named(monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    with pytest.raises(ImportError, match=r"needs polars 1\.34 or newer, and .* is installed"):
        partitioned(pl.LazyFrame({"a": [1]}))
