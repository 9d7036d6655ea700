"""REM-T: the rules of a forest fitted to the true classes."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from clausewise.extractors.extraction_data import ExtractionData
from clausewise.extractors.pedagogical import Pedagogical
from clausewise.extractors.run_log import RunLog
from clausewise.induction import Inducer
from clausewise.networks import wrap
from clausewise.rules.voting import Voting


class TreeEnsembleRules(Pedagogical):
    """REM-T: the rules of a random forest, or of another inducer, fitted to the true classes.

    They show what rules reach without any network. With a network, `fidelity` measures how far they happen to
    imitate it.

    Parameters
    ----------
    network : model, optional
        A fitted model to measure fidelity to; it plays no part in learning.
    min_cases : int or float, default 2
        A node with fewer rows is not split (below 1: this fraction of the rows).
    inducer : {"random_forest", "cart", "c5.0"} or Inducer, default "random_forest"
        Learns the rules. An object keeps its own min_cases.
    max_rules, max_conditions, min_fidelity, max_terms, points, winnow, max_rows, voting, random_state, \
    n_jobs, verbose
        As for `Pedagogical`; fidelity is to the true classes here.

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
        max_rules: int | Literal["auto"] | None = "auto",
        max_conditions: int | None = None,
        min_fidelity: float | None = None,
        max_terms: int = 6,
        points: bool = False,
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
            max_rules=max_rules,
            max_conditions=max_conditions,
            min_fidelity=min_fidelity,
            max_terms=max_terms,
            points=points,
            winnow=winnow,
            max_rows=max_rows,
            voting=voting,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def _data(
        self,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        random: np.random.RandomState,
        log: RunLog,
    ) -> ExtractionData:
        """Prepare the rows to learn from, and the true classes to predict."""
        network = None if self.network is None else wrap(self.network)
        return self._labelled_data(X, y, sample_weight, random, log, network)
