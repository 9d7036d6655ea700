"""Rows near real ones, labelled by the model that the rules imitate."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.analysis.counterfactual_agreement import NetworkLabels
from clausewise.analysis.counterfactual_tables import ChangeableTable
from clausewise.compact.nearby_rows import Floats, Rows, nearby_rows
from clausewise.data.features import Features
from clausewise.data.table import Matrix
from clausewise.networks import Network
from clausewise.networks.answers import model_rows
from clausewise.rules.ruleset import RuleSet

Codes = NDArray[np.int32]

# Larger rows, such as photographs, are not changed.
_MAX_NUMBERS: Final = 5_000


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Generated rows, encoded, the class that the model gives to each, and the row that each was made from.

    Codes beyond the classes of the rules are labels that the rules do not know.
    """

    table: Matrix
    codes: Codes
    sources: Rows


@dataclass(frozen=True, eq=False)
class RowGenerator:
    """Makes rows near given ones, and asks a model for their classes.

    Attributes
    ----------
    table : ndarray of shape (n_rows, n_columns)
        The columns that are changed, of all given rows.
    features : Features
        What these columns are.
    label : callable
        Given changed columns and the positions of the rows that they were made from, returns the rows as the
        columns that rules test, and the class of each.
    rows : ndarray of int
        The positions of the examples among the given rows.
    is_function : bool
        Whether the model is a function, of which it is unknown what a call costs.
    seed : int
        Draws the rows.
    """

    table: Matrix
    features: Features
    label: Callable[[Floats, Rows], tuple[Matrix, Codes]]
    rows: Rows
    is_function: bool
    seed: int = 0

    def take(self, rows: Rows) -> "RowGenerator":
        """Return the generator for some of the examples."""
        return replace(self, rows=self.rows[rows])

    def labelled(self, n_wanted: int, n_threads: int = 1) -> LabelledRows:
        """Generate rows near the examples, and label them."""
        found = nearby_rows(self.table[self.rows], self.features, n_wanted, self.seed, n_threads)
        if len(found.sources) == 0:
            none = np.empty(0, dtype=np.int32)
            return LabelledRows(np.empty((0, self.table.shape[1])), none, found.sources)
        return LabelledRows(*self.label(found.table, self.rows[found.sources]), found.sources)


def generator_for(network: Network | None, X: Any, table: Matrix, rules: RuleSet) -> RowGenerator | None:
    """Return a generator of rows that a network labels; None if rows cannot be made for it.

    That is so without a network, and where rules test columns that are computed from rows which are no arrays
    of numbers: texts, for example, cannot be changed a little.
    """
    if network is None:
        return None
    features, every = rules.features, np.arange(len(table))
    ask = NetworkLabels(network, rules).codes
    if not network.computes_features and features.source is None:
        raw = ChangeableTable(model_rows(network, X, features), features, np.asarray(table, dtype=np.float64))

        def label(changed: Floats, rows: Rows) -> tuple[Matrix, Codes]:
            return changed, ask(raw.changed(changed, rows))

        return RowGenerator(table, features, label, every, network.is_function)
    if not _are_numbers(X):
        return None
    numbers = np.asarray(X)

    def label_raw(changed: Floats, _: Rows) -> tuple[Matrix, Codes]:
        made = changed.reshape(len(changed), *numbers.shape[1:]).astype(numbers.dtype)
        return features.encode(made), ask(made)

    flat = numbers.reshape(len(numbers), -1)
    columns = Features(tuple(map(str, range(flat.shape[1]))))
    return RowGenerator(flat, columns, label_raw, every, network.is_function)


def _are_numbers(X: Any) -> bool:
    """Return whether rows are arrays of finite numbers, all of one shape, and not too many."""
    is_array = isinstance(X, np.ndarray) and X.ndim > 1 and X.dtype.kind == "f"
    return is_array and X[:1].size <= _MAX_NUMBERS and bool(np.isfinite(X).all())
