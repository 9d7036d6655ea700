"""Rules for numbers with data to make reports of."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from clausewise import Features, Frontier, LinearTerm, Origin, RegressionRule, RegressionRules, Term

PLACES = ("bay", "valley", "__proto__")


def features():
    """All kinds of features; two names are those of every JavaScript object."""
    return Features(
        ("income", "constructor", "place", "old"),
        ("numeric", "numeric", "categorical", "binary"),
        (None, None, PLACES, None),
    )


def rules(**options):
    """Five rules of two layers, the search and nowhere, with short decimals; a linear term, and a start."""
    first, second = Origin("hidden 1", "hidden 1[0] > 0.5"), Origin("hidden 1", "hidden 1[3] ≤ 0.25")
    deep, search = Origin("hidden 2", "hidden 2[1] > 1"), Origin("residual")
    listed = [
        RegressionRule((Term(0, low=5.1), Term(3, low=0)), 0.74, 120, 3.25, (2.5, 4.0), first),
        RegressionRule((Term(2, values=["valley"]),), -0.58, 130, 1.5, (0.5, 2.5), second),
        RegressionRule((Term(1, high=12),), 0.15, origin=search),
        RegressionRule((Term(1, missing=True),), 0.33),
        RegressionRule(
            (Term(0, low=2, high=5.1), Term(2, values=["bay", "__proto__"])), 0.3, 90, 2.0, (1.0, 3.0), deep
        ),
    ]
    linear = [LinearTerm(0, "income", 0.21, fill=3.5, low=0.5, high=15)]
    settings = {"base": 1.62, "linear": linear, "response": "price"} | options
    return RegressionRules.from_rules(listed, features(), **settings)


def table(n_rows=300, seed=0):
    """Raw rows; some values are missing, and one place is unknown to the rules."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.gamma(3, 1.6, n_rows).round(2),
            "constructor": rng.integers(1, 60, n_rows).astype(float),
            "place": rng.choice([*PLACES, "moon"], n_rows, p=[0.4, 0.4, 0.17, 0.03]),
            "old": rng.random(n_rows) < 0.4,
        }
    )
    frame.loc[rng.random(n_rows) < 0.06, "constructor"] = np.nan
    frame.loc[rng.random(n_rows) < 0.04, "income"] = np.nan
    return frame


def numbers(n_rows=300, seed=0):
    """True numbers and a network's, both close to the rules' predictions."""
    rng = np.random.default_rng(seed + 1)
    network = rules().predict(table(n_rows, seed)) + rng.normal(0, 0.15, n_rows)
    return network + rng.normal(0, 0.2, n_rows), network


def curve():
    """What rules of growing size explain; a first size explains less than nothing."""
    by_split = np.array([[-0.1, 0.5, 0.8, 0.9], [-0.05, 0.55, 0.82, 0.91]])
    return Frontier(np.array([1, 2, 4, 8]), by_split, measure="R²")


def random_rules(rng, link="identity"):
    """Return rules with terms of all kinds, and with decimals that add exactly or that are too long to."""
    n_digits = int(rng.integers(1, 18))

    def amount():
        return float(f"{rng.normal() * 10.0 ** rng.integers(-3, 3):.{n_digits}g}")

    def term(place):
        if rng.random() < 0.15:
            return Term(place, missing=True)
        if place == 2:
            return Term(place, values=list(rng.choice(PLACES, rng.integers(1, 3), replace=False)))
        if place == 3:
            return Term(place, low=0) if rng.random() < 0.5 else Term(place, high=0)
        low, high = np.sort(rng.uniform(0, 60 if place == 1 else 12, 2).round(1)).tolist()
        return [Term(place, low=low, high=high + 1), Term(place, low=low), Term(place, high=high)][
            rng.integers(3)
        ]

    listed = []
    for _ in range(int(rng.integers(0, 12))):
        places = rng.choice(4, rng.integers(0, 4), replace=False)
        listed.append(RegressionRule(tuple(term(int(place)) for place in places), amount()))
    linear = [
        LinearTerm(
            0, "income", amount() or 1.0, fill=2.5, low=-1.25 if rng.random() < 0.5 else -np.inf, high=9.5
        ),
        LinearTerm(3, "old", amount() or 1.0),
    ][: int(rng.integers(0, 3))]
    return RegressionRules.from_rules(listed, features(), base=amount(), linear=linear, link=link)


def model():
    """A model of the network's numbers, which reads columns by name, missing ones included."""
    encoder = make_column_transformer(
        (SimpleImputer(), ["constructor", "income"]),
        (OneHotEncoder(handle_unknown="ignore"), ["place"]),
        remainder="passthrough",
    )
    return make_pipeline(encoder, LinearRegression()).fit(table(), numbers()[1])
