"""The kernels of the search for small rule sets, as plain NumPy."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


def covered(bins, box):
    """The rows that satisfy every term of a box; bins is (columns, rows)."""
    holds = np.ones(bins.shape[1], dtype=bool)
    for column, accepted in box:
        inside = np.array([accepted[b // 64] >> (b % 64) & 1 for b in range(256)], dtype=bool)
        holds &= inside[bins[column]]
    return holds


def gain(rows, gradient, curvature, penalty):
    """How much the loss falls, to second order, with the best weight for a rule on these rows."""
    return gradient[rows].sum() ** 2 / (curvature[rows].sum() + penalty)


def reading_cost(box, n_bins, n_values):
    """One per bound, one per category named or (if fewer) excluded, at least one per term."""
    cost = 0
    for column, accepted in box:
        bins = [b for b in range(256) if accepted[b // 64] >> (b % 64) & 1]
        last = n_bins[column] - 1
        if n_bins[column] in bins:  # is missing
            cost += 1
        elif n_values[column] < 0:
            cost += max(int(bins[0] > 0) + int(bins[-1] < last), 1)
        else:
            cost += max(min(len(bins), n_values[column] - len(bins)), 1)
    return cost


def one_sided_terms(bins, n_bins):
    """All terms x ≤ b and x > b, as (column, set of bins)."""
    for column, n in enumerate(n_bins):
        for cut in range(n - 1):
            yield column, range(cut + 1)
            yield column, range(cut + 1, n)


def fitted(fires, target, row_weight, offset, penalty):
    """Weights and intercept of the penalised logistic fit; fires is (rules, rows)."""
    design = np.vstack([fires, np.ones(fires.shape[1])]).T.astype(float)

    def objective(weights):
        margin = offset + design @ weights
        loss = row_weight @ (np.logaddexp(0, margin) - target * margin)
        slope = design.T @ (row_weight * (expit(margin) - target))
        slope[:-1] += penalty * weights[:-1]
        return loss + penalty / 2 * (weights[:-1] ** 2).sum(), slope

    found = minimize(objective, np.zeros(design.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-7})
    return found.x, found.fun


def bits(fires):
    """Booleans (rules, rows) in the words that the core takes."""
    n_words = -(-fires.shape[1] // 64)
    padded = np.zeros((len(fires), n_words * 64), dtype=bool)
    padded[:, : fires.shape[1]] = fires
    return (
        np.packbits(padded, axis=1, bitorder="little")
        .view("<u8")
        .astype(np.uint64)
        .reshape(len(fires), n_words)
    )
