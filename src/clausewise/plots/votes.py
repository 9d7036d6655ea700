"""The votes on one row."""

from typing import TYPE_CHECKING, Any

from clausewise.analysis.explanation import Explanation
from clausewise.data.labels import Label
from clausewise.plots.drawing import (
    FIRST_COLOUR,
    LONGEST_NAME,
    LONGEST_PREMISE,
    SECOND_COLOUR,
    axes_for,
    count_of_rules,
    disable_math,
    draw_legend_above,
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


class VotesDisplay:
    """The votes on one row: one bar per rule that fired, for the predicted class or for another.

    Parameters
    ----------
    explanation : Explanation
        The explanation of one row, from `RuleSet.explain`.
    max_rules : int, default 15
        Draw at most this many rules, those with the most votes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.plots import VotesDisplay
    >>> text = "IF age > 50 THEN high IF income > 4 THEN low IF debt > 8 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "income", "debt"], default="low")
    >>> display = VotesDisplay.from_rules(rules, [[60, 5, 9]], row=0)
    >>> print(display.ax_.get_title(loc="left"))
    row 0 is high
    totals: high 2000, low 1000
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
        """Draw the votes on one row of X."""
        return cls(rules.explain(X, voting=voting)[row], max_rules=max_rules).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on the given axes, or on those of a new figure."""
        bars = self._bars()
        self.figure_, self.ax_ = axes_for(ax, height=1.9 + 0.32 * max(len(bars), 2), width=9.0)
        chosen = self.explanation.leading
        for name, is_for, colour, hatch in (
            (f"for {shown_class(chosen)}", True, FIRST_COLOUR, ""),
            ("for another class", False, SECOND_COLOUR, "//"),
        ):
            places = [place for place, (_, label, _) in enumerate(bars) if (label == chosen) == is_for]
            votes = [bars[place][2] for place in places]
            if places:
                self.ax_.barh(places, votes, color=colour, hatch=hatch, edgecolor="white", label=name)
        name_bars(self.ax_, [f"{text} → {shown_class(label)}" for text, label, _ in bars])
        self.ax_.axvline(0, color="black", linewidth=0.8)
        self.ax_.set_xlabel(f"votes ({self.explanation.voting})")
        disable_math(
            self.ax_.set_title(self._title(), loc="left", fontsize="medium", pad=22 if bars else None)
        )
        if bars:
            draw_legend_above(self.ax_)
        else:
            self.ax_.text(0.5, 0.5, "no rule fired", ha="center", va="center", transform=self.ax_.transAxes)
        return self

    def _bars(self) -> list[tuple[str, Label, float]]:
        """Return (text, class, votes) of each bar: the starting votes, then the rules with the most votes."""
        start = [("start", label, votes) for label, votes in self.explanation.start.items() if votes != 0]
        fired = sorted(self.explanation.fired, key=lambda one: -abs(one.votes))[: self.max_rules]
        return start + [
            (f"rule {one.number}: {shorten(one.premise, LONGEST_PREMISE)}", one.rule.conclusion, one.votes)
            for one in fired
        ]

    def _title(self) -> str:
        scores = sorted(self.explanation.scores.items(), key=lambda item: -item[1])[:4]
        totals = ", ".join(
            f"{shown_class(label)} {format_number(round(score, 3))}" for label, score in scores
        )
        more = "" if len(self.explanation.scores) <= 4 else ", …"
        decision = shown_class(self.explanation.prediction, LONGEST_NAME)
        n_hidden = len(self.explanation.fired) - self.max_rules
        hidden = f"; {count_of_rules(n_hidden)} with fewer votes not shown" if n_hidden > 0 else ""
        return f"row {self.explanation.row} is {decision}{hidden}\ntotals: {totals}{more}"
