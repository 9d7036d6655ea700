"""Rows that reveal any difference between two rule sets: at, and next to, every threshold."""

import itertools

import numpy as np


def probe_values(rules, feature):
    """Return encoded values of a feature that produce every possible outcome of its terms."""
    if rules.features.kinds[feature] == "categorical":
        n_categories = len(rules.features.categories[feature])
        return [*map(float, range(n_categories + 1)), np.nan]  # the last code is an unknown category
    if rules.features.kinds[feature] == "binary":
        return [0.0, 1.0, np.nan]
    of_feature = rules.columns.feature == feature
    cuts = np.unique(np.concatenate([rules.columns.low[of_feature], rules.columns.high[of_feature]]))
    cuts = cuts[np.isfinite(cuts)]
    beside = [np.nextafter(cuts, -np.inf), cuts, np.nextafter(cuts, np.inf)]
    return [*np.unique(np.concatenate(beside)).tolist(), -np.inf, np.inf, np.nan]


def probe_rows(rules, rng, most=4000):
    """Return all combinations of probe values, or a random selection of `most` of them."""
    values = [probe_values(rules, feature) for feature in range(len(rules.features))]
    if np.prod([float(len(column)) for column in values]) <= most:
        return np.array(list(itertools.product(*values)))
    return np.column_stack([rng.choice(column, most) for column in values])


def decisions(rules, matrix):
    return rules.evaluator.decide(matrix, rules.voting, rules.default_index, n_jobs=1)
