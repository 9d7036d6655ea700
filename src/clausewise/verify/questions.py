"""Asking a network itself about rows that were put together from values."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.analysis.counterfactual_agreement import NetworkLabels, require_changeable_rows
from clausewise.analysis.counterfactual_tables import ChangeableTable
from clausewise.data.labels import Label
from clausewise.data.rows import as_rows, take_rows
from clausewise.networks import Network
from clausewise.networks.plain import Floats
from clausewise.rules.ruleset import RuleSet

Codes = NDArray[np.int32]

# Rows in one table for the network; copies of wide tables would fill the memory.
_CELLS_PER_TABLE: Final = 2**21


class NetworkQuestions:
    """Asks a network about encoded rows.

    Parameters
    ----------
    network : Network
        The network.
    rules : RuleSet
        Its features are the columns, its classes those that answers mean.
    X : array or DataFrame
        A table of real rows, of the kind that the network reads.
    """

    def __init__(self, network: Network, rules: RuleSet, X: Any) -> None:
        require_changeable_rows(network, rules)
        self._labels = NetworkLabels(network, rules)
        self._names = rules.labels
        # All values of made rows replace those of the first real one, which gives the table its types.
        first = take_rows(as_rows(rules.features.table(X)), np.zeros(1, dtype=np.intp))
        matrix = np.asarray(rules.features.encode(first), dtype=np.float64)
        self._table = ChangeableTable(first, rules.features, matrix)
        self.n_asked = 0

    def rows(self, matrix: Floats) -> Any:
        """Return encoded rows as a table like the given one."""
        return self._table.changed(matrix, np.zeros(len(matrix), dtype=np.int64))

    def codes(self, matrix: Floats) -> Codes:
        """Return what the network predicts: positions of classes of the rules, then other labels."""
        size = max(1, _CELLS_PER_TABLE // matrix.shape[1])
        parts = [matrix[start : start + size] for start in range(0, len(matrix), size)]
        self.n_asked += len(matrix)
        return np.concatenate(
            [np.empty(0, dtype=np.int32), *(self._labels.codes(self.rows(p)) for p in parts)]
        )

    def labels(self, codes: Codes) -> list[Label]:
        """Return the labels that codes stand for."""
        return [self._labels.label(code) for code in codes.tolist()]

    def answers(self, matrix: Floats) -> tuple[Codes, list[Label]]:
        """Return the codes and the labels that the network predicts."""
        codes = self.codes(matrix)
        return codes, self.labels(codes)
