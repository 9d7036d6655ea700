"""Fidelity, or R², on held-out rows for rule sets of growing size."""

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
Measure = Literal["fidelity", "R²", "D²"]
Floats = NDArray[np.float64]

# A smaller rule set is recommended if its fidelity is at most this much below the best.
TOLERANCE = 0.0025
# The same for R².
TOLERANCE_OF_NUMBERS = 0.01
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
    measure : {"fidelity", "R²", "D²"}, default "fidelity"
        What is measured: the fraction of rows decided alike or, of rules for numbers, the fraction of the
        variance (R²) or of the loss (D², for other losses than the squared one) that they explain.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> X = np.random.default_rng(0).uniform(0, 10, (300, 2))
    >>> network = np.where(X[:, 0] > X[:, 1], "good", "bad")
    >>> rules = RuleSet.from_rules([], ["income", "debt"], default="bad", classes=["bad", "good"])
    >>> curve = rules.frontier(X, network, max_rules=4)
    >>> print(curve)
    Fidelity on held-out rows (3 splits)
      max_rules  to read          fidelity
              1        3   87.22 % ±  3.47
              2        6   83.89 % ±  2.55
              3        9   92.22 % ±  3.85
              4       12   93.33 % ±  4.41  recommended
    >>> curve.knee, curve.smallest(min_fidelity=0.9)
    (4, 3)
    """

    budgets: NDArray[np.int64]
    by_split: Floats
    by: Size = "rules"
    rules_by_split: Floats | None = None
    cost_by_split: Floats | None = None
    measure: Measure = "fidelity"

    @property
    def fidelity(self) -> Floats:
        """Mean fidelity, or what `measure` names, on held-out rows."""
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
        """The recommended budget: the smallest whose fidelity is within a quarter of a point of the best.

        Of rules for numbers, the smallest whose R² (or D²) is within 0.01 of the best.
        """
        tolerance = TOLERANCE if self.measure == "fidelity" else TOLERANCE_OF_NUMBERS
        found = self.smallest(float(self.fidelity.max()) - tolerance)
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
            part = f"{count} rule{'' if count == 1 else 's'} {self._shown_value(i, 1)}"
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
        name = {"R²": "r2", "D²": "d2"}.get(self.measure, "fidelity")
        columns |= {name: self.fidelity, "spread": self.spread, "is_knee": self.budgets == self.knee}
        return frame_of(columns, backend)

    def plot(self, ax: "Axes | None" = None) -> "FrontierDisplay":
        """Plot fidelity against size; see `FrontierDisplay`."""
        from clausewise.plots import FrontierDisplay

        return FrontierDisplay.from_frontier(self, ax=ax)

    def __repr__(self) -> str:
        best = self._shown_value(int(np.searchsorted(self.budgets, self.knee)), 2)
        limit = f"max_{self.by} up to {self.budgets[-1]:,}"
        named = best if self.measure != "fidelity" else f"fidelity {best}"
        return f"<Frontier: {limit}; {self.knee:,} recommended, {named}>"

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

    @property
    def _name(self) -> str:
        return "Fidelity" if self.measure == "fidelity" else self.measure

    def _shown_value(self, i: int, n_decimals: int) -> str:
        """Return the value of a budget: a percentage, or "R² 0.951"; decimals are those of percentages."""
        value = self.fidelity[i]
        if self.measure == "fidelity":
            return f"{100 * value:.{n_decimals}f} %"
        return f"{self.measure} {value:.{n_decimals + 2}f}"

    def _title(self) -> str:
        n_splits = len(self.by_split)
        return f"{self._name} on held-out rows" + (f" ({n_splits} splits)" if n_splits > 1 else "")

    def _head(self) -> list[str]:
        head = [f"max_{self.by}"]
        if self.n_rules is not None and self.by != "rules":
            head.append("rules")
        if self.reading_cost is not None:
            head.append("to read")
        return [*head, self.measure.rjust(16 if len(self.by_split) > 1 else 8), ""]

    def _cells(self, i: int) -> list[str]:
        """Return the printed line of a budget, a cell per column."""
        cells = [f"{self.budgets[i]:,}"]
        if self.n_rules is not None and self.by != "rules":
            cells.append(f"{self.n_rules[i]:,.0f}")
        if self.reading_cost is not None:
            cells.append(f"{self.reading_cost[i]:,.0f}")
        mark = "recommended" if self.budgets[i] == self.knee else ""
        value, spread = self.fidelity[i], self.spread[i]
        if self.measure == "fidelity":
            shown = f"{100 * value:.2f} %" + (f" ± {100 * spread:5.2f}" if len(self.by_split) > 1 else "")
        else:
            shown = f"{value:.4f}" + (f" ± {spread:.4f}" if len(self.by_split) > 1 else "")
        return [*cells, shown, mark]

    def _shown(self) -> list[int]:
        """Return which budgets to show: all, or of many those that are powers of two, and the knee."""
        if len(self.budgets) <= _MANY_BUDGETS:
            return list(range(len(self.budgets)))
        is_power = (self.budgets & (self.budgets - 1)) == 0
        is_power[-1] = True
        shown: list[int] = np.flatnonzero(is_power | (self.budgets == self.knee)).tolist()
        return shown
