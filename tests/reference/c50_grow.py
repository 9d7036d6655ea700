"""Growing a tree: evaluating continuous attributes, choosing one, recursing (spec 2.1 to 2.5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .c50_data import CONTINUOUS, TrainingSet
from .c50_discrete import evaluate_discrete
from .c50_numbers import (
    f32,
    lg,
    quotient32,
    sum_in_order,
    total_information,
    total_information_of_rows,
)
from .c50_split import Candidate, Spot
from .c50_tree import SMALLEST_BRANCH, THRESHOLD, Node, divide, empty_leaf, leaf_node, weights_scaled


@dataclass(frozen=True)
class Regime:
    """Settings that hold for one tree."""

    average_gain_weight: np.float32  # the spec's alpha
    mdl_weight: np.float32  # the spec's beta
    min_cases: float
    n_cases: int
    leaf_ratio: np.float32 = f32(0)  # the spec's rho, 0 means no limit (B2.2)

    def most_leaves(self, size: np.float32) -> float:
        """lim of B2.2; rounds half to even."""
        return float(np.rint(self.leaf_ratio * size)) if self.leaf_ratio > 0 else math.inf


def regime_of_classifier(data: TrainingSet) -> Regime:
    """Spec 2.1."""
    per_class = data.n_cases // data.n_classes
    if per_class <= 500:
        alpha, beta = f32(1), f32(0)
    elif per_class < 1000:
        t = f32((per_class - 500) / 500)
        alpha, beta = f32(1 - float(t)), f32(0.9 * float(t))
    else:
        alpha, beta = f32(0), f32(0.9)
    return Regime(alpha, beta, data.min_cases, data.n_cases, data.leaf_ratio)


def grow(data: TrainingSet, regime: Regime, cases: np.ndarray, tested: frozenset[int] = frozenset()) -> Node:
    """Spec 2.2. `tested`: discrete attributes with a multiway test on the path."""
    class_weights = data.class_weights(cases)
    node = leaf_node(class_weights)
    if class_weights[node.cls] >= 0.999 * float(node.size) or float(node.size) < 2 * regime.min_cases:
        return node
    if regime.most_leaves(node.size) < 2:
        return node
    chosen = choose(data, regime, cases, class_weights, node.size, tested)
    if chosen is None:
        return node
    chosen.install(node)
    grow_branches(data, regime, node, cases, chosen.n_forks, tested | chosen.now_tested, node.cls)
    branch_errors = f32(0)
    for branch in node.branches:
        branch_errors = branch_errors + branch.err
    if float(branch_errors) >= 0.999 * float(node.err):
        node.make_leaf()  # no real gain in resubstitution errors
    else:
        node.err = branch_errors
    return node


def grow_branches(
    data: TrainingSet,
    regime: Regime,
    node: Node,
    cases: np.ndarray,
    n_forks: int,
    tested: frozenset[int],
    empty_class: int,
) -> None:
    """Spec 2.5: divide the cases by the node's test and grow every branch; empty ones get `empty_class`."""
    division = divide(data, node, cases, node.size, n_forks)
    node.branches = []
    for index in range(n_forks):
        if float(division.weight_for_growing(index)) >= SMALLEST_BRANCH:
            members = division.cases_of(index, data.weights)
            with weights_scaled(data, division.missing, division.factor[index]):
                node.branches.append(grow(data, regime, members, tested))
        else:
            node.branches.append(empty_leaf(node, empty_class))


