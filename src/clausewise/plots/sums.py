"""The sum that predicts one number, part by part."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clausewise.analysis.sum_explanation import SumExplanation
from clausewise.plots.drawing import (
    FIRST_COLOUR,
    GREY,
    LONGEST_NAME,
    LONGEST_PREMISE,
    SECOND_COLOUR,
    axes_for,
    disable_math,
    draw_legend_above,
    name_bars,
    shorten,
)
from clausewise.rules.regression import RegressionRules
from clausewise.rules.regression_rule import describe_addition, describe_amount

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes


class SumDisplay:
    """The sum that predicts one number, as a waterfall: each bar begins where the one above it ended.

    Parameters
    ----------
    explanation : SumExplanation
        The explanation of one row, from `RegressionRules.explain`.
    max_parts : int, default 15
        Draw at most this many rules and linear terms, those that add most; the others are one bar together.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.plots import SumDisplay
    >>> text = "BASE 1.5 RESPONSE price IF rooms > 4 THEN ADD 0.7 IF age > 50 THEN ADD -0.4"
    >>> rules = RegressionRules.from_text(text, ["rooms", "age"])
    >>> display = SumDisplay.from_rules(rules, [[5, 60]], row=0)
    >>> display.ax_.get_title(loc="left")
    'row 0: 1.8'
    """

    def __init__(self, explanation: SumExplanation, *, max_parts: int = 15) -> None:
        self.explanation = explanation
        self.max_parts = max_parts

    @classmethod
    def from_rules(
        cls, rules: RegressionRules, X: Any, *, row: int = 0, max_parts: int = 15, ax: "Axes | None" = None
    ) -> "Self":
        """Draw the sum of one row of X."""
        return cls(rules.explain(X)[row], max_parts=max_parts).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on the given axes, or on those of a new figure."""
        explanation = self.explanation
        parts = self._parts()
        self.figure_, self.ax_ = axes_for(ax, height=1.9 + 0.32 * (len(parts) + 2), width=9.0)
        self.ax_.use_sticky_edges = False  # leaves room beside the lowest bar, too
        added = np.array([number for _, number in parts])
        starts = explanation.base + np.concatenate([[0.0], np.cumsum(added)])[:-1]
        for name, is_shown, colour, hatch in (
            ("adds", added >= 0, FIRST_COLOUR, ""),
            ("takes away", added < 0, SECOND_COLOUR, "//"),
        ):
            places = 1 + np.flatnonzero(is_shown)
            if len(places):
                self.ax_.barh(
                    places,
                    added[is_shown],
                    left=starts[is_shown],
                    color=colour,
                    hatch=hatch,
                    edgecolor="white",
                    label=name,
                )
        # Base and total are lines, since bars from 0 would dwarf the rest where responses are far from 0.
        ends = [(0, explanation.base), (len(parts) + 1, explanation.total)]
        for place, number in ends:
            self.ax_.plot([number, number], [place - 0.4, place + 0.4], color="black", linewidth=2)
        for place, number in ((0, explanation.base), *enumerate((starts + added).tolist(), start=1)):
            self.ax_.plot([number, number], [place + 0.4, place + 0.6], color=GREY, linewidth=1)
        texts = [f"start: {describe_amount(explanation.base)}", *(text for text, _ in parts)]
        name_bars(self.ax_, [*texts, f"sum: {describe_amount(explanation.total)}"])
        response = "prediction" if explanation.response is None else explanation.response
        is_log = explanation.prediction != explanation.total
        name = shorten(response, LONGEST_NAME)
        disable_math(self.ax_.set_xlabel(f"logarithm of {name}" if is_log else name))
        title = f"row {explanation.row}: {describe_amount(explanation.prediction)}"
        disable_math(self.ax_.set_title(title, loc="left", fontsize="medium", pad=22 if parts else None))
        if parts:
            draw_legend_above(self.ax_)
        return self

    def _parts(self) -> list[tuple[str, float]]:
        """Return text and addition of each bar, in the order of the sum."""
        explanation = self.explanation
        named = [
            (f"rule {one.number}: {shorten(one.premise, LONGEST_PREMISE)}", one.addition)
            for one in explanation.fired
        ]
        named += [
            (
                f"{describe_amount(one.term.coefficient)} × {shorten(one.term.name, LONGEST_NAME)}",
                one.addition,
            )
            for one in explanation.linear
        ]
        n_hidden = len(named) - self.max_parts
        if n_hidden > 0:
            order = np.argsort([-abs(number) for _, number in named], kind="stable")
            kept, hidden = sorted(order[: self.max_parts].tolist()), order[self.max_parts :].tolist()
            others = (f"{n_hidden} others", sum(named[place][1] for place in hidden))
            named = [*(named[place] for place in kept), others]
        return [(f"{text}  {describe_addition(float(f'{number:.4g}'))}", number) for text, number in named]
