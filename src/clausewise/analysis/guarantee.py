"""What rules promise about fresh rows: the counts behind a `Guarantee`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.base.parameters import (
    JOBS,
    RANDOM_STATE,
    Constraint,
    check_parameters,
    number,
    one_of,
)
from clausewise.data.labels import Label
from clausewise.data.table import Matrix
from clausewise.networks.answers import ask_network, ask_numbers
from clausewise.rules.abstention import ABSTAINS
from clausewise.rules.guarantee import Count, Guarantee
from clausewise.rules.regression import RegressionRules
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.stored import StoredRules
from clausewise.rules.voting import speaks_against

Overlap = Literal["refuse", "drop", "keep"]
"""What to do with rows that the rules were learnt from."""

CONFIDENCE: Final = number(above=0, below=1)
FRESH_ROWS: Final[Mapping[str, Constraint]] = {
    "overlap": one_of("refuse", "drop", "keep"),
    "random_state": RANDOM_STATE,
    "n_jobs": JOBS,
}
# Bounds the memory of counting where rules fire: rules × rows of one block.
_CELLS_PER_BLOCK: Final = 2**24


class LearntRowsError(ValueError):
    """Rows that should be fresh were learnt from.

    Attributes
    ----------
    n_learnt, n_rows : int
        How many rows were learnt from, and how many there are.
    """

    def __init__(self, n_learnt: int, n_rows: int) -> None:
        self.n_learnt, self.n_rows = n_learnt, n_rows
        super().__init__(self.described("X", "overlap='drop'", "overlap='keep'"))

    def described(self, rows: str, drop: str, keep: str) -> str:
        """Return the message with the names that the rows and the two ways out have where it is read."""
        return (
            f"{self.n_learnt:,} of the {self.n_rows:,} rows of {rows} are rows that the rules were learnt "
            f"from, which promise nothing about fresh ones. Pass other rows, or {drop} to leave these out; "
            f"{keep} counts them, which is right if they only happen to be equal to learnt rows."
        )


def guarantee(
    rules: RuleSet,
    X: Any,
    network: Any,
    confidence: float,
    *,
    overlap: Overlap,
    groups: ArrayLike | None,
    sample_weight: ArrayLike | None,
    random_state: int | np.random.RandomState | None,
    n_jobs: int | None,
) -> Guarantee:
    """Count what rules and network agree on; see `RuleSet.guarantee`.

    Examples
    --------
    `RuleSet.guarantee` calls it, with defaults:

    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low").remember_rows([[40], [70]])
    >>> fresh = np.random.default_rng(0).uniform(20, 80, (1000, 1))
    >>> found = rules.guarantee(fresh, np.where(fresh[:, 0] > 51, "high", "low"))
    >>> print(found.summary)
    on 1,000 fresh rows: 97.4–99.4 % agreement with the network (95 % confidence)
    """
    _check(confidence, overlap, random_state, n_jobs, sample_weight)
    matrix = rules.features.encode(X)
    fresh = fresh_rows(rules, matrix, overlap, groups, random_state)
    asked = ask_network(network, X, rules.features, rules.labels, len(matrix)).labels.codes[fresh.rows]
    matrix = matrix[fresh.rows]
    decided = rules.evaluator.decide(matrix, rules.voting, rules.default_index, n_jobs)
    is_decided = decided != ABSTAINS
    if not is_decided.any():
        raise ValueError(f"The rules abstain on all {len(decided):,} fresh rows; nothing can be promised.")
    matrix, asked, agrees = matrix[is_decided], asked[is_decided], (decided == asked)[is_decided]
    n_classes = len(rules.labels)
    # Codes beyond the classes of the rules stand for other classes of the network.
    n_of_class = np.bincount(asked, minlength=n_classes)
    n_agreeing = np.bincount(asked[agrees], minlength=n_classes)
    return Guarantee(
        confidence=float(confidence),
        whole=Count(len(asked), int(agrees.sum())),
        n_baseline=int(n_of_class.max()),
        of_classes=_by_class(rules, n_of_class[:n_classes], n_agreeing),
        of_rules=_precision(rules, matrix, asked, n_jobs),
        digest=rules.digest,
        n_abstained=int((~is_decided).sum()),
        notes=fresh.notes,
    )


def guarantee_numbers(
    rules: RegressionRules,
    X: Any,
    network: Any,
    tolerance: float,
    confidence: float,
    *,
    overlap: Overlap,
    groups: ArrayLike | None,
    sample_weight: ArrayLike | None,
    random_state: int | np.random.RandomState | None,
    n_jobs: int | None,
) -> Guarantee:
    """Count where rules and network differ by no more than a tolerance; see `RegressionRules.guarantee`.

    Examples
    --------
    `RegressionRules.guarantee` calls it, with defaults:

    >>> import numpy as np
    >>> from clausewise import RegressionRules
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> rules = rules.remember_rows([[3], [5]])
    >>> fresh = np.random.default_rng(0).uniform(1, 8, (1000, 1))
    >>> found = rules.guarantee(fresh, 0.9 + 0.2 * fresh[:, 0], tolerance=0.5)
    >>> print(found.summary)
    on 1,000 fresh rows: 99.5–100.0 % within 0.5 of the network (95 % confidence)
    """
    check_parameters({"tolerance": number(least=0)}, {"tolerance": tolerance})
    _check(confidence, overlap, random_state, n_jobs, sample_weight)
    matrix = rules.features.encode(X)
    fresh = fresh_rows(rules, matrix, overlap, groups, random_state)
    asked = ask_numbers(network, X, rules.features, len(matrix))[fresh.rows]
    matrix = matrix[fresh.rows]
    agrees = np.abs(rules.response_of(rules.sums_of(matrix, n_jobs)) - asked) <= tolerance
    return Guarantee(
        confidence=float(confidence),
        whole=Count(len(asked), int(agrees.sum())),
        n_baseline=int((np.abs(np.median(asked) - asked) <= tolerance).sum()),
        of_classes=(),
        of_rules=_agreement_where_fired(rules, matrix, agrees, n_jobs),
        digest=rules.digest,
        tolerance=float(tolerance),
        notes=fresh.notes,
    )


# --- The rows to count on ---


@dataclass(frozen=True, eq=False)
class FreshRows:
    """The positions of the rows to count on, ascending, and notes on how they were chosen."""

    rows: NDArray[np.intp]
    notes: tuple[str, ...]


def fresh_rows(
    rules: StoredRules[Any],
    matrix: Matrix,
    overlap: Overlap,
    groups: ArrayLike | None,
    random_state: int | np.random.RandomState | None,
) -> FreshRows:
    """Choose the rows of an encoded matrix that nothing was learnt from, one of each group."""
    usable, notes = _not_learnt(rules, matrix, overlap)
    if groups is not None:
        group_of = read_groups(groups, len(matrix))
        usable &= ~_beside_others(usable, group_of, notes)
        rows = _one_per_group(group_of, np.flatnonzero(usable), random_state)
        notes.append(
            f"One row was drawn from each of {len(rows):,} groups, since rows of a group are not independent."
        )
    else:
        rows = np.flatnonzero(usable)
    if len(rows) == 0:
        learnt = rules.learnt_rows
        is_partial = groups is not None and learnt is not None and not learnt.is_complete
        reason = (
            " The record of learnt rows is partial, and a group is only used if all of its rows can be "
            "looked up in it."
        )
        raise ValueError(
            f"None of the {len(matrix):,} rows is left; pass rows that nothing was learnt from."
            f"{reason if is_partial else ''}"
        )
    return FreshRows(rows, tuple(notes))


def _not_learnt(
    rules: StoredRules[Any], matrix: Matrix, overlap: Overlap
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which rows may be counted, and notes."""
    everything = np.ones(len(matrix), dtype=bool)
    learnt = rules.learnt_rows
    if learnt is None:
        note = (
            "The rules have no record of the rows that they were learnt from, so that nobody checked that "
            "these rows are fresh."
        )
        return everything, [note]
    is_learnt, can_be_looked_up = learnt.look_up(rules.features.names, matrix)
    n_learnt, n_unknown = int(is_learnt.sum()), int((~can_be_looked_up).sum())
    partly = (
        [f"The record of learnt rows is partial; {n_unknown:,} rows of X could not be looked up in it."]
        if n_unknown
        else []
    )
    if n_learnt == 0:
        return everything, partly
    if overlap == "keep":
        return everything, [*partly, f"{n_learnt:,} of these rows are equal to rows that were learnt from."]
    if overlap == "drop":
        note = f"{n_learnt:,} rows that the rules were learnt from were left out."
        if n_unknown:
            note += f" So were {n_unknown:,} rows that could not be looked up in the partial record of these."
        return ~is_learnt & can_be_looked_up, [note]
    raise LearntRowsError(n_learnt, len(matrix))


