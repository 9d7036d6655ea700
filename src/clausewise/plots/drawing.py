"""Drawing code that the displays share: axes, colours, legends and texts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clausewise.base.counts import count_of
from clausewise.data.labels import Label
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import format_category

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
FIRST_COLOUR, SECOND_COLOUR, GREY = COLOURS[0], COLOURS[1], "#BBBBBB"
LONGEST_NAME = 24
LONGEST_PREMISE = 56
_HATCHES = ("", "//", "..", "\\\\", "xx", "--", "oo")
_LONGEST_CLASS = 16

Layer = tuple[str, NDArray[np.float64], dict[str, Any]]
"""One class in stacked bars: its name, its numbers of rules, and its colour and hatching."""


# --- Axes ---


def import_pyplot() -> Any:
    """Import matplotlib's pyplot, or raise an error that says how to install it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib, which is not installed: pip install clausewise[plots]"
        ) from error
    return pyplot


def axes_for(ax: "Axes | None", height: float, width: float = 7.5) -> tuple["Figure", "Axes"]:
    """Return the given axes and their figure, or new ones of this size in inches."""
    pyplot = import_pyplot()
    if ax is not None:
        return figure_of(ax), ax
    figure, new = pyplot.subplots(figsize=(width, height), layout="constrained")
    return figure, new


def figure_of(ax: "Axes") -> "Figure":
    """Return the figure that axes belong to."""
    figure: Any = ax.figure
    return figure  # type: ignore[no-any-return]


def name_bars(ax: "Axes", names: Sequence[str], longest: int = LONGEST_PREMISE + 30) -> None:
    """Write the names of horizontal bars on the left, the first at the top."""
    ax.set_yticks(range(len(names)), [shorten(name, longest) for name in names], fontsize="small")
    for label in ax.get_yticklabels():
        disable_math(label)
    ax.set_ylim(max(len(names), 1) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    hide_box(ax)


def hide_box(ax: "Axes") -> None:
    """Hide the upper and right edges of the axes."""
    ax.spines[["top", "right"]].set_visible(False)


# --- Classes and legends ---


def layers_by_class(counts: NDArray[np.int64], rules: RuleSet, most: int) -> list[Layer]:
    """Return a layer for each class that has rules; beyond `most`, those with the fewest rules as one."""
    most = min(most, len(COLOURS))
    n_rules = np.bincount(rules.columns.class_index, minlength=len(rules.labels))
    order = np.flatnonzero(n_rules)[np.argsort(-n_rules[np.flatnonzero(n_rules)], kind="stable")]
    own = order if len(order) <= most else order[: most - 1]
    layers: list[Layer] = [
        (
            shown_class(rules.labels[c]),
            counts[:, c].astype(np.float64),
            {"color": COLOURS[place], "hatch": _HATCHES[place]},
        )
        for place, c in enumerate(own)
    ]
    rest = order[len(own) :]
    if len(rest):
        others = counts[:, rest].sum(axis=1).astype(np.float64)
        layers.append((f"{len(rest)} other classes", others, {"color": GREY, "hatch": ""}))
    return layers


def class_style(index: int) -> dict[str, Any]:
    """Return the colour and hatching of a class, given its position."""
    return {"color": COLOURS[index % len(COLOURS)], "hatch": _HATCHES[index % len(_HATCHES)]}


def draw_class_legend(ax: "Axes", layers: Sequence[Layer]) -> None:
    """Draw a legend of the classes to the right of the axes."""
    if not layers:
        return
    handles = ax.containers[-len(layers) :]
    # matplotlib hides labels that begin with an underscore.
    names = [f" {name}" if name.startswith("_") else name for name, _, _ in layers]
    legend = ax.legend(handles, names, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    for text in legend.get_texts():
        disable_math(text)


def draw_legend_above(ax: "Axes") -> None:
    """Draw a legend in one line above the axes."""
    legend = ax.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=2,
        frameon=False,
        fontsize="small",
        borderaxespad=0.2,
        borderpad=0,
        handletextpad=0.4,
    )
    for text in legend.get_texts():
        disable_math(text)


# --- Texts ---


def disable_math(text: Any) -> None:
    """Draw a text as it is: names come from data, and a dollar sign in them does not start a formula."""
    text.set_parse_math(False)


def shown_class(label: Label, longest: int = _LONGEST_CLASS) -> str:
    """Return a class label as short text."""
    return shorten(format_category(label), longest)


def shorten(text: str, longest: int) -> str:
    """Cut the middle out of a long text: names of columns often differ at the end."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 3
    return f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"


def count_of_rules(n_rules: int) -> str:
    """Return the number of rules in words: `1 rule`, `2 rules`, `1,000 rules`."""
    return count_of(n_rules, "rule")
