"""ECLAIRE: rules from all hidden layers of a network, by clause-wise substitution."""

from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from clausewise.base.parameters import check_parameters
from clausewise.base.progress import Progress
from clausewise.compact.compaction import compact_examples
from clausewise.compact.examples import Examples
from clausewise.compact.settings import BUDGET, CompactionSettings, seed_of
from clausewise.extractors.base import (
    RuleExtractor,
    check_min_cases,
    dropping_of,
    inducer_for,
    or_one_rule,
    undivided,
)
from clausewise.extractors.clause_substitution import Plan, extract_clausewise
from clausewise.extractors.dropping import Ranking
from clausewise.extractors.extraction_data import Extracted, Task
from clausewise.extractors.min_cases import choose_min_cases, n_parts
from clausewise.extractors.run_log import PathPoint, ReportBuilder
from clausewise.induction import Inducer
from clausewise.networks.selection import LayerChoice
from clausewise.rules.voting import Voting

MinCases = int | float | Literal["auto"]

# The part of the rows that min_cases="auto" stands for where the rules only start a search.
SEED_MIN_CASES = 0.01


class ECLAIRE(RuleExtractor):
    """Rules that imitate a network, learnt through its hidden layers (the paper's Algorithm 1).

    For each hidden layer, clauses over the activations of its units are learnt that tell the network's
    decisions; for each of these clauses, premises over the input columns that tell where it holds. Together
    with the clauses' conclusions they are the rules. They speak of the raw columns, also where the network
    sees scaled or encoded ones.

    Parameters
    ----------
    network : model, optional
        The trained network: anything that `clausewise.wrap` takes, or what it gives. A scikit-learn model
        that is not fitted is cloned and trained on (X, y) first; without a network, a small `MLPClassifier`
        is.
    min_cases : "auto", int or float, default "auto"
        The paper's μ: two branches of every test hold at least this many rows (below 1: this part of the
        rows). Small values give many rules, large ones few. "auto" chooses on rows held back (a fifth; of few
        rows each fifth in turn), by fidelity first, then by size; see `report_.path`.
    intermediate_min_cases : int or float, optional
        Another value for the clauses over units; `min_cases` unless given.
    inducer : {"c5.0", "cart", "random_forest"} or Inducer, default "c5.0"
        The paper's ψ, which learns premises over the inputs. An object keeps its own min_cases.
    intermediate_inducer : {"c5.0", "cart", "random_forest"} or Inducer, optional
        What learns the clauses over units; `inducer` unless given.
    max_rules : int, optional
        A budget: the rules become starting points of a search for the most faithful rule set of at most so
        many rules, with fitted weights; see `RuleSet.compact`. They then vote by these weights, whatever
        `voting` says, with probabilities calibrated to the network's. As starting points need no tuning,
        "auto" then stands for a hundredth of the rows.
    min_fidelity : float, optional
        The same with the smallest number of rules that reaches this fidelity on rows held back.
    max_terms : int, default 6
        Most terms of a rule under a budget.
    points : bool, default False
        Whole weights between −5 and 5 under a budget, for `rules_.scorecard()`.
    eclectic : bool, default False
        Also learn rules from the inputs directly (the paper's ECLAIRE*).
    layers : optional
        Which hidden layers to use, as for `clausewise.wrap`: names, positions, "every 2", "last 3".
    winnow : bool, default True
        C5.0 puts columns aside beforehand that do not help on half of the rows.
    balance : {None, "balanced"}
        "balanced" makes the rows where a clause holds weigh as much as those where it does not, so that rare
        clauses are not lost; under a budget also all classes alike.
    max_rows : int or float, optional
        Learn from this many rows (or this part of them), drawn at random, of each class in proportion.
    drop_lowest : float, default 0.0
        The part of a layer's clauses, lowest ranks first, that is dropped before substitution.
    drop_per_class : bool, default False
        Drop that part of the clauses of each class, instead of all clauses.
    min_confidence : float, default 0.0
        Clauses over units with less confidence are dropped.
    max_intermediate_rules : int, optional
        Most clauses per layer, best ranks first.
    ranking : {"confidence", "accuracy", "hill_climbing"}, default "confidence"
        What clauses are ranked by: (right + 1) / (covered + 2), right / covered, or a score that favours
        exact, frequent and short clauses.
    voting : {"confidence", "majority", "share"}, default "confidence"
        How the rules decide together; "majority" is the paper's.
    random_state : int, RandomState or None
        Seeds what is drawn: rows, rows held back, a network trained here. None stands for 0, so that the same
        call gives the same rules.
    n_jobs : int, optional
        Number of threads; all usable cores unless given. It does not change any result.
    verbose : int, default 0
        1 shows progress, 2 a line per layer.

    Attributes
    ----------
    rules_ : RuleSet
        The rules. Cover, correct and confidence are counted on the rows learnt from, against the network's
        decisions; `origin` tells the layer and the clause that a rule comes from.
    network_ : Network
        The wrapped network.
    report_ : ExtractionReport
        Time and memory per stage, clauses per layer, rules per clause, the choice of min_cases.
    min_cases_ : int, float or None
        The value of min_cases that was used; None if an inducer object has its own.
    classes_ : ndarray of shape (n_classes,)
        The network's classes.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neural_network import MLPClassifier
    >>> from clausewise import ECLAIRE
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> network = MLPClassifier((16, 8), max_iter=2000, random_state=0).fit(X, y)
    >>> model = ECLAIRE(network, min_cases=5).fit(X)
    >>> len(model.rules_) < 20, model.fidelity(X) > 0.9
    (True, True)
    """

    method = "ECLAIRE"

    def __init__(
        self,
        network: Any = None,
        *,
        min_cases: MinCases = "auto",
        intermediate_min_cases: int | float | None = None,
        inducer: str | Inducer = "c5.0",
        intermediate_inducer: str | Inducer | None = None,
        max_rules: int | None = None,
        min_fidelity: float | None = None,
        max_terms: int = 6,
        points: bool = False,
        eclectic: bool = False,
        layers: LayerChoice = None,
        winnow: bool = True,
        balance: Literal["balanced"] | None = None,
        max_rows: int | float | None = None,
        drop_lowest: float = 0.0,
        drop_per_class: bool = False,
        min_confidence: float = 0.0,
        max_intermediate_rules: int | None = None,
        ranking: Ranking = "confidence",
        voting: Voting = "confidence",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.network = network
        self.min_cases = min_cases
        self.intermediate_min_cases = intermediate_min_cases
        self.inducer = inducer
        self.intermediate_inducer = intermediate_inducer
        self.max_rules = max_rules
        self.min_fidelity = min_fidelity
        self.max_terms = max_terms
        self.points = points
        self.eclectic = eclectic
        self.layers = layers
        self.winnow = winnow
        self.balance = balance
        self.max_rows = max_rows
        self.drop_lowest = drop_lowest
        self.drop_per_class = drop_per_class
        self.min_confidence = min_confidence
        self.max_intermediate_rules = max_intermediate_rules
        self.ranking = ranking
        self.voting = voting
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_layers(self, task: Task) -> None:
        task.trained_network.hidden_layers(task.rows, self.layers)

    def _check_parameters(self) -> None:
        if self.balance not in (None, "balanced"):
            raise ValueError(f"balance is {self.balance!r}; expected None or 'balanced'.")
        if isinstance(self.min_cases, str) and self.min_cases != "auto":
            raise ValueError(f"min_cases is {self.min_cases!r}; expected 'auto', a number of rows or a part.")
        if self.min_cases != "auto":
            check_min_cases(self.min_cases, self.inducer, self._layer_inducer)
        if self.intermediate_min_cases is not None:
            check_min_cases(self.intermediate_min_cases, self._layer_inducer)
        self._plan(2)
        check_parameters(BUDGET, self.get_params(deep=False))
        self._settings()
        if self.points and not self._has_budget:
            raise ValueError("points are fitted under a budget; pass max_rules or min_fidelity too.")

    @property
    def _has_budget(self) -> bool:
        return self.max_rules is not None or self.min_fidelity is not None

    def _settings(self) -> CompactionSettings:
        return CompactionSettings(
            max_terms=self.max_terms,
            points=self.points,
            balance=self.balance,
            n_jobs=self.n_jobs,
        )

    @property
    def _layer_inducer(self) -> str | Inducer:
        return self.inducer if self.intermediate_inducer is None else self.intermediate_inducer

    def _plan(self, min_cases: int | float | None, seed: int = 0) -> Plan:
        of_layers = min_cases if self.intermediate_min_cases is None else self.intermediate_min_cases
        return Plan(
            layer_inducer=inducer_for(self._layer_inducer, of_layers, self.winnow, seed),
            clause_inducer=inducer_for(self.inducer, min_cases, self.winnow, seed),
            layers=self.layers,
            eclectic=self.eclectic,
            balance=self.balance is not None,
            dropping=dropping_of(self),
            n_jobs=self.n_jobs,
        )

    def _extract(
        self, task: Task, random: np.random.RandomState, report: ReportBuilder, progress: Progress
    ) -> Extracted:
        seed = random.randint(2**31)
        min_cases, path = self._choice(task, random, seed, report, progress)
        plan = self._plan(min_cases, seed)
        progress.started(self.method, n_parts(task, [plan]))
        found = extract_clausewise(task, [plan], report, progress)[0]
        caveats = undivided(min_cases, task.n_rows)
        found = or_one_rule(replace(found, min_cases=min_cases, path=path, caveats=caveats), task)
        return self._compacted(found, task, random, report, progress) if self._has_budget else found

    def _compacted(
        self,
        found: Extracted,
        task: Task,
        random: np.random.RandomState,
        report: ReportBuilder,
        progress: Progress,
    ) -> Extracted:
        with report.stage("compaction"):
            probabilities = task.trained_network.probabilities(task.rows)
            rules, caveats = compact_examples(
                found.rules,
                Examples(task.inputs.table, task.codes, len(task.classes), probabilities, task.weights),
                self._settings(),
                max_rules=self.max_rules,
                min_fidelity=self.min_fidelity,
                seed=seed_of(random),
                progress=progress,
            )
        return replace(found, rules=rules, voting="weights", caveats=(*found.caveats, *caveats))

    def _choice(
        self,
        task: Task,
        random: np.random.RandomState,
        seed: int,
        report: ReportBuilder,
        progress: Progress,
    ) -> tuple[int | float | None, tuple[PathPoint, ...]]:
        if self.min_cases != "auto":
            return self.min_cases, ()
        if self._has_budget:
            return SEED_MIN_CASES, ()
        if not any(isinstance(inducer, str) for inducer in (self.inducer, self._layer_inducer)):
            return None, ()
        plan_with = partial(self._plan, seed=seed)
        return choose_min_cases(task, plan_with, self.voting, random, report, progress)
