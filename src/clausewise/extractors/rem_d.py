"""REM-D and DeepRED*: rules by term-wise substitution, from the last hidden layer back to the inputs."""

from dataclasses import replace
from typing import Any

import numpy as np

from clausewise.base.progress import Progress
from clausewise.extractors.base import (
    RuleExtractor,
    check_min_cases,
    dropping_of,
    inducer_for,
    or_one_rule,
    undivided,
)
from clausewise.extractors.dropping import Ranking
from clausewise.extractors.extraction_data import Extracted, Task
from clausewise.extractors.limits import Budget, OnBudget
from clausewise.extractors.run_log import ReportBuilder
from clausewise.extractors.term_substitution import Plan, TermwiseExtraction
from clausewise.induction import Inducer
from clausewise.induction.estimator import counted_min_cases
from clausewise.networks.selection import LayerChoice
from clausewise.rules.voting import Voting


class TermwiseExtractor(RuleExtractor):
    """What REM-D and DeepRED* share: everything but the order in which terms are replaced."""

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
        max_rules: int | None = 100_000,
        max_seconds: float | None = None,
        max_memory: int | None = 2**30,
        on_budget: OnBudget = "raise",
        voting: Voting = "confidence",
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
        self.max_seconds = max_seconds
        self.max_memory = max_memory
        self.on_budget = on_budget
        self.voting = voting
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_layers(self, task: Task) -> None:
        task.trained_network.hidden_layers(task.rows, self.layers)

    def _check_parameters(self) -> None:
        counted_min_cases(self.min_cases, 1)
        if self.final_min_cases is not None:
            check_min_cases(self.final_min_cases, self.inducer)
        inducer_for(self.inducer, self.min_cases, self.winnow)
        dropping_of(self)
        self._budget()

    def _run(self, extraction: TermwiseExtraction) -> Extracted:
        raise NotImplementedError

    def _budget(self) -> Budget:
        return Budget(self.max_rules, self.max_seconds, self.max_memory, self.on_budget)

    def _inducers(self, n_steps: int, n_rows: int, seed: int = 0) -> tuple[Inducer, ...]:
        """One per step; min_cases goes evenly from the first value to the last."""
        first = counted_min_cases(self.min_cases, n_rows)
        last = first if self.final_min_cases is None else counted_min_cases(self.final_min_cases, n_rows)
        values = np.linspace(first, last, n_steps).round().astype(int).tolist()
        return tuple(inducer_for(self.inducer, max(value, 1), self.winnow, seed) for value in values)

    def _extract(
        self,
        task: Task,
        random: np.random.RandomState,
        report: ReportBuilder,
        progress: Progress,
    ) -> Extracted:
        n_steps = len(task.trained_network.select_layers(self.layers)) + 1
        plan = Plan(
            inducers=self._inducers(n_steps, task.n_rows, random.randint(2**31)),
            layers=self.layers,
            dropping=dropping_of(self),
            merge_negations=self.merge_negations,
            n_jobs=self.n_jobs,
        )
        budget = self._budget()
        progress.started(self.method, 2 * (n_steps - 1))  # per layer, what tells terms and products
        found = self._run(TermwiseExtraction(task, plan, budget, report, progress))
        has_own = not isinstance(self.inducer, str)
        caveats = () if has_own else undivided(self.min_cases, task.n_rows)
        if budget.n_truncated:
            caveats = (
                *caveats,
                f"The bounds were exceeded; {budget.n_truncated:,} rules of lower rank were left out.",
            )
        min_cases = None if has_own else self.min_cases
        return or_one_rule(replace(found, min_cases=min_cases, caveats=caveats), task)


class REMD(TermwiseExtractor):
    """REM-D: rules by term-wise substitution, from the last hidden layer back to the inputs.

    Rules over the last hidden layer tell the network's decisions. Each of their terms is replaced by the
    rules over the layer before it that tell this term, in all combinations; and so on, until the rules speak
    of the inputs. Rules that contradict themselves, repeat others or (over the inputs) are included in others
    are dropped while the combinations are formed.

    Parameters
    ----------
    network : model, optional
        As for `ECLAIRE`.
    min_cases : int or float, default 0.05
        The paper's μ: two branches of every test hold at least this many rows (below 1: this part of the
        rows). Products explode where it is small.
    final_min_cases : int or float, optional
        Another value for the inputs; layers between get values between, evenly.
    inducer : {"c5.0", "cart", "random_forest"} or Inducer, default "c5.0"
        The paper's ψ. An object keeps its own min_cases.
    layers : optional
        Which hidden layers to go through, as for `clausewise.wrap`.
    winnow : bool, default True
        C5.0 puts columns aside beforehand that do not help on half of the rows.
    merge_negations : bool, default False
        Learn a term and its negation together, from one rule set: half the fits.
    max_rows, drop_lowest, drop_per_class, min_confidence, max_intermediate_rules, ranking
        As for `ECLAIRE`; dropping is for every rule set that is learnt on the way.
    max_rules : int or None, default 100,000
        Most rules of a class, or of a part of a product.
    max_seconds : float, optional
        Most seconds for the extraction.
    max_memory : int or None, default 1 GiB
        Most bytes for the rules of a product.
    on_budget : {"raise", "truncate"}, default "raise"
        What happens when a bound is hit: `ExtractionBudgetExceeded`, which carries what was built so far, or
        the best-ranked part is kept, with a warning.
    voting, random_state, n_jobs, verbose
        As for `ECLAIRE`.

    Attributes
    ----------
    rules_, network_, report_, min_cases_, classes_, n_features_in_, feature_names_in_
        As for `ECLAIRE`. The origin of a rule is the clause over the last hidden layer that it comes from.
    """

    method = "REM-D"

    def _run(self, extraction: TermwiseExtraction) -> Extracted:
        return extraction.substituting_at_once()


class DeepRED(TermwiseExtractor):
    """DeepRED*: as REM-D, but all rule sets are learnt first and merged at the end.

    Every term of every rule set is told by rules over the layer before it, down to the inputs, before any
    product is formed. More is learnt than in REM-D: also what tells terms that a product would have dropped.
    The star stands for C5.0 (or CART) instead of DeepRED's C4.5.

    Parameters
    ----------
    network, min_cases, …
        As for `REMD`.
    """

    method = "DeepRED*"

    def _run(self, extraction: TermwiseExtraction) -> Extracted:
        return extraction.merging_at_the_end()
