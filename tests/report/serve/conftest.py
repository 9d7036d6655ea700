"""A table, a network that reads it, rules, and a page that serves all of them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from clausewise import Features, Rule, RuleSet, Term, wrap
from clausewise.report import Explorer
from tests.report.serve.client import AGE, JOB, VISITS


@pytest.fixture(scope="session")
def people():
    """A table with all kinds of columns, its labels, and a network that reads columns by name."""
    rng = np.random.default_rng(0)
    n_rows = 300
    X = pd.DataFrame(
        {
            "age": rng.normal(45, 12, n_rows).round(1),
            "job": rng.choice(["cook", "nurse", "pilot"], n_rows),
            "smokes": rng.random(n_rows) < 0.4,
            "visits": rng.integers(0, 9, n_rows),
        }
    )
    y = np.where((X["age"] > 47) ^ (X["job"] == "nurse"), "yes", "no")
    columns = ColumnTransformer(
        [("scaled", StandardScaler(), ["visits", "age"]), ("job", OneHotEncoder(), ["job"])],
        remainder="passthrough",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that training has not converged
        model = make_pipeline(columns, MLPClassifier((5,), max_iter=60, random_state=0)).fit(X, y)
    return X, y, wrap(model)


@pytest.fixture(scope="session")
def rules(people):
    features = Features.learn(people[0])
    listed = [
        Rule((Term(AGE, low=47), Term(JOB, values=("cook", "pilot"))), "yes", confidence=0.9),
        Rule((Term(AGE, high=47),), "no", confidence=0.8),
        Rule((Term(JOB, values=("nurse",)), Term(VISITS, high=4)), "yes", confidence=0.7),
    ]
    return RuleSet.from_rules(listed, features, default="no", classes=["no", "yes"])


@pytest.fixture(scope="module")
def explorer(rules, people):
    with Explorer(rules, *people, max_rows=50, title="People") as started:
        yield started


@pytest.fixture(scope="session")
def numbers():
    """Rules over one number, for tests that do not depend on the data."""
    rule = Rule((Term(0, low=0),), "b", confidence=0.9)
    return RuleSet.from_rules([rule], ["x"], default="a", classes=["a", "b"])
