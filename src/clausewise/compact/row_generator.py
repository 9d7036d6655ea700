"""Rows near real ones, answered by the model that the rules imitate."""

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

Answers = NDArray[Any]
"""Codes of classes, or numbers."""

# Larger rows, such as photographs, are not changed.
_MAX_NUMBERS: Final = 5_000


@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """Generated rows, encoded, the model's answer to each, and the row that each was made from.

    An answer is a number, or the code of a class. Codes beyond the classes of the rules are labels that the
    rules do not know.
    """

    table: Matrix
    answers: Answers
    sources: Rows


@dataclass(frozen=True, eq=False)
class RowGenerator:
    """Makes rows near given ones, and asks a model about them.

    Attributes
    ----------
    table : ndarray of shape (n_rows, n_columns)
        The columns that are changed, of all given rows.
    features : Features
        What these columns are.
    answer : callable
        Given changed columns and the positions of the rows that they were made from, returns the rows as the
        columns that rules test, and the model's answer to each.
    rows : ndarray of int
        The positions of the examples among the given rows.
    is_function : bool
        Whether the model is a function, of which it is unknown what a call costs.
    seed : int
        Draws the rows.
    """

    table: Matrix
    features: Features
    answer: Callable[[Floats, Rows], tuple[Matrix, Answers]]
    rows: Rows
    is_function: bool
    seed: int = 0

    def take(self, rows: Rows) -> "RowGenerator":
        """Return the generator for some of the examples."""
        return replace(self, rows=self.rows[rows])

    def answered(self, n_wanted: int, n_threads: int = 1) -> AnsweredRows:
        """Generate rows near the examples, and ask the model about them."""
        found = nearby_rows(self.table[self.rows], self.features, n_wanted, self.seed, n_threads)
        if len(found.sources) == 0:
            none = np.empty(0, dtype=np.int32)
            return AnsweredRows(np.empty((0, self.table.shape[1])), none, found.sources)
        return AnsweredRows(*self.answer(found.table, self.rows[found.sources]), found.sources)


def generator_for(network: Network | None, X: Any, table: Matrix, rules: RuleSet) -> RowGenerator | None:
    """Return a generator of rows that a network labels; None if rows cannot be made for it."""
    if network is None:
        return None
    return answered_by(NetworkLabels(network, rules).codes, network, X, table, rules.features)


def answered_by(
    ask: Callable[[Any], Answers], network: Network, X: Any, table: Matrix, features: Features
) -> RowGenerator | None:
    """Return a generator of rows that a function of rows answers; None if rows cannot be made.

    That is so where rules test columns that are computed from rows which are no arrays of numbers: texts, for
    example, cannot be changed a little.
    """
    every = np.arange(len(table))
    if not network.computes_features and features.source is None:
        raw = ChangeableTable(model_rows(network, X, features), features, np.asarray(table, dtype=np.float64))

        def answer(changed: Floats, rows: Rows) -> tuple[Matrix, Answers]:
            return changed, ask(raw.changed(changed, rows))

        return RowGenerator(table, features, answer, every, network.is_function)
    if not _are_numbers(X):
        return None
    numbers = np.asarray(X)

    def answer_raw(changed: Floats, _: Rows) -> tuple[Matrix, Answers]:
        made = changed.reshape(len(changed), *numbers.shape[1:]).astype(numbers.dtype)
        return features.encode(made), ask(made)

    flat = numbers.reshape(len(numbers), -1)
    columns = Features(tuple(map(str, range(flat.shape[1]))))
    return RowGenerator(flat, columns, answer_raw, every, network.is_function)


def _are_numbers(X: Any) -> bool:
    """Return whether rows are arrays of finite numbers, all of one shape, and not too many."""
    is_array = isinstance(X, np.ndarray) and X.ndim > 1 and X.dtype.kind == "f"
    return is_array and X[:1].size <= _MAX_NUMBERS and bool(np.isfinite(X).all())
