"""The stored rules with their classes and vote: construction, algebra and decisions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.base.frames import Backend, frame_of
from clausewise.data.features import Features
from clausewise.data.labels import Label, as_classes, known_label, plain_label, read_labels
from clausewise.data.weights import read_weights
from clausewise.rules import columns as _columns
from clausewise.rules import display
from clausewise.rules.changes import RuleChange
from clausewise.rules.columns import RuleColumns
from clausewise.rules.evaluator import BitMatrix, Evaluator
from clausewise.rules.rule import Origin, Rule
from clausewise.rules.voting import SCHEMES, Voting, checked_voting

if TYPE_CHECKING:
    from typing import Self

DEFAULT_VOTING: Voting = "confidence"


@dataclass(frozen=True, eq=False, repr=False)
class BaseRuleSet:
    """Rules over the columns of a table, in order, with the classes they conclude and the way they vote.

    Immutable; made by `RuleSet.from_rules`, `RuleSet.from_arrays`, `RuleSetBuilder` or `RuleSet.load`.
    Rules are stored in columns; `Rule` and `Term` objects are made when asked for. `rules[3]` is a Rule,
    `rules[3:7]`, `rules[mask]` and `rules[[1, 4]]` are rule sets.

    Attributes
    ----------
    features : Features
        The columns that the rules may test.
    columns : RuleColumns
        The stored rules.
    classes : ndarray of shape (n_classes,)
        The class labels; `predict` gives elements of it.
    default : str, int, float or bool
        The class of a row on which no rule fires (under `weights`: unless `base` prefers another), and the
        winner of ties.
    voting : {"confidence", "majority", "share", "weights"}
        How rules that fire decide together.
    base : ndarray of shape (n_classes,)
        Votes that every row starts with under `voting="weights"`: the intercept of fitted weights. Zeros
        unless given; the other schemes take no notice of it.
    scale : float
        How many votes under `voting="weights"` make one unit of log-odds: `predict_proba` divides by it. 1
        unless given; points on a scorecard have another.
    changes : tuple of RuleChange
        What was edited by hand (`add`, `remove`, `replace`, `reweight`), the oldest first. It plays no part
        in equality.
    """

    features: Features
    columns: RuleColumns
    classes: NDArray[Any]
    default: Label
    voting: Voting
    base: NDArray[np.float64]
    scale: float = 1.0
    changes: tuple[RuleChange, ...] = ()

    def __post_init__(self) -> None:
        # No row can then get votes that are infinite, or no number at all, whichever rules fire on it.
        with np.errstate(over="ignore"):
            most = float(np.abs(self.columns.weight).sum() + np.abs(self.base).sum())
        if not np.isfinite(most):
            raise ValueError(
                "The weights and base votes add up to more than a double can hold; divide them all by the "
                "same number."
            )

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
        """A rule set of Rule objects; without `classes`, their conclusions and the default, sorted."""
        listed = list(rules)
        known = as_features(features)
        if classes is None:
            found = {plain_label(default), *(rule.conclusion for rule in listed)}
            classes = sorted(found, key=lambda label: (isinstance(label, str), label))
        labels = as_classes(classes)
        index_of_label = {label: index for index, label in enumerate(labels.tolist())}
        stored = _columns.from_rules(listed, known, index_of_label)
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
        confidence: ArrayLike | None = None,
        cover: ArrayLike | None = None,
        correct: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        priority: ArrayLike | None = None,
        origins: Sequence[Origin | None] | None = None,
        voting: Voting = DEFAULT_VOTING,
        base: ArrayLike | None = None,
    ) -> "Self":
        """A rule set of columns, without a Python object per rule.

        Terms of rule r are `starts[r]:starts[r + 1]` of `feature`, `low`, `high` (and `value_set`, an index
        into `value_sets`, lists of category codes; −1 for an interval). They need not be in canonical form.
        """
        known, labels = as_features(features), as_classes(classes)
        stored = _columns.canonical(
            known,
            len(labels),
            starts=starts,
            feature=feature,
            low=low,
            high=high,
            class_index=class_index,
            value_set=value_set,
            value_sets=value_sets,
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
        """The rules of several sets, over the same features and classes, behind each other.

        Without `base`, all parts must have the same, which the result has too.
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
        return empty._with_columns(_columns.joined([empty.columns, *(part.columns for part in parts)]))

    # --- A sequence of rules ---

    def __len__(self) -> int:
        return self.columns.n_rules

    @overload
    def __getitem__(self, key: int) -> Rule: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | Sequence[bool] | NDArray[Any]) -> "Self": ...
    def __getitem__(self, key: Any) -> "Rule | Self":
        if hasattr(key, "__index__") and not isinstance(key, bool | np.bool_ | np.ndarray):
            if not -len(self) <= key < len(self):
                raise IndexError(f"There is no rule {key}; there are {len(self)}, counted from 0.")
            return _columns.rule_at(self.columns, int(key) % len(self), self.features, self.labels)
        return self._with_columns(self.columns.take(self.selected(key)))

    def __iter__(self) -> Iterator[Rule]:
        for number in range(len(self)):
            yield _columns.rule_at(self.columns, number, self.features, self.labels)

    def __contains__(self, rule: object) -> bool:
        if not isinstance(rule, Rule):
            return False
        stored = self.columns
        # Made into objects only where numbers that are quickly compared are the same.
        alike = (
            (stored.lengths == len(rule))
            & (stored.confidence == rule.confidence)
            & (stored.cover == rule.cover)
            & (stored.weight == rule.weight)
        )
        return any(rule == self[number] for number in np.flatnonzero(alike).tolist())

    def __add__(self, other: "BaseRuleSet") -> "Self":
        if not isinstance(other, BaseRuleSet):
            return NotImplemented
        for what in ("features", "labels", "default", "voting", "scale"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                raise ValueError(
                    f"Rule sets with different {what} cannot be joined ({mine!r} and {theirs!r}); "
                    "bring them in line first."
                )
        _require_same_base(self.base, other.base)
        changes = self.changes if self.changes == other.changes else self.changes + other.changes
        return replace(self, columns=self.columns + other.columns, changes=changes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BaseRuleSet):
            return NotImplemented
        mine = (self.features, self.labels, self.classes.dtype.kind, self.default, self.voting)
        theirs = (other.features, other.labels, other.classes.dtype.kind, other.default, other.voting)
        same_base = np.array_equal(self.base, other.base) and self.scale == other.scale
        return mine == theirs and same_base and self.columns.same_as(other.columns)

    def __hash__(self) -> int:
        # Arrays that equal rule sets share byte for byte; value sets may be numbered differently.
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
        """The rules that satisfy every condition given, in their order.

        Parameters
        ----------
        conclusion : class label, optional
            Rules that conclude this class.
        feature : str or int, optional
            Rules that test this feature, given by name or position.
        min_length, max_length : int, optional
            Bounds on the number of terms.
        min_cover, min_confidence : float, optional
            Least support and least confidence.
        """
        stored = self.columns
        kept = (
            (stored.lengths >= min_length)
            & (stored.cover >= min_cover)
            & (stored.confidence >= min_confidence)
        )
        if max_length is not None:
            kept &= stored.lengths <= max_length
        if conclusion is not None:
            kept &= stored.class_index == self.labels.index(known_label(conclusion, self.classes))
        if feature is not None:
            rule_of_term = np.repeat(np.arange(len(self)), stored.lengths)
            tests = stored.feature == self.features.index(feature)
            kept &= np.bincount(rule_of_term[tests], minlength=len(self)) > 0
        return self[kept]

    def concluding(self, label: Label) -> "Self":
        """The rules that conclude this class."""
        return self.filter(conclusion=label)

    def distinct(self) -> "Self":
        """The rules that can fire, of those with equal premise, conclusion and priority only the first."""
        return self[self.columns.first_of_equals()]

    def with_voting(self, voting: Voting) -> "Self":
        """The same rules, voting in another way."""
        return replace(self, voting=checked_voting(voting))

    def with_default(self, default: Label) -> "Self":
        """The same rules, with another class where no rule fires."""
        return replace(self, default=known_label(default, self.classes))

    def with_weights(self, weight: ArrayLike, base: ArrayLike | None = None) -> "Self":
        """The same rules with these weights, voting by weights; the base votes stay unless given."""
        column = np.array(weight, dtype=np.float64) + 0.0
        if column.shape != (len(self),) or not np.isfinite(column).all():
            raise ValueError(
                f"weight has shape {column.shape}; expected {len(self)} finite numbers, one per rule."
            )
        column.setflags(write=False)
        start = self.base if base is None else base_votes(base, len(self.classes))
        return replace(self, columns=replace(self.columns, weight=column), voting="weights", base=start)

    def with_scale(self, scale: float) -> "Self":
        """The same rules; under `weights` this many votes make one unit of log-odds."""
        number = float(scale)
        if not 0.0 < number < np.inf:
            raise ValueError(f"scale is {scale!r}; it must be a positive, finite number.")
        return replace(self, scale=number)

    def with_statistics(
        self, X: Any, labels: ArrayLike, *, sample_weight: ArrayLike | None = None, n_jobs: int | None = None
    ) -> "Self":
        """The same rules with cover, correct and confidence counted on these rows.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
            Rows as `Features.encode` takes them.
        labels : array-like of shape (n_rows,)
            What is right for each row: true classes, or those of a network.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts.
        n_jobs : int, optional
            Number of threads; all usable cores unless given.

        Returns
        -------
        RuleSet
            With confidence (correct + 1) / (cover + 2), Laplace's estimate.
        """
        matrix = self.features.encode(X)
        codes = read_labels(labels, self.labels, len(matrix), "labels", allow_unknown=True).codes
        weights = read_weights(sample_weight, len(matrix))
        return self.with_counts(*self.evaluator.statistics(matrix, codes, weights, n_jobs))

    def with_counts(self, cover: NDArray[np.float64], correct: NDArray[np.float64]) -> "Self":
        """The same rules with these cover and correct counts, and the confidence that follows from them."""
        confidence = (correct + 1) / (cover + 2)
        for column in (cover, correct, confidence):
            column.setflags(write=False)
        counted = replace(self.columns, cover=cover, correct=correct, confidence=confidence)
        return self._with_columns(counted)

    # --- Rules on rows ---

    def predict(self, X: Any, *, voting: Voting | None = None, n_jobs: int | None = None) -> NDArray[Any]:
        """The class of each row: the largest score; on ties the default class, then the lowest class index.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
            Rows as `Features.encode` takes them.
        voting : {"confidence", "majority", "share", "weights"}, optional
            Another scheme for this call.
        n_jobs : int, optional
            Number of threads; all usable cores unless given. It does not change any result.
        """
        scheme = self._voting(voting)
        matrix = self.features.encode(X)
        return self.classes[self.evaluator.decide(matrix, scheme, self.default_index, n_jobs)]

    def scores(
        self, X: Any, *, voting: Voting | None = None, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Votes per row and class: counts, per-mille confidences, shares, or base votes plus weights."""
        scheme = self._voting(voting)
        return self.evaluator.scores(self.features.encode(X), scheme, n_jobs)

    def predict_proba(
        self, X: Any, *, voting: Voting | None = None, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Scores as probabilities: each class's part of all votes (`weights`: softmax of
        the scores divided by `scale`).

        The largest is that of the predicted class, except on exact ties, which `predict` gives to the default
        class. A row on which no rule fires gets 1 / n_classes everywhere, unless base votes speak for it.
        """
        return self.probabilities(self.scores(X, voting=voting, n_jobs=n_jobs), voting)

    def probabilities(self, scores: NDArray[np.float64], voting: Voting | None = None) -> NDArray[np.float64]:
        """What `predict_proba` makes of `scores`."""
        scheme = SCHEMES[self._voting(voting)]
        return scheme.probabilities(_unscaled(scores, self.scale) if scheme.uses_base else scores)

    def fires(self, X: Any, *, n_jobs: int | None = None) -> BitMatrix:
        """Which rules fire on which rows: a bit matrix of shape (rules, rows); `.dense()` gives booleans."""
        return self.evaluator.fires(self.features.encode(X), n_jobs)

    def uncovered(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """The rows on which no rule fires, which get the default class or what the base votes prefer."""
        return self.evaluator.uncovered(self.features.encode(X), n_jobs)

    # --- Display ---

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """One row per rule, as a DataFrame of pandas or of another backend ("polars", "pyarrow")."""
        stored = self.columns
        data = {
            "premise": [display.describe_premise(stored, rule, self.features) for rule in range(len(self))],
            "conclusion": self.classes[stored.class_index].tolist(),
            "length": stored.lengths,
            "confidence": stored.confidence,
            "cover": stored.cover,
            "correct": stored.correct,
            "weight": stored.weight,
            "priority": stored.priority,
            "layer": [None if origin is None else origin.layer for origin in stored.origins],
            "clause": [None if origin is None else origin.clause for origin in stored.origins],
        }
        return frame_of(data, backend)

    def __str__(self) -> str:
        return display.as_text(self.columns, self.features, self.labels, self.headline)

    def __repr__(self) -> str:
        return f"<RuleSet: {self.headline}>"

    def _repr_html_(self) -> str:
        return display.as_html(self.columns, self.features, self.labels, self.headline)

    @property
    def headline(self) -> str:
        """One line about all rules: how many, for which classes, how they vote."""
        start = SCHEMES[self.voting].start(self.base)
        n_first = int(self.columns.priority.sum())
        return display.headline(len(self), self.labels, self.default, self.voting, start, n_first)

    # --- Parts ---

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The classes as plain Python values."""
        return tuple(self.classes.tolist())

    @property
    def n_premises(self) -> int:
        """Number of different premises; fewer than rules where a premise speaks for several classes."""
        return len(set(self.columns.premise_keys()))

    @property
    def default_index(self) -> int:
        """Position of the default class in `classes`."""
        return self.labels.index(self.default)

    @cached_property
    def evaluator(self) -> Evaluator:
        """The rules made ready for encoded matrices, for callers that encode once and ask often."""
        return Evaluator(self.columns, self.features, len(self.labels), self.base)

    def __getstate__(self) -> dict[str, Any]:
        # The evaluator lives in the compiled core and is cheap to make again.
        return {name: value for name, value in self.__dict__.items() if name != "evaluator"}

    def _with_columns(self, stored: RuleColumns) -> "Self":
        return replace(self, columns=stored)

    def _voting(self, voting: Voting | None) -> Voting:
        return self.voting if voting is None else checked_voting(voting)

    def selected(self, key: Any) -> NDArray[np.int64]:
        """The numbers of the rules that a slice, a mask or a list of numbers selects."""
        if isinstance(key, slice):
            return np.arange(len(self))[key]
        array = np.asarray(key)
        if array.size == 0:
            array = array.astype(np.int64)
        if array.ndim != 1 or array.dtype.kind not in "iub":
            raise TypeError(f"{key!r} selects no rules; use a number, a slice, a mask or a list of numbers.")
        if array.dtype == bool and len(array) != len(self):
            raise IndexError(f"The mask has {len(array)} entries for {len(self)} rules.")
        if array.dtype != bool and len(outside := array[(array < -len(self)) | (array >= len(self))]):
            raise IndexError(f"There is no rule {outside[0]}; there are {len(self)}, counted from 0.")
        return np.asarray(np.arange(len(self))[array])


def as_features(features: Features | Sequence[str]) -> Features:
    """Features as they are, or numeric ones of these names."""
    return features if isinstance(features, Features) else Features(tuple(features))


def base_votes(base: ArrayLike | None, n_classes: int) -> NDArray[np.float64]:
    """One number per class as a read-only array; zeros if there are none."""
    votes = np.zeros(n_classes) if base is None else np.array(base, dtype=np.float64) + 0.0  # no −0
    if votes.shape != (n_classes,) or not np.isfinite(votes).all():
        raise ValueError(f"base has shape {votes.shape}; expected {n_classes} finite numbers, one per class.")
    votes.setflags(write=False)
    return votes


def _unscaled(votes: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Votes in units of log-odds; where they are too large for doubles, by how much they fall behind."""
    with np.errstate(over="ignore"):
        units = votes / scale
        if not np.isfinite(units).all():
            units = (votes - votes.max(axis=1, keepdims=True)) / scale
    return units


def _require_same_base(mine: NDArray[np.float64], theirs: NDArray[np.float64]) -> None:
    if not np.array_equal(mine, theirs):
        raise ValueError(
            f"Rule sets with different base cannot be joined ({mine.tolist()[:5]} and "
            f"{theirs.tolist()[:5]}); bring them in line first."
        )
