"""Pictures of rule sets, in the manner of scikit-learn's displays.

`VotesDisplay.from_rules(rules, X)` computes and draws; the display keeps what it drew in `ax_` and `figure_`,
and `plot(ax)` draws it again elsewhere. matplotlib is imported when something is drawn; `pip install
clausewise[plots]` brings it.

Classes differ in colour (Okabe and Ito's, made for colour-blind readers) and in hatching, so that pictures
can be read in grey.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.analysis.explanation import Explanation
from clausewise.analysis.global_explanation import GlobalExplanation
from clausewise.data.labels import Label
from clausewise.rules.decimals import format_number
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import format_category
from clausewise.rules.voting import Voting

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "AgreementDisplay",
    "CoverageDisplay",
    "FeatureUseDisplay",
    "FrontierDisplay",
    "RuleLengthDisplay",
    "VotesDisplay",
]

_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
_HATCHES = ("", "//", "..", "\\\\", "xx", "--", "oo")
_FOR, _AGAINST, _REST = _COLOURS[0], _COLOURS[1], "#BBBBBB"
_LONGEST_NAME = 24
_LONGEST_PREMISE = 56


class VotesDisplay:
    """The votes on one row: a bar per rule that fired, for the decision or for another class.

    Parameters
    ----------
    explanation : Explanation
        The decision on one row, as `RuleSet.explain` gives it.
    max_rules : int, default 15
        Rules with fewer votes than these are left out.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.
    """

    def __init__(self, explanation: Explanation, *, max_rules: int = 15) -> None:
        self.explanation = explanation
        self.max_rules = max_rules

    @classmethod
    def from_rules(
        cls,
        rules: RuleSet,
        X: Any,
        *,
        row: int = 0,
        voting: Voting | None = None,
        max_rules: int = 15,
        ax: "Axes | None" = None,
    ) -> "Self":
        """Draw the votes on one row of X."""
        return cls(rules.explain(X, voting=voting)[row], max_rules=max_rules).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on these axes, or on a figure of its own."""
        bars = self._bars()
        self.figure_, self.ax_ = _axes(ax, height=1.9 + 0.32 * max(len(bars), 2), width=9.0)
        chosen = self.explanation.prediction
        shown = _cut(format_category(chosen), 16)
        for name, is_for, colour, hatch in (
            (f"for {shown}", True, _FOR, ""),
            ("for another class", False, _AGAINST, "//"),
        ):
            mine = [place for place, (_, label, _) in enumerate(bars) if (label == chosen) == is_for]
            votes = [bars[place][2] for place in mine]
            if mine:
                self.ax_.barh(mine, votes, color=colour, hatch=hatch, edgecolor="white", label=name)
        _name_bars(self.ax_, [f"{text} → {_cut(format_category(label), 16)}" for text, label, _ in bars])
        self.ax_.axvline(0, color="black", linewidth=0.8)
        self.ax_.set_xlabel(f"votes ({self.explanation.voting})")
        _plain(self.ax_.set_title(self._title(), loc="left", fontsize="medium", pad=22 if bars else None))
        if bars:
            _legend_above(self.ax_)
        else:
            self.ax_.text(0.5, 0.5, "no rule fired", ha="center", va="center", transform=self.ax_.transAxes)
        return self

    def _bars(self) -> list[tuple[str, Label, float]]:
        """(text, class, votes): what the row starts with, then the rules with most votes."""
        start = [("start", label, votes) for label, votes in self.explanation.start.items() if votes != 0]
        fired = sorted(self.explanation.fired, key=lambda one: -abs(one.votes))[: self.max_rules]
        return start + [
            (f"rule {one.number}: {_cut(one.premise, _LONGEST_PREMISE)}", one.rule.conclusion, one.votes)
            for one in fired
        ]

    def _title(self) -> str:
        scores = sorted(self.explanation.scores.items(), key=lambda item: -item[1])[:4]
        totals = ", ".join(
            f"{_cut(format_category(label), 16)} {format_number(round(score, 3))}" for label, score in scores
        )
        more = "" if len(self.explanation.scores) <= 4 else ", …"
        decision = _cut(format_category(self.explanation.prediction))
        n_hidden = len(self.explanation.fired) - self.max_rules
        hidden = f"; {n_hidden} rules with fewer votes not shown" if n_hidden > 0 else ""
        return f"row {self.explanation.row} is {decision}{hidden}\ntotals: {totals}{more}"


