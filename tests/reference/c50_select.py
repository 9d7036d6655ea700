"""Choosing rules: initial subset, hill climbing on description length, default class, order (spec 4.5 to 4.7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .c50_data import TrainingSet
from .c50_numbers import f32, first_maximum, lg, quotient32, sum_in_order

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


NO_CLASS = -1  # "none" of B6: it has no votes and precedes every class


class Voting:
    """Votes of the selected rules on every training case, and the errors they make (spec 4.6, B6)."""

    def __init__(
        self, data: TrainingSet, rules: list[Rule], selected: list[bool], error_cost: np.ndarray | None
    ) -> None:
        self.data, self.rules, self.selected = data, rules, selected
        # cost[predicted][actual]; the last row is "no rule", which index NO_CLASS finds.
        wrong = 1 - np.eye(data.n_classes, dtype=np.float32) if error_cost is None else error_cost
        self.cost = np.vstack([wrong, np.ones(data.n_classes, dtype=np.float32)])
        self.votes = np.zeros((data.n_cases, data.n_classes), dtype=np.int64)
        self.top = np.full(data.n_cases, NO_CLASS)
        self.alt = np.full(data.n_cases, NO_CLASS)
        for r, rule in enumerate(rules):
            if selected[r]:
                self.votes[rule.covered, rule.cls] += rule.vote
        self._rank(data.all_cases)
        error_of_cases = data.weights * self.cost[self.top, data.classes]
        self.errors = f32(sum_in_order(error_of_cases))
        self.members = [frozenset(rule.covered.tolist()) for rule in rules]
        self.change = [added32(f32(0), self.contributions(r, rule.covered)) for r, rule in enumerate(rules)]

    def _rank(self, cases: np.ndarray) -> None:
        """top and alt of these cases."""
        votes = self.votes[cases].copy()
        rows = np.arange(len(cases))
        for ranked in (self.top, self.alt):
            best = np.argmax(votes, axis=1)
            ranked[cases] = np.where(votes[rows, best] > 0, best, NO_CLASS)
            votes[rows, best] = 0

    def _votes_of(self, cls: np.ndarray, cases: np.ndarray) -> np.ndarray:
        return np.where(cls == NO_CLASS, 0, self.votes[cases, cls])

    def contributions(self, r: int, cases: np.ndarray) -> np.ndarray:
        """What flipping rule r would change in the error of each of these cases."""
        rule, top, alt = self.rules[r], self.top[cases], self.alt[cases]
        top_votes = self._votes_of(top, cases)
        if self.selected[r]:
            lead = self._votes_of(alt, cases) - (top_votes - rule.vote)
            winner, changes = alt, (top == rule.cls) & ((lead > 0) | ((lead == 0) & (alt < top)))
        else:
            lead = self.votes[cases, rule.cls] + rule.vote - top_votes
            winner = np.full(len(cases), rule.cls)
            changes = (top != rule.cls) & ((lead > 0) | ((lead == 0) & (rule.cls < top)))
        actual = self.data.classes[cases]
        difference = self.cost[winner, actual] - self.cost[top, actual]
        return np.where(changes, difference.astype(np.float64) * self.data.weights[cases], 0.0)

    def flip(self, r: int) -> None:
        """Select or drop rule r; cases in descending order, the old contribution out before the new one in (B6)."""
        rule = self.rules[r]
        shared = {
            other: np.array(sorted(self.members[r] & self.members[other], reverse=True), dtype=np.int64)
            for other in range(len(self.rules))
            if other != r and not self.members[r].isdisjoint(self.members[other])
        }
        before = {other: self.contributions(other, cases) for other, cases in shared.items()}
        self.votes[rule.covered, rule.cls] += -rule.vote if self.selected[r] else rule.vote
        self._rank(rule.covered)
        for other, cases in shared.items():
            steps = np.stack([-before[other], self.contributions(other, cases)], axis=1).ravel()
            self.change[other] = added32(self.change[other], steps)
        self.selected[r] = not self.selected[r]
        self.errors = self.errors + self.change[r]
        self.change[r] = -self.change[r]


def added32(start: np.float32, steps: np.ndarray) -> np.float32:
    """A running sum that is rounded to single precision after every step."""
    total = start
    for step in steps[steps != 0].tolist():
        total = f32(float(total) + step)
    return total


class DescriptionLength:
    """DL of spec 4.6, in hundredths of a bit."""

    def __init__(
        self, data: TrainingSet, tree_errors: np.float32, log_factorial: Callable[[int], float]
    ) -> None:
        n, k = data.n_cases, data.n_classes
        rate = quotient32(f32(tree_errors) + f32(k) - f32(1), f32(n + k))  # single precision (B6)
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
    voting = Voting(data, rules, selected, error_cost)
    bits = 0.0
    for r, rule in enumerate(rules):
        if selected[r]:
            bits += float(rule.bits)
    last = None
    while True:
        n_rules, errors = sum(selected), voting.errors
        shortest, pick = length(n_rules, bits, errors), None
        for r, rule in enumerate(rules):
            if r == last or (not selected[r] and float(errors) < 1e-3):
                continue
            sign = -1 if selected[r] else +1
            changed_errors = errors + voting.change[r]
            alternative = length(n_rules + sign, bits + sign * float(rule.bits), changed_errors)
            if alternative < shortest or (alternative == shortest and selected[r]):
                shortest, pick = alternative, r
        if pick is None:
            return
        bits += -float(rules[pick].bits) if selected[pick] else float(rules[pick].bits)
        voting.flip(pick)
        last = pick


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
