"""Rules that add numbers, for models that return numbers."""

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clausewise.analysis import SumExplanations
from clausewise.base.parameters import (
    FLAG,
    NOTHING,
    RANDOM_STATE,
    ROWS,
    VERBOSE,
    Constraint,
    check_estimator_parameters,
    one_of,
    whole,
)
from clausewise.base.progress import Progress
from clausewise.compact.frontier_curve import Frontier, Size
from clausewise.compact.losses import LossName
from clausewise.compact.regression_compaction import AddingRules, adding_rules, frontier_of_numbers
from clausewise.compact.regression_settings import REGRESSION_SEARCH, RegressionSettings
from clausewise.compact.settings import BUDGET, DEFAULT_MAX_CONDITIONS, DEFAULT_MAX_RULES, seed_of
from clausewise.data.features import Features
from clausewise.extractors.base import ExtractionWarning
from clausewise.extractors.extraction_data import RowChoice, encoded_rows
from clausewise.extractors.network_training import number_network_for
from clausewise.extractors.regression_data import RegressionData, one_output, rules_for_ranges
from clausewise.extractors.result import ExtractionResult
from clausewise.extractors.run_log import ExtractionReport, RunLog
from clausewise.induction.estimator import TableRegressor, encode_for, set_feature_attributes
from clausewise.networks import LayerChoice, Network
from clausewise.networks.answers import are_labels, model_rows, rows_to_learn_from
from clausewise.partitions import is_partitioned, partitioned
from clausewise.rules import RegressionRules

if TYPE_CHECKING:
    from typing import Self


