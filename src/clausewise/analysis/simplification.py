"""Simplification: the same decisions on every possible row, or within a loss of fidelity on given rows."""

from typing import Any

from clausewise.analysis.exact_simplification import simplified
from clausewise.analysis.lossy_simplification import simplified_within
from clausewise.base.parameters import FRACTION, check_parameters
from clausewise.rules.ruleset import RuleSet


def simplify(
    rules: RuleSet, tolerance: float = 0.0, X: Any = None, target: Any = None, n_jobs: int | None = None
) -> RuleSet:
    """Return fewer rules that decide alike; see `RuleSet.simplify`."""
    check_parameters({"tolerance": FRACTION}, {"tolerance": tolerance})
    rules.require_deciding("simplification, which changes margins,")
    if X is None:
        if tolerance > 0 or target is not None:
            raise ValueError("tolerance and target need rows to measure fidelity on; pass X.")
        return simplified(rules)
    return simplified_within(rules, X, target, tolerance, n_jobs)
