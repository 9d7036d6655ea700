"""Whether the rules and the network both decide as wanted on changed rows."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.analysis.counterfactual_limits import Booleans, Floats
from clausewise.analysis.counterfactual_tables import ChangeableTable
from clausewise.data.labels import Label, class_meant, plain_label
from clausewise.networks.answers import labels_by
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.stored import StoredRules

Codes = NDArray[np.int32]

# Changed rows in one table for the network; copies of wide tables would fill the memory.
_CELLS_PER_TABLE: Final = 2**21


def require_changeable_rows(network: Any, rules: StoredRules[Any]) -> None:
    """Raise a ValueError if the rows that a network reads do not follow from the columns of rules."""
    source = rules.features.source
    if source is not None or getattr(network, "computes_features", False):
        raise ValueError(
            "The network cannot confirm these changes: the rules test columns that "
            f"{'features=' if source is None else source.title} computes from the rows, and rows cannot "
            "be computed back from changed columns. Omit network: the changes then hold for the rules."
        )


class NetworkLabels:
    """The labels of a network, as the classes of the rules that they mean.

    Their codes are positions among the classes of the rules, followed by other labels in the order in which
    they first appear.
    """

    def __init__(self, network: Any, rules: RuleSet) -> None:
        self._ask = labels_by(network)
        self._n_classes = len(rules.labels)
        self._labels: list[Label] = list(rules.labels)

    def codes(self, table: Any) -> Codes:
        """Return the network's label of each row of a table, as a code."""
        given, place = np.unique(np.asarray(self._ask(table)), return_inverse=True)
        return np.array([self._code(plain_label(label)) for label in given.tolist()], dtype=np.int32)[place]

    def of_rows(self, table: Any) -> list[Label | None]:
        """Return the network's label of each row of a table."""
        return [self.label(code) for code in self.codes(table).tolist()]

    def label(self, code: int) -> Label:
        """Return the label that a code stands for."""
        return self._labels[code]

    def _code(self, label: Label) -> int:
        code = class_meant(label, self._labels[: self._n_classes])
        if code is None and label not in self._labels[self._n_classes :]:
            self._labels.append(label)
        return self._labels.index(label, self._n_classes) if code is None else code


class Agreement:
    """Checks changes of rows: the rules and, if there is one, the network decide as wanted.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    matrix : ndarray of shape (n_rows, n_features)
        The rows, encoded.
    wanted : int, optional
        The wanted class; any other than the present one unless given.
    network : NetworkLabels, optional
        The network.
    table : ChangeableTable
        The rows as the network reads them.
    max_queries : int
        How many changed rows the network is asked about for each row.
    n_jobs : int, optional
        Number of threads.
    """

    def __init__(
        self,
        rules: RuleSet,
        matrix: Floats,
        wanted: int | None,
        network: NetworkLabels | None,
        table: ChangeableTable,
        max_queries: int,
        n_jobs: int | None,
    ) -> None:
        self.rules, self.matrix, self.wanted, self.network = rules, matrix, wanted, network
        self._table, self._n_jobs = table, n_jobs
        self.max_queries = max_queries
        self._n_left = np.full(len(matrix), max_queries)
        self.decided = self.decide(matrix)

    def decide(self, matrix: Floats) -> Codes:
        """Return what the rules decide."""
        return self.rules.evaluator.decide(matrix, self.rules.voting, self.rules.default_index, self._n_jobs)

    def is_wanted(self, codes: Codes, rows: NDArray[np.int64]) -> Booleans:
        """Return whether these rows should become these classes."""
        return np.asarray(codes != self.decided[rows] if self.wanted is None else codes == self.wanted)

    def hold(self, rows: NDArray[np.int64], changed: Floats) -> Booleans:
        """Return whether both decide as wanted on changed copies of these rows.

        A change counts as not confirmed once the network has been asked `max_queries` times about its row.
        """
        codes = self.decide(changed)
        holds = self.is_wanted(codes, rows)
        if self.network is None:
            return holds
        asked = np.flatnonzero(holds)
        asked = asked[position_in_group(rows[asked]) < self._n_left[rows[asked]]]
        self._n_left -= np.bincount(rows[asked], minlength=len(self._n_left))
        confirmed = np.zeros(len(rows), dtype=bool)
        size = max(1, _CELLS_PER_TABLE // self.matrix.shape[1])
        for start in range(0, len(asked), size):
            part = asked[start : start + size]
            answers = self.network.codes(self._table.changed(changed[part], rows[part]))
            confirmed[part] = answers == codes[part]
        return confirmed


def position_in_group(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the position of each entry among the entries of its group."""
    order = np.argsort(groups, kind="stable")
    first = np.searchsorted(groups[order], groups[order], side="left")
    position = np.empty(len(groups), dtype=np.int64)
    position[order] = np.arange(len(groups)) - first
    return position