class RuleRegressor(TableRegressor):
    """Few rules that add up to the numbers that a model returns, or to given numbers.

    "Start at 2.07; +1.4 if income > 5.1 and …; −0.6 if …": a prediction is the sum of a base, the additions
    of the rules that hold and, with `linear`, a few coefficients times columns.

    Parameters
    ----------
    network : model or array-like of shape (n_rows,), optional
        What to imitate: a regressor or anything else that `clausewise.wrap` takes and that returns numbers, a
        function from rows to numbers, or the numbers themselves. An unfitted scikit-learn model is cloned and
        trained on (X, y) first. Without a network, the rules learn y itself. For rows that need not fit into
        memory (`clausewise.partitioned`), it may be the name of the column that holds the numbers.
    max_rules : "auto" or int, default "auto"
        The most rules. "auto" chooses the size on held-out rows, at most 20 rules that cost 60 to read;
        `report_.sizes` has what other sizes reach.
    max_conditions : int, optional
        The most to read in all rules, counted by `RegressionRules.reading_cost`.
    linear : bool or int, default False
        Whether to add a linear part: up to six columns of numbers, or up to this many, chosen by the loss.
        Each is limited to the range of nearly all rows, so that extreme values do not run away.
    loss : {"squared", "huber", "absolute", "poisson"}, default "squared"
        What to minimise. "huber" and "absolute" are robust: "huber" counts errors beyond half a robust
        standard deviation of the target by their size, "absolute" nearly all. "poisson" is for counts and
        other numbers that are not negative; the prediction is then e to the power of the sum.
    max_terms : int, default 6
        The most terms in a rule.
    price : float, optional
        By how much a unit of reading cost must lower the loss, in units of √rows / 40 (of a target with
        standard deviation 1); 0.3, and less for more than 16 rules, unless given. A higher price gives
        shorter rules.
    penalty : float, optional
        The ridge penalty on additions; by default it follows from the number of rows.
    synthetic : "auto" or float, default "auto"
        How many rows to generate near each row, for the network to answer, to search on. "auto" generates up
        to 20 per row and 16,000 in all for tables of fewer than 4,000 rows and at most 200 columns, but none
        for a plain function, whose calls may be expensive. All figures are counted on your rows.
    seeds : "auto" or bool, default "auto"
        Whether searches also start from rules that were found through the network's hidden layers, as ECLAIRE
        finds them for ranges of the output. The rules then have origins. "auto" does so if there are layers.
    layers : optional
        The hidden layers to use, as for `clausewise.wrap`.
    output : int, optional
        Which output to imitate, of a network with several; one rule set is learnt for one output.
    max_rows : int or float, optional
        Learn from this many rows (or this fraction of them), a random sample stratified by the target.
    max_seconds : float, optional
        Stop the search after so many seconds, with the rules found by then. The result then depends on the
        speed of the computer.
    random_state : int, RandomState or None
        Seeds everything random: sampled, held-out and generated rows. None stands for 0, so the same call
        gives the same rules.
    n_jobs : int, optional
        Number of threads; all usable cores unless given. The result does not depend on it.
    verbose : int, default 0
        1 shows progress, 2 a line per part.

    Attributes
    ----------
    rules_ : RegressionRules
        The rules. Cover, mean and interval are counted on the rows learnt from, of the numbers to imitate.
    network_ : Network or None
        The wrapped network; None if numbers were given.
    report_ : ExtractionReport
        Time and memory per stage, and how the size was chosen.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.neural_network import MLPRegressor
    >>> from clausewise import RuleRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> network = MLPRegressor(hidden_layer_sizes=(16,), max_iter=3000, random_state=0).fit(X, y)
    >>> model = RuleRegressor(network, max_rules=8).fit(X)
    >>> len(model.rules_), model.fidelity(X) > 0.8
    (8, True)
    """

    method: ClassVar[str] = "RuleRegressor"
    _parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        **REGRESSION_SEARCH,
        "max_rules": whole(1) | one_of("auto"),
        "max_conditions": BUDGET["max_conditions"],
        "seeds": FLAG | one_of("auto"),
        "output": whole(0) | NOTHING,
        "max_rows": ROWS | NOTHING,
        "random_state": RANDOM_STATE,
        "verbose": VERBOSE,
    }

    rules_: RegressionRules
    network_: Network | None
    report_: ExtractionReport
    features_: Features
    # The search, with what was chosen for it.
    search_: AddingRules

    def __init__(
        self,
        network: Any = None,
        *,
        max_rules: int | Literal["auto"] = "auto",
        max_conditions: int | None = None,
        linear: bool | int = False,
        loss: LossName = "squared",
        max_terms: int = 6,
        price: float | None = None,
        penalty: float | None = None,
        synthetic: float | Literal["auto"] = "auto",
        seeds: bool | Literal["auto"] = "auto",
        layers: LayerChoice = None,
        output: int | None = None,
        max_rows: int | float | None = None,
        max_seconds: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.network = network
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.linear = linear
        self.loss = loss
        self.max_terms = max_terms
        self.price = price
        self.penalty = penalty
        self.synthetic = synthetic
        self.seeds = seeds
        self.layers = layers
        self.output = output
        self.max_rows = max_rows
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> "Self":
        """Find rules that add up to the network's numbers, or to y.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
            Raw rows, as the network (or its preprocessing) takes them; best those it was trained on. Rows
            that need not fit into memory are taken, too; see `clausewise.partitioned`.
        y : array-like of shape (n_rows,), optional
            True numbers; learnt if there is no network, and else only needed to train one that is not fitted.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts; rows with weight 0 are ignored.
        """
        check_estimator_parameters(self)
        if is_partitioned(X):
            from clausewise.extractors.partitioned_numbers import fit_partitioned_numbers

            fit_partitioned_numbers(self, partitioned(X), y, sample_weight)
            return self
        log, random = RunLog(), self._random()
        X = rows_to_learn_from(self.network, X)
        data = self._data(X, y, sample_weight, random, log)
        with Progress(self.verbose) as progress:
            seeds = self._seeds(data, random, log, progress)
            with log.stage("search"):
                found = adding_rules(
                    data.features,
                    data.examples,
                    self._settings(),
                    seeds=None if seeds is None else seeds.rules,
                    max_rules=None if self.max_rules == "auto" else self.max_rules,
                    max_conditions=self.max_conditions,
                    seed=seed_of(random),
                    progress=progress,
                )
            progress.finished(f"{self.method}: {len(found.rules):,} rules")
        name = getattr(y, "name", None)  # of a pandas or polars Series
        rules = found.rules.with_response(name if isinstance(name, str) and name else None)
        self.rules_ = rules.having_learnt_from(encoded_rows(data.features, data.examples.table, data.rows))
        self.network_, self.features_, self.search_ = data.network, data.features, found
        set_feature_attributes(self, self.features_)
        self.report_ = ExtractionReport(
            method=self.method,
            n_rows=data.examples.n_rows,
            n_rows_given=X.shape[0],
            min_cases=None,
            path=(),
            layers=() if seeds is None else seeds.layers,
            n_rules=len(self.rules_),
            reading_cost=self.rules_.reading_cost,
            sizes=found.sizes,
            stages=tuple(log.stages.values()),
            warnings=found.caveats,
        )
        for caveat in found.caveats:
            warnings.warn(caveat, ExtractionWarning, stacklevel=2)
        return self

    def frontier(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        by: Size = "conditions",
        max_rules: int = DEFAULT_MAX_RULES,
        max_conditions: int = DEFAULT_MAX_CONDITIONS,
        n_splits: int = 3,
    ) -> Frontier:
        """Return what rules of growing size explain on held-out rows: R² by reading cost, or by rules.

        It needs no fit. With a loss other than "squared", the fraction of the loss of the best constant that
        the rules explain (D²) is measured instead.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        by : {"conditions", "rules"}, default "conditions"
            What the sizes count.
        max_rules, max_conditions : int
            The largest size.
        n_splits : int, default 3
            How often a fifth of the rows is held out.
        """
        check_estimator_parameters(self)
        if is_partitioned(X):
            from clausewise.extractors.partitioned_numbers import sampled_for_frontier

            model, X, sample_weight = sampled_for_frontier(self, partitioned(X), y, sample_weight)
            return model.frontier(
                X,
                sample_weight=sample_weight,
                by=by,
                max_rules=max_rules,
                max_conditions=max_conditions,
                n_splits=n_splits,
            )
        log, random = RunLog(), self._random()
        data = self._data(rows_to_learn_from(self.network, X), y, sample_weight, random, log)
        with Progress(self.verbose) as progress:
            seeds = self._seeds(data, random, log, progress)
            return frontier_of_numbers(
                data.features,
                data.examples,
                self._settings(),
                seeds=None if seeds is None else seeds.rules,
                by=by,
                max_rules=max_rules,
                max_conditions=max_conditions,
                n_splits=n_splits,
                seed=seed_of(random),
                progress=progress,
            )

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the number that the rules predict for each row."""
        table = encode_for(self, X)
        return self.rules_.response_of(self.rules_.sums_of(table, self.n_jobs))

    def fidelity(self, X: Any) -> float:
        """Return R² to the network: the fraction of the variance of its numbers that the rules explain."""
        predicted = self.predict(X)
        if self.network_ is None:
            raise ValueError(
                "These rules imitate no network; pass one as `network` to measure fidelity to it."
            )
        return float(r2_score(self._network_numbers(self.network_, X), predicted))

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        title: str | None = None,
        max_rows: int | float | None = 2_000,
        random_state: int = 0,
        frontier: Frontier | None = None,
        labels: Mapping[Any, Any] | None = None,
    ) -> None:
        """Write one HTML file that shows the rules and the network; see `RegressionRules.report`.

        Parameters
        ----------
        path : path-like
            The file to write.
        X : array or DataFrame of shape (n_rows, n_features), optional
            Rows to compare rules and network on.
        y : array-like of shape (n_rows,), optional
            Their true numbers.
        title, max_rows, random_state, labels
            As for `RegressionRules.report`.
        frontier : Frontier, optional
            What is explained by size, shown as a curve; `report_.sizes` unless given.
        """
        check_is_fitted(self)
        named = f"{len(self.rules_):,} rules for {self.rules_.response or 'numbers'}"
        numbers = None if X is None or self.network_ is None else self._network_numbers(self.network_, X)
        self.rules_.report(
            path,
            X,
            y,
            numbers,
            title=named if title is None else title,
            max_rows=max_rows,
            random_state=random_state,
            frontier=self.report_.sizes if frontier is None else frontier,
            labels=labels,
        )

    def _network_numbers(self, network: Network, X: Any) -> NDArray[np.float64]:
        """Return the network's numbers for rows, of the output that the rules imitate."""
        return one_output(network.numbers(model_rows(network, X, self.features_)), self.output)

    def explain(self, X: Any) -> SumExplanations:
        """Explain the prediction for each row as the sum that it is; see `RegressionRules.explain`."""
        encode_for(self, X)
        return self.rules_.explain(X, n_jobs=self.n_jobs)

    def _random(self) -> np.random.RandomState:
        random: np.random.RandomState = check_random_state(
            0 if self.random_state is None else self.random_state
        )
        return random

    def _settings(self) -> RegressionSettings:
        return RegressionSettings(
            loss=self.loss,
            linear=self.linear,
            max_terms=self.max_terms,
            price=self.price,
            penalty=self.penalty,
            synthetic=self.synthetic,
            max_seconds=self.max_seconds,
            n_jobs=self.n_jobs,
        )

    def _data(
        self,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        random: np.random.RandomState,
        log: RunLog,
    ) -> RegressionData:
        """Prepare the rows to learn from, and the numbers to imitate."""
        rows = RowChoice(sample_weight, self.max_rows, random)
        if self.network is None or are_labels(self.network):
            if self.seeds is True:
                raise ValueError("seeds=True needs a network with hidden layers; pass one as network.")
            with log.stage("numbers and inputs"):
                data = RegressionData.of_numbers(X, y if self.network is None else self.network, rows)
        else:
            with log.stage("network"):
                network = number_network_for(self.network, X, y, sample_weight, random.randint(2**31))
            with log.stage("numbers and inputs"):
                data = RegressionData.of_network(
                    network,
                    X,
                    rows,
                    self.output,
                    uses_layers=self._uses_layers(network, X),
                    layers=self.layers,
                )
        return replace(data, examples=data.examples.for_loss(self.loss))

    def _uses_layers(self, network: Network, X: Any) -> bool:
        return network.has_hidden_layers(X) if self.seeds == "auto" else self.seeds

    def _seeds(
        self, data: RegressionData, random: np.random.RandomState, log: RunLog, progress: Progress
    ) -> ExtractionResult | None:
        """Return rules that are found through the hidden layers for ranges of the output, if asked for."""
        seed = random.randint(2**31)
        if data.network is None or data.is_constant or not self._uses_layers(data.network, data.rows):
            return None
        progress.started(self.method, len(data.trained_network.select_layers(self.layers)))
        return rules_for_ranges(data, self.layers, seed, self.n_jobs, log, progress)
