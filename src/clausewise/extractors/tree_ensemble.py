"""REM-T: the rules of a tree ensemble, the given one or a forest fitted to the true classes."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from clausewise.base.parameters import NOTHING, Constraint, whole
from clausewise.base.progress import Progress
from clausewise.extractors.base import ExtractedVoting, RuleExtractor, or_one_rule
from clausewise.extractors.extraction_data import ExtractionData
from clausewise.extractors.network_training import network_for
from clausewise.extractors.pedagogical import Pedagogical
from clausewise.extractors.result import ExtractionResult
from clausewise.extractors.run_log import LayerReport, RunLog
from clausewise.extractors.tree_paths import TreePaths
from clausewise.induction import Inducer
from clausewise.networks.ensembles import has_trees
from clausewise.rules import RuleSet

# Paths that the search for a short rule set starts from: those that say most about the decisions. On ten
# tables of 1,200 to 3,500 training rows, 100 and 400 differed by 0.1 points of mean fidelity; more were no
# better.
N_SEEDS: Final = 400


class TreeEnsembleRules(Pedagogical):
    """REM-T: the rules of a tree ensemble, the given one or one that is fitted to the true classes.

    Paths through a tree are rules over the inputs already. If `network` is a model of trees (a decision tree,
    a forest, a gradient-boosted model, or a combination of these), the rules imitate it and start from the
    paths through its own trees; their origins name the trees. Otherwise a random forest, or another inducer,
    is fitted to the true classes, which shows what rules reach without any network; `fidelity` then measures
    how far they happen to imitate one.

    Parameters
    ----------
    network : model, optional
        A model of trees to imitate; or any other fitted model to measure fidelity to, which plays no part in
        learning.
    min_cases : int or float, default 2
        A node with fewer rows is not split (below 1: this fraction of the rows). Not used with given trees.
    inducer : {"random_forest", "cart", "c5.0"} or Inducer, default "random_forest"
        Learns the rules, unless the trees are given. An object keeps its own min_cases.
    max_rules : int, "auto" or None, default "auto"
        As for `ECLAIRE`. None returns, for given trees, the path to every leaf that rows reach.
    max_paths : int or None, default 10000
        Largest number of leaves for `max_rules=None`; None for any number.
    max_conditions, min_fidelity, max_terms, points, synthetic
        As for `Pedagogical`; without given trees, fidelity is to the true classes.
    winnow, max_rows, voting, random_state, n_jobs, verbose
        As for `Pedagogical`.

    Attributes
    ----------
    rules_, report_, min_cases_, classes_, n_features_in_, feature_names_in_
        As for `ECLAIRE`; `network_` is None unless one was given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from clausewise import TreeEnsembleRules
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
    >>> model = TreeEnsembleRules(forest).fit(X)
    >>> model.fidelity(X) > 0.95
    True
    >>> print(model.report_.method)
    REM-T on the model's own 100 trees
    """

    method = "REM-T"
    _parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        **Pedagogical._parameter_constraints,
        "max_paths": whole(1) | NOTHING,
    }

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
        synthetic: float | Literal["auto"] = "auto",
        winnow: bool = False,
        max_paths: int | None = 10_000,
        max_rows: int | float | None = None,
        voting: ExtractedVoting = "confidence",
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
            synthetic=synthetic,
            winnow=winnow,
            max_rows=max_rows,
            voting=voting,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.max_paths = max_paths

    def _data(
        self,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        random: np.random.RandomState,
        log: RunLog,
    ) -> ExtractionData:
        """Prepare the rows to learn from, with the decisions of the given trees or the true classes."""
        if self.network is None:
            return self._labelled_data(X, y, sample_weight, random, log, None)
        network = network_for(self.network, X, y, sample_weight, 0)
        if has_trees(network):
            return RuleExtractor._data(self, X, y, sample_weight, random, log)
        return self._labelled_data(X, y, sample_weight, random, log, network)

    def _extract(
        self, data: ExtractionData, random: np.random.RandomState, log: RunLog, progress: Progress
    ) -> ExtractionResult:
        if data.network is None or not has_trees(data.network):
            return super()._extract(data, random, log, progress)
        progress.started(self.method, 1)
        with log.stage("trees"):
            paths = TreePaths(data, uses_all_rows=not self._has_budget)
            progress.part_started(f"{paths.n_trees:,} trees", 0)
            rules = paths.best(N_SEEDS, self.max_terms) if self._has_budget else self._all_leaves(paths)
        progress.part_done()
        trees = "tree" if paths.n_trees == 1 else "trees"
        layer = LayerReport(f"{paths.n_trees:,} {trees}", paths.n_leaves, 0, (1,) * len(rules))
        method = f"{self.method} on the model's own {paths.n_trees:,} {trees}"
        return or_one_rule(ExtractionResult(rules, (layer,), method=method), data)

    def _all_leaves(self, paths: TreePaths) -> RuleSet:
        if self.max_paths is not None and paths.n_leaves > self.max_paths:
            raise ValueError(
                f"The model's trees have {paths.n_leaves:,} leaves, more than max_paths={self.max_paths:,}. "
                "Pass max_rules='auto' or a number for a short rule set, or increase max_paths."
            )
        return paths.all_leaves()
