"""Generated rows to look at."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import clausewise


def table(n_rows=200, seed=0):
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": draw.normal(size=n_rows),
            "age": draw.integers(18, 90, n_rows),
            "job": pd.Categorical(draw.choice(["baker", "cook"], n_rows)),
        }
    )


def test_generated_rows_are_a_table_of_the_same_kind():
    X = table()
    found = clausewise.synthetic_rows(X, per_row=1.5)
    assert len(found) == len(found.rows) == 300
    assert found.rows.dtypes.equals(X.dtypes)
    assert found.rows["job"].isin(["baker", "cook"]).all()
    in_polars = clausewise.synthetic_rows(pl.from_pandas(X.drop(columns="job")), per_row=1)
    assert isinstance(in_polars.rows, pl.DataFrame)
    array = clausewise.synthetic_rows(X[["size", "age"]].to_numpy(), per_row=1)
    assert array.rows.shape == (200, 2)


def test_most_are_near_real_rows():
    found = clausewise.synthetic_rows(table())
    of_real, of_generated = found.distances
    assert len(of_real) == 200
    assert len(of_generated) == 800
    assert 0.9 < found.near_share <= 1
    assert str(found).startswith("800 rows generated near 200 real ones; ")
    assert f"{100 * found.near_share:.1f} %" in str(found)


def test_distances_are_those_of_a_plain_search():
    X = np.random.default_rng(0).normal(size=(40, 2))
    found = clausewise.synthetic_rows(X, per_row=1)
    both = np.vstack([X, found.rows])
    points = (both - both.mean(axis=0)) / both.std(axis=0)
    between = np.linalg.norm(points[:, None] - points[None, :40], axis=2)
    np.fill_diagonal(between[:40], np.inf)
    np.testing.assert_allclose(np.concatenate(found.distances), between.min(axis=1), atol=1e-5)


def test_large_tables_are_measured_on_a_sample():
    found = clausewise.synthetic_rows(np.random.default_rng(0).normal(size=(5000, 2)), per_row=1)
    assert all(1_000 < len(distances) <= 2_000 for distances in found.distances)


@pytest.mark.parametrize(
    ("options", "message"), [({"per_row": 0}, "per_row"), ({"per_row": "many"}, "per_row")]
)
def test_the_number_of_rows_is_checked(options, message):
    with pytest.raises(ValueError, match=message):
        clausewise.synthetic_rows(table(), **options)


def test_two_rows_are_too_few():
    with pytest.raises(ValueError, match="X has 2 rows; pass at least 3"):
        clausewise.synthetic_rows(table(2))