def choose(data, regime: Regime, cases, class_weights, size: np.float32, tested) -> Candidate | None:
    """Spec 2.4, with the number of branches in the tie clause (App. A)."""
    spot = Spot(
        data=data,
        cases=cases,
        size=float(size),
        base=total_information(class_weights) / float(size),
        min_cases=regime.min_cases,
        tested=tested,
        most_branches=regime.most_leaves(size) + 1,
    )
    candidates = [evaluate(spot, a) for a in range(len(data.columns)) if is_considered(data, regime, a)]
    remaining = [c for c in candidates if c is not None and float(c.gain) >= 1e-4]
    if not remaining:
        return None
    total_gain = 0.0
    for candidate in remaining:
        total_gain += float(candidate.gain)
    average = total_gain / len(remaining)
    least_gain = float(regime.average_gain_weight) * average
    least_gain += float(regime.mdl_weight) * lg(len(remaining)) / float(size)
    best, best_ratio = None, f32(-1e-4)
    for candidate in remaining:
        if not (float(candidate.gain) >= 0.999 * least_gain and candidate.split > 0):
            continue
        ratio = quotient32(candidate.gain, candidate.split)
        if ratio > best_ratio or (float(ratio) > 0.999 * float(best_ratio) and candidate.preferred_to(best)):
            best, best_ratio = candidate, ratio  # the ratio may go down by up to 0.1 %
    return best


def is_considered(data: TrainingSet, regime: Regime, feature: int) -> bool:
    """Without subsets, attributes with very many values are ignored unless all are such (B7)."""
    if data.subset or data.keeps_many_values:
        return data.in_use[feature]
    return data.in_use[feature] and not data.has_many_values(feature, regime.n_cases)


def evaluate(spot: Spot, feature: int) -> Candidate | None:
    if spot.data.kinds[feature] == CONTINUOUS:
        return evaluate_continuous(spot, feature)
    return evaluate_discrete(spot, feature)


@dataclass(frozen=True)
class SortedCases:
    """The known cases of a node, sorted by one continuous attribute."""

    values: np.ndarray  # float32
    weights: np.ndarray  # float32
    classes: np.ndarray


def evaluate_continuous(spot: Spot, feature: int) -> Candidate | None:
    """Spec 2.3; None if the attribute is unusable at this node."""
    data = spot.data
    known = data.known[feature][spot.cases]
    all_weight = sum_in_order(data.weights[spot.cases])  # n_all, double (B9.5)
    missing_weight = sum_in_order(data.weights[spot.cases[~known]])
    known_weight = all_weight - missing_weight
    known_cases = spot.cases[known]
    if known_weight < 2 * spot.min_cases or len(known_cases) < 2:
        return None
    order = np.argsort(data.columns[feature][known_cases], kind="stable")
    sorted_cases = known_cases[order]
    at = SortedCases(
        data.columns[feature][sorted_cases], data.weights[sorted_cases], data.classes[sorted_cases]
    )

    limits = admissible_positions(at, smallest_side(known_weight, data.n_classes, spot.min_cases))
    if limits is None:
        return None
    base = spot.base
    if missing_weight > 0:
        base = total_information(data.class_weights(known_cases)) / known_weight
    scan = best_cut(at, *limits, data.n_classes)

    # u_rate = 1 - n_k/n_all is formed first; 1 - (1 - x) is not x in floating point.
    missing_rate = 1 - known_weight / all_weight
    gain = (1 - missing_rate) * (base - scan.information / known_weight)
    if gain <= 0:
        return None
    low, high = at.values[scan.position], at.values[scan.position + 1]
    with np.errstate(over="ignore", invalid="ignore"):
        value_range = at.values[-1] - at.values[0]
        range_by_gap = float(quotient32(value_range, high - low))
    gain -= lg(range_by_gap if range_by_gap < scan.n_cuts else scan.n_cuts) / all_weight
    if gain <= 0:
        return None
    left = scan.left_weight
    split = split_information([missing_weight, left, known_weight - left], all_weight)
    return Candidate(feature, f32(gain), f32(split), THRESHOLD, n_forks=3, threshold=midpoint(low, high))


def split_information(group_weights: Sequence[float], total: float) -> float:
    """( sum of P(z) ) / total with P(z) = -z lg(z/total) (spec 2.3.7)."""
    summed = 0.0
    for weight in group_weights:
        summed += -weight * lg(weight / total)
    return summed / total


