"""The base of `RegressionRules`: construction, selection, sums and predictions."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.base.counts import count_of
from clausewise.base.parameters import VERBOSE, check_parameters
from clausewise.base.progress import Progress
from clausewise.data.features import Features
from clausewise.data.responses import read_responses
from clausewise.data.table import Matrix
from clausewise.data.weights import read_weights
from clausewise.partitions import PartitionedRows, is_partitioned, partitioned
from clausewise.partitions.number_column import number_column
from clausewise.partitions.protocol import Part
from clausewise.rules import display
from clausewise.rules.batch_counts import Numbers, predicted
from clausewise.rules.canonical import canonical_responses, columns_of_regression_rules
from clausewise.rules.columns import ResponseColumns, regression_rule_at
from clausewise.rules.evaluator import SumEvaluator
from clausewise.rules.linear import Linear, LinearTerm, add_linear, checked_linear, describe_linear
from clausewise.rules.regression_rule import (
    RegressionRule,
    describe_addition,
    describe_amount,
    describe_response,
)
from clausewise.rules.response_counts import (
    NumberAnswer,
    ResponseCounter,
    add_responses,
    first_cells,
    responses_of_all,
)
from clausewise.rules.rule import Origin
from clausewise.rules.stored import StoredRules, as_features
from clausewise.rules.sums import (
    RESPONSE_OF_SUM,
    Link,
    checked_link,
    last_place,
    round_significant,
    round_to_place,
)

if TYPE_CHECKING:
    from typing import Self

INTERVAL = (0.05, 0.95)
"""The quantiles of the response that are kept for each rule."""


@dataclass(frozen=True, eq=False, repr=False)
class BaseRegressionRules(StoredRules[RegressionRule]):
    """Rules that add numbers, with a base and a linear part; see `RegressionRules`."""

    columns: ResponseColumns
    base: float
    linear: tuple[LinearTerm, ...] = ()
    link: Link = "identity"
    response: str | None = None
    response_range: tuple[float, float] | None = None

    RULE: ClassVar = RegressionRule

    def __post_init__(self) -> None:
        # A finite sum of absolute numbers keeps every sum finite, whichever rules fire.
        with np.errstate(over="ignore"):
            most = float(np.abs(self.columns.weight).sum() + abs(self.base))
        most += sum(term.largest for term in self.linear if term.largest < np.inf)
        if not np.isfinite(most):
            raise ValueError(
                "The base and the additions add up to more than a double can hold; use another unit."
            )

    @classmethod
    def from_rules(
        cls,
        rules: Iterable[RegressionRule],
        features: Features | Sequence[str],
        *,
        base: float = 0.0,
        linear: Linear | None = None,
        link: Link = "identity",
        response: str | None = None,
        response_range: tuple[float, float] | None = None,
    ) -> "Self":
        """Make a rule set of RegressionRule objects.

        Parameters
        ----------
        rules : iterable of RegressionRule
            The rules, in order.
        features : Features or sequence of str
            The columns that rules and coefficients refer to; names alone are numeric.
        base : float, default 0
            What every row starts with.
        linear : dict of str to float, or iterable of LinearTerm, optional
            Coefficients by feature. In a dict, missing values count as 0; a LinearTerm says otherwise.
        link : {"identity", "log"}, default "identity"
            "log" makes the prediction e to the power of the sum.
        response : str, optional
            Name of what is predicted.
        response_range : pair of float, optional
            The smallest and the largest response in the training rows.
        """
        known = as_features(features)
        stored = columns_of_regression_rules(list(rules), known)
        return cls._made(known, stored, base, linear, link, response, response_range)

    @classmethod
    def from_arrays(
        cls,
        features: Features | Sequence[str],
        base: float,
        *,
        starts: ArrayLike,
        feature: ArrayLike,
        low: ArrayLike,
        high: ArrayLike,
        addition: ArrayLike,
        value_set: ArrayLike | None = None,
        value_sets: Sequence[Iterable[int]] = (),
        missing: ArrayLike | None = None,
        cover: ArrayLike | None = None,
        mean: ArrayLike | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        origins: Sequence[Origin | None] | None = None,
        linear: Linear | None = None,
        link: Link = "identity",
        response: str | None = None,
        response_range: tuple[float, float] | None = None,
    ) -> "Self":
        """Make a rule set of columns, without a Python object per rule.

        Terms are given as for `RuleSet.from_arrays`. `addition` is what each rule adds; `cover`, `mean`,
        `lower` and `upper` are its statistics (see `with_statistics`), NaN where they are not known. The
        other parameters are those of `from_rules`.
        """
        known = as_features(features)
        stored = canonical_responses(
            known,
            starts=starts,
            feature=feature,
            low=low,
            high=high,
            addition=addition,
            value_set=value_set,
            value_sets=value_sets,
            missing=missing,
            cover=cover,
            mean=mean,
            lower=lower,
            upper=upper,
            origins=origins,
        )
        return cls._made(known, stored, base, linear, link, response, response_range)

    @classmethod
    def _made(
        cls,
        features: Features,
        stored: ResponseColumns,
        base: float,
        linear: Linear | None,
        link: str,
        response: str | None,
        response_range: tuple[float, float] | None,
    ) -> "Self":
        return cls(
            features,
            stored,
            checked_base(base),
            checked_linear(linear, features),
            checked_link(link),
            _checked_response(response),
            _checked_range(response_range),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BaseRegressionRules):
            return NotImplemented
        return self._key == other._key and self.columns.same_as(other.columns)

    def __hash__(self) -> int:
        # Only arrays that are bytewise the same in equal rule sets; value sets may be numbered differently.
        stored = self.columns
        shared = (stored.starts, stored.feature, stored.low, stored.weight)
        return hash((*self._key, *(array.tobytes() for array in shared)))

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.features, self.base, self.linear, self.link, self.response, self.response_range

    @property
    def voting(self) -> Literal["sum"]:
        """How the rules decide together: their numbers are added."""
        return "sum"

    # --- Other numbers ---

    def filter(
        self,
        *,
        feature: str | int | None = None,
        min_length: int = 0,
        max_length: int | None = None,
        min_cover: float = 0.0,
        min_addition: float = 0.0,
        sign: Literal["+", "-"] | None = None,
    ) -> "Self":
        """Return the rules that satisfy all given conditions, in their order.

        Parameters
        ----------
        feature : str or int, optional
            Rules that test this feature, given by name or position.
        min_length, max_length : int, optional
            Bounds on the number of terms.
        min_cover : float, optional
            Smallest cover.
        min_addition : float, optional
            Smallest absolute value of the addition.
        sign : {"+", "-"}, optional
            Rules that add ("+") or that take away ("-").
        """
        if sign not in (None, "+", "-"):
            raise ValueError(f"sign is {sign!r}; expected '+' or '-'.")
        kept = self._filtered(feature, min_length, max_length, min_cover)
        kept &= np.abs(self.columns.weight) >= min_addition
        if sign is not None:
            kept &= self.columns.weight > 0 if sign == "+" else self.columns.weight < 0
        return self[kept]

    def with_additions(
        self, addition: ArrayLike, *, base: float | None = None, linear: Linear | None = None
    ) -> "Self":
        """Return the same rules with other additions; base and linear part are kept unless given."""
        column = np.array(addition, dtype=np.float64) + 0.0
        if column.shape != (len(self),) or not np.isfinite(column).all():
            raise ValueError(
                f"addition has shape {column.shape}; expected {len(self)} finite numbers, one per rule."
            )
        column.setflags(write=False)
        return replace(
            self,
            columns=replace(self.columns, weight=column),
            base=self.base if base is None else checked_base(base),
            linear=self.linear if linear is None else checked_linear(linear, self.features),
        )

    def with_response(self, name: str | None) -> "Self":
        """Return the same rules with another name of what they predict."""
        return replace(self, response=_checked_response(name))

    def rounded(self, digits: int = 3) -> "Self":
        """Return the same rules with additions and coefficients of at most this many significant digits.

        The base keeps the decimal place of the finest addition, and at least `digits` digits, so that it
        reads well beside them. Rounding changes predictions: measure what it costs with `evaluate`.
        """
        if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= 17:
            raise ValueError(f"digits is {digits!r}; expected a whole number from 1 to 17.")
        additions = [round_significant(number, digits) for number in self.columns.weight.tolist()]
        linear = [
            replace(term, coefficient=round_significant(term.coefficient, digits)) for term in self.linear
        ]
        places = [
            last_place(number) for number in (*additions, round_significant(self.base, digits)) if number
        ]
        base = round_to_place(self.base, min(places)) if places else self.base
        return self.with_additions(additions, base=base, linear=linear)

    def with_statistics(
        self,
        X: Any,
        response: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> "Self":
        """Return the same rules with cover, mean and interval of the response counted on these rows.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
            Rows as for `Features.encode`.
        response : array-like of shape (n_rows,)
            The number that belongs to each row: true ones, or those of a network. For rows that need not fit
            into memory, the name of the column that holds them.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row.
        n_jobs : int, optional
            Number of threads; all usable cores unless given.
        verbose : int, default 0
            1 shows progress on rows that are read in parts.

        Returns
        -------
        RegressionRules
            Each rule has the mean and the interval of the response on the rows where it fires: the 5 % and
            the 95 % quantile. `response_range` is that of all rows.
        """
        if is_partitioned(X):
            if sample_weight is not None:
                raise ValueError("sample_weight is for tables in memory; these rows are read in parts.")
            return self._with_statistics_of(partitioned(X), response, verbose)
        matrix = self.features.encode(X)
        numbers = read_responses(response, len(matrix), "response")
        return self.with_encoded_statistics(matrix, numbers, read_weights(sample_weight, len(matrix)), n_jobs)

    def _with_statistics_of(self, rows: PartitionedRows, response: Any, verbose: int) -> "Self":
        """Return the same rules with statistics of rows in partitions, and of the numbers in a column."""
        check_parameters({"verbose": VERBOSE}, {"verbose": verbose})
        with Progress(verbose) as progress:
            progress.started("Statistics", 2)
            answer = number_column(response, rows, "response")
            if self.features.named:
                rows = rows.only([*self.features.names, answer.name])
            edges = first_cells(rows, answer)
            counter = ResponseCounter(self, answer, rows.n_rows, edges)
            found = rows.reduce(counter, add_responses, progress, "statistics")
            return self.with_counted_responses(found, rows, answer, edges, progress)

    def with_counted_responses(
        self,
        found: Part,
        rows: PartitionedRows,
        answer: NumberAnswer,
        edges: NDArray[np.float64],
        progress: Progress | None = None,
    ) -> "Self":
        """Return the same rules with the statistics that `ResponseCounter` counted on all rows."""
        counted = responses_of_all(self, found, rows, answer, edges, INTERVAL, progress)
        low, high = found["range"].tolist()
        return replace(self, columns=replace(self.columns, **counted), response_range=(low, high))

    def with_encoded_statistics(
        self,
        matrix: Matrix,
        numbers: NDArray[np.float64],
        weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
    ) -> "Self":
        """Return the same rules with statistics counted on encoded rows; see `with_statistics`."""
        weights = np.ones(len(matrix)) if weights is None else weights
        counted = numbers[weights > 0]
        if len(counted) == 0:
            raise ValueError("There are no rows to count on; pass at least one.")
        columns = replace(self.columns, **self._responses(matrix, numbers, weights, n_jobs))
        return replace(self, columns=columns, response_range=(float(counted.min()), float(counted.max())))

    def _responses(
        self,
        matrix: Matrix,
        numbers: NDArray[np.float64],
        weights: NDArray[np.float64],
        n_jobs: int | None,
    ) -> dict[str, Any]:
        """Return cover, mean and quantiles of the response where each rule fires."""
        fires = self.evaluator.fires(matrix, n_jobs)
        order = np.argsort(numbers, kind="stable")
        found = {name: np.full(len(self), np.nan) for name in ("cover", "mean", "lower", "upper")}
        for rule in range(len(self)):
            covered = order[fires[rule][order]]
            covered = covered[weights[covered] > 0]
            running = np.cumsum(weights[covered])
            cover = found["cover"][rule] = running[-1] if len(covered) else 0.0
            if len(covered) == 0:
                continue
            values = numbers[covered]
            # The deviations are small beside the mean, so their sum loses fewer digits.
            centre = values[len(values) // 2]
            found["mean"][rule] = centre + (weights[covered] * (values - centre)).sum() / cover
            for name, quantile in zip(("lower", "upper"), INTERVAL, strict=True):
                place = int(np.searchsorted(running, quantile * cover))
                found[name][rule] = values[min(place, len(values) - 1)]
        for column in found.values():
            column.setflags(write=False)
        return found

    # --- Rules on rows ---

    def predict(self, X: Any, *, n_jobs: int | None = None, verbose: int = 0) -> Any:
        """Return the number that the rules predict for each row.

        The base, plus the additions of the rules that fire, plus the linear terms; with the link "log", e to
        the power of that sum. Short decimals are added exactly: 2.07 + 1.4 is 3.47.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Rows as for `Features.encode`, such as a list of dictionaries. One row may be a dictionary, a
            pandas Series, or one value per feature. Rows that need not fit into memory are taken, too; see
            `clausewise.partitioned`.
        n_jobs : int, optional
            Number of threads; all usable cores unless given. Results do not depend on it.
        verbose : int, default 0
            1 shows progress on rows that are read in parts.

        Returns
        -------
        ndarray of shape (n_rows,)
            One number per row; one for a single row. A frame of Dask, Ray, Spark, or a LazyFrame of polars
            becomes one with a further column "prediction", computed when it is asked for.
        """
        if is_partitioned(X):
            return predicted(partitioned(X), Numbers(self, n_jobs), verbose)
        return self.response_of(self.sums(X, n_jobs=n_jobs))

    def sums(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the sum of base, additions and linear terms of each row: `predict` before the link."""
        return self.sums_of(self._tested_columns(X), n_jobs)

    def tested_features(self) -> Collection[int]:
        """Return the positions of the features that predictions depend on."""
        return {*super().tested_features(), *(term.feature for term in self.linear)}

    def sums_of(self, matrix: Matrix, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the sums of encoded rows."""
        totals = self.evaluator.sums(matrix, n_jobs)
        add_linear(totals, self.linear, matrix)
        return totals

    def response_of(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the link makes of sums."""
        return RESPONSE_OF_SUM[self.link](sums)

    # --- Display and parts ---

    def rule_at(self, number: int) -> RegressionRule:
        """Return one rule as an object."""
        return regression_rule_at(self.columns, number, self.features)

    def columns_of(self, rules: Sequence[RegressionRule]) -> ResponseColumns:
        """Return RegressionRule objects as columns, checked against the features."""
        return columns_of_regression_rules(rules, self.features)

    def read_rules(self, text: str) -> list[RegressionRule]:
        """Read rules about the same features, written in the rule language."""
        from clausewise.rules.text import read_regression_rules

        return read_regression_rules(text, self.features)

    def write_rule(self, number: int) -> str:
        """Write one rule in the rule language."""
        from clausewise.rules.text import write_regression_rule

        return write_regression_rule(self.columns, number, self.features)

    def describe_parts(self, number: int) -> tuple[str, str, str]:
        """Return the premise, the addition and the statistics of a rule, as they are shown."""
        rule = self.rule_at(number)
        premise = display.describe_premise(self.columns, number, self.features)
        return premise, describe_addition(rule.addition), describe_response(rule)

    def _deciding_parts(self) -> Iterator[Any]:
        yield from (self.base, self.columns.weight, self.linear, self.link)

    def _frame_columns(self) -> dict[str, Any]:
        stored = self.columns
        return {
            "addition": stored.weight,
            "length": stored.lengths,
            "cover": stored.cover,
            "mean": stored.mean,
            "lower": stored.lower,
            "upper": stored.upper,
        }

    @property
    def headline(self) -> str:
        """One line on the whole rule set: number of rules, what they predict, and where sums start."""
        rules = count_of(len(self), "rule")
        subject = "a number" if self.response is None else self.response
        line = f"{rules} for {subject}; start at {describe_amount(self.base)} and add"
        if self.linear:
            line += f", with {count_of(len(self.linear), 'linear term')}"
        if self.link == "log":
            line += "; the prediction is e to the power of the sum"
        source = self.features.source
        return line if source is None else f"{line}; columns computed by {source.title}"

    @property
    def footnotes(self) -> tuple[str, ...]:
        """The linear terms, as they are shown below the rules, and the guarantee."""
        return (*map(describe_linear, self.linear), *super().footnotes)

    @property
    def n_coefficients(self) -> int:
        """Number of coefficients in the linear part."""
        return len(self.linear)

    @cached_property
    def evaluator(self) -> SumEvaluator:
        """The rules compiled for encoded matrices, for callers that encode once and ask often."""
        return SumEvaluator(self.columns, self.features, self.base)


def checked_base(base: Any) -> float:
    """Return a finite number as a float without a negative zero."""
    number = float(base) + 0.0
    if not np.isfinite(number):
        raise ValueError(f"base is {base!r}; it must be a finite number.")
    return number


def _checked_response(name: Any) -> str | None:
    if name is not None and not isinstance(name, str):
        raise TypeError(f"response is {name!r}; expected the name of what is predicted.")
    return name


def _checked_range(limits: Any) -> tuple[float, float] | None:
    if limits is None:
        return None
    low, high = (float(limit) + 0.0 for limit in limits)
    if not -np.inf < low <= high < np.inf:
        raise ValueError(f"response_range is {limits!r}; expected two finite numbers, ascending.")
    return low, high
