"""The votes on one row as a waterfall."""

from typing import TYPE_CHECKING, Any

from clausewise.analysis.explanation import Explanation
from clausewise.data.labels import Label
from clausewise.plots.drawing import (
    GREY,
    LONGEST_PREMISE,
    axes_for,
    class_style,
    count_of_rules,
    disable_math,
    name_bars,
    shorten,
    shown_class,
)
from clausewise.rules.decimals import format_number
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.voting import Voting

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes

Step = tuple[str, Label | None, float]
"""Name, class and votes of a bar; no class for rules drawn together."""


class WaterfallDisplay:
    """The lead of the decided class over the runner-up: from the start votes through every rule to the total.

    Parameters
    ----------
    explanation : Explanation
        The explanation of one row, from `RuleSet.explain`.
    max_rules : int, default 15
        Draw at most this many rules, those with the most votes; the others together.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.plots import WaterfallDisplay
    >>> text = "IF age > 50 THEN high IF income > 4 THEN low IF debt > 8 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "income", "debt"], default="low")
    >>> display = WaterfallDisplay.from_rules(rules, [[60, 5, 9]], row=0)
    >>> display.ax_.get_title(loc="left")
    'row 0 is high: high 2000, low 1000'
    """

    def __init__(self, explanation: Explanation, *, max_rules: int = 15) -> None:
        self.explanation = explanation
        self.max_rules = max_rules

    @classmethod
    def from_rules(
        cls,
        rules: RuleSet,
        X: Any,
        *,
        row: int = 0,
        voting: Voting | None = None,
        max_rules: int = 15,
        ax: "Axes | None" = None,
    ) -> "Self":
        """Draw how the votes on one row of X add up."""
        return cls(rules.explain(X, voting=voting)[row], max_rules=max_rules).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on the given axes, or on those of a new figure."""
        steps = self._steps()
        classes = list(self.explanation.scores)
        self.figure_, self.ax_ = axes_for(ax, height=1.9 + 0.34 * (len(steps) + 1), width=9.0)
        lead = 0.0
        for place, (_, label, votes) in enumerate(steps):
            moved = self._towards(label, votes) if label is not None else votes
            style = {"color": GREY} if label is None else class_style(classes.index(label))
            self.ax_.barh(place, moved, left=lead, edgecolor="white", **style)
            lead += moved
        decision = self.explanation.leading
        self.ax_.barh(len(steps), lead, edgecolor="white", **class_style(classes.index(decision)))
        for place, (_, label, votes) in enumerate(steps):
            name = "" if label is None else f" {shown_class(label)}"
            self._note(place, f"{votes:+.4g}{name}")
        self._note(len(steps), f"{lead:+.4g}")
        name_bars(self.ax_, [*(name for name, _, _ in steps), "total"])
        self.ax_.axvline(0, color="black", linewidth=0.8)
        rival = self._runner_up
        over = "" if rival is None else f" over {shown_class(rival)}"
        disable_math(
            self.ax_.set_xlabel(f"lead of {shown_class(decision)}{over}, votes ({self.explanation.voting})")
        )
        disable_math(self.ax_.set_title(self._title(), loc="left", fontsize="medium"))
        return self

    def _note(self, place: int, text: str) -> None:
        note = self.ax_.annotate(
            text, (1.01, place), xycoords=("axes fraction", "data"), va="center", fontsize="small"
        )
        disable_math(note)

    @property
    def _runner_up(self) -> Label | None:
        decision = self.explanation.leading
        others = [(score, label) for label, score in self.explanation.scores.items() if label != decision]
        return max(others, key=lambda one: one[0])[1] if others else None

    def _towards(self, label: Label, votes: float) -> float:
        """Return what votes for a class add to the lead."""
        if label == self.explanation.leading:
            return votes
        return -votes if label == self._runner_up else 0.0

    def _steps(self) -> list[Step]:
        start: list[Step] = [
            ("start", label, votes) for label, votes in self.explanation.start.items() if votes != 0
        ]
        decision = self.explanation.leading
        fired = sorted(
            self.explanation.fired, key=lambda one: (one.rule.conclusion != decision, -abs(one.votes))
        )
        kept = sorted(fired, key=lambda one: -abs(one.votes))[: self.max_rules]
        shown: list[Step] = [
            (f"rule {one.number}: {shorten(one.premise, LONGEST_PREMISE)}", one.rule.conclusion, one.votes)
            for one in fired
            if one in kept
        ]
        rest = [one for one in fired if one not in kept]
        if rest:
            together = sum(self._towards(one.rule.conclusion, one.votes) for one in rest)
            shown.append((f"{count_of_rules(len(rest))} with fewer votes", None, together))
        return start + shown

    def _title(self) -> str:
        scores = sorted(self.explanation.scores.items(), key=lambda item: -item[1])[:4]
        totals = ", ".join(
            f"{shown_class(label)} {format_number(round(score, 3))}" for label, score in scores
        )
        more = "" if len(self.explanation.scores) <= 4 else ", …"
        return f"row {self.explanation.row} is {shown_class(self.explanation.prediction)}: {totals}{more}"