def _beside_others(
    usable: NDArray[np.bool_], group_of: NDArray[np.intp], notes: list[str]
) -> NDArray[np.bool_]:
    """Return which usable rows belong to the group of a row that was left out; add a note on the groups.

    A row that could not be looked up may have been learnt from, so it counts as one that was.
    """
    groups = np.unique(group_of[~usable])
    found = usable & np.isin(group_of, groups)
    n_found = int(found.sum())
    if n_found:
        notes.append(
            f"So were {n_found:,} other rows of the same {len(groups):,} groups, which are not "
            "independent of them."
        )
    return found


def read_groups(groups: ArrayLike, n_rows: int) -> NDArray[np.intp]:
    """Return the number of the group of each row, counted from 0."""
    given = np.asarray(groups)
    if given.shape != (n_rows,):
        raise ValueError(f"groups has shape {given.shape}; expected ({n_rows},), one group per row.")
    _, number_of = np.unique(given.astype(str) if given.dtype == object else given, return_inverse=True)
    return number_of.astype(np.intp)


def _one_per_group(
    groups: NDArray[np.intp], rows: NDArray[np.intp], random_state: int | np.random.RandomState | None
) -> NDArray[np.intp]:
    shuffled = random_of(random_state).permutation(rows)
    _, first = np.unique(groups[shuffled], return_index=True)
    return np.sort(shuffled[first])


