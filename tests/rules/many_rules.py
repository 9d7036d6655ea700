"""Rule sets of any size, made quickly."""

import numpy as np

from clausewise import Features, RuleSet

JOBS = tuple(f"job {i}" for i in range(40))


def many_rules(n_rules, seed=0, voting="confidence"):
    """Return `n_rules` rules of one to five terms over eight numbers, two flags and two categories."""
    rng = np.random.default_rng(seed)
    kinds = ("numeric",) * 8 + ("binary",) * 2 + ("categorical",) * 2
    features = Features(
        tuple(f"f{i}" for i in range(12)), kinds, tuple(JOBS if k == "categorical" else None for k in kinds)
    )
    lengths = rng.integers(1, 6, n_rules)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    n_terms = int(starts[-1])
    # Distinct features within a rule: consecutive ones from a random start.
    within = np.arange(n_terms) - np.repeat(starts[:-1], lengths)
    feature = (np.repeat(rng.integers(0, 12, n_rules), lengths) + within) % 12
    low = np.where(rng.random(n_terms) < 0.5, -np.inf, np.round(rng.normal(-1, 1, n_terms), 3))
    high = np.where(rng.random(n_terms) < 0.3, np.inf, np.round(rng.normal(1, 1, n_terms), 3))
    is_set, is_flag = feature >= 10, (feature == 8) | (feature == 9)
    low[is_flag], high[is_flag] = 0.0, np.inf
    low[is_set], high[is_set] = -np.inf, np.inf
    sets = [sorted(rng.choice(len(JOBS), 12, replace=False).tolist()) for _ in range(500)]
    cover = rng.integers(1, 1000, n_rules).astype(float)
    return RuleSet.from_arrays(
        features,
        ["a", "b", "c"],
        "a",
        starts=starts,
        feature=feature.astype(np.int32),
        low=low,
        high=high,
        value_set=np.where(is_set, rng.integers(0, len(sets), n_terms), -1).astype(np.int32),
        value_sets=sets,
        class_index=rng.integers(0, 3, n_rules).astype(np.int32),
        confidence=np.round(rng.random(n_rules), 3),
        cover=cover,
        correct=np.floor(cover * rng.random(n_rules)),
        weight=np.round(rng.normal(size=n_rules), 3),
        priority=rng.random(n_rules) < 0.001,
        voting=voting,
    )


def rows_for(n_rows, seed=1):
    """Raw rows for these rules."""
    rng = np.random.default_rng(seed)
    table = np.empty((n_rows, 12), dtype=object)
    table[:, :8] = rng.normal(size=(n_rows, 8))
    table[:, 8:10] = rng.integers(0, 2, (n_rows, 2)).astype(float)
    table[:, 10:] = rng.choice(JOBS, (n_rows, 2))
    return table
