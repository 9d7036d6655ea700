"""Rules from rows that are read in parts: the same whatever the parts, and close to those of all rows."""

import pickle
import subprocess
import sys
from itertools import count, pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import clausewise
from clausewise import ECLAIRE, ExtractionWarning, Pedagogical, extract, partitioned
from clausewise.compact import patterns
from clausewise.partitions import PartitionError
from tests.partitions.conftest import table_of

pl = pytest.importorskip("polars", reason="polars is not installed")


def in_pieces(rows, *cuts):
    edges = [0, *cuts, len(rows)]
    return partitioned([rows[a:b] for a, b in pairwise(edges)])


def write_folder(folder, rows, n_files):
    for number, part in enumerate(np.array_split(np.arange(len(rows)), n_files)):
        rows.iloc[part].to_parquet(folder / f"part-{number}.parquet", index=False)
    return folder


def same_rules(one, other):
    assert one == other
    assert one.scale == other.scale
    np.testing.assert_array_equal(one.columns.cover, other.columns.cover)
    np.testing.assert_array_equal(one.columns.correct, other.columns.correct)
    assert one.learnt_rows == other.learnt_rows


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("rows"), rows, 3)


def test_few_rows_give_what_a_table_in_memory_gives(rows, model):
    few = rows[:1_500]
    same_rules(extract(model, in_pieces(few, 100, 700)), extract(model, few))
    labels = model.predict(few)
    with_column = few.assign(decision=labels)
    same_rules(extract("decision", in_pieces(with_column, 500)), extract(labels, few))


@pytest.mark.usefixtures("few_in_memory")
@pytest.mark.parametrize("options", [{}, {"max_rules": 4}, {"max_rules": 4, "points": True}])
def test_rules_do_not_depend_on_partitions_and_order(rows, model, options):
    expected = extract(model, in_pieces(rows, 9_000), **options)
    mixed = rows.sample(frac=1.0, random_state=3).reset_index(drop=True)
    same_rules(extract(model, in_pieces(mixed, 10, 10_000, 15_000), n_jobs=1, **options), expected)


@pytest.mark.usefixtures("few_in_memory")
def test_rules_do_not_depend_on_the_order_of_categories(rows, model):
    plans = rows["plan"].astype(object)
    in_order = [pd.Categorical(plans[:9_000], ["gold", "silver", "basic"]), plans[9_000:15_000]]
    in_order.append(pd.Categorical(plans[15_000:], ["basic", "gold", "silver"]))
    edges = [0, 9_000, 15_000, 20_000]
    parts = [rows[a:b].assign(plan=plan) for (a, b), plan in zip(pairwise(edges), in_order, strict=True)]
    same_rules(
        extract(model, partitioned(parts), max_rules=4), extract(model, partitioned([rows]), max_rules=4)
    )


@pytest.mark.usefixtures("few_in_memory")
def test_all_kinds_of_streams_give_the_same_rules(rows, model, folder):
    expected = extract(model, in_pieces(rows, 12_000), max_rules=4)
    data_set = pa.dataset.dataset(folder)
    sources = [
        folder,
        f"{folder}/*.parquet",
        sorted(folder.iterdir()),
        data_set,
        data_set.scanner().to_reader(),
    ]
    sources += [
        pl.scan_parquet(folder),
        data_set.to_batches(batch_size=999),
        (part for part in [rows[:50], rows[50:]]),
    ]
    for source in sources:
        same_rules(extract(model, source, max_rules=4), expected)


@pytest.mark.usefixtures("few_in_memory")
def test_a_lazy_frame_may_return_its_rows_in_any_order(rows, model):
    """As `group_by` does."""
    passes = count()
    lazy = pl.LazyFrame(rows).map_batches(
        lambda all_rows: all_rows.sample(fraction=1, seed=next(passes), shuffle=True)
    )
    same_rules(extract(model, lazy, max_rules=4), extract(model, in_pieces(rows, 9_000), max_rules=4))
    assert next(passes) > 2


