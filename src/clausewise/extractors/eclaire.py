"""ECLAIRE: rules from all hidden layers of a network, by clause-wise substitution."""

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from clausewise.extractors.base import ExtractionWarning, RuleExtractor
from clausewise.extractors.clausewise import Extracted, Plan, Task, extract_clausewise
from clausewise.extractors.dropping import Dropping, Ranking
from clausewise.extractors.network_for import network_for
from clausewise.extractors.progress import Progress
from clausewise.extractors.report import ExtractionReport, PathPoint, ReportBuilder
from clausewise.extractors.rows import as_rows, row_limit, stratified_rows, take_rows
from clausewise.extractors.tuning import choose_min_cases, n_parts
from clausewise.induction import Inducer, PreparedMatrix, get_inducer
from clausewise.induction._estimator import counted_min_cases, read_weights, set_feature_attributes
from clausewise.networks.selection import LayerChoice
from clausewise.rules import Rule, RuleSet
from clausewise.rules.voting import Voting, checked_voting

if TYPE_CHECKING:
    from typing import Self

MinCases = int | float | Literal["auto"]


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
    eclectic : bool, default False
        Also learn rules from the inputs directly (the paper's ECLAIRE*).
    layers : optional
        Which hidden layers to use, as for `clausewise.wrap`: names, positions, "every 2", "last 3".
    winnow : bool, default True
        C5.0 puts columns aside beforehand that do not help on half of the rows.
    balance : {None, "balanced"}
        "balanced" makes the rows where a clause holds weigh as much as those where it does not, so that rare
        clauses are not lost.
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

    def __init__(
        self,
        network: Any = None,
        *,
        min_cases: MinCases = "auto",
        intermediate_min_cases: int | float | None = None,
        inducer: str | Inducer = "c5.0",
        intermediate_inducer: str | Inducer | None = None,
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

    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> "Self":
        """Extract rules from the network.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
            Raw rows, as the network (or its preprocessing) takes them; best those it was trained on.
        y : array-like of shape (n_rows,), optional
            True classes; only needed to train a network that is not given fitted.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts; 0 leaves it out.
        """
        self._check_parameters()
        X = as_rows(X)
        report = ReportBuilder()
        random = check_random_state(0 if self.random_state is None else self.random_state)
        with report.stage("network"):
            network = network_for(self.network, X, y, sample_weight, random.randint(2**31))
        with report.stage("labels and inputs"):
            task = self._task(network, X, sample_weight, random)
        with Progress(self.verbose) as progress:
            min_cases, path = self._choice(task, random, report, progress)
            extracted, caveats = self._extracted(task, min_cases, report, progress)
            progress.finished(f"ECLAIRE: {len(extracted.rules):,} rules")
        self.rules_ = extracted.rules.with_voting(self.voting)
        self.network_, self.features_, self.classes_ = network, task.inputs.features, network.classes
        self.min_cases_ = min_cases
        set_feature_attributes(self, self.features_)
        self.report_ = ExtractionReport(
            method="ECLAIRE",
            n_rows=task.inputs.n_rows,
            n_rows_given=X.shape[0],
            min_cases=min_cases,
            path=path,
            layers=extracted.layers,
            n_rules=len(self.rules_),
            stages=tuple(report.stages.values()),
        )
        for caveat in caveats or _untold_classes(self.rules_, task):
            warnings.warn(caveat, ExtractionWarning, stacklevel=2)
        return self

    # --- Parameters ---

    def _check_parameters(self) -> None:
        checked_voting(self.voting)
        if self.balance not in (None, "balanced"):
            raise ValueError(f"balance is {self.balance!r}; expected None or 'balanced'.")
        row_limit(self.max_rows, 1)
        if isinstance(self.min_cases, str) and self.min_cases != "auto":
            raise ValueError(f"min_cases is {self.min_cases!r}; expected 'auto', a number of rows or a part.")
        values = [self.min_cases] if self.min_cases != "auto" else []
        values += [] if self.intermediate_min_cases is None else [self.intermediate_min_cases]
        for value in values:
            counted_min_cases(value, 1)
        if self.min_cases != "auto" and not isinstance(self.inducer, str):
            raise ValueError(
                "min_cases goes with an inducer given by its name; an object keeps its own, set it there."
            )
        self._plan(2)

    def _plan(self, min_cases: int | float | None) -> Plan:
        first = self.inducer if self.intermediate_inducer is None else self.intermediate_inducer
        of_layers = min_cases if self.intermediate_min_cases is None else self.intermediate_min_cases
        return Plan(
            layer_inducer=self._inducer(first, of_layers),
            clause_inducer=self._inducer(self.inducer, min_cases),
            layers=self.layers,
            eclectic=self.eclectic,
            balance=self.balance is not None,
            dropping=Dropping(
                self.drop_lowest,
                self.drop_per_class,
                self.min_confidence,
                self.max_intermediate_rules,
                self.ranking,
            ),
            n_jobs=self.n_jobs,
        )

    def _inducer(self, inducer: str | Inducer, min_cases: int | float | None) -> Inducer:
        if not isinstance(inducer, str):
            return get_inducer(inducer)
        options: dict[str, Any] = {"min_cases": min_cases}
        if inducer.lower() == "c5.0":
            options["winnow"] = self.winnow
        return get_inducer(inducer, **options)

    # --- Steps ---

    def _task(
        self, network: Any, X: Any, sample_weight: ArrayLike | None, random: np.random.RandomState
    ) -> Task:
        """The rows to learn from, prepared, with the network's decisions."""
        features = network.features(X)
        table = features.encode(X)
        weights = read_weights(sample_weight, len(table))
        codes = network.codes(X)
        rows = np.arange(len(table)) if weights is None else np.flatnonzero(weights > 0)
        rows = rows[stratified_rows(codes[rows], row_limit(self.max_rows, len(rows)), random)]
        if len(rows) < len(table):
            X, table, codes = take_rows(X, rows), table[rows], codes[rows]
            weights = None if weights is None else weights[rows]
        inputs = PreparedMatrix.of_encoded(table, features, n_jobs=self.n_jobs)
        return Task(network, X, inputs, codes, weights)

    def _choice(
        self, task: Task, random: np.random.RandomState, report: ReportBuilder, progress: Progress
    ) -> tuple[int | float | None, tuple[PathPoint, ...]]:
        if self.min_cases != "auto":
            return self.min_cases, ()
        if not isinstance(self.inducer, str) or _has_one_class(task):
            return None, ()
        return choose_min_cases(task, self._plan, self.voting, random, report, progress)

    def _extracted(
        self, task: Task, min_cases: int | float | None, report: ReportBuilder, progress: Progress
    ) -> tuple[Extracted, list[str]]:
        """The rules with what each layer gave, and what is to be said about them."""
        if _has_one_class(task):
            return _one_class(task)
        caveats = []
        n_rows = task.inputs.n_rows
        if min_cases is not None and 2 * counted_min_cases(min_cases, n_rows) > n_rows:
            caveats.append(
                f"min_cases={min_cases:g} leaves nothing to divide in {n_rows:,} rows; pass a smaller one."
            )
        plan = self._plan(min_cases)
        progress.started("ECLAIRE", n_parts(task, [plan]))
        extracted = extract_clausewise(task, [plan], report, progress)[0]
        if len(extracted.rules) > 0:
            return extracted, caveats
        caveats.append(
            "No clause was left to make rules of (min_confidence, drop_lowest), or the inducer found none; "
            "the only rule gives the most frequent class."
        )
        return Extracted(_always(extracted.rules, task), extracted.layers), caveats


def _untold_classes(rules: RuleSet, task: Task) -> list[str]:
    """What is to be said about classes that the network decides for and no rule concludes."""
    told = set(rules.columns.class_index.tolist())
    untold = [code for code in np.unique(task.codes).tolist() if code not in told]
    if not untold:
        return []
    labels = ", ".join(str(rules.labels[code]) for code in untold)
    n_rows = int(np.isin(task.codes, untold).sum())
    return [
        f"No rule concludes {labels}, for which the network decides on {n_rows:,} rows; where no rule fires, "
        f"the class is {rules.default}. A smaller min_cases or balance='balanced' may help."
    ]


def _has_one_class(task: Task) -> bool:
    return bool((task.codes == task.codes[0]).all())


def _one_class(task: Task) -> tuple[Extracted, list[str]]:
    label = task.network.classes[task.codes[0]]
    empty = RuleSet.from_rules([], task.inputs.features, default=label, classes=task.network.classes)
    caveat = f"The network decides for {label!s} on all rows; the only rule says so."
    return Extracted(_always(empty, task), ()), [caveat]


def _always(rules: RuleSet, task: Task) -> RuleSet:
    """One rule that concludes the default class for every row."""
    always = Rule((), rules.default)
    made = RuleSet.from_rules([always], rules.features, default=rules.default, classes=rules.classes)
    counts = made.evaluator.statistics(task.inputs.table, task.codes.astype(np.int64), task.weights, None)
    return made.with_counts(*counts)
