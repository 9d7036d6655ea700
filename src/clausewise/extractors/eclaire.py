"""ECLAIRE: rules from all hidden layers of a network, by clause-wise substitution."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from clausewise.base.parameters import FLAG, MIN_CASES, NOTHING, Constraint, one_of
from clausewise.base.progress import Progress
from clausewise.compact.settings import SEARCH
from clausewise.extractors.base import (
    DROPPING,
    INDUCER,
    ExtractedVoting,
    RuleExtractor,
    dropping_of,
    inducer_for,
    or_one_rule,
    require_named_inducer,
    undivided,
)
from clausewise.extractors.clause_substitution import ClausewiseOptions, extract_clausewise
from clausewise.extractors.dropping import Ranking
from clausewise.extractors.extraction_data import ExtractionData
from clausewise.extractors.min_cases import choose_min_cases, n_layers
from clausewise.extractors.result import ExtractionResult
from clausewise.extractors.run_log import PathPoint, RunLog
from clausewise.induction import Inducer
from clausewise.networks import LayerChoice

MinCases = int | float | Literal["auto"]

# The fraction of rows that min_cases="auto" means if the rules only seed a search.
SEED_MIN_CASES = 0.01


class ECLAIRE(RuleExtractor):
    """Rules that imitate a network, learnt through its hidden layers (the paper's Algorithm 1).

    For each hidden layer, ECLAIRE learns clauses over the activations of its units that predict the network's
    decisions, and for each of these clauses, premises over the input columns that predict where it holds.
    These premises with the clauses' conclusions are the rules. They test the raw columns, even where the
    network sees scaled or encoded ones.

    Parameters
    ----------
    network : model, optional
        The trained network: anything that `clausewise.wrap` takes, or its result. An unfitted scikit-learn
        model is cloned and trained on (X, y) first; without a network, a small `MLPClassifier` is trained.
    min_cases : "auto", int or float, default "auto"
        The paper's μ: at least two branches of every test hold this many rows (below 1: this fraction of the
        rows). Small values give many rules, large ones few. "auto" chooses the value with the best fidelity
        on held-out rows (a fifth; with few rows each fifth in turn), then the fewest rules; see
        `report_.path`.
    intermediate_min_cases : int or float, optional
        Another value for the clauses over units; `min_cases` unless given.
    inducer : {"c5.0", "cart", "random_forest"} or Inducer, default "c5.0"
        The paper's ψ, which learns premises over the inputs. An object keeps its own min_cases.
    intermediate_inducer : {"c5.0", "cart", "random_forest"} or Inducer, optional
        Learns the clauses over units; `inducer` unless given.
    max_rules : "auto", int or None, default "auto"
        The most rules. The extracted rules start a search for the most faithful rule set that is short to
        read, with fitted weights; see `RuleSet.compact`. It votes by these weights, with probabilities
        calibrated to the network's, and as starting points need no tuning, `min_cases="auto"` then stands for
        a hundredth of the rows. "auto" chooses the size on held-out rows, at most 20 rules and 60 conditions
        for two classes; `report_.sizes` has what other sizes reach. None returns all extracted rules: the
        paper's rule set.
    max_conditions : int, optional
        The most to read in all rules, counted by `RuleSet.reading_cost`.
    min_fidelity : float, optional
        Choose the rule set with the least to read that reaches this fidelity on held-out rows.
    max_terms : int, default 6
        The most terms in a rule, unless all rules are returned.
    points : bool, default False
        Use whole weights between −5 and 5, for `rules_.scorecard()`; not if all rules are returned.
    synthetic : "auto" or float, default "auto"
        How many rows to generate near each row, labelled by the network, to search short rule sets on.
        "auto" generates up to 20 per row and 16,000 in all, but none for a plain function, whose calls may be
        expensive, and none with more than 200 columns. All figures are counted on your rows.
    seeds : bool, default True
        Start the search for a short rule set from the rules found through hidden layers. They show where in
        the network a rule comes from, and help where no part of a rule helps alone (as for XOR). Elsewhere
        False finds rules that are as faithful in less time, without looking at the hidden layers. All rules
        (`max_rules=None`) always come from the layers.
    eclectic : bool, default False
        Also learn rules from the inputs directly (the paper's ECLAIRE*).
    layers : optional
        Which hidden layers to use, as for `clausewise.wrap`: names, positions, "every 2", "last 3".
    winnow : bool, default True
        C5.0 first drops columns that do not help on one half of the rows.
    balance : {None, "balanced"}
        "balanced" gives the rows where a clause holds the same total weight as the others, so that rare
        clauses are not lost; under a budget, also the same total weight to all classes.
    max_rows : int or float, optional
        Learn from this many rows (or this fraction of them), a random sample stratified by class.
    drop_lowest : float, default 0.0
        The fraction of a layer's clauses, lowest ranks first, to drop before substitution.
    drop_per_class : bool, default False
        Drop this fraction of each class's clauses, instead of all clauses.
    min_confidence : float, default 0.0
        Clauses over units with less confidence are dropped.
    max_intermediate_rules : int, optional
        The most clauses per layer, best ranks first.
    ranking : {"confidence", "accuracy", "hill_climbing"}, default "confidence"
        What clauses are ranked by: (right + 1) / (covered + 2), right / covered, or a score that favours
        exact, frequent and short clauses.
    voting : {"auto", "fitted", "fitted_by_class", "confidence", "majority", "share"}, default "auto"
        How the rules that fire decide together if all are returned (`max_rules=None`). "auto" and "fitted"
        fit one weight per rule to the network's decisions, unless confidences decide more held-out rows
        rightly, which "fitted" warns of. "fitted_by_class" fits one weight per rule and class, which is more
        faithful with many classes; see `RuleSet.fit_votes`. "confidence" weighs each rule by how often it was
        right; "majority" is the paper's vote.
    random_state : int, RandomState or None
        Seeds everything random: sampled rows, held-out rows, a network trained here. None stands for 0, so
        the same call gives the same rules.
    n_jobs : int, optional
        Number of threads; all usable cores unless given. The result does not depend on it.
    verbose : int, default 0
        1 shows progress, 2 a line per layer.

    Attributes
    ----------
    rules_ : RuleSet
        The rules. Cover, correct and confidence are counted on the rows learnt from, against the network's
        decisions; a rule's `origin` is the layer and the clause that it comes from.
    network_ : Network
        The wrapped network.
    report_ : ExtractionReport
        Time and memory per stage, clauses per layer, rules per clause, how the size or min_cases was chosen.
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
    >>> model = ECLAIRE(network).fit(X)
    >>> len(model.rules_) < 20, model.fidelity(X) > 0.9
    (True, True)
    >>> paper = ECLAIRE(network, max_rules=None).fit(X)  # all rules, as in the paper
    """

    method = "ECLAIRE"
    uses_layers = True
    _parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        **RuleExtractor._parameter_constraints,
        **DROPPING,
        "min_cases": MIN_CASES | one_of("auto"),
        "intermediate_min_cases": MIN_CASES | NOTHING,
        "intermediate_inducer": INDUCER | NOTHING,
        "seeds": FLAG,
        "eclectic": FLAG,
        "balance": SEARCH["balance"],
    }

    def __init__(
        self,
        network: Any = None,
        *,
        min_cases: MinCases = "auto",
        intermediate_min_cases: int | float | None = None,
        inducer: str | Inducer = "c5.0",
        intermediate_inducer: str | Inducer | None = None,
        max_rules: int | Literal["auto"] | None = "auto",
        max_conditions: int | None = None,
        min_fidelity: float | None = None,
        max_terms: int = 6,
        points: bool = False,
        synthetic: float | Literal["auto"] = "auto",
        seeds: bool = True,
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
        voting: ExtractedVoting = "auto",
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
        self.max_conditions = max_conditions
        self.min_fidelity = min_fidelity
        self.max_terms = max_terms
        self.points = points
        self.synthetic = synthetic
        self.seeds = seeds
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

    def _check_combinations(self) -> None:
        super()._check_combinations()
        if self.min_cases != "auto":
            require_named_inducer(self.inducer, self._layer_inducer)
        if self.intermediate_min_cases is not None:
            require_named_inducer(self._layer_inducer)
        self._options(2)  # raises for an unknown inducer

    @property
    def _needs_layers(self) -> bool:
        return self.seeds or not self._has_budget

    @property
    def _layer_inducer(self) -> str | Inducer:
        return self.inducer if self.intermediate_inducer is None else self.intermediate_inducer

    def _options(self, min_cases: int | float | None, seed: int = 0) -> ClausewiseOptions:
        of_layers = min_cases if self.intermediate_min_cases is None else self.intermediate_min_cases
        return ClausewiseOptions(
            layer_inducer=inducer_for(self._layer_inducer, of_layers, self.winnow, seed),
            clause_inducer=inducer_for(self.inducer, min_cases, self.winnow, seed),
            layers=self.layers,
            eclectic=self.eclectic,
            balance=self.balance is not None,
            dropping=dropping_of(self),
            n_jobs=self.n_jobs,
        )

    def _extract(
        self, data: ExtractionData, random: np.random.RandomState, log: RunLog, progress: Progress
    ) -> ExtractionResult:
        if not self._needs_layers:
            return ExtractionResult(data.no_rules())
        seed = random.randint(2**31)
        min_cases, path = self._chosen_min_cases(data, random, seed, log, progress)
        options = self._options(min_cases, seed)
        progress.started(self.method, n_layers(data, options))
        found = extract_clausewise(data, options, log, progress)
        caveats = undivided(min_cases, data.n_rows)
        return or_one_rule(replace(found, min_cases=min_cases, path=path, caveats=caveats), data)

    def _chosen_min_cases(
        self,
        data: ExtractionData,
        random: np.random.RandomState,
        seed: int,
        log: RunLog,
        progress: Progress,
    ) -> tuple[int | float | None, tuple[PathPoint, ...]]:
        """Return min_cases; "auto" is chosen on held-out rows, or fixed if the rules only seed a search."""
        if self.min_cases != "auto":
            return self.min_cases, ()
        if self._has_budget:
            return SEED_MIN_CASES, ()
        if not any(isinstance(inducer, str) for inducer in (self.inducer, self._layer_inducer)):
            return None, ()
        options_with = partial(self._options, seed=seed)
        return choose_min_cases(data, options_with, partial(self._voted, seed=seed), random, log, progress)
