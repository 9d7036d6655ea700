"""Rules × features, each term drawn as the range that it accepts."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clausewise.data.table import Matrix
from clausewise.plots.drawing import (
    GREY,
    LONGEST_NAME,
    axes_for,
    class_style,
    count_of_rules,
    disable_math,
    shorten,
    shown_class,
)
from clausewise.rules.display import describe_terms
from clausewise.rules.rule import Rule
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import Term
from clausewise.rules.voting import votes_of_rules

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes


class RuleMatrixDisplay:
    """Rules in lines and features in columns: where each rule accepts a feature, in the colour of its class.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    X : array or DataFrame of shape (n_rows, n_features), optional
        Rows that give each feature its range; without them, the thresholds do.
    max_rules : int, default 20
        Draw at most this many rules: those that cast most votes on the rows of X, or that cover most
        training rows.
    max_features : int, default 12
        Draw at most this many features, those that most of these rules test.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.plots import RuleMatrixDisplay
    >>> text = "IF age > 50 AND debt > 2 THEN high IF debt > 8 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> display = RuleMatrixDisplay.from_rules(rules, [[60, 0], [60, 9], [40, 9], [30, 0]])
    >>> [label.get_text() for label in display.ax_.get_xticklabels()]
    ['debt', 'age']
    """

    def __init__(self, rules: RuleSet, X: Any = None, *, max_rules: int = 20, max_features: int = 12) -> None:
        self.rules = rules
        self.X = X
        self.max_rules = max_rules
        self.max_features = max_features

    @classmethod
    def from_rules(
        cls,
        rules: RuleSet,
        X: Any = None,
        *,
        max_rules: int = 20,
        max_features: int = 12,
        ax: "Axes | None" = None,
    ) -> "Self":
        """Draw the strongest rules."""
        return cls(rules, X, max_rules=max_rules, max_features=max_features).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> "Self":
        """Draw on the given axes, or on those of a new figure."""
        rules = self.rules
        matrix = None if self.X is None else rules.features.encode(self.X)
        shown = self._strongest(matrix)
        uses = np.bincount(
            np.array([term.feature for rule in shown for term in rules[rule].terms], dtype=np.int64),
            minlength=len(rules.features),
        )
        features = [f for f in np.argsort(-uses, kind="stable").tolist() if uses[f] > 0][: self.max_features]
        size = 1.4 + 0.46 * max(len(shown), 2), 2.6 + 1.25 * max(len(features), 2)
        self.figure_, self.ax_ = axes_for(ax, height=size[0], width=size[1])
        for line, rule in enumerate(shown):
            texts = describe_terms(rules.columns, rule, rules.features)
            for term, text in zip(rules[rule].terms, texts, strict=True):
                if term.feature in features:
                    place = line, features.index(term.feature)
                    self._draw(place, term, rules[rule], self._range(term.feature, matrix), text)
        self._name(shown, features)
        n_hidden = int((uses > 0).sum()) - len(features)
        hidden = f"; {n_hidden} less used features not shown" if n_hidden > 0 else ""
        title = f"{len(shown)} of {count_of_rules(len(rules))}{hidden}"
        self.ax_.set_title(title, loc="left", fontsize="medium", pad=12)
        return self

    def _strongest(self, matrix: Matrix | None) -> list[int]:
        rules = self.rules
        votes = np.abs(votes_of_rules(rules.columns, len(rules.labels), rules.voting))
        covered = rules.columns.cover if matrix is None else rules.evaluator.fires(matrix).dense().sum(axis=1)
        order = np.argsort(-(votes * covered), kind="stable")
        return [int(rule) for rule in order[: self.max_rules]]

    def _range(self, feature: int, matrix: Matrix | None) -> tuple[float, float]:
        rules = self.rules
        if rules.features.kinds[feature] != "numeric":
            listed = rules.features.categories[feature]
            return 0.0, float(2 if listed is None else len(listed))
        known: NDArray[Any]
        if matrix is not None:
            known = matrix[:, feature]
        else:
            terms = [term for rule in rules for term in rule.terms if term.feature == feature]
            known = np.array([bound for term in terms for bound in (term.low, term.high)], dtype=np.float64)
        known = known[np.isfinite(known)]
        if len(known) == 0:
            return 0.0, 1.0
        low, high = float(known.min()), float(known.max())
        margin = (high - low) / 10 if matrix is None else 0.0
        return (low - margin, high + margin) if low < high else (low - 0.5, high + 0.5)

    def _draw(
        self, place: tuple[int, int], term: Term, rule: Rule, ends: tuple[float, float], text: str
    ) -> None:
        (line, column), (low, high) = place, ends
        style = class_style(self.rules.labels.index(rule.conclusion))
        self.ax_.barh(line + 0.16, 0.9, left=column + 0.05, height=0.26, color=GREY, alpha=0.35)
        for start, end in self._accepted(term, low, high):
            self.ax_.barh(
                line + 0.16,
                0.9 * max(end - start, 0.012),
                left=column + 0.05 + 0.9 * start,
                height=0.26,
                edgecolor="white",
                linewidth=0,
                **style,
            )
        # The column names the feature.
        condition = text.removeprefix(f"{self.rules.features.names[term.feature]} ")
        disable_math(
            self.ax_.text(column + 0.05, line - 0.08, shorten(condition, 20), fontsize="x-small", va="center")
        )

    def _accepted(self, term: Term, low: float, high: float) -> list[tuple[float, float]]:
        """Return the parts of the axis that satisfy a term, from 0 to 1."""
        if term.missing:
            return []
        width = high - low
        if term.values is not None:
            listed = list(self.rules.features.categories[term.feature] or ())
            return [(code / width, (code + 1) / width) for code in sorted(map(listed.index, term.values))]
        if self.rules.features.kinds[term.feature] == "binary":
            return [(v / 2, (v + 1) / 2) for v in (0, 1) if term.low < v <= term.high]
        start, end = ((np.clip(bound, low, high) - low) / width for bound in (term.low, term.high))
        return [(float(start), float(end))]

    def _name(self, shown: list[int], features: list[int]) -> None:
        rules = self.rules
        names = [f"rule {rule} → {shown_class(rules[rule].conclusion)}" for rule in shown]
        self.ax_.set_yticks(range(len(shown)), names, fontsize="small")
        columns = [shorten(rules.features.names[feature], LONGEST_NAME) for feature in features]
        self.ax_.set_xticks(np.arange(len(features)) + 0.5, columns, fontsize="small", rotation=20, ha="left")
        self.ax_.xaxis.tick_top()
        for label in (*self.ax_.get_yticklabels(), *self.ax_.get_xticklabels()):
            disable_math(label)
        self.ax_.set_xlim(0, max(len(features), 1))
        self.ax_.set_ylim(max(len(shown), 1) - 0.5, -0.5)
        self.ax_.tick_params(length=0)
        self.ax_.spines[:].set_visible(False)
