"""How often two judges differ, such as rules and network, per bin of each feature."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import Features
from clausewise.data.table import Matrix
from clausewise.rules.decimals import shortest_decimal

N_BINS: Final = 10


@dataclass(frozen=True, eq=False)
class FeatureDifferences:
    """How many rows there are, and on how many the rules differ, per bin of one feature.

    Attributes
    ----------
    feature : int
        Its position.
    cuts : tuple of float, optional
        Upper ends of all bins but the last; None for categories and binary features, whose bins are their
        codes.
    n_rows, n_differ : tuple of int
        Per bin; the last one holds the rows with a missing value.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import Features
    >>> from clausewise.analysis import differences_by_feature
    >>> debt = np.repeat([1, 2, 4, 8], 50)[:, None]
    >>> rules_differ = debt[:, 0] > 4  # from the model, on these rows
    >>> found = differences_by_feature(debt, rules_differ, Features(("debt",)), most=1)[0]
    >>> found.cuts, found.n_rows, found.n_differ
    ((1.0, 2.0, 4.0), (50, 50, 50, 50, 0), (0, 0, 0, 50, 0))
    """

    feature: int
    cuts: tuple[float, ...] | None
    n_rows: tuple[int, ...]
    n_differ: tuple[int, ...]

    @property
    def deviation(self) -> float:
        """How far the rates of the bins are from the common rate, beyond what chance explains."""
        n_rows, n_differ = np.array(self.n_rows, float), np.array(self.n_differ, float)
        total = n_rows.sum()
        rate = n_differ.sum() / total if total > 0 else 0.0
        used = n_rows > 0
        spread = (n_rows[used] * (n_differ[used] / n_rows[used] - rate) ** 2).sum()
        by_chance = (used.sum() - 1) * rate * (1 - rate)
        return float(np.sqrt(max(spread - by_chance, 0.0) / max(total, 1.0)))


def differences_by_feature(
    matrix: Matrix, differs: NDArray[np.bool_], features: Features, most: int
) -> list[FeatureDifferences]:
    """Count rows and differences per bin of each feature; return those that deviate most, at most `most`.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import Features
    >>> from clausewise.analysis import differences_by_feature
    >>> X = np.random.default_rng(0).uniform(20, 80, (600, 2))
    >>> rules_differ = X[:, 1] > 70  # from the model, on these rows
    >>> found = differences_by_feature(X, rules_differ, Features(("age", "debt")), most=2)
    >>> [each.feature for each in found]
    [1, 0]
    """
    counted = [_counted(matrix[:, place], differs, features, place) for place in range(len(features))]
    counted.sort(key=lambda one: (-one.deviation, one.feature))
    return counted[:most]


def _counted(
    column: NDArray[Any], differs: NDArray[np.bool_], features: Features, place: int
) -> FeatureDifferences:
    known = ~np.isnan(column)
    cuts = _cuts(column[known]) if features.kinds[place] == "numeric" else None
    if cuts is None:
        listed = features.categories[place]
        n_bins = 2 if listed is None else len(listed) + 1
        bins = np.where(known, column, 0).astype(np.int64)
    else:
        n_bins = len(cuts) + 1
        bins = np.searchsorted(np.array(cuts), column, side="left")
    bins = np.where(known, bins, n_bins)
    n_rows = np.bincount(bins, minlength=n_bins + 1)
    n_differ = np.bincount(bins[differs], minlength=n_bins + 1)
    return FeatureDifferences(place, cuts, tuple(n_rows.tolist()), tuple(n_differ.tolist()))


def _cuts(known: NDArray[Any]) -> tuple[float, ...]:
    """Return short decimals that cut a column into bins of about equally many rows.

    Few values get a bin each.
    """
    finite = known[np.isfinite(known)].astype(np.float64)
    distinct = np.unique(finite)
    last_of_bins = distinct[:-1]
    if len(distinct) > N_BINS:
        levels = np.arange(1, N_BINS) / N_BINS
        last_of_bins = np.unique(np.quantile(finite, levels, method="lower"))
        last_of_bins = last_of_bins[last_of_bins < distinct[-1]]
    following = distinct[np.searchsorted(distinct, last_of_bins, side="right")]
    # Any cut between a value and the next one gives the same bins.
    pairs = zip(last_of_bins.tolist(), following.tolist(), strict=True)
    return tuple(shortest_decimal(value, after, prefer=value) for value, after in pairs)
