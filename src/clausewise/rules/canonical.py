"""The canonical form of stored rules: columns are checked, then equal conditions become equal terms."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.data.table import Category
from clausewise.rules.columns import (
    NO_SET,
    ResponseColumns,
    RuleColumns,
    flat_sets,
    frozen,
    pooled,
    starts_of,
)
from clausewise.rules.regression_rule import RegressionRule, check_response
from clausewise.rules.rule import Conjunction, Origin, Rule, check_statistics
from clausewise.rules.term import Term


def canonical(
    features: Features,
    n_classes: int,
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
) -> RuleColumns:
    """Check columns and bring them into canonical form, in which equal conditions are equal terms.

    A rule has one term per feature (several are intersected), sorted by feature; each value set is stored
    once; −0 becomes 0; an interval on a binary feature becomes x ≤ 0, x > 0 or "is known". A value that must
    be missing and satisfy another term is impossible: the interval (0, 0] or the empty set.
    """
    class_index = _column(class_index, np.int32, "class_index")
    n_rules = len(class_index)
    terms = _Terms(
        rule=_rule_of_term(_column(starts, np.int64, "starts"), n_rules, np.size(feature)),
        feature=_column(feature, np.int32, "feature"),
        low=_column(low, np.float64, "low") + 0.0,
        high=_column(high, np.float64, "high") + 0.0,
        value_set=np.full(np.size(feature), NO_SET, np.int32)
        if value_set is None
        else _column(value_set, np.int32, "value_set"),
        missing=_flags(missing, np.size(feature), "missing"),
    )
    sets = [tuple(sorted({index(code) for code in codes})) for codes in value_sets]
    _check_terms(terms, sets, features)
    _check_classes(class_index, n_classes)
    terms, sets = _merged(_with_binary_bounds(terms, features), sets)
    sets, pooled_sets = pooled(sets, terms.value_set)
    set_starts, set_codes = flat_sets(sets)
    columns = RuleColumns(
        starts=starts_of(np.bincount(terms.rule, minlength=n_rules)),
        feature=terms.feature,
        low=terms.low,
        high=terms.high,
        value_set=pooled_sets,
        missing=terms.missing,
        set_starts=set_starts,
        set_codes=set_codes,
        class_index=class_index,
        confidence=_per_rule(confidence, 1.0, n_rules, "confidence"),
        cover=_per_rule(cover, 0.0, n_rules, "cover"),
        correct=_per_rule(correct, 0.0, n_rules, "correct"),
        weight=_per_rule(weight, 1.0, n_rules, "weight"),
        priority=_flags(priority, n_rules, "priority"),
        origins=(None,) * n_rules if origins is None else tuple(origins),
    )
    if len(columns.origins) != n_rules:
        raise ValueError(f"origins has {len(columns.origins)} entries for {n_rules} rules.")
    _check_rule_statistics(columns)
    return frozen(columns)


def canonical_responses(
    features: Features,
    *,
    addition: ArrayLike,
    mean: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    **premises: Any,
) -> ResponseColumns:
    """Check columns of rules for numbers and bring them into canonical form; see `canonical`."""
    additions = _column(addition, np.float64, "addition") + 0.0
    only_class = np.zeros(len(additions), dtype=np.int32)
    for rule in np.flatnonzero(~np.isfinite(additions)).tolist():
        check_response(float(additions[rule]), 0.0, None, None, f"Rule {rule}")
    stored = canonical(features, 1, class_index=only_class, weight=additions, **premises)
    responses: dict[str, Any] = {
        name: _per_rule(values, math.nan, len(additions), name)
        for name, values in (("mean", mean), ("lower", lower), ("upper", upper))
    }
    columns = ResponseColumns(**{f.name: getattr(stored, f.name) for f in fields(stored)}, **responses)
    _check_responses(columns)
    return frozen(columns)


def _check_responses(columns: ResponseColumns) -> None:
    mean, lower, upper = columns.mean, columns.lower, columns.upper
    is_good = np.isnan(mean) | np.isfinite(mean)
    is_good &= (np.isnan(lower) & np.isnan(upper)) | ((lower <= upper) & np.isfinite(upper - lower))
    for rule in np.flatnonzero(~is_good).tolist():
        interval = (float(lower[rule]), float(upper[rule]))
        centre = None if math.isnan(mean[rule]) else float(mean[rule])
        check_response(0.0, 0.0, centre, interval, f"Rule {rule}")


def require_rules(rules: Sequence[object], kind: type[Conjunction]) -> None:
    """Raise a TypeError unless all are rules of this kind."""
    for rule in rules:
        if not isinstance(rule, kind):
            raise TypeError(
                f"{rule!r} is not a {kind.__name__}; build the rule set from {kind.__name__} objects."
            )


def columns_of_regression_rules(rules: Sequence[RegressionRule], features: Features) -> ResponseColumns:
    """Return the columns of RegressionRule objects."""
    require_rules(rules, RegressionRule)
    no_interval = (math.nan, math.nan)
    return canonical_responses(
        features,
        addition=np.array([rule.addition for rule in rules], dtype=np.float64),
        mean=np.array([math.nan if rule.mean is None else rule.mean for rule in rules]),
        lower=np.array([(rule.interval or no_interval)[0] for rule in rules]),
        upper=np.array([(rule.interval or no_interval)[1] for rule in rules]),
        cover=np.array([rule.cover for rule in rules]),
        origins=[rule.origin for rule in rules],
        **_premise_columns(rules, features),
    )


def columns_of_rules(
    rules: Sequence[Rule], features: Features, index_of_label: dict[Label, int]
) -> RuleColumns:
    """Return the columns of Rule objects; their value sets become category codes of `features`."""
    return canonical(
        features,
        len(index_of_label),
        class_index=np.array(
            [_class_of(rule, n, index_of_label) for n, rule in enumerate(rules)], dtype=np.int32
        ),
        confidence=np.array([rule.confidence for rule in rules]),
        cover=np.array([rule.cover for rule in rules]),
        correct=np.array([rule.correct for rule in rules]),
        weight=np.array([rule.weight for rule in rules]),
        priority=np.array([rule.priority for rule in rules], dtype=bool),
        origins=[rule.origin for rule in rules],
        **_premise_columns(rules, features),
    )


def _premise_columns(rules: Sequence[Conjunction], features: Features) -> dict[str, Any]:
    """Return the premises of Rule objects, as `canonical` takes them."""
    starts = starts_of(np.array([len(rule) for rule in rules], dtype=np.int64))
    sets: list[tuple[int, ...]] = []
    value_set: list[int] = []
    code_of = [
        None if values is None else {value: code for code, value in enumerate(values)}
        for values in features.categories
    ]
    for number, term in _numbered_terms(rules, features):
        if term.values is None:
            value_set.append(NO_SET)
        else:
            value_set.append(len(sets))
            sets.append(_codes_of(term, features, number, code_of[term.feature]))
    terms = [term for rule in rules for term in rule.terms]
    return {
        "starts": starts,
        "feature": np.array([term.feature for term in terms], dtype=np.int32),
        "low": np.array([term.low for term in terms], dtype=np.float64),
        "high": np.array([term.high for term in terms], dtype=np.float64),
        "value_set": np.array(value_set, dtype=np.int32),
        "value_sets": sets,
        "missing": np.array([term.missing for term in terms], dtype=bool),
    }


# --- Merging terms ---


@dataclass(frozen=True)
class _Terms:
    rule: NDArray[np.int64]
    feature: NDArray[np.int32]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    value_set: NDArray[np.int32]
    missing: NDArray[np.bool_]

    def take(self, places: Any) -> "_Terms":
        return _Terms(*(getattr(self, field.name)[places] for field in fields(self)))


def _with_binary_bounds(terms: _Terms, features: Features) -> _Terms:
    """Set bounds on binary features to 0 or infinity.

    All bounds in [0, 1) mean the same for a value that is 0 or 1. An interval that contains neither becomes
    (0, 0], which is visibly empty.
    """
    is_binary = np.array([kind == "binary" for kind in features.kinds])[terms.feature]
    if not is_binary.any():
        return terms
    is_empty = (terms.low >= 1) | (terms.high < 0) | (terms.low >= terms.high)
    low = np.where((terms.low < 0) & ~is_empty, -math.inf, 0.0)
    high = np.where((terms.high >= 1) & ~is_empty, math.inf, 0.0)
    return replace(terms, low=np.where(is_binary, low, terms.low), high=np.where(is_binary, high, terms.high))


def _merged(terms: _Terms, sets: list[tuple[int, ...]]) -> tuple[_Terms, list[tuple[int, ...]]]:
    if len(terms.rule) == 0:
        return terms, sets
    terms = terms.take(np.lexsort((terms.feature, terms.rule)))
    is_first = np.ones(len(terms.rule), dtype=bool)
    is_first[1:] = (np.diff(terms.rule) != 0) | (np.diff(terms.feature) != 0)
    if is_first.all():
        return terms, sets
    first = np.flatnonzero(is_first)
    value_set, sets = _intersected_sets(terms.value_set, first, sets)
    low, high = np.maximum.reduceat(terms.low, first), np.minimum.reduceat(terms.high, first)
    is_missing = np.logical_and.reduceat(terms.missing, first)
    # "Is missing" beside an interval; beside a set of categories, the set is empty already.
    is_impossible = np.logical_or.reduceat(terms.missing, first) & ~is_missing & (value_set == NO_SET)
    kept = replace(
        terms.take(first),
        low=np.where(is_impossible, 0.0, low),
        high=np.where(is_impossible, 0.0, high),
        value_set=value_set,
        missing=is_missing,
    )
    return kept, sets


def _intersected_sets(
    value_set: NDArray[np.int32], first: NDArray[np.int64], sets: list[tuple[int, ...]]
) -> tuple[NDArray[np.int32], list[tuple[int, ...]]]:
    sets = list(sets)
    result = value_set[first].copy()
    ends = np.append(first[1:], len(value_set))
    for position, (begin, end) in enumerate(zip(first.tolist(), ends.tolist(), strict=True)):
        numbers = value_set[begin:end]
        if end - begin > 1 and (numbers != NO_SET).any():
            # A term without a set, on a categorical feature, is "is missing".
            common = set.intersection(*(set() if s == NO_SET else set(sets[s]) for s in numbers.tolist()))
            result[position] = len(sets)
            sets.append(tuple(sorted(common)))
    return result, sets


# --- Checks ---


def _check_terms(terms: _Terms, sets: list[tuple[int, ...]], features: Features) -> None:
    lengths = {len(getattr(terms, field.name)) for field in fields(terms)}
    if len(lengths) != 1:
        raise ValueError(
            f"feature, low, high and value_set have {sorted(lengths)} entries; they must be equally long."
        )
    unknown = np.flatnonzero((terms.feature < 0) | (terms.feature >= len(features)))
    if len(unknown):
        number, column = terms.rule[unknown[0]], terms.feature[unknown[0]]
        raise ValueError(
            f"Rule {number} tests column {column}; there are {len(features)} features, counted from 0."
        )
    bad_bound = (
        np.isnan(terms.low) | np.isnan(terms.high) | (terms.low == math.inf) | (terms.high == -math.inf)
    )
    if bad_bound.any():
        bad = int(np.flatnonzero(bad_bound)[0])
        raise ValueError(
            f"Rule {terms.rule[bad]} has the bounds ({terms.low[bad]}, {terms.high[bad]}]; bounds are finite "
            "numbers, −inf for an open low end and inf for an open high end."
        )
    _check_sets(terms, sets, features)


def _check_sets(terms: _Terms, sets: list[tuple[int, ...]], features: Features) -> None:
    n_categories = features.n_categories[terms.feature]
    has_set = terms.value_set != NO_SET
    wrong = np.flatnonzero((has_set != (n_categories >= 0)) & ~terms.missing)
    if len(wrong):
        name = features.names[terms.feature[wrong[0]]]
        kind = features.kinds[terms.feature[wrong[0]]]
        expected = "a set of values" if kind == "categorical" else "an interval"
        raise ValueError(
            f"Rule {terms.rule[wrong[0]]} has the wrong kind of term on '{name}'; the feature is {kind}, "
            f"so the term must be {expected}."
        )
    if ((terms.value_set < NO_SET) | (terms.value_set >= len(sets))).any():
        raise ValueError(f"value_set refers to a set that does not exist; there are {len(sets)} value_sets.")
    is_open = (terms.low == -math.inf) & (terms.high == math.inf)
    if (has_set & ~is_open).any():
        raise ValueError("A term with a value_set must have low = −inf and high = inf.")
    if (terms.missing & (has_set | ~is_open)).any():
        raise ValueError("A term with missing must have low = −inf, high = inf and value_set = −1.")
    for term in np.flatnonzero(has_set).tolist():
        codes = sets[terms.value_set[term]]
        if codes and not 0 <= codes[0] <= codes[-1] < n_categories[term]:
            name = features.names[terms.feature[term]]
            wrong_code = codes[-1] if codes[0] >= 0 else codes[0]
            raise ValueError(
                f"Rule {terms.rule[term]} tests '{name}' for category code {wrong_code}; "
                f"the feature has {n_categories[term]} categories."
            )


def _check_classes(class_index: NDArray[np.int32], n_classes: int) -> None:
    unknown = np.flatnonzero((class_index < 0) | (class_index >= n_classes))
    if len(unknown):
        raise ValueError(
            f"Rule {unknown[0]} predicts class {class_index[unknown[0]]}; there are {n_classes} classes, "
            "counted from 0."
        )


def _check_rule_statistics(columns: RuleColumns) -> None:
    is_bad = ~((columns.confidence >= 0) & (columns.confidence <= 1) & np.isfinite(columns.weight))
    is_bad |= ~((columns.correct >= 0) & (columns.correct <= columns.cover) & np.isfinite(columns.cover))
    for rule in np.flatnonzero(is_bad).tolist():
        check_statistics(
            float(columns.confidence[rule]),
            float(columns.cover[rule]),
            float(columns.correct[rule]),
            float(columns.weight[rule]),
            subject=f"Rule {rule}",
        )


def _numbered_terms(rules: Sequence[Conjunction], features: Features) -> Iterator[tuple[int, Term]]:
    for number, rule in enumerate(rules):
        for term in rule.terms:
            if term.feature >= len(features):
                raise ValueError(
                    f"Rule {number} tests column {term.feature}; there are {len(features)} features, "
                    "counted from 0."
                )
            yield number, term


def _codes_of(
    term: Term, features: Features, number: int, code_of: dict[Category, int] | None
) -> tuple[int, ...]:
    name = features.names[term.feature]
    if code_of is None:
        raise ValueError(
            f"Rule {number} tests '{name}' against categories, but it is {features.kinds[term.feature]}."
        )
    unknown = [value for value in term.values or () if value not in code_of]
    if unknown:
        raise ValueError(
            f"Rule {number} tests '{name}' for {unknown[0]!r}, which is not one of its categories."
        )
    return tuple(sorted(code_of[value] for value in term.values or ()))


def _class_of(rule: Rule, number: int, index_of_label: dict[Label, int]) -> int:
    try:
        return index_of_label[rule.conclusion]
    except KeyError:
        known = ", ".join(map(repr, index_of_label))
        raise ValueError(f"Rule {number} predicts {rule.conclusion!r}; the classes are {known}.") from None


# --- Reading arrays ---


def _column(values: ArrayLike, dtype: type[np.generic], name: str) -> NDArray[Any]:
    """Return a copy of the values as a column of this type; integers must not be truncated."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; expected one.")
    if np.issubdtype(dtype, np.integer) and array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} has dtype {array.dtype}; expected whole numbers.")
    converted = array.astype(dtype)
    if np.issubdtype(dtype, np.integer) and not np.array_equal(converted, array):
        raise ValueError(f"{name} holds numbers that do not fit {np.dtype(dtype)}.")
    return converted


