"""The data of rules that add numbers: rows, the numbers to imitate, and rules for ranges of these numbers."""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.base.progress import Progress
from clausewise.compact.regression_examples import RegressionExamples, range_codes
from clausewise.compact.row_generator import answered_by
from clausewise.data.features import Features, require_finite
from clausewise.data.rows import take_rows
from clausewise.extractors.base import inducer_for
from clausewise.extractors.clause_substitution import ClausewiseOptions, extract_clausewise
from clausewise.extractors.dropping import Dropping
from clausewise.extractors.eclaire import SEED_MIN_CASES
from clausewise.extractors.extraction_data import ExtractionData, RowChoice, table_of_network
from clausewise.extractors.result import ExtractionResult
from clausewise.extractors.run_log import RunLog
from clausewise.induction import PreparedMatrix
from clausewise.induction.estimator import read_numbers
from clausewise.networks import Layer, LayerChoice, Network

# The output is divided into so many ranges, each with as many rows, for clauses over units to predict.
_N_RANGES: Final = 4
# Samples of rows are stratified by so many ranges.
_N_STRATA: Final = 10


@dataclass(frozen=True, eq=False)
class RegressionData:
    """The rows to learn from, with the number to imitate on each.

    Attributes
    ----------
    network : Network or None
        The network that the rules imitate; None if numbers were given.
    features : Features
        The columns that rules test.
    rows : array or DataFrame
        Raw rows, as the network takes them.
    examples : RegressionExamples
        The same rows encoded, with their numbers and weights.
    layers : tuple of Layer
        Hidden layers that were computed together with the numbers.
    """

    network: Network | None
    features: Features
    rows: Any
    examples: RegressionExamples
    layers: tuple[Layer, ...] = ()

    @classmethod
    def of_numbers(cls, X: Any, numbers: ArrayLike | None, choice: RowChoice) -> "RegressionData":
        """Prepare rows with given numbers."""
        features = Features.learn(X)
        table = features.encode(X)
        if len(table) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        require_finite(table, features)
        examples = RegressionExamples(table, read_numbers(numbers, len(table)))
        return cls(None, features, X, examples)._chosen(choice)

    @classmethod
    def of_network(
        cls,
        network: Network,
        X: Any,
        choice: RowChoice,
        output: int | None,
        *,
        uses_layers: bool,
        layers: LayerChoice,
    ) -> "RegressionData":
        """Prepare rows with a network's numbers; the network sees every batch of rows once."""
        if uses_layers:
            network.check_hidden_layers(X, layers)
        run = network.run_numbers(X, hidden=uses_layers and choice.is_all, layers=layers)
        features, table = table_of_network(network, X)
        require_finite(table, features)
        examples = RegressionExamples(table, one_output(run.numbers, output))
        data = cls(network, features, X, examples, run.layers)._chosen(choice)

        def ask(rows: Any) -> NDArray[np.float64]:
            return one_output(network.numbers(rows), output)

        generator = answered_by(ask, network, data.rows, data.examples.table, features)
        return replace(data, examples=replace(data.examples, generator=generator))

    def _chosen(self, choice: RowChoice) -> "RegressionData":
        """Return the rows to learn from, with their weights."""
        rows, weights = choice.drawn(range_codes(self.examples.target, _N_STRATA))
        examples = replace(self.examples, weights=weights)
        if len(rows) == examples.n_rows:
            return replace(self, examples=examples)
        return replace(self, rows=take_rows(self.rows, rows), examples=examples.take(rows))

    @property
    def trained_network(self) -> Network:
        """The network, for methods that need one."""
        assert self.network is not None
        return self.network

    @property
    def is_constant(self) -> bool:
        """Whether the number is the same on all rows."""
        return bool((self.examples.target == self.examples.target[0]).all())


def rules_for_ranges(
    data: RegressionData,
    layers: LayerChoice,
    seed: int,
    n_jobs: int | None,
    log: RunLog,
    progress: Progress,
) -> ExtractionResult:
    """Return rules that clause-wise substitution finds for ranges of the output, as for classes."""
    examples = data.examples
    codes = range_codes(examples.target, _N_RANGES)
    inducer = inducer_for("c5.0", SEED_MIN_CASES, True, seed)
    options = ClausewiseOptions(
        layer_inducer=inducer,
        clause_inducer=inducer,
        layers=layers,
        eclectic=False,
        balance=False,
        dropping=Dropping(0.0, False, 0.0, None, "confidence"),
        n_jobs=n_jobs,
    )
    labelled = ExtractionData(
        data.network,
        np.array([f"range {code + 1}" for code in range(int(codes.max()) + 1)]),
        data.rows,
        PreparedMatrix.of_encoded(examples.table, data.features, n_jobs=n_jobs, keeps_distinct=True),
        codes,
        examples.weights,
        activations={layer.name: layer for layer in data.layers},
    )
    return extract_clausewise(labelled, options, log, progress)


def one_output(numbers: NDArray[np.float64], output: int | None) -> NDArray[np.float64]:
    """Return the column of a network's numbers to imitate."""
    n_outputs = numbers.shape[1]
    if output is None and n_outputs > 1:
        raise ValueError(
            f"The network has {n_outputs} outputs, and rules add up to one number; pass output=0 to "
            f"output={n_outputs - 1}, one after the other, for a rule set each."
        )
    if output is not None and output >= n_outputs:
        raise ValueError(f"output is {output}, but the network has {n_outputs} output(s), from 0 on.")
    return numbers[:, output or 0]
