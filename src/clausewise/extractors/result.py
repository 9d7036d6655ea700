"""The result of an extraction."""

from dataclasses import dataclass

from clausewise.compact.frontier_curve import Frontier
from clausewise.extractors.run_log import LayerReport, PathPoint
from clausewise.rules import RuleSet
from clausewise.rules.voting import Voting


@dataclass(frozen=True)
class ExtractionResult:
    """The result of an extraction.

    Attributes
    ----------
    rules : RuleSet
        The rules.
    layers : tuple of LayerReport
        Clauses and rules per layer.
    min_cases : int, float or None
        The value that was used; None if an inducer has its own.
    path : tuple of PathPoint
        The values that were tried to choose it.
    caveats : tuple of str
        Warnings for the user.
    voting : str, optional
        How these rules vote, if that overrides the estimator's parameter.
    sizes : Frontier, optional
        The sizes that this one was chosen from.
    method : str, optional
        What was done, if the estimator has several ways.
    """

    rules: RuleSet
    layers: tuple[LayerReport, ...] = ()
    min_cases: int | float | None = None
    path: tuple[PathPoint, ...] = ()
    caveats: tuple[str, ...] = ()
    voting: Voting | None = None
    sizes: Frontier | None = None
    method: str | None = None
