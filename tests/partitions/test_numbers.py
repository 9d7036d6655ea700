"""Rules for numbers from rows that are read in parts: the same whatever the parts."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from clausewise import RegressionRules, RuleRegressor, extract, partitioned
from clausewise.compact import patterns
from tests.partitions.conftest import table_of
from tests.partitions.test_learning import in_pieces, write_folder

pl = pytest.importorskip("polars", reason="polars is not installed")


def mixed(rows, seed=3):
    return rows.sample(frac=1.0, random_state=seed).reset_index(drop=True)


def same_numbers(one, other):
    assert one == other
    assert one.learnt_rows == other.learnt_rows


@pytest.fixture(scope="module")
def valued(rows):
    """Rows with a column of numbers to predict."""
    noise = np.random.default_rng(0).normal(size=len(rows))
    value = rows["income"].clip(20, 70) / 20 + 2.0 * (rows["age"] < 45) + (rows["job"] == "nurse")
    return rows.assign(value=value + 0.1 * noise)


def test_few_rows_give_what_a_table_in_memory_gives(rows, valued, number_model):
    few = rows[:1_500]
    found = extract(number_model, in_pieces(few, 100, 700), max_rules=3)
    same_numbers(found, extract(number_model, few, max_rules=3))
    from_column = extract("value", in_pieces(valued[:1_500], 9), max_rules=3)
    in_memory = extract(valued["value"][:1_500], few, max_rules=3)
    assert isinstance(from_column, RegressionRules)
    same_numbers(from_column, in_memory.with_response("value"))


@pytest.mark.usefixtures("few_in_memory")
def test_rules_do_not_depend_on_the_kind_of_rows(rows, number_model, tmp_path):
    expected = extract(number_model, in_pieces(rows, 9_000), max_rules=4)
    folder = write_folder(tmp_path, mixed(rows), 3)
    for source in (in_pieces(mixed(rows), 10, 10_000), folder, pl.scan_parquet(folder), iter([rows])):
        same_numbers(extract(number_model, source, max_rules=4), expected)
    in_memory = RuleRegressor(number_model, max_rules=4).fit(rows)
    streamed = expected.evaluate(rows, network=number_model).to_network.r_squared
    assert streamed > in_memory.fidelity(rows) - 0.01


@pytest.mark.usefixtures("few_in_memory")
@pytest.mark.parametrize("options", [{}, {"loss": "absolute"}, {"linear": 2}, {"max_rules": "auto"}])
def test_numbers_may_be_in_a_column(valued, options):
    model = RuleRegressor("value", **{"max_rules": 4, **options}).fit(in_pieces(valued, 9_000))
    again = RuleRegressor("value", **{"max_rules": 4, **options}).fit(in_pieces(mixed(valued), 50, 12_000))
    same_numbers(model.rules_, again.rules_)
    assert model.rules_.response == "value"
    assert "value" not in model.rules_.features.names
    assert model.rules_.evaluate(valued, valued["value"]).to_truth.r_squared > 0.8
    assert model.report_.n_rows_given == 20_000


@pytest.mark.usefixtures("few_in_memory")
def test_statistics_and_additions_are_those_of_all_rows(valued):
    found = extract("value", in_pieces(valued, 7_000), max_rules=4)
    counted = found.with_statistics(valued, valued["value"])
    for name in ("cover", "lower", "upper"):
        assert getattr(found.columns, name).tolist() == getattr(counted.columns, name).tolist()
    np.testing.assert_allclose(found.columns.mean, counted.columns.mean, rtol=1e-14)
    assert found.response_range == counted.response_range
    # Additions of two or more digits are within half of their last place of least squares on all rows.
    fires = np.column_stack([found.evaluator.fires(found.features.encode(valued)).dense().T, np.ones(20_000)])
    best = np.linalg.lstsq(fires, valued["value"], rcond=None)[0]
    np.testing.assert_allclose(found.columns.weight, best[:-1], atol=0.06)


@pytest.mark.usefixtures("few_in_memory")
def test_rules_that_fire_together_in_many_ways_have_additions_of_a_sample(valued, monkeypatch):
    of_all = RuleRegressor("value", max_rules=6).fit(in_pieces(valued, 9_000))
    monkeypatch.setattr(patterns, "MAX_PATTERNS", 4)
    found = RuleRegressor("value", max_rules=6).fit(in_pieces(valued, 9_000))
    same_numbers(found.rules_, RuleRegressor("value", max_rules=6).fit(in_pieces(mixed(valued), 70)).rules_)
    assert found.rules_.columns.cover.tolist() == of_all.rules_.columns.cover.tolist()
    assert found.predict(valued) == pytest.approx(of_all.predict(valued), abs=0.2)
    assert (of_all.report_.notes, len(found.report_.notes)) == ((), 1)


@pytest.mark.usefixtures("few_in_memory")
def test_counts_are_learnt_on_the_logarithm(valued):
    counts = valued.assign(value=np.random.default_rng(1).poisson(valued["value"].clip(0.1)))
    found = RuleRegressor("value", loss="poisson", max_rules=4).fit(in_pieces(counts, 11)).rules_
    same_numbers(
        found, RuleRegressor("value", loss="poisson", max_rules=4).fit(in_pieces(mixed(counts))).rules_
    )
    assert found.link == "log"
    assert found.predict(counts).mean() == pytest.approx(counts["value"].mean(), rel=0.02)


@pytest.mark.usefixtures("few_in_memory")
def test_rules_know_the_categories_of_all_rows():
    rows = table_of(12_000, seed=4)
    rows["job"] = np.where(rows["job"] == "judge", "cook", rows["job"]).astype(object)
    rows.loc[[3, 8_000], "job"] = "judge"
    rows["value"] = np.where(rows["job"] == "nurse", 2.5, 1.0) + (rows["age"] > 60)
    found = extract("value", in_pieces(rows, 6_000), max_rules=3)
    assert found.features.categories[found.features.names.index("job")] == ("cook", "judge", "nurse")
    assert found.evaluate(in_pieces(rows, 5), "value").to_truth.r_squared > 0.99


@pytest.mark.usefixtures("few_in_memory")
@pytest.mark.parametrize("by_column", [True, False])
def test_rules_are_compacted_and_measured_by_size_on_streams(valued, number_model, by_column):
    start = RuleRegressor(max_rules=12).fit(valued.drop(columns="value")[:1_000], valued["value"][:1_000])
    target = "value" if by_column else number_model
    short = start.rules_.compact(in_pieces(valued, 3_000), target, max_rules=4)
    same_numbers(short, start.rules_.compact(in_pieces(mixed(valued), 13_000), target, max_rules=4))
    assert len(short) <= 4
    assert start.rules_.learnt_rows.hashes[0] in short.learnt_rows.hashes
    rows = in_pieces(valued, 9_999)
    sizes = start.rules_.frontier(rows, target, by="rules", max_rules=3, n_splits=1)
    again = start.rules_.frontier(in_pieces(mixed(valued)), target, by="rules", max_rules=3, n_splits=1)
    assert sizes.fidelity.tolist() == again.fidelity.tolist()
    of_model = RuleRegressor(target).frontier(rows, by="rules", max_rules=3, n_splits=1)
    assert of_model.fidelity[-1] > 0.7


@pytest.mark.usefixtures("few_in_memory")
@pytest.mark.parametrize("n_rows", [1_500, 20_000])
def test_columns_that_nobody_reads_may_hold_anything(valued, number_model, n_rows):
    chosen = valued[:n_rows]
    dated = in_pieces(chosen.assign(day=pd.Timestamp("2020-01-01")), 700)
    rules = extract(number_model, dated, max_rules=3)
    same_numbers(rules, extract(number_model, in_pieces(chosen, 700), max_rules=3))
    same_numbers(
        rules.compact(dated, "value", max_rules=2), rules.compact(in_pieces(chosen, 7), "value", max_rules=2)
    )
    measured = rules.evaluate(dated, "value").to_truth.r_squared
    assert measured == pytest.approx(rules.evaluate(chosen, chosen["value"]).to_truth.r_squared)


@pytest.mark.parametrize("tolerance", [None, 0.3])
def test_an_evaluation_of_a_stream_is_that_of_a_table(valued, number_model, tolerance, request):
    rules = RuleRegressor(number_model, max_rules=4).fit(valued[:2_000]).rules_
    expected = rules.evaluate(valued, valued["value"], network=number_model, tolerance=tolerance)
    rows = in_pieces(valued, 500)
    assert rules.evaluate(rows, "value", network=number_model, tolerance=tolerance) == expected
    request.getfixturevalue("few_in_memory")
    streamed = rules.evaluate(rows, "value", network=number_model, tolerance=tolerance)
    assert (streamed.n_rows, streamed.coverage) == (expected.n_rows, expected.coverage)
    for name in ("to_network", "to_truth", "network_to_truth"):
        for measure, value in asdict(getattr(expected, name)).items():
            found = getattr(getattr(streamed, name), measure)
            if measure == "largest_row":
                assert found is None
            else:
                # Intervals are those of other random groups.
                is_interval = measure.endswith("interval")
                assert found == pytest.approx(value, rel=0.02 if is_interval else 1e-12), measure
    assert "largest error" in str(streamed)
    with_column = valued.assign(asked=number_model.predict(valued))
    by_column = rules.evaluate(in_pieces(mixed(with_column), 70), network="asked", tolerance=tolerance)
    assert by_column.to_network.r_squared == pytest.approx(expected.to_network.r_squared)


def test_statistics_are_counted_on_streams(valued):
    rules = (
        RuleRegressor(max_rules=4).fit(valued.drop(columns="value")[:2_000], valued["value"][:2_000]).rules_
    )
    expected, found = (
        rules.with_statistics(valued, valued["value"]),
        rules.with_statistics(in_pieces(mixed(valued), 700), "value"),
    )
    for name in ("cover", "lower", "upper"):
        assert getattr(found.columns, name).tolist() == getattr(expected.columns, name).tolist()
    np.testing.assert_allclose(found.columns.mean, expected.columns.mean, rtol=1e-14)


@pytest.mark.usefixtures("few_in_memory")
def test_long_work_shows_progress(valued, capsys):
    rules = RuleRegressor(max_rules=2).fit(valued[["age"]][:300], valued["value"][:300]).rules_
    parts = in_pieces(valued, 700)
    for call, what in (
        (lambda verbose: rules.predict(parts, verbose=verbose), "Predictions"),
        (lambda verbose: rules.evaluate(parts, "value", verbose=verbose), "Evaluation"),
        (lambda verbose: rules.with_statistics(parts, "value", verbose=verbose), "Statistics"),
    ):
        call(0)
        assert capsys.readouterr().err == ""
        call(2)
        shown = capsys.readouterr().err
        assert f"{what} |" in shown
        assert "100%" in shown


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda rules, rows: RuleRegressor().fit(rows), ValueError, "pass a model as network, or the name"),
        (lambda rules, rows: RuleRegressor("value").fit(rows, [1]), ValueError, "y is for tables in memory"),
        (
            lambda rules, rows: RuleRegressor("vale").fit(rows),
            ValueError,
            "there is no column 'vale', which should",
        ),
        (lambda rules, rows: rules.evaluate(rows, [1.0]), TypeError, "target holds numbers, and these rows"),
        (lambda rules, rows: rules.with_statistics(rows, "job"), ValueError, "Column 'job' holds text"),
        (lambda rules, rows: rules.evaluate(rows), ValueError, "nothing to measure the rules against"),
    ],
)
def test_bad_input_is_named(valued, call, kind, message):
    few = valued[:300]
    rules = RuleRegressor(max_rules=2).fit(few.drop(columns="value"), few["value"]).rules_
    with pytest.raises(kind, match=message):
        call(rules, in_pieces(few, 20))


def test_numbers_that_are_missing_are_an_error(valued):
    broken = pd.concat([valued[:200], valued[:1].assign(value=np.nan)])
    rules = RuleRegressor(max_rules=2).fit(valued[["age"]][:300], valued["value"][:300]).rules_
    with pytest.raises(ValueError, match="Column 'value' has values that are missing or not finite"):
        rules.with_statistics(partitioned([broken]), "value")