@pytest.mark.usefixtures("few_in_memory")
def test_statistics_are_those_of_all_rows(rows, model):
    found = extract(model, in_pieces(rows, 7_000), max_rules=4)
    counted = found.with_statistics(rows, model.predict(rows))
    np.testing.assert_array_equal(found.columns.cover, counted.columns.cover)
    np.testing.assert_array_equal(found.columns.correct, counted.columns.correct)
    assert found.learnt_rows == counted.learnt_rows
    agrees = found.predict(rows) == model.predict(rows)
    in_memory = extract(model, rows, max_rules=4).predict(rows) == model.predict(rows)
    assert agrees.mean() > in_memory.mean() - 0.01


@pytest.mark.usefixtures("few_in_memory")
def test_rules_that_fire_together_in_many_ways_have_votes_of_a_sample(rows, model, monkeypatch):
    of_all = ECLAIRE(model, max_rules=6).fit(in_pieces(rows, 7_000))
    assert of_all.report_.notes == ()
    monkeypatch.setattr(patterns, "MAX_PATTERNS", 4)
    found = ECLAIRE(model, max_rules=6).fit(in_pieces(rows, 7_000))
    mixed = rows.sample(frac=1.0, random_state=3).reset_index(drop=True)
    again = ECLAIRE(model, max_rules=6).fit(in_pieces(mixed, 3, 9_000))
    same_rules(found.rules_, again.rules_)
    counted = found.rules_.with_statistics(rows, model.predict(rows))
    np.testing.assert_array_equal(found.rules_.columns.cover, counted.columns.cover)
    np.testing.assert_array_equal(found.rules_.columns.correct, counted.columns.correct)
    assert (found.predict(rows) == of_all.predict(rows)).mean() > 0.99
    assert "so votes are fitted to a sample" in str(found.report_)


@pytest.mark.parametrize("n_wanted", [None, 3])
def test_parts_hold_no_more_patterns_than_are_counted(rows, model, monkeypatch, n_wanted):
    monkeypatch.setattr(patterns, "MAX_PATTERNS", n_wanted or patterns.MAX_PATTERNS)
    rules = extract(model, rows[:2_000], max_rules=4)
    counted = patterns.count_patterns(
        rules, in_pieces(rows, 100, 9_000), lambda batch, _: np.ones(len(batch), dtype=np.int32)
    )
    assert counted.is_bounded == (n_wanted is None)
    assert (counted.fires.shape[1] == 0) == (n_wanted is not None)
    fires = rules.evaluator.fires(rules.features.encode(rows)).dense()
    assert counted.of_rule[:, 1].tolist() == fires.sum(axis=1).tolist()


@pytest.mark.usefixtures("few_in_memory")
def test_all_rules_of_an_extraction_are_counted_on_all_rows(rows, model):
    found = ECLAIRE(model, max_rules=None).fit(in_pieces(rows, 7_000))
    counted = found.rules_.with_statistics(rows, model.predict(rows))
    np.testing.assert_array_equal(found.rules_.columns.cover, counted.columns.cover)
    assert (found.report_.n_rows_given, found.report_.n_rows) == (20_000, pytest.approx(2_000, rel=0.3))
    assert found.predict(rows[:9]).shape == (9,)


@pytest.mark.usefixtures("few_in_memory")
def test_labels_may_be_in_a_column(rows, model):
    labelled = rows.assign(decision=model.predict(rows))
    found = extract("decision", in_pieces(labelled, 9_000), max_rules=4)
    assert "decision" not in found.features.names
    assert (found.predict(rows) == labelled["decision"]).mean() > 0.95
    with pytest.raises(ValueError, match="there is no column 'verdict', which should hold the labels"):
        extract("verdict", in_pieces(labelled, 9_000))


@pytest.mark.usefixtures("few_in_memory")
@pytest.mark.parametrize("is_ordered", [False, True])
def test_labels_may_be_categories_of_which_some_have_no_rows(rows, is_ordered):
    labels = np.where(rows["age"] < 45, "v", "u")
    labelled = rows.assign(lab=pd.Categorical(labels, categories=["w", "v", "u"], ordered=is_ordered))
    found = extract("lab", in_pieces(labelled, 9_000), max_rules=2)
    assert found.classes.tolist() == ["u", "v"]
    assert (found.predict(rows) == labels).mean() > 0.99


