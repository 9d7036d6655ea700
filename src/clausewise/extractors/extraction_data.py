"""What rules are extracted from, and what comes out."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.data.features import Features
from clausewise.data.rows import row_limit, stratified_rows, take_rows
from clausewise.data.weights import case_weights
from clausewise.extractors.run_log import LayerReport, PathPoint
from clausewise.induction import PreparedMatrix
from clausewise.networks import Network
from clausewise.rules import Rule, RuleSet
from clausewise.rules.voting import Voting


@dataclass(frozen=True, eq=False)
class Task:
    """What rules are extracted from.

    Attributes
    ----------
    network : Network or None
        The network that the rules imitate; None if they are learnt from true classes.
    classes : ndarray of shape (n_classes,)
        The class labels.
    rows : array or DataFrame
        Raw rows, as the network takes them.
    inputs : PreparedMatrix
        The same rows as the columns that rules speak of.
    codes : ndarray of int32, of shape (n_rows,)
        The decision to imitate for each row, as a position in the classes.
    weights : ndarray of shape (n_rows,), optional
        Case weights.
    """

    network: Network | None
    classes: NDArray[Any]
    rows: Any
    inputs: PreparedMatrix
    codes: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        network: Network,
        X: Any,
        sample_weight: ArrayLike | None,
        max_rows: int | float | None,
        random: np.random.RandomState,
        n_jobs: int | None,
    ) -> "Task":
        """The rows to learn from, prepared, with the network's decisions."""
        codes = network.codes(X)
        return cls.of_labels(
            network.features(X),
            network.classes,
            codes,
            X,
            sample_weight,
            max_rows,
            random,
            n_jobs,
            network,
            is_read=network.reads(X),
        )

    @classmethod
    def of_labels(
        cls,
        features: Features,
        classes: NDArray[Any],
        codes: NDArray[np.int32],
        X: Any,
        sample_weight: ArrayLike | None,
        max_rows: int | float | None,
        random: np.random.RandomState,
        n_jobs: int | None,
        network: Network | None = None,
        *,
        is_read: NDArray[np.bool_] | None = None,
    ) -> "Task":
        """The rows to learn from, prepared, with labels from anywhere.

        Columns that are not read stay, but all their values are alike, so that no rule tests them.
        """
        table = features.encode(X)
        if is_read is not None and not is_read.all():
            table = table.copy()
            table[:, ~is_read] = 0
        weights = case_weights(sample_weight, len(table))
        rows = np.arange(len(table)) if weights is None else np.flatnonzero(weights > 0)
        rows = rows[stratified_rows(codes[rows], row_limit(max_rows, len(rows)), random)]
        if len(rows) < len(table):
            X, table, codes = take_rows(X, rows), table[rows], codes[rows]
            weights = None if weights is None else weights[rows]
        inputs = PreparedMatrix.of_encoded(table, features, n_jobs=n_jobs)
        return cls(network, classes, X, inputs, codes, weights)

    @property
    def trained_network(self) -> Network:
        """The network, for methods that need one."""
        assert self.network is not None
        return self.network

    @property
    def n_rows(self) -> int:
        """Number of rows to learn from."""
        return self.inputs.n_rows

    @property
    def has_one_class(self) -> bool:
        """Whether the network decides alike on all rows."""
        return bool((self.codes == self.codes[0]).all())

    def most_frequent(self, rows: NDArray[Any] | slice = slice(None)) -> Any:
        """The class that the network decides for most often on some of the rows."""
        classes = self.classes
        weights = None if self.weights is None else self.weights[rows]
        return classes[np.bincount(self.codes[rows], weights=weights, minlength=len(classes)).argmax()]

    def no_rules(self) -> RuleSet:
        """A rule set without rules, which gives the most frequent class."""
        return RuleSet.from_rules(
            [], self.inputs.features, default=self.most_frequent(), classes=self.classes
        )

    def one_rule(self) -> RuleSet:
        """One rule, which gives the most frequent class to every row."""
        empty = self.no_rules()
        always = Rule((), empty.default)
        rules = RuleSet.from_rules([always], empty.features, default=empty.default, classes=empty.classes)
        return self.measured(rules)

    def measured(self, rules: RuleSet, n_jobs: int | None = None) -> RuleSet:
        """The rules with what they cover and get right on the rows, and a default for those left over."""
        table, codes = self.inputs.table, self.codes.astype(np.int64)
        rules = rules.with_counts(*rules.evaluator.statistics(table, codes, self.weights, n_jobs))
        left = rules.evaluator.uncovered(table, n_jobs)
        return rules.with_default(self.most_frequent(left)) if left.any() else rules


@dataclass(frozen=True)
class Extracted:
    """What an extraction found.

    Attributes
    ----------
    rules : RuleSet
        The rules.
    layers : tuple of LayerReport
        What each layer gave to them.
    min_cases : int, float or None
        The value that was used; None if an inducer has its own.
    path : tuple of PathPoint
        What was tried to choose it.
    caveats : tuple of str
        What the user should be warned about.
    voting : str, optional
        How these rules vote, whatever the estimator's parameter says.
    """

    rules: RuleSet
    layers: tuple[LayerReport, ...] = ()
    min_cases: int | float | None = None
    path: tuple[PathPoint, ...] = ()
    caveats: tuple[str, ...] = ()
    voting: Voting | None = None
