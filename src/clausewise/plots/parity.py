"""Predicted numbers beside those that they should be."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.data.responses import read_responses
from clausewise.networks.answers import ask_numbers
from clausewise.plots.drawing import FIRST_COLOUR, LONGEST_NAME, axes_for, disable_math, hide_box, shorten
from clausewise.rules.metrics import mean_absolute_error, r_squared
from clausewise.rules.regression import RegressionRules

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes

# More points cannot be told apart.
_MAX_POINTS = 5_000


class ParityDisplay:
    """The numbers that rules predict beside those of a network, or true ones: a point per row.

    Points on the diagonal are predicted exactly. Rules without a linear part predict few different numbers,
    so their points lie on horizontal lines.

    Parameters
    ----------
    predicted : array-like of shape (n_rows,)
        The numbers that rules predict.
    target : array-like of shape (n_rows,)
        The numbers that they should be.
    target_name : str, default "network"
        Whose numbers these are.
    response : str, optional
        Name of what is predicted.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.plots import ParityDisplay
    >>> rules = RegressionRules.from_text("BASE 1.5 RESPONSE price IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> display = ParityDisplay.from_rules(rules, [[3], [5], [6]], [1.4, 2.2, 2.5])
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('network (price)', 'rules (price)')
    """

    def __init__(
        self,
        predicted: ArrayLike,
        target: ArrayLike,
        *,
        target_name: str = "network",
        response: str | None = None,
    ) -> None:
        self.predicted: NDArray[np.float64] = np.asarray(predicted, dtype=np.float64)
        self.target = read_responses(target, len(self.predicted), "target")
        self.target_name = target_name
        self.response = response

    @classmethod
    def from_rules(
        cls,
        rules: RegressionRules,
        X: Any,
        target: Any,
        *,
        target_name: str = "network",
        ax: "Axes | None" = None,
    ) -> "Self":
        """Draw the predictions for the rows of X beside the numbers of a network, or given ones."""
        predicted = rules.predict(X)
        numbers = ask_numbers(target, X, rules.features, len(predicted), name="target")
        return cls(predicted, numbers, target_name=target_name, response=rules.response).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on the given axes, or on those of a new figure."""
        self.figure_, self.ax_ = axes_for(ax, height=5.0, width=5.4)
        n_rows = len(self.target)
        shown = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _MAX_POINTS)).astype(np.intp))
        ends = np.array([np.minimum(self.predicted, self.target).min(), self.target.max()])
        ends[1] = max(ends[1], self.predicted.max())
        self.ax_.plot(ends, ends, color="black", linewidth=1, linestyle="--")
        self.ax_.scatter(
            self.target[shown], self.predicted[shown], s=9, alpha=0.5, color=FIRST_COLOUR, linewidths=0
        )
        what = "" if self.response is None else f" ({shorten(self.response, LONGEST_NAME)})"
        disable_math(self.ax_.set_xlabel(f"{self.target_name}{what}"))
        disable_math(self.ax_.set_ylabel(f"rules{what}"))
        score, error = (
            r_squared(self.predicted, self.target),
            mean_absolute_error(self.predicted, self.target),
        )
        hidden = f"; {len(shown):,} drawn" if len(shown) < n_rows else ""
        title = f"R² {score:.3f}, mean absolute error {error:.3g} on {n_rows:,} rows{hidden}"
        self.ax_.set_title(title, loc="left", fontsize="medium")
        hide_box(self.ax_)
        return self
