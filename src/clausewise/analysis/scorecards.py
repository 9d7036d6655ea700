"""Scorecards: a weighted rule set as points to add up with paper and pencil."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clausewise.base import html
from clausewise.base.frames import Backend, frame_of
from clausewise.data.labels import Label
from clausewise.rules import display
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import format_category

START = "start"


@dataclass(frozen=True)
class ScorecardLine:
    """A premise and its points by class; `rules` are the numbers of the rules with this premise.

    Where a line with `priority` holds, only such lines count.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> text = "IF age > 50 THEN high WITH weight 3"
    >>> line = RuleSet.from_text(text, ["age"], default="low", voting="weights").scorecard().lines[0]
    >>> line.premise, dict(line.points), line.rules
    ('age > 50', {'high': 3.0}, (0,))
    """

    premise: str
    points: Mapping[Label, float]
    rules: tuple[int, ...] = field(default=())
    priority: bool = False

    def __str__(self) -> str:
        return f"{_points(self.points)}  {self.shown_premise}"

    @property
    def shown_premise(self) -> str:
        """The premise, marked if it has priority."""
        return f"{self.premise} (priority)" if self.priority else self.premise


@dataclass(frozen=True, repr=False)
class Scorecard:
    """Start points, the points of every premise, and how to decide; made by `RuleSet.scorecard`.

    Points are printed with four digits, with a note if that rounds them; the attributes hold all digits.

    Attributes
    ----------
    labels : tuple of class labels
        The classes, in the order that decides ties.
    default : class label
        The class that wins ties.
    start : dict
        Points that every row starts with, by class; without zeros.
    lines : tuple of ScorecardLine
        One per premise, in the order of the rules; those with priority come first.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text(
    ...     '''
    ...     IF age > 50 THEN high WITH weight 3
    ...     IF income > 4 THEN low WITH weight 2
    ...     IF debt > 8 THEN high WITH weight 1
    ...     ''',
    ...     ["age", "income", "debt"],
    ...     default="low",
    ...     voting="weights",
    ... )
    >>> card = rules.scorecard()
    >>> print(card)
    Add up the points of every line that holds:
      +3 high  age > 50
      +2 low   income > 4
      +1 high  debt > 8
    The class with the most points wins; ties go to low.
    >>> card.to_frame()
          premise class  points
    0    age > 50  high     3.0
    1  income > 4   low     2.0
    2    debt > 8  high     1.0
    """

    labels: tuple[Label, ...]
    default: Label
    start: Mapping[Label, float]
    lines: tuple[ScorecardLine, ...]

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per premise and class with its points; the start has the premise "start"."""
        listed = [
            (line.premise, label, points)
            for line in (ScorecardLine(START, self.start), *self.lines)
            for label, points in line.points.items()
        ]
        data = {
            "premise": [premise for premise, _, _ in listed],
            "class": [label for _, label, _ in listed],
            "points": [points for _, _, points in listed],
        }
        return frame_of(data, backend)

    @property
    def how_to_decide(self) -> str:
        """Which class wins, also on ties."""
        text = f"The class with the most points wins; ties go to {format_category(self.default)}"
        others = [label for label in self.labels if label != self.default]
        if len(others) > 1:
            text += f", then to the class that comes first in {_listed(self.labels)}"
        text += "."
        if any(line.priority for line in self.lines):
            text += " If a line with priority holds, only such lines count, without the start."
        return f"{text} Points are rounded to four digits here." if self._is_rounded else text

    @property
    def _is_rounded(self) -> bool:
        every = [self.start, *(line.points for line in self.lines)]
        return any(float(f"{votes:.4g}") != votes for points in every for votes in points.values())

    @property
    def _shown(self) -> list[tuple[str, str]]:
        """(points, premise) of every printed line, the start first."""
        start = [(_points(self.start), START)] if self.start else []
        shown = [(_points(line.points), line.shown_premise) for line in self.lines[: display.SHOWN_RULES]]
        n_more = len(self.lines) - len(shown)
        return start + shown + ([("…", f"and {n_more:,} more")] if n_more else [])

    def __str__(self) -> str:
        shown = self._shown
        # Right-align the first number of each line and left-align the premises.
        lengths = [len(text.split(" ", 1)[0]) for text, _ in shown]
        longest = max(lengths, default=0)
        points = [" " * (longest - length) + text for length, (text, _) in zip(lengths, shown, strict=True)]
        width = max(map(len, points), default=0)
        lines = [f"  {text:<{width}}  {premise}" for text, (_, premise) in zip(points, shown, strict=True)]
        return "\n".join([_TITLE, *lines, self.how_to_decide])

    def _repr_html_(self) -> str:
        return html.block(_TITLE, html.table(("points", "if"), self._shown), html.note(self.how_to_decide))

    def __repr__(self) -> str:
        return f"<Scorecard of {len(self.lines):,} lines for the classes {_listed(self.labels)}>"


_TITLE = "Add up the points of every line that holds:"


def scorecard(rules: RuleSet) -> Scorecard:
    """Return the rules as a scorecard, with one line per premise; see `RuleSet.scorecard`.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.analysis import scorecard
    >>> text = "IF age > 50 THEN high WITH weight 3 IF debt > 8 THEN high WITH weight 1"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low", voting="weights")
    >>> print(scorecard(rules))  # as rules.scorecard()
    Add up the points of every line that holds:
      +3 high  age > 50
      +1 high  debt > 8
    The class with the most points wins; ties go to low.
    """
    rules.require_deciding("a scorecard")
    if rules.voting != "weights":
        raise ValueError(
            f"These rules vote by {rules.voting}, but a scorecard needs weights; set them (with_weights), or "
            "vote by the weights that the rules have (with_voting('weights'))."
        )
    numbers_of: dict[tuple[bool, bytes], list[int]] = {}
    premises = zip(rules.columns.priority.tolist(), rules.columns.premise_keys(), strict=True)
    for number, (priority, premise) in enumerate(premises):
        numbers_of.setdefault((not priority, premise), []).append(number)
    lines = []
    for _, numbers in sorted(numbers_of.items(), key=lambda item: item[0][0]):
        points: dict[Label, float] = {}
        for number in numbers:
            label = rules.labels[rules.columns.class_index[number]]
            points[label] = points.get(label, 0.0) + float(rules.columns.weight[number])
        in_order = {label: points[label] for label in rules.labels if label in points}
        shown = display.describe_premise(rules.columns, numbers[0], rules.features)
        lines.append(ScorecardLine(shown, in_order, tuple(numbers), bool(rules.columns.priority[numbers[0]])))
    start = {
        label: votes for label, votes in zip(rules.labels, rules.base.tolist(), strict=True) if votes != 0
    }
    return Scorecard(rules.labels, rules.default, start, tuple(lines))


def _points(points: Mapping[Label, float]) -> str:
    """Return `+3 gamma, -1 hadron`, or `+3 class 1` if labels are numbers."""
    return ", ".join(f"{display.describe_votes(votes)} {_named(label)}" for label, votes in points.items())


def _named(label: Label) -> str:
    return format_category(label) if isinstance(label, str) else f"class {format_category(label)}"


def _listed(labels: tuple[Label, ...]) -> str:
    shown = ", ".join(map(format_category, labels[:8]))
    return shown if len(labels) <= 8 else f"{shown}, … {len(labels) - 8} more"
