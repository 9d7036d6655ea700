"""Rules for numbers over all kinds of features, and rows with missing values to try them on."""

import numpy as np
import pandas as pd

from clausewise import Features, LinearTerm, RegressionRule, RegressionRules, Term

JOBS = ("cook", "nurse", "pilot", "teacher")
FEATURES = Features(
    ("income", "age", "owner", "job"),
    ("numeric", "numeric", "binary", "categorical"),
    (None, None, None, JOBS),
)
RULES = RegressionRules.from_rules(
    [
        RegressionRule((Term(0, "income", low=5.1),), 1.4),
        RegressionRule((Term(1, "age", low=20, high=60), Term(2, "owner", low=0)), -0.65),
        RegressionRule((Term(3, "job", values=("nurse", "pilot")),), 0.07),
        RegressionRule((Term(0, "income", missing=True),), -1.25),
        RegressionRule((Term(1, "age", high=30), Term(3, "job", values=("cook",))), 12.5),
        RegressionRule((Term(3, "job", missing=True), Term(2, "owner")), 0.003),
    ],
    FEATURES,
    base=2.07,
    linear=[LinearTerm(0, "income", 0.43, fill=3.9, low=0.5, high=15), LinearTerm(2, "owner", -0.1)],
    response="price",
)


def random_rows(n_rows, seed=0):
    """Return a table with missing values in every column, and values on the thresholds."""
    rng = np.random.default_rng(seed)
    income = np.where(rng.random(n_rows) < 0.2, 5.1, rng.normal(5, 6, n_rows).round(2))
    age = rng.choice([20.0, 30.0, 60.0, 44.5, 71.0], n_rows)
    owner = rng.integers(0, 2, n_rows).astype(float)
    for column in (income, age, owner):
        column[rng.random(n_rows) < 0.1] = np.nan
    job = rng.choice(np.array([*JOBS, None], dtype=object), n_rows)
    return pd.DataFrame({"income": income, "age": age, "owner": owner, "job": job})


TABLE = random_rows(60)
