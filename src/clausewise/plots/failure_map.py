"""Where the rules differ from the network, by feature."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clausewise.analysis.differences import FeatureDifferences, differences_by_feature
from clausewise.data.features import Features
from clausewise.networks.answers import ask_network
from clausewise.plots.drawing import (
    FIRST_COLOUR,
    GREY,
    LONGEST_NAME,
    disable_math,
    figure_of,
    hide_box,
    import_pyplot,
    shorten,
)
from clausewise.rules.abstention import ABSTAINS
from clausewise.rules.decimals import format_number
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import format_category

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes

# The rate of a bin with fewer rows says little.
_FEW_ROWS = 20
_MAX_BINS = 12


class FailureMapDisplay:
    """The rate of differences per bin of each feature, on one scale, those that deviate most first.

    Parameters
    ----------
    differences : sequence of FeatureDifferences
        Counts per bin, from `clausewise.analysis.differences_by_feature`.
    features : Features
        The features of the rules.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes
        One for each feature.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> from clausewise.plots import FailureMapDisplay
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age", "debt"], default="low")
    >>> X = np.random.default_rng(0).uniform([20, 0], [80, 9], (400, 2))
    >>> network = np.where((X[:, 0] > 50) & (X[:, 1] > 2), "high", "low")  # or the model itself
    >>> display = FailureMapDisplay.from_rules(rules, X, network)
    >>> [ax.get_title() for ax in display.ax_]  # the most uneven first
    ['debt', 'age']
    """

    def __init__(self, differences: Sequence[FeatureDifferences], features: Features) -> None:
        self.differences = differences
        self.features = features

    @classmethod
    def from_rules(
        cls,
        rules: RuleSet,
        X: Any,
        network: Any,
        *,
        max_features: int = 8,
        ax: "Sequence[Axes] | None" = None,
    ) -> "Self":
        """Draw where rules differ from a network, or from its labels, on the rows of X."""
        matrix = rules.features.encode(X)
        decided = rules.evaluator.decide(matrix, rules.voting, rules.default_index)
        asked = ask_network(network, X, rules.features, rules.labels, len(matrix))
        differs = np.asarray((asked.labels.codes != decided) & (decided != ABSTAINS), dtype=np.bool_)
        found = differences_by_feature(matrix, differs, rules.features, max_features)
        return cls(found, rules.features).plot(ax)

    def plot(self, ax: "Sequence[Axes] | None" = None) -> "Self":
        """Draw on the given axes, one for each feature, or on those of a new figure."""
        if ax is None:
            n_columns = min(4, max(1, len(self.differences)))
            n_lines = max(1, math.ceil(len(self.differences) / n_columns))
            size = (2.6 * n_columns, 2.1 * n_lines + 0.5)
            self.figure_, grid = import_pyplot().subplots(
                n_lines, n_columns, figsize=size, layout="constrained", squeeze=False, sharey=True
            )
            self.ax_: NDArray[Any] = grid.ravel()
        else:
            import_pyplot()
            self.ax_ = np.array(ax, dtype=object).ravel()
            self.figure_ = figure_of(self.ax_[0])
        for axes, found in zip(self.ax_, self.differences, strict=False):
            self._draw(axes, found)
        for axes in self.ax_[len(self.differences) :]:
            axes.set_axis_off()
        return self

    def _draw(self, axes: "Axes", found: FeatureDifferences) -> None:
        n_rows, n_differ = np.array(found.n_rows), np.array(found.n_differ)
        used = np.flatnonzero(n_rows)
        if len(used) > _MAX_BINS:
            used = np.sort(used[np.argsort(-n_rows[used], kind="stable")[:_MAX_BINS]])
        rates = 100 * n_differ[used] / n_rows[used]
        colours = [FIRST_COLOUR if n >= _FEW_ROWS else GREY for n in n_rows[used]]
        axes.bar(range(len(used)), rates, color=colours, width=0.86)
        common = 100 * n_differ.sum() / max(n_rows.sum(), 1)
        axes.axhline(common, color="black", linestyle="--", linewidth=0.8)
        names = [shorten(self._name(found, place), 14) for place in used.tolist()]
        axes.set_xticks(range(len(used)), names, rotation=90, fontsize="x-small")
        for label in axes.get_xticklabels():
            disable_math(label)
        title = axes.set_title(shorten(self.features.names[found.feature], LONGEST_NAME), fontsize="small")
        disable_math(title)
        axes.set_ylabel("differ, %", fontsize="x-small")
        axes.tick_params(axis="y", labelsize="x-small")
        hide_box(axes)

    def _name(self, found: FeatureDifferences, place: int) -> str:
        if place == len(found.n_rows) - 1:
            return "missing"
        if found.cuts is not None:
            return _interval(found.cuts, place)
        listed = self.features.categories[found.feature]
        if listed is None:
            return ("false", "true")[place]
        return format_category(listed[place]) if place < len(listed) else "unknown"


def _interval(cuts: Sequence[float], place: int) -> str:
    if not cuts:
        return "any value"
    low, high = (
        format_number(float(f"{cuts[max(0, min(i, len(cuts) - 1))]:.4g}")) for i in (place - 1, place)
    )
    if place == 0:
        return f"≤ {high}"
    return f"> {low}" if place == len(cuts) else f"{low} to {high}"
