"""The base of `RuleSet`: construction, selection, voting and decisions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.base.parameters import VERBOSE, check_parameters
from clausewise.base.progress import Progress
from clausewise.data.features import Features
from clausewise.data.labels import Label, as_classes, known_label, plain_label, read_labels
from clausewise.data.weights import read_weights
from clausewise.partitions import is_partitioned, partitioned
from clausewise.partitions.label_column import column_labels
from clausewise.rules import display
from clausewise.rules.abstention import Abstention, SelectivePromise, with_outcome
from clausewise.rules.batch_counts import Decisions, predicted, with_counts_of_all
from clausewise.rules.canonical import canonical, columns_of_rules, require_rules
from clausewise.rules.columns import RuleColumns, joined, rule_at
from clausewise.rules.evaluator import Evaluator
from clausewise.rules.rule import Origin, Rule
from clausewise.rules.stored import StoredRules, as_features, joined_records
from clausewise.rules.voting import SCHEMES, Voting, checked_voting

if TYPE_CHECKING:
    from typing import Self

DEFAULT_VOTING: Voting = "confidence"


@dataclass(frozen=True, eq=False, repr=False)
class BaseRuleSet(StoredRules[Rule]):
    """Rules over the columns of a table, with their classes and their voting; see `RuleSet`."""

    classes: NDArray[Any]
    default: Label
    voting: Voting
    base: NDArray[np.float64]
    scale: float = 1.0
    abstention: Abstention | None = None

    RULE: ClassVar = Rule

    def __post_init__(self) -> None:
        # A finite sum of absolute votes keeps every score finite, whichever rules fire.
        with np.errstate(over="ignore"):
            most = float(np.abs(self.columns.weight).sum() + np.abs(self.base).sum())
        if not np.isfinite(most):
            raise ValueError(
                "The weights and base votes add up to more than a double can hold; divide them all by the "
                "same number."
            )
        if self.abstention is not None:
            with_outcome(self.classes, self.abstention.label)  # which checks the label

    @classmethod
    def from_rules(
        cls,
        rules: Iterable[Rule],
        features: Features | Sequence[str],
        *,
        default: Label,
        classes: ArrayLike | None = None,
        voting: Voting = DEFAULT_VOTING,
        base: ArrayLike | None = None,
    ) -> "Self":
        """Make a rule set of Rule objects; without `classes`, their conclusions and `default`, sorted."""
        listed = list(rules)
        require_rules(listed, Rule)
        known = as_features(features)
        if classes is None:
            found = {plain_label(default), *(rule.conclusion for rule in listed)}
            classes = sorted(found, key=lambda label: (isinstance(label, str), label))
        labels = as_classes(classes)
        index_of_label = {label: index for index, label in enumerate(labels.tolist())}
        stored = columns_of_rules(listed, known, index_of_label)
        return cls._made(known, stored, labels, default, voting, base)

    @classmethod
    def from_arrays(
        cls,
        features: Features | Sequence[str],
        classes: ArrayLike,
        default: Label,
        *,
        starts: ArrayLike,
        feature: ArrayLike,
        low: ArrayLike,
        high: ArrayLike,
        class_index: ArrayLike,
        value_set: ArrayLike | None = None,
        value_sets: Sequence[Iterable[int]] = (),
        missing: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
        cover: ArrayLike | None = None,
        correct: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        priority: ArrayLike | None = None,
        origins: Sequence[Origin | None] | None = None,
        voting: Voting = DEFAULT_VOTING,
        base: ArrayLike | None = None,
    ) -> "Self":
        """Make a rule set of columns, without a Python object per rule.

        The terms of rule r are `starts[r]:starts[r + 1]` of `feature`, `low` and `high`. A term on a
        categorical feature has in `value_set` the index of a list of category codes in `value_sets`; an
        interval has −1. Where the boolean `missing` is true, the term holds exactly where the value is
        missing; it has no bounds (−inf and inf) and no `value_set` (−1). Terms need not be in canonical form.
        """
        known, labels = as_features(features), as_classes(classes)
        stored = canonical(
            known,
            len(labels),
            starts=starts,
            feature=feature,
            low=low,
            high=high,
            class_index=class_index,
            value_set=value_set,
            value_sets=value_sets,
            missing=missing,
            confidence=confidence,
            cover=cover,
            correct=correct,
            weight=weight,
            priority=priority,
            origins=origins,
        )
        return cls._made(known, stored, labels, default, voting, base)

    @classmethod
    def _made(
        cls,
        features: Features,
        stored: RuleColumns,
        classes: NDArray[Any],
        default: Label,
        voting: str,
        base: ArrayLike | None,
    ) -> "Self":
        known_default, scheme = known_label(default, classes), checked_voting(voting)
        return cls(features, stored, classes, known_default, scheme, base_votes(base, len(classes)))

    @classmethod
    def concatenate(
        cls,
        parts: Sequence["BaseRuleSet"],
        features: Features,
        classes: ArrayLike,
        *,
        default: Label,
        voting: Voting = DEFAULT_VOTING,
        base: ArrayLike | None = None,
    ) -> "Self":
        """Concatenate the rules of several sets over the same features and classes.

        Without `base`, all parts must have the same base votes, which the result then has too.
        """
        empty = cls.from_rules([], features, default=default, classes=classes, voting=voting, base=base)
        for part in parts:
            if part.features != features or part.labels != empty.labels:
                raise ValueError(
                    f"A rule set over {len(part.features)} features and classes {part.labels[:5]} cannot be "
                    f"joined to one over {len(features)} features and classes {empty.labels[:5]}."
                )
        if base is None and parts:
            for part in parts:
                _require_same_base(part.base, parts[0].base)
            empty = replace(empty, base=parts[0].base)
        stored = joined([empty.columns, *(part.columns for part in parts)])
        return replace(empty, columns=stored, learnt_rows=joined_records(parts))

    # --- A sequence of rules ---

    def __add__(self, other: "BaseRuleSet") -> "Self":
        if not isinstance(other, BaseRuleSet):
            return NotImplemented
        for what in ("features", "labels", "default", "voting", "scale", "abstention"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                raise ValueError(
                    f"Rule sets with different {what} cannot be joined ({mine!r} and {theirs!r}); "
                    "make them equal first."
                )
        _require_same_base(self.base, other.base)
        changes = self.changes if self.changes == other.changes else self.changes + other.changes
        learnt = joined_records([self, other])
        return replace(self, columns=self.columns + other.columns, changes=changes, learnt_rows=learnt)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BaseRuleSet):
            return NotImplemented
        mine = (self.features, self.labels, self.classes.dtype.kind, self.default, self.voting)
        theirs = (other.features, other.labels, other.classes.dtype.kind, other.default, other.voting)
        same_base = np.array_equal(self.base, other.base) and self.scale == other.scale
        same_base = same_base and self._abstains == other._abstains
        return mine == theirs and same_base and self.columns.same_as(other.columns)

    def __hash__(self) -> int:
        # Only arrays that are bytewise the same in equal rule sets; value sets may be numbered differently.
        stored = self.columns
        shared = (stored.starts, stored.feature, stored.low, stored.class_index, self.base)
        return hash((self.features, self.labels, self.default, *(array.tobytes() for array in shared)))

    def filter(
        self,
        *,
        conclusion: Label | None = None,
        feature: str | int | None = None,
        min_length: int = 0,
        max_length: int | None = None,
        min_cover: float = 0.0,
        min_confidence: float = 0.0,
    ) -> "Self":
        """Return the rules that satisfy all given conditions, in their order.

        Parameters
        ----------
        conclusion : class label, optional
            Rules that predict this class.
        feature : str or int, optional
            Rules that test this feature, given by name or position.
        min_length, max_length : int, optional
            Bounds on the number of terms.
        min_cover, min_confidence : float, optional
            Smallest cover and smallest confidence.
        """
        stored = self.columns
        kept = self._filtered(feature, min_length, max_length, min_cover)
        kept &= stored.confidence >= min_confidence
        if conclusion is not None:
            kept &= stored.class_index == self.labels.index(known_label(conclusion, self.classes))
        return self[kept]

    def concluding(self, label: Label) -> "Self":
        """Return the rules that predict this class."""
        return self.filter(conclusion=label)

    def distinct(self) -> "Self":
        """Return the rules that can fire, without repetitions of premise, conclusion and priority."""
        return self[self.columns.first_of_equals()]

    def with_voting(self, voting: Voting) -> "Self":
        """Return the same rules with another voting scheme."""
        return replace(self, voting=self._voting(voting))

    def with_default(self, default: Label) -> "Self":
        """Return the same rules with another default class."""
        return replace(self, default=known_label(default, self.classes))

    def with_weights(self, weight: ArrayLike, base: ArrayLike | None = None) -> "Self":
        """Return the same rules with these weights, voting by them; base votes are kept unless given."""
        self.require_deciding("other weights")
        column = np.array(weight, dtype=np.float64) + 0.0
        if column.shape != (len(self),) or not np.isfinite(column).all():
            raise ValueError(
                f"weight has shape {column.shape}; expected {len(self)} finite numbers, one per rule."
            )
        column.setflags(write=False)
        start = self.base if base is None else base_votes(base, len(self.classes))
        return replace(self, columns=replace(self.columns, weight=column), voting="weights", base=start)

    def with_scale(self, scale: float) -> "Self":
        """Return the same rules with another scale: this many votes make one unit of log-odds."""
        number = float(scale)
        if not 0.0 < number < np.inf:
            raise ValueError(f"scale is {scale!r}; it must be a positive, finite number.")
        return replace(self, scale=number)

    def with_statistics(
        self,
        X: Any,
        labels: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> "Self":
        """Return the same rules with cover, correct and confidence counted on these rows.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
            Rows as for `Features.encode`.
        labels : array-like of shape (n_rows,)
            The correct class of each row: true classes, or those of a network. For rows that need not fit
            into memory, the name of the column that holds them.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row.
        n_jobs : int, optional
            Number of threads; all usable cores unless given.
        verbose : int, default 0
            1 shows progress on rows that are read in parts.

        Returns
        -------
        RuleSet
            With the Laplace estimate of confidence, (correct + 1) / (cover + 2).
        """
        if is_partitioned(X):
            if sample_weight is not None:
                raise ValueError("sample_weight is for tables in memory; these rows are read in parts.")
            check_parameters({"verbose": VERBOSE}, {"verbose": verbose})
            with Progress(verbose) as progress:
                progress.started("Statistics", 2)
                rows = partitioned(X)
                known = column_labels(labels, rows, self.labels, progress=progress)
                used = rows.only([*self.features.names, known.name]) if self.features.named else rows
                return with_counts_of_all(self, used, known, progress)[0]
        matrix = self.features.encode(X)
        codes = read_labels(labels, self.labels, len(matrix), "labels", allow_unknown=True).codes
        weights = read_weights(sample_weight, len(matrix))
        counted = self.with_counts(*self.evaluator.statistics(matrix, codes, weights, n_jobs))
        return counted.having_learnt_from(matrix)

    def with_counts(self, cover: NDArray[np.float64], correct: NDArray[np.float64]) -> "Self":
        """Return the same rules with these counts, and the Laplace estimate of confidence from them."""
        confidence = (correct + 1) / (cover + 2)
        for column in (cover, correct, confidence):
            column.setflags(write=False)
        counted = replace(self.columns, cover=cover, correct=correct, confidence=confidence)
        return self._with_columns(counted)

    # --- Rules on rows ---

    def predict(
        self, X: Any, *, voting: Voting | None = None, n_jobs: int | None = None, verbose: int = 0
    ) -> Any:
        """Return the class of each row, the one with the largest score.

        Ties go to the default class, then to the lowest class index.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Rows as for `Features.encode`, such as a list of dictionaries. One row may be a dictionary, a
            pandas Series, or one value per feature. Rows that need not fit into memory are taken, too; see
            `clausewise.partitioned`.
        voting : {"confidence", "majority", "share", "weights"}, optional
            Another scheme for this call.
        n_jobs : int, optional
            Number of threads; all usable cores unless given. Results do not depend on it.
        verbose : int, default 0
            1 shows progress on rows that are read in parts.

        Returns
        -------
        ndarray of shape (n_rows,)
            Elements of `classes`, or of `outcomes` if the rules may abstain; one for a single row. A frame
            of Dask, Ray, Spark, or a LazyFrame of polars becomes one with a further column "prediction",
            computed when it is asked for.
        """
        scheme = self._voting(voting)
        if is_partitioned(X):
            return predicted(partitioned(X), Decisions(self, scheme, n_jobs), verbose)
        matrix = self._tested_columns(X)
        return self.outcomes[self.evaluator.decide(matrix, scheme, self.default_index, n_jobs)]

    def scores(
        self, X: Any, *, voting: Voting | None = None, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return votes per row and class: counts, per-mille confidences, shares, or base plus weights."""
        scheme = self._voting(voting)
        return self.evaluator.scores(self._tested_columns(X), scheme, n_jobs)

    def predict_proba(
        self, X: Any, *, voting: Voting | None = None, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return scores as probabilities: the fraction of all votes that each class gets.

        Under `weights`, the softmax of the scores divided by `scale`. The predicted class has the largest
        probability; on exact ties, `predict` returns the default class. A row on which no rule fires gets
        1 / n_classes for every class unless there are base votes.
        """
        return self.probabilities(self.scores(X, voting=voting, n_jobs=n_jobs), voting)

    def probabilities(self, scores: NDArray[np.float64], voting: Voting | None = None) -> NDArray[np.float64]:
        """Convert `scores` to the probabilities that `predict_proba` returns."""
        scheme = SCHEMES[self._voting(voting)]
        return scheme.probabilities(_unscaled(scores, self.scale) if scheme.uses_base else scores)

    # --- Display ---

    def rule_at(self, number: int) -> Rule:
        """Return one rule as an object."""
        return rule_at(self.columns, number, self.features, self.labels)

    def columns_of(self, rules: Sequence[Rule]) -> RuleColumns:
        """Return Rule objects as columns, checked against features and classes."""
        return columns_of_rules(rules, self.features, {label: i for i, label in enumerate(self.labels)})

    def read_rules(self, text: str) -> list[Rule]:
        """Read rules about the same features and classes, written in the rule language."""
        from clausewise.rules.text import read_rules, vocabulary_of

        return read_rules(text, vocabulary_of(self))

    def write_rule(self, number: int) -> str:
        """Write one rule in the rule language."""
        from clausewise.rules.text import write_rule

        return write_rule(self.columns, number, self.features, self.labels, self.voting)

    def describe_parts(self, number: int) -> tuple[str, str, str]:
        """Return the premise, the conclusion and the statistics of a rule, as they are shown."""
        return display.describe_parts_at(self.columns, number, self.features, self.labels, self.voting)

    def _deciding_parts(self) -> Iterator[Any]:
        scheme, stored = SCHEMES[self.voting], self.columns
        yield from (self.labels, self.default, self.voting)
        yield from (stored.class_index, stored.priority, scheme.votes(stored), scheme.start(self.base))
        if self.abstention is not None:
            yield self._abstains

    def _frame_columns(self) -> dict[str, Any]:
        stored = self.columns
        return {
            "conclusion": self.classes[stored.class_index].tolist(),
            "length": stored.lengths,
            "confidence": stored.confidence,
            "cover": stored.cover,
            "correct": stored.correct,
            "weight": stored.weight,
            "priority": stored.priority,
        }

    @property
    def headline(self) -> str:
        """One line on the whole rule set: number of rules, classes, voting."""
        start = SCHEMES[self.voting].start(self.base)
        n_first = int(self.columns.priority.sum())
        line = display.headline(len(self), self.labels, self.default, self.voting, start, n_first)
        if self.abstention is not None:
            line = f"{line}; {self.abstention.describe()}"
        source = self.features.source
        return line if source is None else f"{line}; columns computed by {source.title}"

    @property
    def promise_lines(self) -> tuple[str, ...]:
        """What is promised of the rules, one line each."""
        return (*(() if self.promised is None else (self.promised.summary,)), *super().promise_lines)

    # --- Parts ---

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The classes as plain Python values."""
        return tuple(self.classes.tolist())

    @property
    def default_index(self) -> int:
        """Position of the default class in `classes`."""
        return self.labels.index(self.default)

    @cached_property
    def evaluator(self) -> Evaluator:
        """The rules compiled for encoded matrices, for callers that encode once and ask often."""
        margin = 0.0 if self.abstention is None else self.abstention.margin
        return Evaluator(self.columns, self.features, len(self.labels), self.base, margin=margin)

    @cached_property
    def outcomes(self) -> NDArray[Any]:
        """What `predict` may return: the classes and, if the rules may abstain, the label of that, last."""
        return self.classes if self.abstention is None else with_outcome(self.classes, self.abstention.label)

    @property
    def promised(self) -> SelectivePromise | None:
        """The promise with which the rules abstain; None without one, or if they were edited since."""
        given = None if self.abstention is None else self.abstention.promise
        return given if given is not None and given.digest == self.digest else None

    def always_deciding(self) -> "Self":
        """Return the same rules without abstention: they decide every row."""
        return replace(self, abstention=None)

    def require_deciding(self, what: str) -> None:
        """Raise a ValueError, which names what would not respect it, if the rules may abstain."""
        if self.abstention is not None:
            raise ValueError(
                f"These rules abstain on rows with a margin below {self.abstention.margin:g}, which {what} "
                "would not respect; pass always_deciding(), which decides every row."
            )

    @property
    def _abstains(self) -> tuple[float, Label] | None:
        return None if self.abstention is None else (self.abstention.margin, self.abstention.label)

    def _voting(self, voting: Voting | None) -> Voting:
        if voting is None or voting == self.voting:
            return self.voting
        chosen = checked_voting(voting)
        self.require_deciding("another voting scheme")
        return chosen


def base_votes(base: ArrayLike | None, n_classes: int) -> NDArray[np.float64]:
    """Return one finite number per class as a read-only array; zeros for None."""
    votes = np.zeros(n_classes) if base is None else np.array(base, dtype=np.float64) + 0.0  # no −0
    if votes.shape != (n_classes,) or not np.isfinite(votes).all():
        raise ValueError(f"base has shape {votes.shape}; expected {n_classes} finite numbers, one per class.")
    votes.setflags(write=False)
    return votes


def _unscaled(votes: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return votes in units of log-odds; if these overflow, relative to each row's largest."""
    with np.errstate(over="ignore"):
        units = votes / scale
        if not np.isfinite(units).all():
            units = (votes - votes.max(axis=1, keepdims=True)) / scale
    return units


def _require_same_base(mine: NDArray[np.float64], theirs: NDArray[np.float64]) -> None:
    if not np.array_equal(mine, theirs):
        raise ValueError(
            f"Rule sets with different base cannot be joined ({mine.tolist()[:5]} and "
            f"{theirs.tolist()[:5]}); make them equal first."
        )
