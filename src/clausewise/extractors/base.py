"""The base of all extractors: scikit-learn classifiers that predict with rules extracted from a network."""

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clausewise.analysis import Explanations
from clausewise.analysis.shortcomings import classes_never_predicted, shortcomings
from clausewise.base.counts import count_of
from clausewise.base.parameters import (
    FLAG,
    JOBS,
    MIN_CASES,
    NOTHING,
    RANDOM_STATE,
    ROWS,
    VERBOSE,
    Constraint,
    check_estimator_parameters,
    number,
    one_of,
    whole,
)
from clausewise.base.progress import Progress
from clausewise.compact import Frontier
from clausewise.compact.bins import require_searchable
from clausewise.compact.compaction import Compacted, compact_examples
from clausewise.compact.examples import Balance, Examples
from clausewise.compact.fitted_votes import FittedVotes, VoteSettings, fit_votes_to
from clausewise.compact.row_generator import generator_for
from clausewise.compact.settings import BUDGET, SEARCH, CompactionSettings, seed_of
from clausewise.data.features import Features
from clausewise.extractors.dropping import RANKINGS, Dropping
from clausewise.extractors.extraction_data import ExtractionData, RowChoice, encoded_rows
from clausewise.extractors.network_training import network_for
from clausewise.extractors.result import ExtractionResult
from clausewise.extractors.run_log import ExtractionReport, RunLog
from clausewise.induction import Inducer, get_inducer
from clausewise.induction.estimator import (
    TableClassifier,
    counted_min_cases,
    encode_for,
    set_feature_attributes,
)
from clausewise.networks import LayerChoice, Network
from clausewise.networks.answers import are_labels, model_rows, rows_to_learn_from, states_output
from clausewise.partitions import is_partitioned, partitioned
from clausewise.rules import RuleSet
from clausewise.rules.metrics import fidelity
from clausewise.rules.term import format_category
from clausewise.rules.voting import VOTINGS, Voting

if TYPE_CHECKING:
    from typing import Self

INDUCER = Constraint(
    "'c5.0', 'cart', 'random_forest' or an Inducer",
    lambda value: isinstance(value, str | Inducer),  # get_inducer lists the names it knows
)
ExtractedVoting = Voting | Literal["auto", "fitted", "fitted_by_class"]
EXTRACTED_VOTINGS: Final[tuple[ExtractedVoting, ...]] = ("auto", *VOTINGS, "fitted", "fitted_by_class")
"""How all rules may vote: as any rule set, or by weights that are fitted to the decisions to imitate.

"auto" fits weights, too, without a warning where confidences are better.
"""
FITTED: Final = ("auto", "fitted", "fitted_by_class")

# So many numbers with so few rows each are hardly classes.
_MANY_NUMBERS, _FEW_ROWS_PER_NUMBER = 30, 20
DROPPING: Mapping[str, Constraint] = {
    "drop_lowest": Constraint(
        "a fraction of the clauses, at least 0 and below 1",
        lambda value: number(least=0, most=1).allows(value) and value < 1,
    ),
    "drop_per_class": FLAG,
    "min_confidence": number(least=0, most=1),
    "max_intermediate_rules": whole(1) | NOTHING,
    "ranking": one_of(*RANKINGS),
}


class ExtractionWarning(UserWarning):
    """The rules are valid, but unexpected in some way."""


