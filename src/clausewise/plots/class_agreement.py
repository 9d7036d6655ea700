"""How often the rules decide as the network does, per class."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clausewise.analysis.evaluation import Evaluation
from clausewise.plots.drawing import axes_for, class_style, name_bars, shown_class
from clausewise.rules.ruleset import RuleSet

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes


class ClassAgreementDisplay:
    """Fidelity per class of the network, with 95 % intervals, beside that on all rows and the baseline.

    Parameters
    ----------
    evaluation : Evaluation
        The result of `RuleSet.evaluate` with a network.
    max_classes : int, default 30
        Draw at most this many classes, those with the lowest fidelity.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.plots import ClassAgreementDisplay
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> X, network = [[60], [70], [40], [30], [20]], ["high", "high", "high", "low", "low"]
    >>> display = ClassAgreementDisplay.from_rules(rules, X, network)  # or the model itself
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['high  (3 rows)', 'low  (2 rows)']
    """

    def __init__(self, evaluation: Evaluation, *, max_classes: int = 30) -> None:
        if evaluation.fidelity is None:
            raise ValueError("The evaluation has no fidelity; pass the network, or its labels, to evaluate.")
        self.evaluation = evaluation
        self.max_classes = max_classes

    @classmethod
    def from_rules(
        cls, rules: RuleSet, X: Any, network: Any, *, max_classes: int = 30, ax: "Axes | None" = None
    ) -> "Self":
        """Draw how often rules decide as a network, or its labels, on the rows of X."""
        return cls(rules.evaluate(X, network=network), max_classes=max_classes).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on the given axes, or on those of a new figure."""
        found = self.evaluation
        listed = list(enumerate(found.class_fidelity))
        if len(listed) > self.max_classes:
            listed = sorted(listed, key=lambda one: one[1].fidelity)[: self.max_classes]
        self.figure_, self.ax_ = axes_for(ax, height=1.6 + 0.32 * max(len(listed), 2))
        for place, (index, one) in enumerate(listed):
            error = [[100 * (one.fidelity - one.interval[0])], [100 * (one.interval[1] - one.fidelity)]]
            self.ax_.barh(
                place,
                100 * one.fidelity,
                xerr=np.maximum(error, 0),
                error_kw={"linewidth": 1, "capsize": 3},
                edgecolor="white",
                **class_style(index),
            )
        name_bars(self.ax_, [f"{shown_class(one.label)}  ({one.n_rows:,} rows)" for _, one in listed])
        fidelity, baseline = found.fidelity or 0.0, found.fidelity_baseline or 0.0
        self.ax_.axvline(100 * fidelity, color="black", linestyle="--", linewidth=1)
        self.ax_.axvline(100 * baseline, color="black", linestyle=":", linewidth=1)
        self.ax_.set_xlim(0, 102)
        self.ax_.set_xlabel("rows of the class on which the rules decide as the network, %")
        low, high = found.fidelity_interval or (fidelity, fidelity)
        self.ax_.set_title(
            f"all rows {100 * fidelity:.1f} % ({100 * low:.1f}–{100 * high:.1f}; dashed), "
            f"baseline {100 * baseline:.1f} % (dotted)",
            loc="left",
            fontsize="medium",
        )
        return self