class FeatureUseDisplay:
    """Which features the rules test: per feature the part of all rules, by class (the paper's XOR figure).

    Parameters
    ----------
    explained : GlobalExplanation
        As `RuleSet.explain_global` gives it.
    max_features, max_classes : int
        Features used less than these are left out, classes with fewer rules are drawn as one.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.
    """

    def __init__(self, explained: GlobalExplanation, *, max_features: int = 20, max_classes: int = 6) -> None:
        self.explained = explained
        self.max_features = max_features
        self.max_classes = max_classes

    @classmethod
    def from_rules(
        cls, rules: RuleSet, *, max_features: int = 20, max_classes: int = 6, ax: "Axes | None" = None
    ) -> "Self":
        """Draw how the rules use features."""
        explained = rules.explain_global()
        return cls(explained, max_features=max_features, max_classes=max_classes).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on these axes, or on a figure of its own."""
        rules, counts = self.explained.rules, self.explained.feature_use
        used = np.flatnonzero(counts.sum(axis=1) > 0)
        order = used[np.argsort(-counts[used].sum(axis=1), kind="stable")][: self.max_features]
        self.figure_, self.ax_ = _axes(ax, height=1.4 + 0.3 * max(len(order), 3))
        layers = _by_class(counts[order], rules, self.max_classes)
        left = np.zeros(len(order))
        for name, part, style in layers:
            width = 100 * part / max(len(rules), 1)
            self.ax_.barh(range(len(order)), width, left=left, label=name, edgecolor="white", **style)
            left += width
        _name_bars(self.ax_, [rules.features.names[f] for f in order], _LONGEST_NAME)
        self.ax_.set_xlabel("rules that test the feature, % of all rules")
        n_hidden = len(used) - len(order)
        hidden = f"; {n_hidden} more features are used less" if n_hidden else ""
        n_unused = len(rules.features) - len(used)
        unused = f"; {n_unused} are not used" if n_unused else ""
        _plain(
            self.ax_.set_title(
                f"features of {_n_rules(rules)}{hidden}{unused}", loc="left", fontsize="medium"
            )
        )
        _legend(self.ax_, layers)
        return self


class RuleLengthDisplay:
    """How many terms the rules have, by class.

    Parameters
    ----------
    explained : GlobalExplanation
        As `RuleSet.explain_global` gives it.
    max_classes : int
        Classes with fewer rules than these are drawn as one.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.
    """

    def __init__(self, explained: GlobalExplanation, *, max_classes: int = 6) -> None:
        self.explained = explained
        self.max_classes = max_classes

    @classmethod
    def from_rules(cls, rules: RuleSet, *, max_classes: int = 6, ax: "Axes | None" = None) -> "Self":
        """Draw the lengths of the rules."""
        return cls(rules.explain_global(), max_classes=max_classes).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on these axes, or on a figure of its own."""
        from matplotlib.ticker import MaxNLocator

        rules, counts = self.explained.rules, self.explained.rule_lengths
        self.figure_, self.ax_ = _axes(ax, height=3.6)
        first = int(np.flatnonzero(counts.sum(axis=1)).min(initial=len(counts) - 1))
        lengths = np.arange(first, len(counts))
        layers = _by_class(counts[first:], rules, self.max_classes)
        bottom = np.zeros(len(lengths))
        for name, part, style in layers:
            self.ax_.bar(lengths, part, bottom=bottom, label=name, edgecolor="white", **style)
            bottom += part
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.ax_.yaxis.set_major_locator(MaxNLocator(integer=True))
        self.ax_.set_xlabel("terms in the rule")
        self.ax_.set_ylabel("rules")
        mean = rules.columns.lengths.mean() if len(rules) else 0.0
        self.ax_.set_title(f"{_n_rules(rules)}, {mean:.1f} terms on average", loc="left", fontsize="medium")
        _legend(self.ax_, layers)
        _without_box(self.ax_)
        return self


