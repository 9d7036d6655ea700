"""Fidelity, or R², against the size of a rule set."""

from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.plots.drawing import COLOURS, FIRST_COLOUR, axes_for, hide_box
from clausewise.rules.decimals import format_number

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes


class FidelityCurve(Protocol):
    """Fidelity by size; `RuleSet.frontier` returns one. `by` may be missing, and then is "rules"."""

    @property
    def budgets(self) -> ArrayLike:
        """Sizes."""

    @property
    def fidelity(self) -> ArrayLike:
        """Fidelity at each size, from 0 to 1."""

    @property
    def spread(self) -> ArrayLike | None:
        """Standard deviation of the fidelity, if known."""

    @property
    def knee(self) -> float | None:
        """The recommended size, if there is one."""


class FrontierDisplay:
    """Fidelity against the size of a rule set, with the recommended size marked.

    Parameters
    ----------
    budgets : array-like of shape (n_budgets,)
        Sizes.
    fidelity : array-like of shape (n_budgets,)
        Fidelity at each size, from 0 to 1.
    spread : array-like of shape (n_budgets,), optional
        Standard deviation of the fidelity, drawn as a band.
    knee : int, optional
        The recommended size.
    by : {"rules", "conditions"}, default "rules"
        What a size is: the number of rules, or of conditions to read.
    measure : {"fidelity", "R²", "D²"}, default "fidelity"
        What is drawn: fidelity in %, or the fraction that rules for numbers explain.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    `rules.frontier(X, model).plot()` measures and draws. Figures from elsewhere are drawn like this:

    >>> from clausewise.plots import FrontierDisplay
    >>> display = FrontierDisplay(budgets=[1, 2, 4, 8], fidelity=[0.84, 0.91, 0.95, 0.952], knee=4).plot()
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('rules', 'fidelity to the network, %')
    """

    def __init__(
        self,
        budgets: ArrayLike,
        fidelity: ArrayLike,
        spread: ArrayLike | None = None,
        knee: float | None = None,
        by: Literal["rules", "conditions"] = "rules",
        measure: Literal["fidelity", "R²", "D²"] = "fidelity",
    ) -> None:
        self.budgets = np.asarray(budgets, dtype=np.float64)
        self.fidelity = np.asarray(fidelity, dtype=np.float64)
        self.spread = None if spread is None else np.asarray(spread, dtype=np.float64)
        self.knee = knee
        self.by = by
        self.measure = measure

    @classmethod
    def from_frontier(cls, frontier: FidelityCurve, *, ax: "Axes | None" = None) -> "Self":
        """Draw an object with the attributes of `FidelityCurve`, and perhaps `by` and `measure`."""
        by: Any = getattr(frontier, "by", "rules")
        measure: Any = getattr(frontier, "measure", "fidelity")
        return cls(frontier.budgets, frontier.fidelity, frontier.spread, frontier.knee, by, measure).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on the given axes, or on those of a new figure."""
        self.figure_, self.ax_ = axes_for(ax, height=4.0)
        from matplotlib.ticker import (
            NullFormatter,
            ScalarFormatter,
        )  # after `axes_for`, which explains errors

        order = np.argsort(self.budgets, kind="stable")
        factor = 100 if self.measure == "fidelity" else 1
        budgets, fidelity = self.budgets[order], factor * self.fidelity[order]
        if self.spread is not None:
            spread = factor * self.spread[order]
            self.ax_.fill_between(
                budgets,
                fidelity - spread,
                fidelity + spread,
                color=FIRST_COLOUR,
                alpha=0.2,
                linewidth=0,
                label="spread",
            )
        self.ax_.plot(budgets, fidelity, color=FIRST_COLOUR, marker="o", label=self.measure)
        if len(budgets) and budgets.min() > 0 and budgets.max() >= 8 * budgets.min():
            # Budgets usually double; on a linear scale the small ones would overlap.
            self.ax_.set_xscale("log", base=2)
            self.ax_.set_xticks(_readable_ticks(budgets))
            self.ax_.xaxis.set_major_formatter(ScalarFormatter())
            self.ax_.xaxis.set_minor_formatter(NullFormatter())
        if self.knee is not None:
            self._mark_knee(float(self.knee), budgets, fidelity)
        self.ax_.set_xlabel("rules" if self.by == "rules" else "conditions to read")
        self.ax_.set_ylabel(
            "fidelity to the network, %" if self.measure == "fidelity" else f"{self.measure} to the network"
        )
        self.ax_.grid(axis="y", color="#DDDDDD")
        self.ax_.set_axisbelow(True)
        self.ax_.legend(loc="lower right", frameon=False)
        hide_box(self.ax_)
        return self

    def _mark_knee(self, knee: float, budgets: NDArray[np.float64], fidelity: NDArray[np.float64]) -> None:
        height = float(np.interp(knee, budgets, fidelity))
        shown = f"{height:.1f} %" if self.measure == "fidelity" else f"{height:.3f}"
        self.ax_.axvline(knee, color="black", linestyle="--", linewidth=1)
        self.ax_.plot(
            [knee],
            [height],
            color=COLOURS[5],
            marker="D",
            markersize=9,
            linestyle="none",
            label=f"recommended: {format_number(knee)} {self.by}, {shown}",
        )


def _readable_ticks(budgets: NDArray[np.float64]) -> list[float]:
    """Return budgets to label on a logarithmic axis, at least a factor of 1.3 apart."""
    ticks: list[float] = []
    for budget in budgets.tolist():
        if not ticks or budget >= 1.3 * ticks[-1]:
            ticks.append(budget)
    return ticks
