"""Generated rows to look at, and how near they are to real ones."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from clausewise import _core
from clausewise.analysis.counterfactual_tables import ChangeableTable
from clausewise.base import threads
from clausewise.base.parameters import JOBS, RANDOM_STATE, check_parameters, number
from clausewise.compact.nearby_rows import Floats, Rows, nearby_rows
from clausewise.compact.settings import seed_of
from clausewise.data.features import Features
from clausewise.data.points import positions
from clausewise.data.rows import as_rows
from clausewise.data.table import Matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clausewise.plots import NearnessDisplay

# Distances are measured for at most so many real, and so many generated rows.
_MAX_MEASURED: Final = 2_000
# A row is near if it is no farther from a real one than this fraction of real rows is from another.
_NEAR: Final = 0.95


@dataclass(frozen=True, eq=False)
class SyntheticRows:
    """Rows generated near real ones; made by `synthetic_rows`.

    Attributes
    ----------
    rows : array or DataFrame of shape (n_generated, n_columns)
        The generated rows, as the same kind of table as the real ones.
    sources : ndarray of shape (n_generated,)
        The position of the real row that each was made from.

    Examples
    --------
    >>> import pandas as pd
    >>> from clausewise import synthetic_rows
    >>> people = pd.DataFrame({"age": range(20, 70), "smokes": [True, False] * 25})
    >>> generated = synthetic_rows(people, per_row=2)
    >>> len(generated), list(generated.rows.columns)
    (100, ['age', 'smokes'])
    >>> generated.sources[:4].tolist()  # the rows of `people` that they were made from
    [0, 0, 1, 1]
    """

    rows: Any
    sources: Rows
    _real: Matrix
    _generated: Matrix
    _features: Features

    @cached_property
    def distances(self) -> tuple[Floats, Floats]:
        """Distances to the nearest other real row: of real rows, and of generated ones.

        Numbers are standardised, and a different category counts as √2 standard deviations. At most 2,000
        rows of each kind are measured, against all real rows.
        """
        n_real = len(self._real)
        both: Floats = np.vstack([self._real, self._generated])
        points = positions(both, self._features)
        candidates = np.arange(n_real, dtype=np.int32)

        def measured(first: int, n_rows: int) -> Floats:
            step = -(-n_rows // _MAX_MEASURED)
            asked = np.arange(first, first + n_rows, max(step, 1), dtype=np.int32)
            nearest = _core.nearest_rows(points, asked, candidates, 1, threads.resolve(None))
            return np.asarray(np.linalg.norm(points[asked] - points[nearest], axis=1), dtype=np.float64)

        return measured(0, n_real), measured(n_real, len(self._generated))

    @property
    def near_share(self) -> float:
        """The fraction of generated rows that are as near to a real row as 95 % of real rows are."""
        of_real, of_generated = self.distances
        return float(np.mean(of_generated <= np.quantile(of_real, _NEAR)))

    def plot(self, ax: "Axes | None" = None) -> "NearnessDisplay":
        """Draw how far generated and real rows are from the nearest real row; see `NearnessDisplay`."""
        from clausewise.plots import NearnessDisplay

        return NearnessDisplay.from_rows(self, ax=ax)

    def __len__(self) -> int:
        return len(self.sources)

    def __repr__(self) -> str:
        return f"<SyntheticRows: {len(self):,} rows generated near {len(self._real):,}>"

    def __str__(self) -> str:
        share = f"{100 * self.near_share:.1f} % of them"
        return (
            f"{len(self):,} rows generated near {len(self._real):,} real ones; {share} are as near to a real "
            f"row as {100 * _NEAR:.0f} % of the real rows are to another"
        )


def synthetic_rows(
    X: Any,
    per_row: float = 4.0,
    *,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> SyntheticRows:
    """Generate rows near real ones, as the searches for short rule sets do, to look at them.

    Parameters
    ----------
    X : array or DataFrame of shape (n_rows, n_columns)
        Real rows, at least three.
    per_row : float, default 4
        How many rows to generate for each.
    random_state : int, RandomState or None
        Draws the rows. None stands for 0.
    n_jobs : int, optional
        Number of threads; all usable cores unless given. The result does not depend on it.

    Returns
    -------
    SyntheticRows
        With `rows`, `sources`, `near_share` and `plot()`.

    Examples
    --------
    >>> import clausewise
    >>> from sklearn.datasets import load_iris
    >>> found = clausewise.synthetic_rows(load_iris(as_frame=True).data, per_row=2)
    >>> len(found), found.rows.shape, found.near_share > 0.9
    (300, (300, 4), True)
    """
    check_parameters(
        {"per_row": number(above=0), "random_state": RANDOM_STATE, "n_jobs": JOBS},
        {"per_row": per_row, "random_state": random_state, "n_jobs": n_jobs},
    )
    rows = as_rows(X)
    features = Features.learn(rows)
    table = features.encode(rows)
    if len(table) < 3:
        raise ValueError(f"X has {len(table)} rows; pass at least 3, between which others can be generated.")
    n_wanted = max(1, round(per_row * len(table)))
    found = nearby_rows(table, features, n_wanted, seed_of(random_state), threads.resolve(n_jobs))
    raw = ChangeableTable(rows, features, np.asarray(table, dtype=np.float64))
    return SyntheticRows(raw.changed(found.table, found.sources), found.sources, table, found.table, features)
