"""Rule sets that people write and change: the rule language, edits with a log, comparison."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.features import Features
from clausewise.rules import columns as _columns
from clausewise.rules import text as rule_text
from clausewise.rules.comparison import Comparison, compare
from clausewise.rules.rule import Label, Rule, check_statistics, checked_priority
from clausewise.rules.rule_change import Action, RuleChange
from clausewise.rules.voting import Voting

if TYPE_CHECKING:
    from clausewise.rules.ruleset import RuleSet

RuleLike = Rule | str
"""A rule, or text in the rule language (one rule or several)."""
Which = int | slice | Sequence[int] | NDArray[Any]
"""Rules by number, slice, list of numbers or mask."""


class Editing:
    """The part of RuleSet that reads, writes and edits rules. Edits return new rule sets and are logged."""

    @classmethod
    def from_text(
        cls,
        text: str,
        features: Features | Sequence[str] | None = None,
        *,
        classes: ArrayLike | None = None,
        default: Label | None = None,
        voting: Voting | None = None,
    ) -> "RuleSet":
        """A rule set written in the rule language, such as `to_text` gives.

        Parameters
        ----------
        text : str
            The rules, with or without a header.
        features : Features or sequence of str, optional
            What the rules may test, unless the text says so itself (FEATURE); names alone are numeric.
        classes : array-like, optional
            The labels, unless the text says so (CLASSES); without both, what the rules conclude.
        default : class label, optional
            The class where no rule fires, unless the text says so (DEFAULT).
        voting : {"confidence", "majority", "share", "weights"}, optional
            How the rules vote, unless the text says so (VOTING); by confidence if nobody does.

        Raises
        ------
        RuleTextError
            With the line and the column of what is wrong.
        """
        return rule_text.read_ruleset(text, rule_text.vocabulary_from(features, classes, default, voting))

    def to_text(self, *, header: bool = True) -> str:
        """The rules in the rule language, one per line; `from_text` gives an equal rule set back.

        Parameters
        ----------
        header : bool, default True
            Whether features, classes, default class and voting are written before the rules; without them,
            `from_text` has to be told.
        """
        rules = self._rules_edited
        if header:
            return rule_text.write_ruleset(rules)
        return "".join(f"{rule}\n" for rule in rule_text.write_rules(rules))

    def add(
        self,
        rules: RuleLike | Iterable[RuleLike],
        *,
        priority: bool | None = None,
        at: int | None = None,
        note: str | None = None,
    ) -> "RuleSet":
        """With more rules, behind the others or at a place.

        Parameters
        ----------
        rules : Rule, str or iterable of them
            Rules, or text in the rule language: `'IF age <= 17 THEN no'`.
        priority : bool, optional
            Whether they override rules without priority; as they say themselves unless given.
        at : int, optional
            Number of the first new rule.
        note : str, optional
            The reason, for the log.
        """
        old = self._rules_edited
        new = _as_rules(old, rules)
        if priority is not None:
            new = [replace(rule, priority=priority) for rule in new]
        place = len(old) if at is None else _checked_place(at, len(old))
        added = _stored(old, new)
        before, after = (old.columns.take(part) for part in np.split(np.arange(len(old)), [place]))
        edited = replace(old, columns=_columns.joined([before, added, after]))
        changes = [_change(edited, "added", place + i, note=note) for i in range(len(new))]
        return _logged(edited, changes)

    def remove(self, which: Which, *, note: str | None = None) -> "RuleSet":
        """Without some rules, given by number, slice, list of numbers or mask."""
        rules = self._rules_edited
        gone = _numbers(rules, which)
        kept = np.setdiff1d(np.arange(len(rules)), gone)
        # Logged from the last to the first, so that each number is right when its turn comes.
        changes = [
            RuleChange("removed", number, before=_text(rules, number), note=note)
            for number in sorted(set(gone.tolist()), reverse=True)
        ]
        return _logged(replace(rules, columns=rules.columns.take(kept)), changes)

    def replace(self, number: int, rule: RuleLike, *, note: str | None = None) -> "RuleSet":
        """With another rule in the place of one; it keeps nothing of the old one."""
        rules = self._rules_edited
        (place,) = _numbers(rules, number).tolist()
        new = _as_rules(rules, rule)
        if len(new) != 1:
            raise ValueError(f"{len(new)} rules were given to replace rule {place}; pass one.")
        parts = [rules.columns.take(np.arange(place)), _stored(rules, new)]
        parts.append(rules.columns.take(np.arange(place + 1, len(rules))))
        edited = replace(rules, columns=_columns.joined(parts))
        return _logged(edited, [_change(edited, "replaced", place, rules, note)])

    def reweight(
        self,
        which: Which,
        *,
        weight: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
        priority: bool | None = None,
        note: str | None = None,
    ) -> "RuleSet":
        """With another say for some rules: a weight, a confidence, or priority.

        Parameters
        ----------
        which : int, slice, sequence of int or mask
            The rules.
        weight : float or array-like, optional
            Votes under `voting="weights"`, one for all of them or one each.
        confidence : float or array-like, optional
            Between 0 and 1; decides the votes under `voting="confidence"`.
        priority : bool, optional
            Whether they override rules without priority.
        note : str, optional
            The reason, for the log.
        """
        rules = self._rules_edited
        if weight is None and confidence is None and priority is None:
            raise ValueError("Nothing was given to change; pass weight, confidence or priority.")
        numbers = _numbers(rules, which)
        said = {name: getattr(rules.columns, name).copy() for name in ("weight", "confidence", "priority")}
        for name, given in (("weight", weight), ("confidence", confidence)):
            if given is not None:
                said[name][numbers] = np.asarray(given, dtype=np.float64) + 0.0
        if priority is not None:
            said["priority"][numbers] = checked_priority(priority)
        stored = replace(rules.columns, **said)
        for number in numbers.tolist():
            confidence_now, weight_now = float(stored.confidence[number]), float(stored.weight[number])
            cover, correct = float(stored.cover[number]), float(stored.correct[number])
            check_statistics(confidence_now, cover, correct, weight_now, f"Rule {number}")
        for column in said.values():
            column.setflags(write=False)
        edited = replace(rules, columns=stored)
        changes = [_change(edited, "reweighted", number, rules, note) for number in numbers.tolist()]
        return _logged(edited, changes)

    def compare(self, other: "RuleSet", X: Any = None) -> Comparison:
        """What `other` has in place of these rules, and on which rows the decision flips.

        Parameters
        ----------
        other : RuleSet
            The later rules; features are matched by name.
        X : array or DataFrame of shape (n_rows, n_features), optional
            Rows that both decide; a DataFrame may hold the columns of either.
        """
        rules = self._rules_edited
        return compare(rules, other, X)

    @property
    def _rules_edited(self) -> "RuleSet":
        return cast("RuleSet", self)  # the only class that has this part


def _as_rules(rules: "RuleSet", given: RuleLike | Iterable[RuleLike]) -> list[Rule]:
    if isinstance(given, Rule):
        return [given]
    if isinstance(given, str):
        return rule_text.read_rules(given, rule_text.vocabulary_of(rules))
    parts = list(given) if isinstance(given, Iterable) else [given]
    for part in parts:
        if not isinstance(part, Rule | str):
            raise TypeError(f"{part!r} is no rule; pass a Rule or a text IF … THEN ….")
    return [rule for part in parts for rule in _as_rules(rules, part)]


def _stored(rules: "RuleSet", new: Sequence[Rule]) -> _columns.RuleColumns:
    return _columns.from_rules(new, rules.features, {label: i for i, label in enumerate(rules.labels)})


def _numbers(rules: "RuleSet", which: Any) -> NDArray[np.int64]:
    is_number = hasattr(which, "__index__") and not isinstance(which, bool | np.ndarray)
    return rules.selected([which] if is_number else which)


def _checked_place(at: int, n_rules: int) -> int:
    if not 0 <= at <= n_rules:
        raise IndexError(f"at is {at}; rules can be put before one of the {n_rules} or behind the last.")
    return at


def _text(rules: "RuleSet", number: int) -> str:
    return rule_text.write_rule(rules.columns, number, rules.features, rules.labels)


def _change(
    rules: "RuleSet", action: Action, number: int, old: "RuleSet | None" = None, note: str | None = None
) -> RuleChange:
    before = None if old is None else _text(old, number)
    return RuleChange(action, number, before, _text(rules, number), note)


def _logged(rules: "RuleSet", changes: Sequence[RuleChange]) -> "RuleSet":
    return replace(rules, changes=(*rules.changes, *changes))
