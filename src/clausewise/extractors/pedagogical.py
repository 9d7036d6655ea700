"""Rules learnt from a network's decisions, without looking inside it."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from clausewise.base.progress import Progress
from clausewise.data.features import Features
from clausewise.extractors.base import (
    ExtractedVoting,
    RuleExtractor,
    inducer_for,
    or_one_rule,
    undivided,
)
from clausewise.extractors.extraction_data import INPUTS, ExtractionData, RowChoice
from clausewise.extractors.result import ExtractionResult
from clausewise.extractors.run_log import LayerReport, RunLog
from clausewise.induction import Inducer, rules_or_default
from clausewise.induction.estimator import read_targets
from clausewise.networks import Network
from clausewise.networks.answers import are_labels
from clausewise.rules import Origin, RuleSet


class Pedagogical(RuleExtractor):
    """Rules learnt from the network's decisions alone, without looking inside (PedC5.0, PedCART, …).

    The baseline for methods that look inside, and the method for a network without hidden layers.

    Parameters
    ----------
    network : model or array-like of shape (n_rows,), optional
        As for `ECLAIRE`, or the network's labels of the rows that `fit` gets.
    min_cases : int or float, default 2
        The paper's μ: at least two branches of every test hold this many rows (below 1: this fraction of
        them).
    inducer : {"c5.0", "cart", "random_forest"} or Inducer, default "c5.0"
        The paper's ψ. An object keeps its own min_cases.
    max_rules, max_conditions, min_fidelity, max_terms, points, synthetic
        As for `ECLAIRE`: a budget for the final rules.
    winnow : bool, default False
        C5.0 first drops columns that do not help on one half of the rows.
    max_rows : int or float, optional
        Learn from this many rows (or this fraction of them).
    voting, random_state, n_jobs, verbose
        As for `ECLAIRE`.

    Attributes
    ----------
    rules_, network_, report_, min_cases_, classes_, n_features_in_, feature_names_in_
        As for `ECLAIRE`; `network_` is None if only labels were given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from clausewise import Pedagogical
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> machine = SVC().fit(X, y)  # any model with predict
    >>> model = Pedagogical(machine, max_rules=3).fit(X)
    >>> len(model.rules_), model.fidelity(X) > 0.9
    (3, True)
    """

    method = "Pedagogical"

    def __init__(
        self,
        network: Any = None,
        *,
        min_cases: int | float = 2,
        inducer: str | Inducer = "c5.0",
        max_rules: int | Literal["auto"] | None = "auto",
        max_conditions: int | None = None,
        min_fidelity: float | None = None,
        max_terms: int = 6,
        points: bool = False,
        synthetic: float | Literal["auto"] = "auto",
        winnow: bool = False,
        max_rows: int | float | None = None,
        voting: ExtractedVoting = "confidence",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.network = network
        self.min_cases = min_cases
        self.inducer = inducer
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.min_fidelity = min_fidelity
        self.max_terms = max_terms
        self.points = points
        self.synthetic = synthetic
        self.winnow = winnow
        self.max_rows = max_rows
        self.voting = voting
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_combinations(self) -> None:
        super()._check_combinations()
        inducer_for(self.inducer, self.min_cases, self.winnow)  # raises for an unknown inducer

    def _data(
        self,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        random: np.random.RandomState,
        log: RunLog,
    ) -> ExtractionData:
        if are_labels(self.network):
            return self._labelled_data(X, self.network, sample_weight, random, log, None)
        return super()._data(X, y, sample_weight, random, log)

    def _labelled_data(
        self,
        X: Any,
        labels: ArrayLike | None,
        sample_weight: ArrayLike | None,
        random: np.random.RandomState,
        log: RunLog,
        network: Network | None,
    ) -> ExtractionData:
        """Prepare the rows to learn from, with the caller's labels."""
        with log.stage("labels and inputs"):
            features = Features.learn(X) if network is None else network.features(X)
            classes, codes, _ = read_targets(labels, sample_weight, X.shape[0])  # type: ignore[arg-type]
            choice = RowChoice(sample_weight, self.max_rows, random)
            return ExtractionData.of_labels(
                features, classes.declared, codes, X, choice, self.n_jobs, network
            )

    def _extract(
        self, data: ExtractionData, random: np.random.RandomState, log: RunLog, progress: Progress
    ) -> ExtractionResult:
        inducer = inducer_for(self.inducer, self.min_cases, self.winnow, random.randint(2**31))
        progress.started(self.method, 1)
        progress.part_started(INPUTS, 0)
        with log.stage("rules over inputs"):
            found = inducer.induce(
                data.inputs, data.codes, data.classes.tolist(), weights=data.weights, n_jobs=self.n_jobs
            )
            found = rules_or_default(found, data.inputs).distinct()
        progress.part_done()
        with log.stage("statistics"):
            rules = data.measured(_with_input_origins(found), self.n_jobs)
        layer = LayerReport(INPUTS, data.inputs.n_columns, 0, (len(rules),))
        min_cases = self.min_cases if isinstance(self.inducer, str) else None
        caveats = undivided(min_cases, data.n_rows)
        return or_one_rule(ExtractionResult(rules, (layer,), min_cases, caveats=caveats), data)


def _with_input_origins(rules: RuleSet) -> RuleSet:
    columns = rules.columns
    return replace(rules, columns=replace(columns, origins=(Origin(INPUTS),) * columns.n_rules))
