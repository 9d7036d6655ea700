"""The number of terms per rule."""

from typing import TYPE_CHECKING

import numpy as np

from clausewise.analysis.global_explanation import GlobalExplanation
from clausewise.plots.drawing import axes_for, count_of_rules, draw_class_legend, hide_box, layers_by_class
from clausewise.rules.ruleset import RuleSet

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes


class RuleLengthDisplay:
    """A histogram of the number of terms per rule, by class.

    Parameters
    ----------
    explained : GlobalExplanation
        The result of `RuleSet.explain_global`.
    max_classes : int
        Draw at most this many classes; those with the fewest rules are drawn as one.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.plots import RuleLengthDisplay
    >>> text = "IF age > 50 AND debt > 2 THEN high IF debt > 8 THEN high"
    >>> display = RuleLengthDisplay.from_rules(RuleSet.from_text(text, ["age", "debt"], default="low"))
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('terms in the rule', 'rules')
    """

    def __init__(self, explained: GlobalExplanation, *, max_classes: int = 6) -> None:
        self.explained = explained
        self.max_classes = max_classes

    @classmethod
    def from_rules(cls, rules: RuleSet, *, max_classes: int = 6, ax: "Axes | None" = None) -> "Self":
        """Draw the lengths of the rules."""
        return cls(rules.explain_global(), max_classes=max_classes).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on the given axes, or on those of a new figure."""
        rules, counts = self.explained.rules, self.explained.rule_lengths
        self.figure_, self.ax_ = axes_for(ax, height=3.6)
        from matplotlib.ticker import MaxNLocator  # after `axes_for`, which says how to install matplotlib

        first = int(np.flatnonzero(counts.sum(axis=1)).min(initial=len(counts) - 1))
        lengths = np.arange(first, len(counts))
        layers = layers_by_class(counts[first:], rules, self.max_classes)
        bottom = np.zeros(len(lengths))
        for name, n_rules, style in layers:
            self.ax_.bar(lengths, n_rules, bottom=bottom, label=name, edgecolor="white", **style)
            bottom += n_rules
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.ax_.yaxis.set_major_locator(MaxNLocator(integer=True))
        self.ax_.set_xlabel("terms in the rule")
        self.ax_.set_ylabel("rules")
        mean = rules.columns.lengths.mean() if len(rules) else 0.0
        self.ax_.set_title(
            f"{count_of_rules(len(rules))}, {mean:.1f} terms on average", loc="left", fontsize="medium"
        )
        draw_class_legend(self.ax_, layers)
        hide_box(self.ax_)
        return self
