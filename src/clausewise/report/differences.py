"""Where the rules differ from the network (or from the truth): by feature, and as slices in words."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from clausewise.analysis.differences import differences_by_feature
from clausewise.data.features import Features
from clausewise.data.rows import split_once, stratified_rows
from clausewise.data.table import Matrix
from clausewise.induction.c50 import C50Inducer
from clausewise.induction.matrix import PreparedMatrix
from clausewise.io.json import dumps
from clausewise.rules import Rule, RuleSet, Term
from clausewise.rules.metrics import wilson_interval

Flags = NDArray[np.bool_]

MAX_FEATURES: Final = 24
MAX_SLICES: Final = 3
# Bounds the time of the search for slices: about a second for this many values.
_MAX_VALUES: Final = 2_000_000
_MAX_SLICE_ROWS: Final = 20_000
_MAX_TERMS: Final = 3
_MIN_ROWS: Final = 10
# A slice is shown if even the lower bound of its rate is this many times the rate on all rows.
_MIN_LIFT: Final = 1.5
# … and if the lower bound on the rows that it was not learnt from is this many times as high.
_MIN_CONFIRMED: Final = 1.2
# The rules tried: those with at least these fractions of the rows.
_LEAST_FRACTIONS: Final = (0.004, 0.015, 0.05)


@dataclass(frozen=True, eq=False)
class Slice:
    """Rows on which the rules differ often: the terms that select them, and how often."""

    terms: tuple[Term, ...]
    n_rows: int
    n_differ: int


# --- Slices ---


def find_slices(matrix: Matrix, differs: Flags, features: Features, seed: int = 0) -> list[Slice]:
    """Return up to three slices on which the rules differ most, found by C5.0 on "differs".

    They are learnt and shortened on one half of the rows (a sample of it, if that is large), kept if the
    other half confirms them, and counted on all rows.
    """
    n_differ = int(differs.sum())
    if n_differ < 2 * _MIN_ROWS or n_differ == len(differs):
        return []
    learnt, held_out = split_once(differs.astype(np.int32), 0.5, seed)
    candidates = _candidates(matrix[learnt], differs[learnt], features, seed)
    holds = _TermRows(matrix[learnt], features)
    premises = dict.fromkeys(_shortened(candidates, differs[learnt], holds))
    return _chosen(_confirmed(premises, matrix, differs, held_out, features), differs)


def _candidates(matrix: Matrix, differs: Flags, features: Features, seed: int) -> list[tuple[Term, ...]]:
    """Return the premises of rules that predict a difference, learnt from a sample."""
    most = max(1_000, min(_MAX_SLICE_ROWS, _MAX_VALUES // max(1, len(features))))
    rows = stratified_rows(differs.astype(np.int32), most, check_random_state(seed))
    sample = np.array(matrix[rows], dtype=np.float64)
    sample[np.isinf(sample)] = np.nan
    for place, listed in enumerate(features.categories):
        if listed is not None:  # a category that the rules do not know
            sample[sample[:, place] >= len(listed), place] = np.nan
    target = differs[rows]
    n_differ = int(target.sum())
    if n_differ in (0, len(target)):
        return []
    # Differences are rare; weighted alike in total, they are worth a rule.
    weights = np.where(target, (len(target) - n_differ) / n_differ, 1.0)
    prepared = PreparedMatrix.of_encoded(sample, features)
    premises: dict[tuple[Term, ...], None] = {}
    for fraction in _LEAST_FRACTIONS:
        inducer = C50Inducer(min_cases=max(_MIN_ROWS, round(fraction * len(target))))
        learnt = inducer.induce(prepared, target.astype(np.int32), [False, True], weights=weights)
        premises |= {rule.terms: None for rule in learnt if rule.conclusion is True and rule.terms}
    return list(premises)


class _TermRows:
    """On which rows terms hold; each term is evaluated once."""

    def __init__(self, matrix: Matrix, features: Features) -> None:
        self._matrix = matrix
        self._features = features
        self._known: dict[Term, Flags] = {}

    def of(self, term: Term) -> Flags:
        if term not in self._known:
            alone = RuleSet.from_rules(
                [Rule((term,), True)], self._features, default=False, classes=[False, True]
            )
            self._known[term] = alone.evaluator.fires(self._matrix).dense()[0]
        return self._known[term]

    def of_all(self, terms: Sequence[Term]) -> Flags:
        return np.asarray(np.logical_and.reduce([self.of(term) for term in terms]), dtype=np.bool_)


def _least_rate(rows: Flags, differs: Flags) -> float:
    n_rows = int(rows.sum())
    return 0.0 if n_rows == 0 else wilson_interval(int((rows & differs).sum()), n_rows)[0]


def _shortened(
    candidates: Sequence[tuple[Term, ...]], differs: Flags, holds: _TermRows
) -> Iterator[tuple[Term, ...]]:
    """Drop terms while that does not lower the rate of differences, and down to a few terms in any case."""
    for premise in candidates:
        terms = premise
        rate = _least_rate(holds.of_all(terms), differs)
        while len(terms) > 1:
            shorter = [terms[:i] + terms[i + 1 :] for i in range(len(terms))]
            rates = [_least_rate(holds.of_all(one), differs) for one in shorter]
            best = int(np.argmax(rates))
            if rates[best] < rate and len(terms) <= _MAX_TERMS:
                break
            terms, rate = shorter[best], rates[best]
        yield terms


def _confirmed(
    premises: Iterable[tuple[Term, ...]],
    matrix: Matrix,
    differs: Flags,
    held_out: NDArray[np.intp],
    features: Features,
) -> dict[tuple[Term, ...], Flags]:
    """Return the rows of the premises that select many differences among the rows not learnt from, too."""
    common = float(differs.mean())
    everywhere = _TermRows(matrix, features)
    found = {premise: everywhere.of_all(premise) for premise in premises}
    return {
        premise: rows
        for premise, rows in found.items()
        if _least_rate(rows[held_out], differs[held_out]) >= _MIN_CONFIRMED * common
    }


def _chosen(found: dict[tuple[Term, ...], Flags], differs: Flags) -> list[Slice]:
    """Return the slices with most differences beyond the common rate; each must have new ones."""
    common = float(differs.mean())
    left = {
        premise: rows
        for premise, rows in found.items()
        if int(rows.sum()) >= _MIN_ROWS and _least_rate(rows, differs) >= _MIN_LIFT * common
    }
    chosen: list[Slice] = []
    seen = np.zeros(len(differs), dtype=np.bool_)
    while left and len(chosen) < MAX_SLICES:
        gain = {
            premise: (_least_rate(rows, differs) - common) * np.cbrt((rows & differs & ~seen).sum())
            for premise, rows in left.items()
        }
        premise = max(gain, key=lambda one: gain[one])
        rows = left.pop(premise)
        n_new, n_differ = int((rows & differs & ~seen).sum()), int((rows & differs).sum())
        if 2 * n_new < n_differ:
            continue
        seen |= rows
        chosen.append(Slice(premise, int(rows.sum()), n_differ))
    return chosen


# --- For the page ---


def differences_entry(
    matrix: Matrix, differs: Flags, features: Features, against: str, seed: int
) -> dict[str, Any]:
    """Return the DifferencesEntry of a report (payload.schema.json)."""
    listed = differences_by_feature(matrix, differs, features, MAX_FEATURES)
    return {
        "against": against,
        "n_rows": len(differs),
        "n_differ": int(differs.sum()),
        "features": [
            {
                "feature": one.feature,
                "cuts": None if one.cuts is None else list(one.cuts),
                "n_rows": list(one.n_rows),
                "n_differ": list(one.n_differ),
            }
            for one in listed
        ],
        "slices": _slice_entries(find_slices(matrix, differs, features, seed), features),
    }


def _slice_entries(slices: Sequence[Slice], features: Features) -> list[dict[str, Any]]:
    written = RuleSet.from_rules(
        [Rule(one.terms, True) for one in slices], features, default=False, classes=[False, True]
    )
    premises = [rule["if"] for rule in json.loads(dumps(written))["rules"]]
    return [
        {"if": premise, "n_rows": one.n_rows, "n_differ": one.n_differ}
        for premise, one in zip(premises, slices, strict=True)
    ]