@pytest.mark.parametrize("kind", ["Int64", "boolean", "category", "str", object])
def test_missing_labels_are_an_error(rows, kind):
    labels = pd.Series([True, None, False] if kind == "boolean" else [1, None, 0]).astype(kind)
    with pytest.raises(ValueError, match="Column 'lab' has missing labels; leave such rows out"):
        extract("lab", in_pieces(rows[:3].assign(lab=labels), 2))


@pytest.mark.usefixtures("few_in_memory")
def test_categories_and_classes_of_few_rows_are_seen(model):
    rows = table_of(12_000, seed=4)
    rows["job"] = np.where(rows["job"] == "judge", "cook", rows["job"]).astype(object)
    rows.loc[[3, 8_000], "job"] = "judge"
    found = extract(model, in_pieces(rows, 6_000), max_rules=3)
    assert found.features.categories[found.features.names.index("job")] == ("cook", "judge", "nurse")
    labels = np.full(len(rows), "no", dtype=object)
    labels[rows["age"] > 50] = "yes"
    labels[[5, 11_000]] = "never"
    with pytest.warns(ExtractionWarning, match="No rule predicts class never"):
        found = extract("label", in_pieces(rows.assign(label=labels), 6_000), max_rules=3)
    assert found.classes.tolist() == ["never", "no", "yes"]


@pytest.mark.usefixtures("few_in_memory")
def test_rules_for_a_column_of_labels_know_the_categories_of_all_rows():
    rows = table_of(12_000, seed=4)
    rows["job"] = np.where(rows["job"] == "judge", "cook", rows["job"]).astype(object)
    rows.loc[[3, 8_000], "job"] = "judge"  # sorted before "nurse", and hardly ever drawn
    rows["label"] = np.where((rows["job"] == "nurse") | (rows["age"] > 60), "yes", "no")
    found = extract("label", in_pieces(rows, 6_000), max_rules=4)
    assert found.features.categories[found.features.names.index("job")] == ("cook", "judge", "nurse")
    assert found.evaluate(in_pieces(rows, 50), "label").accuracy > 0.99


@pytest.mark.usefixtures("few_in_memory")
def test_rows_that_are_often_repeated_count_as_often(rows, model):
    repeated = pd.concat([rows[:6_000], *[rows[:1]] * 6_000], ignore_index=True)
    one = extract(model, in_pieces(repeated, 5_000, 9_000), max_rules=3)
    mixed = repeated.sample(frac=1.0, random_state=0).reset_index(drop=True)
    same_rules(one, extract(model, in_pieces(mixed, 100), max_rules=3))
    assert one.columns.cover.max() >= 6_001
    assert (one.predict(repeated) == model.predict(repeated)).mean() > 0.95


@pytest.mark.usefixtures("few_in_memory")
@pytest.mark.parametrize("target", ["model", "column"])
def test_rules_are_compacted_on_streams(rows, model, target):
    start = Pedagogical(model, max_rules=None).fit(rows[:1_000]).rules_
    labelled = rows.assign(decision=model.predict(rows))
    target = model if target == "model" else "decision"
    short = start.compact(in_pieces(labelled, 3_000), target, max_rules=4)
    mixed = labelled.sample(frac=1.0, random_state=1).reset_index(drop=True)
    same_rules(short, start.compact(in_pieces(mixed, 13_000, 14_000), target, max_rules=4))
    assert len(short) <= 4
    assert (
        short.columns.cover.tolist()
        == short.with_statistics(rows, model.predict(rows)).columns.cover.tolist()
    )
    assert (short.predict(rows) == model.predict(rows)).mean() > 0.95
    assert start.learnt_rows.hashes[0] in short.learnt_rows.hashes
    few = labelled[:2_000]
    in_memory = start.compact(few[rows.columns], model if target is model else few["decision"], max_rules=4)
    same_rules(start.compact(in_pieces(few, 90), target, max_rules=4), in_memory)


@pytest.mark.usefixtures("few_in_memory")
@pytest.mark.parametrize("n_rows", [1_500, 20_000])
def test_columns_that_nobody_reads_may_hold_anything(rows, model, n_rows):
    chosen = rows[:n_rows]
    labelled = chosen.assign(day=pd.Timestamp("2020-01-01"), decision=model.predict(chosen))
    dated, expected = in_pieces(labelled, 700), in_pieces(chosen, 700)
    rules = extract(model, dated, max_rules=3)
    same_rules(rules, extract(model, expected, max_rules=3))
    short = rules.compact(dated, model, max_rules=2)
    same_rules(short, rules.compact(expected, model, max_rules=2))
    assert len(rules.compact(dated, "decision", max_rules=2)) <= 2
    assert rules.evaluate(dated, "decision") == rules.evaluate(labelled, labelled["decision"])


