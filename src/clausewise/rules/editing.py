"""Editing rule sets: add, remove, replace and reweight rules, each with an entry in the log."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.rules.changes import Action, RuleChange
from clausewise.rules.columns import joined
from clausewise.rules.regression import RegressionRules
from clausewise.rules.rule import Conjunction, check_statistics, checked_priority
from clausewise.rules.ruleset import RuleSelection, RuleSet
from clausewise.rules.stored import StoredRules

_Rules = TypeVar("_Rules", bound=StoredRules[Any])


def add(
    rules: _Rules,
    new_rules: Conjunction | str | Iterable[Conjunction | str],
    at: int | None,
    note: str | None,
    author: str | None,
    **properties: Any,
) -> _Rules:
    """Return the rules with more rules, in which `properties` are set; see `RuleSet.add`."""
    new = _as_rules(rules, new_rules)
    if properties:
        new = [replace(rule, **properties) for rule in new]
    position = len(rules) if at is None else _checked_position(at, len(rules))
    added = rules.columns_of(new)
    before, after = (rules.columns.take(part) for part in np.split(np.arange(len(rules)), [position]))
    edited = replace(rules, columns=joined([before, added, after]))
    changes = [_change(edited, "added", position + i, None, note, author) for i in range(len(new))]
    return _logged(edited, changes)


def remove(rules: _Rules, which: RuleSelection, note: str | None, author: str | None) -> _Rules:
    """Return the rules without some; see `RuleSet.remove`."""
    gone = _numbers(rules, which)
    kept = np.setdiff1d(np.arange(len(rules)), gone)
    # Logged from last to first, so that each number is still right when its rule is removed.
    changes = [
        RuleChange("removed", number, before=rules.write_rule(number), note=note, author=author)
        for number in sorted(set(gone.tolist()), reverse=True)
    ]
    return _logged(replace(rules, columns=rules.columns.take(kept)), changes)


def replace_rule(
    rules: _Rules, number: int, rule: Conjunction | str, note: str | None, author: str | None
) -> _Rules:
    """Return the rules with one of them replaced; see `RuleSet.replace`."""
    (position,) = _numbers(rules, number).tolist()
    new = _as_rules(rules, rule)
    if len(new) != 1:
        raise ValueError(f"{len(new)} rules were given to replace rule {position}; pass one.")
    parts = [rules.columns.take(np.arange(position)), rules.columns_of(new)]
    parts.append(rules.columns.take(np.arange(position + 1, len(rules))))
    edited = replace(rules, columns=joined(parts))
    return _logged(edited, [_change(edited, "replaced", position, rules, note, author)])


def reweight(
    rules: RuleSet,
    which: RuleSelection,
    weight: ArrayLike | None,
    confidence: ArrayLike | None,
    priority: bool | None,
    note: str | None,
    author: str | None,
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
    changes = [_change(edited, "reweighted", number, rules, note, author) for number in numbers.tolist()]
    return _logged(edited, changes)


def change_additions(
    rules: RegressionRules, which: RuleSelection, addition: ArrayLike, note: str | None, author: str | None
) -> RegressionRules:
    """Return the rules with other additions; see `RegressionRules.reweight`."""
    numbers = _numbers(rules, which)
    changed = rules.columns.weight.copy()
    changed[numbers] = np.asarray(addition, dtype=np.float64)
    edited = rules.with_additions(changed)
    changes = [_change(edited, "reweighted", number, rules, note, author) for number in numbers.tolist()]
    return _logged(edited, changes)


def _as_rules(rules: StoredRules[Any], given: Any) -> list[Any]:
    if isinstance(given, rules.RULE):
        return [given]
    if isinstance(given, str):
        return rules.read_rules(given)
    parts = list(given) if isinstance(given, Iterable) else [given]
    for part in parts:
        if not isinstance(part, rules.RULE | str):
            raise TypeError(f"{part!r} is not a rule; pass a {rules.RULE.__name__} or a text IF … THEN ….")
    return [rule for part in parts for rule in _as_rules(rules, part)]


def _numbers(rules: StoredRules[Any], which: Any) -> NDArray[np.int64]:
    is_number = hasattr(which, "__index__") and not isinstance(which, bool | np.ndarray)
    return rules.selected([which] if is_number else which)


def _checked_position(at: int, n_rules: int) -> int:
    if not 0 <= at <= n_rules:
        raise IndexError(f"at is {at}; pass a position from 0 to {n_rules}.")
    return at


def _change(
    rules: _Rules, action: Action, number: int, old: _Rules | None, note: str | None, author: str | None
) -> RuleChange:
    before = None if old is None else old.write_rule(number)
    return RuleChange(action, number, before, rules.write_rule(number), note, author)


def _logged(rules: _Rules, changes: Sequence[RuleChange]) -> _Rules:
    return replace(rules, changes=(*rules.changes, *changes))
