"""What rule sets of every kind share: stored rules over features, as a sequence, on rows and as text."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from clausewise.base.frames import Backend, frame_of
from clausewise.data.features import Features
from clausewise.data.learnt_rows import LearntRows
from clausewise.data.table import Matrix
from clausewise.rules import display
from clausewise.rules.changes import RuleChange
from clausewise.rules.columns import NO_SET, RuleColumns
from clausewise.rules.display import RuleTexts
from clausewise.rules.evaluator import BitMatrix, PremiseEvaluator
from clausewise.rules.guarantee import Guarantee
from clausewise.rules.metrics import reading_cost
from clausewise.rules.rule import Conjunction

if TYPE_CHECKING:
    from typing import Self

_Rule = TypeVar("_Rule", bound=Conjunction)


@dataclass(frozen=True, eq=False, repr=False)
class StoredRules(ABC, Generic[_Rule]):
    """Rules over the columns of a table, in order; `_Rule` is what one of them is as an object."""

    features: Features
    columns: RuleColumns
    changes: tuple[RuleChange, ...] = field(default=(), kw_only=True)
    learnt_rows: LearntRows | None = field(default=None, kw_only=True)
    last_guarantee: Guarantee | None = field(default=None, kw_only=True)

    # --- What each kind of rules defines ---

    RULE: ClassVar[type[Any]] = Conjunction
    """The class of a rule as an object."""

    @abstractmethod
    def rule_at(self, number: int) -> _Rule:
        """Return one rule as an object."""

    @abstractmethod
    def columns_of(self, rules: Sequence[_Rule]) -> RuleColumns:
        """Return Rule objects as columns, checked against the features."""

    @abstractmethod
    def read_rules(self, text: str) -> list[_Rule]:
        """Read rules about the same features, written in the rule language."""

    @abstractmethod
    def write_rule(self, number: int) -> str:
        """Write one rule in the rule language."""

    @abstractmethod
    def describe_parts(self, number: int) -> tuple[str, str, str]:
        """Return the premise, the conclusion and the statistics of a rule, as they are shown."""

    @property
    @abstractmethod
    def headline(self) -> str:
        """One line on the whole rule set."""

    @cached_property
    @abstractmethod
    def evaluator(self) -> PremiseEvaluator:
        """The rules compiled for encoded matrices, for callers that encode once and ask often."""

    @cached_property
    def texts(self) -> RuleTexts:
        """The rules as texts, for callers that show some of them often."""
        return RuleTexts(self.columns, self.features, self.describe_parts)

    @abstractmethod
    def _frame_columns(self) -> dict[str, Any]:
        """Return what `to_frame` shows of each rule between its premise and its origin."""

    @abstractmethod
    def _deciding_parts(self) -> Iterator[Any]:
        """Yield what the predictions depend on beside the premises: arrays, texts, numbers, tuples."""

    # --- A sequence of rules ---

    def __len__(self) -> int:
        return self.columns.n_rules

    @overload
    def __getitem__(self, key: int) -> _Rule: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | Sequence[bool] | NDArray[Any]) -> "Self": ...
    def __getitem__(self, key: Any) -> "_Rule | Self":
        if hasattr(key, "__index__") and not isinstance(key, bool | np.bool_ | np.ndarray):
            if not -len(self) <= key < len(self):
                raise IndexError(f"There is no rule {key}; there are {len(self)}, counted from 0.")
            return self.rule_at(int(key) % len(self))
        return self._with_columns(self.columns.take(self.selected(key)))

    def __iter__(self) -> Iterator[_Rule]:
        for number in range(len(self)):
            yield self.rule_at(number)

    def __contains__(self, rule: object) -> bool:
        if not isinstance(rule, Conjunction):
            return False
        # Rule objects are only made for candidates whose numbers are equal.
        alike = (self.columns.lengths == len(rule)) & (self.columns.cover == getattr(rule, "cover", 0.0))
        return any(rule == self.rule_at(number) for number in np.flatnonzero(alike).tolist())

    def selected(self, key: Any) -> NDArray[np.int64]:
        """Return the numbers of the rules that a slice, a mask or a list of numbers selects."""
        if isinstance(key, slice):
            return np.arange(len(self))[key]
        array = np.asarray(key)
        if array.size == 0:
            array = array.astype(np.int64)
        if array.ndim != 1 or array.dtype.kind not in "iub":
            raise TypeError(
                f"{key!r} cannot select rules; use a number, a slice, a mask or a list of numbers."
            )
        if array.dtype == bool and len(array) != len(self):
            raise IndexError(f"The mask has {len(array)} entries for {len(self)} rules.")
        if array.dtype != bool and len(outside := array[(array < -len(self)) | (array >= len(self))]):
            raise IndexError(f"There is no rule {outside[0]}; there are {len(self)}, counted from 0.")
        return np.asarray(np.arange(len(self))[array])

    def _tests(self, feature: str | int) -> NDArray[np.bool_]:
        """Return which rules test a feature."""
        stored = self.columns
        rule_of_term = np.repeat(np.arange(len(self)), stored.lengths)
        tests = stored.feature == self.features.index(feature)
        return np.asarray(np.bincount(rule_of_term[tests], minlength=len(self)) > 0)

    def _filtered(
        self, feature: str | int | None, min_length: int, max_length: int | None, min_cover: float
    ) -> NDArray[np.bool_]:
        """Return which rules satisfy the conditions of `filter` that do not depend on the conclusion."""
        stored = self.columns
        kept = (stored.lengths >= min_length) & (stored.cover >= min_cover)
        if max_length is not None:
            kept &= stored.lengths <= max_length
        return kept if feature is None else kept & self._tests(feature)

    # --- Rules on rows ---

    def fires(self, X: Any, *, n_jobs: int | None = None) -> BitMatrix:
        """Return which rules fire on which rows, as bits of shape (rules, rows); see `BitMatrix.dense`."""
        return self.evaluator.fires(self._tested_columns(X), n_jobs)

    def uncovered(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """Return on which rows no rule fires; what every row starts with decides there."""
        return self.evaluator.uncovered(self._tested_columns(X), n_jobs)

    def _tested_columns(self, X: Any) -> Matrix:
        """Return encoded rows, which may lack columns that play no role."""
        return self.features.encode(X, needed=self.tested_features)

    def tested_features(self) -> Collection[int]:
        """Return the positions of the features that predictions depend on."""
        return frozenset(self.columns.feature.tolist())

    # --- Rows that were learnt from, and promises about others ---

    def remember_rows(self, X: Any) -> "Self":
        """Return the same rules with a record that these rows were learnt from, beside those known already.

        Extraction, compaction and everything else that learns from rows does this by itself. The record holds
        a hash of each row; `guarantee` refuses rows that are in it.
        """
        return self.having_learnt_from(self.features.encode(X))

    def having_learnt_from(self, matrix: Matrix, earlier: "StoredRules[Any] | None" = None) -> "Self":
        """Return the same rules with encoded rows added to what they, or `earlier` rules, learnt from."""
        known = (self if earlier is None else earlier).learnt_rows
        learnt = LearntRows.of(self.features.names, matrix)
        return replace(self, learnt_rows=learnt if known is None else known | learnt)

    def forget_rows(self) -> "Self":
        """Return the same rules without the record of the rows that they were learnt from."""
        return replace(self, learnt_rows=None)

    def with_guarantee(self, guarantee: Guarantee | None) -> "Self":
        """Return the same rules with a guarantee, which rule files, reports and exports then show.

        Parameters
        ----------
        guarantee : Guarantee or None
            The result of `guarantee` for these very rules; None removes one.
        """
        if guarantee is not None and guarantee.digest != self.digest:
            raise ValueError(
                "The guarantee was given for other rules, or for these before they were edited; call "
                "guarantee again with fresh rows."
            )
        return replace(self, last_guarantee=guarantee)

    @property
    def guaranteed(self) -> Guarantee | None:
        """The guarantee that these rules carry; None without one, or if the rules were edited since."""
        given = self.last_guarantee
        return given if given is not None and given.digest == self.digest else None

    @cached_property
    def digest(self) -> str:
        """A text that stands for all decisions of these rules: it changes if a rule, vote or class does."""
        stored, features = self.columns, self.features
        sets = stored.value_sets
        parts = [
            (features.names, features.kinds, features.categories),
            *(getattr(stored, name) for name in ("starts", "feature", "low", "high", "missing")),
            [None if s == NO_SET else sets[s] for s in stored.value_set.tolist()],
            *self._deciding_parts(),
        ]
        found = hashlib.sha256()
        for part in parts:
            is_array = isinstance(part, np.ndarray)
            raw = part.tobytes() if is_array else repr(part).encode("utf-8", "surrogatepass")
            found.update(len(raw).to_bytes(8, "little") + raw)
        return found.hexdigest()

    # --- Display ---

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per rule, as a DataFrame of pandas or another backend ("polars", "pyarrow")."""
        stored = self.columns
        data = {
            "premise": [display.describe_premise(stored, rule, self.features) for rule in range(len(self))],
            **self._frame_columns(),
            "layer": [None if origin is None else origin.layer for origin in stored.origins],
            "clause": [None if origin is None else origin.clause for origin in stored.origins],
        }
        return frame_of(data, backend)

    def __str__(self) -> str:
        return display.as_text(self.headline, self.describe_parts, len(self), self.footnotes)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline}>"

    def _repr_html_(self) -> str:
        return display.as_html(self.headline, self.describe_parts, len(self), self.footnotes)

    # --- Parts ---

    @property
    def n_premises(self) -> int:
        """Number of distinct premises; fewer than rules if several rules share a premise."""
        return len(set(self.columns.premise_keys()))

    @property
    def footnotes(self) -> tuple[str, ...]:
        """Lines to show below the rules; none unless there is more to say."""
        return self.promise_lines

    @property
    def promise_lines(self) -> tuple[str, ...]:
        """What is promised of the rules, one line each."""
        return () if self.guaranteed is None else (self.guaranteed.summary,)

    @property
    def n_coefficients(self) -> int:
        """Number of coefficients in a linear part; 0 without one."""
        return 0

    @property
    def reading_cost(self) -> int:
        """What a person has to read: rules, bounds and categories (`clausewise.metrics.reading_cost`)."""
        return reading_cost(self)

    def __getstate__(self) -> dict[str, Any]:
        # The evaluator lives in the compiled core; both are cheap to rebuild.
        return {name: value for name, value in self.__dict__.items() if name not in ("evaluator", "texts")}

    def _with_columns(self, stored: RuleColumns) -> "Self":
        return replace(self, columns=stored)


def as_features(features: Features | Sequence[str]) -> Features:
    """Return features unchanged, or numeric features with these names."""
    return features if isinstance(features, Features) else Features(tuple(features))


def joined_records(parts: Sequence[StoredRules[Any]]) -> LearntRows | None:
    """Return the record of all rows that any of these rule sets was learnt from; None if none has one."""
    known = [part.learnt_rows for part in parts if part.learnt_rows is not None]
    return reduce(or_, known) if known else None
