"""The data of an extraction: rows, the decisions to imitate, and the representations of the rows."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.data.features import Features
from clausewise.data.rows import row_limit, stratified_rows, take_rows
from clausewise.data.table import Matrix
from clausewise.data.weights import case_weights
from clausewise.extractors.run_log import RunLog
from clausewise.induction import PreparedMatrix
from clausewise.networks import Layer, LayerChoice, Network
from clausewise.rules import Rule, RuleSet

INPUTS = "inputs"
"""The name of the representation by the input features themselves."""


@dataclass(frozen=True, eq=False)
class Representation:
    """The rows as one layer of the network sees them, or as the input features (`name` is `INPUTS`)."""

    name: str
    units: PreparedMatrix


@dataclass(frozen=True)
class RowChoice:
    """The choice of rows to learn from: weights, the largest number, and the random generator."""

    sample_weight: ArrayLike | None
    max_rows: int | float | None
    random: np.random.RandomState

    @property
    def is_all(self) -> bool:
        """Whether all given rows are used, unweighted."""
        return self.sample_weight is None and self.max_rows is None

    def drawn(self, codes: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.float64] | None]:
        """Return the chosen rows, stratified by class, and the weights of all rows."""
        weights = case_weights(self.sample_weight, len(codes))
        rows = np.arange(len(codes)) if weights is None else np.flatnonzero(weights > 0)
        limit = row_limit(self.max_rows, len(rows))
        return rows[stratified_rows(codes[rows], limit, self.random)], weights


@dataclass(frozen=True, eq=False)
class ExtractionData:
    """The rows to learn from, with the decision to imitate on each.

    Attributes
    ----------
    network : Network or None
        The network that the rules imitate; None if they are learnt from true classes.
    classes : ndarray of shape (n_classes,)
        The class labels.
    rows : array or DataFrame
        Raw rows, as the network takes them.
    inputs : PreparedMatrix
        The same rows as the columns that rules test.
    codes : ndarray of int32, of shape (n_rows,)
        The decision to imitate for each row, as a position in the classes.
    weights : ndarray of shape (n_rows,), optional
        Case weights.
    probabilities : ndarray of shape (n_rows, n_classes), optional
        The network's probabilities, if they are needed.
    activations : dict
        Hidden layers that were computed together with the decisions, by name.
    imitates_network : bool
        Whether the decisions are the network's.
    """

    network: Network | None
    classes: NDArray[Any]
    rows: Any
    inputs: PreparedMatrix
    codes: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None
    probabilities: NDArray[np.float64] | None = None
    activations: dict[str, Layer] = field(default_factory=dict)
    imitates_network: bool = True

    @classmethod
    def of_network(
        cls,
        network: Network,
        X: Any,
        choice: RowChoice,
        n_jobs: int | None,
        *,
        uses_layers: bool = False,
        layers: LayerChoice = None,
        uses_probabilities: bool = False,
    ) -> "ExtractionData":
        """Prepare rows with a network's decisions; the network sees every batch of rows once.

        Where only some rows are learnt from, the activations of those alone are computed later.
        """
        if uses_layers:
            network.check_hidden_layers(X, layers)
        run = network.run(
            X, hidden=uses_layers and choice.is_all, layers=layers, probabilities=uses_probabilities
        )
        features, table = table_of_network(network, X)
        rows, weights = choice.drawn(run.codes)
        if len(rows) == len(table):
            inputs = _prepared(table, features, n_jobs)
            activations = {layer.name: layer for layer in run.layers}
            return cls(
                network, network.classes, X, inputs, run.codes, weights, run.probabilities, activations
            )
        inputs = _prepared(table[rows], features, n_jobs)
        return cls(
            network,
            network.classes,
            take_rows(X, rows),
            inputs,
            run.codes[rows],
            _taken(weights, rows),
            _taken(run.probabilities, rows),
        )

    @classmethod
    def of_labels(
        cls,
        features: Features,
        classes: NDArray[Any],
        codes: NDArray[np.int32],
        X: Any,
        choice: RowChoice,
        n_jobs: int | None,
        network: Network | None = None,
    ) -> "ExtractionData":
        """Prepare rows with given labels."""
        rows, weights = choice.drawn(codes)
        table = features.encode(X)
        if len(rows) < len(table):
            X, table, codes, weights = take_rows(X, rows), table[rows], codes[rows], _taken(weights, rows)
        inputs = _prepared(table, features, n_jobs)
        return cls(network, classes, X, inputs, codes, weights, imitates_network=False)

    def take(self, rows: NDArray[np.intp], n_jobs: int | None) -> "ExtractionData":
        """Return some of the rows, prepared on their own."""
        activations = {
            name: Layer(name, layer.matrix[rows], layer.unit_names)
            for name, layer in self.activations.items()
        }
        return ExtractionData(
            self.network,
            self.classes,
            take_rows(self.rows, rows),
            _prepared(self.inputs.table[rows], self.inputs.features, n_jobs),
            self.codes[rows],
            _taken(self.weights, rows),
            _taken(self.probabilities, rows),
            activations,
            self.imitates_network,
        )

    def hidden_layers(self, layers: LayerChoice, log: RunLog, n_jobs: int | None) -> Iterator[Representation]:
        """Iterate over the chosen hidden layers with their activations, prepared.

        A layer is let go of before the next is computed, since layers take most of the memory.
        """
        names = self.trained_network.select_layers(layers)
        others = [name for name in names if name not in self.activations]
        computed = self.trained_network.hidden_layers(self.rows, others) if others else iter(())
        for name in names:
            with log.stage("activations"):
                layer = self.activations[name] if name in self.activations else next(computed)
            with log.stage("preparation"):
                units = PreparedMatrix.of_encoded(layer.matrix, Features(layer.unit_names), n_jobs=n_jobs)
                units.rank()
            del layer
            yield Representation(name, units)
            del units

    @property
    def input_representation(self) -> Representation:
        """The input features themselves."""
        return Representation(INPUTS, self.inputs)

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
        """Whether the decision is the same on all rows."""
        return bool((self.codes == self.codes[0]).all())

    def most_frequent(self, rows: NDArray[Any] | slice = slice(None)) -> Any:
        """Return the most frequent decision on some of the rows."""
        classes = self.classes
        weights = None if self.weights is None else self.weights[rows]
        return classes[np.bincount(self.codes[rows], weights=weights, minlength=len(classes)).argmax()]

    def no_rules(self) -> RuleSet:
        """Return a rule set without rules, which predicts the most frequent class."""
        return RuleSet.from_rules(
            [], self.inputs.features, default=self.most_frequent(), classes=self.classes
        )

    def one_rule(self) -> RuleSet:
        """Return one rule without terms, which predicts the most frequent class for every row."""
        empty = self.no_rules()
        always = Rule((), empty.default)
        rules = RuleSet.from_rules([always], empty.features, default=empty.default, classes=empty.classes)
        return self.measured(rules)

    def measured(self, rules: RuleSet, n_jobs: int | None = None) -> RuleSet:
        """Return the rules with cover and correct counted on the rows, and a default for uncovered rows."""
        table, codes = self.inputs.table, self.codes.astype(np.int64)
        rules = rules.with_counts(*rules.evaluator.statistics(table, codes, self.weights, n_jobs))
        left = rules.evaluator.uncovered(table, n_jobs)
        return rules.with_default(self.most_frequent(left)) if left.any() else rules


def table_of_network(network: Network, X: Any) -> tuple[Features, Matrix]:
    """Return the columns that rules test, and the rows encoded as these columns.

    Columns that the network does not read become constant, so that no rule tests them.
    """
    features, table = network.feature_table(X)
    is_read = None if network.computes_features else network.reads(X)
    if is_read is not None and not is_read.all():
        table = table.copy()
        table[:, ~is_read] = 0
    return features, table


def encoded_rows(features: Features, table: Matrix, rows: Any) -> Matrix:
    """Return rows encoded as anyone does who has the features; `table` may lack columns (`table_of_network`).

    Computed columns are not computed again, since the network reads all of them.
    """
    return table if features.source is not None else features.encode(rows)


def _prepared(table: Matrix, features: Features, n_jobs: int | None) -> PreparedMatrix:
    """The input columns, ready for inducers; values that the network tells apart stay apart."""
    return PreparedMatrix.of_encoded(table, features, n_jobs=n_jobs, keeps_distinct=True)


def _taken(values: NDArray[np.float64] | None, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
    return None if values is None else values[rows]
