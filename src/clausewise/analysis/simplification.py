"""Simplification: the same decisions on every possible row, or within a loss of fidelity on given rows."""

from typing import Any

from clausewise.analysis.exact_simplification import simplified
from clausewise.analysis.lossy_simplification import simplified_within
from clausewise.base.parameters import FRACTION, check_parameters
from clausewise.rules.ruleset import RuleSet


def simplify(
    rules: RuleSet, tolerance: float = 0.0, X: Any = None, target: Any = None, n_jobs: int | None = None
) -> RuleSet:
    """Return fewer rules that decide alike; see `RuleSet.simplify`.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.analysis import simplify
    >>> text = "IF age > 50 THEN high IF age > 60 AND debt > 8 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low", voting="majority")
    >>> print(simplify(rules))  # as rules.simplify(): the second rule changes no decision
    1 rule for the classes high, low; voting majority, otherwise low
    0  IF age > 50 THEN high   (confidence 1.00)
    """
    check_parameters({"tolerance": FRACTION}, {"tolerance": tolerance})
    rules.require_deciding("simplification, which changes margins,")
    if X is None:
        if tolerance > 0 or target is not None:
            raise ValueError("tolerance and target need rows to measure fidelity on; pass X.")
        return simplified(rules)
    return simplified_within(rules, X, target, tolerance, n_jobs)