@pytest.mark.usefixtures("few_in_memory")
def test_the_frontier_of_a_stream_is_that_of_a_sample(rows, model):
    start = Pedagogical(model, max_rules=None).fit(rows[:1_000]).rules_
    sizes = start.frontier(in_pieces(rows, 3_000), model, max_rules=3, n_splits=1)
    mixed = in_pieces(rows.sample(frac=1.0, random_state=1).reset_index(drop=True), 9_999)
    again = start.frontier(mixed, model, max_rules=3, n_splits=1)
    assert sizes.fidelity.tolist() == again.fidelity.tolist()
    assert sizes.fidelity[-1] > 0.9


def test_predictions_of_streams_are_those_of_tables(rows, model, folder, tmp_path):
    rules = extract(model, rows[:2_000], max_rules=4)
    expected = rules.predict(rows)
    for source in (folder, in_pieces(rows, 5), iter([rows[:7], rows[7:]])):
        found = rules.predict(source)
        assert isinstance(found, np.ndarray)
        assert found.tolist() == expected.tolist()
    lazy = rules.predict(pl.scan_parquet(folder))
    assert isinstance(lazy, pl.LazyFrame)
    lazy.sink_parquet(tmp_path / "out.parquet")
    written = pd.read_parquet(tmp_path / "out.parquet")
    assert written["prediction"].tolist() == expected.tolist()
    assert written["age"].tolist() == rows["age"].tolist()
    with pytest.raises(ValueError, match="already has a column 'prediction'"):
        rules.predict(lazy)


def test_numbers_are_predicted_on_streams(rows):
    rules = clausewise.RuleRegressor(max_rules=3).fit(rows[["age", "income"]], rows["age"] * 2.0).rules_
    assert rules.predict(in_pieces(rows, 5)).tolist() == rules.predict(rows).tolist()


@pytest.mark.parametrize("voting", ["weights", "majority"])
def test_an_evaluation_of_a_stream_is_that_of_a_table(rows, model, folder, voting):
    rules = extract(model, rows[:2_000], max_rules=4)
    truth = np.where(rows["age"] < 40, "yes", np.where(rows["age"] > 70, "unsure", "no"))
    expected = rules.evaluate(rows, truth, network=model, voting=voting)
    labelled = rows.assign(truth=truth, asked=model.predict(rows))
    for network in (model, "asked"):
        assert rules.evaluate(in_pieces(labelled, 500), "truth", network=network, voting=voting) == expected
    assert (
        rules.evaluate(folder, network=model).fidelity == expected.fidelity if voting == "weights" else True
    )
    abstaining = rules.abstaining(rows[2_000:4_000], model, agreement=0.97, overlap="keep")
    assert abstaining.evaluate(in_pieces(rows, 9), network=model) == abstaining.evaluate(rows, network=model)


def test_statistics_are_counted_on_streams(rows, model):
    rules = extract(model, rows[:2_000], max_rules=4)
    labelled = rows.assign(decision=model.predict(rows))
    same_rules(
        rules.with_statistics(in_pieces(labelled, 700), "decision"),
        rules.with_statistics(rows, model.predict(rows)),
    )


def test_long_work_shows_progress(rows, model, folder, capsys):
    rules = extract(model, rows[:2_000], max_rules=2)
    labelled = in_pieces(rows.assign(decision=model.predict(rows)), 9)
    for call, what in (
        (lambda verbose: rules.predict(folder, verbose=verbose), "Predictions"),
        (lambda verbose: rules.evaluate(labelled, "decision", network=model, verbose=verbose), "Evaluation"),
        (lambda verbose: rules.with_statistics(labelled, "decision", verbose=verbose), "Statistics"),
    ):
        call(0)
        assert capsys.readouterr().err == ""
        call(2)
        shown = capsys.readouterr().err
        assert f"{what} |" in shown
        assert "100%" in shown
        assert "20000/20000 rows" in shown
        with pytest.raises(ValueError, match="verbose"):
            call(-1)


