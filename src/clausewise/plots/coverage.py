"""The rows on which each rule fires, and which rules fire together."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clausewise.analysis.global_explanation import GlobalExplanation
from clausewise.plots.drawing import (
    FIRST_COLOUR,
    GREY,
    SECOND_COLOUR,
    count_of_rules,
    draw_legend_above,
    figure_of,
    import_pyplot,
    name_bars,
    shown_class,
)
from clausewise.rules.ruleset import RuleSet

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes


class CoverageDisplay:
    """The percentage of rows on which each rule fires, alone or with others, and which rules fire together.

    Parameters
    ----------
    explained : GlobalExplanation
        The result of `RuleSet.explain_global(X)`.
    max_rules : int, default 40
        Draw at most this many rules, those that fire on the most rows, in the order of the rule set.

    Attributes
    ----------
    ax_ : ndarray of two matplotlib Axes
        The bars of coverage, and the matrix of overlaps.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.plots import CoverageDisplay
    >>> text = "IF age > 50 THEN high IF debt > 8 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> display = CoverageDisplay.from_rules(rules, [[60, 0], [60, 9], [40, 9], [30, 0]])
    >>> bars, overlaps = display.ax_
    >>> bars.get_xlabel()
    'rows on which the rule fires, %'
    """

    def __init__(self, explained: GlobalExplanation, *, max_rules: int = 40) -> None:
        self.explained = explained
        self.max_rules = max_rules

    @classmethod
    def from_rules(
        cls, rules: RuleSet, X: Any, *, max_rules: int = 40, ax: "Sequence[Axes] | None" = None
    ) -> "Self":
        """Draw where the rules fire on the rows of X."""
        return cls(rules.explain_global(X), max_rules=max_rules).plot(ax)

    def plot(self, ax: "Sequence[Axes] | None" = None) -> "Self":
        """Draw on the two given axes, or on those of a new figure."""
        explained, rules = self.explained, self.explained.rules
        covered = explained.n_rows_covered
        shown = np.sort(np.argsort(-covered, kind="stable")[: self.max_rules])
        if ax is None:
            size = 1.6 + 0.2 * max(len(shown), 8)
            pyplot = import_pyplot()
            self.figure_, pair = pyplot.subplots(
                1, 2, figsize=(6 + 0.7 * size, size), layout="constrained", width_ratios=(1, 1)
            )
        else:
            pair = ax
            self.figure_ = figure_of(pair[0])
        self.ax_: NDArray[Any] = np.asarray(pair, dtype=object)
        self._draw_bars(self.ax_[0], shown, covered)
        self._draw_overlap(self.ax_[1], shown, covered)
        hidden = len(rules) - len(shown)
        title = f"{count_of_rules(len(rules))} on {explained.n_rows:,} rows"
        title += f"; the {len(shown)} that fire most often" if hidden else ""
        self.ax_[0].set_title(title, loc="left", fontsize="medium", pad=22)
        return self

    def _draw_bars(self, ax: "Axes", shown: NDArray[np.int64], covered: NDArray[np.int64]) -> None:
        explained, n_rows = self.explained, max(self.explained.n_rows, 1)
        alone = 100 * explained.n_rows_alone[shown] / n_rows
        shared = 100 * covered[shown] / n_rows - alone
        places = range(len(shown))
        ax.barh(places, alone, color=FIRST_COLOUR, edgecolor="white", label="no other rule fires")
        ax.barh(
            places,
            shared,
            left=alone,
            color=SECOND_COLOUR,
            hatch="//",
            edgecolor="white",
            label="others fire too",
        )
        stored, rules = explained.rules.columns, explained.rules
        labels = [shown_class(rules.labels[c]) for c in stored.class_index[shown]]
        name_bars(ax, [f"rule {rule} → {label}" for rule, label in zip(shown, labels, strict=True)])
        ax.set_xlabel("rows on which the rule fires, %")
        if len(shown):
            draw_legend_above(ax)

    def _draw_overlap(self, ax: "Axes", shown: NDArray[np.int64], covered: NDArray[np.int64]) -> None:
        if not len(shown):
            ax.set_axis_off()
            return
        both_fire = self.explained.overlap[np.ix_(shown, shown)].astype(np.float64)
        n_rows = covered[shown].astype(np.float64)[:, None]
        percent = 100 * np.divide(both_fire, n_rows, out=np.zeros_like(both_fire), where=n_rows > 0)
        np.fill_diagonal(percent, np.nan)
        # One colour from light to dark reads the same in greyscale.
        image = ax.imshow(percent, cmap="Blues", vmin=0, vmax=100, aspect="equal")
        ax.set_facecolor(GREY)  # the diagonal: a rule with itself
        step = max(1, -(-len(shown) // 20))
        ticks = range(0, len(shown), step)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(list(ticks), [str(shown[tick]) for tick in ticks], fontsize="small")
        ax.set_xlabel("… this rule fires too")
        ax.set_ylabel("where this rule fires …")
        bar = figure_of(ax).colorbar(image, ax=ax, shrink=0.6)
        bar.set_label("% of the rows of the rule on the left")
