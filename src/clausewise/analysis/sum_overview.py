"""What rules for numbers do as a whole: how often rules fire, and how much rules and features matter."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.base import html
from clausewise.base.counts import count_of
from clausewise.base.frames import Backend, frame_of
from clausewise.rules.display import describe_premise
from clausewise.rules.regression import RegressionRules
from clausewise.rules.regression_rule import describe_addition, describe_amount

_SHOWN: Final = 15


@dataclass(frozen=True, eq=False)
class SumOverview:
    """What rules for numbers do on given rows; `print` it.

    An effect is in units of the sum: by how much the sums of two random rows differ, on average, because of a
    rule, and by how much the sum of a row changes, on average, if the value of a feature is exchanged for
    that of another row.

    Attributes
    ----------
    rules : RegressionRules
        The rules.
    n_rows : int
        Number of rows.
    n_rows_covered : ndarray of shape (n_rules,)
        Number of rows on which each rule fires.
    feature_use : ndarray of shape (n_features,)
        Number of rules that test each feature.
    feature_effect : ndarray of shape (n_features,)
        The effect of each feature, through rules and linear terms.
    coverage : float
        The fraction of rows on which a rule fires.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> text = "BASE 1.5 LINEAR age -0.01 IF rooms > 4 THEN ADD 0.7 IF age > 50 THEN ADD -0.4"
    >>> rules = RegressionRules.from_text(text, ["rooms", "age"])
    >>> overview = rules.explain_global([[3, 20], [5, 60], [6, 30], [2, 70]])
    >>> overview.n_rows_covered.tolist(), overview.coverage
    ([2, 2], 0.75)
    >>> print(overview)
    2 rules on 4 rows, 75.0 % of which a rule covers
    features by effect:
           0.7  rooms, 1 rule
          0.45  age, 1 rule and a coefficient
    rules by effect:
          0.35  rule 0: +0.7 on 2 rows, rooms > 4
           0.2  rule 1: -0.4 on 2 rows, age > 50
    """

    rules: RegressionRules
    n_rows: int
    n_rows_covered: NDArray[np.int64]
    feature_use: NDArray[np.int64]
    feature_effect: NDArray[np.float64]
    coverage: float

    @cached_property
    def rule_effect(self) -> NDArray[np.float64]:
        """The effect of each rule."""
        fraction = self.n_rows_covered / self.n_rows
        # Two rows differ if the rule fires on one of them only.
        return np.asarray(np.abs(self.rules.columns.weight) * 2 * fraction * (1 - fraction))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per rule: premise, addition, rows on which it fires, and effect."""
        columns, features = self.rules.columns, self.rules.features
        data = {
            "premise": [describe_premise(columns, rule, features) for rule in range(len(self.rules))],
            "addition": columns.weight,
            "n_rows_covered": self.n_rows_covered,
            "effect": self.rule_effect,
        }
        return frame_of(data, backend)

    def features_to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per feature: the rules that test it, its coefficient, and its effect."""
        coefficient = {term.feature: term.coefficient for term in self.rules.linear}
        names = self.rules.features.names
        data = {
            "feature": list(names),
            "n_rules": self.feature_use,
            "coefficient": [coefficient.get(feature, 0.0) for feature in range(len(names))],
            "effect": self.feature_effect,
        }
        return frame_of(data, backend)

    @property
    def headline(self) -> str:
        """One line: number of rules and rows, and how many of them are covered."""
        rules = count_of(len(self.rules), "rule")
        return f"{rules} on {self.n_rows:,} rows, {100 * self.coverage:.1f} % of which a rule covers"

    def __str__(self) -> str:
        lines = [self.headline, "features by effect:"]
        lines += [f"  {effect:>8}  {name}, {use}" for effect, name, use in self._feature_lines()]
        lines.append("rules by effect:")
        lines += [f"  {effect:>8}  rule {rule}: {text}" for effect, rule, text in self._rule_lines()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<SumOverview: {self.headline}>"

    def _repr_html_(self) -> str:
        by_feature = [(name, use, effect) for effect, name, use in self._feature_lines()]
        by_rule = [(rule, text, effect) for effect, rule, text in self._rule_lines()]
        return html.block(
            self.headline,
            html.table(("feature", "used by", "effect"), by_feature, numbers=[2]),
            html.table(("", "rule", "effect"), by_rule, numbers=[0, 2]),
        )

    def _feature_lines(self) -> list[tuple[str, str, str]]:
        linear = {term.feature for term in self.rules.linear}
        lines = []
        for feature in np.argsort(-self.feature_effect, kind="stable")[:_SHOWN].tolist():
            count = int(self.feature_use[feature])
            if count == 0 and feature not in linear:
                continue
            use = count_of(count, "rule")
            use += " and a coefficient" if feature in linear else ""
            effect = describe_amount(float(f"{self.feature_effect[feature]:.3g}"))
            lines.append((effect, self.rules.features.names[feature], use))
        return lines

    def _rule_lines(self) -> list[tuple[str, str, str]]:
        columns, features = self.rules.columns, self.rules.features
        return [
            (
                describe_amount(float(f"{self.rule_effect[rule]:.3g}")),
                str(rule),
                f"{describe_addition(float(columns.weight[rule]))} on {self.n_rows_covered[rule]:,} rows, "
                f"{describe_premise(columns, rule, features)}",
            )
            for rule in np.argsort(-self.rule_effect, kind="stable")[:_SHOWN].tolist()
        ]


def sum_overview(
    rules: RegressionRules, X: Any, random_state: int = 0, n_jobs: int | None = None
) -> SumOverview:
    """Summarise what rules for numbers do; see `RegressionRules.explain_global`.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.analysis import sum_overview
    >>> text = "BASE 1.5 IF rooms > 4 THEN ADD 0.7 IF age > 50 THEN ADD -0.4"
    >>> rules = RegressionRules.from_text(text, ["rooms", "age"])
    >>> sum_overview(rules, [[3, 20], [5, 60], [6, 30], [2, 70]]).to_frame()
         premise  addition  n_rows_covered  effect
    0  rooms > 4       0.7               2    0.35
    1   age > 50      -0.4               2    0.20
    """
    matrix = np.array(rules.features.encode(X), dtype=np.float64)
    if len(matrix) == 0:
        raise ValueError("There are no rows to count on; pass at least one.")
    fires = rules.evaluator.fires(matrix, n_jobs)
    sums = rules.sums_of(matrix, n_jobs)
    # A rotation in a random order gives every row the value of another one.
    order = np.random.default_rng(random_state).permutation(len(matrix))
    other = np.empty_like(order)
    other[order] = np.roll(order, 1)
    stored = rules.columns
    linear = {term.feature for term in rules.linear}
    use, effect = np.zeros(len(rules.features), dtype=np.int64), np.zeros(len(rules.features))
    for feature in sorted({*stored.feature.tolist(), *linear}):
        use[feature] = len(rules.filter(feature=feature))
        exchanged = matrix.copy()
        exchanged[:, feature] = matrix[other, feature]
        effect[feature] = float(np.abs(rules.sums_of(exchanged, n_jobs) - sums).mean())
    return SumOverview(
        rules=rules,
        n_rows=len(matrix),
        n_rows_covered=fires.rows_per_rule(),
        feature_use=use,
        feature_effect=effect,
        coverage=float((fires.rules_per_row() > 0).mean()),
    )
