"""REM-D: rules by term-wise substitution, from the last hidden layer back to the inputs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from clausewise.base.parameters import FLAG, MIN_CASES, NOTHING, Constraint
from clausewise.base.progress import Progress
from clausewise.extractors.base import (
    DROPPING,
    ExtractedVoting,
    RuleExtractor,
    dropping_of,
    inducer_for,
    or_one_rule,
    require_named_inducer,
    undivided,
)
from clausewise.extractors.dropping import Ranking
from clausewise.extractors.extraction_data import ExtractionData
from clausewise.extractors.limits import LIMITS, Limits, OnLimit
from clausewise.extractors.result import ExtractionResult
from clausewise.extractors.run_log import RunLog
from clausewise.extractors.term_substitution import TermwiseExtraction, TermwiseOptions
from clausewise.induction import Inducer
from clausewise.induction.estimator import counted_min_cases
from clausewise.networks import LayerChoice


class TermwiseExtractor(RuleExtractor):
    """The base of REM-D and DeepRED*, which differ only in the order in which terms are replaced."""

    uses_layers = True
    _parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        **RuleExtractor._parameter_constraints,
        **DROPPING,
        **LIMITS,
        "final_min_cases": MIN_CASES | NOTHING,
        "merge_negations": FLAG,
    }

    def __init__(
        self,
        network: Any = None,
        *,
        min_cases: int | float = 0.05,
        final_min_cases: int | float | None = None,
        inducer: str | Inducer = "c5.0",
        layers: LayerChoice = None,
        winnow: bool = True,
        merge_negations: bool = False,
        max_rows: int | float | None = None,
        drop_lowest: float = 0.0,
        drop_per_class: bool = False,
        min_confidence: float = 0.0,
        max_intermediate_rules: int | None = None,
        ranking: Ranking = "confidence",
        max_rules: int | Literal["auto"] | None = "auto",
        max_conditions: int | None = None,
        min_fidelity: float | None = None,
        max_terms: int = 6,
        points: bool = False,
        synthetic: float | Literal["auto"] = "auto",
        max_product_rules: int | None = 100_000,
        max_seconds: float | None = None,
        max_memory: int | None = 2**30,
        on_limit: OnLimit = "raise",
        voting: ExtractedVoting = "confidence",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.network = network
        self.min_cases = min_cases
        self.final_min_cases = final_min_cases
        self.inducer = inducer
        self.layers = layers
        self.winnow = winnow
        self.merge_negations = merge_negations
        self.max_rows = max_rows
        self.drop_lowest = drop_lowest
        self.drop_per_class = drop_per_class
        self.min_confidence = min_confidence
        self.max_intermediate_rules = max_intermediate_rules
        self.ranking = ranking
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.min_fidelity = min_fidelity
        self.max_terms = max_terms
        self.points = points
        self.synthetic = synthetic
        self.max_product_rules = max_product_rules
        self.max_seconds = max_seconds
        self.max_memory = max_memory
        self.on_limit = on_limit
        self.voting = voting
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_combinations(self) -> None:
        super()._check_combinations()
        if self.final_min_cases is not None:
            require_named_inducer(self.inducer)
        inducer_for(self.inducer, self.min_cases, self.winnow)  # raises for an unknown inducer

    def _run(self, extraction: TermwiseExtraction) -> ExtractionResult:
        raise NotImplementedError

    def _limits(self) -> Limits:
        return Limits(self.max_product_rules, self.max_seconds, self.max_memory, self.on_limit)

    def _inducers(self, n_steps: int, n_rows: int, seed: int = 0) -> tuple[Inducer, ...]:
        """Return one inducer per step; min_cases changes linearly from the first value to the last."""
        first = counted_min_cases(self.min_cases, n_rows)
        last = first if self.final_min_cases is None else counted_min_cases(self.final_min_cases, n_rows)
        values = np.linspace(first, last, n_steps).round().astype(int).tolist()
        return tuple(inducer_for(self.inducer, max(value, 1), self.winnow, seed) for value in values)

    def _extract(
        self,
        data: ExtractionData,
        random: np.random.RandomState,
        log: RunLog,
        progress: Progress,
    ) -> ExtractionResult:
        n_steps = len(data.trained_network.select_layers(self.layers)) + 1
        options = TermwiseOptions(
            inducers=self._inducers(n_steps, data.n_rows, random.randint(2**31)),
            layers=self.layers,
            dropping=dropping_of(self),
            merge_negations=self.merge_negations,
            n_jobs=self.n_jobs,
        )
        limits = self._limits()
        progress.started(self.method, 2 * (n_steps - 1))  # per layer, premises of terms and products
        found = self._run(TermwiseExtraction(data, options, limits, log, progress))
        has_own = not isinstance(self.inducer, str)
        caveats = () if has_own else undivided(self.min_cases, data.n_rows)
        if limits.n_truncated:
            caveats = (
                *caveats,
                f"A limit was exceeded; {limits.n_truncated:,} rules of lower rank were left out.",
            )
        min_cases = None if has_own else self.min_cases
        return or_one_rule(replace(found, min_cases=min_cases, caveats=caveats), data)


class REMD(TermwiseExtractor):
    """REM-D: rules by term-wise substitution, from the last hidden layer back to the inputs.

    Rules over the last hidden layer predict the network's decisions. Each of their terms is replaced by the
    rules over the layer before that predict this term, in all combinations, and so on down to the inputs.
    Rules that contradict themselves, repeat others or (over the inputs) lie inside others are dropped while
    the combinations are formed.

    Parameters
    ----------
    network : model, optional
        As for `ECLAIRE`.
    min_cases : int or float, default 0.05
        The paper's μ: at least two branches of every test hold this many rows (below 1: this fraction of the
        rows). Products explode where it is small.
    final_min_cases : int or float, optional
        Another value for the inputs; the layers between get evenly spaced values.
    inducer : {"c5.0", "cart", "random_forest"} or Inducer, default "c5.0"
        The paper's ψ. An object keeps its own min_cases.
    layers : optional
        Which hidden layers to go through, as for `clausewise.wrap`.
    winnow : bool, default True
        C5.0 first drops columns that do not help on one half of the rows.
    merge_negations : bool, default False
        Learn a term and its negation from one rule set, with half the fits.
    max_rows, drop_lowest, drop_per_class, min_confidence, max_intermediate_rules, ranking
        As for `ECLAIRE`; clauses are dropped from every rule set that is learnt on the way.
    max_rules, max_conditions, min_fidelity, max_terms, points, synthetic
        As for `ECLAIRE`: a budget for the final rules.
    max_product_rules : int or None, default 100,000
        A limit on the rules of a class, or of a part of a product.
    max_seconds : float, optional
        A limit on the wall time of the extraction, before the search for a short rule set.
    max_memory : int or None, default 1 GiB
        A limit on the bytes of a product's rules.
    on_limit : {"raise", "truncate"}, default "raise"
        Whether exceeding a limit raises `ExtractionLimitExceeded`, which carries the rules built so far, or
        keeps the best-ranked rules, with a warning.
    voting, random_state, n_jobs, verbose
        As for `ECLAIRE`.

    Attributes
    ----------
    rules_, network_, report_, min_cases_, classes_, n_features_in_, feature_names_in_
        As for `ECLAIRE`. The origin of a rule is the clause over the last hidden layer that it comes from.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import REMD
    >>> from clausewise.networks import ArrayNetwork
    >>> network = ArrayNetwork(  # good where max(income - 6, 0) > 4 * max(debt - 4, 0) + 0.5
    ...     [[[1, 0], [0, 1]], [[0, 1], [0, -4]]],
    ...     [[-6, -4], [0, -0.5]],
    ...     classes=["bad", "good"],
    ...     feature_names=["income", "debt"],
    ... )
    >>> X = np.random.default_rng(0).uniform(0, 10, (300, 2))
    >>> model = REMD(network, max_rules=2).fit(X)
    >>> print(model.rules_)
    2 rules for the classes bad, good; voting weights (start with bad +1.473), otherwise bad
    0  IF income > 6.4 AND debt ≤ 4.6 THEN good   (confidence 0.96, covers 54, weight 2.84)
    1  IF income ≤ 6.6 THEN bad   (confidence 0.99, covers 183, weight 0.582)
    >>> round(model.fidelity(X), 2)
    0.99
    """

    method = "REM-D"

    def _run(self, extraction: TermwiseExtraction) -> ExtractionResult:
        return extraction.substituting_at_once()