def random_of(random_state: int | np.random.RandomState | None) -> np.random.RandomState:
    """Return the generator that a seed stands for; None means 0."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    return np.random.RandomState(0 if random_state is None else random_state)


# --- Counts ---


def _by_class(
    rules: RuleSet, n_of_class: NDArray[np.intp], n_agreeing: NDArray[np.intp]
) -> tuple[tuple[Label, Count], ...]:
    """Return a count for each class of the rules; on other classes of the network they cannot agree."""
    counts = map(Count, n_of_class.tolist(), n_agreeing.tolist())
    return tuple(zip(rules.labels, counts, strict=True))


def _precision(
    rules: RuleSet, matrix: Matrix, asked: NDArray[np.int64], n_jobs: int | None
) -> tuple[Count, ...]:
    """Return where each rule fires, and where the network confirms what it says."""
    cover, correct = rules.evaluator.statistics(matrix, asked, None, n_jobs)
    counts = zip(cover.astype(int).tolist(), correct.astype(int).tolist(), strict=True)
    return tuple(
        Count(
            n_rows, n_rows - n_of_class if speaks_against(rules.columns, rule, rules.voting) else n_of_class
        )
        for rule, (n_rows, n_of_class) in enumerate(counts)
    )


def _agreement_where_fired(
    rules: RegressionRules, matrix: Matrix, agrees: NDArray[np.bool_], n_jobs: int | None
) -> tuple[Count, ...]:
    counts = np.zeros((2, len(rules)), dtype=np.int64)
    step = max(64, _CELLS_PER_BLOCK // max(1, len(rules)))
    for start in range(0, len(matrix), step):
        rows = slice(start, start + step)
        fires = rules.evaluator.fires(matrix[rows], n_jobs).dense()
        counts += (fires.sum(axis=1), fires[:, agrees[rows]].sum(axis=1))
    return tuple(Count(n_rows, n_agreeing) for n_rows, n_agreeing in counts.T.tolist())


def _check(
    confidence: float,
    overlap: str,
    random_state: int | np.random.RandomState | None,
    n_jobs: int | None,
    sample_weight: ArrayLike | None,
) -> None:
    check_parameters(
        {"confidence": CONFIDENCE, **FRESH_ROWS},
        {"confidence": confidence, "overlap": overlap, "random_state": random_state, "n_jobs": n_jobs},
    )
    refuse_weights(sample_weight)


def refuse_weights(sample_weight: ArrayLike | None) -> None:
    """Raise a ValueError if weights are given: exact bounds count rows, and a weighted row is no count."""
    if sample_weight is not None:
        raise ValueError(
            "sample_weight was given, but a guarantee counts rows, and weighted rows have no exact bounds. "
            "Pass rows that are drawn like those that the promise is about, without weights."
        )