class RuleExtractor(TableClassifier):
    """A classifier that predicts with extracted rules.

    Subclasses define `_extract` and add their own parameters and constraints to those below. `network` and
    `layers` have no constraints here: `wrap` and the network check them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from clausewise import Pedagogical
    >>> from clausewise.extractors import RuleExtractor
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = Pedagogical(SVC().fit(X, y), max_rules=3)
    >>> isinstance(model, RuleExtractor)
    True
    >>> model.fit(X).score(X, y) > 0.9  # of the rules, against the true classes
    True
    """

    method: ClassVar[str]
    uses_layers: ClassVar[bool] = False
    _parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "min_cases": MIN_CASES,
        "inducer": INDUCER,
        **BUDGET,
        "max_rules": BUDGET["max_rules"] | one_of("auto"),
        "max_terms": SEARCH["max_terms"],
        "points": SEARCH["points"],
        "synthetic": SEARCH["synthetic"],
        "winnow": FLAG,
        "max_rows": ROWS | NOTHING,
        "voting": one_of(*EXTRACTED_VOTINGS),
        "random_state": RANDOM_STATE,
        "n_jobs": JOBS,
        "verbose": VERBOSE,
    }

    network: Any
    min_cases: Any
    max_rules: int | Literal["auto"] | None
    max_conditions: int | None
    min_fidelity: float | None
    max_terms: int
    points: bool
    synthetic: float | Literal["auto"]
    max_rows: int | float | None
    voting: ExtractedVoting
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: int

    rules_: RuleSet
    network_: Network | None
    report_: ExtractionReport
    features_: Features
    classes_: NDArray[Any]
    min_cases_: int | float | None
    # The search for a short rule set, with what was chosen for it; None if all rules are returned.
    compacted_: Compacted | None = None

    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> "Self":
        """Extract rules from the network.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
            Raw rows, as the network (or its preprocessing) takes them; best those it was trained on.
        y : array-like of shape (n_rows,), optional
            True classes; only needed to train a network that is not given fitted.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts; rows with weight 0 are ignored.
        """
        check_estimator_parameters(self)
        self._check_combinations()
        if is_partitioned(X):
            from clausewise.extractors.partitioned import fit_partitioned

            if y is not None or sample_weight is not None:
                what = "y" if y is not None else "sample_weight"
                raise ValueError(f"{what} is for tables in memory; these rows are read in parts.")
            fit_partitioned(self, partitioned(X))
            return self
        X = rows_to_learn_from(self.network, X)
        log = RunLog()
        random = check_random_state(0 if self.random_state is None else self.random_state)
        data = self._data(X, y, sample_weight, random, log)
        with Progress(self.verbose) as progress:
            found = self._found(data, random, log, progress)
            progress.finished(f"{found.method or self.method}: {len(found.rules):,} rules")
        rules = found.rules.with_voting(found.voting or simple_voting(self.voting))
        seen = encoded_rows(data.inputs.features, data.inputs.table, data.rows)
        self.rules_ = rules.having_learnt_from(seen)
        self.network_, self.features_, self.classes_ = data.network, data.inputs.features, data.classes
        self.min_cases_ = found.min_cases
        set_feature_attributes(self, self.features_)
        amounts = _amounts_as_classes(self.network, data)
        caveats = (*amounts, *found.caveats, *self._shortcomings(data))
        self.report_ = ExtractionReport(
            method=found.method or self.method,
            n_rows=data.n_rows,
            n_rows_given=X.shape[0],
            min_cases=found.min_cases,
            path=found.path,
            layers=found.layers,
            n_rules=len(self.rules_),
            reading_cost=self.rules_.reading_cost,
            sizes=found.sizes,
            stages=tuple(log.stages.values()),
            warnings=caveats,
        )
        for caveat in caveats:
            warnings.warn(caveat, ExtractionWarning, stacklevel=2)
        return self

    def _data(
        self,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        random: np.random.RandomState,
        log: RunLog,
    ) -> ExtractionData:
        """Prepare the rows to learn from, and the network's decisions to imitate."""
        with log.stage("network"):
            network = network_for(self.network, X, y, sample_weight, random.randint(2**31))
        with log.stage("labels and inputs"):
            return ExtractionData.of_network(
                network,
                X,
                RowChoice(sample_weight, self.max_rows, random),
                self.n_jobs,
                uses_layers=self._needs_layers,
                layers=self._layers,
                uses_probabilities=self._has_budget,
            )

    @property
    def _needs_layers(self) -> bool:
        """Whether this extraction looks at hidden layers."""
        return self.uses_layers

    @property
    def _layers(self) -> LayerChoice:
        """The hidden layers to use; None for all, or if the method does not use layers."""
        return getattr(self, "layers", None)

    def _check_combinations(self) -> None:
        """Raise an error for parameters that cannot be combined, before any work is done."""
        if self.points and not self._has_budget:
            raise ValueError("points need a short rule set; pass a number or 'auto' as max_rules.")

    def _found(
        self, data: ExtractionData, random: np.random.RandomState, log: RunLog, progress: Progress
    ) -> ExtractionResult:
        if data.has_one_class:
            return _one_class(data)
        if self._has_budget:
            require_searchable(data.n_rows)  # before the long work
        found = self._extract(data, random, log, progress)
        if self._has_budget:
            return self._compacted(found, data, random, log, progress)
        return self._with_fitted_votes(found, data, log)

    def _extract(
        self, data: ExtractionData, random: np.random.RandomState, log: RunLog, progress: Progress
    ) -> ExtractionResult:
        """Extract rules from a network that predicts two or more classes."""
        raise NotImplementedError

    @property
    def _has_budget(self) -> bool:
        """Whether a short rule set is searched, rather than all rules returned."""
        return any(b is not None for b in (self.max_rules, self.max_conditions, self.min_fidelity))

    @property
    def _balance(self) -> Balance:
        return getattr(self, "balance", None)

    def _compaction_settings(self) -> CompactionSettings:
        return CompactionSettings(
            max_terms=self.max_terms,
            points=self.points,
            balance=self._balance,
            synthetic=self.synthetic,
            n_jobs=self.n_jobs,
        )

    def _compacted(
        self,
        found: ExtractionResult,
        data: ExtractionData,
        random: np.random.RandomState,
        log: RunLog,
        progress: Progress,
    ) -> ExtractionResult:
        """Search for the most faithful rule set within the budget, starting from the rules found."""
        labelling = data.network if data.imitates_network else None
        with log.stage("compaction"):
            compacted = compact_examples(
                found.rules,
                replace(
                    examples_of(data),
                    generator=generator_for(labelling, data.rows, data.inputs.table, found.rules),
                ),
                self._compaction_settings(),
                max_rules=None if self.max_rules == "auto" else self.max_rules,
                max_conditions=self.max_conditions,
                min_fidelity=self.min_fidelity,
                seed=seed_of(random),
                progress=progress,
            )
        self.compacted_ = compacted
        return replace(
            found,
            rules=compacted.rules,
            voting="weights",
            sizes=compacted.sizes,
            caveats=(*found.caveats, *compacted.caveats, *self._unused_voting()),
        )

    def _with_fitted_votes(
        self, found: ExtractionResult, data: ExtractionData, log: RunLog
    ) -> ExtractionResult:
        """Fit the votes of all rules to the decisions, if that is asked for."""
        if self.voting not in FITTED:
            return found
        with log.stage("votes"):
            fitted = self._fitted_votes(found.rules, data, seed_of(self.random_state))
        is_asked_for = self.voting != "auto"
        caveats = (fitted.caveat,) if fitted.caveat is not None and is_asked_for else ()
        return replace(
            found, rules=fitted.rules, voting=fitted.rules.voting, caveats=(*found.caveats, *caveats)
        )

    def _fitted_votes(self, rules: RuleSet, data: ExtractionData, seed: int) -> FittedVotes:
        settings = VoteSettings(
            per_class=self.voting == "fitted_by_class", n_jobs=self.n_jobs, balance=self._balance
        )
        return fit_votes_to(rules, examples_of(data), settings, seed)

    def _voted(self, rules: RuleSet, data: ExtractionData, seed: int) -> RuleSet:
        """Return the rules as they vote if all are returned, given the rows that they were learnt from."""
        if self.voting in FITTED:
            return self._fitted_votes(rules, data, seed).rules
        return rules.with_voting(simple_voting(self.voting))

    def _unused_voting(self) -> tuple[str, ...]:
        """Return a caveat if a vote was asked for that short rule sets do not use."""
        if self.voting in ("auto", "confidence"):
            return ()
        return (
            f"voting={self.voting!r} has no effect: short rule sets vote by fitted weights. "
            "max_rules=None returns all rules, which vote as asked.",
        )

    def _shortcomings(self, data: ExtractionData) -> tuple[str, ...]:
        """Return where the rules fall short on the rows that they were learnt from."""
        rules = self.rules_
        if data.has_one_class or not self._has_budget:
            return _missing_classes(rules, data, ())
        decided = rules.evaluator.decide(data.inputs.table, rules.voting, rules.default_index, self.n_jobs)
        found = shortcomings(
            decided,
            data.codes,
            rules.labels,
            n_rules=len(rules),
            source="the target" if data.network is None else "the network",
            weights=data.weights,
            can_balance="balance" in self._parameter_constraints,
            is_balanced=getattr(self, "balance", None) is not None,
        )
        return (*found, *_missing_classes(rules, data, classes_never_predicted(decided, data.codes)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that the rules predict for each row."""
        table = encode_for(self, X)
        rules = self.rules_
        return self.classes_[rules.evaluator.decide(table, rules.voting, rules.default_index, self.n_jobs)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class for each row; see `RuleSet.predict_proba`."""
        table = encode_for(self, X)
        rules = self.rules_
        return rules.probabilities(rules.evaluator.scores(table, rules.voting, self.n_jobs))

    def fidelity(self, X: Any) -> float:
        """Return the fraction of rows on which the rules decide as the network does."""
        decided = self.predict(X)
        if self.network_ is None:
            raise ValueError(
                "These rules imitate no network; pass one as `network` to measure fidelity to it."
            )
        return fidelity(decided, self.network_.labels(model_rows(self.network_, X, self.features_)))

    def explain(self, X: Any) -> Explanations:
        """Explain the decision on each row: rules that fired, their votes, and near misses."""
        encode_for(self, X)
        return self.rules_.explain(X, n_jobs=self.n_jobs)

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
        colors: Mapping[Any, str] | Sequence[str] | None = None,
        fixed: Iterable[str | int] | None = None,
    ) -> None:
        """Write one HTML file that shows the rules and the network; see `RuleSet.report`.

        Parameters
        ----------
        path : path-like
            The file to write.
        X : array or DataFrame of shape (n_rows, n_features), optional
            Rows to compare rules and network on.
        y : array-like of shape (n_rows,), optional
            Their true classes.
        title, max_rows, random_state, labels, colors, fixed
            As for `RuleSet.report`.
        frontier : Frontier, optional
            Fidelity by size, shown as a curve; `report_.sizes` unless given.
        """
        check_is_fitted(self)
        self.rules_.report(
            path,
            X,
            y,
            None if X is None else self.network_,
            title=f"{self.method}: {len(self.rules_):,} rules" if title is None else title,
            max_rows=max_rows,
            random_state=random_state,
            frontier=self.report_.sizes if frontier is None else frontier,
            labels=labels,
            colors=colors,
            fixed=fixed,
        )


def simple_voting(voting: ExtractedVoting) -> Voting:
    """Return the vote of rules whose votes are not fitted yet."""
    return "confidence" if voting in FITTED else voting  # type: ignore[return-value]


def examples_of(data: ExtractionData) -> Examples:
    """Return the rows to learn from with the decisions to imitate."""
    return Examples(data.inputs.table, data.codes, len(data.classes), data.probabilities, data.weights)


def dropping_of(estimator: Any) -> Dropping:
    """Return which clauses an estimator with these parameters drops."""
    return Dropping(
        estimator.drop_lowest,
        estimator.drop_per_class,
        estimator.min_confidence,
        estimator.max_intermediate_rules,
        estimator.ranking,
    )


def inducer_for(
    inducer: str | Inducer, min_cases: int | float | None, winnow: bool, seed: int = 0
) -> Inducer:
    """Return the inducer of this name with these options; an inducer object keeps its own."""
    if not isinstance(inducer, str):
        return get_inducer(inducer)
    options: dict[str, Any] = {"min_cases": min_cases}
    if inducer.lower() == "c5.0":
        options["winnow"] = winnow  # the others do not drop columns
    else:
        options["random_state"] = seed  # C5.0 draws nothing
    return get_inducer(inducer, **options)


def require_named_inducer(*inducers: str | Inducer) -> None:
    """Raise a ValueError unless an inducer is given by name, since objects have their own min_cases."""
    if not any(isinstance(inducer, str) for inducer in inducers):
        raise ValueError(
            "min_cases only applies to inducers given by name; set it on the inducer object instead."
        )


def undivided(min_cases: int | float | None, n_rows: int) -> tuple[str, ...]:
    """Return a caveat if min_cases is too large to split the rows."""
    if min_cases is None or 2 * counted_min_cases(min_cases, n_rows) <= n_rows:
        return ()
    return (f"min_cases={min_cases:g} is too large to split {n_rows:,} rows; pass a smaller one.",)


def or_one_rule(found: ExtractionResult, data: ExtractionData) -> ExtractionResult:
    """Return the result or, if it has no rules, a single rule that predicts the most frequent class."""
    if len(found.rules) > 0:
        return found
    caveat = (
        "No rules were found: all clauses were dropped (min_confidence, drop_lowest), or the inducer found "
        "none. All rows get the most frequent class."
    )
    return replace(found, rules=data.one_rule(), caveats=(*found.caveats, caveat))


def _one_class(data: ExtractionData) -> ExtractionResult:
    rules = data.one_rule()
    what = "The network predicts" if data.network is not None else "The only class is"
    label = format_category(rules.default)
    return ExtractionResult(rules, caveats=(f"{what} {label} on all rows; so does the only rule.",))


def _amounts_as_classes(model: Any, data: ExtractionData) -> tuple[str, ...]:
    """Return a caveat if there are so many numbers, for so few rows, that they are hardly classes.

    Models say what they predict; labels and functions do not.
    """
    n_classes = len(data.classes)
    are_numbers = data.classes.dtype.kind in "iuf" and (are_labels(model) or not states_output(model))
    if not are_numbers or n_classes < _MANY_NUMBERS or data.n_rows > _FEW_ROWS_PER_NUMBER * n_classes:
        return ()
    return (
        f"{n_classes:,} different numbers are taken for classes. If they are amounts, pass "
        "method='regression', or use RuleRegressor.",
    )


def _missing_classes(rules: RuleSet, data: ExtractionData, known: Sequence[int]) -> tuple[str, ...]:
    """Return a caveat if the network predicts classes, other than those known, that no rule predicts."""
    predicted = {*rules.columns.class_index.tolist(), *np.flatnonzero(rules.base > 0).tolist(), *known}
    missing = [code for code in np.unique(data.codes).tolist() if code not in predicted]
    if not missing:
        return ()
    labels = ", ".join(format_category(rules.labels[code]) for code in missing)
    n_rows = int(np.isin(data.codes, missing).sum())
    which = "class" if len(missing) == 1 else "classes"
    return (
        f"No rule predicts {which} {labels} ({count_of(n_rows, 'row')}); where no rule fires, the class is "
        f"{format_category(rules.default)}. A smaller min_cases or a larger budget may help.",
    )