def smallest_side(known_weight: float, n_classes: int, min_cases: float) -> float:
    """Spec 2.3.3: 10 % of the cases per class, at most 25, but at least min_cases."""
    side = 0.10 * known_weight / n_classes
    if side > 25:
        side = 25.0
    return side if side >= min_cases else min_cases


def admissible_positions(at: SortedCases, side: float) -> tuple[int, int] | None:
    """First and last position after which a cut is allowed (spec 2.3.5 and 2.3.6)."""
    weights = at.weights.tolist()
    last, right_weight = len(weights) - 1, 0.0
    while last >= 0 and right_weight < side:
        right_weight += weights[last]
        last -= 1
    first, left_weight = 0, 0.0
    same_as_next = (at.values[:-1] == at.values[1:]).tolist()
    while first <= last and (left_weight + weights[first] < side - 1e-5 or same_as_next[first]):
        left_weight += weights[first]
        first += 1
    return None if first > last else (first, last)


@dataclass(frozen=True)
class Scan:
    position: int  # the cut lies after this position
    information: float
    left_weight: float
    n_cuts: int


def best_cut(at: SortedCases, first: int, last: int, n_classes: int) -> Scan:
    """Spec 2.3.7. The early stop is replayed on the vectors of all evaluated cuts."""
    cuts = first + np.flatnonzero(at.values[first + 1 : last + 2] > at.values[first : last + 1])
    evaluated = cuts[is_evaluated(at, cuts, first, last)]
    low, total = [], []
    for c in range(n_classes):
        running = np.cumsum(np.where(at.classes == c, at.weights, 0).astype(np.float64))
        low.append(running[evaluated])
        total.append(running[-1])
    low = np.stack(low, axis=1)
    low_information = total_information_of_rows(low)
    information = low_information + total_information_of_rows(np.array(total) - low)
    best_before = np.minimum.accumulate(np.concatenate(([1e38], information)))[:-1]
    hopeless = np.flatnonzero(low_information >= best_before)
    n_seen = hopeless[0] if len(hopeless) else len(evaluated)
    winner = int(np.argmin(information[:n_seen]))  # first minimum: the smallest threshold on ties
    position = int(evaluated[winner])
    left_weight = sum_in_order(at.weights[: position + 1])
    return Scan(position, float(information[winner]), left_weight, len(cuts))


def is_evaluated(at: SortedCases, cuts: np.ndarray, first: int, last: int) -> np.ndarray:
    """The skipping rule of spec 2.3.7: between two groups of the same pure class there is nothing to win.

    A cut whose right group contains the right limit is the last one and always evaluated, so the label of a group that
    reaches beyond the limit is never asked for and every other group ends at the next cut.
    """
    mixed = -1
    ends_of_runs = ends_of_equal_classes(at.classes)
    is_last = (cuts == last) | (at.values[cuts + 1] == at.values[last])
    group_starts = cuts[:-1] + 1
    group_stops = cuts[1:] + 1
    is_pure = ends_of_runs[group_starts] >= group_stops
    right_labels = np.where(is_pure, at.classes[group_starts], mixed)
    first_label = at.classes[0] if ends_of_runs[0] >= first + 1 else mixed
    left_labels = np.concatenate(([first_label], right_labels))
    right_labels = np.concatenate((right_labels, [mixed]))
    return is_last | (left_labels == mixed) | (left_labels != right_labels)


def ends_of_equal_classes(classes: np.ndarray) -> np.ndarray:
    """For every position, the end (exclusive) of the run of equal classes it lies in."""
    ends = np.append(np.flatnonzero(classes[1:] != classes[:-1]) + 1, len(classes))
    return ends[np.searchsorted(ends, np.arange(len(classes)), side="right")]


def midpoint(low: np.float32, high: np.float32) -> np.float32:
    """Spec 2.3.10, single precision throughout."""
    with np.errstate(over="ignore"):
        middle = f32(0.5 * float(low + high))
    return low if middle >= high else middle
