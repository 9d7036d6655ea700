"""Evaluation and voting in plain NumPy, one rule after the other, on raw columns.

Written for reading, not for speed: no codes, no bins, no bits. Shares are exact fractions.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from clausewise import Rule, Term

Columns = Sequence[np.ndarray]


def term_holds(term: Term, column: np.ndarray) -> np.ndarray:
    """Where a term holds in a raw column: floats (NaN = missing), or objects (None = missing)."""
    if term.missing:
        return np.array([value is None or value != value for value in column], dtype=bool)
    if term.values is not None:
        return np.array([value is not None and value in term.values for value in column], dtype=bool)
    with np.errstate(invalid="ignore"):
        above = column > term.low if term.low > -np.inf else ~np.isnan(column)
        return above & (column <= term.high)


def rule_fires(rule: Rule, columns: Columns) -> np.ndarray:
    """Where all terms of a rule hold."""
    holds = np.ones(len(columns[0]), dtype=bool)
    for term in rule.terms:
        holds &= term_holds(term, columns[term.feature])
    return holds


def fires(rules: Sequence[Rule], columns: Columns) -> np.ndarray:
    """Booleans of shape (rules, rows)."""
    return np.array([rule_fires(rule, columns) for rule in rules], dtype=bool).reshape(
        len(rules), len(columns[0])
    )


def near_misses(rules: Sequence[Rule], columns: Columns, row: int) -> list[tuple[int, Term]]:
    """The rules with exactly one term that fails on a row, and that term."""
    found = []
    for number, rule in enumerate(rules):
        failing = [t for t in rule.terms if not term_holds(t, columns[t.feature][row : row + 1])[0]]
        if len(failing) == 1:
            found.append((number, failing[0]))
    return found


def votes(rule: Rule, rules: Sequence[Rule], voting: str) -> int | float | Fraction:
    """What a rule that fires adds to the score of its class."""
    if voting == "majority":
        return 1
    if voting == "confidence":
        return int(np.floor(1000 * rule.confidence + 0.5))
    if voting == "share":
        return Fraction(1, sum(other.conclusion == rule.conclusion for other in rules))
    assert voting == "weights"
    return rule.weight


def scores(
    rules: Sequence[Rule], labels: Sequence, columns: Columns, voting: str, base: Sequence[float] = ()
) -> list[list]:
    """Per row and class the sum of the votes of the rules that fire, in the order of the rules.

    Under weights it starts with the base votes, if there are any. Where rules with priority fire, only they
    vote, from zero, and they alone make up the shares.
    """
    first = [rule for rule in rules if rule.priority]
    others = [rule for rule in rules if not rule.priority]
    by_first = fires(first, columns).any(axis=0)
    scored_first = _scores_of_jury(first, labels, columns, voting, ())
    scored_others = _scores_of_jury(others, labels, columns, voting, base)
    return [
        one if decides else other
        for decides, one, other in zip(by_first, scored_first, scored_others, strict=True)
    ]


def _scores_of_jury(rules, labels, columns, voting, base):
    fired = fires(rules, columns)
    totals = []
    for row in range(len(columns[0])):
        total = dict.fromkeys(labels, 0)
        if voting == "weights":
            total |= dict(zip(labels, base, strict=False))
        for number, rule in enumerate(rules):
            if fired[number, row]:
                total[rule.conclusion] += votes(rule, rules, voting)
        totals.append([total[label] for label in labels])
    return totals


def decide(total: Sequence, labels: Sequence, default) -> object:
    """The label with the largest total; on ties the default class, then the first of the classes."""
    winners = [label for label, votes in zip(labels, total, strict=True) if votes == max(total)]
    return default if default in winners else winners[0]


def predict(
    rules: Sequence[Rule],
    labels: Sequence,
    default,
    columns: Columns,
    voting: str,
    base: Sequence[float] = (),
) -> list:
    """The decision on each row."""
    return [decide(total, labels, default) for total in scores(rules, labels, columns, voting, base)]


def reading_cost(rule: Rule, n_categories: Sequence[int]) -> int:
    """Count 1 for the rule and, per term, its bounds or the fewer categories, at least 1."""
    cost = 1
    for term in rule.terms:
        if term.values is None:
            cost += max(int(np.isfinite(term.low)) + int(np.isfinite(term.high)), 1)
        else:
            cost += max(min(len(term.values), n_categories[term.feature] - len(term.values)), 1)
    return cost
