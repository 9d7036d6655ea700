"""Pedagogical extraction: rules from the network's labels alone; and rules from true labels."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clausewise.base.progress import Progress
from clausewise.data.features import Features
from clausewise.extractors.base import (
    RuleExtractor,
    check_min_cases,
    inducer_for,
    or_one_rule,
    undivided,
)
from clausewise.extractors.clause_substitution import INPUTS
from clausewise.extractors.extraction_data import Extracted, Task
from clausewise.extractors.run_log import LayerReport, ReportBuilder
from clausewise.induction import Inducer
from clausewise.induction.estimator import read_targets
from clausewise.induction.protocol import rules_or_default
from clausewise.networks import wrap
from clausewise.rules import Origin, RuleSet
from clausewise.rules.voting import Voting


class Pedagogical(RuleExtractor):
    """Rules learnt from the network's decisions alone, without a look inside (PedC5.0, PedCART, …).

    The baseline for methods that look inside, and what is left for a network without hidden layers.

    Parameters
    ----------
    network : model, optional
        As for `ECLAIRE`.
    min_cases : int or float, default 2
        The paper's μ: two branches of every test hold at least this many rows (below 1: this part of them).
    inducer : {"c5.0", "cart", "random_forest"} or Inducer, default "c5.0"
        The paper's ψ. An object keeps its own min_cases.
    winnow : bool, default False
        C5.0 puts columns aside beforehand that do not help on half of the rows.
    max_rows : int or float, optional
        Learn from this many rows (or this part of them).
    voting, random_state, n_jobs, verbose
        As for `ECLAIRE`.

    Attributes
    ----------
    rules_, network_, report_, min_cases_, classes_, n_features_in_, feature_names_in_
        As for `ECLAIRE`.
    """

    method = "Pedagogical"

    def __init__(
        self,
        network: Any = None,
        *,
        min_cases: int | float = 2,
        inducer: str | Inducer = "c5.0",
        winnow: bool = False,
        max_rows: int | float | None = None,
        voting: Voting = "confidence",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.network = network
        self.min_cases = min_cases
        self.inducer = inducer
        self.winnow = winnow
        self.max_rows = max_rows
        self.voting = voting
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if isinstance(self.inducer, str):
            check_min_cases(self.min_cases, self.inducer)
        inducer_for(self.inducer, self.min_cases, self.winnow)

    def _extract(
        self,
        task: Task,
        random: np.random.RandomState,
        report: ReportBuilder,
        progress: Progress,
    ) -> Extracted:
        inducer = inducer_for(self.inducer, self.min_cases, self.winnow, random.randint(2**31))
        progress.started(self.method, 1)
        progress.part_started(INPUTS, 0)
        with report.stage("rules over inputs"):
            found = inducer.induce(
                task.inputs, task.codes, task.classes.tolist(), weights=task.weights, n_jobs=self.n_jobs
            )
            found = rules_or_default(found, task.inputs).distinct()
        progress.part_done()
        with report.stage("statistics"):
            rules = task.measured(_from_inputs(found), self.n_jobs)
        layer = LayerReport(INPUTS, task.inputs.n_columns, 0, (len(rules),))
        min_cases = self.min_cases if isinstance(self.inducer, str) else None
        caveats = undivided(min_cases, task.n_rows)
        return or_one_rule(Extracted(rules, (layer,), min_cases, caveats=caveats), task)


class TreeEnsembleRules(Pedagogical):
    """REM-T: the rules of a random forest, or of another inducer, fitted to the true classes.

    What rules reach without any network. With a network, `fidelity` tells how far they happen to imitate it.

    Parameters
    ----------
    network : model, optional
        A fitted model to measure fidelity to; it takes no part in learning.
    min_cases : int or float, default 2
        A node with fewer rows is not divided (below 1: this part of the rows).
    inducer : {"random_forest", "cart", "c5.0"} or Inducer, default "random_forest"
        What learns the rules. An object keeps its own min_cases.
    winnow, max_rows, voting, random_state, n_jobs, verbose
        As for `Pedagogical`.

    Attributes
    ----------
    rules_, report_, min_cases_, classes_, n_features_in_, feature_names_in_
        As for `ECLAIRE`; `network_` is None unless one was given.
    """

    method = "REM-T"

    def __init__(
        self,
        network: Any = None,
        *,
        min_cases: int | float = 2,
        inducer: str | Inducer = "random_forest",
        winnow: bool = False,
        max_rows: int | float | None = None,
        voting: Voting = "confidence",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            network,
            min_cases=min_cases,
            inducer=inducer,
            winnow=winnow,
            max_rows=max_rows,
            voting=voting,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def _task(
        self,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        random: np.random.RandomState,
        report: ReportBuilder,
    ) -> Task:
        """What is to be told: the true classes."""
        with report.stage("labels and inputs"):
            network = None if self.network is None else wrap(self.network)
            features = Features.learn(X) if network is None else network.features(X)
            classes, codes, _ = read_targets(y, sample_weight, X.shape[0])  # type: ignore[arg-type]
            return Task.of_labels(
                features,
                classes.declared,
                codes,
                X,
                sample_weight,
                self.max_rows,
                random,
                self.n_jobs,
                network,
            )


def _from_inputs(rules: RuleSet) -> RuleSet:
    columns = rules.columns
    return replace(rules, columns=replace(columns, origins=(Origin(INPUTS),) * columns.n_rules))
