"""Analysis of a finished rule set: explanations, counterfactuals, measures, comparison, simplification."""

from clausewise.analysis.abstaining import abstaining
from clausewise.analysis.comparison import Comparison, Flips, Shifts, compare, compare_sums
from clausewise.analysis.counterfactual import Change, Counterfactual, Counterfactuals, counterfactuals
from clausewise.analysis.differences import FeatureDifferences, differences_by_feature
from clausewise.analysis.evaluation import ClassFidelity, Evaluation, evaluate
from clausewise.analysis.explanation import Explanation, Explanations, FiredRule, NearMiss, explain
from clausewise.analysis.global_explanation import GlobalExplanation, explain_global
from clausewise.analysis.guarantee import guarantee, guarantee_numbers
from clausewise.analysis.number_counterfactual import NumberCounterfactual, number_counterfactuals
from clausewise.analysis.regression_evaluation import Errors, RegressionEvaluation, evaluate_numbers
from clausewise.analysis.scorecards import Scorecard, ScorecardLine, scorecard
from clausewise.analysis.simplification import simplify
from clausewise.analysis.sum_explanation import (
    AddedByRule,
    AddedLinearly,
    SumExplanation,
    SumExplanations,
    explain_sums,
)
from clausewise.analysis.sum_overview import SumOverview, sum_overview
from clausewise.analysis.sum_simplification import simplify_sums

__all__ = [
    "AddedByRule",
    "AddedLinearly",
    "Change",
    "ClassFidelity",
    "Comparison",
    "Counterfactual",
    "Counterfactuals",
    "Errors",
    "Evaluation",
    "Explanation",
    "Explanations",
    "FeatureDifferences",
    "FiredRule",
    "Flips",
    "GlobalExplanation",
    "NearMiss",
    "NumberCounterfactual",
    "RegressionEvaluation",
    "Scorecard",
    "ScorecardLine",
    "Shifts",
    "SumExplanation",
    "SumExplanations",
    "SumOverview",
    "abstaining",
    "compare",
    "compare_sums",
    "counterfactuals",
    "differences_by_feature",
    "evaluate",
    "evaluate_numbers",
    "explain",
    "explain_global",
    "explain_sums",
    "guarantee",
    "guarantee_numbers",
    "number_counterfactuals",
    "scorecard",
    "simplify",
    "simplify_sums",
    "sum_overview",
]
