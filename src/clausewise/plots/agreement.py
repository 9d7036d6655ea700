"""How often the network agrees with each rule."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from clausewise.analysis.global_explanation import GlobalExplanation
from clausewise.plots.drawing import FIRST_COLOUR, GREY, axes_for, count_of_rules, name_bars, shown_class
from clausewise.rules.ruleset import RuleSet

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes


class AgreementDisplay:
    """How often the network predicts the class of a rule where the rule fires, least agreement first.

    Parameters
    ----------
    explained : GlobalExplanation
        The result of `RuleSet.explain_global(X, target)`.
    max_rules : int, default 30
        Draw at most this many rules, those that agree least.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.plots import AgreementDisplay
    >>> text = "IF age > 50 THEN high IF debt > 8 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> X, network = [[60, 0], [60, 9], [40, 9], [30, 0]], ["high", "high", "low", "low"]
    >>> display = AgreementDisplay.from_rules(rules, X, network)  # or the model itself
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]  # least agreement first
    ['rule 1 → high  (2 rows)', 'rule 0 → high  (2 rows)']
    """

    def __init__(self, explained: GlobalExplanation, *, max_rules: int = 30) -> None:
        self.explained = explained
        self.max_rules = max_rules

    @classmethod
    def from_rules(
        cls, rules: RuleSet, X: Any, target: ArrayLike, *, max_rules: int = 30, ax: "Axes | None" = None
    ) -> "Self":
        """Draw how often rules agree with a network's labels of the rows of X."""
        return cls(rules.explain_global(X, target), max_rules=max_rules).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on the given axes, or on those of a new figure."""
        explained, rules = self.explained, self.explained.rules
        agreement, covered = explained.agreement, explained.n_rows_covered
        firing = np.flatnonzero(covered > 0)
        order = firing[np.argsort(agreement[firing], kind="stable")]
        shown = order[: self.max_rules]
        self.figure_, self.ax_ = axes_for(ax, height=1.6 + 0.26 * max(len(shown), 3))
        places = range(len(shown))
        self.ax_.hlines(places, 0, 100 * agreement[shown], color=GREY, linewidth=1.5, zorder=1)
        size = 20 + 130 * covered[shown] / max(int(covered.max(initial=1)), 1)
        self.ax_.scatter(100 * agreement[shown], places, s=size, color=FIRST_COLOUR, zorder=2)
        fidelity = 100 * explained.fidelity
        self.ax_.axvline(fidelity, color="black", linestyle="--", linewidth=1)
        self.ax_.annotate(
            f"all rules together {fidelity:.1f} %",
            (fidelity, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(-4, 3),
            textcoords="offset points",
            ha="right",
            fontsize="small",
        )
        stored = rules.columns
        texts = [
            f"rule {rule} → {shown_class(rules.labels[stored.class_index[rule]])}  ({covered[rule]:,} rows)"
            for rule in shown
        ]
        name_bars(self.ax_, texts)
        self.ax_.set_xlim(-2, 104)
        self.ax_.set_xlabel("rows of the rule on which the network agrees, %")
        hidden = f", the {len(shown)} that agree least" if len(order) > len(shown) else ""
        n_silent = len(rules) - len(firing)
        never = f"; {n_silent} never fire" if n_silent else ""
        title = f"{count_of_rules(len(rules))} on {explained.n_rows:,} rows{hidden}{never}"
        self.ax_.set_title(title, loc="left", fontsize="medium", pad=18)
        return self
