"""All changes of one or two features of a row that the rules confirm, tried one by one."""

import itertools

import numpy as np


def all_changes(rules, row, moves, units, wanted, max_features, within_bins, bins_of):
    """Return (cost, ((feature, value), …)) of every confirmed change, in the order in which they are tried.

    `moves` has the values and directions of each feature, `bins_of` the function that maps values to bins.
    """
    single = {
        feature: [
            (feature, value, cost_of(rules, feature, row[feature], value, units))
            for value, direction in zip(one.values.tolist(), one.direction.tolist(), strict=True)
            if np.isfinite(row[feature])
            and (value != row[feature] if direction == 0 else direction * (value - row[feature]) > 0)
            and (within_bins or bins_of[feature](value) != bins_of[feature](row[feature]))
        ]
        for feature, one in moves.items()
    }
    tried = [(one,) for feature in single for one in single[feature]]
    if max_features > 1:
        for first, second in itertools.combinations(single, 2):
            pairs = itertools.product(single[first], single[second])
            in_bins = [(bins_of[first](a[1]), bins_of[second](b[1]), a, b) for a, b in pairs]
            tried += [(a, b) for _, _, a, b in sorted(in_bins, key=lambda pair: pair[:2])]
    changed = np.tile(row, (len(tried) + 1, 1))
    for place, change in enumerate(tried):
        for feature, value, _ in change:
            changed[place, feature] = value
    decided = rules.evaluator.decide(changed, rules.voting, rules.default_index, 1)
    is_wanted = decided[:-1] != decided[-1] if wanted is None else decided[:-1] == wanted
    return [
        (sum(cost for _, _, cost in change), tuple((feature, value) for feature, value, _ in change))
        for change, holds in zip(tried, is_wanted, strict=True)
        if holds
    ]


def cost_of(rules, feature, before, after, units):
    is_categorical = rules.features.kinds[feature] == "categorical"
    return 1.0 if is_categorical else abs(after - before) / units[feature]


def cheapest(changes, n_changes):
    """Return the cheapest changes; of equally cheap ones those of one feature, then of lower ones, first."""

    def key(change):
        cost, cells = change
        features, values = zip(*cells, strict=True)
        return cost, len(cells), features, values

    return sorted(changes, key=key)[:n_changes]


def spread(changes, n_changes):
    """Return every k-th change, for the smallest power of two k that leaves at most `n_changes`."""
    step = 1
    while len(changes[::step]) > n_changes:
        step *= 2
    return cheapest(changes[::step], n_changes)