class CoverageDisplay:
    """On which part of the rows each rule fires, alone or with others, and which rules fire together.

    Parameters
    ----------
    explained : GlobalExplanation
        As `RuleSet.explain_global(X)` gives it.
    max_rules : int, default 40
        The rules that fire on most rows are drawn, at most so many, in their order.

    Attributes
    ----------
    ax_ : ndarray of two matplotlib Axes
        The bars of coverage, and the square of overlaps.
    figure_ : matplotlib Figure
        The figure around them.
    """

    def __init__(self, explained: GlobalExplanation, *, max_rules: int = 40) -> None:
        self.explained = explained
        self.max_rules = max_rules

    @classmethod
    def from_rules(
        cls, rules: RuleSet, X: Any, *, max_rules: int = 40, ax: "Sequence[Axes] | None" = None
    ) -> "Self":
        """Draw where the rules fire on the rows of X."""
        return cls(rules.explain_global(X), max_rules=max_rules).plot(ax)

    def plot(self, ax: "Sequence[Axes] | None" = None) -> "Self":
        """Draw on these two axes, or on a figure of its own."""
        explained, rules = self.explained, self.explained.rules
        covered = explained.n_rows_covered
        shown = np.sort(np.argsort(-covered, kind="stable")[: self.max_rules])
        if ax is None:
            size = 1.6 + 0.2 * max(len(shown), 8)
            pyplot = _pyplot()
            self.figure_, pair = pyplot.subplots(
                1, 2, figsize=(6 + 0.7 * size, size), layout="constrained", width_ratios=(1, 1)
            )
        else:
            pair = ax
            self.figure_ = _figure_of(pair[0])
        self.ax_: NDArray[Any] = np.asarray(pair, dtype=object)
        self._draw_bars(self.ax_[0], shown, covered)
        self._draw_overlap(self.ax_[1], shown, covered)
        hidden = len(rules) - len(shown)
        title = f"{_n_rules(rules)} on {explained.n_rows:,} rows"
        title += f"; the {len(shown)} that fire most" if hidden else ""
        self.ax_[0].set_title(title, loc="left", fontsize="medium", pad=22)
        return self

    def _draw_bars(self, ax: "Axes", shown: NDArray[np.int64], covered: NDArray[np.int64]) -> None:
        explained, n_rows = self.explained, max(self.explained.n_rows, 1)
        alone = 100 * explained.n_rows_alone[shown] / n_rows
        shared = 100 * covered[shown] / n_rows - alone
        places = range(len(shown))
        ax.barh(places, alone, color=_FOR, edgecolor="white", label="no other rule fires")
        ax.barh(
            places, shared, left=alone, color=_AGAINST, hatch="//", edgecolor="white", label="others fire too"
        )
        stored, rules = explained.rules.columns, explained.rules
        labels = [_cut(format_category(rules.labels[c]), 16) for c in stored.class_index[shown]]
        _name_bars(ax, [f"rule {rule} → {label}" for rule, label in zip(shown, labels, strict=True)])
        ax.set_xlabel("rows on which the rule fires, %")
        if len(shown):
            _legend_above(ax)

    def _draw_overlap(self, ax: "Axes", shown: NDArray[np.int64], covered: NDArray[np.int64]) -> None:
        if not len(shown):
            ax.set_axis_off()
            return
        both = self.explained.overlap[np.ix_(shown, shown)].astype(np.float64)
        own = covered[shown].astype(np.float64)[:, None]
        part = 100 * np.divide(both, own, out=np.zeros_like(both), where=own > 0)
        np.fill_diagonal(part, np.nan)
        # One colour from light to dark, so that it reads the same in grey.
        image = ax.imshow(part, cmap="Blues", vmin=0, vmax=100, aspect="equal")
        ax.set_facecolor(_REST)  # the diagonal: a rule with itself
        step = max(1, -(-len(shown) // 20))
        ticks = range(0, len(shown), step)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(list(ticks), [str(shown[tick]) for tick in ticks], fontsize="small")
        ax.set_xlabel("… this rule fires too")
        ax.set_ylabel("where this rule fires …")
        bar = _figure_of(ax).colorbar(image, ax=ax, shrink=0.6)
        bar.set_label("% of the rows of the rule on the left")


class AgreementDisplay:
    """How often the network says what a rule concludes where it fires; the rules that agree least first.

    Parameters
    ----------
    explained : GlobalExplanation
        As `RuleSet.explain_global(X, target)` gives it.
    max_rules : int, default 30
        The rules that agree least are drawn, at most so many.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.
    """

    def __init__(self, explained: GlobalExplanation, *, max_rules: int = 30) -> None:
        self.explained = explained
        self.max_rules = max_rules

    @classmethod
    def from_rules(
        cls, rules: RuleSet, X: Any, target: ArrayLike, *, max_rules: int = 30, ax: "Axes | None" = None
    ) -> "Self":
        """Draw the agreement with a network's labels of the rows of X."""
        return cls(rules.explain_global(X, target), max_rules=max_rules).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on these axes, or on a figure of its own."""
        explained, rules = self.explained, self.explained.rules
        agreement, covered = explained.agreement, explained.n_rows_covered
        firing = np.flatnonzero(covered > 0)
        order = firing[np.argsort(agreement[firing], kind="stable")]
        shown = order[: self.max_rules]
        self.figure_, self.ax_ = _axes(ax, height=1.6 + 0.26 * max(len(shown), 3))
        places = range(len(shown))
        self.ax_.hlines(places, 0, 100 * agreement[shown], color=_REST, linewidth=1.5, zorder=1)
        size = 20 + 130 * covered[shown] / max(int(covered.max(initial=1)), 1)
        self.ax_.scatter(100 * agreement[shown], places, s=size, color=_FOR, zorder=2)
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
            f"rule {rule} → {_cut(format_category(rules.labels[stored.class_index[rule]]), 16)}"
            f"  ({covered[rule]:,} rows)"
            for rule in shown
        ]
        _name_bars(self.ax_, texts)
        self.ax_.set_xlim(-2, 104)
        self.ax_.set_xlabel("rows of the rule on which the network agrees, %")
        hidden = f", the {len(shown)} that agree least" if len(order) > len(shown) else ""
        silent = len(rules) - len(firing)
        never = f"; {silent} fire nowhere" if silent else ""
        title = f"{_n_rules(rules)} on {explained.n_rows:,} rows{hidden}{never}"
        self.ax_.set_title(title, loc="left", fontsize="medium", pad=18)
        return self


class Frontier(Protocol):
    """What `FrontierDisplay` draws."""

    @property
    def budgets(self) -> ArrayLike:
        """Numbers of rules."""

    @property
    def fidelity(self) -> ArrayLike:
        """Fidelity with so many rules."""

    @property
    def spread(self) -> ArrayLike | None:
        """How far it varies to either side."""

    @property
    def knee(self) -> float | None:
        """The number of rules recommended."""


class FrontierDisplay:
    """Fidelity against the number of rules, and the number recommended.

    Parameters
    ----------
    budgets : array-like of shape (n_budgets,)
        Numbers of rules.
    fidelity : array-like of shape (n_budgets,)
        Fidelity with so many rules, from 0 to 1.
    spread : array-like of shape (n_budgets,), optional
        How far fidelity varies to either side.
    knee : int, optional
        The number of rules recommended.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.
    """

    def __init__(
        self,
        budgets: ArrayLike,
        fidelity: ArrayLike,
        spread: ArrayLike | None = None,
        knee: float | None = None,
    ) -> None:
        self.budgets = np.asarray(budgets, dtype=np.float64)
        self.fidelity = np.asarray(fidelity, dtype=np.float64)
        self.spread = None if spread is None else np.asarray(spread, dtype=np.float64)
        self.knee = knee

    @classmethod
    def from_frontier(cls, frontier: Frontier, *, ax: "Axes | None" = None) -> "Self":
        """Draw an object with the attributes `budgets`, `fidelity`, `spread` and `knee`."""
        return cls(frontier.budgets, frontier.fidelity, frontier.spread, frontier.knee).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on these axes, or on a figure of its own."""
        from matplotlib.ticker import NullFormatter, ScalarFormatter

        self.figure_, self.ax_ = _axes(ax, height=4.0)
        order = np.argsort(self.budgets, kind="stable")
        budgets, fidelity = self.budgets[order], 100 * self.fidelity[order]
        if self.spread is not None:
            spread = 100 * self.spread[order]
            self.ax_.fill_between(
                budgets,
                fidelity - spread,
                fidelity + spread,
                color=_FOR,
                alpha=0.2,
                linewidth=0,
                label="spread",
            )
        self.ax_.plot(budgets, fidelity, color=_FOR, marker="o", label="fidelity")
        if len(budgets) and budgets.min() > 0 and budgets.max() >= 8 * budgets.min():
            # Budgets usually double; on a plain scale the small ones would stick together.
            self.ax_.set_xscale("log", base=2)
            self.ax_.set_xticks(_apart(budgets))
            self.ax_.xaxis.set_major_formatter(ScalarFormatter())
            self.ax_.xaxis.set_minor_formatter(NullFormatter())
        if self.knee is not None:
            self._mark_knee(float(self.knee), budgets, fidelity)
        self.ax_.set_xlabel("rules")
        self.ax_.set_ylabel("fidelity to the network, %")
        self.ax_.grid(axis="y", color="#DDDDDD")
        self.ax_.set_axisbelow(True)
        self.ax_.legend(loc="lower right", frameon=False)
        _without_box(self.ax_)
        return self

    def _mark_knee(self, knee: float, budgets: NDArray[np.float64], fidelity: NDArray[np.float64]) -> None:
        height = float(np.interp(knee, budgets, fidelity))
        self.ax_.axvline(knee, color="black", linestyle="--", linewidth=1)
        self.ax_.plot(
            [knee],
            [height],
            color=_COLOURS[5],
            marker="D",
            markersize=9,
            linestyle="none",
            label=f"recommended: {format_number(knee)} rules, {height:.1f} %",
        )


# --- Drawing ---


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib, which is not installed; pip install clausewise[plots]."
        ) from error
    return pyplot


def _axes(ax: "Axes | None", height: float, width: float = 7.5) -> tuple["Figure", "Axes"]:
    """The axes given and their figure, or new ones."""
    pyplot = _pyplot()
    if ax is not None:
        return _figure_of(ax), ax
    figure, made = pyplot.subplots(figsize=(width, height), layout="constrained")
    return figure, made


def _figure_of(ax: "Axes") -> "Figure":
    figure: Any = ax.figure
    return figure  # type: ignore[no-any-return]


def _name_bars(ax: "Axes", names: Sequence[str], longest: int = _LONGEST_PREMISE + 30) -> None:
    """Names on the left, the first on top."""
    ax.set_yticks(range(len(names)), [_cut(name, longest) for name in names], fontsize="small")
    for label in ax.get_yticklabels():
        _plain(label)
    ax.set_ylim(max(len(names), 1) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    _without_box(ax)


def _without_box(ax: "Axes") -> None:
    ax.spines[["top", "right"]].set_visible(False)


def _plain(text: Any) -> None:
    """Names come from data: a dollar sign in them is no formula."""
    text.set_parse_math(False)


Layer = tuple[str, NDArray[np.float64], dict[str, Any]]


def _by_class(counts: NDArray[np.int64], rules: RuleSet, most: int) -> list[Layer]:
    """Name, numbers and look of each class that has rules; those with fewest rules as one."""
    most = min(most, len(_COLOURS))
    n_rules = np.bincount(rules.columns.class_index, minlength=len(rules.labels))
    order = np.flatnonzero(n_rules)[np.argsort(-n_rules[np.flatnonzero(n_rules)], kind="stable")]
    own = order if len(order) <= most else order[: most - 1]
    layers: list[Layer] = [
        (
            _cut(format_category(rules.labels[c]), 16),
            counts[:, c].astype(np.float64),
            {"color": _COLOURS[place], "hatch": _HATCHES[place]},
        )
        for place, c in enumerate(own)
    ]
    rest = order[len(own) :]
    if len(rest):
        others = counts[:, rest].sum(axis=1).astype(np.float64)
        layers.append((f"{len(rest)} other classes", others, {"color": _REST, "hatch": ""}))
    return layers


def _legend(ax: "Axes", layers: Sequence[Layer]) -> None:
    if not layers:
        return
    handles = ax.containers[-len(layers) :]
    # A label that begins with an underscore is taken for one to hide.
    names = [f" {name}" if name.startswith("_") else name for name, _, _ in layers]
    legend = ax.legend(handles, names, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    for text in legend.get_texts():
        _plain(text)


def _legend_above(ax: "Axes") -> None:
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
        _plain(text)


def _apart(budgets: NDArray[np.float64]) -> list[float]:
    """Budgets to name on an axis of powers, none nearer to the last than a factor of 1.3."""
    named: list[float] = []
    for budget in budgets.tolist():
        if not named or budget >= 1.3 * named[-1]:
            named.append(budget)
    return named


def _cut(text: str, longest: int = _LONGEST_NAME) -> str:
    """A long text with its middle left out: names of columns often differ at the end."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 3
    return f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"


def _n_rules(rules: RuleSet) -> str:
    return "1 rule" if len(rules) == 1 else f"{len(rules):,} rules"
