"""Fidelity on held-out rows for rule sets of growing size."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from clausewise.base import html
from clausewise.base.frames import Backend, frame_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clausewise.plots import FrontierDisplay

Size = Literal["rules", "conditions"]
Floats = NDArray[np.float64]

# A smaller rule set is recommended if its fidelity is at most this much below the best.
TOLERANCE = 0.0025
_MANY_BUDGETS = 24


@dataclass(frozen=True, eq=False)
class Frontier:
    """Fidelity against size; made by `RuleSet.frontier`.

    Attributes
    ----------
    budgets : ndarray of int, of shape (n_budgets,)
        Sizes, ascending: numbers of rules, or of conditions to read.
    by_split : ndarray of shape (n_splits, n_budgets)
        Fidelity on the held-out rows of each split.
    by : {"rules", "conditions"}
        What the budgets count: `max_rules` or `max_conditions` of `RuleSet.compact`.
    rules_by_split, cost_by_split : ndarray of shape (n_splits, n_budgets), optional
        Number of rules and reading cost of each rule set.
    """

    budgets: NDArray[np.int64]
    by_split: Floats
    by: Size = "rules"
    rules_by_split: Floats | None = None
    cost_by_split: Floats | None = None

    @property
    def fidelity(self) -> Floats:
        """Mean fidelity on held-out rows."""
        return np.asarray(self.by_split.mean(axis=0))

    @property
    def spread(self) -> Floats:
        """Standard deviation over the splits; zeros for a single split."""
        n_splits = len(self.by_split)
        return self.by_split.std(axis=0, ddof=1) if n_splits > 1 else np.zeros(len(self.budgets))

    @property
    def n_rules(self) -> Floats | None:
        """Mean number of rules."""
        return None if self.rules_by_split is None else np.asarray(self.rules_by_split.mean(axis=0))

    @property
    def reading_cost(self) -> Floats | None:
        """Mean reading cost; see `clausewise.metrics.reading_cost`."""
        return None if self.cost_by_split is None else np.asarray(self.cost_by_split.mean(axis=0))

    @property
    def knee(self) -> int:
        """The recommended budget: the smallest whose fidelity is within a quarter of a point of the best."""
        found = self.smallest(float(self.fidelity.max()) - TOLERANCE)
        assert found is not None
        return found

    def smallest(self, min_fidelity: float) -> int | None:
        """Return the smallest budget that reaches this fidelity on held-out rows; None if none does."""
        reaching = np.flatnonzero(self.fidelity >= min_fidelity)
        return int(self.budgets[reaching[0]]) if len(reaching) else None

    def summary(self, reading_cost: int) -> str:
        """Return in one line what rule sets about this long, shorter and longer reach on held-out rows.

        For example "4 rules 91.0 %, **9 rules 95.1 %**, 30 rules 96.0 % on held-out rows".
        """
        costs, n_rules = self.reading_cost, self.n_rules
        if costs is None or n_rules is None:
            raise ValueError("This frontier was made without numbers of rules and reading costs.")
        middle = max(int(np.searchsorted(costs, reading_cost, side="right")) - 1, 0)
        shown = {round(n_rules[middle]): middle}
        for target in (reading_cost / 4, reading_cost / 2, costs[-1]):
            nearest = int(np.abs(costs - target).argmin())
            shown.setdefault(round(n_rules[nearest]), nearest)
        parts = []
        for count, i in sorted(shown.items()):
            part = f"{count} rule{'' if count == 1 else 's'} {100 * self.fidelity[i]:.1f} %"
            parts.append(f"**{part}**" if i == middle else part)
        return f"{', '.join(parts)} on held-out rows"

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per budget: rules, reading cost, fidelity, spread, and whether it is recommended.

        The first column has the name of the parameter of `RuleSet.compact` that takes the budget.
        """
        columns: dict[str, Any] = {f"max_{self.by}": self.budgets}
        if self.n_rules is not None:
            columns["rules"] = self.n_rules
        if self.reading_cost is not None:
            columns["reading_cost"] = self.reading_cost
        columns |= {"fidelity": self.fidelity, "spread": self.spread, "is_knee": self.budgets == self.knee}
        return frame_of(columns, backend)

    def plot(self, ax: "Axes | None" = None) -> "FrontierDisplay":
        """Plot fidelity against size; see `FrontierDisplay`."""
        from clausewise.plots import FrontierDisplay

        return FrontierDisplay.from_frontier(self, ax=ax)

    def __repr__(self) -> str:
        best = f"{100 * self.fidelity[np.searchsorted(self.budgets, self.knee)]:.2f} %"
        limit = f"max_{self.by} up to {self.budgets[-1]:,}"
        return f"<Frontier: {limit}; {self.knee:,} recommended, fidelity {best}>"

    def _repr_html_(self) -> str:
        rows: list[Sequence[html.Cell]] = []
        for i in self._shown():
            *counts, fidelity, mark = self._cells(i)
            rows.append((*counts, html.Bar(fidelity, float(self.fidelity[i])), mark))
        head = self._head()
        return html.block(self._title(), html.table(head, rows, numbers=range(len(head) - 1)))

    def __str__(self) -> str:
        head = self._head()
        lines = [self._title(), "  " + "  ".join(head).rstrip()]
        for i in self._shown():
            cells = [cell.rjust(len(name)) for cell, name in zip(self._cells(i), head, strict=True)]
            lines.append("  " + "  ".join(cells).rstrip())
        return "\n".join(lines)

    def _title(self) -> str:
        n_splits = len(self.by_split)
        return "Fidelity on held-out rows" + (f" ({n_splits} splits)" if n_splits > 1 else "")

    def _head(self) -> list[str]:
        head = [f"max_{self.by}"]
        if self.n_rules is not None and self.by != "rules":
            head.append("rules")
        if self.reading_cost is not None:
            head.append("to read")
        return [*head, "fidelity".rjust(16 if len(self.by_split) > 1 else 8), ""]

    def _cells(self, i: int) -> list[str]:
        """Return the printed line of a budget, a cell per column."""
        cells = [f"{self.budgets[i]:,}"]
        if self.n_rules is not None and self.by != "rules":
            cells.append(f"{self.n_rules[i]:,.0f}")
        if self.reading_cost is not None:
            cells.append(f"{self.reading_cost[i]:,.0f}")
        spread = f" ± {100 * self.spread[i]:5.2f}" if len(self.by_split) > 1 else ""
        mark = "recommended" if self.budgets[i] == self.knee else ""
        return [*cells, f"{100 * self.fidelity[i]:.2f} %{spread}", mark]

    def _shown(self) -> list[int]:
        """Return which budgets to show: all, or of many those that are powers of two, and the knee."""
        if len(self.budgets) <= _MANY_BUDGETS:
            return list(range(len(self.budgets)))
        is_power = (self.budgets & (self.budgets - 1)) == 0
        is_power[-1] = True
        shown: list[int] = np.flatnonzero(is_power | (self.budgets == self.knee)).tolist()
        return shown
