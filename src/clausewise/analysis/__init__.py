"""Analysis of a finished rule set: explanations, counterfactuals, measures, comparison, simplification."""

from clausewise.analysis.comparison import Comparison, Flips, compare
from clausewise.analysis.counterfactual import Change, Counterfactual, Counterfactuals, counterfactuals
from clausewise.analysis.evaluation import ClassFidelity, Evaluation, evaluate
from clausewise.analysis.explanation import Explanation, Explanations, FiredRule, NearMiss, explain
from clausewise.analysis.global_explanation import GlobalExplanation, explain_global
from clausewise.analysis.scorecards import Scorecard, ScorecardLine, scorecard
from clausewise.analysis.simplification import simplify

__all__ = [
    "Change",
    "ClassFidelity",
    "Comparison",
    "Counterfactual",
    "Counterfactuals",
    "Evaluation",
    "Explanation",
    "Explanations",
    "FiredRule",
    "Flips",
    "GlobalExplanation",
    "NearMiss",
    "Scorecard",
    "ScorecardLine",
    "compare",
    "counterfactuals",
    "evaluate",
    "explain",
    "explain_global",
    "scorecard",
    "simplify",
]
