"""Comparing two rule sets: rules added, removed and changed, and decisions that flip."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.base import html
from clausewise.base.frames import Backend, frame_of
from clausewise.rules.regression import RegressionRules
from clausewise.rules.regression_rule import RegressionRule, describe_addition, describe_amount
from clausewise.rules.rule import Conjunction, Rule
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.stored import StoredRules
from clausewise.rules.term import format_category

SHOWN = 20
"""At most this many rules or flips of a kind are printed; the rest is counted."""


@dataclass(frozen=True, eq=False)
class Flips:
    """The rows that two rule sets decide differently, with both decisions.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> later = rules.replace(0, "IF age > 55 THEN high")
    >>> flips = rules.compare(later, [[60], [52], [30]]).flips
    >>> flips.rows.tolist(), flips.before.tolist(), flips.after.tolist()
    ([1], ['high'], ['low'])
    """

    n_rows: int
    rows: NDArray[np.int64]
    before: NDArray[Any]
    after: NDArray[Any]

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        share = 100 * len(self) / self.n_rows if self.n_rows else 0.0
        lines = [f"{len(self):,} of {self.n_rows:,} rows flip ({share:.2f} %)"]
        rows_of: dict[tuple[str, str], list[int]] = {}
        for row, old, new in zip(self.rows.tolist(), self.before.tolist(), self.after.tolist(), strict=True):
            rows_of.setdefault((format_category(old), format_category(new)), []).append(row)
        for (old, new), rows in sorted(rows_of.items(), key=lambda item: -len(item[1]))[:SHOWN]:
            first = ", ".join(map(str, rows[:10])) + (", …" if len(rows) > 10 else "")
            lines.append(f"  {len(rows):,} from {old} to {new}: rows {first}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Shifts:
    """The rows for which two rule sets predict different numbers, with both predictions.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> shifts = rules.compare(rules.reweight(0, addition=0.9), [[3], [5], [6]]).flips
    >>> shifts.rows.tolist(), shifts.before.tolist(), shifts.after.tolist()
    ([1, 2], [2.2, 2.2], [2.4, 2.4])
    """

    n_rows: int
    rows: NDArray[np.int64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        share = 100 * len(self) / self.n_rows if self.n_rows else 0.0
        line = f"{len(self):,} of {self.n_rows:,} rows get another prediction ({share:.2f} %)"
        if len(self) == 0:
            return line
        change = self.after - self.before
        most = np.argsort(-np.abs(change), kind="stable")[:SHOWN]
        mean = describe_addition(float(f"{change.sum() / self.n_rows:.4g}"))
        lines = [f"{line}; mean change {mean}"]
        for place in most.tolist():
            old, new = (describe_amount(float(part[place])) for part in (self.before, self.after))
            lines.append(f"  row {self.rows[place]}: {old} → {new}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The differences between an earlier and a later rule set; made by `RuleSet.compare`.

    Attributes
    ----------
    added : tuple of int
        Rules that only the later set has, by their number there.
    removed : tuple of int
        Rules that only the earlier set has, by their number there.
    changed : tuple of (int, int)
        Rules with the same premise in both sets but another conclusion, addition, statistics, weight,
        priority or origin, by their numbers in the earlier and the later set.
    n_same : int
        Number of rules that are in both sets, in any order.
    settings : dict
        Other differences (voting, default, classes, base, scale, features; for numbers base, linear terms,
        link, response and features), as (before, after).
    flips : Flips, Shifts or None
        Rows whose decision, or predicted number, differs, if rows were given.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> text = "IF age > 50 THEN high IF debt > 8 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> later = rules.replace(0, "IF age > 55 THEN high")
    >>> difference = rules.compare(later, [[60, 0], [52, 0], [30, 0]])
    >>> print(difference)
    rules: 1 added, 1 removed, 0 changed, 1 the same
    - IF age > 50 THEN high
    + IF age > 55 THEN high
    1 of 3 rows flip (33.33 %)
      1 from high to low: rows 1
    >>> difference.added, difference.removed, difference.n_same
    ((0,), (0,), 1)
    """

    added: tuple[int, ...]
    removed: tuple[int, ...]
    changed: tuple[tuple[int, int], ...]
    n_same: int
    settings: dict[str, tuple[Any, Any]]
    flips: Flips | Shifts | None
    texts: tuple[Sequence[str], Sequence[str]] = field(repr=False)

    @property
    def is_same(self) -> bool:
        """Whether rules and settings are the same, apart from the order of rules."""
        return not (self.added or self.removed or self.changed or self.settings)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per rule that was added, removed or changed."""
        lines: list[tuple[str, int | None, int | None]] = [("removed", rule, None) for rule in self.removed]
        lines += [("changed", before, after) for before, after in self.changed]
        lines += [("added", None, number) for number in self.added]
        return frame_of(
            {
                "change": [kind for kind, _, _ in lines],
                "number_before": [before for _, before, _ in lines],
                "number_after": [after for _, _, after in lines],
                "before": [None if before is None else self.texts[0][before] for _, before, _ in lines],
                "after": [None if after is None else self.texts[1][after] for _, _, after in lines],
            },
            backend,
        )

    @property
    def headline(self) -> str:
        """One line: how many rules were added, removed and changed."""
        counts = f"{len(self.added):,} added, {len(self.removed):,} removed, {len(self.changed):,} changed"
        return f"rules: {counts}, {self.n_same:,} the same"

    def _repr_html_(self) -> str:
        before, after = self.texts
        rows = [("removed", before[number], "") for number in self.removed[:SHOWN]]
        rows += [("changed", before[old], after[new]) for old, new in self.changed[:SHOWN]]
        rows += [("added", "", after[number]) for number in self.added[:SHOWN]]
        rows += [(name, str(old), str(new)) for name, (old, new) in self.settings.items()]
        n_more = sum(max(len(part) - SHOWN, 0) for part in (self.removed, self.changed, self.added))
        return html.block(
            self.headline,
            html.table(("", "before", "after"), rows) if rows else "",
            html.note(f"… and {n_more:,} more changes") if n_more else "",
            "" if self.flips is None else "".join(map(html.note, str(self.flips).splitlines())),
        )

    def __repr__(self) -> str:
        return f"<Comparison: {self.headline}>"

    def __str__(self) -> str:
        lines = [self.headline]
        lines += [f"{name}: {before} → {after}" for name, (before, after) in self.settings.items()]
        before, after = self.texts
        lines += _shown([f"- {before[number]}" for number in self.removed], "removed")
        lines += _shown([f"~ {before[old]}\n  {after[new]}" for old, new in self.changed], "changed")
        lines += _shown([f"+ {after[number]}" for number in self.added], "added")
        return "\n".join(lines + ([] if self.flips is None else [str(self.flips)]))


def compare(before: RuleSet, after: RuleSet, X: Any = None) -> Comparison:
    """Compare two rule sets, and their decisions on `X` if it is given; see `RuleSet.compare`.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.analysis import compare
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age", "debt"], default="low")
    >>> compare(rules, rules.add("IF debt > 8 THEN high")).headline
    'rules: 1 added, 0 removed, 0 changed, 1 the same'
    """
    return _compared(
        before,
        after,
        [
            lambda rule: (_premise(rule), rule.conclusion, *_properties(rule)),
            lambda rule: (_premise(rule), rule.conclusion),
            _premise,
        ],
        _settings(before, after),
        None if X is None else _flips(before, after, X),
    )


def compare_sums(before: RegressionRules, after: RegressionRules, X: Any = None) -> Comparison:
    """Compare two rule sets for numbers, and their predictions; see `RegressionRules.compare`.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.analysis import compare_sums
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> print(compare_sums(rules, rules.reweight(0, addition=0.9), [[3], [5], [6]]))
    rules: 0 added, 0 removed, 1 changed, 0 the same
    ~ IF rooms > 4 THEN ADD 0.7
      IF rooms > 4 THEN ADD 0.9
    2 of 3 rows get another prediction (66.67 %); mean change +0.1333
      row 1: 2.2 → 2.4
      row 2: 2.2 → 2.4
    """
    names = ("base", "linear", "link", "response", "response_range")
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in names}
    settings = _differing(pairs, before, after)
    if "linear" in settings:
        settings["linear"] = before.footnotes, after.footnotes
    return _compared(
        before,
        after,
        [lambda rule: (_premise(rule), *_responses(rule)), _premise],
        settings,
        None if X is None else _shifts(before, after, X),
    )


def _compared(
    before: StoredRules[Any],
    after: StoredRules[Any],
    keys: Sequence[Callable[[Any], Hashable]],
    settings: dict[str, tuple[Any, Any]],
    flips: "Flips | Shifts | None",
) -> Comparison:
    """Pair rules with the same first key, which are the same, then with each other key: these changed."""
    left: tuple[list[int], list[int]] = list(range(len(before))), list(range(len(after)))
    rules = tuple(before), tuple(after)
    same, *others = [_take_pairs(rules, left, key) for key in keys]
    return Comparison(
        added=tuple(left[1]),
        removed=tuple(left[0]),
        changed=tuple(sorted(pair for pairs in others for pair in pairs)),
        n_same=len(same),
        settings=settings,
        flips=flips,
        texts=(_Texts(before), _Texts(after)),
    )


def _premise(rule: Conjunction) -> Hashable:
    # By name, since the two sets may have their features in a different order.
    return frozenset((term.name, term.low, term.high, term.values, term.missing) for term in rule.terms)


def _properties(rule: Rule) -> tuple[Hashable, ...]:
    return rule.confidence, rule.cover, rule.correct, rule.weight, rule.priority, rule.origin


def _responses(rule: RegressionRule) -> tuple[Hashable, ...]:
    return rule.addition, rule.cover, rule.mean, rule.interval, rule.origin


def _take_pairs(
    rules: tuple[Sequence[Conjunction], Sequence[Conjunction]],
    left: tuple[list[int], list[int]],
    key: Callable[[Any], Hashable],
) -> list[tuple[int, int]]:
    """Pair rules of both sets with equal keys, each rule once, and remove them from `left`."""
    unpaired: dict[Hashable, list[int]] = {}
    for number in reversed(left[1]):
        unpaired.setdefault(key(rules[1][number]), []).append(number)
    pairs = []
    for number in left[0]:
        partners = unpaired.get(key(rules[0][number]))
        if partners:
            pairs.append((number, partners.pop()))
    paired = tuple({pair[side] for pair in pairs} for side in (0, 1))
    for side in (0, 1):
        left[side][:] = [number for number in left[side] if number not in paired[side]]
    return pairs


def _settings(before: RuleSet, after: RuleSet) -> dict[str, tuple[Any, Any]]:
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in ("voting", "default", "scale")}
    pairs["classes"] = before.labels, after.labels
    pairs["base"] = tuple(before.base.tolist()), tuple(after.base.tolist())
    return _differing(pairs, before, after)


def _differing(
    pairs: dict[str, tuple[Any, Any]], before: StoredRules[Any], after: StoredRules[Any]
) -> dict[str, tuple[Any, Any]]:
    """Return the settings that differ, with the features that do."""
    pairs["features"] = _described(before), _described(after)
    differing = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if "features" in differing:  # only the differences, since there may be thousands of features
        one, other = (dict(part) for part in differing["features"])
        gone = tuple(name for name in one if one[name] != other.get(name))
        new = tuple(name for name in other if other[name] != one.get(name))
        differing["features"] = (gone, new) if gone or new else ("in another order", "in another order")
    return differing


def _described(rules: StoredRules[Any]) -> tuple[tuple[str, Hashable], ...]:
    features = rules.features
    parts = zip(features.names, features.kinds, features.categories, strict=True)
    return tuple((name, (kind, categories)) for name, kind, categories in parts)


def _flips(before: RuleSet, after: RuleSet, X: Any) -> Flips:
    old, new = (rules.predict(X) for rules in (before, after))
    rows = np.flatnonzero([one != other for one, other in zip(old.tolist(), new.tolist(), strict=True)])
    return Flips(len(old), rows, old[rows], new[rows])


def _shifts(before: RegressionRules, after: RegressionRules, X: Any) -> Shifts:
    old, new = (rules.predict(X) for rules in (before, after))
    rows = np.flatnonzero(old != new)
    return Shifts(len(old), rows, old[rows], new[rows])


class _Texts(Sequence[str]):
    """The rules of a set as text, written on demand."""

    def __init__(self, rules: StoredRules[Any]) -> None:
        self._rules = rules

    def __len__(self) -> int:
        return len(self._rules)

    def __getitem__(self, number: Any) -> Any:
        return self._rules.write_rule(number)


def _shown(lines: list[str], what: str) -> list[str]:
    more = len(lines) - SHOWN
    return lines if more <= 0 else [*lines[:SHOWN], f"  … and {more:,} more {what}"]