def test_rules_travel(rows, model):
    rules = extract(model, rows[:2_000], max_rules=4)
    rules.predict(rows[:5])
    assert pickle.loads(pickle.dumps(rules)).predict(rows).tolist() == rules.predict(rows).tolist()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda rules, rows, model: rules.predict(iter([3])), TypeError, "Batch 0 of the iterator is a int"),
        (
            lambda rules, rows, model: rules.predict("nowhere.parquet"),
            FileNotFoundError,
            "There is no file or folder",
        ),
        (lambda rules, rows, model: rules.predict("nowhere/*.csv"), FileNotFoundError, "There are no files"),
        (
            lambda rules, rows, model: rules.explain(iter([rows])),
            TypeError,
            "X is an iterator, and a table in memory",
        ),
        (
            lambda rules, rows, model: rules.guarantee(pl.LazyFrame(rows), model),
            TypeError,
            "X is a LazyFrame, and a",
        ),
        (
            lambda rules, rows, model: rules.evaluate(iter([rows]), ["a"]),
            TypeError,
            "target holds labels, and these",
        ),
        (lambda rules, rows, model: rules.evaluate(iter([rows]), "age2"), ValueError, "no column 'age2'"),
        (
            lambda rules, rows, model: rules.with_statistics(iter([rows]), [1]),
            TypeError,
            "labels holds labels",
        ),
        (lambda rules, rows, model: extract(model, iter([rows[:0]])), ValueError, "has no rows"),
        (lambda rules, rows, model: extract(model, iter([])), ValueError, "The iterator has no batches"),
        (
            lambda rules, rows, model: extract(model, iter([rows]), holdout=0.2),
            ValueError,
            "are for tables in memory",
        ),
        (
            lambda rules, rows, model: extract(model, iter([rows]), y=[1]),
            ValueError,
            "y is for tables in memory",
        ),
        (
            lambda rules, rows, model: rules.compact(iter([rows]), model, sample_weight=[1]),
            ValueError,
            "sample_weight is",
        ),
        (
            lambda rules, rows, model: partitioned([rows, rows[["age"]]]),
            ValueError,
            "Table 1 has other columns",
        ),
        (lambda rules, rows, model: partitioned(iter([rows]), max_memory=-1), ValueError, "max_memory"),
    ],
)
def test_bad_input_is_named(rows, model, call, kind, message):
    few = rows[:300]
    rules = extract(model, few, max_rules=2)
    with pytest.raises(kind, match=message):
        call(rules, few, model)


def test_a_file_that_cannot_be_read_is_named(rows, model, folder, tmp_path):
    broken = write_folder(tmp_path, rows[:3_000], 2)
    raw = (broken / "part-1.parquet").read_bytes()
    (broken / "part-1.parquet").write_bytes(raw[: len(raw) // 3] + b"\0" * 50 + raw[len(raw) // 3 + 50 :])
    rules = extract(model, rows[:300], max_rules=2)
    with pytest.raises(PartitionError, match=r"part-1\.parquet cannot be read: "):
        rules.predict(broken)
    with pytest.raises(PartitionError, match=r"part-1\.parquet cannot be read: "):
        extract(model, broken, max_rules=2)
    filtered = pyarrow.dataset.dataset(broken).filter(pyarrow.dataset.field("age") > 0)
    with pytest.raises(PartitionError, match="The data set cannot be read: "):
        rules.predict(filtered)
    (broken / "part-1.parquet").write_bytes(b"nothing of the kind")
    with pytest.raises(PartitionError, match="cannot be read"):
        rules.predict(broken)


def test_a_missing_package_is_named():
    code = "import sys; sys.modules['pyarrow'] = None; import clausewise.compact.all_rows"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "Learning from rows in partitions needs pyarrow" in done.stderr
    assert done.stderr.rstrip().endswith("pip install pyarrow.")


def test_an_interrupt_leaves_nothing_behind(rows, model, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def interrupted():
        yield rows[:5_000]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract(model, partitioned(interrupted(), max_memory=0))
    assert list(tmp_path.iterdir()) == []
    kept = partitioned(iter([rows]), max_memory=0)
    assert kept.n_rows == len(rows)
    assert list(tmp_path.iterdir()) == []
