"""The search for the smallest change after which the rules, or the rules and a network, decide as wanted.

For the rules alone, the smallest change of one or two features is exact. With a network, changes that the
rules confirm are put to the network in ascending order of cost, for many rows at a time; if too many fail, a
sample of all others follows. Changes of three and more features come from real rows of the wanted class. What
is found is then made smaller as long as both confirm it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from clausewise.analysis.counterfactual_agreement import Agreement, position_in_group
from clausewise.analysis.counterfactual_goals import Goals, changes_towards
from clausewise.analysis.counterfactual_limits import Booleans, Floats, Limits
from clausewise.analysis.counterfactual_moves import (
    Combinations,
    FoundChanges,
    Integers,
    axis_of,
    costs_of,
    further_moves,
    nearest_moves,
)
from clausewise.analysis.counterfactual_shrinking import shrunken
from clausewise.base import threads
from clausewise.rules.ruleset import RuleSet

# Changes of each row that the network has been asked about after each round; at first, few often suffice.
_ROUNDS: Final = (16, 64, 256)
# Confirmed changes of a row, of different features, that are made smaller; the smallest one is kept.
_N_ALTERNATIVES: Final = 3
# Cells of changed rows in memory at a time: 64 MB.
_MAX_CELLS: Final = 2**23
# In wider tables, features that no rule tests only change on the way to real rows.
_MAX_FEATURES_IN_PAIRS: Final = 64


@dataclass(frozen=True, eq=False)
class Task:
    """What to search for.

    Attributes
    ----------
    rules : RuleSet
        The rules.
    known : ndarray of shape (n_rows, n_features) or None
        Encoded rows that show the values of each feature.
    limits : tuple of Limits
        What each feature may change to.
    units : ndarray of shape (n_features,)
        The change of each feature that costs 1.
    max_features : int
        How many features of a row may change.
    goals : Goals or None
        Real rows to change towards, for more than two features.
    n_jobs : int or None
        Number of threads.
    """

    rules: RuleSet
    known: Floats | None
    limits: tuple[Limits, ...]
    units: Floats
    max_features: int
    goals: Goals | None
    n_jobs: int | None


def smallest_changes(task: Task, agreement: Agreement) -> tuple[Floats, Booleans]:
    """Return the rows with the smallest changes that were found, and for which rows there are any.

    A row on which all decide as wanted needs no change; one for which none was found is unchanged.
    """
    changed = agreement.matrix.copy()
    is_found = agreement.hold(np.arange(len(changed)), changed)
    found = list(_one_or_two_features(task, agreement, np.flatnonzero(~is_found)))
    rows, matrix = _joined(found, changed)
    if agreement.network is None:  # exact, so that nothing can be made smaller
        changed[rows], is_found[rows] = matrix, True
        rows, matrix = _joined([], changed)
    if task.max_features > 2 and task.goals is not None:
        left = np.setdiff1d(np.flatnonzero(~is_found), rows)
        further = changes_towards(task.goals, agreement, left, task.limits, task.units, task.max_features)
        rows, matrix = _joined([(rows, matrix), further], changed)
    matrix = shrunken(agreement, rows, matrix, task.limits, task.units)
    costs = costs_of(agreement.matrix[rows], matrix, task.rules.features, task.units).sum(axis=1)
    order = np.lexsort((costs, rows))
    own_rows, first = np.unique(rows[order], return_index=True)
    changed[own_rows], is_found[own_rows] = matrix[order[first]], True
    return changed, is_found


def _joined(found: Sequence[tuple[Integers, Floats]], matrix: Floats) -> tuple[Integers, Floats]:
    rows = np.concatenate([np.empty(0, np.int64), *(rows for rows, _ in found)])
    return rows, np.concatenate([matrix[:0], *(changed for _, changed in found)])


def _one_or_two_features(
    task: Task, agreement: Agreement, rows: Integers
) -> Iterator[tuple[Integers, Floats]]:
    """Yield rows and confirmed changes of one or two features; some rows have several."""
    combinations = _combinations(task, is_for_network=agreement.network is not None)
    n_features = agreement.matrix.shape[1]
    most = max(1, agreement.max_queries // 2)
    rounds = (1,) if agreement.network is None else (*(n for n in _ROUNDS if n < most), most)
    n_tried = 0
    for n_changes in rounds:
        left = [np.empty(0, np.int64)]
        for part in _in_parts(rows, n_changes * n_features):
            found = _searched(task, agreement, combinations, part, n_changes)
            confirmed, matrix = _confirmed(agreement, part[found.row], found.matrix, found.rank >= n_tried)
            yield confirmed, matrix
            # A row with fewer changes than were asked for has no others.
            has_more = np.bincount(found.row, minlength=len(part)) == n_changes
            left.append(np.setdiff1d(part[has_more], confirmed))
        rows, n_tried = np.concatenate(left), n_changes
    if agreement.network is None:
        return
    n_sampled = agreement.max_queries // 4
    for part in _in_parts(rows, n_sampled * n_features):
        found = _searched(task, agreement, combinations, part, n_sampled, is_spread=True)
        yield _confirmed(agreement, part[found.row], found.matrix, found.rank >= 0)


def _searched(
    task: Task,
    agreement: Agreement,
    combinations: Combinations,
    rows: Integers,
    n_changes: int,
    *,
    is_spread: bool = False,
) -> FoundChanges:
    return combinations.search(
        agreement.matrix[rows],
        agreement.decided[rows],
        agreement.wanted,
        task.max_features,
        n_changes,
        threads.resolve(task.n_jobs),
        is_spread=is_spread,
    )


def _confirmed(
    agreement: Agreement, rows: Integers, matrix: Floats, is_new: Booleans
) -> tuple[Integers, Floats]:
    """Return, for each row, the cheapest confirmed changes of different features, of those that are new.

    Changes are sorted by row, and then by cost.
    """
    new = np.flatnonzero(is_new)
    holds = new[agreement.hold(rows[new], matrix[new])]
    is_changed = np.packbits(matrix[holds] != agreement.matrix[rows[holds]], axis=1)
    _, first = np.unique(np.column_stack([rows[holds], is_changed]), axis=0, return_index=True)
    holds = holds[np.sort(first)]
    holds = holds[position_in_group(rows[holds]) < _N_ALTERNATIVES]
    return rows[holds], matrix[holds]


def _combinations(task: Task, *, is_for_network: bool) -> Combinations:
    rules, features = task.rules, task.rules.features
    with_untested = is_for_network and len(features) <= _MAX_FEATURES_IN_PAIRS
    chosen = range(len(features)) if with_untested else np.unique(rules.columns.feature).tolist()
    axes = [axis_of(rules.columns, features, feature) for feature in chosen]
    moves = []
    for axis in axes:
        unit, limits = float(task.units[axis.feature]), task.limits[axis.feature]
        if is_for_network:
            column = None if task.known is None else task.known[:, axis.feature]
            moves.append(further_moves(axis, features, limits, unit, column))
        else:
            moves.append(nearest_moves(axis, features, limits, unit))
    return Combinations(rules, axes, moves, task.units, within_bins=is_for_network)


def _in_parts(rows: Integers, n_cells_per_row: int) -> Iterator[Integers]:
    """Yield the rows in parts whose changes fit into memory."""
    size = max(1, _MAX_CELLS // max(1, n_cells_per_row))
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
