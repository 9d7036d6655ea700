"""What all extractors are: scikit-learn classifiers that decide by rules which imitate a network."""

import os
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clausewise.analysis.explanation import Explanations
from clausewise.base.progress import Progress
from clausewise.data.features import Features
from clausewise.data.rows import as_rows, row_limit
from clausewise.extractors.dropping import Dropping
from clausewise.extractors.extraction_data import Extracted, Task
from clausewise.extractors.network_training import network_for
from clausewise.extractors.run_log import ExtractionReport, ReportBuilder
from clausewise.induction import Inducer, get_inducer
from clausewise.induction.estimator import (
    TableClassifier,
    counted_min_cases,
    encode_for,
    set_feature_attributes,
)
from clausewise.networks import Network
from clausewise.rules import RuleSet
from clausewise.rules.metrics import fidelity
from clausewise.rules.voting import Voting, checked_voting

if TYPE_CHECKING:
    from typing import Self

    from clausewise.compact import Frontier


class ExtractionWarning(UserWarning):
    """The rules are valid, but something about them is not what one would expect."""


class RuleExtractor(TableClassifier):
    """A classifier by extracted rules.

    A method defines `_check_parameters` and `_extract`, and has the parameters below.
    """

    method: ClassVar[str]

    network: Any
    max_rows: int | float | None
    voting: Voting
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: int

    rules_: RuleSet
    network_: Network | None
    report_: ExtractionReport
    features_: Features
    classes_: NDArray[Any]
    min_cases_: int | float | None

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
        checked_voting(self.voting)
        row_limit(self.max_rows, 1)
        self._check_parameters()
        X = as_rows(X)
        report = ReportBuilder()
        random = check_random_state(0 if self.random_state is None else self.random_state)
        task = self._task(X, y, sample_weight, random, report)
        self._check_layers(task)
        with Progress(self.verbose) as progress:
            found = _one_class(task) if task.has_one_class else self._extract(task, random, report, progress)
            progress.finished(f"{self.method}: {len(found.rules):,} rules")
        self.rules_ = found.rules.with_voting(found.voting or self.voting)
        self.network_, self.features_, self.classes_ = task.network, task.inputs.features, task.classes
        self.min_cases_ = found.min_cases
        set_feature_attributes(self, self.features_)
        self.report_ = ExtractionReport(
            method=self.method,
            n_rows=task.n_rows,
            n_rows_given=X.shape[0],
            min_cases=found.min_cases,
            path=found.path,
            layers=found.layers,
            n_rules=len(self.rules_),
            stages=tuple(report.stages.values()),
        )
        for caveat in (*found.caveats, *_untold_classes(self.rules_, task)):
            warnings.warn(caveat, ExtractionWarning, stacklevel=2)
        return self

    def _task(
        self,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        random: np.random.RandomState,
        report: ReportBuilder,
    ) -> Task:
        """What is to be imitated: the network's decisions."""
        with report.stage("network"):
            network = network_for(self.network, X, y, sample_weight, random.randint(2**31))
        with report.stage("labels and inputs"):
            return Task.of(network, X, sample_weight, self.max_rows, random, self.n_jobs)

    def _check_layers(self, task: Task) -> None:
        """Raise for layers that the network does not have; methods that use none need not."""

    def _check_parameters(self) -> None:
        """Raise for a bad parameter, before any work is done."""
        raise NotImplementedError

    def _extract(
        self, task: Task, random: np.random.RandomState, report: ReportBuilder, progress: Progress
    ) -> Extracted:
        """Rules from a network that decides for two classes or more."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """The class that the rules give to each row."""
        table = encode_for(self, X)
        rules = self.rules_
        return self.classes_[rules.evaluator.decide(table, rules.voting, rules.default_index, self.n_jobs)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The part of the votes that each class gets; see `RuleSet.predict_proba`."""
        table = encode_for(self, X)
        rules = self.rules_
        return rules.probabilities(rules.evaluator.scores(table, rules.voting, self.n_jobs))

    def fidelity(self, X: Any) -> float:
        """The part of these rows on which the rules decide as the network does."""
        decided = self.predict(X)
        if self.network_ is None:
            raise ValueError(
                "These rules imitate no network; pass one as `network` to measure fidelity to it."
            )
        return fidelity(decided, self.network_.labels(as_rows(X)))

    def explain(self, X: Any) -> Explanations:
        """Per row: the rules that fired, their votes, and the near misses."""
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
        frontier: "Frontier | None" = None,
    ) -> None:
        """Write one HTML file that shows the rules beside the network; see `RuleSet.report`.

        Parameters
        ----------
        path : path-like
            The file to write.
        X : array or DataFrame of shape (n_rows, n_features), optional
            Rows to compare rules and network on.
        y : array-like of shape (n_rows,), optional
            Their true classes.
        title, max_rows, random_state, frontier
            As for `RuleSet.report`.
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
            frontier=frontier,
        )


def dropping_of(estimator: Any) -> Dropping:
    """Which clauses an estimator with these parameters drops."""
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
    """The inducer of this name with these options, or the object itself, which has its own."""
    if not isinstance(inducer, str):
        return get_inducer(inducer)
    options: dict[str, Any] = {"min_cases": min_cases}
    if inducer.lower() == "c5.0":
        options["winnow"] = winnow  # the others put no columns aside
    else:
        options["random_state"] = seed  # C5.0 draws nothing
    return get_inducer(inducer, **options)


def check_min_cases(min_cases: Any, *inducers: str | Inducer) -> None:
    """Raise a ValueError unless it is a number of rows or a part, and an inducer is given by its name."""
    counted_min_cases(min_cases, 1)
    if not any(isinstance(inducer, str) for inducer in inducers):
        raise ValueError(
            "min_cases goes with an inducer given by its name; an object keeps its own, set it there."
        )


def undivided(min_cases: int | float | None, n_rows: int) -> tuple[str, ...]:
    """What is to be said about a min_cases that is too large to divide the rows."""
    if min_cases is None or 2 * counted_min_cases(min_cases, n_rows) <= n_rows:
        return ()
    return (f"min_cases={min_cases:g} leaves nothing to divide in {n_rows:,} rows; pass a smaller one.",)


def or_one_rule(found: Extracted, task: Task) -> Extracted:
    """What was found or, where no rule was, one that gives the most frequent class, with a warning."""
    if len(found.rules) > 0:
        return found
    caveat = (
        "No clause was left to make rules of (min_confidence, drop_lowest), or the inducer found none; "
        "the only rule gives the most frequent class."
    )
    return Extracted(task.one_rule(), found.layers, found.min_cases, found.path, (*found.caveats, caveat))


def _one_class(task: Task) -> Extracted:
    rules = task.one_rule()
    who = "The network decides for" if task.network is not None else "The only class is"
    return Extracted(rules, caveats=(f"{who} {rules.default!s} on all rows; the only rule says so.",))


def _untold_classes(rules: RuleSet, task: Task) -> tuple[str, ...]:
    """What is to be said about classes that the network decides for and no rule concludes."""
    told = {*rules.columns.class_index.tolist(), *np.flatnonzero(rules.base > 0).tolist()}
    untold = [code for code in np.unique(task.codes).tolist() if code not in told]
    if not untold:
        return ()
    labels = ", ".join(str(rules.labels[code]) for code in untold)
    n_rows = int(np.isin(task.codes, untold).sum())
    return (
        f"No rule concludes {labels}, which is to be told on {n_rows:,} rows; where no rule fires, "
        f"the class is {rules.default}. A smaller min_cases or a larger budget may help.",
    )
