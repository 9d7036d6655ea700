"""The part of many rows that is searched first."""

from dataclasses import replace

import numpy as np

from clausewise.compact.examples import Examples
from clausewise.compact.settings import MIN_OF_CLASS, N_SEARCHED_FIRST


def first_rows(examples: Examples) -> Examples:
    """Draw rows to search first, with weights such that each class counts as it does among all rows.

    A rare class keeps up to `MIN_OF_CLASS` rows, and every class at least one.
    """
    n_rows = len(examples.codes)
    n_of_class = np.bincount(examples.codes, minlength=examples.n_classes)
    n_drawn = np.maximum(
        np.ceil(n_of_class * (N_SEARCHED_FIRST / n_rows)), np.minimum(n_of_class, MIN_OF_CLASS)
    ).astype(np.intp)
    order = np.random.RandomState(0).permutation(n_rows)
    # Sorted by class, in the order drawn; the first of each class are taken.
    order = order[np.argsort(examples.codes[order], kind="stable")]
    place_in_class = np.arange(n_rows) - np.repeat(np.cumsum(n_of_class) - n_of_class, n_of_class)
    drawn = np.sort(order[place_in_class < n_drawn[examples.codes[order]]])
    part = examples.take(drawn)
    factor = (n_of_class / np.maximum(n_drawn, 1))[part.codes]
    return replace(part, weights=factor if part.weights is None else factor * part.weights)
