"""Columns that a function or a transformer computes from raw rows of any form."""

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from clausewise.base.parameters import Constraint
from clausewise.data.table import unmasked


def _is_maker(value: Any) -> bool:
    return hasattr(value, "transform") or (callable(value) and not isinstance(value, type))


COLUMN_MAKER = Constraint(
    "a fitted transformer (an object with `transform`) or a function from rows to a DataFrame or an array",
    _is_maker,
)


@dataclass(frozen=True, eq=False)
class ComputedColumns:
    """The columns that a function or a transformer computes from raw rows: series, images, text.

    Attributes
    ----------
    maker : transformer or callable
        From rows to a DataFrame or an array with one row each; allowed by `COLUMN_MAKER`.
    names : tuple of str, optional
        Names of the columns of an array; by default those that the transformer gives.
    """

    maker: Any
    names: tuple[str, ...] | None = None

    @property
    def title(self) -> str:
        """What computes the columns, in few words: `IntervalFeatures`, `patches`."""
        name = getattr(self.maker, "__name__", type(self.maker).__name__)
        return "a function" if name == "<lambda>" else name

    def table(self, X: Any) -> Any:
        """Return the columns of each row, as a DataFrame or a matrix; masked cells are missing in both."""
        X = unmasked(X)
        table = self.maker.transform(X) if hasattr(self.maker, "transform") else self.maker(X)
        if sparse.issparse(table):
            table = table.toarray()
        elif not isinstance(nw.from_native(table, eager_only=True, pass_through=True), nw.DataFrame):
            table = np.asarray(unmasked(table))
        if len(table.shape) != 2:
            raise ValueError(
                f"features= ({self.title}) returned a {type(table).__name__} of shape {table.shape}; return "
                "a DataFrame or an array of shape (n_rows, n_columns)."
            )
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if table.shape[0] != n_rows:
            raise ValueError(
                f"features= ({self.title}) returned {table.shape[0]:,} rows for {n_rows:,} rows of X; return "
                "one row for each."
            )
        return table

    def names_of(self, table: Any) -> tuple[str, ...] | None:
        """Return names for the columns of a matrix; None if there are none, and for a DataFrame."""
        if not isinstance(table, np.ndarray):
            return None
        if self.names is None and hasattr(self.maker, "get_feature_names_out"):
            return tuple(map(str, self.maker.get_feature_names_out()))
        return self.names
