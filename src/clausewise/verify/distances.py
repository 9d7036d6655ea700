"""How far rows are from real ones, in standard deviations, and how usual such a distance is."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from clausewise.networks.plain import Floats
from clausewise.verify.domain import Domain

# Real rows, and their cells, that others are compared with; and rows whose distances are taken as usual.
_MAX_ROWS: Final = 20_000
_MAX_CELLS: Final = 2**22
_MIN_ROWS: Final = 500
_N_USUAL: Final = 2_000


@dataclass(frozen=True, eq=False)
class RealRows:
    """Real rows as points: numbers in standard deviations, and one indicator per option of a choice.

    Attributes
    ----------
    domain : Domain
        What the rows are.
    units : ndarray of shape (n_numbers,)
        The standard deviation of each number; 1 for a constant.
    chosen : ndarray of int
        The rows that others are compared with: all, or a sample of many.
    search : NearestNeighbors
        Finds the nearest of these.
    usual : ndarray
        The distances of real rows to the nearest other real row, ascending.
    """

    domain: Domain
    units: Floats
    chosen: NDArray[np.intp]
    search: NearestNeighbors
    usual: Floats

    @classmethod
    def of(cls, domain: Domain, matrix: Floats, random: np.random.RandomState) -> "RealRows":
        """Return the points of encoded rows; of many rows, those of a sample."""
        spread = matrix[:, domain.numbers].std(axis=0)
        units = np.where(spread > 0, spread, 1.0)
        n_rows = min(_MAX_ROWS, max(_MAX_CELLS // matrix.shape[1], _MIN_ROWS))
        chosen = np.sort(random.permutation(len(matrix))[:n_rows])
        points = _points(domain, units, matrix[chosen])
        search = NearestNeighbors(n_neighbors=1).fit(points)
        usual = np.zeros(1)
        if len(points) > 1:
            some = points[random.permutation(len(points))[:_N_USUAL]]
            usual = np.sort(search.kneighbors(some, n_neighbors=2)[0][:, 1])
        return cls(domain, units, chosen, search, usual)

    def points(self, matrix: Floats) -> Floats:
        """Return encoded rows as points."""
        return _points(self.domain, self.units, matrix)

    def nearest(self, matrix: Floats) -> tuple[Floats, NDArray[np.intp]]:
        """Return the distance of each row to the nearest real one, and the position of that one."""
        if len(matrix) == 0:
            return np.empty(0), np.empty(0, dtype=np.intp)
        distances, places = self.search.kneighbors(self.points(matrix))
        return distances[:, 0], self.chosen[places[:, 0]]

    def shares(self, distances: Floats) -> Floats:
        """Return the fraction of real rows that are nearer than this to their nearest other real row."""
        return np.searchsorted(self.usual, distances, side="left") / len(self.usual)


def _points(domain: Domain, units: Floats, matrix: Floats) -> Floats:
    parts = [matrix[:, domain.numbers] / units]
    for choice in domain.choices:
        option = domain.option_of(choice, matrix)
        parts.append((option[:, None] == np.arange(choice.n_options)).astype(np.float64))
    return np.hstack(parts)
