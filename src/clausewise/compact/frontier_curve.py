"""Fidelity on held-out rows for every number of rules up to a maximum."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clausewise.base.frames import Backend, frame_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clausewise.plots import FrontierDisplay


@dataclass(frozen=True, eq=False)
class Frontier:
    """Fidelity against the number of rules; made by `RuleSet.frontier`.

    Attributes
    ----------
    budgets : ndarray of int, of shape (n_budgets,)
        Numbers of rules, ascending from 1.
    by_split : ndarray of shape (n_splits, n_budgets)
        Fidelity on the held-out rows of each split.
    """

    budgets: NDArray[np.int64]
    by_split: NDArray[np.float64]

    @property
    def fidelity(self) -> NDArray[np.float64]:
        """Mean fidelity on held-out rows."""
        return np.asarray(self.by_split.mean(axis=0))

    @property
    def spread(self) -> NDArray[np.float64]:
        """Standard deviation over the splits; zeros for a single split."""
        n_splits = len(self.by_split)
        return self.by_split.std(axis=0, ddof=1) if n_splits > 1 else np.zeros(len(self.budgets))

    @property
    def knee(self) -> int:
        """The recommended budget, beyond which further rules add much less than earlier ones.

        It is where the best fidelity so far is farthest above the line from its first to its last point.
        """
        best = np.maximum.accumulate(self.fidelity)
        if best[-1] == best[0]:
            return int(self.budgets[0])
        x = (self.budgets - self.budgets[0]) / (self.budgets[-1] - self.budgets[0])
        y = (best - best[0]) / (best[-1] - best[0])
        return int(self.budgets[(y - x).argmax()])

    def smallest(self, min_fidelity: float) -> int | None:
        """Return the smallest budget that reaches this fidelity on held-out rows; None if none does."""
        reaching = np.flatnonzero(self.fidelity >= min_fidelity)
        return int(self.budgets[reaching[0]]) if len(reaching) else None

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per budget: rules, fidelity, spread, and whether it is recommended."""
        return frame_of(
            {
                "rules": self.budgets,
                "fidelity": self.fidelity,
                "spread": self.spread,
                "is_knee": self.budgets == self.knee,
            },
            backend,
        )

    def plot(self, ax: "Axes | None" = None) -> "FrontierDisplay":
        """Plot fidelity against the number of rules; see `FrontierDisplay`."""
        from clausewise.plots import FrontierDisplay

        return FrontierDisplay.from_frontier(self, ax=ax)

    def __str__(self) -> str:
        shown = [b for b in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, self.knee) if b <= self.budgets[-1]]
        lines = [f"Fidelity on held-out rows ({len(self.by_split)} splits)", "  rules  fidelity"]
        for budget in sorted({*shown, int(self.budgets[-1])}):
            i = int(np.searchsorted(self.budgets, budget))
            mark = "   recommended" if budget == self.knee else ""
            lines.append(f"  {budget:>5}  {100 * self.fidelity[i]:6.2f} ± {100 * self.spread[i]:.2f} %{mark}")
        return "\n".join(lines)
