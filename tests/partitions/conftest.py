"""Rows with columns of all kinds, more than are learnt from in memory, and a model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


def table_of(n_rows, seed=0):
    """Return rows as a DataFrame."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows).astype(np.float64),
            "income": rng.gamma(2.0, 20.0, n_rows).round(1),
            "job": rng.choice(["cook", "nurse", "judge"], n_rows, p=[0.6, 0.395, 0.005]).astype(object),
            "smokes": rng.random(n_rows) < 0.3,
        }
    )
    since = rng.integers(1990, 2020, n_rows).astype(np.float64)
    since[rng.random(n_rows) < 0.2] = np.nan
    note = np.full(n_rows, None)
    note[rng.random(n_rows) < 0.005] = "moved"  # most small parts have none
    plans = rng.choice(["basic", "gold", "silver"], n_rows)
    plan = pd.Categorical(plans, categories=["silver", "basic", "gold"])
    return table.assign(since=since, note=note, plan=plan)


def encoders():
    """Return encoders of all columns but the note."""
    return make_column_transformer(
        (OneHotEncoder(), ["job", "plan"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income", "since"]),
        ("passthrough", ["smokes"]),
    )


def model_of(rows):
    """Return a network that reads all columns, with encoders before it."""
    high = (rows["age"] < 45) & (rows["job"] != "cook") | rows["smokes"] & (rows["income"] > 50)
    network = MLPClassifier((8,), solver="lbfgs", max_iter=300, random_state=0)
    return make_pipeline(encoders(), network).fit(rows, np.where(high, "yes", "no"))


@pytest.fixture(scope="session")
def rows():
    return table_of(20_000)


@pytest.fixture(scope="session")
def model(rows):
    return model_of(rows[:2_000])


@pytest.fixture(scope="session")
def number_model(rows):
    """A network that estimates numbers."""
    few = rows[:2_000]
    value = few["income"].clip(20, 70) / 20 + 2.0 * (few["age"] < 45) + (few["job"] == "nurse")
    network = MLPRegressor(hidden_layer_sizes=(8,), solver="lbfgs", tol=0.01, max_iter=2_000, random_state=0)
    return make_pipeline(encoders(), network).fit(few, value)