def _per_rule(values: ArrayLike | None, fallback: float, n_rules: int, name: str) -> NDArray[np.float64]:
    column: NDArray[np.float64] = (
        np.full(n_rules, fallback) if values is None else _column(values, np.float64, name) + 0.0
    )
    if len(column) != n_rules:
        raise ValueError(f"{name} has {len(column)} entries for {n_rules} rules.")
    return column


def _flags(values: ArrayLike | None, n_expected: int, name: str) -> NDArray[np.bool_]:
    flags = np.zeros(n_expected, dtype=bool) if values is None else np.array(values)
    if flags.shape != (n_expected,) or (flags.dtype != bool and n_expected > 0):
        raise ValueError(
            f"{name} has shape {flags.shape} and type {flags.dtype}; expected {n_expected} booleans."
        )
    return flags.astype(bool)


def _rule_of_term(starts: NDArray[np.int64], n_rules: int, n_terms: int) -> NDArray[np.int64]:
    if len(starts) != n_rules + 1 or starts[0] != 0 or starts[-1] != n_terms or (np.diff(starts) < 0).any():
        raise ValueError(
            f"starts must ascend from 0 to the number of terms ({n_terms}) and have {n_rules + 1} entries, "
            "one per rule and one for the end."
        )
    return np.repeat(np.arange(n_rules), np.diff(starts))
