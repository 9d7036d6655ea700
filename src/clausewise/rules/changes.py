"""The log of edits made to a rule set by hand."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

Action = Literal["added", "removed", "replaced", "reweighted"]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)


@dataclass(frozen=True, slots=True)
class RuleChange:
    """One edit of a rule set; its rules are texts in the rule language.

    Attributes
    ----------
    action : {"added", "removed", "replaced", "reweighted"}
        The kind of edit.
    rule : int
        Number of the rule at that time, counted from 0.
    before, after : str or None
        The rule as it was and as it became; an added rule has no `before`, a removed one no `after`.
    note : str or None
        The reason, if one was given.
    author : str or None
        Who made the edit, if that was given.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> edited = rules.replace(0, "IF age > 55 THEN high", note="new policy", author="Ada")
    >>> change = edited.changes[0]
    >>> print(change)
    replaced rule 0 by Ada (new policy)
      - IF age > 50 THEN high
      + IF age > 55 THEN high
    >>> change.action, change.author
    ('replaced', 'Ada')
    """

    action: Action
    rule: int
    before: str | None = None
    after: str | None = None
    note: str | None = None
    author: str | None = None

    def __str__(self) -> str:
        by = f" by {self.author}" if self.author else ""
        lines = [f"{self.action} rule {self.rule}{by}" + (f" ({self.note})" if self.note else "")]
        lines += [f"  - {self.before}"] if self.before is not None else []
        lines += [f"  + {self.after}"] if self.after is not None else []
        return "\n".join(lines)
