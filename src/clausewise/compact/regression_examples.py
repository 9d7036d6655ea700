"""The training examples of rules that add numbers: rows, and the number that rules should predict on each."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clausewise.compact.losses import LossName
from clausewise.compact.row_generator import RowGenerator
from clausewise.data.table import Matrix

Floats = NDArray[np.float64]

# Rows are drawn from so many ranges of the target, so that splits have about the same distribution.
_N_RANGES = 10


@dataclass(frozen=True, eq=False)
class RegressionExamples:
    """Rows, and the number that rules should predict on each.

    Attributes
    ----------
    table : ndarray of shape (n_rows, n_features)
        The encoded rows.
    target : ndarray of float
        The number of each row.
    weights : ndarray of float, optional
        The weight of each row.
    generator : RowGenerator, optional
        Makes further rows near these, with the numbers of the model that the rules imitate.
    """

    table: Matrix
    target: Floats
    weights: Floats | None = None
    generator: RowGenerator | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.target)

    def take(self, rows: NDArray[np.intp]) -> "RegressionExamples":
        """Return some of the rows."""
        return replace(
            self,
            table=self.table[rows],
            target=self.target[rows],
            weights=None if self.weights is None else self.weights[rows],
            generator=None if self.generator is None else self.generator.take(rows),
        )

    def with_generated(self, n_wanted: int, n_threads: int = 1) -> "RegressionExamples":
        """Return these rows followed by generated ones, with the weights of those they were made from."""
        if self.generator is None or n_wanted == 0:
            return self
        found = self.generator.answered(n_wanted, n_threads)
        weights = None
        if self.weights is not None:
            weights = np.concatenate([self.weights, self.weights[found.sources]])
        table: Floats = np.vstack([self.table, found.table])
        return RegressionExamples(table, np.concatenate([self.target, found.answers]), weights)

    def for_loss(self, loss: LossName) -> "RegressionExamples":
        """Return the examples; raise a ValueError if the loss is not defined for their targets.

        With the Poisson loss, a model's answers to generated rows count as 0 where they are below.
        """
        if loss != "poisson":
            return self
        if self.target.min() < 0 or self.target.max() <= 0:
            raise ValueError(
                "loss='poisson' is for counts and other numbers that are not negative, but the smallest is "
                f"{self.target.min():g} and the largest {self.target.max():g}; use another loss."
            )
        generator = self.generator
        if generator is None:
            return self
        answer = generator.answer

        def answer_from_zero(changed: Floats, rows: NDArray[np.intp]) -> tuple[Matrix, Floats]:
            table, numbers = answer(changed, rows)
            return table, np.maximum(numbers, 0.0)

        return replace(self, generator=replace(generator, answer=answer_from_zero))

    @property
    def row_weights(self) -> Floats:
        """The weight of each row, 1 on average."""
        if self.weights is None:
            return np.ones(self.n_rows)
        weights = self.weights / self.weights.max()  # first, since a sum might overflow
        return np.asarray(weights / weights.mean())

    @property
    def ranges(self) -> NDArray[np.int32]:
        """The range of the target that each row lies in, for splits with about the same distribution."""
        return range_codes(self.target, _N_RANGES)


def range_codes(target: Floats, n_ranges: int) -> NDArray[np.int32]:
    """Return the range of each number, 0, 1, …; the ranges hold about the same number of rows."""
    cuts = np.unique(np.quantile(target, np.arange(1, n_ranges) / n_ranges))
    codes = np.searchsorted(cuts, target)
    return np.unique(codes, return_inverse=True)[1].astype(np.int32)
