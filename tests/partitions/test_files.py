"""Rows in several files, and in batches, whose columns differ."""

from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest

from clausewise import ExtractionWarning, extract, partitioned
from clausewise.partitions import PartitionError, is_partitioned

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


@pytest.mark.parametrize("pattern", ["", "*/*.parquet", "**/*.parquet", "g=1"])
def test_names_of_folders_are_columns(tmp_path, pattern):
    for group, part in (("1", numbers(1, 2)), ("2", numbers(3)), ("__HIVE_DEFAULT_PARTITION__", numbers(4))):
        (tmp_path / "run=5" / f"g={group}").mkdir(parents=True)
        write(tmp_path / "run=5" / f"g={group}", part)
    rows = partitioned(tmp_path / "run=5" / pattern)
    found = rows.gathered()
    if pattern == "g=1":  # of this folder, not in it
        assert list(found) == ["a", "b"]
        return
    assert list(found) == ["a", "b", "g"]
    assert dict(zip(found["a"], found["g"].fillna(0), strict=True)) == {1: 1, 2: 1, 3: 2, 4: 0}
    assert sorted(rows.select(["g"]).gathered()["g"].dropna()) == [1, 1, 2]
    assert rows.n_rows == 4


def test_names_of_folders_may_be_text_and_labels(tmp_path):
    for group in ("north", "a/b"):
        (tmp_path / f"area={quote(group, safe='')}").mkdir()
        write(tmp_path / f"area={quote(group, safe='')}", numbers(*range(1, 9)))
    assert set(partitioned(tmp_path).gathered()["area"]) == {"north", "a/b"}
    with pytest.warns(ExtractionWarning):
        assert set(extract("area", tmp_path, max_rules=2).classes) == {"north", "a/b"}


@pytest.mark.parametrize(
    ("name", "separator"),
    [("a.csv", ","), ("a.csv.gz", ","), ("a.tsv", "\t"), ("a.tsv.gz", "\t"), ("a.txt", ",")],
)
def test_text_files_may_be_compressed_and_have_tabs(tmp_path, name, separator):
    rows = pd.DataFrame({"a": [1, 2, None], "b": ["x", None, "y"]})
    rows.to_csv(tmp_path / name, sep=separator, index=False)
    found = partitioned(tmp_path / name)
    pd.testing.assert_frame_equal(found.gathered(), rows, check_dtype=False)
    assert found.n_rows == 3


def test_text_files_may_have_decimals_late(tmp_path):
    for number, value in enumerate(["1", "", "2.5"]):
        (tmp_path / f"{number}.csv").write_text(f"a,b\n{value},x\n")
    assert partitioned(tmp_path).gathered()["a"].fillna(0).tolist() == [1, 0, 2.5]


def test_paths_in_a_list_may_be_text(rules, tmp_path):
    folder = write(tmp_path, numbers(1, 2).assign(c=True), numbers(3).assign(c=False))
    paths = [str(path) for path in sorted(folder.iterdir())]
    assert partitioned(paths).n_rows == len(rules.predict(paths)) == 3
    assert partitioned([str(folder)]).n_rows == 3
    with pytest.raises(FileNotFoundError, match="There is no file or folder"):
        partitioned([str(folder / "9.parquet")])
    assert not is_partitioned(["some text", "that a model reads"])


@pytest.mark.parametrize("max_memory", [0, 2**20])
def test_batches_of_an_iterator_may_have_other_types_and_another_order(max_memory):
    parts = [
        numbers(1, 2),
        numbers(None, 4)[["b", "a"]],
        numbers(5),
        pd.DataFrame({"a": [None], "b": [np.nan]}),
    ]
    rows = partitioned(iter(parts), max_memory=max_memory)
    found = rows.gathered()
    assert found["a"].fillna(0).tolist() == [1, 2, 0, 4, 5, 0]
    assert found["b"].tolist()[:5] == ["x"] * 5
    assert rows.select(["b"]).head(1)["b"].tolist() == ["x"]
    empty_first = partitioned(part for part in parts[::-1])
    assert empty_first.gathered()["b"].tolist()[1:] == ["x"] * 5


def test_chunks_of_a_csv_file_may_have_missing_values_late(rules, tmp_path):
    rows = pd.DataFrame({"a": np.arange(40), "b": ["x", "y"] * 20, "c": [True, False] * 20})
    rows = rows.astype({"a": "Int64"})
    rows.loc[30, "a"] = pd.NA
    rows.to_csv(tmp_path / "rows.csv", index=False)
    found = rules.predict(pd.read_csv(tmp_path / "rows.csv", chunksize=10))
    assert found.tolist() == rules.predict(rows).tolist()


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (numbers(1)[["a"]], "Batch 1 has no column 'b', which batch 0 has; pass the same"),
        (numbers(1).assign(c=1), "Batch 1 has a column 'c', which batch 0 has not"),
        (numbers("x"), "Column 'a' holds text in batch 1, and numbers in those before it; make"),
    ],
)
def test_batches_with_other_columns_are_named(second, message):
    with pytest.raises(ValueError, match=message):
        partitioned(iter([numbers(1, 2), second]))


@pytest.fixture(scope="module")
def rules():
    rows = pd.DataFrame({"a": np.arange(40.0), "b": ["x", "y"] * 20, "c": [True, False] * 20})
    return extract(np.where((rows["a"] > 20) & (rows["b"] == "x"), "high", "low"), rows, max_rules=2)


def test_predictions_read_the_columns_of_rules_alone(rules, tmp_path):
    rows = numbers(*range(30)).assign(c=True)
    folder = write(tmp_path, rows.assign(d=1), rows.assign(d="x"), rows)  # columns differ, but not in these
    assert rules.predict(folder).tolist() == 3 * rules.predict(rows).tolist()
    with pytest.raises(PartitionError, match="Column 'd' holds numbers in "):
        extract("b", folder)


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


@pytest.mark.parametrize("kind", [pl.Float64, pl.String, pl.Categorical, pl.Boolean])
def test_batches_of_a_lazy_frame_are_recognised_by_their_contents(kind):
    one = pl.DataFrame({"a": pl.Series([1, None, 0, 1]).cast(pl.String if kind == pl.Categorical else kind)})
    one = one.cast(kind)

    def number_of(table):
        found = []
        partitioned(table.lazy()).reduce(lambda _, number: found.append(number) or {}, lambda a, b: a)
        return found

    assert number_of(one) == number_of(one.clone())
    assert number_of(one) != number_of(one[::-1]) != number_of(one[[2, 1, 0, 3]])


def test_a_query_that_fails_later_is_a_partition_error():
    lazy = pl.LazyFrame({"a": ["1", "2", "x"]}).select(pl.col("a").cast(pl.Int64))
    with pytest.raises(PartitionError, match="The LazyFrame cannot be read: "):
        partitioned(lazy).head(1)


def test_an_old_polars_is_named(monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    with pytest.raises(ImportError, match=r"needs polars 1\.34 or newer, and .* is installed"):
        partitioned(pl.LazyFrame({"a": [1]}))


def test_errors_about_several_files_are_sentences(tmp_path):
    rows = partitioned(write(tmp_path, numbers(1), numbers(2)))
    with pytest.raises(ValueError, match=r"0\.parquet and 1 more file: there is no column 'verdict'"):
        extract("verdict", rows)
