"""Choosing rules: initial subset, hill climbing on description length, default class, order (spec 4.5 to 4.7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .c50_data import TrainingSet
from .c50_numbers import f32, first_maximum, lg, sum32_in_order, sum_in_order

if TYPE_CHECKING:
    from .c50_rules import Rule

THEORY_DISCOUNT = 0.23


def initial_subset(data: TrainingSet, rules: list[Rule]) -> list[bool]:
    """Spec 4.5: cover each class with its best rules."""
    selected = [False] * len(rules)
    class_totals = data.class_weights(data.all_cases)
    for cls in range(data.n_classes):
        untried = [r for r, rule in enumerate(rules) if rule.cls == cls and rule.ok >= data.min_cases]
        is_covered = np.zeros(data.n_cases, dtype=bool)
        remaining, false_positives = float(class_totals[cls]), 0.0
        while remaining > false_positives and untried:
            best = max(untried, key=lambda r: (rules[r].vote, -r))
            untried.remove(best)
            new = rules[best].covered[~is_covered[rules[best].covered]]
            is_hit = data.classes[new] == cls
            new_true = sum_in_order(data.weights[new[is_hit]])
            new_false = sum_in_order(data.weights[new[~is_hit]])
            if new_true - new_false <= data.min_cases + 1e-4:
                continue
            remaining -= new_true
            false_positives += new_false
            selected[best] = True
            is_covered[new] = True
    return selected


class Voting:
    """Votes of the selected rules on every training case, and the errors they make (spec 4.6)."""

    def __init__(self, data: TrainingSet, rules: list[Rule], error_cost: np.ndarray | None) -> None:
        self.data, self.rules, self.error_cost = data, rules, error_cost
        self.votes = np.zeros((data.n_cases, data.n_classes), dtype=np.int64)
        self.n_firing = np.zeros(data.n_cases, dtype=np.int64)

    def add(self, rule: Rule, sign: int) -> None:
        self.votes[rule.covered, rule.cls] += sign * rule.vote
        self.n_firing[rule.covered] += sign

    def error_of_cases(self, cases: np.ndarray, votes: np.ndarray, n_firing: np.ndarray) -> np.ndarray:
        """Error weight per case (float32); a case without rule is an error, whatever the default class."""
        weights, classes = self.data.weights[cases], self.data.classes[cases]
        predicted = np.argmax(votes, axis=1)
        if self.error_cost is None:
            cost = (predicted != classes).astype(np.float32)
        else:
            cost = np.where(predicted != classes, self.error_cost[predicted, classes], f32(0))
        return np.where(n_firing > 0, weights * cost, weights)

    def total_error(self) -> np.float32:
        return sum32_in_order(self.error_of_cases(self.data.all_cases, self.votes, self.n_firing))

    def error_change(self, rule: Rule, sign: int) -> np.float32:
        """Change of the total error if the rule is added (+1) or removed (-1)."""
        cases = rule.covered
        votes, n_firing = self.votes[cases], self.n_firing[cases]
        before = self.error_of_cases(cases, votes, n_firing)
        votes = votes.copy()
        votes[:, rule.cls] += sign * rule.vote
        after = self.error_of_cases(cases, votes, n_firing + sign)
        return sum32_in_order(after - before)


class DescriptionLength:
    """DL of spec 4.6, in hundredths of a bit."""

    def __init__(
        self, data: TrainingSet, tree_errors: np.float32, log_factorial: Callable[[int], float]
    ) -> None:
        n, k = data.n_cases, data.n_classes
        rate = f32((float(tree_errors) + k - 1) / (n + k))
        if rate > 0.5:
            rate = f32(0.45)
        self.n_cases = n
        self.bits_per_error = f32(-lg(float(rate)))
        self.bits_per_hit = f32(-lg(1 - float(rate)))
        self.bits_per_class = lg(k - 1)
        self.log_factorial = log_factorial

    def __call__(self, n_rules: int, rule_bits: float, errors: np.float32) -> int:
        theory = THEORY_DISCOUNT * max(0.0, rule_bits - self.log_factorial(n_rules))
        error_bits = float(errors * self.bits_per_error)
        hit_bits = float((f32(self.n_cases) - errors) * self.bits_per_hit)
        return round(
            100 * (theory + error_bits + hit_bits + float(errors) * self.bits_per_class)
        )  # half to even


def shorten_description(
    data: TrainingSet,
    rules: list[Rule],
    selected: list[bool],
    tree_errors: np.float32,
    log_factorial: Callable[[int], float],
    error_cost: np.ndarray | None,
) -> None:
    """Spec 4.6: flip one rule at a time while the description gets shorter; changes `selected`."""
    length = DescriptionLength(data, tree_errors, log_factorial)
    voting = Voting(data, rules, error_cost)
    for r, rule in enumerate(rules):
        if selected[r]:
            voting.add(rule, +1)
    errors = voting.total_error()
    members = [frozenset(rule.covered.tolist()) for rule in rules]
    change: list[np.float32 | None] = [None] * len(rules)  # kept while no case of the rule changes its votes
    last = None
    while True:
        n_rules = sum(selected)
        bits = 0.0
        for r, rule in enumerate(rules):
            if selected[r]:
                bits += float(rule.bits)
        shortest, pick = length(n_rules, bits, errors), None
        for r, rule in enumerate(rules):
            if r == last or (not selected[r] and float(errors) < 1e-3):
                continue
            sign = -1 if selected[r] else +1
            if change[r] is None:
                change[r] = voting.error_change(rule, sign)
            alternative = length(n_rules + sign, bits + sign * float(rule.bits), errors + change[r])
            if alternative < shortest or (alternative == shortest and selected[r]):
                shortest, pick = alternative, r
        if pick is None:
            return
        sign = -1 if selected[pick] else +1
        errors = errors + change[pick]
        voting.add(rules[pick], sign)
        selected[pick] = not selected[pick]
        last = pick
        for r in range(len(rules)):
            if not members[r].isdisjoint(members[pick]):
                change[r] = None


def default_class(data: TrainingSet, rules: list[Rule], selected: list[bool]) -> int:
    """Spec 4.7; with costs and three or more classes spec 6."""
    is_covered = np.zeros(data.n_cases, dtype=bool)
    for r, rule in enumerate(rules):
        if selected[r]:
            is_covered[rule.covered] = True
    uncovered = data.class_weights(np.flatnonzero(~is_covered))
    class_totals = data.class_weights(data.all_cases)
    total = 0.001
    for weight in uncovered.tolist():
        total += weight
    scores = (uncovered + 1) / (total + 2) + class_totals / data.n_cases
    if data.costs is not None and not data.costs.reweights_cases:
        return int(np.argmin(data.costs.expected(scores)))
    return first_maximum(scores)


def final_order(rules: list[Rule], selected: list[bool], n_classes: int) -> list[Rule]:
    """Spec 4.7: a selection sort with swaps over all rules; the swaps decide the order of equal votes."""
    array = list(range(len(rules)))
    current = 0
    for cls in range(n_classes):
        while True:
            positions = [
                p for p in range(current, len(array)) if selected[array[p]] and rules[array[p]].cls == cls
            ]
            if not positions:
                break
            best = max(positions, key=lambda p: (rules[array[p]].vote, -p))
            array[current], array[best] = array[best], array[current]
            current += 1
    return [rules[r] for r in array[:current]]
