"""The training examples of small rule sets: rows, and what rules should predict on them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.compact.row_generator import RowGenerator, generator_for
from clausewise.data.labels import labels_array, read_labels
from clausewise.data.table import Matrix
from clausewise.data.weights import read_weights
from clausewise.networks.answers import are_labels, ask_network
from clausewise.rules.ruleset import RuleSet

Balance = Literal["balanced"] | None
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows, and what rules should predict on them.

    Attributes
    ----------
    table : ndarray of shape (n_rows, n_features)
        The encoded rows.
    codes : ndarray of int
        The class of each row, as a position in the classes.
    n_classes : int
        Number of classes.
    probabilities : ndarray of shape (n_rows, n_classes), optional
        Probabilities to imitate; 1 for the class in `codes` unless given.
    weights : ndarray of float, optional
        The weight of each row.
    generator : RowGenerator, optional
        Makes further rows near these, labelled by the model that the rules imitate.
    """

    table: Matrix
    codes: NDArray[np.int32]
    n_classes: int
    probabilities: Floats | None = None
    weights: Floats | None = None
    generator: RowGenerator | None = None

    def take(self, rows: NDArray[np.intp]) -> "Examples":
        """Return some of the rows."""
        return replace(
            self,
            table=self.table[rows],
            codes=self.codes[rows],
            probabilities=None if self.probabilities is None else self.probabilities[rows],
            weights=None if self.weights is None else self.weights[rows],
            generator=None if self.generator is None else self.generator.take(rows),
        )

    def generated(self, n_wanted: int, n_threads: int = 1) -> "Examples":
        """Return rows near these, with the model's class of each, and the weight of the row it was made from.

        Rows that the model puts into a class that none of these rows has are left out.
        """
        assert self.generator is not None
        found = self.generator.answered(n_wanted, n_threads)
        is_known = np.isin(found.answers, np.unique(self.codes))
        return Examples(
            found.table[is_known],
            found.answers[is_known],
            self.n_classes,
            weights=None if self.weights is None else self.weights[found.sources[is_known]],
        )

    def followed_by(self, others: "Examples") -> "Examples":
        """Return these examples and others, without probabilities and generator."""
        weights = None
        if self.weights is not None and others.weights is not None:
            weights = np.concatenate([self.weights, others.weights])
        table: Floats = np.vstack([self.table, others.table])
        return Examples(table, np.concatenate([self.codes, others.codes]), self.n_classes, weights=weights)

    def row_weights(self, balance: Balance) -> Floats:
        """Return the weight of each row, 1 on average; if balanced, all classes have the same total."""
        weights = np.ones(len(self.codes))
        if self.weights is not None:
            weights = self.weights / self.weights.max()  # first, since a sum might overflow
            weights /= weights.mean()
        if balance is None:
            return weights
        of_class = np.bincount(self.codes, weights=weights, minlength=self.n_classes)
        n_present = np.count_nonzero(of_class)
        return np.asarray(weights * (weights.sum() / n_present / of_class[self.codes]))

    @cached_property
    def target_probabilities(self) -> Floats:
        """The given probabilities; without them, 1 for the class of each row."""
        if self.probabilities is not None:
            return self.probabilities
        return np.eye(self.n_classes)[self.codes]


def examples_of(rules: RuleSet, X: Any, target: Any, sample_weight: ArrayLike | None = None) -> Examples:
    """Read rows and a target: labels, probabilities with one column per class, or a model."""
    if rules.columns.priority.any():
        raise ValueError(
            f"{int(rules.columns.priority.sum())} rules have priority, and weights cannot be fitted to rules "
            "that others override; compact the rules without priority, rules[~rules.columns.priority], and "
            "add those with priority to the result."
        )
    table = rules.features.encode(X)
    if len(table) == 0:
        raise ValueError("X has no rows; pass at least one to learn from.")
    examples = _with_target(table, X, target, rules)
    weights = read_weights(sample_weight, len(table))
    if weights is None:
        return examples
    return replace(examples, weights=weights).take(np.flatnonzero(weights > 0))


def _with_target(table: Matrix, X: Any, target: Any, rules: RuleSet) -> Examples:
    n_classes = len(rules.classes)
    if not are_labels(target):
        answers = ask_network(
            target,
            X,
            rules.features,
            rules.labels,
            len(table),
            name="target",
            allow_unknown=False,
            probabilities=True,
        )
        return Examples(
            table,
            answers.labels.codes.astype(np.int32),
            n_classes,
            answers.probabilities,
            generator=generator_for(answers.network, X, table, rules),
        )
    given = labels_array(target, "target")
    if given.ndim != 2:
        codes = read_labels(given, rules.labels, len(table), "target").codes.astype(np.int32)
        return Examples(table, codes, n_classes)
    if given.shape != (len(table), n_classes):
        raise ValueError(
            f"target has shape {given.shape} for {len(table)} rows and {n_classes} classes; pass one label "
            "per row, or probabilities with one column per class."
        )
    probabilities = _probabilities(given)
    return Examples(table, probabilities.argmax(axis=1).astype(np.int32), n_classes, probabilities)


def _probabilities(given: NDArray[Any]) -> Floats:
    try:
        probabilities: Floats = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"target is neither labels nor probabilities: {error}") from None
    is_allowed = np.isfinite(probabilities) & (probabilities >= 0)
    if not is_allowed.all() or not (np.abs(probabilities.sum(axis=1) - 1) < 1e-3).all():
        raise ValueError(
            "target holds rows that are not probabilities; all entries must be ≥ 0 and add up to 1."
        )
    return probabilities
