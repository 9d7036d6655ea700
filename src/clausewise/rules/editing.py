"""Editing rule sets: add, remove, replace and reweight rules, each with an entry in the log."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.rules.canonical import columns_of_rules
from clausewise.rules.changes import Action, RuleChange
from clausewise.rules.columns import RuleColumns, joined
from clausewise.rules.rule import Rule, check_statistics, checked_priority
from clausewise.rules.ruleset import RuleLike, RuleSelection, RuleSet
from clausewise.rules.text import read_rules, vocabulary_of, write_rule


def add(
    rules: RuleSet,
    new_rules: RuleLike | Iterable[RuleLike],
    priority: bool | None,
    at: int | None,
    note: str | None,
) -> RuleSet:
    """Return the rules with more rules; see `RuleSet.add`."""
    new = _as_rules(rules, new_rules)
    if priority is not None:
        new = [replace(rule, priority=priority) for rule in new]
    position = len(rules) if at is None else _checked_position(at, len(rules))
    added = _stored(rules, new)
    before, after = (rules.columns.take(part) for part in np.split(np.arange(len(rules)), [position]))
    edited = replace(rules, columns=joined([before, added, after]))
    changes = [_change(edited, "added", position + i, note=note) for i in range(len(new))]
    return _logged(edited, changes)


def remove(rules: RuleSet, which: RuleSelection, note: str | None) -> RuleSet:
    """Return the rules without some; see `RuleSet.remove`."""
    gone = _numbers(rules, which)
    kept = np.setdiff1d(np.arange(len(rules)), gone)
    # Logged from last to first, so that each number is still right when its rule is removed.
    changes = [
        RuleChange("removed", number, before=_text(rules, number), note=note)
        for number in sorted(set(gone.tolist()), reverse=True)
    ]
    return _logged(replace(rules, columns=rules.columns.take(kept)), changes)


def replace_rule(rules: RuleSet, number: int, rule: RuleLike, note: str | None) -> RuleSet:
    """Return the rules with one of them replaced; see `RuleSet.replace`."""
    (position,) = _numbers(rules, number).tolist()
    new = _as_rules(rules, rule)
    if len(new) != 1:
        raise ValueError(f"{len(new)} rules were given to replace rule {position}; pass one.")
    parts = [rules.columns.take(np.arange(position)), _stored(rules, new)]
    parts.append(rules.columns.take(np.arange(position + 1, len(rules))))
    edited = replace(rules, columns=joined(parts))
    return _logged(edited, [_change(edited, "replaced", position, rules, note)])


def reweight(
    rules: RuleSet,
    which: RuleSelection,
    weight: ArrayLike | None,
    confidence: ArrayLike | None,
    priority: bool | None,
    note: str | None,
) -> RuleSet:
    """Return the rules with other weights, confidences or priorities; see `RuleSet.reweight`."""
    if weight is None and confidence is None and priority is None:
        raise ValueError("There is nothing to change; pass weight, confidence or priority.")
    numbers = _numbers(rules, which)
    edited_columns = {
        name: getattr(rules.columns, name).copy() for name in ("weight", "confidence", "priority")
    }
    for name, given in (("weight", weight), ("confidence", confidence)):
        if given is not None:
            edited_columns[name][numbers] = np.asarray(given, dtype=np.float64) + 0.0
    if priority is not None:
        edited_columns["priority"][numbers] = checked_priority(priority)
    stored = replace(rules.columns, **edited_columns)
    for number in numbers.tolist():
        confidence_now, weight_now = float(stored.confidence[number]), float(stored.weight[number])
        cover, correct = float(stored.cover[number]), float(stored.correct[number])
        check_statistics(confidence_now, cover, correct, weight_now, f"Rule {number}")
    for column in edited_columns.values():
        column.setflags(write=False)
    edited = replace(rules, columns=stored)
    changes = [_change(edited, "reweighted", number, rules, note) for number in numbers.tolist()]
    return _logged(edited, changes)


def _as_rules(rules: RuleSet, given: RuleLike | Iterable[RuleLike]) -> list[Rule]:
    if isinstance(given, Rule):
        return [given]
    if isinstance(given, str):
        return read_rules(given, vocabulary_of(rules))
    parts = list(given) if isinstance(given, Iterable) else [given]
    for part in parts:
        if not isinstance(part, Rule | str):
            raise TypeError(f"{part!r} is not a rule; pass a Rule or a text IF … THEN ….")
    return [rule for part in parts for rule in _as_rules(rules, part)]


def _stored(rules: RuleSet, new: Sequence[Rule]) -> RuleColumns:
    return columns_of_rules(new, rules.features, {label: i for i, label in enumerate(rules.labels)})


def _numbers(rules: RuleSet, which: Any) -> NDArray[np.int64]:
    is_number = hasattr(which, "__index__") and not isinstance(which, bool | np.ndarray)
    return rules.selected([which] if is_number else which)


def _checked_position(at: int, n_rules: int) -> int:
    if not 0 <= at <= n_rules:
        raise IndexError(f"at is {at}; pass a position from 0 to {n_rules}.")
    return at


def _text(rules: RuleSet, number: int) -> str:
    return write_rule(rules.columns, number, rules.features, rules.labels, rules.voting)


def _change(
    rules: RuleSet, action: Action, number: int, old: RuleSet | None = None, note: str | None = None
) -> RuleChange:
    before = None if old is None else _text(old, number)
    return RuleChange(action, number, before, _text(rules, number), note)


def _logged(rules: RuleSet, changes: Sequence[RuleChange]) -> RuleSet:
    return replace(rules, changes=(*rules.changes, *changes))
