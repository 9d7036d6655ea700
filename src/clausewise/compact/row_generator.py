"""Rows near real ones, labelled by the model that the rules imitate."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

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


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Generated rows, encoded, the class that the model gives to each, and the row that each was made from.

    Codes beyond the classes of the rules are labels that the rules do not know.
    """

    table: Floats
    codes: NDArray[np.int32]
    sources: Rows


@dataclass(frozen=True, eq=False)
class RowGenerator:
    """Makes rows near given ones, and asks a model for their classes.

    Attributes
    ----------
    features : Features
        The columns that rules test.
    raw : ChangeableTable
        The given rows as the model reads them.
    ask : callable
        Returns the class of each row of a table like the raw one, as a code.
    rows : ndarray of int
        The positions of the examples in the raw table.
    is_function : bool
        Whether the model is a function, of which it is unknown what a call costs.
    seed : int
        Draws the rows.
    """

    features: Features
    raw: ChangeableTable
    ask: Callable[[Any], NDArray[np.int32]]
    rows: Rows
    is_function: bool
    seed: int = 0

    def take(self, rows: Rows) -> "RowGenerator":
        """Return the generator for some of the examples."""
        return replace(self, rows=self.rows[rows])

    def rows_near(self, table: Matrix, n_wanted: int, n_threads: int = 1) -> LabelledRows:
        """Generate rows near those of a table, which holds the examples, and label them."""
        found = nearby_rows(table, self.features, n_wanted, self.seed, n_threads)
        if len(found.sources) == 0:
            return LabelledRows(found.table, np.empty(0, dtype=np.int32), found.sources)
        codes = self.ask(self.raw.changed(found.table, self.rows[found.sources]))
        return LabelledRows(found.table, codes, found.sources)


def generator_for(network: Network | None, X: Any, table: Matrix, rules: RuleSet) -> RowGenerator | None:
    """Return a generator of rows that a network labels; None if rows cannot be made for it.

    That is so without a network, and for rules about columns that are computed from the rows: rows cannot be
    computed back from columns.
    """
    features = rules.features
    if network is None or network.computes_features or features.source is not None:
        return None
    return RowGenerator(
        features,
        ChangeableTable(model_rows(network, X, features), features, np.asarray(table, dtype=np.float64)),
        NetworkLabels(network, rules).codes,
        np.arange(len(table)),
        network.is_function,
    )
