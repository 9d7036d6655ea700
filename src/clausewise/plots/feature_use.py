"""How many rules test each feature."""

from typing import TYPE_CHECKING

import numpy as np

from clausewise.analysis.global_explanation import GlobalExplanation
from clausewise.plots.drawing import (
    LONGEST_NAME,
    axes_for,
    count_of_rules,
    draw_class_legend,
    layers_by_class,
    name_bars,
)
from clausewise.rules.ruleset import RuleSet

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes


class FeatureUseDisplay:
    """The percentage of rules that test each feature, by class (the paper's figure of XOR).

    Parameters
    ----------
    explained : GlobalExplanation
        The result of `RuleSet.explain_global`.
    max_features, max_classes : int
        Draw at most this many features, the most used ones, and at most this many classes; those with the
        fewest rules are drawn as one.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.plots import FeatureUseDisplay
    >>> text = "IF age > 50 AND debt > 2 THEN high IF debt > 8 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "debt", "income"], default="low")
    >>> display = FeatureUseDisplay.from_rules(rules)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]  # most used first
    ['debt', 'age']
    """

    def __init__(self, explained: GlobalExplanation, *, max_features: int = 20, max_classes: int = 6) -> None:
        self.explained = explained
        self.max_features = max_features
        self.max_classes = max_classes

    @classmethod
    def from_rules(
        cls, rules: RuleSet, *, max_features: int = 20, max_classes: int = 6, ax: "Axes | None" = None
    ) -> "Self":
        """Draw which features the rules test."""
        explained = rules.explain_global()
        return cls(explained, max_features=max_features, max_classes=max_classes).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on the given axes, or on those of a new figure."""
        rules, counts = self.explained.rules, self.explained.feature_use
        used = np.flatnonzero(counts.sum(axis=1) > 0)
        order = used[np.argsort(-counts[used].sum(axis=1), kind="stable")][: self.max_features]
        self.figure_, self.ax_ = axes_for(ax, height=1.4 + 0.3 * max(len(order), 3))
        layers = layers_by_class(counts[order], rules, self.max_classes)
        left = np.zeros(len(order))
        for name, n_rules, style in layers:
            width = 100 * n_rules / max(len(rules), 1)
            self.ax_.barh(range(len(order)), width, left=left, label=name, edgecolor="white", **style)
            left += width
        name_bars(self.ax_, [rules.features.names[f] for f in order], LONGEST_NAME)
        self.ax_.set_xlabel("rules that test the feature, % of all rules")
        n_hidden = len(used) - len(order)
        hidden = f"; {n_hidden} less used not shown" if n_hidden else ""
        n_unused = len(rules.features) - len(used)
        unused = f"; {n_unused} not used" if n_unused else ""
        title = f"features of {count_of_rules(len(rules))}{hidden}{unused}"
        self.ax_.set_title(title, loc="left", fontsize="medium")
        draw_class_legend(self.ax_, layers)
        return self
