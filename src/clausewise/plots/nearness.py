"""How near generated rows are to real ones."""

from typing import TYPE_CHECKING

import numpy as np

from clausewise.compact.synthetic_rows import SyntheticRows
from clausewise.plots.drawing import FIRST_COLOUR, SECOND_COLOUR, axes_for, draw_legend_above, hide_box

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes


class NearnessDisplay:
    """The distances of real and of generated rows to the nearest real row, as two curves.

    A point says which fraction of the rows is at most that far away. If the curve of the generated rows is
    left of that of the real ones, or on it, they lie where there are real rows.

    Parameters
    ----------
    rows : SyntheticRows
        The result of `clausewise.synthetic_rows`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import synthetic_rows
    >>> from clausewise.plots import NearnessDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> display = NearnessDisplay.from_rows(synthetic_rows(X))
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['real rows', 'generated rows']
    """

    def __init__(self, rows: SyntheticRows) -> None:
        self.rows = rows

    @classmethod
    def from_rows(cls, rows: SyntheticRows, *, ax: "Axes | None" = None) -> "Self":
        """Draw the distances of generated rows."""
        return cls(rows).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on the given axes, or on those of a new figure."""
        self.figure_, self.ax_ = axes_for(ax, height=3.6)
        named = zip(("real rows", "generated rows"), self.rows.distances, strict=True)
        for (name, distances), colour, line in zip(
            named, (FIRST_COLOUR, SECOND_COLOUR), ("-", "--"), strict=True
        ):
            share = 100 * np.arange(1, len(distances) + 1) / len(distances)
            self.ax_.plot(np.sort(distances), share, line, color=colour, label=name, drawstyle="steps-post")
        self.ax_.set_xlabel("distance to the nearest real row, in standard deviations")
        self.ax_.set_ylabel("% of rows")
        self.ax_.set_ylim(0, 101)
        self.ax_.set_xlim(left=0)
        draw_legend_above(self.ax_)
        hide_box(self.ax_)
        return self
