"""Rule sets with data to make reports of."""

import numpy as np
import pandas as pd

from clausewise import Features, Origin, Rule, RuleSet, Term

JOBS = ("cook", "nurse", "pilot")
CLASSES = ("no", "yes", "perhaps")


def features():
    return Features(
        ("age", "income", "job", "smokes"),
        ("numeric", "numeric", "categorical", "binary"),
        (None, None, JOBS, None),
    )


def rules(**options):
    """Seven rules of two layers, one of them without an origin."""
    first, second = Origin("hidden 1", "hidden 1[0] > 0.5"), Origin("hidden 1", "hidden 1[3] ≤ 0.25")
    deep = Origin("hidden 2", "hidden 2[1] > 1")
    listed = [
        Rule((Term(0, high=30), Term(2, values=["nurse"])), "yes", 0.9, 40, 36, origin=first),
        Rule((Term(0, low=30, high=60),), "no", 0.75, 300, 225, origin=first),
        Rule((Term(1, low=2_000), Term(3, low=0)), "perhaps", 0.6, 90, 54, origin=second),
        Rule((Term(0, low=60),), "perhaps", 0.8, 120, 96, origin=deep),
        Rule((Term(1, high=1_000.5), Term(3, high=0)), "yes", 0.55, 80, 44, origin=deep),
        Rule((Term(0, high=30), Term(2, values=["cook", "pilot"])), "no", 0.65, 150, 97, origin=deep),
        Rule((Term(0, low=70), Term(1, low=1_500), Term(2, values=["pilot"])), "yes", 0.5, 12, 6),
    ]
    return RuleSet.from_rules(listed, features(), default="no", classes=list(CLASSES), **options)


def table(n_rows=400, seed=0):
    """Raw rows; a few values are missing, and one job is unknown to the rules."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n_rows).astype(float),
            "income": rng.gamma(2.0, 900.0, n_rows).round(2),
            "job": rng.choice([*JOBS, "diver"], n_rows, p=[0.35, 0.3, 0.3, 0.05]),
            "smokes": rng.random(n_rows) < 0.4,
        }
    )
    frame.loc[rng.random(n_rows) < 0.05, "age"] = np.nan
    return frame


def labels(n_rows=400, seed=0):
    """True classes and a network's labels, both close to the rules' decisions."""
    rng = np.random.default_rng(seed + 1)
    decided = rules().predict(table(n_rows, seed))
    network = np.where(rng.random(n_rows) < 0.85, decided, rng.choice(CLASSES, n_rows))
    truth = np.where(rng.random(n_rows) < 0.85, network, rng.choice(CLASSES, n_rows))
    return truth, network
